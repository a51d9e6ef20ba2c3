/* detect.c - which of the served languages a text is in.
 *
 * Of a server with one direction there are two, and two witnesses: small words that only one language has, and which
 * vocabulary cuts the text into fewer and known pieces. Each gives a difference; the logistic function of the sum is
 * the likelihood of the source language.
 *
 * Where there are more languages, the Compact Language Detector 2 says which of them it is (regard/language_guess.h). */
#include "serve/serve.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *code, *words; /* between blanks, lower case */
} small_words[] = {
    { "en", " the a an of and to in is are was with for on by this that it he she they his her from at not as be " },
    { "fr", " le la les l' un une des du de d' et est sont avec dans pour sur par ce cette il elle ils elles son sa "
            "ses pas ne au aux en qui que " },
    { "de",
      " der die das den dem ein eine einen und ist sind mit in auf von zu für nicht er sie es ihr sein im am auch " },
    { "es", " el la los las un una y es son con en de del por para que no se su al lo como más " },
    { "it", " il lo la gli le un una e è sono con in di del della per che non si al da come " },
    { "nl", " de het een en is zijn met in op van te voor niet hij zij dat die er aan ook " },
    { "pt", " o a os as um uma e é são com em de do da dos das por para que não se ao no na " },
};

static size_t count_words(const char *code, const char *text)
{
    const char *list = NULL;
    size_t      found = 0;
    for (size_t i = 0; i < sizeof small_words / sizeof *small_words; i++)
        if (strcmp(small_words[i].code, code) == 0) list = small_words[i].words;
    for (const char *at = text; list && *at;) {
        char         word[16];
        const size_t n = strcspn(at, " \t\r\n.,;:!?\"()'");
        const bool   elided = at[n] == '\'';
        if (n && n < sizeof word - 3) {
            snprintf(word, sizeof word, " %.*s%s ", (int)n, at, elided ? "'" : "");
            if (strstr(list, word)) found++;
        }
        at += n + (at[n] != 0);
    }
    return found;
}

/* Pieces, an unknown one counted four times: the smaller, the better the vocabulary knows the text. */
static rg_status cost(double *out, const rg_vocab *vocab, const char *text)
{
    rg_ids    ids = { 0 };
    rg_status status = rg_vocab_encode(&ids, NULL, vocab, text, strlen(text));
    *out = (double)ids.count;
    for (size_t i = 0; i < ids.count; i++)
        if (ids.data[i] == rg_vocab_unk(vocab)) *out += 3;
    rg_ids_free(&ids);
    return status;
}

static rg_status source_likelihood(double *out, const rg_server *s, const char *text)
{
    const rg_translator *t = s->models.model[0].translator;
    double               source, target, words;
    rg_text              lower = { 0 };
    rg_status            status = rg_text_lower(&lower, text, strlen(text));
    if (status == RG_OK) status = cost(&source, t->source, text);
    if (status == RG_OK) status = cost(&target, t->target, text);
    if (status == RG_OK) {
        words = (double)count_words(s->config->source, rg_text_c(&lower)) -
                (double)count_words(s->config->target, rg_text_c(&lower));
        *out = 1 / (1 + exp(-fmax(-30, fmin(30, words + 4 * (target - source) / (1 + fmin(source, target))))));
    }
    rg_text_free(&lower);
    return status;
}

static rg_status guess_of_two(rg_guess *out, size_t *out_count, const rg_server *s, const char *text)
{
    const rg_serve_config *c = s->config;
    const bool             alike = strcmp(c->source, c->target) == 0; /* one to itself, or neither is known */
    double                 p;
    RG_TRY(source_likelihood(&p, s, text));
    out[p < 0.5] = (rg_guess){ c->source, p };
    out[p >= 0.5] = (rg_guess){ c->target, 1 - p };
    if (alike) out[0] = (rg_guess){ c->source, 1 };
    *out_count = alike ? 1 : 2;
    return RG_OK;
}

/* What it finds that is not served is as if it were unknown. */
static rg_status guess_of_many(rg_guess *out, size_t *out_count, const rg_server *s, const char *text, bool html)
{
    rg_language_guess guess[RG_LANGUAGE_GUESSES];
    rg_text           hint = { 0 };
    rg_status         status = RG_OK;
    *out_count = 0;
    if (!s->detector)
        return rg_fail(RG_EMATCH, "this server cannot tell languages apart (it has no regard-languages.so, which is built "
                                  "with libcld2): name the source language");
    for (size_t i = 0; status == RG_OK && i < s->models.languages; i++)
        status = rg_text_print(&hint, "%s%s", i ? "," : "", s->models.language[i]);
    const rg_language_question asked = { .html = html, .short_texts = true, .hint = rg_text_c(&hint) };
    const size_t found = status == RG_OK ? rg_languages_guess(guess, NULL, s->detector, text, strlen(text), &asked) : 0;
    rg_text_free(&hint);
    for (size_t k = 0; k < found; k++)
        for (size_t i = 0; i < s->models.languages && *out_count < RG_SERVE_GUESSES; i++)
            if (rg_language_same(s->models.language[i], guess[k].code)) {
                out[(*out_count)++] = (rg_guess){ s->models.language[i], guess[k].share };
                break;
            }
    return status;
}

rg_status rg_serve__guess(rg_guess out[RG_SERVE_GUESSES], size_t *out_count, const rg_server *s, const char *text,
                          bool html)
{
    return s->models.languages > 2 || s->models.count > 1 ? guess_of_many(out, out_count, s, text, html)
                                                          : guess_of_two(out, out_count, s, text);
}
