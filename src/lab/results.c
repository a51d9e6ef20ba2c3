/* results.c - numbers by name. */
#include "lab/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static rg_result *find(const rg_results *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->item[i].name, name) == 0) return &r->item[i];
    return NULL;
}

rg_status rg_results_set(rg_results *r, const char *name, double value)
{
    rg_result *at = find(r, name);
    if (strlen(name) >= sizeof at->name)
        return rg_fail(RG_ELIMIT, "the name %s is longer than %zu bytes", name, sizeof at->name - 1);
    if (!at) {
        rg_result *larger = rg_realloc(r->item, (r->count + 1) * sizeof *larger);
        if (!larger) return RG_ENOMEM;
        r->item = larger;
        at = &larger[r->count++];
        snprintf(at->name, sizeof at->name, "%s", name);
    }
    at->value = value;
    return RG_OK;
}

double rg_results_get(const rg_results *r, const char *name)
{
    const rg_result *at = find(r, name);
    return at ? at->value : (double)NAN;
}

void rg_results_free(rg_results *r)
{
    rg_free(r->item);
    *r = (rg_results){ 0 };
}

rg_summary rg_results_summary(const rg_results *runs, size_t count, const char *name)
{
    rg_summary s = { .mean = 0, .deviation = (double)NAN };
    double     squares = 0;
    for (size_t i = 0; i < count; i++) {
        const double x = rg_results_get(&runs[i], name);
        if (isfinite(x)) s.mean += x, s.count++;
    }
    s.mean = s.count ? s.mean / (double)s.count : (double)NAN;
    for (size_t i = 0; i < count; i++) {
        const double x = rg_results_get(&runs[i], name) - s.mean;
        if (isfinite(x)) squares += x * x;
    }
    if (s.count > 1) s.deviation = sqrt(squares / (double)(s.count - 1));
    return s;
}
