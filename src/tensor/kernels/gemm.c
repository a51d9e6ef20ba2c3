/* gemm.c - the product with packed weights: register tiles, swept over blocks that fit the caches.
 *
 * A tile is R rows of A against P panels (16 columns each) of B, its sums held in registers:
 *
 *        b  [ 16 | 16 ]     for each k:  s[r][j] += a[r][k] * b[k][j]
 *    a  R   s s   s s
 *
 * Every sum is one chain over k in rising order, started at 0 or at the C that is there, so neither the tile's
 * height nor its width nor the block over k shows in the bits. Few rows take wide tiles: there must be about ten
 * sums in flight to keep two multiply-add units busy through their latency of four cycles. */
#include "tensor/kernels/isa.h"
#include "tensor/kernels/plan.h"
#include "tensor/kernels/vec.h"

enum {
    V = RG_PANEL / RG_LANES, /* registers in a panel */
    GROUP = 6,               /* panels handled together; every tile width divides it */
    BLOCK_K = 2048,          /* a panel of a block is read again and again from L2; every cut costs a pass over C: 512 is 2 % slower */
    LARGE = 1 << 17          /* weights that L2 does not hold beside the rest */
};

/* A column of row tiles against the same panels. */
typedef struct sweep {
    size_t       K;
    const float *a;
    size_t       row;          /* rows as they are: from one to the next */
    bool         packed;       /* rows in tiles */
    size_t       count, next;  /* tiles, and from one to the next                   */
    const float *b;
    size_t       panel;        /* from one panel to the next                        */
    const float *soon;         /* the panel that comes after: fetched little by little, tile by tile */
    float       *c;
    size_t       ldc;
    bool         load;         /* continue from C */
    const float *bias;         /* or NULL */
    bool         relu;
} sweep;

enum { MOST_R = TALLEST, MOST_W = GROUP * V };

/* One tile of R rows and W registers. b[w] is where register w of B starts; consecutive k are RG_PANEL apart. */
INLINE void tile(const size_t R, const size_t W, size_t K, const float *a, size_t row, size_t step,
                 const float *const b[], const float *soon, unsigned slowly, float *c, const sweep *w)
{
    const size_t ldc = w->ldc;
    const bool relu = w->relu;
    vec s[MOST_R][MOST_W];
    if (w->load) {
        UNROLL for (size_t r = 0; r < R; r++)
            UNROLL for (size_t j = 0; j < W; j++) s[r][j] = load(c + r * ldc + j * LANES);
    } else {
        UNROLL for (size_t r = 0; r < R; r++)
            UNROLL for (size_t j = 0; j < W; j++) s[r][j] = (vec){0};
    }
    const float *const a3 = a + 3 * row, *const a6 = a + 6 * row, *const a9 = a + 9 * row;
    for (size_t k = 0; k < K; k++) {
        vec right[MOST_W];
        if (R > 2) __builtin_prefetch(soon + (k >> slowly) * RG_PANEL, 0, 2); /* to L2; lower tiles leave it to the machine */
        UNROLL for (size_t j = 0; j < W; j++) right[j] = load(b[j] + k * RG_PANEL);
        UNROLL for (size_t r = 0; r < R; r++) {
            const float *from = r < 3 ? a : r < 6 ? a3 : r < 9 ? a6 : a9;
            vec left = same(from[r % 3 * row + k * step]);
            UNROLL for (size_t j = 0; j < W; j++) s[r][j] += left * right[j];
        }
    }
    if (w->bias) {
        UNROLL for (size_t j = 0; j < W; j++) {
            vec bias = load(w->bias + j * LANES);
            UNROLL for (size_t r = 0; r < R; r++) s[r][j] = s[r][j] + bias;
        }
    }
    if (relu) {
        UNROLL for (size_t r = 0; r < R; r++)
            UNROLL for (size_t j = 0; j < W; j++) s[r][j] = larger((vec){0}, s[r][j]); /* keeps NaN */
    }
    UNROLL for (size_t r = 0; r < R; r++)
        UNROLL for (size_t j = 0; j < W; j++) store(c + r * ldc + j * LANES, s[r][j]);
}

/* `packed`: rows of A in tiles, so that the distances are known and every tile is one stream. */
INLINE void sweep_tiles(const size_t R, const size_t W, const bool packed, const sweep *w, const float *const b[])
{
    const size_t row = packed ? 1 : w->row, step = packed ? R : 1;
    const float *a = w->a, *soon = w->soon;
    float *c = w->c;
    unsigned slowly = 0;
    while (w->count >> (slowly + 1)) slowly++;
    for (size_t t = 0; t < w->count; t++, a += w->next, c += R * w->ldc, soon += (w->K >> slowly) * RG_PANEL) {
        const float *then = t + 1 < w->count ? c + R * w->ldc : w->c + W * LANES; /* the next tile: below, or on top to the right */
        UNROLL for (size_t r = 0; r < R; r++)
            UNROLL for (size_t j = 0; j < W; j += V) __builtin_prefetch(then + r * w->ldc + j * LANES, 1, 3);
        tile(R, W, w->K, a, row, step, b, soon, slowly, c, w);
    }
}

