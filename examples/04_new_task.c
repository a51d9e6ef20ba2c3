/* Lesson 4: a kind of data of your own, numbers -> number. docs/howto-task.md walks through it.
 *
 *     312000 TAB 84 TAB 3 TAB 1          the answer, then the numbers it depends on: one example per line
 *
 * The first part is the task, as it would stand in src/tasks/numbers.c; the second a system that learns it, as in
 * src/models/; the third does what `regard train` and `regard predict` do for the tasks and systems of their tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "regard/examples.h"
#include "regard/layers.h"
#include "regard/record.h"
#include "regard/task.h"

/* ======================================================================================================= the task */

enum { X, Y, FIELDS };

typedef struct {
    rg_list train, valid;
    int64_t batch;
} options;

static const rg_option rows[] = {
    { RG_OPTION_LIST, "train-sets", offsetof(options, train), "", "lines of answer TAB number TAB number", 't', NULL, NULL },
    { RG_OPTION_LIST, "valid-sets", offsetof(options, valid), "", "the same for validation", 0, NULL, NULL },
    { RG_OPTION_INT, "mini-batch", offsetof(options, batch), "32", "examples in a batch", 0, "[1,65536]", NULL },
    RG_OPTION_END
};

typedef struct {
    rg_examples *train, *valid;
    rg_batch     batch;
    const void  *share;
} data;

/* ------------------------------------------------------------------------------------------------------- learning */

static const char *const wanted[FIELDS] = { "numbers", "answer" };

static rg_status read_all(rg_examples **out, const rg_run *run, const rg_list *files, const rg_field_spec *specs,
                          const rg_reader_config *r)
{
    rg_examples_config c = RG_EXAMPLES_CONFIG_DEFAULT;
    c.batch = (size_t)((const options *)run->options)->batch;
    c.seed = (uint64_t)run->learning->seed;
    RG_TRY(rg_examples_new(out, &c, specs, FIELDS));
    for (size_t i = 0; i < files->count; i++) RG_TRY(rg_examples_read(*out, files->items[i], r));
    return rg_examples_seal(*out);
}

static rg_status open(rg_run *run)
{
    const options   *o = run->options;
    data            *d = run->data;
    rg_reader_config r = RG_READER_CONFIG_DEFAULT;
    rg_field_spec    specs[FIELDS] = { { .name = wanted[X], .kind = RG_FIELD_NUMBERS },
                                       { .name = wanted[Y], .kind = RG_FIELD_NUMBERS, .width = 1 } };
    r.wanted = wanted, r.wanted_count = FIELDS, r.columns = "2-,1"; /* all columns but the first are the numbers */
    if (!o->train.count) return rg_fail(RG_EINVAL, "what should it learn from? --train-sets names files");
    RG_TRY(rg_examples_learn(NULL, &specs[X].width, &specs[X], o->train.items[0], &r)); /* how many numbers? */
    RG_TRY(read_all(&d->train, run, &o->train, specs, &r));
    if (o->valid.count) RG_TRY(read_all(&d->valid, run, &o->valid, specs, &r));
    return rg_sizes_put(&run->sizes, "features", specs[X].width);
}

/* One worker takes the whole batch, and all threads its ops. For several workers rg_batch_share cuts a batch. */
static rg_status plan(rg_run *run, rg_trainer_config *config)
{
    config->workers.workers = 1;
    config->workers.threads = run->threads;
    return RG_OK;
}

static rg_status next(rg_run *run, rg_shares *out)
{
    data *d = run->data;
    bool  more;
    *out = (rg_shares){ 0 };
    RG_TRY(rg_examples_next_in_epoch(&more, &d->batch, d->train));
    d->share = &d->batch;
    if (more) *out = (rg_shares){ .share = &d->share, .count = 1, .cost = (double)d->batch.examples };
    return RG_OK;
}

enum { PLACES = 5 };
static const char *const places[PLACES] = { "numbers.epoch", "numbers.window", "numbers.batch", "numbers.ended",
                                            "numbers.checksum" };

