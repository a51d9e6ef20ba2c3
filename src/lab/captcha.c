/* captcha.c - `regard reproduce captcha`: strings that are drawn in pictures. Of generated ones also: in which share
 * the attention goes from left to right. */
#include "lab/pictured.h"

#define READ "--type caption --vocab-kind characters --dim-emb 32 --dropout-rnn 0 --mini-batch 32 --learn-rate 0.002 --lr-schedule cosine --lr-least 0.0001 --early-stopping 0 "
#define SMALL READ "--layers c3x32s2,c3x64,p2,c3x64 --dim-rnn 128 --after-batches 7500 --valid-freq 1500 "

static const rg_row rows[] = {
    { "digits", SMALL, 1, 0, "captcha count=30000", NULL },
    { "digits-mean", SMALL "--attention mean", 1, 0, "captcha count=30000", NULL },
    { "digits-fixed", SMALL "--attention fixed", 1, 0, "captcha count=30000", NULL },
    { "digits-hard", SMALL "--attention hard", 1, 0, "captcha count=30000", NULL },
    { "digits-gumbel", SMALL "--attention gumbel", 1, 0, "captcha count=30000", NULL },
    { "all", READ "--layers c3x32s2,c3x64,p2,c3x64,c3x64 --dim-rnn 192 --after-batches 20000 --valid-freq 4000", 1, 0,
      "captcha count=80000 symbols=all", NULL },
    { "real",
      READ "--layers c3x32s2,c3x64,p2,c3x64,p2,c3x64 --dim-rnn 128 --dropout-rnn 0.3 --after-batches 3000 --valid-freq "
           "0 --valid-epochs 0 --restore-best false",
      1, 0, "real-captchas", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "test-exact", "exact %", 2, 0 },
    { "exact", "valid %", 2, 0 },
    { "ordered", "ordered %", 1, 100 },
    { "perplexity", "valid ppl", 4, 0 },
    { "parameters", "param.M", 3, 1e-6 },
    { "epochs", "epochs", 1, 0 },
    { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

static const rg_claim claims[] = {
    { RG_CLAIM_LEAST, "digits", NULL, 97, "test-exact", "digits, 4 to 6 of them", 0 },
    { RG_CLAIM_LEAST, "all", NULL, 90, "test-exact", "36 symbols", 0 },
    { RG_CLAIM_LEAST, "real", NULL, 80, "test-exact", "real captchas", 0 },
    { RG_CLAIM_LEAST, "digits", NULL, 0.95, "ordered", "the mean column of the attention moves right with every symbol",
      0 },
    { RG_CLAIM_LEAST, "all", NULL, 0.95, "ordered", "36 symbols: it moves right too", 0 },
    { RG_CLAIM_ABOVE, "digits", "digits-fixed", 0, "test-exact", "attention against fixed places", 0 },
    { RG_CLAIM_ABOVE, "digits", "digits-mean", 0, "test-exact", "attention against the mean of the cells", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

static const rg_grid grid = {
    .name = "captcha",
    .heading = "strings in pictures: share of test strings that are read without a fault",
    .needs = "the folder with captcha/images.tar",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 10 --valid-freq 10 --early-stopping 0",
    .data = rg_pictured_data,
    .judge = rg_pictured_looks,
};

const rg_experiment rg_experiment_captcha = {
    .name = "captcha",
    .summary = "strings in pictures: generated and real captchas",
    .source = "a lecture; Goodfellow et al. 2013 read longer strings without attention",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
