/* transformer.h - blocks of Transformers: attention and a feed-forward network, each with a residual sum and a layer
 * norm.
 *
 *     post   x <- norm(x + drop(sub(x)))                          as printed (Vaswani et al. 2017)
 *     pre    x <- x + drop(sub(norm(x)))                          and one more norm after the last block of a stack
 *
 * Encoders, decoders, language models and classifiers are stacks of these over other reaches. */
#ifndef REGARD_TRANSFORMER_H
#define REGARD_TRANSFORMER_H

#include "regard/experts.h"

RG_API_BEGIN

enum { RG_STACK_DEPTH = 32 };

typedef struct rg_block_config {
    size_t        width, hidden, heads; /* of rows, inside the feed-forward network, of attention */
    const char   *score;
    const char   *inside; /* the function inside the score by name; NULL: the score's own */
    rg_activation activation;           /* of the feed-forward network                            */
    bool          pre;                  /* where the norm stands                                  */
    double        epsilon;              /* of the norms; 0: RG_NORM_EPSILON                       */
    size_t        experts, top; /* a mixture of so many feed-forward networks, `top` of them for each row; 0: one network  */
    double        balance;      /* of the mixture: weight of the losses that balance it                                  */
    bool          recurrent;    /* in place of self-attention an SSRU, for decoders: f = sigma(Wf x + bf), c = f c' + (1 - f) W x, relu(c)  */
    double        dropout, dropout_attention, dropout_hidden; /* of sub-layer outputs, of weights, inside the feed-forward network */
} rg_block_config;

typedef struct rg_block {
    rg_heads        self, cross; /* cross: decoders only */
    rg_param       *recur, *forget, *forget_bias; /* of a recurrent block, in place of self: W, Wf (D, D), bf (1, D) */
    rg_feed_forward ff;
    rg_experts      mixture;     /* in its place */
    rg_norm         norm_self, norm_cross, norm_ff;
} rg_block;

typedef struct rg_stack {
    rg_block_config config;
    rg_block        block[RG_STACK_DEPTH];
    size_t          depth;
    rg_norm         end; /* pre-norm only */
} rg_stack;

/* Declares name.0.self, name.0.ff, ..., name.end; `crosses`: every block also attends to other rows (a decoder). */
rg_status rg_stack_init(rg_stack *out, rg_params *p, const char *name, const rg_block_config *config, size_t depth,
                        bool crosses);

/* Sub-layers of one block, in the scopes "self" and "cross". Keys and values of other rows are given, prepared by
 * rg_heads_memory: they are the same at every step of a decoder. */
rg_tensor *rg_block_self(rg_tape *t, const rg_stack *s, size_t i, rg_tensor *x, const rg_reach *reach);
rg_tensor *rg_block_cross(rg_tape *t, const rg_stack *s, size_t i, rg_tensor *x, rg_tensor *k, rg_tensor *v,
                          const rg_reach *reach);
rg_tensor *rg_block_feed_forward(rg_tape *t, const rg_stack *s, size_t i, rg_tensor *x);
/* Self-attention of one new row per hypothesis over a decoder's past, which it joins. */
rg_tensor *rg_block_step(rg_tape *t, const rg_stack *s, size_t i, rg_tensor *x, rg_cache *past, const rg_reach *reach);

/* The same of a recurrent block: from the states (n, D) of the hypotheses, NULL at first, to *out_state. */
rg_tensor *rg_block_recur(rg_tape *t, const rg_stack *s, size_t i, rg_tensor *x, rg_tensor *state, rg_tensor **out_state);

/* What stands after the last block. */
rg_tensor *rg_stack_end(rg_tape *t, const rg_stack *s, rg_tensor *x);

/* All blocks of an encoder (no cross-attention) and the end, in the scopes name.0, name.1, ... */
rg_tensor *rg_stack_run(rg_tape *t, const rg_stack *s, const char *name, rg_tensor *x, const rg_reach *reach);

RG_API_END
#endif
