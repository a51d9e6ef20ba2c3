/* axis.c - axes of curves. Linear ticks are 1, 2 or 5 times a power of ten; logarithmic ones powers of ten. */
#include "view/axis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double round_step(double span, size_t most)
{
    double raw = span / (double)(most > 1 ? most - 1 : 1), power = pow(10, floor(log10(raw))), times = raw / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static void fit(rg_axis *s, double low, double high, bool log, bool loose)
{
    s->log = log;
    if (!(low <= high)) low = log ? 0.1 : 0, high = 1; /* nothing to show */
    if (log) {
        s->low = loose ? pow(10, floor(log10(low) + 1e-9)) : low;
        s->high = loose ? pow(10, ceil(log10(high) - 1e-9)) : high;
        if (s->low >= s->high) s->high = s->low * 10;
        return;
    }
    if (high - low < 1e-12 * fmax(fabs(low), fabs(high)) || high == low) {
        double pad = high != 0 ? fabs(high) * 0.1 : 1;
        low -= pad, high += pad;
    }
    s->low = low, s->high = high;
    if (loose) {
        double step = round_step(high - low, 6);
        s->low = floor(low / step + 1e-9) * step;
        s->high = ceil(high / step - 1e-9) * step;
    }
}

bool rg_curves_are_points(const rg_curves *c)
{
    bool points = c->count > 1 && !c->bars;
    for (size_t i = 0; i < c->count; i++) points = points && c->series[i].count == 1;
    return points;
}

void rg_axis_fit(rg_axis *x, rg_axis *y, const rg_curves *c)
{
    double lx = INFINITY, hx = -INFINITY, ly = INFINITY, hy = -INFINITY;

    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->series[i].count; k++) {
            const rg_series *s = &c->series[i];
            const double     px = s->x[k], py = s->y[k];
            if ((c->x_log && px <= 0) || (c->y_log && py <= 0)) continue;
            lx = fmin(lx, px), hx = fmax(hx, px);
            ly = fmin(ly, py), hy = fmax(hy, py);
            if (s->low && (!c->y_log || s->low[k] > 0)) ly = fmin(ly, s->low[k]);
            if (s->high) hy = fmax(hy, s->high[k]);
            if (c->bars && !s->low && !c->y_log) ly = fmin(ly, 0), hy = fmax(hy, 0);
        }
    fit(x, lx, hx, c->x_log, rg_curves_are_points(c));
    fit(y, ly, hy, c->y_log, true);
}

bool rg_axis_place(double *out, const rg_axis *s, double v)
{
    if (s->log && v <= 0) return false;
    *out = s->log ? log(v / s->low) / log(s->high / s->low) : (v - s->low) / (s->high - s->low);
    return isfinite(*out);
}

double rg_axis_value(const rg_axis *s, double place)
{
    return s->log ? s->low * pow(s->high / s->low, place) : s->low + (s->high - s->low) * place;
}

size_t rg_axis_ticks(double out[RG_TICKS_MOST], const rg_axis *s, size_t most)
{
    size_t count = 0;

    if (most > RG_TICKS_MOST) most = RG_TICKS_MOST;
    if (most < 2) most = 2;
    if (s->log) {
        double first = ceil(log10(s->low) - 1e-9), last = floor(log10(s->high) + 1e-9);
        double step = ceil((last - first + 1) / (double)most);
        for (double e = first; e <= last && count < most; e += step) out[count++] = pow(10, e);
        if (count >= 2) return count;
        out[0] = s->low, out[1] = s->high; /* less than a decade */
        return 2;
    }
    for (double step = round_step(s->high - s->low, most), at = ceil(s->low / step - 1e-9); count < most; at++) {
        if (at * step > s->high + 1e-9 * step) break;
        out[count++] = fabs(at) < 0.5 ? 0 : at * step;
    }
    return count;
}

/* 10 and a raised number */
static void power_of_ten(char out[32], int exponent)
{
    static const char *const raised[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
    char                     digits[16];
    int                      used = snprintf(out, 32, "10%s", exponent < 0 ? "⁻" : "");

    snprintf(digits, sizeof digits, "%d", abs(exponent));
    for (const char *p = digits; *p && used < 28; p++)
        used += snprintf(out + used, (size_t)(32 - used), "%s", raised[*p - '0']);
}

void rg_axis_text(char out[32], const rg_axis *s, double tick)
{
    if (s->log && tick > 0 && fabs(log10(tick) - round(log10(tick))) < 1e-9 && (s->low < 1e-3 || s->high > 1e4))
        power_of_ten(out, (int)round(log10(tick)));
    else if (fabs(tick) >= 10000 && fmod(tick, 1000) == 0) snprintf(out, 32, "%gk", tick / 1000);
    else snprintf(out, 32, "%.4g", tick);
}

/* ------------------------------------------------------------------------------------------------- names of points */

typedef struct {
    double x0, y0, x1, y1;
} box;

static bool touch(box a, box b) { return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1; }

static box name_at(rg_point_name *n, rg_beside side)
{
    static const double away = 7;
    const double        left = side == RG_BESIDE_RIGHT  ? n->x + away
                               : side == RG_BESIDE_LEFT ? n->x - away - n->width
                                                        : n->x - n->width / 2,
                 middle = side == RG_BESIDE_ABOVE   ? n->y - away - n->height / 2
                          : side == RG_BESIDE_BELOW ? n->y + away + n->height / 2
                                                    : n->y;
    n->side = side;
    n->text_x = side == RG_BESIDE_RIGHT ? left : side == RG_BESIDE_LEFT ? left + n->width : n->x;
    n->text_y = middle;
    return (box){ left, middle - n->height / 2, left + n->width, middle + n->height / 2 };
}

/* Does name i cover a point, a name that was placed before it, or the border? */
static bool is_free(const rg_point_name *names, size_t count, size_t i, box b, double left, double right)
{
    if (b.x0 < left || b.x1 > right) return false;
    for (size_t k = 0; k < count; k++) {
        const rg_point_name *n = &names[k];
        rg_point_name        copy = *n;
        if (k != i && touch(b, (box){ n->x - 3, n->y - 3, n->x + 3, n->y + 3 })) return false;
        if (k < i && touch(b, name_at(&copy, n->side))) return false;
    }
    return true;
}

void rg_point_names(rg_point_name *names, size_t count, double left, double right)
{
    for (size_t i = 0; i < count; i++) {
        rg_beside side = RG_BESIDE_RIGHT;
        while (side < RG_BESIDE_SIDES && !is_free(names, count, i, name_at(&names[i], side), left, right)) side++;
        if (side == RG_BESIDE_SIDES) /* nowhere: where it stays inside */
            name_at(&names[i], names[i].x + 7 + names[i].width <= right ? RG_BESIDE_RIGHT : RG_BESIDE_LEFT);
    }
}
