/* sets.c - `regard reproduce sets`: sets of labels. */
#include "lab/pictured.h"

#define SETS "--type set --layers c5x32s2,c3x64s2,c3x64 --dropout 0 --mini-batch 32 --learn-rate 0.002 --lr-schedule cosine --lr-least 0.0001 --after-batches 5000 --valid-freq 1000 --early-stopping 0 "

static const rg_row rows[] = {
    { "bce", SETS "--predictor bce", 1, 0, "sets count=20000", NULL },
    { "iou", SETS "--predictor iou", 1, 0, "sets count=20000", NULL },
    { "td", SETS "--predictor td", 1, 0, "sets count=20000", NULL },
    { "lstm", SETS "--predictor lstm", 1, 0, "sets count=20000", NULL },
    { "transformer", SETS "--predictor transformer", 1, 0, "sets count=20000", NULL },
    { "set-transformer", SETS "--predictor set-transformer", 1, 0, "sets count=20000", NULL },
    { "bce-cat", SETS "--predictor bce --cardinality cat", 1, 0, "sets count=20000", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "test-f1", "F1 %", 2, 100 },
    { "test-iou", "IoU %", 2, 100 },
    { "test-exact", "exact %", 2, 100 },
    { "parameters", "param.M", 3, 1e-6 },
    { "epochs", "epochs", 1, 0 },
    { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

static const rg_claim claims[] = {
    { RG_CLAIM_LEAST, "bce", NULL, 0.95, "test-f1", "binary cross-entropy", 0 },
    { RG_CLAIM_LEAST, "iou", NULL, 0.95, "test-f1", "soft IoU", 0 },
    { RG_CLAIM_LEAST, "transformer", NULL, 0.94, "test-f1", "a Transformer", 0 },
    { RG_CLAIM_LEAST, "set-transformer", NULL, 0.94, "test-f1", "pooled over its steps", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

static const rg_grid grid = {
    .name = "sets",
    .heading = "sets of digits: F1 of all labels of the test pictures together",
    .needs = "any folder: digits are drawn",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 10 --valid-freq 10 --early-stopping 0",
    .data = rg_pictured_data,
};

const rg_experiment rg_experiment_sets = {
    .name = "sets",
    .summary = "sets of digits with planted pairs, by six predictors",
    .source = "Pineda et al. 2019",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
