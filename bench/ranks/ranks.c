/* bench-ranks - how long ranks take to add up gradients in order and hand the sum back, and for a small exchange.
 *
 *     mpirun -n 2 build/release/bench-ranks [NUMBERS...]
 *
 * Prints, for each count of numbers, the best and the median of 15 sums; from rank 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regard/processes.h"

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct numbers {
    float *x;
    size_t count;
} numbers;

enum { PART = RG_PART_BYTES / sizeof(float) };

static void *place(void *context, size_t part, size_t *out_bytes)
{
    const numbers *n = context;
    const size_t   left = n->count - part * PART;
    *out_bytes = (left < PART ? left : PART) * sizeof *n->x;
    return n->x + part * PART;
}

static void add(void *context, size_t part, void *sum, bool first)
{
    size_t       bytes;
    const float *own = place(context, part, &bytes);
    float       *to = sum;
    if (first) memcpy(to, own, bytes);
    for (size_t i = 0; !first && i < bytes / sizeof *to; i++) to[i] += own[i];
}

enum { TIMES = 15 };

static int measure(rg_processes *p, size_t count)
{
    double       taken[TIMES];
    int          all[4096], own = 0;
    numbers      n = { calloc(count + 1, sizeof(float)), count };
    const rg_ordered_sum sum = { .parts = (count + PART - 1) / PART, .place = place, .add = add, .context = &n };
    if (!n.x) return 1;
    for (int i = 0; i < TIMES; i++) {
        if (rg_processes_gather(all, p, &own, sizeof own) != RG_OK) return 1; /* all begin together */
        const double    begun = rg_now();
        const rg_status status = count ? rg_processes_sum(p, &sum)
                                       : rg_processes_gather(all, p, &own, sizeof own);
        if (status != RG_OK) return 1;
        taken[i] = rg_now() - begun;
    }
    qsort(taken, TIMES, sizeof *taken, rising);
    if (rg_processes_rank(p) == 0)
        printf("%d ranks, %10zu numbers: best %9.3f ms, median %9.3f ms\n", rg_processes_count(p), count,
               1e3 * taken[0], 1e3 * taken[TIMES / 2]);
    free(n.x);
    return 0;
}

int main(int argc, char **argv)
{
    static const size_t usual[] = { 0, 1000000, 7600000, 63000000 };
    rg_processes       *p;
    int                 failed = rg_processes_open(&p, 60) != RG_OK || !p;
    if (failed) fprintf(stderr, "bench-ranks: %s\n", p ? rg_message() : "start it with mpirun -n 2");
    for (int i = 1; !failed && i < argc; i++) failed = measure(p, strtoull(argv[i], NULL, 10));
    for (size_t i = 0; !failed && argc == 1 && i < sizeof usual / sizeof *usual; i++) failed = measure(p, usual[i]);
    if (!failed) rg_processes_close(p);
    return failed;
}
