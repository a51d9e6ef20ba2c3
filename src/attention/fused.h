/* fused.h - whole attention in one pass: the paths that never store the weights of all pairs. */
#ifndef RG_ATTENTION_FUSED_H
#define RG_ATTENTION_FUSED_H

#include "regard/attention.h"

/* softmax(scale q k^T) v over a reach, memory linear in the number of rows, forward and backward. NULL without a
 * failure when this reach or these shapes are not its own: the caller takes the general path. */
rg_tensor *rg_fused_dot(rg_tape *t, rg_tensor *q, rg_tensor *k, rg_tensor *v, const rg_reach *reach, size_t heads,
                        double scale);

/* softmax(f(u_i + z_j) + bias_p) v over lists, f(s) = s and below 0 slope * s, bias the reach's; while learning the
 * share `dropout` of the weights is dropped, with the same draws as rg_dropout on the weights of the pair path. u
 * (Nq, H), z (Nk, H), v (Nk, H*d). NULL without a failure when the reach is not a list. */
rg_tensor *rg_fused_linear(rg_tape *t, rg_tensor *u, rg_tensor *z, rg_tensor *v, const rg_reach *reach, double slope,
                           double dropout);

#endif
