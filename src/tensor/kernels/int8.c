/* int8.c - products of rows and weights of 8 bits (int8.h says how numbers become integers and back).
 *
 * A tile is R rows against P panels, its sums in registers, as in gemm.c; the plain version is in tensor/int8_plain.c.
 * Sums of integers may be cut as one likes: few rows, where the weights come from memory, run through one panel in C
 * chains that are added up at the end.
 *
 *        per group of k:   s[r][column] += left[r][k] w[k][column] + left[r][k+1] w[k+1][column] (+ two more)
 *
 * Compiled without contraction: the scaling of a result is three rounded operations everywhere. */
#include "tensor/int8.h"
#include "tensor/kernels/isa.h"
#include "tensor/kernels/vec.h"

enum { V = RG_PANEL / RG_LANES };

/* ----------------------------------------------------------------------------------------- one group of k at a time */

#if defined(__AVX512VNNI__)
enum { GROUP = 4, OFFSET = 128 };
typedef uint8_t left_number;
typedef __m512i weights;
INLINE weights read_weights(const int8_t *p) { return _mm512_loadu_si512(p); }
INLINE ivec     fold_in(ivec s, int32_t left, weights w)
{
    return (ivec)_mm512_dpbusd_epi32((__m512i)s, _mm512_set1_epi32(left), w);
}

#elif defined(__ARM_FEATURE_DOTPROD)
enum { GROUP = 4, OFFSET = 0 };
typedef int8_t left_number;
typedef int8x16_t weights;
INLINE weights read_weights(const int8_t *p) { return vld1q_s8(p); }
INLINE ivec       fold_in(ivec s, int32_t left, weights w)
{
    return (ivec)vdotq_s32((int32x4_t)s, w, vreinterpretq_s8_s32(vdupq_n_s32(left)));
}

#else
enum { GROUP = 2, OFFSET = 0 };
typedef int16_t left_number;
#if defined(__AVX512BW__) && RG_LANES == 16
typedef __m512i weights;
INLINE weights read_weights(const int8_t *p) { return _mm512_cvtepi8_epi16(_mm256_loadu_si256((const void *)p)); }
INLINE ivec fold_in(ivec s, int32_t left, weights w) { return s + (ivec)_mm512_madd_epi16(_mm512_set1_epi32(left), w); }
#elif defined(__AVX2__) && RG_LANES == 8
typedef __m256i weights;
INLINE weights read_weights(const int8_t *p) { return _mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)p)); }
INLINE ivec fold_in(ivec s, int32_t left, weights w) { return s + (ivec)_mm256_madd_epi16(_mm256_set1_epi32(left), w); }
#elif defined(__SSE2__) && RG_LANES == 4
typedef __m128i weights;
INLINE weights read_weights(const int8_t *p)
{
    const __m128i x = _mm_loadl_epi64((const void *)p);
    return _mm_srai_epi16(_mm_unpacklo_epi8(x, x), 8);
}
INLINE ivec fold_in(ivec s, int32_t left, weights w) { return s + (ivec)_mm_madd_epi16(_mm_set1_epi32(left), w); }
#elif defined(__aarch64__)
typedef int16x8_t weights;
INLINE weights read_weights(const int8_t *p) { return vmovl_s8(vld1_s8(p)); }
INLINE ivec fold_in(ivec s, int32_t left, weights w)
{
    const int16x8_t both = vreinterpretq_s16_s32(vdupq_n_s32(left));
    return s + (ivec)vpaddq_s32(vmull_s16(vget_low_s16(both), vget_low_s16(w)), vmull_high_s16(both, w));
}
#else
typedef struct {
    ivec first, second;
} weights;
INLINE weights read_weights(const int8_t *p)
{
    weights w;
    for (size_t i = 0; i < LANES; i++) {
        w.first[i] = p[2 * i];
        w.second[i] = p[2 * i + 1];
    }
    return w;
}
INLINE ivec fold_in(ivec s, int32_t left, weights w)
{
    return s + same_int((int16_t)((uint32_t)left & 0xFFFF)) * w.first + same_int(left >> 16) * w.second;
}
#endif
#endif

/* ------------------------------------------------------------------------------------------------------ tiles */

typedef struct product {
    size_t         N, groups, row; /* row: bytes from one row of the left side to the next */
    const char    *left;
    const float   *left_scale;
    rg_int8_right  right;
    float         *c;
    size_t         ldc;
    bool           add;
    const float   *bias;
} product;

INLINE int32_t group_of(const char *left, size_t g)
{
    int32_t four;
    memcpy(&four, left + 4 * g, sizeof four);
    return four;
}

/* Sums to results: rows m .., columns n .. of C. */
INLINE void finish(const size_t R, const size_t W, const ivec *s, const product *p, size_t m, size_t n)
{
    UNROLL for (size_t j = 0; j < W; j++) {
        const size_t at = n + j * LANES, c = at >= p->N ? 0 : p->N - at < LANES ? p->N - at : LANES;
        if (c == 0) return;
        const vec  scale = load(p->right.scale + at);
        const ivec start = (ivec) * (const loose_uvec *)(const void *)(p->right.start + at);
        UNROLL for (size_t r = 0; r < R; r++) {
            float    *to = p->c + (m + r) * p->ldc + at;
            const vec factor = same(p->left_scale[m + r]) * scale;
            vec       y = __builtin_convertvector(s[r * W + j] + start, vec) * factor;
            if (p->add) y = get(to, c) + y;
            else if (p->bias) y = y + get(p->bias + at, c);
            if (c == LANES) store(to, y);
            else store_part(to, y, c);
        }
    }
}

