/* bars.c - values under names: a bar each, or a point with its interval; the axis of values runs across. */
#include <math.h>

#include "canvas.h"
#include "view/axis.h"

static const double wide = 320, names = 190;
enum { LINE = 13,
       GAP = 6 };

static void draw_axis(canvas *c, const rg_curves *v, const rg_axis *ys, double x, double y, double height)
{
    double       ticks[RG_TICKS_MOST], at;
    char         text[32];
    const size_t n = rg_axis_ticks(ticks, ys, 6);

    cairo_set_line_width(c->cr, 0.6);
    for (size_t i = 0; i < n; i++) {
        if (!rg_axis_place(&at, ys, ticks[i])) continue;
        canvas_colour(c, c->line, 1);
        cairo_move_to(c->cr, x + wide * at, y);
        cairo_line_to(c->cr, x + wide * at, y + height);
        cairo_stroke(c->cr);
        rg_axis_text(text, ys, ticks[i]);
        canvas_text(c, x + wide * at, y + height + 9, CENTRE, text, 8.5, c->dim, 0);
    }
    canvas_text(c, x + wide / 2, y + height + 24, CENTRE, v->y_name, 9.5, c->ink, 0);
}

/* A point, its interval, and how far it reaches to the right. */
static double draw_interval(canvas *c, const rg_series *s, size_t i, const rg_axis *ys, double x, double y)
{
    double       at[3];
    const double value[3] = { s->low[i], s->y[i], s->high[i] };

    for (int k = 0; k < 3; k++) at[k] = x + (rg_axis_place(&at[k], ys, value[k]) ? wide * at[k] : 0);
    cairo_set_line_width(c->cr, 1.2);
    cairo_move_to(c->cr, at[0], y);
    cairo_line_to(c->cr, at[2], y);
    for (int k = 0; k < 3 && at[2] > at[0]; k += 2) {
        cairo_move_to(c->cr, at[k], y - 3);
        cairo_line_to(c->cr, at[k], y + 3);
    }
    cairo_stroke(c->cr);
    cairo_arc(c->cr, at[1], y, 2.8, 0, 2 * G_PI);
    cairo_fill(c->cr);
    return fmax(at[1] + 3, at[2]);
}

static double draw_bar(canvas *c, const rg_series *s, size_t i, const rg_axis *ys, double x, double y)
{
    double zero = 0, end = 0;

    if (!rg_axis_place(&zero, ys, 0)) zero = 0;
    rg_axis_place(&end, ys, s->y[i]);
    cairo_rectangle(c->cr, x + wide * fmin(zero, end), y - LINE / 2.0 + 1, wide * fabs(end - zero), LINE - 2);
    cairo_fill(c->cr);
    return x + wide * fmax(zero, end);
}

rg_status draw_bars(canvas *c, const rg_curves *v)
{
    double  side = canvas_measure(c, v->x_name, 9).width,
            y = canvas_heading(c, *v->title ? v->title : c->record->title, NULL);
    double  right = 0;
    rg_axis xs, ys;
    char    text[32];

    rg_axis_fit(&xs, &ys, v);
    for (size_t i = 0; i < v->bars; i++) side = fmax(side, fmin(names, canvas_measure(c, v->bar[i], 10).width));
    const double x = MARGIN + side + 8, step = (double)(LINE * (v->count ? v->count : 1) + GAP);
    double       at = x;
    for (size_t k = 0; v->count > 1 && k < v->count; k++) { /* the legend */
        const double w = 24 + canvas_measure(c, v->series[k].name, 9.5).width;
        if (at > x && at + w > x + wide) at = x, y += 14;
        canvas_colour(c, canvas_series(c, k), 1);
        cairo_rectangle(c->cr, at, y + 2, 12, 8);
        cairo_fill(c->cr);
        canvas_text(c, at + 17, y + 6, LEFT, v->series[k].name, 9.5, c->ink, 0);
        at += w + 14;
    }
    y += v->count > 1 ? 18 : 2;
    canvas_text(c, x - 8, y + 4, RIGHT, v->x_name, 9, c->dim, 0);
    y += *v->x_name ? 12 : 0;
    draw_axis(c, v, &ys, x, y, step * (double)v->bars);
    for (size_t i = 0; i < v->bars; i++)
        canvas_text(c, x - 8, y + ((double)i + 0.5) * step, RIGHT, v->bar[i], 10, c->ink, names);
    for (size_t k = 0; k < v->count; k++) {
        const rg_series *s = &v->series[k];
        for (size_t i = 0; i < s->count; i++) {
            const double line = y + s->x[i] * step + GAP / 2.0 + ((double)k + 0.5) * LINE;
            canvas_colour(c, canvas_series(c, k), 1);
            const double end = s->low ? draw_interval(c, s, i, &ys, x, line) : draw_bar(c, s, i, &ys, x, line);
            snprintf(text, sizeof text, s->low ? "%.4g" : "%.3g", s->y[i]);
            canvas_text(c, end + 5, line, LEFT, text, 8.5, c->dim, 0);
            right = fmax(right, end + 5 + canvas_measure(c, text, 8.5).width);
        }
    }
    c->width = fmax(x + wide + 12, right) + MARGIN;
    c->height = y + step * (double)v->bars + 32 + MARGIN / 2;
    return RG_OK;
}
