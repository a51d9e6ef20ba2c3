/* folds.h - rows of one register or less: halves of registers, and fold_sum of vec.h. */
#ifndef RG_TENSOR_KERNELS_FOLDS_H
#define RG_TENSOR_KERNELS_FOLDS_H

#include "tensor/kernels/vec.h"

#if RG_LANES >= 8
typedef float half __attribute__((vector_size(2 * RG_LANES)));
typedef float loose_half __attribute__((vector_size(2 * RG_LANES), aligned(4), may_alias));

INLINE half load_half(const float *p) { return *(const loose_half *)p; }
INLINE void store_half(float *p, half x) { *(loose_half *)p = x; }
#endif

#if RG_LANES == 8
/* fold_sum of one register, without going through memory */
INLINE float fold_one(vec x)
{
    const half four = __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
    const half two = four + __builtin_shufflevector(four, four, 2, 3, 2, 3);
    return two[0] + two[1];
}

/* The same of eight registers, side by side: the sums of x[0] .. x[7] in lanes 0 .. 7 */
INLINE vec fold_eight(const vec *x)
{
#define BOTH(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
    vec four[4], two[2];
    UNROLL for (size_t i = 0; i < 4; i++) four[i] = BOTH(x[2 * i], x[2 * i + 1], 0, 1, 2, 3, 8, 9, 10, 11) +
                                                    BOTH(x[2 * i], x[2 * i + 1], 4, 5, 6, 7, 12, 13, 14, 15);
    UNROLL for (size_t i = 0; i < 2; i++) two[i] = BOTH(four[2 * i], four[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
                                                   BOTH(four[2 * i], four[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    const vec one = BOTH(two[0], two[1], 0, 2, 8, 10, 4, 6, 12, 14) + BOTH(two[0], two[1], 1, 3, 9, 11, 5, 7, 13, 15); /* 0 2 4 6 1 3 5 7 */
    return BOTH(one, one, 0, 4, 1, 5, 2, 6, 3, 7);
#undef BOTH
}
#else
INLINE float fold_one(vec x)
{
    const sums s = {.of = {x}};
    return fold_sum(&s);
}
#endif

#endif
