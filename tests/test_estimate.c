/* What a training costs, before it is begun. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/task.h"

#include "support/small_recipe.h"

#include <math.h>
#include <string.h>

static void ok(rg_status status)
{
    if (status != RG_OK) fail_msg("%s", rg_message());
}

static const char alone[] = "model: ''\ncpu-threads: 1\n";

static void every_system_can_be_estimated(void **state)
{
    (void)state;
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        rg_recipe *recipe = small_recipe(*s, ".", alone);
        const rg_training t = rg_recipe_training(recipe, NULL);
        rg_estimate       e;
        if (t.system == *s) {
            ok(rg_estimate_training(&e, &t, NULL, 0));
            if (!(e.parameters && e.flops > 0 && e.words > 0 && e.word_seconds > 0 && e.step_seconds >= 0 &&
                  e.measured >= 4))
                fail_msg("%s: %zu parameters, %g FLOP, %g words, %g and %g s", (*s)->name, e.parameters, e.flops,
                         e.words, e.word_seconds, e.step_seconds);
            assert_true(fabs(rg_estimate_seconds(&e, 10, 100) - 10 * (100 * e.word_seconds + e.step_seconds)) < 1e-12);
        }
        rg_recipe_free(recipe);
    }
}

typedef struct {
    double   cpu, words;
    uint64_t updates;
} seen;

static void note(void *context, const rg_train_log *log)
{
    seen *s = context;
    if (log->event == RG_TRAIN_UPDATE && ++s->updates) s->cpu = log->cpu_seconds, s->words = log->cost;
}

/* The mean size of batches and the number of updates are those of the training itself. */
static void words_and_updates_are_those_of_the_run(void **state)
{
    (void)state;
    rg_recipe *recipe = small_recipe(
        rg_system_find("transformer"), ".",
        "model: ''\ncpu-threads: 1\ndim-emb: 16\ntransformer-heads: 2\nenc-depth: 1\ndec-depth: 1\nafter-batches: 0\n"
        "after-epochs: 7\nvalid-freq: 0\ndisp-freq: 0\noptimizer-delay: 2\n");
    seen                  s = { 0 };
    const rg_train_report report = { .context = &s, .log = note };
    const rg_training     t = rg_recipe_training(recipe, &report);
    rg_estimate           e;
    rg_learned            learned;
    ok(rg_estimate_training(&e, &t, NULL, 0));
    assert_int_equal(s.updates, 0); /* nobody is told of updates that do not count */
    ok(rg_learn(NULL, &learned, &t));
    assert_int_equal(e.delay, 2);
    assert_int_equal(e.updates, learned.updates);
    assert_true(fabs(e.words * (double)e.epoch_batches * 7 - s.words) < 1e-6 * s.words);
    assert_true(e.step_seconds + e.word_seconds > 0);
    rg_recipe_free(recipe);
}

/* Twice the width: about four times the operations of the products, and four times the numbers of a weight. */
static void operations_follow_the_sizes(void **state)
{
    (void)state;
    double flops[2], epochs = 0;
    for (int i = 0; i < 2; i++) {
        rg_recipe *recipe =
            small_recipe(rg_system_find("transformer"), ".",
                         i ? "model: ''\ncpu-threads: 1\ndim-emb: 128\ntransformer-dim-ffn: 512\nafter-batches: 5\n"
                           : "model: ''\ncpu-threads: 1\ndim-emb: 64\ntransformer-dim-ffn: 256\nafter-batches: 5\n");
        const rg_training t = rg_recipe_training(recipe, NULL);
        rg_estimate       e;
        ok(rg_estimate_training(&e, &t, NULL, 0));
        flops[i] = e.flops;
        epochs = e.epoch_batches;
        assert_int_equal(e.updates, 5);
        rg_recipe_free(recipe);
    }
    assert_true(flops[1] > 3.5 * flops[0] && flops[1] < 4.5 * flops[0]);
    assert_true(epochs >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_system_can_be_estimated),
        cmocka_unit_test(words_and_updates_are_those_of_the_run),
        cmocka_unit_test(operations_follow_the_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
