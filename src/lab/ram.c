/* ram.c - `regard reproduce ram`: the recurrent attention model (Mnih et al. 2014, tables 1 to 3), with controls:
 * glimpses at random places, at the centre, and where the generator put the digit (oracle: without it the sensor or
 * the classifier would be wrong). They come first. Published figures need hundreds of epochs; the rows have 150 (28 x
 * 28) and fewer. "variance" is that of the policy gradient of a place, "without b" of the same draws without the
 * baseline (tasks/classify_rewards.c). */
#include <math.h>

#include "lab/pictures.h"

#define RAM "--type ram " RG_MNIST_TRAIN "--mini-batch 256 --learn-rate 0.001 --valid-freq 0 --early-stopping 0 --restore-best false --save-freq 500 "
#define PLAIN RAM "--augment t60,size:28 --glimpses 6 --patch 8 --scales 1 --after-epochs 150 "
#define CANVAS RAM "--augment t60 --glimpses 6 --patch 12 --scales 3 --after-epochs 60 "
#define CLUTTER RAM "--augment ct60 --glimpses 8 --patch 12 --scales 3 --after-epochs 60 "

static const rg_row rows[] = {
    { "ram-28", PLAIN, 1, 1.12, "t60,size:28 10000", NULL },
    { "ram-28-random", PLAIN "--locations random", 1, 0, "t60,size:28 10000", NULL },
    { "ram-28-no-baseline", PLAIN "--baseline none", 1, 0, "t60,size:28 10000", NULL },
    { "ram-t60", CANVAS, 1, 1.22, "t60 10000", NULL },
    { "ram-ct60-random", CLUTTER "--locations random", 1, 14.4, "ct60 10000", NULL },
    { "ram-ct60-centre", CLUTTER "--locations centre", 1, 0, "ct60 10000", NULL },
    { "ram-ct60-oracle", CLUTTER "--locations oracle", 1, 0, "ct60 10000", NULL },
    { "ram-ct60", CLUTTER "--random-share 0.15 --train-copies 4", 1, 4.04, "ct60 10000", NULL },
    { "cnn-ct60",
      "--type cnn " RG_MNIST_TRAIN
      "--augment ct60 --layers c5x8s3,f256 --pool flatten --mini-batch 256 --learn-rate 0.001 --valid-freq 0 "
      "--early-stopping 0 --restore-best false --save-freq 500 --after-epochs 60",
      1, 8.09, "ct60 10000", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "error", "error", 2, 0 },
    { "policy-variance", "variance", 2, 0 },
    { "policy-variance-plain", "without b", 2, 0 },
    { "parameters", "param.k", 1, 1e-3 },
    { "epochs", "epochs", 1, 0 }, { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

static const rg_claim claims[] = {
    { RG_CLAIM_MOST, "ram-28", NULL, 1.5, "error", "six glimpses of 8 x 8 pixels", 0 },
    { RG_CLAIM_ABOVE, "ram-28-random", "ram-28", 0, "error", "random places are at least twice as bad", 2 },
    { RG_CLAIM_MOST, "ram-28", NULL, 0.5, "variance-ratio", "the baseline halves the variance of the policy gradient",
      0 },
    { RG_CLAIM_MOST, "ram-t60", NULL, 2.5, "error", "six glimpses of a canvas", 0 },
    { RG_CLAIM_MOST, "ram-ct60-oracle", NULL, 3, "error", "glimpses where the digit is", 0 },
    { RG_CLAIM_MOST, "ram-ct60", NULL, 7, "error", "eight glimpses between clutter", 0 },
    { RG_CLAIM_ABOVE, "ram-ct60-random", "ram-ct60", 0, "error", "random places are at least twice as bad", 2 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

static rg_status judge(rg_results *out, const rg_row_run *run)
{
    RG_TRY(rg_pictures_judge(out, run));
    const double with = rg_results_get(out, "policy-variance"), without = rg_results_get(out, "policy-variance-plain");
    return isfinite(with) && without > 0 ? rg_results_set(out, "variance-ratio", with / without) : RG_OK;
}

static const rg_grid grid = {
    .name = "ram",
    .heading = "recurrent attention: errors in per cent of 10,000 test pictures",
    .needs = "the folder with mnist/ (MNIST's four files)",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 5 --save-freq 0",
    .judge = judge,
};

const rg_experiment rg_experiment_ram = {
    .name = "ram",
    .summary = "a few glimpses, placed by what was seen; controls",
    .source = "Mnih, Heess, Graves, Kavukcuoglu 2014",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
