/* test_gates.c - rows of recurrent steps: every kernel table against the plain loops, tables with FMA bit for bit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tensor/kernels.h"

enum { MOST = 67, BLOCKS = 24 };

/* Every function writes into blocks of `room`, each of exactly the numbers it may touch. */
typedef struct {
    size_t u;
    float  x[BLOCKS][4 * MOST];
} room;

static void fill(room *r, size_t u)
{
    rg_random random = rg_random_new(u, 3);
    r->u = u;
    for (size_t b = 0; b < BLOCKS; b++)
        for (size_t i = 0; i < 4 * MOST; i++) r->x[b][i] = (float)(4 * rg_random_uniform(&random) - 2);
    for (size_t b = 8; b < 12; b++) /* gates that were computed before: between 0 and 1 */
        for (size_t i = 0; i < 4 * MOST; i++) r->x[b][i] = (float)rg_random_uniform(&random);
}

static void run(const rg_gates *g, room *r, bool states)
{
    const size_t u = r->u;
    float(*x)[4 * MOST] = r->x;
    const float *before = states ? x[12] : NULL, *c0 = states ? x[13] : NULL, *a = states ? x[14] : NULL,
                *b = states ? x[15] : NULL;
    g->lstm(u, x[0], x[1], x[2], c0);
    g->lstm_backward(u, x[3], x[4], x[8], x[16], c0, x[17]);
    g->gru_reset(u, x[5], x[6], before);
    g->gru(u, x[5], x[7], before);
    g->gru_backward(u, x[18], x[19], x[9], before);
    g->gru_reset_backward(u, x[18], x[19], x[17], x[9], before);
    g->gru_after(u, x[20], x[21], x[22], a, b, before);
    g->gru_after_backward(u, x[10], x[11], x[23], x[8], x[16], before);
}

#ifdef __SANITIZE_ADDRESS__
static const bool moved = true; /* where gcc contracts: see test_kernels.c */
#else
static const bool moved = false;
#endif

static void every_table_computes_the_gates_of_the_plain_one(void **state)
{
    (void)state;
    static room want, got, fused;
    static const size_t sizes[] = { 1, 3, 7, 8, 9, 16, 17, 31, 33, 64, 67 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int states = 0; states < 2; states++) {
            const rg_kernels *const *all = rg_kernels_all();
            bool                     have = false;
            fill(&want, sizes[s]);
            run(all[0]->gates, &want, states);
            for (size_t k = 1; all[k]; k++) {
                fill(&got, sizes[s]);
                run(all[k]->gates, &got, states);
                for (size_t b = 0; b < BLOCKS; b++)
                    for (size_t i = 0; i < 4 * MOST; i++)
                        if (!(fabsf(got.x[b][i] - want.x[b][i]) <= 2e-6f * (1 + fabsf(want.x[b][i]))))
                            fail_msg("%s: u %zu, block %zu, number %zu is %.9g, plain has %.9g", all[k]->name, sizes[s],
                                     b, i, (double)got.x[b][i], (double)want.x[b][i]);
                if (strcmp(all[k]->name, "baseline") == 0 || moved) continue;
                if (have) assert_memory_equal(&fused, &got, sizeof got);
                fused = got;
                have = true;
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_table_computes_the_gates_of_the_plain_one) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
