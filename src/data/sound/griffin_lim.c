/* griffin_lim.c - a sound from log-mel rows (Griffin, Lim 1984): phases are not in the rows, so they are guessed and
 * made consistent.
 *
 *     P(k): F P = exp r, P >= 0             by multiplicative updates P <- P * F'E / F'F P (Lee, Seung 2001)
 *     x <- overlap-add of w * inverse(sqrt(P) phase) / sum of w^2        phase <- X(x) / |X(x)|        repeated
 *
 * What bands did not keep, such as the pitch between two harmonics, does not come back: voices sound rough. */
#include <math.h>
#include <string.h>

#include "data/sound/frames.h"

enum { SOLVING = 40 };

/* |X| of every frame, (T, bins). `scratch` has mels numbers. */
static void solve(double *out, double *scratch, const rg_frames *f, const float *row)
{
    const size_t M = f->config.mels, K = f->bins;
    for (size_t k = 0; k < K; k++) out[k] = 1e-3;
    for (int round = 0; round < SOLVING; round++) {
        for (size_t m = 0; m < M; m++) {
            scratch[m] = 0;
            for (size_t k = 0; k < K; k++) scratch[m] += f->filter[m * K + k] * out[k];
        }
        for (size_t k = 0; k < K; k++) {
            double wanted = 0, there = 1e-12;
            for (size_t m = 0; m < M; m++) {
                wanted += f->filter[m * K + k] * exp(fmin(40, (double)row[m]));
                there += f->filter[m * K + k] * scratch[m];
            }
            out[k] *= wanted / there;
        }
    }
    for (size_t k = 0; k < K; k++) out[k] = sqrt(out[k]);
}

typedef struct {
    const rg_frames *frames;
    size_t           T;
    double          *magnitude, *phase; /* (T, bins); phase: radians */
    double          *re, *im, *weight;
    rg_sound         sound;
} inversion;

static void add_frame(inversion *x, double *sum, size_t t)
{
    const rg_frames *f = x->frames;
    const size_t     n = f->fourier.n;
    for (size_t k = 0; k < f->bins; k++) {
        const double *a = x->magnitude + t * f->bins, *p = x->phase + t * f->bins;
        x->re[k] = a[k] * cos(p[k]);
        x->im[k] = k == 0 || k == n / 2 ? 0 : a[k] * sin(p[k]);
        if (k && k < n / 2) x->re[n - k] = x->re[k], x->im[n - k] = -x->im[k];
    }
    rg_fourier__back(&f->fourier, x->re, x->im);
    for (size_t i = 0; i < f->window; i++) {
        sum[t * f->step + i] += x->re[i] * f->hann[i];
        x->weight[t * f->step + i] += f->hann[i] * f->hann[i];
    }
}

static void to_samples(inversion *x, double *sum)
{
    memset(sum, 0, x->sound.count * sizeof *sum);
    memset(x->weight, 0, x->sound.count * sizeof *x->weight);
    for (size_t t = 0; t < x->T; t++) add_frame(x, sum, t);
    for (size_t i = 0; i < x->sound.count; i++) x->sound.samples[i] = (float)(sum[i] / fmax(x->weight[i], 1e-3));
}

static void to_phases(inversion *x)
{
    const rg_frames *f = x->frames;
    for (size_t t = 0; t < x->T; t++) {
        rg_frames__spectrum(x->re, x->im, f, &x->sound, t * f->step);
        for (size_t k = 0; k < f->bins; k++) x->phase[t * f->bins + k] = atan2(x->im[k], x->re[k]);
    }
}

static void invert(inversion *x, double *sum, const float *rows, size_t rounds, uint64_t seed)
{
    const rg_frames *f = x->frames;
    rg_random        random = rg_random_new(seed, 0);
    for (size_t t = 0; t < x->T; t++) solve(x->magnitude + t * f->bins, sum, f, rows + t * f->config.mels);
    for (size_t i = 0; i < x->T * f->bins; i++) x->phase[i] = 6.283185307179586 * rg_random_uniform(&random);
    to_samples(x, sum);
    for (size_t r = 0; r < rounds; r++) {
        to_phases(x);
        to_samples(x, sum);
    }
    for (size_t i = 1; i < x->sound.count; i++) /* back from emphasis */
        x->sound.samples[i] = (float)((double)x->sound.samples[i] + f->config.emphasis * (double)x->sound.samples[i - 1]);
}

rg_status rg_frames_invert(rg_sound *out, const rg_frames *f, const float *rows, size_t T, size_t rounds, uint64_t seed)
{
    inversion    x = { .frames = f, .T = T };
    size_t       cells;
    if (!T || !rg_size_mul(&cells, T, f->bins) || T > RG_SOUND_MOST_BYTES / f->step)
        return rg_fail(RG_EINVAL, "%zu frames as a sound", T);
    const size_t count = (T - 1) * f->step + f->window, room = count > f->config.mels ? count : f->config.mels;
    double      *sum = rg_alloc_array(room, sizeof *sum);
    x.magnitude = rg_alloc_array(cells, sizeof *x.magnitude);
    x.phase = rg_alloc_array(cells, sizeof *x.phase);
    x.re = rg_alloc_array(2 * f->fourier.n, sizeof *x.re);
    x.weight = rg_alloc_array(count, sizeof *x.weight);
    rg_status status = sum && x.magnitude && x.phase && x.re && x.weight ? RG_OK : RG_ENOMEM;
    if (status == RG_OK) status = rg_sound_new(&x.sound, f->config.rate, count);
    if (status == RG_OK) {
        x.im = x.re + f->fourier.n;
        invert(&x, sum, rows, rounds, seed);
        *out = x.sound;
    }
    rg_free(sum);
    rg_free(x.magnitude);
    rg_free(x.phase);
    rg_free(x.re);
    rg_free(x.weight);
    return status;
}
