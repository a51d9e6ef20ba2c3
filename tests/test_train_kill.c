/* test_train_kill.c - training killed at random moments, or asked to stop by SIGTERM, and resumed: the final checkpoint
 * has the same bytes as that of a run nobody disturbed (P4, P5). Every training is a process of its own.
 *
 *     test_train_kill [--seed N] [--kills N] */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/toy.h"
#include "autograd/params.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_DONE = 0, EXIT_STOPPED = 3, EXIT_FAILED = 4 };

static uint64_t seed = 20;
static int      kills = 10;
static char     folder[] = "test_train_kill.XXXXXX";
static volatile sig_atomic_t asked;

static void ask(int signal)
{
    (void)signal;
    asked = 1;
}

static bool asked_to_stop(void *context)
{
    (void)context;
    return asked != 0;
}
static void by_signal(rg_trainer_hooks *hooks) { hooks->stop = asked_to_stop; }

static rg_status train(const char *path, uint64_t slow)
{
    rg_trainer_config c = RG_TRAINER_CONFIG_DEFAULT;
    toy_task          task;
    uint64_t          step;
    c.workers.workers = 2;
    c.optimizer.smoothing = 1e-2;
    c.schedule.rate = 0.01;
    c.steps = 60;
    c.save_every = 3;
    c.validate_every = 4;
    c.checkpoint = path;
    rg_status status = toy_open(&task, &c, by_signal);
    task.slow = slow;
    if (status == RG_OK) status = rg_trainer_resume(&step, task.trainer);
    if (status == RG_OK) status = rg_trainer_run(task.trainer);
    toy_close(&task);
    return status;
}

/* A child that trains; its number. */
static pid_t start(const char *path, uint64_t slow)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) return child;
    signal(SIGTERM, ask);
    rg_status status = train(path, slow);
    if (status != RG_OK && status != RG_ESTOP) fprintf(stderr, "training: %s\n", rg_message());
    _exit(status == RG_OK ? EXIT_DONE : status == RG_ESTOP ? EXIT_STOPPED : EXIT_FAILED);
}

/* Its exit status, or -1 when a signal ended it. */
static int wait_for(pid_t child)
{
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

static void path_of(char *out, size_t room, const char *name) { snprintf(out, room, "%s/%s", folder, name); }

static void expect_same_files(const char *a, const char *b)
{
    char command[256];
    snprintf(command, sizeof command, "cmp '%s' '%s'", a, b);
    if (system(command) != 0) fail_msg("%s and %s differ", a, b);
}

static void undisturbed(char *out, size_t room)
{
    path_of(out, room, "whole");
    if (access(out, R_OK) != 0) assert_int_equal(wait_for(start(out, 0)), EXIT_DONE);
}

static void killed_at_random_moments_it_ends_in_the_same_bytes(void **state)
{
    char      whole[64], path[64];
    rg_random random = rg_random_new(seed, 1);
    int       killed = 0;
    (void)state;
    undisturbed(whole, sizeof whole);
    for (int run = 0; killed < kills && run < 20 * kills; run++) {
        char name[32];
        snprintf(name, sizeof name, "killed%d", run);
        path_of(path, sizeof path, name);
        for (bool done = false; !done;) { /* killed again and again until it gets to the end by itself */
            pid_t child = start(path, 500);
            if (killed < kills) {
                usleep((useconds_t)(2000 + rg_random_below(&random, 60000)));
                kill(child, SIGKILL);
            }
            int how = wait_for(child);
            if (how == EXIT_FAILED)
                fail_msg("seed %llu: could not resume after kill %d", (unsigned long long)seed, killed);
            killed += how == -1;
            done = how == EXIT_DONE;
        }
        expect_same_files(whole, path);
    }
    assert_true(killed >= kills);
}

static void asked_to_stop_it_saves_and_goes_on_later(void **state)
{
    char      whole[64], path[64];
    rg_random random = rg_random_new(seed, 2);
    int       stopped = 0;
    (void)state;
    undisturbed(whole, sizeof whole);
    for (int run = 0; stopped < 3 && run < 60; run++) {
        char name[32];
        snprintf(name, sizeof name, "stopped%d", run);
        path_of(path, sizeof path, name);
        int how = EXIT_STOPPED;
        while (how == EXIT_STOPPED) {
            pid_t child = start(path, 2000);
            if (stopped < 3) {
                usleep((useconds_t)(20000 + rg_random_below(&random, 60000)));
                kill(child, SIGTERM);
            }
            how = wait_for(child);
            assert_true(how == EXIT_STOPPED || how == EXIT_DONE || how == -1); /* -1: before it could listen */
            if (how == -1) how = EXIT_STOPPED;
            else stopped += how == EXIT_STOPPED;
        }
        expect_same_files(whole, path);
    }
    assert_true(stopped >= 3);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--kills") == 0) kills = atoi(argv[i + 1]);
    }
    printf("--seed %llu --kills %d\n", (unsigned long long)seed, kills);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_random_moments_it_ends_in_the_same_bytes),
        cmocka_unit_test(asked_to_stop_it_saves_and_goes_on_later),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
