/* shortlist.h - a lexical shortlist: the target tokens that the tokens of a source are translated by, so that the
 * output layer need not be computed for all of a vocabulary.
 *
 * Of a source: the `best` likeliest translations of each of its tokens, those tokens themselves where the target
 * vocabulary has them (names, numbers), the `first` most frequent target tokens, </s> and <unk>. An approximation: a
 * token that is not listed is never answered. */
#ifndef REGARD_SHORTLIST_H
#define REGARD_SHORTLIST_H

#include "regard/text.h"

RG_API_BEGIN

typedef struct rg_shortlist rg_shortlist; /* never changes once made: any number of threads may use one */

typedef struct rg_shortlist_config {
    size_t first, best; /* most frequent target tokens; translations of each source token */
    size_t lines;       /* of parallel text that are aligned, spread over the files        */
    int    iterations;  /* of the aligner                                                  */
} rg_shortlist_config;
#define RG_SHORTLIST_CONFIG_DEFAULT { .first = 100, .best = 100, .lines = 100000, .iterations = 5 }

/* From two files of lines that translate each other, `.gz` accepted: t(target | source) of IBM model 1 over tokens.
 * RG_EMATCH: other numbers of lines. */
rg_status rg_shortlist_learn(rg_shortlist **out, const rg_vocab *source, const rg_vocab *target, const char *from,
                             const char *to, const rg_shortlist_config *config);
void      rg_shortlist_free(rg_shortlist *list);

/* Marian's text form, a line per pair: "target source probability". The most frequent target tokens are those of
 * the source NULL, by their probability; a file without NULL has the first of the vocabulary. Of a file more than
 * config->first and ->best are left out; tokens that the vocabularies do not have are passed over, and a file without any
 * that they have is RG_EMATCH. RG_EFORMAT names file and line. */
rg_status rg_shortlist_load(rg_shortlist **out, const rg_vocab *source, const rg_vocab *target, const char *path,
                            const rg_shortlist_config *config);
rg_status rg_shortlist_save(const rg_shortlist *list, const rg_vocab *source, const rg_vocab *target, const char *path);
/* Marian's binary form, which Firefox's and Bergamot's translators come with (lex.s2t.bin), from and to bytes.
 * rg_shortlist_load takes such files too, with all they list, and rg_shortlist_save writes one where `path` ends in
 * .bin. It keeps no probabilities. RG_EFORMAT, RG_EMATCH for bytes that are damaged or not of these vocabularies. */
bool      rg_shortlist_is_marian(const void *bytes, size_t count);
rg_status rg_shortlist_from_marian(rg_shortlist **out, const void *bytes, size_t count, const rg_vocab *source,
                                   const rg_vocab *target);
rg_status rg_shortlist_to_marian(rg_text *out, const rg_shortlist *list, const rg_vocab *source);
/* As bytes for a model file, and back; RG_EFORMAT, RG_EMATCH for bytes that are not those of these vocabularies. */
rg_status rg_shortlist_to_bytes(rg_text *out, const rg_shortlist *list);
rg_status rg_shortlist_from_bytes(rg_shortlist **out, const void *bytes, size_t count, const rg_vocab *source,
                                  const rg_vocab *target);

/* Append the tokens for a source, rising, each once; `also` (may be NULL) are further ones that must be there: what an
 * answer is forced to begin with. Ids outside the vocabularies are passed over. */
rg_status rg_shortlist_pick(rg_ids *out, const rg_shortlist *list, const int32_t *source, size_t count,
                            const int32_t *also, size_t also_count);

typedef struct rg_shortlist_size {
    size_t pairs, frequent, target; /* listed translations, most frequent tokens, tokens of the target vocabulary */
} rg_shortlist_size;
rg_shortlist_size rg_shortlist_size_of(const rg_shortlist *list);

RG_API_END
#endif
