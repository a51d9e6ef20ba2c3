/* set.c - picture -> set of labels: tags of photographs, digits of a picture, ingredients of a dish.
 *
 *   f1, iou      of all labels of all pictures together        f1-picture   mean of the pictures' own        exact   share of sets without a fault */
#include "tasks/pictured_sets.h"

typedef struct {
    rg_pictured_options pictured;
    int64_t             min_count;
} options_of;

static const rg_option options[] = {
    RG_PICTURED_ROWS(options_of, "file of pictures and labels, picture TAB label|label|label", "32"),
    { RG_OPTION_INT, "label-min-count", offsetof(options_of, min_count), "1", "labels of fewer pictures are left out",
      0, "[1,inf)", NULL },
    RG_OPTION_END
};

static rg_status open(rg_run *run)
{
    static const char *const wanted[] = { "tags" };
    const options_of        *o = run->options;
    rg_pictured_data        *d = run->data;
    rg_field_spec            specs[2];
    RG_TRY(rg_pictured_open_tables(run, &o->pictured, "pictures and labels", "picture", wanted, 1));
    RG_TRY(rg_pictured_learn_sets(run, 0, (uint64_t)o->min_count));
    specs[1] =
        (rg_field_spec){ .name = "tags", .kind = RG_FIELD_SET, .names = ((rg_pictured_assets *)run->assets)->names };
    RG_TRY(rg_pictured_open_stores(run, &o->pictured, specs));
    return rg_pictured_most_members(&run->sizes, d->base.train, RG_LABEL);
}

static rg_status ready(rg_run *run)
{
    const rg_pictured_assets *a = run->model->assets;
    rg_text                   text = { 0 };
    rg_status                 status = rg_names_print(&text, a->names, 10);
    if (status == RG_OK)
        rg_tell(run->report, "%zu labels (%s), at most %zu of a picture, %zu parameters", rg_names_count(a->names),
                rg_text_c(&text), rg_model_size(run->model, "most-members"), rg_params_numbers(run->model->params));
    rg_text_free(&text);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- judging */

typedef struct {
    rg_run      *run;
    rg_set_sums  sums;
} judging;

static rg_status judge_batch(void *context, rg_tape *t, const rg_batch *b)
{
    judging         *j = context;
    const rg_tensor *y = j->run->system->predict(t, j->run->model, b);
    RG_TRY(rg_tape_status(t));
    return rg_set_sums_add(&j->sums, y, &b->field[RG_LABEL]);
}

static rg_status measure(rg_run *run, rg_metrics *out, rg_examples *store, const char *prefix)
{
    judging j = { .run = run };
    RG_TRY(rg_pictured_pass(run, store, judge_batch, &j));
    return rg_set_sums_metrics(out, &j.sums, prefix);
}

static rg_status judge(rg_run *run, rg_metrics *out)
{
    return measure(run, out, ((rg_pictured_data *)run->data)->base.valid, "");
}

static rg_status finish(rg_run *run)
{
    rg_pictured_data *d = run->data;
    const size_t      before = run->final.count;
    if (!d->base.test) return RG_OK;
    RG_TRY(measure(run, &run->final, d->base.test, "test-"));
    for (size_t i = before; i < run->final.count; i++)
        rg_tell(run->report, "%s %.4f", run->final.metric[i].name, run->final.metric[i].value);
    return RG_OK;
}

/* -------------------------------------------------------------------------------------------------------- answering */

typedef struct {
    const rg_model    *model;
    const rg_question *question;
    rg_text            text;
    bool               recorded;
} answering;

static rg_status record(answering *x, const rg_asked *asked)
{
    x->recorded = true;
    return rg_set_record(x->question->sink, x->model, x->model->system->loss, asked, rg_text_c(&x->text), NULL);
}

static rg_status answer_one(void *context, const rg_asked *asked)
{
    answering     *x = context;
    const rg_sink *sink = x->question->sink;
    if (asked->fault) return rg_asked_fault(x->question, asked, 2);
    if (!asked->answers) return rg_fail(RG_EFORMAT, "%s: the file is empty", asked->name);
    RG_TRY(
        rg_set_text(&x->text, asked->answers, asked->example, ((const rg_pictured_assets *)x->model->assets)->names));
    const rg_value cells[] = { { .text = asked->name ? asked->name : "" }, { .text = rg_text_c(&x->text) } };
    RG_TRY(sink->row(sink->context, cells));
    return sink->record && !x->recorded ? record(x, asked) : RG_OK;
}

static rg_status answer(const rg_model *m, const rg_question *q)
{
    static const char *const names[] = { "input", "tags" };
    const rg_field_spec      spec = rg_pictured_spec(m);
    answering                x = { .model = m, .question = q };
    rg_status                status = q->sink->columns(q->sink->context, names, 2);
    if (status == RG_OK) status = rg_supervised_answer(m, q, &spec, answer_one, &x);
    rg_text_free(&x.text);
    return status;
}

static rg_status digits(rg_text *yaml, const char *folder, rg_small_size size)
{
    if (size == RG_SMALL_TEST) return rg_pictured_small(yaml, folder, size);
    return rg_pictured_make(yaml, folder, "sets", "most: 4\n", 2500, 300);
}

static const rg_demo demos[] = {
    { .name = "set",
      .summary = "which digits are in the picture: a set, written one by one",
      .type = "set",
      .settings = "layers: c5x16s2 c3x32s2 c3x32\ndim-emb: 32\ntransformer-dim-ffn: 64\ntransformer-heads: "
                  "2\ndec-depth: 1\ndropout: 0\nmini-batch: 32\nlearn-rate: 0.003\n"
                  "after-epochs: 10\nvalid-epochs: 2\n",
      .metric = "f1",
      .expected = 0.8,
      .ask = "FOLDER/ask.png",
      .small = digits },
    { 0 },
};

const rg_task rg_task_set = {
    .name = "set",
    .in = "picture",
    .out = "set of labels",
    .summary = "pictures and the labels that each of them has: tags, digits, ingredients",
    .options = options,
    .options_bytes = sizeof(options_of),
    RG_PICTURED,
    .open = open,
    .ready = ready,
    .judge = judge,
    .finish = finish,
    .hint = rg_pictured_hint,
    .answer = answer,
    .demos = demos,
};
