/* language_masked.c - models of text with hidden tokens: how often they say the right one, and what they say of a
 * text that they are asked about. The record is of the first text: its tokens, and what each attended to. */
#include <math.h>
#include <string.h>

#include "regard/explain.h"
#include "regard/metrics.h"
#include "regard/view.h"
#include "tasks/batches.h"
#include "tasks/language.h"
#include "tasks/language_mask.h"

static const char sign[] = "[MASK]"; /* what stands for a hidden token in a text, and in vocabularies that have it */

bool rg_language_masks(const rg_system *system) { return system->reads && strcmp(system->reads, "masked") == 0; }

int32_t rg_language_mask(const rg_vocab *vocab)
{
    const int32_t id = rg_vocab_find(vocab, sign);
    return id > 0 && id != rg_vocab_unk(vocab) ? id : -1;
}

static size_t best_of(const rg_real *x, size_t n)
{
    size_t best = 0;
    for (size_t c = 1; c < n; c++)
        if (x[c] > x[best]) best = c;
    return best;
}

/* --------------------------------------------------------------------------------------------------------- judging */

typedef struct {
    uint64_t *count; /* of each token, how often it was to be said */
    double    right, chosen, loss, pairs, known;
    const rg_field *follows;
} judgement;

static bool wants(void *context, const char *name) { return (void)context, strcmp(name, "follows") == 0; }

static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    judgement *j = context;
    (void)name, (void)reach;
    for (size_t i = 0; i < rg_tensor_rows(x); i++) {
        j->known += (int32_t)best_of(rg_tensor_row(x, i), 2) == j->follows->ids[i];
        j->pairs++;
    }
}

static rg_status judge_batch(judgement *j, rg_run *run, rg_tape *t, const rg_batch *b)
{
    const rg_field  *target = &b->field[RG_TARGET];
    const rg_watcher watcher = { .context = j, .wants = wants, .see = see };
    size_t           n = 0;
    rg_tape_reset(t, 0);
    const rg_tensor *y = run->system->predict(t, run->model, b);
    RG_TRY(rg_tape_status(t));
    for (size_t i = 0; i < rg_field_rows(target); i++) {
        if (target->ids[i] < 0) continue;
        j->right += best_of(rg_tensor_row(y, n), rg_tensor_cols(y)) == (size_t)target->ids[i];
        j->count[target->ids[i]]++;
        n++;
    }
    j->chosen += (double)n;
    j->follows = &b->field[RG_FOLLOWS];
    rg_tape_reset(t, 0);
    rg_tape_set_watcher(t, &watcher);
    const rg_loss loss = run->system->loss(t, run->model, b);
    rg_tape_set_watcher(t, NULL);
    RG_TRY(rg_tape_status(t));
    j->loss += (double)rg_tensor_at(loss.sum, 0, 0);
    return RG_OK;
}

static rg_status pass(judgement *j, rg_run *run, rg_masked *windows)
{
    const rg_tape_config config = { .record = false, .team = rg_workers_team(rg_trainer_workers(run->trainer)) };
    rg_tape             *t;
    rg_batch             b;
    bool                 more = true;
    RG_TRY(rg_masked_seek(windows, (rg_place){ 0 }));
    RG_TRY(rg_tape_new(&t, &config));
    rg_status status = RG_OK;
    while (status == RG_OK) {
        status = rg_check_stop(run->report);
        if (status == RG_OK) status = rg_masked_next(&more, &b, windows);
        if (status != RG_OK || !more) break;
        status = judge_batch(j, run, t, &b);
    }
    rg_tape_free(t);
    return status;
}

