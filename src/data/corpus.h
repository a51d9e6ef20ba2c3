/* corpus.h - what the two halves of a corpus share: corpus.c stores encoded pairs, batches.c gives them out. */
#ifndef REGARD_DATA_CORPUS_H
#define REGARD_DATA_CORPUS_H

#include "regard/text.h"

/* An encoded pair as it stands in memory or in the temporary file: this head, then the ids of both sides, without </s>. */
typedef struct rg_pair_head {
    uint64_t line;
    uint32_t source, target; /* how many ids */
} rg_pair_head;

/* A pair of the window at hand. */
typedef struct rg_entry {
    uint64_t place; /* in the epoch's order */
    size_t   at;    /* of its ids in the window's block, or in the corpus's; its head stands before them */
    uint32_t source, target;
} rg_entry;

struct rg_corpus {
    rg_corpus_config config;
    const rg_vocab  *source, *target;
    rg_corpus_report report;
    uint64_t         sum;
    bool             sealed;

    rg_text   block;   /* records, one after another, while they fit the budget */
    uint64_t *offsets; /* of each pair's record; one more at the end */
    size_t    offset_room;
    uint64_t  bytes; /* of all records */
    char     *temp_path;
    rg_file  *temp; /* open for writing, after sealing for reading; NULL: all in block */
    rg_ids    scratch_source, scratch_target;

    rg_corpus_place place;

    /* The window at hand: pairs sorted, cut into batches, batches shuffled. */
    bool      loaded;
    uint64_t  loaded_epoch, loaded_window;
    rg_text   window; /* its records, where they come from the temporary file or are cut anew; otherwise they stand in block */
    bool      windowed;
    rg_entry *entries;
    size_t    entry_count, entry_room;
    uint32_t *cuts;  /* batch b is entries cuts[b] .. cuts[b+1]-1 */
    uint32_t *order; /* in which batches are given */
    size_t    batch_count;

    /* The batch at hand. */
    rg_ids    source_ids, target_ids, previous, source_start, target_start;
    uint64_t *lines;
    size_t    line_room;
};

/* The record of pair i: its head copied to *head, its ids borrowed (until the next call when they come from the file). */
rg_status rg_corpus__pair(rg_pair_head *head, const int32_t **ids, rg_corpus *corpus, uint64_t i);

#endif
