/* packed.h - a product with weights packed once, as the cases `packed` (hot) and `thin` (cold) measure it. */
#ifndef RG_BENCH_PACKED_H
#define RG_BENCH_PACKED_H

#include "bench.h"
#include "tensor/int8.h"
#include "tensor/product.h"

typedef struct bench_packed {
    size_t   M, N, K, copies, next; /* runs take one copy of the weights after the other */
    rg_real *a, *c;
    rg_pack *packs;
    rg_small *small; /* when they are in few bytes */
    rg_team *team;
} bench_packed;

rg_status bench_packed_setup(bench_packed *p, size_t M, size_t N, size_t K, size_t copies, rg_team *team);
/* The same with the weights kept in 8 or 16 bits. */
rg_status bench_small_setup(bench_packed *p, size_t M, size_t N, size_t K, size_t copies, rg_small_kind kind,
                            rg_team *team);
rg_status bench_packed_run(void *state);
double    bench_packed_check(void *state);
void      bench_packed_teardown(void *state);

#endif
