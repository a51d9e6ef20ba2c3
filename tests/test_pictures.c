/* test_pictures.c - pictures in and out: what is decoded, what is refused, and what resizing and fitting give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

#include "regard/picture.h"
#include "support/faults.h"

/* ------------------------------------------------------------------------------------------------ making test files */

static rg_picture gradient(size_t height, size_t width, size_t channels)
{
    rg_picture p;
    assert_int_equal(rg_picture_new(&p, height, width, channels), RG_OK);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            for (size_t c = 0; c < channels; c++)
                p.pixels[(y * width + x) * channels + c] = (unsigned char)(2 * x + y + 20 * c);
    return p;
}

typedef struct jpeg_look {
    bool progressive;
    int  orientation; /* 0: no EXIF */
    int  components;  /* 1, 3, 4 */
    bool big;         /* byte order of EXIF */
} jpeg_look;

static void write_jpeg(rg_text *out, size_t height, size_t width, const unsigned char *pixels, jpeg_look look)
{
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr       errors;
    unsigned char              *bytes = NULL;
    unsigned long               count = 0;
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &bytes, &count);
    info.image_width = (JDIMENSION)width;
    info.image_height = (JDIMENSION)height;
    info.input_components = look.components;
    info.in_color_space = look.components == 1 ? JCS_GRAYSCALE : look.components == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 100, TRUE);
    for (int c = 0; c < look.components; c++) info.comp_info[c].h_samp_factor = info.comp_info[c].v_samp_factor = 1;
    if (look.progressive) jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    if (look.orientation) {
        unsigned char exif[] = "Exif\0\0II*\0\10\0\0\0\1\0\x12\1\3\0\1\0\0\0\0\0\0\0\0\0\0\0";
        static const unsigned char big[] = "Exif\0\0MM\0*\0\0\0\10\0\1\1\x12\0\3\0\0\0\1\0\0\0\0\0\0\0\0";
        if (look.big) memcpy(exif, big, sizeof big);
        exif[look.big ? 25 : 24] = (unsigned char)look.orientation;
        jpeg_write_marker(&info, JPEG_APP0 + 1, exif, sizeof exif - 1);
    }
    while (info.next_scanline < info.image_height) {
        JSAMPROW line = (JSAMPROW)(uintptr_t)(pixels + (size_t)info.next_scanline * width * (size_t)look.components);
        jpeg_write_scanlines(&info, &line, 1);
    }
    jpeg_finish_compress(&info);
    assert_int_equal(rg_text_add(out, bytes, count), RG_OK);
    jpeg_destroy_compress(&info);
    free(bytes);
}

static void add_bytes(png_structp png, png_bytep bytes, size_t count)
{
    assert_int_equal(rg_text_add(png_get_io_ptr(png), bytes, count), RG_OK);
}
static void flush(png_structp png) { (void)png; }

/* A PNG of any colour type and depth from packed lines. */
static void write_png(rg_text *out, unsigned height, unsigned width, int type, int depth, bool interlaced,
                      const unsigned char *lines, size_t stride)
{
    static const png_color palette[4] = { { 255, 0, 0 }, { 0, 255, 0 }, { 0, 0, 255 }, { 10, 20, 30 } };
    static const png_byte  alpha[2] = { 255, 0 }; /* the second colour cannot be seen */
    png_structp            png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop              info = png_create_info_struct(png);
    png_bytep              at[64];
    png_set_write_fn(png, out, add_bytes, flush);
    png_set_IHDR(png, info, width, height, depth, type, interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    if (type == PNG_COLOR_TYPE_PALETTE) {
        png_set_PLTE(png, info, palette, 4);
        png_set_tRNS(png, info, alpha, 2, NULL);
    }
    png_write_info(png, info);
    assert_true(height <= 64);
    for (unsigned y = 0; y < height; y++) at[y] = (png_bytep)(uintptr_t)(lines + y * stride);
    png_write_image(png, at);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
}

static void refused(rg_status expected, const char *message, const void *bytes, size_t count)
{
    rg_picture      p = { 0 };
    const rg_status status = rg_picture_decode(&p, bytes, count, 0);
    if (status != expected || !strstr(rg_message(), message))
        print_error("%s: %s; expected '%s'\n", rg_status_name(status), rg_message(), message);
    assert_int_equal(status, expected);
    assert_non_null(strstr(rg_message(), message));
    assert_null(p.pixels);
}

static size_t farthest(const rg_picture *a, const rg_picture *b)
{
    size_t far = 0;
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->channels, b->channels);
    for (size_t i = 0; i < a->height * a->width * a->channels; i++) {
        const int d = abs((int)a->pixels[i] - (int)b->pixels[i]);
        if ((size_t)d > far) far = (size_t)d;
    }
    return far;
}

