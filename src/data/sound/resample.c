/* resample.c - the same sound at another rate.
 *
 *     y_n = sum_k x_k h(n R - k) / sum_k h(n R - k)        R = old rate / new rate
 *     h(t) = sinc(c t) cos^2(pi t / 2 T), |t| < T          c = min(1, 1 / R) 0.95, T = LOBES / c
 *
 * sinc(t) = sin(pi t) / (pi t). Dividing by the sum of the weights keeps a constant what it is. Where samples lie
 * relative to the old ones repeats after new rate / gcd steps: weights are kept for each of these phases while they
 * are few. */
#include <math.h>
#include <string.h>

#include "data/sound/sound.h"

enum { LOBES = 16, KEPT = 1 << 20 }; /* zero crossings on a side; weights that are kept */

static const double pi = 3.1415926535897932384626433832795;

typedef struct {
    double cut, reach; /* c and T */
    size_t taps;       /* weights of a phase: 2 * ceil(T) + 1 */
    size_t from, to;   /* rates without their common divisor */
} filter;

static size_t common_divisor(size_t a, size_t b)
{
    while (b) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Weights of the samples floor(place) - ceil(T) .. floor(place) + ceil(T), where `place` has `part` behind the point. */
static void fill_weights(float *out, const filter *f, double part)
{
    const double side = (double)(f->taps / 2);
    double       sum = 0;
    for (size_t i = 0; i < f->taps; i++) {
        const double t = part + side - (double)i, x = pi * f->cut * t;
        const double window = fabs(t) < f->reach ? cos(pi * t / (2 * f->reach)) : 0;
        const double h = window * window * (fabs(x) < 1e-9 ? 1 : sin(x) / x);
        out[i] = (float)h;
        sum += h;
    }
    for (size_t i = 0; i < f->taps; i++) out[i] = (float)((double)out[i] / sum);
}

static double mix(const rg_sound *s, const float *weight, size_t taps, size_t at)
{
    const size_t side = taps / 2;
    double       sum = 0;
    for (size_t i = at < side ? side - at : 0; i < taps && at + i - side < s->count; i++)
        sum += (double)weight[i] * (double)s->samples[at + i - side];
    return sum;
}

static filter filter_of(size_t from, size_t to)
{
    const size_t divisor = common_divisor(from, to);
    filter       f = { .from = from / divisor, .to = to / divisor };
    f.cut = 0.95 * (to < from ? (double)to / (double)from : 1);
    f.reach = LOBES / f.cut;
    f.taps = 2 * (size_t)ceil(f.reach) + 1;
    return f;
}

static rg_status run(rg_sound *out, const rg_sound *s, const filter *f)
{
    const bool   keeps = f->to <= KEPT / f->taps;
    const size_t rows = keeps ? f->to : 1;
    float       *weight = rg_alloc_array(rows * f->taps, sizeof *weight);
    bool        *there = rg_alloc_zero(rows);
    rg_status    status = weight && there ? RG_OK : RG_ENOMEM;
    for (size_t n = 0; status == RG_OK && n < out->count; n++) {
        const uint64_t place = (uint64_t)n * f->from;
        const size_t   phase = (size_t)(place % f->to), row = keeps ? phase : 0;
        if (!there[row] || !keeps) fill_weights(weight + row * f->taps, f, (double)phase / (double)f->to);
        there[row] = true;
        out->samples[n] = (float)mix(s, weight + row * f->taps, f->taps, (size_t)(place / f->to));
    }
    rg_free(weight);
    rg_free(there);
    return status;
}

rg_status rg_sound_resample(rg_sound *out, const rg_sound *s, size_t rate)
{
    rg_sound to = { 0 };
    if (rate < RG_SOUND_LEAST_RATE || rate > RG_SOUND_MOST_RATE)
        return rg_fail(RG_EINVAL, "%zu samples a second; %d to %d are possible", rate, RG_SOUND_LEAST_RATE,
                       RG_SOUND_MOST_RATE);
    const filter   f = filter_of(s->rate, rate);
    const uint64_t count = ((uint64_t)s->count * f.to + f.from - 1) / f.from;
    if (count > RG_SOUND_MOST_BYTES)
        return rg_fail(RG_ELIMIT, "%zu samples at %zu a second are %llu at %zu: too many", s->count, s->rate,
                       (unsigned long long)count, rate);
    RG_TRY(rg_sound_new(&to, rate, (size_t)count));
    rg_status status = RG_OK;
    if (f.from == f.to) memcpy(to.samples, s->samples, s->count * sizeof *to.samples);
    else status = run(&to, s, &f);
    if (status == RG_OK) *out = to;
    else rg_sound_free(&to);
    return status;
}
