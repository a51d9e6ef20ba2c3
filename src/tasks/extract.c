/* extract.c - how much words that stand in the source are worth (ABS+): coordinate search; kept in model files.
 *
 * The paper tunes with MERT; here every weight is moved up and down, and what makes the metric better stays. */
#include "tasks/translation.h"

#include <math.h>
#include <string.h>

#include "regard/metrics.h"

enum { MOST = 8 }; /* a weight, in nats */

bool rg_extracts(const double *w)
{
    for (size_t k = 0; k < RG_EXTRACT; k++)
        if (w[k] != 0) return true;
    return false;
}

/* ---------------------------------------------------------------------------------------------------------- files */

static const char *const keys[RG_EXTRACT] = { "extract.word", "extract.pair", "extract.triple", "extract.reordered" };

rg_status rg_extract_put(rg_state *state, const double *w)
{
    for (size_t k = 0; k < RG_EXTRACT && rg_extracts(w); k++) RG_TRY(rg_state_put_number(state, keys[k], w[k]));
    return RG_OK;
}

rg_status rg_extract_get(double *w, const rg_state *state)
{
    for (size_t k = 0; k < RG_EXTRACT && rg_state_has(state, keys[k]); k++) {
        RG_TRY(rg_state_get_number(&w[k], state, keys[k]));
        if (!(fabs(w[k]) <= 1000)) return rg_fail(RG_ELIMIT, "%s is %g; it should be -1000 .. 1000", keys[k], w[k]);
    }
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------------- tuning */

/* The metric of the answers with weights w; more is better. */
static rg_status try_weights(double *out, rg_session *session, const rg_tuning *t, const double *w)
{
    const rg_translated *results;
    rg_session_config    searching = *t->config;
    rg_scorer_config     config = RG_SCORER_CONFIG_DEFAULT;
    rg_scorer           *s = NULL;
    memcpy(searching.search.extract, w, sizeof searching.search.extract);
    RG_TRY(rg_session_run(&results, session, &searching, t->source, t->n, 0, NULL));
    config.lowercase = true;
    RG_TRY(rg_scorer_new(&s, t->metric, &config));
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < t->n; i++)
        status = rg_scorer_add(s, results[i].count ? results[i].best[0].text : "", &t->reference[i], 1);
    *out = status == RG_OK ? rg_scorer_score(s) * (strcmp(t->metric, "ter") == 0 ? -1 : 1) : 0;
    rg_scorer_free(s);
    return status;
}

/* Move weight k up or down by a step where that is better. */
static rg_status move(double *w, double *best, rg_session *session, const rg_tuning *t, size_t k, double step)
{
    for (int sign = 1; sign >= -1; sign -= 2) {
        double trial[RG_EXTRACT], value;
        memcpy(trial, w, sizeof trial);
        trial[k] += sign * step;
        if (fabs(trial[k]) > MOST) continue;
        RG_TRY(try_weights(&value, session, t, trial));
        if (!(value > *best)) continue;
        *best = value;
        w[k] = trial[k];
        if (t->tell) t->tell(t->context, w, fabs(value));
        return RG_OK;
    }
    return RG_OK;
}

rg_status rg_translator_tune(double *out_before, double *out_after, rg_translator *translator, rg_session *session,
                             const rg_tuning *t)
{
    double w[RG_EXTRACT] = { 0 }, best = 0, last = 0;
    memset(translator->extract, 0, sizeof translator->extract);
    RG_TRY(try_weights(&best, session, t, w));
    *out_before = fabs(best);
    static const double steps[] = { 1, 0.5, 0.25 };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        do {
            last = best;
            for (size_t k = 0; k < RG_EXTRACT; k++) RG_TRY(move(w, &best, session, t, k, steps[i]));
        } while (best > last);
    memcpy(translator->extract, w, sizeof w);
    *out_after = fabs(best);
    return RG_OK;
}
