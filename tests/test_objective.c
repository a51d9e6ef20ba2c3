/* Objectives: a loss made from enter, features, answer and compare. Two are written here, against the public headers
 * alone: adversarial training (Goodfellow et al. 2015, with an inner pass) and a head that learns something else
 * from the features (with parameters of its own). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "regard/ops.h"
#include "regard/perturb.h"
#include "regard/task.h"
#include "support/faults.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------ adversarial */

typedef struct {
    double epsilon, alpha;
} adversarial_options;

static const rg_option adversarial_rows[] = { { RG_OPTION_REAL, "epsilon", offsetof(adversarial_options, epsilon),
                                                "0.5", "size of the perturbation", 0, "[0,inf)", NULL },
                                              { RG_OPTION_REAL, "alpha", offsetof(adversarial_options, alpha), "0.5",
                                                "weight of the clean loss", 0, "[0,1]", NULL },
                                              RG_OPTION_END };

static double clean_loss, attacked_loss; /* of the last pass, for the tests; one worker */

static rg_tensor *label_loss(rg_tape *t, const rg_pass *p, rg_tensor *y, void *context)
{
    return (void)context, p->model->system->compare(t, p->batch, y).sum;
}

/* alpha L(x) + (1 - alpha) L(x + r), r = eps sign(dL/dx) */
static rg_loss adversarial_loss(rg_tape *t, const rg_objective_use *use, const rg_pass *p)
{
    const adversarial_options *o = use->options;
    const size_t               N = rg_tensor_rows(p->rows), D = rg_tensor_cols(p->rows);
    rg_real                   *r = rg_tape_memory(t, (N * D + 1) * sizeof *r);
    const uint64_t             draws = rg_tape_draws(t);
    if (!r || !p->rows || !rg_perturb_gradient(r, t, p, NULL, label_loss, NULL)) return (rg_loss){ 0 };
    rg_perturb_scale(r, p, RG_BALL_LINF, o->epsilon, NULL);
    rg_tensor *moved = rg_with_layout(t, rg_add(t, p->rows, rg_constant(t, r, N, D, NULL)), rg_tensor_layout(p->rows));
    rg_tensor *attacked = p->model->system->compare(t, p->batch, rg_pass_again(t, p, moved)).sum;
    assert_true(rg_tape_draws(t) == draws); /* all passes drew the same */
    clean_loss = (double)rg_tensor_at(p->loss.sum, 0, 0);
    attacked_loss = (double)rg_tensor_at(attacked, 0, 0);
    return (rg_loss){ rg_add(t, rg_scale(t, p->loss.sum, o->alpha), rg_scale(t, attacked, 1 - o->alpha)),
                      p->loss.count };
}

static const rg_objective adversarial = { .name = "adversarial",
                                          .options = adversarial_rows,
                                          .options_bytes = sizeof(adversarial_options),
                                          .whole = true,
                                          .any_batch = true,
                                          .loss = adversarial_loss };

/* ----------------------------------------------------------------------------------------------------------- a head */

typedef struct {
    rg_param *w;
} head_parts;

static rg_status head_build(rg_objective_use *use, rg_params *params)
{
    head_parts *p = use->parts;
    p->w = rg_params_add(params, "w", RG_WEIGHT, 4, 2, RG_INIT_GLOROT, 1);
    return RG_OK;
}

/* Is the number of the example odd? The features unlearn it, lambda times, growing with the run (Ganin et al. 2016). */
static rg_loss head_loss(rg_tape *t, const rg_objective_use *use, const rg_pass *p)
{
    const rg_batch    *b = p->fields;
    const head_parts  *q = use->parts;
    const double       lambda = *(const double *)use->options * (2 / (1 + exp(-10 * rg_tape_progress(t).part)) - 1);
    int32_t           *odd = rg_tape_memory(t, b->examples * sizeof *odd);
    if (!odd) return (rg_loss){ 0 };
    for (size_t i = 0; i < b->examples; i++) odd[i] = (int32_t)(i % 2);
    return (rg_loss){ rg_cross_entropy(t, rg_matmul(t, rg_reverse_gradient(t, p->features, lambda), rg_use(t, q->w)),
                                       odd, 0),
                      (double)b->examples };
}

static const rg_objective head = { .name = "head",
                                   .options_bytes = sizeof(double),
                                   .parts_bytes = sizeof(head_parts),
                                   .build = head_build,
                                   .loss = head_loss };

/* --------------------------------------------------------------------------------------------------------- training */

typedef struct {
    size_t asked, stop_at;
} asking;

static bool stop(void *context)
{
    asking *a = context;
    return ++a->asked == a->stop_at;
}

static char told[4096];
static void say(void *context, const char *line)
{
    (void)context;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s\n", line);
}

