/* examples.h - a store of examples of any kind: text, classes, numbers, counts, pictures, sets, tags.
 *
 *   rows of cells --specs--> records, in memory or in a temporary file --order of (seed, epoch)--> batches of fields
 *
 * What rg_corpus promises for pairs of lines holds for every kind: an epoch has each example once, in an order that
 * follows from seed and epoch; a place is a few numbers and resuming is exact; what does not fit the memory goes to
 * a file and gives the same bits; faults are counted with file and line; a checksum changes with data, settings and
 * vocabularies. rg_corpus itself is this store with two fields. */
#ifndef REGARD_EXAMPLES_H
#define REGARD_EXAMPLES_H

#include "regard/batch.h"
#include "regard/reader.h"
#include "regard/text.h"

RG_API_BEGIN

/* ------------------------------------------------------------------------------------------------ class names */

/* Distinct names, sorted (by number when all are whole numbers, otherwise by bytes): the order of the file does not
 * matter. */
typedef struct rg_names rg_names; /* never changes once made */

rg_status   rg_names_new(rg_names **out, const char *const *names, size_t count); /* in any order, repeats allowed */
void        rg_names_free(rg_names *names);
size_t      rg_names_count(const rg_names *names);
const char *rg_names_get(const rg_names *names, int32_t id); /* borrowed; "" outside the list */
int32_t     rg_names_find(const rg_names *names, const char *name, size_t bytes); /* -1: not in the list */
/* Bytes for a model file, and back. Bytes that were changed are refused. */
rg_status   rg_names_to_bytes(rg_text *out, const rg_names *names);
rg_status   rg_names_from_bytes(rg_names **out, const void *bytes, size_t count);
uint64_t    rg_names_checksum(const rg_names *names); /* equal for equal lists */
rg_status   rg_names_print(rg_text *out, const rg_names *names, size_t most); /* "negative, neutral, positive"; "..." past `most` */

/* ----------------------------------------------------------------------------------------------------- fields */

/* Pixels of a picture file (PNG, JPEG): appends height * width * channels bytes to out. Fails with what is wrong,
 * without the file's name. */
typedef rg_status rg_decode_picture(rg_text *out, size_t *out_height, size_t *out_width, size_t channels,
                                    const rg_cell *cell, void *context);

/* Rows of pictures that somebody else keeps (features.h): a record holds the number of an entry. `keep` finds or
 * makes it: its height and width in rows, and a key that changes with what is in it. `rows` gives height * width *
 * spec.width numbers, which stay. */
typedef struct rg_kept_rows {
    rg_status (*keep)(uint32_t *out_entry, size_t *out_height, size_t *out_width, uint64_t *out_key,
                      const rg_cell *cell, void *context);
    const float *(*rows)(void *context, uint32_t entry);
} rg_kept_rows;

/* A picture of a batch changed on the way into it, of any size: `height` x `width` pixels of spec.width channels,
 * appended to *out as bytes. What comes out follows from the picture, its line, the epoch and `training` (false: a
 * store to validate on, whose epoch is always 0). out_box: where in it the picture was put, x, y, width, height;
 * zeros, as it comes, when nobody knows. */
typedef struct rg_base_picture {
    const unsigned char *pixels;
    size_t               height, width, channels;
} rg_base_picture;
typedef rg_status rg_change_picture(rg_text *out, size_t *out_height, size_t *out_width, int32_t out_box[4],
                                    const rg_base_picture *base, uint64_t epoch, uint64_t line, bool training,
                                    void *context);

/* Rows of a file that is neither text nor a picture (sound.h): appends floats to out, `width` to a row, at least one
 * row. Fails with what is wrong, without the file's name. */
typedef rg_status rg_decode_rows(rg_text *out, size_t width, const rg_cell *cell, void *context);

/* Rows of numbers of a batch changed on the way into it: `count` rows of `width` numbers, appended to *out, any number
 * of rows. What comes out follows from the rows, their line and the epoch. Stores to validate on are not changed. */
