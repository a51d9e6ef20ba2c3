/* case_lm.c - a training step of recurrent language models on the Penn Treebank's sizes: 20 streams of 20 words
 * each, 10,000 words, SGD.
 *
 *   ptb small    Zaremba et al. 2014: two LSTM layers of 200
 *   key-value    the same with attention over the last five outputs (Daniluk et al. 2017)
 *   lstmn        one layer of 300 that looks back over all 35 steps (Cheng et al. 2016), 35 words per update */
#include "step.h"
#include "system.h"

enum { STREAMS = 20, V = 10000, ROWS = 3 };

static const struct {
    const char *name, *system, *settings, *peer;
    size_t      steps;
    double      products; /* multiply-adds of the forward pass per word */
} which[ROWS] = {
    { "ptb small", "lm", "dim-emb: 200\ndim-rnn: 200\nlayers: 2\n", "\"u\": 200, \"d\": 200, \"look\": 0",
      20, 2 * 4.0 * 200 * 400 + 200.0 * V },
    { "key-value", "lm", "dim-emb: 200\ndim-rnn: 280\nlayers: 2\nlook: key-value\nwindow: 5\n",
      "\"u\": 280, \"d\": 200, \"look\": 5", 20,
      4.0 * 280 * 480 + 4.0 * 280 * 560 + 4.0 * 140 * 140 + 140.0 * V },
    { "lstmn", "lstmn", "dim-emb: 300\ndim-rnn: 300\nlayers: 1\nwindow: 35\n",
      "\"u\": 300, \"d\": 300, \"lstmn\": true", 35, 4.0 * 300 * 600 + 3.0 * 300 * 300 + 300.0 * V },
};

static void describe(bench_row *out, size_t row)
{
    snprintf(out->name, sizeof out->name, "%s %dx%zu", which[row].name, STREAMS, which[row].steps);
    snprintf(out->params, sizeof out->params, "\"streams\": %d, \"steps\": %zu, \"V\": %d, %s", STREAMS,
             which[row].steps, V, which[row].peer);
    out->flops = 3 * 2.0 * which[row].products * (double)(STREAMS * which[row].steps);
    out->items = (double)(STREAMS * which[row].steps);
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    bench_step *s = context;
    RG_TRY(bench_language_new(&s->model, which[row].system, which[row].settings, V, 0));
    RG_TRY(bench_text_new(&s->batch, STREAMS, which[row].steps, V, 7));
    return bench_step_init(s, "sgd", 1e-3, team);
}

const bench_case bench_case_lm = {
    .name = "lm",
    .summary = "a training step of recurrent language models, 20 streams",
    .rows = ROWS,
    .describe = describe,
    .setup = setup,
    BENCH_STEP_CASE,
};
