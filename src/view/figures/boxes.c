/* boxes.c - nodes of a graph as boxes at given places: the parts of a network, from below to above; the hypotheses of a
 * beam search, from left to right. A label is "NAME · LINE · LINE"; parts of layers that are alike, "encoder.0-5.self",
 * stand in a frame. Maps named "dropped", "finished" and "answer" say how their nodes and edges are drawn. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "canvas.h"

enum { MOST_BOXES = 2000, LINES = 3 };

typedef enum { KEPT, DROPPED, FINISHED, ANSWER } fate;

typedef struct box {
    char   text[LINES][80];
    size_t lines;
    double x, y; /* of its middle */
    fate   fate;
} box;

typedef struct sheet {
    box   *box;
    size_t count;
    bool   upright; /* parts: from below to above */
    double wide, high;
} sheet;

static void split(box *b, const char *label)
{
    static const char dot[] = " · ";
    for (b->lines = 0; b->lines < LINES;) {
        const char  *end = strstr(label, dot);
        const size_t n = end ? (size_t)(end - label) : strlen(label);
        snprintf(b->text[b->lines++], sizeof b->text[0], "%.*s", (int)(n < 79 ? n : 79), label);
        if (!end) return;
        label = end + strlen(dot);
    }
}

/* The stack of a part and how many layers it has: "encoder.0-5.self" -> "encoder.0-5", 6; 0: it is of none. */
static size_t stack_of(const char *name, size_t *length)
{
    for (size_t at = 0; name[at];) {
        const size_t n = strcspn(name + at, ".");
        unsigned     first, last;
        int          used = 0;
        if (sscanf(name + at, "%u-%u%n", &first, &last, &used) == 2 && (size_t)used == n && last >= first)
            return *length = at + n, (size_t)(last - first) + 1;
        at += n + (name[at + n] != 0);
    }
    return 0;
}

static fate fate_of(const rg_record *r, size_t node)
{
    static const char *const names[] = { [DROPPED] = "dropped", [FINISHED] = "finished", [ANSWER] = "answer" };
    fate                     found = KEPT;
    for (size_t i = 0; i < r->maps; i++)
        for (int k = DROPPED; k <= ANSWER; k++) {
            if (strcmp(r->map[i].name, names[k]) != 0 || !r->map[i].from) continue;
            for (size_t e = 0; e < r->map[i].edges; e++)
                if (r->map[i].to[e] == node && k > (int)found) found = (fate)k;
        }
    return found;
}

static rgb ink_of(const canvas *c, fate f)
{
    return f == DROPPED ? c->dim : f == FINISHED ? canvas_series(c, 2) : f == ANSWER ? canvas_series(c, 1) : c->accent;
}

/* ------------------------------------------------------------------------------------------------------ drawing */

static void rounded(canvas *c, double x, double y, double w, double h, double r)
{
    cairo_new_sub_path(c->cr);
    cairo_arc(c->cr, x + w - r, y + r, r, -G_PI / 2, 0);
    cairo_arc(c->cr, x + w - r, y + h - r, r, 0, G_PI / 2);
    cairo_arc(c->cr, x + r, y + h - r, r, G_PI / 2, G_PI);
    cairo_arc(c->cr, x + r, y + r, r, G_PI, 1.5 * G_PI);
    cairo_close_path(c->cr);
}

static void draw_box(canvas *c, const sheet *s, const box *b)
{
    const double x = b->x - s->wide / 2, y = b->y - s->high / 2;
    size_t       ignored = 0;
    const char  *name =
        b->text[0] + (s->upright && stack_of(b->text[0], &ignored) ? ignored + (b->text[0][ignored] == '.') : 0);
    rounded(c, x, y, s->wide, s->high, 4);
    canvas_colour(c, c->ground, 1);
    cairo_fill_preserve(c->cr);
    canvas_colour(c, ink_of(c, b->fate), b->fate == DROPPED ? 0.06 : 0.14);
    cairo_fill_preserve(c->cr);
    canvas_colour(c, ink_of(c, b->fate), b->fate == DROPPED ? 0.6 : 1);
    cairo_set_line_width(c->cr, b->fate == ANSWER ? 1.8 : 0.9);
    cairo_stroke(c->cr);
    const double line = s->upright ? 12 : 11, top = b->y - line * (double)(b->lines - 1) / 2;
    canvas_text(c, b->x, top, CENTRE, *name ? name : b->text[0], s->upright ? 11 : 10,
                b->fate == DROPPED ? c->dim : c->ink, s->wide - 8);
    for (size_t k = 1; k < b->lines; k++)
        canvas_text(c, b->x, top + line * (double)k, CENTRE, b->text[k], 8.5, c->dim, s->wide - 8);
}

