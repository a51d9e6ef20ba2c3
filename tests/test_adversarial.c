/* Objectives in whole trainings: every system that answers once with every objective; what must leave no trace
 * leaves none; what makes no sense is refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "regard/perturb.h"
#include "regard/task.h"
#include "support/faults.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool answers_once(const rg_system *s) { return s->enter && s->features && s->answer && s->compare; }

typedef struct {
    size_t asked, stop_at;
} asking;

static bool stop(void *context) { return ++((asking *)context)->asked == ((asking *)context)->stop_at; }

static char told[8192];
static void say(void *context, const char *line)
{
    (void)context;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s\n", line);
}

/* The value of a line of YAML, into room. */
static bool value_of(char *room, size_t size, const char *yaml, const char *name)
{
    const char *at = strstr(yaml, name);
    if (!at) return false;
    at += strlen(name);
    return snprintf(room, size, "%.*s", (int)strcspn(at, "\n"), at) > 0;
}

/* The task's small instance, its training files also beside the batches as `beside`: "target-sets", "unlabelled" or
 * NULL. */
static rg_recipe *recipe_of(const rg_system *s, const char *model, const char *settings, const char *beside,
                            int threads)
{
    rg_text    yaml = { 0 };
    rg_recipe *recipe;
    char       files[1024];
    assert_int_equal(rg_text_print(&yaml, "type: %s\nmodel: '%s'\ncpu-threads: %d\n", s->name, model, threads), RG_OK);
    assert_int_equal(s->task->small(&yaml, ".", RG_SMALL_TEST), RG_OK);
    if (beside && value_of(files, sizeof files, rg_text_c(&yaml), "train-sets: "))
        rg_text_print(&yaml, "%s: %s\n", beside, files);
    assert_int_equal(rg_text_print(&yaml, "%s", settings), RG_OK);
    if (rg_recipe_new(&recipe, rg_text_c(&yaml)) != RG_OK)
        fail_msg("%s: %s\n%s", s->name, rg_message(), rg_text_c(&yaml));
    rg_text_free(&yaml);
    return recipe;
}

static rg_status learn(rg_model **out, const rg_system *s, const char *model, const char *settings, const char *beside,
                       int threads, size_t stop_at, size_t *asked)
{
    asking                a = { .stop_at = stop_at };
    const rg_train_report report = { .context = &a, .stop = stop, .say = say };
    told[0] = 0;
    rg_recipe        *recipe = recipe_of(s, model, settings, beside, threads);
    const rg_training t = rg_recipe_training(recipe, &report);
    const rg_status   status = rg_learn(out, NULL, &t);
    rg_recipe_free(recipe);
    if (asked) *asked = a.asked;
    return status;
}

static bool fits(const rg_system *s, const rg_objective *o)
{
    return answers_once(s) && !o->decodes && (!s->batches || o->any_batch);
}
static bool classifies(const rg_system *s) { return answers_once(s) && !s->batches; }

static void every_system_learns_and_resumes_with_every_objective(void **state)
{
    (void)state;
    faults_no_sync();
    for (const rg_system *const *s = rg_system_all(); *s; s++)
        for (const rg_objective *const *o = rg_objective_all(); *o; o++) {
            char   settings[128];
            size_t asked;
            if (!fits(*s, *o)) continue;
            const char *beside = (*s)->batches                       ? NULL
                                 : strcmp((*o)->name, "domain") == 0 ? "target-sets"
                                                                     : "unlabelled";
            snprintf(settings, sizeof settings, "objective: [%s]\nafter-epochs: 2\n", (*o)->name);
            (void)!system("rm -f one* half*");
            if (learn(NULL, *s, "one", settings, beside, 1, 0, &asked) != RG_OK)
                fail_msg("%s, %s: %s", (*s)->name, (*o)->name, rg_message());
            assert_int_equal(learn(NULL, *s, "half", settings, beside, 1, asked / 2 + 1, NULL), RG_ESTOP);
            if (learn(NULL, *s, "half", settings, beside, 1, 0, NULL) != RG_OK)
                fail_msg("%s, %s: %s", (*s)->name, (*o)->name, rg_message());
            if (system("cmp one half && cmp one.checkpoint half.checkpoint") != 0)
                fail_msg("%s, %s: not the same bits", (*s)->name, (*o)->name);
        }
    faults_off();
}

