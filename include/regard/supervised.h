/* supervised.h - tasks whose data are a store of examples: what goes in and what is to be predicted.
 *
 * What such tasks have in common is written once: options for files and batches, opening the stores, batches as shares,
 * resuming, a pass over the validation data, what a model file holds beside weights, answering one input after another.
 * A task says the rest: its fields, its assets, its metrics, and what a row of its answers is. docs/howto-task.md walks
 * through one.
 *
 *     const rg_task rg_task_mine = { .name = "mine", ..., RG_SUPERVISED(data), .open = open, .judge = judge, .answer = answer };
 *
 * where `data` is a struct whose first member is an rg_supervised. */
#ifndef REGARD_SUPERVISED_H
#define REGARD_SUPERVISED_H

#include "regard/examples.h"
#include "regard/metrics.h"
#include "regard/task.h"

RG_API_BEGIN

/* --------------------------------------------------------------------------------------------------------- options */

/* Which files, and how they are cut into batches. */
struct rg_set_options {
    rg_list train, valid, test, unlabelled, target;
    char   *format, *columns, *header, *pictures;
    int64_t batch, batch_rows, window, batch_beside;
};

/* Rows for a member `sets` of the task's struct of options. `what` says what a line of these files is. */
#define RG_SET_ROWS(type, sets, what, batch_of)                                                                                                       \
    { RG_OPTION_LIST, "train-sets", offsetof(type, sets.train), "", what " to learn from; .gz and .zst allowed", 't', NULL, NULL, NULL },                            \
    { RG_OPTION_LIST, "valid-sets", offsetof(type, sets.valid), "", "the same for validation", 0, NULL, NULL, NULL },                                       \
    { RG_OPTION_LIST, "unlabelled", offsetof(type, sets.unlabelled), "",                                                                              \
      "examples without labels for --objective vat; labels they may have are not read", 0, NULL, NULL, NULL },                                              \
    { RG_OPTION_LIST, "target-sets", offsetof(type, sets.target), "",                                                                                 \
      "examples of the target domain for --objective domain; labels are not read", 0, NULL, NULL, NULL },                                                   \
    { RG_OPTION_LIST, "test-sets", offsetof(type, sets.test), "", "the same, judged once, when everything is learned", 0, NULL, NULL, NULL },               \
    { RG_OPTION_STRING, "format", offsetof(type, sets.format), "", "of these files (docs/data.md); empty: recognised", 0, NULL, NULL, NULL },               \
    { RG_OPTION_STRING, "columns", offsetof(type, sets.columns), "",                                                                                  \
      "their columns, label first, by name or number: stars,review or 2,3 or 1,4-9; empty: named so, or in order", 0, NULL, NULL, NULL },                   \
    { RG_OPTION_STRING, "header", offsetof(type, sets.header), "auto", "is the first line of tsv and csv files names of columns?", 0,                 \
      "auto|yes|no", NULL, NULL },                                                                                                                          \
    { RG_OPTION_STRING, "pictures", offsetof(type, sets.pictures), "",                                                                                \
      "folder or tar archive that the column picture, or sound, names files of", 0, NULL, NULL, NULL },                                                                \
    { RG_OPTION_INT, "mini-batch", offsetof(type, sets.batch), batch_of, "most examples in a batch; 0: no limit", 0, "[0,inf)", NULL, NULL },              \
    { RG_OPTION_INT, "mini-batch-words", offsetof(type, sets.batch_rows), "0",                                                                        \
      "most rows (words, pixels) in a batch, beside --mini-batch; 0: no limit", 0, "[0,inf)", NULL, NULL },                                                 \
    { RG_OPTION_INT, "maxi-batch", offsetof(type, sets.window), "10",                                                                                 \
      "so many times mini-batch examples (0: 1000) are sorted by length together; 0: not sorted", 0, "[0,inf)", NULL, NULL },                               \
    { RG_OPTION_INT, "unlabelled-batch", offsetof(type, sets.batch_beside), "0",                                                                      \
      "unlabelled or target examples beside every batch; 0: as --mini-batch", 0, "[0,inf)", NULL, NULL }

/* How text is cut into pieces. */
typedef struct rg_text_options {
    rg_list vocabs;
    char   *kind, *form;
    int64_t size, min_count, max_length;
    bool    crop, ends;
} rg_text_options;

