/* curves.c - several series over linear or logarithmic axes. */
#include <math.h>

#include "canvas.h"
#include "view/axis.h"

static const double wide = 400, tall = 230;

static void draw_axes(canvas *c, const rg_curves *v, const rg_axis *xs, const rg_axis *ys, double x, double y)
{
    double ticks[RG_TICKS_MOST], at;
    char   text[32];
    size_t n = rg_axis_ticks(ticks, ys, 6);

    cairo_set_line_width(c->cr, 0.6);
    for (size_t i = 0; i < n; i++) {
        if (!rg_axis_place(&at, ys, ticks[i])) continue;
        canvas_colour(c, c->line, 1);
        cairo_move_to(c->cr, x, y + tall * (1 - at));
        cairo_line_to(c->cr, x + wide, y + tall * (1 - at));
        cairo_stroke(c->cr);
        rg_axis_text(text, ys, ticks[i]);
        canvas_text(c, x - 6, y + tall * (1 - at), RIGHT, text, 8.5, c->dim, 0);
    }
    n = rg_axis_ticks(ticks, xs, 8);
    for (size_t i = 0; i < n; i++) {
        if (!rg_axis_place(&at, xs, ticks[i]) || at < -0.001 || at > 1.001) continue;
        canvas_colour(c, c->dim, 1);
        cairo_move_to(c->cr, x + wide * at, y + tall);
        cairo_line_to(c->cr, x + wide * at, y + tall + 3);
        cairo_stroke(c->cr);
        rg_axis_text(text, xs, ticks[i]);
        canvas_text(c, x + wide * at, y + tall + 11, CENTRE, text, 8.5, c->dim, 0);
    }
    canvas_colour(c, c->dim, 1);
    cairo_move_to(c->cr, x, y + tall);
    cairo_line_to(c->cr, x + wide, y + tall);
    cairo_stroke(c->cr);
    canvas_text(c, x + wide / 2, y + tall + 27, CENTRE, v->x_name, 9.5, c->ink, 0);
    canvas_turned(c, MARGIN + 6, y + tall / 2 + canvas_measure(c, v->y_name, 9.5).width / 2, -G_PI / 2, v->y_name, 9.5,
                  c->ink, 0);
}

static void draw_intervals(canvas *c, const rg_series *s, size_t index, const rg_axis *xs, const rg_axis *ys, double x,
                           double y)
{
    cairo_set_line_width(c->cr, 1);
    canvas_colour(c, canvas_series(c, index), 0.8);
    for (size_t i = 0; s->low && i < s->count; i++) {
        double px, low, high;
        if (!rg_axis_place(&px, xs, s->x[i]) || !rg_axis_place(&low, ys, s->low[i]) ||
            !rg_axis_place(&high, ys, s->high[i]))
            continue;
        px = x + wide * px, low = y + tall * (1 - low), high = y + tall * (1 - high);
        cairo_move_to(c->cr, px, low);
        cairo_line_to(c->cr, px, high);
        for (int end = 0; end < 2; end++) {
            cairo_move_to(c->cr, px - 3, end ? high : low);
            cairo_line_to(c->cr, px + 3, end ? high : low);
        }
        cairo_stroke(c->cr);
    }
}

static void draw_series(canvas *c, const rg_series *s, size_t index, const rg_axis *xs, const rg_axis *ys, double x,
                        double y)
{
    bool pen = false;

    draw_intervals(c, s, index, xs, ys, x, y);
    cairo_set_line_join(c->cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_width(c->cr, 1.6);
    canvas_colour(c, canvas_series(c, index), 1);
    for (size_t i = 0; i < s->count; i++) {
        double px, py;
        if (!rg_axis_place(&px, xs, s->x[i]) || !rg_axis_place(&py, ys, s->y[i])) {
            pen = false;
            continue;
        }
        px = x + wide * px, py = y + tall * (1 - py);
        if (pen) cairo_line_to(c->cr, px, py);
        else cairo_move_to(c->cr, px, py);
        pen = true;
    }
    cairo_stroke(c->cr);
    if (s->count > 24) return;
    for (size_t i = 0; i < s->count; i++) { /* few points: show them */
        double px, py;
        if (!rg_axis_place(&px, xs, s->x[i]) || !rg_axis_place(&py, ys, s->y[i])) continue;
        cairo_arc(c->cr, x + wide * px, y + tall * (1 - py), 2.4, 0, 2 * G_PI);
        cairo_fill(c->cr);
    }
}

/* The names of points beside them. */
static rg_status name_points(canvas *c, const rg_curves *v, const rg_axis *xs, const rg_axis *ys, double x, double y)
{
    rg_point_name *names = rg_alloc_array(v->count, sizeof *names);

    if (!names) return RG_ENOMEM;
    for (size_t i = 0; i < v->count; i++) {
        const text_size size = canvas_measure(c, v->series[i].name, 9.5);
        double          px = 0, py = 0;
        rg_axis_place(&px, xs, v->series[i].x[0]);
        rg_axis_place(&py, ys, v->series[i].y[0]);
        names[i] = (rg_point_name){ .x = x + wide * px, .y = y + tall * (1 - py), .width = size.width, .height = 11 };
    }
    rg_point_names(names, v->count, x, x + wide + MARGIN);
    for (size_t i = 0; i < v->count; i++) {
        const rg_point_name *n = &names[i];
        canvas_text(c, n->text_x, n->text_y,
                    n->side == RG_BESIDE_RIGHT ? LEFT : n->side == RG_BESIDE_LEFT ? RIGHT : CENTRE, v->series[i].name,
                    9.5, c->ink, 0);
    }
    rg_free(names);
    return RG_OK;
}

rg_status draw_curves(canvas *c, const rg_curves *v)
{
    if (v->bars) return draw_bars(c, v);
    const bool points = rg_curves_are_points(v);
    rg_axis xs, ys;
    double   x = MARGIN + 52, y = canvas_heading(c, *v->title ? v->title : c->record->title, NULL), at = x;

    rg_axis_fit(&xs, &ys, v);
    for (size_t i = 0; i < v->count && !points; i++) { /* the legend, in lines above the plot */
        double w = 24 + canvas_measure(c, v->series[i].name, 9.5).width;
        if (at > x && at + w > x + wide) at = x, y += 14;
        canvas_colour(c, canvas_series(c, i), 1);
        cairo_set_line_width(c->cr, 2.4);
        cairo_move_to(c->cr, at, y + 6);
        cairo_line_to(c->cr, at + 14, y + 6);
        cairo_stroke(c->cr);
        canvas_text(c, at + 19, y + 6, LEFT, v->series[i].name, 9.5, c->ink, 0);
        at += w + 14;
    }
    y += points ? 6 : 22;
    draw_axes(c, v, &xs, &ys, x, y);
    for (size_t i = 0; i < v->count; i++) draw_series(c, &v->series[i], i, &xs, &ys, x, y);
    if (points) RG_TRY(name_points(c, v, &xs, &ys, x, y));
    c->width = x + wide + MARGIN + 8;
    c->height = y + tall + 36 + MARGIN / 2;
    return RG_OK;
}
