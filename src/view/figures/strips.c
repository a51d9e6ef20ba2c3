/* strips.c - attention over time: the picture of what was heard, such as a spectrogram, and below it, in the same
 * columns, a row of weights per token (as figures of Chan et al. 2016). */
#include <math.h>

#include "canvas.h"

enum { WIDE = 560, TALL = 110, LINE = 17, LABEL = 150 };

/* Names of columns at round places under the picture. */
static void name_columns(canvas *c, const rg_labels *l, double x, double y, double width)
{
    double end = -1;

    for (size_t j = 0; j < l->count; j++) {
        const double at = x + width * (double)l->boxes[4 * j], wide = canvas_measure(c, l->text[j], 8).width;
        if (at < end + 14 || at + wide > x + width + 4) continue;
        canvas_text(c, at, y, LEFT, l->text[j], 8, c->dim, 0);
        end = at + wide;
    }
}

static void paint_row(canvas *c, const float *w, const rg_labels *l, double top, double x, double y, double width)
{
    for (size_t j = 0; j < l->count; j++) {
        const float *b = l->boxes + 4 * j;
        canvas_colour(c, canvas_heat(c, (double)w[j] / top), 1);
        cairo_rectangle(c->cr, x + width * (double)b[0], y, width * (double)(b[2] - b[0]) + 0.3, LINE - 3);
        cairo_fill(c->cr);
    }
}

/* A line from the strongest column of a row up to the picture. */
static void point_up(canvas *c, const float *w, const rg_labels *l, double x, double from, double to, double width)
{
    size_t most = 0;

    for (size_t j = 1; j < l->count; j++)
        if (w[j] > w[most]) most = j;
    const double at = x + width * (double)(l->boxes[4 * most] + l->boxes[4 * most + 2]) / 2;
    canvas_colour(c, c->accent, 0.35);
    cairo_set_line_width(c->cr, 0.7);
    cairo_move_to(c->cr, at, from);
    cairo_line_to(c->cr, at, to);
    cairo_stroke(c->cr);
}

rg_status draw_strips(canvas *c, const rg_record_map *m)
{
    const rg_labels *rows = &c->record->labels[m->row_labels], *cols = &c->record->labels[m->col_labels];
    const double     top = map_top(m);
    cairo_surface_t *image = NULL;
    float           *w = NULL;
    double           side = 0;

    if (cols->picture) RG_TRY(image_decode(&image, cols->picture, cols->picture_bytes));
    if (rg_map_dense(&w, m, MOST_CELLS) != RG_OK) {
        if (image) cairo_surface_destroy(image);
        return RG_ELIMIT;
    }
    for (size_t i = 0; i < rows->count; i++) side = fmax(side, fmin(LABEL, canvas_measure(c, rows->text[i], 10).width));
    char        *subtitle = map_subtitle(m);
    double       y = canvas_heading(c, c->record->title, subtitle ? subtitle : "") + 2;
    const double x = MARGIN + side + 8, first = y + (image ? TALL : 0) + 16;
    rg_free(subtitle);
    if (image) picture_paint(c, image, NULL, NULL, x, y, WIDE, TALL);
    y += image ? TALL : 0;
    name_columns(c, cols, x, y + 8, WIDE);
    for (size_t i = 0; i < m->rows; i++) {
        const double at = first + (double)i * LINE;
        if (image) point_up(c, w + i * m->cols, cols, x, at, y, WIDE);
        canvas_text(c, x - 6, at + (LINE - 3) / 2.0, RIGHT, rows->text[i], 10, c->ink, LABEL);
        paint_row(c, w + i * m->cols, cols, top, x, at, WIDE);
    }
    y = first + (double)m->rows * LINE;
    side = canvas_scale(c, x + WIDE + 14, first - 16, fmax(40, fmin((double)m->rows * LINE, 120)), map_low(m), top);
    c->width = x + WIDE + 14 + side + MARGIN;
    c->height = canvas_note(c, m, MARGIN, fmax(y, first + 32)) + MARGIN;
    if (image) cairo_surface_destroy(image);
    rg_free(w);
    return RG_OK;
}
