/* language_parts.h - what language models share: tables, the loss of rows that answer the next piece, and the rows that
 * streams carry. */
#ifndef RG_MODELS_LANGUAGE_PARTS_H
#define RG_MODELS_LANGUAGE_PARTS_H

#include "regard/carry.h"
#include "regard/layers.h"
#include "regard/model.h"

typedef struct rg_lm_tables {
    rg_param *embedding;            /* (V, d)                                                   */
    rg_param *output, *output_bias; /* (V, answer); the embedding when tied. NULL bias: none    */
} rg_lm_tables;

/* "embedding", and unless they are tied "output", start as `init` and `scale` say. */
rg_status rg_lm_tables_init(rg_lm_tables *out, rg_model *model, size_t d, size_t answer, bool tied, bool bias,
                            rg_init init, double scale);

/* The field whose pieces are predicted, and its embedded input: the piece before each. */
const rg_field *rg_lm_text(const rg_batch *batch);
rg_tensor      *rg_lm_words(rg_tape *t, const rg_lm_tables *tables, const rg_batch *batch);

/* Cross-entropy of the pieces that are predicted: those that are not -1. */
rg_loss    rg_lm_loss(rg_tape *t, const rg_lm_tables *tables, rg_tensor *y, const rg_batch *batch);
rg_tensor *rg_lm_logits(rg_tape *t, const rg_lm_tables *tables, rg_tensor *y);

/* The last `window` rows of every stream, carried in two blocks: the rows side by side, and how many of them there
 * were.
 *
 *   stream 0                     stream 1                     rows of the buffer; window = 2
 *   p p r r r r                  p p r r r                    p: carried, r: of this batch
 *
 * Row j of a stream is row base + window + j. What lies before the text is never seen: the first stream rows of an
 * epoch have valid = 0. Without a carry there are no p: window is 0 then, and a row's window is cut at the start of its
 * text. */
typedef struct rg_past {
    size_t           window; /* rows before those of the batch: 0 where nothing is carried */
    size_t           reach;  /* rows that a row sees before itself                         */
    size_t           blocks; /* the first of its two carried blocks                        */
    const rg_layout *layout; /* of the batch                                               */
    const int32_t   *valid;  /* of each stream: carried rows that there were               */
} rg_past;

/* NULL layout and a latched failure when there is no memory. */
rg_past rg_past_read(rg_tape *t, const rg_batch *batch, size_t first_block, size_t window);
size_t  rg_past_rows(const rg_past *past);           /* of the whole buffer */
size_t  rg_past_base(const rg_past *past, size_t g); /* of stream g         */
/* The first row that row j of stream g sees, in the buffer; the last is the one before it. */
size_t rg_past_first(const rg_past *past, size_t g, size_t j);
/* A buffer of so many columns with the carried rows in it; those of the batch are to be put. */
rg_tensor *rg_past_buffer(rg_tape *t, const rg_past *past, const rg_batch *batch, size_t cols);
/* The carried rows alone, stream by stream, and their numbers in the buffer; NULL: there are none. */
rg_tensor     *rg_past_carried(rg_tape *t, const rg_past *past, const rg_batch *batch, size_t cols);
const int32_t *rg_past_carried_places(rg_tape *t, const rg_past *past);
/* Numbers of the batch's rows in the buffer, in their order. */
const int32_t *rg_past_places(rg_tape *t, const rg_past *past);
/* Carry on the last rows of the full buffer, as far as the batch says. */
void rg_past_write(rg_tape *t, const rg_past *past, const rg_batch *batch, rg_tensor *buffer);

/* Decoding: rows (n, window * cols) side by side, the newest last. Reach of n queries over the last `valid` of them as
 * (n window) rows. */
const rg_reach *rg_past_step(rg_tape *t, size_t n, size_t window, size_t valid);
rg_tensor      *rg_past_push(rg_tape *t, rg_tensor *rows, rg_tensor *x); /* the oldest leaves, x joins */

#endif
