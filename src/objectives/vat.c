/* Virtual adversarial training: the answer should not change where a small change of the input would change it most. No
 * label is needed.
 *
 *     LDS(x) = KL[ p(y|x) || p(y|x + r) ]          r = eps d,  d the direction in which that KL grows fastest
 *
 * p(y|x) is a constant. The first derivative of the KL at r = 0 is 0, so the direction is the first eigenvector of its
 * Hessian, found by power iteration with a finite difference:
 *
 *     d random;  repeat:  d <- g / |g|,  g = grad_r KL[ p(y|x) || p(y|x + r) ] at r = xi d
 *
 * The loss added to the plain one is the mean of LDS over labelled and unlabelled examples (--unlabelled) times
 * --vat-weight, and with --entropy W also W times the mean entropy of p(y|x). Clean and perturbed passes have the
 * same dropout masks, or the KL at r = 0 would not be 0. */
#include "regard/ops.h"
#include "regard/perturb.h"

#include <string.h>

typedef struct {
    double  epsilon, xi, entropy, weight;
    int64_t power;
} settings;

static const rg_option options[] = {
    { RG_OPTION_REAL, "epsilon", offsetof(settings, epsilon), "2", "length of the perturbation of an example", 0,
      "(0,inf)", NULL },
    { RG_OPTION_REAL, "xi", offsetof(settings, xi), "0.01", "length of the finite difference", 0, "(0,inf)", NULL },
    { RG_OPTION_INT, "power", offsetof(settings, power), "1", "power iterations", 0, "[1,100]", NULL },
    { RG_OPTION_REAL, "entropy", offsetof(settings, entropy), "0", "weight of the entropy of the answers", 0, "[0,inf)",
      NULL },
    { RG_OPTION_REAL, "vat-weight", offsetof(settings, weight), "1", "weight of the divergence", 0, "[0,inf)", NULL },
    RG_OPTION_END
};

/* KL with the clean answer as a constant. */
static rg_tensor *divergence(rg_tape *t, const rg_pass *p, rg_tensor *y, void *context)
{
    (void)context;
    return rg_divergence(t, rg_detach(t, p->logits), y, NULL);
}

rg_real *rg_vat_direction(rg_tape *t, const rg_pass *p, double xi, int64_t power, const rg_real *unit)
{
    const size_t     N = rg_tensor_rows(p->rows), D = rg_tensor_cols(p->rows);
    const rg_tensor *random = rg_normal(t, N, D, rg_tensor_layout(p->rows));
    rg_real         *d = rg_tape_memory(t, (N * D + 1) * sizeof *d), *g = rg_tape_memory(t, (N * D + 1) * sizeof *g);
    if (!random || !d || !g) return NULL;
    for (size_t k = 0; k < N * D && !rg_tape_dry(t); k++) d[k] = rg_tensor_at(random, k / D, k % D);
    for (int64_t i = 0; i < power && !rg_tape_dry(t); i++) {
        rg_perturb_scale(d, p, RG_BALL_L2, xi, unit);
        if (!rg_perturb_gradient(g, t, p, d, divergence, NULL)) return NULL;
        memcpy(d, g, N * D * sizeof *d);
    }
    return d;
}

/* Sum of LDS (and of the entropy) over the rows of a pass. */
static rg_tensor *smooth(rg_tape *t, const rg_pass *p, const settings *s)
{
    const size_t   N = rg_tensor_rows(p->rows), D = rg_tensor_cols(p->rows);
    const rg_real *unit = rg_perturb_unit(t, p);
    rg_real       *d = p->logits ? rg_vat_direction(t, p, s->xi, s->power, unit) : NULL;
    if (!d) return NULL;
    rg_perturb_scale(d, p, RG_BALL_L2, s->epsilon, unit);
    rg_tensor *moved = rg_with_layout(t, rg_add(t, p->rows, rg_constant(t, d, N, D, NULL)), rg_tensor_layout(p->rows));
    rg_tensor *sum = rg_scale(t, divergence(t, p, rg_pass_again(t, p, moved), NULL), s->weight);
    if (s->entropy > 0)
        sum = rg_add(t, sum,
                     rg_scale(t, rg_soft_cross_entropy(t, p->logits, rg_softmax(t, p->logits), NULL), s->entropy));
    return sum;
}

/* Clean answers of the unlabelled examples are a constant, unless their entropy is to learn. */
static rg_pass pass_beside(rg_tape *t, const rg_pass *p, bool learns)
{
    const bool settles = rg_tape_update_statistics(t, false), records = rg_tape_record(t, false);
    if (learns) rg_tape_record(t, records);
    rg_pass beside = rg_pass_run(t, p->model, p->fields->beside, false);
    rg_tape_record(t, records);
    rg_tape_update_statistics(t, settles);
    if (!learns && beside.logits) { /* rows enter again, recorded: embeddings learn */
        const uint64_t after = rg_tape_draws(t);
        beside.rows = p->model->system->enter(t, p->model, beside.batch);
        rg_tape_redraw(t, after);
    }
    return beside;
}

/* A sum that is divided by the labels stands for a mean over the rows. */
static rg_loss loss(rg_tape *t, const rg_objective_use *use, const rg_pass *p)
{
    const settings *s = use->options;
    double          rows = (double)rg_tensor_rows(p->logits);
    rg_tensor      *sum = smooth(t, p, s);
    if (p->fields && p->fields->beside && p->fields->beside->examples) {
        const rg_pass beside = pass_beside(t, p, s->entropy > 0);
        rows += (double)rg_tensor_rows(beside.logits);
        sum = rg_add(t, sum, smooth(t, &beside, s));
    }
    return (rg_loss){ rg_scale(t, sum, rows > 0 ? p->loss.count / rows : 0), p->loss.count };
}

const rg_objective rg_objective_vat = {
    .name = "vat",
    .summary = "answers that do not change with small changes of the input; needs no labels",
    .formula = "L(y, f(x)) + mean KL[p(y|x) || p(y|x + r)],  r = eps d,  d by power iteration",
    .paper = "Miyato, Maeda, Koyama, Nakae, Ishii 2016; Miyato, Dai, Goodfellow 2017 (texts)",
    .options = options,
    .options_bytes = sizeof(settings),
    .any_batch = true,
    .loss = loss,
};
