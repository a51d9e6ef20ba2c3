/* pictured_sets.c - see pictured_sets.h. */
#include "tasks/pictured_sets.h"

#include <string.h>

#include "regard/view.h"
#include "tasks/asked_explain.h"

#include <string.h>

#include "regard/explain.h"
#include "regard/view.h"

/* The labels of a cell that were learned, between |. */
static rg_status keep_known(rg_text *cell, const rg_names *names)
{
    rg_text   kept = { 0 };
    rg_status status = RG_OK;
    for (const char *at = rg_text_c(cell); status == RG_OK && *at;) {
        size_t bytes = strcspn(at, "|\n"), from = 0, end = bytes;
        while (from < end && at[from] == ' ') from++;
        while (end > from && at[end - 1] == ' ') end--;
        if (end > from && rg_names_find(names, at + from, end - from) >= 0)
            status = rg_text_print(&kept, "%s%.*s", kept.length ? "|" : "", (int)(end - from), at + from);
        at += bytes + (at[bytes] != 0);
    }
    if (status == RG_OK) rg_text_clear(cell);
    if (status == RG_OK) status = rg_text_add(cell, rg_text_c(&kept), kept.length);
    rg_text_free(&kept);
    return status;
}

rg_status rg_pictured_learn_sets(rg_run *run, size_t column, uint64_t min_count)
{
    rg_pictured_data   *d = run->data;
    rg_pictured_assets *a = run->assets;
    RG_TRY(rg_pictured_names(&a->names, &a->counts, &d->table[0], column, '|', min_count, "labels"));
    for (size_t part = 0; part < 3; part++)
        for (size_t i = 0; i < d->table[part].names.count; i++)
            RG_TRY(keep_known(&d->table[part].cell[column][i], a->names));
    return RG_OK;
}

rg_status rg_pictured_most_members(rg_sizes *sizes, rg_examples *store, size_t field)
{
    size_t most = 1;
    for (uint64_t i = 0; i < rg_examples_count(store); i++) {
        rg_batch one;
        RG_TRY(rg_examples_one(&one, store, i));
        if (rg_field_rows(&one.field[field]) > most) most = rg_field_rows(&one.field[field]);
    }
    return rg_sizes_put(sizes, "most-members", most);
}

rg_status rg_set_sums_add(rg_set_sums *s, const rg_tensor *y, const rg_field *set)
{
    const size_t C = rg_tensor_cols(y);
    int32_t     *said = rg_alloc_array(C + 1, sizeof *said);
    rg_status    status = said ? RG_OK : RG_ENOMEM;
    for (size_t g = 0; status == RG_OK && g < set->layout.groups; g++) {
        const int32_t from = set->layout.start[g];
        rg_set_counts one = { 0 };
        size_t        n = 0;
        for (size_t c = 0; c < C; c++)
            if (rg_tensor_at(y, g, c) > (rg_real)0.5) said[n++] = (int32_t)c;
        status = rg_set_compare(&one, said, n, set->ids + from, (size_t)(set->layout.start[g + 1] - from));
        s->counts.hit += one.hit, s->counts.extra += one.extra, s->counts.missed += one.missed;
        s->f1 += rg_set_f1(one);
        s->iou += rg_set_iou(one);
        s->exact += !one.extra && !one.missed;
        s->pictures++;
    }
    rg_free(said);
    return status;
}

rg_status rg_set_sums_metrics(rg_metrics *out, const rg_set_sums *s, const char *prefix)
{
    const struct {
        const char *name;
        double      value;
    } all[] = { { "f1", rg_set_f1(s->counts) },
                { "iou", rg_set_iou(s->counts) },
                { "f1-picture", s->f1 / s->pictures },
                { "exact", s->exact / s->pictures } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%s", prefix, all[i].name);
        RG_TRY(rg_metrics_add(out, name, all[i].value, true));
    }
    return RG_OK;
}

