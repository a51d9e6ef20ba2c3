/* attention.c - what fused attention needs beside products: sums over a range of its own for each row, and the two
 * passes over a row of weights.
 *
 * Rows are taken six or eight at a time. What all of them sum over goes through a register tile as in gemm.c; what only
 * some of them reach is added row by row before and after, so that every row stays one chain over its own range:
 *
 *      k  ->
 *   row 0   . . x x|x x x x|. . .        . never touched
 *   row 1   . . . x|x x x x|x . .        x alone, row by row      | the common part: one tile
 *   row 2   . . . .|x x x x|x x . */
#include "tensor/kernels/elementary.h"
#include "tensor/kernels/isa.h"

enum {
    V = RG_PANEL / RG_LANES, /* registers in a panel */
#if RG_LANES == 16
    TALL = 8,
    BROAD = 3,               /* panels of a tile of several rows: twice eight sums keep both multiply-add units busy */
#else
    TALL = 6,
    BROAD = 1,
#endif
    WIDE = 4,                /* panels that a single row takes together */
    BLOCK_K = 256            /* one panel of a block is 16 KiB: half of L1 */
};

/* R rows, P panels: c += a b over K steps, or c = a b when `fresh`. */
INLINE void tile(const size_t R, const size_t P, size_t K, const float *a, size_t row, size_t step, const float *b,
                 size_t panel, float *c, size_t ldc, bool fresh)
{
    vec s[TALL][WIDE * V];
    if (fresh) {
        UNROLL for (size_t r = 0; r < R; r++)
            UNROLL for (size_t j = 0; j < P * V; j++) s[r][j] = (vec){0};
    } else {
        UNROLL for (size_t r = 0; r < R; r++)
            UNROLL for (size_t j = 0; j < P * V; j++) s[r][j] = load(c + r * ldc + j * LANES);
    }
    const float *const a3 = a + 3 * row, *const a6 = a + 6 * row;
    for (size_t k = 0; k < K; k++) {
        vec right[WIDE * V];
        UNROLL for (size_t j = 0; j < P * V; j++) right[j] = load(b + j / V * panel + k * RG_PANEL + j % V * LANES);
        UNROLL for (size_t r = 0; r < R; r++) {
            vec left = same((r < 3 ? a : r < 6 ? a3 : a6)[r % 3 * row + k * step]);
            UNROLL for (size_t j = 0; j < P * V; j++) s[r][j] += left * right[j];
        }
    }
    UNROLL for (size_t r = 0; r < R; r++)
        UNROLL for (size_t j = 0; j < P * V; j++) store(c + r * ldc + j * LANES, s[r][j]);
}

#define TILE(R, P)                                                                                                               \
    static __attribute__((noinline)) void tile_##R##_##P(size_t K, const float *a, size_t row, size_t step, const float *b,      \
                                                         size_t panel, float *c, size_t ldc, bool fresh)                         \
    {                                                                                                                            \
        tile(R, P, K, a, row, step, b, panel, c, ldc, fresh);                                                                    \
    }
typedef void tile_function(size_t K, const float *a, size_t row, size_t step, const float *b, size_t panel, float *c,
                           size_t ldc, bool fresh);
TILE(1, 4)
#if RG_LANES == 16
#define TILES(R) TILE(R, 1) TILE(R, 2) TILE(R, 3)
#define ENTRY(R) { NULL, tile_##R##_1, tile_##R##_2, tile_##R##_3 }
TILES(1) TILES(2) TILES(3) TILES(4) TILES(5) TILES(6) TILES(7) TILES(8)
static tile_function *const tiles[TALL + 1][BROAD + 1] = {
    { NULL }, ENTRY(1), ENTRY(2), ENTRY(3), ENTRY(4), ENTRY(5), ENTRY(6), ENTRY(7), ENTRY(8),
};
#else
#define ENTRY(R) { NULL, tile_##R##_1 }
TILE(1, 1) TILE(2, 1) TILE(3, 1) TILE(4, 1) TILE(5, 1) TILE(6, 1)
static tile_function *const tiles[TALL + 1][BROAD + 1] = {
    { NULL }, ENTRY(1), ENTRY(2), ENTRY(3), ENTRY(4), ENTRY(5), ENTRY(6),
};
#endif

