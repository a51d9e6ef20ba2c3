/* terminal_bars.c - values under names: a line each, with a bar, or a point and its interval, and the number. */
#include "view/axis.h"
#include "view/terminal.h"

#include <math.h>
#include <string.h>

enum { NAME = 24,
       NUMBER = 8,
       INTERVAL = 20,
       LEAST = 10 };

/* `columns` characters of a bar that ends at 0 .. columns, in eighths. */
static void put_bar(rg_buffer *b, double from, double to, size_t columns, const rg_terminal_options *o)
{
    static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    const size_t             first = (size_t)lround(fmin(from, to));
    const double             end = fmax(from, to);
    size_t                   whole = (size_t)floor(end + 1.0 / 16), part = (size_t)lround(8 * (end - (double)whole));

    if (end <= (double)whole || !o->unicode) part = 0;
    if (whole < first) whole = first;
    rg_buffer_repeat(b, " ", first);
    rg_buffer_repeat(b, o->unicode ? "█" : "#", whole - first);
    rg_buffer_text(b, eighths[part % 8]);
    rg_buffer_repeat(b, " ", columns > whole + (part > 0) ? columns - whole - (part > 0) : 0);
}

/* ├───●───┤ */
static void put_interval(rg_buffer *b, double low, double at, double high, size_t columns, const rg_terminal_options *o)
{
    const long end[2] = { lround(low), lround(high) }, point = lround(at);

    for (long i = 0; i < (long)columns; i++) {
        const char *unicode = " ", *plain = " ";
        if (i > end[0] && i < end[1]) unicode = "─", plain = "-";
        if (i == end[0]) unicode = "├", plain = "|";
        if (i == end[1]) unicode = "┤", plain = "|";
        if (i == point) unicode = "●", plain = "o";
        rg_buffer_text(b, o->unicode ? unicode : plain);
    }
}

static double place(const rg_axis *ys, double value, size_t columns)
{
    double at;
    return rg_axis_place(&at, ys, value) ? fmax(0, fmin(1, at)) * (double)columns : 0;
}

static void put_line(rg_buffer *b, const rg_series *s, size_t i, const rg_axis *ys, size_t columns, double ink,
                     const rg_terminal_options *o)
{
    rg_terminal__ink(b, o, ink);
    if (s->low)
        put_interval(b, place(ys, s->low[i], columns - 1), place(ys, s->y[i], columns - 1),
                     place(ys, s->high[i], columns - 1), columns, o);
    else put_bar(b, place(ys, 0, columns), place(ys, s->y[i], columns), columns, o);
    rg_terminal__plain(b, o);
    rg_buffer_format(b, " %*.*g", NUMBER - 1, s->low ? 4 : 3, s->y[i]);
    if (s->low && s->high[i] > s->low[i]) rg_buffer_format(b, "  %.4g to %.4g", s->low[i], s->high[i]);
    rg_buffer_text(b, "\n");
}

static void put_name(rg_buffer *b, const char *name, size_t side, const rg_terminal_options *o)
{
    const size_t width = rg_terminal_width(name), shown = width < side ? width : side;
    rg_buffer_repeat(b, " ", side - shown);
    rg_terminal__label(b, name, side, o->unicode);
    rg_buffer_text(b, " ");
}

rg_status rg_terminal__bars(char **out, const rg_curves *c, const rg_terminal_options *o)
{
    rg_buffer b = RG_BUFFER_EMPTY;
    rg_axis   xs, ys;
    size_t    side = 0, taken = NUMBER;

    rg_axis_fit(&xs, &ys, c);
    for (size_t i = 0; i < c->bars; i++) side = rg_terminal_width(c->bar[i]) > side ? rg_terminal_width(c->bar[i]) : side;
    if (side > NAME) side = NAME;
    for (size_t k = 0; k < c->count; k++) taken = c->series[k].low ? NUMBER + INTERVAL : taken;
    taken += side + 1;
    const size_t columns = (size_t)o->width > taken + LEAST ? (size_t)o->width - taken : LEAST;
    rg_terminal__bold(&b, o);
    rg_terminal__label(&b, c->title, (size_t)o->width, o->unicode);
    rg_terminal__plain(&b, o);
    rg_buffer_text(&b, "\n");
    for (size_t i = 0; i < c->bars; i++)
        for (size_t k = 0; k < c->count; k++)
            for (size_t p = 0; p < c->series[k].count; p++) {
                if ((size_t)c->series[k].x[p] != i) continue;
                put_name(&b, k ? "" : c->bar[i], side, o);
                put_line(&b, &c->series[k], p, &ys, columns, rg_terminal__hue(k), o);
            }
    rg_buffer_repeat(&b, " ", side + 1);
    rg_terminal__dim(&b, o);
    char low[32], high[32];
    rg_axis_text(low, &ys, ys.low);
    rg_axis_text(high, &ys, ys.high);
    const size_t ends = rg_terminal_width(low) + rg_terminal_width(high), text = rg_terminal_width(c->y_name);
    const size_t space = columns > ends ? columns - ends : 1, room = space > text + 2 ? space - text : space;
    rg_buffer_text(&b, low);
    rg_buffer_repeat(&b, " ", room / 2);
    if (space > text + 2) rg_terminal__label(&b, c->y_name, text, o->unicode);
    rg_buffer_repeat(&b, " ", room - room / 2);
    rg_buffer_text(&b, high);
    rg_terminal__plain(&b, o);
    rg_buffer_text(&b, "\n");
    for (size_t k = 0; c->count > 1 && k < c->count; k++) {
        if (!k) rg_buffer_repeat(&b, " ", side + 1);
        rg_terminal__ink(&b, o, rg_terminal__hue(k));
        rg_buffer_text(&b, o->unicode ? "━━ " : "-- ");
        rg_terminal__plain(&b, o);
        rg_terminal__label(&b, c->series[k].name, NAME, o->unicode);
        rg_buffer_text(&b, k + 1 < c->count ? "   " : "\n");
    }
    return rg_buffer_take(out, NULL, &b);
}
