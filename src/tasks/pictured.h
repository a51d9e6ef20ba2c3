/* pictured.h - tasks about pictures: tables that name pictures and say something of each, put together by picture;
 * opening stores, what a model file holds, and being asked about pictures.
 *
 *     picture TAB caption        a.jpg  a dog            one example: the picture a.jpg
 *                                b.jpg  two cats    ->   and its texts "a dog", "a brown dog runs"
 *                                a.jpg  a brown dog runs */
#ifndef RG_TASKS_PICTURED_H
#define RG_TASKS_PICTURED_H

#include "data/text/words.h"
#include "regard/decode.h"
#include "regard/features.h"
#include "regard/picture.h"
#include "regard/supervised.h"
#include "tasks/heard.h"

typedef struct rg_pictured_options {
    rg_set_options sets;
    char          *valid_pictures, *test_pictures, *fit;
    int64_t        size;
    rg_features_options features;
} rg_pictured_options;

/* Rows for a member `pictured` of a task's options. */
#define RG_PICTURED_ROWS(type, what, batch_of)                                                                                                        \
    RG_SET_ROWS(type, pictured.sets, what, batch_of),                                                                                                 \
    { RG_OPTION_STRING, "valid-pictures", offsetof(type, pictured.valid_pictures), "",                                                                \
      "--pictures of the validation data; empty: the same", 0, NULL, NULL },                                                                          \
    { RG_OPTION_STRING, "test-pictures", offsetof(type, pictured.test_pictures), "", "--pictures of the test data; empty: the same", 0, NULL, NULL }, \
    { RG_OPTION_INT, "size", offsetof(type, pictured.size), "0", "pixels of a side that pictures are scaled to; 0: as they are", 0,                   \
      "[0,4096]", NULL },                                                                                                                             \
    { RG_OPTION_STRING, "fit", offsetof(type, pictured.fit), "crop", "how a picture of another shape is fitted", 0, "crop|stretch|pad", NULL }, \
    RG_FEATURES_ROWS(type, pictured.features)

enum { RG_PICTURED_COLUMNS = 4 }; /* beside the picture */

/* What a file says, picture by picture in the order in which they are first named. */
typedef struct rg_pictured_table {
    rg_words names;
    rg_text *cell[RG_PICTURED_COLUMNS]; /* of each picture: one line per row that names it */
    size_t   room, columns;
    uint64_t rows;
    char    *files; /* folder or archive of the pictures; NULL: the names are what is read, such as rows of numbers */
} rg_pictured_table;

void rg_pictured_table_free(rg_pictured_table *table);
/* `first` names the column of the picture or recording, `wanted` those beside it. A folder or tar archive without a table has one column: the names
 * of its pictures, without ending. `pictures` "": the folder of the table. */
rg_status rg_pictured_read(rg_pictured_table *out, const rg_set_options *sets, const char *path, const char *pictures,
                           const char *first, const char *const *wanted, size_t columns);
/* The lines of a cell one by one: *at is moved behind it. False at the end. */
bool rg_pictured_line(const char **out, size_t *out_bytes, const char **at);
/* Names of all lines of a column (between `separator` too, where it is not 0) that occur at least min_count times;
 * counts may be NULL. */
rg_status rg_pictured_names(rg_names **out, uint64_t **out_counts, const rg_pictured_table *table, size_t column,
                            char separator, uint64_t min_count, const char *what);
/* A vocabulary of the lines of columns first .. last. */
rg_status rg_pictured_vocab(rg_vocab **out, const rg_run *run, const rg_text_options *text,
                            const rg_pictured_table *table, size_t first, size_t last);

/* What a model needs beside weights: those that its task has. */
typedef struct rg_pictured_assets {
    rg_model        *model;
    rg_vocab        *vocab;
    rg_names        *names;
    uint64_t        *counts;
    rg_features     *features; /* the frozen network of --features; NULL: none */
    rg_pixels_config pixels;
    size_t           height, width; /* of the first picture that was decoded */
    rg_heard         heard;         /* how recordings become rows            */
} rg_pictured_assets;
extern const rg_asset rg_pictured_asset_rows[];
rg_status rg_pictured_adopt(void *assets, rg_sizes *sizes, const rg_state *state);
rg_status rg_pictured_describe(rg_state *state, const void *assets);
void      rg_pictured_drop(void *assets);