/* --------------------------------------------------------------------------------------------------------- decoding */

static void png_comes_back_as_it_went(void **state)
{
    (void)state;
    for (size_t channels = 1; channels <= 3; channels += 2) {
        rg_picture p = gradient(7, 13, channels), q = { 0 };
        rg_text    bytes = { 0 };
        assert_int_equal(rg_picture_encode(&bytes, &p), RG_OK);
        assert_int_equal(rg_picture_decode(&q, bytes.data, bytes.length, 0), RG_OK);
        assert_int_equal(farthest(&p, &q), 0);
        rg_picture_free(&p);
        rg_picture_free(&q);
        rg_text_free(&bytes);
    }
}

static void every_kind_of_png_is_read(void **state)
{
    static const unsigned char grey1[] = { 0xA0 }, grey2[] = { 0x1B }, palette[] = { 0x1B },
                               grey16[] = { 0x80, 0x00, 0xFF, 0xFF };
    static const unsigned char alpha[] = { 100, 255, 100, 0 }, alpha16[] = { 0x64, 0x64, 0xFF, 0xFF, 0, 0, 0, 0 };
    static const unsigned char rgba[] = { 1, 2, 3, 255, 1, 2, 3, 0 };
    static const struct {
        int                  type, depth;
        unsigned             width;
        const unsigned char *line;
        size_t               channels;
        unsigned char        pixels[12];
    } cases[] = {
        { PNG_COLOR_TYPE_GRAY, 1, 3, grey1, 1, { 255, 0, 255 } },
        { PNG_COLOR_TYPE_GRAY, 2, 4, grey2, 1, { 0, 85, 170, 255 } },
        { PNG_COLOR_TYPE_GRAY, 16, 2, grey16, 1, { 128, 255 } },
        { PNG_COLOR_TYPE_PALETTE, 2, 4, palette, 3, { 255, 0, 0, 255, 255, 255, 0, 0, 255, 10, 20, 30 } },
        { PNG_COLOR_TYPE_GRAY_ALPHA, 8, 2, alpha, 1, { 100, 255 } },
        { PNG_COLOR_TYPE_GRAY_ALPHA, 16, 2, alpha16, 1, { 100, 255 } },
        { PNG_COLOR_TYPE_RGB_ALPHA, 8, 2, rgba, 3, { 1, 2, 3, 255, 255, 255 } },
    };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        rg_text    bytes = { 0 };
        rg_picture p = { 0 };
        const size_t k = i / 2;
        write_png(&bytes, 1, cases[k].width, cases[k].type, cases[k].depth, i % 2, cases[k].line, 0);
        assert_int_equal(rg_picture_decode(&p, bytes.data, bytes.length, 0), RG_OK);
        assert_int_equal(p.width, cases[k].width);
        assert_int_equal(p.channels, cases[k].channels);
        assert_memory_equal(p.pixels, cases[k].pixels, p.width * p.channels);
        rg_picture_free(&p);
        rg_text_free(&bytes);
    }
}

