/* picture.h - pictures: PNG and JPEG files to pixels and back, resizing, cropping, and random changes of training
 * pictures.
 *
 *   bytes of a file --rg_picture_decode--> pixels --rg_picture_fit--> pixels of one size --rg_pixels_decode--> rows of a field
 *
 * A pixel becomes a row, its channels the columns. Bytes are 0 .. 255, channels last, line after line.
 *
 *   PNG    grey, palette, 1 to 16 bits, interlaced; transparent pixels are put on white
 *   JPEG   baseline, progressive, grey; turned as EXIF says. CMYK is refused, and so is a file that ends too early
 *
 * Sizes are checked before anything is decoded: at most RG_PICTURE_MOST_SIDE pixels on a side,
 * RG_PICTURE_MOST_PIXELS in all buffers that hold the whole picture, and no more than the bytes of the file can
 * hold. Results depend on the bytes alone, not on the machine. */
#ifndef REGARD_PICTURE_H
#define REGARD_PICTURE_H

#include "regard/examples.h"

RG_API_BEGIN

enum { RG_PICTURE_MOST_SIDE = 65535, RG_PICTURE_MOST_PIXELS = 64 << 20 };

/* All zero is no picture. The pixels are the owner's: rg_picture_free. */
typedef struct rg_picture {
    size_t         height, width, channels; /* 1 grey, 3 red green blue; any other number for pictures that are made */
    unsigned char *pixels;                  /* height * width * channels                                              */
} rg_picture;

rg_status rg_picture_new(rg_picture *out, size_t height, size_t width, size_t channels); /* black */
void      rg_picture_free(rg_picture *picture);                                          /* and make it no picture */
rg_status rg_picture_copy(rg_picture *out, const rg_picture *picture);

/* In what follows *out is a picture of its own, never the one that is read; on failure it is unchanged. */

/* A PNG or JPEG, told by its first bytes. channels: 1, 3, or 0 for what the file has. RG_EFORMAT: no picture,
 * damaged, cut short; RG_ELIMIT: too large. Messages say what is wrong, without the name of the file. */
rg_status rg_picture_decode(rg_picture *out, const void *bytes, size_t count, size_t channels);
/* Append the picture as a PNG of 1 or 3 channels. The same picture gives the same bytes on one machine. */
rg_status rg_picture_encode(rg_text *out, const rg_picture *picture);
rg_status rg_picture_load(rg_picture *out, const char *path, size_t channels); /* messages name the file */
rg_status rg_picture_save(const char *path, const rg_picture *picture);

/* 1 from 3: 0.299 red + 0.587 green + 0.114 blue. 3 from 1: the same three times. */
rg_status rg_picture_to_channels(rg_picture *out, const rg_picture *picture, size_t channels);

/* The part of height x width pixels whose first pixel is (top, left); what lies outside is black. */
rg_status rg_picture_crop(rg_picture *out, const rg_picture *picture, ptrdiff_t top, ptrdiff_t left, size_t height,
                          size_t width);

/* How a pixel of the result is put together from those near its place. A filter grows with the reduction, so that
 * every pixel counts. */
typedef enum rg_resize {
    RG_RESIZE_AREA,     /* the mean of what it covers; nearest pixel when enlarging */
    RG_RESIZE_BILINEAR, /* tent                                                     */
    RG_RESIZE_LANCZOS,  /* windowed sinc of three lobes: sharpest                   */
    RG_RESIZES
} rg_resize;
rg_status rg_picture_resize(rg_picture *out, const rg_picture *picture, size_t height, size_t width, rg_resize how);

/* To one size, whatever the shape. */
typedef enum rg_fit {
    RG_FIT_CROP,    /* keep the shape, fill the frame, drop what stands over on both sides */
    RG_FIT_STRETCH, /* the whole picture, its shape changed                                */
    RG_FIT_PAD,     /* keep the shape, the whole picture, black beside it                  */
    RG_FITS
} rg_fit;
rg_status   rg_fit_find(rg_fit *out, const char *name); /* "crop" "stretch" "pad" */
const char *rg_fit_name(rg_fit fit);
rg_status   rg_picture_fit(rg_picture *out, const rg_picture *picture, size_t height, size_t width, rg_fit fit,
                           rg_resize how);

