/* taps.h - which rows a window sees: row at[i * K + j] of the input for output row i and tap j, -1 outside its group.
 *
 * Pictures all have the same table, so it is kept once for a unit of `in` rows that makes `out` rows; sentences are
 * one unit. */
#ifndef RG_AUTOGRAD_TAPS_H
#define RG_AUTOGRAD_TAPS_H

#include "autograd/tape.h"
#include "regard/conv.h"

typedef struct rg_taps {
    size_t           K, units, in, out;
    const int32_t   *at;     /* out * K */
    const rg_layout *layout; /* of the result */
    rg_window        window; /* over a picture of height x width; all 0: over time */
    size_t           height, width;
} rg_taps;

/* Live on the tape. False latches. */
bool rg_taps__time(rg_taps *out, rg_tape *t, const rg_layout *layout, const rg_time_window *window);
bool rg_taps__window(rg_taps *out, rg_tape *t, const rg_layout *layout, const rg_window *window);

/* The input row of output row i, tap j; -1: none. */
static inline int64_t rg_taps__row(const rg_taps *p, size_t i, size_t j)
{
    const int32_t at = p->at[i % p->out * p->K + j];
    return at < 0 ? -1 : (int64_t)(i / p->out * p->in) + at;
}

#endif
