/* translated.c - a translation as a record: what each target piece looked at, one matrix for each answer; or every
 * layer and head, by sending the pair through the model once more with somebody watching. */
#include "regard/explain.h"
#include "regard/translate.h"
#include "regard/view.h"
#include "tasks/translated_beside.h"
#include "tasks/translation.h"

#include <string.h>

/* Labels of pieces: the mark of a word's start is no part of the word. `instead` (may be NULL) has the text of
 * unknown ones. */
static rg_status add_pieces(size_t *out, rg_record *record, const char *name, const rg_vocab *vocab, const int32_t *ids,
                            size_t n, const char *const *instead, bool closed)
{
    const char **text = rg_alloc_array(n + 1, sizeof *text);
    if (!text) return RG_ENOMEM;
    static const char word_start[] = "\xe2\x96\x81"; /* U+2581, SentencePiece's blank */
    for (size_t i = 0; i < n; i++) {
        const char *piece = instead && instead[i] ? instead[i] : rg_vocab_piece(vocab, ids[i]);
        text[i] = strncmp(piece, word_start, 3) == 0 && piece[3] ? piece + 3 : piece;
    }
    if (closed) text[n] = "</s>";
    rg_status status = rg_record_add_labels(out, record, name, RG_LABEL_TOKEN, text, n + (closed ? 1 : 0));
    rg_free(text);
    return status;
}

static rg_status add_source(size_t *out, rg_record *record, const rg_translator *t, const rg_translated *r)
{
    rg_text   text = { 0 };
    rg_status status = rg_vocab_decode_with(&text, t->source, r->source, r->source_length, r->source_text);
    if (status == RG_OK) status = rg_record_add_text(record, "source", rg_text_c(&text), 0, false);
    if (status == RG_OK)
        status = add_pieces(out, record, "source", t->source, r->source, r->source_length, r->source_text, false);
    rg_text_free(&text);
    return status;
}

