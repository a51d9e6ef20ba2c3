/* translated.c - a translation as a record: what each target piece looked at, one matrix for each answer; or every
 * layer and head, by sending the pair through the model once more with somebody watching. */
#include "regard/translate.h"
#include "regard/view.h"
#include "tasks/translated_beside.h"

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

/* The list of labels of that name that was added k-th. */
static size_t labels_of(const rg_record *record, const char *name, size_t k)
{
    size_t i = 0;
    for (; i < record->label_lists; i++)
        if (strcmp(record->labels[i].name, name) == 0 && k-- == 0) break;
    return i;
}

/* The answer through the model as if it were the reference. The row of </s> is there unless the answer was cut: then
 * its last token is what is predicted last. A model reads <unk> where it had copied a word. */
static rg_status watch_answer(rg_tape *tape, rg_record *record, const rg_translator *t, const rg_translated *r,
                              size_t k)
{
    const rg_answer *a = r->best[k].answer;
    const size_t     rows = a->length + (a->cut ? 0 : 1);
    rg_beside        beside;
    int32_t         *target = rg_alloc_array(2 * rows + 2, sizeof *target), *previous = target + rows;
    rg_collector    *collector = NULL;
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
    rg_status status = rows ? rg_collector_new(&collector, record, t->model->system->uses, (int)k) : RG_OK;
    if (collector) {
        rg_tape_reset(tape, 0);
        rg_beside_init(&beside, rg_collector_watcher(collector));
        rg_tape_set_watcher(tape, &beside.watcher);
        t->model->system->loss(tape, t->model, &batch);
        rg_tape_set_watcher(tape, NULL);
        status = rg_tape_status(tape);
        const rg_status collected = rg_collector_finish(collector, NULL);
        if (status == RG_OK) status = collected;
        if (status == RG_OK)
            status = rg_beside_finish(&beside, record, labels_of(record, "source", 0), labels_of(record, "output", k),
                                      (int)k);
        rg_beside_fini(&beside);
    }
    rg_free(target);
    return status;
}

rg_status rg_record_of_heads(rg_record **out, const rg_translator *t, const rg_translated *r, rg_team *team)
{
    return rg_record_of_heads_until(out, t, r, team, NULL, NULL);
}

rg_status rg_record_of_heads_until(rg_record **out, const rg_translator *t, const rg_translated *r, rg_team *team,
                                   bool (*stop)(const void *context), const void *context)
{
    rg_tape             *tape = NULL;
    const rg_tape_config config = { .team = team };
    RG_TRY(rg_record_of_translation(out, t, r));
    rg_status status = rg_tape_new(&tape, &config);
    for (size_t k = 0; status == RG_OK && k < r->count; k++)
        status = stop && stop(context) ? rg_fail(RG_ESTOP, "stopped before answer %zu of %zu", k + 1, r->count)
                                       : watch_answer(tape, *out, t, r, k);
    rg_tape_free(tape);
    if (status != RG_OK) {
        rg_record_free(*out);
        *out = NULL;
    }
    return status;
}
