/* language_codes.h - which language a text file holds, guessed from its name: corpora are named train.en, train.de. */
#ifndef RG_TASKS_LANGUAGE_CODES_H
#define RG_TASKS_LANGUAGE_CODES_H

#include "regard/base.h"

enum { RG_LANGUAGE_ROOM = 36 }; /* the longest tag (BCP 47: 35 characters) and its end */

/* The code in the ending of a path: train.en and train.en.gz -> "en", news.pt_BR -> "pt-BR". Only two-letter codes of
 * ISO 639-1, with or without a region or script, are taken for a language; "" otherwise (train.src, a file without an
 * ending). */
void rg_language_of_path(char out[RG_LANGUAGE_ROOM], const char *path);

/* Both codes of one file: train.en-fr.tsv -> "en", "fr"; both "" unless both are there. */
void rg_languages_of_path(char source[RG_LANGUAGE_ROOM], char target[RG_LANGUAGE_ROOM], const char *path);

/* RG_EINVAL unless it is a tag: letters and digits in parts joined by -, the first of two to eight letters. "" is
 * none and fine. */
rg_status rg_language_check(const char *tag);

#endif
