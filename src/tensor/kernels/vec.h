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

/* The first n numbers, the rest 0; and back, nothing behind them touched. In registers where the machine can: a
 * detour over the stack makes rows shorter than a register five times as slow. */
#if RG_LANES == 16 && defined(__AVX512F__)
INLINE __mmask16 first_lanes(size_t n) { return (__mmask16)((1u << n) - 1); }
INLINE vec load_part(const float *p, size_t n) { return (vec)_mm512_maskz_loadu_ps(first_lanes(n), p); }
INLINE void store_part(float *p, vec x, size_t n) { _mm512_mask_storeu_ps(p, first_lanes(n), (__m512)x); }
#elif RG_LANES == 8 && defined(__AVX2__)
INLINE __m256i first_lanes(size_t n)
{
    static const int32_t ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
    return _mm256_loadu_si256((const __m256i *)(const void *)(ones + 8 - n));
}
INLINE vec load_part(const float *p, size_t n) { return (vec)_mm256_maskload_ps(p, first_lanes(n)); }
INLINE void store_part(float *p, vec x, size_t n) { _mm256_maskstore_ps(p, first_lanes(n), (__m256)x); }
#elif RG_LANES == 4
INLINE vec load_part(const float *p, size_t n)
{
    if (n == 1) return (vec){p[0]};
    return n == 2 ? (vec){p[0], p[1]} : (vec){p[0], p[1], p[2]};
}
INLINE void store_part(float *p, vec x, size_t n)
{
    p[0] = x[0];
    if (n > 1) p[1] = x[1];
    if (n > 2) p[2] = x[2];
}
#else /* by calls, not loops: a branch between a product and its sum would keep them apart */
static __attribute__((noinline, unused)) vec load_part(const float *p, size_t n)
{
    float lanes[LANES] __attribute__((aligned(64))) = {0};
    for (size_t i = 0; i < n; i++) lanes[i] = p[i];
    return load(lanes);
}
static __attribute__((noinline, unused)) void store_part(float *p, vec x, size_t n)
{
    float lanes[LANES] __attribute__((aligned(64)));
    store(lanes, x);
    for (size_t i = 0; i < n; i++) p[i] = lanes[i];
}
#endif

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
INLINE vec with_sign_of(vec x, vec sign)
{
    return (vec)(((ivec)x & same_int(INT32_MAX)) | ((ivec)sign & same_int(INT32_MIN)));
}

/* ------------------------------------------------------------------------------------------------ reductions */

/* Sixteen running sums, or maxima; element j of a row belongs to number j mod 16. */
typedef struct sums {
    vec of[PARTS];
} sums;

typedef float   quarter __attribute__((vector_size(16)));
typedef int32_t quarter_mask __attribute__((vector_size(16)));

/* Lanes 4 i .. 4 i + 3 of the sixteen. */
INLINE quarter quarter_of(const sums *s, const size_t i)
{
#if RG_LANES == 4
    return (quarter)s->of[i];
#elif RG_LANES == 8
    const vec x = s->of[i / 2];
    return i % 2 ? __builtin_shufflevector(x, x, 4, 5, 6, 7) : __builtin_shufflevector(x, x, 0, 1, 2, 3);
#else
    const vec x = s->of[0];
    return i < 2 ? i ? __builtin_shufflevector(x, x, 4, 5, 6, 7) : __builtin_shufflevector(x, x, 0, 1, 2, 3)
                 : i == 2 ? __builtin_shufflevector(x, x, 8, 9, 10, 11) : __builtin_shufflevector(x, x, 12, 13, 14, 15);
#endif
}

/* Lane i and lane i + 8, then i and i + 4, then i and i + 2, then the last two: one order on every instruction set. */
INLINE float fold_sum(const sums *s)
{
    const quarter x = (quarter_of(s, 0) + quarter_of(s, 2)) + (quarter_of(s, 1) + quarter_of(s, 3));
    const quarter two = x + __builtin_shufflevector(x, x, 2, 3, 2, 3);
    return two[0] + two[1];
}

