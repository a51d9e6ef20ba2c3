/* Linear score with an activation:
 *
 *     e(q,k) = f(w_q . q + w_k . k)
 *
 * f = leaky relu is graph attention's score (Velickovic et al. 2018). f = identity, unless the settings name another
 * (--score-activation), is the concatenation score w . [q; k] of lectures: w_q . q is the same for every key and
 * cancels in the softmax, so its weights do not depend on the query. It stands here as the control. Both halves are
 * one number per row and head: O(d) per row, O(1) per pair. */
#include "attention/blocks.h"
#include "attention/fused.h"
#include "attention/pairs.h"

#include <math.h>

/* Glorot's range for one head's vector: sqrt(6 / (1 + d)), whatever the number of heads. */
static double a_head(const rg_attention *att, size_t width)
{
    return sqrt((double)(1 + width) / (1 + (double)width / (double)att->config.heads));
}

static rg_status linear_init(rg_attention *att, rg_params *params)
{
    if (!att->config.q_width || !att->config.k_width)
        return rg_fail(RG_EINVAL, "the linear score needs the widths of queries and keys");
    att->w = rg_params_add(params, "linear.wq", RG_VECTOR, 1, att->config.q_width, RG_INIT_GLOROT,
                           a_head(att, att->config.q_width));
    att->u = rg_params_add(params, "linear.wk", RG_VECTOR, 1, att->config.k_width, RG_INIT_GLOROT,
                           a_head(att, att->config.k_width));
    if (!att->config.biased) return RG_OK;
    att->b = rg_params_add(params, "linear.bq", RG_VECTOR, 1, att->config.heads, RG_INIT_ZERO, 0);
    att->v = rg_params_add(params, "linear.bk", RG_VECTOR, 1, att->config.heads, RG_INIT_ZERO, 0);
    return RG_OK;
}

/* w . x (+ b) of each head's block: (N, H) */
static rg_tensor *half(rg_tape *t, const rg_attention *att, rg_tensor *x, const rg_param *w, const rg_param *b)
{
    return rg_block_dots(t, x, rg_use(t, w), b ? rg_use(t, b) : NULL, att->config.heads);
}

static rg_tensor *linear_prepare(rg_tape *t, const rg_attention *att, rg_tensor *k)
{
    return half(t, att, k, att->u, att->v);
}
static rg_tensor *linear_query(rg_tape *t, const rg_attention *att, rg_tensor *q)
{
    return half(t, att, q, att->w, att->b);
}

static rg_tensor *linear_pairs(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, const rg_reach *reach)
{
    rg_tensor *e = rg_pairs_add(t, q, k, reach);
    return att->config.activation == RG_IDENTITY ? e : rg_map(t, e, att->config.activation);
}

/* Over lists, with an activation that is two straight lines. */
static rg_tensor *linear_fused(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, rg_tensor *v,
                               const rg_reach *reach)
{
    const rg_attention_config *c = &att->config;
    if (!reach->key || c->shared_values || (c->activation != RG_IDENTITY && c->activation != RG_LEAKY_RELU))
        return NULL;
    return rg_fused_linear(t, q, k, v, reach, c->activation == RG_LEAKY_RELU ? 0.2 : 1, c->dropout);
}

const rg_score rg_score_linear = {
    .name = "linear",
    .formula = "f(w_q . q + w_k . k)",
    .paper = "Velickovic et al. 2018, Graph Attention Networks (f = leaky relu)",
    .cost = "O(n), once O(d) a row",
    .note = "f = identity unless --score-activation says otherwise; the weights then do not depend on the query",
    .activates = true,
    .activation = RG_IDENTITY,
    .init = linear_init,
    .prepare = linear_prepare,
    .query = linear_query,
    .pairs = linear_pairs,
    .fused = linear_fused,
    .drops = true,
    .adds_bias = true,
};
