/* shard_cache.h - the encoded shards of a corpus on disk, so that text is cut into tokens once and not in each run.
 *
 *   records of a shard | records of a shard | ... | table | note | trailer       shards in the order they were encoded
 *
 *   table     for each shard: where its records begin, their bytes, how many there are, their checksum
 *   trailer   magic, key, number of shards, where the table begins, bytes and checksum of table and note
 *
 * All numbers are 64 bits, little endian. The file appears under its name only when every shard is in it; of a run that
 * ends before nothing is kept. The key follows from the text, the vocabularies and the options that records depend on:
 * a file with another key is not used. Nothing of this is needed to train: a file that is absent, damaged or cannot be
 * written costs a remark (rg_log) and the time to encode again. */
#ifndef REGARD_DATA_SHARD_CACHE_H
#define REGARD_DATA_SHARD_CACHE_H

#include "regard/text.h"

typedef struct rg_shard_cache rg_shard_cache;

/* The cache at `path`: a whole one is read, otherwise a new one is begun. Fails for lack of memory only. `note`
 * (note_bytes of them) is what was given to rg_shard_cache_put with the last shard, of a whole one. */
rg_status rg_shard_cache_open(rg_shard_cache **out, const char *path, uint64_t key, size_t shards, void *note,
                              size_t note_bytes);
void      rg_shard_cache_close(rg_shard_cache *cache); /* what is not whole is dropped; NULL is fine */

bool rg_shard_cache_whole(const rg_shard_cache *cache); /* can shards be read? NULL: no */
/* The records of a shard in place of what was in out. false: they cannot be read; where they are damaged, the file is
 * removed and a new one begun. */
bool rg_shard_cache_read(rg_text *out, rg_shard_cache *cache, size_t shard);
/* A shard that was encoded. Does nothing when it is there already or the file cannot be written; the last one makes
 * the cache whole, with the note. */
void rg_shard_cache_put(rg_shard_cache *cache, size_t shard, const void *records, size_t bytes, const void *note);

#endif
