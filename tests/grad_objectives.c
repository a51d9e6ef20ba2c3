/* grad_objectives.c - gradients of whole objectives in double, every number of every parameter against central
 * differences of their sum of losses.
 *
 *   plain          its gradient is that of its loss
 *   adversarial    too: r = eps sign(g) does not move with the weights, almost everywhere
 *   domain         of the head's parameters too; features learn d L_y - lambda d L_d instead of d L_y + d L_d */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "regard/objective.h"
#include "regard/ops.h"
#include "regard/task.h"
#include "support/gradient.h"

enum { EXAMPLES = 4, D = 3 };
static rg_real       near[EXAMPLES * D], far[EXAMPLES * D];
static const int32_t start[] = { 0, 1, 2, 3, 4 }, label_start[] = { 0, 1, 2, 2, 3 }, labels[] = { 1, 0, 1 };

typedef struct {
    rg_recipe     *recipe;
    rg_objectives *objectives;
    rg_model      *model;
    rg_grads      *grads;
    rg_tape       *tape;
    rg_batch       batch, beside;
} fixture;

/* One example has no label. */
static void give(fixture *f)
{
    rg_test_fill(near, EXAMPLES * D, 11, -1, 1);
    rg_test_fill(far, EXAMPLES * D, 12, 0, 2);
    const rg_field x = { .kind = RG_FIELD_NUMBERS, .layout = { .groups = EXAMPLES, .start = start }, .values = near,
                         .width = D };
    const rg_field y = { .kind = RG_FIELD_CLASS, .layout = { .groups = EXAMPLES, .start = label_start }, .ids = labels };
    f->batch = (rg_batch){ .examples = EXAMPLES, .fields = 2, .field = { x, y }, .beside = &f->beside };
    f->beside = (rg_batch){ .examples = EXAMPLES, .fields = 1, .field = { x } };
    f->beside.field[RG_INPUT].values = far;
}

static void make(fixture *f, const char *yaml)
{
    const rg_sizes sizes = { { { "classes", 2 }, { "features", D } } };
    *f = (fixture){ 0 };
    if (rg_recipe_new(&f->recipe, yaml) != RG_OK) fail_msg("%s", rg_message());
    const rg_training t = rg_recipe_training(f->recipe, NULL);
    assert_int_equal(rg_objectives_new(&f->objectives, t.system, t.objectives, t.objective_count), RG_OK);
    if (rg_model_new_with(&f->model, t.system, t.system_options, &sizes, 3, rg_objectives_build, f->objectives) != RG_OK)
        fail_msg("%s", rg_message());
    assert_int_equal(rg_grads_new(&f->grads, f->model->params), RG_OK);
    const rg_tape_config c = { .record = true, .learn = true, .seed = 5, .grads = f->grads };
    assert_int_equal(rg_tape_new(&f->tape, &c), RG_OK);
    give(f);
}

static void drop(fixture *f)
{
    rg_tape_free(f->tape);
    rg_grads_free(f->grads);
    rg_model_free(f->model);
    rg_objectives_free(f->objectives);
    rg_recipe_free(f->recipe);
}

static rg_tensor *sum_of(fixture *f)
{
    assert_int_equal(rg_params_repack(f->model->params, NULL), RG_OK);
    rg_tape_reset(f->tape, 1);
    rg_tensor *sum = rg_objectives_loss(f->tape, f->objectives, &f->batch).sum;
    if (!sum) fail_msg("%s", rg_message());
    return sum;
}

static double difference(fixture *f, rg_real *x)
{
    const rg_real was = *x;
    *x = was + 1e-5;
    const double above = (double)rg_tensor_at(sum_of(f), 0, 0);
    *x = was - 1e-5;
    const double below = (double)rg_tensor_at(sum_of(f), 0, 0);
    *x = was;
    return (above - below) / 2e-5;
}

/* Gradients of all parameters, one after another. */
static size_t gradients(double *out, fixture *f)
{
    size_t n = 0;
    rg_grads_reset(f->grads);
    if (rg_tape_backward(f->tape, sum_of(f)) != RG_OK) fail_msg("%s", rg_message());
    for (size_t i = 0; i < rg_params_count(f->model->params); i++) {
        const rg_param *p = rg_params_at(f->model->params, i);
        const rg_real  *g = rg_grads_of(f->grads, p);
        for (size_t k = 0; k < rg_param_rows(p) * rg_param_cols(p); k++) out[n++] = g ? (double)g[k] : 0;
    }
    return n;
}

/* lambda: what features have of the loss L_d; -1: they learn the sum, as all others. plain: gradients without it. */
static void expect(fixture *f, const char *what, double lambda, const double *plain)
{
    double got[512];
    size_t n = 0;
    gradients(got, f);
    for (size_t i = 0; i < rg_params_count(f->model->params); i++) {
        rg_param  *p = rg_params_at(f->model->params, i);
        const bool own = strncmp(rg_param_name(p), "objective.", 10) == 0;
        if (strncmp(rg_param_name(p), "input.", 6) == 0) { /* kept: not learned */
            n += rg_param_rows(p) * rg_param_cols(p);
            continue;
        }
        for (size_t k = 0; k < rg_param_rows(p) * rg_param_cols(p); k++, n++) {
            double want = difference(f, rg_param_data(p) + k);
            if (!own && plain) want = plain[n] - lambda * (want - plain[n]);
            if (fabs(want - got[n]) > 1e-6 * fmax(1e-3, fabs(want)))
                fail_msg("%s: %s[%zu] is %.12g, not %.12g", what, rg_param_name(p), k, got[n], want);
        }
    }
}

#define MLP "type: mlp\nlayers: f4\nactivation: tanh\n"

static void losses_that_are_added_have_their_gradient(void **state)
{
    static const char *const rows[] = { MLP, MLP "objective: [adversarial]\nnorm: linf\nepsilon: 0.1\n",
                                        MLP "objective: [adversarial]\nnorm: linf\nepsilon: 0.3\nalpha: 0.2\n" };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        fixture f;
        make(&f, rows[i]);
        expect(&f, rows[i], -1, NULL);
        drop(&f);
    }
}

/* With lambda 0 features learn the task alone; then the loss of the head with the weight -lambda besides. */
static void features_learn_against_the_head_and_the_head_learns(void **state)
{
    static const double lambda[] = { 0, 0.25, 1 };
    double              plain[512];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        fixture f;
        char   *yaml = rg_format(MLP "objective: [domain]\nlambda: constant\ndomain-layers: [3]\ndomain-weight: %g\n",
                                 lambda[i]);
        make(&f, yaml);
        if (!i) gradients(plain, &f);
        expect(&f, yaml, lambda[i], plain);
        drop(&f);
        rg_free(yaml);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_that_are_added_have_their_gradient),
        cmocka_unit_test(features_learn_against_the_head_and_the_head_learns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