static void every_kind_of_jpeg_is_read(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const jpeg_look look = { .progressive = i & 1, .components = i & 2 ? 3 : 1 };
        rg_picture      p = gradient(19, 21, (size_t)look.components), q = { 0 };
        rg_text         bytes = { 0 };
        write_jpeg(&bytes, p.height, p.width, p.pixels, look);
        assert_int_equal(rg_picture_decode(&q, bytes.data, bytes.length, 0), RG_OK);
        assert_true(farthest(&p, &q) <= 4);
        rg_picture_free(&p);
        rg_picture_free(&q);
        rg_text_free(&bytes);
    }
}

/* What a camera turned by EXIF's number saw: a dark upper left quarter that must be back there. */
static void exif_turns_the_picture(void **state)
{
    (void)state;
    for (int o = 1; o <= 8; o++) {
        enum { H = 16, W = 24 };
        const bool     exchange = o >= 5, big = o % 2;
        const size_t   h = exchange ? W : H, w = exchange ? H : W; /* as stored */
        unsigned char *pixels = malloc(h * w);
        rg_picture     p = { 0 };
        rg_text        bytes = { 0 };
        for (size_t y = 0; y < h; y++)
            for (size_t x = 0; x < w; x++) {
                const bool right = o == 2 || o == 3 || o == 7 || o == 8, below = o == 3 || o == 4 || o == 6 || o == 7;
                pixels[y * w + x] = (x >= w / 2) == right && (y >= h / 2) == below ? 0 : 200;
            }
        write_jpeg(&bytes, h, w, pixels, (jpeg_look){ .components = 1, .orientation = o, .big = big });
        assert_int_equal(rg_picture_decode(&p, bytes.data, bytes.length, 1), RG_OK);
        assert_int_equal(p.height, H);
        assert_int_equal(p.width, W);
        for (size_t y = 0; y < H; y++)
            for (size_t x = 0; x < W; x++) assert_true((p.pixels[y * W + x] < 100) == (x < W / 2 && y < H / 2));
        size_t  height, width, channels;
        rg_cell cell = { .bytes = bytes.data, .count = bytes.length };
        assert_int_equal(rg_pixels_measure(&height, &width, &channels, &cell), RG_OK);
        assert_true(height == H && width == W && channels == 1);
        rg_picture_free(&p);
        rg_text_free(&bytes);
        free(pixels);
    }
}

/* EXIF 5 .. 8 by what each does to three pixels that tell the corners apart. */
static void exif_turns_the_right_way(void **state)
{
    static const unsigned char upright[4] = { 0, 80, 160, 240 }; /* left above, right above, left below, right below */
    static const unsigned char stored[9][4] = { { 0 }, { 0, 1, 2, 3 }, { 1, 0, 3, 2 }, { 3, 2, 1, 0 }, { 2, 3, 0, 1 },
                                                { 0, 2, 1, 3 }, { 1, 3, 0, 2 }, { 3, 1, 2, 0 }, { 2, 0, 3, 1 } };
    (void)state;
    for (int o = 1; o <= 8; o++) {
        unsigned char pixels[16 * 16];
        rg_picture    p = { 0 };
        rg_text       bytes = { 0 };
        for (int y = 0; y < 16; y++)
            for (int x = 0; x < 16; x++) pixels[16 * y + x] = upright[stored[o][(y >= 8) * 2 + (x >= 8)]];
        write_jpeg(&bytes, 16, 16, pixels, (jpeg_look){ .components = 1, .orientation = o });
        assert_int_equal(rg_picture_decode(&p, bytes.data, bytes.length, 1), RG_OK);
        for (int q = 0; q < 4; q++)
            assert_true(abs(p.pixels[16 * (4 + 8 * (q >> 1)) + 4 + 8 * (q & 1)] - upright[q]) < 8);
        rg_picture_free(&p);
        rg_text_free(&bytes);
    }
}

/* --------------------------------------------------------------------------------------------------------- refusals */

static void what_is_no_picture_is_refused(void **state)
{
    (void)state;
    refused(RG_EFORMAT, "empty", "", 0);
    refused(RG_EFORMAT, "web page", "<!DOCTYPE html><html>", 21);
    refused(RG_EFORMAT, "neither PNG nor JPEG", "hello", 5);
    refused(RG_EFORMAT, "GIF", "GIF89a........", 14);
    refused(RG_EFORMAT, "without a header", "\x89PNG\r\n\x1a\n", 8);
    refused(RG_EFORMAT, "JPEG cannot be read", "\xff\xd8\xff\xe0", 4);
}