/* Tiles of R rows and P panels; `slim` ones, one panel wide, finish a group that P does not divide. A slim tile of
 * 512-bit registers has too few sums in flight and broadcasts A for each of them, so where tiles are three panels wide
 * there are pairs too, and four panels are taken as two pairs. */
#define SWEEP(kind, R, P, packed)                                                                     \
    static __attribute__((noinline)) void kind##_##R(const sweep *w)                                  \
    {                                                                                                 \
        const float *b[MOST_W];                                                                       \
        UNROLL for (size_t j = 0; j < (P) * V; j++) b[j] = w->b + j / V * w->panel + j % V * LANES;   \
        sweep_tiles(R, (P) * V, packed, w, b);                                                        \
    }
#define SLIM(R, P) SWEEP(slim, R, 1, false) SWEEP(slim_packed, R, 1, true)
#define WIDE(R, P) SWEEP(wide, R, P, false) SWEEP(wide_packed, R, P, true)
SHAPES(SLIM)
SHAPES(WIDE)
#if RG_LANES == 16
#define PAIR(R, P) SWEEP(pair, R, 2, false) SWEEP(pair_packed, R, 2, true)
SHAPES(PAIR)
#define PAIRS(R) { pair_##R, pair_packed_##R }
#else
#define PAIRS(R) { NULL, NULL }
#endif

#define ENTRY(R, P) [R] = {{wide_##R, wide_packed_##R}, PAIRS(R), {slim_##R, slim_packed_##R}, P},
static const struct shape {
    /* rows of A as they are, or in tiles */
    void (*wide[2])(const sweep *), (*pair[2])(const sweep *), (*slim[2])(const sweep *);
    size_t panels; /* of the wide one */
} shapes[TALLEST + 1] = {SHAPES(ENTRY)};

/* How many of `left` panels the next tile takes: a wide one, a pair or one. */
static size_t panels_taken(const struct shape *shape, size_t left)
{
    if (shape->pair[0] && (left == 2 || left == 4)) return 2;
    return left >= shape->panels ? shape->panels : 1;
}

/* How many of `left` panels are handled together: no last one is left alone. */
static size_t group_of(size_t left)
{
    if (RG_LANES == 16 && left == GROUP + 1) return GROUP - 2;
    return left < GROUP ? left : GROUP;
}

/* --------------------------------------------------------------------------------------------------- blocks */

/* What all blocks of one product share. */
typedef struct product {
    size_t         N, K;
    const float   *a;
    size_t         lda; /* 0: a is in tiles */
    const float   *panels;
    float         *c;
    size_t         ldc;
    bool           add;
    const float   *bias;
    rg_activation  f;
} product;

typedef struct block {
    size_t m, M, k, K; /* rows m .. m+M, and K of them from k on */
    size_t skip;       /* where number k of a row of A is: k, unless the row lies in runs */
} block;

static void aim(sweep *w, const product *p, const block *at, const run *r)
{
    size_t m = at->m + r->first;
    if (p->lda) { /* rows as they are */
        w->a = p->a + m * p->lda + at->skip;
        w->row = p->lda;
        w->next = r->R * p->lda;
    } else {
        w->a = p->a + m * p->K + at->k * r->R;
        w->next = r->R * p->K;
    }
    w->packed = !p->lda;
    w->count = r->count;
}

/* The last panel when N ends inside it: through a buffer as wide as the panel, so that nothing beyond C is touched. */
static void edge(const sweep *whole, const run *r, size_t columns)
{
    float buffer[TALLEST * RG_PANEL] __attribute__((aligned(64))), bias[RG_PANEL] = {0};
    sweep w = *whole;
    w.c = buffer;
    w.ldc = RG_PANEL;
    w.count = 1;
    if (whole->bias) {
        memcpy(bias, whole->bias, columns * sizeof *bias);
        w.bias = bias;
    }
    float *c = whole->c;
    for (size_t t = 0; t < whole->count; t++, w.a += w.next, c += r->R * whole->ldc) {
        memset(buffer, 0, sizeof buffer);
        if (w.load)
            for (size_t i = 0; i < r->R; i++) memcpy(buffer + i * RG_PANEL, c + i * whole->ldc, columns * sizeof *c);
        shapes[r->R].slim[w.packed](&w);
        for (size_t i = 0; i < r->R; i++) memcpy(c + i * whole->ldc, buffer + i * RG_PANEL, columns * sizeof *c);
    }
}

