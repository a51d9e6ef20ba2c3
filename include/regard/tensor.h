/* tensor.h - everything is rows.
 *
 * A tensor is a matrix: `rows` x `cols`, a row being a token, a node, a pixel, a region, a memory slot. A layout says
 * how rows belong together: sentence g is rows start[g] .. start[g+1]-1. There is no padding anywhere.
 *
 *   layout.start = { 0, 3, 5, 9 }        rows      0 1 2 | 3 4 | 5 6 7 8        three sentences of 3, 2 and 4 words */
#ifndef REGARD_TENSOR_H
#define REGARD_TENSOR_H

#include "regard/base.h"

RG_API_BEGIN

typedef struct rg_tensor rg_tensor;

/* How rows group. Plain data; `start` is borrowed and must outlive what uses it. */
typedef struct rg_layout {
    size_t         groups;
    const int32_t *start;         /* groups + 1 rising row numbers, start[0] = 0                     */
    size_t         height, width; /* of one picture: every group then has height * width rows; or 0   */
    uint64_t       first;         /* number of row 0 in the whole batch; a worker's share starts there */
} rg_layout;

/* Accessors. All take NULL (a failed op's result) and answer 0 or NULL. */
size_t           rg_tensor_rows(const rg_tensor *x);
size_t           rg_tensor_cols(const rg_tensor *x);
size_t           rg_tensor_ld(const rg_tensor *x); /* distance of two rows in numbers */
const rg_layout *rg_tensor_layout(const rg_tensor *x);
const rg_real   *rg_tensor_data(const rg_tensor *x);
const rg_real   *rg_tensor_row(const rg_tensor *x, size_t row);
rg_real          rg_tensor_at(const rg_tensor *x, size_t row, size_t col);

/* The functions of one number that layers apply. One table (src/tensor/activations.c) holds each with its
 * derivative. */
typedef enum rg_activation {
    RG_IDENTITY,
    RG_RELU,
    RG_LEAKY_RELU, /* x > 0 ? x : 0.2 x (the slope of graph attention) */
    RG_ELU,        /* x > 0 ? x : exp(x) - 1                           */
    RG_GELU,       /* x/2 (1 + erf(x / sqrt 2))                         */
    RG_TANH,
    RG_SIGMOID,
    RG_SOFTPLUS,   /* log(1 + exp(x)) */
    RG_EXP,
    RG_LOG,
    RG_SWISH,      /* x sigmoid(x), also called SiLU                    */
    RG_GELU_TANH,  /* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), GPT-2's approximation of gelu */
    RG_ACTIVATIONS /* how many */
} rg_activation;

const char *rg_activation_name(rg_activation f);
rg_status   rg_activation_find(rg_activation *out, const char *name);

/* The inner loops exist once per instruction set; the best one of this machine is chosen at the first use, or by
 * REGARD_CPU. */
const char *rg_kernels_name(void);        /* of the chosen one: "avx2" */
const char *rg_kernels_name_at(size_t i); /* of all that this machine can run, i = 0, 1, ...; NULL past the last */
rg_status   rg_kernels_check(void);       /* RG_EINVAL lists them when REGARD_CPU names none of them (the best is used then) */

RG_API_END
#endif