static void cmyk_is_refused(void **state)
{
    static const unsigned char pixels[8 * 8 * 4];
    rg_text                    bytes = { 0 };
    (void)state;
    write_jpeg(&bytes, 8, 8, pixels, (jpeg_look){ .components = 4 });
    refused(RG_EFORMAT, "CMYK", bytes.data, bytes.length);
    rg_text_free(&bytes);
}

/* A file cut anywhere is refused, never filled with grey. The last two bytes of a JPEG are its end mark, the last
 * twelve of a PNG its end. */
static void a_file_cut_short_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        rg_picture p = gradient(40, 33, 3);
        rg_text    bytes = { 0 };
        if (i < 2) write_jpeg(&bytes, 40, 33, p.pixels, (jpeg_look){ .components = 3, .progressive = i });
        else write_png(&bytes, 40, 33, PNG_COLOR_TYPE_RGB, 8, i == 3, p.pixels, 33 * 3);
        for (size_t count = 3; count < bytes.length; count += 1 + count / 16) {
            unsigned char *cut = malloc(count); /* exactly: the sanitizer sees a byte too many */
            rg_picture     q = { 0 };
            memcpy(cut, bytes.data, count);
            assert_int_equal(rg_picture_decode(&q, cut, count, 3), RG_EFORMAT);
            assert_true(strlen(rg_message()) > 10);
            free(cut);
        }
        refused(RG_EFORMAT, "", bytes.data, bytes.length - 1);
        rg_picture_free(&p);
        rg_text_free(&bytes);
    }
}

static void put_big(unsigned char *at, size_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* A header that promises more than there is: refused at once, without the memory. */
static void promises_are_not_believed(void **state)
{
    static const size_t sizes[][2] = {
        { 100000, 1 }, { 1, 100000 }, { 60000, 60000 }, { 65500, 65500 }, { 0x7fffffff, 0x7fffffff },
        { 0, 5 },      { 8000, 8000 }
    };
    rg_picture          p = gradient(8, 8, 1);
    rg_text             png = { 0 }, jpeg = { 0 };
    (void)state;
    assert_int_equal(rg_picture_encode(&png, &p), RG_OK);
    write_jpeg(&jpeg, 8, 8, p.pixels, (jpeg_look){ .components = 1 });
    size_t frame = 0;
    while ((unsigned char)jpeg.data[frame] != 0xff || (unsigned char)jpeg.data[frame + 1] != 0xc0) frame++;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const double start = rg_now();
        const size_t before = rg_base__live_bytes();
        put_big((unsigned char *)png.data + 16, sizes[i][1]);
        put_big((unsigned char *)png.data + 20, sizes[i][0]);
        faults_fail_alloc(0, false);
        rg_picture q = { 0 };
        assert_int_equal(rg_picture_decode(&q, png.data, png.length, 0), RG_ELIMIT);
        if (sizes[i][0] <= 65535 && sizes[i][1] <= 65535 && sizes[i][0]) {
            unsigned char *at = (unsigned char *)jpeg.data + frame + 5;
            at[0] = (unsigned char)(sizes[i][0] >> 8), at[1] = (unsigned char)sizes[i][0];
            at[2] = (unsigned char)(sizes[i][1] >> 8), at[3] = (unsigned char)sizes[i][1];
            assert_int_equal(rg_picture_decode(&q, jpeg.data, jpeg.length, 0), RG_ELIMIT);
        }
        faults_off();
        assert_true(rg_now() - start < 1);
        assert_int_equal(rg_base__live_bytes(), before);
    }
    rg_picture_free(&p);
    rg_text_free(&png);
    rg_text_free(&jpeg);
}