rg_status rg_record_of_translation(rg_record **out, const rg_translator *t, const rg_translated *r)
{
    *out = NULL;
    rg_record *record;
    RG_TRY(rg_record_new(&record, r->count ? r->best[0].text : "", "translation"));
    size_t    source = 0;
    rg_status status = add_source(&source, record, t, r);
    for (size_t k = 0; status == RG_OK && k < r->count; k++) {
        const rg_answer   *a = r->best[k].answer;
        size_t             target = 0;
        const rg_map_place place = { "alignment", -1, -1, -1, (int)k };
        status = add_pieces(&target, record, "output", t->target, a->tokens, a->length, r->best[k].words, !a->cut);
        if (status == RG_OK && a->attention)
            status = rg_record_add_map(NULL, record, place, target, source, a->attention, a->source_length);
        if (status == RG_OK)
            status =
                rg_record_add_text(record, r->count > 1 ? "hypothesis" : "output", r->best[k].text, a->score, k == 0);
    }
    if (status != RG_OK) {
        rg_record_free(record);
        return status;
    }
    *out = record;
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------- the pass of an answer */

/* What a pass of the answer as if it were the reference shows. */
typedef struct {
    const rg_translator      *translator;
    const rg_translated      *translated;
    rg_record                *record;
    rg_tape                  *tape;
    const rg_explain_options *explain; /* NULL: maps of attention alone */
} watching;

/* The list of labels of that name: number `index` of several. */
static size_t list_named(const rg_record *r, const char *name, size_t index)
{
    size_t i = 0;
    for (; i < r->label_lists; i++)
        if (strcmp(r->labels[i].name, name) == 0 && index-- == 0) break;
    return i;
}

static rg_status collect(const watching *w, const rg_batch *batch, size_t k)
{
    const rg_model *m = w->translator->model;
    rg_beside       beside;
    rg_collector   *collector;
    if (!rg_explain_attends(w->explain)) return RG_OK;
    RG_TRY(rg_collector_new(&collector, w->record, m->system->uses, (int)k));
    rg_tape_reset(w->tape, 0);
    rg_beside_init(&beside, rg_collector_watcher(collector));
    rg_tape_set_watcher(w->tape, &beside.watcher);
    m->system->loss(w->tape, m, batch);
    rg_tape_set_watcher(w->tape, NULL);
    rg_status       status = rg_tape_status(w->tape);
    const rg_status collected = rg_collector_finish(collector, NULL);
    if (status == RG_OK) status = collected;
    if (status == RG_OK)
        status = rg_beside_finish(&beside, w->record, list_named(w->record, "source", 0),
                                  list_named(w->record, "output", k), (int)k);
    rg_beside_fini(&beside);
    return status;
}

/* The first piece of a word that stands alone. */
static rg_status piece_of(int32_t *out, const rg_vocab *vocab, const char *word)
{
    rg_ids    ids = { 0 };
    rg_status status = rg_vocab_encode(&ids, NULL, vocab, word, strlen(word));
    *out = ids.count ? ids.data[0] : -1;
    if (status == RG_OK && (!ids.count || ids.data[0] == rg_vocab_unk(vocab)))
        status = rg_fail(RG_EINVAL, "--against %s: the model does not know this word", word);
    rg_ids_free(&ids);
    return status;
}

static rg_status explain(const watching *w, const rg_batch *batch, size_t k)
{
    const rg_field *source = &batch->field[RG_SOURCE], *target = &batch->field[RG_TARGET];
    const char     *word = w->explain->against;
    rg_subject      s = { .model = w->translator->model,
                          .batch = batch,
                          .copies = true,
                          .input = RG_SOURCE,
                          .rows = rg_field_rows(source),
                          .inputs = rg_field_rows(source),
                          .leave_out = true,
                          .keys = "source",
                          .writes = true,
                          .target = RG_TARGET,
                          .answers = rg_field_rows(target),
                          .outputs = rg_field_rows(target),
                          .word = target->ids,
                          .against = -1,
                          .against_text = word,
                          .row_labels = list_named(w->record, "output", k),
                          .col_labels = list_named(w->record, "source", 0),
                          .hypothesis = (int)k };
    if (word && *word) RG_TRY(piece_of(&s.against, w->translator->target, word));
    return rg_explain(w->record, &s, w->explain);
}

/* The row of </s> is there unless the answer was cut: then its last token is what is predicted last. A model reads <unk>
 * where it had copied a word. */
rg_status rg_translated_forced(const rg_translator *t, const rg_translated *r, size_t k, rg_translated_pass *pass,
                               void *context)
{
    const rg_answer *a = r->best[k].answer;
    const size_t     rows = a->length + (a->cut ? 0 : 1);
    if (!rows) return RG_OK;
    int32_t *target = rg_alloc_array(2 * rows + 2, sizeof *target), *previous = target + rows;
    if (!target) return RG_ENOMEM;
    memcpy(target, a->tokens, a->length * sizeof *target);
    if (!a->cut) target[a->length] = rg_vocab_eos(t->target);
    previous[0] = rg_vocab_bos(t->target);
    memcpy(previous + 1, target, (rows ? rows - 1 : 0) * sizeof *target);
    if (r->best[k].open) memcpy(target, r->best[k].open, a->length * sizeof *target);
    const int32_t  source_start[2] = { 0, (int32_t)r->source_length }, target_start[2] = { 0, (int32_t)rows };
    const uint64_t line = 1;
    const rg_batch batch = { .examples = 1,
                             .fields = 2,
                             .field = { [RG_SOURCE] = { .layout = { .groups = 1, .start = source_start },
                                                        .ids = r->source,
                                                        .copies = r->copies,
                                                        .extra = r->extra },
                                        [RG_TARGET] = { .layout = { .groups = 1, .start = target_start },
                                                        .ids = target,
                                                        .previous = previous } },
                             .lines = &line };
    const rg_status status = pass(context, &batch, k);
    rg_free(target);
    return status;
}

static rg_status watch_answer(void *context, const rg_batch *batch, size_t k)
{
    const watching *w = context;
    RG_TRY(collect(w, batch, k));
    return w->explain ? explain(w, batch, k) : RG_OK;
}

static rg_status record_of(rg_record **out, const rg_translator *t, const rg_translated *r, rg_team *team,
                           bool (*stop)(const void *context), const void *context, const rg_explain_options *explain)
{
    rg_tape             *tape = NULL;
    const rg_tape_config config = { .team = team };
    RG_TRY(rg_record_of_translation(out, t, r));
    rg_status status = rg_tape_new(&tape, &config);
    watching  w = { t, r, *out, tape, explain };
    for (size_t k = 0; status == RG_OK && k < r->count; k++)
        status = stop && stop(context) ? rg_fail(RG_ESTOP, "stopped before answer %zu of %zu", k + 1, r->count)
                                       : rg_translated_forced(t, r, k, watch_answer, &w);
    rg_tape_free(tape);
    if (status != RG_OK) {
        rg_record_free(*out);
        *out = NULL;
    }
    return status;
}

rg_status rg_record_of_heads(rg_record **out, const rg_translator *t, const rg_translated *r, rg_team *team)
{
    return record_of(out, t, r, team, NULL, NULL, NULL);
}

rg_status rg_record_of_heads_explained(rg_record **out, const rg_translator *t, const rg_translated *r,
                                       const rg_explain_options *explain)
{
    return record_of(out, t, r, explain ? explain->team : NULL, NULL, NULL, explain);
}

rg_status rg_record_of_heads_until(rg_record **out, const rg_translator *t, const rg_translated *r, rg_team *team,
                                   bool (*stop)(const void *context), const void *context)
{
    return record_of(out, t, r, team, stop, context, NULL);
}
