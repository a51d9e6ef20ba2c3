/* pool.c - one row of the rows of a text: the table of poolings. See encoder.h. */
#include "regard/between.h"
#include "regard/encoder.h"

#include <string.h>

struct rg_pool_kind {
    const char *name;
    rg_tensor *(*run)(rg_tape *t, const rg_pool *pool, rg_tensor *x, rg_tensor *end, rg_tensor **penalty);
};

static rg_tensor *run_last(rg_tape *t, const rg_pool *pool, rg_tensor *x, rg_tensor *end, rg_tensor **penalty)
{
    (void)pool, (void)penalty;
    return end ? end : rg_last_rows(t, x, false);
}

static rg_tensor *run_first(rg_tape *t, const rg_pool *pool, rg_tensor *x, rg_tensor *end, rg_tensor **penalty)
{
    (void)pool, (void)end, (void)penalty;
    return rg_last_rows(t, x, true);
}

static rg_tensor *run_mean(rg_tape *t, const rg_pool *pool, rg_tensor *x, rg_tensor *end, rg_tensor **penalty)
{
    (void)pool, (void)end, (void)penalty;
    return rg_mean_groups(t, x);
}

static rg_tensor *run_max(rg_tape *t, const rg_pool *pool, rg_tensor *x, rg_tensor *end, rg_tensor **penalty)
{
    (void)pool, (void)end, (void)penalty;
    return rg_max_groups(t, x);
}

/* a_r = softmax_i v_r . tanh(W h_i)        y = [sum_i a_1i h_i ; ... ; sum_i a_Ri h_i]       penalty |A A^T - I|^2 */
static rg_tensor *run_attention(rg_tape *t, const rg_pool *pool, rg_tensor *x, rg_tensor *end, rg_tensor **penalty)
{
    const rg_layout *l = rg_tensor_layout(x);
    (void)end;
    if (!x) return NULL;
    if (!l) return rg_tape_fail(t, RG_EINVAL, "rows without layout are no text to attend to");
    int32_t *start = rg_tape_memory(t, (l->groups + 1) * sizeof *start);
    for (size_t g = 0; start && g <= l->groups; g++) start[g] = (int32_t)g;
    const rg_layout *one = start ? rg_tape_layout(t, l->groups, start) : NULL;
    if (!one) return NULL;
    rg_tape_push(t, "pool");
    const rg_reach *reach = rg_reach_groups(t, one, l);
    rg_tensor      *asks = rg_zeros(t, l->groups, 1, one); /* the query plays no part */
    rg_tensor      *a = rg_weigh(t, &pool->att, asks, rg_attention_prepare(t, &pool->att, x), reach);
    if (penalty && pool->att.config.heads > 1) *penalty = rg_overlap_penalty(t, a, reach);
    x = rg_mix_shared(t, a, x, reach);
    rg_tape_pop(t);
    return x;
}

static const rg_pool_kind kinds[] = { { "last", run_last },
                                      { "first", run_first },
                                      { "mean", run_mean },
                                      { "max", run_max },
                                      { "attention", run_attention } };

rg_status rg_pool_init(rg_pool *out, rg_params *p, const char *name, size_t in, size_t rows, size_t hidden)
{
    *out = (rg_pool){ .out = in };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0) out->kind = &kinds[i];
    if (!out->kind) return rg_fail(RG_EINVAL, "there is no pooling '%s'", name);
    if (out->kind->run != run_attention) return RG_OK;
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    c.score = "vector";
    c.heads = rows;
    c.k_width = in;
    c.q_width = 1;
    c.hidden = hidden;
    c.shared_values = true;
    out->out = rows * in;
    rg_params_push(p, "pool");
    const rg_status status = rg_attention_init(&out->att, &c, p);
    rg_params_pop(p);
    return status;
}

rg_tensor *rg_pool_run(rg_tape *t, const rg_pool *pool, rg_tensor *x, rg_tensor *end, rg_tensor **penalty)
{
    if (penalty) *penalty = NULL;
    return pool->kind->run(t, pool, x, end, penalty);
}
