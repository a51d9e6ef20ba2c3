/* grid.c - all heads of all layers at once: one block per name (encoder.self, decoder.cross), in it one row per layer
 * and one small map per head. */
#include <math.h>
#include <string.h>

#include "canvas.h"

enum { MOST_SIDE = 200, GAP = 8 }; /* layers or heads of a block; points between maps */

typedef struct block { /* the maps of one name, of one pair of label lists, step and hypothesis */
    const rg_record_map *first;
    int                  layers, heads; /* largest numbers + 1 */
} block;

static bool belongs(const rg_record_map *a, const rg_record_map *m)
{
    return a->row_labels == m->row_labels && a->col_labels == m->col_labels && a->step == m->step &&
           a->hypothesis == m->hypothesis && !strcmp(a->name, m->name);
}

static rg_status measure(block *out, const rg_record *r, const rg_record_map *m)
{
    *out = (block){ m, 1, 1 };
    for (size_t i = 0; i < r->maps; i++) {
        if (!belongs(&r->map[i], m)) continue;
        if (r->map[i].layer + 1 > out->layers) out->layers = r->map[i].layer + 1;
        if (r->map[i].head + 1 > out->heads) out->heads = r->map[i].head + 1;
    }
    if (out->layers <= MOST_SIDE && out->heads <= MOST_SIDE) return RG_OK;
    return rg_fail(RG_ELIMIT, "a grid of %d layers and %d heads, at most %d of each", out->layers, out->heads,
                   MOST_SIDE);
}

static rg_status draw_small(canvas *c, const rg_record_map *m, double x, double y, double w, double h, double top)
{
    float *weights = NULL;

    RG_TRY(rg_map_dense(&weights, m, MOST_CELLS));
    canvas_cells(c, x, y, w / (double)m->cols, h / (double)m->rows, weights, m->rows, m->cols, top);
    rg_free(weights);
    return RG_OK;
}

/* Words stand at the left of the first map of a row of maps and above the first row, where they can be read. */
enum { READABLE = 7 };

static double words_beside(canvas *c, const rg_labels *l, double cell)
{
    double width = 0;

    for (size_t i = 0; cell >= READABLE && i < l->count; i++)
        width = fmax(width, fmin(60, canvas_measure(c, l->text[i], 6.5).width));
    return width;
}

/* The largest weight of a block: its maps share one scale. */
static double block_top(const rg_record *r, const rg_record_map *m, double *low)
{
    double top = 1e-9;

    *low = 0;
    for (size_t i = 0; i < r->maps; i++) {
        if (!belongs(&r->map[i], m)) continue;
        top = fmax(top, map_top(&r->map[i]));
        *low = fmin(*low, map_low(&r->map[i]));
    }
    if (*low < 0) *low = -top;
    return top;
}

/* With its upper left corner at (MARGIN, *y); maps are `w` points wide. *y moves below it. */
static rg_status draw_block(canvas *c, const block *b, double *y, double w)
{
    const rg_record_map *m = b->first;
    const rg_labels     *rows = &c->record->labels[m->row_labels], *cols = &c->record->labels[m->col_labels];
    const double h = w * fmin(2, fmax(0.5, (double)m->rows / (double)m->cols)), down = h / (double)m->rows,
                 across = w / (double)m->cols, side = words_beside(c, rows, down), high = words_beside(c, cols, across);
    const double x = MARGIN + 26 + side, top = *y + 14 + high;
    double       low, most = block_top(c->record, m, &low);
    char         text[32];

    for (int head = 0; head < b->heads; head++) {
        snprintf(text, sizeof text, "head %d", head);
        canvas_text(c, x + head * (w + GAP) + w / 2, top - high - 8, CENTRE, text, 8.5, c->dim, 0);
        for (size_t j = 0; high > 0 && j < m->cols; j++)
            canvas_turned(c, x + head * (w + GAP) + ((double)j + 0.5) * across, top - 3, -G_PI / 2, cols->text[j], 6.5,
                          c->dim, 60);
    }
    for (int layer = 0; layer < b->layers; layer++) {
        snprintf(text, sizeof text, "layer %d", layer);
        canvas_turned(c, MARGIN + 8, top + layer * (h + GAP) + h / 2 + canvas_measure(c, text, 8.5).width / 2,
                      -G_PI / 2, text, 8.5, c->dim, 0);
        for (size_t i = 0; side > 0 && i < m->rows; i++)
            canvas_text(c, x - 3, top + layer * (h + GAP) + ((double)i + 0.5) * down, RIGHT, rows->text[i], 6.5, c->dim,
                        60);
    }
    for (size_t i = 0; i < c->record->maps; i++) {
        const rg_record_map *a = &c->record->map[i];
        if (belongs(a, m))
            RG_TRY(draw_small(c, a, x + (a->head > 0 ? a->head : 0) * (w + GAP),
                              top + (a->layer > 0 ? a->layer : 0) * (h + GAP), w, h, most));
    }
    const double end = x + b->heads * (w + GAP) - GAP, tall = b->layers * (h + GAP) - GAP;
    c->width = fmax(c->width, end + 12 + canvas_scale(c, end + 12, top, fmin(90, fmax(40, tall)), low, most) + MARGIN);
    *y = top + fmax(44, tall);
    return RG_OK;
}

static double map_width(int heads) { return heads > 12 ? 52 : heads > 6 ? 84 : 110; }

static rg_status draw_one(canvas *c, const rg_record_map *m)
{
    block  b;
    double y = canvas_heading(c, c->record->title, m->name);

    RG_TRY(measure(&b, c->record, m));
    RG_TRY(draw_block(c, &b, &y, map_width(b.heads)));
    c->height = y + MARGIN;
    return RG_OK;
}

/* Whether map i is the first of its name; maps without layer and head (an alignment) sum up what the others show. */
static bool begins_name(const rg_record *r, size_t i, bool summaries)
{
    if (!r->map[i].rows || !r->map[i].cols || (!summaries && r->map[i].layer < 0 && r->map[i].head < 0)) return false;
    for (size_t k = 0; k < i; k++)
        if (!strcmp(r->map[k].name, r->map[i].name)) return false;
    return true;
}

static bool has_heads(const rg_record *r)
{
    for (size_t i = 0; i < r->maps; i++)
        if (r->map[i].layer >= 0 || r->map[i].head >= 0) return true;
    return false;
}

static const rg_record_map *block_of(const rg_record *r, size_t i)
{
    return &r->map[rg_record_find(r, r->map[i].name, -1, -1, -1)]; /* of the chosen hypothesis and the last step */
}

static rg_status draw_every(canvas *c)
{
    const rg_record *r = c->record;
    const bool       summaries = !has_heads(r);
    int              heads = 1;
    block            b;
    double           y = canvas_heading(c, r->title, "");

    for (size_t i = 0; i < r->maps; i++) {
        if (!begins_name(r, i, summaries)) continue;
        RG_TRY(measure(&b, r, block_of(r, i)));
        heads = b.heads > heads ? b.heads : heads;
    }
    for (size_t i = 0; i < r->maps; i++) {
        if (!begins_name(r, i, summaries)) continue;
        RG_TRY(measure(&b, r, block_of(r, i)));
        canvas_text(c, MARGIN, y + 5, LEFT, b.first->name, 9, c->ink, 0);
        y += 14;
        RG_TRY(draw_block(c, &b, &y, map_width(heads)));
        y += 16;
    }
    c->height = y - 16 + MARGIN;
    return RG_OK;
}

rg_status draw_grid(canvas *c, const rg_record_map *m) { return m ? draw_one(c, m) : draw_every(c); }
