/* graph.c - nodes and the edges attention gave weight to. Given places are kept; otherwise springs find them
 * (Fruchterman and Reingold 1991), from a circle, so that the same graph is drawn the same. A graph of more than 120
 * nodes is cut to the neighbourhood of the node with most weight. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"

enum { MOST_NODES = 120, ROUNDS = 400 };

typedef struct point {
    double x, y;
} point;

typedef struct net {
    const rg_record_map *m;
    size_t        count;
    size_t        node[MOST_NODES]; /* label of each drawn node */
    long         *drawn;            /* label -> drawn node or -1 */
    point         at[MOST_NODES];
} net;

static bool take(net *n, size_t label)
{
    if (n->drawn[label] >= 0 || n->count == MOST_NODES) return false;
    n->drawn[label] = (long)n->count;
    n->node[n->count++] = label;
    return true;
}

/* All nodes when they fit; else breadth first from the busiest. */
static rg_status choose_nodes(net *n, size_t labels)
{
    double *weight = rg_alloc_zero((labels + 1) * sizeof *weight);
    size_t  busiest = 0;

    n->drawn = rg_alloc_array(labels, sizeof *n->drawn);
    if (!weight || !n->drawn) {
        rg_free(weight);
        return RG_ENOMEM;
    }
    for (size_t i = 0; i < labels; i++) n->drawn[i] = -1;
    for (size_t e = 0; e < n->m->edges; e++) {
        weight[n->m->from[e]] += (double)n->m->weights[e];
        weight[n->m->to[e]] += (double)n->m->weights[e];
    }
    for (size_t i = 0; i < labels; i++)
        if (weight[i] > weight[busiest]) busiest = i;
    rg_free(weight);
    if (labels <= MOST_NODES) {
        for (size_t i = 0; i < labels; i++) take(n, i);
        return RG_OK;
    }
    take(n, busiest);
    for (size_t k = 0; k < n->count && n->count < MOST_NODES / 2; k++)
        for (size_t e = 0; e < n->m->edges; e++) {
            if (n->m->from[e] == n->node[k]) take(n, n->m->to[e]);
            if (n->m->to[e] == n->node[k]) take(n, n->m->from[e]);
        }
    return RG_OK;
}

/* Adds to `force` what b does to a: away from it, or towards it when they are linked. */
static void push(point *force, point a, point b, double k, double pull)
{
    double dx = a.x - b.x, dy = a.y - b.y, d = fmax(1e-3, hypot(dx, dy)), f = pull > 0 ? -pull * d * d / k : k * k / d;
    force->x += dx / d * f;
    force->y += dy / d * f;
}

static void relax(net *n, double top)
{
    double k = sqrt(1.0 / (double)(n->count ? n->count : 1));
    point  force[MOST_NODES];

    for (size_t i = 0; i < n->count; i++) {
        double turn = 2 * G_PI * (double)i / (double)n->count;
        n->at[i] =
            (point){ 0.5 + 0.4 * cos(turn) + 0.003 * (double)(i % 7), 0.5 + 0.4 * sin(turn) + 0.003 * (double)(i % 5) };
    }
    for (int round = 0; round < ROUNDS; round++) {
        double heat = 0.08 * (1 - (double)round / ROUNDS);
        for (size_t i = 0; i < n->count; i++) {
            force[i] = (point){ (0.5 - n->at[i].x) * 0.35 * k, (0.5 - n->at[i].y) * 0.35 * k }; /* a weak pull keeps parts together */
            for (size_t j = 0; j < n->count; j++)
                if (i != j) push(&force[i], n->at[i], n->at[j], k, 0);
        }
        for (size_t e = 0; e < n->m->edges; e++) {
            long a = n->drawn[n->m->from[e]], b = n->drawn[n->m->to[e]];
            if (a < 0 || b < 0 || a == b) continue;
            double pull = 0.10 + 0.25 * fmax(0, (double)n->m->weights[e]) / top;
            push(&force[a], n->at[a], n->at[b], k, pull);
            push(&force[b], n->at[b], n->at[a], k, pull);
        }
        for (size_t i = 0; i < n->count; i++) {
            double d = fmax(1e-9, hypot(force[i].x, force[i].y));
            n->at[i].x += force[i].x / d * fmin(d, heat);
            n->at[i].y += force[i].y / d * fmin(d, heat);
        }
    }
}

