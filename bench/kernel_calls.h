/* kernel_calls.h - every kernel of the table as a call on small, warm blocks, with the shapes it is timed on: for
 * test_kernels_speed.c, which compares neighbouring tables, and for case_kernels.c, which prints what they take. */
#ifndef RG_BENCH_KERNEL_CALLS_H
#define RG_BENCH_KERNEL_CALLS_H

#include <string.h>

#include "tensor/optimise.h"

/* ---------------------------------------------------------------------------------------------------- what is timed */

/* Sizes of a call: what a, b and c mean is up to the kernel. */
typedef struct kernel_shape {
    size_t a, b, c;
} kernel_shape;

typedef struct kernel_call {
    const rg_kernels  *k;
    const rg_optimise *o;
    kernel_shape       s;
    int                f; /* activation, rule or variant */
} kernel_call;

enum { ROOM = 1 << 16, LISTED = 64, NODES = 40 };
/* Blocks whose addresses differ in their last twelve bits: a load is kept waiting by a store to an address that only
 * looks like its own. */
static _Alignas(64) float pool[8][ROOM + 208];
static float *const x = pool[0], *const y = pool[1], *const z = pool[2], *const u = pool[3], *const v = pool[4],
                    *const w = pool[5], *const probabilities = pool[6], *const ones = pool[7];
static uint8_t  bits[ROOM];
static int32_t  rows[LISTED];
static size_t   pairs[LISTED], low[LISTED * 2], high[LISTED * 2], first[NODES + 1];
static uint32_t key[2] = { 0x12345678u, 0x9abcdef0u };
static volatile float sink;

static void fill(float *to, uint64_t seed, double least, double most)
{
    rg_random random = rg_random_new(seed, 7);
    for (size_t i = 0; i < ROOM; i++) to[i] = (float)(least + (most - least) * rg_random_uniform(&random));
}

/* Numbers for all calls: once. */
static void kernel_calls_prepare(void)
{
    fill(x, 1, -1, 1);
    fill(y, 2, -1, 1);
    fill(u, 3, -1, 1);
    fill(v, 4, 0.5, 1);
    fill(w, 5, -1, 1);
    fill(probabilities, 6, 0.01, 0.99);
    for (size_t i = 0; i < ROOM; i++) ones[i] = 1; /* gates that pass a gradient on as it is: others would make it vanish */
    for (size_t i = 0; i < ROOM; i++) bits[i] = (uint8_t)(i * 89 + 53);
    for (size_t i = 0; i < LISTED; i++) rows[i] = (int32_t)(i * 7 % 23), pairs[i] = i * 5 % LISTED;
    for (size_t i = 0; i < 2 * LISTED; i++) low[i] = 0;
    for (size_t i = 0; i <= NODES; i++) first[i] = i * 8 / 5; /* one or two pairs a query: Cora's nodes have few */
}

/* A row that was not written a moment ago: calls that write where they read would wait for each other. */
static float *another(float *block)
{
    static size_t turn;
    return block + (turn++ % 16) * (ROOM / 16 - 272);
}
static float *out(void) { return another(z); }

#define RUN(name) static void run_##name(const kernel_call *j)
#define N j->s.a

RUN(map) { j->k->map((rg_activation)j->f, N, out(), j->f == RG_LOG ? v : x); }
RUN(map_backward) { j->k->map_backward((rg_activation)j->f, N, out(), x, v, y, true); }
RUN(add) { j->k->add(N, out(), x, y); }
RUN(mul) { j->k->mul(N, out(), x, y, false); }
RUN(mul_add) { j->k->mul(N, out(), x, y, true); }
RUN(axpy) { j->k->axpy(N, z, 1e-9f, x); }
RUN(scale) { j->k->scale(N, out(), 0.5f, x); }
RUN(dot) { sink = j->k->dot(N, x, y); }
RUN(sum) { sink = j->k->sum(N, x); }
RUN(max) { sink = j->k->max(N, x); }
RUN(softmax) { sink = j->k->softmax(N, out(), x); }
RUN(log_sum) { sink = j->k->softmax(N, NULL, x); }
RUN(softmax_backward) { j->k->softmax_backward(N, out(), v, y, false); }
RUN(softmax_backward_add) { j->k->softmax_backward(N, out(), v, y, true); }
RUN(norm)
{
    float mean, rstd;
    j->k->norm(N, z, &mean, &rstd, x, v, y, 1e-5f);
    sink = mean + rstd;
}
RUN(norm_backward) { j->k->norm_backward(N, z, u, w, x, 0.1f, 1.2f, v, y, false); }
RUN(exps) { j->k->exps(N, out(), x, 0.5f); }
RUN(additive) { sink = j->k->additive((rg_activation)j->f, N, x, y, v); }
RUN(additive_backward) { j->k->additive_backward((rg_activation)j->f, N, z, u, w, x, y, v, 1e-9f); }
RUN(rewrite) { j->k->rewrite(N, out(), x, 0.5f, 0.2f, v); }
RUN(rewrite_backward)
{
    float de, da;
    j->k->rewrite_backward(N, z, u, &de, &da, y, x, 0.5f, 0.2f, v);
    sink = de + da;
}
RUN(axpy_dot) { sink = j->k->axpy_dot(N, z, 1e-9f, x, y); }
RUN(dropout) { j->k->dropout(N, out(), x, 0.4f, key, 7, 3, false); }
RUN(dropout_add) { j->k->dropout(N, out(), x, 0.4f, key, 7, 0, true); }
RUN(dropout_mask) { j->k->dropout_mask(N, bits, 0.4f, key, 7, 0); }
RUN(dropout_by) { j->k->dropout_by(N, out(), x, 0.4f, bits, false); }
RUN(dropout_bits) { j->k->dropout_bits((N + 7) / 8, bits, 0.4f, key, 7, 0); }

