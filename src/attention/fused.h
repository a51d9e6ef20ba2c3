/* fused.h - whole attention in one pass: the paths that never store the weights of all pairs. */
#ifndef RG_ATTENTION_FUSED_H
#define RG_ATTENTION_FUSED_H

#include "regard/attention.h"

/* softmax(scale q k^T) v over a reach, memory linear in the number of rows, forward and backward. NULL without a failure when this
 * reach or these shapes are not its own: the caller takes the general path. */
rg_tensor *rg_fused_dot(rg_tape *t, rg_tensor *q, rg_tensor *k, rg_tensor *v, const rg_reach *reach, size_t heads, double scale);

#endif
