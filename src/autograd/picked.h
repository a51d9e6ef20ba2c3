/* picked.h - some outputs of an output layer, gathered into a pack of their own: the product over a shortlist.
 *
 *     y (M, n) = x W[., ids] + b[ids]        bit for bit the columns `ids` of the whole product
 *
 * For answering; it has no gradient. */
#ifndef RG_AUTOGRAD_PICKED_H
#define RG_AUTOGRAD_PICKED_H

#include "autograd/params.h"
#include "regard/ops.h"

typedef struct rg_picked {
    const rg_param *w;    /* what was gathered; NULL: nothing yet */
    rg_pack         pack;
    rg_small        small;
    rg_real        *room, *bias;
    size_t          numbers, biases; /* room for so many */
    bool            biased;
} rg_picked;

/* Outputs ids[n] of w (a weight (K, N) or a table (N, K)) and its bias (1, N; may be NULL). */
rg_status rg_picked_set(rg_picked *p, const rg_param *w, const rg_param *bias, const int32_t *ids, size_t n);
void      rg_picked_fini(rg_picked *p);

rg_tensor *rg_linear_picked(rg_tape *t, rg_tensor *x, const rg_picked *p);

#endif
