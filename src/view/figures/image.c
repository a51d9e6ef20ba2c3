/* image.c - a PNG or JPEG in memory as a cairo picture. The size is read and checked before anything is decoded. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h> /* needs stdio.h before it */

#include "canvas.h"

enum { MOST_PIXELS = 64 << 20, MOST_SIDE = 32767 };

typedef struct input {
    const unsigned char *bytes;
    size_t               left;
} input;

static cairo_status_t read_bytes(void *context, unsigned char *out, unsigned count)
{
    input *in = context;

    if (count > in->left) return CAIRO_STATUS_READ_ERROR;
    memcpy(out, in->bytes, count);
    in->bytes += count;
    in->left -= count;
    return CAIRO_STATUS_SUCCESS;
}

static rg_status check_size(size_t wide, size_t high)
{
    if (wide && high && wide <= MOST_SIDE && high <= MOST_SIDE && wide * high <= MOST_PIXELS) return RG_OK;
    return rg_fail(RG_ELIMIT, "a picture of %zu x %zu pixels", wide, high);
}

static rg_status decode_png(cairo_surface_t **out, const unsigned char *b, size_t count)
{
    input            in = { b, count };
    cairo_surface_t *image;

    if (count < 33) return rg_fail(RG_EFORMAT, "a PNG of %zu bytes", count);
    RG_TRY(check_size((size_t)b[16] << 24 | (size_t)b[17] << 16 | (size_t)b[18] << 8 | b[19],
                      (size_t)b[20] << 24 | (size_t)b[21] << 16 | (size_t)b[22] << 8 | b[23]));
    image = cairo_image_surface_create_from_png_stream(read_bytes, &in);
    if (cairo_surface_status(image) != CAIRO_STATUS_SUCCESS) {
        rg_fail(RG_EFORMAT, "the picture cannot be read: %s", cairo_status_to_string(cairo_surface_status(image)));
        cairo_surface_destroy(image);
        return RG_EFORMAT;
    }
    *out = image;
    return RG_OK;
}

typedef struct jpeg_failure {
    struct jpeg_error_mgr base;
    jmp_buf               back;
    char                  text[JMSG_LENGTH_MAX];
} jpeg_failure;

static void jpeg_fail(j_common_ptr info)
{
    jpeg_failure *f = (jpeg_failure *)info->err;

    info->err->format_message(info, f->text);
    longjmp(f->back, 1);
}

static void jpeg_silent(j_common_ptr info)
{
    (void)info;
}

static rg_status decode_jpeg(cairo_surface_t **out, const unsigned char *b, size_t count)
{
    struct jpeg_decompress_struct info;
    jpeg_failure                  failure;
    cairo_surface_t *volatile     image = NULL;

    info.err = jpeg_std_error(&failure.base);
    failure.base.error_exit = jpeg_fail;
    failure.base.output_message = jpeg_silent;
    jpeg_create_decompress(&info);
    if (setjmp(failure.back)) {
        jpeg_destroy_decompress(&info);
        if (image) cairo_surface_destroy(image);
        return rg_fail(RG_EFORMAT, "the picture cannot be read: %s", failure.text);
    }
    jpeg_mem_src(&info, b, (unsigned long)count);
    jpeg_read_header(&info, TRUE);
    if (check_size(info.image_width, info.image_height) != RG_OK) {
        jpeg_destroy_decompress(&info);
        return RG_ELIMIT;
    }
    info.out_color_space = JCS_EXT_BGRX; /* the bytes of a little-endian CAIRO_FORMAT_RGB24 pixel */
    jpeg_start_decompress(&info);
    image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)info.output_width, (int)info.output_height);
    while (cairo_image_surface_get_data(image) && info.output_scanline < info.output_height) {
        JSAMPROW row = cairo_image_surface_get_data(image) +
                       (size_t)cairo_image_surface_get_stride(image) * info.output_scanline;
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_abort_decompress(&info);
    jpeg_destroy_decompress(&info);
    cairo_surface_mark_dirty(image);
    *out = image;
    return RG_OK;
}

rg_status image_decode(cairo_surface_t **out, const unsigned char *bytes, size_t count)
{
    if (count > 8 && !memcmp(bytes, "\x89PNG\r\n\x1a\n", 8)) return decode_png(out, bytes, count);
    if (count > 3 && bytes[0] == 0xff && bytes[1] == 0xd8) return decode_jpeg(out, bytes, count);
    return rg_fail(RG_EFORMAT, "the picture is neither PNG nor JPEG");
}
