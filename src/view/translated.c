/* translated.c - a translation as a record: what each target piece looked at, one matrix for each answer. */
#include "regard/translate.h"
#include "regard/view.h"

#include <string.h>

/* Labels of pieces: the mark of a word's start is no part of the word. */
static rg_status add_pieces(size_t *out, rg_record *record, const char *name, const rg_vocab *vocab, const int32_t *ids, size_t n, bool closed)
{
    const char **text = rg_alloc_array(n + 1, sizeof *text);
    if (!text) return RG_ENOMEM;
    static const char word_start[] = "\xe2\x96\x81"; /* U+2581, SentencePiece's blank */
    for (size_t i = 0; i < n; i++) {
        const char *piece = rg_vocab_piece(vocab, ids[i]);
        text[i] = strncmp(piece, word_start, 3) == 0 && piece[3] ? piece + 3 : piece;
    }
    if (closed) text[n] = "</s>";
    rg_status status = rg_record_add_labels(out, record, name, RG_LABEL_TOKEN, text, n + (closed ? 1 : 0));
    rg_free(text);
    return status;
}

rg_status rg_record_of_translation(rg_record **out, const rg_translator *t, const rg_translated *r)
{
    *out = NULL;
    if (!r->count || !r->best[0].answer->attention) return rg_fail(RG_EINVAL, "the translation was made without its attention");
    rg_record *record;
    RG_TRY(rg_record_new(&record, r->best[0].text, "translation"));
    size_t    source = 0;
    rg_status status = add_pieces(&source, record, "source", t->source, r->source, r->source_length, false);
    for (size_t k = 0; status == RG_OK && k < r->count; k++) {
        const rg_answer   *a = r->best[k].answer;
        size_t             target = 0;
        const rg_map_place place = { "alignment", -1, -1, -1, (int)k };
        status = add_pieces(&target, record, "output", t->target, a->tokens, a->length, !a->cut);
        if (status == RG_OK) status = rg_record_add_map(NULL, record, place, target, source, a->attention, a->source_length);
        if (status == RG_OK) status = rg_record_add_text(record, "output", r->best[k].text, a->score, k == 0);
    }
    if (status != RG_OK) {
        rg_record_free(record);
        return status;
    }
    *out = record;
    return RG_OK;
}
