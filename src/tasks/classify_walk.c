/* classify_walk.c - see classify_walk.h. A system that walks has the sizes "glimpses", "patch" and "scales" and shows
 * two watch points per glimpse:
 *
 *     walk.I.place   (pictures, 2)   middle of the glimpse, in pixels
 *     walk.I.seen    (pictures, scales * patch * patch * channels)   the patches, the finest first */
#include "tasks/classify_walk.h"

#include <math.h>
#include <string.h>

#include "data/made/examples_made.h"
#include "regard/view.h"

enum { MOST = RG_WALK_MOST, LARGE = 300, GAP = 8, ACROSS = 4 };

static bool wants(void *context, const char *name)
{
    (void)context;
    return strncmp(name, "walk.", 5) == 0;
}

void rg_walk_see(void *context, const char *name, const rg_tensor *t, const void *reach)
{
    rg_walk    *w = context;
    unsigned    i = MOST;
    const char *last = strrchr(name, '.');
    (void)reach;
    if (sscanf(name, "walk.%2u.", &i) != 1 || i >= w->count || !last) return;
    if (strcmp(last, ".place") == 0) {
        w->x[i] = (double)rg_tensor_at(t, 0, 0), w->y[i] = (double)rg_tensor_at(t, 0, 1);
        return;
    }
    const size_t n = rg_tensor_cols(t);
    if (n != w->scales * w->patch * w->patch * w->channels) return;
    rg_free(w->seen[i]);
    w->seen[i] = rg_alloc_array(n, sizeof(float));
    for (size_t k = 0; w->seen[i] && k < n; k++) w->seen[i][k] = (float)rg_tensor_at(t, 0, k);
}

static rg_status take_walk(rg_walk *w, const rg_model *m, const rg_asked *asked)
{
    const rg_watcher watcher = { w, wants, rg_walk_see };
    rg_tape_set_watcher(asked->tape, &watcher);
    rg_tape_reset(asked->tape, 0);
    m->system->predict(asked->tape, m, asked->batch);
    rg_tape_set_watcher(asked->tape, NULL);
    return rg_tape_status(asked->tape);
}

/* ---------------------------------------------------------------------------------------------------------- drawing */

static rg_ink ink_of(size_t i, size_t n)
{
    const double share = n > 1 ? (double)i / (double)(n - 1) : 0; /* from green to orange */
    return (rg_ink){ { (unsigned char)(60 + 195 * share), (unsigned char)(220 - 100 * share), 60 } };
}

/* Numbers count from 1; (x, y) is the corner they stand in. */
static void draw_number(rg_picture *p, double x, double y, size_t i, rg_ink ink)
{
    const char digits[2] = { (char)('0' + (i + 1) / 10), (char)('0' + (i + 1) % 10) };
    rg_random  still = rg_random_new(1, 0);
    for (int d = i + 1 < 10; d < 2; d++) {
        const double m[6] = { 7, 0, x + 3 + 9 * (d - (i + 1 < 10)), 0, 11, y + 3 };
        rg_draw__symbol(p, digits[d], m, 2, ink, 0, &still);
    }
}

/* The frame of a glimpse and its number. */
void rg_walk_draw_glimpse(rg_picture *p, const rg_walk *w, size_t i, double by)
{
    const double x = (w->x[i] + 0.5) * by, y = (w->y[i] + 0.5) * by, half = (double)w->patch * by / 2;
    const rg_ink ink = ink_of(i, w->count);
    rg_draw__line(p, x - half, y - half, x + half, y - half, 1.5, ink);
    rg_draw__line(p, x + half, y - half, x + half, y + half, 1.5, ink);
    rg_draw__line(p, x + half, y + half, x - half, y + half, 1.5, ink);
    rg_draw__line(p, x - half, y + half, x - half, y - half, 1.5, ink);
    if (i) rg_draw__line(p, (w->x[i - 1] + 0.5) * by, (w->y[i - 1] + 0.5) * by, x, y, 1.5, ink);
    draw_number(p, x - half, y - half, i, ink);
}

/* What the retina saw: coarse patches first, finer ones over their middle. Zeros outside the picture. */
void rg_walk_draw_seen(rg_picture *to, size_t top, size_t left, size_t side, const rg_walk *w, size_t i)
{
    const size_t g = w->patch, C = w->channels, widest = g << (w->scales - 1);
    for (size_t y = 0; y < side && w->seen[i]; y++)
        for (size_t x = 0; x < side; x++) {
            const double u = ((double)x + 0.5) * (double)widest / (double)side - (double)widest / 2,
                         v = ((double)y + 0.5) * (double)widest / (double)side - (double)widest / 2;
            size_t       scale = 0;
            while (scale + 1 < w->scales &&
                   (fabs(u) >= (double)(g << scale) / 2 || fabs(v) >= (double)(g << scale) / 2))
                scale++;
            const double cell = (double)((size_t)1 << scale);
            const size_t px = (size_t)fmin(fmax(floor(u / cell + (double)g / 2), 0), (double)(g - 1)),
                         py = (size_t)fmin(fmax(floor(v / cell + (double)g / 2), 0), (double)(g - 1));
            for (size_t c = 0; c < 3; c++) {
                const double value = (double)w->seen[i][((scale * g + py) * g + px) * C + (C == 3 ? c : 0)];
                to->pixels[((top + y) * to->width + left + x) * 3 + c] =
                    (unsigned char)(255 * fmin(fmax(value, 0), 1) + 0.5);
            }
        }
}