/* How many of `left` panels a tile of several rows takes: four as two and two. */
INLINE size_t panels_taken(size_t left)
{
    return BROAD == 1 || left == 1 ? 1 : left == 2 || left == 4 ? 2 : 3;
}

typedef struct job {
    const float  *a;
    size_t        row, step;
    const size_t *low, *high;
    const float  *panels;
    size_t        panel;
    float        *c;
    size_t        ldc;
} job;

/* One row over k = from .. to-1, `count` panels wide. */
static void one_row(const job *g, size_t m, size_t from, size_t to, const float *b, float *c, size_t count)
{
    if (from >= to) return;
    const float *a = g->a + m * g->row + from * g->step;
    size_t       p = 0;
    for (; p + WIDE <= count; p += WIDE)
        tile_1_4(to - from, a, g->row, g->step, b + p * g->panel + from * RG_PANEL, g->panel, c + p * RG_PANEL, g->ldc,
                 false);
    for (; p < count; p++)
        tile_1_1(to - from, a, g->row, g->step, b + p * g->panel + from * RG_PANEL, g->panel, c + p * RG_PANEL, g->ldc,
                 false);
}

INLINE size_t least_of(size_t a, size_t b) { return a < b ? a : b; }
INLINE size_t most_of(size_t a, size_t b) { return a > b ? a : b; }

static void zero_rows(size_t R, size_t columns, float *c, size_t ldc)
{
    for (size_t r = 0; r < R; r++) memset(c + r * ldc, 0, columns * sizeof *c);
}

/* R rows from m on over the part of their ranges inside k0 .. k1-1, `count` whole panels from b and c on; `fresh`:
 * nothing is in c yet. */
static void some_rows(const job *g, size_t m, size_t R, size_t k0, size_t k1, const float *b, float *c, size_t count,
                      bool fresh)
{
    if (R == 1) {
        if (fresh) zero_rows(1, count * RG_PANEL, c, g->ldc);
        one_row(g, m, most_of(k0, g->low[m]), least_of(k1, g->high[m]), b, c, count);
        return;
    }
    size_t from = k0, to = k1;
    for (size_t r = m; r < m + R; r++) from = most_of(from, g->low[r]), to = least_of(to, g->high[r]);
    if (from >= to) from = to = k1; /* nothing in common: all of it before */
    bool first = from < to; /* the common part comes first for every row */
    for (size_t r = m; r < m + R; r++) first = first && most_of(k0, g->low[r]) == from;
    if (fresh && !first) zero_rows(R, count * RG_PANEL, c, g->ldc);
    for (size_t r = 0; r < R; r++)
        one_row(g, m + r, most_of(k0, g->low[m + r]), least_of(from, g->high[m + r]), b, c + r * g->ldc, count);
    if (from < to)
        for (size_t p = 0, take; p < count; p += take) {
            take = panels_taken(count - p);
            tiles[R][take](to - from, g->a + m * g->row + from * g->step, g->row, g->step,
                           b + p * g->panel + from * RG_PANEL, g->panel, c + p * RG_PANEL, g->ldc, fresh && first);
        }
    for (size_t r = 0; to < k1 && r < R; r++)
        one_row(g, m + r, most_of(to, g->low[m + r]), least_of(k1, g->high[m + r]), b, c + r * g->ldc, count);
}

/* The last panel when N ends inside it: through a buffer as wide as the panel. */
static void edge_rows(const job *g, size_t m, size_t R, size_t k0, size_t k1, const float *b, float *c, size_t columns)
{
    float buffer[TALL * RG_PANEL] __attribute__((aligned(64))) = {0};
    job   inner = *g;
    inner.ldc = RG_PANEL;
    for (size_t r = 0; r < R; r++) memcpy(buffer + r * RG_PANEL, c + r * g->ldc, columns * sizeof *c);
    some_rows(&inner, m, R, k0, k1, b, buffer, 1, false);
    for (size_t r = 0; r < R; r++) memcpy(c + r * g->ldc, buffer + r * RG_PANEL, columns * sizeof *c);
}

