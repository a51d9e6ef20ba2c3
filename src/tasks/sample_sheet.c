/* sample_sheet.c - samples as one picture: pictures side by side; numbers in pairs as points of a plane. At a
 * validation it is kept beside the model, MODEL.samples/STEP.png, for `regard report`. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "tasks/sample.h"

enum { KEPT = 64,
       SIDE = 160 }; /* pictures of a kept sheet; pixels of a side of a plane */

static void to_pixels(unsigned char *to, const rg_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] = (unsigned char)(255 * fmin(1, fmax(0, (double)x[i])) + 0.5);
}

/* --------------------------------------------------------------------------------------------------------- pictures */

rg_status rg_sample_picture(const char *path, const rg_real *x, const rg_model *m)
{
    rg_picture p = { 0 };
    RG_TRY(rg_picture_new(&p, rg_model_size(m, "height"), rg_model_size(m, "width"), rg_model_size(m, "channels")));
    to_pixels(p.pixels, x, rg_model_size(m, "features"));
    const rg_status status = rg_picture_save(path, &p);
    rg_picture_free(&p);
    return status;
}

rg_status rg_sheet_new(rg_sheet *s, const rg_model *m, size_t n, size_t across)
{
    s->across = across ? across : (size_t)ceil(sqrt((double)n));
    const size_t down = (n + s->across - 1) / s->across;
    return rg_picture_new(&s->picture, down * (rg_model_size(m, "height") + 1),
                          s->across * (rg_model_size(m, "width") + 1), rg_model_size(m, "channels"));
}

void rg_sheet_add(rg_sheet *s, const rg_real *x, const rg_model *m, size_t first, size_t count)
{
    const size_t H = rg_model_size(m, "height"), W = rg_model_size(m, "width"), C = rg_model_size(m, "channels");
    for (size_t i = 0; i < count; i++) {
        const size_t top = (first + i) / s->across * (H + 1), left = (first + i) % s->across * (W + 1);
        for (size_t y = 0; y < H; y++)
            to_pixels(s->picture.pixels + ((top + y) * s->picture.width + left) * C, x + (i * H + y) * W * C, W * C);
    }
}

/* ----------------------------------------------------------------------------------------------------------- points */

typedef struct {
    double low, high;
} range;

/* Of column j of the data, with a border: what the plane shows stays the same from sheet to sheet. */
static range range_of(const rg_real *data, size_t n, size_t j)
{
    range r = { (double)data[j], (double)data[j] };
    for (size_t i = 1; i < n; i++) {
        r.low = fmin(r.low, (double)data[2 * i + j]);
        r.high = fmax(r.high, (double)data[2 * i + j]);
    }
    const double border = r.high > r.low ? 0.15 * (r.high - r.low) : 1;
    return (range){ r.low - border, r.high + border };
}

static void put_points(rg_picture *p, const rg_real *x, size_t n, const range r[2], int grey)
{
    for (size_t i = 0; i < n; i++) {
        const double u = ((double)x[2 * i] - r[0].low) / (r[0].high - r[0].low),
                     v = ((double)x[2 * i + 1] - r[1].low) / (r[1].high - r[1].low);
        if (!(u >= 0 && u < 1 && v >= 0 && v < 1)) continue;
        p->pixels[(SIDE - 1 - (size_t)(v * SIDE)) * SIDE + (size_t)(u * SIDE)] = (unsigned char)grey;
    }
}

/* Light grey: data; black: samples. */
static rg_status new_plane(rg_picture *p, const rg_real *x, size_t samples, const rg_real *data, size_t n)
{
    const range r[2] = { range_of(data, n, 0), range_of(data, n, 1) };
    RG_TRY(rg_picture_new(p, SIDE, SIDE, 1));
    memset(p->pixels, 255, (size_t)SIDE * SIDE);
    put_points(p, data, n, r, 200);
    put_points(p, x, samples, r, 0);
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- validation */

rg_status rg_sheet_keep(const rg_run *run, const rg_real *x, size_t samples, const rg_real *data, size_t n)
{
    const rg_model *m = run->model;
    const bool      pictures = rg_model_size(m, "height") > 0;
    rg_sheet        s = { 0 };
    if (!run->learning->model[0] || !run->trainer || (!pictures && (rg_model_size(m, "features") != 2 || !n)))
        return RG_OK;
    const unsigned long long step = rg_optimizer_steps(rg_trainer_optimizer(run->trainer));
    char        *folder = rg_format("%s.samples", run->learning->model);
    char        *path = folder ? rg_format("%s/%06llu.png", folder, step) : NULL;
    const size_t shown = samples < KEPT ? samples : KEPT;
    rg_status    status = path ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && mkdir(folder, 0777) != 0 && errno != EEXIST)
        status = rg_fail(RG_EIO, "%s: cannot make the folder: %s", folder, strerror(errno));
    if (status == RG_OK)
        status = pictures ? rg_sheet_new(&s, m, shown, 0) : new_plane(&s.picture, x, samples, data, n);
    if (status == RG_OK && pictures) rg_sheet_add(&s, x, m, 0, shown);
    if (status == RG_OK) status = rg_picture_save(path, &s.picture);
    rg_picture_free(&s.picture);
    rg_free(folder);
    rg_free(path);
    return status;
}
