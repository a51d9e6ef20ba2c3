/* recipe.c - picture of a dish -> ingredients, title and numbered directions. A table has the columns picture (or
 * image), title, ingredients and directions, lists between |; directions without | are cut into sentences behind " . ".
 * The text that is learned is "title | step | step".
 *
 *   f1, iou ...  of the ingredients        perplexity   of the text, the true ingredients given        title   share of titles without a fault */
#include "tasks/recipe.h"

#include <string.h>

#include "tasks/caption.h"
#include "tasks/pictured_sets.h"

typedef struct {
    rg_pictured_options pictured;
    rg_text_options     text;
    int64_t             min_count;
} options_of;

static const rg_option options[] = { RG_PICTURED_ROWS(options_of,
                                                      "file of pictures, titles, ingredients and directions", "16"),
                                     RG_TEXT_ROWS(options_of, text),
                                     { RG_OPTION_INT, "label-min-count", offsetof(options_of, min_count), "1",
                                       "ingredients of fewer recipes are left out", 0, "[1,inf)", NULL },
                                     RG_OPTION_END };

enum { SET, TEXT, DIRECTIONS }; /* columns of the table; TEXT holds the title first, then all of it */

/* ---------------------------------------------------------------------------------------------------------- opening */

/* Append a step and the mark before it. */
static rg_status add_step(rg_text *to, const char *text, size_t bytes)
{
    while (bytes && text[0] == ' ') text++, bytes--;
    while (bytes && text[bytes - 1] == ' ') bytes--;
    return bytes ? rg_text_print(to, " | %.*s", (int)bytes, text) : RG_OK;
}

static rg_status add_steps(rg_text *to, const char *text)
{
    const bool listed = strchr(text, '|') != NULL;
    for (const char *at = text; *at;) {
        const char  *stop = listed ? strchr(at, '|') : strstr(at, " . ");
        const size_t bytes = stop ? (size_t)(stop - at) + (listed ? 0 : 2) : strlen(at);
        RG_TRY(add_step(to, at, bytes));
        at += bytes + (listed && stop ? 1 : 0);
    }
    return RG_OK;
}

/* Of several rows about a picture the first is its recipe. */
static void first_line(rg_text *cell)
{
    char *end = cell->data ? strchr(cell->data, '\n') : NULL;
    if (end) *end = 0, cell->length = (size_t)(end - cell->data);
}

rg_status rg_recipe_text(rg_text *out, const char *title, const char *directions)
{
    const size_t from = out->length;
    RG_TRY(rg_text_add_string(out, title));
    for (size_t i = from; i < out->length; i++)
        if (out->data[i] == '|') out->data[i] = '/'; /* the mark of a step is none of a title */
    return add_steps(out, directions);
}

static rg_status join_texts(rg_pictured_table *x)
{
    for (size_t i = 0; i < x->names.count; i++) {
        rg_text text = { 0 };
        for (size_t c = 0; c < 3; c++) first_line(&x->cell[c][i]);
        const rg_status status =
            rg_recipe_text(&text, rg_text_c(&x->cell[TEXT][i]), rg_text_c(&x->cell[DIRECTIONS][i]));
        rg_text_free(&x->cell[TEXT][i]);
        x->cell[TEXT][i] = text;
        RG_TRY(status);
    }
    x->columns = TEXT + 1; /* of the store */
    return RG_OK;
}

static rg_status open(rg_run *run)
{
    static const char *const wanted[] = { "ingredients", "title", "directions" };
    const options_of        *o = run->options;
    rg_pictured_data        *d = run->data;
    rg_pictured_assets      *a = run->assets;
    rg_field_spec            specs[3];
    RG_TRY(rg_pictured_open_tables(run, &o->pictured, "pictures and recipes", "picture", wanted, 3));
    for (size_t part = 0; part < 3; part++) RG_TRY(join_texts(&d->table[part]));
    RG_TRY(rg_pictured_learn_sets(run, SET, (uint64_t)o->min_count));
    RG_TRY(rg_pictured_vocab(&a->vocab, run, &o->text, &d->table[0], TEXT, TEXT));
    specs[1] = (rg_field_spec){ .name = "ingredients", .kind = RG_FIELD_SET, .names = a->names, .optional = true };
    specs[2] = rg_text_spec("directions", a->vocab, &o->text);
    specs[2].predicted = true;
    RG_TRY(rg_pictured_open_stores(run, &o->pictured, specs));
    RG_TRY(rg_pictured_most_members(&run->sizes, d->base.train, 1));
    return rg_caption_longest(&run->sizes, d->base.train, 2, rg_vocab_eos(a->vocab));
}

