/* dann.c - `regard reproduce dann` and `regard reproduce ablations`: labels of MNIST, pictures of MNIST-M.
 *
 * Source only, domain-adversarial and trained on the target are the same network with the same number of updates;
 * target labels are read by the judge alone. Published (Ganin et al. 2016, photographs of BSDS500): 0.5225, 0.7666,
 * 0.9596. Without photographs the ground is smooth noise, the set is like MNIST-M, and no published figure applies. */
#include <string.h>
#include <sys/stat.h>

#include "lab/mnist_parts.h"
#include "lab/rows.h"

enum { MANY = 50000, FEW = 600 };

#define NET                                                                                                        \
    "--type cnn --layers c5x32,p2,c5x48,p2,f100,f100 --pool flatten --features-at pool --optimizer sgd --beta1 0.9 " \
    "--learn-rate 0.01 --lr-schedule dann --mini-batch 64 --maxi-batch 0 --after-epochs 15 --early-stopping 0 "      \
    "--valid-epochs 0 "
#define DANN NET "--objective domain --gamma 10 --unlabelled-batch 64 "

/* Ten groups of emoji, drawn by Google with labels and by Twitter without; no emoji is in two of the lists. */
#define EMOJI                                                                                                       \
    "--type cnn --layers c5x32,p2,c5x48,p2,c3x64,p2,f100 --pool flatten --features-at pool --dropout 0.5 "          \
    "--size 32 --header no --columns 1,2 --pictures {out}/emoji --train-sets {out}/emoji/source.tsv "               \
    "--test-sets {out}/emoji/test.tsv --optimizer sgd --beta1 0.9 --learn-rate 0.01 --lr-schedule dann "            \
    "--mini-batch 64 --maxi-batch 0 --after-epochs 40 --early-stopping 0 --valid-epochs 0 "

