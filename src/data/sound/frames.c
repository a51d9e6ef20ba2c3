/* frames.c - log-mel rows of a sound.
 *
 *     x(n) = s(n) - emphasis s(n - 1)                            samples s; vowels are louder below, hisses above
 *     X_t(k) = sum_n x(t S + n) w(n) exp(-2 pi i n k / N)        w(n) = (1 - cos(2 pi n / W)) / 2, n < W <= N = 2^m
 *     E_t(m) = sum_k F_m(k) |X_t(k)|^2                           F_m: triangles between neighbours of M + 2 points that
 *     r_t(m) = ln max(E_t(m), 1e-8)                              are equally far apart in mel(f) = 2595 log10(1 + f / 700)
 *
 * W and S are the window and the step in samples, F_m has its peak 1 at point m + 1 (Davis, Mermelstein 1980; the scale
 * of O'Shaughnessy 1987). No cosine transform follows: neighbouring bands stay neighbours. Frames begin at 0, S, 2 S, ...
 * while a whole window is left; a sound shorter than a window is one frame, filled up with zeros.
 *
 * Backgrounds differ more than voices do: r is raised to max r - range ln 10 / 10, where a range (dB) is given.
 *
 * Normalisation is over the frames of the recording: r - mean r (level), r - mean_t r (mean), the same over the deviation
 * (variance). Stacking puts `stack` frames side by side; the last row is filled up by repeating the last frame. */
#include "data/sound/frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static const char *const norms[RG_FRAMES_NORMS] = { "none", "level", "mean", "variance" };

const char *rg_frames_norm_name(rg_frames_norm norm) { return (unsigned)norm < RG_FRAMES_NORMS ? norms[norm] : ""; }

/* -------------------------------------------------------------------------------------------------------- settings */

enum { MOST_MELS = 256, MOST_STACK = 32 };

static size_t samples_of(double milliseconds, size_t rate) { return (size_t)lrint(milliseconds * (double)rate / 1000); }

static double highest(const rg_frames_config *c) { return c->high > 0 ? c->high : (double)c->rate / 2; }

rg_status rg_frames_check(const rg_frames_config *c)
{
    if (c->rate < RG_SOUND_LEAST_RATE || c->rate > RG_SOUND_MOST_RATE)
        return rg_fail(RG_EINVAL, "%zu samples a second; %d to %d are possible", c->rate, RG_SOUND_LEAST_RATE,
                       RG_SOUND_MOST_RATE);
    if (!c->mels || c->mels > MOST_MELS) return rg_fail(RG_EINVAL, "%zu bands; 1 to %d are possible", c->mels, MOST_MELS);
    if (!c->stack || c->stack > MOST_STACK)
        return rg_fail(RG_EINVAL, "%zu frames to a row; 1 to %d are possible", c->stack, MOST_STACK);
    if (!(c->window >= 1 && c->window <= 1000 && c->step >= 1 && c->step <= c->window))
        return rg_fail(RG_EINVAL, "windows of %g ms every %g ms; windows of 1 to 1000 and no larger steps are possible",
                       c->window, c->step);
    if (!(c->low >= 0 && c->low < highest(c) && highest(c) <= (double)c->rate / 2))
        return rg_fail(RG_EINVAL, "bands from %g to %g Hz; a rate of %zu has 0 to %g", c->low, highest(c), c->rate,
                       (double)c->rate / 2);
    if (!(c->emphasis >= 0 && c->emphasis < 1))
        return rg_fail(RG_EINVAL, "an emphasis of %g; 0 to below 1 is possible", c->emphasis);
    if (!(c->range >= 0 && c->range <= 200)) return rg_fail(RG_EINVAL, "a range of %g dB; 0 to 200 are possible", c->range);
    return (unsigned)c->norm < RG_FRAMES_NORMS ? RG_OK : rg_fail(RG_EINVAL, "normalisation %d is none", (int)c->norm);
}

size_t rg_frames_width(const rg_frames_config *c) { return c->mels * c->stack; }

rg_status rg_frames_config_print(rg_text *out, const rg_frames_config *c)
{
    return rg_text_print(out, "rate %zu mels %zu window %g step %g low %g high %g emphasis %g range %g stack %zu norm %s",
                         c->rate, c->mels, c->window, c->step, c->low, c->high, c->emphasis, c->range, c->stack, rg_frames_norm_name(c->norm));
}

/* The number of a word; false: it is none, or outside 0 .. 1e6. */
static bool to_number(double *out, const char *word)
{
    char *end;
    *out = rg_real_parse(word, &end);
    return end != word && !*end && *out >= 0 && *out <= 1e6;
}