/* The picture enlarged with the path over it; below, what was seen at each glimpse. `by`: its enlargement. */
static rg_status draw(rg_picture *out, double *by, const rg_walk *w, const rg_picture *seen)
{
    const size_t factor = LARGE / seen->width ? LARGE / seen->width : 1, width = seen->width * factor,
                 height = seen->height * factor;
    const size_t lines = (w->count + ACROSS - 1) / ACROSS, across = (w->count + lines - 1) / lines,
                 side = (width - (across - 1) * GAP) / across;
    rg_picture   colour = { 0 }, large = { 0 };
    *by = (double)factor;
    RG_TRY(rg_picture_to_channels(&colour, seen, 3));
    rg_status status = rg_picture_resize(&large, &colour, height, width, RG_RESIZE_AREA);
    if (status == RG_OK) status = rg_picture_new(out, height + lines * (side + GAP), width, 3);
    if (status == RG_OK) {
        for (size_t i = 0; i < w->count; i++) rg_walk_draw_glimpse(&large, w, i, *by);
        memset(out->pixels, 40, out->height * out->width * 3);
        memcpy(out->pixels, large.pixels, height * width * 3);
        for (size_t i = 0; i < w->count; i++) {
            const size_t top = height + GAP + i / across * (side + GAP), left = i % across * (side + GAP);
            rg_walk_draw_seen(out, top, left, side, w, i);
            draw_number(out, (double)left, (double)top, i, ink_of(i, w->count));
        }
    }
    rg_picture_free(&colour);
    rg_picture_free(&large);
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- record */

void rg_walk_fini(rg_walk *w)
{
    for (size_t i = 0; i < w->count && i < MOST; i++) rg_free(w->seen[i]);
}

static float within(double x) { return (float)fmin(fmax(x, 0), 1); }

static rg_status add_map(rg_record *r, size_t regions, size_t count)
{
    char        text[MOST][32];
    const char *names[MOST];
    rg_real    *one = rg_alloc_zero(count * count * sizeof *one);
    size_t      rows = 0;
    for (size_t i = 0; i < count; i++) {
        snprintf(text[i], sizeof text[i], "glimpse %zu", i + 1);
        names[i] = text[i];
        if (one) one[i * count + i] = 1;
    }
    rg_map_place place = RG_MAP_PLACE_DEFAULT;
    place.name = "glimpses";
    rg_status status = one ? rg_record_add_labels(&rows, r, "glimpses", RG_LABEL_TOKEN, names, count) : RG_ENOMEM;
    if (status == RG_OK) status = rg_record_add_map(NULL, r, place, rows, regions, one, count);
    rg_free(one);
    return status;
}

static rg_status add_picture(rg_record *r, const rg_walk *w, const rg_picture *seen)
{
    rg_picture  drawn = { 0 };
    rg_text     png = { 0 };
    float       boxes[4 * MOST];
    char        text[MOST][24];
    const char *names[MOST];
    size_t      regions = 0;
    double      by = 1;
    rg_status   status = draw(&drawn, &by, w, seen);
    for (size_t i = 0; status == RG_OK && i < w->count; i++) {
        const double half = (double)(w->patch << (w->scales - 1)) / 2;
        snprintf(text[i], sizeof text[i], "%zu", i + 1);
        names[i] = text[i];
        boxes[4 * i] = within((w->x[i] + 0.5 - half) * by / (double)drawn.width),
                  boxes[4 * i + 1] = within((w->y[i] + 0.5 - half) * by / (double)drawn.height);
        boxes[4 * i + 2] = within((w->x[i] + 0.5 + half) * by / (double)drawn.width);
        boxes[4 * i + 3] = within(fmin((w->y[i] + 0.5 + half) * by, by * (double)seen->height) / (double)drawn.height);
    }
    if (status == RG_OK) status = rg_picture_encode(&png, &drawn);
    if (status == RG_OK) status = rg_record_add_labels(&regions, r, "cells", RG_LABEL_REGION, names, w->count);
    if (status == RG_OK) status = rg_record_set_boxes(r, regions, boxes);
    if (status == RG_OK) status = rg_record_set_picture(r, regions, png.data, png.length);
    if (status == RG_OK) status = add_map(r, regions, w->count);
    if (status == RG_OK) status = rg_record_set_kind(r, "sheet");
    rg_picture_free(&drawn);
    rg_text_free(&png);
    return status;
}

rg_status rg_walk_add(rg_record *r, const rg_model *m, const rg_asked *asked)
{
    const rg_field *f = &asked->batch->field[RG_INPUT];
    rg_walk         w = { .count = rg_model_size(m, "glimpses"),
                          .patch = rg_model_size(m, "patch"),
                          .scales = rg_model_size(m, "scales"),
                          .channels = f->width };
    rg_picture      p = { 0 };
    if (!w.count || w.count > MOST || !w.patch || !w.scales || w.scales > 16) return RG_OK;
    rg_status status = take_walk(&w, m, asked);
    if (status == RG_OK) status = rg_picture_new(&p, f->layout.height, f->layout.width, f->width == 3 ? 3 : 1);
    for (size_t i = 0; status == RG_OK && i < p.height * p.width; i++)
        for (size_t c = 0; c < p.channels; c++)
            p.pixels[i * p.channels + c] = (unsigned char)((double)f->values[i * f->width + c] * 255 + 0.5);
    if (status == RG_OK) status = add_picture(r, &w, &p);
    rg_walk_fini(&w);
    rg_picture_free(&p);
    return status;
}
