/* between.h - what papers do between the two halves of attention, as ordinary ops on the weights of open pairs (P, H):
 *
 *   a = rg_weigh(...)      local windows with a Gaussian, one key drawn instead of all, rows kept apart      out = rg_mix(a, ...)
 *
 * and the attention over a network's own past that splits its rows into keys and values. */
#ifndef REGARD_BETWEEN_H
#define REGARD_BETWEEN_H

#include "regard/attention.h"

RG_API_BEGIN

/* a / sum over the keys of each query and head; a sum of 0 gives zeros. */
rg_tensor *rg_normalise_over(rg_tape *t, rg_tensor *a, const rg_reach *reach);

/* ------------------------------------------------------------------------------------------------------- local */

/* Local attention (Luong, Pham, Manning 2015). `whole` gives each query its sentence as an interval of S keys
 * (rg_reach_groups, or intervals at a decoder's step); positions run from 1 to S.
 *
 *   local-m   centre min(place + 1, S)                        window centre - D .. centre + D, as far as the sentence goes
 *   local-p   centre p = S sigma(v . tanh(W x)), rounded       weights times exp(-(s - p)^2 / (2 (D/2)^2))
 *
 *     whole = rg_reach_groups(t, target, source);                 p     = rg_local_centres(t, &local, x, whole);
 *     near  = rg_reach_local_p(t, whole, p, D);                   a     = rg_weigh(t, att, q, k, near);
 *     a     = rg_local_gaussian(t, a, p, near, whole, D);         out   = rg_mix(t, a, v, near);
 *
 * The window is a constant; p learns through the Gaussian alone. The paper does not renormalise: rg_normalise_over
 * does. */
typedef struct rg_local {
    rg_param *w, *v;
} rg_local;

void       rg_local_init(rg_local *out, rg_params *params, size_t width, size_t hidden);
rg_tensor *rg_local_centres(rg_tape *t, const rg_local *local, rg_tensor *x, const rg_reach *whole); /* (Nq, 1), 0 .. S */

/* place[i]: how many queries of its sentence come before query i; NULL: from whole->rows. */
const rg_reach *rg_reach_local_m(rg_tape *t, const rg_reach *whole, const int32_t *place, size_t D);
const rg_reach *rg_reach_local_p(rg_tape *t, const rg_reach *whole, const rg_tensor *p, size_t D);
rg_tensor      *rg_local_gaussian(rg_tape *t, rg_tensor *a, rg_tensor *p, const rg_reach *reach, const rg_reach *whole,
                                  double D);

/* -------------------------------------------------------------------------------------------------------- hard */

/* Hard attention (Xu et al. 2015): each query reads one value, drawn from its weights. Drawing has no gradient; the
 * score-function estimator (Williams 1992) makes up for it:
 *
 *   soft   = rg_hard_coin(t, &hard)                            the expectation instead, now and then, for a whole batch
 *   picked = soft ? a : rg_hard_sample(t, a, reach)            out = rg_mix(t, picked, v, reach)
 *   loss   = ... + rg_hard_loss(t, &hard, a, picked, reward, reach)
 *
 * rg_hard_loss = sum_i - lambda_r (R_i - b) log a(picked_i) - lambda_e H(a_i), R a constant (log p of the caption a
 * word). */
typedef struct rg_hard {
    rg_param *baseline; /* b, kept: b <- decay b + (1 - decay) mean R after each batch while learning; NULL: 0 */
    double    reward, entropy, decay, soft_share;
} rg_hard;
#define RG_HARD_DEFAULT { .reward = 0.1, .entropy = 0.002, .decay = 0.9, .soft_share = 0.5 }

void rg_hard_init(rg_hard *hard, rg_params *params); /* declares the baseline; the numbers are left as they are */
bool rg_hard_coin(rg_tape *t, const rg_hard *hard);  /* true with probability soft_share while learning, else false */

rg_tensor *rg_hard_sample(rg_tape *t, rg_tensor *a, const rg_reach *reach); /* 1 at one key a query and head, 0 elsewhere; a constant */
rg_tensor *rg_hard_argmax(rg_tape *t, rg_tensor *a, const rg_reach *reach); /* the same at the largest: what to use at test time     */
rg_tensor *rg_hard_loss(rg_tape *t, rg_hard *hard, rg_tensor *a, rg_tensor *picked, const rg_real *reward,
                        const rg_reach *reach); /* (1, 1) */

/* The terms of it: log of the probability of what was picked, and the entropy, summed over the heads. (Nq, 1) each. */
rg_tensor *rg_log_picked(rg_tape *t, rg_tensor *a, rg_tensor *picked, const rg_reach *reach);
rg_tensor *rg_entropy_over(rg_tape *t, rg_tensor *a, const rg_reach *reach);

/* softmax((e + g) / temperature) with g from the Gumbel distribution (Jang et al. 2017, Maddison et al. 2017): a
 * draw that passes gradients. Its hard form is rg_straight_through(t, rg_hard_argmax(t, y, reach), y). When not
 * learning, g = 0. */
rg_tensor *rg_gumbel_over(rg_tape *t, rg_tensor *e, const rg_reach *reach, double temperature);

/* ----------------------------------------------------------------------------------------------------- overlap */

/* sum over queries of |A A^T - I|_F^2, A (H, n) the rows of attention of one query: rows that look at the same keys,
 * or at many, cost (Lin et al. 2017). (1, 1) */
rg_tensor *rg_overlap_penalty(rg_tape *t, rg_tensor *a, const rg_reach *reach);

/* --------------------------------------------------------------------------------------------------- key, value */

/* Attention of a network over the last L of its own rows (Daniluk et al. 2017). A row h is cut into `parts` of equal
 * width:
 *
 *   parts   keys   values   beside what was read
 *   1       h      h        h                        attention
 *   2       k      v        v                        key-value
 *   3       k      v        p                        key-value-predict
 *
 *   r_t = attend(k_t; k_{t-L} .. k_{t-1}; v_{t-L} .. v_{t-1})  by the additive score        h*_t = tanh(r_t Wr + x_t Wx) */
typedef struct rg_key_value {
    rg_attention att;
    size_t       parts, window;
    rg_param    *wr, *wx;
} rg_key_value;

rg_status  rg_key_value_init(rg_key_value *out, rg_params *params, size_t width, size_t parts, size_t window); /* width of h, all parts */
rg_tensor *rg_key_value_run(rg_tape *t, const rg_key_value *kv, rg_tensor *h); /* (N, width / parts), in the layout of h */

/* In pieces, for rows that follow kept ones: k is prepared; x stands beside what was read. */
void rg_key_value_split(rg_tape *t, const rg_key_value *kv, rg_tensor *h, rg_tensor **q, rg_tensor **k, rg_tensor **v,
                        rg_tensor **x);
rg_tensor *rg_key_value_read(rg_tape *t, const rg_key_value *kv, rg_tensor *q, rg_tensor *k, rg_tensor *v, rg_tensor *x,
                             const rg_reach *reach);

RG_API_END
#endif