/* To the unit square, whatever the unit was; a long graph is stretched a little, not to a square. */
static void normalise(net *n)
{
    double lx = INFINITY, hx = -INFINITY, ly = INFINITY, hy = -INFINITY;

    for (size_t i = 0; i < n->count; i++) {
        lx = fmin(lx, n->at[i].x), hx = fmax(hx, n->at[i].x);
        ly = fmin(ly, n->at[i].y), hy = fmax(hy, n->at[i].y);
    }
    const double wide = fmax(hx - lx, 0.6 * (hy - ly)), high = fmax(hy - ly, 0.6 * (hx - lx));
    for (size_t i = 0; i < n->count; i++) {
        n->at[i].x = wide > 1e-9 ? 0.5 + (n->at[i].x - (lx + hx) / 2) / wide : 0.5;
        n->at[i].y = high > 1e-9 ? 0.5 + (n->at[i].y - (ly + hy) / 2) / high : 0.5;
    }
}

/* A bent line from a to b with a head at b; an edge and its opposite bend apart. */
static void draw_edge(canvas *c, point a, point b, double radius, double strength)
{
    double dx = b.x - a.x, dy = b.y - a.y, d = hypot(dx, dy), bend = 0.12, ux, uy, head = 3 + 3.5 * strength;
    point  mid = { (a.x + b.x) / 2 - dy * bend, (a.y + b.y) / 2 + dx * bend }, end;

    if (d < 2 * radius) return;
    ux = (b.x - mid.x), uy = (b.y - mid.y), d = hypot(ux, uy), ux /= d, uy /= d;
    end = (point){ b.x - ux * (radius + 1), b.y - uy * (radius + 1) };
    canvas_colour(c, c->accent, 0.15 + 0.85 * strength);
    cairo_set_line_width(c->cr, 0.4 + 2.8 * strength);
    cairo_move_to(c->cr, a.x, a.y);
    cairo_curve_to(c->cr, (a.x + 2 * mid.x) / 3, (a.y + 2 * mid.y) / 3, (end.x + 2 * mid.x) / 3,
                   (end.y + 2 * mid.y) / 3, end.x - ux * head * 0.7, end.y - uy * head * 0.7);
    cairo_stroke(c->cr);
    cairo_move_to(c->cr, end.x, end.y);
    cairo_line_to(c->cr, end.x - ux * head - uy * head * 0.5, end.y - uy * head + ux * head * 0.5);
    cairo_line_to(c->cr, end.x - ux * head + uy * head * 0.5, end.y - uy * head - ux * head * 0.5);
    cairo_fill(c->cr);
}

/* "8 (0)": the class between brackets at the end of a name; -1: none. */
static int class_of(const char *text)
{
    const char *open = strrchr(text, '(');
    char       *end;
    if (!open) return -1;
    const long k = strtol(open + 1, &end, 10);
    return end > open + 1 && *end == ')' && !end[1] && k >= 0 && k < 1000000 ? (int)k : -1;
}

static void draw_node(canvas *c, point at, double radius, double self, rgb fill)
{
    if (self > 0) { /* what the node gives itself, as a ring */
        canvas_colour(c, c->accent, 0.25 + 0.75 * self);
        cairo_set_line_width(c->cr, 0.5 + 3 * self);
        cairo_arc(c->cr, at.x, at.y, radius + 2.5, 0, 2 * G_PI);
        cairo_stroke(c->cr);
    }
    canvas_colour(c, fill, 1);
    cairo_arc(c->cr, at.x, at.y, radius, 0, 2 * G_PI);
    cairo_fill_preserve(c->cr);
    canvas_colour(c, c->ink, 1);
    cairo_set_line_width(c->cr, 1);
    cairo_stroke(c->cr);
}

/* The name with a rim of ground around it, so that edges behind do not cross out its letters. */
static void draw_name(canvas *c, point at, const char *text)
{
    for (int k = 0; k < 8; k++)
        canvas_text(c, at.x + 1.1 * cos(k * G_PI / 4), at.y + 1.1 * sin(k * G_PI / 4), CENTRE, text, 9, c->ground, 90);
    canvas_text(c, at.x, at.y, CENTRE, text, 9, c->ink, 90);
}

/* Where the middle of a name of that half width stands: of sixteen directions the one farthest from every edge of the
 * node; below it where there are none. */
