/* memory_task.h - learning puzzles that need a memory: settings, judging, and the record of what the heads did. */
#ifndef RG_TASKS_MEMORY_TASK_H
#define RG_TASKS_MEMORY_TASK_H

#include "regard/puzzles.h"
#include "regard/record.h"
#include "regard/task.h"

typedef struct rg_memory_options {
    char   *task, *coding;
    int64_t bits, min_length, max_length, max_repeats;
    int64_t sequences, hold, mini_batch, valid_length, valid_count, test_count;
    double  zero_vectors;
} rg_memory_options;

extern const rg_option rg_memory_rows[];

rg_puzzle_config rg_memory_puzzle(const rg_memory_options *options);

/* What a model of this task needs beside weights: the puzzle it learned. */
typedef struct rg_memory_assets {
    rg_model         *model;
    rg_memory_options options; /* strings are its own */
} rg_memory_assets;

/* A sequence is lost when at least one bit of its answer is wrong. */
typedef struct rg_memory_judgement {
    double bits, wrong, lost;                 /* bits of surprise per sequence; shares of bits, of sequences */
    size_t sequences, with_zeros, zeros_lost; /* judged; of these with a vector of zeros; of these lost       */
} rg_memory_judgement;

/* Judge `count` sequences of `length` (recall: items) that training never draws. */
rg_status rg_memory_judge(rg_memory_judgement *out, const rg_model *model, const rg_puzzle_config *puzzle,
                          size_t length, size_t count, uint64_t seed, rg_team *team, const rg_train_report *report);

/* Of a batch of one sequence: wrong bits of an answer (logits), and whether there is a vector of zeros to remember. */
size_t rg_memory_wrong(const rg_tensor *logits, const rg_puzzle_batch *batch);
bool   rg_memory_has_zeros(const rg_puzzle_batch *batch);

/* memory_answer.c: what `regard predict` asks, and the answer. */
typedef struct rg_memory_asking {
    int64_t length, count, seed;
    char   *recorded;
} rg_memory_asking;
extern const rg_option rg_memory_asking_rows[];
rg_status rg_memory_answer(const rg_model *model, const rg_question *question);

/* memory_record.c: what went in and out and where every head stood, step by step. */
typedef struct rg_memory_traces rg_memory_traces;
rg_status         rg_memory_traces_new(rg_memory_traces **out, size_t steps);
void              rg_memory_traces_free(rg_memory_traces *traces);
const rg_watcher *rg_memory_traces_watcher(rg_memory_traces *traces);
rg_status         rg_memory_traces_status(const rg_memory_traces *traces);
/* `chances` are the probabilities of the answer's bits. */
rg_status rg_memory_record(rg_record **out, const char *title, const rg_memory_traces *traces,
                           const rg_puzzle_batch *batch, const rg_real *chances);

#endif
