/* classify_score.c - log p of the labels that are given: of each line "label TAB text", from all classes of the
 * answer to its text. */
#include <math.h>
#include <string.h>

#include "tasks/batches.h"
#include "tasks/classify.h"

enum { MOST_CLASSES = 100 }; /* as many as one answer has */

typedef struct {
    const rg_model *model;
    const rg_sink  *sink;
    const char     *label; /* of the line at hand */
    size_t          columns;
    double          p, nats; /* of the label; sum over all lines */
    uint64_t        lines;
} scoring;

static rg_status count_columns(void *context, const char *const *names, size_t count)
{
    (void)names;
    ((scoring *)context)->columns = count;
    return RG_OK;
}

/* label, probability, label, probability, ... */
static rg_status find_label(void *context, const rg_value *cells)
{
    scoring *s = context;
    for (size_t i = 0; i + 1 < s->columns; i += 2)
        if (strcmp(cells[i].text, s->label) == 0) s->p = cells[i + 1].number;
    return RG_OK;
}

static rg_status score_line(void *context, const char *line, size_t bytes, uint64_t number)
{
    scoring                 *s = context;
    const rg_classify_asking all = { .top = MOST_CLASSES };
    const rg_sink sink = { .context = s, .columns = count_columns, .row = find_label, .note = s->sink->note };
    char                    *copy = rg_format("%.*s", (int)bytes, line), *tab = copy ? strchr(copy, '\t') : NULL;
    rg_status                status = RG_OK;
    if (!copy) return RG_ENOMEM;
    if (!tab)
        status = rg_fail(RG_EFORMAT, "line %llu: a label, a tab and a text are needed", (unsigned long long)number);
    else {
        char             *text = tab + 1;
        const rg_list     words = { 1, &text };
        const rg_question q = { .options = &all, .words = &words, .threads = 1, .sink = &sink };
        *tab = 0;
        s->label = copy;
        s->p = -1;
        status = rg_classify_answer(s->model, &q);
        if (status == RG_OK && s->p < 0)
            status = rg_fail(RG_EMATCH, "line %llu: the model has no class '%.80s'", (unsigned long long)number, copy);
    }
    if (status == RG_OK) {
        const rg_value cells[] = { { .text = copy }, { .number = log(s->p), .digits = 6 } };
        s->nats -= log(s->p);
        s->lines++;
        status = s->sink->row(s->sink->context, cells);
    }
    rg_free(copy);
    return status;
}

rg_status rg_classify_score(const rg_model *m, const rg_question *q)
{
    static const char *const names[] = { "label", "log_p" };
    scoring                  s = { .model = m, .sink = q->sink };
    char                     note[160];
    const rg_classifier     *its = m->assets;
    if (!its->names || rg_model_size(m, "channels"))
        return rg_fail(RG_EINVAL, "labels are scored of classifiers of texts, numbers and counts; this one %s",
                       its->names ? "reads pictures" : "answers with a number");
    if (rg_model_size(m, "classes") > MOST_CLASSES)
        return rg_fail(RG_ELIMIT, "%zu classes; labels of at most %d are scored", rg_model_size(m, "classes"),
                       MOST_CLASSES);
    RG_TRY(q->sink->columns(q->sink->context, names, 2));
    RG_TRY(rg_question_texts(q, score_line, &s));
    snprintf(note, sizeof note, "%llu lines, log p %.4f, mean %.4f", (unsigned long long)s.lines, -s.nats,
             s.lines ? -s.nats / (double)s.lines : 0.0);
    if (s.lines && q->sink->note) q->sink->note(q->sink->context, note);
    return RG_OK;
}
