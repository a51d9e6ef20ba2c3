/* rank.c - `regard reproduce rank`: which digits should be labelled next? 100 labels, then three rounds of 100 more, of
 * 10,000 pictures of MNIST: those that the network of the round before is least sure of, or any.
 *
 *   start            100 pictures, drawn by the seed
 *   random           these and 300 others, drawn by the seed
 *   margin-N         these and those of the rounds up to N: 100 pictures each whose two likeliest classes are closest
 *   adversarial-N    the same by the smallest change of the pixels that changes the answer
 *
 * Every network is the same, has as many updates and starts from new weights. Labels of pictures that were not chosen are
 * not read. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/mnist_parts.h"
#include "lab/rows.h"

enum { POOL = 10000, FEW_POOL = 600, ROUND = 100 };

#define NET(row)                                                                                                    \
    "--type cnn --layers c5x32,p2,c5x48,p2,f100 --pool flatten --dropout 0.5 --mini-batch 50 --maxi-batch 0 "       \
    "--learn-rate 0.001 --after-epochs 0 --after-batches 1000 --early-stopping 0 --valid-epochs 0 --train-sets "    \
    "{out}/" row ".{seed}-images {out}/" row ".{seed}-labels"

/* about: how the further pictures are chosen, and the row whose network does it */
static const rg_row rows[] = {
    { "start", NET("start"), 3, 0, "start", NULL },
    { "random", NET("random"), 3, 0, "random start", NULL },
    { "margin-200", NET("margin-200"), 3, 0, "margin start", NULL },
    { "margin-300", NET("margin-300"), 3, 0, "margin margin-200", NULL },
    { "margin-400", NET("margin-400"), 3, 0, "margin margin-300", NULL },
    { "adversarial-200", NET("adversarial-200"), 3, 0, "adversarial start", NULL },
    { "adversarial-300", NET("adversarial-300"), 3, 0, "adversarial adversarial-200", NULL },
    { "adversarial-400", NET("adversarial-400"), 3, 0, "adversarial adversarial-300", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "test_error", "test error %", 2, 100 }, { "seconds", "min", 1, 1.0 / 60 }, { NULL, NULL, 0, 0 }
};