static rg_status tell(const rg_run *run, rg_state *state)
{
    const data    *d = run->data;
    const rg_place p = rg_examples_tell(d->train);
    const uint64_t at[PLACES] = { p.epoch, p.window, p.batch, p.ended, rg_examples_checksum(d->train) };
    for (size_t i = 0; i < PLACES; i++) RG_TRY(rg_state_put_count(state, places[i], at[i]));
    return RG_OK;
}

static rg_status seek(rg_run *run, const rg_state *state)
{
    data    *d = run->data;
    uint64_t at[PLACES];
    for (size_t i = 0; i < PLACES; i++) RG_TRY(rg_state_get_count(&at[i], state, places[i]));
    if (at[4] != rg_examples_checksum(d->train))
        return rg_fail(RG_EMATCH, "the checkpoint was trained on other data; --overwrite starts again");
    return rg_examples_seek(d->train, (rg_place){ at[0], at[1], at[2], at[3] != 0 });
}

static bool judges(const rg_run *run) { return ((const data *)run->data)->valid != NULL; }

static rg_status measure(double *sum, rg_tape *t, const rg_run *run)
{
    rg_examples *valid = ((data *)run->data)->valid;
    rg_batch     b;
    bool         more;
    for (;;) {
        RG_TRY(rg_examples_next_in_epoch(&more, &b, valid));
        if (!more) return RG_OK;
        rg_tape_reset(t, 0);
        const rg_loss loss = run->system->loss(t, run->model, &b);
        RG_TRY(rg_tape_status(t));
        *sum += (double)rg_tensor_at(loss.sum, 0, 0);
    }
}

static rg_status judge(rg_run *run, rg_metrics *out)
{
    const rg_tape_config config = { .record = false, .team = rg_workers_team(rg_trainer_workers(run->trainer)) };
    const double         count = (double)rg_examples_count(((data *)run->data)->valid);
    double               sum = 0;
    rg_tape             *t;
    RG_TRY(rg_tape_new(&t, &config));
    rg_status status = measure(&sum, t, run);
    rg_tape_free(t);
    return status == RG_OK ? rg_metrics_add(out, "squared-error", sum / count, false) : status;
}

static rg_status finish(rg_run *run) { return judges(run) ? judge(run, &run->final) : RG_OK; }

static void close(rg_run *run)
{
    rg_examples_free(((data *)run->data)->train);
    rg_examples_free(((data *)run->data)->valid);
}

/* ------------------------------------------------------------------------------------------------------ answering */

/* Words of the command line, or lines of a file. */
static rg_status read_inputs(rg_examples *to, const rg_question *q)
{
    rg_reader_config lines = RG_READER_CONFIG_DEFAULT;
    lines.format = "lines";
    for (size_t i = 0; i < q->words->count; i++) {
        const rg_cell cell = { .bytes = q->words->items[i], .count = strlen(q->words->items[i]) };
        RG_TRY(rg_examples_add(to, &cell, i + 1));
    }
    if (!q->words->count && !q->input) return rg_fail(RG_EINVAL, "which numbers? for example '84 3 1'");
    if (!q->words->count) RG_TRY(rg_examples_read(to, q->input, &lines));
    const rg_examples_report *r = rg_examples_counts(to);
    if (r->examples == r->lines) return rg_examples_seal(to);
    return rg_fail(RG_EFORMAT, "inputs without numbers: %llu", (unsigned long long)(r->lines - r->examples));
}

/* Systems with attention record their weights (src/tasks/graph_record.c); this one records a curve of its answers. */
static rg_status give_record(const rg_sink *sink, const double *x, const double *y, size_t count)
{
    rg_record *record = NULL;
    size_t     curves;
    rg_status  status = rg_record_new(&record, "answers", "numbers");
    if (status == RG_OK) status = rg_record_add_curves(&curves, record, "answers", "input", "answer", false, false);
    if (status == RG_OK) status = rg_record_add_series(record, curves, "answer", x, y, count);
    if (status == RG_OK) status = sink->record(sink->context, record);
    rg_record_free(record);
    return status;
}

enum { AT_ONCE = 64 }; /* inputs */

