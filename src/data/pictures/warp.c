/* warp.c - a picture through a projective map, sampled between four pixels. */
#include "data/pictures/pictures.h"

#include <math.h>

/* The pixel (x, y), black outside. */
static double pixel(const rg_picture *p, ptrdiff_t x, ptrdiff_t y, size_t c)
{
    const bool inside = x >= 0 && y >= 0 && x < (ptrdiff_t)p->width && y < (ptrdiff_t)p->height;
    return inside ? p->pixels[((size_t)y * p->width + (size_t)x) * p->channels + c] : 0;
}

void rg_picture__sample(unsigned char *out, const rg_picture *p, double x, double y)
{
    const bool near = x > -1 && y > -1 && x < (double)p->width && y < (double)p->height; /* false for a NaN too */
    const ptrdiff_t i = near ? (ptrdiff_t)floor(x) : -2, j = near ? (ptrdiff_t)floor(y) : -2;
    const double    a = x - (double)i, b = y - (double)j;
    for (size_t c = 0; c < p->channels; c++)
        out[c] = near ? rg_picture__byte((1 - b) * ((1 - a) * pixel(p, i, j, c) + a * pixel(p, i + 1, j, c)) +
                                         b * ((1 - a) * pixel(p, i, j + 1, c) + a * pixel(p, i + 1, j + 1, c)))
                      : 0;
}

rg_status rg_picture_warp(rg_picture *out, const rg_picture *p, size_t height, size_t width, const double m[9])
{
    rg_picture made;
    RG_TRY(rg_picture_new(&made, height, width, p->channels));
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            const double u = (double)x, v = (double)y, w = m[6] * u + m[7] * v + m[8];
            rg_picture__sample(made.pixels + (y * width + x) * p->channels, p, (m[0] * u + m[1] * v + m[2]) / w,
                               (m[3] * u + m[4] * v + m[5]) / w);
        }
    *out = made;
    return RG_OK;
}

/* Sines differ in the last bit between libraries; rounded, pixels do not. */
static double steady(double x) { return nearbyint(x * 16777216) / 16777216; }

void rg_picture__turn(double m[9], double degrees, double scale, double from_x, double from_y, double to_x, double to_y)
{
    const double angle = degrees * (3.14159265358979323846 / 180), c = steady(cos(angle)) / scale,
                 s = steady(sin(angle)) / scale;
    const double turn[9] = { c, s, to_x - c * from_x - s * from_y, -s, c, to_y + s * from_x - c * from_y, 0, 0, 1 };
    for (int i = 0; i < 9; i++) m[i] = turn[i];
}
