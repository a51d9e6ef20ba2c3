/* terminal_picture.c - pictures in half blocks: a character shows two pixels, the upper one in its ink and the lower one
 * in its ground. Without colour a character is as dense as its two pixels are bright. */
#include "regard/picture.h"
#include "view/terminal.h"

#include <math.h>
#include <string.h>

enum { WIDE = 18,
       GAP = 2 };

/* Columns and pixel lines of a picture that has at most so many characters of room. */
static void fit(size_t *wide, size_t *high, const rg_picture *p, size_t columns, size_t lines)
{
    const double by = fmin(1, fmin((double)columns / (double)p->width, 2 * (double)lines / (double)p->height));
    *wide = (size_t)fmax(1, floor((double)p->width * by));
    *high = (size_t)fmax(1, floor((double)p->height * by));
}

static void pixel(double rgb[3], const rg_picture *p, size_t x, size_t y)
{
    for (size_t k = 0; k < 3; k++)
        rgb[k] = y < p->height ? p->pixels[(y * p->width + x) * 3 + k] / 255.0 : 0;
}

static double bright(const double rgb[3]) { return 0.3 * rgb[0] + 0.59 * rgb[1] + 0.11 * rgb[2]; }

/* Two lines of pixels, from line y on. */
static void put_line(rg_buffer *b, const rg_picture *p, size_t y, const rg_terminal_options *o)
{
    static const char *const shades[] = { " ", "░", "▒", "▓", "█" }, *const plain[] = { " ", ".", "+", "*", "#" };
    for (size_t x = 0; x < p->width; x++) {
        double upper[3], lower[3];
        pixel(upper, p, x, y);
        pixel(lower, p, x, y + 1);
        const double mean = (bright(upper) + bright(lower)) / 2;
        const size_t dense = (size_t)lround(4 * (o->light ? 1 - mean : mean));
        if (o->colour == RG_COLOUR_NONE || !o->unicode) {
            rg_buffer_text(b, (o->unicode ? shades : plain)[dense]);
            continue;
        }
        rg_terminal__rgb(b, o, upper, false);
        rg_terminal__rgb(b, o, lower, true);
        rg_buffer_text(b, "▀");
    }
    rg_terminal__plain(b, o);
}

/* Dark where nothing looks, with a warm light where most does. */
static void light(rg_picture *p, const float *w, const rg_labels *l)
{
    double top = 1e-12;
    for (int pass = 0; pass < 2; pass++)
        for (size_t y = 0; y < p->height; y++)
            for (size_t x = 0; x < p->width; x++) {
                const double u = ((double)x + 0.5) / (double)p->width, v = ((double)y + 0.5) / (double)p->height;
                double       seen = 0;
                for (size_t k = 0; k < l->count; k++) {
                    const float *box = l->boxes + 4 * k;
                    if (u < (double)box[0] || u >= (double)box[2] || v < (double)box[1] || v >= (double)box[3]) continue;
                    seen += fmax(0, (double)w[k]) /
                            fmax(1e-6, ((double)box[2] - (double)box[0]) * ((double)box[3] - (double)box[1]));
                }
                top = fmax(top, pass ? 0 : seen);
                unsigned char      *at = p->pixels + (y * p->width + x) * 3;
                static const double warm[3] = { 100, 55, 0 };
                for (size_t k = 0; pass && k < 3; k++)
                    at[k] = (unsigned char)fmin(255, at[k] * (0.2 + 0.8 * pow(seen / top, 0.8)) +
                                                          warm[k] * pow(seen / top, 2));
            }
}

static rg_status decode(rg_picture *out, const rg_labels *l, size_t columns, size_t lines)
{
    rg_picture p = { 0 };
    size_t     wide, high;
    RG_TRY(rg_picture_decode(&p, l->picture, l->picture_bytes, 3));
    fit(&wide, &high, &p, columns, lines);
    const rg_status status = rg_picture_resize(out, &p, high, wide, RG_RESIZE_AREA);
    rg_picture_free(&p);
    return status;
}

rg_status rg_terminal__sheet(rg_buffer *b, const rg_labels *l, size_t lines, const rg_terminal_options *o)
{
    rg_picture p = { 0 };
    RG_TRY(decode(&p, l, (size_t)o->width, lines));
    for (size_t y = 0; y < p.height; y += 2) {
        put_line(b, &p, y, o);
        rg_buffer_text(b, "\n");
    }
    rg_picture_free(&p);
    return RG_OK;
}

/* One line of pictures: number first .. first + count - 1, of which 0 is the picture itself. */
static rg_status put_some(rg_buffer *b, const rg_picture *p, const rg_labels *rows, const rg_labels *l, const float *w,
                          size_t first, size_t count, const rg_terminal_options *o)
{
    rg_picture *lit = rg_alloc_zero(count * sizeof *lit);
    rg_status   status = lit ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        status = rg_picture_copy(&lit[i], p);
        if (status == RG_OK && first + i) light(&lit[i], w + (first + i - 1) * l->count, l);
    }
    for (size_t y = 0; status == RG_OK && y < p->height; y += 2) {
        for (size_t i = 0; i < count; i++) {
            put_line(b, &lit[i], y, o);
            rg_buffer_repeat(b, " ", i + 1 < count ? GAP : 0);
        }
        rg_buffer_text(b, "\n");
    }
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        const size_t used = first + i ? rg_terminal__label(b, rows->text[first + i - 1], p->width, o->unicode) : 0;
        rg_buffer_repeat(b, " ", i + 1 < count ? p->width - used + GAP : 0);
    }
    rg_buffer_text(b, "\n");
    for (size_t i = 0; lit && i < count; i++) rg_picture_free(&lit[i]);
    rg_free(lit);
    return status;
}

rg_status rg_terminal__lit(rg_buffer *b, const rg_labels *rows, const rg_labels *l, const float *w, size_t lines,
                           const rg_terminal_options *o)
{
    const size_t all = rows->count + 1, fits = ((size_t)o->width + GAP) / (WIDE + GAP), across = fits > 1 ? fits : 1;
    rg_picture   p = { 0 };
    size_t       shown = 0;
    RG_TRY(decode(&p, l, WIDE, lines > 2 ? lines - 1 : 1));
    const size_t each = (p.height + 1) / 2 + 1;
    rg_status    status = RG_OK;
    for (size_t used = 0; status == RG_OK && shown < all && (!used || used + each <= lines); used += each) {
        const size_t count = all - shown < across ? all - shown : across;
        status = put_some(b, &p, rows, l, w, shown, count, o);
        shown += count;
    }
    if (status == RG_OK && shown < all) rg_buffer_format(b, "and %zu more\n", all - shown);
    rg_picture_free(&p);
    return status;
}
