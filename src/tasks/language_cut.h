/* language_cut.h - running text cut into batches.
 *
 *   streams   B texts that go on in parallel; a batch has the next rows of each, and state is carried from batch to batch
 *
 *             stream 0  |--k1--|--k1--|--k1--|           the batch after has k2 rows from where k1 of this one ended
 *             stream 1  |--k1--|--k1--|--k1--|           only rows that no batch before had are predicted
 *
 *   windows   B stretches of text of one length, drawn anywhere, or one after another; nothing goes on between them
 *
 * A row predicts its piece from the one before it, which for the first of the text is </s>. Without a text (running
 * numbers) the pieces are the numbers of the rows, 0, 1, ... */
#ifndef RG_TASKS_LANGUAGE_CUT_H
#define RG_TASKS_LANGUAGE_CUT_H

#include "regard/carry.h"
#include "regard/model.h"
#include "regard/running.h"

/* Part of a text. */
typedef struct rg_text_range {
    rg_running *text; /* NULL: rows of numbers */
    uint64_t    from, count;
} rg_text_range;

typedef struct rg_cut_config {
    rg_text_range text;
    int32_t       first;   /* what stands before the first piece: </s>                       */
    size_t        batch;   /* B: streams, or windows of a batch                              */
    size_t        chunk;   /* k1: rows after which state is carried on; 0: windows           */
    size_t        bptt;    /* k2 >= k1: rows of a chunk; streams only                        */
    size_t        context; /* rows of a window; windows only                                 */
    bool          random;  /* windows are drawn anywhere                                     */
    uint64_t      seed;
    uint64_t      checksum; /* of rows of numbers                                            */
    rg_carry     *carry;    /* borrowed; NULL: nothing is carried                            */
} rg_cut_config;

typedef struct rg_cut rg_cut;

/* RG_EINVAL when the text is too short for a piece in every stream, or for one window. */
rg_status rg_cut_new(rg_cut **out, const rg_cut_config *config);
void      rg_cut_free(rg_cut *cut);

/* The next batch: an empty source and the text (RG_TARGET), `lines` the places of the examples in the text, from 1.
 * *out_more is false at the end of an epoch; the call after that starts the next. Borrowed until the next call. */
rg_status rg_cut_next(bool *out_more, rg_batch *out, rg_cut *cut);
double    rg_cut_epoch_part(const rg_cut *cut);
uint64_t  rg_cut_left_out(const rg_cut *cut); /* pieces at the end that make no row of every stream, or no window */
rg_place  rg_cut_tell(const rg_cut *cut);
rg_status rg_cut_seek(rg_cut *cut, rg_place place); /* the carry is the caller's to set */
uint64_t  rg_cut_checksum(const rg_cut *cut);       /* of the text and the way it is cut */

#endif
