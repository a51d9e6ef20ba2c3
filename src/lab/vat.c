/* vat.c - `regard reproduce vat`: MNIST with 100 labels. Labelled are ten pictures of each digit, drawn by the
 * number of the row; all 60,000 are unlabelled. 20,000 updates of 100 labelled and 250 unlabelled pictures;
 * supervised learning has the same number.
 *
 *   sst2-*    1,000 labelled sentences of SST-2, drawn by the seed; the other 5,920 without labels. Validation
 *             sentences choose the epoch. */
#include <string.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lab/mnist_parts.h"
#include "lab/rows.h"

#define NET                                                                                                                                  \
    "--type cnn --layers f1200n,f1200n --pool flatten --mini-batch 100 --maxi-batch 0 --early-stopping 0 --learn-rate 0.002 --lr-schedule exponential " \
    "--lr-decay 0.9 --lr-decay-freq 500 --after-epochs 0 --after-batches 20000 --valid-epochs 0 "
#define ALL "--unlabelled {data}/mnist/train-images-idx3-ubyte.gz --unlabelled-batch 250 --objective vat --epsilon 2 "

#define SST                                                                                                         \
    "--type classifier --header no --columns 1,2 --train-sets {out}/sst2.{seed}.few.tsv --valid-sets "              \
    "{out}/sst2.valid.tsv --test-sets {out}/sst2.test.tsv --vocabs {out}/sst2.vocab --pool attention "              \
    "--mini-batch 32 --after-epochs 40 --early-stopping 12 "

static const rg_row rows[] = {
    { "labels-1", NET, 1, 0, "1", NULL },
    { "vat-1", NET ALL, 1, 0.0212, "1", NULL },
    { "labels-2", NET, 1, 0, "2", NULL },
    { "vat-2", NET ALL, 1, 0.0212, "2", NULL },
    { "labels-3", NET, 1, 0, "3", NULL },
    { "vat-3", NET ALL, 1, 0.0212, "3", NULL },
    { "sst2-labels", SST, 3, 0, "sst2", NULL },
    { "sst2-vat", SST "--unlabelled {out}/sst2.{seed}.rest.txt --unlabelled-batch 64 --objective vat --epsilon 5", 3, 0,
      "sst2", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = { { "test_error", "test error %", 2, 100 },
                                     { "updates", "updates", 0, 0 },
                                     { "seconds", "min", 1, 1.0 / 60 },
                                     { NULL, NULL, 0, 0 } };

#define DRAW(n)                                                                                                                     \
    { RG_CLAIM_MOST, "vat-" #n, NULL, 0.025, "test_error", "100 labels and unlabelled pictures", 0 },                               \
    { RG_CLAIM_ABOVE, "labels-" #n, "vat-" #n, 0.1, "test_error", "against the labels alone", 0 }
static const rg_claim claims[] = { DRAW(1), DRAW(2), DRAW(3),
                                   { RG_CLAIM_ABOVE, "sst2-labels", "sst2-vat", 0.01, "test_error",
                                     "SST-2, 1,000 labels: at least a point better", 0 },
                                   { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 } };

/* Sentences as label TAB text: all of a file. */
static rg_status copy_labelled(const rg_grid_job *job, const char *name, const char *part)
{
    char *to = rg_format("%s/sst2.%s.tsv", job->out, name), *none = rg_format("%s/sst2.%s.rest.txt", job->out, name);
    char *from = rg_format("%s/sentiment/stsa.binary.%s.gz", job->settings->data, part);
    const rg_status status = to && none && from ? rg_lab_few_texts(to, none, from, 2000000, 1) : RG_ENOMEM;
    rg_free(to);
    rg_free(none);
    rg_free(from);
    return status;
}

static rg_status data_of_texts(const rg_words *words, const rg_grid_job *job)
{
    const char *seed = NULL;
    for (size_t i = 0; i + 1 < words->count; i++)
        if (strcmp(words->word[i], "--train-sets") == 0) seed = strstr(words->word[i + 1], "sst2.");
    if (!seed) return RG_OK; /* the rows are only listed */
    const unsigned long long n = strtoull(seed + 5, NULL, 10);
    (void)mkdir(job->out, 0777);
    char *vocab = rg_format("%s/sst2.vocab", job->out);
    char *few = rg_format("%s/sst2.%llu.few.tsv", job->out, n), *rest = rg_format("%s/sst2.%llu.rest.txt", job->out, n);
    char *from = rg_format("%s/sentiment/stsa.binary.train.gz", job->settings->data);
    rg_status status = few && rest && from ? rg_lab_few_texts(few, rest, from, 1000, n) : RG_ENOMEM;
    if (status == RG_OK) status = vocab ? rg_lab_words(vocab, from) : RG_ENOMEM;
    if (status == RG_OK) status = copy_labelled(job, "valid", "dev");
    if (status == RG_OK) status = copy_labelled(job, "test", "test");
    rg_free(vocab);
    rg_free(few);
    rg_free(rest);
    rg_free(from);
    return status;
}

static rg_status data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    if (strcmp(row->about, "sst2") == 0) return data_of_texts(out, job);
    const char          *from = job->settings->data;
    const rg_digits_part part = { .per_class = 10, .seed = (uint64_t)(row->about[0] - '0') };
    char                *to = rg_format("%s/labelled-%s", job->out, row->about),
         *images = rg_format("%s/mnist/train-images-idx3-ubyte.gz", from);
    char *labels = rg_format("%s/mnist/train-labels-idx1-ubyte.gz", from);
    (void)mkdir(job->out, 0777);
    rg_status status = to && images && labels ? rg_lab_digits(to, images, labels, &part) : RG_ENOMEM;
    if (status == RG_OK) status = rg_row_words_add(out, rg_strdup("--train-sets"));
    if (status == RG_OK) status = rg_row_words_add(out, rg_format("%s-images", to));
    if (status == RG_OK) status = rg_row_words_add(out, rg_format("%s-labels", to));
    rg_free(to);
    rg_free(images);
    rg_free(labels);
    return status;
}

static rg_status judge(rg_results *out, const rg_row_run *run)
{
    if (strcmp(run->row->about, "sst2") == 0)
        return rg_results_set(out, "test_error", 1 - rg_results_get(out, "test-accuracy"));
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
    .name = "vat",
    .heading =
        "few labels (100 of MNIST, 1,000 of SST-2): errors on test data, supervised and by virtual adversarial training",
    .needs = "the folder with mnist/ (train-images-idx3-ubyte.gz and the three others); sst2-*: sentiment/",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 20",
    .data = data,
    .judge = judge,
};

const rg_experiment rg_experiment_vat = {
    .name = "vat",
    .summary = "MNIST with 100 labels by virtual adversarial training",
    .source = "Miyato, Maeda, Koyama, Nakae, Ishii 2016",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
