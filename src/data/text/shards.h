/* shards.h - a corpus that is not whole in memory: shards of lines, a pool of them at a time (text.h). */
#ifndef REGARD_DATA_SHARDS_H
#define REGARD_DATA_SHARDS_H

#include "data/examples.h"

typedef struct rg_shards rg_shards;

/* Counts lines; different counts are RG_EMATCH, with both. `report` has the counts of all pairs where they are known
 * from a whole cache. Vocabularies and config->watch are borrowed. */
rg_status rg_shards_open(rg_shards **out, rg_corpus_report *report, const rg_corpus_config *config,
                         const char *source_path, const char *target_path, const rg_vocab *source,
                         const rg_vocab *target);
void      rg_shards_free(rg_shards *shards);

uint64_t rg_shards_lines(const rg_shards *shards);
uint64_t rg_shards_sum(const rg_shards *shards); /* changes with the text and how it is cut into shards and pools */
uint64_t rg_shards_pools(const rg_shards *shards);
bool     rg_shards_counted(const rg_shards *shards); /* was every shard seen? */

/* The pairs of a pool of an epoch in place of those in `out`, sealed where there are any. Shards that are seen for the
 * first time are counted in the report. On failure (RG_ESTOP when the watch says so) `out` is empty. */
rg_status rg_shards_load(rg_examples *out, rg_corpus_report *report, rg_shards *shards, uint64_t epoch, uint64_t pool);

#endif
