/* vqa_judge.c - see vqa_judge.h. */
#include "lab/vqa_judge.h"

#include <math.h>
#include <string.h>

#include "lab/pictured_make.h"
#include "regard/made.h"
#include "tasks/pictured.h"

enum { AT_ONCE = 50, MOST_HOPS = 8 };
enum { QUESTION, ANSWER, KIND, ABOUT }; /* columns of the generator */

typedef struct {
    const rg_model *model;
    rg_maker       *maker;
    rg_tape        *tape;
    rg_made         made[AT_ONCE];
    rg_real        *values;
    rg_ids          ids;
    int32_t         start[2][AT_ONCE + 1], size[2 * AT_ONCE];
    float          *map[MOST_HOPS]; /* of every question: a weight per cell */
    size_t          hops, room;
    size_t          count[2], right[2], pointed, narrower; /* plain, relational */
} judging;

/* ------------------------------------------------------------------------------------------------------------- maps */

static bool wants(void *context, const char *name)
{
    (void)context;
    return strncmp(name, "hop.", 4) == 0 && strstr(name, "weights");
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    judging     *j = context;
    const size_t n = rg_tensor_rows(x), hop = (size_t)(name[4] - '0');
    (void)reach;
    if (hop >= MOST_HOPS || n > j->room || !j->map[hop]) return;
    for (size_t i = 0; i < n; i++) j->map[hop][i] = (float)rg_tensor_at(x, i, 0);
    if (hop >= j->hops) j->hops = hop + 1;
}

static double entropy(const float *p, size_t n)
{
    double h = 0;
    for (size_t i = 0; i < n; i++)
        if (p[i] > 0) h -= (double)p[i] * log((double)p[i]);
    return h;
}

/* Does the cell with the largest weight touch the box? */
static bool points_at(const judging *j, const float *map, const rg_made *made, const rg_made_box *box)
{
    const size_t down = rg_model_size(j->model, "cells-down"), across = rg_model_size(j->model, "cells-across");
    size_t       best = 0;
    for (size_t i = 1; i < down * across; i++)
        if (map[i] > map[best]) best = i;
    const double wide = (double)made->picture.width / (double)across, high = (double)made->picture.height / (double)down,
                 x = wide * (double)(best % across), y = high * (double)(best / across);
    return x < (double)(box->x + box->width) && x + wide > (double)box->x && y < (double)(box->y + box->height) &&
           y + high > (double)box->y;
}

static void look_at(judging *j, size_t question, bool relational)
{
    const size_t   cells = rg_model_size(j->model, "cells-down") * rg_model_size(j->model, "cells-across");
    const rg_made *made = &j->made[question];
    bool           pointed = false;
    if (!j->hops || (question + 1) * cells > j->room) return;
    const float *first = j->map[0] + question * cells, *last = j->map[j->hops - 1] + question * cells;
    j->narrower += j->hops > 1 && entropy(last, cells) < entropy(first, cells);
    for (size_t b = 0; b < made->boxes; b++)
        for (size_t k = 0; k < j->hops && strcmp(made->box[b].name, rg_text_c(&made->cell[ABOUT])) == 0; k++)
            pointed = pointed || points_at(j, j->map[k] + question * cells, made, &made->box[b]);
    j->pointed += pointed && !relational;
}

/* ---------------------------------------------------------------------------------------------------------- batches */

/* Pictures and questions as a task would give them. */
static rg_status make_batch(rg_batch *out, judging *j, size_t n)
{
    const rg_pictured_assets *a = j->model->assets;
    const rg_picture         *p = &j->made[0].picture;
    const size_t              pixels = p->height * p->width, numbers = pixels * p->channels;
    if (!j->values && !(j->values = rg_alloc_array(AT_ONCE * numbers, sizeof *j->values))) return RG_ENOMEM;
    j->ids.count = 0;
    for (size_t i = 0; i < n; i++) {
        const rg_text *question = &j->made[i].cell[QUESTION];
        j->start[0][i] = (int32_t)(i * pixels), j->start[1][i] = (int32_t)j->ids.count;
        j->size[2 * i] = (int32_t)p->height, j->size[2 * i + 1] = (int32_t)p->width;
        for (size_t k = 0; k < numbers; k++)
            j->values[i * numbers + k] = (rg_real)j->made[i].picture.pixels[k] / 255;
        RG_TRY(rg_vocab_encode(&j->ids, NULL, a->vocab, rg_text_c(question), question->length));
        RG_TRY(rg_ids_add(&j->ids, rg_vocab_eos(a->vocab)));
    }
    j->start[0][n] = (int32_t)(n * pixels), j->start[1][n] = (int32_t)j->ids.count;
    const rg_layout grid = { .groups = n, .start = j->start[0], .height = p->height, .width = p->width },
                    text = { .groups = n, .start = j->start[1] };
    *out = (rg_batch){ .examples = n,
                       .fields = 2,
                       .field = { { .kind = RG_FIELD_PIXELS,
                                    .layout = grid,
                                    .values = j->values,
                                    .width = p->channels,
                                    .size = j->size },
                                  { .kind = RG_FIELD_IDS, .layout = text, .ids = j->ids.data } } };
    return RG_OK;
}

