/* Lesson 4: a kind of data of your own, numbers -> number. docs/howto-task.md walks through it.
 *
 *     312000 TAB 84 TAB 3 TAB 1          the answer, then the numbers it depends on: one example per line
 *
 * The first part is the task, as it would stand in src/tasks/numbers.c; the second a system that learns it, as in
 * src/models/; the third does what `regard train` and `regard predict` do for the tasks and systems of their tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "regard/layers.h"
#include "regard/record.h"
#include "regard/supervised.h"

/* ======================================================================================================= the task */

enum { X, Y, FIELDS };

typedef struct {
    rg_set_options sets; /* files and batches: the rows that all such tasks have */
} options;

static const rg_option rows[] = { RG_SET_ROWS(options, sets, "lines of answer TAB number TAB number", "32"),
                                  RG_OPTION_END };

/* ------------------------------------------------------------------------------------------------------- learning */

static rg_status open(rg_run *run)
{
    static const char *const wanted[FIELDS] = { "numbers", "answer" };
    const options           *o = run->options;
    rg_field_spec            specs[FIELDS] = { { .name = "numbers", .kind = RG_FIELD_NUMBERS },
                                               { .name = "answer", .kind = RG_FIELD_NUMBERS, .width = 1 } };
    rg_reader_config         r = rg_supervised_reading(&o->sets, wanted, FIELDS);
    r.columns = "2-,1"; /* all columns but the first are the numbers */
    RG_TRY(rg_supervised_check(&o->sets, "answers and numbers", false));
    RG_TRY(rg_examples_learn(NULL, &specs[X].width, &specs[X], o->sets.train.items[0], &r)); /* how many numbers? */
    RG_TRY(rg_supervised_open(run, &o->sets, &r, specs, FIELDS));
    return rg_sizes_put(&run->sizes, "features", specs[X].width);
}

static rg_status judge_batch(void *sum, rg_tape *t, rg_tensor *answers, const rg_batch *b)
{
    const rg_tensor *error = rg_squared_error(t, answers, b->field[Y].values);
    RG_TRY(rg_tape_status(t));
    *(double *)sum += (double)rg_tensor_at(error, 0, 0);
    return RG_OK;
}

static rg_status judge(rg_run *run, rg_metrics *out)
{
    double sum = 0;
    RG_TRY(rg_supervised_judge(run, judge_batch, &sum));
    return rg_metrics_add(out, "squared-error", sum / (double)rg_examples_count(((rg_supervised *)run->data)->valid),
                          false);
}

static rg_status finish(rg_run *run) { return rg_supervised_judges(run) ? judge(run, &run->final) : RG_OK; }

/* ------------------------------------------------------------------------------------------------------ answering */

/* Systems with attention record their weights (src/tasks/graph_record.c); this one the first input and its answer. */
static rg_status give_record(const rg_sink *sink, const char *input, double answer)
{
    rg_record *record = NULL;
    rg_status  status = rg_record_new(&record, input, "numbers");
    if (status == RG_OK) status = rg_record_add_text(record, "source", input, 0, false);
    if (status == RG_OK) status = rg_record_add_text(record, "output", "answer", answer, true);
    if (status == RG_OK) status = sink->record(sink->context, record);
    rg_record_free(record);
    return status;
}

static rg_status answer_one(void *context, const rg_asked *asked)
{
    const rg_sink *sink = context;
    if (!asked->answers) return rg_fail(RG_EFORMAT, "input %llu has no numbers", (unsigned long long)asked->number);
    const double y = (double)rg_tensor_at(asked->answers, asked->example, 0);
    RG_TRY(sink->row(sink->context, &(rg_value){ .number = y, .digits = 4 }));
    return asked->number == 1 && sink->record ? give_record(sink, asked->text, y) : RG_OK;
}

static rg_status answer(const rg_model *m, const rg_question *q)
{
    static const char *const columns[] = { "answer" };
    const rg_field_spec spec = { .name = "numbers", .kind = RG_FIELD_NUMBERS, .width = rg_model_size(m, "features") };
    RG_TRY(q->sink->columns(q->sink->context, columns, 1));
    return rg_supervised_answer(m, q, &spec, answer_one, (void *)q->sink);
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
    RG_SUPERVISED(rg_supervised),
    .open = open,
    .judge = judge,
    .finish = finish,
    .answer = answer,
    .small = small,
};

/* ===================================================================================================== the system */

typedef struct {
    int64_t width;
} settings;

static const rg_option system_rows[] = {
    { RG_OPTION_INT, "width", offsetof(settings, width), "16", "units of the hidden layer", 0, "[1,65536]", NULL, NULL },
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
    .reads = "numbers",
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

static rg_status count_records(void *context, const rg_record *record)
{
    *(size_t *)context += record != NULL;
    return RG_OK;
}

static rg_status train_and_ask(rg_learning *learning, options *o, settings *s, size_t *records, double *error)
{
    const rg_option_group groups[] = { { "learning", rg_learning_rows, learning, NULL },
                                       { "data", rows, o, NULL },
                                       { "system", system_rows, s, NULL } };
    static const char     houses[] = "1.5 0.1\n-1.5 0.1\n";
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
    const rg_sink sink = { .context = records, .columns = print_columns, .row = print_row, .record = count_records };
    const rg_question question = { .input = "new_houses.txt", .threads = 1, .sink = &sink };
    status = rg_file_replace(question.input, houses, strlen(houses));
    if (status == RG_OK) status = rg_task_numbers.answer(model, &question);
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
    size_t      records = 0;
    double      error = 0;
    rg_status   status = train_and_ask(&learning, &o, &s, &records, &error);
    if (status != RG_OK) fprintf(stderr, "%s\n", rg_message());
    rg_options_fini(rg_learning_rows, &learning);
    rg_options_fini(rows, &o);
    rg_options_fini(system_rows, &s);
    return status == RG_OK && records == 1 && error < 0.05 ? 0 : 1;
}
