/* classify_answer.c - a classifier answers texts: the most likely classes and their probabilities, one row per text, in
 * order. The record is of the first text: its words, the answer, and what the answer attended to where the system
 * attends. */
#include <math.h>
#include <string.h>

#include "regard/view.h"
#include "tasks/batches.h"
#include "tasks/classify.h"

enum { MOST_TOP = 100 };

const rg_option rg_classify_asking_rows[] = {
    { RG_OPTION_INT, "top", offsetof(rg_classify_asking, top), "1",
      "so many classes per text, the most likely first", 0, "[1,100]" },
    RG_OPTION_END
};

typedef struct {
    const rg_model      *model;
    const rg_classifier *its;
    const rg_sink       *sink;
    rg_tape             *tape;
    rg_ids               ids;
    rg_spans             spans;
    double              *p; /* probability of each class */
    size_t               classes, top;
    bool                 recorded;
} answering;

/* ---------------------------------------------------------------------------------------------------- probabilities */

static rg_status softmax(double *p, const rg_real *x, size_t C)
{
    double most = (double)x[0], sum = 0;
    for (size_t c = 0; c < C; c++) {
        if (!isfinite((double)x[c]))
            return rg_fail(RG_ENUMBER,
                           "the score of class %zu is not finite; the model's weights give infinite numbers", c);
        most = fmax(most, (double)x[c]);
    }
    for (size_t c = 0; c < C; c++) sum += p[c] = exp((double)x[c] - most);
    for (size_t c = 0; c < C; c++) p[c] /= sum;
    return RG_OK;
}

/* The shares of the classes in the training data. */
static void prior(answering *x)
{
    double sum = 0;
    for (size_t c = 0; c < x->classes; c++) sum += (double)x->its->counts[c];
    for (size_t c = 0; c < x->classes; c++)
        x->p[c] = sum > 0 ? (double)x->its->counts[c] / sum : 1 / (double)x->classes;
}

static rg_status predict(answering *x)
{
    const int32_t  start[] = { 0, (int32_t)x->ids.count };
    const rg_batch batch = { .examples = 1,
                             .fields = 1,
                             .field = { [RG_INPUT] = { .kind = RG_FIELD_IDS,
                                                       .layout = { .groups = 1, .start = start },
                                                       .ids = x->ids.data } } };
    rg_tape_reset(x->tape, 0);
    const rg_tensor *y = x->model->system->predict(x->tape, x->model, &batch);
    RG_TRY(rg_tape_status(x->tape));
    return softmax(x->p, rg_tensor_row(y, 0), x->classes);
}

/* ----------------------------------------------------------------------------------------------------------- record */

/* Each piece as it stands in the text, without the blank before a word. */
static rg_status add_words(size_t *out_index, rg_record *r, const answering *x, const char *text)
{
    const size_t n = x->ids.count;
    char       **word = rg_alloc_zero((n + 1) * sizeof *word);
    rg_status    status = word ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        size_t begin = x->spans.data[i].begin, end = x->spans.data[i].end;
        while (begin + 1 < end && text[begin] == ' ') begin++;
        if (!(word[i] = rg_format("%.*s", (int)(end - begin), text + begin))) status = RG_ENOMEM;
    }
    if (status == RG_OK)
        status = rg_record_add_labels(out_index, r, "words", RG_LABEL_TOKEN, (const char *const *)word, n);
    for (size_t i = 0; word && i < n; i++) rg_free(word[i]);
    rg_free(word);
    return status;
}

static rg_status collect(rg_record *r, answering *x)
{
    rg_collector *c;
    RG_TRY(rg_collector_new(&c, r, x->model->system->uses, -1));
    rg_tape_set_watcher(x->tape, rg_collector_watcher(c));
    const rg_status status = predict(x);
    rg_tape_set_watcher(x->tape, NULL);
    const rg_status finished = rg_collector_finish(c, NULL);
    return status == RG_OK ? finished : status;
}

