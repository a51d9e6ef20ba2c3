/* resize.c - pictures of another size: along the lines, then across them.
 *
 *   out[i] = sum_j w_ij in[j]        w_ij = f((j + 1/2 - c) / s), then made to sum to 1
 *
 * c = (i + 1/2) * in / out is the middle of output pixel i in pixels of the input, s = max(1, in / out) the width of
 * the filter: a reduction averages over everything it drops. Weights are whole numbers of 1/2^22 (their sum is
 * exactly 2^22), so that sums have no rounding and every machine gives the same bytes. */
#include "data/pictures/pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHIFT = 22, ONE = 1 << SHIFT };

static double area(double x) { return x > -0.5 && x <= 0.5 ? 1 : 0; }

static double tent(double x) { return fmax(0, 1 - fabs(x)); }

static double lanczos(double x)
{
    const double p = 3.14159265358979323846 * x;
    if (fabs(x) < 1e-9) return 1;
    return fabs(x) < 3 ? sin(p) / p * sin(p / 3) / (p / 3) : 0;
}

static const struct {
    double (*f)(double x);
    double reach; /* f is 0 beyond */
} filters[RG_RESIZES] = { { area, 0.5 }, { tent, 1 }, { lanczos, 3 } };

/* Weights of one direction: output i is made of inputs first[i] .. first[i] + taps - 1. */
typedef struct taps {
    size_t   most;
    size_t  *first, *count;
    int32_t *weight; /* (out, most) */
} taps;

static void taps_free(taps *t)
{
    rg_free(t->first);
    rg_free(t->count);
    rg_free(t->weight);
}

/* Whole numbers whose sum is ONE: the largest takes what rounding left. */
static void normalise(int32_t *w, const double *f, size_t count)
{
    double  sum = 0;
    int32_t left = ONE;
    size_t  best = 0;
    for (size_t j = 0; j < count; j++) sum += f[j];
    for (size_t j = 0; j < count; j++) {
        w[j] = (int32_t)lrint(f[j] / sum * ONE);
        left -= w[j];
        if (f[j] > f[best]) best = j;
    }
    w[best] += left;
}

static rg_status taps_make(taps *t, size_t in, size_t out, rg_resize how)
{
    const double ratio = (double)in / (double)out, scale = fmax(1, ratio), reach = filters[how].reach * scale;
    const size_t most = (size_t)(2 * reach) + 3;
    double      *f = rg_alloc_array(most, sizeof *f);
    *t = (taps){ most, rg_alloc_array(out, sizeof *t->first), rg_alloc_array(out, sizeof *t->count), NULL };
    size_t room;
    if (rg_size_mul(&room, out, most)) t->weight = rg_alloc_array(room, sizeof *t->weight);
    if (!f || !t->first || !t->count || !t->weight) {
        rg_free(f);
        return RG_ENOMEM;
    }
    for (size_t i = 0; i < out; i++) {
        const double middle = ((double)i + 0.5) * ratio;
        const double from = floor(middle - reach), to = ceil(middle + reach);
        const size_t first = from > 0 ? (size_t)from : 0, last = to < (double)in ? (size_t)to : in;
        for (size_t j = first; j < last && j - first < most; j++)
            f[j - first] = filters[how].f(((double)j + 0.5 - middle) / scale);
        t->first[i] = first;
        t->count[i] = last - first < most ? last - first : most;
        normalise(t->weight + i * most, f, t->count[i]);
    }
    rg_free(f);
    return RG_OK;
}

/* Sums of bytes by these weights and half of ONE stay below 2^31: sum_j |w_ij| < 2^23 for every i. Filters of this file
 * have less than half of that; a filter that had more would wrap around. */
static bool fits_int32(const taps *t, size_t out)
{
    for (size_t i = 0; i < out; i++) {
        int64_t sum = 0;
        for (size_t j = 0; j < t->count[i]; j++) sum += llabs((long long)t->weight[i * t->most + j]);
        if (sum >= 2 * (int64_t)ONE) return false;
    }
    return true;
}

