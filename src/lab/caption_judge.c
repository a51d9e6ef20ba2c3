/* caption_judge.c - see caption_judge.h. One picture at a time: its weights come word by word. */
#include "lab/caption_judge.h"

#include <string.h>

#include "lab/pictured_make.h"
#include "regard/made.h"
#include "regard/metrics.h"
#include "tasks/pictured.h"

enum { MOST_STEPS = 256 };

typedef struct {
    const rg_model *model;
    rg_maker       *maker;
    rg_tape        *tape;
    rg_made         made;
    rg_real        *values;        /* of the picture                                 */
    rg_ids          ids, previous; /* its text, as it is predicted and as it is read */
    size_t          down, across;  /* cells                                          */
    float          *weight;        /* (MOST_STEPS, cells)                            */
    size_t          steps;         /* that were seen                                 */
    size_t          pictures, ordered, things, pointed;
} judging;

/* ---------------------------------------------------------------------------------------------------------- weights */

static bool wants(void *context, const char *name)
{
    static const char last[] = "look.weights";
    const size_t      n = strlen(name), k = sizeof last - 1;
    (void)context;
    return n >= k && strcmp(name + n - k, last) == 0;
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    judging     *j = context;
    const size_t cells = j->down * j->across;
    (void)name, (void)reach;
    if (rg_tensor_rows(x) != cells || j->steps == MOST_STEPS) return;
    for (size_t i = 0; i < cells; i++) j->weight[j->steps * cells + i] = (float)rg_tensor_at(x, i, 0);
    j->steps++;
}

/* The mean column, in cells. */
static double column_of(const judging *j, const float *weight)
{
    double sum = 0, all = 0;
    for (size_t i = 0; i < j->down * j->across; i++)
        sum += (double)weight[i] * (double)(i % j->across), all += (double)weight[i];
    return all > 0 ? sum / all : 0;
}