/* Parameters of a system are equal, whatever objectives added beside them. */
static void expect_same(const rg_model *a, const rg_model *b, const char *what)
{
    for (size_t i = 0; i < rg_params_count(a->params); i++) {
        const rg_param *e = rg_params_at(a->params, i), *same = rg_params_find(b->params, rg_param_name(e));
        assert_non_null(same);
        if (memcmp(rg_param_data(e), rg_param_data(same), rg_param_rows(e) * rg_param_cols(e) * sizeof(rg_real)) != 0)
            fail_msg("%s: %s differs", what, rg_param_name(e));
    }
}

/* A domain head learns with weight 1 and hides nothing with lambda 0; a divergence of weight 0 moves neither weights
 * nor statistics. One worker and two. */
static void objectives_of_weight_zero_leave_no_trace(void **state)
{
    (void)state;
    static const char *const settings[] = { "objective: [domain]\ndomain-weight: 0\nafter-epochs: 2\nclip-norm: 0\n",
                                            "objective: [vat]\nvat-weight: 0\nafter-epochs: 2\nclip-norm: 0\n" };
    faults_no_sync();
    for (const rg_system *const *s = rg_system_all(); *s; s++)
        for (int threads = 1; classifies(*s) && threads <= 2; threads++) {
            rg_model *plain, *with;
            if (learn(&plain, *s, "", "after-epochs: 2\nclip-norm: 0\n", NULL, threads, 0, NULL) != RG_OK)
                fail_msg("%s: %s", (*s)->name, rg_message());
            for (size_t i = 0; i < 2; i++) {
                if (learn(&with, *s, "", settings[i], i ? "unlabelled" : "target-sets", threads, 0, NULL) != RG_OK)
                    fail_msg("%s: %s", (*s)->name, rg_message());
                expect_same(plain, with, (*s)->name);
                if (!i) assert_non_null(rg_params_find(with->params, "objective.domain.0.w"));
                rg_model_free(with);
            }
            rg_model_free(plain);
        }
    faults_off();
}

static void the_features_have_the_width_that_systems_say(void **state)
{
    (void)state;
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        if (!classifies(*s)) continue;
        rg_model *m;
        if (learn(&m, *s, "", "after-batches: 1\n", NULL, 1, 0, NULL) != RG_OK)
            fail_msg("%s: %s", (*s)->name, rg_message());
        if (!rg_model_size(m, "units")) fail_msg("%s does not say how wide its features are", (*s)->name);
        rg_model_free(m);
    }
}

/* Where the features are taken changes what stands behind them, and nothing else: the network learns the same bits
 * without an adversary; the head of one reads the pooled maps, 16 per cell, instead of the 6 units. */
static void the_head_stands_where_the_features_are(void **state)
{
    (void)state;
#define NET "layers: c3x4 p2 c3x16 f6\npool: flatten\ndropout: 0.25\nafter-epochs: 2\nclip-norm: 0\n"
#define AT  "features-at: pool\n"
    static const char *const settings[] = { NET, NET AT, NET AT "objective: [domain]\ndomain-weight: 0\n",
                                            NET "objective: [domain]\n", NET AT "objective: [domain]\n" };
    const rg_system         *cnn = rg_system_find("cnn");
    rg_model                *m[5];
    for (size_t i = 0; i < 5; i++)
        if (learn(&m[i], cnn, "", settings[i], i < 2 ? NULL : "target-sets", 1, 0, NULL) != RG_OK)
            fail_msg("%s: %s", settings[i], rg_message());
    expect_same(m[0], m[1], "features at the pooled maps");
    expect_same(m[0], m[2], "features at the pooled maps, an adversary of weight 0");
    const size_t cells = rg_model_size(m[0], "cells-down") * rg_model_size(m[0], "cells-across");
    assert_int_equal(rg_param_rows(rg_params_find(m[3]->params, "objective.domain.0.w")), 6);
    assert_int_equal(rg_param_rows(rg_params_find(m[4]->params, "objective.domain.0.w")), 16 * cells);
    assert_int_equal(rg_model_size(m[4], "units"), 16 * cells);
    for (size_t i = 0; i < 5; i++) rg_model_free(m[i]);
}

static void several_objectives_add_up(void **state)
{
    (void)state;
    rg_model *m;
    if (learn(&m, rg_system_find("words"), "", "objective: [domain, vat]\nafter-epochs: 2\n", "target-sets", 2, 0,
              NULL) != RG_OK)
        fail_msg("%s", rg_message());
    rg_model_free(m);
    if (learn(&m, rg_system_find("words"), "",
              "objective: [domain, adversarial]\nafter-epochs: 2\nepsilon: 0.5\nnorm: l2\n", "target-sets", 1, 0,
              NULL) != RG_OK)
        fail_msg("%s", rg_message());
    rg_model_free(m);
}

