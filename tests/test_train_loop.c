/* test_train_loop.c - the training loop: limits, patience, bests, averages, and resuming bit for bit (P5, P9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/faults.h"
#include "support/toy.h"
#include "autograd/params.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call) expect_ok((call), #call)
static void expect_ok(rg_status status, const char *call)
{
    if (status != RG_OK) fail_msg("%s: %s", call, rg_message());
}

static char folder[] = "test_train_loop.XXXXXX";
static char checkpoint[64], model[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(checkpoint, sizeof checkpoint, "%s/toy.checkpoint", folder);
    snprintf(model, sizeof model, "%s/toy.safetensors", folder);
    return 0;
}

static int run_on_folder(const char *format)
{
    char command[128];
    snprintf(command, sizeof command, format, folder);
    return system(command);
}

static int remove_folder(void **state) { (void)state; return run_on_folder("rm -rf '%s'"); }
static int no_files(void **state)
{
    (void)state;
    faults_no_sync(); /* what is written matters here, not when the disk has it */
    return run_on_folder("rm -f '%s'/*");
}

static rg_trainer_config usual(void)
{
    rg_trainer_config c = RG_TRAINER_CONFIG_DEFAULT;
    c.workers.workers = 2;
    c.workers.seed = 9;
    c.optimizer.clip_norm = 1;
    c.optimizer.smoothing = 1e-2;
    c.schedule = (rg_schedule){ .name = "inverse-sqrt", .rate = 0.01, .warmup = 5 };
    c.steps = 20;
    c.log_every = 3;
    c.validate_every = 4;
    c.checkpoint = checkpoint;
    return c;
}

static bool same(const toy_task *a, const toy_task *b)
{
    return memcmp(a->toy.params->block, b->toy.params->block, a->toy.params->numbers * sizeof(float)) == 0;
}

static bool exists(const char *format, const char *word)
{
    char path[128];
    snprintf(path, sizeof path, format, folder, word);
    return access(path, R_OK) == 0;
}

/* ---------------------------------------------------------------------------------------------------- resuming */

static void resuming_after_any_step_equals_the_uninterrupted_run(void **state)
{
    (void)state;
    for (uint64_t delay = 1; delay <= 3; delay += 2) {
        rg_trainer_config c = usual();
        toy_task          whole;
        c.delay = delay;
        c.checkpoint = NULL;
        c.stalled_decay = 0.5;
        OK(toy_open(&whole, &c, NULL));
        OK(rg_trainer_run(whole.trainer));
        assert_string_equal(whole.reason, "all steps are done");
        c.checkpoint = checkpoint;
        for (uint64_t stop_at = 2; stop_at < 20; stop_at++) { /* over the ends of epochs too */
            toy_task first, second;
            uint64_t step;
            no_files(NULL);
            OK(toy_open(&first, &c, NULL));
            first.stop_at = stop_at;
            assert_int_equal(rg_trainer_run(first.trainer), RG_ESTOP);
            toy_close(&first);
            OK(toy_open(&second, &c, NULL));
            OK(rg_trainer_resume(&step, second.trainer));
            assert_true(step > 0 && step < 20);
            OK(rg_trainer_run(second.trainer));
            if (!same(&whole, &second)) fail_msg("stopped after batch %u and resumed, it differs", (unsigned)stop_at);
            assert_true(second.last_valid == whole.last_valid);
            toy_close(&second);
        }
        toy_close(&whole);
    }
}

static void a_finished_run_has_nothing_to_do_until_it_gets_more_steps(void **state)
{
    (void)state;
    rg_trainer_config c = usual();
    toy_task          a, b, whole;
    uint64_t          step;
    OK(toy_open(&a, &c, NULL));
    OK(rg_trainer_run(a.trainer));
    OK(toy_open(&b, &c, NULL));
    OK(rg_trainer_resume(&step, b.trainer));
    OK(rg_trainer_run(b.trainer));
    assert_true(step == 20 && same(&a, &b) && b.saves == 0);
    toy_close(&b);
    c.steps = 30;
    OK(toy_open(&b, &c, NULL));
    OK(rg_trainer_resume(&step, b.trainer));
    OK(rg_trainer_run(b.trainer));
    c.checkpoint = NULL;
    OK(toy_open(&whole, &c, NULL));
    OK(rg_trainer_resume(&step, whole.trainer));
    assert_true(step == 0);
    OK(rg_trainer_run(whole.trainer));
    assert_true(same(&whole, &b));
    toy_close(&a);
    toy_close(&b);
    toy_close(&whole);
}

