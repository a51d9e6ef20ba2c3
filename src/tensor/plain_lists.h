/* plain_lists.h - the part of the plain table that stands in plain_lists.c. */
#ifndef RG_TENSOR_PLAIN_LISTS_H
#define RG_TENSOR_PLAIN_LISTS_H

#include "tensor/kernels.h"

void rg_plain__lists_mix(size_t n, size_t H, size_t d, rg_real *y, bool add, const rg_real *a, size_t lda,
                         const size_t *pair, const rg_real *x, size_t ldx, const int32_t *row, size_t more);
void rg_plain__lists_sum(size_t n, size_t H, rg_real *y, bool add, const rg_real *x, const size_t *pair);
void rg_plain__lists_expand(size_t n, size_t H, rg_real *a, const uint8_t *bits, const rg_real *value, rg_real factor,
                            const size_t *pair, size_t from);
void rg_plain__edges_weigh(size_t queries, const size_t *first, const int32_t *key, size_t H, rg_real *a,
                           const rg_real *u, size_t ldu, const rg_real *z, size_t ldz, rg_real slope,
                           const rg_real *bias, rg_real *seats, const uint8_t *bits, rg_real factor);
void rg_plain__edges_back(size_t n, size_t H, size_t d, rg_real *ds, rg_real *a, rg_real *dz, const size_t *pair,
                          const int32_t *query, const rg_real *seats, const rg_real *dout, size_t ldo, const rg_real *z,
                          const rg_real *v, rg_real slope, const rg_real *bias, const uint8_t *bits, rg_real factor,
                          size_t more);
void rg_plain__dropout(size_t n, rg_real *y, const rg_real *x, rg_real p, const uint32_t key[2], uint64_t stream,
                       uint64_t position, bool add);
void rg_plain__dropout_mask(size_t n, uint8_t *bits, rg_real p, const uint32_t key[2], uint64_t stream,
                            uint64_t position);
void rg_plain__dropout_by(size_t n, rg_real *y, const rg_real *x, rg_real p, const uint8_t *bits, bool add);
void rg_plain__dropout_bits(size_t bytes, uint8_t *bits, rg_real p, const uint32_t key[2], uint64_t stream,
                            uint64_t position);

#endif
