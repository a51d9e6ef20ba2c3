/* terminal_curves.c - series over axes in Braille dots: each character is 2 x 4 of them. Points with names are letters. */
#include "view/axis.h"
#include "view/terminal.h"

#include <math.h>
#include <string.h>

enum { HIGH = 12, MARGIN = 10, NAME = 24 };

typedef struct plot {
    size_t         wide;  /* characters */
    unsigned char *dots;  /* HIGH x wide: Braille bits    */
    unsigned char *owner; /* which series drew there last */
    char          *letters;
} plot;

static void put_dot(plot *p, long x, long y, size_t series)
{
    static const unsigned char bit[4][2] = { { 1, 8 }, { 2, 16 }, { 4, 32 }, { 64, 128 } };
    size_t                     at;

    if (x < 0 || y < 0 || x >= 2 * (long)p->wide || y >= 4 * HIGH) return;
    at = (size_t)(y / 4) * p->wide + (size_t)(x / 2);
    p->dots[at] |= bit[y % 4][x % 2];
    p->owner[at] = (unsigned char)(series % 8 + 1);
}

static void put_series(plot *p, const rg_series *s, size_t index, const rg_axis *xs, const rg_axis *ys)
{
    double px = 0, py = 0;
    bool   have = false;

    for (size_t i = 0; i < s->count; i++) {
        double x, y;
        if (!rg_axis_place(&x, xs, s->x[i]) || !rg_axis_place(&y, ys, s->y[i])) {
            have = false;
            continue;
        }
        x *= 2 * (double)p->wide - 1;
        y = (1 - y) * (4 * HIGH - 1);
        if (!have) px = x, py = y;
        for (int k = 0, n = 1 + (int)fmax(fabs(x - px), fabs(y - py)); k <= n; k++)
            put_dot(p, lround(px + (x - px) * k / n), lround(py + (y - py) * k / n), index);
        px = x, py = y, have = true;
    }
}

double rg_terminal__hue(size_t series)
{
    static const double values[] = { 0.92, 0.62, 0.8, 0.45, 0.7, 0.98, 0.54, 0.86 };
    return values[series % 8];
}

/* a .. z, A .. Z; where one stands already, beside it. */
static char letter(size_t series) { return (char)(series % 52 < 26 ? 'a' + series % 26 : 'A' + series % 26); }

static void put_letter(plot *p, const rg_series *s, size_t index, const rg_axis *xs, const rg_axis *ys)
{
    double x, y;

    if (!rg_axis_place(&x, xs, s->x[0]) || !rg_axis_place(&y, ys, s->y[0])) return;
    size_t       column = (size_t)lround(x * (double)(p->wide - 1));
    const size_t first = (size_t)lround((1 - y) * (HIGH - 1)) * p->wide;
    while (p->letters[first + column] && column + 1 < p->wide) column++;
    p->letters[first + column] = letter(index);
    p->owner[first + column] = (unsigned char)(index % 8 + 1);
}

static void put_plot(rg_buffer *b, const plot *p, const rg_axis *ys, const rg_terminal_options *o)
{
    for (size_t line = 0; line < HIGH; line++) {
        if (line % 4 == 0 || line == HIGH - 1)
            rg_buffer_format(b, "%*.3g ", MARGIN - 1, rg_axis_value(ys, 1 - (double)line / (HIGH - 1)));
        else rg_buffer_repeat(b, " ", MARGIN);
        for (size_t x = 0; x < p->wide; x++) {
            unsigned dots = p->dots[line * p->wide + x];
            char     named[2] = { p->letters[line * p->wide + x], 0 };
            char     utf8[4] = { (char)0xe2, (char)(0xa0 + (dots >> 6)), (char)(0x80 + (dots & 63)), 0 };
            if (dots || *named) rg_terminal__ink(b, o, rg_terminal__hue(p->owner[line * p->wide + x] - 1u));
            rg_buffer_text(b, *named ? named : !dots ? " " : o->unicode ? utf8 : "*");
        }
        rg_terminal__plain(b, o);
        rg_buffer_text(b, "\n");
    }
}

/* What each series is called, in lines of the terminal's width. */
static void put_legend(rg_buffer *b, const rg_curves *c, bool points, const rg_terminal_options *o)
{
    size_t used = MARGIN;

    rg_buffer_repeat(b, " ", MARGIN);
    for (size_t i = 0; i < c->count; i++) {
        const char   named[4] = { letter(i), ' ', 0 };
        const size_t mark = points ? 2 : 3, text = rg_terminal_width(c->series[i].name),
                     takes = mark + (text < NAME ? text : NAME) + 3;
        if (used > MARGIN && used + takes - 3 > (size_t)o->width) {
            rg_buffer_text(b, "\n");
            rg_buffer_repeat(b, " ", used = MARGIN);
        }
        rg_terminal__ink(b, o, rg_terminal__hue(i));
        rg_buffer_text(b, points ? named : o->unicode ? "━━ " : "-- ");
        rg_terminal__plain(b, o);
        rg_terminal__label(b, c->series[i].name, NAME, o->unicode);
        rg_buffer_text(b, "   ");
        used += takes;
    }
    rg_buffer_text(b, "\n");
}

static void draw(rg_buffer *b, plot *p, const rg_curves *c, const rg_terminal_options *o)
{
    const bool points = rg_curves_are_points(c);
    rg_axis    xs, ys;

    rg_axis_fit(&xs, &ys, c);
    for (size_t i = 0; i < c->count; i++)
        if (points) put_letter(p, &c->series[i], i, &xs, &ys);
        else put_series(p, &c->series[i], i, &xs, &ys);
    rg_terminal__bold(b, o);
    rg_terminal__label(b, c->title, (size_t)o->width, o->unicode);
    rg_terminal__plain(b, o);
    rg_buffer_text(b, "\n");
    put_plot(b, p, &ys, o);
    rg_buffer_format(b, "%*.6g", MARGIN + 1, rg_axis_value(&xs, 0));
    if (points) { /* axes have names where nothing else says what is drawn */
        const size_t text = rg_terminal_width(c->x_name), room = p->wide > 24 + text ? p->wide - 2 - text : 0;
        rg_buffer_repeat(b, " ", room / 2);
        if (room) rg_terminal__label(b, c->x_name, text, o->unicode);
        rg_buffer_format(b, "%*.6g\n", (int)(room ? room - room / 2 : p->wide - 2), rg_axis_value(&xs, 1));
    } else rg_buffer_format(b, "%*.6g  \n", (int)p->wide - 2, rg_axis_value(&xs, 1));
    put_legend(b, c, points, o);
}

rg_status rg_terminal_curves(char **out, const rg_curves *c, const rg_terminal_options *options)
{
    rg_terminal_options o = *options;
    rg_buffer           b = RG_BUFFER_EMPTY;
    plot                p = { .wide = (size_t)(o.width < 40 ? 40 : o.width) - MARGIN - 2 };

    if (c->bars) return rg_terminal__bars(out, c, &o);
    p.dots = rg_alloc_zero(HIGH * p.wide);
    p.owner = rg_alloc_zero(HIGH * p.wide);
    p.letters = rg_alloc_zero(HIGH * p.wide);
    const bool room = p.dots && p.owner && p.letters;
    if (room) draw(&b, &p, c, &o);
    rg_free(p.dots);
    rg_free(p.owner);
    rg_free(p.letters);
    return room ? rg_buffer_take(out, NULL, &b) : RG_ENOMEM;
}
