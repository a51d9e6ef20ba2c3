/* sample.h - data without labels, and samples like them. */
#ifndef RG_TASKS_SAMPLE_H
#define RG_TASKS_SAMPLE_H

#include "regard/picture.h"
#include "regard/supervised.h"

typedef struct rg_sampler {
    rg_model        *model;
    char            *input;  /* "numbers" or "pixels" */
    rg_pixels_config pixels;
} rg_sampler;

typedef struct rg_drawing {
    int64_t count, seed, columns;
    char   *png, *output;
    bool    tsv;
} rg_drawing;
extern const rg_option rg_drawing_rows[];

rg_status rg_sample_generate(const rg_model *model, const rg_question *question);
/* Samples first .. first + count - 1 of a seed, into out (count, features): sample i follows from seed and i alone. */
rg_status rg_sample_draw(rg_real *out, const rg_model *model, uint64_t seed, uint64_t first, size_t count);

#endif
