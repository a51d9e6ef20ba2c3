/* gan.c - `regard reproduce gan`: eight Gaussians on a ring, and MNIST by two networks of dense layers.
 *
 *   ring     how many of the eight places get samples, and how many samples lie within three deviations of a place (2,500 samples)
 *   mnist    log-likelihood of the test pictures under a Parzen window around 10,000 samples, its width chosen on the last 10,000 training
 *            pictures, which the generator does not see (published: 225 +- 2); how many digits are at least 2 % of the samples, as
 *            the row `reader` reads them, a cnn of the same training pictures, where it is trained */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/mnist_parts.h"
#include "lab/rows.h"
#include "regard/metrics.h"

static const rg_row rows[] = {
    { "ring",
      "--type gan --noise 8 --noise-kind normal --generator-layers f128,f128 --discriminator-layers f128,f128 "
      "--mini-batch 500 --learn-rate 0.001 --beta1 0.5 "
      "--beta2 0.999 --after-epochs 0 --after-batches 16000 --lr-schedule linear --maxi-batch 0",
      1, 0, "ring", NULL },
    { "reader",
      "--type cnn --layers c5x32,p2,c5x48,p2,f100 --pool flatten --mini-batch 64 --learn-rate 0.001 --after-epochs 2 "
      "--early-stopping 0 --valid-epochs 0",
      1, 0, "reader", NULL },
    { "mnist", "--type gan --mini-batch 100 --learn-rate 0.0002 --after-epochs 60 --maxi-batch 0", 1, 225, "mnist",
      NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = { { "parzen", "Parzen nats", 1, 0 }, { "parzen_error", "+-", 1, 0 },
                                     { "modes", "modes of 8", 0, 0 },   { "near", "near %", 1, 100 },
                                     { "digits", "digits", 0, 0 },      { "reader_error", "reader err. %", 2, 100 },
                                     { "seconds", "min", 1, 1.0 / 60 }, { NULL, NULL, 0, 0 } };

static const rg_claim claims[] = {
    { RG_CLAIM_LEAST, "ring", NULL, 7, "modes", "nearly all places of the ring", 0 },
    { RG_CLAIM_LEAST, "ring", NULL, 0.9, "near", "samples at the places", 0 },
    { RG_CLAIM_LEAST, "mnist", NULL, 200, "parzen", "digits", 0 },
    { RG_CLAIM_LEAST, "mnist", NULL, 9, "digits", "nearly all of the ten, at least 2 % each", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

static rg_status data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    const rg_digits_part part = { .count = 50000 };
    char                *ring = rg_format("%s/ring8", job->out), *digits = rg_format("%s/digits", job->out);
    char                *images = rg_format("%s/mnist/train-images-idx3-ubyte.gz", job->settings->data);
    char                *labels = rg_format("%s/mnist/train-labels-idx1-ubyte.gz", job->settings->data);
    const bool is_ring = strcmp(row->about, "ring") == 0, reader = strcmp(row->about, "reader") == 0;
    rg_status            status = ring && digits && images && labels ? RG_OK : RG_ENOMEM;
    (void)mkdir(job->out, 0777);
    if (status == RG_OK && is_ring) status = rg_lab_ring(ring);
    if (status == RG_OK && !is_ring) status = rg_lab_digits(digits, images, labels, &part);
    if (status == RG_OK) status = rg_row_words_add(out, rg_strdup("--train-sets"));
    if (status == RG_OK)
        status = rg_row_words_add(out, is_ring ? rg_format("%s/train.tsv", ring) : rg_format("%s-images", digits));
    if (status == RG_OK && reader) status = rg_row_words_add(out, rg_format("%s-labels", digits));
    rg_free(ring);
    rg_free(digits);
    rg_free(images);
    rg_free(labels);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- ring */

enum { POINTS = 2500, PLACES = 8 };

static rg_status judge_ring(rg_results *out, const rg_model *m)
{
    const double radius = 2, deviation = 0.02; /* of the generator's defaults */
    rg_real     *x = rg_alloc_array((size_t)POINTS * 2, sizeof *x);
    size_t       at[PLACES] = { 0 }, near = 0, modes = 0;
    rg_status    status = x ? rg_lab_samples(x, m, 1, POINTS) : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < POINTS; i++)
        for (size_t k = 0; k < PLACES; k++) {
            const double a = 6.283185307179586477 * (double)k / PLACES;
            if (hypot((double)x[2 * i] - radius * cos(a), (double)x[2 * i + 1] - radius * sin(a)) > 3 * deviation)
                continue;
            at[k]++;
            near++;
        }
    for (size_t k = 0; k < PLACES; k++) modes += at[k] >= POINTS / 100; /* a tenth of its share, roughly */
    rg_free(x);
    if (status == RG_OK) status = rg_results_set(out, "modes", (double)modes);
    return status == RG_OK ? rg_results_set(out, "near", (double)near / POINTS) : status;
}

/* ------------------------------------------------------------------------------------------------------------ mnist */

/* Classes that have at least 2 % of the samples, as the reader says; nothing where it is not trained. */
static rg_status count_digits(rg_results *out, const rg_row_run *run, const rg_real *x, size_t n)
{
    char     *folder = rg_format("%s/reader.s1%s", run->job->out, run->job->settings->quick ? ".quick" : "");
    char     *path = folder ? rg_format("%s/model.safetensors", folder) : NULL;
    size_t    counts[10], digits = 0;
    bool      there = false;
    rg_model *reader = NULL;
    rg_status status = path ? rg_file_exists(&there, path) : RG_ENOMEM;
    if (status == RG_OK && there) status = rg_lab_model(&reader, folder);
    if (status == RG_OK && there) status = rg_lab_classes(counts, reader, x, n);
    for (size_t c = 0; status == RG_OK && there && c < 10; c++) digits += 50 * counts[c] >= n;
    if (status == RG_OK && there) status = rg_results_set(out, "digits", (double)digits);
    rg_model_free(reader);
    rg_free(folder);
    rg_free(path);
    return status;
}

static rg_status judge_reader(rg_results *out, const rg_row_run *run, const rg_model *m)
{
    char     *images = rg_format("%s/mnist/t10k-images-idx3-ubyte.gz", run->job->settings->data);
    char     *labels = rg_format("%s/mnist/t10k-labels-idx1-ubyte.gz", run->job->settings->data);
    double    error = 0;
    rg_status status = images && labels ? rg_lab_error(&error, m, images, labels) : RG_ENOMEM;
    rg_free(images);
    rg_free(labels);
    return status == RG_OK ? rg_results_set(out, "reader_error", error) : status;
}

static rg_status judge_mnist(rg_results *out, const rg_row_run *run, const rg_model *m)
{
    const bool   quick = run->job->settings->quick;
    const size_t width = rg_model_size(m, "features"), n = quick ? 50 : 10000, samples = quick ? 50 : 10000,
                 chosen = quick ? 50 : 1000;
    char        *train = rg_format("%s/mnist/train-images-idx3-ubyte.gz", run->job->settings->data);
    char        *test = rg_format("%s/mnist/t10k-images-idx3-ubyte.gz", run->job->settings->data);
    rg_real     *x = rg_alloc_array((n + samples + chosen) * width, sizeof *x), *s = x ? x + n * width : NULL,
            *valid = x ? s + samples * width : NULL;
    rg_parzen    p = { 0 };
    rg_status    status = train && test && x ? rg_lab_pictures(x, test, 0, n, width) : RG_ENOMEM;
    if (status == RG_OK) status = rg_lab_pictures(valid, train, 50000, chosen, width);
    if (status == RG_OK) status = rg_lab_samples(s, m, 1, samples);
    if (status == RG_OK) status = rg_parzen_measure(&p, s, samples, x, n, valid, chosen, width);
    if (status == RG_OK) status = rg_results_set(out, "parzen", p.mean);
    if (status == RG_OK) status = rg_results_set(out, "parzen_error", p.error);
    if (status == RG_OK) status = count_digits(out, run, s, samples);
    rg_free(x);
    rg_free(train);
    rg_free(test);
    return status;
}

static rg_status judge(rg_results *out, const rg_row_run *run)
{
    rg_model *m = NULL;
    RG_TRY(rg_lab_model(&m, run->folder));
    const char     *about = run->row->about;
    const rg_status status = strcmp(about, "ring") == 0     ? judge_ring(out, m)
                             : strcmp(about, "reader") == 0 ? judge_reader(out, run, m)
                                                            : judge_mnist(out, run, m);
    rg_model_free(m);
    return status;
}

static const rg_grid grid = {
    .name = "gan",
    .heading = "generative adversarial networks: a ring of eight Gaussians, MNIST",
    .needs = "the folder with mnist/ (train-images-idx3-ubyte.gz and the three others)",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 20",
    .data = data,
    .judge = judge,
};

const rg_experiment rg_experiment_gan = {
    .name = "gan",
    .summary = "samples of a ring of Gaussians and of MNIST",
    .source = "Goodfellow et al. 2014",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
