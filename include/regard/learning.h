/* learning.h - the settings of every training, whatever it learns from, and what a training reports.
 *
 * One struct, one table of rows: `regard train` has them for every system. A task (regard/task.h) and a preset say
 * what they start from. */
#ifndef REGARD_LEARNING_H
#define REGARD_LEARNING_H

#include "regard/options.h"
#include "regard/text.h"
#include "regard/trainer.h"

RG_API_BEGIN

/* Names of the rows are Marian's where Marian has one. */
typedef struct rg_learning {
    char   *model, *log_json, *log, *valid_log, *init_from, *optimizer, *schedule, *stop_on;
    rg_list freeze;
    bool    overwrite, keep_best, restore_best;
    int64_t epochs, updates, delay, patience, average;
    int64_t valid_freq, valid_epochs, save_freq, disp_freq;
    int64_t labels, valid_labels, save_labels, disp_labels; /* counted in target tokens */
    double  save_minutes;
    int64_t threads, seed;
    double  rank_timeout;
    bool    rank_overlap;
    double  rate, warmup, start, decay_inv_sqrt, every, decay, least, cooldown, stalled_decay;
    double  beta1, beta2, epsilon, weight_decay, clip_norm, clip_value, smoothing;
} rg_learning;

extern const rg_option rg_learning_rows[];

/* RG_EINVAL names the flags that do not go together, given the trainer's settings that came of them. */
rg_status rg_learning_check(const rg_learning *learning, const rg_trainer_config *config);

/* --cpu-threads, or one per core. */
int rg_learning_threads(const rg_learning *learning);

/* The trainer's settings. `width` is that of the model's rows, for the schedule `transformer`. Strings are borrowed. */
rg_trainer_config rg_learning_config(const rg_learning *learning, bool validates, double width);

/* Who listens to a training. Every function may be NULL. */
typedef struct rg_train_report {
    void *context;
    void (*log)(void *context, const rg_train_log *log);
    void (*say)(void *context, const char *line); /* remarks: counts of the data, sizes */
    void (*sample)(void *context, uint64_t step, const char *source, const char *reference, const char *output);
    bool (*stop)(void *context);
    void (*begin)(void *context, const char *doing); /* something that may take a while: "learning a vocabulary from train.en"; "": it is over */
    void (*reading)(void *context, uint64_t lines);  /* how far it is                                          */
} rg_train_report;

/* Each does nothing where the report, or what it needs of it, is NULL. */
void rg_tell_log(const rg_train_report *report, const rg_train_log *log);
void rg_tell(const rg_train_report *report, const char *format, ...) RG_PRINTF(2, 3);
bool rg_told_to_stop(const rg_train_report *report);
rg_status rg_check_stop(const rg_train_report *report); /* RG_ESTOP when it says so: a judge asks between batches, so that a run stops at once */
void rg_tell_begin(const rg_train_report *report, const char *format, ...) RG_PRINTF(2, 3);
void rg_tell_over(const rg_train_report *report); /* what was begun is done */
/* A watch for whoever reads files: shows the lines, and stops when the report says so. Borrows the report. */
rg_read_watch rg_report_watch(const rg_train_report *report);

RG_API_END
#endif
