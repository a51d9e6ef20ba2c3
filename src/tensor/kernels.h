/* kernels.h - the loops everything else is made of: plain functions on arrays.
 *
 * Each is written once (src/tensor/kernels/, GCC vector types) and compiled for every instruction set; the table of the
 * best one this machine has is chosen at start-up, or by REGARD_CPU=plain|baseline|avx2|avx512|neon. `plain` is the same
 * list in ordinary loops: the reference of the tests, and the only table of the library that is compiled in double. No
 * other is slower than the one below it (test_kernels_speed). `wide` is AVX-512's width compiled for AVX2: slow, there to
 * be tested, in sanitized builds on machines without AVX-512.
 *
 * To add a kernel: a line in rg_kernels, a function in plain.c, one in kernels/, and its name in both tables.
 *
 * Two rules make results independent of batch mates, blocking and threads:
 *   - a product's output element is ONE chain of fused multiply-adds over k in rising order;
 *   - a reduction over a row puts element j into lane j mod 16 on every instruction set, then folds the lanes in one
 *     fixed order. */
#ifndef RG_TENSOR_KERNELS_H
#define RG_TENSOR_KERNELS_H

#include "regard/tensor.h"
#include "tensor/gates.h"

/* Functions whose slope does not follow from their result: the backward pass reads what went in. */
static inline bool rg_slope_reads_input(rg_activation f) { return f == RG_GELU || f == RG_GELU_TANH || f == RG_SWISH; }

/* A word of a list of tables that a build may leave out (cmake/kernels.cmake). */
#ifdef RG_WITHOUT_WIDE
#define RG_WIDE(...)
#else
#define RG_WIDE(...) __VA_ARGS__
#endif

/* Weights packed once: panels of RG_PANEL output columns, k-major, so that a product reads them in order.
 *
 *   B (K, N) row-major           panel p, row k:  B[k][16p .. 16p+15]        (the last panel is filled up with zeros)
 */
enum { RG_PANEL = 16 };

struct rg_small; /* weights of one or two bytes: int8.h */

typedef struct rg_pack {
    size_t                 K, N;
    const rg_real         *data;  /* rg_pack_size(K, N) numbers                             */
    const struct rg_small *small; /* or, when data is NULL, the same weights in fewer bytes */
} rg_pack;

static inline bool rg_pack_there(const rg_pack *pack) { return pack->data || pack->small; }

size_t rg_pack_size(size_t K, size_t N); /* in numbers */

/* Rows of A that are windows of a picture, read where they lie: `down` times `across` rows, `step` numbers from one
 * window to the next of its line and `fall` from line to line; each is `lines` runs of `run` numbers, `line` apart. */
typedef struct rg_windows {
    const rg_real *a;
    size_t         across, down, step, fall;
    size_t         lines, run, line;
} rg_windows;

