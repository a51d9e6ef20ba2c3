/* case_gan.c - an update of a generative adversarial network on 100 pictures of 28 x 28: the discriminator's step and
 * the generator's, each forward, backward and Adam over its own weights. Generator 100-1200-1200-784, discriminator
 * 784-512-256-1. One worker a thread. */
#include "step.h"
#include "system.h"

enum { PICTURES = 100,
       SIDE = 28 };

static void describe(bench_row *out, size_t row)
{
    const double made = 100.0 * 1200 + 1200.0 * 1200 + 1200.0 * 784, told = 784.0 * 512 + 512.0 * 256 + 256;
    (void)row;
    snprintf(out->name, sizeof out->name, "GAN update, %d of %dx%d", PICTURES, SIDE, SIDE);
    snprintf(out->params, sizeof out->params, "\"pictures\": %d, \"pixels\": %d", PICTURES, SIDE * SIDE);
    out->flops = 2.0 * PICTURES * (made + 2 * 3 * told + 3 * made + 2 * told);
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    bench_step    *s = context;
    const rg_sizes sizes = {
        { { "features", SIDE * SIDE }, { "channels", 1 }, { "height", SIDE }, { "width", SIDE } }
    };
    (void)row;
    RG_TRY(bench_system_new(&s->model, "gan", "generator-layers: f1200 f1200\ndiscriminator-layers: f512 f256\n",
                            &sizes));
    RG_TRY(bench_pictures_new(&s->batch, PICTURES, SIDE, SIDE, 1, 10, 1));
    return bench_step_init(s, "adam", 1e-4, team);
}

static rg_status run(void *context)
{
    bench_step *s = context;
    for (size_t i = 0; i < 2; i++) {
        const rg_system_phase *phase = &s->model->system->phases[i];
        (void)rg_params_freeze(s->model->params, "*", true);
        (void)rg_params_freeze(s->model->params, phase->learns, false);
        RG_TRY(bench_step_run_loss(s, phase->loss));
    }
    return RG_OK;
}

const bench_case bench_case_gan = {
    .name = "gan",
    .summary = "an update of a generative adversarial network: discriminator and generator",
    .rows = 1,
    .describe = describe,
    .setup = setup,
    .bytes = sizeof(bench_step),
    .run = run,
    .check = bench_step_check,
    .teardown = bench_step_fini,
};
