/* test_train_resume.c - P5 through the tasks: a training that is stopped after any single batch, at an epoch's last
 * one too, and resumed ends with the same bytes in its checkpoint and its model as one that was never stopped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/faults.h"
#include "regard/task.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/test_train_resume.XXXXXX";

/* Stops when it was asked for the n-th time, which the loop does behind every update and every end of an epoch; 0:
 * never. */
typedef struct asking {
    size_t asked, stop_at;
} asking;

static bool stop(void *context)
{
    asking *a = context;
    return ++a->asked == a->stop_at;
}

/* ----------------------------------------------------------------------------------------------------------- tasks */

typedef struct task {
    const char *name, *settings; /* of the system, as YAML */
} task;

static const task tasks[] = {
    { "translation",
      "type: transformer\ndim-emb: 8\ntransformer-dim-ffn: 8\ntransformer-heads: 2\nenc-depth: 1\ndec-depth: 1\n" },
    { "graph", "type: gat\nwidth: 3\nheads: 2\n" },
    { "memory", "type: ntm\nunits: 6\nmemory-rows: 8\nmemory-width: 4\n" },
};

/* One call of the task with settings from YAML. What it learns from and its model, `run`, are in the folder. */
static rg_status train(const task *its, const char *yaml, const rg_train_report *report)
{
    rg_recipe *recipe;
    char      *path = rg_format("model: %s/run\n", folder);
    assert_non_null(path);
    if (rg_recipe_new(&recipe, its->settings) != RG_OK || rg_recipe_read(recipe, yaml, false) != RG_OK ||
        rg_recipe_read(recipe, path, false) != RG_OK)
        fail_msg("%s: %s", its->name, rg_message());
    const rg_training training = rg_recipe_training(recipe, report);
    const rg_status   status = rg_learn(NULL, NULL, &training);
    rg_recipe_free(recipe);
    rg_free(path);
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- files */

static bool same_files(const char *a, const char *b)
{
    char     *command = rg_format("cd '%s' && cmp '%s' '%s'", folder, a, b);
    const int code = system(command);
    rg_free(command);
    return code == 0;
}

static void in_folder(const char *what)
{
    char *command = rg_format("cd '%s' && %s", folder, what);
    assert_int_equal(system(command), 0);
    rg_free(command);
}

static int make_data(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    faults_no_sync(); /* what is written matters here, not when the disk has it */
    in_folder("for i in 1 2 3 4 5 6 7 8 9 10 11; do echo a b $((i % 3)) $((i % 2)); done > train.en");
    in_folder("sed 's/a b/x y/' train.en > train.fr");
    in_folder("head -4 train.en > valid.en; head -4 train.fr > valid.fr");
    for (int g = 0; g < 3; g++) {
        char *command =
            rg_format("mkdir g%d && cd g%d && printf '0\\t1\\n1\\t2\\n2\\t3\\n3\\t%d\\n' > edges.tsv && "
                      "printf '0\\n1\\n0 1\\n%d\\n' > features.txt && printf '0\\n1\\n0\\n1\\n' > labels.txt",
                      g, g, g % 2, g % 2);
        in_folder(command);
        rg_free(command);
    }
    return 0;
}

static int remove_data(void **state)
{
    (void)state;
    faults_off();
    char     *command = rg_format("rm -rf '%s'", folder);
    const int code = system(command);
    rg_free(command);
    return code;
}

/* Stop at every place in turn (of very many, as a search asks at each step, at 30 of them), resume, compare whole
 * files. */
static void resume_everywhere(const task *its, const char *yaml)
{
    asking          counting = { 0 };
    rg_train_report report = { .context = &counting, .stop = stop };
    in_folder("rm -f run*");
    if (train(its, yaml, &report) != RG_OK) fail_msg("%s: %s", its->name, rg_message());
    in_folder("mv run whole && mv run.checkpoint whole.checkpoint");
    assert_true(counting.asked >= 6);
    for (size_t n = 1; n <= counting.asked; n += 1 + counting.asked / 30) {
        asking                first = { .stop_at = n };
        const rg_train_report stopped = { .context = &first, .stop = stop };
        in_folder("rm -f run*");
        if (train(its, yaml, &stopped) != RG_ESTOP) fail_msg("%s: not stopped at %zu", its->name, n);
        if (train(its, yaml, NULL) != RG_OK) fail_msg("%s: resumed at %zu: %s", its->name, n, rg_message());
        if (!same_files("whole", "run"))
            fail_msg("%s: stopped at %zu of %zu, the model differs", its->name, n, counting.asked);
        if (!same_files("whole.checkpoint", "run.checkpoint"))
            fail_msg("%s: stopped at %zu of %zu, the checkpoint differs", its->name, n, counting.asked);
    }
}

static char *translation_yaml(const char *more)
{
    return rg_format("train-sets: [%s/train.en, %s/train.fr]\nvocab-kind: words\ndim-vocabs: 0\nmini-batch-words: "
                     "10\nafter-epochs: 2\n"
                     "cpu-threads: 1\nlr-warmup: 3\nsave-freq: 3\n%s",
                     folder, folder, more);
}

static void a_translator_ended_by_epochs(void **state)
{
    (void)state;
    for (int delay = 1; delay <= 2; delay++) {
        char *more = rg_format("optimizer-delay: %d\n", delay), *yaml = translation_yaml(more);
        resume_everywhere(&tasks[0], yaml);
        rg_free(more);
        rg_free(yaml);
    }
}

static void a_translator_with_validation_bests_and_an_average(void **state)
{
    (void)state;
    char *more = rg_format("valid-sets: [%s/valid.en, %s/valid.fr]\nvalid-freq: 2\naverage: 2\nexponential-smoothing: "
                           "0.1\nbeam-size: 1\n",
                           folder, folder),
         *yaml = translation_yaml(more);
    resume_everywhere(&tasks[0], yaml);
    rg_free(more);
    rg_free(yaml);
}

static void a_graph_model_ended_by_epochs(void **state)
{
    (void)state;
    char *yaml = rg_format("graph: [%s/g0, %s/g1]\nvalid-graph: [%s/g2]\nafter-epochs: 5\ncpu-threads: 1\n", folder,
                           folder, folder);
    resume_everywhere(&tasks[1], yaml);
    rg_free(yaml);
}

static void a_memory_model(void **state)
{
    (void)state;
    resume_everywhere(&tasks[2], "sequences: 12\nbits: 2\nmax-length: 2\nvalid-freq: 5\nvalid-length: 3\nvalid-count: "
                                 "2\ntest-count: 2\nsave-freq: 4\n"
                                 "cpu-threads: 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_translator_ended_by_epochs),
        cmocka_unit_test(a_translator_with_validation_bests_and_an_average),
        cmocka_unit_test(a_graph_model_ended_by_epochs),
        cmocka_unit_test(a_memory_model),
    };
    return cmocka_run_group_tests_name("resuming after every batch", tests, make_data, remove_data);
}
