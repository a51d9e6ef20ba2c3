/* longrange.h - the data of `regard reproduce longrange`, and how a model is judged by them. */
#ifndef RG_LAB_LONGRANGE_H
#define RG_LAB_LONGRANGE_H

#include "regard/base.h"

/* FOLDER/train.txt and valid.txt, lines to learn from, and test.tsv (text, cue, last word), with so many filler
 * words. Made once. */
rg_status longrange_data(const char *out, const char *folder, const char *distance);

typedef struct longrange_figures {
    double right;      /* share of sentences whose last word is the likeliest                                  */
    bool   attends;    /* the system has blocks that can be rolled out, and values that can be zero            */
    double by_rollout; /* share of sentences where the largest rollout weight before the blank is the cue's    */
    double by_zeroing; /* where the word whose values the last word needs most is the cue's                     */
    double parameters;
} longrange_figures;
rg_status longrange_judge(longrange_figures *out, const char *model, const char *test);

#endif
