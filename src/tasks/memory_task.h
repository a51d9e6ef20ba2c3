/* memory_task.h - learning puzzles that need a memory: the settings, as rows, and the run. */
#ifndef RG_TASKS_MEMORY_TASK_H
#define RG_TASKS_MEMORY_TASK_H

#include "regard/model.h"
#include "regard/puzzles.h"
#include "tasks/report.h"

typedef struct rg_memory_options {
    char   *task, *model, *log_json, *optimizer, *schedule;
    bool    overwrite;
    int64_t bits, min_length, max_length, max_repeats;
    int64_t sequences, mini_batch, valid_freq, valid_length, valid_count, save_freq, disp_freq, threads, seed;
    double  rate, momentum, clip_value, clip_norm, save_minutes;
} rg_memory_options;

extern const rg_option rg_memory_rows[];

rg_puzzle_config rg_memory_puzzle(const rg_memory_options *options);

/* Bits of surprise a sequence and the share of wrong bits, over `count` sequences of `length` (items). */
rg_status rg_memory_judge(double *out_bits, double *out_wrong, const rg_model *model, const rg_puzzle_config *puzzle, size_t length,
                          size_t count, uint64_t seed, rg_team *team);

/* A model named "" is not written. out_model (may be NULL) is the caller's to free. */
rg_status rg_memory_train(rg_model **out_model, const rg_system *system, const void *system_options, const rg_memory_options *options,
                          const rg_train_report *report);

#endif