static rg_status judge_batch(judging *j, size_t n)
{
    const rg_names *names = ((const rg_pictured_assets *)j->model->assets)->names;
    rg_batch        batch;
    RG_TRY(make_batch(&batch, j, n));
    rg_tape_reset(j->tape, 0);
    const rg_tensor *y = j->model->system->predict(j->tape, j->model, &batch);
    RG_TRY(rg_tape_status(j->tape));
    for (size_t i = 0; i < n; i++) {
        const bool relational = strcmp(rg_text_c(&j->made[i].cell[KIND]), "relational") == 0;
        size_t     best = 0;
        for (size_t c = 1; c < rg_tensor_cols(y); c++)
            if (rg_tensor_at(y, i, c) > rg_tensor_at(y, i, best)) best = c;
        j->count[relational]++;
        j->right[relational] += strcmp(rg_names_get(names, (int32_t)best), rg_text_c(&j->made[i].cell[ANSWER])) == 0;
        look_at(j, i, relational);
    }
    return RG_OK;
}

static rg_status judge_all(judging *j, size_t count)
{
    const rg_tape_config config = { .record = false };
    const rg_watcher     watcher = { j, wants, see };
    j->room = AT_ONCE * rg_model_size(j->model, "cells-down") * rg_model_size(j->model, "cells-across");
    for (size_t k = 0; k < MOST_HOPS; k++)
        if (!(j->map[k] = rg_alloc_array(j->room + 1, sizeof *j->map[k]))) return RG_ENOMEM;
    RG_TRY(rg_tape_new(&j->tape, &config));
    rg_tape_set_watcher(j->tape, &watcher);
    rg_status status = RG_OK;
    for (size_t from = 0; status == RG_OK && from < count; from += AT_ONCE) {
        const size_t n = count - from < AT_ONCE ? count - from : AT_ONCE;
        for (size_t i = 0; status == RG_OK && i < n; i++)
            status = rg_maker_draw(&j->made[i], j->maker, RG_MADE_TEST, from + i);
        if (status == RG_OK) status = judge_batch(j, n);
    }
    rg_tape_set_watcher(j->tape, NULL);
    return status;
}

static double share(size_t part, size_t of) { return of ? (double)part / (double)of : 0; }

rg_status rg_vqa_judge(rg_vqa_score *out, const char *path, const char *about, const char *data, size_t count)
{
    const rg_generator *g = NULL;
    void               *options = NULL;
    rg_model           *model = NULL;
    judging            *j = rg_alloc_zero(sizeof *j);
    rg_status           status = j ? rg_model_load(&model, path, &rg_task_vqa) : RG_ENOMEM;
    if (status == RG_OK) status = pictured_options(&g, &options, about, data);
    if (status == RG_OK) status = rg_maker_new(&j->maker, g, options);
    if (status == RG_OK) j->model = model;
    if (status == RG_OK) status = judge_all(j, count);
    if (status == RG_OK)
        *out = (rg_vqa_score){ .plain = share(j->right[0], j->count[0]),
                               .relational = share(j->right[1], j->count[1]),
                               .pointing = share(j->pointed, j->count[0]),
                               .narrower = share(j->narrower, j->count[0] + j->count[1]),
                               .hops = j->hops };
    for (size_t i = 0; j && i < AT_ONCE; i++) rg_made_free(&j->made[i]);
    for (size_t k = 0; j && k < MOST_HOPS; k++) rg_free(j->map[k]);
    if (j) rg_maker_free(j->maker), rg_tape_free(j->tape), rg_free(j->values), rg_ids_free(&j->ids);
    if (options) rg_options_fini(g->options, options);
    rg_free(options);
    rg_model_free(model);
    rg_free(j);
    return status;
}
