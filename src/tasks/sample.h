/* sample.h - data without labels, and samples like them. */
#ifndef RG_TASKS_SAMPLE_H
#define RG_TASKS_SAMPLE_H

#include "regard/picture.h"
#include "regard/supervised.h"
#include "tasks/sample_sound.h"

typedef struct rg_sampler {
    rg_model        *model;
    char            *input;  /* "numbers", "pixels" or "sound" */
    rg_pixels_config pixels;
    rg_sound_pictures sound; /* recordings as pictures */
} rg_sampler;

typedef struct rg_drawing {
    int64_t count, seed, columns, rounds;
    char   *png, *output, *wav;
    bool    tsv;
} rg_drawing;
extern const rg_option rg_drawing_rows[];

rg_status rg_sample_generate(const rg_model *model, const rg_question *question);
/* Samples first .. first + count - 1 of a seed, into out (count, features): sample i follows from seed and i alone. */
rg_status rg_sample_draw(rg_real *out, const rg_model *model, uint64_t seed, uint64_t first, size_t count);

/* A sample of pixels as a PNG file. */
rg_status rg_sample_picture(const char *path, const rg_real *pixels, const rg_model *model);

/* Pictures side by side, as many in a row as there are rows, or `across`. */
typedef struct rg_sheet {
    rg_picture picture; /* rg_picture_free */
    size_t     across;
} rg_sheet;
rg_status rg_sheet_new(rg_sheet *out, const rg_model *model, size_t count, size_t across);
void      rg_sheet_add(rg_sheet *sheet, const rg_real *samples, const rg_model *model, size_t first, size_t count);
/* Samples of a validation as MODEL.samples/STEP.png: the first 64 pictures; pairs of numbers as points over those of
 * `data` (n, 2). Nothing for other numbers, or where no model is written. */
rg_status rg_sheet_keep(const rg_run *run, const rg_real *samples, size_t count, const rg_real *data, size_t n);

#endif
