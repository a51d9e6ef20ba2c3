/* fused_plan.c - spans and blocks of a reach of intervals. */
#include "attention/fused_plan.h"
#include "autograd/tape.h"

enum {
    MOST_SCORES = 48 * 1024, /* numbers of one block: 192 KiB, a part of L2 */
    MOST_ROWS = RG_FUSED_ROWS,
    LEAST_ROWS = 12
};

static size_t count_of(const rg_reach *r, size_t i) { return r->first[i + 1] - r->first[i]; }
static size_t end_of(const rg_reach *r, size_t i) { return (size_t)r->begin[i] + count_of(r, i); }

/* Query i belongs to the span that ends with query i - 1 and began at key k0. */
static bool joins(const rg_reach *r, size_t i)
{
    if (count_of(r, i) == 0 || count_of(r, i - 1) == 0) return count_of(r, i) == count_of(r, i - 1); /* those that reach nothing */
    return r->begin[i] >= r->begin[i - 1] && end_of(r, i) >= end_of(r, i - 1) && (size_t)r->begin[i] < end_of(r, i - 1);
}

static size_t span_end(const rg_reach *r, size_t q0)
{
    size_t i = q0 + 1;
    while (i < r->Nq && joins(r, i)) i++;
    return i;
}

/* Long rows of scores make low blocks, so that a block stays in the cache. */
static size_t block_rows(const rg_reach *r, size_t q0, size_t q1)
{
    size_t most = 1;
    for (size_t i = q0; i < q1; i++)
        if (count_of(r, i) > most) most = count_of(r, i);
    const size_t rows = MOST_SCORES / most / LEAST_ROWS * LEAST_ROWS;
    return rows > MOST_ROWS ? MOST_ROWS : rows < LEAST_ROWS ? LEAST_ROWS : rows;
}

static void add_block(rg_fused_plan *p, const rg_fused_span *s, rg_fused_block *b, size_t q0, size_t q1)
{
    const rg_reach *r = p->reach;
    const bool      any = count_of(r, q0) > 0;
    *b = (rg_fused_block){ .q0 = q0, .q1 = q1 };
    b->low = any ? rg_fused__begin(r, s, q0) / 16 * 16 : 0;
    b->high = any ? rg_fused__up(rg_fused__end(r, s, q1 - 1)) : 0;
    b->ld = b->high - b->low;
    if (b->ld % 64 == 0) b->ld += 16; /* rows a power of two apart fall into the same few lines of the cache */
    b->kept = p->kept;
    const size_t scores = (q1 - q0) * b->ld;
    if (s->keep) p->kept += scores * p->heads;
    if (scores > p->most_scores) p->most_scores = scores;
    if (q1 - q0 > p->most_rows) p->most_rows = q1 - q0;
}

static void add_span(rg_fused_plan *p, rg_fused_span *s, size_t q0, size_t q1, size_t block)
{
    const rg_reach *r = p->reach;
    const bool      any = count_of(r, q0) > 0;
    const size_t    rows = block_rows(r, q0, q1);
    *s = (rg_fused_span){ .q0 = q0, .q1 = q1, .block = block, .unit = p->units };
    if (any) s->k0 = (size_t)r->begin[q0], s->k1 = end_of(r, q1 - 1);
    s->keep = s->k1 - s->k0 <= RG_FUSED_KEEP;
    p->again = p->again || !s->keep;
    for (size_t i = q0; i < q1; i += rows)
        add_block(p, s, &p->block[block + s->blocks++], i, i + rows < q1 ? i + rows : q1);
    p->units += s->blocks * p->heads;
    if (s->k1 - s->k0 > p->most_keys) p->most_keys = s->k1 - s->k0;
}

rg_fused_plan *rg_fused_plan_new(rg_tape *t, const rg_reach *reach, size_t heads)
{
    size_t spans = 0, blocks = 0;
    for (size_t i = 0, next; i < reach->Nq; i = next, spans++) {
        next = span_end(reach, i);
        const size_t rows = block_rows(reach, i, next);
        blocks += (next - i + rows - 1) / rows;
    }
    rg_fused_plan *p = rg_tape__keep(t, sizeof *p);
    if (!p) return NULL;
    *p = (rg_fused_plan){ .reach = reach, .heads = heads, .disjoint = true };
    p->span = rg_tape__keep(t, spans * sizeof *p->span);
    p->block = rg_tape__keep(t, blocks * sizeof *p->block);
    if (!p->span || !p->block) return NULL;
    size_t used = 0, keys = 0;
    for (size_t i = 0, next; i < reach->Nq; i = next) {
        rg_fused_span *s = &p->span[p->spans++];
        next = span_end(reach, i);
        add_span(p, s, i, next, used);
        used += s->blocks;
        if (s->k1 == s->k0) continue;
        if (s->k0 < keys) p->disjoint = false;
        if (s->k1 > keys) keys = s->k1;
    }
    return p;
}
