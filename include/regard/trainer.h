/* trainer.h - the training loop: batches, updates, validation, early stopping, checkpoints, resuming.
 *
 *   rg_trainer_new(&trainer, params, &config, &hooks);
 *   rg_trainer_resume(&step, trainer);      continues bit for bit from the last checkpoint, if there is one
 *   status = rg_trainer_run(trainer);       RG_OK: done; RG_ESTOP: asked to stop, everything is saved
 *
 * The loop knows nothing about text, graphs or pictures: a task gives it shares of batches and a loss. */
#ifndef REGARD_TRAINER_H
#define REGARD_TRAINER_H

#include "regard/processes.h"
#include "regard/train.h"

RG_API_BEGIN

typedef struct rg_trainer rg_trainer;

typedef enum rg_stop_on { /* with several metrics, when are all of them out of patience? */
    RG_STOP_ON_FIRST, /* the first metric decides      */
    RG_STOP_ON_ALL,   /* when none has any left        */
    RG_STOP_ON_ANY    /* as soon as one has none left  */
} rg_stop_on;

/* Part of a training that has a loss of its own and moves some of the parameters: the two players of a GAN. Phases
 * take turns, an update each, in rounds: phase p comes in rounds every, 2 every, ...; or they follow each other, each
 * for its share of the run, the last to the end: patience counts for the last alone. Each counts its own steps, for
 * the optimiser's averages and for the schedule. */
enum { RG_PHASES_MAX = 8 };
typedef struct rg_trainer_phase {
    const char *name;
    const char *learns; /* pattern of names of the parameters it moves; the others are frozen meanwhile */
    uint64_t    every;  /* rounds; 0: 1                                                                 */
    double      rate;   /* factor on the learning rate; 0: 1                                            */
    double      share;  /* of the first > 0: phases follow each other. The run must have a limit of steps or epochs */
} rg_trainer_phase;

typedef struct rg_trainer_config {
    rg_workers_config   workers;
    rg_optimizer_config optimizer;
    rg_schedule         schedule;
    uint64_t            steps, epochs; /* most updates, most passes over the data; 0: no limit                         */
    uint64_t            delay;         /* batches to an update                                                         */
    uint64_t            validate_every, save_every, log_every; /* updates; 0: not by updates                            */
    uint64_t            validate_epochs, save_epochs;          /* epochs; 0: not by epochs                              */
    uint64_t            labels;        /* most labels (target tokens) over all updates; 0: no limit                    */
    uint64_t            validate_labels, save_labels, log_labels; /* labels between two; 0: not by labels                */
    double              save_seconds;  /* also save when so much time has passed since the last save; 0: not by time. Such saves
                                        * never become part of an average: time must not decide what is learned */
    uint64_t            patience;      /* validations without a better value before it stops; 0: never                 */
    rg_stop_on          stop_on;
    bool                ties;          /* a value as good as the best counts as better                                 */
    double              stalled_decay; /* factor on the learning rate when the first metric stalls; 0 or 1: none        */
    const char         *checkpoint;    /* file to resume from; NULL: none                                              */
    const char         *model;         /* file for inference, smoothed when the optimiser smooths; NULL: none            */
    bool                restore_best;  /* the final model has the weights of the best validation: of the metrics that decide about stopping */
    bool                keep_best;     /* also NAME.best-METRIC of `model` for each metric's best                      */
    size_t              average;       /* the final model is the mean of the models of so many saves, unless the last weights validate
                                        * better; 0, 1: the last weights */
    const rg_trainer_phase *phases;    /* borrowed; none: one phase that learns everything                             */
    size_t              phase_count;   /* the loss sees which one it is of by rg_tape_progress                         */
    rg_processes       *processes;     /* that train together, borrowed; `workers` are then those of all; NULL: this one    */
    bool                overlap;       /* sum gradients over processes while the backward pass still runs             */
    bool                average_best;  /* of those with the best first metric instead of the last                      */
} rg_trainer_config;
#define RG_TRAINER_CONFIG_DEFAULT { .workers = RG_WORKERS_CONFIG_DEFAULT, .optimizer = RG_OPTIMIZER_CONFIG_DEFAULT, \
    .schedule = RG_SCHEDULE_DEFAULT, .delay = 1, .log_every = 100, .overlap = true }

/* A batch cut into shares of about equal cost, at most one for each worker. Borrowed until the next call of `next`. */
typedef struct rg_shares {
    const void *const *share;
    size_t             count; /* 0: the epoch is over; the next call begins the next one */
    double             cost;  /* what is counted a second: words, nodes, pictures        */
    double             divide; /* what the gradient of the summed loss is divided by; 0: by the labels the loss counts */
} rg_shares;

enum { RG_METRICS_MAX = 8, RG_METRIC_NAME = 32 };
typedef struct rg_metric {
    char     name[RG_METRIC_NAME];
    double   value;
    bool     higher; /* is better */
    double   best;
    uint64_t stalled; /* validations since the best; both filled by the loop */
} rg_metric;
typedef struct rg_metrics {
    rg_metric metric[RG_METRICS_MAX];
    size_t    count;
} rg_metrics;
/* Add one; more than RG_METRICS_MAX is RG_ELIMIT. */
rg_status rg_metrics_add(rg_metrics *metrics, const char *name, double value, bool higher_is_better);

