/* fast_forward.h - a deep recurrent stack with fast-forward connections (Zhou et al. 2016): a path of sums that no gate
 * interrupts.
 *
 *     f^1_t = W^1 x_t + b^1                                    what goes into the gates of layer 1
 *     f^k_t = W^k [half(f^{k-1}_t); drop(h^{k-1}_t)] + b^k     half: the first half of the columns
 *     h^k_t = cell(f^k_t, h^k_{t -+ 1})                        directions alternate from layer to layer
 *
 * Without `forward`, f^k = W^k drop(h^{k-1}) + b^k: an ordinary stack, which rg_recurrent_stack is when directions
 * do not alternate. */
#ifndef RG_LAYERS_FAST_FORWARD_H
#define RG_LAYERS_FAST_FORWARD_H

#include "regard/layers.h"

typedef struct rg_fast_forward {
    rg_recurrent_config config; /* in, width, depth, dropout; never bidirectional */
    rg_recurrent_params layer[RG_RECURRENT_DEPTH];
    bool                forward;   /* the connections are there                  */
    bool                alternate; /* odd layers go the other way                */
    bool                back;      /* layer 1 goes from the last row to the first */
    size_t              first;     /* the layer that init began with             */
} rg_fast_forward;

/* Declares name.L for the layers first .. depth-1; those below are somebody else's. */
void rg_fast_forward_init(rg_fast_forward *out, rg_params *p, const char *name);

bool rg_fast_forward_reverse(const rg_fast_forward *s, size_t layer); /* does that layer go back? */
/* f of a layer, from f and h of the layer below; f NULL: h is the input of the stack. */
rg_tensor *rg_fast_forward_gates(rg_tape *t, const rg_fast_forward *s, size_t layer, rg_tensor *f, rg_tensor *h);
/* Layers first .. over whole sequences, above f and h (first 0: f NULL, h the input). states (may be NULL): where
 * every group starts, and on return where each layer ended. h of the top layer. */
rg_tensor *rg_fast_forward_run(rg_tape *t, const rg_fast_forward *s, rg_tensor *f, rg_tensor *h,
                               rg_recurrent_states *states);
/* The same, one step. */
rg_tensor *rg_fast_forward_step(rg_tape *t, const rg_fast_forward *s, rg_tensor *f, rg_tensor *h,
                                rg_recurrent_states *states);

#endif
