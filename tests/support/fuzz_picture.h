/* fuzz_picture.h - any bytes as a picture: decoded or refused with a reason, never more pixels than the limits (P1,
 * P2). */
#ifndef TESTS_SUPPORT_FUZZ_PICTURE_H
#define TESTS_SUPPORT_FUZZ_PICTURE_H

#include <stdlib.h>
#include <string.h>

#include "regard/picture.h"

static inline void must(bool condition)
{
    if (!condition) abort();
}

static inline int fuzz_picture(const uint8_t *bytes, size_t count)
{
    rg_picture    p = { 0 }, small = { 0 };
    const rg_cell cell = { .bytes = (const char *)bytes, .count = count };
    size_t        height = 0, width = 0, channels = 0;
    const rg_status measured = rg_pixels_measure(&height, &width, &channels, &cell);
    if (measured == RG_OK && height * width > (size_t)1 << 22) return 0; /* allowed, but slow: the limits have their own tests */
    const rg_status status = rg_picture_decode(&p, bytes, count, count % 2 ? 3 : 0);
    must((status == RG_OK) == (p.pixels != NULL));
    must(status == RG_OK || rg_message()[0]);
    if (status == RG_OK) {
        must(measured == RG_OK && p.height == height && p.width == width);
        must(rg_picture_fit(&small, &p, 7, 5, (rg_fit)(count % RG_FITS), (rg_resize)(count % RG_RESIZES)) == RG_OK);
    }
    rg_picture_free(&p);
    rg_picture_free(&small);
    return 0;
}

#endif
