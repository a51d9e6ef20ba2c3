/* asked_explain.c - see asked_explain.h. */
#include "tasks/asked_explain.h"

#include <string.h>

size_t rg_labels__named(const rg_record *r, const char *name)
{
    for (size_t i = 0; i < r->label_lists; i++)
        if (strcmp(r->labels[i].name, name) == 0) return i;
    return RG_RECORD_MAX_LISTS;
}

int32_t *rg_cells__of_pixels(size_t height, size_t width, size_t down, size_t across)
{
    int32_t *cell = rg_alloc_array(height * width + 1, sizeof *cell);
    for (size_t i = 0; cell && i < height * width; i++)
        cell[i] = (int32_t)(i / width * down / height * across + i % width * across / width);
    return cell;
}

int32_t *rg_rows__best(const rg_tensor *y)
{
    int32_t *best = rg_alloc_array(rg_tensor_rows(y) + 1, sizeof *best);
    for (size_t i = 0; best && i < rg_tensor_rows(y); i++) best[i] = rg_best_class(y, i);
    return best;
}

/* What goes in: words, or cells of a picture. */
static rg_status find_inputs(rg_subject *s, int32_t **out_unit, const rg_record *r, const rg_batch *b)
{
    const rg_field *f = &b->field[RG_INPUT];
    s->rows = rg_field_rows(f);
    s->input = RG_INPUT;
    s->col_labels = rg_labels__named(r, "words");
    s->keys = "words";
    if (s->col_labels < r->label_lists && r->labels[s->col_labels].count == s->rows) {
        s->inputs = s->rows;
        return RG_OK;
    }
    const size_t down = rg_model_size(s->model, "cells-down"), across = rg_model_size(s->model, "cells-across");
    s->col_labels = rg_labels__named(r, "cells");
    s->keys = "cells";
    s->mean = true;
    s->inputs = down * across;
    if (s->col_labels >= r->label_lists || !s->inputs || r->labels[s->col_labels].count != s->inputs ||
        !f->layout.height || f->layout.height * f->layout.width != s->rows)
        return rg_fail(RG_EMATCH, "--by: what %s reads has no parts with names", s->model->system->name);
    s->unit = *out_unit = rg_cells__of_pixels(f->layout.height, f->layout.width, down, across);
    return s->unit ? RG_OK : RG_ENOMEM;
}

/* What comes out, and what it is called. */
static rg_status find_outputs(rg_subject *s, rg_record *r, const char *outputs, const rg_names *names)
{
    s->row_labels = rg_labels__named(r, outputs);
    if (s->row_labels < r->label_lists && r->labels[s->row_labels].count == s->outputs) return RG_OK;
    const char **text = rg_alloc_array(s->outputs + 1, sizeof *text);
    if (!text) return RG_ENOMEM;
    for (size_t i = 0; i < s->outputs; i++) text[i] = names ? rg_names_get(names, s->word[i]) : "";
    const rg_status status = rg_record_add_labels(&s->row_labels, r, "answers", RG_LABEL_TOKEN, text, s->outputs);
    rg_free(text);
    return status;
}

static rg_status find_against(rg_subject *s, const rg_asked *asked, const rg_names *names)
{
    const char *word = asked->explain->against;
    s->against = -1;
    s->against_text = word;
    if (!word || !*word) return RG_OK;
    s->against = names ? rg_names_find(names, word, strlen(word)) : -1;
    return s->against >= 0 ? RG_OK : rg_fail(RG_EINVAL, "--against %s: the model has no such class", word);
}

rg_status rg_asked__explain(rg_record *r, const rg_model *m, const rg_asked *asked, const char *outputs)
{
    const rg_names *names = m->system->task->classes ? m->system->task->classes(m) : NULL;
    const rg_batch *b = asked->batch;
    const rg_field *label = b->fields > RG_LABEL ? &b->field[RG_LABEL] : NULL;
    if (label && label->kind != RG_FIELD_CLASS) label = NULL;
    rg_subject s = { .model = m, .batch = b, .copies = true, .hypothesis = -1 };
    int32_t   *unit = NULL, *best = NULL, *seat = NULL;
    if (rg_model_size(m, "regression")) return rg_fail(RG_EMATCH, "--by: %s answers with a number", m->system->name);
    rg_tape_reset(asked->tape, 0);
    const rg_tensor *y = m->system->predict(asked->tape, m, b);
    RG_TRY(rg_tape_status(asked->tape));
    s.outputs = s.answers = rg_tensor_rows(y);
    if (!(best = rg_rows__best(y))) return RG_ENOMEM;
    if (label && rg_field_rows(label) == s.outputs) /* asked about */
        for (size_t i = 0; i < s.outputs; i++) best[i] = label->ids[i] >= 0 ? label->ids[i] : best[i];
    s.word = best;
    rg_status status = find_inputs(&s, &unit, r, b);
    if (status == RG_OK) status = find_outputs(&s, r, outputs, names);
    if (status == RG_OK) status = find_against(&s, asked, names);
    const bool each = !s.unit && s.outputs == s.inputs && s.outputs > 1; /* a class per word */
    s.leave_out = !s.unit && !each;
    if (each || rg_model_size(m, "ends")) { /* where texts stand between <s> and </s>, the first row answers */
        if (!(s.seat = seat = rg_alloc_zero((s.outputs + 1) * sizeof *seat))) status = RG_ENOMEM;
        for (size_t i = 0; status == RG_OK && i < s.outputs && each; i++) seat[i] = (int32_t)i;
    }
    if (status == RG_OK) status = rg_explain(r, &s, asked->explain);
    rg_free(unit);
    rg_free(best);
    rg_free(seat);
    return status;
}