static point name_place(const canvas *c, const net *n, size_t i, double radius, double half)
{
    double best = -1, turn = G_PI / 2;
    for (int k = 0; k < 16; k++) {
        const double t = G_PI / 2 + k * G_PI / 8;
        double       least = 2;
        for (size_t e = 0; e < n->m->edges; e++) {
            const long a = n->drawn[n->m->from[e]], b = n->drawn[n->m->to[e]], other = a == (long)i ? b : b == (long)i ? a
                                                                                                                       : -1;
            if (other < 0 || other == (long)i || n->m->weights[e] < c->options->threshold) continue;
            const double way = atan2(n->at[other].y - n->at[i].y, n->at[other].x - n->at[i].x);
            least = fmin(least, fabs(remainder(t - way, 2 * G_PI)));
        }
        if (least > best + 1e-9) best = least, turn = t;
    }
    return (point){ n->at[i].x + cos(turn) * (radius + 8 + half), n->at[i].y + sin(turn) * (radius + 12) };
}

/* Names, those of the nodes with most weight first; one that would lie on another is left out. */
static void draw_names(canvas *c, const net *n, const rg_labels *l, double radius)
{
    double weight[MOST_NODES] = { 0 }, half[MOST_NODES];
    bool   done[MOST_NODES] = { false }, named[MOST_NODES] = { false };

    for (size_t e = 0; e < n->m->edges; e++) {
        const long a = n->drawn[n->m->from[e]], b = n->drawn[n->m->to[e]];
        if (a >= 0) weight[a] += (double)n->m->weights[e];
        if (b >= 0) weight[b] += (double)n->m->weights[e];
    }
    point place[MOST_NODES];
    for (size_t i = 0; i < n->count; i++) {
        half[i] = fmin(90, canvas_measure(c, l->text[n->node[i]], 9).width) / 2;
        place[i] = name_place(c, n, i, radius, half[i]);
    }
    for (size_t k = 0; k < n->count; k++) {
        size_t next = n->count;
        for (size_t i = 0; i < n->count; i++)
            if (!done[i] && (next == n->count || weight[i] > weight[next])) next = i;
        done[next] = true;
        bool free_place = true;
        for (size_t i = 0; i < n->count && free_place && n->count > 24; i++)
            free_place = !named[i] || fabs(place[i].y - place[next].y) > 10 ||
                         fabs(place[i].x - place[next].x) > half[i] + half[next] + 2;
        named[next] = free_place;
        if (free_place) draw_name(c, place[next], l->text[n->node[next]]);
    }
}

rg_status draw_graph(canvas *c, const rg_record_map *m)
{
    const rg_labels *l = &c->record->labels[m->row_labels];
    net              n = { .m = m };
    double           size, radius, top = map_top(m), x = MARGIN + 34, y;
    float            self[MOST_NODES] = { 0 };
    char            *subtitle = map_subtitle(m);
    rg_status        status;

    if (!subtitle) return RG_ENOMEM;
    y = canvas_heading(c, c->record->title, subtitle) + 22;
    rg_free(subtitle);
    if (!m->from || m->row_labels != m->col_labels)
        return rg_fail(RG_EINVAL, "map %s is not a graph: it needs edges between nodes of one list", m->name);
    if ((status = choose_nodes(&n, l->count)) != RG_OK) {
        rg_free(n.drawn);
        return status;
    }
    if (l->places)
        for (size_t i = 0; i < n.count; i++)
            n.at[i] = (point){ (double)l->places[2 * n.node[i]], (double)l->places[2 * n.node[i] + 1] };
    else relax(&n, top);
    normalise(&n);
    size = 170 + 22 * sqrt((double)n.count * 2);
    radius = n.count > 60 ? 3.5 : n.count > 24 ? 5 : 7;
    for (size_t i = 0; i < n.count; i++) n.at[i] = (point){ x + size * n.at[i].x, y + size * 0.8 * n.at[i].y };
    for (size_t e = 0; e < m->edges; e++) {
        long a = n.drawn[m->from[e]], b = n.drawn[m->to[e]];
        if (a < 0 || b < 0 || m->weights[e] < c->options->threshold) continue;
        if (a == b) self[a] += m->weights[e];
        else draw_edge(c, n.at[a], n.at[b], radius, fmax(0, (double)m->weights[e]) / top);
    }
    for (size_t i = 0; i < n.count; i++) {
        const int class = class_of(l->text[n.node[i]]);
        draw_node(c, n.at[i], radius, fmin(1, (double)self[i] / top),
                  class < 0 ? c->ground : canvas_series(c, (size_t) class));
    }
    draw_names(c, &n, l, radius);
    rg_free(n.drawn);
    c->width = x + size + 34 + MARGIN;
    c->height = y + size * 0.8 + 24 + MARGIN;
    return RG_OK;
}
