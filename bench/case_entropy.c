/* case_entropy.c - cross-entropy with label smoothing over a vocabulary: the product with the table, the loss, and
 * the gradients of rows, table and bias. */
#include "bench.h"

#include <math.h>

#include "regard/ops.h"

enum { N = 1920, D = 512, V = 32000 };

typedef struct state {
    rg_params *params;
    rg_param  *w, *b;
    rg_grads  *grads;
    rg_tape   *tape;
    rg_real   *x;
    int32_t   *target;
    double     loss, gradient;
    uint64_t   step;
} state;

static void describe(bench_row *out, size_t row)
{
    (void)row;
    snprintf(out->name, sizeof out->name, "%dx%d -> %d", N, D, V);
    snprintf(out->params, sizeof out->params, "\"N\": %d, \"D\": %d, \"V\": %d", N, D, V);
    out->flops = 3 * 2.0 * N * D * (double)V;
}

static void teardown(void *context)
{
    state *s = context;
    rg_tape_free(s->tape);
    rg_grads_free(s->grads);
    rg_params_free(s->params);
    rg_free(s->x);
    rg_free(s->target);
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    (void)row;
    state *s = context;
    RG_TRY(rg_params_new(&s->params));
    s->w = rg_params_add(s->params, "w", RG_TIED, V, D, RG_INIT_ZERO, 0);
    s->b = rg_params_add(s->params, "b", RG_VECTOR, 1, V, RG_INIT_ZERO, 0);
    RG_TRY(rg_params_build(s->params, 1));
    bench_fill(rg_param_data(s->w), (size_t)V * D, 2);
    RG_TRY(rg_params_repack(s->params, team));
    RG_TRY(rg_grads_new(&s->grads, s->params));
    const rg_tape_config config = { .record = true, .learn = true, .team = team, .grads = s->grads };
    RG_TRY(rg_tape_new(&s->tape, &config));
    s->x = rg_alloc_array((size_t)N * D, sizeof *s->x);
    s->target = rg_alloc_array(N, sizeof *s->target);
    if (!s->x || !s->target) return RG_ENOMEM;
    bench_fill(s->x, (size_t)N * D, 1);
    for (int32_t i = 0; i < N; i++) s->target[i] = (i * 7919) % V;
    return RG_OK;
}

static rg_status run(void *context)
{
    state   *s = context;
    rg_tape *t = s->tape;
    rg_tape_reset(t, ++s->step);
    rg_grads_reset(s->grads);
    rg_tensor *x = rg_input(t, s->x, N, D, NULL);
    rg_tensor *loss = rg_cross_entropy_over(t, x, rg_use(t, s->w), rg_use(t, s->b), s->target, 0.1, 1);
    RG_TRY(rg_tape_backward(t, loss));
    s->loss = (double)rg_tensor_at(loss, 0, 0) / N;
    if (s->step == 1) s->gradient = bench_mean_abs(rg_tape_gradient(t, x), (size_t)N * D);
    return rg_tape_status(t);
}

static double check(void *context)
{
    state *s = context;
    return s->loss + s->gradient;
}

const bench_case bench_case_entropy = {
    .name = "entropy",
    .summary = "label-smoothed cross-entropy over a vocabulary, forward and backward with the product",
    .rows = 1,
    .describe = describe,
    .bytes = sizeof(state),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