static rg_status record(answering *x, const char *line, size_t bytes, const char *label)
{
    rg_record *r = NULL;
    rg_text    text = { 0 };
    rg_status  status = rg_vocab_normalize(&text, x->its->vocab, line, bytes);
    if (status == RG_OK) status = rg_record_new(&r, rg_text_c(&text), "class");
    if (status == RG_OK) status = add_words(NULL, r, x, rg_text_c(&text));
    if (status == RG_OK) status = rg_record_add_labels(NULL, r, "class", RG_LABEL_TOKEN, &label, 1);
    if (status == RG_OK) status = rg_record_add_text(r, "source", line, 0, false);
    if (status == RG_OK) status = rg_record_add_text(r, "output", label, 0, true);
    if (status == RG_OK && x->ids.count) status = collect(r, x);
    if (status == RG_OK) status = x->sink->record(x->sink->context, r);
    x->recorded = true;
    rg_record_free(r);
    rg_text_free(&text);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

static void remark(const answering *x, uint64_t number, const char *what)
{
    char line[160];
    snprintf(line, sizeof line, "text %llu %s", (unsigned long long)number, what);
    if (x->sink->note) x->sink->note(x->sink->context, line);
}

/* Of equals the class that comes first. p is used up. */
static rg_status answer_row(answering *x, const char **out_label)
{
    rg_value cells[2 * MOST_TOP] = { { 0 } };
    for (size_t k = 0; k < x->top; k++) {
        size_t best = 0;
        for (size_t c = 1; c < x->classes; c++)
            if (x->p[c] > x->p[best]) best = c;
        cells[2 * k] = (rg_value){ .text = rg_names_get(x->its->names, (int32_t)best) };
        cells[2 * k + 1] = (rg_value){ .number = x->p[best], .digits = 4 };
        x->p[best] = -1;
    }
    *out_label = cells[0].text;
    return x->sink->row(x->sink->context, cells);
}

static rg_status answer_text(void *context, const char *line, size_t bytes, uint64_t number)
{
    answering   *x = context;
    const size_t longest = x->model->longest;
    const char  *label;
    x->ids.count = x->spans.count = 0;
    RG_TRY(rg_vocab_encode(&x->ids, &x->spans, x->its->vocab, line, bytes));
    if (longest && x->ids.count > longest) {
        remark(x, number, "is longer than the model's positions: its end was left out");
        x->ids.count = longest;
    }
    if (x->ids.count) RG_TRY(predict(x));
    else {
        remark(x, number, "is empty: answered with the most frequent class of the training data");
        prior(x);
    }
    RG_TRY(answer_row(x, &label));
    return x->sink->record && !x->recorded ? record(x, line, bytes, label) : RG_OK;
}

/* label, probability, label-2, probability-2, ... */
static rg_status name_columns(const answering *x)
{
    char        names[2 * MOST_TOP][20];
    const char *list[2 * MOST_TOP];
    for (size_t k = 0; k < x->top; k++) {
        char behind[8] = "";
        if (k) snprintf(behind, sizeof behind, "-%u", (unsigned)(k + 1) % 1000);
        snprintf(names[2 * k], sizeof *names, "label%s", behind);
        snprintf(names[2 * k + 1], sizeof *names, "probability%s", behind);
        list[2 * k] = names[2 * k];
        list[2 * k + 1] = names[2 * k + 1];
    }
    return x->sink->columns(x->sink->context, list, 2 * x->top);
}

rg_status rg_classify_answer(const rg_model *m, const rg_question *q)
{
    const rg_tape_config config = { .record = false };
    const size_t         top = (size_t)((const rg_classify_asking *)q->options)->top;
    answering            x = { .model = m, .its = m->assets, .sink = q->sink, .classes = rg_model_size(m, "classes") };
    x.top = top < x.classes ? top : x.classes;
    x.p = rg_alloc_array(x.classes, sizeof *x.p);
    rg_status status = x.p ? rg_tape_new(&x.tape, &config) : RG_ENOMEM;
    if (status == RG_OK) status = name_columns(&x);
    if (status == RG_OK) status = rg_question_texts(q, answer_text, &x);
    rg_tape_free(x.tape);
    rg_ids_free(&x.ids);
    rg_spans_free(&x.spans);
    rg_free(x.p);
    return status;
}
