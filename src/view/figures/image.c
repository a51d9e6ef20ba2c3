/* image.c - a PNG or JPEG in memory as a cairo picture. */
#include <string.h>

#include "canvas.h"
#include "regard/picture.h"

enum { MOST_SIDE = 32767 }; /* of a cairo picture */

/* A pixel of CAIRO_FORMAT_RGB24 is a number: red in bits 16 .. 23, green, blue. */
static void paint(cairo_surface_t *image, const rg_picture *p)
{
    unsigned char *data = cairo_image_surface_get_data(image);
    const size_t   stride = (size_t)cairo_image_surface_get_stride(image);

    cairo_surface_flush(image);
    for (size_t y = 0; y < p->height; y++)
        for (size_t x = 0; x < p->width; x++) {
            const unsigned char *c = p->pixels + (y * p->width + x) * 3;
            const uint32_t       pixel = (uint32_t)c[0] << 16 | (uint32_t)c[1] << 8 | c[2];
            memcpy(data + y * stride + 4 * x, &pixel, 4);
        }
    cairo_surface_mark_dirty(image);
}

rg_status image_decode(cairo_surface_t **out, const unsigned char *bytes, size_t count)
{
    rg_picture p = { 0 };
    rg_status  status = RG_OK;

    RG_TRY(rg_picture_decode(&p, bytes, count, 3));
    if (p.height > MOST_SIDE || p.width > MOST_SIDE)
        status = rg_fail(RG_ELIMIT, "a picture of %zu x %zu pixels; at most %d on a side can be drawn", p.width,
                         p.height, MOST_SIDE);
    cairo_surface_t *image =
        status == RG_OK ? cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)p.width, (int)p.height) : NULL;
    if (image && cairo_surface_status(image) != CAIRO_STATUS_SUCCESS) {
        status =
            rg_fail(RG_ENOMEM, "the picture cannot be drawn: %s", cairo_status_to_string(cairo_surface_status(image)));
        cairo_surface_destroy(image);
    }
    if (status == RG_OK) {
        paint(image, &p);
        *out = image;
    }
    rg_picture_free(&p);
    return status;
}
