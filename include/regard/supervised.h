/* supervised.h - tasks whose data are a store of examples: what goes in and what is to be predicted.
 *
 * What such tasks have in common is written once: options for files and batches, opening the stores, batches as shares, resuming, a pass over
 * the validation data, what a model file holds beside weights, answering one input after another. A task says the rest: its fields, its
 * assets, its metrics, and what a row of its answers is. docs/howto-task.md walks through one.
 *
 *     const rg_task rg_task_mine = { .name = "mine", ..., RG_SUPERVISED(data), .open = open, .judge = judge, .answer = answer };
 *
 * where `data` is a struct whose first member is an rg_supervised. */
#ifndef REGARD_SUPERVISED_H
#define REGARD_SUPERVISED_H

#include "regard/examples.h"
#include "regard/task.h"

RG_API_BEGIN

/* --------------------------------------------------------------------------------------------------------- options */

/* Which files, and how they are cut into batches. */
typedef struct rg_set_options {
    rg_list train, valid;
    char   *format, *columns, *header, *pictures;
    int64_t batch, batch_rows, window;
} rg_set_options;

/* Rows for a member `sets` of the task's struct of options. `what` says what a line of these files is. */
#define RG_SET_ROWS(type, sets, what, batch_of)                                                                                                       \
    { RG_OPTION_LIST, "train-sets", offsetof(type, sets.train), "", what " to learn from; .gz allowed", 't', NULL, NULL },                            \
    { RG_OPTION_LIST, "valid-sets", offsetof(type, sets.valid), "", "the same for validation", 0, NULL, NULL },                                       \
    { RG_OPTION_STRING, "format", offsetof(type, sets.format), "", "of these files (docs/data.md); empty: recognised", 0, NULL, NULL },               \
    { RG_OPTION_STRING, "columns", offsetof(type, sets.columns), "",                                                                                  \
      "their columns, label first, by name or number: stars,review or 2,3 or 1,4-9; empty: named so, or in order", 0, NULL, NULL },                   \
    { RG_OPTION_STRING, "header", offsetof(type, sets.header), "auto", "is the first line of tsv and csv files names of columns?", 0,                 \
      "auto|yes|no", NULL },                                                                                                                          \
    { RG_OPTION_STRING, "pictures", offsetof(type, sets.pictures), "",                                                                                \
      "folder or tar archive that the column picture names files of", 0, NULL, NULL },                                                                \
    { RG_OPTION_INT, "mini-batch", offsetof(type, sets.batch), batch_of, "most examples in a batch; 0: no limit", 0, "[0,inf)", NULL },              \
    { RG_OPTION_INT, "mini-batch-words", offsetof(type, sets.batch_rows), "0",                                                                        \
      "most rows (words, pixels) in a batch, beside --mini-batch; 0: no limit", 0, "[0,inf)", NULL },                                                 \
    { RG_OPTION_INT, "maxi-batch", offsetof(type, sets.window), "10",                                                                                 \
      "so many times mini-batch examples (0: 1000) are sorted by length together; 0: not sorted", 0, "[0,inf)", NULL }

/* How text is cut into pieces. */
typedef struct rg_text_options {
    char   *kind, *form;
    int64_t size, min_count, max_length;
    bool    crop;
} rg_text_options;

#define RG_TEXT_ROWS(type, text)                                                                                                                      \
    { RG_OPTION_STRING, "vocab-kind", offsetof(type, text.kind), "words", "how text is cut into pieces", 0,                                           \
      "unigram|bpe|char|word|words|characters|tokens", NULL },                                                                                               \
    { RG_OPTION_INT, "dim-vocabs", offsetof(type, text.size), "30000",                                                                                \
      "most pieces of the vocabulary; 0: no limit (words, characters)", 0, "[0,10000000]", NULL },                                                    \
    { RG_OPTION_INT, "vocab-min-count", offsetof(type, text.min_count), "1", "words and characters: rarer ones become unknown", 0,                    \
      "[0,inf)", NULL },                                                                                                                              \
    { RG_OPTION_STRING, "normalization", offsetof(type, text.form), "lower",                                                                          \
      "form of the text; lower: composed (nfc) and in lower case", 0, "nfc|nfkc|none|lower", NULL },                                                  \
    { RG_OPTION_INT, "max-length", offsetof(type, text.max_length), "1000", "longest text in pieces", 0, "[1,1000000]", NULL },                       \
    { RG_OPTION_BOOL, "max-length-crop", offsetof(type, text.crop), "true", "crop longer texts instead of leaving them out", 0, NULL, NULL }

/* ---------------------------------------------------------------------------------------------------------- stores */

/* Room for the shares of one batch. All zero: empty. */
typedef struct rg_share_room {
    rg_batch    *share;
    const void **share_of;
    int32_t     *storage;
    size_t       storage_room;
} rg_share_room;

/* What a run of such a task has; the first member of its data. */
typedef struct rg_supervised {
    rg_examples  *train, *valid; /* valid NULL: there are no validation data */
    rg_tape      *judge;         /* without recording                        */
    rg_batch      batch;         /* at hand                                  */
    rg_share_room shares;
} rg_supervised;

/* How the files are read: the wanted columns in the order of --columns. */
rg_reader_config rg_supervised_reading(const rg_set_options *sets, const char *const *wanted, size_t count);
/* RG_EINVAL unless there is one training file (or two: --train-sets PICTURES LABELS where `pairs`), at most one to validate on, and a limit of
 * batches. `what` is what the files are of: "labels and texts". */
