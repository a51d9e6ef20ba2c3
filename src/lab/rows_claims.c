/* rows_claims.c - what the rows say about a claim.
 *
 * With d the difference of two means and s its standard error, a claim d >= b
 *     holds when d - b >= 2 s,   does not when d - b < -2 s,   and is undecided between them.
 * s is that of the seeds, sqrt(sa^2 / na + sb^2 / nb); where a row has one seed, that of resampled test sentences,
 * where they are known. */
#include "lab/rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const rg_outcome *rg_outcome_find(const rg_outcome *lines, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (lines[i].runs && strcmp(lines[i].row->name, name) == 0) return &lines[i];
    return NULL;
}

rg_summary rg_outcome_summary(const rg_outcome *line, const char *result)
{
    return rg_results_summary(line->result, line->runs, result);
}

static const char holds[] = "holds", fails[] = "does not hold", undecided[] = "undecided",
                  open_claim[] = "not measured";

static const char *verdict(double margin, double error)
{
    if (margin >= 2 * error) return holds;
    return margin < -2 * error ? fails : undecided;
}

/* The text of a verdict: what was measured, then what it means. */
static void say(rg_verdict *out, const rg_claim *c, const char *format, ...) RG_PRINTF(3, 4);
static void say(rg_verdict *out, const rg_claim *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out->text, sizeof out->text, format, args);
    va_end(args);
    const size_t used = strlen(out->text);
    if (c->text) snprintf(out->text + used, sizeof out->text - used, " (%s)", c->text);
}

static void judge_bound(rg_verdict *out, const rg_claim *c, const char *result, const rg_outcome *l)
{
    const bool       least = c->kind == RG_CLAIM_LEAST;
    const char      *end = least ? "least" : "most";
    const rg_summary s = l ? rg_outcome_summary(l, result) : (rg_summary){ 0 };
    if (s.count == 0) say(out, c, "%s: %s at %s %g", c->a, result, end, c->by);
    else if (s.count == 1) say(out, c, "%s: %s %.2f, one seed, at %s %g", c->a, result, s.mean, end, c->by);
    else
        say(out, c, "%s: %s %.2f +- %.2f over %zu seeds, at %s %g", c->a, result, s.mean, s.deviation, s.count, end,
            c->by);
    if (s.count) out->word = (least ? s.mean >= c->by : s.mean <= c->by) ? holds : fails;
}

/* "at least 2 above 1.5 x", or "not more than 1 below". */
static void asked(char *out, size_t room, const rg_claim *c, double times)
{
    const int n = c->by < 0 ? snprintf(out, room, "not more than %g below", -c->by)
                            : snprintf(out, room, "at least %g above", c->by);
    if (times < 1 || times > 1) snprintf(out + n, room - (size_t)n, " %g times", times);
}

static double variance_of_mean(rg_summary s) { return s.deviation * s.deviation / (double)s.count; }

static rg_status judge_pair(rg_verdict *out, const rg_grid_job *job, const rg_claim *c, const char *result,
                            const rg_outcome *a, const rg_outcome *b)
{
    const rg_summary x = a ? rg_outcome_summary(a, result) : (rg_summary){ 0 },
                     y = b ? rg_outcome_summary(b, result) : (rg_summary){ 0 };
    const double times = c->times > 0 ? c->times : 1;
    char         want[64], spread[64] = "one seed", beside[64] = "";
    rg_resampled r = { 0 };
    asked(want, sizeof want, c, times);
    if (!x.count || !y.count) {
        say(out, c, "%s: %s is %s %s", result, c->a, want, c->b);
        return RG_OK;
    }
    if (job->grid->resample) RG_TRY(job->grid->resample(&r, job, c, a, b));
    const bool   seeds = x.count > 1 && y.count > 1;
    const double error = seeds     ? sqrt(variance_of_mean(x) + times * times * variance_of_mean(y))
                         : r.known ? r.error
                                   : 0;
    if (seeds || r.known)
        snprintf(spread, sizeof spread, "+- %.2f %s", error, seeds ? "by seeds" : "by sentences, one seed");
    if (r.known) snprintf(beside, sizeof beside, "; in %.1f %% of resamples", 100 * r.share);
    say(out, c, "%s: %s %.2f, %s %.2f, difference %+.2f %s; %s%s", result, c->a, x.mean, c->b, y.mean,
        x.mean - times * y.mean, spread, want, beside);
    out->word = verdict(x.mean - times * y.mean - c->by, error);
    return RG_OK;
}