static bool set(rg_frames_config *c, const char *name, const char *word)
{
    struct {
        const char *name;
        size_t     *whole;
        double     *real;
    } rows[] = { { "rate", &c->rate, NULL },      { "mels", &c->mels, NULL },   { "window", NULL, &c->window },
                 { "step", NULL, &c->step },      { "low", NULL, &c->low },     { "high", NULL, &c->high },
                 { "range", NULL, &c->range },
                 { "emphasis", NULL, &c->emphasis },
                 { "stack", &c->stack, NULL } };
    double value;
    for (int n = 0; n < RG_FRAMES_NORMS && strcmp(name, "norm") == 0; n++)
        if (strcmp(word, norms[n]) == 0) return c->norm = (rg_frames_norm)n, true;
    if (!to_number(&value, word)) return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) != 0) continue;
        if (rows[i].real) return *rows[i].real = value, true;
        *rows[i].whole = (size_t)value;
        return (double)*rows[i].whole == value;
    }
    return false;
}

rg_status rg_frames_config_parse(rg_frames_config *out, const char *text)
{
    rg_frames_config c = RG_FRAMES_CONFIG_DEFAULT;
    char             word[2][32];
    for (const char *at = text; *(at += strspn(at, " "));) {
        for (int i = 0; i < 2; i++) {
            at += strspn(at, " ");
            const size_t bytes = strcspn(at, " ");
            if (!bytes || bytes >= sizeof word[i])
                return rg_fail(RG_EFORMAT, "settings of sound: '%.60s' is no list of names and values", text);
            memcpy(word[i], at, bytes);
            word[i][bytes] = '\0';
            at += bytes;
        }
        if (!set(&c, word[0], word[1]))
            return rg_fail(RG_EFORMAT, "settings of sound: '%s %s' is not known", word[0], word[1]);
    }
    const rg_status status = rg_frames_check(&c);
    if (status != RG_OK) return rg_fail_in(RG_EFORMAT, "settings of sound: ");
    *out = c;
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- tables */

static double to_mel(double hertz) { return 2595 * log10(1 + hertz / 700); }
static double from_mel(double mel) { return 700 * (pow(10, mel / 2595) - 1); }

static rg_status fill_filters(rg_frames *f)
{
    const rg_frames_config *c = &f->config;
    const double            low = to_mel(c->low), apart = (to_mel(highest(c)) - low) / (double)(c->mels + 1);
    for (size_t m = 0; m < c->mels; m++) {
        const double left = from_mel(low + apart * (double)m), peak = from_mel(low + apart * (double)(m + 1)),
                     right = from_mel(low + apart * (double)(m + 2));
        double       sum = 0;
        for (size_t k = 0; k < f->bins; k++) {
            const double hertz = (double)k * (double)c->rate / (double)f->fourier.n;
            const double weight = fmin((hertz - left) / (peak - left), (right - hertz) / (right - peak));
            sum += f->filter[m * f->bins + k] = fmax(0, weight);
        }
        if (!(sum > 0))
            return rg_fail(RG_EINVAL,
                           "%zu bands are too many for windows of %g ms: no frequency lies between %.0f and %.0f Hz",
                           c->mels, c->window, left, right);
    }
    return RG_OK;
}

rg_status rg_frames_new(rg_frames **out, const rg_frames_config *c)
{
    RG_TRY(rg_frames_check(c));
    rg_frames *f = rg_alloc_zero(sizeof *f);
    if (!f) return RG_ENOMEM;
    f->config = *c;
    f->window = samples_of(c->window, c->rate);
    f->step = samples_of(c->step, c->rate);
    if (!f->step) f->step = 1;
    size_t n = 2;
    while (n < f->window) n *= 2;
    f->bins = n / 2 + 1;
    rg_status status = rg_fourier__init(&f->fourier, n);
    f->hann = rg_alloc_array(f->window + 1, sizeof *f->hann);
    f->filter = rg_alloc_zero(c->mels * f->bins * sizeof *f->filter);
    if (status == RG_OK && (!f->hann || !f->filter)) status = RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < f->window; i++)
        f->hann[i] = 0.5 - 0.5 * cos(6.283185307179586476925286766559 * (double)i / (double)f->window);
    if (status == RG_OK) status = fill_filters(f);
    if (status == RG_OK) *out = f;
    else rg_frames_free(f);
    return status;
}

void rg_frames_free(rg_frames *f)
{
    if (!f) return;
    rg_fourier__fini(&f->fourier);
    rg_free(f->hann);
    rg_free(f->filter);
    rg_free(f);
}

const rg_frames_config *rg_frames_config_of(const rg_frames *f) { return &f->config; }

