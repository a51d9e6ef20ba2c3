/* classify_evidence.c - where in a picture the evidence for a class was: the maps that a system shows, and the box
 * around what they point at. */
#include <string.h>

#include "tasks/classify.h"

rg_batch rg_batch_asked_about(const rg_batch *batch, int32_t of, int32_t *ids, int32_t *start)
{
    rg_batch b = *batch;
    for (size_t i = 0; i <= b.examples; i++) start[i] = (int32_t)i, ids[i] = of;
    b.fields = RG_LABEL + 1;
    b.field[RG_LABEL] =
        (rg_field){ .kind = RG_FIELD_CLASS, .layout = { .groups = b.examples, .start = start }, .ids = ids };
    return b;
}

static bool wants(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "evidence.weights") == 0 || strcmp(name, "pool.weights") == 0;
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    rg_seen_maps *m = context;
    const size_t  n = rg_tensor_rows(x);
    (void)name, (void)reach;
    rg_free(m->map);
    m->map = rg_alloc_array(n + 1, sizeof *m->map);
    m->numbers = m->map ? n : 0;
    for (size_t i = 0; i < m->numbers; i++) m->map[i] = (float)rg_tensor_at(x, i, 0);
}

rg_watcher rg_seen_maps_watcher(rg_seen_maps *m) { return (rg_watcher){ m, wants, see }; }

rg_status rg_seen_maps_see(rg_seen_maps *m, const rg_model *model, const rg_batch *batch, int32_t of)
{
    const rg_tape_config config = { .record = false };
    const rg_watcher     watcher = rg_seen_maps_watcher(m);
    int32_t             *ids = rg_alloc_array(2 * batch->examples + 2, sizeof *ids);
    m->down = rg_model_size(model, "cells-down"), m->across = rg_model_size(model, "cells-across"), m->numbers = 0;
    rg_status status = ids ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && !m->tape) status = rg_tape_new(&m->tape, &config);
    if (status == RG_OK) {
        const rg_batch about = of < 0 ? *batch : rg_batch_asked_about(batch, of, ids, ids + batch->examples + 1);
        rg_tape_set_watcher(m->tape, &watcher);
        rg_tape_reset(m->tape, 0);
        model->system->predict(m->tape, model, &about);
        status = rg_tape_status(m->tape);
        rg_tape_set_watcher(m->tape, NULL);
    }
    rg_free(ids);
    if (status != RG_OK) return status;
    if (m->numbers == batch->examples * m->down * m->across && m->numbers) return RG_OK;
    return rg_fail(RG_EMATCH, "the model has no map of its evidence: --box needs a cnn with --pool gap (and no f "
                              "layers), max, soft, hard or gumbel");
}

void rg_seen_maps_fini(rg_seen_maps *m)
{
    rg_tape_free(m->tape);
    rg_free(m->map);
    *m = (rg_seen_maps){ 0 };
}

/* Undo the fit: one factor per side when stretched, otherwise one for both and what stands over, or is missing, on
 * both sides. */
static void unfit(rg_evidence *e, rg_fit fit, double height, double width, double seen_height, double seen_width)
{
    double down = seen_height / height, across = seen_width / width;
    if (fit == RG_FIT_CROP) down = across = down > across ? down : across;
    if (fit == RG_FIT_PAD) down = across = down < across ? down : across;
    const double left = (width * across - seen_width) / 2, top = (height * down - seen_height) / 2;
    e->x = (e->x + left) / across, e->y = (e->y + top) / down;
    e->box =
        (rg_box){ (e->box.x + left) / across, (e->box.y + top) / down, e->box.width / across, e->box.height / down };
}

rg_status rg_seen_maps_evidence(rg_evidence *out, const rg_seen_maps *m, const rg_model *model, const rg_asked *asked,
                                double share)
{
    const rg_classifier    *its = model->assets;
    const rg_pixels_config *as = its->features ? rg_features_pixels(its->features) : &its->pixels;
    const size_t            height = as->height, width = as->width;
    RG_TRY(rg_evidence_of(out, m->map + asked->example * m->down * m->across, m->down, m->across, height, width,
                          share));
    if (asked->height && asked->width && (asked->height != height || asked->width != width))
        unfit(out, as->fit, (double)asked->height, (double)asked->width, (double)height, (double)width);
    return RG_OK;
}
