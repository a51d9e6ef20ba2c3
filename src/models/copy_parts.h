/* copy_parts.h - copying words of the source (See, Liu, Manning 2017; Gulcehre et al. 2016; Nallapati et al. 2016).
 *
 *     a = softmax(y W_a h_j)             a pointer: what is answered from looks at the source's rows h
 *     c = sum_j a_j h_j
 *     s = sigma(w . [y; c] + b)          generate or copy?
 *
 *     mixture   p(w) = s softmax(W y)_w + (1 - s) sum of a_j over the source's words w
 *     switch    s is taught: 1 for words of the vocabulary, 0 for others that the source has; while answering it is taken as 0 or 1
 *
 * Words outside of the vocabulary have the ids that the batch gives them (batch.h: copies), beyond V. Of the (rows,
 * V + extra) probabilities only the columns that a source touches are made; the others are the logits, moved by log
 * s. */
#ifndef RG_MODELS_COPY_PARTS_H
#define RG_MODELS_COPY_PARTS_H

#include "models/answer_parts.h"
#include "regard/layers.h"

typedef struct rg_copy_settings {
    bool on, hard;
} rg_copy_settings;

/* Rows of a system that can copy; S is its settings struct, `copy` the name of this member. */
#define RG_COPY_ROWS(S)                                                                                                                                   \
    { RG_OPTION_BOOL, "copy", offsetof(S, copy.on), "false", "words may be copied from the source, also those that no vocabulary has", 0, NULL },         \
    {                                                                                                                                                     \
        RG_OPTION_BOOL, "copy-switch", offsetof(S, copy.hard), "false", "with --copy: generating or copying is a taught decision, not a mixture", 0, NULL \
    }

typedef struct rg_copy {
    rg_attention att;
    rg_dense     gate;
    bool         hard;
} rg_copy;

/* Declares "copy"; y is `width` wide, the source's rows `keys`. Says so in model->copies. Without settings->on
 * nothing happens. */
rg_status rg_copy_init(rg_copy *out, rg_model *model, const rg_copy_settings *settings, size_t width, size_t keys);

/* Loss of the target's rows y, which w and b turn into logits; `source`: the source's rows. A batch without copies
 * is learned from as if nothing could be copied. */
rg_loss rg_copy_loss(rg_tape *t, const rg_copy *c, rg_tensor *y, rg_tensor *w, rg_tensor *b, rg_tensor *source,
                     const rg_batch *batch, double smoothing);

/* Decoding: what start keeps of a source, and the end of a step. */
typedef struct rg_copy_memory {
    rg_tensor     *keys, *values;
    const int32_t *copies; /* NULL: nothing can be copied */
    size_t         extra;
} rg_copy_memory;
rg_copy_memory rg_copy_start(rg_decoding *d, const rg_copy *c, rg_tensor *source);
rg_tensor     *rg_copy_step(rg_decoding *d, rg_tape *t, const rg_copy *c, const rg_copy_memory *memory, rg_tensor *y,
                            rg_tensor *logits);

#endif
