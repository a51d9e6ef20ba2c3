/* reach.h - walking the pairs of a reach. */
#ifndef RG_ATTENTION_REACH_H
#define RG_ATTENTION_REACH_H

#include "regard/attention.h"

/* reach.c: for the kinds in reaches/. Each lives on the tape; NULL latches. */
rg_reach       *rg_reach__new_intervals(rg_tape *t, size_t Nq, size_t Nk, size_t **first, int32_t **begin); /* to be filled */
const rg_reach *rg_reach__band(rg_tape *t, const rg_layout *rows, int64_t back, int64_t ahead); /* i - back .. i + ahead of its group */
const rg_reach *rg_reach__where(rg_tape *t, const rg_layout *rows, const rg_reach_kind *kind, size_t size); /* what kind->sees lets through */

/* The key row of pair p of query i. */
static inline size_t rg_reach__key(const rg_reach *r, size_t i, size_t p)
{
    return r->key ? (size_t)r->key[p] : (size_t)r->begin[i] + (p - r->first[i]);
}

/* Lists are worked on in pieces of about so many pairs, whatever the degrees are: piece k of n is rows cut(k) ..
 * cut(k + 1) - 1. A row counts as one more pair, so that rows without any are shared out too. */
enum { RG_REACH_PIECE = 512 };

static inline size_t rg_reach__pieces(size_t P, size_t rows) { return (P + rows) / RG_REACH_PIECE + 1; }

static inline size_t rg_reach__cut(const size_t *first, size_t rows, size_t piece, size_t pieces)
{
    const size_t all = first[rows] + rows, goal = all / pieces * piece + all % pieces * piece / pieces;
    size_t       low = 0, high = rows; /* the first row i with first[i] + i >= goal */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (first[middle] + middle < goal) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Gathered rows should stay in a cache: a transposed list is then walked in turns, each over a range of query rows.
 * `at` is where a turn begins, the result where it ends: the first pair of a key's list, which ends at `last`, whose
 * query is not below `limit`. Queries rise within a list. */
static inline size_t rg_reach__turn_end(const rg_reach *r, size_t at, size_t last, size_t limit)
{
    if (at == last || (size_t)r->asker[last - 1] < limit) return last;
    while ((size_t)r->asker[at] < limit) at++;
    return at;
}

/* Where turn `turn` of `turns` over N rows ends. */
static inline size_t rg_reach__turn_limit(size_t N, size_t turn, size_t turns)
{
    return turn + 1 == turns ? N : N / turns * (turn + 1);
}

/* rg_mix (shared: rg_mix_shared) whose values nobody may exchange: they are weights of a product, or were offered before. */
rg_tensor *rg_mix__as_given(rg_tape *t, rg_tensor *a, rg_tensor *v, const rg_reach *reach, bool shared);

#endif
