/* caption_answer.c - pictures in words: one row per answer, in order; the record of the first shows where each word
 * looked. */
#include <string.h>

#include "regard/view.h"
#include "tasks/asked_explain.h"
#include "tasks/caption.h"

const rg_option rg_caption_asking_rows[] = { { RG_OPTION_INT, "beam-size", offsetof(rg_caption_asking, beam), "5",
                                               "hypotheses kept by the search; 1 is greedy", 'b', "[1,1000]", NULL },
                                             { RG_OPTION_INT, "n-best", offsetof(rg_caption_asking, n_best), "1",
                                               "answers per picture", 0, "[1,1000]", NULL },
                                             RG_OPTION_END };

typedef struct {
    const rg_model          *model;
    const rg_question       *question;
    const rg_caption_asking *asking;
    rg_search               *search;
    const rg_answers        *answers; /* of the batch at hand */
    rg_text                  text;
    bool                     recorded;
} answering;

/* ----------------------------------------------------------------------------------------------------------- record */

/* The pieces of an answer, and its end unless it was cut. */
static rg_status add_pieces(rg_record *r, const rg_vocab *vocab, const rg_answer *a)
{
    static const char word_start[] = "\xe2\x96\x81"; /* SentencePiece's blank */
    const char      **label = rg_alloc_array(a->length + 1, sizeof *label);
    if (!label) return RG_ENOMEM;
    for (size_t i = 0; i < a->length; i++) {
        label[i] = rg_vocab_piece(vocab, a->tokens[i]);
        if (strncmp(label[i], word_start, 3) == 0 && label[i][3]) label[i] += 3;
    }
    label[a->length] = "</s>";
    const rg_status status = rg_record_add_labels(NULL, r, "output", RG_LABEL_TOKEN, label, a->length + !a->cut);
    rg_free(label);
    return status;
}

static rg_status collect(rg_record *r, const rg_model *m, rg_tape *t, const rg_batch *one)
{
    rg_collector *c;
    RG_TRY(rg_collector_new(&c, r, m->system->uses, -1));
    rg_tape_reset(t, 0);
    rg_tape_set_watcher(t, rg_collector_watcher(c));
    m->system->loss(t, m, one);
    rg_tape_set_watcher(t, NULL);
    const rg_status status = rg_tape_status(t), collected = rg_collector_finish(c, NULL);
    return status == RG_OK ? collected : status;
}

/* Why each token was written, by the cells of the picture. */
static rg_status explain(rg_record *r, const rg_model *m, const rg_batch *one, size_t target,
                         const rg_explain_options *o)
{
    const rg_vocab *vocab = ((const rg_pictured_assets *)m->assets)->vocab;
    const rg_field *f = &one->field[0], *words = &one->field[target];
    const size_t    down = rg_model_size(m, "cells-down"), across = rg_model_size(m, "cells-across");
    rg_subject      s = { .model = m,
                          .batch = one,
                          .copies = true,
                          .input = 0,
                          .rows = rg_field_rows(f),
                          .inputs = down * across,
                          .mean = true,
                          .keys = "cells",
                          .writes = true,
                          .target = target,
                          .answers = rg_field_rows(words),
                          .outputs = rg_field_rows(words),
                          .word = words->ids,
                          .against = -1,
                          .against_text = o->against,
                          .row_labels = rg_labels__named(r, "output"),
                          .col_labels = rg_labels__named(r, "cells"),
                          .hypothesis = -1 };
    if (s.row_labels >= r->label_lists || s.col_labels >= r->label_lists || target != RG_TARGET ||
        r->labels[s.row_labels].count != s.outputs || r->labels[s.col_labels].count != s.inputs || !f->layout.height)
        return rg_fail(RG_EMATCH, "--by: what %s reads has no parts with names", m->system->name);
    if (o->against && *o->against && (s.against = rg_vocab_find(vocab, o->against)) == rg_vocab_unk(vocab))
        return rg_fail(RG_EINVAL, "--against %s: the model does not know this word", o->against);
    int32_t *unit = rg_cells__of_pixels(f->layout.height, f->layout.width, down, across);
    s.unit = unit;
    const rg_status status = unit ? rg_explain(r, &s, o) : RG_ENOMEM;
    rg_free(unit);
    return status;
}

