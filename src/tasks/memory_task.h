/* memory_task.h - learning puzzles that need a memory: the settings, as rows, and the run. */
#ifndef RG_TASKS_MEMORY_TASK_H
#define RG_TASKS_MEMORY_TASK_H

#include "regard/model.h"
#include "regard/puzzles.h"
#include "tasks/report.h"

typedef struct rg_memory_options {
    char   *task, *coding, *model, *log_json, *optimizer, *schedule;
    bool    overwrite;
    int64_t bits, min_length, max_length, max_repeats;
    int64_t sequences, hold, mini_batch, valid_freq, valid_length, valid_count, test_count;
    int64_t save_freq, disp_freq, threads, seed;
    double  zero_vectors, rate, momentum, clip_value, clip_norm, save_minutes;
} rg_memory_options;

extern const rg_option rg_memory_rows[];

rg_puzzle_config rg_memory_puzzle(const rg_memory_options *options);

/* The settings in a model's file, over options that have their defaults. Files from before there was a choice say
 * nothing of coding and zero vectors: theirs are the paper's, and none beside the random ones. */
rg_status rg_memory_read(rg_memory_options *options, const rg_state *state);

/* A sequence is lost when at least one bit of its answer is wrong. */
typedef struct rg_memory_judgement {
    double bits, wrong, lost;                 /* bits of surprise per sequence; shares of bits, of sequences */
    size_t sequences, with_zeros, zeros_lost; /* judged; of these with a vector of zeros; of these lost       */
} rg_memory_judgement;

/* Judge `count` sequences of `length` (recall: items) that training never draws. */
rg_status rg_memory_judge(rg_memory_judgement *out, const rg_model *model, const rg_puzzle_config *puzzle,
                          size_t length, size_t count, uint64_t seed, rg_team *team);

/* Of a batch of one sequence: wrong bits of an answer (logits), and whether there is a vector of zeros to remember. */
size_t rg_memory_wrong(const rg_tensor *logits, const rg_puzzle_batch *batch);
bool   rg_memory_has_zeros(const rg_puzzle_batch *batch);

/* A model named "" is not written. out_model (may be NULL) is the caller's to free. */
rg_status rg_memory_train(rg_model **out_model, const rg_system *system, const void *system_options, const rg_memory_options *options,
                          const rg_train_report *report);

#endif
