/* trainer.h - the inside of the training loop. Everything in `at` is saved: it decides what comes next. */
#ifndef RG_TRAIN_TRAINER_H
#define RG_TRAIN_TRAINER_H

#include "regard/trainer.h"

enum { RG_AVERAGE_MAX = 64 };
enum { RG_OWED_UPDATE = 1, RG_OWED_EPOCH = 2 }; /* what was just done when it was due */

typedef struct rg_saved_model { /* a numbered model, to be averaged */
    uint64_t step;
    double   score;
} rg_saved_model;

typedef struct rg_trainer_at {
    uint64_t       epoch;         /* from 1                                     */
    uint64_t       epoch_batches; /* of this epoch                              */
    uint64_t       batches;       /* ever: numbers the random draws             */
    double         labels, last_labels; /* of all updates, of the last one      */
    double         rate_factor;   /* from stalled validations                   */
    uint64_t       owed;          /* a validation that was cut short: RG_OWED_UPDATE, RG_OWED_EPOCH, 0: none */
    double         part;          /* of the run that is done, as losses see it  */
    uint64_t       round;         /* of phases, from 1                          */
    size_t         phase;         /* whose turn it is                           */
    uint64_t       phase_steps[RG_PHASES_MAX];
    rg_metrics     metrics;       /* last values, bests and stalls              */
    rg_metrics     kept;          /* of the best validation, where its weights are kept */
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
    double   loss, labels, cost, norm, since, cpu_since;
    double   exchange; /* seconds of sums over ranks during which nothing was computed */
    uint64_t clipped, updates;
    double   rate;

    rg_phase_log phase[RG_PHASES_MAX];      /* sums  */
    rg_phase_log phase_mean[RG_PHASES_MAX]; /* means */
    bool        *frozen; /* the marks that entries had when the run began; phases add their own */

    bool     meaned; /* the parameters are the mean of saved models */
    rg_real *kept; /* weights of the best validation; NULL: they are not kept */
    size_t   kept_numbers;

    /* several processes */
    rg_processes *processes;        /* borrowed; NULL: one                                                    */
    struct rg_trainer_sums *sums;   /* of gradients (shared_gradients.c); NULL: one process                   */
    rg_state     *before;           /* where the data stood before this update ...                            */
    rg_trainer_at at_before;        /* ... and the rest                                                       */
    bool          interrupted;      /* the update was begun and cannot be ended: what is saved is from before  */
    bool          saves_for_rank_0; /* which is gone                                                          */
    void         *carried;          /* what streams carried before this batch                                 */
    size_t        carried_room;

    bool       stopped;  /* as asked, with everything saved */
    double     saved_at; /* when: for saves by time                                                  */
    rg_metrics model;    /* how the model file validated in the end; none when it was not validated    */
};

double rg_trainer__part(const rg_trainer *t); /* of the run that is done, by its limits; below 0: it has none */
void rg_trainer__log(rg_trainer *t, rg_train_event event, const char *path, const char *reason);
void rg_trainer__log_average(rg_trainer *t, const rg_metrics *mean, const rg_metrics *last, bool chosen);

/* phases.c: whose turn it is. All do nothing without phases. */
rg_status rg_trainer__phases_new(rg_trainer *t);
void      rg_trainer__phase_begin(rg_trainer *t); /* freeze what it does not learn */
void      rg_trainer__phase_end(rg_trainer *t);   /* as it was before              */
void      rg_trainer__phase_turn(rg_trainer *t);  /* the next one, after an update */
bool      rg_trainer__phases_ahead(const rg_trainer *t); /* phases follow each other, and this is not the last */
void      rg_trainer__phase_clear(rg_trainer *t); /* of the log */
double    rg_trainer__phase_factor(const rg_trainer *t);
const char *rg_trainer__phase_name(const rg_trainer *t); /* NULL: there are none */

/* stopping.c */
rg_status rg_trainer__validate(rg_trainer *t); /* ask the task, compare with the bests, keep the models of new ones */
bool      rg_trainer__out_of_patience(const rg_trainer *t);

rg_status rg_trainer__judge(rg_trainer *t, rg_metrics *out);          /* the task's validation of the parameters as they are now */
rg_status rg_trainer__judge_smoothed(rg_trainer *t, rg_metrics *out); /* of what the model file holds */
bool      rg_trainer__at_least(const rg_metric *a, const rg_metric *b); /* a's value as good as b's or better */

