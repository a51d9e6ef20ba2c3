/* case_attention.c - scaled dot attention, 64 wide a head, float32: sentences and longer texts, whole and causal,
 * forward alone and with backward. The last rows have no peer: a window against our own full attention. */
#include "bench.h"

#include "regard/attention.h"

enum { WIDE = 64 };

static const struct shape {
    size_t n, batch, heads, window;
    bool   causal, train;
} shapes[] = {
    { 30, 64, 8, 0, false, false }, { 30, 64, 8, 0, false, true },   { 30, 64, 8, 0, true, true },
    { 64, 8, 8, 0, false, false },  { 64, 8, 8, 0, false, true },    { 64, 8, 8, 0, true, true },
    { 128, 8, 8, 0, false, false }, { 128, 8, 8, 0, false, true },   { 128, 8, 8, 0, true, true },
    { 512, 8, 8, 0, false, false }, { 512, 8, 8, 0, true, false },   { 512, 8, 8, 0, false, true },
    { 512, 8, 8, 0, true, true },   { 8192, 1, 1, 0, false, false }, { 8192, 1, 1, 64, false, false },
    { 8192, 1, 1, 0, false, true }, { 8192, 1, 1, 64, false, true },
};

typedef struct {
    struct shape  shape;
    size_t        N, D;
    rg_params    *params;
    rg_param     *part[3];
    rg_grads     *grads;
    rg_tape      *tape;
    rg_attention  att;
    rg_layout     layout;
    int32_t      *start;
    rg_real      *dout;
    rg_tensor    *out;
} attention;

static void describe(bench_row *out, size_t index)
{
    const struct shape s = shapes[index];
    const double       pairs = (double)s.n * (double)s.n / (s.causal ? 2 : 1);
    snprintf(out->name, sizeof out->name, "n=%zu %s %s", s.n,
             s.window   ? "window"
             : s.causal ? "causal"
                        : "full",
             s.train ? "train" : "forward");
    snprintf(out->params, sizeof out->params,
             "\"n\": %zu, \"B\": %zu, \"H\": %zu, \"window\": %zu, \"causal\": %s, \"train\": %s", s.n, s.batch,
             s.heads, s.window, s.causal ? "true" : "false", s.train ? "true" : "false");
    if (!s.window) out->flops = 4.0 * (double)(s.batch * s.heads) * pairs * WIDE * (s.train ? 3 : 1);
}

static void teardown(void *state)
{
    attention *a = state;
    rg_tape_free(a->tape);
    rg_grads_free(a->grads);
    rg_params_free(a->params);
    rg_free(a->start);
    rg_free(a->dout);
}

static rg_status setup(void *state, size_t row, rg_team *team)
{
    static const char *const names[] = { "q", "k", "v" };
    attention               *a = state;
    rg_attention_config      config = RG_ATTENTION_CONFIG_DEFAULT;
    a->shape = shapes[row];
    const size_t N = a->N = a->shape.n * a->shape.batch, D = a->D = a->shape.heads * WIDE;
    config.heads = a->shape.heads;
    if (!(a->start = rg_alloc_array(a->shape.batch + 1, sizeof *a->start)) ||
        !(a->dout = rg_alloc_array(N * D, sizeof(rg_real))))
        return RG_ENOMEM;
    for (size_t g = 0; g <= a->shape.batch; g++) a->start[g] = (int32_t)(g * a->shape.n);
    a->layout = (rg_layout){ .groups = a->shape.batch, .start = a->start };
    bench_fill(a->dout, N * D, 4);
    RG_TRY(rg_params_new(&a->params));
    for (size_t i = 0; i < 3; i++) a->part[i] = rg_params_add(a->params, names[i], RG_TABLE, N, D, RG_INIT_ZERO, 0);
    RG_TRY(rg_attention_init(&a->att, &config, a->params));
    RG_TRY(rg_params_build(a->params, 1));
    for (size_t i = 0; i < 3; i++) bench_fill(rg_param_data(a->part[i]), N * D, (uint32_t)i + 1);
    RG_TRY(rg_grads_new(&a->grads, a->params));
    rg_tape_config tape = { .record = a->shape.train, .learn = true, .team = team, .grads = a->grads };
    return rg_tape_new(&a->tape, &tape);
}

static rg_status run(void *state)
{
    attention *a = state;
    rg_tape   *t = a->tape;
    rg_tape_reset(t, 0);
    const rg_reach *reach = a->shape.window   ? rg_reach_window(t, &a->layout, a->shape.window)
                            : a->shape.causal ? rg_reach_causal(t, &a->layout)
                                              : rg_reach_groups(t, &a->layout, &a->layout);
    a->out = rg_attend(t, &a->att, rg_use(t, a->part[0]), rg_use(t, a->part[1]), rg_use(t, a->part[2]), reach);
    RG_TRY(rg_tape_status(t));
    return a->shape.train ? rg_tape_backward_from(t, a->out, a->dout) : RG_OK;
}

/* Mean |out|, or of the three gradients. */
static double check(void *state)
{
    attention *a = state;
    double     sum = 0;
    if (!a->shape.train) return bench_mean_abs(rg_tensor_data(a->out), a->N * a->D);
    for (size_t i = 0; i < 3; i++) sum += bench_mean_abs(rg_grads_of(a->grads, a->part[i]), a->N * a->D);
    return sum / 3;
}

const bench_case bench_case_attention = {
    .name = "attention",
    .summary = "scaled dot attention, forward and training",
    .rows = sizeof shapes / sizeof *shapes,
    .describe = describe,
    .bytes = sizeof(attention),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
