/* matrix.c - one map with its words (as figure 3 of Bahdanau, Cho, Bengio 2015), with its numbers when they are asked
 * for; two maps and their difference. */
#include <math.h>
#include <string.h>

#include "canvas.h"

static double widest(canvas *c, const rg_labels *l, double size, double most)
{
    double width = 0;

    for (size_t i = 0; i < l->count && width < most; i++)
        width = fmax(width, canvas_measure(c, l->text[i], size).width);
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
        canvas_turned(c, x + ((double)j + 0.5) * cell + (angle > -1.5 ? 2 : 0), y - 4, angle, l->text[j], size, c->ink,
                      most);
}

static void write_numbers(canvas *c, const float *w, size_t rows, size_t cols, double x, double y, double cell,
                          double top)
{
    char text[16];

    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            double v = (double)w[i * cols + j];
            rgb    back = canvas_heat(c, v / top);
            bool   bright = 0.3 * back.r + 0.59 * back.g + 0.11 * back.b > 0.55;
            if (fabs(v) < 0.03 * top) continue;
            snprintf(text, sizeof text, fabs(v) < 10 ? "%.2f" : "%.1f", v); /* .42, but 1.00 for 0.996 */
            canvas_text(c, x + ((double)j + 0.5) * cell, y + ((double)i + 0.5) * cell, CENTRE, text + (text[0] == '0'),
                        cell * 0.36, bright ? (rgb){ 0.08, 0.09, 0.11 } : (rgb){ 0.97, 0.97, 0.98 }, 0);
        }
}

/* With its words and scale, the upper left corner at (*x, *y); they become the lower right one. */
static rg_status place_matrix(canvas *c, const rg_record_map *m, double *at_x, double *at_y)
{
    const rg_labels *rows = &c->record->labels[m->row_labels], *cols = &c->record->labels[m->col_labels];
    double top = map_top(m), cell = cell_size(m->rows > m->cols ? m->rows : m->cols), size, side, high, tall, x,
           y = *at_y, w, h;
    float *weights = NULL;

    if (c->options->numbers && m->cols <= 24) cell = 24;
    tall = m->rows <= 12 && cell < 16 ? 16 : cell; /* a few long rows */
    size = cell < 12 ? 8 : fmin(10.5, cell * 0.62);
    RG_TRY(rg_map_dense(&weights, m, MOST_CELLS));
    side = widest(c, rows, size, 150);
    high = widest(c, cols, size, 130);
    high = cell < 12 ? high : high * sin(G_PI / 3.4) + size * 0.7;
    x = *at_x + side + 6;
    y += high + 4;
    w = (double)m->cols * cell, h = (double)m->rows * tall;
    canvas_cells(c, x, y, cell, tall, weights, m->rows, m->cols, top);
    if (c->options->numbers && cell >= 20) write_numbers(c, weights, m->rows, m->cols, x, y, cell, top);
    name_rows(c, rows, x, y, tall, size, 150);
    name_cols(c, cols, x, y, cell, size, 130);
    rg_free(weights);
    /* slanted words lean out over the last column; the scale stands clear of them */
    side = canvas_scale(c, x + w + 14, y, fmax(40, fmin(h, 160)), map_low(m), top);
    *at_x = fmax(x + w + 14 + side, cell < 12 ? 0 : x + w - cell + widest(c, cols, size, 130) * cos(G_PI / 3.4));
    *at_y = canvas_note(c, m, *at_x > 0 ? x - widest(c, rows, size, 150) - 6 : x, y + fmax(h, 44) + 4);
    return RG_OK;
}

rg_status draw_matrix(canvas *c, const rg_record_map *m)
{
    char  *subtitle = map_subtitle(m);
    double x = MARGIN, y;

    if (!subtitle) return RG_ENOMEM;
    y = canvas_heading(c, c->record->title, subtitle);
    rg_free(subtitle);
    RG_TRY(place_matrix(c, m, &x, &y));
    c->width = x + MARGIN;
    c->height = y + MARGIN;
    return RG_OK;
}

static bool over_picture(const canvas *c, const rg_record_map *m)
{
    const rg_labels *l = &c->record->labels[m->col_labels];
    return l->picture && l->boxes && !rg_labels_are_strips(l);
}

rg_status draw_beside(canvas *c, const rg_record_map *m)
{
    if (over_picture(c, m - 2) && over_picture(c, m - 1)) return draw_stacked(c, m - 2, m - 1);
    double       x = MARGIN, top = canvas_heading(c, c->record->title, ""), low = top;
    const double title = c->heading;

    for (int k = 2; k >= 0; k--) {
        c->heading = 0; /* of this map's note */
        double y = top + 14, left = x;
        char  *subtitle = map_subtitle(m - k);
        if (!subtitle) return RG_ENOMEM;
        canvas_text(c, x, top + 5, LEFT, subtitle, 9, c->dim, 0);
        left += canvas_measure(c, subtitle, 9).width;
        rg_free(subtitle);
        RG_TRY(place_matrix(c, m - k, &x, &y));
        x = fmax(fmax(x, left), c->heading) + 24;
        low = fmax(low, y);
    }
    c->heading = title;
    c->width = x - 24 + MARGIN;
    c->height = low + MARGIN;
    return RG_OK;
}
