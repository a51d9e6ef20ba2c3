/* case_lstm.c - recurrent layers of 256, 512 and 1000 units, 64 sentences of 40 words: forward, and forward with
 * backward.
 *
 * The GRU is the reset-after form, because that is the one the peer has. */
#include "bench.h"

#include "regard/recurrent.h"

enum { BATCH = 64, STEPS = 40, ROWS = BATCH * STEPS };

static const size_t        widths[] = { 512, 256, 1000 };
static const rg_recurrence kinds[] = { RG_LSTM, RG_GRU_RESET_AFTER };

typedef struct state {
    size_t        u;
    rg_recurrence kind;
    bool          backward;
    rg_params    *params;
    rg_param     *w, *b, *v, *b_new;
    rg_grads     *grads;
    rg_tape      *tape;
    rg_real      *x, *dy, *out;
    rg_layout     layout;
    int32_t       start[BATCH + 1];
    uint64_t      step;
} state;

/* row: width, then kind, then forward or both */
static void describe(bench_row *out, size_t index)
{
    const size_t u = widths[index / 4];
    const bool   lstm = index / 2 % 2 == 0, backward = index % 2 == 0;
    const double gates = lstm ? 4 : 3;
    snprintf(out->name, sizeof out->name, "%s %zu %s", lstm ? "lstm" : "gru", u,
             backward ? "forward+backward" : "forward");
    snprintf(out->params, sizeof out->params, "\"kind\": \"%s\", \"u\": %zu, \"backward\": %s", lstm ? "LSTM" : "GRU",
             u, backward ? "true" : "false");
    out->flops = (backward ? 3 : 1) * 2.0 * 2 * gates * (double)u * (double)u * ROWS;
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

static rg_status setup(void *context, size_t row, rg_team *team)
{
    state *s = context;
    s->u = widths[row / 4];
    s->kind = kinds[row / 2 % 2];
    s->backward = row % 2 == 0;
    const size_t u = s->u, gu = rg_recurrence_gates(s->kind) * u;
    RG_TRY(rg_params_new(&s->params));
    s->w = rg_params_add(s->params, "w", RG_WEIGHT, u, gu, RG_INIT_ZERO, 0);
    s->v = rg_params_add(s->params, "u", RG_WEIGHT, u, gu, RG_INIT_ZERO, 0);
    s->b = rg_params_add(s->params, "b", RG_VECTOR, 1, gu, RG_INIT_ZERO, 0);
    if (s->kind == RG_GRU_RESET_AFTER) s->b_new = rg_params_add(s->params, "b_new", RG_VECTOR, 1, u, RG_INIT_ZERO, 0);
    RG_TRY(rg_params_build(s->params, 1));
    bench_fill(rg_param_data(s->w), u * gu, 2);
    bench_fill(rg_param_data(s->v), u * gu, 3);
    for (size_t i = 0; i < u * gu; i++) rg_param_data(s->w)[i] *= (rg_real)0.1, rg_param_data(s->v)[i] *= (rg_real)0.1;
    RG_TRY(rg_params_repack(s->params, NULL));
    RG_TRY(rg_grads_new(&s->grads, s->params));
    rg_tape_config config = { .record = s->backward, .learn = true, .team = team, .grads = s->grads };
    RG_TRY(rg_tape_new(&s->tape, &config));
    for (int32_t g = 0; g <= BATCH; g++) s->start[g] = g * STEPS;
    s->layout = (rg_layout){ .groups = BATCH, .start = s->start };
    s->x = rg_alloc_array(ROWS * u, sizeof *s->x);
    s->dy = rg_alloc_array(ROWS * u, sizeof *s->dy);
    s->out = rg_alloc_zero(ROWS * u * sizeof *s->out);
    if (!s->x || !s->dy || !s->out) return RG_ENOMEM;
    bench_fill(s->x, ROWS * u, 1);
    bench_fill(s->dy, ROWS * u, 4);
    return RG_OK;
}

static rg_status run(void *context)
{
    state   *s = context;
    rg_tape *t = s->tape;
    rg_tape_reset(t, ++s->step);
    rg_tensor *x = rg_input(t, s->x, ROWS, s->u, &s->layout);
    const rg_recurrent_weights w = {
        .w = rg_use(t, s->w), .u = rg_use(t, s->v), .b = rg_use(t, s->b), .b_new = s->b_new ? rg_use(t, s->b_new) : NULL
    };
    rg_tensor *y = rg_recurrent(t, s->kind, &w, x, NULL, NULL, false, NULL);
    if (s->backward) RG_TRY(rg_tape_backward_from(t, y, s->dy));
    const rg_real *result = s->backward ? rg_tape_gradient(t, x) : rg_tensor_data(y);
    for (size_t i = 0; result && s->step == 1 && i < ROWS * s->u; i++) s->out[i] = result[i];
    return rg_tape_status(t);
}

static double check(void *context)
{
    state *s = context;
    return bench_mean_abs(s->out, ROWS * s->u);
}

const bench_case bench_case_lstm = {
    .name = "lstm",
    .summary = "recurrent layers, 64 sentences of 40 words",
    .rows = 12,
    .describe = describe,
    .bytes = sizeof(state),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
