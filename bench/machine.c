/* machine.c - what this machine can do at most: fused multiply-adds in registers, and reading from memory.
 *
 * Compiled like the kernels (gnu17, contraction on). The peak uses the widest vectors the machine has. */
#include <string.h>
#include <unistd.h>

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

double bench_peak(rg_team *team, bool cpu)
{
    rg_team_work *work = peak_baseline;
    double        lanes = 4, best = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) work = peak_avx2, lanes = 8;
    if (__builtin_cpu_supports("avx512f")) work = peak_avx512, lanes = 16;
#endif
    size_t members = (size_t)rg_team_size(team);
    for (int repeat = 0; repeat < 8; repeat++) {
        double begin = bench_now(cpu);
        rg_team_for(team, members, 1, work, NULL);
        double rate = (double)members * ROUNDS * CHAINS * lanes * 2 / (bench_now(cpu) - begin);
        if (rate > best) best = rate;
    }
    return best;
}

/* ------------------------------------------------------------------------------------------------ bandwidth */

/* Widest vectors here too: 16-byte loads do not keep up with what a core can fetch, and products would be said to
 * read faster than the machine. */
#define READ(suffix, lanes, attribute)                                                            \
    attribute static void read_##suffix(void *context, int member, size_t begin, size_t end)      \
    {                                                                                             \
        const vector_##suffix *x = (const vector_##suffix *)context + begin * (16 / lanes);       \
        vector_##suffix        s[4] = {{0}};                                                      \
        (void)member;                                                                             \
        for (size_t i = 0; i + 4 <= (end - begin) * (16 / lanes); i += 4)                         \
            _Pragma("GCC unroll 4") for (int j = 0; j < 4; j++) s[j] += x[i + (size_t)j];         \
        s[0] += s[1] + s[2] + s[3];                                                               \
        KEEP(s[0]);                                                                               \
    }

#if defined(__x86_64__)
READ(avx512, 16, __attribute__((target("avx512f"))))
READ(avx2, 8, __attribute__((target("avx2"))))
#endif
READ(baseline, 4, )

size_t bench_cold_bytes(void)
{
    const size_t least = (size_t)160 << 20, most = (size_t)1 << 30;
    const long   last = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const size_t twice = last > 0 ? 2 * (size_t)last : 0;
    return twice < least ? least : twice > most ? most : twice;
}

double bench_bandwidth(rg_team *team, bool cpu)
{
    enum { LINE = 64 };
    rg_team_work *work = read_baseline;
    const size_t  bytes = bench_cold_bytes();
    void         *x = rg_alloc(bytes);
    double        best = 0;
    if (!x) return 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) work = read_avx2;
    if (__builtin_cpu_supports("avx512f")) work = read_avx512;
#endif
    memset(x, 0, bytes);
    for (int repeat = 0; repeat < 6; repeat++) {
        double begin = bench_now(cpu);
        rg_team_for(team, bytes / LINE, 64, work, x);
        double rate = (double)bytes / (bench_now(cpu) - begin);
        if (rate > best) best = rate;
    }
    rg_free(x);
    return best;
}
