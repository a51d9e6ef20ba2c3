/* isa.h - the functions one instruction set's table is made of; each is called rg_<isa>_<name>. */
#ifndef RG_TENSOR_KERNELS_ISA_H
#define RG_TENSOR_KERNELS_ISA_H

#include "tensor/kernels.h"

#define PASTE_(a, b, c) a##b##c
#define PASTE(a, b, c) PASTE_(a, b, c)
#define ISA(name) PASTE(rg_, RG_ISA, _##name)

/* Rows of at most half a register go to a table with half as wide registers, whose functions have the same bits:
 * AVX-512 to AVX2, AVX2 to `slim`, four lanes with FMA, which has nothing else (kernels.cmake). Stores of parts of a
 * register would keep later loads waiting.
 *
 *     NARROW(d, heads_dot, (H, d, e, ...))     and nothing more is done when d fits */
#if defined(RG_ISA_avx512)
#define BELOW(name) rg_avx2_##name
#elif defined(RG_ISA_avx2)
#define BELOW(name) rg_slim_##name
#endif
#ifdef BELOW
#define NARROW(n, name, arguments)               \
    if ((n) <= RG_LANES / 2) {                   \
        extern __typeof__(ISA(name)) BELOW(name); \
        BELOW(name) arguments;                   \
        return;                                  \
    }
#else
#define NARROW(n, name, arguments)
#endif

/* gemm.c */
void ISA(gemm_packed)(size_t M, size_t N, size_t K, const float *a, size_t lda, const float *panels, float *c,
                      size_t ldc, bool add, const float *bias, rg_activation f);
void ISA(gemm_windows)(const rg_windows *a, size_t N, const float *panels, float *c, size_t ldc, const float *bias,
                       rg_activation f);
void ISA(gemm_tiles)(size_t M, size_t N, size_t K, const float *tiles, const float *panels, float *c, size_t ldc,
                     bool add);

/* bf16.c */
void ISA(gemm_bf16)(size_t M, size_t N, size_t K, const float *a, size_t lda, const uint16_t *panels, float *c,
                    size_t ldc, bool add, const float *bias);

/* pack.c */
void ISA(pack_tiles)(float *tiles, const float *a, size_t row, size_t step, size_t M, size_t K);
void ISA(pack)(float *panels, const float *b, size_t ldb, size_t K, size_t N);
void ISA(pack_transposed)(float *panels, const float *b, size_t ldb, size_t K, size_t N);

/* map.c */
void ISA(map)(rg_activation f, size_t n, float *y, const float *x);
void ISA(map_backward)(rg_activation f, size_t n, float *dx, const float *x, const float *y, const float *dy, bool add);

/* vectors.c */
void  ISA(add)(size_t n, float *z, const float *x, const float *y);
void  ISA(mul)(size_t n, float *z, const float *x, const float *y, bool add);
void  ISA(axpy)(size_t n, float *y, float a, const float *x);
void  ISA(scale)(size_t n, float *y, float a, const float *x);
float ISA(dot)(size_t n, const float *x, const float *y);
float ISA(sum)(size_t n, const float *x);
float ISA(max)(size_t n, const float *x);

/* rows.c */
float ISA(softmax)(size_t n, float *y, const float *x);
void  ISA(softmax_backward)(size_t n, float *dx, const float *a, const float *da, bool add);
void ISA(norm)(size_t n, float *y, float *mean, float *rstd, const float *x, const float *g, const float *b, float eps);
void ISA(norm_backward)(size_t n, float *dx, float *dg, float *db, const float *x, float mean, float rstd,
                        const float *g, const float *dy, bool add);

/* attention.c */
void  ISA(gemm_ranges)(size_t M, size_t N, const float *a, size_t row, size_t step, const size_t *low,
                      const size_t *high, const float *panels, size_t panel, float *c, size_t ldc, bool add);
void  ISA(exps)(size_t n, float *y, const float *x, float shift);
void  ISA(weigh_rows)(size_t M, float *e, size_t ld, const size_t *low, const size_t *high, float *share, float *top);
void  ISA(slope_rows)(size_t M, float *d, size_t ldd, const float *a, size_t lda, const size_t *low, const size_t *high,
                      const float *level, const float *factor);

/* heads.c */
void ISA(heads_dot)(size_t H, size_t d, float *e, size_t e_step, float scale, const float *x, size_t x_step,
                    const float *y, size_t y_step);
void ISA(rows_dot)(size_t n, size_t d, float *e, float scale, const float *y, const float *x, size_t ld,
                   const int32_t *row);
void ISA(rows_sum)(size_t n, size_t d, float *y, const float *a, const float *x, size_t ld, const int32_t *row);
void ISA(heads_axpy)(size_t H, size_t d, float *y, size_t y_step, const float *a, size_t a_step, const float *x,
                     size_t x_step);
void ISA(columns_softmax)(size_t n, size_t H, float *y, const float *x);
void ISA(columns_softmax_backward)(size_t n, size_t H, float *dx, const float *a, const float *da, bool add);

/* lists.c */
void ISA(lists_mix)(size_t n, size_t H, size_t d, float *y, bool add, const float *a, size_t lda, const size_t *pair,
                    const float *x, size_t ldx, const int32_t *row, size_t more);
void ISA(lists_sum)(size_t n, size_t H, float *y, bool add, const float *x, const size_t *pair);
void ISA(lists_expand)(size_t n, size_t H, float *a, const uint8_t *bits, const float *value, float factor,
                       const size_t *pair, size_t from);

/* edges.c */
void ISA(edges_weigh)(size_t queries, const size_t *first, const int32_t *key, size_t H, float *a, const float *u,
                      size_t ldu, const float *z, size_t ldz, float slope, const float *bias, float *seats,
                      const uint8_t *bits, float factor);
void ISA(edges_back)(size_t n, size_t H, size_t d, float *ds, float *a, float *dz, const size_t *pair,
                     const int32_t *query, const float *seats, const float *dout, size_t ldo, const float *z,
                     const float *v, float slope, const float *bias, const uint8_t *bits, float factor, size_t more);

/* additive.c */
float ISA(additive)(rg_activation f, size_t n, const float *x, const float *y, const float *v);
void  ISA(additive_backward)(rg_activation f, size_t n, float *dx, float *dy, float *dv, const float *x, const float *y,
                            const float *v, float de);

/* memory.c */
void  ISA(rewrite)(size_t n, float *y, const float *m, float e, float a, const float *w);
void  ISA(rewrite_backward)(size_t n, float *dm, float *dw, float *de, float *da, const float *dy, const float *m,
                           float e, float a, const float *w);
float ISA(axpy_dot)(size_t n, float *y, float a, const float *x, const float *z);

/* dropout.c */
void ISA(dropout)(size_t n, float *y, const float *x, float p, const uint32_t key[2], uint64_t stream,
                  uint64_t position, bool add);
void ISA(dropout_mask)(size_t n, uint8_t *bits, float p, const uint32_t key[2], uint64_t stream, uint64_t position);
void ISA(dropout_by)(size_t n, float *y, const float *x, float p, const uint8_t *bits, bool add);
void ISA(dropout_bits)(size_t bytes, uint8_t *bits, float p, const uint32_t key[2], uint64_t stream, uint64_t position);

/* gates.c */
extern const rg_gates ISA(gates);

#endif
