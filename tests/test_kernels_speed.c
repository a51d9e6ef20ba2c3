/* test_kernels_speed.c - no kernel table is slower than the one below it, kernel by kernel and shape by shape.
 *
 * The best table of a machine is chosen by itself, so a kernel that a wider register slows down slows everybody
 * down. `plain` and `wide` are left out: they are there to be tested, not to be fast. Two neighbours are timed in
 * turns of some microseconds and the shortest turn of each counts, so that what else the machine does is not
 * measured; a pair that looks slow is timed again before it fails. Where stack and buffers happen to lie may cost a tiny
 * call three times its own time: what fails is tried again in a new process, with other addresses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../bench/kernel_calls.h"

#define MOST_RATIO 1.5  /* what a table may take of the time of the one below it */
#define LEAST_GAIN 6e-9 /* and so many seconds of a call: what a masked end of a row costs, where the row is all end */
#define TURN 1e-5       /* seconds of a turn */
enum { TURNS = 7, TRIES = 60 };

/* ----------------------------------------------------------------------------------------------------------- timing */

static double time_of(const kernel_calls *r, const kernel_call *j, size_t runs)
{
    const double begin = rg_now();
    for (size_t i = 0; i < runs; i++) r->run(j);
    return (rg_now() - begin) / (double)runs;
}

static size_t runs_in_a_turn(const kernel_calls *r, const kernel_call *j)
{
    time_of(r, j, 1);
    for (size_t runs = 1;; runs *= 2)
        if (time_of(r, j, runs) * (double)runs > TURN / 2) return runs;
}

/* The shortest turns of both, and how they compare. */
static double compare(const kernel_calls *r, const kernel_call *lower, const kernel_call *upper, double best[2])
{
    const size_t runs = runs_in_a_turn(r, lower);
    best[0] = best[1] = INFINITY;
    for (int attempt = 0; attempt < TRIES; attempt++) {
        for (int turn = 0; turn < TURNS; turn++) {
            best[0] = fmin(best[0], time_of(r, lower, runs));
            best[1] = fmin(best[1], time_of(r, upper, runs));
        }
        if (best[1] <= MOST_RATIO * best[0] + LEAST_GAIN) break;
    }
    return best[1] / best[0];
}

static size_t slower_shapes(const kernel_calls *r, const rg_kernels *lower, const rg_kernels *upper)
{
    size_t bad = 0;
    for (int f = 0; f < r->variants; f++)
        for (const kernel_shape *s = r->shapes; s->a; s++) {
            const kernel_call below = { lower, rg_optimise_find(lower->name), *s, f },
                       above = { upper, rg_optimise_find(upper->name), *s, f };
            double     best[2];
            kernel_call_prepare(&below);
            const double ratio = compare(r, &below, &above, best);
            if (getenv("REGARD_SPEEDS") && ratio > 1.1)
                printf("%s %d (%zu, %zu, %zu): %s %.1f ns, %s %.1f ns: %.2f\n", r->name, f, s->a, s->b, s->c,
                       lower->name, best[0] * 1e9, upper->name, best[1] * 1e9, ratio);
            if (best[1] <= MOST_RATIO * best[0] + LEAST_GAIN) continue;
            print_error("%s, variant %d, shape (%zu, %zu, %zu): %s takes %.1f ns, %s %.1f ns\n", r->name, f, s->a, s->b,
                        s->c, lower->name, best[0] * 1e9, upper->name, best[1] * 1e9);
            bad++;
        }
    return bad;
}

static void no_table_is_slower_than_the_one_below_it(void **state)
{
    (void)state;
    const rg_kernels *rungs[8];
    const size_t      count = kernel_ladder(rungs);
    size_t            bad = 0;
    kernel_calls_prepare();
    for (size_t i = 1; i < count; i++)
        for (size_t r = 0; r < KERNEL_CALLS; r++)
            bad += slower_shapes(&kernel_table[r], rungs[i - 1], rungs[i]);
    assert_int_equal(bad, 0);
}

enum { PROCESSES = 6 };

int main(int argc, char **argv)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
    return 77; /* checks take time of their own, and the kernels are tuned for gcc, which builds what is installed */
#endif
    const struct CMUnitTest tests[] = { cmocka_unit_test(no_table_is_slower_than_the_one_below_it) };
    const int   failed = cmocka_run_group_tests(tests, NULL, NULL), tried = argc > 1 ? atoi(argv[1]) : 1;
    char        again[16];
    char *const next[] = { argv[0], again, NULL };
    if (!failed || tried >= PROCESSES) return failed;
    (void)snprintf(again, sizeof again, "%d", tried + 1);
    (void)fflush(NULL);
    return execv("/proc/self/exe", next);
}