enum { MOST_CHAINS = 4, MOST_W = 3 * V, MOST_SUMS = 8 * MOST_W };

INLINE void tile(const size_t R, const size_t P, const size_t C, const product *p, size_t m, size_t n)
{
    const size_t  W = P * V, step = (size_t)GROUP * RG_PANEL, panel = p->groups * step;
    const int8_t *b = p->right.panels + n / RG_PANEL * panel;
    const char   *left = p->left + m * p->row;
    ivec          s[MOST_CHAINS][MOST_SUMS]; /* of fixed size: arrays of R * W are not kept in registers */
    UNROLL for (size_t i = 0; i < C; i++)
        UNROLL for (size_t j = 0; j < R * W; j++) s[i][j] = (ivec){ 0 };
    size_t g = 0;
    for (; g + C <= p->groups; g += C)
        UNROLL for (size_t i = 0; i < C; i++) {
            weights w[MOST_W];
            UNROLL for (size_t j = 0; j < W; j++) w[j] =
                read_weights(b + j / V * panel + (g + i) * step + j % V * LANES * GROUP);
            UNROLL for (size_t r = 0; r < R; r++) {
                const int32_t four = group_of(left + r * p->row, g + i);
                UNROLL for (size_t j = 0; j < W; j++) s[i][r * W + j] = fold_in(s[i][r * W + j], four, w[j]);
            }
        }
    for (; g < p->groups; g++)
        UNROLL for (size_t r = 0; r < R; r++) UNROLL for (size_t j = 0; j < W; j++) s[0][r * W + j] =
            fold_in(s[0][r * W + j], group_of(left + r * p->row, g),
                    read_weights(b + j / V * panel + g * step + j % V * LANES * GROUP));
    UNROLL for (size_t i = 1; i < C; i++)
        UNROLL for (size_t j = 0; j < R * W; j++) s[0][j] += s[i][j];
    finish(R, W, s[0], p, m, n);
}

/* X(rows, panels of a wide tile, chains of a slim one): about ten sums in flight, and no more than there are
 * registers. */
#if RG_LANES == 16
enum { TALL = 8, WIDE = 3 };
#define SHAPES(X) X(1, 1, 4) X(2, 1, 4) X(3, 3, 2) X(4, 3, 2) X(5, 3, 1) X(6, 3, 1) X(7, 3, 1) X(8, 3, 1)
#elif RG_LANES == 8 || defined(__aarch64__)
enum { TALL = 4, WIDE = 1 };
#define SHAPES(X) X(1, 1, 2) X(2, 1, 2) X(3, 1, 1) X(4, 1, 1)
#else
enum { TALL = 2, WIDE = 1 };
#define SHAPES(X) X(1, 1, 1) X(2, 1, 1)
#endif

#define TILES(R, P, C)                                                                                               \
    static __attribute__((noinline)) void slim_##R(const product *p, size_t m, size_t n) { tile(R, 1, C, p, m, n); } \
    static __attribute__((noinline)) void wide_##R(const product *p, size_t m, size_t n)                             \
    {                                                                                                                \
        tile(R, P, (P) == 1 ? (C) : 1, p, m, n);                                                                     \
    }
SHAPES(TILES)

#define ENTRY(R, P, C) [R] = { slim_##R, wide_##R, P },
static const struct {
    void (*slim)(const product *, size_t, size_t), (*wide)(const product *, size_t, size_t);
    size_t panels;
} shapes[TALL + 1] = { SHAPES(ENTRY) };

/* Panels in threes, and all rows against them while they are near. */
static void gemm(size_t M, size_t N, size_t K, const void *left, const float *left_scale, const rg_int8_right *right,
                 float *c, size_t ldc, bool add, const float *bias)
{
    const size_t  groups = (K + GROUP - 1) / GROUP;
    const product p = { N, groups, (groups * 4 + 63) / 64 * 64, left, left_scale, *right, c, ldc, add, bias };
    for (size_t first = 0; first < N; first += (size_t)WIDE * RG_PANEL) {
        const size_t end = first + (size_t)WIDE * RG_PANEL < N ? first + (size_t)WIDE * RG_PANEL : N;
        for (size_t m = 0; m < M;) {
            const size_t R = M - m < TALL ? M - m : TALL, wide = shapes[R].panels;
            const bool   fits = first + wide * RG_PANEL <= (N + RG_PANEL - 1) / RG_PANEL * RG_PANEL;
            if (fits && wide == WIDE) shapes[R].wide(&p, m, first);
            else
                for (size_t n = first; n < end; n += RG_PANEL) shapes[R].slim(&p, m, n);
            m += R;
        }
    }
}

/* --------------------------------------------------------------------------------------------------- the left side */

static void quantize(size_t K, void *left, float *scale, const float *x)
{
    left_number *to = left;
    const size_t all = (K + GROUP - 1) / GROUP * GROUP;
    uint32_t     most = 0;
    for (size_t k = 0; k < K; k++) {
        const uint32_t size = rg_int8_magnitude(x[k]);
        most = size > most ? size : most;
    }
    const float inverse = rg_int8_inverse(scale, most);
    if (inverse > 0)
        for (size_t k = 0; k < K; k++) to[k] = (left_number)(rg_int8_round(x[k] * inverse) + OFFSET);
    for (size_t k = inverse > 0 ? K : 0; k < all; k++) to[k] = OFFSET;
}

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
extern const rg_int8_loops ISA(int8);
const rg_int8_loops ISA(int8) = { TEXT(RG_ISA), GROUP, OFFSET, quantize, gemm };
