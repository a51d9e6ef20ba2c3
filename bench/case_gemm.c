/* case_gemm.c - the products of training, operands not packed: six layers, 256 to 4096 rows, three products each (54
 * shapes).
 *
 *     forward           Y  (R, O) = X (R, I) W (I, O)      NN
 *     input gradient    dX (R, I) = dY (R, O) W^T          NT
 *     weight gradient   dW (I, O) = X^T dY                 TN */
#include "bench.h"

#include "tensor/product.h"

static const size_t rows[] = {256, 1024, 4096};
static const size_t layers[][2] = {{256, 256}, {256, 1024}, {1024, 256}, {512, 512}, {512, 2048}, {2048, 512}};
static const char  *const names[] = {"NN", "NT", "TN"};

typedef struct gemm {
    rg_product_form form;
    size_t          M, N, K, lda, ldb;
    rg_real        *a, *b, *c;
    rg_team        *team;
} gemm;

static gemm shape_of(size_t index)
{
    size_t R = rows[index / 18], I = layers[index / 3 % 6][0], O = layers[index / 3 % 6][1];
    switch (index % 3) {
    case 0: return (gemm){.form = RG_NN, .M = R, .N = O, .K = I, .lda = I, .ldb = O};
    case 1: return (gemm){.form = RG_NT, .M = R, .N = I, .K = O, .lda = O, .ldb = O};
    default: return (gemm){.form = RG_TN, .M = I, .N = O, .K = R, .lda = I, .ldb = O};
    }
}

static void describe(bench_row *out, size_t index)
{
    gemm g = shape_of(index);
    snprintf(out->name, sizeof out->name, "%s %zux%zux%zu", names[index % 3], g.M, g.N, g.K);
    snprintf(out->params, sizeof out->params, "\"form\": \"%s\", \"M\": %zu, \"N\": %zu, \"K\": %zu", names[index % 3],
             g.M, g.N, g.K);
    out->flops = 2.0 * (double)g.M * (double)g.N * (double)g.K;
}

static void teardown(void *state)
{
    gemm *g = state;
    rg_free(g->a);
    rg_free(g->b);
    rg_free(g->c);
}

static rg_status setup(void *state, size_t index, rg_team *team)
{
    gemm *g = state;
    *g = shape_of(index);
    g->team = team;
    g->a = rg_alloc_array(g->M * g->K, sizeof(rg_real));
    g->b = rg_alloc_array(g->K * g->N, sizeof(rg_real));
    g->c = rg_alloc_array(g->M * g->N, sizeof(rg_real));
    if (!g->a || !g->b || !g->c) return RG_ENOMEM;
    bench_fill(g->a, g->M * g->K, 1);
    bench_fill(g->b, g->K * g->N, 2);
    return RG_OK;
}

static rg_status run(void *state)
{
    gemm *g = state;
    return rg_product(g->team, g->form, g->M, g->N, g->K, g->a, g->lda, g->b, g->ldb, g->c, g->N, false);
}

static double check(void *state)
{
    gemm *g = state;
    return bench_mean_abs(g->c, g->M * g->N);
}

const bench_case bench_case_gemm = {
    .name = "gemm",
    .summary = "products of training, nothing packed beforehand",
    .rows = 54,
    .describe = describe,
    .bytes = sizeof(gemm),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
