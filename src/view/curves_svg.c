/* curves_svg.c - a set of curves as an <svg> element. Colours are CSS variables of the page (--fg --dim --line --s0 ...
 * --s7), so that the same picture is right in light and dark. */
#include "regard/view.h"
#include "view/buffer.h"
#include "view/axis.h"
#include "view/bars_svg.h"

#include <math.h>

enum { LEFT = 68, TOP = 58, RIGHT = 14, BOTTOM = 44, MOST_POINTS = 1600, LEGEND = 7 };

typedef struct frame {
    rg_buffer *b;
    rg_axis   x, y;
    double     wide, high; /* of the plot itself */
} frame;

static void put_axes(const frame *f, const rg_curves *c)
{
    double ticks[RG_TICKS_MOST], at;
    char   text[32];
    size_t n = rg_axis_ticks(ticks, &f->y, 6);

    for (size_t i = 0; i < n; i++) {
        if (!rg_axis_place(&at, &f->y, ticks[i])) continue;
        at = TOP + f->high * (1 - at);
        rg_axis_text(text, &f->y, ticks[i]);
        rg_buffer_format(
            f->b,
            "<path d=\"M%d %.1fh%.1f\" stroke=\"var(--line)\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
            LEFT, at, f->wide, LEFT - 6, at + 4, text);
    }
    n = rg_axis_ticks(ticks, &f->x, 7);
    for (size_t i = 0; i < n; i++) {
        if (!rg_axis_place(&at, &f->x, ticks[i]) || at < -0.001 || at > 1.001) continue;
        rg_axis_text(text, &f->x, ticks[i]);
        rg_buffer_format(f->b,
                         "<path d=\"M%.1f %.1fv4\" stroke=\"var(--dim)\"/><text x=\"%.1f\" y=\"%.1f\" "
                         "text-anchor=\"middle\">%s</text>",
                         LEFT + f->wide * at, TOP + f->high, LEFT + f->wide * at, TOP + f->high + 17, text);
    }
    rg_buffer_format(f->b, "<path d=\"M%d %.1fh%.1f\" stroke=\"var(--dim)\"/>", LEFT, TOP + f->high, f->wide);
    rg_buffer_format(f->b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", LEFT + f->wide / 2,
                     TOP + f->high + 36);
    rg_buffer_html(f->b, c->x_name);
    rg_buffer_format(f->b, "</text><text transform=\"translate(11 %.1f) rotate(-90)\" text-anchor=\"middle\">",
                     TOP + f->high / 2);
    rg_buffer_html(f->b, c->y_name);
    rg_buffer_text(f->b, "</text>");
}

static void put_intervals(const frame *f, const rg_series *s, size_t index)
{
    for (size_t i = 0; s->low && i < s->count; i++) {
        double x, low, high;
        if (!rg_axis_place(&x, &f->x, s->x[i]) || !rg_axis_place(&low, &f->y, s->low[i]) ||
            !rg_axis_place(&high, &f->y, s->high[i]))
            continue;
        rg_buffer_format(f->b, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"var(--s%zu)\" stroke-width=\"1.2\"/>",
                         LEFT + f->wide * x, TOP + f->high * (1 - low), TOP + f->high * (1 - high), index % 8);
    }
}

/* The lowest and the highest of each stretch, in their order: a spike is never lost. */
static void put_series(const frame *f, const rg_series *s, size_t index)
{
    size_t stretch = s->count > MOST_POINTS ? (2 * s->count + MOST_POINTS - 1) / MOST_POINTS : 1;
    bool   pen = false;

    put_intervals(f, s, index);
    rg_buffer_format(f->b,
                     "<path fill=\"none\" stroke=\"var(--s%zu)\" stroke-width=\"1.8\" stroke-linejoin=\"round\" d=\"",
                     index % 8);
    for (size_t i = 0; i < s->count; i += stretch) {
        size_t low = i, high = i, pick[2];
        for (size_t k = i; k < i + stretch && k < s->count; k++) {
            if (s->y[k] < s->y[low]) low = k;
            if (s->y[k] > s->y[high]) high = k;
        }
        pick[0] = low < high ? low : high;
        pick[1] = low < high ? high : low;
        for (int k = 0; k < (low == high ? 1 : 2); k++) {
            double x, y;
            if (!rg_axis_place(&x, &f->x, s->x[pick[k]]) || !rg_axis_place(&y, &f->y, s->y[pick[k]])) {
                pen = false;
                continue;
            }
            rg_buffer_format(f->b, "%c%.1f %.1f", pen ? 'L' : 'M', LEFT + f->wide * x, TOP + f->high * (1 - y));
            pen = true;
        }
    }
    rg_buffer_text(f->b, "\"/>");
    for (size_t i = 0; s->count <= 40 && i < s->count; i++) {
        double x, y;
        if (!rg_axis_place(&x, &f->x, s->x[i]) || !rg_axis_place(&y, &f->y, s->y[i])) continue;
        rg_buffer_format(f->b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.8\" fill=\"var(--s%zu)\"><title>",
                         LEFT + f->wide * x, TOP + f->high * (1 - y), index % 8);
        rg_buffer_html(f->b, s->name);
        rg_buffer_format(f->b, " %g: %.6g</title></circle>", s->x[i], s->y[i]);
    }
}

