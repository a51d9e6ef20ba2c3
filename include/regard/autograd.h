/* autograd.h - the tape: ops compute at once and leave a node; rg_tape_backward walks back.
 *
 *   rg_tape_reset(tape, step);                          everything the last step allocated is gone
 *   rg_loss loss = model->loss(tape, model, batch);     ops; the first failure latches, NULL flows through
 *   RG_TRY(rg_tape_backward(tape, loss.sum));           also reports a failed forward
 *
 * A tape owns an arena: tensors, their gradients, op nodes. Keep no pointer into it across a reset. With recording off
 * the same code is inference. A dry tape runs the same code on shapes alone and counts. */
#ifndef REGARD_AUTOGRAD_H
#define REGARD_AUTOGRAD_H

#include "regard/tensor.h"

RG_API_BEGIN

typedef struct rg_tape rg_tape;
typedef struct rg_params rg_params;
typedef struct rg_param rg_param;
typedef struct rg_grads rg_grads;

/* ------------------------------------------------------------------------------------------------ parameters */

/* Learned and kept values: one block with named views. Entries are declared first and built once; a failure while
 * declaring latches and rg_params_build reports it, so a model's build function reads as a list. */

typedef enum rg_init {
    RG_INIT_ZERO,
    RG_INIT_ONE,
    RG_INIT_UNIFORM,   /* in +- scale                                          */
    RG_INIT_NORMAL,    /* deviation = scale                                    */
    RG_INIT_GLOROT,    /* uniform in +- scale sqrt(6 / (rows + cols))          */
    RG_INIT_ORTHOGONAL, /* square blocks of `rows` columns, each orthogonal    */
    RG_INIT_FORGET     /* zeros, and scale in the second quarter of the columns: the forget gates of an LSTM's bias */
} rg_init;

typedef enum rg_param_kind {
    RG_VECTOR,  /* bias, gain: never packed                                                    */
    RG_WEIGHT,  /* (in, out), right side of products: packed forward and transposed             */
    RG_TABLE,   /* rows are looked up (embedding): never packed                                */
    RG_TIED,    /* (V, D) table that is also the right side of x w^T: packed both ways          */
    RG_KEPT     /* kept value: saved and resumed, never optimised; moved once a step by rg_params_update_kept */
} rg_param_kind;

rg_status rg_params_new(rg_params **out);
void      rg_params_free(rg_params *params);

/* Names are built from scopes: push "encoder", push "0", add "wq" -> "encoder.0.wq". */
void rg_params_push(rg_params *params, const char *format, ...) RG_PRINTF(2, 3);
void rg_params_pop(rg_params *params);

/* Declare one. The handle stays valid for the life of params; NULL when declaring failed (latched). */
rg_param *rg_params_add(rg_params *params, const char *name, rg_param_kind kind, size_t rows, size_t cols, rg_init init,
                        double scale);

/* How weights and tables are kept in memory. For answering only: what is in fewer than four bytes cannot be learned or
 * averaged.
 *
 *     bf16    the upper half of a float, to the nearest; products are in float
 *     int8    q = w 127 / max |w| per output column, to the nearest; rows are quantised as they come, products are of integers and exact */
typedef enum rg_weights {
    RG_WEIGHT_STORED, /* as the file says; float32 for parameters that come from no file */
    RG_WEIGHT_F32,
    RG_WEIGHT_BF16,
    RG_WEIGHT_INT8
} rg_weights;
#define RG_WEIGHT_NAMES "stored|f32|bf16|int8" /* for option rows */

const char *rg_weights_name(rg_weights weights);
bool        rg_weights_find(rg_weights *out, const char *name);

/* Before rg_params_build_empty; entries of fewer than 64 numbers, vectors and kept values stay float32. */
void       rg_params_set_weights(rg_params *params, rg_weights weights);
rg_weights rg_params_get_weights(const rg_params *params); /* never RG_WEIGHT_STORED */
/* Parameters that are there, from float32 to bf16 or int8; like rg_params_slim, but smaller. They can still be
 * saved. */
