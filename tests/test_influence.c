/* How far back answers of trained models depend on their inputs: gradients against differences, models without
 * memory, every task that reads sequences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/task.h"
#include "regard/view.h"
#include "support/faults.h"

#include <math.h>
#include <string.h>

static void ok(rg_status status)
{
    if (status != RG_OK) fail_msg("%s", rg_message());
}

/* A small instance of a system's task, learned for a few updates. */
static rg_model *learn(const char *type, const char *more)
{
    rg_recipe       *recipe;
    rg_model        *m;
    rg_text          yaml = { 0 };
    const rg_system *system = rg_system_find(type);
    char            *first = rg_format("type: %s\n", type);
    ok(rg_recipe_new(&recipe, first));
    ok(system->task->small(&yaml, ".", RG_SMALL_TEST));
    ok(rg_recipe_read(recipe, rg_text_c(&yaml), false));
    ok(rg_recipe_read(
        recipe,
        "dim-emb: 8\ndim-rnn: 8\nlayers: 1\ntransformer-heads: 2\nmodel: ''\ncpu-threads: 1\nafter-batches: 2\n",
        true));
    ok(rg_recipe_read(recipe, more, true));
    const rg_training t = rg_recipe_training(recipe, NULL);
    ok(rg_learn(&m, NULL, &t));
    rg_recipe_free(recipe);
    rg_text_free(&yaml);
    rg_free(first);
    return m;
}

static rg_record *curve_of(const rg_model *m, const char *input, size_t most)
{
    const rg_list     none = { 0 };
    const rg_sink     sink = { 0 };
    const rg_question q = { .words = &none, .input = input, .threads = 1, .sink = &sink };
    rg_influence     *x;
    rg_record        *r = NULL;
    ok(rg_influence_new(&x, m, most));
    ok(m->system->task->influence(x, m, &q));
    ok(rg_influence_record(&r, x));
    rg_influence_free(x);
    assert_int_equal(r->curve_sets, 1);
    assert_int_equal(r->curves[0].count, 1);
    for (size_t i = 0; i < r->curves[0].series[0].count; i++) assert_true(isfinite(r->curves[0].series[0].y[i]));
    return r;
}

static void language_models_depend_on_the_past_as_far_as_they_can_see(void **state)
{
    (void)state;
    static const struct {
        const char *type, *more;
        size_t      count;
    } rows[] = { { "lm", "cell: lstm\n", 7 },
                 { "lm", "cell: rnn\nlook: attention\n", 7 },
                 { "lstmn", "", 7 },
                 { "gpt", "context: 5\n", 5 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rg_model        *m = learn(rows[i].type, rows[i].more);
        rg_record       *r = curve_of(m, "valid.txt", 6);
        const rg_series *s = &r->curves[0].series[0];
        assert_int_equal(s->count, rows[i].count); /* no farther than the window */
        for (size_t k = 0; k < s->count; k++) assert_true(s->y[k] > 0);
        assert_true(strncmp(r->title, rows[i].type, strlen(rows[i].type)) == 0);
        rg_record_free(r);
        rg_model_free(m);
    }
}

/* The forward pass's own numbers: log p of the last token when one input row is moved along the gradient. An
 * embedding is moved in the table, in a
 * text where that token stands once. */
static void gradients_are_those_of_differences(void **state)
{
    (void)state;
    rg_model            *m = learn("gpt", "context: 6\ntied-embeddings: false\n");
    const int32_t        previous[] = { 3, 4, 5, 6 }, ids[] = { -1, -1, -1, 7 }, start[] = { 0, 4 }, none[] = { 0, 0 };
    const rg_batch       b = { .examples = 1,
                               .fields = 2,
                               .field = { { .layout = { .groups = 1, .start = none } },
                                          { .layout = { .groups = 1, .start = start }, .ids = ids, .previous = previous } } };
    const rg_tape_config config = { .record = false };
    rg_param            *table = rg_params_find(m->params, "embedding");
    const size_t         d = rg_param_cols(table);
    rg_influence        *x;
    rg_record           *r;
    rg_tape             *t;
    ok(rg_influence_new(&x, m, 3));
    ok(rg_influence_add(x, &b));
    ok(rg_influence_record(&r, x));
    ok(rg_tape_new(&t, &config));
    for (size_t k = 0; k < 4; k++) {
        double norm = 0;
        for (size_t c = 0; c < d; c++) {
            rg_real      *at = rg_param_data(table) + (size_t)previous[3 - k] * d + c;
            const rg_real was = *at, step = (rg_real)0.001;
            double        loss[2];
            for (int side = 0; side < 2; side++) {
                *at = side ? was + step : was - step;
                ok(rg_params_repack(m->params, NULL));
                rg_tape_reset(t, 0);
                loss[side] = (double)rg_tensor_at(m->system->loss(t, m, &b).sum, 0, 0);
            }
            *at = was;
            norm += pow((loss[1] - loss[0]) / (2 * (double)step), 2);
        }
        const double g = r->curves[0].series[0].y[k];
        if (fabs(sqrt(norm) - g) > 0.02 * g + 0.005)
            fail_msg("distance %zu: %g by differences, %g by the tape", k, sqrt(norm), g);
    }
    rg_tape_free(t);
    rg_record_free(r);
    rg_influence_free(x);
    rg_model_free(m);
}

static void translators_and_classifiers_of_texts_have_curves(void **state)
{
    (void)state;
    static const char *const translators[] = { "rnnsearch", "seq2seq", "luong", "transformer" };
    for (size_t i = 0; i < sizeof translators / sizeof *translators; i++) {
        rg_model *m = learn(translators[i], "");
        ok(rg_file_replace("pairs.tsv", "a b c d\tx y\nb b a\ty\n", 20));
        rg_record *r = curve_of(m, "pairs.tsv", 30);
        assert_true(r->curves[0].series[0].count >= 4);
        rg_record_free(r);
        rg_model_free(m);
    }
    rg_model *m = learn("words", "");
    ok(rg_file_replace("lines.txt", "a b c d\nthe film\n", 17));
    rg_record *r = curve_of(m, "lines.txt", 30);
    assert_int_equal(r->curves[0].series[0].count, 4);
    rg_record_free(r);
    rg_model_free(m);
}

static void what_cannot_be_measured_is_said(void **state)
{
    (void)state;
    const rg_list     none = { 0 };
    const rg_sink     sink = { 0 };
    const rg_question q = { .words = &none, .input = "short.txt", .threads = 1, .sink = &sink };
    rg_model         *m = learn("lm", "");
    rg_influence     *x;
    rg_record        *r;
    ok(rg_file_replace("short.txt", "the\n", 4));
    ok(rg_influence_new(&x, m, 64));
    assert_int_equal(rg_influence_record(&r, x), RG_EINVAL);
    assert_int_equal(m->system->task->influence(x, m, &q), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "--distance"));
    rg_influence_free(x);
    rg_model_free(m);
}

int main(void)
{
    faults_no_sync();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(language_models_depend_on_the_past_as_far_as_they_can_see),
        cmocka_unit_test(gradients_are_those_of_differences),
        cmocka_unit_test(translators_and_classifiers_of_texts_have_curves),
        cmocka_unit_test(what_cannot_be_measured_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