/* The names of points beside them. */
static void put_names(const frame *f, const rg_curves *c)
{
    static const char *const anchor[] = { "start", "end", "middle", "middle" };
    rg_point_name           *names = rg_alloc_array(c->count, sizeof *names);

    if (!names) {
        f->b->status = RG_ENOMEM;
        return;
    }
    for (size_t i = 0; i < c->count; i++) {
        double x = 0, y = 0;
        rg_axis_place(&x, &f->x, c->series[i].x[0]);
        rg_axis_place(&y, &f->y, c->series[i].y[0]);
        names[i] = (rg_point_name){ .x = LEFT + f->wide * x, .y = TOP + f->high * (1 - y), .height = 13,
                                    .width = LEGEND * (double)rg_terminal_width(c->series[i].name) };
    }
    rg_point_names(names, c->count, LEFT, LEFT + f->wide + RIGHT);
    for (size_t i = 0; i < c->count; i++) {
        rg_buffer_format(f->b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" style=\"fill:var(--fg)\">", names[i].text_x,
                         names[i].text_y + 4, anchor[names[i].side]);
        rg_buffer_html(f->b, c->series[i].name);
        rg_buffer_text(f->b, "</text>");
    }
    rg_free(names);
}

static void put_legend(const frame *f, const rg_curves *c)
{
    double x = LEFT;

    for (size_t i = 0; i < c->count; i++) {
        rg_buffer_format(f->b,
                         "<path d=\"M%.1f 38h16\" stroke=\"var(--s%zu)\" stroke-width=\"3\"/><text x=\"%.1f\" y=\"42\" "
                         "style=\"fill:var(--fg)\">",
                         x, i % 8, x + 21);
        rg_buffer_html(f->b, c->series[i].name);
        rg_buffer_text(f->b, "</text>");
        for (const char *p = c->series[i].name; *p; p++) x += ((unsigned char)*p & 0xc0) != 0x80 ? LEGEND : 0;
        x += 40;
    }
}

rg_status rg_curves_svg(char **out, const rg_curves *c, int width, int height)
{
    rg_buffer b = RG_BUFFER_EMPTY;
    frame     f = { .b = &b, .wide = width - LEFT - RIGHT, .high = height - TOP - BOTTOM };

    if (c->bars) return rg_bars_svg(out, c, width);
    if (width < 160 || height < 140) return rg_fail(RG_EINVAL, "curves in %d x %d: at least 160 x 140", width, height);
    rg_axis_fit(&f.x, &f.y, c);
    rg_buffer_format(
        &b,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
        "font-size=\"12\" style=\"fill:var(--dim)\"><title>",
        width, height, width, height);
    rg_buffer_html(&b, c->title);
    rg_buffer_text(&b, "</title><text x=\"0\" y=\"16\" font-size=\"15\" font-weight=\"600\" style=\"fill:var(--fg)\">");
    rg_buffer_html(&b, c->title);
    rg_buffer_text(&b, "</text>");
    if (!rg_curves_are_points(c)) put_legend(&f, c);
    put_axes(&f, c);
    for (size_t i = 0; i < c->count; i++) put_series(&f, &c->series[i], i);
    if (rg_curves_are_points(c)) put_names(&f, c);
    rg_buffer_text(&b, "</svg>");
    return rg_buffer_take(out, NULL, &b);
}
