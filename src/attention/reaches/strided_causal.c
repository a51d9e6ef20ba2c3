/* strided_causal:R - itself and every r-th position before it (Child et al. 2019).
 *
 *     x . . . .
 *     . x . . .
 *     x . x . .        r = 2 */
#include "attention/reach.h"

static bool sees(size_t query, size_t key, size_t r) { return key <= query && (query - key) % (r ? r : 1) == 0; }

static const rg_reach *make(rg_tape *t, const rg_layout *q, const rg_layout *k, size_t r)
{
    return (void)k, rg_reach__where(t, q, &rg_reach_kind_strided_causal, r);
}

const rg_reach_kind rg_reach_kind_strided_causal = {
    .name = "strided_causal",
    .summary = "itself and every r-th position before it",
    .paper = "Child et al. 2019, Generating Long Sequences with Sparse Transformers",
    .past = "strided_causal",
    .sized = true,
    .make = make,
    .sees = sees,
};
