/* language_answer.c - a language model says what comes next: the most likely pieces behind a text and their
 * probabilities, one row per text. The record is of the first text: its pieces, and what each attended to where the
 * system attends. */
#include <math.h>
#include <string.h>

#include "regard/view.h"
#include "tasks/batches.h"
#include "tasks/language.h"

enum { MOST_TOP = 100 };

#define AT(field) offsetof(rg_language_asking, field)
const rg_option rg_language_asking_rows[] = {
    { RG_OPTION_INT, "top", AT(top), "1", "so many next tokens per text, the most likely first", 0, "[1,100]" },
    { RG_OPTION_BOOL, "gates", AT(gates), "false",
      "show what the gates of recurrent layers did instead of what was attended to", 0, NULL },
    RG_OPTION_END
};

typedef struct {
    const rg_model          *model;
    const rg_language_model *its;
    const rg_sink           *sink;
    rg_decoding             *decoding;
    rg_ids                   ids; /* what stands before the text, then the text */
    double                  *p;   /* of each piece that could follow            */
    size_t                   pieces, top;
    bool                     gates, recorded;
    const rg_explain_options *explain;
} answering;

/* Probabilities of what follows ids[0 .. count-1], step by step. */
static rg_status next_piece(answering *x)
{
    const rg_field source = { .layout.groups = 1 };
    const rg_real *logits = NULL;
    const int32_t  same = 0;
    size_t         ld;
    RG_TRY(rg_decoding_start(x->decoding, &source));
    for (size_t i = 0; i < x->ids.count; i++) {
        if (i) RG_TRY(rg_decoding_keep(x->decoding, &same, 1));
        RG_TRY(rg_decoding_step(&logits, &ld, x->decoding, &x->ids.data[i]));
    }
    if (!logits) return rg_fail(RG_EINVAL, "nothing stands before what is to be predicted");
    double most = -INFINITY, sum = 0;
    for (size_t c = 0; c < x->pieces; c++) {
        if (!isfinite((double)logits[c]))
            return rg_fail(RG_ENUMBER,
                           "the score of token %zu is not finite; the model's weights give infinite numbers", c);
        most = fmax(most, (double)logits[c]);
    }
    for (size_t c = 0; c < x->pieces; c++) sum += x->p[c] = exp((double)logits[c] - most);
    for (size_t c = 0; c < x->pieces; c++) x->p[c] /= sum;
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

/* Of equals the piece with the smaller number. p is used up. */
static rg_status answer_row(answering *x, int32_t *out_best)
{
    rg_value cells[2 * MOST_TOP] = { { 0 } };
    for (size_t k = 0; k < x->top; k++) {
        size_t best = 0;
        for (size_t c = 1; c < x->pieces; c++)
            if (x->p[c] > x->p[best]) best = c;
        cells[2 * k] = (rg_value){ .text = rg_vocab_piece(x->its->vocab, (int32_t)best) };
        cells[2 * k + 1] = (rg_value){ .number = x->p[best], .digits = 4 };
        x->p[best] = -1;
        if (!k) *out_best = (int32_t)best;
    }
    return x->sink->row(x->sink->context, cells);
}

static rg_status answer_text(void *context, const char *line, size_t bytes, uint64_t number)
{
    answering  *x = context;
    int32_t     best = 0;
    (void)number;
    x->ids.count = 0;
    RG_TRY(rg_ids_add(&x->ids, (int32_t)rg_model_size(x->model, "bos")));
    RG_TRY(rg_vocab_encode(&x->ids, NULL, x->its->vocab, line, bytes));
    RG_TRY(next_piece(x));
    RG_TRY(answer_row(x, &best));
    if (!x->sink->record || x->recorded) return RG_OK;
    x->recorded = true;
    rg_record *r;
    RG_TRY(rg_language_record(&r, x->model, &x->ids, line, best, x->gates, x->explain));
    const rg_status status = x->sink->record(x->sink->context, r);
    rg_record_free(r);
    return status;
}

/* next, probability, next-2, probability-2, ... */
static rg_status name_columns(const answering *x)
{
    char        names[2 * MOST_TOP][20];
    const char *list[2 * MOST_TOP];
    for (size_t k = 0; k < x->top; k++) {
        char behind[8] = "";
        if (k) snprintf(behind, sizeof behind, "-%u", (unsigned)(k + 1) % 1000);
        snprintf(names[2 * k], sizeof *names, "next%s", behind);
        snprintf(names[2 * k + 1], sizeof *names, "probability%s", behind);
        list[2 * k] = names[2 * k];
        list[2 * k + 1] = names[2 * k + 1];
    }
    return x->sink->columns(x->sink->context, list, 2 * x->top);
}

rg_status rg_language_answer(const rg_model *m, const rg_question *q)
{
    if (rg_language_counts(m)) return rg_numbers_answer(m, q);
    if (rg_language_masks(m->system)) return rg_language_fill(m, q);
    const rg_language_asking *asked = q->options;
    const size_t              top = (size_t)asked->top;
    answering    x = { .model = m, .its = m->assets, .sink = q->sink, .pieces = rg_model_size(m, "target-vocabulary") };
    rg_team     *team = NULL;
    x.top = top < x.pieces ? top : x.pieces;
    x.gates = asked->gates;
    x.explain = q->explain;
    x.p = rg_alloc_array(x.pieces, sizeof *x.p);
    rg_status status = x.p ? rg_team_new(&team, q->threads > 0 ? q->threads : 1) : RG_ENOMEM;
    if (status == RG_OK) status = rg_decoding_new(&x.decoding, m, team);
    if (status == RG_OK) status = name_columns(&x);
    if (status == RG_OK) status = rg_question_texts(q, answer_text, &x);
    rg_decoding_free(x.decoding);
    rg_team_free(team);
    rg_ids_free(&x.ids);
    rg_free(x.p);
    return status;
}
