/* General score (Luong, Pham, Manning 2015):
 *
 *     e(q,k) = q^T W k
 *
 * W k does not depend on the query: prepare() computes it once per sentence. One W serves each head's block of
 * queries. */
#include "attention/fused.h"
#include "attention/pairs.h"

static rg_status general_init(rg_attention *att, rg_params *params)
{
    if (!att->config.q_width || !att->config.k_width)
        return rg_fail(RG_EINVAL, "the general score needs the widths of queries and keys");
    att->w = rg_params_add(params, "general.w", RG_WEIGHT, att->config.k_width, att->config.q_width, RG_INIT_GLOROT, 1);
    return RG_OK;
}

static rg_tensor *general_prepare(rg_tape *t, const rg_attention *att, rg_tensor *k)
{
    return rg_linear(t, k, rg_use(t, att->w), NULL, RG_IDENTITY); /* rows k -> k W^T */
}

static rg_tensor *general_pairs(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, const rg_reach *reach)
{
    return rg_pairs_dot(t, q, k, reach, att->config.heads, 1);
}

static rg_tensor *general_fused(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, rg_tensor *v,
                                const rg_reach *reach)
{
    if (att->config.shared_values) return NULL;
    return rg_fused_dot(t, q, k, v, reach, att->config.heads, 1);
}

const rg_score rg_score_general = {
    .name = "general",
    .formula = "q^T W k",
    .paper = "Luong, Pham, Manning 2015, Effective Approaches to Attention-based Neural Machine Translation",
    .cost = "O(n d), once O(n d^2) for W k",
    .note = "queries and keys may have different widths",
    .init = general_init,
    .prepare = general_prepare,
    .pairs = general_pairs,
    .fused = general_fused,
    .panels = true,
};
