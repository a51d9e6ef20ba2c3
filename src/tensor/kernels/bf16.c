/* bf16.c - products with weights in bfloat16: half the bytes of gemm.c, for few rows, where the weights come from
 * memory.
 *
 * A weight is the upper half of a float, so it becomes one by a shift; then the same chain of multiply-adds over k
 * in rising order as in gemm.c, which is the plain version. A tile is R rows against P panels. */
#include "tensor/kernels/isa.h"
#include "tensor/kernels/vec.h"

enum { V = RG_PANEL / RG_LANES };

typedef uint16_t halves __attribute__((vector_size(2 * RG_LANES), aligned(2), may_alias));

INLINE vec widen(const uint16_t *p)
{
#if RG_LANES == 16 && defined(__AVX512F__)
    return (vec)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p)), 16);
#elif RG_LANES == 8 && defined(__AVX2__)
    return (vec)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)p)), 16);
#elif RG_LANES == 4 && defined(__SSE2__)
    return (vec)_mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64((const void *)p));
#else
    return (vec)(__builtin_convertvector(*(const halves *)p, uvec) << 16);
#endif
}

typedef struct product {
    size_t          N, K, lda, ldc;
    const float    *a;
    const uint16_t *panels;
    float          *c;
    bool            add;
    const float    *bias;
} product;

#if RG_LANES == 4 && !defined(__aarch64__)
enum { TALL = 2, WIDE = 1 };
#define SHAPES(X) X(1) X(2)
#else
enum { TALL = 4, WIDE = RG_LANES == 16 ? 4 : 1 };
#define SHAPES(X) X(1) X(2) X(3) X(4)
#endif
enum { MOST_W = WIDE * V };

INLINE void tile(const size_t R, const size_t P, const product *p, size_t m, size_t n)
{
    const size_t    W = P * V, panel = p->K * RG_PANEL;
    const uint16_t *b = p->panels + n / RG_PANEL * panel;
    const float    *a = p->a + m * p->lda;
    vec             s[TALL * MOST_W]; /* of fixed size: arrays of R * W are not kept in registers */
    size_t          count[MOST_W];
    UNROLL for (size_t j = 0; j < W; j++) {
        const size_t at = n + j * LANES;
        count[j] = at >= p->N ? 0 : p->N - at < LANES ? p->N - at : LANES;
        UNROLL for (size_t r = 0; r < R; r++) s[r * W + j] =
            p->add && count[j] ? get(p->c + (m + r) * p->ldc + at, count[j]) : (vec){ 0 };
    }
    for (size_t k = 0; k < p->K; k++) {
        vec w[MOST_W];
        UNROLL for (size_t j = 0; j < W; j++) w[j] = widen(b + j / V * panel + k * RG_PANEL + j % V * LANES);
        UNROLL for (size_t r = 0; r < R; r++) {
            const vec left = same(a[r * p->lda + k]);
            UNROLL for (size_t j = 0; j < W; j++) s[r * W + j] += left * w[j];
        }
    }
    UNROLL for (size_t j = 0; j < W; j++) {
        const size_t at = n + j * LANES;
        if (count[j] == 0) return;
        UNROLL for (size_t r = 0; r < R; r++) {
            const vec y = p->bias ? s[r * W + j] + get(p->bias + at, count[j]) : s[r * W + j];
            if (count[j] == LANES) store(p->c + (m + r) * p->ldc + at, y);
            else store_part(p->c + (m + r) * p->ldc + at, y, count[j]);
        }
    }
}

#define TILES(R)                                                                                                       \
    static __attribute__((noinline)) void wide_##R(const product *p, size_t m, size_t n) { tile(R, WIDE, p, m, n); } \
    static __attribute__((noinline)) void slim_##R(const product *p, size_t m, size_t n) { tile(R, 1, p, m, n); }
SHAPES(TILES)
#define ENTRY(R) [R] = { wide_##R, slim_##R },
static const struct {
    void (*wide)(const product *, size_t, size_t), (*slim)(const product *, size_t, size_t);
} shapes[TALL + 1] = { SHAPES(ENTRY) };

void ISA(gemm_bf16)(size_t M, size_t N, size_t K, const float *a, size_t lda, const uint16_t *panels, float *c,
                    size_t ldc, bool add, const float *bias)
{
    const product p = { N, K, lda, ldc, a, panels, c, add, bias };
    const size_t  all = (N + RG_PANEL - 1) / RG_PANEL * RG_PANEL, step = (size_t)WIDE * RG_PANEL;
    for (size_t n = 0; n < N; n += step)
        for (size_t m = 0; m < M; m += TALL) {
            const size_t R = M - m < TALL ? M - m : TALL;
            if (n + step <= all) shapes[R].wide(&p, m, n);
            else
                for (size_t at = n; at < N; at += RG_PANEL) shapes[R].slim(&p, m, at);
        }
}
