/* translation_memory.h - pairs of texts that somebody has translated: a text that is in them is copied, not translated.
 *
 * Files are those of a reader (regard/reader.h): .tmx, .xlf, .tsv. */
#ifndef REGARD_TRANSLATION_MEMORY_H
#define REGARD_TRANSLATION_MEMORY_H

#include "regard/text.h"

RG_API_BEGIN

typedef struct rg_translation_memory rg_translation_memory;

/* Read a file. source and target are the languages of a .tmx ("" or NULL: that of its header, and the first other one);
 * other formats have no languages. Rows without one of the texts are left out; of several translations of a text the
 * last counts. RG_ELIMIT: more than `most` bytes of text. */
rg_status rg_translation_memory_open(rg_translation_memory **out, const char *path, const char *source,
                                     const char *target, size_t most);
void      rg_translation_memory_free(rg_translation_memory *memory);
size_t    rg_translation_memory_count(const rg_translation_memory *memory); /* texts */

/* The translation of a text, or NULL; blanks at the ends and their number do not matter. Borrowed. Any number of
 * threads may ask. */
const char *rg_translation_memory_find(const rg_translation_memory *memory, const char *text);

#define RG_TRANSLATION_MEMORY_BYTES ((size_t)1 << 30) /* a usual limit */

RG_API_END
#endif
