/* memory_fused.h - a step of a Turing machine's heads as one op: address, read, erase and add, for a batch of machines.
 *
 * The same numbers as the chain of ordinary ops in ntm.c, which stays the one to read, to watch, and to test this
 * against. Here a machine is one row of a tensor, with slots side by side, so that every loop runs over neighbouring
 * numbers whatever the width of memory is:
 *
 *     memory W blocks of N slots | weights H blocks of N slots (readers, then writers) | reads R blocks of W | filled up to 16 */
#ifndef RG_ATTENTION_MEMORY_FUSED_H
#define RG_ATTENTION_MEMORY_FUSED_H

#include "regard/ops.h"

enum { RG_NTM_SHIFTS = 3 }; /* -1, 0, +1 */
#define RG_NTM_TINY 1e-16   /* inside the logarithm that sharpening takes */

typedef struct rg_ntm_sizes {
    size_t rows, width, readers, writers; /* N, W, R, writing heads */
} rg_ntm_sizes;

/* Columns of what the controller tells the heads: H keys, beta, gamma, gate, shifts; then erase and add of the
 * writers. */
typedef struct rg_ntm_columns {
    size_t H, key, beta, gamma, gate, shift, erase, add, all;
} rg_ntm_columns;
rg_ntm_columns rg_ntm_columns_of(const rg_ntm_sizes *sizes);

/* B machines before their first step: memory `fill` everywhere, weights softmax(first_weights (N, H) + focus on slot
 * 0), reads first_reads (1, R W). */
rg_tensor *rg_ntm_start(rg_tape *t, const rg_ntm_sizes *sizes, size_t B, rg_tensor *first_weights,
                        rg_tensor *first_reads, double fill, double focus);

/* Machines after a step, from told (B, columns) and the machines before it. */
rg_tensor *rg_ntm_step(rg_tape *t, const rg_ntm_sizes *sizes, rg_tensor *told, rg_tensor *before);

/* (B, R W) what the heads read in the step that made `machines`; a view. */
rg_tensor *rg_ntm_reads(rg_tape *t, const rg_ntm_sizes *sizes, rg_tensor *machines);

#endif
