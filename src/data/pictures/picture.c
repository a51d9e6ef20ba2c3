/* picture.c - pictures as bytes in memory: decoding by the table of formats, turning, cropping, colours, sums. */
#include "data/pictures/pictures.h"

#include <math.h>
#include <string.h>

#include "data/reader.h"

#define FORMATS(X) X(png) X(jpeg)
#define DECLARE(name) extern const rg_picture_format rg_picture_##name;
#define ENTRY(name) &rg_picture_##name,
FORMATS(DECLARE)
static const rg_picture_format *const formats[] = { FORMATS(ENTRY) NULL };

enum { MOST_FILE = 256 << 20, MOST_CHANNELS = 64 };

rg_status rg_picture__check_size(size_t height, size_t width, size_t buffers)
{
    if (height && width && height <= RG_PICTURE_MOST_SIDE && width <= RG_PICTURE_MOST_SIDE &&
        height * width * buffers <= RG_PICTURE_MOST_PIXELS)
        return RG_OK;
    return rg_fail(RG_ELIMIT,
                   "a picture of %zu x %zu pixels: at most %d on a side and %zu altogether are read; make it smaller",
                   width, height, RG_PICTURE_MOST_SIDE, RG_PICTURE_MOST_PIXELS / buffers);
}

rg_status rg_picture_new(rg_picture *out, size_t height, size_t width, size_t channels)
{
    if (!channels || channels > MOST_CHANNELS)
        return rg_fail(RG_EINVAL, "a picture of %zu channels; 1 .. %d are possible", channels, MOST_CHANNELS);
    RG_TRY(rg_picture__check_size(height, width, channels <= 3 ? 1 : (channels + 2) / 3));
    unsigned char *pixels = rg_alloc_zero(height * width * channels); /* checked: at most 3 * MOST_PIXELS */
    if (!pixels) return RG_ENOMEM;
    *out = (rg_picture){ height, width, channels, pixels };
    return RG_OK;
}

void rg_picture_free(rg_picture *p)
{
    if (!p) return;
    rg_free(p->pixels);
    *p = (rg_picture){ 0 };
}

static size_t bytes_of(const rg_picture *p) { return p->height * p->width * p->channels; }

