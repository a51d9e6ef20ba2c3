/* trail.h - what a convolution needs of a decoder's past: the rows that went into each layer at earlier steps.
 *
 *   each step     rg_trail_step(t, past, n);                              every hypothesis gets a row for its token
 *   each layer    w = rg_trail_window(t, past, layer, x, taps, dilation);  x (n, D) joins the layer's rows; w (n, taps * D)
 *                 y = rg_linear(t, w, weights, bias, f);                  rg_conv1d, causal, of the newest row alone
 *   between       rg_trail_keep(past, parents, n);                        row i of the next step continues row parents[i]
 *
 * Rows are addressed by lists, so that reordering a beam moves numbers, not memory; a list has as many rows as the
 * widest window reaches back, so that a step costs the same however long the answer is. For tapes that do not
 * record. */
#ifndef REGARD_TRAIL_H
#define REGARD_TRAIL_H

#include "regard/ops.h"

RG_API_BEGIN

typedef struct rg_trail rg_trail;

/* `reach`: rows that the widest window covers, (taps - 1) * dilation + 1. */
rg_status rg_trail_new(rg_trail **out, size_t layers, size_t reach);
void      rg_trail_free(rg_trail *past);
void      rg_trail_clear(rg_trail *past); /* the next step is the first; memory is kept */

void rg_trail_step(rg_tape *t, rg_trail *past, size_t n);
/* The window's rows side by side, the newest last; zeros before the first step. */
rg_tensor *rg_trail_window(rg_tape *t, rg_trail *past, size_t layer, rg_tensor *x, size_t taps, size_t dilation);
rg_status  rg_trail_keep(rg_trail *past, const int32_t *parents, size_t n);

RG_API_END
#endif
