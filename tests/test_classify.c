/* test_classify.c - every classifier answers a text the same alone and among others, and survives allocations that fail
 * while it learns, loads and answers; what a model file says of its classes is checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/task.h"
#include "support/faults.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/test_classify.XXXXXX";

static rg_recipe *recipe_of(const rg_system *its, const char *model)
{
    rg_recipe *recipe;
    rg_text    yaml = { 0 };
    assert_int_equal(rg_text_print(&yaml, "type: %s\nwidth: 4\nmodel: '%s'\ncpu-threads: 1\n", its->name, model),
                     RG_OK);
    assert_int_equal(its->task->small(&yaml, folder, RG_SMALL_TEST), RG_OK);
    if (rg_recipe_new(&recipe, rg_text_c(&yaml)) != RG_OK) fail_msg("%s: %s", its->name, rg_message());
    rg_text_free(&yaml);
    return recipe;
}

static rg_model *learned(const rg_system *its)
{
    rg_recipe        *recipe = recipe_of(its, "");
    const rg_training training = rg_recipe_training(recipe, NULL);
    rg_model         *m;
    if (rg_learn(&m, NULL, &training) != RG_OK) fail_msg("%s: %s", its->name, rg_message());
    rg_recipe_free(recipe);
    return m;
}

static void each_classifier(void (*check)(const rg_system *its))
{
    for (const rg_system *const *s = rg_system_all(); *s; s++)
        if ((*s)->task == &rg_task_classify) check(*s);
}

/* ------------------------------------------------------------------------------------------------------ batch mates */

static void same_alone(const rg_system *its)
{
    static const int32_t ids[] = { 4, 5, 3, 6, 0, 7, 8, 9, 4, 4, 11 }, start[] = { 0, 3, 4, 4, 11 };
    const rg_tape_config config = { .record = false };
    rg_model            *m = learned(its);
    rg_tape             *among, *alone;
    assert_int_equal(rg_tape_new(&among, &config), RG_OK);
    assert_int_equal(rg_tape_new(&alone, &config), RG_OK);
    const rg_batch   all = { .examples = 4,
                             .fields = 1,
                             .field = { [RG_INPUT] = { .layout = { .groups = 4, .start = start }, .ids = ids } } };
    const rg_tensor *y = its->predict(among, m, &all);
    assert_int_equal(rg_tape_status(among), RG_OK);
    assert_int_equal(rg_tensor_rows(y), 4);
    assert_int_equal(rg_tensor_cols(y), rg_model_size(m, "classes"));
    for (size_t i = 0; i < 4; i++) {
        const int32_t  own[] = { 0, start[i + 1] - start[i] };
        const rg_batch one = { .examples = 1,
                               .fields = 1,
                               .field = {
                                   [RG_INPUT] = { .layout = { .groups = 1, .start = own }, .ids = ids + start[i] } } };
        if (!own[1]) continue;
        rg_tape_reset(alone, 0);
        const rg_tensor *z = its->predict(alone, m, &one);
        assert_int_equal(rg_tape_status(alone), RG_OK);
        if (memcmp(rg_tensor_row(y, i), rg_tensor_row(z, 0), rg_tensor_cols(y) * sizeof(rg_real)) != 0)
            fail_msg("%s: text %zu", its->name, i);
    }
    rg_tape_free(among);
    rg_tape_free(alone);
    rg_model_free(m);
}

static void a_text_is_answered_the_same_alone_and_among_others(void **state)
{
    (void)state;
    each_classifier(same_alone);
}

/* ---------------------------------------------------------------------------------------------- allocation failures */

static rg_status learn_once(void *context)
{
    const rg_training training = rg_recipe_training(context, NULL);
    return rg_learn(NULL, NULL, &training);
}

static void survives_learning(const rg_system *its)
{
    rg_recipe *recipe = recipe_of(its, "");
    faults_every_alloc(learn_once, recipe, NULL, false);
    rg_recipe_free(recipe);
}

static rg_status ignore_columns(void *context, const char *const *names, size_t count)
{
    return (void)context, (void)names, (void)count, RG_OK;
}
static rg_status ignore_row(void *context, const rg_value *cells) { return (void)context, (void)cells, RG_OK; }
static rg_status ignore_record(void *context, const rg_record *record) { return (void)context, (void)record, RG_OK; }

static rg_status load_and_answer(void *context)
{
    const rg_sink sink = { .columns = ignore_columns, .row = ignore_row, .record = ignore_record };
    const struct {
        int64_t top;
    } options = { 2 };
    char             *word = (char *)"ba mau de";
    const rg_list     words = { 1, &word };
    const rg_question q = { .options = &options, .words = &words, .threads = 1, .sink = &sink };
    rg_model         *m;
    RG_TRY(rg_model_load(&m, context, &rg_task_classify));
    rg_status status = rg_task_classify.answer(m, &q);
    rg_model_free(m);
    return status;
}

static void survives_answering(const rg_system *its)
{
    char     *path = rg_format("%s/model", folder);
    rg_model *m = learned(its);
    assert_int_equal(rg_model_save(m, path), RG_OK);
    rg_model_free(m);
    faults_every_alloc(load_and_answer, path, NULL, false);
    rg_free(path);
}

static void allocations_that_fail_while_it_learns_leave_nothing_behind(void **state)
{
    (void)state;
    each_classifier(survives_learning);
}

static void allocations_that_fail_while_it_answers_leave_nothing_behind(void **state)
{
    (void)state;
    each_classifier(survives_answering);
}

/* ----------------------------------------------------------------------------------------------------------- assets */

static void what_a_file_says_of_its_classes_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *counts, *words; /* of the message; NULL: accepted */
    } cases[] = { { "20 19 21", NULL },
                  { "0 0 0", NULL },
                  { "20 19", "classes.counts" },
                  { "20 19 21 4", "classes.counts" },
                  { "20 x 21", "classes.counts" },
                  { "", "classes.counts" },
                  { "20 -1 4", "classes.counts" } };
    rg_model *m = learned(rg_system_find("words"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        void     *assets = rg_alloc_zero(rg_task_classify.assets_bytes);
        rg_sizes  sizes = { 0 };
        rg_state *file;
        assert_int_equal(rg_state_new(&file), RG_OK);
        assert_int_equal(rg_task_classify.describe(file, m->assets), RG_OK);
        assert_int_equal(rg_state_put_text(file, "classes.counts", cases[i].counts), RG_OK);
        const rg_status status = rg_task_classify.adopt(assets, &sizes, file);
        if (status != (cases[i].words ? RG_EFORMAT : RG_OK)) fail_msg("'%s': %s", cases[i].counts, rg_message());
        if (cases[i].words && !strstr(rg_message(), cases[i].words)) fail_msg("%s", rg_message());
        rg_task_classify.drop(assets);
        rg_free(assets);
        rg_state_free(file);
    }
    rg_model_free(m);
}

static int make_folder(void **state)
{
    (void)state;
    faults_no_sync();
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    faults_off();
    char     *command = rg_format("rm -rf '%s'", folder);
    const int code = system(command);
    rg_free(command);
    return code;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_answered_the_same_alone_and_among_others),
        cmocka_unit_test(what_a_file_says_of_its_classes_is_checked),
        cmocka_unit_test(allocations_that_fail_while_it_learns_leave_nothing_behind),
        cmocka_unit_test(allocations_that_fail_while_it_answers_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
