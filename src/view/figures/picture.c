/* picture.c - attention over a picture (Xu et al. 2015, "Show, Attend and Tell"): the picture once for each word,
 * lit where the word looked and dark elsewhere. Weights of boxes are spread over a fine grid and smoothed. */
#include <math.h>
#include <string.h>

#include "canvas.h"

enum { FINE = 56, ACROSS = 4, STACK_ACROSS = 12, MOST_WORDS = 64 };

/* light[y][x] in 0..1: the share of the strongest weight at that place. */
static void spread(float light[FINE][FINE], const float *w, const rg_labels *l)
{
    float  soft[FINE][FINE];
    double side = 1, sigma, top = 1e-12;

    memset(light, 0, sizeof(float) * FINE * FINE);
    for (size_t k = 0; k < l->count; k++) {
        const float *b = l->boxes + 4 * k;
        double       area = fmax(1e-6, ((double)b[2] - (double)b[0]) * ((double)b[3] - (double)b[1]));
        side = fmin(side, sqrt(area));
        for (int y = 0; y < FINE; y++)
            for (int x = 0; x < FINE; x++) {
                float u = ((float)x + 0.5f) / FINE, v = ((float)y + 0.5f) / FINE;
                if (u >= b[0] && u < b[2] && v >= b[1] && v < b[3]) light[y][x] += (float)(fmax(0, (double)w[k]) / area);
            }
    }
    sigma = fmax(1, side * FINE * 0.45); /* half a box */
    for (int pass = 0; pass < 2; pass++) { /* along x, then along y */
        for (int y = 0; y < FINE; y++)
            for (int x = 0; x < FINE; x++) {
                double sum = 0, norm = 0;
                for (int d = -(int)(3 * sigma); d <= (int)(3 * sigma); d++) {
                    int    xx = pass ? x : x + d, yy = pass ? y + d : y;
                    double g = exp(-d * d / (2 * sigma * sigma));
                    if (xx < 0 || yy < 0 || xx >= FINE || yy >= FINE) continue;
                    sum += g * (double)light[yy][xx];
                    norm += g;
                }
                soft[y][x] = (float)(sum / norm);
            }
        memcpy(light, soft, sizeof soft);
    }
    for (int i = 0; i < FINE * FINE; i++) top = fmax(top, (double)(&light[0][0])[i]);
    for (int i = 0; i < FINE * FINE; i++) (&light[0][0])[i] = (float)((double)(&light[0][0])[i] / top);
}

static void paint_image(canvas *c, cairo_surface_t *image, double x, double y, double w, double h,
                        cairo_filter_t filter)
{
    cairo_save(c->cr);
    cairo_rectangle(c->cr, x, y, w, h);
    cairo_clip(c->cr);
    cairo_translate(c->cr, x, y);
    cairo_scale(c->cr, w / cairo_image_surface_get_width(image), h / cairo_image_surface_get_height(image));
    cairo_set_source_surface(c->cr, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(c->cr), filter);
    cairo_pattern_set_extend(cairo_get_source(c->cr), CAIRO_EXTEND_PAD);
    cairo_paint(c->cr);
    cairo_restore(c->cr);
}

static void paint_shade(canvas *c, float light[FINE][FINE], double x, double y, double w, double h)
{
    cairo_surface_t *shade = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, FINE, FINE);
    unsigned char   *data = cairo_image_surface_get_data(shade);

    if (data) {
        for (int i = 0; i < FINE; i++)
            for (int j = 0; j < FINE; j++) { /* premultiplied: black where little is seen, warm where most is, which shows
                                                on a dark picture too */
                const double   seen = (double)light[i][j];
                const uint32_t dark = (uint32_t)(205 * (1 - pow(seen, 0.8))), warm = (uint32_t)(100 * seen * seen);
                const uint32_t pixel = (dark + warm) << 24 | warm << 16 | warm * 5 / 9 << 8;
                memcpy(data + i * cairo_image_surface_get_stride(shade) + 4 * j, &pixel, 4);
            }
        cairo_surface_mark_dirty(shade);
        paint_image(c, shade, x, y, w, h, CAIRO_FILTER_BILINEAR);
    }
    cairo_surface_destroy(shade);
}

