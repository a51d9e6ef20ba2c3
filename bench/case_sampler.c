/* case_sampler.c - a spatial transformer's part of a step: 128 pictures of 60 x 60 read through affine grids, forward
 * and backward to the pictures and to theta. */
#include "bench.h"

#include "regard/spatial.h"

enum { PICTURES = 128, SIDE = 60, PIXELS = PICTURES * SIDE * SIDE };

static const struct {
    const char *name;
    size_t      D;
    bool        train;
} shape[] = {
    { "128 x 60x60x1, forward", 1, false },
    { "128 x 60x60x1, train", 1, true },
    { "128 x 60x60x3, train", 3, true },
};
enum { ROWS = sizeof shape / sizeof *shape };

typedef struct {
    size_t     row;
    rg_tape   *tape;
    rg_real   *pictures, *dout, theta[6 * PICTURES];
    rg_tensor *x, *t, *out;
} sampler;

static void describe(bench_row *out, size_t row)
{
    snprintf(out->name, sizeof out->name, "%s", shape[row].name);
    snprintf(out->params, sizeof out->params, "\"pictures\": %d, \"side\": %d, \"D\": %zu, \"train\": %s", PICTURES,
             SIDE, shape[row].D, shape[row].train ? "true" : "false");
}

static void teardown(void *state)
{
    sampler *s = state;
    rg_tape_free(s->tape);
    rg_free(s->pictures);
    rg_free(s->dout);
}

/* Near the identity, off the grid of pixels. */
static rg_status setup(void *state, size_t row, rg_team *team)
{
    sampler     *s = state;
    const size_t numbers = PIXELS * shape[row].D;
    s->row = row;
    s->pictures = rg_alloc_array(numbers, sizeof(rg_real));
    s->dout = rg_alloc_array(numbers, sizeof(rg_real));
    if (!s->pictures || !s->dout) return RG_ENOMEM;
    bench_fill(s->pictures, numbers, 1);
    bench_fill(s->dout, numbers, 2);
    bench_fill(s->theta, 6 * PICTURES, 3);
    for (size_t i = 0; i < 6 * (size_t)PICTURES; i++)
        s->theta[i] = (rg_real)0.1 * s->theta[i] + (i % 6 == 0 || i % 6 == 4 ? 1 : 0);
    const rg_tape_config config = { .record = shape[row].train, .learn = true, .team = team };
    return rg_tape_new(&s->tape, &config);
}

static rg_status run(void *state)
{
    sampler *s = state;
    rg_tape *t = s->tape;
    rg_tape_reset(t, 0);
    const rg_layout *layout = rg_tape_pictures(t, PICTURES, SIDE, SIDE);
    s->x = rg_input(t, s->pictures, PIXELS, shape[s->row].D, layout);
    s->t = rg_input(t, s->theta, PICTURES, 6, NULL);
    s->out = rg_sample(t, s->x, rg_affine_grid(t, s->t, layout, SIDE, SIDE));
    RG_TRY(rg_tape_status(t));
    return shape[s->row].train ? rg_tape_backward_from(t, s->out, s->dout) : RG_OK;
}

/* Mean |out|, or of both gradients. */
static double check(void *state)
{
    sampler     *s = state;
    const size_t numbers = PIXELS * shape[s->row].D;
    if (!shape[s->row].train) return bench_mean_abs(rg_tensor_data(s->out), numbers);
    return bench_mean_abs(rg_tape_gradient(s->tape, s->x), numbers) +
           bench_mean_abs(rg_tape_gradient(s->tape, s->t), 6 * (size_t)PICTURES);
}

const bench_case bench_case_sampler = {
    .name = "sampler",
    .summary = "bilinear sampling through affine grids: forward, and with gradients of pictures and theta",
    .rows = ROWS,
    .describe = describe,
    .bytes = sizeof(sampler),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