rg_status rg_language_judge_masked(rg_metrics *out, const char *of, rg_run *run, rg_masked *windows)
{
    const size_t V = rg_model_size(run->model, "target-vocabulary");
    judgement    j = { .count = rg_alloc_zero(V * sizeof *j.count) };
    rg_status    status = j.count ? pass(&j, run, windows) : RG_ENOMEM;
    uint64_t     most = 0;
    for (size_t i = 0; status == RG_OK && i < V; i++)
        if (j.count[i] > most) most = j.count[i];
    rg_free(j.count);
    RG_TRY(status);
    const double chosen = j.chosen > 0 ? j.chosen : 1;
    const struct {
        const char *name;
        double      value;
        bool        more, there;
    } rows[] = { { "accuracy", j.right / chosen, true, true },
                 { "loss", j.loss / chosen, false, true },
                 { "most-frequent", (double)most / chosen, true, *of != '\0' }, /* the same at every validation */
                 { "follows", j.known / fmax(1, j.pairs), true, j.pairs > 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[RG_METRIC_NAME];
        snprintf(name, sizeof name, "%s%s", of, rows[i].name);
        if (rows[i].there) RG_TRY(rg_metrics_add(out, name, rows[i].value, rows[i].more));
    }
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------------- filling */

enum { MOST_TOP = 100, MOST_SHOWN = 256 };

typedef struct {
    const rg_model *model;
    const rg_vocab *vocab;
    const rg_sink  *sink;
    rg_tape        *tape;
    rg_ids          ids, target, segment;
    double         *p;
    size_t          V, top;
    rg_text         said[MOST_TOP];
    double          likely[MOST_TOP];
    bool            recorded;
    const rg_explain_options *explain;
} filling;

static rg_status add_piece(filling *x, int32_t id, bool hidden)
{
    RG_TRY(rg_ids_add(&x->ids, hidden ? rg_language_mask(x->vocab) : id));
    RG_TRY(rg_ids_add(&x->segment, 0));
    return rg_ids_add(&x->target, hidden ? 0 : -1); /* any token: only that it is asked for counts */
}

/* The tokens of a stretch of text without [MASK]. */
static rg_status add_stretch(filling *x, const char *text, size_t bytes)
{
    rg_ids    ids = { 0 };
    rg_status status = bytes ? rg_vocab_encode(&ids, NULL, x->vocab, text, bytes) : RG_OK;
    for (size_t i = 0; status == RG_OK && i < ids.count; i++)
        if (i || ids.data[0] != rg_vocab_begin(x->vocab)) status = add_piece(x, ids.data[i], false);
    rg_ids_free(&ids);
    return status;
}

static rg_status read_text(filling *x, const char *line, size_t bytes)
{
    const size_t width = sizeof sign - 1, context = rg_model_size(x->model, "context");
    bool         asked = false;
    x->ids.count = x->target.count = x->segment.count = 0;
    RG_TRY(add_piece(x, rg_vocab_bos(x->vocab), false));
    for (const char *at = line, *end = line + bytes; at <= end;) {
        const char *mask = at;
        while (mask < end && ((size_t)(end - mask) < width || memcmp(mask, sign, width) != 0)) mask++;
        RG_TRY(add_stretch(x, at, (size_t)(mask - at)));
        if (mask == end) break;
        RG_TRY(add_piece(x, 0, true));
        asked = true;
        at = mask + width;
    }
    if (!asked) RG_TRY(add_piece(x, 0, true));
    RG_TRY(add_piece(x, rg_vocab_eos(x->vocab), false));
    if (x->ids.count <= context) return RG_OK;
    return rg_fail(RG_ELIMIT, "a text of %zu tokens, <s> and </s> among them; the model has places for %zu: shorten it",
                   x->ids.count, context);
}

static rg_status softmax(filling *x, const rg_real *logits)
{
    double most = -INFINITY, sum = 0;
    for (size_t c = 0; c < x->V; c++) {
        if (!isfinite((double)logits[c]))
            return rg_fail(RG_ENUMBER,
                           "the score of token %zu is not finite; the model's weights give infinite numbers", c);
        most = fmax(most, (double)logits[c]);
    }
    for (size_t c = 0; c < x->V; c++) sum += x->p[c] = exp((double)logits[c] - most);
    for (size_t c = 0; c < x->V; c++) x->p[c] /= sum;
    return RG_OK;
}

/* The most likely tokens of one place join what was said of those before it. p is used up. */
static rg_status say_place(filling *x, bool first)
{
    for (size_t k = 0; k < x->top; k++) {
        size_t best = 0;
        for (size_t c = 1; c < x->V; c++)
            if (x->p[c] > x->p[best]) best = c;
        RG_TRY(rg_text_print(&x->said[k], "%s%s", first ? "" : " ", rg_vocab_piece(x->vocab, (int32_t)best)));
        x->likely[k] = (first ? 1 : x->likely[k]) * x->p[best];
        x->p[best] = -1;
    }
    return RG_OK;
}

static rg_batch batch_of(const filling *x, const int32_t *start, const int32_t *none)
{
    const rg_layout rows = { .groups = 1, .start = start };
    return (
        rg_batch){ .examples = 1,
                   .fields = 4,
                   .field = { [RG_SOURCE] = { .kind = RG_FIELD_IDS, .layout = rows, .ids = x->ids.data },
                              [RG_TARGET] = { .kind = RG_FIELD_IDS, .layout = rows, .ids = x->target.data },
                              [RG_SEGMENTS] = { .kind = RG_FIELD_TAGS, .layout = rows, .ids = x->segment.data },
                              [RG_FOLLOWS] = { .kind = RG_FIELD_CLASS, .layout = { .groups = 1, .start = none } } } };
}

static rg_status collect(rg_record *r, const filling *x, const rg_batch *batch)
{
    rg_collector *c;
    RG_TRY(rg_collector_new(&c, r, x->model->system->uses, -1));
    rg_tape_reset(x->tape, 0);
    rg_tape_set_watcher(x->tape, rg_collector_watcher(c));
    x->model->system->predict(x->tape, x->model, batch);
    rg_tape_set_watcher(x->tape, NULL);
    const rg_status status = rg_tape_status(x->tape), finished = rg_collector_finish(c, NULL);
    return status == RG_OK ? finished : status;
}

/* Why the hidden tokens were said: their rows, by all tokens. */
static rg_status explain(rg_record *r, const filling *x, const rg_batch *batch, size_t words)
{
    const rg_explain_options *o = x->explain;
    const size_t              n = x->ids.count;
    int32_t                  *seat = rg_alloc_array(2 * n + 2, sizeof *seat), *best = seat ? seat + n : NULL;
    const char              **said = rg_alloc_array(n + 1, sizeof *said);
    rg_subject                s = { .model = x->model,
                                    .batch = batch,
                                    .copies = true,
                                    .input = RG_SOURCE,
                                    .rows = n,
                                    .inputs = n,
                                    .keys = "words",
                                    .word = best,
                                    .against = -1,
                                    .against_text = o->against,
                                    .seat = seat,
                                    .col_labels = words,
                                    .hypothesis = -1 };
    rg_status                 status = seat && said ? RG_OK : RG_ENOMEM;
    if (status == RG_OK) {
        rg_tape_reset(x->tape, 0);
        const rg_tensor *y = x->model->system->predict(x->tape, x->model, batch);
        status = rg_tape_status(x->tape);
        for (size_t i = 0; status == RG_OK && i < n; i++) {
            if (x->target.data[i] < 0) continue;
            seat[s.outputs] = (int32_t)i;
            best[s.outputs] = (int32_t)best_of(rg_tensor_row(y, s.outputs), x->V);
            said[s.outputs] = rg_vocab_piece(x->vocab, best[s.outputs]);
            s.outputs++;
        }
    }
    s.answers = s.outputs;
    if (status == RG_OK && o->against && *o->against &&
        (s.against = rg_vocab_find(x->vocab, o->against)) == rg_vocab_unk(x->vocab))
        status = rg_fail(RG_EINVAL, "--against %s: the model does not know this token", o->against);
    if (status == RG_OK) status = rg_record_add_labels(&s.row_labels, r, "hidden", RG_LABEL_TOKEN, said, s.outputs);
    if (status == RG_OK) status = rg_explain(r, &s, o);
    rg_free(seat);
    rg_free(said);
    return status;
}

static rg_status record(filling *x, const char *line, const rg_batch *batch)
{
    size_t       words = 0;
    rg_record   *r = NULL;
    const size_t n = x->ids.count;
    const char **word = rg_alloc_array(n, sizeof *word);
    rg_status    status = word ? rg_record_new(&r, line, "what was hidden") : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < n; i++)
        word[i] = x->target.data[i] >= 0 ? sign : rg_vocab_piece(x->vocab, x->ids.data[i]);
    if (status == RG_OK) status = rg_record_add_labels(&words, r, "words", RG_LABEL_TOKEN, word, n);
    if (status == RG_OK) status = rg_record_add_text(r, "source", line, 0, false);
    if (status == RG_OK) status = rg_record_add_text(r, "output", rg_text_c(&x->said[0]), 0, true);
    if (status == RG_OK && n <= MOST_SHOWN && rg_explain_attends(x->explain)) status = collect(r, x, batch);
    if (status == RG_OK && x->explain) status = explain(r, x, batch, words);
    if (status == RG_OK) status = x->sink->record(x->sink->context, r);
    x->recorded = true;
    rg_record_free(r);
    rg_free(word);
    return status;
}

static rg_status answer_text(void *context, const char *line, size_t bytes, uint64_t number)
{
    filling *x = context;
    rg_value cells[2 * MOST_TOP] = { { 0 } };
    (void)number;
    RG_TRY(read_text(x, line, bytes));
    const int32_t  start[] = { 0, (int32_t)x->ids.count }, none[] = { 0, 0 };
    const rg_batch batch = batch_of(x, start, none);
    rg_tape_reset(x->tape, 0);
    const rg_tensor *y = x->model->system->predict(x->tape, x->model, &batch);
    RG_TRY(rg_tape_status(x->tape));
    for (size_t k = 0; k < x->top; k++) rg_text_clear(&x->said[k]);
    for (size_t i = 0; i < rg_tensor_rows(y); i++) {
        RG_TRY(softmax(x, rg_tensor_row(y, i)));
        RG_TRY(say_place(x, i == 0));
    }
    for (size_t k = 0; k < x->top; k++) {
        cells[2 * k] = (rg_value){ .text = rg_text_c(&x->said[k]) };
        cells[2 * k + 1] = (rg_value){ .number = x->likely[k], .digits = 4 };
    }
    RG_TRY(x->sink->row(x->sink->context, cells));
    return x->sink->record && !x->recorded ? record(x, line, &batch) : RG_OK;
}

/* hidden, probability, hidden-2, probability-2, ... */
static rg_status name_columns(const filling *x)
{
    char        names[2 * MOST_TOP][20];
    const char *list[2 * MOST_TOP];
    for (size_t k = 0; k < x->top; k++) {
        char behind[8] = "";
        if (k) snprintf(behind, sizeof behind, "-%u", (unsigned)(k + 1) % 1000);
        snprintf(names[2 * k], sizeof *names, "hidden%s", behind);
        snprintf(names[2 * k + 1], sizeof *names, "probability%s", behind);
        list[2 * k] = names[2 * k];
        list[2 * k + 1] = names[2 * k + 1];
    }
    return x->sink->columns(x->sink->context, list, 2 * x->top);
}

rg_status rg_language_fill(const rg_model *m, const rg_question *q)
{
    const size_t   top = (size_t)((const rg_language_asking *)q->options)->top;
    filling        x = { .model = m, .vocab = ((const rg_language_model *)m->assets)->vocab, .sink = q->sink, .explain = q->explain };
    rg_team       *team = NULL;
    rg_tape_config config = { .record = false };
    x.V = rg_model_size(m, "target-vocabulary");
    x.top = top < x.V ? top : x.V;
    x.p = rg_alloc_array(x.V, sizeof *x.p);
    rg_status status = x.p ? rg_team_new(&team, q->threads > 0 ? q->threads : 1) : RG_ENOMEM;
    config.team = team;
    if (status == RG_OK) status = rg_tape_new(&x.tape, &config);
    if (status == RG_OK) status = name_columns(&x);
    if (status == RG_OK) status = rg_question_texts(q, answer_text, &x);
    for (size_t k = 0; k < x.top; k++) rg_text_free(&x.said[k]);
    rg_tape_free(x.tape);
    rg_team_free(team);
    rg_ids_free(&x.ids);
    rg_ids_free(&x.target);
    rg_ids_free(&x.segment);
    rg_free(x.p);
    return status;
}
