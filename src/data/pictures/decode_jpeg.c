/* decode_jpeg.c - a JPEG in memory as pixels, by libjpeg(-turbo).
 *
 * The library fills what is missing in a damaged file with grey and warns; here such a warning is a refusal. Refused
 * before anything is decoded: sides past the limits, pixels that the bytes of the file cannot hold (a block of 64
 * pixels takes a bit at least, without arithmetic coding, which is refused), CMYK. A progressive file may have
 * MOST_SCANS scans: each goes over the whole picture. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h> /* needs stdio.h before it */

#include <jerror.h>

#include "data/pictures/pictures.h"

enum { MOST_RATIO = 1024, MOST_SCANS = 100, EXIF = JPEG_APP0 + 1, COEFFICIENT_BUFFERS = 2 };

typedef struct failure {
    struct jpeg_error_mgr base;
    jmp_buf               back;
    char                  text[JMSG_LENGTH_MAX];
} failure;

static bool is_jpeg(const unsigned char *b, size_t count)
{
    return count >= 3 && b[0] == 0xff && b[1] == 0xd8 && b[2] == 0xff;
}

static void fail(j_common_ptr info)
{
    failure *f = (failure *)info->err;
    info->err->format_message(info, f->text);
    longjmp(f->back, 1);
}

/* Remarks about oddities that change no pixel; every other warning means that pixels are missing or made up. */
static bool is_harmless(int code)
{
    return code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR ||
           code == JWRN_TOO_MUCH_DATA;
}

static void remark(j_common_ptr info, int level)
{
    failure *f = (failure *)info->err;
    if (level >= 0 || is_harmless(info->err->msg_code)) return;
    if (info->err->msg_code == JWRN_JPEG_EOF) {
        (void)snprintf(f->text, sizeof f->text, "the file is cut short: copy it again");
        longjmp(f->back, 1);
    }
    fail(info);
}

static void silent(j_common_ptr info) { (void)info; }

static void count_scans(j_common_ptr info)
{
    const struct jpeg_decompress_struct *d = (const struct jpeg_decompress_struct *)info;
    failure                             *f = (failure *)info->err;
    if (d->input_scan_number <= MOST_SCANS) return;
    (void)snprintf(f->text, sizeof f->text, "more than %d scans", MOST_SCANS);
    longjmp(f->back, 1);
}

static unsigned number(const JOCTET *b, size_t bytes, bool big)
{
    unsigned value = 0;
    for (size_t i = 0; i < bytes; i++) value |= (unsigned)b[i] << 8 * (big ? bytes - 1 - i : i);
    return value;
}

/* Tag 0x112 of the first directory: "Exif\0\0", byte order, 42, offset; then a count and entries of tag, type,
 * count, value. */
static int orientation(const struct jpeg_decompress_struct *info)
{
    for (jpeg_saved_marker_ptr m = info->marker_list; m; m = m->next) {
        if (m->marker != EXIF || m->data_length < 14 || memcmp(m->data, "Exif\0\0", 6) != 0) continue;
        const JOCTET *b = m->data + 6;
        const size_t  count = m->data_length - 6;
        const bool    big = b[0] == 'M';
        const size_t  at = number(b + 4, 4, big);
        if (at > count - 2) continue;
        const size_t entries = number(b + at, 2, big);
        for (size_t e = at + 2, i = 0; i < entries && e + 12 <= count; i++, e += 12) {
            const unsigned value = number(b + e + 8, 2, big);
            if (number(b + e, 2, big) == 0x112) return value >= 1 && value <= 8 ? (int)value : 1;
        }
    }
    return 1;
}

