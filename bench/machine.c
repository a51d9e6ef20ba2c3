/* machine.c - what this machine can do at most: fused multiply-adds in registers, and reading from memory.
 *
 * Compiled like the kernels (gnu17, contraction on). The peak uses the widest vectors the machine has. */
#include <string.h>

#include "bench.h"

enum { CHAINS = 12, ROUNDS = 4000000 }; /* twelve independent chains hide a latency of four or five at two a cycle */

/* KEEP makes the compiler believe the value was changed: nothing is folded away, nothing goes to memory. */
#if defined(__x86_64__)
#define KEEP(v) __asm__ volatile("" : "+x"(v))
#else
#define KEEP(v) __asm__ volatile("" : "+w"(v))
#endif

#define PEAK(suffix, lanes, attribute)                                                       \
    typedef float vector_##suffix __attribute__((vector_size(4 * lanes)));                   \
    attribute static void peak_##suffix(void *context, int member, size_t begin, size_t end) \
    {                                                                                        \
        vector_##suffix a = {0}, b = {0}, c[CHAINS] = {{0}};                                 \
        (void)context, (void)member, (void)begin, (void)end;                                 \
        KEEP(a);                                                                             \
        KEEP(b);                                                                             \
        for (long i = 0; i < ROUNDS; i++) {                                                  \
            _Pragma("GCC unroll 12") for (int j = 0; j < CHAINS; j++)                        \
            {                                                                                \
                c[j] += a * b;                                                               \
                KEEP(c[j]);                                                                  \
                KEEP(a); /* or a * b would be taken out of the loop */                       \
            }                                                                                \
        }                                                                                    \
    }

#if defined(__x86_64__)
PEAK(avx512, 16, __attribute__((target("avx512f"))))
PEAK(avx2, 8, __attribute__((target("avx2,fma"))))
#endif
PEAK(baseline, 4, )

double bench_peak(rg_team *team)
{
    rg_team_work *work = peak_baseline;
    double        lanes = 4, best = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) work = peak_avx2, lanes = 8;
    if (__builtin_cpu_supports("avx512f")) work = peak_avx512, lanes = 16;
#endif
    size_t members = (size_t)rg_team_size(team);
    for (int repeat = 0; repeat < 5; repeat++) {
        double begin = rg_now();
        rg_team_for(team, members, 1, work, NULL);
        double rate = (double)members * ROUNDS * CHAINS * lanes * 2 / (rg_now() - begin);
        if (rate > best) best = rate;
    }
    return best;
}

/* ------------------------------------------------------------------------------------------------ bandwidth */

typedef float block __attribute__((vector_size(64)));

static void read_share(void *context, int member, size_t begin, size_t end)
{
    const block *x = context;
    block        s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    (void)member;
    for (size_t i = begin; i + 4 <= end; i += 4) s0 += x[i], s1 += x[i + 1], s2 += x[i + 2], s3 += x[i + 3];
    s0 += s1 + s2 + s3;
    __asm__ volatile("" : : "r"(&s0) : "memory");
}

double bench_bandwidth(rg_team *team)
{
    size_t bytes = (size_t)256 << 20, blocks = bytes / sizeof(block); /* far larger than any cache */
    block *x = rg_alloc(bytes);
    double best = 0;
    if (!x) return 0;
    memset(x, 0, bytes);
    for (int repeat = 0; repeat < 6; repeat++) {
        double begin = rg_now();
        rg_team_for(team, blocks, 64, read_share, x);
        double rate = (double)bytes / (rg_now() - begin);
        if (rate > best) best = rate;
    }
    rg_free(x);
    return best;
}
