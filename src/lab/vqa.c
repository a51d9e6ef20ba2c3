/* vqa.c - `regard reproduce vqa`: questions about pictures. */
#include "lab/pictured.h"
#include "lab/vqa_judge.h"

#define MADE "vqa count=200000 valid=5000 test=10000"
#define SHAPES                                                                                                       \
    "--type san --layers c3x16,p2,c3x32,p2,c3x32,p2 --centre true --width 128 --hidden 128 --score general "              \
    "--dropout 0 --mini-batch 16 --learn-rate 0.002 --lr-schedule cosine --lr-least 0.00005 --after-batches 8000 "   \
    "--valid-freq 2000 --early-stopping 0 "
#define DAQUAR                                                                                                                                \
    "--type san --train-sets {data}/daquar/qa.train.tsv.gz --pictures {data}/daquar/images-train.tar --test-sets {data}/daquar/qa.test.tsv.gz "           \
    "--test-pictures {data}/daquar/images-test.tar --features {data}/mobilenet_v2/mobilenet_v2_1.0_224.safetensors --width 256 --dropout 0.5 "  \
    "--learn-rate 0.0005 --after-epochs 12 --early-stopping 0 --restore-best false "

static const rg_row rows[] = {
    { "mean", SHAPES "--pool mean", 2, 0, MADE, NULL },
    { "hops-1", SHAPES "--hops 1", 2, 0, MADE, NULL },
    { "hops-2", SHAPES "--hops 2", 2, 0, MADE, NULL },
    { "grams", SHAPES "--hops 2 --question grams", 1, 0, MADE, NULL },
    { "additive", SHAPES "--hops 2 --score additive", 1, 0, MADE, NULL },
    { "linear", SHAPES "--hops 2 --hidden 0", 1, 0, MADE, NULL },
    { "daquar-question", DAQUAR "--pool none", 1, 17.2, NULL, NULL },
    { "daquar-mean", DAQUAR "--pool mean", 1, 0, NULL, NULL },
    { "daquar", DAQUAR "--hops 2", 1, 29.3, NULL, NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "test-accuracy", "right %", 2, 100 },
    { "plain", "plain %", 2, 100 },
    { "relational", "relat. %", 2, 100 },
    { "pointing", "point %", 1, 100 },
    { "narrower", "narrow %", 1, 100 },
    { "accuracy", "valid %", 2, 100 },
    { "parameters", "param.M", 3, 1e-6 },
    { "epochs", "epochs", 1, 0 },
    { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

static const rg_claim claims[] = {
    { RG_CLAIM_LEAST, "hops-2", NULL, 0.95, "plain", "questions about one shape", 0 },
    { RG_CLAIM_ABOVE, "hops-2", "mean", 0.05, "relational", "two hops against the mean, questions about several", 0 },
    { RG_CLAIM_ABOVE, "hops-2", "hops-1", -0.005, "test-accuracy", "two hops are not worse than one", 0 },
    { RG_CLAIM_LEAST, "hops-2", NULL, 0.85, "pointing", "a hop looks at what is asked about", 0 },
    { RG_CLAIM_LEAST, "hops-2", NULL, 0.7, "narrower", "the second hop is more concentrated than the first", 0 },
    { RG_CLAIM_ABOVE, "daquar", "daquar-question", 0.01, "test-accuracy", "DAQUAR, a picture against the question alone",
      0 },
    { RG_CLAIM_ABOVE, "daquar", "daquar-mean", 0, "test-accuracy", "DAQUAR, hops against the mean", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

/* Of made pictures: by kind of question, and where it looked. */
static rg_status judge(rg_results *out, const rg_row_run *run)
{
    const rg_grid_settings *s = run->job->settings;
    char                   *path = rg_format("%s/model.safetensors", run->folder);
    rg_vqa_score            score = { 0 };
    rg_status               status = path ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && run->row->about)
        status = rg_vqa_judge(&score, path, run->row->about, s->data, s->quick ? 100 : 10000);
    rg_free(path);
    if (status != RG_OK || !run->row->about) return status;
    RG_TRY(rg_results_set(out, "plain", score.plain));
    RG_TRY(rg_results_set(out, "relational", score.relational));
    if (score.hops) RG_TRY(rg_results_set(out, "pointing", score.pointing));
    return score.hops > 1 ? rg_results_set(out, "narrower", score.narrower) : RG_OK;
}

static const rg_grid grid = {
    .name = "vqa",
    .heading = "questions about pictures: share of right answers",
    .needs = "the folder with daquar/ and mobilenet_v2/",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 10 --valid-freq 10 --early-stopping 0",
    .data = rg_pictured_data,
    .judge = judge,
};

const rg_experiment rg_experiment_vqa = {
    .name = "vqa",
    .summary = "questions about generated shapes and DAQUAR",
    .source = "Yang et al. 2016; Santoro et al. 2017 (the generated pictures)",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