/* gates: u columns a gate */
RUN(lstm) { j->k->gates->lstm(N, out(), u, w, y); }
RUN(lstm_backward) { j->k->gates->lstm_backward(N, z, another(u), ones, x, y, w); }
RUN(gru_reset) { j->k->gates->gru_reset(N, out(), u, y); }
RUN(gru) { j->k->gates->gru(N, out(), u, y); }
RUN(gru_backward) { j->k->gates->gru_backward(N, z, another(u), ones, y); }
RUN(gru_reset_backward) { j->k->gates->gru_reset_backward(N, z, another(u), x, probabilities, y); }
RUN(gru_after) { j->k->gates->gru_after(N, out(), u, w, y, v, x); }
RUN(gru_after_backward) { j->k->gates->gru_after_backward(N, z, u, another(w), ones, x, y); }

/* products: M, N, K */
RUN(gemm_packed) { j->k->gemm_packed(j->s.a, j->s.b, j->s.c, x, j->s.c, y, z, j->s.b, false, v, (rg_activation)j->f); }
RUN(gemm_packed_add) { j->k->gemm_packed(j->s.a, j->s.b, j->s.c, x, j->s.c, y, z, j->s.b, true, NULL, RG_IDENTITY); }
RUN(gemm_windows)
{
    const rg_windows windows = { x, j->s.a, 1, j->s.c, j->s.c * j->s.a, 1, j->s.c, j->s.c };
    j->k->gemm_windows(&windows, j->s.b, y, z, j->s.b, v, RG_IDENTITY);
}
RUN(gemm_tiles) { j->k->gemm_tiles(j->s.a, j->s.b, j->s.c, x, y, z, j->s.b, false); }
RUN(gemm_ranges) { j->k->gemm_ranges(j->s.a, j->s.b, x, j->s.c, 1, low, high, y, j->s.c * RG_PANEL, z, j->s.b, false); }
RUN(gemm_ranges_causal)
{
    static size_t rising[LISTED * 2];
    for (size_t m = 0; m < j->s.a; m++) rising[m] = j->s.c * (m + 1) / j->s.a;
    j->k->gemm_ranges(j->s.a, j->s.b, x, j->s.c, 1, low, rising, y, j->s.c * RG_PANEL, z, j->s.b, true);
}
RUN(pack) { j->k->pack(z, x, j->s.b, j->s.c, j->s.b); }
RUN(pack_transposed) { j->k->pack_transposed(z, x, j->s.c, j->s.c, j->s.b); }
RUN(pack_tiles) { j->k->pack_tiles(z, x, j->s.c, 1, j->s.a, j->s.c); }
RUN(pack_tiles_transposed) { j->k->pack_tiles(z, x, 1, j->s.a, j->s.a, j->s.c); }

/* rows of attention weights: rows, columns */
RUN(weigh_rows)
{
    memcpy(z, x, j->s.a * (j->s.b + 16) * sizeof *z);
    j->k->weigh_rows(j->s.a, z, j->s.b + 16, low, high, u, w);
}
RUN(slope_rows) { j->k->slope_rows(j->s.a, z, j->s.b + 16, v, j->s.b + 16, low, high, u, w); }