static const rg_claim claims[] = {
    { RG_CLAIM_ABOVE, "random", "margin-400", 0, "test_error", "margin: 0.8 times the error of random choice", 1.25 },
    { RG_CLAIM_ABOVE, "random", "adversarial-400", 0, "test_error", "adversarial: 0.8 times", 1.25 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

/* ------------------------------------------------------------------------------------------------------------- data */

/* A run's pictures: OUT/ROW.SEED, with -images, -labels and -chosen (a byte per picture of the pool) behind it. */
typedef struct {
    const rg_grid_job *job;
    const char        *name, *seed; /* name: of the row; seed: as the words have it */
    size_t             pool;
} choice;

static char *path_of(const choice *c, const char *row, const char *what)
{
    return rg_format("%s/%s.%s-%s", c->job->out, row, c->seed, what);
}

static rg_status read_chosen(unsigned char *stays, const choice *c, const char *row)
{
    char     *path = path_of(c, row, "chosen");
    rg_file  *file = NULL;
    rg_status status = path ? rg_file_open(&file, path, "rb") : RG_ENOMEM;
    if (status == RG_OK) status = rg_file_read(file, stays, c->pool);
    if (file) (void)rg_file_close(file);
    rg_free(path);
    return status == RG_OK ? RG_OK : rg_fail_in(status, "train the row %s first: ", row);
}

/* Any `more` of those that are not there yet. */
static rg_status draw(unsigned char *stays, size_t n, size_t more, uint64_t seed)
{
    rg_random r = rg_random_new(seed, 105);
    for (size_t tries = 0; more && tries < 1000 * n; tries++) {
        const size_t at = (size_t)(rg_random_uniform(&r) * (double)n);
        if (at >= n || stays[at]) continue;
        stays[at] = 1;
        more--;
    }
    return RG_OK;
}

static rg_status rank_with(unsigned char *stays, const choice *c, const char *before, bool adversarial)
{
    const rg_grid_settings *s = c->job->settings;
    char     *folder = rg_format("%s/%s.s%s%s", c->job->out, before, c->seed, s->quick ? ".quick" : "");
    char     *images = rg_format("%s/pool-images", c->job->out);
    rg_model *model = NULL;
    rg_status status = folder && images ? rg_lab_model(&model, folder) : RG_ENOMEM;
    if (status == RG_OK)
        status = rg_lab_uncertain(stays, c->pool, ROUND, model, images, adversarial,
                                  s->threads > 0 ? (int)s->threads : 2);
    rg_model_free(model);
    rg_free(folder);
    rg_free(images);
    return status;
}

static rg_status choose(unsigned char *stays, const choice *c, const char *about)
{
    const uint64_t seed = strtoull(c->seed, NULL, 10);
    const char    *before = strchr(about, ' ');
    if (!before) return draw(stays, c->pool, ROUND, seed);
    RG_TRY(read_chosen(stays, c, before + 1));
    if (strncmp(about, "random", 6) == 0) return draw(stays, c->pool, 3 * ROUND, seed + 1000);
    return rank_with(stays, c, before + 1, strncmp(about, "adversarial", 11) == 0);
}

static rg_status write_choice(const choice *c, const char *about)
{
    const char *from = c->job->settings->data;
    char *to = rg_format("%s/%s.%s", c->job->out, c->name, c->seed), *chosen = path_of(c, c->name, "chosen");
    char *images = rg_format("%s/mnist/train-images-idx3-ubyte.gz", from),
         *labels = rg_format("%s/mnist/train-labels-idx1-ubyte.gz", from), *pool = rg_format("%s/pool", c->job->out);
    const rg_digits_part all = { .count = c->pool };
    unsigned char       *stays = rg_alloc_zero(c->pool);
    const rg_digits_part part = { .count = c->pool, .stays = stays };
    bool                 there = false;
    rg_status status = to && chosen && images && labels && pool && stays ? rg_file_exists(&there, chosen) : RG_ENOMEM;
    if (status == RG_OK) status = rg_lab_digits(pool, images, labels, &all);
    if (status == RG_OK && !there) status = choose(stays, c, about);
    if (status == RG_OK && !there) status = rg_lab_digits(to, images, labels, &part);
    if (status == RG_OK && !there) status = rg_file_replace(chosen, stays, c->pool); /* the last: all is there */
    rg_free(to);
    rg_free(chosen);
    rg_free(images);
    rg_free(labels);
    rg_free(pool);
    rg_free(stays);
    return status;
}

/* The words name the files, OUT/ROW.SEED-images: they are made. */
static rg_status data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    char      *seed = NULL;
    (void)mkdir(job->out, 0777);
    for (size_t i = 0; i + 1 < out->count; i++) {
        const char *dot = strcmp(out->word[i], "--train-sets") == 0 ? strrchr(out->word[i + 1], '.') : NULL;
        if (dot && !seed) seed = rg_format("%.*s", (int)strcspn(dot + 1, "-"), dot + 1);
    }
    if (!seed) return RG_OK; /* the rows are only listed */
    const choice    c = { .job = job, .name = row->name, .seed = seed, .pool = job->settings->quick ? FEW_POOL : POOL };
    const rg_status status = write_choice(&c, row->about);
    rg_free(seed);
    return status;
}

static rg_status judge(rg_results *out, const rg_row_run *run)
{
    char     *images = rg_format("%s/mnist/t10k-images-idx3-ubyte.gz", run->job->settings->data);
    char     *labels = rg_format("%s/mnist/t10k-labels-idx1-ubyte.gz", run->job->settings->data);
    rg_model *model = NULL;
    double    error = 0;
    rg_status status = images && labels ? rg_lab_model(&model, run->folder) : RG_ENOMEM;
    if (status == RG_OK) status = rg_lab_error(&error, model, images, labels);
    if (status == RG_OK) status = rg_results_set(out, "test_error", error);
    rg_model_free(model);
    rg_free(images);
    rg_free(labels);
    return status;
}

static const rg_grid grid = {
    .name = "rank",
    .heading = "MNIST, what to label next: errors on the 10,000 test pictures after 100 labels and three rounds of 100",
    .needs = "the folder with mnist/ (train-images-idx3-ubyte.gz and the three others)",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 20",
    .data = data,
    .judge = judge,
};

const rg_experiment rg_experiment_rank = {
    .name = "rank",
    .summary = "labels for the digits a network is least sure of, against random choice",
    .source = "Lewis, Gale 1994 (uncertainty sampling); Ducoffe, Precioso 2018 (adversarial)",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
