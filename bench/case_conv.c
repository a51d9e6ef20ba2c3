/* case_conv.c - convolution over pictures: first layers of few channels, a middle layer, each forward and with
 * backward (gradients of weights, bias and input), wide layers of 3 x 3, and a step of a small network, c5x32 p2 c5x48 p2 f100 f100 on 64
 * pictures of 28 x 28 x 3, without and with a gradient of the pictures. The step's loss is cross-entropy over ten
 * classes; weights are not updated. */
#include "bench.h"

#include "regard/conv.h"

enum { PICTURES = 64, CLASSES = 10, LAYERS = 5 };

static const struct {
    const char *name;
    size_t      side, D, taps, E; /* taps 0: the network */
    bool        train, to_input;
} shape[] = {
    { "5x5, 28x28x1 -> 32, forward", 28, 1, 5, 32, false, false },
    { "5x5, 28x28x1 -> 32, train", 28, 1, 5, 32, true, true },
    { "5x5, 28x28x3 -> 32, forward", 28, 3, 5, 32, false, false },
    { "5x5, 28x28x3 -> 32, train", 28, 3, 5, 32, true, true },
    { "5x5, 12x12x32 -> 48, forward", 12, 32, 5, 48, false, false },
    { "5x5, 12x12x32 -> 48, train", 12, 32, 5, 48, true, true },
    { "3x3, 32x32x64 -> 128, forward", 32, 64, 3, 128, false, false },
    { "3x3, 32x32x64 -> 128, train", 32, 64, 3, 128, true, true },
    { "3x3, 16x16x128 -> 256, forward", 16, 128, 3, 256, false, false },
    { "3x3, 16x16x128 -> 256, train", 16, 128, 3, 256, true, true },
    { "network, weights only", 28, 3, 0, 0, true, false },
    { "network, and the pictures", 28, 3, 0, 0, true, true },
};
enum { ROWS = sizeof shape / sizeof *shape };

typedef struct {
    size_t     row;
    rg_params *params;
    rg_param  *w[LAYERS], *b[LAYERS];
    rg_grads  *grads;
    rg_tape   *tape;
    rg_real   *pictures, *dout;
    int32_t    target[PICTURES];
    rg_tensor *x, *out;
} conv;

static size_t pixels(size_t row) { return PICTURES * shape[row].side * shape[row].side; }

static void describe(bench_row *out, size_t row)
{
    const double once = 2.0 * (double)(pixels(row) * shape[row].taps * shape[row].taps * shape[row].D * shape[row].E);
    snprintf(out->name, sizeof out->name, "%s", shape[row].name);
    snprintf(out->params, sizeof out->params,
             "\"pictures\": %d, \"side\": %zu, \"D\": %zu, \"taps\": %zu, \"E\": %zu, \"train\": %s, \"to_input\": %s",
             PICTURES, shape[row].side, shape[row].D, shape[row].taps, shape[row].E,
             shape[row].train ? "true" : "false", shape[row].to_input ? "true" : "false");
    out->flops = shape[row].train ? 3 * once : once;
}

static void teardown(void *state)
{
    conv *c = state;
    rg_tape_free(c->tape);
    rg_grads_free(c->grads);
    rg_params_free(c->params);
    rg_free(c->pictures);
    rg_free(c->dout);
}

static void layer(conv *c, size_t i, size_t in, size_t out)
{
    char name[16];
    snprintf(name, sizeof name, "%zu.w", i);
    c->w[i] = rg_params_add(c->params, name, RG_WEIGHT, in, out, RG_INIT_ZERO, 0);
    snprintf(name, sizeof name, "%zu.b", i);
    c->b[i] = rg_params_add(c->params, name, RG_VECTOR, 1, out, RG_INIT_ZERO, 0);
}

static void layers(conv *c)
{
    const size_t taps = shape[c->row].taps, D = shape[c->row].D;
    if (taps) {
        layer(c, 0, taps * taps * D, shape[c->row].E);
        return;
    }
    layer(c, 0, 25 * D, 32);
    layer(c, 1, 25 * 32, 48);
    layer(c, 2, 16 * 48, 100);
    layer(c, 3, 100, 100);
    layer(c, 4, 100, CLASSES);
}