/* heads: H, d, rows */
RUN(heads_dot) { j->k->heads_dot(j->s.a, j->s.b, z, 1, 0.5f, x, j->s.b, y, j->s.b); }
RUN(heads_axpy) { j->k->heads_axpy(j->s.a, j->s.b, out(), j->s.b, w, 1, x, j->s.b); }
RUN(rows_dot) { j->k->rows_dot(j->s.c, j->s.a * j->s.b, z, 0.5f, y, x, j->s.a * j->s.b, rows); }
RUN(rows_sum) { j->k->rows_sum(j->s.c, j->s.a * j->s.b, z, y, x, j->s.a * j->s.b, rows); }
RUN(columns_softmax) { j->k->columns_softmax(j->s.c, j->s.a, z, x); }
RUN(columns_softmax_backward) { j->k->columns_softmax_backward(j->s.c, j->s.a, z, v, y, false); }
RUN(lists_mix) { j->k->lists_mix(j->s.c, j->s.a, j->s.b, z, false, v, j->s.a, NULL, x, j->s.a * j->s.b, rows, 0); }
RUN(lists_mix_pairs)
{
    j->k->lists_mix(j->s.c, j->s.a, j->s.b, z, true, v, j->s.a, pairs, x, j->s.a * j->s.b, rows, 0);
}
RUN(lists_mix_far)
{
    j->k->lists_mix(j->s.c, j->s.a, j->s.b, z, false, v, j->s.a, NULL, x, j->s.a * j->s.b, rows, LISTED - j->s.c);
}
RUN(lists_sum) { j->k->lists_sum(j->s.c, j->s.a, z, false, x, NULL); }
RUN(lists_sum_pairs) { j->k->lists_sum(j->s.c, j->s.a, z, true, x, pairs); }
RUN(lists_expand) { j->k->lists_expand(j->s.c, j->s.a, z, bits, v, 2, NULL, 0); }
RUN(edges_weigh) { j->k->edges_weigh(NODES, first, rows, j->s.a, z, x, j->s.a, y, j->s.a, 0.2f, NULL, u, bits, 2); }
RUN(edges_weigh_bare)
{
    j->k->edges_weigh(NODES, first, rows, j->s.a, z, x, j->s.a, y, j->s.a, 0.2f, v, NULL, NULL, 1);
}
RUN(edges_back)
{
    j->k->edges_back(j->s.c, j->s.a, j->s.b, w, z, u, pairs, rows, probabilities, x, j->s.a * j->s.b, y, v, 0.2f, NULL,
                     bits, 2, 0);
}
RUN(edges_back_bare)
{
    j->k->edges_back(j->s.c, j->s.a, j->s.b, NULL, z, u, pairs, rows, probabilities, x, j->s.a * j->s.b, y, v, 0.2f,
                     NULL, NULL, 1, 0);
}

/* the optimiser */
RUN(update)
{
    const float *const grads[2] = { x, y };
    const rg_update    update = { .rule = (rg_rule)j->f,
                                  .w = z,
                                  .m = u,
                                  .v = v,
                                  .d = w,
                                  .scale = 0.5f,
                                  .keep = 1,
                                  .rate = 1e-6f,
                                  .a = 0.5f,
                                  .b = 0.5f,
                                  .eps = 1e-2f,
                                  .rate1 = 1e-6f,
                                  .rate2 = 1 };
    j->o->update(&update, grads, 1, 0, N);
}
RUN(squares)
{
    const float *const grads[2] = { x, y };
    sink = (float)j->o->squares(grads, 2, 0, N);
}
RUN(optimiser_pack) { j->o->pack(z, j->s.c, x, j->s.b, j->s.c, j->s.b, false); }
RUN(optimiser_pack_transposed) { j->o->pack_transposed(z, j->s.c, x, j->s.c, j->s.b, j->s.c, false); }

/* ----------------------------------------------------------------------------------------- kernels and their shapes */

#define SHAPES(name, ...) static const kernel_shape name[] = { __VA_ARGS__, { 0, 0, 0 } }
SHAPES(vectors, { 1, 0, 0 }, { 3, 0, 0 }, { 7, 0, 0 }, { 8, 0, 0 }, { 9, 0, 0 }, { 15, 0, 0 }, { 16, 0, 0 },
       { 17, 0, 0 }, { 31, 0, 0 }, { 33, 0, 0 }, { 64, 0, 0 }, { 100, 0, 0 }, { 257, 0, 0 }, { 1000, 0, 0 });
SHAPES(products, { 1, 7, 64 }, { 1, 64, 64 }, { 1, 100, 257 }, { 2, 8, 64 }, { 3, 7, 9 }, { 5, 17, 33 }, { 8, 8, 8 },
       { 9, 48, 31 }, { 33, 33, 33 }, { 64, 8, 64 }, { 64, 1, 64 }, { 100, 7, 64 }, { 64, 16, 9 }, { 64, 32, 25 },
       { 64, 64, 64 }, { 72, 100, 31 });
