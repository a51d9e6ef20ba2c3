/* strided:R - itself and every r-th position from it, to both sides (the strided pattern of Child et al. 2019).
 *
 *     x . x . x
 *     . x . x .
 *     x . x . x        r = 2 */
#include "attention/reach.h"

static bool sees(size_t query, size_t key, size_t r)
{
    return (query > key ? query - key : key - query) % (r ? r : 1) == 0;
}

static const rg_reach *make(rg_tape *t, const rg_layout *q, const rg_layout *k, size_t r)
{
    return (void)k, rg_reach__where(t, q, &rg_reach_kind_strided, r);
}

const rg_reach_kind rg_reach_kind_strided = {
    .name = "strided",
    .summary = "itself and every r-th position from it",
    .paper = "Child et al. 2019, Generating Long Sequences with Sparse Transformers",
    .past = "strided_causal",
    .sized = true,
    .make = make,
    .sees = sees,
};
