/* scores.c - how sure the model was, of each sentence and of each of its words: the field `scores` of /translate.
 *
 *     log p(y | x) = sum_k log p(y_k | y_1 .. y_k-1, x)        of a sentence, its end among the y
 *     p(word)      = product of p(y_k) of the subwords of which it has bytes                                       */
#include "serve/serve.h"

#include <math.h>
#include <string.h>

/* Where token k ends in the text: as long is what the tokens up to it are decoded to. */
static rg_status end_of(size_t *out, rg_text *buffer, const rg_translator *t, const rg_translation *best, size_t k)
{
    rg_text_clear(buffer);
    RG_TRY(rg_vocab_decode_with(buffer, t->target, best->answer->tokens, k + 1, best->words));
    const size_t all = strlen(best->text);
    *out = buffer->length < all ? buffer->length : all;
    return RG_OK;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static rg_status add_word(json_t *list, const char *text, size_t begin, size_t end, double log_p)
{
    while (begin < end && is_blank(text[begin])) begin++;
    while (end > begin && is_blank(text[end - 1])) end--;
    if (begin == end) return RG_OK;
    json_t *word = json_stringn(text + begin, end - begin);
    if (!word) word = json_string("\xef\xbf\xbd"); /* bytes that are no characters */
    return json_array_append_new(list, json_pack("{s:o, s:f}", "text", word, "probability", exp(log_p))) == 0
               ? RG_OK
               : RG_ENOMEM;
}

/* A word ends where a blank stands; a token that has bytes of two words belongs to both. */
static rg_status add_words(json_t *list, const rg_translator *t, const rg_translation *best)
{
    const rg_answer *a = best->answer;
    rg_text          buffer = { 0 };
    rg_status        status = RG_OK;
    double           log_p = 0;
    size_t           begin = 0, before = 0, end = 0;
    for (size_t k = 0; status == RG_OK && k < a->length; k++, before = end) {
        status = end_of(&end, &buffer, t, best, k);
        if (end < before) end = before;
        for (size_t i = before; status == RG_OK && i < end; i++) {
            if (!is_blank(best->text[i]) || i == begin) continue;
            const bool other = i > before; /* bytes of this token stand before the blank */
            status = add_word(list, best->text, begin, i, log_p + (other ? a->word[k] : 0));
            begin = i;
            log_p = 0;
        }
        log_p += a->word[k];
    }
    if (status == RG_OK) status = add_word(list, best->text, begin, strlen(best->text), log_p);
    rg_text_free(&buffer);
    return status;
}

rg_status rg_scores_of(json_t **out, const rg_translator *t, const rg_translated *result)
{
    *out = NULL;
    json_t *words = json_array();
    if (!words) return RG_ENOMEM;
    const rg_translation *best = result->count ? &result->best[0] : NULL;
    const rg_status       status = best ? add_words(words, t, best) : RG_OK;
    if (status != RG_OK) return json_decref(words), status;
    json_t *text = json_string(best ? best->text : "");
    *out = json_pack("{s:o, s:f, s:f, s:o}", "text", text ? text : json_string(""), "logProbability",
                     best ? best->answer->log_p : 0.0, "score", best ? best->answer->score : 0.0, "words", words);
    return *out ? RG_OK : RG_ENOMEM;
}

/* --------------------------------------------------------------------------------------------------- of a request */

/* A list of its sentences for each text. */
json_t *rg_scores_json(const rg_request *r)
{
    json_t *all = json_array();
    for (size_t t = 0; t < r->count; t++) {
        json_t *list = json_array();
        for (size_t i = 0; i < r->texts[t].count; i++)
            if (r->texts[t].part[i].score) json_array_append(list, r->texts[t].part[i].score);
        json_array_append_new(all, list);
    }
    return all;
}
