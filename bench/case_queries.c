/* case_queries.c - a memory of keys and values that is asked: 1,000 queries one by one, each by a call of its own, and
 * stacked as the rows of one matrix (scaled dot, softmax, weighted sum; forward). The second row is measured in turn
 * with the first. No peer: both sides are ours. */
#include "bench.h"

#include "regard/attention.h"

enum { QUERIES = 1000, ROWS = 4 };

static const struct {
    size_t keys, width;
} shapes[ROWS / 2] = { { 100, 64 }, { 1000, 64 } };

typedef struct {
    size_t       keys, width;
    bool         stacked;
    rg_params   *params;
    rg_tape     *tape;
    rg_attention att;
    rg_real     *q, *k, *v, *out;
} memory;

static void describe(bench_row *out, size_t row)
{
    const bool stacked = row % 2;
    snprintf(out->name, sizeof out->name, "%d queries, %zu keys, %s", QUERIES, shapes[row / 2].keys,
             stacked ? "stacked" : "one by one");
    out->flops = 4.0 * QUERIES * (double)shapes[row / 2].keys * (double)shapes[row / 2].width;
    out->against = stacked ? row : 0; /* 1 + the row before */
}

static void teardown(void *state)
{
    memory *m = state;
    rg_tape_free(m->tape);
    rg_params_free(m->params);
    rg_free(m->q);
    rg_free(m->k);
    rg_free(m->v);
    rg_free(m->out);
}

static rg_status fill(rg_real **out, size_t n, uint32_t seed)
{
    if (!(*out = rg_alloc_array(n, sizeof **out))) return RG_ENOMEM;
    bench_fill(*out, n, seed);
    return RG_OK;
}

static rg_status setup(void *state, size_t row, rg_team *team)
{
    memory              *m = state;
    rg_attention_config  c = RG_ATTENTION_CONFIG_DEFAULT;
    const rg_tape_config tape = { .record = false, .team = team };
    m->keys = shapes[row / 2].keys, m->width = shapes[row / 2].width, m->stacked = row % 2;
    RG_TRY(fill(&m->q, QUERIES * m->width, 1));
    RG_TRY(fill(&m->k, m->keys * m->width, 2));
    RG_TRY(fill(&m->v, m->keys * m->width, 3));
    RG_TRY(fill(&m->out, QUERIES * m->width, 4));
    RG_TRY(rg_params_new(&m->params));
    RG_TRY(rg_attention_init(&m->att, &c, m->params));
    RG_TRY(rg_params_build(m->params, 1));
    return rg_tape_new(&m->tape, &tape);
}

/* Queries from .. from + n: one call. */
static rg_status ask(memory *m, size_t from, size_t n)
{
    const int32_t   queries[] = { 0, (int32_t)n }, keys[] = { 0, (int32_t)m->keys };
    const rg_layout rows = { .groups = 1, .start = queries }, all = { .groups = 1, .start = keys };
    rg_tape        *t = m->tape;
    rg_tape_reset(t, 0);
    rg_tensor *k = rg_attention_prepare(t, &m->att, rg_borrow(t, m->k, m->keys, m->width, m->width));
    rg_tensor *y = rg_attend(t, &m->att, rg_borrow(t, m->q + from * m->width, n, m->width, m->width), k,
                             rg_borrow(t, m->v, m->keys, m->width, m->width), rg_reach_groups(t, &rows, &all));
    RG_TRY(rg_tape_status(t));
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < m->width; d++) m->out[(from + i) * m->width + d] = rg_tensor_at(y, i, d);
    return RG_OK;
}

static rg_status run(void *state)
{
    memory *m = state;
    if (m->stacked) return ask(m, 0, QUERIES);
    for (size_t i = 0; i < QUERIES; i++) RG_TRY(ask(m, i, 1));
    return RG_OK;
}

static double check(void *state)
{
    const memory *m = state;
    return bench_mean_abs(m->out, QUERIES * m->width);
}

const bench_case bench_case_queries = {
    .name = "queries",
    .summary = "1,000 queries of one memory, one by one and stacked",
    .rows = ROWS,
    .describe = describe,
    .bytes = sizeof(memory),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