/* The picture seen through a projective map, height x width pixels of it: pixel (x, y) of the result is the input at
 *     ((m0 x + m1 y + m2) / w, (m3 x + m4 y + m5) / w)        w = m6 x + m7 y + m8
 * between its four neighbours, pixel middles at whole numbers, black outside. */
rg_status rg_picture_warp(rg_picture *out, const rg_picture *picture, size_t height, size_t width, const double m[9]);

/* Mean and deviation of each channel over any number of pictures, exact whatever their order. Zeroed before the
 * first; 4 channels at most. */
typedef struct rg_picture_sums {
    uint64_t pixels, sum[4], square[4];
} rg_picture_sums;
rg_status rg_picture_sums_add(rg_picture_sums *sums, const rg_picture *picture);
double    rg_picture_mean(const rg_picture_sums *sums, size_t channel);      /* 0 .. 1; 0 of nothing */
double    rg_picture_deviation(const rg_picture_sums *sums, size_t channel); /* 0 .. 1/2             */

/* ----------------------------------------------------------------------------------------------------- augmentation */

/* Random changes of training pictures. All zero changes nothing. */
typedef struct rg_augment {
    double shift;    /* pixels, each way                                          */
    double rotate;   /* degrees, each way                                         */
    double scale;    /* 0.1: between 1 / 1.1 and 1.1 times its size               */
    double shear;    /* share of the height that the upper edge moves sideways    */
    double flip;     /* probability of a mirrored picture                         */
    double elastic;  /* pixels that smooth noise moves every point, at most       */
    double light;    /* 0.1: brightness changes by up to 10 % of white            */
    double contrast; /* 0.1: differences from the mean grow or shrink by up to 10 % */
    double noise;    /* of every pixel, each way, as a share of white             */
    double erase;    /* a grey square of up to this share of the side             */
    double crop;     /* a random part of at least 1 - crop of each side, enlarged */
} rg_augment;

/* "shift:2 rotate:10 flip" (flip alone: 0.5); RG_EINVAL names the word and lists those that are known. "": nothing. */
rg_status rg_augment_parse(rg_augment *out, const char *text);
bool      rg_augment_is_off(const rg_augment *augment);
/* The picture of example `number` in `epoch`: what is drawn depends on seed, epoch and number alone. */
rg_status rg_picture_augment(rg_picture *out, const rg_picture *picture, const rg_augment *augment, uint64_t seed,
                             uint64_t epoch, uint64_t number);

/* ------------------------------------------------------------------------------------------- pictures as a field */

/* What a field of pixels makes of the files it reads. Height or width 0: every picture keeps its size. */
typedef struct rg_pixels_config {
    size_t    height, width;
    rg_fit    fit;
    rg_resize resize;
} rg_pixels_config;
#define RG_PIXELS_CONFIG_DEFAULT { 0, 0, RG_FIT_CROP, RG_RESIZE_BILINEAR }

/* `decode` of a field of pixels; its context is an rg_pixels_config, NULL for the default. A cell of raw pixels
 * (idx) is taken too. */
rg_status rg_pixels_decode(rg_text *out, size_t *out_height, size_t *out_width, size_t channels, const rg_cell *cell,
                           void *config);
/* Examples without labels: the field of a file of pictures (idx, a folder, an archive, --pictures) or of numbers
 * (the column "numbers", or all columns of a table without names). *reading is set to read it; `width` of the field
 * is for rg_examples_learn. */
rg_status rg_vectors_spec(rg_field_spec *out, rg_reader_config *reading, const char *path);
/* Height, width and channels of a file (or of a cell of raw pixels) from its first bytes, without decoding it. */
rg_status rg_pixels_measure(size_t *out_height, size_t *out_width, size_t *out_channels, const rg_cell *cell);

RG_API_END
#endif
