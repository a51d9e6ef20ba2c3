/* examples.h - what the parts of a store of examples share: examples.c keeps records, fields.c packs and unpacks
 * them by kind, batches.c gives them out, examples_read.c fills the store from files, corpus.c is a store of pairs
 * of lines. */
#ifndef REGARD_DATA_EXAMPLES_H
#define REGARD_DATA_EXAMPLES_H

#include "regard/examples.h"

/* A record as it stands in memory or in the temporary file: this head, then the words (4 bytes each) of all fields,
 * one after another. Only `fields` counts are stored. */
typedef struct rg_record_head {
    uint64_t line;
    uint32_t count[RG_BATCH_FIELDS]; /* words of each field */
} rg_record_head;

/* An example of the window at hand. */
typedef struct rg_entry {
    uint64_t place; /* in the epoch's order */
    size_t   at;    /* of its record in the window's block, or in the store's */
    uint32_t cost[RG_BATCH_FIELDS]; /* rows, </s> of a text always counted */
} rg_entry;

/* A field of the batch at hand. */
typedef struct rg_column {
    rg_ids   ids, previous, start, size, box;
    rg_real *values;
    size_t   value_count, value_room;
    uint64_t epoch, line; /* of the example being unpacked */
    rg_text  changed;     /* its pixels, where they are changed */
} rg_column;

/* How one kind of field is stored and given out (fields.c). */
typedef struct rg_kind {
    const char *name;
    bool        ids, values; /* what a row has */
    /* Append the words of a cell to c->packed[field]; nothing for a cell without rows. */
    rg_status (*pack)(rg_examples *c, size_t field, const rg_cell *cell);
    size_t (*rows)(const rg_field_spec *spec, const int32_t *words, size_t count);
    rg_status (*unpack)(rg_column *out, const rg_field_spec *spec, const int32_t *words, size_t count);
} rg_kind;
extern const rg_kind rg_kinds[RG_FIELD_KINDS];

struct rg_examples {
    rg_examples_config config;
    rg_field_spec      spec[RG_BATCH_FIELDS];
    size_t             fields, head_bytes;
    rg_examples_report report;
    uint64_t           sum;
    bool               sealed;

    rg_text   block;   /* records, one after another, while they fit the budget */
    uint64_t *offsets; /* of each example's record; one more at the end */
    size_t    offset_room;
    uint64_t  bytes; /* of all records */
    char     *temp_path;
    rg_file  *temp; /* open for writing, after sealing for reading; NULL: all in block */

    /* The example being added, or cut anew. */
    rg_text  packed[RG_BATCH_FIELDS];
    uint64_t dropped[RG_BATCH_FIELDS]; /* features outside the width */
    rg_ids   ids, word_rows;           /* word_rows: pieces of each word of the text whose words are cut by themselves */
    rg_text  text;

    rg_place place;

    /* The window at hand: examples sorted, cut into batches, batches shuffled. */
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
    rg_column column[RG_BATCH_FIELDS];
    uint64_t *lines;
    size_t    line_room;
};

/* The parts of a cell, one after another: its lines where it has several (lists of JSON, sentences of CoNLL),
 * otherwise what stands between `separators`. Parts are trimmed; empty ones are passed over. */
typedef struct rg_cell_parts {
    const char *at, *end, *separators;
} rg_cell_parts;
rg_cell_parts rg_cell__parts(const rg_cell *cell, const char *separators);
bool          rg_cell__next(const char **out, size_t *out_bytes, rg_cell_parts *parts);

/* rg_examples_new with the sum that the checksum starts from. */
rg_status rg_examples__new(rg_examples **out, const rg_examples_config *config, const rg_field_spec *specs,
                           size_t fields, uint64_t sum);
/* The record of example i: its head copied to *head, its words borrowed (until the next call when they come from the
 * file). */
rg_status rg_examples__record(rg_record_head *head, const int32_t **words, rg_examples *c, uint64_t i);
/* Take a record apart that stands at `record`. */
const int32_t *rg_examples__split(rg_record_head *head, const rg_examples *c, const char *record);
/* Records as another store with the same fields, texts without copied words, keeps them in memory. Bytes that are no
 * such records are RG_EFORMAT. What the other store counted is not counted here, but for the examples. */
rg_status rg_examples__append(rg_examples *c, const char *records, size_t bytes);
/* Where place i of the order of `count` things in an epoch is: a bijection of 0 .. count-1 that follows from seed and
 * epoch. */
uint64_t rg_examples__permute(uint64_t seed, uint64_t epoch, uint64_t count, uint64_t i);
/* The faults of file `name`, which follow; NULL: of examples added one by one. */
rg_status rg_examples__begin_file(rg_examples *c, const char *name);

#endif