/* 63 million pixels of one bit are 8 MB: a blank page of a scanner is read; of three bytes a bomb is not. */
static void a_bomb_is_refused(void **state)
{
    rg_text      bytes = { 0 };
    static const unsigned char line[3 * 7900];
    png_structp  png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop    info = png_create_info_struct(png);
    (void)state;
    png_set_write_fn(png, &bytes, add_bytes, flush);
    png_set_compression_level(png, 9);
    png_set_IHDR(png, info, 7900, 3000, 8, PNG_COLOR_TYPE_RGB, 0, 0, 0);
    png_write_info(png, info);
    for (int y = 0; y < 3000; y++) png_write_row(png, line);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    const double start = rg_now();
    refused(RG_ELIMIT, "more than 1000 times", bytes.data, bytes.length);
    assert_true(rg_now() - start < 1);
    rg_text_free(&bytes);
}

/* ------------------------------------------------------------------------------------------------- size and colours */

/* Every filter keeps a flat picture flat and a picture of its own size as it is. */
static void resizing_keeps_what_it_should(void **state)
{
    (void)state;
    for (int how = 0; how < RG_RESIZES; how++) {
        rg_picture p = gradient(9, 14, 3), q = { 0 }, flat = gradient(1, 1, 3), grown = { 0 }, back = { 0 };
        assert_int_equal(rg_picture_resize(&q, &p, 9, 14, (rg_resize)how), RG_OK);
        assert_int_equal(farthest(&p, &q), 0);
        assert_int_equal(rg_picture_resize(&grown, &flat, 31, 17, (rg_resize)how), RG_OK);
        assert_int_equal(rg_picture_resize(&back, &grown, 5, 40, (rg_resize)how), RG_OK);
        for (size_t i = 0; i < 5 * 40 * 3; i++) assert_int_equal(back.pixels[i], flat.pixels[i % 3]);
        rg_picture_free(&p), rg_picture_free(&q), rg_picture_free(&flat), rg_picture_free(&grown),
            rg_picture_free(&back);
    }
}

static void area_is_the_mean_and_bilinear_lies_between(void **state)
{
    rg_picture p, q;
    (void)state;
    assert_int_equal(rg_picture_new(&p, 2, 4, 1), RG_OK);
    memcpy(p.pixels, ((const unsigned char[]){ 0, 100, 10, 20, 50, 50, 30, 40 }), 8);
    assert_int_equal(rg_picture_resize(&q, &p, 1, 2, RG_RESIZE_AREA), RG_OK);
    assert_int_equal(q.pixels[0], 50);
    assert_int_equal(q.pixels[1], 25);
    rg_picture_free(&q);
    assert_int_equal(rg_picture_resize(&q, &p, 2, 8, RG_RESIZE_BILINEAR), RG_OK);
    assert_memory_equal(q.pixels, ((const unsigned char[]){ 0, 25, 75, 78, 33, 13, 18, 20 }), 8); /* 0 100 10 20 at quarters */
    rg_picture_free(&q);
    rg_picture_free(&p);
}

static void fits_give_the_size_and_keep_the_middle(void **state)
{
    static const size_t sizes[][2] = { { 10, 40 }, { 40, 10 }, { 30, 30 }, { 1, 64 }, { 64, 1 } };
    (void)state;
    for (size_t i = 0; i < 5; i++)
        for (int fit = 0; fit < RG_FITS; fit++) {
            rg_picture p, q = { 0 };
            assert_int_equal(rg_picture_new(&p, sizes[i][0], sizes[i][1], 1), RG_OK);
            memset(p.pixels, 200, p.height * p.width);
            assert_int_equal(rg_picture_fit(&q, &p, 12, 20, (rg_fit)fit, RG_RESIZE_BILINEAR), RG_OK);
            assert_true(q.height == 12 && q.width == 20);
            assert_true(q.pixels[6 * 20 + 10] == 200 || q.pixels[5 * 20 + 9] == 200);
            const bool same = p.width * 12 == p.height * 20;
            assert_int_equal(q.pixels[0], fit == RG_FIT_PAD && !same ? 0 : 200);
            rg_picture_free(&p);
            rg_picture_free(&q);
        }
}

