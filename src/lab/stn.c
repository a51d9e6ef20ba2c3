/* stn.c - `regard reproduce stn`: spatial transformers before a network (Jaderberg et al. 2015, tables 1 and 4).
 *
 * rts42: a digit turned, scaled and placed; stclut: placed between 16 pieces of others; addition: the sum of two,
 * one per channel, from 100,000 pairs that are made once, tested on pairs of other digits. fcn has two layers of units; the networks that are compared
 * have about as many parameters. Published figures need 150 epochs and more. */
#include <string.h>

#include "lab/pictured.h"
#include "lab/pictures.h"

#define MOVED "--type cnn " RG_MNIST_TRAIN "--augment rts42 --pool flatten --mini-batch 128 --learn-rate 0.001 --valid-freq 0 --early-stopping 0 --restore-best false --save-freq 500 --after-epochs 60 "
#define CLUTTER "--type cnn " RG_MNIST_TRAIN "--augment stclut --pool flatten --layers c5x32v,p2,c5x32v,p2,f128 --mini-batch 128 --learn-rate 0.001 --valid-freq 0 --early-stopping 0 --restore-best false --save-freq 200 --after-epochs 20 "

#define SUMS "--type cnn --pool flatten --mini-batch 128 --learn-rate 0.001 --valid-freq 0 --early-stopping 0 --restore-best false --save-freq 500 --after-epochs 20 "
#define FRONT "--front stn --front-layers p2,c5x20,p2,c5x20,f20 --front-rate 0.1 "

static const rg_row rows[] = {
    { "rts42-fcn", MOVED "--layers f256,f200", 1, 5.2, "rts42 10000", NULL },
    { "rts42-st-fcn", MOVED "--layers f230,f200 --front stn --front-layers f32,f32,f32", 1, 0.8, "rts42 10000", NULL },
    { "stclut-cnn", CLUTTER, 1, 3.5, "stclut 10000", NULL },
    { "stclut-st-cnn", CLUTTER "--front stn --front-size 30 --front-layers p2,c5x20,p2,c5x20,f20 --front-rate 0.1", 1,
      1.7, "stclut 10000", NULL },
    { "addition-fcn", SUMS "--layers f256,f200", 1, 47.7, "addition 10000", NULL },
    { "addition-cnn", SUMS "--layers c5x32,p2,c5x32,p2,f128", 1, 14.7, "addition 10000", NULL },
    { "addition-1-st", SUMS FRONT "--layers f256,f200", 1, 22.6, "addition 10000", NULL },
    { "addition-2-st", SUMS FRONT "--fronts 2 --layers f256,f200", 1, 9.0, "addition 10000", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "error", "error", 2, 0 },   { "parameters", "param.k", 1, 1e-3 },
    { "epochs", "epochs", 1, 0 }, { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

static const rg_claim claims[] = {
    { RG_CLAIM_MOST, "rts42-st-fcn", NULL, 1.5, "error", "a spatial transformer undoes the move", 0 },
    { RG_CLAIM_ABOVE, "rts42-fcn", "rts42-st-fcn", 0, "error", "at most a third of the errors without it", 3 },
    { RG_CLAIM_MOST, "stclut-st-cnn", NULL, 3, "error", "between clutter", 0 },
    { RG_CLAIM_ABOVE, "stclut-cnn", "stclut-st-cnn", 0, "error", "better than the network alone", 0 },
    { RG_CLAIM_MOST, "addition-2-st", NULL, 12, "error", "two digits, two transformers", 0 },
    { RG_CLAIM_ABOVE, "addition-cnn", "addition-2-st", 0, "error", "better than convolutions", 0 },
    { RG_CLAIM_ABOVE, "addition-1-st", "addition-2-st", 0, "error", "better than one transformer", 0 },
    { RG_CLAIM_ABOVE, "addition-fcn", "addition-1-st", 0, "error", "one is better than none", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

/* Sums are read from files; other rows move the digits of MNIST's. */
static rg_status data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    rg_row made = *row;
    if (strncmp(row->about, "addition", 8) != 0) return RG_OK;
    made.about = job->settings->quick ? "addition count=1000 valid=0 test=0 digits={data}/mnist"
                                      : "addition count=100000 valid=0 test=0 digits={data}/mnist";
    return rg_pictured_data(out, job, &made);
}

static const rg_grid grid = {
    .name = "stn",
    .heading = "spatial transformers: errors in per cent of 10,000 test pictures",
    .needs = "the folder with mnist/ (MNIST's four files)",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 5 --save-freq 0",
    .judge = rg_pictures_judge,
    .data = data,
};

const rg_experiment rg_experiment_stn = {
    .name = "stn",
    .summary = "spatial transformers on digits that are moved or lie between others",
    .source = "Jaderberg, Simonyan, Zisserman, Kavukcuoglu 2015",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
