/* recurrent.h - the inside of recurrence: what forward (op_recurrent.c) leaves for backward (op_recurrent_back.c).
 *
 * Everything is kept step by step: row first[t] + i belongs to the i-th longest group at step t, so a step is a
 * block of rows, the states before it are the first rows of the block above, and the gradient of a weight is one
 * product over all rows. */
#ifndef RG_AUTOGRAD_RECURRENT_H
#define RG_AUTOGRAD_RECURRENT_H

#include "autograd/tape.h"
#include "regard/recurrent.h"

typedef struct rg_recurrent_node {
    rg_node              node;
    rg_recurrence        kind;
    rg_recurrent_weights w;
    rg_tensor           *x, *h0, *c0;
    rg_tensor           *h_out, *c_out; /* c_out NULL: nobody asked for cells */
    const rg_steps      *steps;
    size_t               u, gu; /* width of a state; columns of all gates */

    const rg_real *xs; /* (N, in) rows of x; NULL when x came projected */
    size_t         ld_xs;
    rg_real       *gates;            /* (N, gu) values of the gates; the RNN's are its states */
    rg_real       *h, *c;            /* (N, u); c for the LSTM */
    rg_real       *extra;            /* (N, u) r h of the GRU, U h + b' of the other one */
    rg_real       *start_h, *start_c; /* (running, u) states before the first step, longest first; NULL: zeros */
} rg_recurrent_node;

/* States (or cells) before step t: a prefix of the step above. */
static inline const rg_real *rg_recurrent__before(const rg_recurrent_node *n, const rg_real *states,
                                                  const rg_real *start, size_t t)
{
    return t ? states + (size_t)n->steps->first[t - 1] * n->u : start;
}

/* Groups do not see each other, so members of a team may take groups and run through all their steps without
 * meeting. Worth it when each has enough rows a step for a good product and they end about together; else every step
 * is split by itself. */
bool rg_recurrent__apart(const rg_tape *t, const rg_steps *s);
/* A pass over the gates of some rows of a step. */
void rg_recurrent__rows(rg_team *team, const rg_recurrent_node *n, size_t rows, rg_team_work *work, void *context);

void rg_recurrent__backward(rg_tape *t, rg_node *node);

/* Scratch numbers of backward. */
size_t rg_recurrent__scratch(const rg_recurrent_node *n);

#endif