static void the_last_weights_are_validated_once(void **state)
{
    (void)state;
    const struct { uint64_t steps, valids; } rows[] = { { 20, 5 }, { 21, 6 }, { 23, 6 }, { 3, 1 } }; /* every 4 */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rg_trainer_config c = usual();
        toy_task          a;
        c.checkpoint = NULL;
        c.steps = rows[i].steps;
        OK(toy_open(&a, &c, NULL));
        OK(rg_trainer_run(a.trainer));
        assert_int_equal(a.valids, rows[i].valids);
        toy_close(&a);
    }
}

static void a_broken_checkpoint_is_passed_over_for_the_one_before(void **state)
{
    (void)state;
    rg_trainer_config c = usual();
    toy_task          a, b;
    uint64_t          step;
    c.save_every = 5;
    OK(toy_open(&a, &c, NULL));
    OK(rg_trainer_run(a.trainer));
    assert_int_equal(truncate(checkpoint, 3000), 0);
    OK(toy_open(&b, &c, NULL));
    OK(rg_trainer_resume(&step, b.trainer));
    assert_true(step == 15);
    OK(rg_trainer_run(b.trainer));
    assert_true(same(&a, &b));
    toy_close(&a);
    toy_close(&b);
}

/* ------------------------------------------------------------------------------------------------------ limits */

static void epochs_end_training_and_trigger_validation_and_saves(void **state)
{
    (void)state;
    rg_trainer_config c = usual();
    toy_task          a;
    c.steps = 0;
    c.epochs = 3;
    c.validate_every = 0;
    c.validate_epochs = 1;
    c.save_epochs = 2;
    c.delay = 3; /* the last update of an epoch of seven has one batch */
    OK(toy_open(&a, &c, NULL));
    OK(rg_trainer_run(a.trainer));
    assert_string_equal(a.reason, "all epochs are done");
    assert_int_equal(rg_optimizer_steps(rg_trainer_optimizer(a.trainer)), 9);
    assert_int_equal(a.valids, 3);
    assert_int_equal(a.saves, 2); /* after epoch 2, and at the end */
    assert_int_equal(a.logs, 3);
    toy_close(&a);
}

/* Metrics as written down: one that gets worse after two, one that always gets better. */
static rg_status worse_and_better(void *context, rg_metrics *out)
{
    toy_task *task = context;
    double    n = (double)task->batch;
    RG_TRY(rg_metrics_add(out, "bleu", n < 10 ? n : 1 / n, true));
    return rg_metrics_add(out, "perplexity", 1 / n, false);
}
static void with_worse_and_better(rg_trainer_hooks *hooks) { hooks->validate = worse_and_better; }

static void patience_stops_and_survives_a_restart(void **state)
{
    (void)state;
    const struct {
        rg_stop_on on;
        uint64_t   steps;
    } rows[] = { { RG_STOP_ON_FIRST, 20 }, { RG_STOP_ON_ANY, 20 }, { RG_STOP_ON_ALL, 40 } };
    for (int i = 0; i < 3; i++)
        for (int restart = 0; restart < 2; restart++) {
            rg_trainer_config c = usual();
            toy_task          a;
            uint64_t          step;
            no_files(NULL);
            c.steps = 40;
            c.patience = 3; /* validated after 4, 8, 12, 16, 20: the best is at 8 */
            c.stop_on = rows[i].on;
            c.keep_best = true;
            c.model = model;
            if (restart) {
                OK(toy_open(&a, &c, with_worse_and_better));
                a.stop_at = 15;
                assert_int_equal(rg_trainer_run(a.trainer), RG_ESTOP);
                toy_close(&a);
            }
            OK(toy_open(&a, &c, with_worse_and_better));
            OK(rg_trainer_resume(&step, a.trainer));
            OK(rg_trainer_run(a.trainer));
            assert_int_equal(rg_optimizer_steps(rg_trainer_optimizer(a.trainer)), rows[i].steps);
            assert_string_equal(a.reason,
                                rows[i].steps == 40 ? "all steps are done" : "validation stopped getting better");
            rg_state *s;
            OK(rg_state_new(&s));
            char best[128];
            snprintf(best, sizeof best, "%s/toy.best-bleu.safetensors", folder);
            OK(rg_checkpoint_state(best, s));
            OK(rg_state_get_count(&step, s, "trained-steps"));
            assert_int_equal(step, 8);
            rg_state_free(s);
            assert_true(exists("%s/toy.best-%s.safetensors", "perplexity"));
            toy_close(&a);
        }
}