/* The answer through the model as if it were the reference, with somebody watching. */
static rg_status watch(rg_record *r, const rg_model *m, const rg_asked *asked, rg_batch one, size_t target,
                       const rg_answer *a)
{
    const rg_vocab *vocab = ((const rg_pictured_assets *)m->assets)->vocab;
    const size_t    rows = a->length + !a->cut;
    int32_t        *ids = rg_alloc_array(2 * rows + 2, sizeof *ids), *previous = ids + rows;
    const int32_t   start[2] = { 0, (int32_t)rows };
    if (!ids) return RG_ENOMEM;
    memcpy(ids, a->tokens, a->length * sizeof *ids);
    if (!a->cut) ids[a->length] = rg_vocab_eos(vocab);
    previous[0] = rg_vocab_bos(vocab);
    memcpy(previous + 1, ids, (rows ? rows - 1 : 0) * sizeof *ids);
    one.fields = one.fields > target ? one.fields : target + 1;
    one.field[target] =
        (rg_field){ .kind = RG_FIELD_IDS, .layout = { .groups = 1, .start = start }, .ids = ids, .previous = previous };
    rg_status status = rg_explain_attends(asked->explain) ? collect(r, m, asked->tape, &one) : RG_OK;
    if (status == RG_OK && asked->explain) status = explain(r, m, &one, target, asked->explain);
    rg_free(ids);
    return status;
}

rg_status rg_caption_record(rg_record **out, const rg_model *m, const rg_asked *asked, const rg_batch *one,
                            size_t target, const rg_answer *a, const char *text)
{
    rg_record *r = NULL;
    rg_status  status = rg_record_new(&r, text, "caption");
    if (status == RG_OK) status = rg_pictured_add_cells(r, m, asked);
    if (status == RG_OK) status = add_pieces(r, ((const rg_pictured_assets *)m->assets)->vocab, a);
    if (status == RG_OK && asked->name) status = rg_record_add_text(r, "source", asked->name, 0, false);
    if (status == RG_OK) status = rg_record_add_text(r, "output", text, a->score, true);
    if (status == RG_OK && a->length + !a->cut) status = watch(r, m, asked, *one, target, a);
    if (status == RG_OK) *out = r;
    else rg_record_free(r);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

static rg_status record(answering *x, const rg_asked *asked, const rg_answer *a)
{
    const rg_sink *sink = x->question->sink;
    int32_t        start[2 * RG_BATCH_FIELDS];
    const rg_batch one = rg_pictured_one(start, asked->batch, asked->example);
    rg_record     *r = NULL;
    RG_TRY(rg_pictured_text(&x->text, ((const rg_pictured_assets *)x->model->assets)->vocab, a));
    RG_TRY(rg_caption_record(&r, x->model, asked, &one, RG_TARGET, a, rg_text_c(&x->text)));
    const rg_status status = sink->record(sink->context, r);
    rg_record_free(r);
    x->recorded = true;
    return status;
}

static rg_status answer_one(void *context, const rg_asked *asked)
{
    answering     *x = context;
    const rg_sink *sink = x->question->sink;
    if (asked->fault) return rg_asked_fault(x->question, asked, 3);
    if (!asked->batch) return rg_fail(RG_EFORMAT, "%s: the file is empty", asked->name);
    if (!asked->example) {
        const rg_search_config c = rg_caption_search(x->model, (size_t)x->asking->beam, (size_t)x->asking->n_best);
        RG_TRY(rg_search_run(&x->answers, x->search, &c, &asked->batch->field[RG_SOURCE], asked->batch->lines, NULL));
    }
    const rg_answers *a = &x->answers[asked->example];
    for (size_t k = 0; k < a->count; k++) {
        RG_TRY(rg_pictured_text(&x->text, ((const rg_pictured_assets *)x->model->assets)->vocab, &a->answer[k]));
        const rg_value cells[] = { { .text = asked->name ? asked->name : "" },
                                   { .text = rg_text_c(&x->text) },
                                   { .number = a->answer[k].score, .digits = 4 } };
        RG_TRY(sink->row(sink->context, cells));
    }
    return sink->record && !x->recorded && a->count ? record(x, asked, &a->answer[0]) : RG_OK;
}

rg_status rg_caption_answer(const rg_model *m, const rg_question *q)
{
    static const char *const names[] = { "input", "text", "score" };
    const rg_field_spec      spec = rg_pictured_spec(m);
    answering                x = { .model = m, .question = q, .asking = q->options };
    rg_team                 *team = NULL;
    if (x.asking->n_best > x.asking->beam)
        return rg_fail(RG_EINVAL, "--n-best is %lld; --beam-size %lld keeps no more than that many",
                       (long long)x.asking->n_best, (long long)x.asking->beam);
    rg_status status = q->threads > 1 ? rg_team_new(&team, q->threads) : RG_OK;
    if (status == RG_OK) status = rg_search_new(&x.search, &m, 1, team);
    if (status == RG_OK) status = q->sink->columns(q->sink->context, names, sizeof names / sizeof *names);
    if (status == RG_OK) status = rg_supervised_answer(m, q, &spec, answer_one, &x);
    rg_search_free(x.search);
    rg_team_free(team);
    rg_text_free(&x.text);
    return status;
}
