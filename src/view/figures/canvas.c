/* canvas.c - colours, text, cells and scale that all drawings share. */
#include "canvas.h"

#include <math.h>
#include <string.h>

static const char default_font[] = "Noto Sans, Source Sans 3, Liberation Sans, DejaVu Sans, sans-serif";
static const double most_title = 900;

void canvas_colour(canvas *c, rgb v, double alpha)
{
    cairo_set_source_rgba(c->cr, v.r, v.g, v.b, alpha);
}

rgb canvas_heat(const canvas *c, double value)
{
    double v[3];

    rg_palette_colour(v, c->palette, value);
    return (rgb){ v[0], v[1], v[2] };
}

/* Colours that stay apart for colour-blind eyes (after Okabe and Ito), a little lighter on dark ground. */
rgb canvas_series(const canvas *c, size_t index)
{
    static const rgb light[] = {
        { 0.00, 0.42, 0.70 }, { 0.80, 0.36, 0.00 }, { 0.00, 0.58, 0.43 }, { 0.72, 0.38, 0.58 },
        { 0.80, 0.58, 0.00 }, { 0.25, 0.62, 0.85 }, { 0.45, 0.30, 0.65 }, { 0.40, 0.40, 0.40 }
    };
    static const rgb dark[] = {
        { 0.40, 0.70, 0.98 }, { 0.98, 0.58, 0.28 }, { 0.32, 0.82, 0.64 }, { 0.92, 0.58, 0.80 },
        { 0.95, 0.78, 0.30 }, { 0.60, 0.85, 0.98 }, { 0.72, 0.60, 0.95 }, { 0.75, 0.75, 0.75 }
    };
    return c->options->dark ? dark[index % 8] : light[index % 8];
}

static PangoLayout *layout_of(canvas *c, const char *text, double size, bool bold, double most)
{
    PangoLayout          *layout = pango_cairo_create_layout(c->cr);
    PangoFontDescription *font = pango_font_description_from_string(c->options->font ? c->options->font : default_font);

    pango_font_description_set_absolute_size(font, size * PANGO_SCALE);
    if (bold) pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
    pango_layout_set_font_description(layout, font);
    pango_font_description_free(font);
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    if (g_utf8_validate(text, -1, NULL)) {
        pango_layout_set_text(layout, text, -1);
    } else {
        char *valid = g_utf8_make_valid(text, -1);
        pango_layout_set_text(layout, valid, -1);
        g_free(valid);
    }
    if (most > 0) {
        int width;
        pango_layout_get_size(layout, &width, NULL);
        if (width > most * PANGO_SCALE) {
            pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
            pango_layout_set_width(layout, (int)(most * PANGO_SCALE));
        }
    }
    c->missing += (unsigned)pango_layout_get_unknown_glyphs_count(layout);
    return layout;
}

static text_size size_of(PangoLayout *layout)
{
    int width, height;

    pango_layout_get_size(layout, &width, &height);
    return (text_size){ (double)width / PANGO_SCALE, (double)height / PANGO_SCALE };
}

text_size canvas_measure(canvas *c, const char *text, double size)
{
    unsigned     missing = c->missing; /* measuring is not drawing */
    PangoLayout *layout = layout_of(c, text, size, false, 0);
    text_size    s = size_of(layout);

    c->missing = missing;
    g_object_unref(layout);
    return s;
}

/* Draws, frees the layout and returns the right end. */
static double show(canvas *c, PangoLayout *layout, double x, double y, text_side align, rgb colour)
{
    text_size s = size_of(layout);

    x -= align == LEFT ? 0 : align == CENTRE ? s.width / 2 : s.width;
    canvas_colour(c, colour, 1);
    cairo_move_to(c->cr, x, y - s.height / 2);
    pango_cairo_show_layout(c->cr, layout);
    cairo_new_path(c->cr); /* the point moved to is not the start of the next line */
    g_object_unref(layout);
    return x + s.width;
}

void canvas_text(canvas *c, double x, double y, text_side align, const char *text, double size, rgb colour, double most)
{
    show(c, layout_of(c, text, size, false, most), x, y, align, colour);
}

void canvas_turned(canvas *c, double x, double y, double angle, const char *text, double size, rgb colour, double most)
{
    cairo_save(c->cr);
    cairo_translate(c->cr, x, y);
    cairo_rotate(c->cr, angle);
    canvas_text(c, 0, 0, LEFT, text, size, colour, most);
    cairo_restore(c->cr);
}

double canvas_heading(canvas *c, const char *title, const char *subtitle)
{
    double y = MARGIN;

    if (c->options->no_title) return y;
    if (*title) {
        c->heading = show(c, layout_of(c, title, 13, true, most_title), MARGIN, y + 8, LEFT, c->ink);
        y += 20;
    }
    if (subtitle && *subtitle) {
        c->heading =
            fmax(c->heading, show(c, layout_of(c, subtitle, 9, false, most_title), MARGIN, y + 5, LEFT, c->dim));
        y += 14;
    }
    return y + 6;
}

char *map_subtitle(const rg_record_map *m)
{
    char layer[32] = "", head[32] = "", step[32] = "";

    if (m->layer >= 0) snprintf(layer, sizeof layer, " · layer %d", m->layer);
    if (m->head >= 0) snprintf(head, sizeof head, " · head %d", m->head);
    if (m->step >= 0) snprintf(step, sizeof step, " · step %d", m->step);
    return rg_format("%s%s%s%s", m->name, layer, head, step);
}

