/* grammar.h - a small grammar that writes English sentences and their French translations.
 *
 * French here depends on the English sentence alone, but not word by word: articles take the gender of a noun that
 * comes later and are elided before a vowel, colours move behind their noun, verbs agree, "to the" and "of the" melt
 * into one word.
 *
 *   the old man sees the small red apples      le vieil homme voit les petites pommes rouges
 *   she does not go to the hospital            elle ne va pas à l'hôpital */
#ifndef REGARD_GRAMMAR_H
#define REGARD_GRAMMAR_H

#include "regard/text.h"

RG_API_BEGIN

typedef struct rg_grammar rg_grammar;

/* A sentence belongs to one part for ever, by a hash of its English side: what is tested was never trained on. */
typedef enum rg_grammar_part { RG_GRAMMAR_TRAIN, RG_GRAMMAR_VALID, RG_GRAMMAR_TEST } rg_grammar_part;

/* Borrowed until the next call. */
typedef struct rg_grammar_pair {
    const char *english, *french;
    const char *links; /* Pharaoh: "0-0 1-2", English words and French words as the `words` vocabulary cuts them (l' alone) */
} rg_grammar_pair;

rg_status rg_grammar_new(rg_grammar **out, uint64_t seed);
void      rg_grammar_free(rg_grammar *grammar);

/* The next sentence of a part that this grammar has not given yet. The sequence follows from the seed and the parts
 * asked for. */
rg_status rg_grammar_next(rg_grammar_pair *out, rg_grammar *grammar, rg_grammar_part part);

/* `count` sentences of a part into files; links_path may be NULL. */
rg_status rg_grammar_write(rg_grammar *grammar, rg_grammar_part part, size_t count, const char *english_path,
                           const char *french_path, const char *links_path);

RG_API_END
#endif