static void head(canvas *c, double x, double y, double dx, double dy)
{
    cairo_move_to(c->cr, x, y);
    cairo_line_to(c->cr, x - 5 * dx - 2.5 * dy, y - 5 * dy + 2.5 * dx);
    cairo_line_to(c->cr, x - 5 * dx + 2.5 * dy, y - 5 * dy - 2.5 * dx);
    cairo_close_path(c->cr);
    cairo_fill(c->cr);
}

/* From the top of a box to the bottom of one above it; past others in a column along their left side; across columns
 * from side to side; back to an earlier one along the right side, dashed. */
static void draw_flow(canvas *c, const sheet *s, const box *a, const box *b)
{
    const double half = s->wide / 2, up = s->high / 2;
    const double dash[] = { 4, 3 };
    canvas_colour(c, c->dim, 0.9);
    cairo_set_line_width(c->cr, 1);
    if (a > b) { /* back, in the next step */
        const double side = b->x < a->x - 1 ? -1 : 1;
        cairo_set_dash(c->cr, dash, 2, 0);
        cairo_move_to(c->cr, a->x + side * half, a->y - 6);
        cairo_curve_to(c->cr, a->x + side * (half + 26), a->y - 6, b->x + half + 26, b->y + 6, b->x + half + 4,
                       b->y + 6);
        cairo_stroke(c->cr);
        cairo_set_dash(c->cr, NULL, 0, 0);
        head(c, b->x + half, b->y + 6, -1, 0);
    } else if (fabs(a->x - b->x) < 1 && a->y - b->y < 2 * s->high && a->y > b->y) {
        cairo_move_to(c->cr, a->x, a->y - up);
        cairo_line_to(c->cr, b->x, b->y + up + 4);
        cairo_stroke(c->cr);
        head(c, b->x, b->y + up, 0, -1);
    } else {
        const bool   same = fabs(a->x - b->x) < 1;
        const double side = same || a->x > b->x ? -1 : 1, ax = a->x + side * half,
                     bx = same ? b->x - half : b->x - side * half, dx = same ? 1 : side,
                     bend = same ? 26 : fabs(bx - ax) / 2;
        cairo_move_to(c->cr, ax, a->y);
        cairo_curve_to(c->cr, ax + side * bend, a->y, bx - dx * bend, b->y, bx - dx * 4, b->y);
        cairo_stroke(c->cr);
        head(c, bx, b->y, dx, 0);
    }
}

static void draw_branch(canvas *c, const sheet *s, const box *a, const box *b, double p)
{
    const double ax = a->x + s->wide / 2, bx = b->x - s->wide / 2, bend = (bx - ax) / 2;
    const fate   f = a->fate == ANSWER || b->fate != ANSWER ? b->fate : KEPT;
    const double dash[] = { 3, 3 };
    cairo_set_dash(c->cr, dash, f == DROPPED ? 2 : 0, 0);
    canvas_colour(c, ink_of(c, f), f == DROPPED ? 0.55 : 0.9);
    cairo_set_line_width(c->cr, 0.6 + 2.4 * fmin(1, fmax(0, p)));
    cairo_move_to(c->cr, ax, a->y);
    cairo_curve_to(c->cr, ax + bend, a->y, bx - bend, b->y, bx, b->y);
    cairo_stroke(c->cr);
    cairo_set_dash(c->cr, NULL, 0, 0);
}

