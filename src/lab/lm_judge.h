/* lm_judge.h - recurrent language models: how far back a look at the last outputs goes, and how much of a gradient is
 * left when it goes back over a few words only. */
#ifndef RG_LAB_LM_JUDGE_H
#define RG_LAB_LM_JUDGE_H

#include "regard/model.h"

/* The tokens of a text behind a first </s>; at most so many (0: all). The caller frees *out. */
rg_status rg_lab_tokens(int32_t **out, size_t *out_count, const rg_vocab *vocab, const char *path, size_t most);

/* Of the weights with which outputs are looked at again (lm --look), the share on the last `near` words, mean over the
 * words of ids[0 .. count - 1] that have a full window before them. *out_looks is their number; 0: the model does not
 * look back. */
rg_status rg_lm_near(double *out, size_t *out_looks, const rg_model *model, const int32_t *ids, size_t count,
                     size_t near);

/* The gradient of the losses of the last `predicted` of n words, ids[n - predicted + 1 .. n], with respect to all
 * parameters, backpropagated over the last k words; what lies before is carried without gradient. k = n: the whole.
 * RG_EINVAL: not predicted <= k <= n. */
rg_status rg_lm_truncated(rg_grads *out, const rg_model *model, const int32_t *ids, size_t n, size_t k,
                          size_t predicted);
double    rg_grads_cosine(const rg_params *params, const rg_grads *a, const rg_grads *b);

/* The cosine of gradients over k words with gradients over `whole` of them, mean over the places of a text where they
 * are taken, at most `most`. RG_EINVAL: the text has fewer than whole + 1 words. */
rg_status rg_lm_truncation(double *out, const rg_model *model, const int32_t *ids, size_t count, size_t whole,
                           size_t k, size_t predicted, size_t most);

#endif