rg_status rg_params_convert(rg_params *params, rg_weights weights);

/* Allocate the block, fill it from `seed`, pack. */
rg_status rg_params_build(rg_params *params, uint64_t seed);

/* Write the packs again after values were changed from outside (loading, averaging). */
rg_status rg_params_repack(rg_params *params, rg_team *team);

/* For reading only: weights live on in their packs alone, their own numbers are freed (rg_param_data is NULL then).
 * Nothing can be learned, loaded or saved with these parameters any more. */
rg_status rg_params_slim(rg_params *params);

size_t      rg_params_count(const rg_params *params);   /* entries */
rg_status   rg_params_build_empty(rg_params *params); /* zeros: somebody fills them and calls rg_params_repack */
size_t      rg_params_numbers(const rg_params *params); /* learned numbers, frozen ones included, kept ones not */
size_t      rg_params_bytes(const rg_params *params); /* of memory that the numbers take as they are kept, packs included */
rg_param   *rg_params_at(const rg_params *params, size_t index);
rg_param   *rg_params_find(const rg_params *params, const char *name); /* NULL when there is none */

const char   *rg_param_name(const rg_param *param);
rg_param_kind rg_param_get_kind(const rg_param *param);
size_t        rg_param_rows(const rg_param *param);
size_t        rg_param_cols(const rg_param *param);
rg_real      *rg_param_data(const rg_param *param); /* row-major; call rg_params_repack after writing */

/* Marks by name pattern ('*' matches any run of characters). Return how many entries matched. */
size_t rg_params_freeze(rg_params *params, const char *pattern, bool frozen);
size_t rg_params_rate(rg_params *params, const char *pattern, double factor); /* learning-rate factor */
size_t rg_params_decay(rg_params *params, const char *pattern, double decay); /* L2 / weight decay   */

/* One gradient block for one worker; the first gradient of a step overwrites, so nothing is zeroed. */
rg_status      rg_grads_new(rg_grads **out, rg_params *params); /* also makes the transposed packs */
void           rg_grads_free(rg_grads *grads);
void           rg_grads_reset(rg_grads *grads);                                /* nothing written yet */
const rg_real *rg_grads_of(const rg_grads *grads, const rg_param *param);      /* NULL: never written since the reset */
rg_real       *rg_grads_block(const rg_grads *grads);                          /* all, in the order of the parameters' block */

/* Kept values (running statistics, baselines) are only read while passes run: what a pass would change waits in its
 * gradient block. This moves each by the mean of what all passes since the reset asked for, summed in the order of
 * the workers, so workers do not race and the result does not depend on who came first. rg_optimizer_step calls it.
 * Frozen ones stay. */
void rg_params_update_kept(rg_params *params, rg_grads *const *grads, size_t count);

/* ------------------------------------------------------------------------------------------------------ tape */

typedef struct rg_tape_config {
    bool        record;  /* leave nodes, so that backward can run                              */
    bool        learn;   /* training: dropout drops, batch statistics are taken, kept values move */
    bool        dry;     /* shapes only                                                        */
    uint64_t    seed;    /* of everything random on this tape                                  */
    rg_team    *team;    /* borrowed; NULL: the tape makes a team of one                       */
    rg_grads   *grads;   /* borrowed; where gradients of parameters go; NULL: parameters are frozen */
    bool        gather;  /* rg_tape_reset leaves them: gradients of several passes are added up until rg_grads_reset */
    size_t      bytes;   /* first chunk of the arena; 0: a default                             */
} rg_tape_config;
#define RG_TAPE_CONFIG_DEFAULT { .record = true, .learn = true }

rg_status rg_tape_new(rg_tape **out, const rg_tape_config *config);
void      rg_tape_free(rg_tape *tape);

/* Drop everything; `step` numbers the random draws of what follows. */
void rg_tape_reset(rg_tape *tape, uint64_t step);

