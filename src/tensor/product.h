/* product.h - matrix products over a team.
 *
 * Row i of a result has the same bits whatever the other rows, the team's size and the blocking are (kernels.h). */
#ifndef RG_TENSOR_PRODUCT_H
#define RG_TENSOR_PRODUCT_H

#include "tensor/kernels.h"

/* How many of the panels of weights a member takes in a product of M rows: all when the work is not worth a helper.
 * With few rows the reading counts, not the multiply-adds. */
size_t rg_product__panels_each(const rg_team *team, size_t M, size_t K, size_t panels);

/* C (M, N) = f(A (M, K) B + bias), or C += A B when `add` (bias NULL and f identity then). B was packed once. */
rg_status rg_product_packed(rg_team *team, size_t M, const rg_real *a, size_t lda, const rg_pack *b,
                            rg_real *c, size_t ldc, bool add, const rg_real *bias, rg_activation f);

typedef enum rg_product_form {
    RG_NN, /* C = A B      A (M, K)  B (K, N) */
    RG_NT, /* C = A B^T    A (M, K)  B (N, K) */
    RG_TN  /* C = A^T B    A (K, M)  B (K, N): weight gradients */
} rg_product_form;

/* C (M, N) = A B or C += A B for operands that are not packed; packs into the members' scratch as it goes (so
 * nothing of the caller may live there), or into a block of its own when `team` is NULL. RG_ENOMEM when that cannot
 * be had. */
rg_status rg_product(rg_team *team, rg_product_form form, size_t M, size_t N, size_t K,
                     const rg_real *a, size_t lda, const rg_real *b, size_t ldb, rg_real *c, size_t ldc, bool add);

#endif