#define RG_TEXT_ROWS(type, text)                                                                             \
    { RG_OPTION_LIST,                                                                                        \
      "vocabs",                                                                                              \
      offsetof(type, text.vocabs),                                                                           \
      "",                                                                                                    \
      "vocabulary to use instead of learning one: a file, or a model that has one",                          \
      0,                                                                                                     \
      NULL,                                                                                                  \
      NULL, NULL },                                                                                                \
        { RG_OPTION_BOOL,                                                                                    \
          "ends",                                                                                            \
          offsetof(type, text.ends),                                                                         \
          "false",                                                                                           \
          "each text stands between <s> and </s>, as in BERT",                                               \
          0,                                                                                                 \
          NULL,                                                                                              \
          NULL, NULL },                                                                                            \
        { RG_OPTION_STRING,                                                                                  \
          "vocab-kind",                                                                                      \
          offsetof(type, text.kind),                                                                         \
          "words",                                                                                           \
          "how text is cut into pieces",                                                                     \
          0,                                                                                                 \
          "unigram|bpe|char|word|words|characters|tokens",                                                   \
          NULL, NULL },                                                                                            \
        { RG_OPTION_INT,                                                                                     \
          "dim-vocabs",                                                                                      \
          offsetof(type, text.size),                                                                         \
          "30000",                                                                                           \
          "most pieces of the vocabulary; 0: no limit (words, characters)",                                  \
          0,                                                                                                 \
          "[0,10000000]",                                                                                    \
          NULL, NULL },                                                                                            \
        { RG_OPTION_INT,                                                                                     \
          "vocab-min-count",                                                                                 \
          offsetof(type, text.min_count),                                                                    \
          "1",                                                                                               \
          "words and characters: rarer ones become unknown",                                                 \
          0,                                                                                                 \
          "[0,inf)",                                                                                         \
          NULL, NULL },                                                                                            \
        { RG_OPTION_STRING,                                                                                  \
          "normalization",                                                                                   \
          offsetof(type, text.form),                                                                         \
          "lower",                                                                                           \
          "form of the text; lower: composed (nfc) and in lower case",                                       \
          0,                                                                                                 \
          "nfc|nfkc|none|lower",                                                                             \
          NULL, NULL },                                                                                            \
        { RG_OPTION_INT, "max-length", offsetof(type, text.max_length), "1000", "longest text in pieces", 0, \
          "[1,1000000]", NULL, NULL },                                                                             \
    {                                                                                                        \
        RG_OPTION_BOOL, "max-length-crop", offsetof(type, text.crop), "true",                                \
            "crop longer texts instead of leaving them out", 0, NULL, NULL, NULL                                   \
    }

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
    rg_examples  *train, *valid, *test; /* valid, test NULL: there are no such data */
    rg_tape      *judge;         /* without recording                        */
    rg_batch      batch;         /* at hand                                  */
    rg_share_room shares;
    rg_examples  *beside;        /* unlabelled, or of the target domain; NULL: none         */
    rg_batch      beside_batch;
    rg_share_room beside_shares;
    rg_names     *adversary;     /* values of the column that an objective asks for; or NULL */
} rg_supervised;

/* How the files are read: the wanted columns in the order of --columns. */
rg_reader_config rg_supervised_reading(const rg_set_options *sets, const char *const *wanted, size_t count);
/* RG_EINVAL unless there is one training file (or two: --train-sets PICTURES LABELS where `pairs`), at most one to
 * validate on, and a limit of batches. `what` is what the files are of: "labels and texts". */
rg_status rg_supervised_check(const rg_set_options *sets, const char *what, bool pairs);
/* A vocabulary of column `wanted` of the training file, or that of --vocabs. */
rg_status rg_supervised_vocab(rg_vocab **out, const rg_run *run, const rg_set_options *sets,
                              const rg_text_options *text, const rg_reader_config *reading, size_t wanted);
/* The field of a text. */
rg_field_spec rg_text_spec(const char *name, const rg_vocab *vocab, const rg_text_options *text);
/* Open the stores of run->data. A spec's batch_rows comes from the options when it is 0 and the field is the first;
 * texts to validate on are cropped, never left out. */
rg_status rg_supervised_open(rg_run *run, const rg_set_options *sets, const rg_reader_config *reading,
                             const rg_field_spec *specs, size_t fields);
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

#define RG_SUPERVISED(data)                                                                                         \
    .data_bytes = sizeof(data), .next = rg_supervised_next, .tell = rg_supervised_tell, .seek = rg_supervised_seek, \
    .judges = rg_supervised_judges, .blame = rg_supervised_blame, .epoch_part = rg_supervised_epoch_part,           \
    .close = rg_supervised_close

/* What learning starts from where data are small: validate after every epoch, stop after five that were not better,
 * keep the best weights. */
#define RG_SUPERVISED_LEARNING                                                                                                                        \
    "learn-rate: 0.002\nafter-epochs: 20\nvalid-freq: 0\nvalid-epochs: 1\nearly-stopping: 5\nkeep-best: false\nrestore-best: true\nsave-freq: 0\n"          \
    "disp-freq: 0\n"

/* `hint` of tasks that read lines: predict -m MODEL < inputs.txt */
rg_status rg_supervised_hint(rg_text *out, const void *options, const char *program, const char *model);

/* Tell every line of a text. */
void rg_tell_lines(const rg_train_report *report, const char *text);

/* One pass over the validation data: `each` sees what the model answers to every batch, in order. */
typedef rg_status rg_judge_batch(void *context, rg_tape *t, rg_tensor *answers, const rg_batch *batch);
rg_status         rg_supervised_judge(rg_run *run, rg_judge_batch *each, void *context);

