/* before:R - the r positions before it, without itself: key-value attention of language models (Daniluk et al. 2017).
 *
 *     . . . . .
 *     x . . . .
 *     x x . . .
 *     . x x . .        r = 2; the first row reaches none and reads zeros */
#include "attention/reach.h"

const rg_reach *rg_reach_before(rg_tape *t, const rg_layout *rows, size_t r)
{
    return rg_reach__band(t, rows, (int64_t)r, -1);
}

static const rg_reach *make(rg_tape *t, const rg_layout *q, const rg_layout *k, size_t r)
{
    return (void)k, rg_reach_before(t, q, r);
}
static bool            sees(size_t query, size_t key, size_t r) { return key < query && query - key <= r; }

const rg_reach_kind rg_reach_kind_before = {
    .name = "before",
    .summary = "the r positions before it, without itself",
    .paper = "Daniluk et al. 2017, Frustratingly Short Attention Spans",
    .past = "before",
    .sized = true,
    .make = make,
    .sees = sees,
};
