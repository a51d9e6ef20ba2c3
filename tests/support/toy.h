/* toy.h - a small model with every kind of parameter and a stream of made-up batches, for tests of training.
 *
 *     loss = cross entropy of  tied . relu(dropout(table[id]) w1 + b1) w2        label = (a + b) mod CLASSES of ids a, b */
#ifndef TESTS_SUPPORT_TOY_H
#define TESTS_SUPPORT_TOY_H

#include "regard/trainer.h"

enum { TOY_IDS = 23, TOY_WIDTH = 19, TOY_CLASSES = 11, TOY_ROWS = 48 };

typedef struct toy {
    rg_params *params;
    rg_param  *table, *w1, *b1, *w2, *tied, *kept;
    size_t     poison; /* the loss of the batch of this number is not finite; 0: of none */
} toy;

typedef struct toy_share {
    uint64_t batch, first; /* number of the batch (from 1), of the first row in it */
    size_t   rows;
    int32_t  left[TOY_ROWS], right[TOY_ROWS], label[TOY_ROWS];
} toy_share;

rg_status toy_build(toy *t, uint64_t seed);
void      toy_free(toy *t);

/* Rows first .. first + rows of batch number `batch`. */
void    toy_draw(toy_share *share, uint64_t batch, size_t first, size_t rows);
rg_loss toy_loss(void *context, rg_tape *tape, const void *share, int worker); /* an rg_loss_function; context is the toy */

/* One optimiser step on batch number `batch`, cut evenly among the workers. */
rg_status toy_step(rg_losses *out, toy *t, rg_workers *workers, rg_optimizer *opt, uint64_t batch);

/* The toy as a task of the training loop: epochs of TOY_EPOCH batches, a validation loss on a batch nobody trains
 * on. */
enum { TOY_EPOCH = 7 };

typedef struct toy_task {
    toy         toy;       /* first: the loss gets the task */
    rg_trainer *trainer;
    uint64_t    batch;     /* drawn so far                  */
    uint64_t    stop_at;   /* ask to stop after so many     */
    uint64_t    slow;      /* microseconds to wait a batch  */
    toy_share   share[4];
    const void *shares[4];
    size_t      logs, valids, saves;
    double      last_loss, last_valid;
    char        reason[80];
} toy_task;

/* Fresh parameters and a trainer with the toy's hooks (those may be changed by `change`, which may be NULL). */
rg_status toy_open(toy_task *task, const rg_trainer_config *config, void (*change)(rg_trainer_hooks *hooks));
void      toy_close(toy_task *task);

#endif
