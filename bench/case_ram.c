/* case_ram.c - a training step of the recurrent attention model: 128 pictures of 28 x 28, six glimpses of 8 x 8 pixels,
 * with the draws of places, the baseline and Adam. */
#include "step.h"
#include "system.h"

enum { PICTURES = 128, SIDE = 28, CLASSES = 10, GLIMPSES = 6, PATCH = 8, HIDDEN = 128, WIDTH = 256 };

static void describe(bench_row *out, size_t row)
{
    (void)row;
    snprintf(out->name, sizeof out->name, "%d glimpses, %d of %dx%d", GLIMPSES, PICTURES, SIDE, SIDE);
    snprintf(out->params, sizeof out->params,
             "\"pictures\": %d, \"side\": %d, \"glimpses\": %d, \"patch\": %d, \"hidden\": %d, \"width\": %d", PICTURES,
             SIDE, GLIMPSES, PATCH, HIDDEN, WIDTH);
    out->flops = 3 * 2.0 * PICTURES * GLIMPSES *
                 (PATCH * PATCH * HIDDEN + 2.0 * HIDDEN + 2.0 * HIDDEN * WIDTH + 2.0 * WIDTH * WIDTH);
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    bench_step    *s = context;
    const rg_sizes sizes = { { { "classes", CLASSES },
                               { "features", SIDE * SIDE },
                               { "channels", 1 },
                               { "height", SIDE },
                               { "width", SIDE } } };
    (void)row;
    RG_TRY(bench_system_new(&s->model, "ram", "glimpses: 6\npatch: 8\nscales: 1\nhidden: 128\nwidth: 256\n", &sizes));
    RG_TRY(bench_pictures_new(&s->batch, PICTURES, SIDE, SIDE, 1, CLASSES, 1));
    return bench_step_init(s, "adam", 1e-4, team);
}

const bench_case bench_case_ram = {
    .name = "ram",
    .summary = "a training step of the recurrent attention model, six glimpses",
    .rows = 1,
    .describe = describe,
    .setup = setup,
    BENCH_STEP_CASE,
};
