/* test_tasks_kill.c - walks every system of every task: killed in the middle of an epoch by SIGKILL, the same
 * command resumes from its last checkpoint and ends with the bytes of a run that nobody disturbed; and with two
 * threads the same seed gives the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/faults.h"
#include "support/small_recipe.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    size_t asked, kill_at;
} asking;

/* Asked between updates and between the batches of a validation. */
static bool stop(void *context)
{
    asking *a = context;
    if (++a->asked == a->kill_at) (void)kill(getpid(), SIGKILL);
    return false;
}

static rg_status learn(const rg_system *s, const char *model, int threads, size_t kill_at, size_t *asked)
{
    asking                a = { .kill_at = kill_at };
    const rg_train_report report = { .context = &a, .stop = stop };
    char                 *more = rg_format("model: %s\ncpu-threads: %d\nsave-freq: 2\n", model, threads);
    rg_recipe            *recipe = small_recipe(s, ".", more);
    const rg_training     training = rg_recipe_training(recipe, &report);
    const rg_status       status = rg_learn(NULL, NULL, &training);
    rg_recipe_free(recipe);
    rg_free(more);
    if (asked) *asked = a.asked;
    return status;
}

/* In a process of its own, which ends by SIGKILL. */
static void learn_and_die(const rg_system *s, size_t kill_at)
{
    int         code = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)learn(s, "killed", 1, kill_at, NULL);
        _exit(1); /* it should not have come so far */
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    if (!WIFSIGNALED(code) || WTERMSIG(code) != SIGKILL) fail_msg("%s was not killed", s->name);
}

static void every_system_of_every_task_that_is_killed_resumes_to_the_same_bytes(void **state)
{
    (void)state;
    faults_no_sync();
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        size_t asked = 0;
        assert_int_equal(system("rm -rf whole* killed*"), 0);
        if (learn(*s, "whole", 1, 0, &asked) != RG_OK) fail_msg("%s: %s", (*s)->name, rg_message());
        for (size_t part = 1; part < 4; part += 2) {
            assert_int_equal(system("rm -rf killed*"), 0);
            learn_and_die(*s, part * asked / 4 + 1);
            if (learn(*s, "killed", 1, 0, NULL) != RG_OK) fail_msg("%s: %s", (*s)->name, rg_message());
            if (system("cmp whole killed && cmp whole.checkpoint killed.checkpoint") != 0)
                fail_msg("%s: other bytes", (*s)->name);
        }
    }
    faults_off();
}

static void every_system_of_every_task_repeats_with_two_threads(void **state)
{
    (void)state;
    faults_no_sync();
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        assert_int_equal(system("rm -f one* two*"), 0);
        if (learn(*s, "one", 2, 0, NULL) != RG_OK || learn(*s, "two", 2, 0, NULL) != RG_OK)
            fail_msg("%s: %s", (*s)->name, rg_message());
        if (system("cmp one two && cmp one.checkpoint two.checkpoint") != 0)
            fail_msg("%s: two threads, the same seed, other bytes", (*s)->name);
    }
    faults_off();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_system_of_every_task_that_is_killed_resumes_to_the_same_bytes),
        cmocka_unit_test(every_system_of_every_task_repeats_with_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
