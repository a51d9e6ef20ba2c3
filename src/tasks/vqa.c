/* vqa.c - picture and question -> answer. The questions of a picture are one example; answers are classes, those
 * that occur in the training data. An answer that was not learned cannot be given, and counts as wrong when it was
 * right. */
#include <math.h>
#include <string.h>

#include "tasks/vqa_record.h"

typedef struct {
    rg_pictured_options pictured;
    rg_text_options     text;
    int64_t             min_count;
} options_of;

static const rg_option options[] = {
    RG_PICTURED_ROWS(options_of, "file of pictures, questions and answers: picture TAB question TAB answer", "16"),
    RG_TEXT_ROWS(options_of, text),
    { RG_OPTION_INT, "answer-min-count", offsetof(options_of, min_count), "1", "rarer answers are never given", 0,
      "[1,inf)", NULL },
    RG_OPTION_END
};

static rg_field_spec question_spec(const rg_vocab *vocab, size_t longest)
{
    return (rg_field_spec){ .name = "question",
                            .kind = RG_FIELD_IDS,
                            .vocab = vocab,
                            .max_rows = longest,
                            .crop = true,
                            .eos = true,
                            .many = true };
}

static rg_status open(rg_run *run)
{
    static const char *const wanted[] = { "question", "answer" };
    const options_of        *o = run->options;
    rg_pictured_data        *d = run->data;
    rg_pictured_assets      *a = run->assets;
    rg_field_spec            specs[3];
    RG_TRY(rg_pictured_open_tables(run, &o->pictured, "pictures, questions and answers", "picture", wanted, 2));
    RG_TRY(rg_pictured_vocab(&a->vocab, run, &o->text, &d->table[0], 0, 0));
    RG_TRY(rg_pictured_names(&a->names, &a->counts, &d->table[0], 1, 0, (uint64_t)o->min_count, "answers"));
    specs[1] = question_spec(a->vocab, (size_t)o->text.max_length);
    specs[2] = (rg_field_spec){ .name = "answer", .kind = RG_FIELD_CLASS, .names = a->names, .many = true };
    return rg_pictured_open_stores(run, &o->pictured, specs);
}

