/* part.h - ends of rows without a detour over memory, for kernels whose rows are mostly shorter than a register. Same numbers as get and
 * put of vec.h. */
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

/* Numbers `at` .. at + LANES - 1 of a mask of n bits, as lanes of all ones (kept) or zeros; `at` a multiple of LANES. */
INLINE ivec lanes_kept(const uint8_t *bits, size_t at, size_t n)
{
    static const int32_t one[16]
        __attribute__((aligned(64))) = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768 };
    uint32_t some = (uint32_t)bits[at / 8] >> at % 8;
    if (LANES > 8 && at + 8 < n) some |= (uint32_t)bits[at / 8 + 1] << 8;
    const ivec mine = *(const ivec *)one;
    return (mine & same_int((int32_t)some)) == mine;
}

#endif
