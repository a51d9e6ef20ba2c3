/* set_losses.h - losses of predicted sets (Pineda et al. 2019; Salvador et al. 2019). Targets are (N, C) numbers: 1
 * for a member, otherwise 0. */
#ifndef RG_LAYERS_SET_LOSSES_H
#define RG_LAYERS_SET_LOSSES_H

#include "regard/ops.h"

/* sum_i 1 - sum_c p y / sum_c (p + y - p y), p = sigmoid(logits). (1, 1) */
rg_tensor *rg_soft_iou(rg_tape *t, rg_tensor *logits, const rg_real *target);

/* Steps of a writer pooled to a set: logits (N steps, C + 1), the last column its end; p = softmax of each row; q_c =
 * max over a set's steps of p.
 *
 *     sum_c -y_c log q_c - (1 - y_c) log(1 - q_c)   +   mean over steps of the same for the end, due from step |y| on   +   | sum_c q_c - |y| | / C
 *
 * It knows no order of members. (1, 1) */
rg_tensor *rg_pooled_set_loss(rg_tape *t, rg_tensor *logits, const rg_real *target, size_t steps);

#endif
