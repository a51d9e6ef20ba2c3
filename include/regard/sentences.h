/* sentences.h - where sentences end: Unicode's rules (UAX 29, by ICU), less the points of abbreviations.
 *
 * ICU lives in the module regard-sentences.so, which the first call opens. */
#ifndef REGARD_SENTENCES_H
#define REGARD_SENTENCES_H

#include "regard/text.h"

RG_API_BEGIN

typedef struct rg_sentences rg_sentences;

/* For texts in a language ("de", "pt-BR"; "" or NULL: not known). Of one thread at a time. RG_EIO: the module is not
 * installed. */
rg_status rg_sentences_new(rg_sentences **out, const char *language);
/* Another one, for another language or thread, without opening the module again. */
rg_status rg_sentences_like(rg_sentences **out, const rg_sentences *other, const char *language);
void      rg_sentences_free(rg_sentences *sentences);

/* The sentences of a text, without the blanks around them, appended to `out`. A text of blanks has none. */
rg_status rg_sentences_cut(rg_spans *out, rg_sentences *sentences, const char *text, size_t bytes);

RG_API_END
#endif
