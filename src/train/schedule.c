/* schedule.c - the learning rate as a function of the step number, one row each. */
#include <math.h>
#include <string.h>

#include "regard/train.h"

/* Rises linearly to 1 over the warm-up. */
static double warm(const rg_schedule *s, double t) { return s->warmup > 0 && t < s->warmup ? t / s->warmup : 1; }
static double past(const rg_schedule *s, double t) { return t > s->start ? t - s->start : 0; }

/* 1 until the last `cooldown` steps, then down a line that would reach 0 one step after the end. */
static double cool(const rg_schedule *s, double t)
{
    return fmin(1, fmax(0, s->end + 1 - t) / fmin(s->cooldown, s->end));
}

static double constant(const rg_schedule *s, double t) { return s->rate * warm(s, t); }

/* Vaswani et al. 2017, equation 3 */
static double transformer(const rg_schedule *s, double t)
{
    double rising = s->warmup > 0 ? t * pow(s->warmup, -1.5) : INFINITY;
    return s->rate * fmin(1 / sqrt(t), rising) / sqrt(s->width);
}

/* Marian's --lr-warmup and --lr-decay-inv-sqrt */
static double inverse_sqrt(const rg_schedule *s, double t)
{
    double start = s->start > 0 ? s->start : s->warmup > 0 ? s->warmup : 1;
    return s->rate * warm(s, t) * (t > start ? sqrt(start / t) : 1);
}

static double exponential(const rg_schedule *s, double t)
{
    return s->rate * warm(s, t) * pow(s->decay, past(s, t) / s->every);
}

/* Luong et al. 2015: halved every so many steps once `start` is over; the first cut comes at start itself when every
 * > 0 */
static double in_steps(const rg_schedule *s, double t)
{
    double cuts = t > s->start ? 1 + floor((t - s->start - 1) / s->every) : 0;
    return s->rate * warm(s, t) * pow(s->decay, cuts);
}

/* How much of the fall is behind us: by updates, or where their number is not known by the progress of the run. */
static double fallen(const rg_schedule *s, double t) { return fmin(1, s->every > 0 ? past(s, t) / s->every : s->part); }

static double cosine(const rg_schedule *s, double t)
{
    const double part = fallen(s, t);
    return warm(s, t) * (s->least + (s->rate - s->least) * 0.5 * (1 + cos(3.14159265358979323846 * part)));
}

static double linear(const rg_schedule *s, double t)
{
    const double part = fallen(s, t);
    return warm(s, t) * (s->rate + (s->least - s->rate) * part);
}

/* Zaremba, Sutskever, Vinyals 2014: constant for `start` epochs, then times `decay` with every further one */
static double by_epochs(const rg_schedule *s, double epoch) { return s->rate * pow(s->decay, past(s, epoch)); }

/* Ganin et al. 2016, section 5.2 */
static double dann(const rg_schedule *s, double t) { return s->rate * warm(s, t) / pow(1 + 10 * s->part, 0.75); }

static const rg_schedule_kind kinds[] = {
    { "constant", "rate min(1, t/warmup)", constant, false, false },
    { "transformer", "rate width^-0.5 min(t^-0.5, t warmup^-1.5)", transformer, false, false },
    { "inverse-sqrt", "rate min(1, t/warmup) sqrt(start / max(start, t))", inverse_sqrt, false, false },
    { "exponential", "rate min(1, t/warmup) decay^(max(0, t-start) / every)", exponential, false, false },
    { "step", "rate min(1, t/warmup) decay^(cuts made after start, one every so many steps)", in_steps, false, false },
    { "cosine", "from rate to least over `every` steps after start, or the whole run, along half a cosine", cosine, false, false },
    { "linear", "from rate to least over `every` steps after start, or the whole run, along a line", linear, false, false },
    { "epochs", "rate decay^max(0, epoch - start)", by_epochs, true, false },
    { "dann", "rate min(1, t/warmup) / (1 + 10 p)^0.75, p the part of the run that is done", dann, false, true },
    { .name = NULL }
};

const rg_schedule_kind *rg_schedule_kinds(void) { return kinds; }

static const rg_schedule_kind *find(const char *name)
{
    for (const rg_schedule_kind *k = kinds; k->name; k++)
        if (name && strcmp(k->name, name) == 0) return k;
    return NULL;
}

rg_status rg_schedule_check(const rg_schedule *s)
{
    const rg_schedule_kind *kind = find(s->name);
    if (!kind) return rg_fail(RG_EINVAL, "there is no learning-rate schedule '%s'", s->name ? s->name : "");
    const struct { const char *name; double value;
    } rows[] = {
        { "rate", s->rate },   { "warm-up", s->warmup },    { "start", s->start }, { "least rate", s->least },
        { "decay", s->decay }, { "cooldown", s->cooldown }, { "end", s->end },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!(rows[i].value >= 0) || !isfinite(rows[i].value))
            return rg_fail(RG_EINVAL, "schedule %s: the %s is %g", s->name, rows[i].name, rows[i].value);
    if (kind->by_epochs && s->warmup > 0)
        return rg_fail(RG_EINVAL, "schedule %s counts epochs: a warm-up of %g updates has no place in it", s->name,
                       s->warmup);
    if (kind->rate == transformer && !(s->width > 0))
        return rg_fail(RG_EINVAL, "schedule transformer: the model's width is %g", s->width);
    const bool cuts = kind->rate == exponential || kind->rate == in_steps;
    const bool falls = kind->rate == cosine || kind->rate == linear;
    if ((cuts || (falls && s->start > 0)) && !(s->every > 0))
        return rg_fail(RG_EINVAL, "schedule %s: every %g steps; --lr-decay-freq gives their number", s->name, s->every);
    if (kind->by_epochs && s->cooldown > 0)
        return rg_fail(RG_EINVAL, "schedule %s counts epochs: a cooldown of %g updates has no place in it", s->name,
                       s->cooldown);
    if (s->cooldown > 0 && !(s->end > 0))
        return rg_fail(RG_EINVAL, "schedule %s: %g steps of cooldown before an end that is not known", s->name,
                       s->cooldown);
    return RG_OK;
}

bool rg_schedule_by_epochs(const rg_schedule *s)
{
    const rg_schedule_kind *kind = find(s->name);
    return kind && kind->by_epochs;
}

double rg_schedule_rate(const rg_schedule *s, uint64_t step)
{
    const rg_schedule_kind *kind = find(s->name);
    double                  rate = kind ? kind->rate(s, step ? (double)step : 1) : s->rate;
    if (s->cooldown > 0) return rate * cool(s, (double)step);
    return rate > s->least || (s->warmup > 0 && (double)step < s->warmup) ? rate : s->least;
}
