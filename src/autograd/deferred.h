/* deferred.h - gradients of weights that every step of a loop uses, as one product at the end.
 *
 *     step by step    dW += a_t^T dz_t        reads and writes all of dW at every step, for a few rows
 *     at the end      dW  = A^T dZ            A, dZ: the rows of all steps, one below another
 *
 * Forward tells each use; a weight that few rows use many times waits. Backward puts its rows down instead of
 * multiplying. */
#ifndef RG_AUTOGRAD_DEFERRED_H
#define RG_AUTOGRAD_DEFERRED_H

#include "autograd/tape.h"

typedef struct rg_deferred rg_deferred;

/* Forward: y = a w with so many rows was recorded. */
void rg_deferred_use(rg_tape *t, rg_tensor *w, size_t rows);

/* Backward: where the gradient of a use of w with so many rows waits, or NULL: it does not, multiply now. Before any
 * scratch is taken. */
rg_deferred *rg_deferred_find(rg_tape *t, const rg_tensor *w, size_t rows);
void      rg_deferred_add(rg_deferred *sum, size_t rows, const rg_real *a, size_t lda, const rg_real *dz, size_t lddz);

/* The end of a backward pass, or of all uses of one parameter (NULL: of all): what waits is multiplied. */
void rg_deferred_flush(rg_tape *t, const struct rg_param *param);

#endif
