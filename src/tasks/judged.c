/* judged.c - answers beside the labels of validation data: classes of examples, tags of words, numbers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "regard/supervised.h"

enum { SHOWN_CLASSES = 10 }; /* more have their table at the end alone */

int32_t rg_best_class(const rg_tensor *y, size_t row)
{
    const rg_real *x = rg_tensor_row(y, row);
    size_t         best = 0;
    for (size_t c = 1; c < rg_tensor_cols(y); c++)
        if (x[c] > x[best]) best = c;
    return (int32_t)best;
}

void rg_judged_fini(rg_judged *j) { rg_confusion_fini(&j->confusion); }

typedef struct {
    rg_judged      *out;
    const rg_names *names;
} judging;

/* Spans of a sentence's words: those whose first token has a tag. */
static rg_status compare_spans(const judging *x, rg_tape *t, const rg_tensor *y, const rg_batch *b)
{
    const rg_field *tags = &b->field[RG_LABEL];
    const size_t    most = rg_field_rows(tags) + 1;
    int32_t        *gold = rg_tape_memory(t, 2 * most * sizeof *gold), *said = gold ? gold + most : NULL;
    for (size_t g = 0; gold && g < b->examples; g++) {
        size_t n = 0;
        for (int32_t i = tags->layout.start[g]; i < tags->layout.start[g + 1]; i++)
            if (tags->ids[i] >= 0) gold[n] = tags->ids[i], said[n++] = rg_best_class(y, (size_t)i);
        rg_spans_compare(&x->out->spans, gold, said, n, x->names);
    }
    return rg_tape_status(t);
}

/* Answers have a row per word where labels are tags, and a row per example otherwise. */
static rg_status judge_batch(void *context, rg_tape *t, rg_tensor *y, const rg_batch *b)
{
    const judging  *x = context;
    rg_judged      *j = x->out;
    const rg_field *label = &b->field[RG_LABEL];
    const bool      tags = label->kind == RG_FIELD_TAGS;
    const rg_loss   loss = tags ? (rg_loss){ rg_cross_entropy(t, y, label->ids, 0), 0 } : rg_compare_classes(t, b, y);
    RG_TRY(rg_tape_status(t));
    j->loss += (double)rg_tensor_at(loss.sum, 0, 0);
    for (size_t g = 0; g < b->examples; g++)
        for (int32_t i = label->layout.start[g]; i < label->layout.start[g + 1]; i++) {
            const size_t row = tags ? (size_t)i : g;
            if (label->kind == RG_FIELD_NUMBERS)
                j->absolute += fabs((double)(rg_tensor_at(y, row, 0) - label->values[i]));
            else if (label->ids[i] < 0) continue; /* a word goes on */
            else rg_confusion_add(&j->confusion, label->ids[i], rg_best_class(y, row));
            j->count++;
        }
    j->has_spans = tags && rg_tags_are_bio(x->names);
    return j->has_spans ? compare_spans(x, t, y, b) : RG_OK;
}

rg_status rg_supervised_compare(rg_judged *out, rg_run *run, const rg_names *names)
{
    judging x = { out, names };
    *out = (rg_judged){ 0 };
    RG_TRY(rg_confusion_init(&out->confusion, names ? rg_names_count(names) : 0));
    return rg_supervised_judge(run, judge_batch, &x);
}

rg_status rg_judged_metrics(rg_metrics *out, const rg_judged *j)
{
    if (!j->confusion.classes) {
        RG_TRY(rg_metrics_add(out, "mse", j->loss / j->count, false));
        return rg_metrics_add(out, "mae", j->absolute / j->count, false);
    }
    if (j->has_spans) RG_TRY(rg_metrics_add(out, "span-f1", rg_set_f1(j->spans), true));
    RG_TRY(rg_metrics_add(out, "accuracy", rg_confusion_accuracy(&j->confusion), true));
    RG_TRY(rg_metrics_add(out, "loss", j->loss / j->count, false));
    return rg_metrics_add(out, "macro-f1", rg_confusion_macro_f1(&j->confusion), true);
}

static rg_status tell_table(const rg_run *run, const rg_judged *j, const rg_names *names)
{
    rg_text   table = { 0 };
    rg_status status = names ? rg_confusion_print(&table, &j->confusion, names) : RG_OK;
    if (status == RG_OK) rg_tell_lines(run->report, rg_text_c(&table));
    rg_text_free(&table);
    return status;
}

rg_status rg_supervised_judge_labels(rg_metrics *out, rg_run *run, const rg_names *names)
{
    rg_judged j;
    rg_status status = rg_supervised_compare(&j, run, names);
    if (status == RG_OK) status = rg_judged_metrics(out, &j);
    if (status == RG_OK && j.confusion.classes <= SHOWN_CLASSES) status = tell_table(run, &j, names);
    rg_judged_fini(&j);
    return status;
}

/* One set, its metrics as OF-accuracy, ... */
static rg_status tell_set(rg_run *run, const rg_names *names, const char *of)
{
    rg_metrics metrics = { 0 };
    rg_judged  j;
    rg_status  status = rg_supervised_compare(&j, run, names);
    if (status == RG_OK) status = rg_judged_metrics(&metrics, &j);
    if (status == RG_OK && names) rg_tell(run->report, "%s data:", of);
    if (status == RG_OK) status = tell_table(run, &j, names);
    for (size_t i = 0; status == RG_OK && i < metrics.count; i++) {
        if (strcmp(metrics.metric[i].name, "loss") == 0) continue;
        char name[RG_METRIC_NAME];
        snprintf(name, sizeof name, "%s-%.*s", of, RG_METRIC_NAME - 12, metrics.metric[i].name);
        status = rg_metrics_add(&run->final, name, metrics.metric[i].value, metrics.metric[i].higher);
    }
    rg_judged_fini(&j);
    return status;
}

rg_status rg_supervised_tell_classes(rg_run *run, const rg_names *names)
{
    rg_supervised *d = run->data;
    RG_TRY(rg_metrics_add(&run->final, "parameters", (double)rg_params_numbers(run->model->params), false));
    if (d->valid) RG_TRY(tell_set(run, names, "valid"));
    if (!d->test) return RG_OK;
    rg_examples *valid = d->valid;
    d->valid = d->test; /* a pass over the other set */
    const rg_status status = tell_set(run, names, "test");
    d->valid = valid;
    return status;
}
