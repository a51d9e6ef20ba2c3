/* answer_parts.h - the end of every translator: from rows to the loss of the target words; and what a decoder sees. */
#ifndef RG_MODELS_ANSWER_PARTS_H
#define RG_MODELS_ANSWER_PARTS_H

#include "regard/model.h"

/* Cross-entropy of the target's rows y (N, D) over the words w (V, D), b (1, V). Rows count by the target's weights
 * (batch.h), where it has some: then the labels are not smoothed. */
rg_loss rg_answer_loss(rg_tape *t, rg_tensor *y, rg_tensor *w, rg_tensor *b, const rg_field *target, double smoothing);

/* The large-vocabulary trick (Jean et al. 2015; Nallapati et al. 2016): while learning, the softmax ranges over the
 * words of the batch's targets and, where the vocabulary is joint, of its sources, and over the N first words of the
 * vocabulary, which are the most frequent. `vocabulary`: "all" or "batch:N". "sampled:N" is sampled softmax: the
 * batch's targets and N words drawn by Zipf's law, with a correction for how likely each was to be drawn. */
#define RG_ANSWER_VOCABULARY_ROW(S, member)                                                                                           \
    {                                                                                                                                 \
        RG_OPTION_STRING, "output-vocabulary", offsetof(S, member), "all",                                                            \
            "words that the softmax ranges over while learning: all; batch:N, those of the batch and the N most frequent; "           \
            "sampled:N, the targets and N that are drawn", 0, NULL                                                                    \
    }
rg_status rg_answer_vocabulary_check(const char *vocabulary);
rg_loss   rg_answer_loss_over(rg_tape *t, const rg_model *model, rg_tensor *y, rg_tensor *w, rg_tensor *b,
                              const rg_batch *batch, double smoothing, const char *vocabulary);

/* Logits of a step, (n, V): y w^T + b of the table w (V, D). Where the search is bound to a shortlist only those
 * columns, (n, d->words). */
rg_tensor *rg_answer_logits(rg_decoding *d, rg_tape *t, rg_tensor *y, const rg_param *w, const rg_param *b);

/* What the queries of a decoder see: query i the whole of source number group[i]; hypotheses their own source. */
const rg_reach *rg_answer_reach_groups(rg_tape *t, const int32_t *group, size_t n, const rg_layout *source);
const rg_reach *rg_answer_reach(rg_tape *t, const rg_decoding *d);

#endif
