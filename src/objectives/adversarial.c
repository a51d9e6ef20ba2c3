/* Adversarial training: learn from the inputs as they are and as an adversary would change them.
 *
 *     L = alpha L(y, f(x)) + (1 - alpha) L(y, f(x + r))          r = argmax over |r| <= eps of L(y, f(x + r)), to first order
 *
 * r is made anew at every update and is a constant in the backward pass. One step of gradient is the fast gradient
 * sign method; training on it does not stop attacks of several steps. On texts r changes the embeddings, in units of
 * their deviation. */
#include "regard/ops.h"
#include "regard/perturb.h"

#include <string.h>

typedef struct {
    char   *norm, *label;
    double  epsilon, alpha;
    int64_t steps;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "norm", offsetof(settings, norm), "linf",
      "norm of the perturbation: its largest number, or its length", 0, "linf|l2", NULL },
    { RG_OPTION_REAL, "epsilon", offsetof(settings, epsilon), "0.25", "size of the perturbation in that norm", 0,
      "(0,inf)", NULL },
    { RG_OPTION_REAL, "alpha", offsetof(settings, alpha), "0.5",
      "weight of the clean loss; the attacked one has 1 - alpha", 0, "[0,1]", NULL },
    { RG_OPTION_INT, "steps", offsetof(settings, steps), "1",
      "gradient steps of the attack; more than 1: random start, projection", 0, "[1,1000]", NULL },
    { RG_OPTION_STRING, "label", offsetof(settings, label), "true",
      "attacked is the true label, or what the model says", 0, "true|predicted", NULL },
    RG_OPTION_END
};

static rg_loss loss(rg_tape *t, const rg_objective_use *use, const rg_pass *p)
{
    const settings   *s = use->options;
    rg_perturb_config c = { .ball = strcmp(s->norm, "l2") == 0 ? RG_BALL_L2 : RG_BALL_LINF,
                            .epsilon = s->epsilon,
                            .steps = (size_t)s->steps };
    c.towards = strcmp(s->label, "true") == 0 ? RG_TOWARDS_LABEL : RG_TOWARDS_ANSWER;
    c.unit = rg_perturb_unit(t, p);
    rg_perturb_range(&c.low, &c.high, p);
    rg_tensor *r = rg_perturb(t, p, &c);
    rg_tensor *moved = rg_with_layout(t, rg_add(t, p->rows, r), rg_tensor_layout(p->rows));
    rg_tensor *attacked = p->model->system->compare(t, p->batch, rg_pass_again(t, p, moved)).sum;
    return (rg_loss){ rg_add(t, rg_scale(t, p->loss.sum, s->alpha), rg_scale(t, attacked, 1 - s->alpha)),
                      p->loss.count };
}

const rg_objective rg_objective_adversarial = {
    .name = "adversarial",
    .summary = "also the loss of inputs that an adversary changed a little",
    .formula = "alpha L(y, f(x)) + (1 - alpha) L(y, f(x + r)),  r = eps sign(dL/dx) or eps g/|g|",
    .paper = "Goodfellow, Shlens, Szegedy 2015; Madry et al. 2018 (several steps)",
    .options = options,
    .options_bytes = sizeof(settings),
    .whole = true,
    .any_batch = true,
    .loss = loss,
};