static void a_model_file_holds_smoothed_weights_and_the_configuration(void **state)
{
    (void)state;
    rg_trainer_config c = usual();
    toy_task          a, b;
    const char       *text;
    rg_state         *s;
    c.model = model;
    c.checkpoint = NULL;
    OK(toy_open(&a, &c, NULL));
    OK(rg_trainer_run(a.trainer));
    OK(toy_open(&b, &c, NULL));
    OK(rg_state_new(&s));
    OK(rg_checkpoint_load(model, b.toy.params, NULL, s, NULL));
    OK(rg_state_get_text(&text, s, "config"));
    assert_string_equal(text, "type: toy\n");
    assert_false(same(&a, &b));
    OK(rg_optimizer_swap(rg_trainer_optimizer(a.trainer), NULL));
    assert_true(same(&a, &b));
    rg_state_free(s);
    toy_close(&a);
    toy_close(&b);
}

static void without_validation(rg_trainer_hooks *hooks) { hooks->validate = NULL; }

static void the_final_model_is_the_mean_of_the_last_saves(void **state)
{
    (void)state;
    rg_trainer_config c = usual();
    toy_task          a;
    c.validate_every = 0;
    c.optimizer.smoothing = 0;
    c.model = model;
    c.save_every = 5;
    c.average = 2;
    OK(toy_open(&a, &c, without_validation));
    OK(rg_trainer_run(a.trainer));
    toy_task    m;
    const char *paths[2];
    char        names[2][128];
    c.model = c.checkpoint = NULL;
    OK(toy_open(&m, &c, NULL));
    for (int i = 0; i < 2; i++) {
        snprintf(names[i], sizeof names[i], "%s/toy.iter%d.safetensors", folder, 15 + 5 * i);
        paths[i] = names[i];
    }
    assert_false(exists("%s/toy.%s.safetensors", "iter10"));
    OK(rg_checkpoint_average(m.toy.params, paths, 2, NULL));
    assert_true(same(&a, &m));
    OK(rg_checkpoint_load(model, m.toy.params, NULL, NULL, NULL));
    assert_true(same(&a, &m));
    toy_close(&a);
    toy_close(&m);
}

/* Validations as written down, one after the other; and what was said about the average. */
static struct {
    double       value[2];
    size_t       calls;
    rg_train_log averaged;
    char         resumed[400];
} written;

static rg_status next_value(void *context, rg_metrics *out)
{
    (void)context;
    return rg_metrics_add(out, "bleu", written.value[written.calls++ % 2], true);
}

static void keep_log(void *context, const rg_train_log *log)
{
    (void)context;
    if (log->event == RG_TRAIN_AVERAGED) written.averaged = *log;
    if (log->event == RG_TRAIN_RESUMED)
        snprintf(written.resumed, sizeof written.resumed, "%s", log->reason ? log->reason : "");
}

static void with_written_values(rg_trainer_hooks *hooks)
{
    hooks->validate = next_value;
    hooks->log = keep_log;
}

static bool is_a_mean(const char *path)
{
    rg_state *s;
    OK(rg_state_new(&s));
    OK(rg_checkpoint_state(path, s));
    const bool mean = rg_state_has(s, "averaged-models");
    rg_state_free(s);
    return mean;
}

static void the_mean_replaces_the_last_weights_only_when_it_validates_as_well(void **state)
{
    (void)state;
    const struct {
        double last, mean;
        bool   chosen;
    } rows[] = { { 34.82, 32.93, false }, { 32.93, 34.82, true }, { 30, 30, true }, { 30, NAN, false } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int again = 0; again < 2; again++) { /* a run that is over already decides the same */
            rg_trainer_config c = usual();
            toy_task          a, plain;
            uint64_t          step;
            if (!again) no_files(NULL);
            c.model = model;
            c.validate_every = 20;
            c.save_every = 5;
            c.average = 3;
            memset(&written, 0, sizeof written);
            written.value[0] = again ? rows[i].mean : rows[i].last; /* the checkpoint knows what the last weights were worth */
            written.value[1] = rows[i].mean;
            OK(toy_open(&a, &c, with_written_values));
            OK(rg_trainer_resume(&step, a.trainer));
            OK(rg_trainer_run(a.trainer));
            assert_int_equal(written.averaged.averaged, 3);
            assert_int_equal(written.averaged.chosen, rows[i].chosen);
            assert_int_equal(is_a_mean(model), rows[i].chosen);
            c.average = 0;
            c.checkpoint = c.model = NULL;
            OK(toy_open(&plain, &c, with_written_values));
            OK(rg_trainer_run(plain.trainer));
            assert_int_equal(same(&a, &plain), !rows[i].chosen);
            toy_close(&plain);
            toy_close(&a);
        }
}