typedef rg_status rg_change_rows(rg_text *out, const float *rows, size_t count, size_t width, uint64_t epoch,
                                 uint64_t line, void *context);

/* What a field is before data are read. Vocabularies, names and strings are borrowed and must outlive the store. */
typedef struct rg_field_spec {
    const char     *name; /* of the column: "text", "label"                                                               */
    rg_field_kind   kind;
    const rg_vocab *vocab;      /* IDS: cuts the text; NULL: a field without rows                                         */
    const rg_names *names;      /* CLASS, SET, TAGS                                                                       */
    size_t          width;      /* NUMBERS: how many per row; COUNTS: features are 0 .. width-1; PIXELS: channels                 */
    size_t          max_rows;   /* longest text, </s> not counted, most pixels, most members; 0: no limit                 */
    size_t          batch_rows; /* most rows of this field in a batch (a larger example is alone); 0: no limit            */
    bool            crop;       /* crop longer texts (counted) instead of skipping the example                            */
    bool            eos;        /* IDS: each text is closed by </s>                                                       */
    bool            bos;        /* IDS: each text begins with <s>, which counts for max_rows                              */
    bool            predicted;  /* IDS: also `previous`; implies eos                                                      */
    bool            words;      /* IDS: each word is cut by itself, for the TAGS field behind it                          */
    bool            many;       /* NUMBERS: any number of rows, between ; or line ends: a sequence. IDS: any number of texts, one per
                                 * line, each at most max_rows long and closed by </s>. CLASS: any number, one per
                                 * line; a name that nobody learned is -1 */
    bool            optional;   /* may be missing or empty: no rows (unlabelled examples)                                 */
    double          alpha;      /* IDS: rg_vocab_sample cuts the text anew each epoch; 0: always the same cut             */
    struct rg_open_words *extra; /* IDS: words that the vocabulary does not know get ids beyond it (copies.h); NULL: <unk>       */
    rg_decode_picture *decode;  /* PIXELS from picture files; NULL: the cells are raw pixels (idx)                        */
    const rg_kept_rows *kept;   /* PIXELS: instead of decode; NULL: records hold the pixels                               */
    rg_decode_rows    *rows;    /* NUMBERS, a sequence: rows of files; NULL: the cells are text                          */
    void              *context; /* of decode, kept, rows */
    rg_change_rows    *change_rows; /* NUMBERS: fresh rows in every epoch; NULL: as they are                             */
    rg_change_picture *change;  /* PIXELS: fresh pictures in every epoch; NULL: as they are                               */
    void              *changing; /* context of change, change_rows */
    bool               still;   /* of a store to validate on: change is told so */
} rg_field_spec;

/* ------------------------------------------------------------------------------------------------------ store */

typedef struct rg_examples_config {
    size_t      batch;   /* most examples in a batch; 0: no limit. It holds together with batch_rows of the fields         */
    size_t      window;  /* sort by rows, last field first, within so many times batch (0: 1000) examples; 0: keep the order. Where
                          * records come from the file, those of one window (64 batches where this is 0) are in
                          * memory at once */
    bool        shuffle; /* a new order each epoch                                                                        */
    uint64_t    seed;
    size_t      memory; /* bytes of records kept in memory; more goes to a temporary file                                 */
    const char *temp;   /* its directory; NULL: $TMPDIR or /tmp                                                           */
} rg_examples_config;
#define RG_EXAMPLES_CONFIG_DEFAULT { 64, 100, true, 1, (size_t)1 << 30, NULL }

/* What was wrong in one file. */
typedef struct rg_examples_faults {
    char    *name; /* of the file; NULL: examples that were added one by one */
    rg_fault empty, too_long, cropped, bad_utf8, nul, line_limit, absent; /* absent: the row names a file that is not there */
} rg_examples_faults;

