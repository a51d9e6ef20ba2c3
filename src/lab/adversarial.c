/* adversarial.c - `regard reproduce adversarial`: how networks on MNIST stand small changes of the pixels, and what
 * adversarial training changes.
 *
 * Every network learns for a fixed number of epochs; the test pictures are read once, by the judge. Published
 * (Goodfellow et al. 2015): FGSM at eps 0.25 gives a softmax regression 99.9 % errors at a confidence of 79.3 %, a
 * maxout network 89.4 %; adversarial training 17.9 %.
 *
 *   photographs    200 photographs through the imported MobileNet v2, which is not trained; sizes in 256ths
 *   text           a classifier of SST-2, its embeddings changed (l2)
 *   cora           a graph attention network, its features of nodes changed while it learns (reported) */
#include <string.h>

#include "lab/attacked.h"
#include "lab/mnist_parts.h"
#include "lab/rows.h"

#define DATA                                                                                                         \
    "--train-sets {data}/mnist/train-images-idx3-ubyte.gz {data}/mnist/train-labels-idx1-ubyte.gz --mini-batch 128 " \
    "--maxi-batch 0 --early-stopping 0 "
#define MLP DATA "--type mlp --layers f1200,f1200 --learn-rate 0.0005 "
#define CORA "--type gat --graph {data}/cora "
#define ADVERSARIAL "--objective adversarial --alpha 0.5 "

