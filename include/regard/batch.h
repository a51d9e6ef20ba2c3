/* batch.h - what a training step sees: a batch of examples, each of them a few fields, without padding.
 *
 *     field 0 (text, IDS)      | ids of example 0 | ids of 1 | ids of 2    |      layout.start = 0 3 5 9
 *     field 1 (label, CLASS)   | class            | class    | class       |      layout.start = 0 1 2 3
 *
 * A field is rows; its layout says which rows belong to which example. A row is a token, a number, a pixel, a class.
 * What an example does not have (the label of an unlabelled text, the source of a language model) is no row. */
#ifndef REGARD_BATCH_H
#define REGARD_BATCH_H

#include "regard/tensor.h"

RG_API_BEGIN

typedef enum rg_field_kind {     /*              rows of one example                               what a row has            */
    RG_FIELD_IDS,                /* the pieces of a text                                           ids                       */
    RG_FIELD_CLASS,              /* one class                                                      ids                       */
    RG_FIELD_NUMBERS,            /* one row, or one per step of a sequence                         values, `width` of them   */
    RG_FIELD_COUNTS,             /* the features that are not zero, numbers rising                 ids, values (width 1)     */
    RG_FIELD_PIXELS,             /* the pixels of a picture, line after line                       values, `width` channels  */
    RG_FIELD_SET,                /* the members of a set of classes, numbers rising                ids                       */
    RG_FIELD_TAGS,               /* one class for each row of a text; -1 where a word continues    ids                       */
    RG_FIELD_KINDS               /* how many kinds there are                                                                 */
} rg_field_kind;

const char *rg_field_kind_name(rg_field_kind kind); /* "ids", "class", ... */

/* One column of a batch: the rows of all its examples, one example after another. */
typedef struct rg_field {
    rg_field_kind  kind;
    rg_layout      layout;   /* rows of each example; height and width are set when all pictures are of one size            */
    const int32_t *ids;      /* one per row; NULL for NUMBERS and PIXELS                                                    */
    const int32_t *previous; /* IDS to be predicted: ids shifted right within each example, <s> first; otherwise NULL       */
    const rg_real *values;   /* rows * width: NUMBERS, COUNTS, PIXELS (0 .. 1); otherwise NULL                              */
    size_t         width;    /* values per row; 0 where there are none                                                      */
    const int32_t *size;     /* PIXELS: height and width of each picture; otherwise NULL                                    */
    const int32_t *box;      /* PIXELS that a generator placed: x, y, width and height of what each shows, in pixels, all 0
                                where it is not known; otherwise NULL                                                        */
    const rg_real *weights;  /* IDS to be predicted: of the loss of each row; NULL: 1 each                                   */
    const int32_t *copies;   /* a source that words may be copied from: the id each row has in an answer, one of the target
                                vocabulary or, for words it does not know, one beyond it; -1: none. NULL: nothing is copied  */
    size_t         extra;    /* ids beyond the vocabulary that copies have: of the example that has most                     */
} rg_field;

/* The fields of examples that have one class: what goes in, and the class (absent where it is asked for). */
enum { RG_INPUT, RG_LABEL };

/* Behind source and target (text.h) of text with hidden pieces: the segment of each row (0, 1), and of each example
 * whether its second segment follows the first in the text (0) or not (1); no row where nobody asks. */
enum { RG_SEGMENTS = 2, RG_FOLLOWS = 3 };

size_t rg_field_rows(const rg_field *field); /* of all its examples */

enum { RG_BATCH_FIELDS = 8 };

typedef struct rg_carry rg_carry; /* carry.h */

/* Borrowed from the object that filled it; a share borrows from its batch too. */
typedef struct rg_batch rg_batch;
struct rg_batch {
    size_t          examples, fields;
    rg_field        field[RG_BATCH_FIELDS];
    const uint64_t *lines; /* where each example stands in its file: line or number, from 1 */
    rg_carry       *carry; /* streams: example i continues where example i of the batch before ended; NULL: examples stand alone */
    size_t          stream;       /* of the first example                                                        */
    size_t          carry_after;  /* rows of each example after which its state is carried; 0: the last (k1 of BPTT(k1, k2)) */
    const rg_batch *beside; /* examples without labels that a loss may learn from too: unlabelled, of another domain; NULL: none */
};

/* A contiguous share of a batch for worker `share` of `shares`, balanced by the rows of all fields; may be empty
 * when examples are few. layout.first counts the rows before it. Row numbers come from `storage`, which has room for
 * rg_batch_share_room(batch) numbers and outlives out. */
void   rg_batch_share(rg_batch *out, int32_t *storage, const rg_batch *batch, size_t share, size_t shares);
size_t rg_batch_share_room(const rg_batch *batch);

/* Where in its endless sequence of epochs a store of examples stands. Plain numbers: save them, give them back, and
 * the same batches follow. */
typedef struct rg_place {
    uint64_t epoch, window, batch;
    bool     ended; /* the epoch before is over and rg_examples_next_in_epoch has yet to say so */
} rg_place;

RG_API_END
#endif