static unsigned char rounded(int32_t sum)
{
    const int32_t value = (sum + ONE / 2) >> SHIFT;
    return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* Along each line: pixels C apart, lines one after another. */
static void along(unsigned char *out, const unsigned char *in, size_t lines, size_t out_width, size_t in_width,
                  size_t C, const taps *t)
{
    for (size_t y = 0; y < lines; y++)
        for (size_t x = 0; x < out_width; x++) {
            const unsigned char *from = in + (y * in_width + t->first[x]) * C;
            const int32_t       *w = t->weight + x * t->most;
            unsigned char       *to = out + (y * out_width + x) * C;
            if (C == 3) {
                int32_t r = 0, g = 0, b = 0;
                for (size_t j = 0; j < t->count[x]; j++, from += 3)
                    r += w[j] * from[0], g += w[j] * from[1], b += w[j] * from[2];
                to[0] = rounded(r), to[1] = rounded(g), to[2] = rounded(b);
                continue;
            }
            for (size_t c = 0; c < C; c++) {
                int32_t sum = 0;
                for (size_t j = 0; j < t->count[x]; j++) sum += w[j] * from[j * C + c];
                to[c] = rounded(sum);
            }
        }
}

/* Some bytes of a line at a time, their sums side by side. */
static void across(unsigned char *out, const unsigned char *in, size_t out_height, size_t bytes, const taps *t)
{
    enum { SOME = 256 };
    for (size_t y = 0; y < out_height; y++)
        for (size_t at = 0; at < bytes; at += SOME) {
            const size_t n = bytes - at < SOME ? bytes - at : SOME;
            int32_t      sum[SOME] = { 0 };
            for (size_t j = 0; j < t->count[y]; j++) {
                const unsigned char *from = in + (t->first[y] + j) * bytes + at;
                const int32_t        w = t->weight[y * t->most + j];
                for (size_t i = 0; i < n; i++) sum[i] += w * from[i];
            }
            for (size_t i = 0; i < n; i++) out[y * bytes + at + i] = rounded(sum[i]);
        }
}

rg_status rg_picture_resize(rg_picture *out, const rg_picture *p, size_t height, size_t width, rg_resize how)
{
    rg_picture made = { 0 }, half = { 0 };
    taps       x = { 0 }, y = { 0 };
    RG_TRY(rg_picture__check_size(height, width, 1));
    if (height == p->height && width == p->width) return rg_picture_copy(out, p); /* every filter gives the same bytes */
    rg_status status = taps_make(&x, p->width, width, how);
    if (status == RG_OK) status = taps_make(&y, p->height, height, how);
    if (status == RG_OK && !(fits_int32(&x, width) && fits_int32(&y, height)))
        status = rg_fail(RG_ELIMIT, "the filter's weights are too large"); /* of no filter there is */
    if (status == RG_OK) status = rg_picture_new(&half, p->height, width, p->channels);
    if (status == RG_OK) status = rg_picture_new(&made, height, width, p->channels);
    if (status == RG_OK) {
        along(half.pixels, p->pixels, p->height, width, p->width, p->channels, &x);
        across(made.pixels, half.pixels, height, width * p->channels, &y);
        *out = made;
    }
    rg_picture_free(&half);
    taps_free(&x);
    taps_free(&y);
    return status;
}

/* -------------------------------------------------------------------------------------------------------------- fit */

static const char *const fits[RG_FITS] = { "crop", "stretch", "pad" };

const char *rg_fit_name(rg_fit fit) { return (unsigned)fit < RG_FITS ? fits[fit] : ""; }

rg_status rg_fit_find(rg_fit *out, const char *name)
{
    for (int i = 0; i < RG_FITS; i++)
        if (!strcmp(fits[i], name)) return *out = (rg_fit)i, RG_OK;
    return rg_fail(RG_EINVAL, "pictures cannot be fitted by '%s': crop, stretch, pad", name);
}

/* a * b / c, rounded, at least 1. */
static size_t part(size_t a, size_t b, size_t c)
{
    const size_t value = (2 * a * b + c) / (2 * c);
    return value ? value : 1;
}

/* `crop` cuts the input to the frame's shape first, `pad` makes the largest picture of the input's shape: both
 * resize to what they keep. */
rg_status rg_picture_fit(rg_picture *out, const rg_picture *p, size_t height, size_t width, rg_fit fit, rg_resize how)
{
    const bool wide = p->width * height > width * p->height; /* wider than the frame; sides are at most 2^16 */
    rg_picture step = { 0 };
    rg_status  status;
    RG_TRY(rg_picture__check_size(height, width, 1));
    if (fit == RG_FIT_STRETCH) return rg_picture_resize(out, p, height, width, how);
    if (fit == RG_FIT_CROP) {
        size_t h = wide ? p->height : part(p->width, height, width),
               w = wide ? part(p->height, width, height) : p->width;
        if (h > p->height) h = p->height;
        if (w > p->width) w = p->width;
        RG_TRY(rg_picture_crop(&step, p, (ptrdiff_t)(p->height - h) / 2, (ptrdiff_t)(p->width - w) / 2, h, w));
        status = rg_picture_resize(out, &step, height, width, how);
    } else {
        const size_t h = wide ? part(p->height, width, p->width) : height,
                     w = wide ? width : part(p->width, height, p->height);
        RG_TRY(rg_picture_resize(&step, p, h, w, how));
        status = rg_picture_crop(out, &step, -(ptrdiff_t)(height - h) / 2, -(ptrdiff_t)(width - w) / 2, height, width);
    }
    rg_picture_free(&step);
    return status;
}