rg_status rg_picture_copy(rg_picture *out, const rg_picture *p)
{
    RG_TRY(rg_picture_new(out, p->height, p->width, p->channels));
    if (out->pixels) memcpy(out->pixels, p->pixels, bytes_of(p));
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------------- decoding */

static rg_status format_of(const rg_picture_format **out, const unsigned char *b, size_t count)
{
    for (const rg_picture_format *const *f = formats; *f; f++)
        if ((*f)->is(b, count)) return *out = *f, RG_OK;
    if (!count) return rg_fail(RG_EFORMAT, "the file is empty: copy it again");
    const char *what = count >= 5 && (!memcmp(b, "<!DOC", 5) || !memcmp(b, "<!doc", 5) || !memcmp(b, "<html", 5) ||
                                      !memcmp(b, "<HTML", 5))
                           ? "a web page, not a picture: download the picture itself"
                       : count >= 12 && !memcmp(b, "RIFF", 4) && !memcmp(b + 8, "WEBP", 4)
                           ? "a WebP picture: convert it to PNG or JPEG"
                       : count >= 6 && !memcmp(b, "GIF8", 4) ? "a GIF: convert it to PNG"
                                                             : "neither PNG nor JPEG";
    return rg_fail(RG_EFORMAT, "%s", what);
}

bool rg_picture__is_turned(int orientation) { return orientation >= 5; }

/* EXIF: 2 mirrored, 3 upside down, 4 both; 5 .. 8 the same with x and y exchanged (5 transposed, 6 to be turned
 * right, 8 left). */
static rg_status turn(rg_picture *p, int orientation)
{
    const bool mirror_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    const bool mirror_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    const bool exchange = rg_picture__is_turned(orientation);
    rg_picture out = { 0 };
    if (orientation == 1) return RG_OK;
    RG_TRY(rg_picture__check_size(p->height, p->width, 2));
    RG_TRY(rg_picture_new(&out, exchange ? p->width : p->height, exchange ? p->height : p->width, p->channels));
    for (size_t y = 0; y < out.height; y++)
        for (size_t x = 0; x < out.width; x++) {
            const size_t a = exchange ? y : x, b = exchange ? x : y; /* where the pixel stands in p, before mirrors */
            const size_t from_x = mirror_x ? p->width - 1 - a : a, from_y = mirror_y ? p->height - 1 - b : b;
            memcpy(out.pixels + (y * out.width + x) * p->channels,
                   p->pixels + (from_y * p->width + from_x) * p->channels, p->channels);
        }
    rg_picture_free(p);
    *p = out;
    return RG_OK;
}

rg_status rg_picture_decode(rg_picture *out, const void *bytes, size_t count, size_t channels)
{
    const rg_picture_format *format = NULL;
    rg_decoded               d = { { 0 }, 1 };
    if (channels != 0 && channels != 1 && channels != 3)
        return rg_fail(RG_EINVAL, "pictures have 1 or 3 channels, not %zu", channels);
    RG_TRY(format_of(&format, bytes, count));
    RG_TRY(format->decode(&d, bytes, count));
    rg_status status = turn(&d.picture, d.orientation);
    if (status == RG_OK && channels && channels != d.picture.channels) {
        rg_picture changed;
        status = rg_picture_to_channels(&changed, &d.picture, channels);
        rg_picture_free(&d.picture);
        if (status == RG_OK) d.picture = changed;
    }
    if (status == RG_OK) *out = d.picture;
    else rg_picture_free(&d.picture);
    return status;
}

rg_status rg_picture_load(rg_picture *out, const char *path, size_t channels)
{
    rg_text   bytes = { 0 };
    rg_status status = rg_reader__read_file(&bytes, path, MOST_FILE);
    if (status == RG_OK && (status = rg_picture_decode(out, rg_text_c(&bytes), bytes.length, channels)) != RG_OK)
        rg_fail_in(status, "%s: ", path);
    rg_text_free(&bytes);
    return status;
}

rg_status rg_picture_save(const char *path, const rg_picture *picture)
{
    rg_text   bytes = { 0 };
    rg_status status = rg_picture_encode(&bytes, picture);
    if (status == RG_OK) status = rg_file_replace(path, bytes.data, bytes.length);
    rg_text_free(&bytes);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- changes */

rg_status rg_picture_to_channels(rg_picture *out, const rg_picture *p, size_t channels)
{
    const size_t pixels = p->height * p->width;
    if (channels == p->channels) return rg_picture_copy(out, p);
    if (!((channels == 1 && p->channels == 3) || (channels == 3 && p->channels == 1)))
        return rg_fail(RG_EINVAL, "a picture of %zu channels cannot be made one of %zu", p->channels, channels);
    rg_picture made;
    RG_TRY(rg_picture_new(&made, p->height, p->width, channels));
    for (size_t i = 0; i < pixels; i++) {
        const unsigned char *c = p->pixels + i * p->channels;
        if (channels == 1) made.pixels[i] = (unsigned char)((299u * c[0] + 587u * c[1] + 114u * c[2] + 500) / 1000);
        else memset(made.pixels + 3 * i, c[0], 3);
    }
    *out = made;
    return RG_OK;
}

rg_status rg_picture_crop(rg_picture *out, const rg_picture *p, ptrdiff_t top, ptrdiff_t left, size_t height,
                          size_t width)
{
    const ptrdiff_t H = (ptrdiff_t)p->height, W = (ptrdiff_t)p->width;
    rg_picture      made;
    RG_TRY(rg_picture_new(&made, height, width, p->channels));
    const ptrdiff_t from = left < 0 ? 0 : left, to = left + (ptrdiff_t)width < W ? left + (ptrdiff_t)width : W; /* columns that are there */
    for (ptrdiff_t y = 0; y < (ptrdiff_t)height && from < to; y++)
        if (y + top >= 0 && y + top < H)
            memcpy(made.pixels + (size_t)(y * (ptrdiff_t)width + from - left) * p->channels,
                   p->pixels + (size_t)((y + top) * W + from) * p->channels, (size_t)(to - from) * p->channels);
    *out = made;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------------- sums */

rg_status rg_picture_sums_add(rg_picture_sums *s, const rg_picture *p)
{
    if (p->channels > 4)
        return rg_fail(RG_EINVAL, "sums of a picture of %zu channels; at most 4 are possible", p->channels);
    const size_t pixels = p->height * p->width;
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < p->channels; c++) {
            const uint64_t value = p->pixels[i * p->channels + c];
            s->sum[c] += value;
            s->square[c] += value * value;
        }
    s->pixels += pixels;
    return RG_OK;
}

double rg_picture_mean(const rg_picture_sums *s, size_t channel)
{
    return s->pixels ? (double)s->sum[channel] / (double)s->pixels / 255 : 0;
}

double rg_picture_deviation(const rg_picture_sums *s, size_t channel)
{
    const double mean = rg_picture_mean(s, channel);
    return s->pixels ? sqrt(fmax(0, (double)s->square[channel] / (double)s->pixels / (255 * 255) - mean * mean)) : 0;
}

/* ------------------------------------------------------------------------------------------------------------ field */

rg_status rg_pixels_measure(size_t *out_height, size_t *out_width, size_t *out_channels, const rg_cell *cell)
{
    const rg_picture_format *format = NULL;
    if (!cell->height) {
        RG_TRY(format_of(&format, (const unsigned char *)cell->bytes, cell->count));
        return format->measure(out_height, out_width, out_channels, (const unsigned char *)cell->bytes, cell->count);
    }
    *out_height = cell->height, *out_width = cell->width, *out_channels = cell->channels;
    return RG_OK;
}

static rg_status picture_of_cell(rg_picture *out, const rg_cell *cell, size_t channels)
{
    if (!cell->height) return rg_picture_decode(out, cell->bytes, cell->count, channels);
    const rg_picture raw = { cell->height, cell->width, cell->channels, (unsigned char *)(uintptr_t)cell->bytes }; /* only read. NOLINT(performance-no-int-to-ptr) */
    if (bytes_of(&raw) != cell->count)
        return rg_fail(RG_EFORMAT, "%zu bytes for %zu x %zu pixels", cell->count, cell->width, cell->height);
    return rg_picture_to_channels(out, &raw, channels);
}

rg_status rg_pixels_decode(rg_text *out, size_t *out_height, size_t *out_width, size_t channels, const rg_cell *cell,
                           void *context)
{
    static const rg_pixels_config plain = RG_PIXELS_CONFIG_DEFAULT;
    const rg_pixels_config       *c = context ? context : &plain;
    rg_picture                    p = { 0 }, fitted = { 0 };
    RG_TRY(picture_of_cell(&p, cell, channels));
    rg_status   status = RG_OK;
    rg_picture *result = &p;
    if (c->height && c->width && (c->height != p.height || c->width != p.width)) {
        status = rg_picture_fit(&fitted, &p, c->height, c->width, c->fit, c->resize);
        result = &fitted;
    }
    if (status == RG_OK) status = rg_text_add(out, result->pixels, bytes_of(result));
    if (status == RG_OK) *out_height = result->height, *out_width = result->width;
    rg_picture_free(&p);
    rg_picture_free(&fitted);
    return status;
}