static rg_status give_answers(const rg_model *m, const rg_sink *sink, rg_examples *inputs, rg_tape *t)
{
    static const char *const columns[] = { "answer" };
    double                   x[AT_ONCE], y[AT_ONCE];
    RG_TRY(sink->columns(sink->context, columns, 1));
    for (bool first = true, more;; first = false) {
        rg_batch b;
        RG_TRY(rg_examples_next_in_epoch(&more, &b, inputs));
        if (!more) return RG_OK;
        rg_tape_reset(t, 0);
        const rg_tensor *answers = m->system->predict(t, m, &b);
        RG_TRY(rg_tape_status(t));
        for (size_t i = 0; i < b.examples; i++) {
            x[i] = (double)i + 1, y[i] = (double)rg_tensor_at(answers, i, 0);
            RG_TRY(sink->row(sink->context, &(rg_value){ .number = y[i], .digits = 4 }));
        }
        if (first && sink->record) RG_TRY(give_record(sink, x, y, b.examples));
    }
}

static rg_status answer(const rg_model *m, const rg_question *q)
{
    const size_t             width = rg_model_size(m, "features");
    const rg_field_spec      spec = { .name = wanted[X], .kind = RG_FIELD_NUMBERS, .width = width };
    const rg_examples_config in_order = { .batch = AT_ONCE, .memory = SIZE_MAX };
    const rg_tape_config     config = { .record = false };
    rg_examples             *inputs = NULL;
    rg_tape                 *t = NULL;
    rg_status                status = rg_examples_new(&inputs, &in_order, &spec, 1);
    if (status == RG_OK) status = rg_tape_new(&t, &config);
    if (status == RG_OK) status = read_inputs(inputs, q);
    if (status == RG_OK) status = give_answers(m, q->sink, inputs, t);
    rg_tape_free(t);
    rg_examples_free(inputs);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- small */

/* Houses: the price follows from surface and rooms, and neither is exact. */
static rg_status small(rg_text *yaml, const char *folder, rg_small_size size)
{
    rg_random random = rg_random_new(5, 0);
    rg_text   file = { 0 };
    char     *path = rg_format("%s/houses.tsv", folder);
    rg_status status = path ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < (size == RG_SMALL_DEMO ? 600 : 60); i++) {
        const double surface = rg_random_normal(&random), rooms = rg_random_normal(&random);
        const double price = surface + 0.5 * sin(2 * rooms) + 0.1 * rg_random_normal(&random);
        status = rg_text_print(&file, "%.3f\t%.3f\t%.3f\n", price, surface, rooms);
    }
    if (status == RG_OK) status = rg_file_replace(path, file.data, file.length);
    if (status == RG_OK)
        status = rg_text_print(yaml, "train-sets: [%s]\nvalid-sets: [%s]\nmini-batch: 8\nafter-epochs: %d\n", path,
                               path, size == RG_SMALL_DEMO ? 20 : 2);
    rg_text_free(&file);
    rg_free(path);
    return status;
}

static const rg_task rg_task_numbers = { /* in src/tasks/numbers.c: const rg_task rg_task_numbers */
    .name = "numbers",
    .in = "numbers",
    .out = "number",
    .unit = "examples",
    .summary = "a number that follows from others",
    .options = rows,
    .options_bytes = sizeof(options),
    .learning = "learn-rate: 0.01\nvalid-freq: 0\nvalid-epochs: 1\n",
    .data_bytes = sizeof(data),
    .open = open,
    .plan = plan,
    .next = next,
    .tell = tell,
    .seek = seek,
    .judges = judges,
    .judge = judge,
    .finish = finish,
    .close = close,
    .answer = answer,
    .small = small,
};

/* ===================================================================================================== the system */

typedef struct {
    int64_t width;
} settings;

static const rg_option system_rows[] = {
    { RG_OPTION_INT, "width", offsetof(settings, width), "16", "units of the hidden layer", 0, "[1,65536]", NULL },
    RG_OPTION_END
};

typedef struct {
    rg_dense hidden, out;
} parts;

