/* language_guess.h - which language a text is in, by the Compact Language Detector 2.
 *
 * It lives in the module regard-languages.so, which the first call opens and which is there where the library was built
 * with libcld2. */
#ifndef REGARD_LANGUAGE_GUESS_H
#define REGARD_LANGUAGE_GUESS_H

#include "regard/base.h"

RG_API_BEGIN

typedef struct rg_languages rg_languages;

/* RG_EIO: the module is not installed. */
rg_status rg_languages_new(rg_languages **out);
void      rg_languages_free(rg_languages *languages);

enum { RG_LANGUAGE_GUESSES = 3 };
typedef struct rg_language_guess {
    const char *code;  /* "en", "zh-Hant"; of the detector's own kind: ask rg_language_same. Static */
    double      share; /* of the letters of the text                                              */
} rg_language_guess;

typedef struct rg_language_question {
    bool        html;        /* tags are no text                                                      */
    bool        short_texts; /* an answer for a few words too, which is often wrong                   */
    const char *hint;        /* codes that are likely, "en,de"; NULL or "": none                      */
} rg_language_question;

/* The languages of a text in UTF-8, largest share first; 0: it cannot be told. *out_reliable (or NULL) says whether the
 * detector trusts its first. Any number of threads. */
size_t rg_languages_guess(rg_language_guess out[RG_LANGUAGE_GUESSES], bool *out_reliable, const rg_languages *languages,
                          const char *text, size_t bytes, const rg_language_question *question);

/* Is what was found the language of that code? Regions and scripts behind - do not count ("pt-BR" is "pt"), and some
 * languages have two codes. */
bool rg_language_same(const char *code, const char *found);
/* The same, or two that the detector takes for each other: Norwegian and Danish, Croatian and Serbian. */
bool rg_language_close(const char *code, const char *found);

RG_API_END
#endif
