/* pictures.h - what the decoders and the resizer share. */
#ifndef REGARD_DATA_PICTURES_PICTURES_H
#define REGARD_DATA_PICTURES_PICTURES_H

#include "regard/picture.h"

/* What a decoder gives: channels 1 or 3, and how it must be turned (EXIF's number, 1 .. 8; 1: not at all). */
typedef struct rg_decoded {
    rg_picture picture;
    int        orientation;
} rg_decoded;

/* A kind of file. `measure` reads the header only. */
typedef struct rg_picture_format {
    const char *name;
    bool (*is)(const unsigned char *bytes, size_t count);
    rg_status (*measure)(size_t *out_height, size_t *out_width, size_t *out_channels, const unsigned char *bytes,
                         size_t count);
    rg_status (*decode)(rg_decoded *out, const unsigned char *bytes, size_t count);
} rg_picture_format;

/* RG_ELIMIT when height x width is no picture, or when `buffers` of that size are more than the limit. */
rg_status rg_picture__check_size(size_t height, size_t width, size_t buffers);
/* Whether EXIF's orientation exchanges height and width. */
bool rg_picture__is_turned(int orientation);

/* All channels at (x, y), between four pixels; black outside. */
void rg_picture__sample(unsigned char *out, const rg_picture *picture, double x, double y);
/* The map of rg_picture_warp that turns the input by `degrees` (clockwise on the screen) and enlarges it by `scale`,
 * its point (to_x, to_y) coming to (from_x, from_y) of the result. */
void rg_picture__turn(double m[9], double degrees, double scale, double from_x, double from_y, double to_x,
                      double to_y);

/* A byte from a number, rounded; what is not in 0 .. 255 becomes the nearer end. */
static inline unsigned char rg_picture__byte(double value)
{
    return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : (int)(value + 0.5));
}

#endif
