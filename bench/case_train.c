/* case_train.c - a whole training step: forward, label smoothing 0.1, backward, Adam with its packs. One worker a
 * thread.
 *
 * Weights are drawn differently on the two sides, so what must agree is the number of parameters, biases aside, and
 * that the loss is a number. GRUs are of the reset-after form, the one the peer has. */
#include "step.h"
#include "system.h"

static const size_t which[] = { BENCH_SMALL_DROPOUT, BENCH_SMALL, BENCH_BASE, BENCH_RNNSEARCH,
                               BENCH_CONVS2S, BENCH_GNMT };
enum { ROWS = sizeof which / sizeof *which };

static void describe(bench_row *out, size_t row)
{
    const bench_system *s = bench_system_of(which[row]);
    snprintf(out->name, sizeof out->name, "%s %zux%d", s->name, s->batch, BENCH_WORDS);
    snprintf(out->params, sizeof out->params, "\"system\": \"%s\", \"batch\": %zu, \"words\": %d, %s", s->system,
             s->batch, BENCH_WORDS, s->peer);
    out->flops = 3 * 2.0 * s->products * (double)(s->batch * BENCH_WORDS);
    out->items = (double)(s->batch * BENCH_WORDS);
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    bench_step         *s = context;
    const bench_system *b = bench_system_of(which[row]);
    RG_TRY(bench_model_new(&s->model, b, false));
    RG_TRY(bench_batch_new(&s->batch, b->batch, b->vocabulary, 7));
    return bench_step_init(s, "adam", 1e-4, team);
}

const bench_case bench_case_train = {
    .name = "train",
    .summary = "a training step of whole models",
    .rows = ROWS,
    .describe = describe,
    .setup = setup,
    BENCH_STEP_CASE,
};
