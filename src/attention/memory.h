/* memory.h - the two things a Turing machine's head does that other attentions do not: it moves along the tape, and it
 * writes.
 *
 * Weights are (P, H), one column per head, over the pairs of a reach whose queries are machines and whose keys are
 * rows of memory. */
#ifndef RG_ATTENTION_MEMORY_H
#define RG_ATTENTION_MEMORY_H

#include "regard/attention.h"

/* Circular convolution: y(x) = sum_j s(j) a(x - j), j = -S/2 .. S/2, places counted around the keys of each query.
 * s (Nq, H*S), a block of S a head: s(+1) = 1 moves the focus from x to x + 1. */
rg_tensor *rg_roll(rg_tape *t, rg_tensor *a, rg_tensor *s, const rg_reach *reach);

/* Rows of memory m (Nk, W), weights w (P, 1), vectors (Nq, W); every key belongs to one query.
 *     erase   m (1 - w e)           add   m + w v */
rg_tensor *rg_erase(rg_tape *t, rg_tensor *m, rg_tensor *w, rg_tensor *e, const rg_reach *reach);
rg_tensor *rg_write(rg_tape *t, rg_tensor *m, rg_tensor *w, rg_tensor *v, const rg_reach *reach);

#endif