/* Without a picture the regions themselves are drawn, as heat. */
static void paint_heat(canvas *c, const float *w, const rg_labels *l, double top, double x, double y, double pw,
                       double ph)
{
    for (size_t k = 0; k < l->count; k++) {
        const float *b = l->boxes + 4 * k;
        canvas_colour(c, canvas_heat(c, (double)w[k] / top), 1);
        cairo_rectangle(c->cr, x + pw * (double)b[0], y + ph * (double)b[1], pw * (double)(b[2] - b[0]),
                        ph * (double)(b[3] - b[1]));
        cairo_fill(c->cr);
    }
}

void picture_paint(canvas *c, cairo_surface_t *image, const float *w, const rg_labels *regions, double x, double y,
                   double width, double height)
{
    float light[FINE][FINE];
    paint_image(c, image, x, y, width, height, CAIRO_FILTER_GOOD);
    if (w) {
        spread(light, w, regions);
        paint_shade(c, light, x, y, width, height);
    }
    canvas_colour(c, c->line, 1);
    cairo_set_line_width(c->cr, 0.6);
    cairo_rectangle(c->cr, x, y, width, height);
    cairo_stroke(c->cr);
}

/* The picture, if there is one, and then it or its regions once for each word, `across` in a line, from *at_y on, which
 * becomes the y below them. Returns through `right` how far they reach. */
static rg_status place_pictures(canvas *c, const rg_record_map *m, size_t across, double *at_y, double *right)
{
    const rg_labels *rows = &c->record->labels[m->row_labels], *regions = &c->record->labels[m->col_labels];
    cairo_surface_t *image = NULL;
    float           *w = NULL, light[FINE][FINE];
    double           pw = 128, ph = 96, top = map_top(m);
    size_t           words = m->rows < MOST_WORDS ? m->rows : MOST_WORDS, first;

    if (!regions->boxes)
        return rg_fail(RG_EINVAL, "map %s: the columns have no boxes: it cannot be laid over a picture", m->name);
    if (regions->picture) RG_TRY(image_decode(&image, regions->picture, regions->picture_bytes));
    if (rg_map_dense(&w, m, (size_t)1 << 26) != RG_OK) {
        cairo_surface_destroy(image);
        return RG_ELIMIT;
    }
    if (image)
        ph = pw *
             fmin(2, fmax(0.4, (double)cairo_image_surface_get_height(image) / cairo_image_surface_get_width(image)));
    first = image ? 1 : 0; /* the picture itself comes first */
    for (size_t k = 0; k < words + first; k++) {
        double px = MARGIN + (double)(k % across) * (pw + 10), py = *at_y + (double)(k / across) * (ph + 30);
        if (image) paint_image(c, image, px, py, pw, ph, CAIRO_FILTER_GOOD);
        if (k >= first) {
            const float *row = w + (k - first) * m->cols;
            if (image) {
                spread(light, row, regions);
                paint_shade(c, light, px, py, pw, ph);
            } else paint_heat(c, row, regions, top, px, py, pw, ph);
            canvas_text(c, px + pw / 2, py + ph + 11, CENTRE, rows->text[k - first], 11, c->ink, pw);
        }
        canvas_colour(c, c->line, 1);
        cairo_set_line_width(c->cr, 0.6);
        cairo_rectangle(c->cr, px, py, pw, ph);
        cairo_stroke(c->cr);
    }
    *right = MARGIN + (double)(words + first < across ? words + first : across) * (pw + 10) - 10;
    *at_y += (double)((words + first + across - 1) / across) * (ph + 30);
    if (image) cairo_surface_destroy(image);
    rg_free(w);
    return RG_OK;
}

