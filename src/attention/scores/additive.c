/* Additive score, perceptron form (Bahdanau, Cho, Bengio 2015, appendix A.1.2):
 *
 *     e(q,k) = v . f(W q + U k + b)
 *
 * f = tanh is Bahdanau's, f = leaky relu GATv2's (Brody, Alon, Yahav 2022). U k does not depend on the query, so
 * prepare() computes it once for a whole sentence. */
#include "attention/pairs.h"

static rg_status additive_init(rg_attention *att, rg_params *params)
{
    const rg_attention_config *c = &att->config;
    if (!c->q_width || !c->k_width || !c->hidden)
        return rg_fail(RG_EINVAL, "the additive score needs the widths of queries, keys and the hidden layer");
    att->w = rg_params_add(params, "additive.w", RG_WEIGHT, c->q_width, c->heads * c->hidden, RG_INIT_GLOROT, 1);
    att->u = rg_params_add(params, "additive.u", RG_WEIGHT, c->k_width, c->heads * c->hidden, RG_INIT_GLOROT, 1);
    att->b = rg_params_add(params, "additive.b", RG_VECTOR, 1, c->heads * c->hidden, RG_INIT_ZERO, 0);
    att->v = rg_params_add(params, "additive.v", RG_VECTOR, c->heads, c->hidden, RG_INIT_GLOROT, 1);
    return RG_OK;
}

static rg_tensor *additive_prepare(rg_tape *t, const rg_attention *att, rg_tensor *k)
{
    return rg_linear(t, k, rg_use(t, att->u), rg_use(t, att->b), RG_IDENTITY);
}

static rg_tensor *additive_query(rg_tape *t, const rg_attention *att, rg_tensor *q)
{
    return rg_linear(t, q, rg_use(t, att->w), NULL, RG_IDENTITY);
}

static rg_tensor *additive_pairs(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, const rg_reach *reach)
{
    return rg_pairs_additive(t, q, k, rg_use(t, att->v), reach, att->config.activation);
}

const rg_score rg_score_additive = {
    .name = "additive",
    .formula = "v . f(W q + U k + b)",
    .paper = "Bahdanau, Cho, Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate",
    .cost = "O(n p), once O(n d p) for U k",
    .note = "p is the width of the hidden layer",
    .activates = true,
    .activation = RG_TANH,
    .init = additive_init,
    .prepare = additive_prepare,
    .query = additive_query,
    .pairs = additive_pairs,
};