static rg_status peak_inside(bool *out, const judging *j, const float *weight, const rg_made_box *b)
{
    const rg_box box = { (double)b->x, (double)b->y, (double)b->width, (double)b->height };
    rg_evidence  e;
    RG_TRY(rg_evidence_of(&e, weight, j->down, j->across, j->made.picture.height, j->made.picture.width, 1));
    *out = rg_box_has(box, e.x, e.y);
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------------ words */

/* Where the last word of a box's name next stands in the text; *step is the token it begins with. */
static rg_status find_word(size_t *step, const char **at, const judging *j, const rg_made_box *box)
{
    const rg_vocab *vocab = ((const rg_pictured_assets *)j->model->assets)->vocab;
    const char     *blank = strrchr(box->name, ' '), *word = blank ? blank + 1 : box->name,
               *text = rg_text_c(&j->made.cell[0]), *here = strstr(*at, word);
    rg_ids before = { 0 };
    if (!here) return rg_fail(RG_EFORMAT, "\"%s\" does not name the %s", text, box->name);
    const rg_status status = rg_vocab_encode(&before, NULL, vocab, text, (size_t)(here - text));
    *step = before.count;
    *at = here + strlen(word);
    rg_ids_free(&before);
    return status;
}

static rg_status compare(judging *j)
{
    const char *at = rg_text_c(&j->made.cell[0]);
    double      before = -1;
    bool        ordered = true;
    if (!j->steps) return RG_OK;
    for (size_t i = 0; i < j->made.boxes; i++) {
        size_t step = 0;
        bool   inside = false;
        RG_TRY(find_word(&step, &at, j, &j->made.box[i]));
        if (step >= j->steps)
            return rg_fail(RG_ELIMIT, "word %zu of a text of %zu tokens was not seen", step, j->ids.count);
        const float *weight = j->weight + step * j->down * j->across;
        const double column = column_of(j, weight);
        RG_TRY(peak_inside(&inside, j, weight, &j->made.box[i]));
        ordered = ordered && column > before;
        before = column;
        j->pointed += inside;
        j->things++;
    }
    j->ordered += ordered;
    j->pictures++;
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------------- pictures */

static rg_status check(const judging *j)
{
    const rg_picture *p = &j->made.picture;
    const size_t      height = rg_model_size(j->model, "height"), width = rg_model_size(j->model, "width"),
                 channels = rg_model_size(j->model, "channels");
    if (p->height == height && p->width == width && p->channels == channels) return RG_OK;
    return rg_fail(RG_EMATCH, "the model reads pictures of %zu x %zu pixels and %zu channels, not %zu x %zu and %zu",
                   width, height, channels, p->width, p->height, p->channels);
}

/* The text with its end, and the same one token later. */
static rg_status read_text(judging *j)
{
    const rg_vocab *vocab = ((const rg_pictured_assets *)j->model->assets)->vocab;
    const rg_text  *text = &j->made.cell[0];
    j->ids.count = j->previous.count = 0;
    RG_TRY(rg_vocab_encode(&j->ids, NULL, vocab, rg_text_c(text), text->length));
    RG_TRY(rg_ids_add(&j->ids, rg_vocab_eos(vocab)));
    RG_TRY(rg_ids_add(&j->previous, rg_vocab_bos(vocab)));
    for (size_t i = 0; i + 1 < j->ids.count; i++) RG_TRY(rg_ids_add(&j->previous, j->ids.data[i]));
    return RG_OK;
}

static rg_status judge_one(judging *j)
{
    const rg_picture *p = &j->made.picture;
    const size_t      pixels = p->height * p->width, numbers = pixels * p->channels;
    RG_TRY(check(j));
    if (!j->values && !(j->values = rg_alloc_array(numbers, sizeof *j->values))) return RG_ENOMEM;
    for (size_t k = 0; k < numbers; k++) j->values[k] = (rg_real)p->pixels[k] / 255;
    RG_TRY(read_text(j));
    const int32_t size[2] = { (int32_t)p->height, (int32_t)p->width }, start[2] = { 0, (int32_t)pixels },
                  rows[2] = { 0, (int32_t)j->ids.count };
    const rg_batch one = {
        .examples = 1,
        .fields = 2,
        .field = { [RG_SOURCE] = { .kind = RG_FIELD_PIXELS,
                                   .layout = { .groups = 1, .start = start, .height = p->height, .width = p->width },
                                   .values = j->values,
                                   .width = p->channels,
                                   .size = size },
                   [RG_TARGET] = { .kind = RG_FIELD_IDS,
                                   .layout = { .groups = 1, .start = rows },
                                   .ids = j->ids.data,
                                   .previous = j->previous.data } }
    };
    j->steps = 0;
    rg_tape_reset(j->tape, 0);
    (void)j->model->system->loss(j->tape, j->model, &one);
    RG_TRY(rg_tape_status(j->tape));
    return compare(j);
}

static rg_status judge_all(judging *j, size_t count)
{
    const rg_tape_config config = { .record = false };
    const rg_watcher     watcher = { j, wants, see };
    j->down = rg_model_size(j->model, "cells-down"), j->across = rg_model_size(j->model, "cells-across");
    if (!(j->weight = rg_alloc_array(MOST_STEPS * j->down * j->across + 1, sizeof *j->weight))) return RG_ENOMEM;
    RG_TRY(rg_tape_new(&j->tape, &config));
    rg_tape_set_watcher(j->tape, &watcher);
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        status = rg_maker_draw(&j->made, j->maker, RG_MADE_TEST, i);
        if (status == RG_OK) status = judge_one(j);
    }
    rg_tape_set_watcher(j->tape, NULL);
    return status;
}

static double share(size_t part, size_t of) { return of ? (double)part / (double)of : 0; }

rg_status rg_caption_judge(rg_caption_score *out, const rg_model *model, const char *about, const char *data,
                           size_t count)
{
    const rg_generator *g = NULL;
    void               *options = NULL;
    judging             j = { .model = model };
    rg_status           status = pictured_options(&g, &options, about, data);
    if (status == RG_OK) status = rg_maker_new(&j.maker, g, options);
    if (status == RG_OK) status = judge_all(&j, count);
    if (status == RG_OK)
        *out = (rg_caption_score){ .ordered = share(j.ordered, j.pictures),
                                   .pointing = share(j.pointed, j.things),
                                   .things = j.things };
    rg_made_free(&j.made);
    rg_maker_free(j.maker);
    rg_tape_free(j.tape);
    rg_free(j.values);
    rg_free(j.weight);
    rg_ids_free(&j.ids);
    rg_ids_free(&j.previous);
    if (options) rg_options_fini(g->options, options);
    rg_free(options);
    return status;
}
