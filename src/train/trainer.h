/* trainer.h - the inside of the training loop. Everything in `at` is saved: it decides what comes next. */
#ifndef RG_TRAIN_TRAINER_H
#define RG_TRAIN_TRAINER_H

#include "regard/trainer.h"

enum { RG_AVERAGE_MAX = 64 };

typedef struct rg_saved_model { /* a numbered model, to be averaged */
    uint64_t step;
    double   score;
} rg_saved_model;

typedef struct rg_trainer_at {
    uint64_t       epoch;         /* from 1                                     */
    uint64_t       epoch_batches; /* of this epoch                              */
    uint64_t       batches;       /* ever: numbers the random draws             */
    double         rate_factor;   /* from stalled validations                   */
    rg_metrics     metrics;       /* last values, bests and stalls              */
    rg_saved_model saved[RG_AVERAGE_MAX];
    size_t         saved_count;
} rg_trainer_at;

struct rg_trainer {
    rg_params        *params;
    rg_trainer_config config;
    rg_trainer_hooks  hooks;
    rg_workers       *workers;
    rg_optimizer     *opt;
    rg_trainer_at     at;

    /* since the last line of the log */
    double   loss, labels, cost, norm, since;
    uint64_t clipped, updates;
    double   rate;
};

void rg_trainer__log(rg_trainer *t, rg_train_event event, const char *path, const char *reason);

/* stopping.c */
rg_status rg_trainer__validate(rg_trainer *t); /* ask the task, compare with the bests, keep the models of new ones */
bool      rg_trainer__out_of_patience(const rg_trainer *t);

/* saving.c */
rg_status rg_trainer__save_model(rg_trainer *t, const char *best_of); /* NULL: the model itself; else its .best- file */
rg_status rg_trainer__finish_model(rg_trainer *t);                    /* the average, when one was asked for; it stays in the parameters */

#endif
