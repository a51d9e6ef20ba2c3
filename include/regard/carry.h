/* carry.h - state that streams of text carry from one batch to the next.
 *
 *     batch 1          batch 2          batch 3
 *     the cat sat | -> on the mat | ->  and slept        stream 0: example 0 of every batch
 *     it rained   | -> all day    | ->  long .           stream 1: example 1
 *
 * One block of (streams, width) per layer. The task owns it (zero at an epoch's start, saved and loaded with its
 * place in the data), the batch shows it, the system reads and writes it. What a pass writes is read by passes over
 * the next batch, never by a second pass over this one: rg_carry_turn comes between. A share of a batch has streams
 * of its own, so workers write different rows. */
#ifndef REGARD_CARRY_H
#define REGARD_CARRY_H

#include "regard/autograd.h"
#include "regard/batch.h"

RG_API_BEGIN

/* Zeros. block i is (streams, width[i]). RG_ELIMIT: more than memory can have. */
rg_status rg_carry_new(rg_carry **out, size_t streams, const size_t *width, size_t blocks);
void      rg_carry_free(rg_carry *carry);

void rg_carry_zero(rg_carry *carry); /* at an epoch's start                    */
void rg_carry_turn(rg_carry *carry); /* before a batch: what was written counts */

/* For checkpoints: what was written last, in the order of blocks. set refuses other sizes (RG_EMATCH). */
const void *rg_carry_bytes(const rg_carry *carry, size_t *out_count);
rg_status   rg_carry_set(rg_carry *carry, const void *bytes, size_t count);

/* The rows of the batch's streams, (examples, width), a copy without gradient; zeros where the batch carries
 * nothing, of width `width`. */
rg_tensor *rg_carry_read(rg_tape *t, const rg_batch *batch, size_t block, size_t width);
/* x (examples, width) is what they carry on; its gradient ends here. Nothing where the batch carries nothing, on a
 * dry tape and after a failure. */
void       rg_carry_write(rg_tape *t, const rg_batch *batch, size_t block, const rg_tensor *x);

RG_API_END
#endif