/* The lowest and the highest mean of the rows in a list of names; false: one is not measured. */
static bool range_of(double *low, double *high, const char *names, const char *result, const rg_outcome *lines,
                     size_t count)
{
    bool measured = true;
    *low = INFINITY, *high = -INFINITY;
    for (const char *at = names; *at; at += strspn(at, " ")) {
        char         name[64];
        const size_t n = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        const rg_outcome *l = rg_outcome_find(lines, count, name);
        const double      mean = l ? rg_outcome_summary(l, result).mean : (double)NAN;
        measured = measured && isfinite(mean);
        *low = fmin(*low, mean), *high = fmax(*high, mean);
        at += n;
    }
    return measured;
}

static void judge_halfway(rg_verdict *out, const rg_claim *c, const char *result, const rg_outcome *lines, size_t count)
{
    const rg_outcome *a = rg_outcome_find(lines, count, c->a);
    const double      mean = a ? rg_outcome_summary(a, result).mean : (double)NAN;
    double            low, high;
    if (!range_of(&low, &high, c->b, result, lines, count) || !isfinite(mean)) {
        say(out, c, "%s: %s is at least halfway between %s", result, c->a, c->b);
        return;
    }
    say(out, c, "%s: %s %.3f, halfway between %s %.3f", result, c->a, mean, c->b, (low + high) / 2);
    out->word = mean >= (low + high) / 2 ? holds : fails;
}

static double lowest(const rg_outcome *l, const char *result)
{
    double low = INFINITY;
    for (size_t i = 0; i < l->runs; i++) low = fmin(low, rg_results_get(&l->result[i], result));
    return low;
}

/* Of one seed nothing can be said. */
static void judge_unsteady(rg_verdict *out, const rg_claim *c, const char *result, const rg_outcome *a,
                           const rg_outcome *b)
{
    const rg_summary x = a ? rg_outcome_summary(a, result) : (rg_summary){ 0 },
                     y = b ? rg_outcome_summary(b, result) : (rg_summary){ 0 };
    if (x.count < 2 || y.count < 2) {
        say(out, c, "%s: seeds of %s differ more than those of %s, or the worst is worse", result, c->a, c->b);
        return;
    }
    const double worst = lowest(a, result), other = lowest(b, result);
    say(out, c, "%s: %s +- %.4f, worst %.4f; %s +- %.4f, worst %.4f", result, c->a, x.deviation, worst, c->b,
        y.deviation, other);
    out->word = x.deviation > y.deviation || worst < other ? holds : fails;
}

static void judge_spread(rg_verdict *out, const rg_claim *c, const char *result, const rg_outcome *lines, size_t count)
{
    double     low, high;
    const bool measured = range_of(&low, &high, c->a, result, lines, count);
    if (measured) say(out, c, "%s: %s lie within %.2f, at most %g", result, c->a, high - low, c->by);
    else say(out, c, "%s: %s lie within %g", result, c->a, c->by);
    if (measured) out->word = high - low <= c->by ? holds : fails;
}

rg_status rg_claim_judge(rg_verdict *out, const rg_grid_job *job, const rg_claim *c, const rg_outcome *lines,
                         size_t count)
{
    const char *result = c->result ? c->result : job->grid->columns[0].result;
    *out = (rg_verdict){ .word = open_claim };
    switch (c->kind) {
    case RG_CLAIM_LEAST:
    case RG_CLAIM_MOST: judge_bound(out, c, result, rg_outcome_find(lines, count, c->a)); break;
    case RG_CLAIM_SPREAD: judge_spread(out, c, result, lines, count); break;
    case RG_CLAIM_HALFWAY: judge_halfway(out, c, result, lines, count); break;
    case RG_CLAIM_UNSTEADY:
        judge_unsteady(out, c, result, rg_outcome_find(lines, count, c->a), rg_outcome_find(lines, count, c->b));
        break;
    case RG_CLAIM_ABOVE:
        return judge_pair(out, job, c, result, rg_outcome_find(lines, count, c->a),
                          rg_outcome_find(lines, count, c->b));
    }
    return RG_OK;
}
