/* made_judge.h - a classifier judged by pictures that are made and that no training has seen.
 *
 * `about` is a generator, one of its options and how many of its test pictures are looked at: "t60,size:28 10000";
 * a third word is the share of the largest evidence that a box stands around (0.2: Zhou et al. 2016). */
#ifndef RG_LAB_MADE_JUDGE_H
#define RG_LAB_MADE_JUDGE_H

#include "regard/base.h"

typedef struct rg_made_score {
    double accuracy;            /* per cent */
    double pointing, half, iou; /* the peak lies in the box, IoU >= 0.5 (per cent); mean IoU. With maps */
    double parameters;
    bool   maps;
} rg_made_score;

/* digits: the folder of MNIST's files. quick: a few pictures. */
rg_status rg_made_judge(rg_made_score *out, const char *model, const char *about, const char *digits, bool quick);

#endif
