/* part.h - ends of rows without a detour over memory, for kernels whose rows are mostly shorter than a register. Same numbers as get and put of vec.h. */
#ifndef RG_TENSOR_KERNELS_PART_H
#define RG_TENSOR_KERNELS_PART_H

#include "tensor/kernels/vec.h"

#if RG_LANES == 8 && defined(__AVX2__)
INLINE __m256i first_lanes(size_t n)
{
    static const int32_t ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
    return _mm256_loadu_si256((const __m256i *)(const void *)(ones + 8 - n));
}

INLINE vec take(const float *x, size_t c) { return c == LANES ? load(x) : (vec)_mm256_maskload_ps(x, first_lanes(c)); }

INLINE void give(float *x, vec value, size_t c)
{
    if (c == LANES) store(x, value);
    else _mm256_maskstore_ps(x, first_lanes(c), (__m256)value);
}
#else
INLINE vec take(const float *x, size_t c) { return get(x, c); }
INLINE void give(float *x, vec value, size_t c) { put(x, value, c); }
#endif

#endif