static rg_status check_header(struct jpeg_decompress_struct *info, size_t count)
{
    const size_t height = info->image_height, width = info->image_width;
    RG_TRY(rg_picture__check_size(height, width, jpeg_has_multiple_scans(info) ? 1 + COEFFICIENT_BUFFERS : 1));
    if (info->num_components != 1 && info->num_components != 3)
        return rg_fail(RG_EFORMAT, "a JPEG of %d colours (CMYK): save it as RGB", info->num_components);
    if (info->arith_code) return rg_fail(RG_EFORMAT, "a JPEG with arithmetic coding: save it again as an ordinary one");
    if (height * width / MOST_RATIO <= count) return RG_OK;
    return rg_fail(RG_ELIMIT, "a JPEG of %zu bytes says it is %zu x %zu pixels: it cannot hold them", count, width,
                   height);
}

typedef struct job {
    struct jpeg_decompress_struct info;
    struct jpeg_progress_mgr      progress;
    failure                       failure;
    rg_decoded                    out;
} job;

static void start(job *j, const unsigned char *b, size_t count)
{
    jpeg_create_decompress(&j->info);
    j->progress.progress_monitor = count_scans;
    j->info.progress = &j->progress;
    jpeg_mem_src(&j->info, (unsigned char *)(uintptr_t)b, (unsigned long)count); /* older headers take no const. NOLINT(performance-no-int-to-ptr) */
    jpeg_save_markers(&j->info, EXIF, 0xffff);
    jpeg_read_header(&j->info, TRUE);
}

static rg_status read_pixels(job *j, size_t count)
{
    struct jpeg_decompress_struct *info = &j->info;
    RG_TRY(check_header(info, count));
    info->out_color_space = info->num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    info->dct_method = JDCT_ISLOW;
    jpeg_start_decompress(info);
    RG_TRY(rg_picture_new(&j->out.picture, info->output_height, info->output_width, (size_t)info->output_components));
    while (info->output_scanline < info->output_height) {
        JSAMPROW line = j->out.picture.pixels +
                        (size_t)info->output_scanline * info->output_width * (size_t)info->output_components;
        (void)jpeg_read_scanlines(info, &line, 1);
    }
    j->out.orientation = orientation(info);
    (void)jpeg_finish_decompress(info);
    return RG_OK;
}

/* `pixels` false: the header only. */
static rg_status run(job *j, const unsigned char *b, size_t count, bool pixels)
{
    j->info.err = jpeg_std_error(&j->failure.base);
    j->failure.base.error_exit = fail;
    j->failure.base.emit_message = remark;
    j->failure.base.output_message = silent;
    if (setjmp(j->failure.back)) return rg_fail(RG_EFORMAT, "the JPEG cannot be read: %s", j->failure.text);
    start(j, b, count);
    return pixels ? read_pixels(j, count) : check_header(&j->info, count);
}

static rg_status work(rg_decoded *out, size_t size[3], const unsigned char *b, size_t count, bool pixels)
{
    job *j = rg_alloc_zero(sizeof *j); /* not on the stack: longjmp leaves what run() changed in memory as it is */
    if (!j) return RG_ENOMEM;
    rg_status  status = run(j, b, count, pixels);
    const bool turned = status == RG_OK && rg_picture__is_turned(pixels ? 1 : orientation(&j->info));
    if (status == RG_OK && size) {
        size[0] = turned ? j->info.image_width : j->info.image_height;
        size[1] = turned ? j->info.image_height : j->info.image_width;
        size[2] = (size_t)j->info.num_components;
    }
    jpeg_destroy_decompress(&j->info); /* takes one that was never created: it is zeroed */
    if (status == RG_OK && pixels) *out = j->out;
    else rg_picture_free(&j->out.picture);
    rg_free(j);
    return status;
}

static rg_status measure(size_t *out_height, size_t *out_width, size_t *out_channels, const unsigned char *b,
                         size_t count)
{
    size_t size[3];
    RG_TRY(work(NULL, size, b, count, false));
    *out_height = size[0], *out_width = size[1], *out_channels = size[2];
    return RG_OK;
}

static rg_status decode(rg_decoded *out, const unsigned char *b, size_t count)
{
    return work(out, NULL, b, count, true);
}

const rg_picture_format rg_picture_jpeg = { "JPEG", is_jpeg, measure, decode };
