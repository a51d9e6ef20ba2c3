/* Dot score (Luong, Pham, Manning 2015):
 *
 *     e(q,k) = q . k                        needs queries and keys of one width; learns nothing */
#include "attention/fused.h"
#include "attention/pairs.h"

static rg_tensor *dot_pairs(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, const rg_reach *reach)
{
    return rg_pairs_dot(t, q, k, reach, att->config.heads, 1);
}

static rg_tensor *dot_fused(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, rg_tensor *v,
                            const rg_reach *reach)
{
    if (att->config.shared_values) return NULL;
    return rg_fused_dot(t, q, k, v, reach, att->config.heads, 1);
}

const rg_score rg_score_dot = {
    .name = "dot",
    .formula = "q . k",
    .paper = "Luong, Pham, Manning 2015, Effective Approaches to Attention-based Neural Machine Translation",
    .cost = "O(n d)",
    .note = "saturates the softmax when d is large: see scaled_dot",
    .pairs = dot_pairs,
    .fused = dot_fused,
    .one_width = true,
    .panels = true,
};