/* What a run has: the stores and the tables they came from. */
typedef struct rg_pictured_data {
    rg_supervised     base;
    rg_pictured_table table[3]; /* training, validation, test */
} rg_pictured_data;

/* Read the tables of training, validation and test data. */
rg_status rg_pictured_open_tables(rg_run *run, const rg_pictured_options *o, const char *what, const char *first,
                                  const char *const *wanted, size_t columns);
/* Make the stores: specs[0] is the picture (filled here), specs[1 ..] the columns in their order. Puts channels,
 * height, width and fit. */
rg_status rg_pictured_open_stores(rg_run *run, const rg_pictured_options *o, rg_field_spec *specs);
/* The same where specs[0] says how rows of numbers are read. Puts features. */
rg_status rg_pictured_open_rows(rg_run *run, const rg_pictured_options *o, const rg_field_spec *specs);
void      rg_pictured_close(rg_run *run);

/* What every task of pictures has in common, but for opening, judging and answering. */
#define RG_PICTURED .unit = "pixels", .small = rg_pictured_small, RG_PICTURED_PARTS
#define RG_PICTURED_PARTS                                                                                        \
    .learning = "learn-rate: 0.001\nafter-epochs: 20\nvalid-freq: 0\nvalid-epochs: 1\nearly-stopping: 5\n"        \
                "keep-best: false\nrestore-best: true\nsave-freq: 0\ndisp-freq: 0\nclip-norm: 1\n",             \
    .assets_bytes = sizeof(rg_pictured_assets), .adopt = rg_pictured_adopt, .describe = rg_pictured_describe,    \
    .drop = rg_pictured_drop, .data_bytes = sizeof(rg_pictured_data), .next = rg_supervised_next,                \
    .tell = rg_supervised_tell, .seek = rg_supervised_seek, .judges = rg_supervised_judges,                      \
    .blame = rg_supervised_blame, .epoch_part = rg_supervised_epoch_part, .close = rg_pictured_close

/* Each batch of the validation (or test) data, in order. */
typedef rg_status rg_pictured_batch(void *context, rg_tape *t, const rg_batch *batch);
rg_status         rg_pictured_pass(rg_run *run, rg_examples *store, rg_pictured_batch *each, void *context);

/* ----------------------------------------------------------------------------------------------------------- asking */

/* The picture field of a model that is asked; of one that reads rows, that of recordings or sequences of numbers. */
rg_field_spec rg_pictured_spec(const rg_model *model);
/* Add the picture that was asked about with its grid of cells, as the labels "cells"; rows as "frames". */
rg_status rg_pictured_add_cells(rg_record *record, const rg_model *model, const rg_asked *asked);
/* Example i of a batch as a batch of its own; `start` has room for 2 numbers per field. */
rg_batch rg_pictured_one(int32_t *start, const rg_batch *batch, size_t example);

/* What to type next: ask about a picture. */
rg_status rg_pictured_hint(rg_text *out, const void *options, const char *program, const char *model);

/* Answers of a search for the pictures of a batch, as text. */
rg_status rg_pictured_text(rg_text *out, const rg_vocab *vocab, const rg_answer *answer);

/* Tiny data: pictures of 8 x 8 pixels with squares and bars in two colours, written to FOLDER/pictures and
 * FOLDER/train.tsv, valid.tsv, whose columns are picture, caption, question, answer, tags, title, ingredients,
 * directions. */
rg_status rg_pictured_small(rg_text *yaml, const char *folder, rg_small_size size);
/* Larger data from a generator: FOLDER/train.tar ... with its default options but for `settings` (YAML). */
rg_status rg_pictured_make(rg_text *yaml, const char *folder, const char *generator, const char *settings,
                           uint64_t train, uint64_t valid);

#endif
