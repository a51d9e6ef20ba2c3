/* number_parts.h - systems that read rows of numbers and predict the next row, in the place of words:
 *
 *     x_t = (r_t-1 + shift) scale W + b                     every column with mean 0 and deviation 1
 *     loss = sum_t |y_t - (r_t + shift) scale|^2            y_t = h*_t V + c
 *
 * Batches have the rows that go in as values of RG_SOURCE, those to be predicted as values of RG_TARGET; rows whose id
 * there is -1 are not predicted. */
#ifndef RG_MODELS_NUMBER_PARTS_H
#define RG_MODELS_NUMBER_PARTS_H

#include "regard/layers.h"
#include "regard/model.h"

typedef struct rg_number_parts {
    size_t    width;         /* numbers of a row; 0: words are read */
    rg_param *shift, *scale; /* (1, width) kept: from the training data. Parameters input.shift, input.scale */
    rg_dense  entry, answer;
} rg_number_parts;

/* d: width of what the network reads; answer: of what it answers from. */
void       rg_number_parts_init(rg_number_parts *out, rg_model *model, size_t width, size_t d, size_t answer);
rg_tensor *rg_number_rows(rg_tape *t, const rg_number_parts *parts, const rg_batch *batch); /* (N, d) */
/* Counts numbers, not rows. The watch point "numbers" gives what is predicted at every row, in the scale of the
 * data. */
rg_loss rg_number_loss(rg_tape *t, const rg_number_parts *parts, rg_tensor *y, const rg_batch *batch);

#endif
