/* window_causal:R - the last r positions, itself among them.
 *
 *     x . . . .
 *     x x . . .
 *     . x x . .        r = 2 */
#include "attention/reach.h"

const rg_reach *rg_reach_window_causal(rg_tape *t, const rg_layout *rows, size_t r)
{
    return rg_reach__band(t, rows, (int64_t)r - 1, 0);
}

static const rg_reach *make(rg_tape *t, const rg_layout *q, const rg_layout *k, size_t r)
{
    return (void)k, rg_reach_window_causal(t, q, r);
}
static bool sees(size_t query, size_t key, size_t r) { return key <= query && query - key < r; }

const rg_reach_kind rg_reach_kind_window_causal = {
    .name = "window_causal",
    .summary = "the last r positions, itself among them",
    .past = "window_causal",
    .sized = true,
    .make = make,
    .sees = sees,
};
