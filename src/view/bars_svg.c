/* bars_svg.c - values under names as an <svg> element in the page's colours: a bar each, or a point with its interval. */
#include "view/bars_svg.h"
#include "view/axis.h"
#include "view/buffer.h"

#include <math.h>

enum { LETTER = 7,
       NAMES = 200,
       LINE = 15,
       GAP = 7,
       TOP = 46,
       BOTTOM = 44,
       NUMBER = 64,
       LEAST = 120 };

typedef struct frame {
    rg_buffer *b;
    rg_axis    y;
    double     left, wide;
} frame;

static double place(const frame *f, double value)
{
    double at;
    return f->left + (rg_axis_place(&at, &f->y, value) ? f->wide * at : 0);
}

static void put_axis(const frame *f, const rg_curves *c, double height)
{
    double       ticks[RG_TICKS_MOST];
    char         text[32];
    const size_t n = rg_axis_ticks(ticks, &f->y, 6);

    for (size_t i = 0; i < n; i++) {
        rg_axis_text(text, &f->y, ticks[i]);
        rg_buffer_format(f->b,
                         "<path d=\"M%.1f %dv%.1f\" stroke=\"var(--line)\"/><text x=\"%.1f\" y=\"%.1f\" "
                         "text-anchor=\"middle\">%s</text>",
                         place(f, ticks[i]), TOP, height, place(f, ticks[i]), TOP + height + 16, text);
    }
    rg_buffer_format(f->b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", f->left + f->wide / 2,
                     TOP + height + 36);
    rg_buffer_html(f->b, c->y_name);
    rg_buffer_text(f->b, "</text>");
}

static void put_value(const frame *f, const rg_series *s, size_t i, size_t index, double y)
{
    const double at = place(f, s->y[i]), zero = place(f, fmax(0, f->y.low));
    double       end = fmax(at, zero);

    if (s->low) {
        end = place(f, s->high[i]) + 3;
        rg_buffer_format(f->b,
                         "<path d=\"M%.1f %.1fH%.1f\" stroke=\"var(--s%zu)\" stroke-width=\"1.5\"/><circle cx=\"%.1f\" "
                         "cy=\"%.1f\" r=\"3.5\" fill=\"var(--s%zu)\"/>",
                         place(f, s->low[i]), y, place(f, s->high[i]), index % 8, at, y, index % 8);
    } else
        rg_buffer_format(f->b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"var(--s%zu)\"/>",
                         fmin(at, zero), y - LINE / 2.0 + 1, fabs(at - zero), LINE - 2, index % 8);
    rg_buffer_format(f->b, s->low ? "<text x=\"%.1f\" y=\"%.1f\">%.4g</text>" : "<text x=\"%.1f\" y=\"%.1f\">%.3g</text>",
                     end + 5, y + 4, s->y[i]);
}

static void put_legend(const frame *f, const rg_curves *c)
{
    double x = f->left;

    for (size_t k = 0; c->count > 1 && k < c->count; k++) {
        rg_buffer_format(f->b,
                         "<rect x=\"%.1f\" y=\"28\" width=\"14\" height=\"9\" fill=\"var(--s%zu)\"/><text x=\"%.1f\" "
                         "y=\"37\" style=\"fill:var(--fg)\">",
                         x, k % 8, x + 19);
        rg_buffer_html(f->b, c->series[k].name);
        rg_buffer_text(f->b, "</text>");
        x += 36 + LETTER * (double)rg_terminal_width(c->series[k].name);
    }
}

rg_status rg_bars_svg(char **out, const rg_curves *c, int width)
{
    rg_buffer    b = RG_BUFFER_EMPTY;
    frame        f = { .b = &b };
    rg_axis      x;
    const double step = (double)(LINE * (c->count ? c->count : 1) + GAP), height = step * (double)c->bars;
    double       side = 0;

    for (size_t i = 0; i < c->bars; i++) side = fmax(side, LETTER * (double)rg_terminal_width(c->bar[i]));
    f.left = fmin(side, NAMES) + 10;
    f.wide = fmax(LEAST, width - f.left - NUMBER);
    rg_axis_fit(&x, &f.y, c);
    rg_buffer_format(&b,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" "
                     "role=\"img\" font-size=\"12\" style=\"fill:var(--dim)\"><title>",
                     width, TOP + height + BOTTOM, width, TOP + height + BOTTOM);
    rg_buffer_html(&b, c->title);
    rg_buffer_text(&b, "</title><text x=\"0\" y=\"16\" font-size=\"15\" font-weight=\"600\" style=\"fill:var(--fg)\">");
    rg_buffer_html(&b, c->title);
    rg_buffer_text(&b, "</text>");
    put_legend(&f, c);
    put_axis(&f, c, height);
    for (size_t i = 0; i < c->bars; i++) {
        rg_buffer_format(&b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" style=\"fill:var(--fg)\">", f.left - 6,
                         TOP + ((double)i + 0.5) * step + 4);
        rg_buffer_html(&b, c->bar[i]);
        rg_buffer_text(&b, "</text>");
    }
    for (size_t k = 0; k < c->count; k++)
        for (size_t i = 0; i < c->series[k].count; i++)
            put_value(&f, &c->series[k], i, k, TOP + c->series[k].x[i] * step + GAP / 2.0 + ((double)k + 0.5) * LINE);
    rg_buffer_text(&b, "</svg>");
    return rg_buffer_take(out, NULL, &b);
}
