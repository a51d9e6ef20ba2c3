/* bench.h - what a benchmark case is.
 *
 * A case is one file, bench/case_<name>.c, that ends in `const bench_case bench_case_<name> = { ... };`, and one
 * word in the list of bench.c. Its peer, bench/peer_<name>.py, does the same work on the same numbers in PyTorch;
 * without that file only ours is measured. bench/run alternates the two and prints a row for each. */
#ifndef RG_BENCH_H
#define RG_BENCH_H

#include "regard/base.h"

/* One line of the table. */
typedef struct bench_row {
    char   name[64];    /* "NN 256x512x512"; left empty: what the row needs is not there                 */
    char   params[256]; /* members of a JSON object, for the peer: "\"M\": 256, \"N\": 512"             */
    double flops;       /* of one run; 0 when that is not what counts                                    */
    double bytes;       /* read from memory in one run by a memory-bound row: it is compared with the bandwidth; or 0 */
    double items;       /* words of one run, where words a second are what one asks for; or 0            */
    size_t against;     /* 1 + a row of the same case that is measured in turn with this one; or 0       */
} bench_row;

typedef struct bench_case {
    const char *name;
    const char *summary;
    size_t      rows;
    void (*describe)(bench_row *out, size_t row);

    /* Build what one run needs in a state of `bytes`, all 0. The team may be used by run(). */
    size_t bytes;
    rg_status (*setup)(void *state, size_t row, rg_team *team);
    rg_status (*run)(void *state);
    /* A number that must agree with the peer's: what was computed, not how fast. May be NULL. */
    double (*check)(void *state);
    void (*teardown)(void *state); /* frees what setup() made, also when that failed half-way */
} bench_case;

/* The numbers both sides work on: uniform in [-0.5, 0.5), a function of seed and position alone (see
 * bench/run_peer.py). */
void bench_fill(rg_real *x, size_t n, uint32_t seed);

/* Mean of |x|: the usual check. */
double bench_mean_abs(const rg_real *x, size_t n);

/* Seconds: of the processor when `cpu`, else on the wall. */
double bench_now(bool cpu);

/* The machine, measured now by the same clock: floating-point operations a second in registers, and bytes a second read
 * from memory. */
double bench_peak(rg_team *team, bool cpu);
double bench_bandwidth(rg_team *team, bool cpu);

/* So much memory is in no cache: twice the last one, at least 160 MiB. */
size_t bench_cold_bytes(void);

#endif
