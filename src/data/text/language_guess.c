/* language_guess.c - opens the module of languages on use, and compares codes. */
#include "data/text/language_guess.h"

#include <string.h>

#include "base/module.h"

struct rg_languages {
    rg_languages_function *guess;
};

rg_status rg_languages_new(rg_languages **out)
{
    rg_module_function *function = NULL;
    *out = NULL;
    RG_TRY(rg_module_open(&function, "languages", "rg_languages__cld2"));
    if (!(*out = rg_alloc(sizeof **out))) return RG_ENOMEM;
    (*out)->guess = (rg_languages_function *)function;
    return RG_OK;
}

void rg_languages_free(rg_languages *l) { rg_free(l); }

size_t rg_languages_guess(rg_language_guess out[RG_LANGUAGE_GUESSES], bool *out_reliable, const rg_languages *l,
                          const char *text, size_t bytes, const rg_language_question *q)
{
    bool         reliable = false;
    const char  *hint = q->hint && *q->hint ? q->hint : NULL;
    const size_t found = l->guess(out, &reliable, text, bytes, q->html, q->short_texts, hint);
    if (out_reliable) *out_reliable = reliable && found;
    return found;
}

static bool equal(const char *code, const char *found)
{
    const size_t n = strcspn(found, "-");
    return strncmp(code, found, n) == 0 && (!code[n] || code[n] == '-');
}

/* The detector has codes of its own for a few. */
bool rg_language_same(const char *code, const char *found)
{
    static const char *const alias[][2] = {
        { "iw", "he" }, { "no", "nb" }, { "jw", "jv" }, { "in", "id" }, { "mo", "ro" }, { "tl", "fil" }
    };
    for (size_t i = 0; i < sizeof alias / sizeof *alias; i++)
        if (strcmp(found, alias[i][0]) == 0 && equal(code, alias[i][1])) return true;
    return equal(code, found);
}

bool rg_language_close(const char *code, const char *found)
{
    static const char *const near[][5] = {
        { "nb", "nn", "no", "da" }, { "hr", "bs", "sr", "sh" }, { "id", "ms" }, { "cs", "sk" }, { "gl", "pt" },
        { "af", "nl" },
    };
    if (rg_language_same(code, found)) return true;
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        bool one = false, other = false;
        for (size_t k = 0; k < 5 && near[i][k]; k++) {
            one |= rg_language_same(code, near[i][k]);
            other |= rg_language_same(found, near[i][k]) || rg_language_same(near[i][k], found);
        }
        if (one && other) return true;
    }
    return false;
}
