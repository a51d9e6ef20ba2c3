/* recurrent.h - recurrence over ragged groups of rows, in either direction, and one step at a time.
 *
 *   kind                 columns of the gates   step
 *   RG_RNN               n                      h' = tanh(x + U h)
 *   RG_LSTM              i | f | o | n          c' = f c + i n         h' = o tanh(c')    (Hochreiter, Schmidhuber 1997; Gers 2000)
 *   RG_GRU               z | r | n              n = tanh(x + U (r h))  h' = (1-z) h + z n (Chung et al. 2014; Bahdanau et al. 2015)
 *   RG_GRU_RESET_AFTER   z | r | n              n = tanh(x + r (U h + b'))  h' = (1-z) n + z h   (cuDNN, PyTorch)
 *
 * i f o z r are logistic, n is tanh; x is the projected input W x + b. The two GRUs are different functions: a file
 * says which one it holds. (PyTorch orders its columns i f g o and r z n.) Groups are worked on together, longest
 * first; no group sees another one's rows and no padding is computed. */
#ifndef REGARD_RECURRENT_H
#define REGARD_RECURRENT_H

#include "regard/ops.h"

RG_API_BEGIN

typedef enum rg_recurrence { RG_RNN, RG_LSTM, RG_GRU, RG_GRU_RESET_AFTER, RG_RECURRENCES } rg_recurrence;

const char *rg_recurrence_name(rg_recurrence kind); /* "rnn", "lstm", "gru", "gru-reset-after" */
rg_status   rg_recurrence_find(rg_recurrence *out, const char *name);
size_t      rg_recurrence_gates(rg_recurrence kind); /* G: 1, 4, 3, 3 */

/* ----------------------------------------------------------------------------------------------------- steps */

/* A layout read in time: groups longest first (equal lengths keep their order), so the groups that still run at step t
 * are a prefix.
 *
 *   start 0 2 6 7        step 0   rows 2 0 6        order[] = 1 0 2       count[] = 3 2 1 1
 *   groups of 2, 4, 1    step 1   rows 3 1          row[]   = 2 0 6 | 3 1 | 4 | 5
 *                        step 2   row  4            first[] = 0 3 5 6 7
 *                        step 3   row  5            reverse: each group's rows from its last to its first */
typedef struct rg_steps {
    size_t         groups;  /* of the layout, empty ones among them (they come last in `order`) */
    size_t         running; /* groups with rows: count[0]                                       */
    size_t         steps;
    size_t         rows;
    const int32_t *order; /* [groups] group number                            */
    const int32_t *count; /* [steps]  groups that run at step t               */
    const int32_t *first; /* [steps + 1] where the rows of step t begin       */
    const int32_t *row;   /* [rows]   row numbers of the layout, step by step */
    bool           as_is; /* row[i] = i: steps follow each other in memory    */
    bool           reverse; /* the last row of a group comes first            */
} rg_steps;

/* Lives on the tape; NULL latches. */
const rg_steps *rg_steps_new(rg_tape *t, const rg_layout *layout, bool reverse);

/* ---------------------------------------------------------------------------------------------- whole sequences */

typedef struct rg_recurrent_weights {
    rg_tensor *w;     /* (in, G u) input projection; NULL: x has G u columns and is projected already */
    rg_tensor *b;     /* (1, G u); may be NULL                                                        */
    rg_tensor *u;     /* (u, G u); RG_GRU: (u, 2u), of z and r                                        */
    rg_tensor *u_new; /* RG_GRU only: (u, u), of the candidate                                        */
    rg_tensor *b_new; /* RG_GRU_RESET_AFTER only: (1, u) b'; may be NULL                              */
} rg_recurrent_weights;

/* States of every row: x (N, in) -> (N, u) in the layout of x. h0 and c0 (groups, u) are the states before the first
 * step, NULL: zeros. out_c (may be NULL; LSTM) gets the cells of every row (N, u). Both results pass gradients.
 * Whoever watches "gates" sees gates.input, gates.forget, gates.output and gates.cell of an LSTM, gates.update and
 * gates.reset of a GRU, and gates.candidate, (N, u) each; of a pass that goes backwards gates.back.input, and so on. */
rg_tensor *rg_recurrent(rg_tape *t, rg_recurrence kind, const rg_recurrent_weights *weights, rg_tensor *x,
                        rg_tensor *h0, rg_tensor *c0, bool reverse, rg_tensor **out_c);

/* (G, D): the row of each group where a direction ends: its last one, or its first when `reverse`. Zeros for an
 * empty group. */
rg_tensor *rg_last_rows(rg_tape *t, rg_tensor *x, bool reverse);

/* Both directions over the same x, combined. */
typedef enum rg_combine { RG_COMBINE_CONCAT, RG_COMBINE_ADD, RG_COMBINE_MULTIPLY } rg_combine;
rg_tensor *rg_combined(rg_tape *t, rg_combine how, rg_tensor *forward, rg_tensor *backward);
rg_tensor *rg_bidirectional(rg_tape *t, rg_recurrence kind, const rg_recurrent_weights *forward,
                            const rg_recurrent_weights *backward, rg_tensor *x, rg_combine how);

/* ------------------------------------------------------------------------------------------------- one step */

/* x (n, G u) projected (or (n, in) when weights->w is given), h and c (n, u) -> h' (n, u), and c' through out_c for
 * the LSTM. */
rg_tensor *rg_recurrent_cell(rg_tape *t, rg_recurrence kind, const rg_recurrent_weights *weights, rg_tensor *x,
                             rg_tensor *h, rg_tensor *c, rg_tensor **out_c);
rg_tensor *rg_rnn_cell(rg_tape *t, rg_tensor *x, rg_tensor *h, rg_tensor *u);
rg_tensor *rg_lstm_cell(rg_tape *t, rg_tensor *x, rg_tensor *h, rg_tensor *c, rg_tensor *u, rg_tensor **out_c);
rg_tensor *rg_gru_cell(rg_tape *t, rg_tensor *x, rg_tensor *h, rg_tensor *u, rg_tensor *u_new);

RG_API_END
#endif
