/* pairs.h - ops on the open pairs of a reach: (P, H) numbers, pair p of query i and key j, one column per head.
 *
 * A block of columns a head: head h of q is columns h*d .. (h+1)*d. Keys and values may also be one block that all
 * heads share. */
#ifndef RG_ATTENTION_PAIRS_H
#define RG_ATTENTION_PAIRS_H

#include "attention/reach.h"

/* e = scale * q_ih . k_jh */
rg_tensor *rg_pairs_dot(rg_tape *t, rg_tensor *q, rg_tensor *k, const rg_reach *reach, size_t heads, double scale);
/* e = u_ih + z_jh          u (Nq, H)   z (Nk, H) */
rg_tensor *rg_pairs_add(rg_tape *t, rg_tensor *u, rg_tensor *z, const rg_reach *reach);
/* e = v_h . f(x_ih + y_jh)     x (Nq, H*d)   y (Nk, H*d)   v (H, d): the (pairs x width) sums are never stored */
rg_tensor *rg_pairs_additive(rg_tape *t, rg_tensor *x, rg_tensor *y, rg_tensor *v, const rg_reach *reach,
                             rg_activation f);

/* e = x_i[h * S + s], s the place of pair p among the keys of its query; x (Nq, H*S). More than S keys are an error. */
rg_tensor *rg_pairs_place(rg_tape *t, rg_tensor *x, rg_tensor *k, const rg_reach *reach, size_t heads);

/* Rows of queries and of keys, one row per pair, for scores that are a network of both. */
rg_tensor *rg_pairs_queries(rg_tape *t, rg_tensor *q, const rg_reach *reach); /* (P, D) */
rg_tensor *rg_pairs_keys(rg_tape *t, rg_tensor *k, const rg_reach *reach);    /* (P, D) */

#endif
