/* window:R - restricted self-attention (Vaswani et al. 2017, section 4): the r positions centred on the query's own.
 *
 *     x x . . .
 *     x x x . .
 *     . x x x .        r = 3;   r = 4: one before, itself, two after */
#include "attention/reach.h"

static int64_t before(size_t r) { return (int64_t)(r ? r - 1 : 0) / 2; }

const rg_reach *rg_reach_window(rg_tape *t, const rg_layout *rows, size_t r)
{
    return r ? rg_reach__band(t, rows, before(r), (int64_t)r - 1 - before(r)) : rg_reach__band(t, rows, -1, 0);
}

static const rg_reach *make(rg_tape *t, const rg_layout *q, const rg_layout *k, size_t r)
{
    return (void)k, rg_reach_window(t, q, r);
}
static bool            sees(size_t query, size_t key, size_t r)
{
    const int64_t ahead = (int64_t)key - (int64_t)query;
    return r && ahead >= -before(r) && ahead <= (int64_t)r - 1 - before(r);
}

const rg_reach_kind rg_reach_kind_window = {
    .name = "window",
    .summary = "the r positions centred on it",
    .paper = "Vaswani et al. 2017, section 4",
    .past = "window_causal",
    .sized = true,
    .make = make,
    .sees = sees,
};
