/* case_gpt.c - a training step of causal Transformers over characters, Adam, no dropout: nanoGPT's two small models. */
#include "step.h"
#include "system.h"

enum { V = 65, ROWS = 2 };

static const struct {
    size_t layers, d, heads, windows, context;
} which[ROWS] = { { 4, 128, 4, 12, 64 }, { 6, 384, 6, 8, 256 } };

static void describe(bench_row *out, size_t row)
{
    const size_t L = which[row].layers, d = which[row].d, n = which[row].windows, T = which[row].context;
    snprintf(out->name, sizeof out->name, "gpt %zux%zu, %zu windows of %zu", L, d, n, T);
    snprintf(out->params, sizeof out->params,
             "\"layers\": %zu, \"d\": %zu, \"heads\": %zu, \"windows\": %zu, \"context\": %zu, \"V\": %d", L, d,
             which[row].heads, n, T, V);
    out->flops = 3 * 2.0 * (double)(n * T) *
                 (double)(L * (12 * d * d + d * (T + 1)) + (size_t)V * d); /* half of the scores are open */
    out->items = (double)(n * T);
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    bench_step *s = context;
    char        settings[120];
    snprintf(settings, sizeof settings, "dim-emb: %zu\nlayers: %zu\ntransformer-heads: %zu\n", which[row].d,
             which[row].layers, which[row].heads);
    RG_TRY(bench_language_new(&s->model, "gpt", settings, V, which[row].context));
    RG_TRY(bench_text_new(&s->batch, which[row].windows, which[row].context, V, 7));
    return bench_step_init(s, "adam", 1e-4, team);
}

const bench_case bench_case_gpt = {
    .name = "gpt",
    .summary = "a training step of causal Transformers",
    .rows = ROWS,
    .describe = describe,
    .setup = setup,
    BENCH_STEP_CASE,
};