typedef struct rg_kernels {
    const char *name;

    /* products -- C (M, N) = f(A (M, K) B + bias), or C += A B. Rows of A, B, C are lda, ldb, ldc apart; K may be 0.
     * With `add` a chain starts from C, otherwise from 0; the bias (may be NULL) is added at the end, then f applied.
     * One caller, no threads; product.h splits the work over a team. */
    void (*gemm_packed)(size_t M, size_t N, size_t K, const rg_real *a, size_t lda, const rg_real *panels,
                        rg_real *c, size_t ldc, bool add, const rg_real *bias, rg_activation f);
    /* The same, C = f(A B + bias), for windows: K is lines * run, and the bits are those of gemm_packed on the runs
     * written side by side. */
    void (*gemm_windows)(const rg_windows *a, size_t N, const rg_real *panels, rg_real *c, size_t ldc,
                         const rg_real *bias, rg_activation f);
    /* The same with weights in bfloat16, the upper halves of floats: the bits of gemm_packed on those floats. */
    void (*gemm_bf16)(size_t M, size_t N, size_t K, const rg_real *a, size_t lda, const uint16_t *panels, rg_real *c,
                      size_t ldc, bool add, const rg_real *bias);
    void (*pack)(rg_real *panels, const rg_real *b, size_t ldb, size_t K, size_t N);            /* panels of B          */
    void (*pack_transposed)(rg_real *panels, const rg_real *b, size_t ldb, size_t K, size_t N); /* of B^T; B is (N, K)  */

    /* The left side in the order the product reads it, M * K numbers: tiles of rows, k-major inside a tile. Element
     * (m, k) of A is a[m * row + k * step], so row = lda, step = 1 packs A and row = 1, step = lda packs a
     * transposed A. How tall tiles are is the table's secret: only gemm_tiles of the same table, with the same M,
     * can read them. */
    void (*pack_tiles)(rg_real *tiles, const rg_real *a, size_t row, size_t step, size_t M, size_t K);
    void (*gemm_tiles)(size_t M, size_t N, size_t K, const rg_real *tiles, const rg_real *panels, rg_real *c,
                       size_t ldc, bool add);

    /* y[i] = f(x[i]), and dx[i] (+)= f'(x[i]) dy[i] with f' taken from y = f(x); x is read only where
     * rg_slope_reads_input (elsewhere it may be NULL). y may be x; dx may be dy. */
    void (*map)(rg_activation f, size_t n, rg_real *y, const rg_real *x);
    void (*map_backward)(rg_activation f, size_t n, rg_real *dx, const rg_real *x, const rg_real *y, const rg_real *dy,
                         bool add);

    /* vectors */
    void    (*add)(size_t n, rg_real *z, const rg_real *x, const rg_real *y);                    /* z = x + y       */
    void    (*mul)(size_t n, rg_real *z, const rg_real *x, const rg_real *y, bool add);          /* z (+)= x y      */
    void    (*axpy)(size_t n, rg_real *y, rg_real a, const rg_real *x);                          /* y += a x        */
    void    (*scale)(size_t n, rg_real *y, rg_real a, const rg_real *x);                         /* y  = a x        */
    rg_real (*dot)(size_t n, const rg_real *x, const rg_real *y);
    rg_real (*sum)(size_t n, const rg_real *x);
    rg_real (*max)(size_t n, const rg_real *x); /* n >= 1 */

    /* rows: y = softmax(x) with the maximum taken out; returns log sum exp(x). y may be x, or NULL: only the sum is
     * wanted. n = 0 is allowed: -inf. A row of -inf (nothing open) gives zeros and -inf. */
    rg_real (*softmax)(size_t n, rg_real *y, const rg_real *x);
    /* dx (+)= a (da - sum a da) */
    void (*softmax_backward)(size_t n, rg_real *dx, const rg_real *a, const rg_real *da, bool add);
    /* y = g (x - mean) / sqrt(var + eps) + b; keeps mean and 1/sqrt(var + eps) */
    void (*norm)(size_t n, rg_real *y, rg_real *mean, rg_real *rstd, const rg_real *x, const rg_real *g,
                 const rg_real *b, rg_real eps);
    /* dx (+)= rstd (g dy - mean(g dy) - xhat mean(g dy xhat));  dg += dy xhat;  db += dy   (dg, db may be NULL) */
    void (*norm_backward)(size_t n, rg_real *dx, rg_real *dg, rg_real *db, const rg_real *x, rg_real mean, rg_real rstd,
                          const rg_real *g, const rg_real *dy, bool add);

    /* attention -- row m of C (M, N) (+)= sum over k = low[m] .. high[m]-1 of a[m * row + k * step] B[k], one chain
     * over its own k in rising order. What stands outside a row's range is never touched by it, not even as a zero
     * times something. B is in panels, `panel` numbers from one to the next (K * RG_PANEL when all of a pack is
     * used). */
    void (*gemm_ranges)(size_t M, size_t N, const rg_real *a, size_t row, size_t step, const size_t *low,
                        const size_t *high, const rg_real *panels, size_t panel, rg_real *c, size_t ldc, bool add);
    /* Scores to weights, row m from low[m] to high[m]: e = exp(e - max), share = 1 / sum, top = max; a row of
     * nothing, or of -inf only: zeros, 0 and -inf. Up to 15 numbers past the end of a row are read and written back
     * unchanged. */
    void (*weigh_rows)(size_t M, rg_real *e, size_t ld, const size_t *low, const size_t *high, rg_real *share,
                       rg_real *top);
    void (*exps)(size_t n, rg_real *y, const rg_real *x, rg_real shift); /* y = exp(x - shift); y may be x */
    /* d = factor a (d - level), row m from low[m] to high[m]: softmax backward where level = sum a d is already
     * known. Past the end as above. */
    void (*slope_rows)(size_t M, rg_real *d, size_t ldd, const rg_real *a, size_t lda, const size_t *low,
                       const size_t *high, const rg_real *level, const rg_real *factor);

    /* heads -- H blocks of d numbers of a row at once; *_step is from one head to the next, 0 when all share it. */
    void (*heads_dot)(size_t H, size_t d, rg_real *e, size_t e_step, rg_real scale, const rg_real *x, size_t x_step,
                      const rg_real *y, size_t y_step); /* e_h = scale x_h . y_h */
    void (*heads_axpy)(size_t H, size_t d, rg_real *y, size_t y_step, const rg_real *a, size_t a_step, const rg_real *x,
                       size_t x_step); /* y_h += a_h x_h */
    /* a query over a list of n rows of x, ld apart: e_p = scale y . x[row_p], and y = sum of a_p x[row_p], one chain
     * in the order of the list. */
    void (*rows_dot)(size_t n, size_t d, rg_real *e, rg_real scale, const rg_real *y, const rg_real *x, size_t ld,
                     const int32_t *row);
    void (*rows_sum)(size_t n, size_t d, rg_real *y, const rg_real *a, const rg_real *x, size_t ld, const int32_t *row);
    /* softmax of each of the H columns of n rows, and its backward; y may be x, dx may be da. A column of -inf gives
     * zeros. */
    void (*columns_softmax)(size_t n, size_t H, rg_real *y, const rg_real *x);
    void (*columns_softmax_backward)(size_t n, size_t H, rg_real *dx, const rg_real *a, const rg_real *da, bool add);

    /* lists -- y (H blocks of d) (+)= sum over t < n of a_h x_h: row t of `a` times row row[t] of `x`, or, when
     * `pair` is given, row pair[t] of `a` times row row[pair[t]] of `x`; one chain over t in rising order. `more`:
     * so many entries follow the n in `row` (or `pair`), whose rows will be wanted next and are far away; 0 when the
     * nearest caches hold everything. */
    void (*lists_mix)(size_t n, size_t H, size_t d, rg_real *y, bool add, const rg_real *a, size_t lda,
                      const size_t *pair, const rg_real *x, size_t ldx, const int32_t *row, size_t more);
    /* y (H) (+)= sum over t of row pair[t] of x (., H), or of row t when `pair` is NULL */
    void (*lists_sum)(size_t n, size_t H, rg_real *y, bool add, const rg_real *x, const size_t *pair);
    /* a (n, H) = value[p] * factor where bit p * H + h of `bits` is set, else 0; p is pair[t], or from + t when
     * `pair` is NULL */
    void (*lists_expand)(size_t n, size_t H, rg_real *a, const uint8_t *bits, const rg_real *value, rg_real factor,
                         const size_t *pair, size_t from);

    /* Graph attention's weights of some queries, whose pairs are first[0] .. first[queries] - 1; key and a begin at
     * pair first[0], u and seats at the first query.
     *
     *     w = softmax over the pairs of a query of f(u_i + z_j) + bias_p     f(s) = s, below 0: slope s
     *     a = w, with dropout: w factor, or 0
     *
     * `bias` begins at pair first[0] too, one number for all heads; NULL: 0.
     *
     * Bit p * H + h of `bits` says whether pair p keeps head h's weight; NULL: all are kept, and factor is 1. Unless
     * `seats` is NULL, a f'(s) of all pairs follows `a`, and each query gets its seat, 4 H numbers: u, top (the
     * largest f + bias) and share (1 / the sum of exponentials), which make w again, and the sum of w f'(s). */
    void (*edges_weigh)(size_t queries, const size_t *first, const int32_t *key, size_t H, rg_real *a, const rg_real *u,
                        size_t ldu, const rg_real *z, size_t ldz, rg_real slope, const rg_real *bias, rg_real *seats,
                        const uint8_t *bits, rg_real factor);
    /* Back to one key with values v (H blocks of d) from n pairs that end at it, pair[t] of query query[t]. The last H
     * of a seat now hold its level, the sum over the query's pairs of a da, which is out_i . dout_i. With da = dout_i .
     * v:
     *
     *     g = factor da where kept, else 0        ds = f'(s) w (g - level)  to row pair[t] of ds (., H)
     *     dz (H) += ds                            a (n, H): as in forward
     *
     * ds NULL: not stored. `bias` of all pairs. `more` as for lists_mix. */
    void (*edges_back)(size_t n, size_t H, size_t d, rg_real *ds, rg_real *a, rg_real *dz, const size_t *pair,
                       const int32_t *query, const rg_real *seats, const rg_real *dout, size_t ldo, const rg_real *z,
                       const rg_real *v, rg_real slope, const rg_real *bias, const uint8_t *bits, rg_real factor,
                       size_t more);

    /* Dropout of n numbers that start at `position` of a Philox stream: keep with probability 1-p and divide by 1-p.
     * The draw of element i depends on key, stream and position + i alone: with e = position + i it is word e mod 4
     * of the Philox block whose counter is (e / 4 low, e / 4 high, stream low, stream high). y may be x. */
    void (*dropout)(size_t n, rg_real *y, const rg_real *x, rg_real p, const uint32_t key[2], uint64_t stream,
                    uint64_t position, bool add);

    /* The same mask kept: bit i says whether element position + i stays ((n + 7) / 8 bytes, bits past n are 0); and
     * y (+)= x / (1 - p) where it does, 0 elsewhere. */
    void (*dropout_mask)(size_t n, uint8_t *bits, rg_real p, const uint32_t key[2], uint64_t stream, uint64_t position);
    void (*dropout_by)(size_t n, rg_real *y, const rg_real *x, rg_real p, const uint8_t *bits, bool add);

    /* Another mask, two draws a word: byte i is block position + i; bit 2 k + h: half h (0: low) of word k is at
     * least p 2^16, rounded; set: keep. */
    void (*dropout_bits)(size_t bytes, uint8_t *bits, rg_real p, const uint32_t key[2], uint64_t stream,
                         uint64_t position);

    const rg_gates *gates; /* rows of recurrent steps */

    /* The additive score of one pair and head: sum of v f(x + y), and from its gradient de:  g = de v f'(x + y),  dx += g,  dy += g,
     * dv += de f(x + y). Nothing of the pair is stored. */
    rg_real (*additive)(rg_activation f, size_t n, const rg_real *x, const rg_real *y, const rg_real *v);
    void (*additive_backward)(rg_activation f, size_t n, rg_real *dx, rg_real *dy, rg_real *dv, const rg_real *x,
                              const rg_real *y, const rg_real *v, rg_real de);

    /* memories -- a column m of n slots, written by a head with weights w: y = m - e m w + a w (y may be m), and
     * from dy: dm = dy - e w dy (may be dy), dw += a dy - e m dy, *de = - w . (m dy), *da = w . dy. */
    void (*rewrite)(size_t n, rg_real *y, const rg_real *m, rg_real e, rg_real a, const rg_real *w);
    void (*rewrite_backward)(size_t n, rg_real *dm, rg_real *dw, rg_real *de, rg_real *da, const rg_real *dy,
                             const rg_real *m, rg_real e, rg_real a, const rg_real *w);
    /* y += a x; returns x . z */
    rg_real (*axpy_dot)(size_t n, rg_real *y, rg_real a, const rg_real *x, const rg_real *z);
} rg_kernels;

/* Dropout keeps an element whose 32-bit draw is at least rg_dropout_least(p), times rg_dropout_factor(p). All tables
 * use these two, so that a mask does not depend on the machine. */
uint32_t rg_dropout_least(rg_real p);
rg_real  rg_dropout_factor(rg_real p);

/* The chosen table, the same for the life of the process. Never NULL. */
const rg_kernels *rg_kernel(void);

/* Every table this machine can run, for tests and benchmarks; ends with NULL. The first is `plain`. */
const rg_kernels *const *rg_kernels_all(void);

#endif
