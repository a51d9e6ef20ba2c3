/* attend.c - attention, once. Every system of this library ends here. */
#include "attention/reach.h"
#include "autograd/tape.h"

#include <string.h>

rg_status rg_attention_init(rg_attention *out, const rg_attention_config *config, rg_params *params)
{
    *out = (rg_attention){ .score = rg_score_find(config->score), .config = *config };
    if (!out->score) return rg_fail(RG_EINVAL, "there is no score '%s'; `regard scores` lists them", config->score);
    if (config->heads == 0) return rg_fail(RG_EINVAL, "attention with 0 heads");
    if (config->activation == RG_SCORE_OWN) out->config.activation = out->score->activation;
    return out->score->init ? out->score->init(out, params) : RG_OK;
}

rg_status rg_attention_activate(rg_attention *att, const char *name)
{
    const bool if_any = strcmp(name, "tanh-if-any") == 0; /* what Transformers were before it was a setting */
    if (strcmp(name, "own") == 0 || (if_any && !att->score->activates)) return RG_OK;
    if (if_any) name = "tanh";
    if (!att->score->activates)
        return rg_fail(
            RG_EINVAL,
            "--score-activation %s: there is no function inside the %s score; linear, additive and concat have one",
            name, att->score->name);
    return rg_activation_find(&att->config.activation, name);
}

rg_tensor *rg_attention_prepare(rg_tape *t, const rg_attention *att, rg_tensor *k)
{
    return att->score->prepare ? att->score->prepare(t, att, k) : k;
}

/* e_ph + bias_p */
static rg_tensor *add_bias(rg_tape *t, rg_tensor *e, const rg_reach *reach)
{
    const size_t H = e ? rg_tensor_cols(e) : 0;
    rg_real     *ones = e ? rg_tape_memory(t, H * sizeof *ones) : NULL;
    for (size_t h = 0; ones && h < H; h++) ones[h] = 1;
    return ones ? rg_add(t, e, rg_matmul(t, rg_borrow(t, reach->bias, reach->P, 1, 1), rg_borrow(t, ones, 1, H, H)))
                : NULL;
}

rg_tensor *rg_scores(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, const rg_reach *reach)
{
    if (att->score->query) q = att->score->query(t, att, q);
    rg_tensor *e = att->score->pairs(t, att, q, k, reach); /* (P, H) how well each open pair fits */
    return reach && reach->bias ? add_bias(t, e, reach) : e;
}

rg_tensor *rg_weigh(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, const rg_reach *reach)
{
    rg_tensor *e = rg_scores(t, att, q, k, reach);
    rg_tensor *a = rg_softmax_over(t, e, reach); /* over the keys of each query: sums to 1 */
    rg_tape_watch(t, "weights", a, reach);       /* what the viewer draws                   */
    return a;
}

rg_tensor *rg_attend(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, rg_tensor *v,
                     const rg_reach *reach)
{
    const bool drops = att->config.dropout > 0 && rg_tape_learning(t);
    const bool able =
        att->score->fused && (!drops || att->score->drops) && (!reach || !reach->bias || att->score->adds_bias);
    v = rg_tape_offer(t, "values", v, reach);
    if (able && reach && !rg_tape_watched(t, "weights")) {
        rg_tensor *out = att->score->fused(t, att, att->score->query ? att->score->query(t, att, q) : q, k, v, reach);
        if (out || rg_tape_status(t) != RG_OK) return out;
    }
    rg_tensor *a = rg_dropout(t, rg_weigh(t, att, q, k, reach), att->config.dropout);
    return rg_mix__as_given(t, a, v, reach, att->config.shared_values); /* (Nq, H*dv) */
}
