/* translation_answer.c - a translator answers lines: the translation and its score, one row per answer; the record
 * holds every layer and head of the first line. */
#include <string.h>

#include "regard/view.h"
#include "tasks/batches.h"
#include "tasks/translation.h"

#define AT(field) offsetof(rg_translation_asking, field)

const rg_option rg_translation_asking_rows[] = {
    { RG_OPTION_INT, "beam-size", AT(beam), "4", "hypotheses kept by the search; 1 is greedy", 'b', "[1,1000]" },
    { RG_OPTION_INT, "n-best", AT(n_best), "1", "answers per line", 0, "[1,1000]" },
    { RG_OPTION_INT, "max-length", AT(max_length), "1000", "source tokens read; what is cut is said", 0,
      "[1,1000000]" },
    { RG_OPTION_BOOL, "gates", AT(gates), "false",
      "show what the gates of recurrent layers did instead of what was attended to", 0, NULL },
    RG_OPTION_END
};

typedef struct {
    rg_translator        *translator;
    rg_session           *session;
    rg_session_config     config;
    const rg_question    *question;
    bool                  gates, recorded;
} answering;

/* What was not read, of a line that was cut. */
static void say_cut(char *out, size_t room, const rg_translated *result)
{
    snprintf(out, room, "%zu tokens behind the first %zu were not read (--max-length)", result->cut,
             result->source_length - 1);
}

static rg_status record(answering *x, const rg_translated *result)
{
    rg_record *r = NULL;
    char       cut[120];
    RG_TRY(x->gates ? rg_record_of_gates(&r, x->translator, result)
                    : rg_record_of_heads_explained(&r, x->translator, result, x->question->explain));
    say_cut(cut, sizeof cut, result);
    rg_status status = result->cut ? rg_record_add_text(r, "cut", cut, 0, false) : RG_OK;
    if (status == RG_OK) status = x->question->sink->record(x->question->sink->context, r);
    rg_record_free(r);
    x->recorded = true;
    return status;
}

static rg_status answer_line(void *context, const char *line, size_t bytes, uint64_t number)
{
    answering           *x = context;
    const rg_sink       *sink = x->question->sink;
    const rg_translated *result;
    (void)bytes;
    RG_TRY(rg_session_run(&result, x->session, &x->config, &line, 1, number - 1, NULL));
    if (result->cut && sink->note) {
        char cut[120], text[160];
        say_cut(cut, sizeof cut, result);
        snprintf(text, sizeof text, "line %llu: %s", (unsigned long long)number, cut);
        sink->note(sink->context, text);
    }
    for (size_t i = 0; i < result->count; i++) {
        const rg_value cells[] = { { .number = (double)number },
                                   { .text = result->best[i].text },
                                   { .number = result->best[i].answer->score, .digits = 6 } };
        RG_TRY(sink->row(sink->context, cells));
    }
    return sink->record && !x->recorded ? record(x, result) : RG_OK;
}

rg_status rg_translation_answer(const rg_model *m, const rg_question *q)
{
    static const char *const     names[] = { "line", "translation", "score" };
    const rg_translation_asking *a = q->options;
    answering                    x = { .translator = m->assets, .config = RG_SESSION_CONFIG_DEFAULT, .question = q };
    if (a->n_best > a->beam)
        return rg_fail(RG_EINVAL, "--n-best is %lld; --beam-size %lld keeps no more than that many",
                       (long long)a->n_best, (long long)a->beam);
    x.config.search.beam = (size_t)a->beam;
    x.config.search.n_best = (size_t)a->n_best;
    x.config.max_length = (size_t)a->max_length;
    x.gates = a->gates;
    if (a->gates && x.config.max_length > RG_GATES_SHOWN) x.config.max_length = RG_GATES_SHOWN;
    x.config.search.attention = q->sink->record != NULL && !a->gates;
    RG_TRY(rg_session_new(&x.session, &x.translator, 1, q->threads > 0 ? q->threads : 1));
    rg_status status = q->sink->columns(q->sink->context, names, sizeof names / sizeof *names);
    if (status == RG_OK) status = rg_question_texts(q, answer_line, &x);
    rg_session_free(x.session);
    return status;
}
