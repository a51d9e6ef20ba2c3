/* decode_png.c - a PNG in memory as pixels, by libpng.
 *
 * Refused before anything is inflated: sides past the limits, and pixels that the bytes of the file cannot hold
 * (deflate gives at most 1032 bytes for one). Of the chunks only header, palette, transparency and pixels are read:
 * compressed texts and colour profiles of any size are passed over. */
#include <png.h>
#include <string.h>

#include "data/pictures/pictures.h"

enum { HEADER = 33, MOST_RATIO = 1000, ALWAYS = 16 << 20 }; /* ALWAYS: bytes of a flat picture that nobody minds */

typedef struct source {
    const unsigned char *bytes;
    size_t               left;
    char                 text[160]; /* why it failed */
    bool                 no_memory;
} source;

static bool is_png(const unsigned char *b, size_t count) { return count >= 8 && !memcmp(b, "\x89PNG\r\n\x1a\n", 8); }

static size_t big_endian(const unsigned char *b)
{
    return (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
}

static rg_status measure(size_t *out_height, size_t *out_width, size_t *out_channels, const unsigned char *b,
                         size_t count)
{
    if (count < HEADER || memcmp(b + 12, "IHDR", 4) != 0)
        return rg_fail(RG_EFORMAT, "a PNG of %zu bytes without a header: copy the file again", count);
    *out_width = big_endian(b + 16);
    *out_height = big_endian(b + 20);
    *out_channels = b[25] & 2 ? 3 : 1; /* bit 1 of the colour type: colour, palettes included */
    const bool interlaced = b[28] != 0;
    return rg_picture__check_size(*out_height, *out_width, interlaced ? 2 : 1);
}

/* Bits of a pixel in the file: its samples times their depth. */
static rg_status check_ratio(size_t height, size_t width, const unsigned char *b, size_t count)
{
    static const unsigned char samples[8] = { 1, 0, 3, 1, 2, 0, 4, 0 };
    const size_t               bits = (size_t)samples[b[25] & 7] * b[24];
    const size_t               raw = height * ((width * bits + 7) / 8 + 1);
    if (raw <= ALWAYS || raw / MOST_RATIO <= count) return RG_OK;
    return rg_fail(
        RG_ELIMIT,
        "a PNG of %zu bytes says it holds %zu x %zu pixels, %zu bytes: more than %d times its size is refused", count,
        width, height, raw, MOST_RATIO);
}

static void read_bytes(png_structp png, png_bytep out, size_t count)
{
    source *in = png_get_io_ptr(png);
    if (count > in->left) png_error(png, "the file is cut short: copy it again");
    memcpy(out, in->bytes, count);
    in->bytes += count;
    in->left -= count;
}

static void fail(png_structp png, png_const_charp text)
{
    source *in = png_get_error_ptr(png);
    (void)snprintf(in->text, sizeof in->text, "%s", text);
    png_longjmp(png, 1);
}

static void ignore(png_structp png, png_const_charp text) { (void)png, (void)text; }

static png_voidp take(png_structp png, png_alloc_size_t bytes)
{
    void   *block = rg_alloc(bytes);
    source *in = png_get_mem_ptr(png);
    if (!block) in->no_memory = true;
    return block;
}

static void give_back(png_structp png, png_voidp block)
{
    (void)png;
    rg_free(block);
}

/* Eight bits, no palette; transparency stays a channel of its own. */
static void ask_for_bytes(png_structp png, png_infop info)
{
    png_set_scale_16(png);
    png_set_expand(png);
    (void)png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

/* Put the pixels on white, by their last channel, which goes: in place, as what is written is never before what is
 * read. */
static void compose(rg_picture *p)
{
    const size_t from = p->channels, to = from - 1, pixels = p->height * p->width;
    for (size_t i = 0; i < pixels; i++) {
        const unsigned alpha = p->pixels[i * from + to];
        for (size_t c = 0; c < to; c++)
            p->pixels[i * to + c] =
                (unsigned char)((p->pixels[i * from + c] * alpha + 255 * (255 - alpha) + 127) / 255);
    }
    p->channels = to;
}

/* Between setjmp and here nothing is held but what png owns; the pixels and lines belong to the caller. */
static void read_pixels(png_structp png, rg_picture *p, png_bytep *lines)
{
    const size_t stride = p->width * p->channels;
    for (size_t y = 0; y < p->height; y++) lines[y] = p->pixels + y * stride;
    png_read_image(png, lines);
    png_read_end(png, NULL);
}

typedef struct job {
    png_structp png;
    png_infop   info;
    png_bytep  *lines;
    rg_picture  picture;
} job;

static rg_status start(job *j, source *in) /* only what may fail before setjmp */
{
    j->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, in, fail, ignore, in, take, give_back);
    j->info = j->png ? png_create_info_struct(j->png) : NULL;
    if (!j->info) return RG_ENOMEM;
    return RG_OK;
}

static rg_status run(job *j, source *in)
{
    volatile rg_status status = RG_OK;
    RG_TRY(start(j, in));
    if (setjmp(png_jmpbuf(j->png))) {
        if (in->no_memory) return RG_ENOMEM;
        return status == RG_OK ? rg_fail(RG_EFORMAT, "the PNG cannot be read: %s", in->text) : status;
    }
    png_set_keep_unknown_chunks(j->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1); /* all that pixels do not need */
    png_set_user_limits(j->png, RG_PICTURE_MOST_SIDE, RG_PICTURE_MOST_SIDE);
    png_set_read_fn(j->png, in, read_bytes);
    png_read_info(j->png, j->info);
    ask_for_bytes(j->png, j->info);
    const size_t height = png_get_image_height(j->png, j->info), width = png_get_image_width(j->png, j->info);
    const size_t channels = png_get_channels(j->png, j->info);
    if (png_get_rowbytes(j->png, j->info) != width * channels)
        return rg_fail(RG_EFORMAT, "the PNG has pixels of more than a byte per channel");
    status = rg_picture_new(&j->picture, height, width, channels);
    if (status == RG_OK && !(j->lines = rg_alloc_array(height, sizeof *j->lines))) status = RG_ENOMEM;
    if (status == RG_OK) read_pixels(j->png, &j->picture, j->lines);
    return status;
}

static rg_status decode(rg_decoded *out, const unsigned char *b, size_t count)
{
    size_t height = 0, width = 0, channels = 0;
    source in = { b, count, "", false };
    job    j = { 0 };
    RG_TRY(measure(&height, &width, &channels, b, count));
    RG_TRY(check_ratio(height, width, b, count));
    rg_status status = run(&j, &in);
    png_destroy_read_struct(&j.png, &j.info, NULL);
    rg_free(j.lines);
    if (status != RG_OK) rg_picture_free(&j.picture);
    if (status != RG_OK) return status;
    if (j.picture.channels % 2 == 0) compose(&j.picture);
    *out = (rg_decoded){ j.picture, 1 };
    return RG_OK;
}

const rg_picture_format rg_picture_png = { "PNG", is_png, measure, decode };

/* --------------------------------------------------------------------------------------------------------- writing */

static void write_bytes(png_structp png, png_bytep bytes, size_t count)
{
    source *failure = png_get_error_ptr(png);
    if (rg_text_add(png_get_io_ptr(png), bytes, count) == RG_OK) return;
    failure->no_memory = true;
    png_error(png, "no memory");
}

static void flush(png_structp png) { (void)png; }

static rg_status encode_with(png_structp png, png_infop info, rg_text *out, const rg_picture *p, const source *failure)
{
    if (setjmp(png_jmpbuf(png)))
        return failure->no_memory ? RG_ENOMEM : rg_fail(RG_EINVAL, "the PNG cannot be made: %s", failure->text);
    png_set_write_fn(png, out, write_bytes, flush);
    png_set_IHDR(png, info, (png_uint_32)p->width, (png_uint_32)p->height, 8,
                 p->channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (size_t y = 0; y < p->height; y++) png_write_row(png, p->pixels + y * p->width * p->channels);
    png_write_end(png, NULL);
    return RG_OK;
}

rg_status rg_picture_encode(rg_text *out, const rg_picture *p)
{
    if (p->channels != 1 && p->channels != 3)
        return rg_fail(RG_EINVAL, "a picture of %zu channels; a PNG has 1 or 3", p->channels);
    RG_TRY(rg_picture__check_size(p->height, p->width, 1));
    source       failure = { 0 };
    const size_t before = out->length;
    png_structp  png =
        png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &failure, fail, ignore, &failure, take, give_back);
    png_infop    info = png ? png_create_info_struct(png) : NULL;
    rg_status    status = info ? encode_with(png, info, out, p, &failure) : RG_ENOMEM;
    png_destroy_write_struct(&png, &info);
    if (status != RG_OK && out->data) out->data[out->length = before] = '\0';
    return status;
}
