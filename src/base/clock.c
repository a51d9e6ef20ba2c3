/* clock.c - seconds of a clock that only goes forward. */
#define _GNU_SOURCE 1
#include "regard/base.h"
#include "base/clock.h"
#include "base/seams.h"

#include <time.h>

static struct {
    double (*now)(void *context);
    void *context;
} seam;

void rg_base__seam_now(double (*now)(void *context), void *context)
{
    seam.now = now;
    seam.context = context;
}

double rg_now(void)
{
    if (seam.now != NULL) return seam.now(seam.context);
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double rg_cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
