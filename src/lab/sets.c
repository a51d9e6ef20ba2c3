/* sets.c - `regard reproduce sets`: sets of labels. */
#include <string.h>

#include "lab/pictured.h"
#include "lab/pictured_tables.h"

#define SETS "--type set --layers c5x32s2,c3x64s2,c3x64 --dropout 0 --mini-batch 32 --learn-rate 0.002 --lr-schedule cosine --lr-least 0.0001 --after-batches 5000 --valid-freq 1000 --early-stopping 0 "

#define EMOJI "--type set --predictor bce --dropout 0.3 --mini-batch 32 --learn-rate 0.001 --after-epochs 40 --valid-freq 0 --valid-epochs 2 --early-stopping 5 "

static const rg_row rows[] = {
    { "bce", SETS "--predictor bce", 1, 0, "sets count=20000", NULL },
    { "iou", SETS "--predictor iou", 1, 0, "sets count=20000", NULL },
    { "td", SETS "--predictor td", 1, 0, "sets count=20000", NULL },
    { "lstm", SETS "--predictor lstm", 1, 0, "sets count=20000", NULL },
    { "transformer", SETS "--predictor transformer", 1, 0, "sets count=20000", NULL },
    { "set-transformer", SETS "--predictor set-transformer", 1, 0, "sets count=20000", NULL },
    { "bce-cat", SETS "--predictor bce --cardinality cat", 1, 0, "sets count=20000", NULL },
    { "emoji", EMOJI "--layers c3x32s2,c3x64,p2,c3x64,p2,c3x64", 1, 0, "emoji", NULL },
    { "emoji-iou", EMOJI "--layers c3x32s2,c3x64,p2,c3x64,p2,c3x64 --predictor iou", 1, 0, "emoji", NULL },
    { "emoji-features", EMOJI "--features {data}/mobilenet_v2/mobilenet_v2_1.0_224.safetensors", 1, 0, "emoji", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "test-f1", "F1 %", 2, 100 },
    { "test-iou", "IoU %", 2, 100 },
    { "test-exact", "exact %", 2, 100 },
    { "frequent", "freq. F1", 2, 100 },
    { "nearest", "near F1", 2, 100 },
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

/* Emoji: what the most frequent tags and the tags of the nearest picture would do. */
static rg_status judge(rg_results *out, const rg_row_run *run)
{
    const rg_grid_job *job = run->job;
    rg_set_controls    c = { 0 };
    if (strcmp(run->row->about, "emoji") != 0) return RG_OK;
    char     *folder = rg_pictured_folder(job, "emoji"),
             *archive = rg_format("%s/emoji/png64-twitter.tar", job->settings->data);
    rg_status status = folder && archive ? rg_set_controls_of(&c, folder, archive) : RG_ENOMEM;
    rg_free(folder);
    rg_free(archive);
    if (status == RG_OK) status = rg_results_set(out, "frequent", c.frequent);
    return status == RG_OK ? rg_results_set(out, "nearest", c.nearest) : status;
}

static const rg_grid grid = {
    .name = "sets",
    .heading = "sets of digits and tags of emoji: F1 of all labels of the test pictures together",
    .needs = "the folder with emoji/ and mobilenet_v2/; for digits any: they are drawn",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 10 --valid-freq 10 --early-stopping 0",
    .data = rg_pictured_data,
    .judge = judge,
};

const rg_experiment rg_experiment_sets = {
    .name = "sets",
    .summary = "sets of digits with planted pairs, by six predictors; tags of emoji",
    .source = "Pineda et al. 2019",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
