/* made_judge.c - a classifier judged by pictures that are made: see made_judge.h. */
#include "lab/made_judge.h"

#include <stdio.h>
#include <string.h>

#include "regard/made.h"
#include "tasks/classify.h"

enum { AT_ONCE = 50 };

typedef struct {
    const rg_model *model;
    rg_maker       *maker;
    rg_tape        *tape;
    rg_seen_maps    maps;
    rg_made        *made; /* AT_ONCE of them */
    rg_real        *values;
    int32_t         start[AT_ONCE + 1], size[2 * AT_ONCE], box[4 * AT_ONCE]; /* boxes: for ram's oracle */
    size_t          count, right, pointed, half;
    double          share; /* of the largest evidence: what a box stands around */
    double          iou;
} judging;

/* more: ",size:28", an option of the generator, or "". */
static rg_status open_maker(rg_maker **out, void **options, const rg_generator *g, const char *more, const char *digits)
{
    char                  name[32] = "", value[32] = "";
    const char *const     words[] = { digits }, *given[] = { value };
    const rg_option_group group = { g->name, g->options, *options = rg_alloc_zero(g->options_bytes) };
    if (!*options) return RG_ENOMEM;
    RG_TRY(rg_options_init(g->options, *options));
    RG_TRY(rg_options_set(&group, 1, "digits", 1, words));
    if (*more && sscanf(more, ",%31[^:]:%31s", name, value) == 2) RG_TRY(rg_options_set(&group, 1, name, 1, given));
    return rg_maker_new(out, g, *options);
}

/* Boxes of the digit; clutter has none. */
static void compare_boxes(judging *j, size_t example, const rg_evidence *e)
{
    const rg_made *made = &j->made[example];
    double         best = 0;
    bool           pointed = false;
    for (size_t i = 0; i < made->boxes; i++) {
        const rg_box box = { (double)made->box[i].x, (double)made->box[i].y, (double)made->box[i].width,
                             (double)made->box[i].height };
        const double iou = rg_box_iou(e->box, box);
        if (iou > best) best = iou;
        pointed = pointed || rg_box_has(box, e->x, e->y);
    }
    j->pointed += pointed;
    j->half += best >= 0.5;
    j->iou += best;
}

static rg_status judge_batch(judging *j, size_t n, bool maps)
{
    const rg_picture    *p = &j->made[0].picture;
    const size_t         pixels = p->height * p->width;
    const rg_classifier *its = j->model->assets;
    const rg_field       x = { .kind = RG_FIELD_PIXELS,
                               .layout = { .groups = n, .start = j->start, .height = p->height, .width = p->width },
                               .values = j->values,
                               .width = p->channels,
                               .size = j->size,
                               .box = j->box };
    const rg_batch       batch = { .examples = n, .fields = 1, .field = { [RG_INPUT] = x } };
    for (size_t i = 0; i < n; i++) {
        j->start[i + 1] = (int32_t)((i + 1) * pixels), j->size[2 * i] = (int32_t)p->height,
                     j->size[2 * i + 1] = (int32_t)p->width;
        const rg_made_box none = { 0 }, *b = j->made[i].boxes ? &j->made[i].box[0] : &none;
        const int32_t     box[4] = { (int32_t)b->x, (int32_t)b->y, (int32_t)b->width, (int32_t)b->height };
        memcpy(j->box + 4 * i, box, sizeof box);
        for (size_t k = 0; k < pixels * p->channels; k++)
            j->values[i * pixels * p->channels + k] = (rg_real)j->made[i].picture.pixels[k] / 255;
    }
    rg_tape_reset(j->tape, 0);
    const rg_tensor *y = j->model->system->predict(j->tape, j->model, &batch);
    RG_TRY(rg_tape_status(j->tape));
    if (maps) RG_TRY(rg_seen_maps_see(&j->maps, j->model, &batch, -1));
    for (size_t i = 0; i < n; i++) {
        size_t best = 0;
        for (size_t c = 1; c < rg_tensor_cols(y); c++)
            if (rg_tensor_at(y, i, c) > rg_tensor_at(y, i, best)) best = c;
        j->right += strcmp(rg_names_get(its->names, (int32_t)best), rg_text_c(&j->made[i].cell[0])) == 0;
        if (!maps) continue;
        rg_evidence e;
        RG_TRY(rg_evidence_of(&e, j->maps.map + i * j->maps.down * j->maps.across, j->maps.down, j->maps.across,
                              p->height, p->width, j->share));
        compare_boxes(j, i, &e);
    }
    j->count += n;
    return RG_OK;
}

static rg_status judge_all(judging *j, size_t count)
{
    const rg_tape_config config = { .record = false };
    bool                 maps = rg_model_size(j->model, "cells-down") > 1;
    RG_TRY(rg_tape_new(&j->tape, &config));
    if (!(j->made = rg_alloc_zero(AT_ONCE * sizeof *j->made))) return RG_ENOMEM;
    for (size_t from = 0; from < count; from += AT_ONCE) {
        const size_t n = count - from < AT_ONCE ? count - from : AT_ONCE;
        for (size_t i = 0; i < n; i++) RG_TRY(rg_maker_draw(&j->made[i], j->maker, RG_MADE_TEST, from + i));
        const rg_picture *p = &j->made[0].picture;
        if (!j->values &&
            !(j->values = rg_alloc_array(AT_ONCE * p->height * p->width * p->channels, sizeof *j->values)))
            return RG_ENOMEM;
        rg_status status = judge_batch(j, n, maps);
        if (status == RG_EMATCH && maps && !from) { /* no map is shown: classes alone */
            maps = false, j->right = j->count = 0;
            status = judge_batch(j, n, false);
        }
        RG_TRY(status);
    }
    return RG_OK;
}

rg_status rg_made_judge(rg_made_score *out, const char *path, const char *about, const char *digits, bool quick)
{
    char      name[64] = "", first[64];
    unsigned  count = 0;
    rg_model *model = NULL;
    void     *options = NULL;
    judging   j = { 0 };
    j.share = 0.2;
    (void)sscanf(about, "%63s %7u %lf", name, &count, &j.share);
    const char *comma = strchr(name, ',');
    snprintf(first, sizeof first, "%.*s", (int)(comma ? comma - name : 63), name);
    const rg_generator *g = rg_generator_find(first);
    if (quick) count = AT_ONCE;
    rg_status status = rg_model_load(&model, path, &rg_task_classify);
    if (status == RG_OK && (!g || !g->draw || !count))
        status = rg_fail(RG_EINVAL, "'%s' is not a generator and a number of pictures", about);
    if (status == RG_OK) status = open_maker(&j.maker, &options, g, comma ? comma : "", digits);
    j.model = model;
    if (status == RG_OK) status = judge_all(&j, count);
    if (status == RG_OK) {
        const double all = (double)j.count, share = 100 / all;
        *out = (rg_made_score){ .accuracy = share * (double)j.right, .parameters = (double)rg_params_numbers(model->params), .maps = j.maps.numbers > 0 };
        out->pointing = share * (double)j.pointed, out->half = share * (double)j.half, out->iou = j.iou / all;
    }
    for (size_t i = 0; j.made && i < AT_ONCE; i++) rg_made_free(&j.made[i]);
    rg_free(j.made);
    rg_free(j.values);
    rg_tape_free(j.tape);
    rg_seen_maps_fini(&j.maps);
    rg_maker_free(j.maker);
    if (options) rg_options_fini(g->options, options);
    rg_free(options);
    rg_model_free(model);
    return status;
}
