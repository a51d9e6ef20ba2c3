/* fused_dot.h - what forward and backward of the fused dot product share. */
#ifndef RG_ATTENTION_FUSED_DOT_H
#define RG_ATTENTION_FUSED_DOT_H

#include "attention/fused_plan.h"
#include "autograd/tape.h"

enum { RG_FUSED_KEYS = 512 }; /* keys of a block that backward takes at a time */

typedef struct rg_fused_node {
    rg_node              node;
    rg_tensor           *q, *k, *v;
    const rg_fused_plan *plan;
    size_t               H, dk, dv;
    rg_real              scale;
    rg_real             *kept; /* exp(e - max) of every block and head of spans that are kept        */
    rg_real             *stat; /* (Nq, H): kept: 1 / sum exp(e - max); not kept: log sum exp(e); NULL: nobody asks */
    rg_team             *team;
} rg_fused_node;

/* Scores q k^T of rows r0 .. r1 of a block over keys low .. high (whole panels, from the span's first), a few rows at a time so that
 * keys none of them reaches are left out. `left` (rows, d) dense, `panels` of the span's keys; `e` is the block's row r0, key low. */
void rg_fused__scores(const rg_fused_plan *p, const rg_fused_span *s, const rg_fused_block *b, size_t low, size_t high, size_t d,
                      const rg_real *left, size_t ld_left, const rg_real *panels, rg_real *e, size_t ld);

/* The forward pass over lists (fused_lists.c): shapes were checked, nothing is recorded. */
rg_tensor *rg_fused__lists(rg_tape *t, rg_tensor *q, rg_tensor *k, rg_tensor *v, const rg_reach *reach, size_t heads, double scale);

void rg_fused__backward(rg_tape *t, rg_node *node);

#endif
