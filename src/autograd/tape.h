/* tape.h - what an op sees of the tape.
 *
 * An op has one shape, always the same four moves:
 *
 *   rg_tensor *rg_scale(rg_tape *t, rg_tensor *x, double a)
 *   {
 *       if (!rg_tape__begin(t, "scale", 1, &x)) return NULL;             1. nothing failed, no NULL
 *       rg_tensor *y = rg_tape__tensor(t, x->rows, x->cols, x->layout);  2. room for the result
 *       if (!y) return NULL;
 *       if (rg_tape__live(t)) ... compute ...                            3. numbers, unless dry
 *       scale_node *n = rg_tape__node(t, sizeof *n, y, scale_backward, 1, &x);
 *       if (n) { n->x = x; n->a = a; }                                   4. what backward needs; NULL: nobody asks
 *       return y;
 *   }
 *
 * and a backward that asks rg_tape__grad for each input and overwrites or adds as told. */
#ifndef RG_AUTOGRAD_TAPE_H
#define RG_AUTOGRAD_TAPE_H

#include "regard/ops.h"
#include "tensor/product.h"
#include "tensor/tensor.h"

typedef struct rg_node rg_node;
typedef void rg_backward(rg_tape *t, rg_node *node);

struct rg_node {
    rg_node     *previous;
    rg_tensor   *out;
    rg_backward *backward; /* called only when a gradient arrived at out */
};

/* False when the tape has failed or an input is NULL. Names the op for messages that follow. The numbers of the
 * inputs are there. */
bool rg_tape__begin(rg_tape *t, const char *op, size_t n, rg_tensor *const *inputs);
/* The same for ops that read packs: unless the tape records, weights may be there in few bytes only. */
bool rg_tape__begin_packed(rg_tape *t, const char *op, size_t n, rg_tensor *const *inputs);

/* A new tensor, numbers not set. NULL latches RG_ENOMEM. */
rg_tensor *rg_tape__tensor(rg_tape *t, size_t rows, size_t cols, const rg_layout *layout);
/* Are its numbers there? A weight of slim parameters has only packs: the tape fails. One that is kept in few bytes
 * is written out on the tape. */
bool rg_tape__there(rg_tape *t, rg_tensor *x);
/* A view of rows x cols at (row, col) of x. */
rg_tensor *rg_tape__view(rg_tape *t, rg_tensor *x, size_t row, size_t col, size_t rows, size_t cols);

/* Numbers are computed: not a dry tape. */
bool rg_tape__live(const rg_tape *t);
bool rg_tape__recording(const rg_tape *t);

/* Record. NULL when nothing is recorded because no input needs a gradient or recording is off (or memory is out:
 * latched). `bytes` is the size of the op's own node, which starts with an rg_node. Marks `out` as needing a
 * gradient. Inputs may be NULL (an optional bias). */
void *rg_tape__node(rg_tape *t, size_t bytes, rg_tensor *out, rg_backward *backward, size_t n,
                    rg_tensor *const *inputs);

/* Where the gradient of x goes (x->ld apart), or NULL when x needs none (or is NULL). *add false: nothing is there
 * yet, write every number of it; true: add. */
rg_real *rg_tape__grad(rg_tape *t, rg_tensor *x, bool *add);
/* The same, but with zeros already written where nothing was: always add. */
rg_real *rg_tape__grad_add(rg_tape *t, rg_tensor *x);
/* What arrived at x; NULL: nothing. */
const rg_real *rg_tape__arrived(rg_tape *t, rg_tensor *x);
bool           rg_tape__wants(const rg_tape *t, const rg_tensor *x); /* rg_tape__grad would give a place */

/* A kept value moves: add the step, in the value's own numbers, where this points. NULL when it must not (a dry
 * tape, not learning, or an inner pass). With gradients the step waits there for rg_params_update_kept, so that
 * workers never write what others read; a tape without any moves the value at once. */
rg_real *rg_tape__moves(rg_tape *t, rg_param *kept);

/* Arena memory: kept until reset. Latches on failure. Scratch is dropped at the matching release. */
void          *rg_tape__keep(rg_tape *t, size_t bytes);
rg_real       *rg_tape__reals(rg_tape *t, size_t count);
int32_t       *rg_tape__indices(rg_tape *t, const int32_t *index, size_t count); /* a copy */
rg_arena_point rg_tape__scratch(rg_tape *t);
void           rg_tape__release(rg_tape *t, rg_arena_point point);

/* Count work: flops of this op, and scratch bytes that it or its backward will want beside tensors and gradients. */
void rg_tape__count(rg_tape *t, double flops);
void rg_tape__will_need(rg_tape *t, size_t bytes);
/* What a live tape takes by rg_tape__keep or rg_tape__reals for backward, told on a dry one. */
void rg_tape__will_keep(rg_tape *t, size_t bytes);

/* An op that is a chain of `steps` others: its result is that much deeper. Call after rg_tape__node. */
void rg_tape__deepen(rg_tape *t, rg_tensor *out, size_t steps);

/* The key of the next random op: seed, step and the op's number make it. Returns the stream number. */
uint64_t rg_tape__draw(rg_tape *t, uint32_t key[2]);

/* Weights whose gradients wait for the end of backward (deferred.h). */
struct rg_deferred **rg_tape__deferred(rg_tape *t);

/* The next backward pass is the last one that adds to gradients: it marks those that are final (final.h), if they have
 * marks. Until the tape is reset. */
void rg_tape__announce(rg_tape *t);

/* A product failed inside forward or backward: latch its status. */
void rg_tape__check(rg_tape *t, rg_status status);

/* The packed form of a right side, w or w^T: the parameter's own, or one made in the arena now. Not rg_pack_there:
 * no memory. */
rg_pack rg_tape__pack(rg_tape *t, rg_tensor *w, bool transposed);

/* Rows over the team: work(context, member, begin, end); `cost` is the numbers touched a row. */
void rg_tape__rows(rg_tape *t, size_t rows, size_t cost, rg_team_work *work, void *context);

/* Plain helpers on strided rows (rows.c). */
void rg_rows__copy(size_t rows, size_t cols, rg_real *y, size_t ldy, const rg_real *x, size_t ldx);
void rg_rows__axpy(size_t rows, size_t cols, rg_real *y, size_t ldy, rg_real a, const rg_real *x, size_t ldx, bool add); /* y (+)= a x */
void rg_rows__zero(size_t rows, size_t cols, rg_real *y, size_t ldy);
void rg_rows__column_sums(size_t rows, size_t cols, rg_real *y, const rg_real *x, size_t ldx, bool add); /* y (+)= sum of rows */
/* The same over the team, by columns: each is one chain over the rows whoever takes it. */
void rg_tape__column_sums(rg_tape *t, size_t rows, size_t cols, rg_real *y, const rg_real *x, size_t ldx, bool add);

#endif
