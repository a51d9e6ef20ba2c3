/* case_additive.c - attention with the additive score, 64 sentences of 30 x 30, width 512: v . tanh(x + y) with x
 * and y given, softmax, weighted sums; forward and with backward. PyTorch stores the (64, 30, 30, 512) sums; we
 * never do. */
#include "bench.h"

#include "regard/attention.h"

enum { BATCH = 64, LENGTH = 30, WIDE = 512, ROWS = BATCH * LENGTH, PARTS = 3 };

typedef struct {
    bool         train;
    rg_params   *params;
    rg_param    *part[PARTS]; /* x, y, values */
    rg_grads    *grads;
    rg_tape     *tape;
    rg_attention att;
    int32_t      start[BATCH + 1];
    rg_layout    layout;
    rg_real     *dout;
    rg_tensor   *out;
} additive;

static void describe(bench_row *out, size_t index)
{
    snprintf(out->name, sizeof out->name, "64 x 30 x 30 x 512 %s", index ? "train" : "forward");
    snprintf(out->params, sizeof out->params, "\"train\": %s", index ? "true" : "false");
}

static void teardown(void *state)
{
    additive *a = state;
    rg_tape_free(a->tape);
    rg_grads_free(a->grads);
    rg_params_free(a->params);
    rg_free(a->dout);
}

static rg_status setup(void *state, size_t row, rg_team *team)
{
    additive                *a = state;
    static const char *const names[] = { "x", "y", "values" };
    rg_attention_config      config = RG_ATTENTION_CONFIG_DEFAULT;
    a->train = row > 0;
    config.score = "additive";
    config.q_width = config.k_width = config.hidden = WIDE;
    for (int32_t g = 0; g <= BATCH; g++) a->start[g] = g * LENGTH;
    a->layout = (rg_layout){ .groups = BATCH, .start = a->start };
    if (!(a->dout = rg_alloc_array(ROWS * WIDE, sizeof(rg_real)))) return RG_ENOMEM;
    bench_fill(a->dout, ROWS * WIDE, 5);
    RG_TRY(rg_params_new(&a->params));
    for (size_t i = 0; i < PARTS; i++)
        a->part[i] = rg_params_add(a->params, names[i], RG_TABLE, ROWS, WIDE, RG_INIT_ZERO, 0);
    RG_TRY(rg_attention_init(&a->att, &config, a->params));
    RG_TRY(rg_params_build(a->params, 1));
    for (size_t i = 0; i < PARTS; i++) bench_fill(rg_param_data(a->part[i]), ROWS * WIDE, (uint32_t)i + 1);
    bench_fill(rg_param_data(a->att.v), WIDE, 4);
    RG_TRY(rg_grads_new(&a->grads, a->params));
    rg_tape_config tape = { .record = a->train, .learn = true, .team = team, .grads = a->grads };
    return rg_tape_new(&a->tape, &tape);
}

static rg_status run(void *state)
{
    additive *a = state;
    rg_tape  *t = a->tape;
    rg_tape_reset(t, 0);
    const rg_reach *reach = rg_reach_groups(t, &a->layout, &a->layout);
    rg_tensor      *e = a->att.score->pairs(t, &a->att, rg_use(t, a->part[0]), rg_use(t, a->part[1]), reach);
    a->out = rg_mix(t, rg_softmax_over(t, e, reach), rg_use(t, a->part[2]), reach);
    RG_TRY(rg_tape_status(t));
    return a->train ? rg_tape_backward_from(t, a->out, a->dout) : RG_OK;
}

/* Mean |out|, or of the three gradients. */
static double check(void *state)
{
    additive *a = state;
    double    sum = 0;
    if (!a->train) return bench_mean_abs(rg_tensor_data(a->out), ROWS * WIDE);
    for (size_t i = 0; i < PARTS; i++) sum += bench_mean_abs(rg_grads_of(a->grads, a->part[i]), ROWS * WIDE);
    return sum / PARTS;
}

const bench_case bench_case_additive = {
    .name = "additive",
    .summary = "attention with the additive score, forward and training",
    .rows = 2,
    .describe = describe,
    .bytes = sizeof(additive),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
