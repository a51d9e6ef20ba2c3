/* case_weights.c - products with weights in 32, 16 and 8 bits, warm: the rows in 16 and 8 bits are measured in turn
 * with the one in 32, and the ratio is theirs against it. No peer: PyTorch has no such products for processors that
 * agree with these. */
#include "packed.h"

static const size_t rows[] = {1, 4, 16, 64, 256};
static const size_t layers[][2] = {{256, 1024}, {512, 512}, {512, 2048}, {2048, 512}, {512, 32000}}; /* K, N */
static const char *const kinds[] = {"f32", "bf16", "int8"};
enum { ROWS = 5, LAYERS = 5, KINDS = 3 };

static void describe(bench_row *out, size_t index)
{
    const size_t kind = index % KINDS, M = rows[index / KINDS / LAYERS], *layer = layers[index / KINDS % LAYERS];
    snprintf(out->name, sizeof out->name, "%zux%zux%zu %s", M, layer[1], layer[0], kinds[kind]);
    out->flops = kind ? 0 : 2.0 * (double)M * (double)layer[0] * (double)layer[1];
    out->against = kind ? 1 + index - kind : 0;
}

static rg_status setup(void *state, size_t index, rg_team *team)
{
    const size_t kind = index % KINDS, M = rows[index / KINDS / LAYERS], *layer = layers[index / KINDS % LAYERS];
    if (kind == 0) return bench_packed_setup(state, M, layer[1], layer[0], 1, team);
    return bench_small_setup(state, M, layer[1], layer[0], 1, kind == 2 ? RG_SMALL_INT8 : RG_SMALL_BF16, team);
}

const bench_case bench_case_weights = {
    .name = "weights",
    .summary = "products with weights in 32, 16 and 8 bits, warm",
    .rows = ROWS * LAYERS * KINDS,
    .describe = describe,
    .bytes = sizeof(bench_packed),
    .setup = setup,
    .run = bench_packed_run,
    .teardown = bench_packed_teardown,
};
