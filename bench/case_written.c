/* case_written.c - decoding with a cache that is not a Transformer translator's: greedy convs2s, 64 sentences of 30
 * words in, 30 out, its convolutions going on with the last words; and texts of a causal Transformer over characters, 6
 * blocks of 384, 255 characters each. */
#include "search.h"

enum { V = 65,
       CHARACTERS = 255 };

static const struct {
    size_t sources;
    bool   text; /* of the language model */
} which[] = { { 64, false }, { 1, true }, { 16, true } };
enum { ROWS = sizeof which / sizeof *which };

static void describe(bench_row *out, size_t row)
{
    const bench_system *s = bench_system_of(BENCH_CONVS2S);
    const size_t        n = which[row].sources;
    if (which[row].text) {
        snprintf(out->name, sizeof out->name, "gpt 6x384, %zu text%s", n, n == 1 ? "" : "s");
        snprintf(out->params, sizeof out->params,
                 "\"texts\": %zu, \"layers\": 6, \"d\": 384, \"heads\": 6, \"context\": %d, \"V\": %d", n,
                 CHARACTERS + 1, V);
    } else {
        snprintf(out->name, sizeof out->name, "%s greedy, %zu sentences", s->name, n);
        snprintf(out->params, sizeof out->params, "\"batch\": %zu, \"words\": %d, %s", n, BENCH_WORDS, s->peer);
    }
    out->items = (double)(n * (which[row].text ? CHARACTERS : BENCH_WORDS));
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    bench_search       *s = context;
    const bench_system *b = bench_system_of(BENCH_CONVS2S);
    if (!which[row].text) {
        RG_TRY(bench_model_new(&s->model, b, true));
        return bench_search_init(s, which[row].sources, b->vocabulary, 1, BENCH_WORDS, team);
    }
    RG_TRY(bench_language_new(&s->model, "gpt", "dim-emb: 384\nlayers: 6\ntransformer-heads: 6\n", V, CHARACTERS + 1));
    return bench_search_init(s, which[row].sources, 0, 1, CHARACTERS, team);
}

const bench_case bench_case_written = {
    .name = "written",
    .summary = "decoding with a cache: greedy convs2s, texts of a causal Transformer",
    .rows = ROWS,
    .describe = describe,
    .setup = setup,
    BENCH_SEARCH_CASE,
};
