/* search.h - answers of a model with fresh parameters, searched for in sentences that all have the same length: for the
 * cases that measure decoding. Several sources: one search a thread, each with its part of them; one source: its
 * products are split. */
#ifndef RG_BENCH_SEARCH_H
#define RG_BENCH_SEARCH_H

#include "regard/decode.h"
#include "system.h"

enum { BENCH_SEARCHES = 64 };

typedef struct bench_search {
    rg_model        *model; /* its own, freed by fini */
    rg_search_config config;
    rg_team         *team;
    rg_batch        *part[BENCH_SEARCHES];
    size_t           sources[BENCH_SEARCHES];
    rg_search       *search[BENCH_SEARCHES];
    rg_status        status[BENCH_SEARCHES];
    size_t           words[BENCH_SEARCHES]; /* answered */
    size_t           searches;
} bench_search;

/* The model is there. `vocabulary`: of sources of BENCH_WORDS words each; 0: the model writes without one. Every answer
 * has `words` words, for the model knows no end. */
rg_status bench_search_init(bench_search *s, size_t sources, size_t vocabulary, size_t beam, size_t words,
                            rg_team *team);
rg_status bench_search_run(void *search);
/* Words answered: both sides must have written them all. */
double bench_search_check(void *search);
void   bench_search_fini(void *search);

/* What cases of such a search have in common: all but name, summary, rows, describe and setup. */
#define BENCH_SEARCH_CASE                                                                \
    .bytes = sizeof(bench_search), .run = bench_search_run, .check = bench_search_check, \
    .teardown = bench_search_fini

#endif
