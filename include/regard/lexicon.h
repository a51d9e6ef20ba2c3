/* lexicon.h - a dictionary learned from parallel text: the word that each word is most often linked with (IBM model
 * 1 both ways). */
#ifndef REGARD_LEXICON_H
#define REGARD_LEXICON_H

#include "regard/text.h"

RG_API_BEGIN

typedef struct rg_lexicon rg_lexicon; /* never changes once made: any number of threads may use one */

/* From two files of lines that translate each other, words between blanks; `.gz` is accepted. RG_EMATCH: other
 * numbers of lines. */
rg_status rg_lexicon_learn(rg_lexicon **out, const char *source, const char *target, int iterations);
void      rg_lexicon_free(rg_lexicon *lexicon);
/* NULL: the word was never linked. Borrowed. */
const char *rg_lexicon_find(const rg_lexicon *lexicon, const char *word);

RG_API_END
#endif