static void crops_may_stand_over(void **state)
{
    rg_picture p = gradient(4, 5, 1), q = { 0 };
    (void)state;
    for (ptrdiff_t top = -6; top <= 6; top++)
        for (ptrdiff_t left = -6; left <= 6; left++) {
            assert_int_equal(rg_picture_crop(&q, &p, top, left, 3, 4), RG_OK);
            for (ptrdiff_t y = 0; y < 3; y++)
                for (ptrdiff_t x = 0; x < 4; x++) {
                    const ptrdiff_t a = y + top, b = x + left;
                    const bool      inside = a >= 0 && a < 4 && b >= 0 && b < 5;
                    assert_int_equal(q.pixels[y * 4 + x], inside ? p.pixels[a * 5 + b] : 0);
                }
            rg_picture_free(&q);
        }
    rg_picture_free(&p);
}

static void colours_and_sums(void **state)
{
    rg_picture      p, grey = { 0 }, back = { 0 };
    rg_picture_sums sums = { 0 };
    (void)state;
    assert_int_equal(rg_picture_new(&p, 1, 2, 3), RG_OK);
    memcpy(p.pixels, ((const unsigned char[]){ 255, 0, 0, 255, 255, 255 }), 6);
    assert_int_equal(rg_picture_to_channels(&grey, &p, 1), RG_OK);
    assert_int_equal(grey.pixels[0], 76);
    assert_int_equal(grey.pixels[1], 255);
    assert_int_equal(rg_picture_to_channels(&back, &grey, 3), RG_OK);
    assert_memory_equal(back.pixels, ((const unsigned char[]){ 76, 76, 76, 255, 255, 255 }), 6);
    assert_int_equal(rg_picture_sums_add(&sums, &p), RG_OK);
    assert_true(fabs(rg_picture_mean(&sums, 0) - 1) < 1e-12 && fabs(rg_picture_deviation(&sums, 0)) < 1e-6);
    assert_true(fabs(rg_picture_mean(&sums, 1) - 0.5) < 1e-12 && fabs(rg_picture_deviation(&sums, 1) - 0.5) < 1e-12);
    rg_picture_free(&p), rg_picture_free(&grey), rg_picture_free(&back);
}

/* ------------------------------------------------------------------------------------------------------------ field */

/* PNG, JPEG and raw pixels through a store of examples, scaled to one size. */
static void a_field_of_pixels_reads_files(void **state)
{
    static const char *const names[] = { "cat", "dog" };
    rg_pixels_config         pixels = { 6, 5, RG_FIT_CROP, RG_RESIZE_AREA };
    rg_names                *classes = NULL;
    rg_examples_config       config = RG_EXAMPLES_CONFIG_DEFAULT;
    rg_examples             *store = NULL;
    rg_text                  bytes[2] = { { 0 }, { 0 } };
    rg_picture               p = gradient(60, 50, 3);
    rg_batch                 batch;
    (void)state;
    assert_int_equal(rg_names_new(&classes, names, 2), RG_OK);
    const rg_field_spec specs[] = {
        { .name = "picture", .kind = RG_FIELD_PIXELS, .width = 3, .decode = rg_pixels_decode, .context = &pixels },
        { .name = "label", .kind = RG_FIELD_CLASS, .names = classes }
    };
    assert_int_equal(rg_picture_encode(&bytes[0], &p), RG_OK);
    write_jpeg(&bytes[1], 60, 50, p.pixels, (jpeg_look){ .components = 3 });
    config.shuffle = false;
    assert_int_equal(rg_examples_new(&store, &config, specs, 2), RG_OK);
    for (int i = 0; i < 3; i++) {
        rg_cell cells[2] = { { .bytes = bytes[i % 2].data, .count = bytes[i % 2].length },
                             { .bytes = names[i % 2], .count = 3 } };
        assert_int_equal(rg_examples_add(store, cells, (uint64_t)i + 1), RG_OK);
    }
    assert_int_equal(rg_examples_seal(store), RG_OK);
    assert_int_equal(rg_examples_next(&batch, NULL, store), RG_OK);
    assert_true(batch.examples == 3 && batch.field[0].width == 3 && batch.field[0].layout.height == 6 &&
                batch.field[0].layout.width == 5);
    for (size_t i = 0; i < 6 * 5 * 3; i++) {
        const double expected =
            (2 * (10.0 * (double)(i / 3 % 5) + 4.5) + 10.0 * (double)(i / 15) + 4.5 + 20 * (double)(i % 3)) / 255;
        assert_true(fabs((double)batch.field[0].values[i] - expected) < 0.01);
        assert_true(fabs((double)batch.field[0].values[i] - (double)batch.field[0].values[90 + i]) < 0.03);
        assert_true(batch.field[0].values[i] == batch.field[0].values[180 + i]);
    }
    rg_examples_free(store);
    rg_names_free(classes);
    rg_picture_free(&p);
    rg_text_free(&bytes[0]), rg_text_free(&bytes[1]);
}