/* ---------------------------------------------------------------------------------------------------- by time */

static toy_task *clocked;
static double    by_batches(void *context)
{
    (void)context;
    return clocked ? 300 * (double)clocked->batch : 0;
}

static void time_saves_too_and_changes_nothing_that_is_learned(void **state)
{
    (void)state;
    rg_trainer_config c = usual();
    toy_task          by_steps, by_time;
    c.model = model;
    c.average = 2;
    c.save_every = 8;
    c.checkpoint = NULL;
    OK(toy_open(&by_steps, &c, without_validation));
    OK(rg_trainer_run(by_steps.trainer));
    no_files(NULL);
    c.checkpoint = checkpoint;
    c.save_seconds = 1000; /* of a clock that makes 300 a batch */
    OK(toy_open(&by_time, &c, without_validation));
    clocked = &by_time;
    rg_base__seam_now(by_batches, NULL);
    by_time.stop_at = 5;
    assert_int_equal(rg_trainer_run(by_time.trainer), RG_ESTOP);
    assert_int_equal(by_time.saves, 2 + 2); /* model and checkpoint after 4, and again when asked to stop after 5 */
    by_time.stop_at = 0;
    OK(rg_trainer_run(by_time.trainer));
    rg_base__seam_now(NULL, NULL);
    clocked = NULL;
    assert_true(by_time.saves > 2 * 3 + 4 + 4);
    assert_true(same(&by_steps, &by_time));
    toy_close(&by_steps);
    toy_close(&by_time);
}

/* ------------------------------------------------------------------------------------------- changed settings */

static void a_resumed_run_says_what_is_set_otherwise(void **state)
{
    (void)state;
    rg_trainer_config c = usual(), other;
    toy_task          a, b;
    uint64_t          step;
    OK(toy_open(&a, &c, NULL));
    a.stop_at = 5;
    assert_int_equal(rg_trainer_run(a.trainer), RG_ESTOP);
    toy_close(&a);
    const char *const says[] = {
        "",
        "learning rate 0.01 -> 0.02: from here on it learns with the new settings, so it is no longer bit for bit the "
        "run that was stopped",
        ("workers (threads with a share of the batch each) 2 -> 1: the same training, but sums are rounded in another "
         "order: it is no longer "
         "bit for bit the run that was stopped"),
        "", /* threads inside a worker and limits decide no bit */
    };
    for (int i = 0; i < 4; i++) {
        other = c;
        if (i == 1) other.schedule.rate = 0.02;
        if (i == 2) other.workers.workers = 1;
        if (i == 3) other.workers.threads = 2, other.steps = 33, other.save_every = 3, other.log_every = 1;
        strcpy(written.resumed, "nothing");
        OK(toy_open(&b, &other, with_written_values));
        OK(rg_trainer_resume(&step, b.trainer));
        assert_string_equal(written.resumed, says[i]);
        toy_close(&b);
    }
}

static void two_broken_checkpoints_say_what_to_do(void **state)
{
    (void)state;
    rg_trainer_config c = usual();
    toy_task          a;
    uint64_t          step;
    char              previous[80];
    c.save_every = 5;
    OK(toy_open(&a, &c, NULL));
    OK(rg_trainer_run(a.trainer));
    snprintf(previous, sizeof previous, "%s.prev", checkpoint);
    assert_int_equal(truncate(checkpoint, 3000), 0);
    assert_int_equal(truncate(previous, 3000), 0);
    assert_int_equal(rg_trainer_resume(&step, a.trainer), RG_EFORMAT);
    if (!strstr(rg_message(), checkpoint) || !strstr(rg_message(), previous) ||
        !strstr(rg_message(), "copy one back from a backup") || !strstr(rg_message(), "--overwrite"))
        fail_msg("it says: %s", rg_message());
    toy_close(&a);
}

/* ------------------------------------------------------------------------------------------------------ trouble */

static void a_poisoned_batch_stops_training_and_is_never_saved(void **state)
{
    (void)state;
    rg_trainer_config c = usual();
    toy_task          a, b;
    uint64_t          step;
    c.save_every = 1;
    OK(toy_open(&a, &c, NULL));
    a.toy.poison = 9 + 1; /* batches of the second epoch are numbered one higher: the end of the first counted */
    assert_int_equal(rg_trainer_run(a.trainer), RG_ENUMBER);
    if (!strstr(rg_message(), "step 9, epoch 2, batch 2, rows 1 to 24 of batch 10"))
        fail_msg("it says: %s", rg_message());
    toy_close(&a);
    OK(toy_open(&b, &c, NULL));
    OK(rg_trainer_resume(&step, b.trainer));
    assert_true(step == 8);
    for (size_t i = 0; i < b.toy.params->numbers; i++) assert_true(isfinite(b.toy.params->block[i]));
    toy_close(&b);
}

