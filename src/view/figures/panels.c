/* panels.c - several pictures side by side, each under its name, and below each the same picture lit by the maps that
 * lie over it: an input, what changes it and the changed input, with where the evidence was before and after. */
#include "canvas.h"

enum { SIDE = 168, GAP = 14, TALL = 24, ACROSS = 4 };

static double height_of(const cairo_surface_t *image, double width)
{
    cairo_surface_t *s = (cairo_surface_t *)image;
    const double     ratio = (double)cairo_image_surface_get_height(s) / cairo_image_surface_get_width(s);
    return width * (ratio < 0.3 ? 0.3 : ratio > 2 ? 2 : ratio);
}

/* The picture of list `k`, and one copy for each row of its maps. Height of the column. */
static rg_status draw_column(double *out, canvas *c, size_t k, double x, double y)
{
    const rg_record *r = c->record;
    const rg_labels *l = &r->labels[k];
    cairo_surface_t *image = NULL;
    RG_TRY(image_decode(&image, l->picture, l->picture_bytes));
    const double tall = height_of(image, SIDE);
    rg_status    status = RG_OK;
    picture_paint(c, image, NULL, NULL, x, y, SIDE, tall);
    canvas_text(c, x + SIDE / 2.0, y + tall + 11, CENTRE, l->name, 10, c->ink, SIDE);
    y += tall + TALL;
    for (size_t i = 0; status == RG_OK && i < r->maps; i++) {
        const rg_record_map *m = &r->map[i];
        float               *w = NULL;
        if (m->col_labels != k || m->cols < 2 || !l->boxes) continue;
        status = rg_map_dense(&w, m, (size_t)1 << 26);
        for (size_t row = 0; status == RG_OK && row < m->rows; row++) {
            picture_paint(c, image, w + row * m->cols, l, x, y, SIDE, tall);
            canvas_text(c, x + SIDE / 2.0, y + tall + 11, CENTRE, r->labels[m->row_labels].text[row], 10, c->ink,
                        SIDE);
            y += tall + TALL;
        }
        rg_free(w);
    }
    cairo_surface_destroy(image);
    *out = y;
    return status;
}

rg_status draw_panels(canvas *c)
{
    const rg_record *r = c->record;
    const double     top = canvas_heading(c, r->title, NULL);
    double           line = top, bottom = top, x = MARGIN, right = 0;
    for (size_t k = 0; k < r->label_lists; k++) {
        if (!r->labels[k].picture) continue;
        if (x > MARGIN + ACROSS * (SIDE + GAP) - 1) x = MARGIN, line = bottom + GAP;
        double y = line;
        RG_TRY(draw_column(&y, c, k, x, line));
        bottom = y > bottom ? y : bottom;
        x += SIDE + GAP;
        right = x > right ? x : right;
    }
    if (right <= MARGIN) return rg_fail(RG_EINVAL, "the record has no picture: panels cannot be drawn");
    c->width = right - GAP + MARGIN;
    c->height = bottom + MARGIN - 8;
    return RG_OK;
}