/* A text in lines of at most `width`, broken at blanks; returns the y below it. */
static double write_lines(canvas *c, const char *text, double size, rgb colour, double width, double y)
{
    for (const char *at = text; *at; y += size + 5) {
        size_t n = strlen(at);
        char  *line = rg_format("%.*s", (int)n, at);
        while (line && canvas_measure(c, line, size).width > width && strrchr(line, ' ')) {
            n = (size_t)(strrchr(line, ' ') - line); /* one word less */
            line[n] = 0;
        }
        if (!line) return y;
        canvas_text(c, MARGIN, y, LEFT, line, size, colour, width);
        rg_free(line);
        at += n + (at[n] == ' ');
    }
    return y;
}

/* What was answered, where the record has a note on it: a title and directions. */
static double write_answer(canvas *c, double width, double y)
{
    const rg_record *r = c->record;
    const char      *answer = NULL, *note = NULL;

    for (size_t i = 0; i < r->texts; i++) {
        if (r->text[i].chosen) answer = r->text[i].text;
        if (strcmp(r->text[i].role, "note") == 0) note = r->text[i].text;
    }
    if (!answer || !note) return y;
    y = write_lines(c, answer, 11.5, c->ink, width, y + 6);
    return write_lines(c, note, 10, c->dim, width, y + 2) + 4;
}

rg_status draw_picture(canvas *c, const rg_record_map *m)
{
    char  *subtitle = map_subtitle(m);
    double right, y = canvas_heading(c, c->record->title, subtitle);

    rg_free(subtitle);
    RG_TRY(place_pictures(c, m, ACROSS, &y, &right));
    y = write_answer(c, right - MARGIN, y);
    c->width = right + MARGIN;
    c->height = canvas_note(c, m, MARGIN, y - 6) + MARGIN;
    return RG_OK;
}

/* The maps of two models over their pictures, one below the other. */
rg_status draw_stacked(canvas *c, const rg_record_map *a, const rg_record_map *b)
{
    const rg_record_map *two[] = { a, b };
    double               y = canvas_heading(c, c->record->title, "");

    for (size_t k = 0; k < 2; k++) {
        char  *subtitle = map_subtitle(two[k]);
        double right;
        if (!subtitle) return RG_ENOMEM;
        canvas_text(c, MARGIN, y + 5, LEFT, subtitle, 10, c->dim, 0);
        rg_free(subtitle);
        y += 16;
        RG_TRY(place_pictures(c, two[k], STACK_ACROSS, &y, &right));
        c->width = fmax(c->width, right + MARGIN);
    }
    c->height = y - 6 + MARGIN;
    return RG_OK;
}

/* A record that is a picture: the first one it has from list i on, at its own size. */
rg_status draw_sheet(canvas *c, size_t i)
{
    const rg_record *r = c->record;
    cairo_surface_t *image = NULL;
    const char      *note = "";
    while (i < r->label_lists && !r->labels[i].picture) i++;
    if (i == r->label_lists) return rg_fail(RG_EINVAL, "the record has no picture to draw");
    RG_TRY(image_decode(&image, r->labels[i].picture, r->labels[i].picture_bytes));
    const double w = cairo_image_surface_get_width(image) * 0.6, h = cairo_image_surface_get_height(image) * 0.6;
    for (size_t k = 0; k < r->texts && !*note; k++)
        if (strcmp(r->text[k].role, "note") == 0) note = r->text[k].text;
    const double y = canvas_heading(c, r->title, note);
    picture_paint(c, image, NULL, NULL, MARGIN, y, w, h);
    cairo_surface_destroy(image);
    const rg_labels *l = &r->labels[i];
    const bool       strips = rg_labels_are_strips(l); /* several pictures side by side: their names */
    for (size_t k = 0; strips && k < l->count; k++)
        canvas_text(c, MARGIN + w * (double)(l->boxes[4 * k] + l->boxes[4 * k + 2]) / 2, y + h + 11, CENTRE, l->text[k],
                    10, c->ink, w / (double)l->count);
    c->width = w + 2 * MARGIN;
    c->height = y + h + (strips ? 18 : 0) + MARGIN;
    return RG_OK;
}
