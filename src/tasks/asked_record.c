/* asked_record.c - the record of an answer: the input, what the model says of it, and what it attended to; and
 * answers that are texts. */
#include <string.h>

#include "regard/supervised.h"
#include "regard/view.h"
#include "tasks/asked_explain.h"

rg_status rg_asked_record(rg_record **out, const rg_asked *asked, const char *kind, const char *answer)
{
    const char *given = asked->text ? asked->text : asked->name;
    RG_TRY(rg_record_new(out, given, kind));
    RG_TRY(rg_record_add_text(*out, "source", given, 0, false));
    return rg_record_add_text(*out, "output", answer, 0, true);
}

static rg_status collect(rg_record *record, const rg_model *m, const rg_asked *asked)
{
    rg_collector *c;
    RG_TRY(rg_collector_new(&c, record, m->system->uses, -1));
    rg_tape_set_watcher(asked->tape, rg_collector_watcher(c));
    rg_tape_reset(asked->tape, 0);
    m->system->predict(asked->tape, m, asked->batch);
    const rg_status status = rg_tape_status(asked->tape);
    rg_tape_set_watcher(asked->tape, NULL);
    const rg_status finished = rg_collector_finish(c, NULL);
    return status == RG_OK ? finished : status;
}

rg_status rg_asked_collect(rg_record *record, const rg_model *m, const rg_asked *asked, const char *outputs)
{
    if (rg_explain_attends(asked->explain)) RG_TRY(collect(record, m, asked));
    return asked->explain ? rg_asked__explain(record, m, asked, outputs) : RG_OK;
}

static const char blanks[] = " \t\n\r";

static size_t count_words(const char *text)
{
    size_t n = 0;
    for (; *(text += strspn(text, blanks)); n++) text += strcspn(text, blanks);
    return n;
}

rg_status rg_record_add_words(rg_record *record, const char *name, const char *text)
{
    char             *copy = rg_strdup(text);
    const char      **word = copy ? rg_alloc_array(strlen(text) + 1, sizeof *word) : NULL;
    size_t            n = 0;
    for (char *at = copy; word && *(at += strspn(at, blanks)); n++) {
        word[n] = at;
        at += strcspn(at, blanks);
        if (*at) *at++ = '\0';
    }
    const rg_status status = word ? rg_record_add_labels(NULL, record, name, RG_LABEL_TOKEN, word, n) : RG_ENOMEM;
    rg_free(word);
    rg_free(copy);
    return status;
}

rg_status rg_record_add_tokens(rg_record *record, const char *name, const rg_vocab *vocab, const rg_asked *asked)
{
    const rg_field *text = asked->batch ? &asked->batch->field[RG_INPUT] : NULL;
    const size_t    first = text ? (size_t)text->layout.start[asked->example] : 0,
                 n = text ? (size_t)text->layout.start[asked->example + 1] - first : 0;
    if (asked->text && count_words(asked->text) == n) return rg_record_add_words(record, name, asked->text); /* as they were written */
    const char **token = rg_alloc_array(n + 1, sizeof *token);
    for (size_t i = 0; token && i < n; i++) token[i] = rg_vocab_piece(vocab, text->ids[first + i]);
    const rg_status status = token ? rg_record_add_labels(NULL, record, name, RG_LABEL_TOKEN, token, n) : RG_ENOMEM;
    rg_free(token);
    return status;
}

/* ------------------------------------------------------------------------------------------------- answers of texts */

typedef struct {
    const rg_model    *model;
    const rg_question *question;
    const rg_vocab    *vocab;
    const char        *column;
    rg_say            *say;
    rg_text            answer;
    bool               recorded;
} texts;

static rg_status give_record(texts *x, const rg_asked *asked)
{
    const rg_sink *sink = x->question->sink;
    rg_record     *r = NULL;
    rg_status      status = rg_asked_record(&r, asked, x->column, rg_text_c(&x->answer));
    if (status == RG_OK) status = rg_record_add_tokens(r, "words", x->vocab, asked);
    if (status == RG_OK) status = rg_record_add_words(r, x->column, rg_text_c(&x->answer));
    if (status == RG_OK && asked->batch) status = rg_asked_collect(r, x->model, asked, x->column);
    if (status == RG_OK) status = sink->record(sink->context, r);
    x->recorded = true;
    rg_record_free(r);
    return status;
}

static rg_status give_text(void *context, const rg_asked *asked)
{
    texts         *x = context;
    const rg_sink *sink = x->question->sink;
    rg_text_clear(&x->answer);
    RG_TRY(x->say(&x->answer, x->model, asked));
    RG_TRY(sink->row(sink->context, &(rg_value){ .text = rg_text_c(&x->answer) }));
    return sink->record && !x->recorded ? give_record(x, asked) : RG_OK;
}

rg_status rg_supervised_answer_texts(const rg_model *m, const rg_question *q, const rg_field_spec *input,
                                     const char *column, rg_say *say)
{
    texts     x = { .model = m, .question = q, .vocab = input->vocab, .column = column, .say = say };
    rg_status status = q->sink->columns(q->sink->context, &column, 1);
    if (status == RG_OK) status = rg_supervised_answer(m, q, input, give_text, &x);
    rg_text_free(&x.answer);
    return status;
}