static const rg_row rows[] = {
    { "softmax", DATA "--type mlp --layers d0 --after-epochs 10 --learn-rate 0.001", 1, 99.9, NULL, NULL },
    { "softmax-14", DATA "--type mlp --layers d0 --size 14 --after-epochs 10 --learn-rate 0.001", 1, 0, NULL, NULL },
    { "softmax-7", DATA "--type mlp --layers d0 --size 7 --after-epochs 10 --learn-rate 0.001", 1, 0, NULL, NULL },
    { "mlp", MLP "--after-epochs 10", 1, 89.4, NULL, NULL },
    { "mlp-dropout", MLP "--dropout 0.3 --after-epochs 40", 1, 89.4, NULL, NULL },
    { "mlp-fgsm", MLP "--dropout 0.3 --after-epochs 40 " ADVERSARIAL "--norm linf --epsilon 0.25", 1, 17.9, NULL,
      NULL },
    { "mlp-steps", MLP "--dropout 0.3 --after-epochs 10 " ADVERSARIAL "--norm linf --epsilon 0.25 --steps 7", 1, 0,
      NULL, NULL },
    { "mlp-l2", MLP "--dropout 0.3 --after-epochs 40 " ADVERSARIAL "--norm l2 --epsilon 2", 1, 0, NULL, NULL },
    { "cnn", DATA "--type cnn --layers c5x32,p2,c5x48,p2,f100 --pool flatten --after-epochs 3", 1, 0, NULL, NULL },
    { "photographs", "", 1, 0, "photographs", "" },
    { "text",
      "--type classifier --format label --train-sets {data}/sentiment/stsa.binary.train.gz --valid-sets "
      "{data}/sentiment/stsa.binary.dev.gz --pool attention",
      1, 0, "text", NULL },
    { "cora-plain", CORA, 3, 0, "graph", NULL },
    { "cora-fgsm", CORA ADVERSARIAL "--norm linf --epsilon 0.01", 3, 0, "graph", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "fgsm_error", "FGSM 0.25 %", 2, 100 },
    { "steps_error", "10 steps %", 2, 100 },
    { "clean_error", "clean %", 2, 100 },
    { "fgsm_confidence", "conf.", 3, 0 },
    { "noise_changed", "noise %", 2, 100 },
    { "margin_shift", "margin shift", 2, 0 },
    { "weight_bound", "eps |w|1", 2, 0 },
    { "fgsm_error_0.1", "FGSM 0.1 %", 2, 100 },
    { "changed_1", "1/256 %", 1, 100 },
    { "changed_4", "4/256 %", 1, 100 },
    { "read_back_1", "as PNG %", 1, 100 },
    { "l2_error_1", "l2 1 %", 2, 100 },
    { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

static const rg_claim claims[] = {
    { RG_CLAIM_LEAST, "softmax", NULL, 0.99, "fgsm_error", "a linear model errs on nearly all attacked pictures", 0 },
    { RG_CLAIM_LEAST, "mlp", NULL, 0.85, "fgsm_error", "so do two layers of 1200 units", 0 },
    { RG_CLAIM_MOST, "mlp", NULL, 0.02, "clean_error", "which err on few clean ones", 0 },
    { RG_CLAIM_MOST, "mlp-fgsm", NULL, 0.20, "fgsm_error",
      "adversarial training withstands the attack it was trained on", 0 },
    { RG_CLAIM_ABOVE, "mlp-dropout", "mlp-fgsm", -0.002, "clean_error", "at no cost on clean pictures (0.2 points)",
      0 },
    { RG_CLAIM_ABOVE, "mlp-dropout", "mlp-l2", -0.001, "clean_error", "l2: at most 0.1 points worse on clean pictures",
      0 },
    { RG_CLAIM_ABOVE, "softmax", "softmax-14", 0, "margin_shift", "the shift of the logits grows with the dimension",
      0 },
    { RG_CLAIM_ABOVE, "softmax-14", "softmax-7", 0, "margin_shift", "and again", 0 },
    { RG_CLAIM_LEAST, "photographs", NULL, 0.6, "changed_1", "one 256th changes what is seen on photographs", 0 },
    { RG_CLAIM_LEAST, "photographs", NULL, 0.9, "changed_4", "four 256ths", 0 },
    { RG_CLAIM_LEAST, "photographs", NULL, 0.6, "read_back_1", "also from PNG files of 8 bits", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

static const double  sizes[] = { 0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35 };
static const int64_t steps[] = { 1, 10 };
enum { SIZES = 8, STEPS = 2, AT = 5 }; /* AT: 0.25 */

static rg_status put_results(rg_results *out, const rg_lab_attacked *r)
{
    char name[40];
    RG_TRY(rg_results_set(out, "clean_error", r[0].clean_error));
    RG_TRY(rg_results_set(out, "fgsm_error", r[AT * STEPS].error));
    RG_TRY(rg_results_set(out, "fgsm_confidence", r[AT * STEPS].confidence));
    RG_TRY(rg_results_set(out, "steps_error", r[AT * STEPS + 1].error));
    RG_TRY(rg_results_set(out, "noise_changed", r[AT * STEPS].noise));
    RG_TRY(rg_results_set(out, "margin_shift", r[AT * STEPS].margin_shift));
    for (size_t i = 0; i < SIZES * STEPS; i++) {
        snprintf(name, sizeof name, "%s_error_%g", i % STEPS ? "steps" : "fgsm", r[i].epsilon);
        RG_TRY(rg_results_set(out, name, r[i].error));
    }
    return RG_OK;
}

static rg_status judge_digits(rg_results *out, const rg_row_run *run)
{
    const rg_grid_settings *s = run->job->settings;
    char                   *images = rg_format("%s/mnist/t10k-images-idx3-ubyte.gz", s->data),
         *labels = rg_format("%s/mnist/t10k-labels-idx1-ubyte.gz", s->data);
    rg_lab_attacked r[SIZES * STEPS];
    rg_model       *model = NULL;
    for (size_t i = 0; i < SIZES * STEPS; i++)
        r[i] = (rg_lab_attacked){ .epsilon = sizes[i / STEPS], .steps = steps[i % STEPS] };
    rg_status status = images && labels ? rg_lab_model(&model, run->folder) : RG_ENOMEM;
    if (status == RG_OK)
        status = rg_lab_attack(r, SIZES * STEPS, model, images, labels, s->quick ? 200 : 0,
                               s->threads > 0 ? (int)s->threads : 2);
    if (status == RG_OK) status = put_results(out, r);
    if (status == RG_OK) status = rg_attacked_bound(out, model, sizes[AT]);
    rg_model_free(model);
    rg_free(images);
    rg_free(labels);
    return status;
}

/* The share of wrong answers about test nodes, from what the task measured at the end. */
static rg_status judge_graph(rg_results *out)
{
    const double right = rg_results_get(out, "test-accuracy");
    return rg_results_set(out, "clean_error", 1 - right);
}

static rg_status judge(rg_results *out, const rg_row_run *run)
{
    const rg_grid_settings *s = run->job->settings;
    const char             *about = run->row->about ? run->row->about : "";
    const rg_attacked       other = {
        .data = s->data, .folder = run->folder, .quick = s->quick, .threads = s->threads > 0 ? (int)s->threads : 2
    };
    if (strcmp(about, "photographs") == 0) return rg_attacked_photographs(out, &other);
    if (strcmp(about, "text") == 0) return rg_attacked_texts(out, &other);
    return strcmp(about, "graph") == 0 ? judge_graph(out) : judge_digits(out, run);
}

static const rg_grid grid = {
    .name = "adversarial",
    .heading =
        "errors on the 10,000 test pictures of MNIST, clean and attacked at eps 0.25 (linf): one step, ten steps",
    .needs = "the folder with mnist/ (train-images-idx3-ubyte.gz and the three others); photographs: mobilenet_v2/ and "
             "bsds500_train/; text: sentiment/; cora-*: cora/",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 20 --after-epochs 0",
    .judge = judge,
};

const rg_experiment rg_experiment_adversarial = {
    .name = "adversarial",
    .summary = "attacks on networks of MNIST, and adversarial training",
    .source = "Goodfellow, Shlens, Szegedy 2015; Madry et al. 2018",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
