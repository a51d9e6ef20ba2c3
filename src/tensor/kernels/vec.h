/* vec.h - one register of RG_LANES floats, in GCC vector types, for whichever instruction set this is compiled.
 *
 * Every function here is elementwise, so an element's result does not depend on its lane. Ends of arrays go through
 * load_part/store_part into the same code as full registers; there are no scalar tails with other bits. */
#ifndef RG_TENSOR_KERNELS_VEC_H
#define RG_TENSOR_KERNELS_VEC_H

#include <stdint.h>
#include <string.h>

#include "tensor/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define LANES ((size_t)RG_LANES)
#define FOLD 16                           /* lanes of a reduction, on every instruction set */
enum { PARTS = FOLD / RG_LANES };         /* registers that hold them */

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

typedef float    vec __attribute__((vector_size(4 * RG_LANES)));
typedef int32_t  ivec __attribute__((vector_size(4 * RG_LANES)));
typedef uint32_t uvec __attribute__((vector_size(4 * RG_LANES)));
typedef uint64_t uvec64 __attribute__((vector_size(4 * RG_LANES)));
typedef float    loose_vec __attribute__((vector_size(4 * RG_LANES), aligned(4), may_alias));
typedef uint32_t loose_uvec __attribute__((vector_size(4 * RG_LANES), aligned(4), may_alias));

INLINE vec load(const float *p) { return *(const loose_vec *)p; }
INLINE void store(float *p, vec x) { *(loose_vec *)p = x; }
INLINE vec same(float x) { return x - (vec){0}; } /* every lane x, also -0 */
INLINE ivec same_int(int32_t x) { return x - (ivec){0}; }

INLINE vec load_part(const float *p, size_t n) /* n < LANES; the rest 0 */
{
    float lanes[LANES] __attribute__((aligned(64))) = {0};
    for (size_t i = 0; i < n; i++) lanes[i] = p[i];
    return load(lanes);
}

INLINE void store_part(float *p, vec x, size_t n)
{
    float lanes[LANES] __attribute__((aligned(64)));
    store(lanes, x);
    for (size_t i = 0; i < n; i++) p[i] = lanes[i];
}

/* mask ? a : b, lane by lane; a mask is all ones or all zeros, as comparisons give it. */
INLINE vec choose(ivec mask, vec a, vec b)
{
#if RG_LANES == 8 && defined(__AVX2__)
    return (vec)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#else
    return (vec)((mask & (ivec)a) | (~mask & (ivec)b));
#endif
}

INLINE vec larger(vec a, vec b) /* b where either is NaN */
{
#if RG_LANES == 16 && defined(__AVX512F__)
    return (vec)_mm512_max_ps((__m512)a, (__m512)b);
#elif RG_LANES == 8 && defined(__AVX__)
    return (vec)_mm256_max_ps((__m256)a, (__m256)b);
#elif RG_LANES == 4 && defined(__SSE__)
    return (vec)_mm_max_ps((__m128)a, (__m128)b);
#else
    return choose(a > b, a, b);
#endif
}

INLINE vec smaller(vec a, vec b) /* b where either is NaN */
{
#if RG_LANES == 16 && defined(__AVX512F__)
    return (vec)_mm512_min_ps((__m512)a, (__m512)b);
#elif RG_LANES == 8 && defined(__AVX__)
    return (vec)_mm256_min_ps((__m256)a, (__m256)b);
#elif RG_LANES == 4 && defined(__SSE__)
    return (vec)_mm_min_ps((__m128)a, (__m128)b);
#else
    return choose(a < b, a, b);
#endif
}

INLINE vec magnitude(vec x) { return (vec)((ivec)x & same_int(INT32_MAX)); }
INLINE vec with_sign_of(vec x, vec sign) { return (vec)(((ivec)x & same_int(INT32_MAX)) | ((ivec)sign & same_int(INT32_MIN))); }

/* ------------------------------------------------------------------------------------------------ reductions */

/* Sixteen running sums; element j of a row belongs to sum j mod 16. */
typedef struct sums {
    vec of[PARTS];
} sums;

INLINE float fold_sum(const sums *s)
{
    float x[FOLD] __attribute__((aligned(64)));
    UNROLL for (size_t p = 0; p < PARTS; p++) store(x + p * LANES, s->of[p]);
    UNROLL for (size_t i = 0; i < 8; i++) x[i] += x[i + 8];
    UNROLL for (size_t i = 0; i < 4; i++) x[i] += x[i + 4];
    return (x[0] + x[2]) + (x[1] + x[3]);
}

/* Run a block for every register of n elements: it starts at element `i`, is number `p` of the 16 lanes' registers and holds `c`
 * elements: LANES (a constant, except at the end of the row) or fewer. The end is written out for each p too, so that
 * sums stay in registers. */
#define EACH(n, ...)                                                           \
    do {                                                                       \
        size_t i = 0;                                                          \
        while (i + FOLD <= (n)) {                                              \
            UNROLL for (size_t p = 0; p < PARTS; p++, i += LANES)              \
            {                                                                  \
                const size_t c = LANES;                                        \
                (void)c;                                                       \
                __VA_ARGS__                                                    \
            }                                                                  \
        }                                                                      \
        UNROLL for (size_t p = 0; p < PARTS; p++)                              \
        {                                                                      \
            const size_t c = (n) - i < LANES ? (n) - i : LANES;                \
            if (c == 0) break;                                                 \
            __VA_ARGS__                                                        \
            i += c;                                                            \
        }                                                                      \
    } while (0)

INLINE vec get(const float *x, size_t c) { return c == LANES ? load(x) : load_part(x, c); }

INLINE void put(float *x, vec value, size_t c)
{
    if (c == LANES) store(x, value);
    else store_part(x, value, c);
}

/* x in the first c lanes, `other` in the rest */
INLINE vec only(vec x, size_t c, float other)
{
    static const int32_t number[16] __attribute__((aligned(64))) = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return c == LANES ? x : choose(*(const ivec *)number < same_int((int32_t)c), x, same(other));
}

#endif
