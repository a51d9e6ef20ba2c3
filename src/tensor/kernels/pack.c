/* pack.c - both sides of a product in the order gemm.c reads them: panels of 16 columns and tiles of rows, k-major.
 *
 * Copies where the source already runs along the packed direction, and transposes of T x T blocks in registers where it
 * does not. */
#include "tensor/kernels/isa.h"
#include "tensor/kernels/plan.h"
#include "tensor/kernels/vec.h"

enum { T = RG_LANES < 8 ? 4 : 8 };
typedef float square __attribute__((vector_size(4 * T)));
typedef float loose_square __attribute__((vector_size(4 * T), aligned(4), may_alias));

INLINE square read(const float *p) { return *(const loose_square *)p; }
INLINE void write(float *p, square x) { *(loose_square *)p = x; }

INLINE void transpose(square x[T])
{
#if RG_LANES < 8
#define PAIRS(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define PAIRS_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
    square a = PAIRS(x[0], x[1]), b = PAIRS_HIGH(x[0], x[1]), c = PAIRS(x[2], x[3]), d = PAIRS_HIGH(x[2], x[3]);
    x[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    x[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    x[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    x[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
#else
    square y[8];
    UNROLL for (size_t i = 0; i < 8; i += 2) { /* pairs of rows, inside each half */
        y[i] = __builtin_shufflevector(x[i], x[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        y[i + 1] = __builtin_shufflevector(x[i], x[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    UNROLL for (size_t i = 0; i < 8; i += 4) { /* fours */
        x[i] = __builtin_shufflevector(y[i], y[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        x[i + 1] = __builtin_shufflevector(y[i], y[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        x[i + 2] = __builtin_shufflevector(y[i + 1], y[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
        x[i + 3] = __builtin_shufflevector(y[i + 1], y[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    UNROLL for (size_t i = 0; i < 4; i++) { /* halves */
        square low = __builtin_shufflevector(x[i], x[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        x[i + 4] = __builtin_shufflevector(x[i], x[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
        x[i] = low;
    }
#endif
}

/* --------------------------------------------------------------------------------------------------- panels */

/* Eight rows at a time along all whole panels: each row is read in order, each panel written in pieces of 512 bytes. */
static void copy_panels(float *panels, const float *b, size_t ldb, size_t K, size_t count)
{
    enum { ROWS = 8 };
    for (size_t first = 0; first < K; first += ROWS) {
        size_t end = K - first < ROWS ? K : first + ROWS;
        for (size_t p = 0; p < count; p++)
            for (size_t k = first; k < end; k++)
                UNROLL for (size_t j = 0; j < RG_PANEL; j += LANES)
                    store(panels + (p * K + k) * RG_PANEL + j, load(b + k * ldb + p * RG_PANEL + j));
    }
}

void ISA(pack)(float *panels, const float *b, size_t ldb, size_t K, size_t N)
{
    size_t p = N / RG_PANEL, rest = N % RG_PANEL;
    copy_panels(panels, b, ldb, K, p);
    if (!rest) return;
    panels += p * K * RG_PANEL;
    b += p * RG_PANEL;
    for (size_t k = 0; k < K; k++, panels += RG_PANEL, b += ldb)
        for (size_t j = 0; j < RG_PANEL; j++) panels[j] = j < rest ? b[j] : 0;
}

/* `rows` rows of B become columns of one panel. */
INLINE void turn_panel(float *panel, const float *b, size_t ldb, size_t K, size_t rows)
{
    size_t k = 0;
    for (; k + T <= K; k += T)
        UNROLL for (size_t g = 0; g < RG_PANEL; g += T)
        {
            square x[T];
            UNROLL for (size_t i = 0; i < T; i++) x[i] = g + i < rows ? read(b + (g + i) * ldb + k) : (square){0};
            transpose(x);
            UNROLL for (size_t i = 0; i < T; i++) write(panel + (k + i) * RG_PANEL + g, x[i]);
        }
    for (; k < K; k++)
        for (size_t j = 0; j < RG_PANEL; j++) panel[k * RG_PANEL + j] = j < rows ? b[j * ldb + k] : 0;
}

void ISA(pack_transposed)(float *panels, const float *b, size_t ldb, size_t K, size_t N)
{
    for (; N >= RG_PANEL; N -= RG_PANEL, b += RG_PANEL * ldb, panels += K * RG_PANEL)
        turn_panel(panels, b, ldb, K, RG_PANEL);
    if (N) turn_panel(panels, b, ldb, K, N);
}

/* ---------------------------------------------------------------------------------------------------- tiles */

/* Rows k .. end of a tile, number by number. */
INLINE void exact_tile(float *tile, const float *a, size_t row, size_t step, const size_t R, size_t k, size_t end)
{
    for (; k < end; k++)
        for (size_t i = 0; i < R; i++) tile[k * R + i] = a[i * row + k * step];
}

/* A tile's row of R numbers is written as whole registers: what is too much is overwritten by the row after it. Only
 * the last rows, whose surplus would land outside, are written exactly. */
INLINE size_t registers(size_t R) { return (R + T - 1) / T; }

static size_t rows_with_room(size_t R, size_t K)
{
    size_t surplus = registers(R) * T - R, without = (surplus + R - 1) / R;
    return K > without ? K - without : 0;
}

INLINE void turn_tile(float *tile, const float *a, size_t row, const size_t R, size_t K)
{
    size_t k = 0, room = rows_with_room(R, K);
    for (; k + T <= room; k += T) {
        square x[TALLEST / T + 1][T];
        UNROLL for (size_t g = 0; g < registers(R); g++) {
            UNROLL for (size_t i = 0; i < T; i++) x[g][i] =
                g * T + i < R ? read(a + (g * T + i) * row + k) : (square){ 0 };
            transpose(x[g]);
        }
        UNROLL for (size_t i = 0; i < T; i++)
            UNROLL for (size_t g = 0; g < registers(R); g++) write(tile + (k + i) * R + g * T, x[g][i]);
    }
    exact_tile(tile, a, row, 1, R, k, K);
}

/* Each height by itself: a loop over a height that is not known takes twice as long. */
#define TURN(R, P)                                                                        \
    static void turn_tile_##R(float *tile, const float *a, size_t row, size_t K)          \
    {                                                                                     \
        turn_tile(tile, a, row, R, K);                                                    \
    }
SHAPES(TURN)
#define ENTRY(R, P) [R] = turn_tile_##R,
static void (*const turns[TALLEST + 1])(float *tile, const float *a, size_t row, size_t K) = { SHAPES(ENTRY) };

/* Rows k .. end of a tile whose source rows run along the tile. */
INLINE void copy_tile(float *tile, const float *a, size_t step, const size_t R, size_t k, size_t end)
{
    for (; k < end; k++)
        UNROLL for (size_t g = 0; g < registers(R); g++) write(tile + k * R + g * T, read(a + k * step + g * T));
}

/* Of rows `step` apart, how many can be read as whole registers before that would pass the last number of the last
 * row. */
static size_t rows_to_read(size_t R, size_t K, size_t step)
{
    size_t numbers = (K - 1) * step + R, whole = registers(R) * T;
    return numbers < whole ? 0 : (numbers - whole) / step + 1;
}

/* A transposed: eight of its rows at a time, along all tiles of a run. */
static void copy_run(float *tiles, const float *a, size_t step, const run *r, size_t K)
{
    enum { ROWS = 8 };
    size_t room = rows_with_room(r->R, K), safe = K ? rows_to_read(r->R, K, step) : 0, fast = room < safe ? room : safe;
    for (size_t k = 0; k < K; k += ROWS) {
        size_t end = K - k < ROWS ? K : k + ROWS, middle = fast < k ? k : fast < end ? fast : end;
        for (size_t t = 0; t < r->count; t++) {
            float *tile = tiles + t * r->R * K;
            const float *from = a + t * r->R;
            if (r->R == TALLEST) copy_tile(tile, from, step, TALLEST, k, middle);
            else copy_tile(tile, from, step, r->R, k, middle);
            exact_tile(tile, from, 1, step, r->R, middle, end);
        }
    }
}

void ISA(pack_tiles)(float *tiles, const float *a, size_t row, size_t step, size_t M, size_t K)
{
    size_t high = block_rows(M);
    for (size_t m = 0; m < M; m += high) {
        run runs[3];
        size_t used = plan(runs, M - m < high ? M - m : high);
        for (size_t n = 0; n < used; n++) {
            const run *r = &runs[n];
            size_t at = m + r->first;
            if (row == 1) {
                copy_run(tiles + at * K, a + at, step, r, K);
                continue;
            }
            for (size_t t = 0; t < r->count; t++, at += r->R) {
                if (step != 1) exact_tile(tiles + at * K, a + at * row, row, step, r->R, 0, K);
                else turns[r->R](tiles + at * K, a + at * row, row, K);
            }
        }
    }
}