static rg_status decode_and_fit(void *context)
{
    const rg_text *bytes = context;
    rg_pixels_config pixels = { 5, 9, RG_FIT_PAD, RG_RESIZE_LANCZOS };
    for (int i = 0; i < 3; i++) {
        rg_text         out = { 0 };
        size_t          height, width;
        const rg_cell   cell = { .bytes = bytes[i].data, .count = bytes[i].length };
        const rg_status status = rg_pixels_decode(&out, &height, &width, 1, &cell, &pixels);
        rg_text_free(&out);
        RG_TRY(status);
    }
    return RG_OK;
}

static void memory_may_run_out_anywhere(void **state)
{
    rg_picture p = gradient(20, 18, 3);
    rg_text    bytes[3] = { { 0 }, { 0 }, { 0 } };
    (void)state;
    assert_int_equal(rg_picture_encode(&bytes[0], &p), RG_OK);
    write_png(&bytes[1], 20, 18, PNG_COLOR_TYPE_RGB, 8, true, p.pixels, 18 * 3);
    write_jpeg(&bytes[2], 20, 18, p.pixels, (jpeg_look){ .components = 3, .orientation = 6 });
    faults_every_alloc(decode_and_fit, bytes, NULL, false);
    rg_picture_free(&p);
    for (int i = 0; i < 3; i++) rg_text_free(&bytes[i]);
}

static void files_are_named_in_messages(void **state)
{
    rg_picture p = gradient(3, 4, 3), q = { 0 };
    (void)state;
    assert_int_equal(rg_picture_save("a.png", &p), RG_OK);
    assert_int_equal(rg_picture_load(&q, "a.png", 3), RG_OK);
    assert_int_equal(farthest(&p, &q), 0);
    rg_picture_free(&q);
    assert_int_equal(rg_file_replace("page.jpg", "<html>", 6), RG_OK);
    assert_int_equal(rg_picture_load(&q, "page.jpg", 3), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "page.jpg: a web page"));
    assert_int_equal(rg_picture_load(&q, "absent.png", 3), RG_EIO);
    rg_picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(png_comes_back_as_it_went),
        cmocka_unit_test(every_kind_of_png_is_read),
        cmocka_unit_test(every_kind_of_jpeg_is_read),
        cmocka_unit_test(exif_turns_the_picture),
        cmocka_unit_test(exif_turns_the_right_way),
        cmocka_unit_test(what_is_no_picture_is_refused),
        cmocka_unit_test(cmyk_is_refused),
        cmocka_unit_test(a_file_cut_short_is_refused),
        cmocka_unit_test(promises_are_not_believed),
        cmocka_unit_test(a_bomb_is_refused),
        cmocka_unit_test(resizing_keeps_what_it_should),
        cmocka_unit_test(area_is_the_mean_and_bilinear_lies_between),
        cmocka_unit_test(fits_give_the_size_and_keep_the_middle),
        cmocka_unit_test(crops_may_stand_over),
        cmocka_unit_test(colours_and_sums),
        cmocka_unit_test(a_field_of_pixels_reads_files),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(files_are_named_in_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