/* One run of row tiles against the panels first .. end. */
static void run_by_group(const product *p, const block *at, const run *r, size_t first, size_t end, sweep *w)
{
    const struct shape *shape = &shapes[r->R];
    const float *bias = w->bias;
    bool streamed = r->R == 1 && p->N * p->K >= LARGE; /* from memory, one panel at a time keeps up: 97 % of its speed, two 80 % */
    aim(w, p, at, r);
    for (size_t n = first; n < end;) {
        size_t left = p->N - n * RG_PANEL, whole = left / RG_PANEL < end - n ? left / RG_PANEL : end - n;
        size_t take = streamed || !whole ? 1 : panels_taken(shape, whole);
        w->b = p->panels + n * p->K * RG_PANEL + at->k * RG_PANEL;
        w->panel = p->K * RG_PANEL;
        w->soon = w->b + take * w->panel;
        w->c = p->c + (at->m + r->first) * p->ldc + n * RG_PANEL;
        w->bias = bias ? bias + n * RG_PANEL : NULL;
        if (left < RG_PANEL) edge(w, r, left);
        else if (take == shape->panels && take > 1) shape->wide[w->packed](w);
        else if (take == 2) shape->pair[w->packed](w);
        else shape->slim[w->packed](w);
        n += take;
    }
    w->bias = bias;
}

/* The panels first .. end-1 of a block. */
static void by_panels(const product *p, const block *at, const run *runs, size_t used, size_t first, size_t end)
{
    bool done = at->k + at->K == p->K;
    sweep w = {.K = at->K, .ldc = p->ldc, .load = p->add || at->k > 0, .bias = done ? p->bias : NULL,
               .relu = done && p->f == RG_RELU};
    for (size_t r = 0; r < used; r++) run_by_group(p, at, &runs[r], first, end, &w);
    if (!done || p->f == RG_IDENTITY || p->f == RG_RELU) return;
    size_t n = first * RG_PANEL, columns = end * RG_PANEL < p->N ? (end - first) * RG_PANEL : p->N - n;
    for (size_t m = at->m; m < at->m + at->M; m++)
        ISA(map)(p->f, columns, p->c + m * p->ldc + n, p->c + m * p->ldc + n);
}

static void by_block(const product *p, const block *at)
{
    run runs[3];
    size_t used = plan(runs, at->M), panels = (p->N + RG_PANEL - 1) / RG_PANEL;
    for (size_t first = 0, end; first < panels; first = end) {
        end = first + group_of(panels - first);
        by_panels(p, at, runs, used, first, end);
    }
}

static void multiply(const product *p, size_t M)
{
    size_t blocks = (p->K + BLOCK_K - 1) / BLOCK_K;
    size_t cut = blocks ? (p->K + blocks - 1) / blocks : 1; /* equal blocks */
    size_t high = block_rows(M);
    for (size_t m = 0; m < M; m += high)
        for (size_t k = 0; k < p->K || k == 0; k += cut) {
            block at = {m, M - m < high ? M - m : high, k, p->K - k < cut ? p->K - k : cut, k};
            by_block(p, &at);
        }
}

void ISA(gemm_packed)(size_t M, size_t N, size_t K, const float *a, size_t lda, const float *panels, float *c,
                      size_t ldc, bool add, const float *bias, rg_activation f)
{
    product p = {N, K, a, lda ? lda : 1, panels, c, ldc, add, bias, f};
    multiply(&p, M);
}

void ISA(gemm_tiles)(size_t M, size_t N, size_t K, const float *tiles, const float *panels, float *c, size_t ldc,
                     bool add)
{
    product p = {N, K, tiles, 0, panels, c, ldc, add, NULL, RG_IDENTITY};
    multiply(&p, M);
}

/* A group of panels stays in L2 while all windows pass; the C of a line of them stays in L1 from run to run. */
void ISA(gemm_windows)(const rg_windows *a, size_t N, const float *panels, float *c, size_t ldc, const float *bias,
                       rg_activation f)
{
    run runs[3];
    size_t used = plan(runs, a->across), count = (N + RG_PANEL - 1) / RG_PANEL;
    for (size_t first = 0, end; first < count; first = end) {
        end = first + group_of(count - first);
        for (size_t y = 0; y < a->down; y++) {
            product p = {N, a->lines * a->run, a->a + y * a->fall, a->step, panels, c + y * a->across * ldc, ldc, false,
                         bias, f};
            for (size_t l = 0; l < a->lines; l++) {
                block at = {0, a->across, l * a->run, a->run, l * a->line};
                by_panels(&p, &at, runs, used, first, end);
            }
        }
    }
}