SHAPES(weights, { 1, 7, 0 }, { 9, 9, 0 }, { 8, 16, 0 }, { 16, 31, 0 }, { 16, 64, 0 }, { 5, 257, 0 });
SHAPES(heads, { 1, 7, 4 }, { 1, 8, 2 }, { 1, 16, 9 }, { 1, 64, 9 }, { 2, 33, 9 }, { 3, 5, 3 }, { 4, 8, 4 }, { 8, 1, 5 },
       { 8, 7, 4 }, { 8, 8, 1 }, { 8, 8, 4 }, { 8, 8, 31 }, { 8, 16, 4 }, { 8, 64, 5 }, { 9, 9, 4 }, { 11, 4, 4 },
       { 16, 8, 4 }, { 16, 16, 9 });

typedef struct kernel_calls {
    const char  *name;
    void       (*run)(const kernel_call *);
    const kernel_shape *shapes;
    int          variants; /* f goes from 0 to one less */
} kernel_calls;

#define ROW(name, shapes) { #name, run_##name, shapes, 1 }
#define ROWS_OF(name, shapes, variants) { #name, run_##name, shapes, variants }
static const kernel_calls kernel_table[] = {
    ROWS_OF(map, vectors, RG_ACTIVATIONS),
    ROWS_OF(map_backward, vectors, RG_ACTIVATIONS),
    ROW(add, vectors),
    ROW(mul, vectors),
    ROW(mul_add, vectors),
    ROW(axpy, vectors),
    ROW(scale, vectors),
    ROW(dot, vectors),
    ROW(sum, vectors),
    ROW(max, vectors),
    ROW(softmax, vectors),
    ROW(log_sum, vectors),
    ROW(softmax_backward, vectors),
    ROW(softmax_backward_add, vectors),
    ROW(norm, vectors),
    ROW(norm_backward, vectors),
    ROW(exps, vectors),
    ROWS_OF(additive, vectors, RG_ACTIVATIONS),
    ROWS_OF(additive_backward, vectors, RG_ACTIVATIONS),
    ROW(rewrite, vectors),
    ROW(rewrite_backward, vectors),
    ROW(axpy_dot, vectors),
    ROW(dropout, vectors),
    ROW(dropout_add, vectors),
    ROW(dropout_mask, vectors),
    ROW(dropout_by, vectors),
    ROW(dropout_bits, vectors),
    ROW(lstm, vectors),
    ROW(lstm_backward, vectors),
    ROW(gru_reset, vectors),
    ROW(gru, vectors),
    ROW(gru_backward, vectors),
    ROW(gru_reset_backward, vectors),
    ROW(gru_after, vectors),
    ROW(gru_after_backward, vectors),
    ROWS_OF(gemm_packed, products, 3),
    ROW(gemm_packed_add, products),
    ROW(gemm_windows, products),
    ROW(gemm_tiles, products),
    ROW(gemm_ranges, products),
    ROW(gemm_ranges_causal, products),
    ROW(pack, products),
    ROW(pack_transposed, products),
    ROW(pack_tiles, products),
    ROW(pack_tiles_transposed, products),
    ROW(weigh_rows, weights),
    ROW(slope_rows, weights),
    ROW(heads_dot, heads),
    ROW(heads_axpy, heads),
    ROW(rows_dot, heads),
    ROW(rows_sum, heads),
    ROW(columns_softmax, heads),
    ROW(columns_softmax_backward, heads),
    ROW(lists_mix, heads),
    ROW(lists_mix_pairs, heads),
    ROW(lists_mix_far, heads),
    ROW(lists_sum, heads),
    ROW(lists_sum_pairs, heads),
    ROW(lists_expand, heads),
    ROW(edges_weigh, heads),
    ROW(edges_weigh_bare, heads),
    ROW(edges_back, heads),
    ROW(edges_back_bare, heads),
    ROWS_OF(update, vectors, RG_RULE_GRAVES + 1),
    ROW(squares, vectors),
    ROW(optimiser_pack, products),
    ROW(optimiser_pack_transposed, products),
};
enum { KERNEL_CALLS = sizeof kernel_table / sizeof *kernel_table };

/* What one call needs: ranges of rows as long as its shape says, a result that is not left over from another. */
static void kernel_call_prepare(const kernel_call *j)
{
    for (size_t i = 0; i < 2 * LISTED; i++) high[i] = j->s.c ? j->s.c : j->s.b;
    memset(z, 0, ROOM * sizeof *z);
}

/* Tables whose every kernel must keep up, slowest first. `plain` is not among them: where a register has one number
 * to work on, a plain loop over it is faster, and nobody is given that table without asking. */
static size_t kernel_ladder(const rg_kernels *rungs[8])
{
    size_t count = 0;
    for (const rg_kernels *const *k = rg_kernels_all(); *k; k++)
        if (strcmp((*k)->name, "wide") != 0 && strcmp((*k)->name, "plain") != 0) rungs[count++] = *k;
    return count;
}

#undef RUN
#undef N
#undef SHAPES
#undef ROW
#undef ROWS_OF

#endif