/* Answers beside the field RG_LABEL: classes of examples, tags of words, or numbers. */
typedef struct rg_judged {
    rg_confusion confusion;             /* of classes and tags; numbers: none                                                      */
    double       loss, absolute, count; /* sums over what has a label: cross-entropy or squared error; of numbers also |y - label| */
    rg_set_counts spans;                /* of tags that name spans                                                                 */
    bool          has_spans;
} rg_judged;

int32_t rg_best_class(const rg_tensor *logits, size_t row); /* of equals the first */
/* One pass over the validation data. names NULL: labels are numbers. rg_judged_fini also after a failure. */
rg_status rg_supervised_compare(rg_judged *out, rg_run *run, const rg_names *names);
void      rg_judged_fini(rg_judged *judged);
/* accuracy, loss, macro-f1, before them span-f1 where tags name spans; of numbers mse, mae */
rg_status rg_judged_metrics(rg_metrics *out, const rg_judged *judged);
rg_status rg_supervised_judge_labels(rg_metrics *out, rg_run *run, const rg_names *names); /* both: for `judge` */
/* For `finish`: how the weights that are saved do class by class, told as a table; the metrics of validation and
 * test data, as valid-accuracy and test-accuracy, become what the run measured at its end. */
rg_status rg_supervised_tell_classes(rg_run *run, const rg_names *names);

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

/* The three functions of a task whose assets are such a table, and their place in its constant. */
#define RG_ASSET_FUNCTIONS(table)                                                                                                                     \
    static rg_status adopt(void *its, rg_sizes *sizes, const rg_state *state) { return rg_assets_adopt(table, its, sizes, state); }                   \
    static rg_status describe(rg_state *state, const void *its) { return rg_assets_describe(table, state, its); }                                     \
    static void      drop(void *its) { rg_assets_drop(table, its); }
#define RG_ASSETS(type) .assets_bytes = sizeof(type), .adopt = adopt, .describe = describe, .drop = drop

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
    size_t           height, width; /* of a picture file, before it was fitted                 */
    const char      *fault;   /* a picture that cannot be read, and why; otherwise NULL        */
    const rg_explain_options *explain; /* the question's                                       */
} rg_asked;
typedef rg_status rg_answer_one(void *context, const rg_asked *asked);

/* Ask the model about every input: the words of the question as one (pictures: each is a path), or else the lines of
 * its input. Inputs of files are answered in batches, which changes no bit; those of standard input one by one, so
 * that each answer is there before the next line is read. The first is alone when a record is asked for. What is
 * wrong with a line is told with its number, after the answers before it. A picture that cannot be read is asked
 * about as well, with `fault` and without answers; the call fails at the end, with their number. */
rg_status rg_supervised_answer(const rg_model *model, const rg_question *question, const rg_field_spec *input,
                               rg_answer_one *each, void *context);

/* Answers that are texts: one row each under the name `column`. `say` appends the answer to an input, which may be
 * empty. The record of the first has the tokens of its input as labels "words" and the words of its answer as labels
 * `column`. */
typedef rg_status rg_say(rg_text *out, const rg_model *model, const rg_asked *asked);
rg_status rg_supervised_answer_texts(const rg_model *model, const rg_question *question, const rg_field_spec *input,
                                     const char *column, rg_say *say);

/* The same for inputs of one or two fields, the second a text: that of every input, or, when `second` is NULL, what
 * stands behind a tab of each line and in the words behind the first. rg_asked.text is the second field then.
 * Systems that decode give no answers: `each` asks them. */
rg_status rg_supervised_ask(const rg_model *model, const rg_question *question, const rg_field_spec *inputs,
                            size_t fields, const char *second, rg_answer_one *each, void *context);

/* RG_ESTOP when the sink says that nobody waits: for answers that take several passes. */
rg_status rg_asked_wanted(const rg_question *question);

/* For an input with a fault: a remark for people, and a row of so many cells: path, "-", "error". */
rg_status rg_asked_fault(const rg_question *question, const rg_asked *asked, size_t columns);
/* A remark for people: "text 3 is empty". */
void rg_asked_note(const rg_question *question, const rg_asked *asked, const char *what);

/* A record (record.h) of an answer, with the texts "source" and "output"; rg_record_free also after a failure.
 * Labels are added by the task: words between blanks, or the tokens of the input, a label per row of its field. Then
 * what was attended to: the input, which is alone in its batch when a record is asked for, is answered once more
 * with somebody watching, and explained where the question asks for it: rows of answers (labels `outputs`, else added) by
 * the labels "words" or "cells". */
rg_status rg_asked_record(rg_record **out, const rg_asked *asked, const char *kind, const char *answer);
rg_status rg_record_add_words(rg_record *record, const char *name, const char *text);
rg_status rg_record_add_tokens(rg_record *record, const char *name, const rg_vocab *vocab, const rg_asked *asked);
rg_status rg_asked_collect(rg_record *record, const rg_model *model, const rg_asked *asked, const char *outputs);

RG_API_END
#endif