typedef struct rg_examples_report {
    uint64_t lines;    /* rows read */
    uint64_t examples; /* kept      */
    uint64_t rows[RG_BATCH_FIELDS];    /* kept, </s> counted                                              */
    uint64_t unknown[RG_BATCH_FIELDS]; /* pieces outside the vocabulary, features outside 0 .. width-1     */
    rg_examples_faults *faults; /* one per file */
    size_t              files;
} rg_examples_report;

typedef struct rg_examples rg_examples;

rg_status rg_examples_new(rg_examples **out, const rg_examples_config *config, const rg_field_spec *specs,
                          size_t fields);
void      rg_examples_free(rg_examples *examples);
/* One example, a cell per field. What cannot be kept (empty, too long) is counted; what makes no sense (a class
 * nobody knows, "1.5x" as a number) is a failure that names the field. */
rg_status rg_examples_add(rg_examples *examples, const rg_cell *cells, uint64_t line);
/* All rows of a file; `wanted` of the configuration is the names of the specs unless it is given. May be called for
 * several files. */
rg_status rg_examples_read(rg_examples *examples, const char *path, const rg_reader_config *config);
rg_status rg_examples_read_from(rg_examples *examples, rg_reader *reader); /* whose wanted columns are the specs, in their order */
/* Empty a store that never went to a file: the same fields, no examples, not sealed. Faults stay counted. */
void      rg_examples_clear(rg_examples *examples);
/* No more examples will come. A store without a single one is refused. */
rg_status rg_examples_seal(rg_examples *examples);
/* new, read, seal. */
rg_status rg_examples_open(rg_examples **out, const rg_examples_config *config, const rg_field_spec *specs,
                           size_t fields, const char *path, const rg_reader_config *reading);

/* What a field needs to know before it can be read, from a first pass over the file: the names of CLASS (two at
 * least), SET and TAGS into *out_names (the caller's to free), the width of NUMBERS, COUNTS and raw PIXELS into
 * *out_width. Either may be NULL. */
rg_status rg_examples_learn(rg_names **out_names, size_t *out_width, const rg_field_spec *spec, const char *path,
                            const rg_reader_config *config);
/* A rg_vocab_feed: text of column `wanted` of a reader, for rg_vocab_train. */
typedef struct rg_reader_feed {
    rg_reader *reader;
    size_t     wanted;
} rg_reader_feed;
rg_status rg_reader_feed_next(bool *out_more, const char **out_text, size_t *out_bytes, void *feed);

uint64_t                  rg_examples_count(const rg_examples *examples);
size_t                    rg_examples_fields(const rg_examples *examples);
const rg_field_spec      *rg_examples_spec(const rg_examples *examples, size_t field);
const rg_examples_report *rg_examples_counts(const rg_examples *examples);
rg_status                 rg_examples_describe(rg_text *out, const rg_examples *examples); /* the counts in a sentence or two */

/* The next batch. *out_new_epoch (may be NULL) tells that it is the first of an epoch. Borrowed until the next call. */
rg_status rg_examples_next(rg_batch *out, bool *out_new_epoch, rg_examples *examples);
/* The same, but false in *out_more at the end of the epoch; the call after that starts the next. */
rg_status rg_examples_next_in_epoch(bool *out_more, rg_batch *out, rg_examples *examples);
rg_place  rg_examples_tell(const rg_examples *examples);
double    rg_examples_epoch_part(const rg_examples *examples); /* share of this epoch's examples that was given, 0 to 1 */
rg_status rg_examples_seek(rg_examples *examples, rg_place place); /* of other data or settings: RG_EMATCH where visible */
/* Example i in file order. Borrowed like a batch. */
rg_status rg_examples_one(rg_batch *out, rg_examples *examples, uint64_t i);
/* A number that changes with the data, the settings, vocabularies and names: checkpoints record it beside the place. */
uint64_t  rg_examples_checksum(const rg_examples *examples);

RG_API_END
#endif
