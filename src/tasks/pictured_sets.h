/* pictured_sets.h - sets of labels of pictures: learning their names, counting what a model got right, writing them
 * down. */
#ifndef RG_TASKS_PICTURED_SETS_H
#define RG_TASKS_PICTURED_SETS_H

#include "regard/metrics.h"
#include "tasks/pictured.h"

/* Learn the labels of a column of the training table, and leave those that were not learned out of the other tables. */
rg_status rg_pictured_learn_sets(rg_run *run, size_t column, uint64_t min_count);
/* Put the size most-members: of the largest set. */
rg_status rg_pictured_most_members(rg_sizes *sizes, rg_examples *store, size_t field);

typedef struct rg_set_sums {
    rg_set_counts counts;
    double        f1, iou, exact, pictures;
} rg_set_sums;
/* Answers (pictures, labels), members above 1/2, against a field of sets. */
rg_status rg_set_sums_add(rg_set_sums *sums, const rg_tensor *answers, const rg_field *set);
/* f1, iou, f1-picture, exact, each with the prefix. */
rg_status rg_set_sums_metrics(rg_metrics *out, const rg_set_sums *sums, const char *prefix);
/* "basil|ham": members above 1/2. Replaces *out. */
rg_status rg_set_text(rg_text *out, const rg_tensor *answers, size_t row, const rg_names *names);
/* Give the record of a picture whose set was found: where each label was looked for, by a pass of the labels through
 * `loss` as if they were given. `note`: what else was written of it, or NULL. */
typedef rg_loss rg_set_loss(rg_tape *t, const rg_model *model, const void *batch);
rg_status       rg_set_record(const rg_sink *sink, const rg_model *model, rg_set_loss *loss, const rg_asked *asked,
                              const char *title, const char *note);

#endif
