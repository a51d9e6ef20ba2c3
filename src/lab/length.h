/* length.h - sentences of 5 to 60 words for `regard reproduce length`. */
#ifndef RG_LAB_LENGTH_H
#define RG_LAB_LENGTH_H

#include "regard/base.h"

/* Test sets by length: 6 .. 10 words, 11 .. 15, ... 56 .. 60. */
enum { LENGTH_STEP = 5, LENGTH_FIRST = 10, LENGTH_LAST = 60, LENGTH_CLASSES = (LENGTH_LAST - LENGTH_FIRST) / LENGTH_STEP + 1 };

/* FOLDER/train-15.en .fr, valid-15, train-30, valid-30 (sentences of 5 words up to so many) and test-10 ... test-60.
 * `pairs` to learn from, `tests` in each test set. Nothing is done where they are. */
rg_status length_data(const char *folder, size_t pairs, size_t tests);

#endif