/* Switch while running. Return the old value. */
bool rg_tape_record(rg_tape *tape, bool record);
bool rg_tape_learn(rg_tape *tape, bool learn);
bool rg_tape_learning(const rg_tape *tape);
bool rg_tape_dry(const rg_tape *tape);
/* Off: batch norm uses the statistics of its batch and leaves the kept ones alone, as a second pass over the same
 * examples wants it. On again after a reset. */
bool rg_tape_update_statistics(rg_tape *tape, bool update);

/* Random ops so far; and back to an earlier number: the ops that follow draw what the ops after it drew. So a second
 * pass over the same rows has the dropout masks of the first. */
uint64_t rg_tape_draws(const rg_tape *tape);
void     rg_tape_redraw(rg_tape *tape, uint64_t draws);

/* How far a training is, for losses that change with it: the same for every worker, and after resuming. Zeros
 * outside of training. */
typedef struct rg_progress {
    double   part;  /* of the run that is done, 0 to 1; below 0: the run has no limit */
    uint64_t step;  /* number of the update, from 1                                   */
    size_t   phase; /* which of the system's phases learns                            */
} rg_progress;
rg_progress rg_tape_progress(const rg_tape *tape);
void        rg_tape_set_progress(rg_tape *tape, rg_progress progress); /* stays until it is set again */

rg_team *rg_tape_team(const rg_tape *tape);

/* Run back from `loss` (1, 1) with seed gradient 1. Reports a failed forward; RG_ENUMBER when the loss is not
 * finite. */
rg_status rg_tape_backward(rg_tape *tape, rg_tensor *loss);

/* The same from any tensor with a given gradient (rows x cols of x, tightly packed). */
rg_status rg_tape_backward_from(rg_tape *tape, rg_tensor *x, const rg_real *dx);

/* After backward: the gradient that reached x, rg_tensor_ld(x) apart; NULL if none did. */
const rg_real *rg_tape_gradient(const rg_tape *tape, const rg_tensor *x);

/* An inner pass (adversarial examples, VAT): what happens between mark and rewind is dropped, gradients of
 * parameters are not touched by it, and the failure state is kept. */
typedef struct rg_tape_point rg_tape_point;
rg_tape_point *rg_tape_mark(rg_tape *tape);
void           rg_tape_rewind(rg_tape *tape, rg_tape_point *point);

/* The first failure since the reset, RG_OK if none; also copies its message to the calling thread. */
rg_status rg_tape_status(const rg_tape *tape);
/* Latch a failure with the op and the current scope in front. Returns NULL so that ops can `return
 * rg_tape_fail(...)`. */
rg_tensor *rg_tape_fail(rg_tape *tape, rg_status status, const char *format, ...) RG_PRINTF(3, 4);

/* Scope names for messages and watch points: "decoder.2.cross". */
void rg_tape_push(rg_tape *tape, const char *format, ...) RG_PRINTF(2, 3);
void rg_tape_pop(rg_tape *tape);

/* What a dry or a real pass cost so far. */
typedef struct rg_tape_cost {
    double flops;   /* of the forward pass; a product of M x N x K counts 2 M N K                */
    size_t bytes;   /* arena bytes that forward and, if recording, backward need                 */
    size_t depth;   /* longest chain of ops that wait for each other                             */
    size_t ops;
} rg_tape_cost;
rg_tape_cost rg_tape_get_cost(const rg_tape *tape);

/* Watching: `see` is called for every watch point whose full name ("decoder.2.cross.weights") it was asked for.
 * Without a watcher nothing is materialised for watching. */
typedef struct rg_watcher {
    void *context;
    bool (*wants)(void *context, const char *name);
    void (*see)(void *context, const char *name, const rg_tensor *x, const void *reach);
} rg_watcher;
void rg_tape_set_watcher(rg_tape *tape, const rg_watcher *watcher); /* borrowed; NULL: nobody watches */
bool rg_tape_watched(const rg_tape *tape, const char *name);        /* inside the current scope       */
void rg_tape_watch(rg_tape *tape, const char *name, const rg_tensor *x, const void *reach);

