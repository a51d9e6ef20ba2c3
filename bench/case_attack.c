/* case_attack.c - an attack of ten steps (Madry et al. 2018) on c5x32 p2 c5x48 p2 f100 f100: 64 pictures of 28 x 28 x 3
 * changed within 0.1 of each pixel; ten inner passes forward and back to the pictures, no gradient of a weight. The
 * loss of the clean pictures must agree: the start is random. */
#include "system.h"

#include <string.h>

#include "regard/perturb.h"

enum { PICTURES = 64,
       SIDE = 28,
       CHANNELS = 3,
       CLASSES = 10,
       STEPS = 10 };

typedef struct {
    rg_model *model;
    rg_batch *batch;
    rg_tape  *tape;
    uint64_t  step;
    double    loss;
} state;

static void describe(bench_row *out, size_t row)
{
    (void)row;
    snprintf(out->name, sizeof out->name, "cnn, %d steps, %d of %dx%dx%d", STEPS, PICTURES, SIDE, SIDE, CHANNELS);
    snprintf(out->params, sizeof out->params, "\"pictures\": %d, \"channels\": %d, \"steps\": %d", PICTURES, CHANNELS,
             STEPS);
}

static void teardown(void *context)
{
    state *s = context;
    rg_tape_free(s->tape);
    rg_model_free(s->model);
    rg_free(s->batch);
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    state               *s = context;
    const rg_tape_config c = { .record = true, .team = team, .seed = 1 };
    const rg_sizes       sizes = { { { "classes", CLASSES },
                                     { "features", SIDE * SIDE * CHANNELS },
                                     { "channels", CHANNELS },
                                     { "height", SIDE },
                                     { "width", SIDE } } };
    (void)row;
    RG_TRY(bench_system_new(&s->model, "cnn", "layers: c5x32 p2 c5x48 p2 f100 f100\npool: flatten\n", &sizes));
    RG_TRY(bench_fill_weights(s->model->params));
    RG_TRY(bench_pictures_new(&s->batch, PICTURES, SIDE, SIDE, CHANNELS, CLASSES, 1));
    return rg_tape_new(&s->tape, &c);
}

static rg_status run(void *context)
{
    state            *s = context;
    rg_perturb_config c = RG_PERTURB_CONFIG_DEFAULT;
    c.epsilon = 0.1;
    c.steps = STEPS;
    rg_tape_reset(s->tape, ++s->step);
    const rg_pass pass = rg_pass_run(s->tape, s->model, s->batch, true);
    rg_perturb_range(&c.low, &c.high, &pass);
    (void)rg_perturb(s->tape, &pass, &c);
    RG_TRY(rg_tape_status(s->tape));
    s->loss = (double)rg_tensor_at(pass.loss.sum, 0, 0) / pass.loss.count;
    return RG_OK;
}

static double check(void *context) { return ((const state *)context)->loss; }

const bench_case bench_case_attack = {
    .name = "attack",
    .summary = "an attack of ten steps on a small network of convolutions",
    .rows = 1,
    .describe = describe,
    .bytes = sizeof(state),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
