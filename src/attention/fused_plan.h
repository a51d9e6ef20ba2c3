/* fused_plan.h - how fused attention cuts a reach of intervals into work.
 *
 * A *span* is a run of queries whose intervals begin and end no earlier than those before and hang together: a
 * sentence, causal or not, or a band. Then also the queries of a key are an interval. A *block* is some of its queries
 * with the keys they reach together:
 *
 *        keys  ->  k0                    k1
 *   q0   x x x x . . . . . . . .
 *        x x x x x . . . . . . .   block 0: low 0, high 5
 *        . x x x x x . . . . . .
 *        . . x x x x x . . . . .   block 1: low 1, high 7       (low is moved down to a whole panel)
 *   q1   . . . x x x x x . . . .                                                                   */
#ifndef RG_ATTENTION_FUSED_PLAN_H
#define RG_ATTENTION_FUSED_PLAN_H

#include "attention/reach.h"

enum {
    RG_FUSED_ROWS = 132, /* most queries of a block: a sentence is one */
    RG_FUSED_KEEP = 512  /* weights of spans of up to so many keys are kept for backward, others computed again */
};

typedef struct rg_fused_block {
    size_t q0, q1;    /* query rows                                                */
    size_t low, high; /* keys, counted from k0 of the span; whole panels            */
    size_t ld;        /* from one row of its scores to the next                      */
    size_t kept;      /* where its scores stand, of head 0, when they are kept       */
} rg_fused_block;

typedef struct rg_fused_span {
    size_t q0, q1, k0, k1;
    size_t block, blocks; /* first, and how many */
    size_t unit;          /* blocks of all heads of the spans before it */
    bool   keep;          /* its weights are kept: a matter of its own length, so that batch mates do not change its bits */
} rg_fused_span;

typedef struct rg_fused_plan {
    const rg_reach *reach;
    size_t          heads, spans, units;
    rg_fused_span  *span;
    rg_fused_block *block;
    size_t          most_keys;   /* of a span */
    size_t          most_rows;   /* of a block */
    size_t          most_scores; /* rows x ld of a block */
    size_t          kept;        /* numbers of all scores of all heads of spans that are kept */
    bool            again;       /* there are others */
    bool            disjoint;    /* no two spans share a key */
} rg_fused_plan;

/* On the tape; NULL latches. */
rg_fused_plan *rg_fused_plan_new(rg_tape *t, const rg_reach *reach, size_t heads);

static inline size_t rg_fused__up(size_t n) { return (n + 15) / 16 * 16; }
/* Keys of query i, counted from k0 of its span. */
static inline size_t rg_fused__begin(const rg_reach *r, const rg_fused_span *s, size_t i)
{
    return (size_t)r->begin[i] - s->k0;
}
static inline size_t rg_fused__end(const rg_reach *r, const rg_fused_span *s, size_t i)
{
    return (size_t)r->begin[i] - s->k0 + (r->first[i + 1] - r->first[i]);
}

#endif
