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

/* Scores q k^T of rows r0 .. r1 of a block over keys low .. high (whole panels, from the span's first), a few rows
 * at a time so that keys none of them reaches are left out. `left` (rows, d) dense, `panels` of the span's keys; `e`
 * is the block's row r0, key low. */
void rg_fused__scores(const rg_fused_plan *p, const rg_fused_span *s, const rg_fused_block *b, size_t low, size_t high,
                      size_t d, const rg_real *left, size_t ld_left, const rg_real *panels, rg_real *e, size_t ld);

/* Ask for `width` columns from `col` on of rows q0 .. q1: what the next head reads lies in pieces a row apart, which
 * the machine does not foresee. */
static inline void rg_fused__soon(const rg_real *x, size_t ld, size_t q0, size_t q1, size_t col, size_t width)
{
    enum { MOST = 160 }; /* rows: what is asked for should still be in L2 when it is used */
    for (size_t i = q0; i < q1 && q1 - q0 <= MOST; i++)
        for (size_t j = 0; j < width; j += 16) __builtin_prefetch(x + i * ld + col + j, 0, 2);
}

/* The forward pass over lists (fused_lists.c): shapes were checked, nothing is recorded. */
rg_tensor *rg_fused__lists(rg_tape *t, rg_tensor *q, rg_tensor *k, rg_tensor *v, const rg_reach *reach, size_t heads,
                           double scale);

void rg_fused__backward(rg_tape *t, rg_node *node);

#endif
