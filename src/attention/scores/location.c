/* Location score (Luong, Pham, Manning 2015):
 *
 *     e(q, k_j) = (W q)_j                   j the place of the key among those the query reaches; the keys themselves play no part
 *
 * Over groups and causal reaches that is its place in the sentence; in a window, its place in the window.
 * W has a row for each of `positions` places: undefined past them, so more keys are an error. */
#include "attention/pairs.h"

static rg_status location_init(rg_attention *att, rg_params *params)
{
    const rg_attention_config *c = &att->config;
    if (!c->q_width || !c->positions)
        return rg_fail(RG_EINVAL, "the location score needs the width of queries and the number of positions");
    att->w = rg_params_add(params, "location.w", RG_WEIGHT, c->q_width, c->heads * c->positions, RG_INIT_GLOROT, 1);
    return RG_OK;
}

static rg_tensor *location_query(rg_tape *t, const rg_attention *att, rg_tensor *q)
{
    return rg_linear(t, q, rg_use(t, att->w), NULL, RG_IDENTITY); /* (Nq, H * positions) */
}

static rg_tensor *location_pairs(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, const rg_reach *reach)
{
    return rg_pairs_place(t, q, k, reach, att->config.heads);
}

const rg_score rg_score_location = {
    .name = "location",
    .formula = "(W q)_j",
    .paper = "Luong, Pham, Manning 2015, Effective Approaches to Attention-based Neural Machine Translation",
    .cost = "O(n), once O(S d) a query",
    .note = "looks at places, not at keys; undefined past the last place it was built for",
    .init = location_init,
    .query = location_query,
    .pairs = location_pairs,
};
