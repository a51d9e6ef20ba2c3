/* classify.h - text -> class: its settings, and what a trained classifier is asked. */
#ifndef RG_TASKS_CLASSIFY_H
#define RG_TASKS_CLASSIFY_H

#include "regard/examples.h"
#include "regard/task.h"

typedef struct rg_classify_options {
    rg_list train_sets, valid_sets;
    char   *format, *columns, *vocab_kind, *form;
    bool    crop;
    int64_t dim_vocabs, vocab_min_count, max_length, mini_batch, mini_batch_words, maxi_batch;
} rg_classify_options;

/* What a model of this task needs beside weights. */
typedef struct rg_classifier {
    rg_model *model;
    rg_vocab *vocab;
    rg_names *names;
    uint64_t *counts; /* training examples of each class: what an empty text is answered with */
} rg_classifier;

/* classify_answer.c */
typedef struct rg_classify_asking {
    int64_t top;
} rg_classify_asking;
extern const rg_option rg_classify_asking_rows[];
rg_status rg_classify_answer(const rg_model *model, const rg_question *question);
/* classify_score.c */
rg_status rg_classify_score(const rg_model *model, const rg_question *question);

#endif
