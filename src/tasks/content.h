/* content.h - which pieces of a sentence are content words: not punctuation, and not the small words of the grammar. */
#ifndef RG_TASKS_CONTENT_H
#define RG_TASKS_CONTENT_H

#include "regard/text.h"

/* Which list of small words fits: how often a word of each was seen. */
typedef struct rg_small_words {
    size_t seen, found[16];
} rg_small_words;

/* The number of the word, between blanks, that each piece belongs to. */
void rg_content_number(int *out, const rg_vocab *vocab, const int32_t *ids, size_t n);
/* Count a sentence, so that the list can be chosen. */
rg_status rg_content_count(rg_small_words *counts, const rg_vocab *vocab, const int32_t *ids, size_t n);
/* The code of the language whose small words were seen most, or NULL when none of them makes up a tenth of the
 * words. */
const char *rg_content_language(const rg_small_words *counts);
/* out[i]: piece i is part of a content word. `language` NULL: only punctuation is none. */
rg_status rg_content_mark(bool *out, const char *language, const rg_vocab *vocab, const int32_t *ids, size_t n);

#endif