/* Intervening: a tensor is offered under a name of the current scope, and whoever asked for it gives another one of the
 * same shape, on the tape, to be used instead; NULL latches a failure. What is offered:
 *
 *     "inputs"  the rows that go in, as embedded; `about`: row i of them is row about[i] of the batch (int32_t),
 *               NULL: row i is
 *     "values"  what an attention mixes; `about`: its rg_reach
 *
 * Whoever is not asked for it gets x back. */
typedef struct rg_exchanger {
    void *context;
    bool (*wants)(void *context, const char *name);
    rg_tensor *(*exchange)(void *context, rg_tape *tape, const char *name, rg_tensor *x, const void *about);
} rg_exchanger;
void       rg_tape_set_exchanger(rg_tape *tape, const rg_exchanger *exchanger); /* borrowed; NULL: nobody intervenes */
bool       rg_tape_exchanged(const rg_tape *tape, const char *name); /* would it be asked for, in this scope? */
rg_tensor *rg_tape_offer(rg_tape *tape, const char *name, rg_tensor *x, const void *about);

/* Tracing: every op tells its name, the scope it is in, what goes in and what it makes, before its numbers are there;
 * also on a dry tape. What a network consists of can be read off it. */
typedef struct rg_traced {
    const char             *scope, *op;
    const rg_tensor *const *inputs; /* the first eight, parameters among them */
    size_t                  count;
    const rg_tensor        *out;
    double                  flops; /* of the ops before it */
} rg_traced;
typedef struct rg_tracer {
    void *context;
    void (*op)(void *context, const rg_traced *op);
} rg_tracer;
void            rg_tape_set_tracer(rg_tape *tape, const rg_tracer *tracer); /* borrowed; NULL: nobody traces */
const rg_param *rg_tensor_param(const rg_tensor *x);  /* the parameter it is, or is a view of; NULL: none       */
uint64_t        rg_tensor_serial(const rg_tensor *x); /* its number on its tape, from 1; a view has its whole's */

/* ------------------------------------------------------------------------------------------- entering a tape */

/* Copy rows x cols numbers in; `layout` (may be NULL) is borrowed. rg_input's gradient can be asked for after
 * backward. */
rg_tensor *rg_input(rg_tape *t, const rg_real *data, size_t rows, size_t cols, const rg_layout *layout);
rg_tensor *rg_constant(rg_tape *t, const rg_real *data, size_t rows, size_t cols, const rg_layout *layout);
/* Not copied: rows `ld` apart that stay where they are until the reset (a decoder's cache). */
rg_tensor *rg_borrow(rg_tape *t, const rg_real *data, size_t rows, size_t cols, size_t ld);
rg_tensor *rg_zeros(rg_tape *t, size_t rows, size_t cols, const rg_layout *layout);
rg_tensor *rg_use(rg_tape *t, const rg_param *param); /* a parameter, learning unless it or the tape is frozen */
rg_tensor *rg_detach(rg_tape *t, rg_tensor *x);       /* same numbers, no gradient passes */
rg_tensor *rg_with_layout(rg_tape *t, rg_tensor *x, const rg_layout *layout); /* same rows, grouped otherwise */

/* Memory of the tape for index lists and layouts that must live as long as its nodes. Latches on failure. */
void      *rg_tape_memory(rg_tape *t, size_t bytes);
rg_layout *rg_tape_layout(rg_tape *t, size_t groups, const int32_t *start); /* a copy */
rg_layout *rg_tape_pictures(rg_tape *t, size_t count, size_t height, size_t width); /* one picture per group, row y * width + x pixel (x, y) */

/* A loss is a sum and a count; dividing is one factor in the optimiser's pass. */
typedef struct rg_loss {
    rg_tensor *sum; /* (1, 1) */
    double     count;
} rg_loss;

RG_API_END
#endif