INLINE quarter larger_quarter(quarter a, quarter b) /* b where either is NaN */
{
#if defined(__SSE__)
    return (quarter)_mm_max_ps((__m128)a, (__m128)b);
#else
    const quarter_mask mask = a > b;
    return (quarter)((mask & (quarter_mask)a) | (~mask & (quarter_mask)b));
#endif
}

INLINE float fold_max(const sums *s)
{
    const quarter x = larger_quarter(larger_quarter(quarter_of(s, 0), quarter_of(s, 2)),
                                     larger_quarter(quarter_of(s, 1), quarter_of(s, 3)));
    const quarter two = larger_quarter(x, __builtin_shufflevector(x, x, 2, 3, 2, 3));
    return two[0] > two[1] ? two[0] : two[1];
}

/* Run a block for every register of n elements: it starts at element `i`, is number `p` of the 16 lanes' registers
 * and holds `c` elements: LANES (a constant, except at the end of the row) or fewer. The end is written out for each
 * p too, so that sums stay in registers. */
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

/* c numbers, 0 < c <= LANES. No branch between a load and the product it goes into: a compiler might fuse the sum in
 * one arm only. */
#if RG_LANES >= 8 && defined(__AVX2__)
#define IS_WHOLE(c) (__builtin_constant_p(c) && (c) == LANES) /* a mask holds for whole registers too */
#else
#define IS_WHOLE(c) ((c) == LANES)
#endif
INLINE vec get(const float *x, size_t c)
{
    vec value = IS_WHOLE(c) ? load(x) : load_part(x, c);

#if RG_LANES == 4 && defined(__x86_64__)
    if (!__builtin_constant_p(c)) __asm__("" : "+x"(value));
#elif RG_LANES == 4 && defined(__aarch64__)
    if (!__builtin_constant_p(c)) __asm__("" : "+w"(value));
#endif /* empty assembly: what follows the join of two branches does not move into one of them */

    return value;
}

INLINE void put(float *x, vec value, size_t c)
{
    if (IS_WHOLE(c)) store(x, value);
    else store_part(x, value, c);
}

/* x in the first c lanes, `other` in the rest */
INLINE vec only(vec x, size_t c, float other)
{
    static const int32_t number[16]
        __attribute__((aligned(64))) = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    return c == LANES ? x : choose(*(const ivec *)number < same_int((int32_t)c), x, same(other));
}

/* x as it is, but no compiler sees where it comes from: a product behind it is not fused with a sum after it. */
INLINE vec rounded(vec x)
{
#if defined(__x86_64__) && (RG_LANES <= 8 || defined(__AVX512F__))
    __asm__("" : "+v"(x));
#elif defined(__aarch64__)
    __asm__("" : "+w"(x));
#else
    __asm__("" : "+m"(x));
#endif
    return x;
}

/* Results that are computed whole before any of them is stored: nothing moves past this point, so branches behind it
 * fuse nothing otherwise. */
INLINE vec ready(vec x)
{
#if RG_LANES == 8 && defined(__AVX2__)
    __asm__ volatile("" : "+v"(x));
#endif
    return x;
}

/* put() of a value that is ready. Not by _mm256_maskstore_ps, which takes AMD's Zen some twenty cycles. */
INLINE void put_ready(float *p, vec x, size_t c)
{
#if RG_LANES == 8 && defined(__AVX2__)
    __m128 rest = _mm256_castps256_ps128((__m256)x);
    if (c == LANES) _mm256_storeu_ps(p, (__m256)x);
    if (c & 4) {
        _mm_storeu_ps(p, rest);
        rest = _mm256_extractf128_ps((__m256)x, 1);
        p += 4;
    }
    if (c & 2) {
        _mm_storel_pi((__m64 *)(void *)p, rest);
        rest = _mm_movehl_ps(rest, rest);
        p += 2;
    }
    if (c & 1) _mm_store_ss(p, rest);
#else
    put(p, x, c);
#endif
}

#endif
