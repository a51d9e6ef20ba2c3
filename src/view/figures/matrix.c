/* matrix.c - one map with its words (as figure 3 of Bahdanau, Cho, Bengio 2015), and all heads of all layers at once. */
#include <math.h>
#include <string.h>

#include "canvas.h"

enum { MOST_CELLS = 4000 * 4000 };

static double widest(canvas *c, const rg_labels *l, double size, double most)
{
    double width = 0;

    for (size_t i = 0; i < l->count && width < most; i++) width = fmax(width, canvas_measure(c, l->text[i], size).width);
    return fmin(width, most);
}

static double cell_size(size_t n)
{
    return n <= 12 ? 24 : n <= 24 ? 19 : n <= 48 ? 14 : n <= 80 ? 10 : fmax(0.5, 800.0 / (double)n);
}

/* Words where they can be read, otherwise numbers at round places. */
static void name_rows(canvas *c, const rg_labels *l, double x, double y, double cell, double size, double most)
{
    size_t every = 1;

    while ((double)every * cell < 10) every = every % 3 ? every * 5 : every * 2;
    for (size_t i = 0; i < l->count; i += every)
        canvas_text(c, x - 5, y + ((double)i + 0.5) * cell, RIGHT, l->text[i], size, c->ink, most);
}

static void name_cols(canvas *c, const rg_labels *l, double x, double y, double cell, double size, double most)
{
    size_t every = 1;
    double angle = cell * (double)every < 12 ? -G_PI / 2 : -G_PI / 3.4;

    while ((double)every * cell < 10) every = every % 3 ? every * 5 : every * 2;
    for (size_t j = 0; j < l->count; j += every)
        canvas_turned(c, x + ((double)j + 0.5) * cell + (angle > -1.5 ? 2 : 0), y - 4, angle, l->text[j], size, c->ink, most);
}

static void write_numbers(canvas *c, const float *w, size_t rows, size_t cols, double x, double y, double cell, double top)
{
    char text[16];

    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            double v = (double)w[i * cols + j];
            rgb    back = canvas_heat(c, v / top);
            bool   bright = 0.3 * back.r + 0.59 * back.g + 0.11 * back.b > 0.55;
            if (v < 0.03 * top) continue;
            snprintf(text, sizeof text, "%.2f", v);
            canvas_text(c, x + ((double)j + 0.5) * cell, y + ((double)i + 0.5) * cell, CENTRE, text + (v < 1), cell * 0.36,
                        bright ? (rgb){ 0.08, 0.09, 0.11 } : (rgb){ 0.97, 0.97, 0.98 }, 0);
        }
}

rg_status draw_matrix(canvas *c, const rg_record_map *m)
{
    const rg_labels *rows = &c->record->labels[m->row_labels], *cols = &c->record->labels[m->col_labels];
    double           top = map_top(m), cell = cell_size(m->rows > m->cols ? m->rows : m->cols), size, side, high, tall, x, y, w, h;
    char            *subtitle = map_subtitle(m);
    float           *weights = NULL;

    if (!subtitle) return RG_ENOMEM;
    if (c->options->numbers && m->cols <= 24) cell = 24;
    tall = m->rows <= 12 && cell < 16 ? 16 : cell; /* a few long rows */
    size = cell < 12 ? 8 : fmin(10.5, cell * 0.62);
    y = canvas_heading(c, c->record->title, subtitle);
    rg_free(subtitle);
    RG_TRY(rg_map_dense(&weights, m, MOST_CELLS));
    side = widest(c, rows, size, 150);
    high = widest(c, cols, size, 130);
    high = cell < 12 ? high : high * sin(G_PI / 3.4) + size * 0.7;
    x = MARGIN + side + 6;
    y += high + 4;
    w = (double)m->cols * cell, h = (double)m->rows * tall;
    canvas_cells(c, x, y, cell, tall, weights, m->rows, m->cols, top);
    if (c->options->numbers && cell >= 20) write_numbers(c, weights, m->rows, m->cols, x, y, cell, top);
    name_rows(c, rows, x, y, tall, size, 150);
    name_cols(c, cols, x, y, cell, size, 130);
    rg_free(weights);
    /* slanted words lean out over the last column; the scale stands clear of them */
    side = canvas_scale(c, x + w + 14, y, fmax(40, fmin(h, 160)), top);
    c->width = fmax(x + w + 14 + side, cell < 12 ? 0 : x + w - cell + widest(c, cols, size, 130) * cos(G_PI / 3.4)) + MARGIN;
    c->height = y + fmax(h, 44) + MARGIN;
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------- all heads */

typedef struct extent {
    int layers, heads; /* largest numbers + 1 */
} extent;

static bool belongs(const rg_record_map *a, const rg_record_map *m)
{
    return a->row_labels == m->row_labels && a->col_labels == m->col_labels && a->step == m->step &&
           a->hypothesis == m->hypothesis && !strcmp(a->name, m->name);
}

static extent count_heads(const rg_record *r, const rg_record_map *m)
{
    extent e = { 0, 0 };

    for (size_t i = 0; i < r->maps; i++) {
        if (!belongs(&r->map[i], m)) continue;
        e.layers = r->map[i].layer + 1 > e.layers ? r->map[i].layer + 1 : e.layers;
        e.heads = r->map[i].head + 1 > e.heads ? r->map[i].head + 1 : e.heads;
    }
    e.layers = e.layers < 1 ? 1 : e.layers;
    e.heads = e.heads < 1 ? 1 : e.heads;
    return e;
}

static rg_status draw_small(canvas *c, const rg_record_map *m, double x, double y, double w, double h)
{
    float *weights = NULL;

    RG_TRY(rg_map_dense(&weights, m, MOST_CELLS));
    canvas_cells(c, x, y, w / (double)m->cols, h / (double)m->rows, weights, m->rows, m->cols, map_top(m));
    rg_free(weights);
    return RG_OK;
}

rg_status draw_grid(canvas *c, const rg_record_map *m)
{
    extent e = count_heads(c->record, m);
    double w = e.heads > 12 ? 46 : e.heads > 6 ? 64 : 92, h = w * fmin(2, fmax(0.5, (double)m->rows / (double)m->cols));
    double y = canvas_heading(c, c->record->title, m->name) + 14, x = MARGIN + 26;
    char   text[32];

    if (e.layers > 200 || e.heads > 200)
        return rg_fail(RG_ELIMIT, "a grid of %d layers and %d heads, at most 200 of each", e.layers, e.heads);
    for (int head = 0; head < e.heads; head++) {
        snprintf(text, sizeof text, "head %d", head);
        canvas_text(c, x + head * (w + 8) + w / 2, y - 8, CENTRE, text, 8.5, c->dim, 0);
    }
    for (int layer = 0; layer < e.layers; layer++) {
        snprintf(text, sizeof text, "layer %d", layer);
        canvas_turned(c, MARGIN + 8, y + layer * (h + 8) + h / 2 + canvas_measure(c, text, 8.5).width / 2, -G_PI / 2, text,
                      8.5, c->dim, 0);
    }
    for (size_t i = 0; i < c->record->maps; i++) {
        const rg_record_map *a = &c->record->map[i];
        if (belongs(a, m))
            RG_TRY(draw_small(c, a, x + (a->head > 0 ? a->head : 0) * (w + 8), y + (a->layer > 0 ? a->layer : 0) * (h + 8), w, h));
    }
    c->width = x + e.heads * (w + 8) - 8 + MARGIN;
    c->height = y + e.layers * (h + 8) - 8 + MARGIN;
    return RG_OK;
}