void ISA(gemm_ranges)(size_t M, size_t N, const float *a, size_t row, size_t step, const size_t *low,
                      const size_t *high, const float *panels, size_t panel, float *c, size_t ldc, bool add)
{
    const job    g = { a, row, step, low, high, panels, panel, c, ldc };
    const size_t whole = N / RG_PANEL, rest = N % RG_PANEL;
    size_t       from = SIZE_MAX, to = 0;
    for (size_t m = 0; m < M; m++) from = least_of(from, low[m]), to = most_of(to, high[m]);
    if (!add && rest) zero_rows(M, rest, c + whole * RG_PANEL, ldc);
    if (!add && from >= to) zero_rows(M, whole * RG_PANEL, c, ldc);
    for (size_t k = from; k < to; k += BLOCK_K) {
        const size_t end = least_of(to, k + BLOCK_K);
        for (size_t m = 0; m < M;) {
            const size_t left = M - m, R = left > TALL && left < 2 * TALL ? (left + 1) / 2 : least_of(left, TALL);
            if (whole) some_rows(&g, m, R, k, end, panels, c + m * ldc, whole, !add && k == from);
            if (rest) edge_rows(&g, m, R, k, end, panels + whole * panel, c + m * ldc + whole * RG_PANEL, rest);
            m += R;
        }
    }
}

/* --------------------------------------------------------------------------------------------- rows of weights */

/* exp(x) for x <= 0 in one scaling: what would lie below the normal numbers is 0. A NaN stays. */
INLINE vec exp_below(vec x)
{
    ivec n;
    vec  p = exp_rest(larger(same(-87.0f), x), &n) + 1.0f;
    return (vec)((ivec)(p * power_of_two(n)) & ~(ivec)(x < -87.0f));
}

void ISA(exps)(size_t n, float *y, const float *x, float shift)
{
    EACH(n, put(y + i, vec_exp(get(x + i, c) - shift), c););
}

/* As EACH, but always whole registers are loaded; `c` tells how many numbers of the last one count. */
#define EACH_WHOLE(n, ...)                                        \
    do {                                                          \
        size_t i = 0;                                             \
        for (; i + FOLD <= (n); i += FOLD) {                      \
            const size_t c = LANES;                               \
            UNROLL for (size_t p = 0; p < PARTS; p++)             \
            {                                                     \
                const size_t at = i + p * LANES;                  \
                __VA_ARGS__                                       \
            }                                                     \
        }                                                         \
        UNROLL for (size_t p = 0; p < PARTS; p++)                 \
        {                                                         \
            const size_t at = i + p * LANES;                      \
            if (at >= (n)) break;                                 \
            const size_t c = (n) - at < LANES ? (n) - at : LANES; \
            __VA_ARGS__                                           \
        }                                                         \
    } while (0)

/* The first c lanes of x, the others of `rest`. */
INLINE vec mixed(vec x, vec rest, size_t c)
{
    static const int32_t number[16]
        __attribute__((aligned(64))) = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    return c == LANES ? x : choose(*(const ivec *)number < same_int((int32_t)c), x, rest);
}

INLINE float top_of(size_t n, const float *e)
{
    sums most;
    UNROLL for (size_t p = 0; p < PARTS; p++) most.of[p] = same(-INFINITY);
    EACH_WHOLE(n, most.of[p] = larger(mixed(load(e + at), same(-INFINITY), c), most.of[p]););
    return fold_max(&most);
}

void ISA(weigh_rows)(size_t M, float *e, size_t ld, const size_t *low, const size_t *high, float *share, float *top)
{
    for (size_t m = 0; m < M; m++) {
        float       *row = e + m * ld + low[m];
        const size_t n = high[m] - low[m];
        const float  most = top_of(n, row), shift = most == -INFINITY ? 0 : most;
        sums         s = {0};
        EACH_WHOLE(n, const vec old = load(row + at); const vec x = exp_below(old - shift);
                   store(row + at, mixed(x, old, c)); s.of[p] += mixed(x, (vec){ 0 }, c););
        const float sum = fold_sum(&s);
        share[m] = sum == 0 ? 0 : 1.0f / sum;
        top[m] = most;
    }
}

void ISA(slope_rows)(size_t M, float *d, size_t ldd, const float *a, size_t lda, const size_t *low, const size_t *high,
                     const float *level, const float *factor)
{
    for (size_t m = 0; m < M; m++) {
        float       *row = d + m * ldd + low[m];
        const float *weight = a + m * lda + low[m];
        const vec    l = same(level[m]), f = same(factor[m]);
        EACH_WHOLE(high[m] - low[m], const vec old = load(row + at);
                   store(row + at, mixed(f * load(weight + at) * (old - l), old, c)););
    }
}
