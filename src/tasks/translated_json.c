/* translated_json.c - a translation as JSON: tokens, scores and what was attended to. */
#include <jansson.h>
#include <math.h>

#include "regard/simple.h"

static json_t *pieces(const rg_vocab *vocab, const int32_t *ids, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(list, json_string(rg_vocab_piece(vocab, ids[i])));
    return list;
}

static json_t *answer_json(const rg_translator *t, const rg_translation *b)
{
    const rg_answer *a = b->answer;
    json_t          *object =
        json_pack("{s:s, s:f, s:f, s:b}", "text", b->text, "score", a->score, "log_p", a->log_p, "cut", a->cut);
    json_object_set_new(object, "pieces", pieces(t->target, a->tokens, a->length));
    json_t *words = json_array();
    for (size_t i = 0; i < a->length + (a->cut ? 0 : 1); i++) json_array_append_new(words, json_real(a->word[i]));
    json_object_set_new(object, "word_scores", words);
    if (!a->attention) return object;
    json_t *rows = json_array();
    for (size_t i = 0; i < a->length + (a->cut ? 0 : 1); i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < a->source_length; j++)
            json_array_append_new(row, json_real(round((double)a->attention[i * a->source_length + j] * 1e5) / 1e5));
        json_array_append_new(rows, row);
    }
    json_object_set_new(object, "attention", rows);
    return object;
}

static int append(const char *bytes, size_t count, void *text)
{
    return rg_text_add(text, bytes, count) == RG_OK ? 0 : -1;
}

rg_status rg_translated_json(rg_text *out, const rg_translator *t, const rg_translated *r, uint64_t number)
{
    json_t *object = json_object();
    json_object_set_new(object, "line", json_integer((json_int_t)number + 1));
    json_object_set_new(object, "text", json_string(r->count ? r->best[0].text : ""));
    json_object_set_new(object, "source_pieces", pieces(t->source, r->source, r->source_length));
    json_object_set_new(object, "cut_pieces", json_integer((json_int_t)r->cut));
    json_t *answers = json_array();
    for (size_t k = 0; k < r->count; k++) json_array_append_new(answers, answer_json(t, &r->best[k]));
    json_object_set_new(object, "answers", answers);
    const int failed = object ? json_dump_callback(object, append, out, JSON_COMPACT) : -1;
    json_decref(object);
    return failed ? rg_fail(RG_ENOMEM, "no memory for a translation as JSON") : RG_OK;
}
