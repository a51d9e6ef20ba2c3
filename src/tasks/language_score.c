/* language_score.c - log p of running text, line by line, as validation reads it: state or window is carried from line to
 * line. Lines of a model whose end sign ends a text (GPT-2) are texts of their own. */
#include <math.h>

#include "tasks/batches.h"
#include "tasks/language.h"

typedef struct {
    const rg_question *question;
    const rg_vocab    *vocab;
    bool               goes_on; /* from line to line; else every line is a text of its own */
    rg_text_reading   *reading;
    rg_ids             ids;
    double            *log_p;
    size_t             room;
    rg_text            words; /* log p of each piece of the line */
    double             nats, pieces;
    uint64_t           lines;
} scoring;

static rg_status read_line(scoring *x, const char *line, size_t bytes)
{
    x->ids.count = 0;
    if (!x->goes_on) rg_text_reading_begin(x->reading);
    RG_TRY(rg_vocab_encode(&x->ids, NULL, x->vocab, line, bytes));
    RG_TRY(rg_ids_add(&x->ids, rg_vocab_eos(x->vocab)));
    if (x->ids.count > x->room) {
        double *more = rg_realloc(x->log_p, 2 * x->ids.count * sizeof *more);
        if (!more) return RG_ENOMEM;
        x->log_p = more;
        x->room = 2 * x->ids.count;
    }
    return rg_text_reading_feed(x->log_p, x->reading, x->ids.data, x->ids.count);
}

static rg_status score_line(void *context, const char *line, size_t bytes, uint64_t number)
{
    scoring       *x = context;
    const rg_sink *sink = x->question->sink;
    double         sum = 0;
    RG_TRY(read_line(x, line, bytes));
    rg_text_clear(&x->words);
    for (size_t i = 0; i < x->ids.count; i++) {
        sum += x->log_p[i];
        x->nats -= x->log_p[i];
        if (x->question->word_scores) RG_TRY(rg_text_print(&x->words, "%s%.5f", i ? " " : "", x->log_p[i]));
    }
    x->pieces += (double)x->ids.count;
    x->lines++;
    const double   n = (double)x->ids.count;
    const rg_value cells[] = { { .number = (double)number },
                               { .number = sum, .digits = 6 },
                               { .number = n },
                               { .number = exp(-sum / n), .digits = 4 },
                               { .text = rg_text_c(&x->words) } };
    return sink->row(sink->context, cells);
}

rg_status rg_language_score(const rg_model *m, const rg_question *q)
{
    if (rg_language_counts(m)) return rg_numbers_score(m, q);
    static const char *const names[] = { "line", "log_p", "pieces", "perplexity", "word_scores" };
    scoring                  x = { .question = q,
                                   .vocab = ((const rg_language_model *)m->assets)->vocab,
                                   .goes_on = rg_model_size(m, "lines") != 0 };
    rg_team                 *team = NULL;
    char                     note[200];
    if (rg_language_masks(m->system))
        return rg_fail(RG_EINVAL,
                       "%s says what hidden pieces were, not how likely a text is: ask it with `regard predict`",
                       m->system->name);
    rg_status                status = rg_team_new(&team, q->threads > 0 ? q->threads : 1);
    if (status == RG_OK) status = rg_text_reading_new(&x.reading, m, team);
    if (status == RG_OK) status = q->sink->columns(q->sink->context, names, q->word_scores ? 5 : 4);
    if (status == RG_OK) status = rg_question_texts(q, score_line, &x);
    if (status == RG_OK && x.lines && q->sink->note) {
        snprintf(note, sizeof note, "%llu lines, %.0f tokens, log p %.4f, %.4f nats per token, perplexity %.4f",
                 (unsigned long long)x.lines, x.pieces, -x.nats, x.nats / x.pieces, exp(x.nats / x.pieces));
        q->sink->note(q->sink->context, note);
    }
    rg_text_reading_free(x.reading);
    rg_team_free(team);
    rg_ids_free(&x.ids);
    rg_text_free(&x.words);
    rg_free(x.log_p);
    return status;
}