static void expect_refused(const char *settings, const char *beside, const char *words)
{
    const rg_status status = learn(NULL, rg_system_find("words"), "", settings, beside, 1, 0, NULL);
    if (status == RG_OK || !strstr(rg_message(), words)) fail_msg("%s: %d, %s", settings, (int)status, rg_message());
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    expect_refused("objective: [domain]\nafter-epochs: 1\n", NULL, "--target-sets");
    expect_refused("objective: [adversarial, vat]\n", NULL, "both have --epsilon");
    expect_refused("objective: [domain]\nadversary: nonsense\n", "target-sets", "--adversary nonsense");
    expect_refused("objective: [domain]\ndomain-weight: few\n", "target-sets", "--domain-weight few");
    expect_refused("objective: [domain]\ndomain-layers: [x]\n", "target-sets", "--domain-layers x");
    expect_refused("objective: [domain]\nafter-epochs: 0\nearly-stopping: 1\n", "target-sets", "--lambda schedule");
    expect_refused("lr-schedule: dann\nafter-epochs: 0\n", NULL, "--lr-schedule dann");
    rg_recipe *r;
    assert_int_equal(rg_recipe_new(&r, "type: words\nobjective: [vat]\nepsilon: 0\n"), RG_EINVAL);
    assert_int_equal(rg_recipe_new(&r, "type: words\nobjective: [adversarial]\nepsilon: -1\n"), RG_EINVAL);
    assert_int_equal(rg_recipe_new(&r, "type: words\nepsilon: 1e-8\n"), RG_EINVAL); /* the optimiser's, once */
    assert_non_null(strstr(rg_message(), "optimizer-epsilon"));
    if (learn(NULL, rg_system_find("words"), "", "objective: [vat]\nafter-epochs: 1\n", "unlabelled", 1, 0, NULL) !=
        RG_OK)
        fail_msg("%s", rg_message());
    assert_non_null(strstr(told, "is the training data themselves"));
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static rg_status learn_table(rg_model **out, const char *more)
{
    rg_recipe *recipe;
    char       yaml[512];
    snprintf(yaml, sizeof yaml,
             "type: words\nwidth: 4\nmodel: ''\ncpu-threads: 1\nafter-epochs: 2\ntrain-sets: [three.tsv]\n%s", more);
    if (rg_recipe_new(&recipe, yaml) != RG_OK) fail_msg("%s", rg_message());
    const rg_training t = rg_recipe_training(recipe, NULL);
    const rg_status   status = rg_learn(out, NULL, &t);
    rg_recipe_free(recipe);
    return status;
}

/* A property in the third column is kept out of the features; random bits and the parity of the label need no
 * further data. */
static void the_adversary_may_predict_anything(void **state)
{
    (void)state;
    rg_model *m;
    write_file("three.tsv", "good\tfine film\tx\nbad\tpoor film\ty\ngood\tfine cast\ty\nbad\tpoor cast\tz\n");
    if (learn_table(&m, "objective: [domain]\nadversary: column:3\n") != RG_OK) fail_msg("%s", rg_message());
    assert_int_equal(rg_param_cols(rg_params_find(m->params, "objective.domain.1.w")), 3);
    rg_model_free(m);
    for (size_t i = 0; i < 2; i++) {
        if (learn_table(&m, i ? "objective: [domain]\nadversary: random\n"
                              : "objective: [domain]\nadversary: parity\ndomain-layers: [0]\n") != RG_OK)
            fail_msg("%s", rg_message());
        rg_model_free(m);
    }
    write_file("three.tsv", "good\tfine film\tx\nbad\tpoor film\tx\n");
    assert_int_not_equal(learn_table(&m, "objective: [domain]\nadversary: column:3\n"), RG_OK);
    assert_non_null(strstr(rg_message(), "column:3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_system_learns_and_resumes_with_every_objective),
        cmocka_unit_test(objectives_of_weight_zero_leave_no_trace),
        cmocka_unit_test(the_features_have_the_width_that_systems_say),
        cmocka_unit_test(the_head_stands_where_the_features_are),
        cmocka_unit_test(several_objectives_add_up),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(the_adversary_may_predict_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
