/* small_translator.h - a translator of a few weights that knows the words a, b and c, for tests that need a model
 * file. */
#ifndef TESTS_SUPPORT_SMALL_TRANSLATOR_H
#define TESTS_SUPPORT_SMALL_TRANSLATOR_H

#include "regard/translate.h"

/* Rows of every part are `width` wide (even: the Transformer has two heads). Untrained, the same bytes each time. */
rg_status small_translator_save(const char *path, const char *system, unsigned width);

#endif