rg_status rg_set_text(rg_text *out, const rg_tensor *y, size_t row, const rg_names *names)
{
    rg_text_clear(out);
    for (size_t c = 0; c < rg_tensor_cols(y); c++)
        if (rg_tensor_at(y, row, c) > (rg_real)0.5)
            RG_TRY(rg_text_print(out, "%s%s", out->length ? "|" : "", rg_names_get(names, (int32_t)c)));
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------------- record */

static rg_status collect(rg_record *r, const rg_model *m, rg_set_loss *loss, rg_tape *t, const rg_batch *one)
{
    rg_collector *c;
    RG_TRY(rg_collector_new(&c, r, m->system->uses, -1));
    rg_tape_set_watcher(t, rg_collector_watcher(c));
    rg_tape_reset(t, 0);
    loss(t, m, one);
    rg_tape_set_watcher(t, NULL);
    const rg_status status = rg_tape_status(t), collected = rg_collector_finish(c, NULL);
    return status == RG_OK ? collected : status;
}

/* Rows of answers that a pass over the labels gives, and how wide they are: a row per label and the end of those that
 * are written one by one, (0, x) per label of those that are found at once. */
static rg_status count_answers(size_t *rows, size_t *columns, const rg_model *m, rg_set_loss *loss,
                               const rg_asked *asked, const rg_batch *one)
{
    const rg_subject s = { .model = m, .pass = loss, .logits = "logits" };
    return rg_explain_answers(rows, columns, &s, asked->tape, one);
}

/* Why each label is a member, by the cells of the picture. */
static rg_status explain(rg_record *r, const rg_model *m, rg_set_loss *loss, const rg_asked *asked, const rg_batch *one)
{
    const rg_names *names = ((const rg_pictured_assets *)m->assets)->names;
    const rg_field *f = &one->field[RG_INPUT], *set = &one->field[RG_LABEL];
    const size_t    n = rg_field_rows(set), down = rg_model_size(m, "cells-down"),
                 across = rg_model_size(m, "cells-across");
    size_t          rows = 0, columns = 0;
    RG_TRY(count_answers(&rows, &columns, m, loss, asked, one));
    const bool at_once = rows == n && columns == 2;
    if (!at_once && rows != n + 1)
        return rg_fail(RG_ESHAPE, "%zu rows of answers for %zu labels and the end", rows, n);
    int32_t   *unit = f->layout.height ? rg_cells__of_pixels(f->layout.height, f->layout.width, down, across) : NULL;
    int32_t   *word = rg_alloc_array(n + 2, sizeof *word);
    const char **label = rg_alloc_array(n + 1, sizeof *label);
    rg_subject   s = { .model = m,
                       .batch = one,
                       .copies = true,
                       .input = RG_INPUT,
                       .rows = rg_field_rows(f),
                       .inputs = down * across,
                       .unit = unit,
                       .mean = true,
                       .keys = "cells",
                       .pass = loss,
                       .logits = "logits",
                       .answers = rows,
                       .outputs = rows,
                       .word = word,
                       .against = -1,
                       .col_labels = rg_labels__named(r, "cells"),
                       .hypothesis = -1 };
    rg_status status = word && label ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        word[i] = at_once ? 1 : set->ids[i];
        label[i] = rg_names_get(names, set->ids[i]);
    }
    if (word) word[n] = (int32_t)rg_names_count(names); /* the end */
    if (status == RG_OK && (!unit || s.col_labels >= r->label_lists || r->labels[s.col_labels].count != s.inputs))
        status = rg_fail(RG_EMATCH, "--by: what %s reads has no parts with names", m->system->name);
    if (status == RG_OK && asked->explain->against && *asked->explain->against) {
        s.against_text = asked->explain->against;
        s.against = at_once ? -1 : rg_names_find(names, s.against_text, strlen(s.against_text));
        if (s.against < 0)
            status = rg_fail(RG_EINVAL, at_once ? "--against %s: labels are found at once, each by itself"
                                                : "--against %s: the model has no such label", s.against_text);
    }
    s.row_labels = rg_labels__named(r, "labels");
    if (status == RG_OK && (s.row_labels >= r->label_lists || r->labels[s.row_labels].count != rows))
        status = rg_record_add_labels(&s.row_labels, r, "members", RG_LABEL_TOKEN, label, n);
    if (status == RG_OK) status = rg_explain(r, &s, asked->explain);
    rg_free(unit);
    rg_free(word);
    rg_free(label);
    return status;
}

/* The labels that were found through the model as if they were given, with somebody watching. */
static rg_status watch(rg_record *r, const rg_model *m, rg_set_loss *loss, const rg_asked *asked, const int32_t *ids,
                       size_t n)
{
    int32_t       starts[2 * RG_BATCH_FIELDS];
    const int32_t start[2] = { 0, (int32_t)n };
    rg_batch      one = rg_pictured_one(starts, asked->batch, asked->example);
    one.fields = 2;
    one.field[RG_LABEL] = (rg_field){ .kind = RG_FIELD_SET, .layout = { .groups = 1, .start = start }, .ids = ids };
    if (rg_explain_attends(asked->explain)) RG_TRY(collect(r, m, loss, asked->tape, &one));
    return asked->explain && n ? explain(r, m, loss, asked, &one) : RG_OK;
}

rg_status rg_set_record(const rg_sink *sink, const rg_model *m, rg_set_loss *loss, const rg_asked *asked,
                        const char *title, const char *note)
{
    const rg_names *names = ((const rg_pictured_assets *)m->assets)->names;
    const size_t    C = rg_names_count(names);
    const char    **label = rg_alloc_array(C + 1, sizeof *label);
    int32_t        *ids = rg_alloc_array(C + 1, sizeof *ids);
    rg_record      *r = NULL;
    size_t          n = 0;
    rg_status       status = label && ids ? RG_OK : RG_ENOMEM;
    if (status == RG_OK) status = rg_asked_record(&r, asked, "set", title);
    if (status == RG_OK && note) status = rg_record_add_text(r, "note", note, 0, false);
    for (size_t c = 0; status == RG_OK && c < C; c++)
        if (rg_tensor_at(asked->answers, asked->example, c) > (rg_real)0.5)
            ids[n] = (int32_t)c, label[n++] = rg_names_get(names, (int32_t)c);
    if (label) label[n] = "end";
    if (status == RG_OK) status = rg_pictured_add_cells(r, m, asked);
    if (status == RG_OK) status = rg_record_add_labels(NULL, r, "labels", RG_LABEL_TOKEN, label, n + 1);
    if (status == RG_OK) status = watch(r, m, loss, asked, ids, n);
    if (status == RG_OK) status = sink->record(sink->context, r);
    rg_record_free(r);
    rg_free(label);
    rg_free(ids);
    return status;
}
