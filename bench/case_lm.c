/* case_lm.c - a training step of recurrent language models on the Penn Treebank's sizes: 20 streams of 20 words,
 * 10,000 words, SGD.
 *
 *   ptb small    Zaremba et al. 2014: two LSTM layers of 200
 *   key-value    the same with attention over the last five outputs (Daniluk et al. 2017) */
#include "step.h"
#include "system.h"

enum { STREAMS = 20, STEPS = 20, V = 10000, ROWS = 2 };

static const struct {
    const char *name, *settings, *peer;
    double      products; /* multiply-adds of the forward pass per word */
} which[ROWS] = {
    { "ptb small", "dim-emb: 200\ndim-rnn: 200\nlayers: 2\n", "\"u\": 200, \"d\": 200, \"look\": 0",
      2 * 4.0 * 200 * 400 + 200.0 * V },
    { "key-value", "dim-emb: 200\ndim-rnn: 280\nlayers: 2\nlook: key-value\nwindow: 5\n",
      "\"u\": 280, \"d\": 200, \"look\": 5", 4.0 * 280 * 480 + 4.0 * 280 * 560 + 4.0 * 140 * 140 + 140.0 * V },
};

static void describe(bench_row *out, size_t row)
{
    snprintf(out->name, sizeof out->name, "%s %dx%d", which[row].name, STREAMS, STEPS);
    snprintf(out->params, sizeof out->params, "\"streams\": %d, \"steps\": %d, \"V\": %d, %s", STREAMS, STEPS, V,
             which[row].peer);
    out->flops = 3 * 2.0 * which[row].products * STREAMS * STEPS;
    out->items = STREAMS * STEPS;
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    bench_step *s = context;
    RG_TRY(bench_language_new(&s->model, "lm", which[row].settings, V, 0));
    RG_TRY(bench_text_new(&s->batch, STREAMS, STEPS, V, 7));
    return bench_step_init(s, "sgd", 1e-3, team);
}

const bench_case bench_case_lm = {
    .name = "lm",
    .summary = "a training step of recurrent language models, 20 streams of 20 words",
    .rows = ROWS,
    .describe = describe,
    .bytes = sizeof(bench_step),
    .setup = setup,
    .run = bench_step_run,
    .check = bench_step_check,
    .teardown = bench_step_fini,
};
