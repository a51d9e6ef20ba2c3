/* case_thin.c - few rows on cold weights: what a decoder does. The weights are taken from copies that together
 * exceed every cache, so each run reads them from memory. One row is bound by that reading. */
#include "packed.h"

static const size_t rows[] = {1, 2, 4, 8, 64};
static const size_t layers[][2] = {{256, 1024}, {512, 512}, {512, 1536}, {512, 2048}, {2048, 512}, {512, 32000}}; /* K, N */

static size_t copies_of(size_t N, size_t K)
{
    return bench_cold_bytes() / (N * K * sizeof(rg_real)) + 1;
}

static void describe(bench_row *out, size_t index)
{
    size_t M = rows[index / 6], K = layers[index % 6][0], N = layers[index % 6][1];
    snprintf(out->name, sizeof out->name, "%zu row%s %zux%zu cold", M, M == 1 ? "" : "s", K, N);
    snprintf(out->params, sizeof out->params, "\"M\": %zu, \"N\": %zu, \"K\": %zu, \"copies\": %zu", M, N, K,
             copies_of(N, K));
    out->flops = 2.0 * (double)M * (double)N * (double)K;
    out->bytes = (double)N * (double)K * sizeof(rg_real);
}

static rg_status setup(void *state, size_t index, rg_team *team)
{
    size_t K = layers[index % 6][0], N = layers[index % 6][1];
    return bench_packed_setup(state, rows[index / 6], N, K, copies_of(N, K), team);
}

const bench_case bench_case_thin = {
    .name = "thin",
    .summary = "1, 2, 4, 8, 64 rows on packed weights that are cold",
    .rows = 30,
    .describe = describe,
    .bytes = sizeof(bench_packed),
    .setup = setup,
    .run = bench_packed_run,
    .check = bench_packed_check,
    .teardown = bench_packed_teardown,
};
