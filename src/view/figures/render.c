/* render.c - the module's entry: choose the drawing, record it, replay it as PNG, SVG or PDF into memory. */
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>
#include <string.h>

#include "canvas.h"

enum { MOST_PIXELS = 16384 }; /* a side of a PNG */

typedef struct output {
    char  *data;
    size_t used, room;
} output;

static cairo_status_t write_bytes(void *context, const unsigned char *bytes, unsigned count)
{
    output *o = context;

    if (o->used + count > o->room) {
        size_t room = 2 * (o->used + count);
        char  *data = rg_realloc(o->data, room);
        if (!data) return CAIRO_STATUS_NO_MEMORY;
        o->data = data;
        o->room = room;
    }
    memcpy(o->data + o->used, bytes, count);
    o->used += count;
    return CAIRO_STATUS_SUCCESS;
}

static void set_theme(canvas *c)
{
    bool dark = c->options->dark;

    c->ground = dark ? (rgb){ 0.086, 0.094, 0.122 } : (rgb){ 1, 1, 1 };
    c->ink = dark ? (rgb){ 0.91, 0.92, 0.94 } : (rgb){ 0.10, 0.12, 0.15 };
    c->dim = dark ? (rgb){ 0.62, 0.66, 0.72 } : (rgb){ 0.38, 0.41, 0.46 };
    c->line = dark ? (rgb){ 0.22, 0.24, 0.29 } : (rgb){ 0.86, 0.88, 0.90 };
    c->accent = dark ? (rgb){ 0.98, 0.62, 0.37 } : (rgb){ 0.07, 0.36, 0.64 };
    c->palette = c->options->palette;
    if (c->palette == RG_PALETTE_AUTO) c->palette = dark ? RG_PALETTE_FIRE : RG_PALETTE_BLUE;
}

static rg_figure_style style_of(const rg_record *r, const rg_record_map *m, rg_figure_style asked)
{
    if (asked != RG_FIGURE_AUTO) return asked;
    if (!strcmp(r->kind, "attack") && m && r->labels[m->col_labels].picture) return RG_FIGURE_PANELS;
    if (!m) return RG_FIGURE_CURVES;
    if (m->from && !strcmp(r->kind, "network")) return RG_FIGURE_PARTS;
    if (m->from && !strcmp(r->kind, "beam")) return RG_FIGURE_BEAM;
    if (r->labels[m->col_labels].picture) return RG_FIGURE_PICTURE;
    if (m->from && r->labels[m->row_labels].kind == RG_LABEL_NODE) return RG_FIGURE_GRAPH;
    if (r->labels[m->col_labels].kind == RG_LABEL_SLOT) return RG_FIGURE_MEMORY;
    return RG_FIGURE_MATRIX;
}

static rg_status draw_body(canvas *c, const rg_record *r, const rg_figure_options *o)
{
    size_t          index = o->map < r->maps ? o->map : rg_record_find(r, NULL, -1, -1, -1);
    const rg_record_map   *m = index < r->maps ? &r->map[index] : NULL;
    rg_figure_style style = style_of(r, m, o->style);

    if (style == RG_FIGURE_CURVES) {
        if (o->curves >= r->curve_sets)
            return rg_fail(RG_EINVAL, "the record has %zu sets of curves; set %zu cannot be drawn", r->curve_sets,
                           o->curves);
        return draw_curves(c, &r->curves[o->curves]);
    }
    if (style == RG_FIGURE_PANELS) return draw_panels(c);
    if (o->style == RG_FIGURE_AUTO && m && rg_map_is_sheet(r, m)) return draw_sheet(c, m->col_labels);
    if (o->style == RG_FIGURE_AUTO && !strcmp(r->kind, "world")) return draw_sheet(c, 0);
    if (!m) return rg_fail(RG_EINVAL, "the record has no map to draw");
    if (!m->rows || !m->cols)
        return rg_fail(RG_EINVAL, "map %s is %zu x %zu: nothing to draw", m->name, m->rows, m->cols);
    if (o->style == RG_FIGURE_AUTO && index >= 2 && strncmp(m->name, "difference: ", 12) == 0) return draw_beside(c, m);
    switch (style) {
    case RG_FIGURE_GRID: return draw_grid(c, o->map < r->maps ? m : NULL);
    case RG_FIGURE_LINKS: return draw_links(c, m);
    case RG_FIGURE_PICTURE: return rg_labels_are_strips(&r->labels[m->col_labels]) ? draw_strips(c, m) : draw_picture(c, m);
    case RG_FIGURE_GRAPH: return draw_graph(c, m);
    case RG_FIGURE_MEMORY: return draw_memory(c, m);
    case RG_FIGURE_PARTS: return draw_boxes(c, m, true);
    case RG_FIGURE_BEAM: return draw_boxes(c, m, false);
    default: return draw_matrix(c, m);
    }
}

