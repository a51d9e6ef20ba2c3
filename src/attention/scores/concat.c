/* Additive score, concat form (Luong, Pham, Manning 2015):
 *
 *     e(q,k) = v . f(M [q; k] + b)          M (p, dq + dk)
 *
 * The same function as the perceptron form with M = [W U]; here M is one parameter, and its two column blocks do the
 * work of W and U. A test holds the two equal. */
#include "attention/pairs.h"

static rg_status concat_init(rg_attention *att, rg_params *params)
{
    const rg_attention_config *c = &att->config;
    if (!c->q_width || !c->k_width || !c->hidden)
        return rg_fail(RG_EINVAL, "the concat score needs the widths of queries, keys and the hidden layer");
    /* a table, because it is read in parts: no pack */
    att->w =
        rg_params_add(params, "concat.m", RG_TABLE, c->q_width + c->k_width, c->heads * c->hidden, RG_INIT_GLOROT, 1);
    att->b = rg_params_add(params, "concat.b", RG_VECTOR, 1, c->heads * c->hidden, RG_INIT_ZERO, 0);
    att->v = rg_params_add(params, "concat.v", RG_VECTOR, c->heads, c->hidden, RG_INIT_GLOROT, 1);
    return RG_OK;
}

static rg_tensor *concat_prepare(rg_tape *t, const rg_attention *att, rg_tensor *k)
{
    rg_tensor *m = rg_rows(t, rg_use(t, att->w), att->config.q_width, att->config.k_width);
    return rg_linear(t, k, m, rg_use(t, att->b), RG_IDENTITY);
}

static rg_tensor *concat_query(rg_tape *t, const rg_attention *att, rg_tensor *q)
{
    return rg_linear(t, q, rg_rows(t, rg_use(t, att->w), 0, att->config.q_width), NULL, RG_IDENTITY);
}

static rg_tensor *concat_pairs(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, const rg_reach *reach)
{
    return rg_pairs_additive(t, q, k, rg_use(t, att->v), reach, att->config.activation);
}

const rg_score rg_score_concat = {
    .name = "concat",
    .formula = "v . f(M [q; k] + b)",
    .paper = "Luong, Pham, Manning 2015; Bahdanau, Cho, Bengio 2015",
    .cost = "O(n p), once O(n d p)",
    .note = "equal to additive with M = [W U]",
    .activates = true,
    .activation = RG_TANH,
    .init = concat_init,
    .prepare = concat_prepare,
    .query = concat_query,
    .pairs = concat_pairs,
};
