/* groups: every key of the same sentence; the mask that keeps sentences of a batch apart, and encoder-decoder
 * attention.
 *
 *     x x . . .
 *     x x . . .
 *     . . x x x */
#include "attention/reach.h"
#include "autograd/tape.h"

const rg_reach *rg_reach_groups(rg_tape *t, const rg_layout *queries, const rg_layout *keys)
{
    if (!rg_tape__begin(t, "reach", 0, NULL)) return NULL;
    if (!queries || !keys || queries->groups != keys->groups) {
        rg_tape_fail(t, RG_ESHAPE, "%zu groups of queries, %zu of keys", queries ? queries->groups : 0,
                     keys ? keys->groups : 0);
        return NULL;
    }
    size_t   *first;
    int32_t  *begin;
    rg_reach *r = rg_reach__new_intervals(t, (size_t)queries->start[queries->groups], (size_t)keys->start[keys->groups],
                                          &first, &begin);
    if (r) r->rows = queries;
    for (size_t g = 0; r && g < queries->groups; g++)
        for (int32_t i = queries->start[g]; i < queries->start[g + 1]; i++) {
            begin[i] = keys->start[g];
            first[i + 1] = first[i] + (size_t)(keys->start[g + 1] - keys->start[g]);
        }
    if (r) r->P = first[r->Nq];
    return r;
}

static const rg_reach *make(rg_tape *t, const rg_layout *q, const rg_layout *k, size_t size)
{
    return (void)size, rg_reach_groups(t, q, k);
}
static bool            sees(size_t query, size_t key, size_t size) { return (void)query, (void)key, (void)size, true; }

const rg_reach_kind rg_reach_kind_groups = {
    .name = "groups",
    .summary = "every key of the same sentence",
    .past = "causal",
    .across = true,
    .make = make,
    .sees = sees,
};
