/* sentences.h - what the library and its module regard-sentences.so agree on. */
#ifndef RG_DATA_SENTENCES_H
#define RG_DATA_SENTENCES_H

#include "regard/sentences.h"

RG_API_BEGIN

/* Who finds candidates for the ends of sentences. */
typedef struct rg_sentence_breaker {
    rg_status (*open)(void **out, const char *language);
    void (*close)(void *breaker);
    /* Append [begin, end) of every sentence, with the blanks behind it: together they are the text. */
    rg_status (*cut)(rg_spans *out, void *breaker, const char *text, size_t bytes);
} rg_sentence_breaker;

typedef const rg_sentence_breaker *rg_sentence_breaker_function(void);
rg_sentence_breaker_function rg_sentences__icu; /* of the module */

RG_API_END

rg_status rg_sentences__new(rg_sentences **out, const rg_sentence_breaker *breaker, const char *language);
/* Does text[0 .. bytes), which ends with a point, end with an abbreviation of the language? */
bool      rg_sentences__abbreviated(const char *language, const char *text, size_t bytes);

#endif
