/* One-vector self-attention (Lin et al. 2017, A Structured Self-attentive Sentence Embedding):
 *
 *     e_r(k) = v_r . tanh(W k)              no query: one learned vector a head, H rows of attention over the same keys
 *
 * The pooling layer of classifiers. Queries are one (empty) row a group; rg_overlap_penalty keeps the rows apart. */
#include "attention/pairs.h"

static rg_status vector_init(rg_attention *att, rg_params *params)
{
    const rg_attention_config *c = &att->config;
    if (!c->k_width || !c->hidden)
        return rg_fail(RG_EINVAL, "the vector score needs the widths of keys and of the hidden layer");
    att->w = rg_params_add(params, "vector.w", RG_WEIGHT, c->k_width, c->hidden, RG_INIT_GLOROT, 1);
    att->v = rg_params_add(params, "vector.v", RG_WEIGHT, c->hidden, c->heads, RG_INIT_GLOROT, 1);
    return RG_OK;
}

static rg_tensor *vector_prepare(rg_tape *t, const rg_attention *att, rg_tensor *k)
{
    rg_tensor *hidden = rg_linear(t, k, rg_use(t, att->w), NULL, RG_TANH);
    return rg_linear(t, hidden, rg_use(t, att->v), NULL, RG_IDENTITY); /* (Nk, H) */
}

static rg_tensor *vector_pairs(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, const rg_reach *reach)
{
    (void)att;
    (void)q;
    return rg_pairs_keys(t, k, reach);
}

const rg_score rg_score_vector = {
    .name = "vector",
    .formula = "v . tanh(W k)",
    .paper = "Lin et al. 2017, A Structured Self-attentive Sentence Embedding",
    .cost = "O(n p), once O(n d p)",
    .note = "the query plays no part; several heads want the overlap penalty",
    .init = vector_init,
    .prepare = vector_prepare,
    .pairs = vector_pairs,
};
