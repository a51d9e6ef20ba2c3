/* Scaled dot score (Vaswani et al. 2017):
 *
 *     e(q,k) = q . k / sqrt(d)              d the width of one head
 *
 * q . k of independent unit-variance components has variance d; the divisor keeps the softmax out of saturation. */
#include "attention/fused.h"
#include "attention/pairs.h"

#include <math.h>

static double scale(const rg_attention *att, const rg_tensor *q)
{
    return 1.0 / sqrt((double)rg_tensor_cols(q) / (double)att->config.heads);
}

static rg_tensor *scaled_dot_pairs(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k,
                                   const rg_reach *reach)
{
    return rg_pairs_dot(t, q, k, reach, att->config.heads, scale(att, q));
}

static rg_tensor *scaled_dot_fused(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, rg_tensor *v,
                                   const rg_reach *reach)
{
    if (att->config.shared_values) return NULL;
    return rg_fused_dot(t, q, k, v, reach, att->config.heads, scale(att, q));
}

const rg_score rg_score_scaled_dot = {
    .name = "scaled_dot",
    .formula = "q . k / sqrt(d)",
    .paper = "Vaswani et al. 2017, Attention Is All You Need",
    .cost = "O(n d)",
    .note = "d is the width of one head, not the length of the sequence",
    .pairs = scaled_dot_pairs,
    .fused = scaled_dot_fused,
    .one_width = true,
    .panels = true,
};
