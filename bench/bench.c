/* bench.c - measures ours. bench/run starts it, asks one row at a time on standard input and reads a JSON line for
 * each.
 *
 *     bench-regard THREADS [cpu]    list              -> one line per row: what there is
 *                                   machine           -> peak and bandwidth
 *                                   CASE ROW SECONDS  -> best and median time of a run
 *
 * With `cpu` processor time is measured instead of the wall's, which on a machine shared with others is the steadier
 * of the two. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tensor/kernels.h"

/* One word per line. */
#define BENCH_CASES(X) \
    X(additive)        \
    X(adversarial)     \
    X(attack)          \
    X(attention)       \
    X(caption)         \
    X(classifier)      \
    X(conv)            \
    X(copy)            \
    X(decode)          \
    X(entropy)         \
    X(experts)         \
    X(gan)             \
    X(gat)             \
    X(gemm)            \
    X(gpt)             \
    X(jpeg)            \
    X(kernels)         \
    X(lm)              \
    X(multi30k)        \
    X(optimizer)       \
    X(packed)          \
    X(queries)         \
    X(ram)             \
    X(lstm)            \
    X(ntm)             \
    X(sampler)         \
    X(thin)            \
    X(train)           \
    X(weights)         \
    X(written)

#define DECLARE(name) extern const bench_case bench_case_##name;
#define ENTRY(name)   &bench_case_##name,
BENCH_CASES(DECLARE)
static const bench_case *const table[] = {BENCH_CASES(ENTRY) NULL};

void bench_fill(rg_real *x, size_t n, uint32_t seed)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t h = ((uint32_t)i + seed * 0x9e3779b9u) * 0x85ebca6bu;
        h = (h ^ (h >> 15)) * 0xc2b2ae35u;
        x[i] = (rg_real)((double)((h ^ (h >> 13)) >> 8) / 16777216.0 - 0.5);
    }
}

double bench_mean_abs(const rg_real *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += fabs((double)x[i]);
    return n ? sum / (double)n : 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { MOST_SAMPLES = 2000 };

double bench_now(bool cpu) { return cpu ? (double)clock() / CLOCKS_PER_SEC : rg_now(); }

/* Run for `seconds`; a sample is as many runs as take half a millisecond, so that the clock does not count. */
static rg_status time_runs(const bench_case *c, void *state, double seconds, bool cpu, double *best, double *median)
{
    static double samples[MOST_SAMPLES];
    size_t        count = 0, runs = 1;

    RG_TRY(c->run(state)); /* warm */
    for (double once = 0; once < 5e-4; runs *= once < 5e-4 ? 2 : 1) {
        once = bench_now(cpu);
        for (size_t r = 0; r < runs; r++) RG_TRY(c->run(state));
        once = bench_now(cpu) - once;
    }
    for (double start = bench_now(cpu); count < 3 || (bench_now(cpu) - start < seconds && count < MOST_SAMPLES); count++) {
        double begin = bench_now(cpu);
        for (size_t r = 0; r < runs; r++) RG_TRY(c->run(state));
        samples[count] = (bench_now(cpu) - begin) / (double)runs;
    }
    qsort(samples, count, sizeof *samples, compare);
    *best = samples[0];
    *median = samples[count / 2];
    return RG_OK;
}

static rg_status measure(const bench_case *c, size_t row, double seconds, bool cpu, rg_team *team)
{
    void  *state = rg_alloc_zero(c->bytes);
    double best, median;
    if (!state) return RG_ENOMEM;
    rg_status status = c->setup(state, row, team);
    if (status == RG_OK) status = time_runs(c, state, seconds, cpu, &best, &median);
    if (status == RG_OK) {
        printf("{\"best\": %.9g, \"median\": %.9g", best, median);
        if (c->check) printf(", \"check\": %.9g", c->check(state));
        printf("}\n");
    }
    c->teardown(state);
    rg_free(state);
    return status;
}

static void list(void)
{
    for (size_t i = 0; table[i]; i++)
        for (size_t row = 0; row < table[i]->rows; row++) {
            bench_row r = {0};
            table[i]->describe(&r, row);
            if (!r.name[0]) continue; /* what it needs is not there */
            printf("{\"case\": \"%s\", \"row\": %zu, \"name\": \"%s\", \"params\": {%s}, \"flops\": %.0f, \"bytes\": "
                   "%.0f, \"items\": %.0f, "
                   "\"against\": %zu}\n",
                   table[i]->name, row, r.name, r.params, r.flops, r.bytes, r.items, r.against);
        }
    printf("{}\n");
}

static rg_status answer(char *line, bool cpu, rg_team *team)
{
    char   name[64];
    size_t row;
    double seconds;

    if (!strncmp(line, "list", 4)) return list(), RG_OK;
    if (!strncmp(line, "machine", 7)) {
        printf("{\"peak\": %.6g, \"bandwidth\": %.6g, \"kernels\": \"%s\"}\n", bench_peak(team, cpu), bench_bandwidth(team, cpu),
               rg_kernel()->name);
        return RG_OK;
    }
    if (sscanf(line, "%63s %zu %lf", name, &row, &seconds) != 3) return rg_fail(RG_EINVAL, "what is \"%s\"?", line);
    for (size_t i = 0; table[i]; i++)
        if (!strcmp(table[i]->name, name) && row < table[i]->rows) return measure(table[i], row, seconds, cpu, team);
    return rg_fail(RG_EINVAL, "there is no row %zu of case %s", row, name);
}

int main(int argc, char **argv)
{
    rg_team *team = NULL;
    char     line[256];
    bool     cpu = argc > 2 && !strcmp(argv[2], "cpu");

    if (rg_team_new(&team, argc > 1 ? atoi(argv[1]) : 1) != RG_OK)
        return fprintf(stderr, "bench: %s\n", rg_message()), 1;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (answer(line, cpu, team) != RG_OK) printf("{\"error\": \"%s\"}\n", rg_message());
        fflush(stdout);
    }
    rg_team_free(team);
    return 0;
}
