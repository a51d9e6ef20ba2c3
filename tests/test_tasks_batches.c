/* test_tasks_batches.c - walks the systems that give an answer per example: what they say of one is the same to the
 * last bit, alone and among others. (Systems that decode answer texts: test_tasks.c asks them one by one and
 * together. Graphs: test_graph.c puts two side by side.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/batch.h"
#include "regard/puzzles.h"
#include "support/faults.h"
#include "support/small_recipe.h"

#include <string.h>

static const rg_task *walked;
static size_t         compared; /* examples */

/* Rows first .. first + n - 1 of what is answered to all, and the answers to one alone. */
static void expect_same(const rg_run *run, const rg_tensor *all, size_t first, const rg_tensor *one, size_t n)
{
    if (rg_tensor_rows(one) != n || rg_tensor_cols(one) != rg_tensor_cols(all))
        fail_msg("%s: alone %zu x %zu, among others %zu x %zu", run->system->name, rg_tensor_rows(one),
                 rg_tensor_cols(one), n, rg_tensor_cols(all));
    for (size_t i = 0; i < n; i++)
        if (memcmp(rg_tensor_row(one, i), rg_tensor_row(all, first + i), rg_tensor_cols(all) * sizeof(rg_real)) != 0)
            fail_msg("%s: row %zu is another one among others", run->system->name, first + i);
    compared++;
}

static rg_tensor *predict(rg_tape **t, const rg_run *run, const void *batch)
{
    const rg_tape_config config = { .record = false };
    assert_int_equal(rg_tape_new(t, &config), RG_OK);
    rg_tensor *y = run->system->predict(*t, run->model, batch);
    if (rg_tape_status(*t) != RG_OK) fail_msg("%s: %s", run->system->name, rg_message());
    return y;
}

/* ------------------------------------------------------------------------------------------------ batches of fields */

/* Example i of a batch, alone. */
static rg_batch example_of(const rg_batch *b, size_t i, int32_t start[RG_BATCH_FIELDS][2])
{
    rg_batch one = *b;
    one.examples = 1;
    one.lines = b->lines ? b->lines + i : NULL;
    for (size_t f = 0; f < b->fields; f++) {
        rg_field    *to = &one.field[f];
        const size_t first = (size_t)to->layout.start[i], n = (size_t)to->layout.start[i + 1] - first;
        start[f][0] = 0;
        start[f][1] = (int32_t)n;
        to->layout.groups = 1;
        to->layout.start = start[f];
        if (to->ids) to->ids += first;
        if (to->previous) to->previous += first;
        if (to->values) to->values += first * to->width;
        if (to->size) to->size += 2 * i;
    }
    return one;
}

/* Answers have a row per example, per row of one of its fields, or as many for each. */
static size_t first_row(const rg_run *run, const rg_batch *b, size_t rows, size_t i)
{
    if (rows == b->examples) return i;
    for (size_t f = 0; f < b->fields; f++)
        if (rg_field_rows(&b->field[f]) == rows) return (size_t)b->field[f].layout.start[i];
    if (rows % b->examples) fail_msg("%s: %zu rows of %zu examples", run->system->name, rows, b->examples);
    return i * (rows / b->examples);
}

static void compare_examples(const rg_run *run, const rg_batch *b)
{
    rg_tape         *t, *alone;
    const rg_tensor *all = predict(&t, run, b);
    const size_t     rows = rg_tensor_rows(all);
    assert_true(b->examples > 1);
    for (size_t i = 0; i < b->examples; i++) {
        int32_t        start[RG_BATCH_FIELDS][2];
        const rg_batch one = example_of(b, i, start);
        const size_t   first = first_row(run, b, rows, i),
                     end = i + 1 < b->examples ? first_row(run, b, rows, i + 1) : rows;
        expect_same(run, all, first, predict(&alone, run, &one), end - first);
        rg_tape_free(alone);
    }
    rg_tape_free(t);
}

/* ---------------------------------------------------------------------------------------------------------- puzzles */

static void compare_puzzles(const rg_run *run, const rg_puzzle_batch *b)
{
    rg_tape         *t, *alone;
    const rg_tensor *all = predict(&t, run, b);
    assert_true(b->sequences > 1);
    for (size_t i = 0; i < b->sequences; i++) {
        int32_t         start[] = { 0, (int32_t)b->steps };
        rg_puzzle_batch one = *b;
        one.sequences = 1;
        one.input += i * b->steps * b->in;
        one.target += i * b->answers * b->out;
        one.start = start;
        one.layout.groups = 1;
        one.layout.start = start;
        expect_same(run, all, i * b->answers, predict(&alone, run, &one), b->answers);
        rg_tape_free(alone);
    }
    rg_tape_free(t);
}

/* ------------------------------------------------------------------------------------------------------------- walk */

static rg_status look(rg_run *run, rg_shares *out)
{
    RG_TRY(walked->next(run, out));
    const char *batches = run->system->batches;
    if (!batches) compare_examples(run, out->share[0]);
    else compare_puzzles(run, out->share[0]);
    return rg_fail(RG_ESTOP, "seen enough");
}

static bool is(const char *text, const char *word) { return text && strcmp(text, word) == 0; }

/* Systems that draw samples answer nothing. */
static void every_example_is_answered_alone_as_among_others(void **state)
{
    (void)state;
    size_t systems = 0;
    faults_no_sync();
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        if (!(*s)->predict || !(*s)->task->answer || (*s)->carries || is((*s)->batches, "graphs") ||
            is((*s)->batches, "episodes")) /* test_world.c does the latter */
            continue;
        rg_recipe  *recipe = small_recipe(*s, ".",
                                         is((*s)->batches, "puzzles") ? "model: ''\ncpu-threads: 1\nmini-batch: 4\n"
                                                                       : "model: ''\ncpu-threads: 1\n");
        rg_training training = rg_recipe_training(recipe, NULL);
        rg_task     task = *(*s)->task;
        rg_system   copy = **s;
        walked = (*s)->task;
        task.next = look;
        copy.task = &task;
        training.system = &copy;
        if (rg_learn(NULL, NULL, &training) != RG_ESTOP) fail_msg("%s: %s", (*s)->name, rg_message());
        rg_recipe_free(recipe);
        systems++;
    }
    assert_true(systems >= 6 && compared > 4 * systems);
    faults_off();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_example_is_answered_alone_as_among_others) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
