/* copies.h - words outside of the vocabulary that can be copied from a source.
 *
 * Text is encoded openly: a word the vocabulary does not know gets the id V + its number in a table of such words,
 * instead of <unk>. In a batch the numbers are those of the example: V, V + 1, ... in the order in which its source
 * has them. The model reads <unk> there, and `copies` (batch.h) says which id the word has in an answer; a target
 * word that is neither known nor in its source is <unk>. */
#ifndef REGARD_COPIES_H
#define REGARD_COPIES_H

#include "regard/text.h"

RG_API_BEGIN

/* A table of words that a vocabulary does not know, numbered as they come. */
typedef struct rg_open_words rg_open_words;
rg_status                    rg_open_words_new(rg_open_words **out);
void                         rg_open_words_free(rg_open_words *words);
void                         rg_open_words_clear(rg_open_words *words);
const char                  *rg_open_words_get(const rg_open_words *words, size_t number);

/* Appends the ids of a line; words that are unknown are added to `extra`. */
rg_status rg_encode_open(rg_ids *out, const rg_vocab *vocab, rg_open_words *extra, const char *line, size_t bytes);

/* A source of n open ids: ids and copies are written; returns how many ids beyond V it needs. `numbers` has room for
 * n: the open id of each. */
size_t rg_copies_source(int32_t *ids, int32_t *copies, int32_t *numbers, const int32_t *open, size_t n,
                        const rg_vocab *vocab);

/* Storage of mapped batches. */
typedef struct rg_copies {
    rg_ids ids, copies, numbers, target, previous;
} rg_copies;
void rg_copies_fini(rg_copies *room);
/* The source and target of a batch of open ids, in place of them; borrowed from `room` until the next call. */
rg_status rg_copies_map(rg_batch *batch, rg_copies *room, const rg_vocab *vocab);

RG_API_END
#endif
