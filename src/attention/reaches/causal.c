/* causal: itself and what came before; the mask of a decoder.
 *
 *     x . . .
 *     x x . .
 *     x x x . */
#include "attention/reach.h"

const rg_reach *rg_reach_causal(rg_tape *t, const rg_layout *rows) { return rg_reach__band(t, rows, INT32_MAX, 0); }

static const rg_reach *make(rg_tape *t, const rg_layout *q, const rg_layout *k, size_t size)
{
    return (void)k, (void)size, rg_reach_causal(t, q);
}
static bool sees(size_t query, size_t key, size_t size) { return (void)size, key <= query; }

const rg_reach_kind rg_reach_kind_causal = {
    .name = "causal",
    .summary = "itself and what came before",
    .past = "causal",
    .make = make,
    .sees = sees,
};