static rg_status ready(rg_run *run)
{
    const rg_pictured_assets *a = run->model->assets;
    const rg_pictured_data   *d = run->data;
    rg_tell(run->report, "%llu questions about %zu pictures, %zu answers, vocabulary of %zu pieces, %zu parameters",
            (unsigned long long)d->table[0].rows, d->table[0].names.count, rg_names_count(a->names),
            rg_vocab_size(a->vocab), rg_params_numbers(run->model->params));
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- judging */

typedef struct {
    rg_run *run;
    double  right, count, nats, known;
} judging;

static size_t likeliest(const rg_tensor *y, size_t row)
{
    size_t best = 0;
    for (size_t c = 1; c < rg_tensor_cols(y); c++)
        if (rg_tensor_at(y, row, c) > rg_tensor_at(y, row, best)) best = c;
    return best;
}

static rg_status judge_batch(void *context, rg_tape *t, const rg_batch *b)
{
    judging         *j = context;
    const rg_field  *answers = &b->field[2];
    rg_tensor       *y = j->run->system->predict(t, j->run->model, b);
    const rg_tensor *nats = rg_cross_entropy(t, y, answers->ids, 0);
    RG_TRY(rg_tape_status(t));
    j->nats += (double)rg_tensor_at(nats, 0, 0);
    for (size_t i = 0; i < rg_field_rows(answers); i++) {
        j->right += answers->ids[i] == (int32_t)likeliest(y, i);
        j->known += answers->ids[i] >= 0;
        j->count++;
    }
    return RG_OK;
}

static rg_status measure(rg_run *run, rg_metrics *out, rg_examples *store, const char *prefix)
{
    judging j = { .run = run };
    char    name[2][32];
    snprintf(name[0], sizeof name[0], "%saccuracy", prefix);
    snprintf(name[1], sizeof name[1], "%sloss", prefix);
    RG_TRY(rg_pictured_pass(run, store, judge_batch, &j));
    RG_TRY(rg_metrics_add(out, name[0], j.right / j.count, true));
    return rg_metrics_add(out, name[1], j.nats / fmax(1, j.known), false);
}

static rg_status judge(rg_run *run, rg_metrics *out)
{
    return measure(run, out, ((rg_pictured_data *)run->data)->base.valid, "");
}

static rg_status finish(rg_run *run)
{
    rg_pictured_data *d = run->data;
    if (!d->base.test) return RG_OK;
    RG_TRY(measure(run, &run->final, d->base.test, "test-"));
    rg_tell(run->report, "test-accuracy %.4f", run->final.metric[run->final.count - 2].value);
    return RG_OK;
}

/* -------------------------------------------------------------------------------------------------------- answering */

typedef struct {
    rg_list questions;
} asking_of;

static const rg_option asking_rows[] = { { RG_OPTION_LIST, "questions", offsetof(asking_of, questions), "",
                                           "asked about every picture, instead of a question behind each", 0, NULL,
                                           NULL },
                                         RG_OPTION_END };

typedef struct {
    const rg_model    *model;
    const rg_question *question;
    bool               recorded;
    size_t             row; /* of the batch's answers: questions answered so far */
} answering;

static double probability(const rg_tensor *y, size_t row, size_t best)
{
    double sum = 0;
    for (size_t c = 0; c < rg_tensor_cols(y); c++)
        sum += exp((double)(rg_tensor_at(y, row, c) - rg_tensor_at(y, row, best)));
    return 1 / sum;
}

static rg_status answer_one(void *context, const rg_asked *asked)
{
    answering      *x = context;
    const rg_names *names = ((const rg_pictured_assets *)x->model->assets)->names;
    const rg_sink  *sink = x->question->sink;
    const char     *at = asked->text, *text, **said = NULL;
    rg_text         line = { 0 };
    size_t          bytes, n = 0;
    if (asked->fault) return rg_asked_fault(x->question, asked, 4);
    if (!asked->answers) return rg_fail(RG_EFORMAT, "%s: the file or the question is empty", asked->name);
    if (!asked->example) x->row = 0;
    if (!(said = rg_alloc_array(strlen(asked->text) + 1, sizeof *said))) return RG_ENOMEM;
    const size_t first = x->row;
    rg_status    status = RG_OK;
    for (; status == RG_OK && rg_pictured_line(&text, &bytes, &at); n++, x->row++) {
        const size_t best = likeliest(asked->answers, x->row);
        said[n] = rg_names_get(names, (int32_t)best);
        rg_text_clear(&line);
        status = rg_text_add(&line, text, bytes);
        const rg_value cells[] = { { .text = asked->name },
                                   { .text = rg_text_c(&line) },
                                   { .text = said[n] },
                                   { .number = probability(asked->answers, x->row, best), .digits = 4 } };
        if (status == RG_OK) status = sink->row(sink->context, cells);
    }
    if (status == RG_OK && sink->record && !x->recorded) {
        x->recorded = true;
        status = rg_vqa_record(sink, x->model, asked, said, n, first);
    }
    rg_text_free(&line);
    rg_free(said);
    return status;
}

static rg_status answer(const rg_model *m, const rg_question *q)
{
    static const char *const names[] = { "input", "question", "answer", "probability" };
    const asking_of         *asks = q->options;
    const rg_field_spec      specs[] = { rg_pictured_spec(m),
                                         question_spec(((const rg_pictured_assets *)m->assets)->vocab, 0) };
    answering                x = { .model = m, .question = q };
    rg_text                  questions = { 0 };
    rg_status                status = q->sink->columns(q->sink->context, names, 4);
    for (size_t i = 0; status == RG_OK && i < asks->questions.count; i++)
        status = rg_text_print(&questions, "%s%s", i ? "\n" : "", asks->questions.items[i]);
    if (status == RG_OK)
        status = rg_supervised_ask(m, q, specs, 2, questions.length ? rg_text_c(&questions) : NULL, answer_one, &x);
    rg_text_free(&questions);
    return status;
}

static rg_status hint(rg_text *out, const void *given, const char *program, const char *model)
{
    return (void)given, rg_text_print(out, "%s predict -m %s picture.jpg 'what is it ?'", program, model);
}

static rg_status shapes(rg_text *yaml, const char *folder, rg_small_size size)
{
    if (size == RG_SMALL_TEST) return rg_pictured_small(yaml, folder, size);
    return rg_pictured_make(yaml, folder, "vqa", "objects: 3\nquestions: plain\n", 50000, 3000);
}

static const rg_demo demos[] = {
    { .name = "san",
      .summary = "questions about three shapes, with the cells that both hops looked at",
      .type = "san",
      .settings = "layers: c3x16 p2 c3x32 p2 c3x32 p2\ncentre: true\nwidth: 128\nhidden: 128\nscore: general\n"
                  "hops: 2\ndropout: 0\nmini-batch: 16\nlearn-rate: 0.002\nlr-schedule: cosine\nlr-least: 0.0001\n"
                  "after-epochs: 0\nafter-batches: 1000\nvalid-freq: 500\nvalid-epochs: 0\nearly-stopping: 0\n",
      .metric = "accuracy",
      .expected = 0.85,
      .ask = "FOLDER/ask.png",
      .asking = "questions: [what shape is the red object ?, is the green object on the left ?]\n",
      .small = shapes },
    { 0 },
};

const rg_task rg_task_vqa = {
    .name = "vqa",
    .in = "picture and question",
    .out = "answer",
    .summary = "questions about pictures, answered by one of the answers that were learned",
    .options = options,
    .options_bytes = sizeof(options_of),
    RG_PICTURED,
    .open = open,
    .ready = ready,
    .judge = judge,
    .finish = finish,
    .hint = hint,
    .asking = asking_rows,
    .asking_bytes = sizeof(asking_of),
    .answer = answer,
    .demos = demos,
};
