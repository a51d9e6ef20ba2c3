/* digits.c - `regard reproduce digits`: one digit among 16 cells by soft and hard attention, and where a small network
 * looks on a canvas of 60 x 60.
 *
 * Pictures are placed anew in every epoch (--augment), from the digits of MNIST's training file; those judged come
 * from its test file. The grid has one row of maps per cell of 28 x 28 pixels, so that attention chooses one of 16.
 * Maps of t60: Zhou et al. 2016. */
#include "lab/pictures.h"

#define LEARNING                                                                                                      \
    "--mini-batch 64 --learn-rate 0.003 --lr-schedule cosine --valid-freq 0 --early-stopping 0 --restore-best false " \
    "--save-freq 200 "
#define GRID "--type cnn " RG_MNIST_TRAIN "--augment grid16 --layers c5x12s2n,p2,c3x24n,c3x32n,p7 " LEARNING
#define T60  "--type cnn " RG_MNIST_TRAIN "--augment t60 --layers c3x32n,p2,c3x64n,p2,c3x64n " LEARNING
#define BOXES "t60 10000 0.4" /* around what is above 0.4 of the largest evidence: chosen on validation data among 0.2 to 0.6 */

static const rg_row rows[] = {
    { "grid-soft", GRID "--pool soft --after-epochs 3", 1, 0, "grid16 10000", NULL },
    { "grid-hard", GRID "--pool hard --after-epochs 6", 1, 0, "grid16 10000", NULL },
    { "grid-hard-no-baseline", GRID "--pool hard --baseline none --after-epochs 6", 1, 0, "grid16 10000", NULL },
    { "grid-gumbel", GRID "--pool gumbel --after-epochs 6", 1, 0, "grid16 10000", NULL },
    { "grid-mean", GRID "--pool gap --after-epochs 3", 1, 0, "grid16 10000", NULL },
    { "t60-gap", T60 "--pool gap --after-epochs 5", 1, 0, BOXES, NULL },
    { "t60-max", T60 "--pool max --after-epochs 5", 1, 0, BOXES, NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "accuracy", "accuracy", 2, 0 },     { "pointing", "pointing", 2, 0 },
    { "iou-half", "IoU>=0.5", 2, 0 },     { "mean-iou", "mean IoU", 3, 0 },
    { "parameters", "param.k", 1, 1e-3 }, { "epochs", "epochs", 1, 0 },
    { "seconds", "min", 1, 1.0 / 60 },    { NULL, NULL, 0, 0 },
};

static const rg_claim claims[] = {
    { RG_CLAIM_LEAST, "grid-soft", NULL, 97, "accuracy", "soft attention finds the digit", 0 },
    { RG_CLAIM_LEAST, "grid-hard", NULL, 95, "accuracy", "hard attention finds the digit", 0 },
    { RG_CLAIM_LEAST, "t60-gap", NULL, 98, "accuracy", "the digit is read", 0 },
    { RG_CLAIM_LEAST, "t60-gap", NULL, 95, "pointing", "the peak of the map is on the digit", 0 },
    { RG_CLAIM_LEAST, "t60-gap", NULL, 60, "iou-half", "its box overlaps by half", 0 },
    { RG_CLAIM_ABOVE, "t60-gap", "t60-max", 0, "iou-half", "the mean localises better than the maximum", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

static const rg_grid grid = {
    .name = "digits",
    .heading = "digits by attention over cells (grid16), and by a class activation map (t60); per cent of 10,000 test "
               "pictures",
    .needs = "the folder with mnist/ (MNIST's four files)",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 5 --save-freq 0",
    .judge = rg_pictures_judge,
};

const rg_experiment rg_experiment_digits = {
    .name = "digits",
    .summary = "soft and hard attention over 16 cells; class activation maps on a canvas",
    .source = "Xu et al. 2015 (soft and hard); Zhou et al. 2016 (class activation maps)",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