static rg_status ready(rg_run *run)
{
    const rg_pictured_assets *a = run->model->assets;
    rg_tell(run->report, "%zu ingredients, vocabulary of %zu pieces, %zu parameters", rg_names_count(a->names),
            rg_vocab_size(a->vocab), rg_params_numbers(run->model->params));
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- judging */

typedef struct {
    rg_run                  *run;
    const rg_pictured_table *table;
    rg_search               *search;
    rg_set_sums              sums;
    rg_text                  said, truth;
    double                   nats, words, titles, count;
} judging;

static size_t title_bytes(const char *text)
{
    const char *mark = strstr(text, " |");
    return mark ? (size_t)(mark - text) : strlen(text);
}

static rg_status judge_titles(judging *j, const rg_batch *b)
{
    const rg_model           *m = j->run->model;
    const rg_pictured_assets *a = m->assets;
    const rg_search_config    c = rg_caption_search(m, 1, 1);
    const rg_answers         *answers;
    RG_TRY(rg_search_run(&answers, j->search, &c, &b->field[0], b->lines, NULL));
    for (size_t i = 0; i < b->examples; i++) {
        const rg_text *cell = &j->table->cell[TEXT][b->lines[i] - 1];
        rg_text_clear(&j->said);
        rg_text_clear(&j->truth);
        if (answers[i].count) RG_TRY(rg_pictured_text(&j->said, a->vocab, &answers[i].answer[0]));
        RG_TRY(rg_vocab_normalize(&j->truth, a->vocab, rg_text_c(cell), cell->length));
        const size_t n = title_bytes(rg_text_c(&j->truth));
        j->titles += title_bytes(rg_text_c(&j->said)) == n && memcmp(rg_text_c(&j->said), rg_text_c(&j->truth), n) == 0;
        j->count++;
    }
    return RG_OK;
}

static rg_status judge_batch(void *context, rg_tape *t, const rg_batch *b)
{
    judging         *j = context;
    const rg_model  *m = j->run->model;
    const rg_tensor *y = m->system->predict(t, m, b);
    RG_TRY(rg_tape_status(t));
    RG_TRY(rg_set_sums_add(&j->sums, y, &b->field[1]));
    rg_tape_reset(t, 0);
    const rg_loss text = m->system->phases[1].loss(t, m, b);
    RG_TRY(rg_tape_status(t));
    j->nats += (double)rg_tensor_at(text.sum, 0, 0);
    j->words += text.count;
    return judge_titles(j, b);
}

static rg_status measure(rg_run *run, rg_metrics *out, rg_examples *store, size_t part, const char *prefix)
{
    judging         j = { .run = run, .table = &((rg_pictured_data *)run->data)->table[part] };
    const rg_model *m = run->model;
    char            name[2][32];
    snprintf(name[0], sizeof name[0], "%sperplexity", prefix);
    snprintf(name[1], sizeof name[1], "%stitle", prefix);
    rg_status status = rg_search_new(&j.search, &m, 1, rg_workers_team(rg_trainer_workers(run->trainer)));
    if (status == RG_OK) status = rg_pictured_pass(run, store, judge_batch, &j);
    if (status == RG_OK) status = rg_metrics_add(out, name[0], rg_perplexity(j.nats, (uint64_t)j.words), false);
    if (status == RG_OK) status = rg_metrics_add(out, name[1], j.titles / j.count, true);
    if (status == RG_OK) status = rg_set_sums_metrics(out, &j.sums, prefix);
    rg_search_free(j.search);
    rg_text_free(&j.said);
    rg_text_free(&j.truth);
    return status;
}

static rg_status judge(rg_run *run, rg_metrics *out)
{
    return measure(run, out, ((rg_pictured_data *)run->data)->base.valid, 1, "");
}

static rg_status finish(rg_run *run)
{
    rg_pictured_data *d = run->data;
    const size_t      before = run->final.count;
    if (!d->base.test) return RG_OK;
    RG_TRY(measure(run, &run->final, d->base.test, 2, "test-"));
    for (size_t i = before; i < run->final.count; i++)
        rg_tell(run->report, "%s %.4f", run->final.metric[i].name, run->final.metric[i].value);
    return RG_OK;
}

/* -------------------------------------------------------------------------------------------------------- answering */

typedef struct {
    int64_t beam;
} asking_of;

static const rg_option asking_rows[] = { { RG_OPTION_INT, "beam-size", offsetof(asking_of, beam), "1",
                                           "hypotheses kept by the search; 1 is greedy", 'b', "[1,1000]", NULL },
                                         RG_OPTION_END };

typedef struct {
    const rg_model    *model;
    const rg_question *question;
    rg_search         *search;
    const rg_answers  *answers;
    rg_text            text, set, steps;
    bool               recorded;
} answering;

/* "1. slice the basil . 2. serve it cold ." of "title | slice the basil . | serve it cold ." */
static rg_status number_steps(rg_text *out, const char *text)
{
    size_t number = 0;
    rg_text_clear(out);
    for (const char *at = text + title_bytes(text); *at;) {
        at += strspn(at, " |");
        const size_t bytes = title_bytes(at);
        if (bytes) RG_TRY(rg_text_print(out, "%s%zu. %.*s", number ? " " : "", number + 1, (int)bytes, at));
        number += bytes > 0;
        at += bytes;
    }
    return RG_OK;
}

static rg_status answer_one(void *context, const rg_asked *asked)
{
    answering                *x = context;
    const rg_pictured_assets *a = x->model->assets;
    const rg_sink            *sink = x->question->sink;
    if (asked->fault) return rg_asked_fault(x->question, asked, 4);
    if (!asked->answers) return rg_fail(RG_EFORMAT, "%s: the file is empty", asked->name);
    if (!asked->example) {
        const rg_search_config c =
            rg_caption_search(x->model, (size_t)((const asking_of *)x->question->options)->beam, 1);
        RG_TRY(rg_search_run(&x->answers, x->search, &c, &asked->batch->field[0], asked->batch->lines, NULL));
    }
    const rg_answers *best = &x->answers[asked->example];
    rg_text_clear(&x->text);
    if (best->count) RG_TRY(rg_pictured_text(&x->text, a->vocab, &best->answer[0]));
    RG_TRY(rg_set_text(&x->set, asked->answers, asked->example, a->names));
    RG_TRY(number_steps(&x->steps, rg_text_c(&x->text)));
    if (x->text.data) x->text.data[x->text.length = title_bytes(x->text.data)] = 0; /* the title is left */
    const rg_value cells[] = { { .text = asked->name ? asked->name : "" },
                               { .text = rg_text_c(&x->text) },
                               { .text = rg_text_c(&x->set) },
                               { .text = rg_text_c(&x->steps) } };
    RG_TRY(sink->row(sink->context, cells));
    if (!sink->record || x->recorded) return RG_OK;
    x->recorded = true;
    return rg_set_record(sink, x->model, x->model->system->phases[0].loss, asked, rg_text_c(&x->text), rg_text_c(&x->steps));
}

static rg_status answer(const rg_model *m, const rg_question *q)
{
    static const char *const names[] = { "input", "title", "ingredients", "directions" };
    const rg_field_spec      spec = rg_pictured_spec(m);
    answering                x = { .model = m, .question = q };
    rg_status                status = rg_search_new(&x.search, &m, 1, NULL);
    if (status == RG_OK) status = q->sink->columns(q->sink->context, names, 4);
    if (status == RG_OK) status = rg_supervised_answer(m, q, &spec, answer_one, &x);
    rg_search_free(x.search);
    rg_text_free(&x.text);
    rg_text_free(&x.set);
    rg_text_free(&x.steps);
    return status;
}

static rg_status plates(rg_text *yaml, const char *folder, rg_small_size size)
{
    if (size == RG_SMALL_TEST) return rg_pictured_small(yaml, folder, size);
    return rg_pictured_make(yaml, folder, "plates", "fewest: 2\nmost: 3\n", 2000, 200);
}

static const rg_demo demos[] = {
    { .name = "recipe",
      .summary = "a drawn plate to its ingredients, a title and directions",
      .type = "recipe",
      .settings = "layers: c3x16s2 c3x32s2 c3x32s2\ndim-emb: 32\ntransformer-dim-ffn: 64\ntransformer-heads: "
                  "2\ndec-depth: 1\ntext-depth: 1\ndropout: 0\nmini-batch: 16\n"
                  "learn-rate: 0.003\nafter-epochs: 20\nvalid-epochs: 10\nearly-stopping: 0\n",
      .metric = "perplexity",
      .below = true,
      .expected = 1.2,
      .ask = "FOLDER/ask.png",
      .small = plates },
    { 0 },
};

const rg_task rg_task_recipe = {
    .name = "recipe",
    .in = "picture",
    .out = "ingredients and text",
    .summary = "pictures of dishes to ingredients, a title and numbered directions",
    .options = options,
    .options_bytes = sizeof(options_of),
    RG_PICTURED,
    .open = open,
    .ready = ready,
    .judge = judge,
    .finish = finish,
    .hint = rg_pictured_hint,
    .asking = asking_rows,
    .asking_bytes = sizeof(asking_of),
    .answer = answer,
    .demos = demos,
};
