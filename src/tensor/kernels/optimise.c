/* optimise.c - the optimiser's loops for one instruction set; packs are written a cache line of 16 numbers at a
 * time. */
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "tensor/optimise_loops.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

typedef float four __attribute__((vector_size(16)));
typedef float loose_four __attribute__((vector_size(16), aligned(4), may_alias));

static inline void put_line(float *to, four a, four b, four c, four d, bool stream)
{
#if defined(__x86_64__)
    if (stream) {
        _mm_stream_ps(to, (__m128)a);
        _mm_stream_ps(to + 4, (__m128)b);
        _mm_stream_ps(to + 8, (__m128)c);
        _mm_stream_ps(to + 12, (__m128)d);
        return;
    }
#else
    (void)stream;
#endif
    *(loose_four *)to = a;
    *(loose_four *)(to + 4) = b;
    *(loose_four *)(to + 8) = c;
    *(loose_four *)(to + 12) = d;
}

/* Streamed lines must be seen by whoever reads after the pass. */
static inline void fence(bool stream)
{
#if defined(__x86_64__)
    if (stream) _mm_sfence();
#else
    (void)stream;
#endif
}

static inline four at(const float *x) { return *(const loose_four *)x; }

static void pack(float *panels, size_t K, const float *w, size_t ld, size_t rows, size_t cols, bool stream)
{
    size_t c = 0;
    for (; c + RG_PANEL <= cols; c += RG_PANEL)
        for (size_t r = 0; r < rows; r++) {
            const float *x = w + r * ld + c;
            put_line(panels + c * K + r * RG_PANEL, at(x), at(x + 4), at(x + 8), at(x + 12), stream);
        }
    if (c < cols) pack_rest(panels + c * K, w + c, ld, rows, cols - c);
    fence(stream);
}

/* 4 x 4 numbers turned: t[j] is column j of the rows x, x + ld, x + 2 ld, x + 3 ld. */
static inline void turn(four t[4], const float *x, size_t ld)
{
    four a = at(x), b = at(x + ld), c = at(x + 2 * ld), d = at(x + 3 * ld);
    four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), AB = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    t[0] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    t[1] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    t[2] = __builtin_shufflevector(AB, CD, 0, 1, 4, 5);
    t[3] = __builtin_shufflevector(AB, CD, 2, 3, 6, 7);
}

static void turn_sixteen_rows(float *panels, const float *w, size_t ld, size_t cols, bool stream)
{
    size_t c = 0;
    for (; c + 4 <= cols; c += 4, panels += 4 * RG_PANEL) {
        four t[4][4];
        for (size_t q = 0; q < 4; q++) turn(t[q], w + 4 * q * ld + c, ld);
        for (size_t j = 0; j < 4; j++) put_line(panels + j * RG_PANEL, t[0][j], t[1][j], t[2][j], t[3][j], stream);
    }
    if (c < cols) pack_transposed_rest(panels, w + c, ld, RG_PANEL, cols - c);
}

static void pack_transposed(float *panels, size_t K, const float *w, size_t ld, size_t rows, size_t cols, bool stream)
{
    size_t r = 0;
    for (; r + RG_PANEL <= rows; r += RG_PANEL) turn_sixteen_rows(panels + r * K, w + r * ld, ld, cols, stream);
    if (r < rows) pack_transposed_rest(panels + r * K, w + r * ld, ld, rows - r, cols);
    fence(stream);
}

extern const rg_optimise PASTE(rg_optimise_, RG_ISA);
const rg_optimise PASTE(rg_optimise_, RG_ISA) = {
    .name = TEXT(RG_ISA), .update = update, .squares = squares, .pack = pack, .pack_transposed = pack_transposed
};
