/* vqa_judge.h - questions about made pictures: right answers by kind of question, and where the hops looked. */
#ifndef RG_LAB_VQA_JUDGE_H
#define RG_LAB_VQA_JUDGE_H

#include "regard/base.h"

typedef struct rg_vqa_score {
    double plain, relational; /* share of right answers                                                                  */
    double pointing;          /* of plain questions, in one of the hops: the cell with the largest weight touches the box
                                 of the object that is asked about                                                       */
    double narrower;          /* of all questions: the weights of the last hop have less entropy than those of the first */
    size_t hops;              /* with weights; 0: the last two say nothing, 1: `narrower` does not                       */
} rg_vqa_score;

/* Test questions 0 .. count - 1 of the generator of `about` (pictured_make.h). */
rg_status rg_vqa_judge(rg_vqa_score *out, const char *model, const char *about, const char *data, size_t count);

#endif