static rg_status learn_with(rg_model **out, const rg_system *s, const char *model, const rg_objective_choice *choice,
                            size_t stop_at, size_t *asked)
{
    asking                a = { .stop_at = stop_at };
    const rg_train_report report = { .context = &a, .stop = stop, .say = say };
    rg_text               yaml = { 0 };
    rg_recipe            *recipe;
    told[0] = 0;
    assert_int_equal(rg_text_print(&yaml, "type: %s\nwidth: 4\nmodel: '%s'\ncpu-threads: 1\n", s->name, model), RG_OK);
    assert_int_equal(s->task->small(&yaml, ".", RG_SMALL_TEST), RG_OK);
    if (rg_recipe_new(&recipe, rg_text_c(&yaml)) != RG_OK) fail_msg("%s", rg_message());
    rg_training training = rg_recipe_training(recipe, &report);
    training.objectives = choice;
    training.objective_count = choice ? 1 : 0;
    const rg_status status = rg_learn(out, NULL, &training);
    rg_recipe_free(recipe);
    rg_text_free(&yaml);
    if (asked) *asked = a.asked;
    return status;
}

static rg_status learn(rg_model **out, const char *model, const rg_objective_choice *choice, size_t stop_at,
                       size_t *asked)
{
    return learn_with(out, rg_system_find("words"), model, choice, stop_at, asked);
}

static void adversarial_training_learns_and_resumes(void **state)
{
    (void)state;
    const adversarial_options o = { 0.1, 0.5 };
    const rg_objective_choice choice = { &adversarial, &o };
    size_t                    asked;
    faults_no_sync();
    if (learn(NULL, "one", &choice, 0, &asked) != RG_OK) fail_msg("%s", rg_message());
    assert_true(attacked_loss > clean_loss && clean_loss > 0);
    for (size_t n = 1; n < asked; n += 2) {
        (void)!system("rm -f half*");
        assert_int_equal(learn(NULL, "half", &choice, n, NULL), RG_ESTOP);
        if (learn(NULL, "half", &choice, 0, NULL) != RG_OK) fail_msg("%s", rg_message());
        assert_int_equal(system("cmp one half && cmp one.checkpoint half.checkpoint"), 0);
    }
    faults_off();
}

/* With epsilon 0 both passes are one, masks and all: half of each is the whole. */
static void a_perturbation_of_nothing_is_plain_training(void **state)
{
    (void)state;
    const adversarial_options o = { 0, 0.5 };
    const rg_objective_choice choice = { &adversarial, &o };
    if (learn(NULL, "", &choice, 0, NULL) != RG_OK) fail_msg("%s", rg_message());
    assert_true(clean_loss == attacked_loss);
}

/* What enters are the rows of the first layer: it can be perturbed without a word of graphs. */
static void systems_on_graphs_learn_by_objectives_too(void **state)
{
    (void)state;
    const adversarial_options o = { 0.1, 0.5 };
    const rg_objective_choice choice = { &adversarial, &o }, looks = { &head, NULL };
    rg_objectives            *refused;
    size_t                    systems = 0;
    faults_no_sync();
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        if ((*s)->task != &rg_task_graph) continue;
        if (learn_with(NULL, *s, "graphs", &choice, 0, NULL) != RG_OK) fail_msg("%s: %s", (*s)->name, rg_message());
        if (!(attacked_loss > clean_loss && clean_loss > 0))
            fail_msg("%s: clean %g, attacked %g", (*s)->name, clean_loss, attacked_loss);
        assert_int_equal(system("rm -f graphs*"), 0);
        assert_int_equal(learn_with(NULL, *s, "graphs", &choice, 2, NULL), RG_ESTOP);
        if (learn_with(NULL, *s, "graphs", &choice, 0, NULL) != RG_OK) fail_msg("%s: %s", (*s)->name, rg_message());
        assert_int_equal(system("rm -f graphs*"), 0);
        assert_int_equal(rg_objectives_new(&refused, *s, &looks, 1), RG_EINVAL);
        if (!strstr(rg_message(), "graphs")) fail_msg("%s", rg_message());
        systems++;
    }
    assert_int_equal(systems, 3);
    faults_off();
}

static void a_run_resumes_with_the_objectives_it_began_with(void **state)
{
    (void)state;
    const adversarial_options o = { 0.1, 0.5 }, other = { 0.3, 0.5 };
    const rg_objective_choice choice = { &adversarial, &o }, changed = { &adversarial, &other };
    faults_no_sync();
    (void)!system("rm -f half*");
    assert_int_equal(learn(NULL, "half", &choice, 1, NULL), RG_ESTOP);
    assert_int_equal(learn(NULL, "half", NULL, 0, NULL), RG_EMATCH);
    if (!strstr(rg_message(), "adversarial") || !strstr(rg_message(), "plain") ||
        !strstr(rg_message(), "half.checkpoint"))
        fail_msg("%s", rg_message());
    if (learn(NULL, "half", &changed, 0, NULL) != RG_OK) fail_msg("%s", rg_message());
    if (!strstr(told, "--epsilon was 0.1, it is 0.3 now")) fail_msg("%s", told);
    faults_off();
}

