/* detect.c - which of the two served languages a text is in.
 *
 * Two witnesses: small words that only one language has, and which vocabulary cuts the text into fewer and known
 * pieces. Each gives a difference; the logistic function of the sum is the likelihood of the source language. */
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

rg_status rg_serve__source_likelihood(double *out, const rg_server *s, const char *text)
{
    const rg_translator *t = s->translator;
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
