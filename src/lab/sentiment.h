/* sentiment.h - the files of `regard reproduce sentiment`. */
#ifndef RG_LAB_SENTIMENT_H
#define RG_LAB_SENTIMENT_H

#include "regard/text.h"

enum { SENTIMENT_FOLDS = 10, SENTIMENT_FEW = 1000 }; /* folds of the reviews; labels of the rows that learn from few */

/* Write OUT/data/mr.N.{train,valid,test}.tsv for every fold N, mr.1.few.tsv, trec.{train,valid,test}.tsv and
 * text.{train,valid}.txt, unless they are there. DATA is the folder with sentiment/ and ptb/. */
rg_status sentiment_data(const char *out, const char *data);

/* One line of windows-1252 as UTF-8, behind what is there; a byte that is no character becomes U+FFFD. */
rg_status sentiment_utf8(rg_text *out, const char *line, size_t bytes);

#endif
