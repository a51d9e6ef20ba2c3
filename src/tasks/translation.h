/* translation.h - training a translator: the settings, as rows, and the run. */
#ifndef RG_TASKS_TRANSLATION_H
#define RG_TASKS_TRANSLATION_H

#include "regard/options.h"
#include "regard/trainer.h"
#include "regard/translate.h"
#include "tasks/report.h"

/* Settings of the task, beside those of the system. Names are Marian's where Marian has one. */
typedef struct rg_translation_options {
    rg_list train_sets, valid_sets, vocabs, dim_vocabs, alphas, metrics;
    char   *vocab_kind, *optimizer, *model, *log_json, *valid_log, *form, *source_lang, *target_lang;
    bool    joint, tsv, crop, keep_best, overwrite;
    int64_t vocab_min_count, max_length, mini_batch, mini_batch_words, maxi_batch, workspace;
    int64_t epochs, updates, valid_freq, save_freq, disp_freq, patience, delay, average;
    int64_t beam, threads, seed, samples;
    double  rate, warmup, decay_inv_sqrt, cooldown, clip_norm, smoothing, normalize, max_length_factor;
    double  beta1, beta2, epsilon, weight_decay, save_minutes;
} rg_translation_options;

extern const rg_option rg_translation_rows[];

/* Train `system` with its filled settings; resumes by itself when the model's checkpoint is there. On success the translator (for
 * the caller to free) has the final weights. RG_ESTOP: asked to stop, everything is saved. */
rg_status rg_translation_train(rg_translator **out, const rg_system *system, const void *system_options,
                               const rg_translation_options *options, const rg_train_report *report);

#endif
