/* case_optimizer.c - what comes after the gradients of a Transformer-base step (77 M parameters: separate source
 * embedding, tied target embedding, six layers each side): two workers' gradients summed, norm, clipping, Adam, both
 * packs of every weight. The peer of the second row is PyTorch's Adam alone, without sum, norm and clipping; ours
 * still packs. */
#include "bench.h"

#include <string.h>

#include "autograd/params.h"
#include "regard/train.h"

typedef struct tail {
    rg_params    *params;
    rg_grads     *grads[2];
    rg_optimizer *opt;
    rg_team      *team;
    size_t        workers;
} tail;

enum { D = 512, F = 2048, V = 32000, LAYERS = 6 };

static void declare_layer(rg_params *p, const char *side, int layer, int projections)
{
    rg_params_push(p, "%s.%d", side, layer);
    for (int i = 0; i < projections; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        rg_params_add(p, name, RG_WEIGHT, D, D, RG_INIT_GLOROT, 1);
    }
    rg_params_add(p, "up", RG_WEIGHT, D, F, RG_INIT_GLOROT, 1);
    rg_params_add(p, "up_bias", RG_VECTOR, 1, F, RG_INIT_ZERO, 0);
    rg_params_add(p, "down", RG_WEIGHT, F, D, RG_INIT_GLOROT, 1);
    rg_params_pop(p);
    rg_params_pop(p);
}

static void declare(rg_params *p)
{
    rg_params_add(p, "source", RG_TABLE, V, D, RG_INIT_UNIFORM, 0.1);
    rg_params_add(p, "target", RG_TIED, V, D, RG_INIT_UNIFORM, 0.1);
    for (int layer = 0; layer < LAYERS; layer++) {
        declare_layer(p, "encoder", layer, 4);
        declare_layer(p, "decoder", layer, 8);
    }
}

static const double numbers = 2.0 * V * D + LAYERS * (12.0 * D * D + 4.0 * D * F),
                    packed = 1.0 * V * D + LAYERS * (12.0 * D * D + 4.0 * D * F);

static void describe(bench_row *out, size_t row)
{
    const int    workers = row == 0 ? 2 : 1;
    const double floats = numbers * (2 * workers + 6) + 2 * packed; /* gradients twice; w, m, v in and out; two packs */
    snprintf(out->name, sizeof out->name, row == 0 ? "tail 77M 2 workers" : "adam 77M 1 worker");
    snprintf(out->params, sizeof out->params, "\"D\": %d, \"F\": %d, \"V\": %d, \"layers\": %d, \"workers\": %d", D, F,
             V, LAYERS, workers);
    out->bytes = floats * (double)sizeof(rg_real);
}

static void teardown(void *state)
{
    tail *t = state;
    rg_optimizer_free(t->opt);
    for (int i = 0; i < 2; i++) rg_grads_free(t->grads[i]);
    rg_params_free(t->params);
}

static rg_status setup(void *state, size_t row, rg_team *team)
{
    tail *t = state;
    t->team = team;
    RG_TRY(rg_params_new(&t->params));
    declare(t->params);
    RG_TRY(rg_params_build(t->params, 1));
    t->workers = row == 0 ? 2 : 1;
    for (size_t i = 0; i < t->workers; i++) {
        RG_TRY(rg_grads_new(&t->grads[i], t->params));
        bench_fill(t->grads[i]->block, t->params->numbers, (uint32_t)i + 1);
        memset(t->grads[i]->written, 1, t->params->count);
    }
    rg_optimizer_config c = RG_OPTIMIZER_CONFIG_DEFAULT;
    c.clip_norm = row == 0 ? 1 : 0;
    return rg_optimizer_new(&t->opt, t->params, &c);
}

static rg_status run(void *state)
{
    tail *t = state;
    return rg_optimizer_step(NULL, t->opt, t->grads, t->workers, 1000, 1e-4, t->team);
}

const bench_case bench_case_optimizer = {
    .name = "optimizer",
    .summary = "sum, norm, clip, Adam and both packs of 77 M parameters",
    .rows = 2,
    .describe = describe,
    .bytes = sizeof(tail),
    .setup = setup,
    .run = run,
    .teardown = teardown,
};