static rg_status draw(canvas *c, const rg_record *r, const rg_figure_options *o)
{
    RG_TRY(draw_body(c, r, o));
    c->width = fmax(c->width, c->heading + MARGIN);
    return RG_OK;
}

/* Draw again, on the target itself. Playing the recording there would do, but cairo 1.16 never frees a recording
 * that SVG or PDF has used. */
static rg_status redraw(cairo_surface_t *target, const canvas *measured, double scale)
{
    canvas    c = { .cr = cairo_create(target), .record = measured->record, .options = measured->options };
    rg_status status;

    set_theme(&c);
    cairo_scale(c.cr, scale, scale);
    cairo_set_source_rgb(c.cr, c.ground.r, c.ground.g, c.ground.b);
    cairo_paint(c.cr);
    status = draw(&c, c.record, c.options);
    cairo_destroy(c.cr);
    return status;
}

/* PNG is c->options->scale pixels a point; SVG and PDF keep lines and letters. */
static rg_status emit(output *out, const canvas *c, rg_figure_format format, double zoom)
{
    double           w = c->width * zoom, h = c->height * zoom, pixels = c->options->scale > 0 ? c->options->scale : 2;
    cairo_surface_t *target;
    cairo_status_t   status;
    rg_status        drawn;

    if (format == RG_FIGURE_PNG) {
        if (!(w * pixels <= MOST_PIXELS && h * pixels <= MOST_PIXELS))
            return rg_fail(RG_ELIMIT, "a picture of %.0f x %.0f pixels, a side has at most %d", w * pixels, h * pixels,
                           MOST_PIXELS);
        target = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(w * pixels), (int)ceil(h * pixels));
        drawn = redraw(target, c, zoom * pixels);
        status = cairo_surface_write_to_png_stream(target, write_bytes, out);
    } else {
        target = format == RG_FIGURE_SVG ? cairo_svg_surface_create_for_stream(write_bytes, out, w, h)
                                         : cairo_pdf_surface_create_for_stream(write_bytes, out, w, h);
        if (format == RG_FIGURE_PDF) cairo_pdf_surface_set_metadata(target, CAIRO_PDF_METADATA_TITLE, c->record->title);
        drawn = redraw(target, c, zoom);
        cairo_surface_finish(target);
        status = cairo_surface_status(target);
    }
    cairo_surface_destroy(target);
    if (drawn != RG_OK) return drawn;
    if (status == CAIRO_STATUS_SUCCESS) return RG_OK;
    return rg_fail(status == CAIRO_STATUS_NO_MEMORY ? RG_ENOMEM : RG_EIO, "drawing: %s",
                   cairo_status_to_string(status));
}

rg_status rg_figure__render(void **out, size_t *out_bytes, rg_figure_result *out_result, const rg_record *record,
                            rg_figure_format format, const rg_figure_options *options)
{
    cairo_surface_t *recording = cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, NULL);
    canvas           c = { .cr = cairo_create(recording), .record = record, .options = options };
    output           bytes = { NULL, 0, 0 };
    rg_status        status;

    set_theme(&c);
    status = draw(&c, record, options);
    if (status == RG_OK) {
        double zoom = options->width > 0 ? options->width / c.width : 1;
        status = emit(&bytes, &c, format, zoom);
        if (out_result) *out_result = (rg_figure_result){ c.width * zoom, c.height * zoom, c.missing };
    }
    cairo_destroy(c.cr);
    cairo_surface_destroy(recording);
    if (status != RG_OK) {
        rg_free(bytes.data);
        return status;
    }
    *out = bytes.data;
    *out_bytes = bytes.used;
    return RG_OK;
}
