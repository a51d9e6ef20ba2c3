/* vqa.c - `regard reproduce vqa`: questions about pictures. */
#include "lab/pictured.h"

#define SHAPES "--type san --layers c3x32s2,c3x64s2,c3x64s2,c3x64 --width 128 --dropout 0 --mini-batch 16 --learn-rate 0.001 --lr-schedule cosine --lr-least 0.00005 --after-batches 15000 --valid-freq 3000 --early-stopping 0 "
#define DAQUAR                                                                                                                                \
    "--type san --train-sets {data}/daquar/qa.train.tsv.gz --pictures {data}/daquar/images-train.tar --test-sets {data}/daquar/qa.test.tsv.gz "           \
    "--test-pictures {data}/daquar/images-test.tar --features {data}/mobilenet_v2/mobilenet_v2_1.0_224.safetensors --width 256 --dropout 0.5 "  \
    "--learn-rate 0.0005 --after-epochs 12 --early-stopping 0 --restore-best false "

static const rg_row rows[] = {
    { "mean", SHAPES "--pool mean", 2, 0, "vqa count=100000 valid=5000 test=10000", NULL },
    { "hops-1", SHAPES "--hops 1", 2, 0, "vqa count=100000 valid=5000 test=10000", NULL },
    { "hops-2", SHAPES "--hops 2", 2, 0, "vqa count=100000 valid=5000 test=10000", NULL },
    { "grams", SHAPES "--hops 2 --question grams", 1, 0, "vqa count=100000 valid=5000 test=10000", NULL },
    { "daquar-mean", DAQUAR "--pool mean", 1, 0, NULL, NULL },
    { "daquar", DAQUAR "--hops 2", 1, 29.3, NULL, NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "test-accuracy", "right %", 2, 100 },
    { "accuracy", "valid %", 2, 100 },
    { "parameters", "param.M", 3, 1e-6 },
    { "epochs", "epochs", 1, 0 },
    { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

static const rg_claim claims[] = {
    { RG_CLAIM_ABOVE, "hops-2", "mean", 0.025, "test-accuracy", "two hops against the mean, both kinds of questions",
      0 },
    { RG_CLAIM_ABOVE, "hops-2", "hops-1", -0.005, "test-accuracy", "two hops are not worse than one", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

static const rg_grid grid = {
    .name = "vqa",
    .heading = "questions about pictures: share of right answers",
    .needs = "the folder with daquar/ and mobilenet_v2/",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 10 --valid-freq 10 --early-stopping 0",
    .data = rg_pictured_data,
};

const rg_experiment rg_experiment_vqa = {
    .name = "vqa",
    .summary = "questions about generated shapes and DAQUAR",
    .source = "Yang et al. 2016; Santoro et al. 2017 (the generated pictures)",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
