/* pictured_ask.c - what tasks about pictures share when they are asked: the field, the picture in a record, one
 * example of a batch. */
#include <string.h>

#include "regard/record.h"
#include "tasks/pictured.h"

/* Not pictures but rows of numbers. */
static bool reads_rows(const rg_model *m) { return !rg_model_size(m, "channels"); }

rg_field_spec rg_pictured_spec(const rg_model *m)
{
    rg_pictured_assets *a = m->assets;
    if (a->features) return rg_features_spec(a->features, "picture");
    if (reads_rows(m) && a->heard.frames) return rg_heard_spec(&a->heard, "sound");
    if (reads_rows(m))
        return (rg_field_spec){ .name = "sequence", .kind = RG_FIELD_NUMBERS, .many = true, .width = rg_model_size(m, "features") };
    a->pixels = (rg_pixels_config)RG_PIXELS_CONFIG_DEFAULT;
    a->pixels.height = rg_model_size(m, "height");
    a->pixels.width = rg_model_size(m, "width");
    a->pixels.fit = (rg_fit)(rg_model_size(m, "fit") % RG_FITS);
    return (rg_field_spec){ .name = "picture",
                            .kind = RG_FIELD_PIXELS,
                            .width = rg_model_size(m, "channels"),
                            .decode = rg_pixels_decode,
                            .context = &a->pixels };
}

/* As the model saw it: what went in, or through the frozen network first. */
static rg_status picture_of(rg_picture *out, const rg_model *m, const rg_asked *asked)
{
    const rg_pictured_assets *a = m->assets;
    const rg_pixels_config   *as = a->features ? rg_features_pixels(a->features) : &a->pixels;
    rg_picture                whole = { 0 };
    if (!asked->cell) return rg_fail(RG_EINVAL, "the picture is not at hand");
    RG_TRY(rg_picture_decode(&whole, asked->cell->bytes, asked->cell->count,
                             a->features || rg_model_size(m, "channels") == 3 ? 3 : 1));
    const rg_status status = rg_picture_fit(out, &whole, as->height, as->width, as->fit, as->resize);
    rg_picture_free(&whole);
    return status;
}

rg_status rg_pictured_add_cells(rg_record *r, const rg_model *m, const rg_asked *asked)
{
    rg_picture p = { 0 };
    rg_text    png = { 0 };
    size_t     cells = 0;
    if (reads_rows(m)) return rg_heard_add_rows(r, "frames", &((const rg_pictured_assets *)m->assets)->heard, asked);
    RG_TRY(picture_of(&p, m, asked));
    rg_status status = rg_picture_encode(&png, &p);
    if (status == RG_OK)
        status =
            rg_record_add_grid(&cells, r, "cells", rg_model_size(m, "cells-down"), rg_model_size(m, "cells-across"));
    if (status == RG_OK) status = rg_record_set_picture(r, cells, png.data, png.length);
    rg_picture_free(&p);
    rg_text_free(&png);
    return status;
}

rg_batch rg_pictured_one(int32_t *start, const rg_batch *b, size_t example)
{
    rg_batch one = *b;
    one.examples = 1;
    one.lines = b->lines ? b->lines + example : NULL;
    for (size_t f = 0; f < b->fields; f++) {
        rg_field     *to = &one.field[f];
        const int32_t first = to->layout.start[example];
        start[2 * f] = 0;
        start[2 * f + 1] = to->layout.start[example + 1] - first;
        to->layout.groups = 1;
        to->layout.start = start + 2 * f;
        if (to->ids) to->ids += first;
        if (to->previous) to->previous += first;
        if (to->values) to->values += (size_t)first * to->width;
        if (to->size) to->size += 2 * example;
        if (to->box) to->box += 4 * example;
    }
    return one;
}

rg_status rg_pictured_text(rg_text *out, const rg_vocab *vocab, const rg_answer *a)
{
    rg_text_clear(out);
    return rg_vocab_decode(out, vocab, a->tokens, a->length);
}
