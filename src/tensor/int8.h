/* int8.h - weights in one byte each, or two: packs for products that answer and never learn.
 *
 *     w (k, n) = q (k, n) scale (n)      q = w 127 / max |w (., n)|, to the nearest of -127 .. 127, even at a tie
 *     x (m, k) = p (m, k) scale (m)      rows of the left side likewise, each when it comes
 *     y (m, n) = sum over k of p q  *  (scale (m) scale (n))  + bias (n)
 *
 * The sum is of integers and exact: RG_INT8_MOST_K products of 128 * 128 fit 32 bits. Quantising and scaling are single
 * operations that IEEE 754 rounds, and their file is compiled without contraction. So all instruction sets give the
 * same bits, and a row's result depends on that row alone.
 *
 * How integers are multiplied. `vnni` (vpdpbusd) takes four unsigned by four signed bytes: rows are kept as p + 128 and
 * every sum starts from
 * -128 times the sum of its column. `neondot` (sdot) takes signed ones. All others widen both sides to 16 bits and add pairs (pmaddwd,
 * exact). vpmaddubsw, which AVX2 also has, adds pairs of products of bytes in 16 bits and clamps them: 255 * 127 * 2
 * does not fit; it would need weights or rows of 7 bits, and with those the answers of one machine would not be the
 * answers of another. */
#ifndef RG_TENSOR_INT8_H
#define RG_TENSOR_INT8_H

#include <string.h>

#include "tensor/kernels.h"

enum {
    RG_INT8_MOST_K = 131071, /* 128 * 128 * this < 2^31 */
    RG_INT8_GROUP_MOST = 4
};

/* The right side as loops read it: panels of RG_PANEL columns; in a panel, groups of `group` values of k; in a
 * group, its k of column 0, of column 1, ... Ends are filled up with zeros, scale and start to whole panels too. */
typedef struct rg_int8_right {
    const int8_t  *panels;
    const float   *scale;
    const int32_t *start; /* what a sum starts from */
} rg_int8_right;

typedef struct rg_int8_loops {
    const char *name;
    size_t      group;  /* 2 or 4 */
    int32_t     offset; /* added to rows of the left side: 128 or 0 */

    /* One row of the left side, rg_int8_left_bytes() long. *scale: 0 for a row whose numbers are all below 2^-100,
     * not a number for a row that holds one that is infinite or not a number; its results are so too. */
    void (*quantize)(size_t K, void *left, float *scale, const rg_real *x);
    /* C (M, N) = or += left times right; bias may be NULL. */
    void (*gemm)(size_t M, size_t N, size_t K, const void *left, const float *left_scale, const rg_int8_right *right,
                 rg_real *c, size_t ldc, bool add, const rg_real *bias);
} rg_int8_loops;

/* The loops of the chosen kernel table, with the machine's dot product instruction where that table may use it.
 * Never NULL. */
const rg_int8_loops *rg_int8(void);
/* Every one that this machine can run, for tests and benchmarks; ends with NULL. The first is `plain`. */
const rg_int8_loops *const *rg_int8_all(void);

static inline size_t rg_int8_groups(const rg_int8_loops *l, size_t K) { return (K + l->group - 1) / l->group; }
/* From one row to the next: 4 bytes a group, whole cache lines. */
static inline size_t rg_int8_left_bytes(const rg_int8_loops *l, size_t K)
{
    return (rg_int8_groups(l, K) * 4 + 63) / 64 * 64;
}
static inline size_t rg_int8_panel_bytes(const rg_int8_loops *l, size_t K)
{
    return rg_int8_groups(l, K) * l->group * RG_PANEL;
}

/* 127 / the largest magnitude, of which `most` is the bits, and *scale its inverse; 0 when nothing but zeros can be
 * stored. */
static inline float rg_int8_inverse(float *scale, uint32_t most)
{
    float largest;
    memcpy(&largest, &most, sizeof largest);
    const uint32_t infinite = 0x7F800000u, tiny = 0x0D800000u; /* 2^-100 */
    if (most >= infinite) {
        *scale = largest - largest; /* not a number */
        return 0;
    }
    *scale = most < tiny ? 0 : largest / 127.0f;
    return most < tiny ? 0 : 127.0f / largest;
}

static inline uint32_t rg_int8_magnitude(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & 0x7FFFFFFFu;
}

/* The nearest integer, even at a tie, of |x| < 2^22: behind 1.5 * 2^23 a float has no fraction. Two roundings, never
 * one: no contraction. */
static inline int32_t rg_int8_round(float x)
{
    const float moved = x + 12582912.0f;
    int32_t     bits;
    memcpy(&bits, &moved, sizeof bits);
    return bits - 0x4B400000;
}

/* ------------------------------------------------------------------------------------------------------ weights */

typedef enum rg_small_kind { RG_SMALL_INT8, RG_SMALL_BF16 } rg_small_kind;

/* Weights (K, N) in few bytes. In bfloat16, panels as those of rg_pack; the arithmetic is that of float on the
 * rounded weights. */
typedef struct rg_small {
    rg_small_kind kind;
    size_t        K, N;
    void         *block; /* one allocation: panels, scale, start */
    rg_int8_right right; /* of int8 */
    const uint16_t *halves; /* of bfloat16 */
} rg_small;

rg_status rg_small_init(rg_small *out, rg_small_kind kind, size_t K, size_t N); /* zeros; RG_ELIMIT, RG_ENOMEM */
void      rg_small_fini(rg_small *s);
size_t    rg_small_bytes(const rg_small *s);

/* Columns from .. from + count of the right side, each of K numbers; element (k, n) is w[k * row + (n - from) *
 * step]. The scales are made of the numbers. */
void rg_small_set(rg_small *s, size_t from, size_t count, const float *w, size_t row, size_t step);
/* The same of int8 with scales that are there, and back; columns 0 .. N. */
void rg_small_put_int8(rg_small *s, const int8_t *q, size_t row, size_t step, const float *scale);
void rg_small_get_int8(const rg_small *s, int8_t *q, size_t row, size_t step, float *scale);
/* Column j becomes column ids[j] of `from`, which is of the same kind and K; columns 0 .. N. */
void rg_small_pick(rg_small *s, const rg_small *from, const int32_t *ids);
/* y[k] = w (k, n) for one column; y[n] = w (k, n) for one k. */
void rg_small_column(const rg_small *s, size_t n, rg_real *y);
void rg_small_row(const rg_small *s, size_t k, rg_real *y);

uint16_t rg_bf16_round(float x); /* to the nearest, even at a tie; the largest floats are cut, not made infinite */

static inline float rg_bf16_float(uint16_t half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float          x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
