/* plain_small.h - of plain_small.c, for the table of plain loops. */
#ifndef RG_TENSOR_PLAIN_SMALL_H
#define RG_TENSOR_PLAIN_SMALL_H

#include "tensor/kernels.h"

void rg_plain__gemm_bf16(size_t M, size_t N, size_t K, const rg_real *a, size_t lda, const uint16_t *panels, rg_real *c,
                         size_t ldc, bool add, const rg_real *bias);

#endif