/* about: what is learned from, and the target beside it */
static const rg_row dann_rows[] = {
    { "source-only", NET, 3, 0.5225, "source", NULL },
    { "dann", DANN, 3, 0.7666, "source target", NULL },
    { "on-target", NET, 1, 0.9596, "target-labels", NULL },
    { "emoji-source", EMOJI, 3, 0, "emoji", NULL },
    { "emoji-dann", EMOJI "--target-sets {out}/emoji/target.tsv --objective domain --gamma 10 --unlabelled-batch 64",
      3, 0, "emoji", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_row ablation_rows[] = {
    { "source-only", NET, 3, 0, "source", NULL },
    { "dann", DANN, 3, 0, "source target", NULL },
    { "constant", DANN "--lambda constant", 3, 0, "source target", NULL },
    { "random-bit", DANN "--adversary random", 1, 0, "source target", NULL },
    { "parity", DANN "--adversary parity", 1, 0, "source target", NULL },
    { "biased-target", DANN, 1, 0, "source biased", NULL },
    { "linear-head", DANN "--domain-layers 0", 1, 0, "source target", NULL },
    { "large-head", DANN "--domain-layers 1000 1000", 1, 0, "source target", NULL },
    { "large-start", DANN "--domain-init 10", 3, 0, "source target", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = { { "target_accuracy", "target acc.", 4, 0 },
                                     { "source_accuracy", "source acc.", 4, 0 },
                                     { "updates", "updates", 0, 0 },
                                     { "seconds", "min", 1, 1.0 / 60 },
                                     { NULL, NULL, 0, 0 } };

static const rg_claim dann_claims[] = {
    { RG_CLAIM_LEAST, "dann", NULL, 0.75, "target_accuracy", "labels carry over to pictures on photographs", 0 },
    { RG_CLAIM_ABOVE, "dann", "source-only", 0.1, "target_accuracy", "against the source alone", 0 },
    { RG_CLAIM_HALFWAY, "dann", "source-only on-target", 0, "target_accuracy", "half of what target labels would give",
      0 },
    { RG_CLAIM_ABOVE, "emoji-dann", "emoji-source", 0, "target_accuracy", "emoji of another style", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};
static const rg_claim ablation_claims[] = {
    { RG_CLAIM_UNSTEADY, "constant", "dann", 0, "target_accuracy", "lambda at its highest from the start is unsteady",
      0 },
    { RG_CLAIM_SPREAD, "random-bit source-only", NULL, 0.01, "target_accuracy", "a random bit acts as noise", 0 },
    { RG_CLAIM_ABOVE, "source-only", "parity", 0.05, "source_accuracy", "the parity of the label fights the task", 0 },
    { RG_CLAIM_ABOVE, "dann", "biased-target", 0.05, "target_accuracy", "a target of half the classes misleads", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

/* ------------------------------------------------------------------------------------------------------------- data */

/* mnist-rgb, mnist-m/ and mnist-m-biased below the folder of all runs. */
static rg_status make_data(const rg_grid_job *job)
{
    const size_t         n = job->settings->quick ? FEW : MANY;
    const rg_digits_part colour = { .count = n, .channels = 3 },
                         test = { .count = job->settings->quick ? FEW : 0, .channels = 3 }, half = { .classes = 5 };
    const char          *from = job->settings->data;
    char                *text[] = { rg_format("%s/mnist-rgb", job->out),
                                    rg_format("%s/mnist/train-images-idx3-ubyte.gz", from),
                                    rg_format("%s/mnist/train-labels-idx1-ubyte.gz", from),
                                    rg_format("%s/mnist-rgb-test", job->out),
                                    rg_format("%s/mnist/t10k-images-idx3-ubyte.gz", from),
                                    rg_format("%s/mnist/t10k-labels-idx1-ubyte.gz", from),
                                    rg_format("%s/mnist-m", job->out),
                                    rg_format("%s/mnist-m/train-images-idx3-ubyte", job->out),
                                    rg_format("%s/mnist-m/train-labels-idx1-ubyte", job->out),
                                    rg_format("%s/mnist-m-biased", job->out) };
    rg_status status = RG_OK;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (!text[i]) status = RG_ENOMEM;
    (void)mkdir(job->out, 0777); /* what follows says why it is not there */
    if (status == RG_OK) status = rg_lab_digits(text[0], text[1], text[2], &colour);
    if (status == RG_OK) status = rg_lab_digits(text[3], text[4], text[5], &test);
    if (status == RG_OK) status = rg_lab_mnist_m(text[6], from, n);
    if (status == RG_OK) status = rg_lab_digits(text[9], text[7], text[8], &half);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) rg_free(text[i]);
    return status;
}

static rg_status make_emoji(const rg_grid_job *job)
{
    char *to = rg_format("%s/emoji", job->out), *from = rg_format("%s/emoji", job->settings->data);
    (void)mkdir(job->out, 0777);
    const rg_status status = to && from ? rg_lab_emoji(to, from) : RG_ENOMEM;
    rg_free(to);
    rg_free(from);
    return status;
}

static rg_status data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    if (strcmp(row->about, "emoji") == 0) return make_emoji(job);
    const bool on_target = strcmp(row->about, "target-labels") == 0, beside = strchr(row->about, ' ') != NULL,
               biased = strstr(row->about, "biased") != NULL;
    RG_TRY(make_data(job));
    RG_TRY(rg_row_words_add(out, rg_strdup("--train-sets")));
    RG_TRY(rg_row_words_add(out, on_target ? rg_format("%s/mnist-m/train-images-idx3-ubyte", job->out)
                                           : rg_format("%s/mnist-rgb-images", job->out)));
    RG_TRY(rg_row_words_add(out, on_target ? rg_format("%s/mnist-m/train-labels-idx1-ubyte", job->out)
                                           : rg_format("%s/mnist-rgb-labels", job->out)));
    if (!beside) return RG_OK;
    RG_TRY(rg_row_words_add(out, rg_strdup("--target-sets")));
    return rg_row_words_add(out, biased ? rg_format("%s/mnist-m-biased-images", job->out)
                                        : rg_format("%s/mnist-m/train-images-idx3-ubyte", job->out));
}

static rg_status judge(rg_results *out, const rg_row_run *run)
{
    const char *folder = run->job->out;
    if (strcmp(run->row->about, "emoji") == 0)
        return rg_results_set(out, "target_accuracy", rg_results_get(out, "test-accuracy"));
    char       *text[] = { rg_format("%s/mnist-m/test-images-idx3-ubyte", folder),
                           rg_format("%s/mnist-m/test-labels-idx1-ubyte", folder),
                           rg_format("%s/mnist-rgb-test-images", folder), rg_format("%s/mnist-rgb-test-labels", folder) };
    rg_model *model = NULL;
    double    error[2] = { 0, 0 };
    rg_status status = text[0] && text[1] && text[2] && text[3] ? rg_lab_model(&model, run->folder) : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < 2; i++)
        status = rg_lab_error(&error[i], model, text[2 * i], text[2 * i + 1]);
    if (status == RG_OK) status = rg_results_set(out, "target_accuracy", 1 - error[0]);
    if (status == RG_OK) status = rg_results_set(out, "source_accuracy", 1 - error[1]);
    rg_model_free(model);
    for (size_t i = 0; i < 4; i++) rg_free(text[i]);
    return status;
}

#define NEEDS                                                                                                      \
    "the folder with mnist/ (train-images-idx3-ubyte.gz and the three others) and bsds500_train/images.tar; emoji "  \
    "rows: emoji/"

static const rg_grid dann_grid = {
    .name = "dann",
    .heading = "MNIST to MNIST-M: accuracy on 10,000 test pictures of the target and of the source",
    .needs = NEEDS,
    .rows = dann_rows,
    .columns = columns,
    .claims = dann_claims,
    .quick = "--after-batches 20",
    .data = data,
    .judge = judge,
};

static const rg_grid ablation_grid = {
    .name = "ablations",
    .heading = "difficulties of an adversary, MNIST to MNIST-M: accuracy on 10,000 test pictures of the target and of "
               "the source",
    .needs = NEEDS,
    .rows = ablation_rows,
    .columns = columns,
    .claims = ablation_claims,
    .quick = "--after-batches 20",
    .data = data,
    .judge = judge,
};

const rg_experiment rg_experiment_dann = {
    .name = "dann",
    .summary = "labels of MNIST, pictures of MNIST-M: domain-adversarial training",
    .source = "Ganin et al. 2016",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &dann_grid,
};

const rg_experiment rg_experiment_ablations = {
    .name = "ablations",
    .summary = "what makes domain-adversarial training fail: five difficulties as rows",
    .source = "the difficulties of adversarial constraints, on the data of Ganin et al. 2016",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &ablation_grid,
};
