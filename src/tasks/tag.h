/* tag.h - what the parts of the task `tag` share. */
#ifndef RG_TASKS_TAG_H
#define RG_TASKS_TAG_H

#include "regard/supervised.h"

/* What a model of this task needs beside weights. */
typedef struct rg_tagger {
    rg_model *model;
    rg_vocab *vocab;
    rg_names *tags;
} rg_tagger;

/* The most likely tag of a row of logits; of equals the first. */
int32_t rg_tag_best(const rg_tensor *logits, size_t row);

/* tag_answer.c: one row per sentence: a tag for each of its words, with blanks between. */
rg_status rg_tag_answer(const rg_model *model, const rg_question *question);
/* tag_small.c: people, places and firms in sentences of a small grammar. */
rg_status rg_tag_small(rg_text *yaml, const char *folder, rg_small_size size);

#endif
