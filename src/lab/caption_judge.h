/* caption_judge.h - made pictures whose text names what is in them, one thing after another: where a caption model
 * looks before each of these words. */
#ifndef RG_LAB_CAPTION_JUDGE_H
#define RG_LAB_CAPTION_JUDGE_H

#include "regard/model.h"

typedef struct rg_caption_score {
    double ordered;  /* share of pictures: with each named thing the mean column of the weights moves right */
    double pointing; /* share of named things: the largest weight lies inside the box of what is named     */
    size_t things;   /* that were looked at; 0: the model has no weights, and the others say nothing       */
} rg_caption_score;

/* Test pictures 0 .. count - 1 of the generator of `about` (pictured_make.h), their own texts read by the decoder. Box
 * i of a picture is named by the i-th occurrence of a last word of a box: "square" of "red square", a symbol of a
 * string. RG_EMATCH: the pictures do not fit the model. */
rg_status rg_caption_judge(rg_caption_score *out, const rg_model *model, const char *about, const char *data,
                           size_t count);

#endif