static void an_objective_has_parameters_of_its_own(void **state)
{
    (void)state;
    const double              none = 0, some = 1;
    const rg_objective_choice off = { &head, &none }, on = { &head, &some };
    rg_model                 *plain, *with = NULL, *without = NULL, *loaded;
    assert_int_equal(learn(&plain, "", NULL, 0, NULL), RG_OK);
    if (learn(&without, "", &off, 0, NULL) != RG_OK || learn(&with, "headed", &on, 0, NULL) != RG_OK)
        fail_msg("%s", rg_message());
    assert_non_null(rg_params_find(with->params, "objective.head.w"));
    if (rg_model_load(&loaded, "headed", NULL) != RG_OK) fail_msg("%s", rg_message());
    assert_null(rg_params_find(loaded->params, "objective.head.w"));
    bool differs = false;
    for (size_t i = 0; i < rg_params_count(plain->params); i++) {
        const rg_param *e = rg_params_at(plain->params, i);
        const size_t    bytes = rg_param_rows(e) * rg_param_cols(e) * sizeof(rg_real);
        const rg_param *same = rg_params_find(without->params, rg_param_name(e)),
                       *other = rg_params_find(with->params, rg_param_name(e));
        assert_memory_equal(rg_param_data(e), rg_param_data(same), bytes); /* lambda 0: what the head learns changes nothing */
        assert_memory_equal(rg_param_data(rg_params_find(loaded->params, rg_param_name(e))), rg_param_data(other),
                            bytes);
        differs = differs || memcmp(rg_param_data(e), rg_param_data(other), bytes) != 0;
    }
    assert_true(differs);
    rg_model_free(plain);
    rg_model_free(with);
    rg_model_free(without);
    rg_model_free(loaded);
}

static void what_cannot_be_combined_is_refused(void **state)
{
    (void)state;
    rg_objectives            *o;
    const rg_objective_choice twice[] = { { &head, NULL }, { &head, NULL } };
    assert_int_equal(rg_objectives_new(&o, rg_system_find("transformer"), NULL, 0), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "cnn"));
    assert_int_equal(rg_objectives_new(&o, rg_system_find("words"), twice, 2), RG_EINVAL);
    assert_null(rg_objective_find("nonsense"));
    assert_non_null(strstr(rg_message(), "plain"));
    for (const rg_objective *const *row = rg_objective_all(); *row; row++)
        assert_true(rg_objective_find((*row)->name) == *row && (*row)->summary && (*row)->formula && (*row)->loss);
}

static void examples_without_a_label_are_passed_over(void **state)
{
    (void)state;
    static const int32_t ids[] = { 1, 0 }, some[] = { 0, 1, 1, 2 }, all[] = { 0, 1, 2 };
    static const rg_real logit[] = { 1, 2, 9, -9, 3, 0 }, kept[] = { 1, 2, 3, 0 };
    const rg_tape_config config = { .record = false };
    rg_tape             *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    const rg_batch three = { .examples = 3,
                             .fields = 2,
                             .field = { [RG_LABEL] = { .layout = { .groups = 3, .start = some }, .ids = ids } } };
    const rg_batch two = { .examples = 2,
                           .fields = 2,
                           .field = { [RG_LABEL] = { .layout = { .groups = 2, .start = all }, .ids = ids } } };
    const rg_loss  a = rg_compare_classes(t, &three, rg_constant(t, logit, 3, 2, NULL)),
                  b = rg_compare_classes(t, &two, rg_constant(t, kept, 2, 2, NULL));
    assert_int_equal(rg_tape_status(t), RG_OK);
    assert_true(a.count == 2 && b.count == 2 && rg_tensor_at(a.sum, 0, 0) == rg_tensor_at(b.sum, 0, 0));
    rg_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adversarial_training_learns_and_resumes),
        cmocka_unit_test(a_perturbation_of_nothing_is_plain_training),
        cmocka_unit_test(systems_on_graphs_learn_by_objectives_too),
        cmocka_unit_test(a_run_resumes_with_the_objectives_it_began_with),
        cmocka_unit_test(an_objective_has_parameters_of_its_own),
        cmocka_unit_test(what_cannot_be_combined_is_refused),
        cmocka_unit_test(examples_without_a_label_are_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
