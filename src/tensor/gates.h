/* gates.h - one row of a recurrent step: u numbers a gate, columns in the order of recurrent.h.
 *
 * `before` is the state before the step, NULL for zeros. Backward functions write every number of what they name
 * first. */
#ifndef RG_TENSOR_GATES_H
#define RG_TENSOR_GATES_H

#include "regard/tensor.h"

typedef struct rg_gates {
    /* gates (i f o n) turn from sums into values in place;  c = f c0 + i n,  h = o tanh(c) */
    void (*lstm)(size_t u, rg_real *gates, rg_real *c, rg_real *h, const rg_real *c_before);
    /* dz (4u) of the sums; dc holds the gradient of c and leaves as that of c_before. */
    void (*lstm_backward)(size_t u, rg_real *dz, rg_real *dc, const rg_real *gates, const rg_real *c,
                          const rg_real *c_before, const rg_real *dh);

    /* z r (2u) in place, then rh = r h0 */
    void (*gru_reset)(size_t u, rg_real *gates, rg_real *rh, const rg_real *before);
    /* n in place, then h = h0 + z (n - h0) */
    void (*gru)(size_t u, rg_real *gates, rg_real *h, const rg_real *before);
    /* dz, dn into dgates; dh becomes (1-z) dh, the direct part of the gradient of h0 */
    void (*gru_backward)(size_t u, rg_real *dgates, rg_real *dh, const rg_real *gates, const rg_real *before);
    /* dr into dgates; dh += r drh */
    void (*gru_reset_backward)(size_t u, rg_real *dgates, rg_real *dh, const rg_real *drh, const rg_real *gates,
                               const rg_real *before);

    /* gates hold the projected input, a (3u) = U h0: everything in one pass; hn = a_n + b is kept. b may be NULL. */
    void (*gru_after)(size_t u, rg_real *gates, rg_real *hn, rg_real *h, const rg_real *a, const rg_real *b,
                      const rg_real *before);
    /* dgates: of the projected input, da: of U h0 (they differ in n); dh becomes z dh */
    void (*gru_after_backward)(size_t u, rg_real *dgates, rg_real *da, rg_real *dh, const rg_real *gates,
                               const rg_real *hn, const rg_real *before);
} rg_gates;

#endif