/* saving.c */
rg_status rg_trainer__save_model(rg_trainer *t, const char *best_of); /* NULL: the model itself; else its .best- file */
rg_status rg_trainer__save_due(rg_trainer *t);                        /* rg_trainer_save, and a numbered model to be averaged */
rg_status rg_trainer__write_model(rg_trainer *t, const char *path, size_t averaged); /* averaged > 0: the parameters are a mean */
char     *rg_trainer__best_name(const rg_trainer *t, const char *metric); /* model.best-bleu.safetensors; NULL: no memory */
char     *rg_trainer__iter_name(const rg_trainer *t, uint64_t step);      /* model.iter4000.safetensors                  */

/* averaging.c */
rg_status rg_trainer__save_numbered(rg_trainer *t, uint64_t *out_drop); /* *out_drop: the step whose model is no longer needed; 0: none */
rg_status rg_trainer__remove_numbered(rg_trainer *t, uint64_t step);
rg_status rg_trainer__finish_model(rg_trainer *t); /* the average, when one was asked for and is better; it stays in the parameters */

/* keeping.c: the weights of the best validation. All do nothing unless config.restore_best. */
rg_status rg_trainer__keep_new(rg_trainer *t);
bool      rg_trainer__has_kept(const rg_trainer *t);     /* a validation was the best: before the first there is nothing to restore */
rg_status rg_trainer__keep_if_best(rg_trainer *t);       /* after a validation */
rg_status rg_trainer__keep_swap(rg_trainer *t);          /* exchange them with the parameters, which are not packed again */
rg_status rg_trainer__keep_restore(rg_trainer *t);       /* they become the parameters */
rg_status rg_trainer__keep_put(const rg_trainer *t, rg_state *state);
rg_status rg_trainer__keep_get(rg_trainer *t, const rg_state *state);

/* changes.c */
rg_status rg_trainer__put_settings(const rg_trainer *t, rg_state *state);
rg_status rg_trainer__changes(char **out, const rg_trainer *t, const rg_state *state); /* NULL in *out when nothing changed */

/* shared_update.c: an update that several processes make together. With one all of it does nothing. */
enum { RG_PROCESS_WORKERS = 64 }; /* of one process, where there are several */
void      rg_workers__loss(const rg_workers *workers, size_t i, double *sum, double *count); /* of the last run */
size_t    rg_trainer__own_shares(const rg_trainer *t, const rg_shares *shares, size_t *out_first);
rg_status rg_trainer__share_losses(rg_trainer *t, rg_losses *losses, rg_status status); /* of all ranks; status: of this one's */
rg_status rg_trainer__carry_before(rg_trainer *t);
rg_status rg_trainer__carry_after(rg_trainer *t);
bool      rg_trainer__writes(const rg_trainer *t); /* files */
rg_status rg_trainer__share_stop(rg_trainer *t, bool *stop);
rg_status rg_trainer__same_everywhere(rg_trainer *t); /* RG_EMATCH: other weights or another step */
rg_status rg_trainer__share_metrics(rg_trainer *t, rg_metrics *metrics, rg_status status); /* those of rank 0 */
uint64_t  rg_trainer__hash(const rg_params *params);
rg_status rg_trainer__remember(rg_trainer *t); /* saving.c: where everything stands before an update */

/* shared_gradients.c: with one process these are rg_workers_run and as many blocks as there are workers. */
rg_status rg_trainer__sums_new(rg_trainer *t);
void      rg_trainer__sums_free(rg_trainer *t);
/* The workers and, beside the last batch of an update, the sum of gradients over all ranks. A worker that fails keeps
 * nobody waiting: what it has is summed, and rg_trainer__share_losses tells. */
rg_status rg_trainer__run(rg_losses *out, rg_trainer *t, const rg_job *job, bool last);
rg_status rg_trainer__share_gradients(rg_trainer *t, size_t *out_blocks); /* sums; how many blocks are to be added up now */

/* Parts of at most `each`, and how many are in one of them. */
static inline size_t rg_parts_of(size_t count, size_t each) { return (count + each - 1) / each; }
static inline size_t rg_part_of(size_t count, size_t each, size_t part)
{
    return count - part * each < each ? count - part * each : each;
}

/* averaging.c: after a whole run, the parameters become what the model file holds: smoothed, where the optimiser
 * smooths. */
rg_status rg_trainer__take_final(rg_trainer *t);

#endif
