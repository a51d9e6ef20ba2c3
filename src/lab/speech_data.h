/* speech_data.h - data of `regard reproduce speech`: recordings of digits {digit}_{speaker}_{number}.wav, cut into
 * parts, and strings of them. */
#ifndef RG_LAB_SPEECH_DATA_H
#define RG_LAB_SPEECH_DATA_H

#include "regard/base.h"

/* From DATA/recordings.tar.gz (or .tar, or a folder) into `folder`: NAME-train.tsv, NAME-valid.tsv, NAME-test.tsv, where
 * NAME is
 *   digits      numbers 0 - 4 of each digit and speaker are the test, 5 - 9 validate, the rest is learned from
 *   a speaker   all recordings of that speaker are the test; of the others 0 - 9 validate
 *   strings     3 to 7 recordings of one speaker one after another, of the parts of `digits`; quick: a few */
rg_status rg_speech_make(const char *folder, const char *data, bool quick);

#endif
