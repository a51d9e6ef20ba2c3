/* case_experts.c - a mixture of 8 experts, 512 -> 2048 -> 512, 2,000 rows, 2 experts for each, without noise:
 * forward with backward, and forward. */
#include "bench.h"

#include "regard/experts.h"

enum { ROWS = 2000,
       D = 512,
       HIDDEN = 2048,
       EXPERTS = 8,
       TOP = 2 };

typedef struct state {
    bool       backward;
    rg_params *params;
    rg_experts experts;
    rg_grads  *grads;
    rg_tape   *tape;
    rg_real   *x, *dy, *out;
    uint64_t   step;
} state;

static void describe(bench_row *out, size_t index)
{
    const bool backward = index == 0;
    snprintf(out->name, sizeof out->name, "experts %dx%d top %d %s", EXPERTS, HIDDEN, TOP,
             backward ? "forward+backward" : "forward");
    snprintf(out->params, sizeof out->params,
             "\"rows\": %d, \"d\": %d, \"hidden\": %d, \"experts\": %d, \"top\": %d, \"backward\": %s", ROWS, D, HIDDEN,
             EXPERTS, TOP, backward ? "true" : "false");
    out->flops = (backward ? 3 : 1) * 2.0 * 2 * (double)D * HIDDEN * ROWS * TOP;
}

static void teardown(void *context)
{
    state *s = context;
    rg_tape_free(s->tape);
    rg_grads_free(s->grads);
    rg_params_free(s->params);
    rg_free(s->x);
    rg_free(s->dy);
    rg_free(s->out);
}

static void fill_scaled(rg_param *p, uint32_t seed, double scale)
{
    const size_t n = rg_param_rows(p) * rg_param_cols(p);
    bench_fill(rg_param_data(p), n, seed);
    for (size_t i = 0; i < n; i++) rg_param_data(p)[i] *= (rg_real)scale;
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    state                  *s = context;
    const rg_experts_config c = { .width = D, .hidden = HIDDEN, .experts = EXPERTS, .top = TOP, .activation = RG_RELU };
    s->backward = row == 0;
    RG_TRY(rg_params_new(&s->params));
    RG_TRY(rg_experts_init(&s->experts, s->params, &c));
    RG_TRY(rg_params_build(s->params, 1));
    fill_scaled(s->experts.gate, 2, 0.1);
    for (size_t i = 0; i < EXPERTS; i++) {
        fill_scaled(s->experts.expert[i].inner.w, 10 + 2 * (uint32_t)i, 0.05);
        fill_scaled(s->experts.expert[i].outer.w, 11 + 2 * (uint32_t)i, 0.05);
    }
    RG_TRY(rg_params_repack(s->params, NULL));
    RG_TRY(rg_grads_new(&s->grads, s->params));
    const rg_tape_config config = { .record = s->backward, .team = team, .grads = s->grads };
    RG_TRY(rg_tape_new(&s->tape, &config));
    s->x = rg_alloc_array(ROWS * D, sizeof *s->x);
    s->dy = rg_alloc_array(ROWS * D, sizeof *s->dy);
    s->out = rg_alloc_zero(ROWS * D * sizeof *s->out);
    if (!s->x || !s->dy || !s->out) return RG_ENOMEM;
    bench_fill(s->x, ROWS * D, 1);
    bench_fill(s->dy, ROWS * D, 4);
    return RG_OK;
}

static rg_status run(void *context)
{
    state   *s = context;
    rg_tape *t = s->tape;
    rg_tape_reset(t, ++s->step);
    rg_tensor *x = rg_input(t, s->x, ROWS, D, NULL), *y = rg_experts_mix(t, &s->experts, x, NULL);
    if (s->backward) RG_TRY(rg_tape_backward_from(t, y, s->dy));
    RG_TRY(rg_tape_status(t));
    const rg_tensor *of = s->backward ? x : y;
    const rg_real   *result = s->backward ? rg_tape_gradient(t, x) : rg_tensor_data(y);
    for (size_t i = 0; result && s->step == 1 && i < ROWS * D; i++)
        s->out[i] = result[i / D * rg_tensor_ld(of) + i % D];
    return RG_OK;
}

static double check(void *context) { return bench_mean_abs(((state *)context)->out, ROWS * D); }

const bench_case bench_case_experts = {
    .name = "experts",
    .summary = "a mixture of experts, 2,000 rows, two of eight for each",
    .rows = 2,
    .describe = describe,
    .bytes = sizeof(state),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