/* Around boxes of layers that are alike, with their number. */
static void draw_frames(canvas *c, const sheet *s)
{
    for (size_t i = 0; i < s->count; i++) {
        size_t       length, other;
        const size_t layers = stack_of(s->box[i].text[0], &length);
        bool         first = layers > 0;
        double       top = s->box[i].y, bottom = s->box[i].y;
        for (size_t j = 0; layers && j < s->count; j++) {
            if (!stack_of(s->box[j].text[0], &other) || other != length ||
                strncmp(s->box[i].text[0], s->box[j].text[0], length) != 0)
                continue;
            if (j < i) first = false;
            top = fmin(top, s->box[j].y), bottom = fmax(bottom, s->box[j].y);
        }
        if (!first) continue;
        char         text[96];
        const double x = s->box[i].x - s->wide / 2 - 9, y = top - s->high / 2 - 9;
        rounded(c, x, y, s->wide + 18, bottom - top + s->high + 18, 7);
        canvas_colour(c, c->line, 0.55);
        cairo_fill_preserve(c->cr);
        canvas_colour(c, c->dim, 0.8);
        cairo_set_line_width(c->cr, 0.8);
        cairo_stroke(c->cr);
        snprintf(text, sizeof text, "%.*s   x %zu", (int)strcspn(s->box[i].text[0], "."), s->box[i].text[0], layers);
        if (isdigit((unsigned char)text[0])) snprintf(text, sizeof text, "x %zu", layers);
        canvas_text(c, x + 2, y - 7, LEFT, text, 10, c->ink, s->wide);
    }
}

static void set_places(sheet *s, const rg_labels *l, double y)
{
    const double across = s->upright ? s->wide + 70 : s->wide + 34, down = s->upright ? s->high + 34 : s->high + 6;
    double       low = INFINITY, left = INFINITY;
    for (size_t i = 0; i < s->count; i++)
        left = fmin(left, (double)l->places[2 * i]), low = fmin(low, (double)l->places[2 * i + 1]);
    for (size_t i = 0; i < s->count; i++) {
        s->box[i].x = MARGIN + (s->upright ? 34 : 0) + s->wide / 2 + ((double)l->places[2 * i] - left) * across;
        s->box[i].y = y + s->high / 2 + ((double)l->places[2 * i + 1] - low) * down;
    }
}

rg_status draw_boxes(canvas *c, const rg_record_map *m, bool upright)
{
    const rg_record *r = c->record;
    const rg_labels *l = &r->labels[m->row_labels];
    sheet s = { .count = l->count, .upright = upright, .wide = upright ? 150 : 40, .high = upright ? 44 : 26 };
    const char      *note = "";
    if (!m->from || m->row_labels != m->col_labels || !l->places)
        return rg_fail(RG_EINVAL, "map %s is no graph of boxes: it needs edges between nodes that have places",
                       m->name);
    if (l->count > MOST_BOXES) return rg_fail(RG_ELIMIT, "%zu boxes; at most %d are drawn", l->count, MOST_BOXES);
    if (!(s.box = rg_alloc_zero((l->count + 1) * sizeof *s.box))) return RG_ENOMEM;
    for (size_t i = 0; i < l->count; i++) {
        split(&s.box[i], l->text[i]);
        if (!upright && s.box[i].lines == 3) { /* log p and score */
            const size_t n = strlen(s.box[i].text[1]);
            snprintf(s.box[i].text[1] + n, sizeof s.box[i].text[1] - n, " / %.20s", s.box[i].text[2]);
            s.box[i].lines = 2;
        }
        s.box[i].fate = upright ? KEPT : fate_of(r, i);
        if (!upright) s.wide = fmin(110, fmax(s.wide, canvas_measure(c, s.box[i].text[0], 10).width + 12));
        if (!upright && s.box[i].lines > 1)
            s.wide = fmin(110, fmax(s.wide, canvas_measure(c, s.box[i].text[1], 8.5).width + 10));
    }
    for (size_t i = 0; i < r->texts && !*note; i++)
        if (strcmp(r->text[i].role, "note") == 0) note = r->text[i].text;
    const double y = canvas_heading(c, r->title, note) + (upright ? 26 : 8);
    set_places(&s, l, y);
    if (upright) draw_frames(c, &s);
    for (size_t e = 0; e < m->edges; e++)
        if (upright) draw_flow(c, &s, &s.box[m->from[e]], &s.box[m->to[e]]);
        else draw_branch(c, &s, &s.box[m->from[e]], &s.box[m->to[e]], (double)m->weights[e]);
    for (size_t i = 0; i < l->count; i++) {
        draw_box(c, &s, &s.box[i]);
        c->width = fmax(c->width, s.box[i].x + s.wide / 2 + MARGIN + (upright ? 30 : 0));
        c->height = fmax(c->height, s.box[i].y + s.high / 2 + MARGIN + (upright ? 10 : 0));
    }
    rg_free(s.box);
    return RG_OK;
}
