/* blocks.h - ops on the column blocks of heads: dot with a vector, unit length. */
#ifndef RG_ATTENTION_BLOCKS_H
#define RG_ATTENTION_BLOCKS_H

#include "regard/attention.h"

/* (N, H): w_h . x_h + b_h for the H blocks of x (N, H*d) and w (1, H*d); b (1, H) may be NULL */
rg_tensor *rg_block_dots(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, size_t heads);
/* Each block of each row divided by its length (plus a small eps, so that zero stays zero). */
rg_tensor *rg_unit_blocks(rg_tape *t, rg_tensor *x, size_t heads);

#endif
