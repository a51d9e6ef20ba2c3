/* product_small.h - products with weights of one or two bytes over a team; called by rg_product_packed, which has
 * checked the sizes. */
#ifndef RG_TENSOR_PRODUCT_SMALL_H
#define RG_TENSOR_PRODUCT_SMALL_H

#include "tensor/int8.h"

/* RG_ENOMEM when there is no room for even one row as integers: longer than some thousand numbers. */
rg_status rg_product__small(rg_team *team, size_t M, const rg_real *a, size_t lda, const rg_small *b, rg_real *c,
                            size_t ldc, bool add, const rg_real *bias, rg_activation f);

#endif
