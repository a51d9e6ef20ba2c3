/* kernels.c - which kernel table this process uses: the best one the machine has, or the one REGARD_CPU names. */
#include "tensor/kernels.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tables of this build, slowest first, each with the test of whether this machine can run it. `wide` comes
 * before avx2 so that it is never the last, which is the one chosen by itself. */
#if defined(RG_REAL)
#define TABLES(X) X(plain)
#elif defined(__x86_64__)
#define TABLES(X) X(plain) X(baseline) RG_WIDE(X(wide)) X(avx2) X(avx512)
#elif defined(__aarch64__)
#define TABLES(X) X(plain) X(neon)
#else
#define TABLES(X) X(plain) X(baseline)
#endif

#define DECLARE(isa) extern const rg_kernels rg_kernels_##isa;
TABLES(DECLARE)

static bool has_plain(void) { return true; }
#if !defined(RG_REAL) && defined(__x86_64__)
static bool has_baseline(void) { return true; }
static bool has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
RG_WIDE(static bool has_wide(void) { return has_avx2(); })
static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#elif !defined(RG_REAL) && defined(__aarch64__)
static bool has_neon(void) { return true; }
#elif !defined(RG_REAL)
static bool has_baseline(void) { return true; }
#endif

enum { MOST_TABLES = 8 };
static struct {
    const rg_kernels *all[MOST_TABLES + 1];
    const rg_kernels *chosen;
    const char       *unknown; /* what REGARD_CPU names and is not there; NULL: nothing */
} tables; /* written once, by choose() */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void choose(void)
{
    size_t count = 0;
#define ENTRY(isa) \
    if (has_##isa()) tables.all[count++] = &rg_kernels_##isa;
    TABLES(ENTRY)
    tables.chosen = tables.all[count - 1];

    const char *wanted = getenv("REGARD_CPU");
    if (!wanted || !*wanted) return;
    for (size_t i = 0; i < count; i++)
        if (strcmp(tables.all[i]->name, wanted) == 0) {
            tables.chosen = tables.all[i];
            return;
        }
    tables.unknown = wanted;
    rg_log(RG_LOG_WARN, "REGARD_CPU=%s: this machine or build has no such kernels; using %s", wanted,
           tables.chosen->name);
}

const rg_kernels *rg_kernel(void)
{
    pthread_once(&once, choose);
    return tables.chosen;
}

const rg_kernels *const *rg_kernels_all(void)
{
    pthread_once(&once, choose);
    return tables.all;
}

const char *rg_kernels_name(void) { return rg_kernel()->name; }

const char *rg_kernels_name_at(size_t i)
{
    const rg_kernels *const *all = rg_kernels_all();
    for (size_t before = 0; before < i && *all; before++) all++;
    return *all ? (*all)->name : NULL;
}

rg_status rg_kernels_check(void)
{
    char   names[128] = "";
    size_t used = 0;
    pthread_once(&once, choose);
    if (!tables.unknown) return RG_OK;
    for (size_t i = 0; tables.all[i] && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", tables.all[i]->name);
    return rg_fail(RG_EINVAL, "REGARD_CPU=%.40s: there are no such kernels; this machine and build have %s",
                   tables.unknown, names);
}

/* -------------------------------------------------------------------------------------- shared by every table */

size_t rg_pack_size(size_t K, size_t N)
{
    return (N + RG_PANEL - 1) / RG_PANEL * RG_PANEL * K;
}

uint32_t rg_dropout_least(rg_real p)
{
    double least = (double)p * 4294967296.0;
    return least <= 0 ? 0 : least >= 4294967295.0 ? UINT32_MAX : (uint32_t)least;
}

rg_real rg_dropout_factor(rg_real p)
{
    return p < 1 ? (rg_real)(1.0 / (1.0 - (double)p)) : 0;
}