rg_status rg_supervised_check(const rg_set_options *sets, const char *what, bool pairs);
/* A vocabulary of column `wanted` of the training file. */
rg_status rg_supervised_vocab(rg_vocab **out, const rg_run *run, const rg_set_options *sets, const rg_text_options *text,
                              const rg_reader_config *reading, size_t wanted);
/* The field of a text. */
rg_field_spec rg_text_spec(const char *name, const rg_vocab *vocab, const rg_text_options *text);
/* Open the stores of run->data. A spec's batch_rows comes from the options when it is 0 and the field is the first; texts to validate on are
 * cropped, never left out. */
rg_status rg_supervised_open(rg_run *run, const rg_set_options *sets, const rg_reader_config *reading, const rg_field_spec *specs, size_t fields);
/* RG_EINVAL when texts are longer than the positions of the model: for `ready`. */
rg_status rg_supervised_fits(const rg_run *run, const rg_text_options *text);

/* Parts of the rg_task; close is also for the close of a task with more to free. */
rg_status rg_supervised_next(rg_run *run, rg_shares *out);
rg_status rg_supervised_tell(const rg_run *run, rg_state *state);
rg_status rg_supervised_seek(rg_run *run, const rg_state *state);
bool      rg_supervised_judges(const rg_run *run);
void      rg_supervised_blame(const rg_run *run, const void *share, char *out, size_t room);
double    rg_supervised_epoch_part(const rg_run *run);
void      rg_supervised_close(rg_run *run);

#define RG_SUPERVISED(data)                                                                                                                           \
    .data_bytes = sizeof(data), .next = rg_supervised_next, .tell = rg_supervised_tell, .seek = rg_supervised_seek,                                   \
    .judges = rg_supervised_judges, .blame = rg_supervised_blame, .epoch_part = rg_supervised_epoch_part, .close = rg_supervised_close

/* Tell every line of a text. */
void rg_tell_lines(const rg_train_report *report, const char *text);

/* One pass over the validation data: `each` sees what the model answers to every batch, in order. */
typedef rg_status rg_judge_batch(void *context, rg_tape *t, rg_tensor *answers, const rg_batch *batch);
rg_status         rg_supervised_judge(rg_run *run, rg_judge_batch *each, void *context);

/* ---------------------------------------------------------------------------------------------------------- assets */

typedef enum rg_asset_kind {
    RG_ASSET_VOCAB,  /* rg_vocab *; its size is a named size                                        */
    RG_ASSET_NAMES,  /* rg_names *; how many is a named size                                        */
    RG_ASSET_COUNTS, /* uint64_t *, one for each of the names in the row before                     */
    RG_ASSET_TEXT,   /* char *                                                                      */
    RG_ASSET_FLAG,   /* bool                                                                        */
    RG_ASSET_FEATURES /* rg_features * (features.h)                                                 */
} rg_asset_kind;

/* A member of a task's assets and its name in the model file. A table of them ends with key = NULL. */
typedef struct rg_asset {
    rg_asset_kind kind;
    const char   *key;
    size_t        offset;
    const char   *size;     /* VOCAB, NAMES: the named size; NULL: none                    */
    size_t        least;    /* NAMES: how many there must be                               */
    bool          optional; /* may be NULL and absent from the file; then there is no size */
} rg_asset;

/* What adopt, describe and drop of a task do, by its table; sizes: the named sizes of what is there. */
rg_status rg_assets_adopt(const rg_asset *table, void *assets, rg_sizes *sizes, const rg_state *state);
rg_status rg_assets_describe(const rg_asset *table, rg_state *state, const void *assets);
void      rg_assets_drop(const rg_asset *table, void *assets);
rg_status rg_assets_sizes(const rg_asset *table, rg_sizes *sizes, const void *assets);

/* ------------------------------------------------------------------------------------------------------- answering */

/* One input and what the model says of it. Borrowed until the callback returns. */
typedef struct rg_asked {
    const char      *name;   /* of a picture; NULL: the input is text, or a line of numbers    */
    const char      *text;   /* the input as it was given; NULL: pixels                        */
    size_t           bytes;
    uint64_t         number; /* from 1                                                         */
    const rg_batch  *batch;  /* where it stands among others; NULL: it is empty                */
    size_t           example;
    const rg_tensor *answers; /* of the batch; NULL: it is empty                               */
    rg_tape         *tape;    /* answers live on it; more may be asked on it                   */
    const rg_cell   *cell;    /* what was read, where a record is asked for; otherwise NULL    */
} rg_asked;
typedef rg_status rg_answer_one(void *context, const rg_asked *asked);

/* Ask the model about every input: the words of the question as one (pictures: each is a path), or else the lines of its input. Inputs of files
 * are answered in batches, which changes no bit; those of standard input one by one, so that each answer is there before the next line is
 * read. The first is alone when a record is asked for. What is wrong with a line is told with its number, after the answers before it. */
rg_status rg_supervised_answer(const rg_model *model, const rg_question *question, const rg_field_spec *input, rg_answer_one *each, void *context);

/* A remark for people: "text 3 is empty". */
void rg_asked_note(const rg_question *question, const rg_asked *asked, const char *what);

RG_API_END
#endif