double map_top(const rg_record_map *m)
{
    double top = 1e-9;

    for (size_t i = 0; i < (m->from ? m->edges : m->rows * m->cols); i++)
        if (fabs((double)m->weights[i]) > top) top = fabs((double)m->weights[i]);
    return top;
}

double map_low(const rg_record_map *m)
{
    const double top = map_top(m);

    for (size_t i = 0; i < (m->from ? m->edges : m->rows * m->cols); i++)
        if ((double)m->weights[i] < -0.002 * top) return -top;
    return 0;
}

double canvas_note(canvas *c, const rg_record_map *m, double x, double y)
{
    char *text = rg_faithfulness_text(&m->faith), *half = text ? strchr(text, ';') : NULL,
         *end = half ? strstr(half, ", by") : NULL;

    if (!text || !*text) {
        rg_free(text);
        return y;
    }
    if (half) *half = 0;
    if (end) *++end = 0;
    const char *const lines[] = { text, half ? half + 2 : NULL, end ? end + 1 : NULL };
    for (size_t i = 0; i < 3 && lines[i]; i++, y += 11)
        c->heading = fmax(c->heading, show(c, layout_of(c, lines[i], 8.5, false, 0), x, y + 8, LEFT, c->dim));
    rg_free(text);
    return y + 4;
}

/* Many cells become one picture: a page of 40,000 rectangles is slow everywhere. Each cell takes several pixels, so
 * that a viewer that smooths pictures blurs only the rim. */
static void cells_as_image(canvas *c, double x, double y, double cw, double ch, const float *w, size_t rows,
                           size_t cols, double top)
{
    int              each = rows * cols > 1000 * 1000 ? 1 : rows * cols > 300 * 300 ? 2 : 4;
    int              wide = (int)cols * each, high = (int)rows * each;
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, wide, high);
    unsigned char   *data = cairo_image_surface_get_data(image);
    int              stride = cairo_image_surface_get_stride(image);

    if (data) {
        for (int i = 0; i < high; i++)
            for (int j = 0; j < wide; j++) {
                rgb      v = canvas_heat(c, (double)w[(size_t)(i / each) * cols + (size_t)(j / each)] / top);
                uint32_t pixel = (uint32_t)(v.r * 255 + 0.5) << 16 | (uint32_t)(v.g * 255 + 0.5) << 8 |
                                 (uint32_t)(v.b * 255 + 0.5);
                memcpy(data + i * stride + 4 * j, &pixel, 4);
            }
        cairo_surface_mark_dirty(image);
        cairo_save(c->cr);
        cairo_translate(c->cr, x, y);
        cairo_scale(c->cr, cw * (double)cols / wide, ch * (double)rows / high);
        cairo_set_source_surface(c->cr, image, 0, 0);
        cairo_pattern_set_filter(cairo_get_source(c->cr), CAIRO_FILTER_NEAREST);
        cairo_paint(c->cr);
        cairo_restore(c->cr);
    }
    cairo_surface_destroy(image);
}

void canvas_cells(canvas *c, double x, double y, double cw, double ch, const float *w, size_t rows, size_t cols,
                  double top)
{
    if (rows * cols > 64 * 64 || cw < 3) {
        cells_as_image(c, x, y, cw, ch, w, rows, cols, top);
    } else {
        double gap = cw >= 8 && ch >= 8 ? 0.6 : 0; /* a hair of ground between cells, as in print */
        cairo_set_antialias(c->cr, gap > 0 ? CAIRO_ANTIALIAS_DEFAULT : CAIRO_ANTIALIAS_NONE);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < cols; j++) {
                canvas_colour(c, canvas_heat(c, (double)w[i * cols + j] / top), 1);
                cairo_rectangle(c->cr, x + (double)j * cw + gap / 2, y + (double)i * ch + gap / 2, cw - gap, ch - gap);
                cairo_fill(c->cr);
            }
        cairo_set_antialias(c->cr, CAIRO_ANTIALIAS_DEFAULT);
    }
    canvas_colour(c, c->dim, 0.8);
    cairo_set_line_width(c->cr, 0.6);
    cairo_rectangle(c->cr, x, y, (double)cols * cw, (double)rows * ch);
    cairo_stroke(c->cr);
}

double canvas_scale(canvas *c, double x, double y, double height, double low, double top)
{
    cairo_pattern_t *ramp = cairo_pattern_create_linear(0, y + height, 0, y);
    char             text[32];

    for (int i = 0; i <= 24; i++) {
        rgb v = canvas_heat(c, low / top + (1 - low / top) * i / 24.0);
        cairo_pattern_add_color_stop_rgb(ramp, i / 24.0, v.r, v.g, v.b);
    }
    cairo_set_source(c->cr, ramp);
    cairo_rectangle(c->cr, x, y, 9, height);
    cairo_fill_preserve(c->cr);
    cairo_pattern_destroy(ramp);
    canvas_colour(c, c->dim, 0.8);
    cairo_set_line_width(c->cr, 0.6);
    cairo_stroke(c->cr);
    for (int i = 0, n = height > 70 ? 4 : 2; i <= n; i++) {
        double ty = y + height * (1 - (double)i / n);
        snprintf(text, sizeof text, "%.2f", low + (top - low) * i / n);
        canvas_colour(c, c->dim, 0.8);
        cairo_move_to(c->cr, x + 9, ty);
        cairo_line_to(c->cr, x + 12, ty);
        cairo_stroke(c->cr);
        canvas_text(c, x + 14, ty, LEFT, text, 8, c->dim, 0);
    }
    return 14 + canvas_measure(c, text, 8).width + (low < 0 ? 4 : 0);
}
