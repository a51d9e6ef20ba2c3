/* canvas.h - what the drawings of the figures module share: colours of the ground, text by Pango, cells of a matrix.
 *
 * A drawing goes to a recording first and says how large it came out; then it is replayed to PNG, SVG or PDF.
 * Lengths are points, 1/72 of an inch. */
#ifndef RG_VIEW_FIGURES_CANVAS_H
#define RG_VIEW_FIGURES_CANVAS_H

#include <cairo.h>
#include <pango/pangocairo.h>

#include "view/figure.h"

typedef struct rgb {
    double r, g, b;
} rgb;

typedef struct canvas {
    cairo_t                 *cr;
    const rg_record         *record;
    const rg_figure_options *options;
    rg_palette               palette;
    rgb                      ground, ink, dim, line, accent;
    double                   width, height; /* set by the drawing */
    double                   heading;       /* right end of the heading: the figure is at least as wide */
    unsigned                 missing;       /* glyphs no font has */
} canvas;

#define MARGIN 14.0
enum { MOST_CELLS = 4000 * 4000 }; /* of a map that is drawn as cells */

void canvas_colour(canvas *c, rgb colour, double alpha);
rgb  canvas_heat(const canvas *c, double value); /* palette colour of 0..1 */
rgb  canvas_series(const canvas *c, size_t index);

typedef enum { LEFT, CENTRE, RIGHT } text_side;

typedef struct text_size {
    double width, height;
} text_size;

text_size canvas_measure(canvas *c, const char *text, double size);
/* (x, y): the left, middle or right end of the text, and the middle of its height. `most` cuts with an ellipsis; 0
 * does not. */
void canvas_text(canvas *c, double x, double y, text_side align, const char *text, double size, rgb colour,
                 double most);
/* Turned by `angle` (radians, clockwise) around its left end at (x, y). */
void canvas_turned(canvas *c, double x, double y, double angle, const char *text, double size, rgb colour, double most);

/* The title, cut when it is very long, and what is shown, at the top left; returns the y below them. */
double canvas_heading(canvas *c, const char *title, const char *subtitle);
/* "decoder.cross · layer 1 · head 0"; to be freed with rg_free; NULL without memory. */
char *map_subtitle(const rg_record_map *m);

/* rows x cols weights as cells of `cell` points with (x, y) as the upper left corner; weights / top picks the
 * colour. */
void canvas_cells(canvas *c, double x, double y, double cell_w, double cell_h, const float *w, size_t rows, size_t cols,
                  double top);
/* A vertical scale of the colours of low .. top with its numbers; returns its width. */
double canvas_scale(canvas *c, double x, double y, double height, double low, double top);

double map_top(const rg_record_map *m); /* the largest weight without its sign, at least 1e-9 */
double map_low(const rg_record_map *m); /* -map_top where weights are below 0, else 0          */
/* What is known of a map's faithfulness, below (x, y); returns the y below it. */
double canvas_note(canvas *c, const rg_record_map *m, double x, double y);

/* The drawings. */
rg_status draw_matrix(canvas *c, const rg_record_map *m);
/* A comparison: the two maps before `m`, and m, their difference; over pictures the two alone. */
rg_status draw_beside(canvas *c, const rg_record_map *m);
rg_status draw_grid(canvas *c, const rg_record_map *m); /* NULL: every attention of the record */
rg_status draw_links(canvas *c, const rg_record_map *m);
rg_status draw_picture(canvas *c, const rg_record_map *m);
rg_status draw_stacked(canvas *c, const rg_record_map *a, const rg_record_map *b); /* of a comparison over pictures */
rg_status draw_strips(canvas *c, const rg_record_map *m); /* columns are strips of a picture: times of a recording */
rg_status draw_panels(canvas *c);
rg_status draw_sheet(canvas *c, size_t labels); /* the picture of a record that is one: the first from that list on */
/* A framed picture, lit by the weights w of its regions; w NULL: as it is. */
void picture_paint(canvas *c, cairo_surface_t *image, const float *w, const rg_labels *regions, double x, double y,
                   double width, double height);
rg_status draw_graph(canvas *c, const rg_record_map *m);
rg_status draw_memory(canvas *c, const rg_record_map *m);
rg_status draw_curves(canvas *c, const rg_curves *curves);
rg_status draw_bars(canvas *c, const rg_curves *curves); /* those that have bars */
/* Nodes as boxes at their places, upright: from below to above; else from left to right. */
rg_status draw_boxes(canvas *c, const rg_record_map *m, bool upright);

/* image.c: a PNG or JPEG as a cairo picture, at most 64 megapixels. */
rg_status image_decode(cairo_surface_t **out, const unsigned char *bytes, size_t count);

#endif
