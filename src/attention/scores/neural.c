/* Neural score: any small network of query and key. Here one hidden layer of relus:
 *
 *     e(q,k) = v . relu(M [q; k] + b) + c
 *
 * written with ordinary ops on one row per pair, as the example of a score that is a network. It stores pairs x
 * width: for large inputs use additive. */
#include "attention/pairs.h"

static rg_status neural_init(rg_attention *att, rg_params *params)
{
    const rg_attention_config *c = &att->config;
    if (!c->q_width || !c->k_width || !c->hidden)
        return rg_fail(RG_EINVAL, "the neural score needs the widths of queries, keys and the hidden layer");
    att->w = rg_params_add(params, "neural.m", RG_WEIGHT, c->q_width + c->k_width, c->hidden, RG_INIT_GLOROT, 1);
    att->b = rg_params_add(params, "neural.b", RG_VECTOR, 1, c->hidden, RG_INIT_ZERO, 0);
    att->v = rg_params_add(params, "neural.v", RG_WEIGHT, c->hidden, c->heads, RG_INIT_GLOROT, 1);
    att->u = rg_params_add(params, "neural.c", RG_VECTOR, 1, c->heads, RG_INIT_ZERO, 0);
    return RG_OK;
}

static rg_tensor *neural_pairs(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, const rg_reach *reach)
{
    rg_tensor *both[] = { rg_pairs_queries(t, q, reach), rg_pairs_keys(t, k, reach) };
    rg_tensor *hidden = rg_linear(t, rg_concat_columns(t, 2, both), rg_use(t, att->w), rg_use(t, att->b), RG_RELU);
    return rg_linear(t, hidden, rg_use(t, att->v), rg_use(t, att->u), RG_IDENTITY);
}

const rg_score rg_score_neural = {
    .name = "neural",
    .formula = "v . relu(M [q; k] + b) + c",
    .paper = "a feed-forward network as score (Bahdanau, Cho, Bengio 2015, section 3.1)",
    .cost = "O(n d p)",
    .note = "the whole of q and k goes into every head; stores one row per pair",
    .init = neural_init,
    .pairs = neural_pairs,
};
