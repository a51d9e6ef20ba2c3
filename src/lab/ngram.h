/* ngram.h - what a table of counts makes of a text: 3-grams with back-off (Katz 1987, with the absolute discounts of
 * Ney, Essen, Kneser 1994), the control of language models.
 *
 *     p(w|uv) = (c(uvw) - D3) / c(uv .)       where c(uvw) > 0
 *               a(uv) p(w|v)                  else; a(uv) makes the sum over all words 1
 *
 * and so on down to single words, whose discounted mass is spread evenly over the vocabulary. D = n1 / (n1 + 2 n2) of
 * each order, n1 and n2 the numbers of n-grams that occur once and twice. Nothing is chosen on other text. */
#ifndef RG_LAB_NGRAM_H
#define RG_LAB_NGRAM_H

#include "regard/base.h"

enum { RG_NGRAM_ORDER = 3, RG_NGRAM_VOCABULARY = 1 << 20 };

typedef struct rg_ngram rg_ngram;

/* Counts of a text of tokens 0 .. V - 1. RG_ELIMIT: more than RG_NGRAM_VOCABULARY of them. */
rg_status rg_ngram_new(rg_ngram **out, const int32_t *ids, size_t count, size_t V);
void      rg_ngram_free(rg_ngram *model);
/* p(w | the `n` tokens before it), the last of which stands right before w; more than two are not looked at. */
double rg_ngram_p(const rg_ngram *model, const int32_t *before, size_t n, int32_t w);

/* Perplexity of a test file by the counts of a training file: tokens apart by blanks, </s> behind every line, as
 * `regard train --type lm --vocab-kind tokens` reads them. The first token is predicted too, from </s>. */
rg_status rg_ngram_perplexity(double *out, size_t *out_entries, const char *train, const char *test);

#endif
