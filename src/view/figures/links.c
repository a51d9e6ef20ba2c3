/* links.c - two columns of words, and between them a line for each link, as strong as its weight. */
#include <math.h>

#include "canvas.h"

enum { MOST_LINKS = 4000, MOST_WORDS = 400 };

static void draw_link(canvas *c, double x0, double y0, double x1, double y1, double strength, rgb colour)
{
    double bend = (x1 - x0) * 0.45;

    canvas_colour(c, colour, 0.12 + 0.88 * strength);
    cairo_set_line_width(c->cr, 0.3 + 3.2 * strength);
    cairo_move_to(c->cr, x0, y0);
    cairo_curve_to(c->cr, x0 + bend, y0, x1 - bend, y1, x1, y1);
    cairo_stroke(c->cr);
}

rg_status draw_links(canvas *c, const rg_record_map *m)
{
    const rg_labels *rows = &c->record->labels[m->row_labels], *cols = &c->record->labels[m->col_labels];
    double           line = 18, left = 0, right = 0, gap = 150, top = map_top(m), x0, x1, y, y_rows, y_cols;
    char            *subtitle = map_subtitle(m);
    rg_link         *links = rg_alloc_array(MOST_LINKS, sizeof *links);
    size_t           count, tall = m->rows > m->cols ? m->rows : m->cols;

    if (!subtitle || !links || m->rows > MOST_WORDS || m->cols > MOST_WORDS) {
        rg_free(subtitle);
        rg_free(links);
        return m->rows > MOST_WORDS || m->cols > MOST_WORDS
                   ? rg_fail(RG_ELIMIT, "links between %zu and %zu words, at most %d; draw a matrix", m->rows, m->cols,
                             MOST_WORDS)
                   : RG_ENOMEM;
    }
    y = canvas_heading(c, c->record->title, subtitle) + 6;
    rg_free(subtitle);
    for (size_t i = 0; i < m->rows; i++) left = fmax(left, canvas_measure(c, rows->text[i], 11).width);
    for (size_t j = 0; j < m->cols; j++) right = fmax(right, canvas_measure(c, cols->text[j], 11).width);
    left = fmin(left, 200), right = fmin(right, 200);
    x0 = MARGIN + left + 6, x1 = x0 + gap;
    /* the shorter side stands in the middle of the longer */
    y_rows = y + 20 + (double)(tall - m->rows) * line / 2;
    y_cols = y + 20 + (double)(tall - m->cols) * line / 2;
    canvas_text(c, x0 - 6, y + 2, RIGHT, rows->name, 9, c->dim, 200);
    canvas_text(c, x1 + 6, y + 2, LEFT, cols->name, 9, c->dim, 200);
    count = rg_map_strongest(links, m, c->options->threshold, MOST_LINKS);
    for (size_t k = count; k-- > 0;) /* the strongest last, on top */
        draw_link(c, x0, y_rows + (double)links[k].row * line, x1, y_cols + (double)links[k].col * line,
                  (double)links[k].weight / top, c->accent);
    rg_free(links);
    for (size_t i = 0; i < m->rows; i++)
        canvas_text(c, x0 - 6, y_rows + (double)i * line, RIGHT, rows->text[i], 11, c->ink, 200);
    for (size_t j = 0; j < m->cols; j++)
        canvas_text(c, x1 + 6, y_cols + (double)j * line, LEFT, cols->text[j], 11, c->ink, 200);
    c->width = x1 + 6 + right + MARGIN;
    c->height = y + 20 + (double)tall * line - line / 2 + MARGIN;
    return RG_OK;
}