/* ------------------------------------------------------------------------------------------------------------ rows */

size_t rg_frames__count(const rg_frames *f, size_t samples)
{
    return samples <= f->window ? 1 : 1 + (samples - f->window) / f->step;
}

void rg_frames__spectrum(double *re, double *im, const rg_frames *f, const rg_sound *s, size_t at)
{
    for (size_t i = 0; i < f->fourier.n; i++) {
        re[i] = i < f->window && at + i < s->count ? (double)s->samples[at + i] * f->hann[i] : 0;
        im[i] = 0;
    }
    rg_fourier__run(&f->fourier, re, im);
}

static void log_mel(float *out, const rg_frames *f, const double *re, const double *im)
{
    for (size_t m = 0; m < f->config.mels; m++) {
        const double *weight = f->filter + m * f->bins;
        double        energy = 0;
        for (size_t k = 0; k < f->bins; k++) energy += weight[k] * (re[k] * re[k] + im[k] * im[k]);
        out[m] = (float)log(fmax(energy, 1.0 / RG_FRAMES_FLOOR));
    }
}

static void limit(float *r, size_t count, double decibels)
{
    double top = -INFINITY;
    for (size_t i = 0; i < count; i++) top = fmax(top, (double)r[i]);
    const float least = (float)(top - decibels * log(10) / 10);
    for (size_t i = 0; i < count && decibels > 0; i++) r[i] = r[i] < least ? least : r[i];
}

/* (T, M) in place. Columns that hardly change are not blown up. */
static void normalize(float *r, size_t T, size_t M, rg_frames_norm norm)
{
    enum { LEAST_DEVIATION = 10 }; /* 1 / 10 */
    double level = 0;
    for (size_t i = 0; i < T * M; i++) level += (double)r[i] / (double)(T * M);
    for (size_t m = 0; m < M && norm != RG_FRAMES_RAW; m++) {
        double mean = 0, square = 0;
        for (size_t t = 0; t < T; t++) mean += (double)r[t * M + m] / (double)T;
        for (size_t t = 0; t < T; t++) square += pow((double)r[t * M + m] - mean, 2) / (double)T;
        const double away = norm == RG_FRAMES_LEVEL ? level : mean,
                     scale = norm == RG_FRAMES_VARIANCE ? 1 / fmax(sqrt(square), 1.0 / LEAST_DEVIATION) : 1;
        for (size_t t = 0; t < T; t++) r[t * M + m] = (float)(((double)r[t * M + m] - away) * scale);
    }
}

static rg_status rows_of(rg_text *out, const rg_frames *f, const rg_sound *s)
{
    const size_t M = f->config.mels, T = rg_frames__count(f, s->count), stack = f->config.stack,
                 rows = (T + stack - 1) / stack, n = f->fourier.n;
    double      *re = rg_alloc_array(2 * n, sizeof *re);
    float       *r = rg_alloc_array(rows * stack * M, sizeof *r);
    rg_status    status = re && r ? RG_OK : RG_ENOMEM;
    for (size_t t = 0; status == RG_OK && t < T; t++) {
        rg_frames__spectrum(re, re + n, f, s, t * f->step);
        log_mel(r + t * M, f, re, re + n);
    }
    if (status == RG_OK) {
        limit(r, T * M, f->config.range);
        normalize(r, T, M, f->config.norm);
        for (size_t t = T; t < rows * stack; t++) memcpy(r + t * M, r + (T - 1) * M, M * sizeof *r);
        status = rg_text_add(out, r, rows * stack * M * sizeof *r);
    }
    rg_free(re);
    rg_free(r);
    return status;
}

rg_status rg_frames_of(rg_text *out, const rg_frames *f, const rg_sound *s)
{
    rg_sound here = { 0 };
    RG_TRY(rg_sound_resample(&here, s, f->config.rate)); /* a copy where the rate is the same */
    for (size_t i = here.count; i-- > 1;)
        here.samples[i] = (float)((double)here.samples[i] - f->config.emphasis * (double)here.samples[i - 1]);
    const rg_status status = rows_of(out, f, &here);
    rg_sound_free(&here);
    return status;
}

rg_status rg_frames_decode(rg_text *out, size_t width, const rg_cell *cell, void *context)
{
    const rg_frames *f = context;
    rg_sound         s = { 0 };
    if (width != rg_frames_width(&f->config))
        return rg_fail(RG_ESHAPE, "rows of %zu numbers from %zu bands", width, rg_frames_width(&f->config));
    RG_TRY(rg_sound_decode(&s, cell->bytes, cell->count));
    const rg_status status = rg_frames_of(out, f, &s);
    rg_sound_free(&s);
    return status;
}
