/* results.h - what a run came to: numbers by name, as a file holds them. */
#ifndef RG_LAB_RESULTS_H
#define RG_LAB_RESULTS_H

#include "regard/base.h"

typedef struct rg_result {
    char   name[40];
    double value;
} rg_result;

typedef struct rg_results { /* zeroed: none */
    rg_result *item;
    size_t     count;
} rg_results;

/* Set NAME, or replace what it was. */
rg_status rg_results_set(rg_results *r, const char *name, double value);
/* NAN: there is none, or it was not finite. */
double rg_results_get(const rg_results *r, const char *name);
void   rg_results_free(rg_results *r);

/* mean, deviation (n - 1; NAN below two values) and number of those that are finite. */
typedef struct rg_summary {
    double mean, deviation;
    size_t count;
} rg_summary;
rg_summary rg_results_summary(const rg_results *runs, size_t count, const char *name);

#endif
