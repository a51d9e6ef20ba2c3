/* case_decode.c - translating: sentences of 30 words, answers of 30 words, the encoder included, random weights.
 *
 * Several sentences: one search a thread, each with its part of them; one sentence: its products are split. For one
 * sentence the weights read from memory at every word are what counts. */
#include "bench.h"

#include <string.h>

#include "regard/decode.h"
#include "system.h"

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
enum { ROWS = sizeof rows / sizeof *rows, FLOAT_ROWS = ROWS / 3, MOST = 64 };

typedef struct state {
    const row *row;
    rg_model  *model;
    rg_team   *team;
    rg_batch  *part[MOST];
    rg_search *search[MOST];
    rg_status  status[MOST];
    size_t     words[MOST]; /* answered */
    size_t     searches;
} state;

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

static void teardown(void *context)
{
    state *s = context;
    for (size_t i = 0; i < s->searches; i++) {
        rg_search_free(s->search[i]);
        bench_batch_free(s->part[i]);
    }
    rg_model_free(s->model);
}

static rg_status setup(void *context, size_t index, rg_team *team)
{
    state              *s = context;
    const bench_system *b = bench_system_of(rows[index].which);
    const size_t        threads = (size_t)rg_team_size(team), all = rows[index].batch;
    s->row = &rows[index];
    RG_TRY(bench_model_new(&s->model, b, true));
    if (s->row->weights != RG_WEIGHT_F32) RG_TRY(rg_params_convert(s->model->params, s->row->weights));
    const size_t searches = all < threads ? all : threads < MOST ? threads : MOST;
    s->team = searches > 1 ? team : NULL;
    for (size_t i = 0; i < searches; i++) {
        s->searches = i + 1;
        RG_TRY(bench_batch_new(&s->part[i], all * (i + 1) / searches - all * i / searches, b->vocabulary,
                               (uint32_t)i + 1));
        RG_TRY(rg_search_new(&s->search[i], (const rg_model *const *)&s->model, 1, searches > 1 ? NULL : team));
    }
    return RG_OK;
}

static rg_status search_one(state *s, size_t i)
{
    rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
    c.beam = s->row->beam;
    c.length_factor = 0;
    c.unscored = true; /* the peers take the largest logit too */
    c.length_extra = BENCH_WORDS;
    const rg_answers *answers;
    const rg_field *source = &s->part[i]->field[RG_SOURCE];
    RG_TRY(rg_search_run(&answers, s->search[i], &c, source, NULL, NULL));
    s->words[i] = 0;
    for (size_t k = 0; k < s->part[i]->examples; k++) s->words[i] += answers[k].answer[0].length;
    return RG_OK;
}

static void search_some(void *context, int member, size_t begin, size_t end)
{
    state *s = context;
    (void)member;
    for (size_t i = begin; i < end; i++) s->status[i] = search_one(s, i);
}

static rg_status run(void *context)
{
    state *s = context;
    rg_team_for(s->team, s->searches, 1, search_some, s);
    for (size_t i = 0; i < s->searches; i++)
        if (s->status[i] != RG_OK) return rg_fail(s->status[i], "search %zu failed", i);
    return RG_OK;
}

/* Words answered: both sides must have written them all. */
static double check(void *context)
{
    state *s = context;
    size_t sum = 0;
    for (size_t i = 0; i < s->searches; i++) sum += s->words[i];
    return (double)sum;
}

const bench_case bench_case_decode = {
    .name = "decode",
    .summary = "translating with random weights, 30 words in, 30 out",
    .rows = ROWS,
    .describe = describe,
    .bytes = sizeof(state),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
