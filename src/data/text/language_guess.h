/* language_guess.h - what the module of languages and the library have in common. */
#ifndef RG_DATA_TEXT_LANGUAGE_GUESS_H
#define RG_DATA_TEXT_LANGUAGE_GUESS_H

#include "regard/language_guess.h"

/* rg_languages_guess of the module. */
typedef size_t rg_languages_function(rg_language_guess out[RG_LANGUAGE_GUESSES], bool *out_reliable, const char *text,
                                     size_t bytes, bool html, bool short_texts, const char *hint);

RG_API_BEGIN
rg_languages_function rg_languages__cld2; /* what the module is opened for */
RG_API_END

#endif
