/* classify_front.c - what a spatial transformer made of a picture, for a record: the picture and, beside it, what
 * the network was given instead. A system with such a front has the sizes "front-height" and "front-width" and shows
 * (pixels, channels) at the watch point front.seen. */
#include <math.h>
#include <string.h>

#include "regard/view.h"
#include "tasks/classify_walk.h"

enum { LARGE = 220, GAP = 10 };

typedef struct {
    float *values;
    size_t numbers;
} seen;

static bool wants(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "front.seen") == 0;
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    seen        *s = context;
    const size_t rows = rg_tensor_rows(x), cols = rg_tensor_cols(x);
    (void)name, (void)reach;
    rg_free(s->values);
    s->values = rg_alloc_array(rows * cols + 1, sizeof *s->values);
    s->numbers = s->values ? rows * cols : 0;
    for (size_t i = 0; i < s->numbers; i++) s->values[i] = (float)rg_tensor_at(x, i / cols, i % cols);
}

/* Numbers of 0 .. 1, D to a pixel of which the first one or three are shown, enlarged to about LARGE pixels. */
static rg_status enlarge(rg_picture *out, const float *values, size_t height, size_t width, size_t D)
{
    rg_picture   p = { 0 };
    const size_t C = D >= 3 ? 3 : 1, by = LARGE / width ? LARGE / width : 1;
    RG_TRY(rg_picture_new(&p, height, width, 3));
    for (size_t i = 0; i < height * width * 3; i++)
        p.pixels[i] = (unsigned char)(255 * fmin(fmax((double)values[i / 3 * D + (C == 3 ? i % 3 : 0)], 0), 1) + 0.5);
    const rg_status status = rg_picture_resize(out, &p, height * by, width * by, RG_RESIZE_AREA);
    rg_picture_free(&p);
    return status;
}

static void paste(rg_picture *to, const rg_picture *from, size_t left)
{
    for (size_t y = 0; y < from->height; y++)
        memcpy(to->pixels + (y * to->width + left) * 3, from->pixels + y * from->width * 3, from->width * 3);
}

static rg_status add_regions(rg_record *r, const rg_picture *both, const rg_picture *before)
{
    static const char *const names[] = { "picture", "through the transformer" }, *const row[] = { "front" };
    static const rg_real     halves[] = { (rg_real)0.5, (rg_real)0.5 };
    const float              middle = (float)before->width / (float)both->width,
                next = (float)(before->width + GAP) / (float)both->width;
    const float              boxes[8] = { 0, 0, middle, 1, next, 0, 1, 1 };
    rg_map_place             place = RG_MAP_PLACE_DEFAULT;
    rg_text                  png = { 0 };
    size_t                   regions = 0, rows = 0;
    place.name = "front";
    rg_status status = rg_picture_encode(&png, both);
    if (status == RG_OK) status = rg_record_add_labels(&regions, r, "front", RG_LABEL_REGION, names, 2);
    if (status == RG_OK) status = rg_record_set_boxes(r, regions, boxes);
    if (status == RG_OK) status = rg_record_set_picture(r, regions, png.data, png.length);
    if (status == RG_OK) status = rg_record_add_labels(&rows, r, "front of the network", RG_LABEL_TOKEN, row, 1);
    if (status == RG_OK) status = rg_record_add_map(NULL, r, place, rows, regions, halves, 2);
    if (status == RG_OK) status = rg_record_set_kind(r, "sheet");
    rg_text_free(&png);
    return status;
}

rg_status rg_front_add(rg_record *r, const rg_model *m, const rg_asked *asked)
{
    const rg_field  *f = &asked->batch->field[RG_INPUT];
    const size_t     height = rg_model_size(m, "front-height"), width = rg_model_size(m, "front-width"),
                 pixels = f->layout.height * f->layout.width;
    seen             s = { 0 };
    const rg_watcher watcher = { &s, wants, see };
    rg_picture       before = { 0 }, after = { 0 }, both = { 0 };
    if (!height || !width) return RG_OK;
    rg_tape_set_watcher(asked->tape, &watcher);
    rg_tape_reset(asked->tape, 0);
    m->system->predict(asked->tape, m, asked->batch);
    rg_tape_set_watcher(asked->tape, NULL);
    rg_status status = rg_tape_status(asked->tape);
    float    *values = rg_alloc_array(pixels * f->width + 1, sizeof *values);
    if (status == RG_OK && !values) status = RG_ENOMEM;
    if (status == RG_OK && (!s.numbers || s.numbers % (height * width)))
        status = rg_fail(RG_ESHAPE, "%zu numbers behind a front of %zu x %zu", s.numbers, width, height);
    for (size_t i = 0; status == RG_OK && i < pixels * f->width; i++) values[i] = (float)f->values[i];
    if (status == RG_OK) status = enlarge(&before, values, f->layout.height, f->layout.width, f->width);
    if (status == RG_OK) status = enlarge(&after, s.values, height, width, s.numbers / (height * width));
    if (status == RG_OK)
        status = rg_picture_new(&both, before.height > after.height ? before.height : after.height,
                                before.width + GAP + after.width, 3);
    if (status == RG_OK) {
        memset(both.pixels, 255, both.height * both.width * 3);
        paste(&both, &before, 0);
        paste(&both, &after, before.width + GAP);
        status = add_regions(r, &both, &before);
    }
    rg_picture_free(&before);
    rg_picture_free(&after);
    rg_picture_free(&both);
    rg_free(values);
    rg_free(s.values);
    return status;
}
