/* case_packed.c - products with weights packed once, warm: 16 to 1024 rows on layers of width 256 to 2048. */
#include "packed.h"

static const size_t rows[] = {16, 32, 64, 128, 256, 1024};
static const size_t layers[][2] = {{256, 256}, {512, 512}, {512, 2048}, {2048, 512}, {1024, 1024}, {2048, 2048}}; /* K, N */

static void describe(bench_row *out, size_t index)
{
    size_t M = rows[index / 6], K = layers[index % 6][0], N = layers[index % 6][1];
    snprintf(out->name, sizeof out->name, "%zux%zux%zu", M, N, K);
    snprintf(out->params, sizeof out->params, "\"M\": %zu, \"N\": %zu, \"K\": %zu", M, N, K);
    out->flops = 2.0 * (double)M * (double)N * (double)K;
}

static rg_status setup(void *state, size_t index, rg_team *team)
{
    return bench_packed_setup(state, rows[index / 6], layers[index % 6][1], layers[index % 6][0], 1, team);
}

const bench_case bench_case_packed = {
    .name = "packed",
    .summary = "products with packed weights, warm",
    .rows = 36,
    .describe = describe,
    .bytes = sizeof(bench_packed),
    .setup = setup,
    .run = bench_packed_run,
    .check = bench_packed_check,
    .teardown = bench_packed_teardown,
};