static rg_status setup(void *state, size_t row, rg_team *team)
{
    conv        *c = state;
    const size_t numbers = pixels(row) * shape[row].D, made = pixels(row) * shape[row].E;
    c->row = row;
    c->pictures = rg_alloc_array(numbers, sizeof(rg_real));
    c->dout = rg_alloc_array(made ? made : 1, sizeof(rg_real));
    if (!c->pictures || !c->dout) return RG_ENOMEM;
    bench_fill(c->pictures, numbers, 1);
    bench_fill(c->dout, made, 2);
    for (int32_t i = 0; i < PICTURES; i++) c->target[i] = i % CLASSES;
    RG_TRY(rg_params_new(&c->params));
    layers(c);
    RG_TRY(rg_params_build(c->params, 1));
    for (size_t i = 0; i < LAYERS && c->w[i]; i++) {
        const size_t n = rg_param_rows(c->w[i]) * rg_param_cols(c->w[i]);
        bench_fill(rg_param_data(c->w[i]), n, (uint32_t)(3 + 2 * i));
        for (size_t j = 0; j < n; j++) rg_param_data(c->w[i])[j] *= 0.2f;
        bench_fill(rg_param_data(c->b[i]), rg_param_cols(c->b[i]), (uint32_t)(4 + 2 * i));
    }
    RG_TRY(rg_params_repack(c->params, team));
    RG_TRY(rg_grads_new(&c->grads, c->params));
    const rg_tape_config config = { .record = shape[row].train, .learn = true, .team = team, .grads = c->grads };
    return rg_tape_new(&c->tape, &config);
}

static rg_tensor *one_layer(conv *c, rg_tape *t)
{
    const size_t taps = shape[c->row].taps;
    return rg_conv2d(t, c->x, rg_use(t, c->w[0]), rg_use(t, c->b[0]), RG_RELU,
                     &(rg_window){ taps, taps, 1, taps / 2, 1 });
}

static rg_tensor *network(conv *c, rg_tape *t)
{
    const rg_window five = { 5, 5, 1, 0, 1 }, pool = { 2, 2, 2, 0, 1 };
    rg_tensor      *h = c->x;
    for (size_t i = 0; i < 2; i++)
        h = rg_max_pool2d(t, rg_conv2d(t, h, rg_use(t, c->w[i]), rg_use(t, c->b[i]), RG_RELU, &five), &pool);
    h = rg_join_rows(t, h, 16);
    for (size_t i = 2; i < 4; i++) h = rg_linear(t, h, rg_use(t, c->w[i]), rg_use(t, c->b[i]), RG_RELU);
    return rg_cross_entropy(t, rg_linear(t, h, rg_use(t, c->w[4]), rg_use(t, c->b[4]), RG_IDENTITY), c->target, 0);
}

static rg_status run(void *state)
{
    conv           *c = state;
    rg_tape        *t = c->tape;
    const size_t    side = shape[c->row].side, D = shape[c->row].D;
    rg_tape_reset(t, 0);
    const rg_layout *layout = rg_tape_pictures(t, PICTURES, side, side);
    c->x = (shape[c->row].to_input ? rg_input : rg_constant)(t, c->pictures, pixels(c->row), D, layout);
    c->out = shape[c->row].taps ? one_layer(c, t) : network(c, t);
    RG_TRY(rg_tape_status(t));
    if (!shape[c->row].train) return RG_OK;
    return shape[c->row].taps ? rg_tape_backward_from(t, c->out, c->dout) : rg_tape_backward(t, c->out);
}

/* Mean |out|, or of the first layer's gradient, and of the pictures'. */
static double check(void *state)
{
    conv *c = state;
    if (!shape[c->row].train)
        return bench_mean_abs(rg_tensor_data(c->out), rg_tensor_rows(c->out) * rg_tensor_cols(c->out));
    const double w = bench_mean_abs(rg_grads_of(c->grads, c->w[0]), rg_param_rows(c->w[0]) * rg_param_cols(c->w[0]));
    return shape[c->row].to_input
               ? w + bench_mean_abs(rg_tape_gradient(c->tape, c->x), pixels(c->row) * shape[c->row].D)
               : w;
}

const bench_case bench_case_conv = {
    .name = "conv",
    .summary = "convolution: layers forward and backward, a step of a small network",
    .rows = ROWS,
    .describe = describe,
    .bytes = sizeof(conv),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