static void an_absurd_learning_rate_never_leaves_a_broken_checkpoint(void **state)
{
    (void)state;
    rg_trainer_config c = usual();
    toy_task          a, b;
    uint64_t          step;
    c.optimizer.name = "sgd";
    c.optimizer.clip_norm = 0;
    c.schedule = (rg_schedule){ .name = "constant", .rate = 1e30 };
    c.save_every = 1;
    OK(toy_open(&a, &c, NULL));
    assert_int_equal(rg_trainer_run(a.trainer), RG_ENUMBER);
    toy_close(&a);
    OK(toy_open(&b, &c, NULL));
    OK(rg_trainer_resume(&step, b.trainer));
    for (size_t i = 0; i < b.toy.params->numbers; i++) assert_true(isfinite(b.toy.params->block[i]));
    toy_close(&b);
}

static rg_status no_batches(void *context, rg_shares *out)
{
    (void)context;
    *out = (rg_shares){0};
    return RG_OK;
}
static void with_no_batches(rg_trainer_hooks *hooks) { hooks->next = no_batches; }

static void settings_and_data_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    rg_trainer_config c = usual();
    toy_task          a;
    OK(toy_open(&a, &c, with_no_batches));
    assert_int_equal(rg_trainer_run(a.trainer), RG_EINVAL);
    toy_close(&a);
    c.patience = 1;
    assert_int_equal(toy_open(&a, &c, without_validation), RG_EINVAL);
    toy_close(&a);
    c = usual();
    c.delay = 0;
    assert_int_equal(toy_open(&a, &c, NULL), RG_EINVAL);
    toy_close(&a);
    c = usual();
    c.schedule.name = "sideways";
    assert_int_equal(toy_open(&a, &c, NULL), RG_EINVAL);
    toy_close(&a);
}

static rg_status train_save_resume(void *context)
{
    rg_trainer_config c = usual();
    toy_task          a;
    uint64_t          step;
    (void)context;
    c.steps = 4;
    c.save_every = 2;
    c.model = model;
    c.average = 2;
    c.keep_best = true;
    rg_status status = toy_open(&a, &c, NULL);
    if (status == RG_OK) status = rg_trainer_resume(&step, a.trainer);
    if (status == RG_OK) status = rg_trainer_run(a.trainer);
    if (status == RG_OK) status = rg_trainer_resume(&step, a.trainer);
    toy_close(&a);
    unlink(checkpoint);
    return status;
}

static void memory_that_runs_out_is_reported_and_nothing_leaks(void **state)
{
    (void)state;
    faults_every_alloc(train_save_resume, NULL, NULL, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(resuming_after_any_step_equals_the_uninterrupted_run, no_files),
        cmocka_unit_test_setup(a_finished_run_has_nothing_to_do_until_it_gets_more_steps, no_files),
        cmocka_unit_test_setup(the_last_weights_are_validated_once, no_files),
        cmocka_unit_test_setup(a_broken_checkpoint_is_passed_over_for_the_one_before, no_files),
        cmocka_unit_test_setup(epochs_end_training_and_trigger_validation_and_saves, no_files),
        cmocka_unit_test_setup(patience_stops_and_survives_a_restart, no_files),
        cmocka_unit_test_setup(a_model_file_holds_smoothed_weights_and_the_configuration, no_files),
        cmocka_unit_test_setup(the_final_model_is_the_mean_of_the_last_saves, no_files),
        cmocka_unit_test_setup(the_mean_replaces_the_last_weights_only_when_it_validates_as_well, no_files),
        cmocka_unit_test_setup(time_saves_too_and_changes_nothing_that_is_learned, no_files),
        cmocka_unit_test_setup(a_resumed_run_says_what_is_set_otherwise, no_files),
        cmocka_unit_test_setup(two_broken_checkpoints_say_what_to_do, no_files),
        cmocka_unit_test_setup(a_poisoned_batch_stops_training_and_is_never_saved, no_files),
        cmocka_unit_test_setup(an_absurd_learning_rate_never_leaves_a_broken_checkpoint, no_files),
        cmocka_unit_test_setup(settings_and_data_that_make_no_sense_are_refused, no_files),
        cmocka_unit_test_setup(memory_that_runs_out_is_reported_and_nothing_leaks, no_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