static rg_status build(rg_model *m)
{
    const size_t width = (size_t)((const settings *)m->options)->width;
    parts       *q = m->parts;
    rg_dense_init(&q->hidden, m->params, "hidden", rg_model_size(m, "features"), width, RG_TANH);
    rg_dense_init(&q->out, m->params, "out", width, 1, RG_IDENTITY);
    return RG_OK;
}

static rg_tensor *predict(rg_tape *t, const rg_model *m, const void *batch)
{
    const rg_field *x = &((const rg_batch *)batch)->field[X];
    const parts    *q = m->parts;
    rg_tensor      *h = rg_constant(t, x->values, rg_field_rows(x), x->width, &x->layout);
    return rg_dense_run(t, &q->out, rg_dense_run(t, &q->hidden, h));
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *batch)
{
    const rg_field *y = &((const rg_batch *)batch)->field[Y];
    return (rg_loss){ rg_squared_error(t, predict(t, m, batch), y->values), (double)rg_field_rows(y) };
}

static const rg_attention_use uses[] = { { 0 } };

static const rg_system rg_system_perceptron = {
    .name = "perceptron",
    .summary = "one hidden layer",
    .paper = "Rosenblatt 1958",
    .task = &rg_task_numbers,
    .uses = uses,
    .options = system_rows,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .predict = predict,
};

/* ============================================================================================= what the commands do */

static rg_status print_columns(void *context, const char *const *names, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++) printf("%s%c", names[i], i + 1 < count ? '\t' : '\n');
    return RG_OK;
}

static rg_status print_row(void *context, const rg_value *cells)
{
    (void)context;
    printf("%.*f\n", cells[0].digits, cells[0].number);
    return RG_OK;
}

static rg_status count_curves(void *context, const rg_record *record)
{
    *(size_t *)context += record->curve_sets;
    return RG_OK;
}

static rg_status train_and_ask(rg_learning *learning, options *o, settings *s, size_t *curves, double *error)
{
    const rg_option_group groups[] = { { "learning", rg_learning_rows, learning },
                                       { "data", rows, o },
                                       { "system", system_rows, s } };
    static char           large[] = "1.5 0.1", little[] = "-1.5 0.1", *words[] = { large, little };
    rg_text               yaml = { 0 };
    rg_learned            learned;
    rg_model             *model;
    for (size_t i = 0; i < 3; i++) RG_TRY(rg_options_init(groups[i].rows, groups[i].values));
    rg_status status = small(&yaml, ".", RG_SMALL_DEMO);
    if (status == RG_OK) status = rg_text_print(&yaml, "%smodel: ''\n", rg_task_numbers.learning);
    if (status == RG_OK) status = rg_options_read_yaml(groups, 3, yaml.data, yaml.length, "settings", false);
    rg_text_free(&yaml);
    RG_TRY(status);
    const rg_training training = { .system = &rg_system_perceptron,
                                   .system_options = s,
                                   .task_options = o,
                                   .learning = learning };
    RG_TRY(rg_learn(&model, &learned, &training));
    const rg_list     inputs = { 2, words };
    const rg_sink     sink = { .context = curves, .columns = print_columns, .row = print_row, .record = count_curves };
    const rg_question question = { .words = &inputs, .threads = 1, .sink = &sink };
    status = rg_task_numbers.answer(model, &question);
    *error = learned.final.metric[0].value;
    printf("%s %.3f after %llu updates\n", learned.final.metric[0].name, *error, (unsigned long long)learned.updates);
    rg_model_free(model);
    return status;
}

int main(void)
{
    rg_learning learning = { 0 };
    options     o = { 0 };
    settings    s = { 0 };
    size_t      curves = 0;
    double      error = 0;
    rg_status   status = train_and_ask(&learning, &o, &s, &curves, &error);
    if (status != RG_OK) fprintf(stderr, "%s\n", rg_message());
    rg_options_fini(rg_learning_rows, &learning);
    rg_options_fini(rows, &o);
    rg_options_fini(system_rows, &s);
    return status == RG_OK && curves == 1 && error < 0.05 ? 0 : 1;
}