typedef enum rg_train_event {
    RG_TRAIN_RESUMED,  /* from `path`; `reason`: what is set otherwise than before, and what that means, or NULL  */
    RG_TRAIN_START,    /* the loop begins, behind `step` updates                                            */
    RG_TRAIN_UPDATE,   /* each one: for a bar                                                               */
    RG_TRAIN_LOG,      /* every log_every updates                                                           */
    RG_TRAIN_VALID,
    RG_TRAIN_SAVED,
    RG_TRAIN_EPOCH,
    RG_TRAIN_AVERAGED, /* the mean of `averaged` models was compared with the last weights                   */
    RG_TRAIN_DONE
} rg_train_event;
typedef struct rg_phase_log {
    const char *name;
    double      loss, labels, rate; /* as in rg_train_log                 */
    uint64_t    steps;              /* updates of this phase since the run began */
} rg_phase_log;
typedef struct rg_train_log { /* means and sums are of the time since the last RG_TRAIN_LOG */
    rg_train_event    event;
    uint64_t          step, epoch, batches; /* epochs from 1; batches of this epoch                */
    double            loss, labels;         /* a label's mean loss; how many there were            */
    double            cost, seconds;        /* words a second is cost / seconds                    */
    double            cpu_seconds;          /* processor time of all threads                       */
    double            exchange;             /* of the seconds: sums over processes, while nothing was computed */
    uint64_t          weights;              /* RG_TRAIN_LOG: XXH64 of the learned numbers, by which a run can be audited in part */
    double            rate, norm, clipped;  /* learning rate now; mean norm; share of clipped steps */
    double            part;                 /* of the run that is done, by its limits, 0 to 1; below 0: it has no limit  */
    const rg_metrics *metrics;              /* RG_TRAIN_VALID; RG_TRAIN_AVERAGED: of the mean, NULL when nothing is validated;
                                             * RG_TRAIN_DONE: of the last validation, or of the weights that were
                                             * restored; NULL when there was none */
    const rg_metrics *last;                 /* RG_TRAIN_AVERAGED: of the last weights, or NULL      */
    size_t            averaged;             /* RG_TRAIN_AVERAGED: how many models                   */
    bool              chosen;               /* RG_TRAIN_AVERAGED: the mean is the model now; RG_TRAIN_DONE: `path` is the best of a validation,
                                             * better than the model at the end                     */
    const char       *path;                 /* RG_TRAIN_SAVED, RG_TRAIN_RESUMED: which file; RG_TRAIN_DONE: the file that validated best,
                                             * NULL when no model is written                        */
    const rg_phase_log *phases;             /* of systems that learn in phases               */
    size_t            phase_count;
    const rg_metrics *notes;                /* RG_TRAIN_LOG: what objectives say of themselves; NULL: nothing */
    const char       *reason;               /* RG_TRAIN_DONE: why; RG_TRAIN_RESUMED: see there      */
} rg_train_log;

/* What a task gives. Only `next` and `loss` must be there. */
typedef struct rg_trainer_hooks {
    void *context; /* first argument of all */
    rg_status (*next)(void *context, rg_shares *out);
    rg_loss_function *loss;
    rg_status (*validate)(void *context, rg_metrics *out);       /* parameters are those to be judged while it runs */
    rg_status (*describe)(void *context, rg_state *state);       /* what every model file says: configuration, tokeniser */
    rg_status (*save)(void *context, rg_state *state);           /* where the data stand                            */
    rg_status (*load)(void *context, const rg_state *state);
    void (*blame)(void *context, const void *share, char *out, size_t room); /* which lines, nodes, pictures a share is of */
    void (*log)(void *context, const rg_train_log *log);
    bool (*stop)(void *context);                                 /* asked after each update: a signal, a deadline   */
    void *(*carried)(void *context, size_t *out_bytes);          /* what shares of a batch wrote and the next batch reads, words of 32 bits, each written by one share; NULL: nothing */
    double (*epoch_part)(void *context);                         /* share of the epoch's data that was given, 0 to 1 */
} rg_trainer_hooks;

/* For built parameters, which are borrowed; config and hooks are copied, their strings borrowed. */
rg_status rg_trainer_new(rg_trainer **out, rg_params *params, const rg_trainer_config *config,
                         const rg_trainer_hooks *hooks);
void      rg_trainer_free(rg_trainer *trainer);

/* Load the last whole checkpoint; *out_step is the number of updates it had, 0 when there is none. Settings that
 * differ from those it was written with are named in RG_TRAIN_RESUMED, with what they mean for the bits. RG_EFORMAT
 * when files are there but none is whole. */
rg_status rg_trainer_resume(uint64_t *out_step, rg_trainer *trainer);

/* Train until a limit, patience or `stop`. RG_ENUMBER: a loss or gradient is not finite; the message names the step,
 * the tensor and what the shares were of, and nothing of it is saved. */
rg_status rg_trainer_run(rg_trainer *trainer); /* with `average`, the parameters are then the mean, or the last ones where those validate better */

/* Save now: the checkpoint, and the model. */
rg_status rg_trainer_save(rg_trainer *trainer);

rg_workers   *rg_trainer_workers(const rg_trainer *trainer);
rg_optimizer *rg_trainer_optimizer(const rg_trainer *trainer);
uint64_t      rg_trainer_epochs(const rg_trainer *trainer); /* passes over the data that are done */
typedef struct rg_trainer_counts {
    uint64_t updates, epoch, epoch_batches, labels; /* the epoch from 1, its batches so far; labels of all updates */
} rg_trainer_counts;
rg_trainer_counts rg_trainer_count(const rg_trainer *trainer);

RG_API_END
#endif
