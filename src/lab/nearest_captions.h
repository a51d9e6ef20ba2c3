/* nearest_captions.h - captions without learning: those of similar pictures (Devlin et al. 2015, "Exploring nearest
 * neighbor approaches for image captioning").
 *
 * A picture is the mean of its cells behind a frozen network, scaled to length 1. Of the captions of the K training
 * pictures whose cosine with it is largest, the one is taken that agrees best with all the others, by the mean GLEU of
 * pairs: shared 1- to 4-grams over those of the longer caption. Scored as `caption` scores its answers. */
#ifndef RG_LAB_NEAREST_CAPTIONS_H
#define RG_LAB_NEAREST_CAPTIONS_H

#include "regard/base.h"

typedef struct rg_nearest_captions {
    const char *table;       /* picture TAB caption, or picture TAB number TAB caption */
    const char *train, *test; /* folders or archives of the pictures                    */
    const char *features;    /* the frozen network                                     */
    size_t      neighbours;
    size_t      most; /* pictures of each part; 0: all */
    int         threads;
} rg_nearest_captions;

/* BLEU-4 and BLEU-1, both with the brevity penalty, and how many pictures were asked about. */
typedef struct rg_nearest_score {
    double bleu, bleu_1, no_brevity;
    size_t pictures;
} rg_nearest_score;

rg_status rg_nearest_captions_judge(rg_nearest_score *out, const rg_nearest_captions *what);

/* Which of n captions agrees best with the others; the first of equals. */
rg_status rg_consensus(size_t *out, const char *const *caption, size_t n);

#endif
