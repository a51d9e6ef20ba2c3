/* rows_words.h - words of `regard train`, and the training they describe. */
#ifndef RG_LAB_ROWS_WORDS_H
#define RG_LAB_ROWS_WORDS_H

#include "regard/task.h"

typedef struct rg_words { /* owned; zeroed: none */
    char **word;
    size_t count;
} rg_words;

rg_status rg_row_words_add(rg_words *w, char *word);               /* takes the word, also on failure; NULL: RG_ENOMEM */
rg_status rg_words_split(rg_words *w, const char *text);       /* copies, split at blanks                          */
rg_status rg_words_place(rg_words *w, const char *mark, const char *with); /* a mark such as {data} inside words is replaced */
rg_status rg_words_recipe(rg_recipe **out, const rg_words *w); /* --name values...; a later word overrides         */
void      rg_words_free(rg_words *w);

#endif
