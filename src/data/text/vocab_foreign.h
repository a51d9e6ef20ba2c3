/* vocab_foreign.h - vocabularies that other programs wrote as text, told from plain lists of words. */
#ifndef RG_DATA_VOCAB_FOREIGN_H
#define RG_DATA_VOCAB_FOREIGN_H

#include "data/text/vocab.h"

/* Marian's vocab.yml, `word: id` on each line, or the same as one JSON object. */
bool      rg_vocab__is_yaml(const char *bytes, size_t count);
rg_status rg_vocab__read_yaml(rg_vocab *vocab, const char *bytes,
                              size_t count); /* into a new vocabulary of words, in the order of ids */

/* SentencePiece's .vocab, `piece TAB score` on each line. */
bool rg_vocab__is_scored(const char *bytes, size_t count);
/* The model these pieces and scores make: unigram, or BPE where scores are ranks (0, -1, -2, ...). */
rg_status rg_vocab__read_scored(rg_text *out_model, const char *bytes, size_t count);

#endif
