/* Cosine score with sharpening (Graves, Wayne, Danihelka 2014, content addressing):
 *
 *     e(q,k) = beta  q.k / (|q| |k| + eps)
 *
 * Without beta the scores lie in [-1, 1] and the softmax is nearly flat. beta = softplus(b) > 0 when learned. */
#include "attention/fused.h"
#include "attention/pairs.h"
#include "attention/blocks.h"

#include <math.h>

static rg_status cosine_init(rg_attention *att, rg_params *params)
{
    if (att->config.learned) att->b = rg_params_add(params, "sharpness", RG_VECTOR, 1, 1, RG_INIT_ZERO, 0);
    return RG_OK;
}

static rg_tensor *cosine_prepare(rg_tape *t, const rg_attention *att, rg_tensor *k)
{
    const size_t blocks = rg_tensor_cols(k) == att->config.q_width || !att->config.q_width ? att->config.heads : 1;
    return rg_unit_blocks(t, k, blocks);
}

/* beta goes into the query: beta q/|q| . k/|k| */
static rg_tensor *cosine_query(rg_tape *t, const rg_attention *att, rg_tensor *q)
{
    rg_tensor *unit = rg_unit_blocks(t, q, att->config.heads);
    if (!att->b) return rg_scale(t, unit, att->config.sharpness);
    /* softplus(b + b0) with b0 such that beta starts at config.sharpness */
    const double b0 = log(expm1(att->config.sharpness));
    return rg_mul(t, unit, rg_map(t, rg_shift(t, rg_use(t, att->b), b0), RG_SOFTPLUS));
}

static rg_tensor *cosine_pairs(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, const rg_reach *reach)
{
    return rg_pairs_dot(t, q, k, reach, att->config.heads, 1);
}

static rg_tensor *cosine_fused(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, rg_tensor *v,
                               const rg_reach *reach)
{
    if (att->config.shared_values) return NULL;
    return rg_fused_dot(t, q, k, v, reach, att->config.heads, 1);
}

const rg_score rg_score_cosine = {
    .name = "cosine",
    .formula = "beta q.k / (|q| |k|)",
    .paper = "Graves, Wayne, Danihelka 2014, Neural Turing Machines",
    .cost = "O(n d)",
    .note = "sharpness beta can be learned; at 1 the weights are nearly uniform",
    .init = cosine_init,
    .prepare = cosine_prepare,
    .query = cosine_query,
    .pairs = cosine_pairs,
    .fused = cosine_fused,
    .one_width = true,
    .panels = true,
};
