/* case_decode.c - translating: sentences of 30 words, answers of 30 words, the encoder included, random weights.
 *
 * For one sentence the weights read from memory at every word are what counts. */
#include <string.h>

#include "search.h"

typedef struct row {
    size_t     which, batch, beam;
    rg_weights weights; /* other than float32: measured in turn with float32 */
} row;

#define IN(weights)                                                                                     \
    { BENCH_BASE, 1, 1, weights }, { BENCH_BASE, 64, 1, weights }, { BENCH_BASE, 64, 4, weights },      \
        { BENCH_BASE, 1, 4, weights }, { BENCH_SMALL, 1, 1, weights }, { BENCH_SMALL, 64, 1, weights }, \
        { BENCH_SMALL, 64, 4, weights },                                                                \
    {                                                                                                   \
        BENCH_SMALL, 1, 4, weights                                                                      \
    }
static const row rows[] = { IN(RG_WEIGHT_F32), IN(RG_WEIGHT_BF16), IN(RG_WEIGHT_INT8) };
enum { ROWS = sizeof rows / sizeof *rows, FLOAT_ROWS = ROWS / 3 };

/* Numbers a decoder step multiplies with: the decoder's matrices and the output table. */
static double weights_of(const bench_system *s)
{
    return s->vocabulary == 32000 ? 6 * (6.0 * 512 * 512 + 2.0 * 512 * 2048) + 32000.0 * 512
                                  : 3 * (6.0 * 256 * 256 + 2.0 * 256 * 1024) + 8000.0 * 256;
}

static void describe(bench_row *out, size_t index)
{
    const row          *r = &rows[index];
    const bench_system *s = bench_system_of(r->which);
    snprintf(out->name, sizeof out->name, "%s %s, %zu sentence%s", s->name, r->beam == 1 ? "greedy" : "beam 4",
             r->batch, r->batch == 1 ? "" : "s");
    out->items = (double)(r->batch * BENCH_WORDS);
    if (index >= FLOAT_ROWS) {
        const size_t used = strlen(out->name);
        snprintf(out->name + used, sizeof out->name - used, " %s", rg_weights_name(r->weights));
        out->against = 1 + index % FLOAT_ROWS;
    }
    if (r->weights == RG_WEIGHT_BF16) return; /* no peer has them on processors */
    snprintf(out->params, sizeof out->params, "%s\"batch\": %zu, \"beam\": %zu, \"words\": %d, %s",
             r->weights == RG_WEIGHT_INT8 ? "\"weights\": \"int8\", " : "", r->batch, r->beam, BENCH_WORDS, s->peer);
    if (index < FLOAT_ROWS && r->batch == 1 && r->beam == 1 && r->which == BENCH_BASE) out->bytes = BENCH_WORDS * 4 * weights_of(s);
}

static rg_status setup(void *context, size_t index, rg_team *team)
{
    bench_search       *s = context;
    const row          *r = &rows[index];
    const bench_system *b = bench_system_of(r->which);
    RG_TRY(bench_model_new(&s->model, b, true));
    if (r->weights != RG_WEIGHT_F32) RG_TRY(rg_params_convert(s->model->params, r->weights));
    return bench_search_init(s, r->batch, b->vocabulary, r->beam, BENCH_WORDS, team);
}

const bench_case bench_case_decode = {
    .name = "decode",
    .summary = "translating with random weights, 30 words in, 30 out",
    .rows = ROWS,
    .describe = describe,
    .setup = setup,
    BENCH_SEARCH_CASE,
};
