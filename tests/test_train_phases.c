/* Losses that take turns (phases), and what a loss sees of the run's progress: two players on a toy, stopped after
 * every single update and resumed, end with the same bytes as a run that was never stopped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/ops.h"
#include "regard/trainer.h"
#include "support/faults.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 2, BATCHES = 5, EPOCHS = 3, ROWS = 4, WIDE = 3, SEEN = 64 };

typedef struct {
    rg_params   *params;
    rg_param    *maker, *critic, *gain, *bias, *mean, *variance;
    bool         follow;               /* phases after each other                       */
    uint64_t     at;                   /* batches given in this epoch                   */
    size_t       asked, stop_at;
    rg_real      data[WORKERS][ROWS * WIDE];
    const void  *share[WORKERS];
    rg_progress  seen[SEEN][WORKERS]; /* by step                                       */
    rg_phase_log logged[2];
} toy;

static rg_status next(void *context, rg_shares *out)
{
    toy *y = context;
    *out = (rg_shares){ .share = y->share, .count = 0, .cost = ROWS };
    if (y->at == BATCHES) return y->at = 0, RG_OK;
    rg_random random = rg_random_new(9, y->at++);
    for (size_t w = 0; w < WORKERS; w++) {
        for (size_t i = 0; i < ROWS * WIDE; i++) y->data[w][i] = (rg_real)rg_random_uniform(&random);
        y->share[w] = y->data[w];
    }
    out->count = WORKERS;
    return RG_OK;
}

/* The maker turns rows into others, the critic tells the two apart, the maker wants to be taken for the real ones. */
static rg_loss loss(void *context, rg_tape *t, const void *share, int worker)
{
    static const rg_real real[ROWS] = { 1, 1, 1, 1 }, made[ROWS] = { 0, 0, 0, 0 };
    toy                 *y = context;
    const rg_progress    p = rg_tape_progress(t);
    rg_tensor           *x = rg_constant(t, share, ROWS, WIDE, NULL);
    rg_tensor           *z = rg_dropout(t, rg_matmul(t, x, rg_use(t, y->maker)), 0.2);
    z = rg_batch_norm(t, z, rg_use(t, y->gain), rg_use(t, y->bias), y->mean, y->variance, 0.1, 1e-5);
    rg_tensor *fake = rg_matmul(t, z, rg_use(t, y->critic));
    if (p.step < SEEN) y->seen[p.step][worker] = p;
    if (p.phase == 1) return (rg_loss){ rg_binary_cross_entropy(t, fake, real), ROWS };
    rg_tensor *true_ones = rg_matmul(t, x, rg_use(t, y->critic));
    return (rg_loss){ rg_add(t, rg_binary_cross_entropy(t, true_ones, real), rg_binary_cross_entropy(t, fake, made)),
                      2 * ROWS };
}

static rg_status save(void *context, rg_state *s) { return rg_state_put_count(s, "toy.at", ((toy *)context)->at); }
static rg_status load(void *context, const rg_state *s)
{
    return rg_state_get_count(&((toy *)context)->at, s, "toy.at");
}
static bool stop(void *context) { toy *y = context; return ++y->asked == y->stop_at; }

static void log_it(void *context, const rg_train_log *log)
{
    toy *y = context;
    if (log->event != RG_TRAIN_UPDATE) return;
    assert_int_equal(log->phase_count, 2);
    memcpy(y->logged, log->phases, sizeof y->logged);
}

static const rg_trainer_phase following[] = { { .name = "critic", .learns = "critic*", .share = 0.75 },
                                              { .name = "maker", .learns = "maker*" } };
static const rg_trainer_phase phases[] = { { .name = "critic", .learns = "critic*" },
                                           { .name = "maker", .learns = "maker*", .every = 2, .rate = 0.5 } };

static rg_params *make_params(toy *y)
{
    assert_int_equal(rg_params_new(&y->params), RG_OK);
    y->maker = rg_params_add(y->params, "maker.w", RG_WEIGHT, WIDE, WIDE, RG_INIT_NORMAL, 0.5);
    y->critic = rg_params_add(y->params, "critic.w", RG_WEIGHT, WIDE, 1, RG_INIT_NORMAL, 0.5);
    y->gain = rg_params_add(y->params, "maker.gain", RG_VECTOR, 1, WIDE, RG_INIT_ONE, 0);
    y->bias = rg_params_add(y->params, "maker.bias", RG_VECTOR, 1, WIDE, RG_INIT_ZERO, 0);
    y->mean = rg_params_add(y->params, "maker.mean", RG_KEPT, 1, WIDE, RG_INIT_ZERO, 0);
    y->variance = rg_params_add(y->params, "maker.variance", RG_KEPT, 1, WIDE, RG_INIT_ONE, 0);
    assert_int_equal(rg_params_build(y->params, 4), RG_OK);
    return y->params;
}

static rg_status train(toy *y, const char *checkpoint, size_t stop_at, uint64_t steps)
{
    rg_trainer_config c = RG_TRAINER_CONFIG_DEFAULT;
    rg_trainer       *trainer;
    uint64_t          step;
    *y = (toy){ .stop_at = stop_at, .follow = y->follow };
    const rg_trainer_hooks hooks = {
        .context = y, .next = next, .loss = loss, .save = save, .load = load, .stop = stop, .log = log_it
    };
    c.workers.workers = WORKERS;
    c.epochs = steps ? 0 : EPOCHS;
    c.steps = steps;
    c.checkpoint = checkpoint;
    c.phases = y->follow ? following : phases;
    c.phase_count = 2;
    c.schedule = (rg_schedule){ .name = "inverse-sqrt", .rate = 0.05, .warmup = 2, .start = 2 };
    make_params(y);
    if (rg_trainer_new(&trainer, y->params, &c, &hooks) != RG_OK) fail_msg("%s", rg_message());
    if (checkpoint && rg_trainer_resume(&step, trainer) != RG_OK) fail_msg("%s", rg_message());
    const rg_status status = rg_trainer_run(trainer);
    rg_trainer_free(trainer);
    return status;
}

static void check_resumed(bool follow)
{
    toy whole = { .follow = follow }, part = { .follow = follow };
    remove("whole.checkpoint");
    remove("whole.checkpoint.prev");
    faults_no_sync();
    if (train(&whole, "whole.checkpoint", 0, 0) != RG_OK) fail_msg("%s", rg_message());
    assert_true(whole.asked >= BATCHES * EPOCHS - 1);
    for (size_t n = 1; n <= whole.asked; n++) {
        remove("part.checkpoint");
        remove("part.checkpoint.prev");
        assert_int_equal(train(&part, "part.checkpoint", n, 0), RG_ESTOP);
        rg_params_free(part.params);
        if (train(&part, "part.checkpoint", 0, 0) != RG_OK) fail_msg("%s", rg_message());
        rg_params_free(part.params);
        if (system("cmp whole.checkpoint part.checkpoint") != 0)
            fail_msg("stopped at %zu of %zu: other bytes", n, whole.asked);
        for (size_t i = n + 2; i <= BATCHES * EPOCHS; i++)
            assert_memory_equal(part.seen[i], whole.seen[i], sizeof part.seen[i]);
    }
    rg_params_free(whole.params);
    faults_off();
}

static void a_run_resumes_between_any_two_updates(void **state)
{
    (void)state;
    check_resumed(false);
}

/* Of other names or more than now: the place in the round means nothing. */
static void a_run_of_other_phases_is_not_resumed(void **state)
{
    (void)state;
    static const rg_trainer_phase renamed[] = { { .name = "judge", .learns = "critic*" },
                                                { .name = "maker", .learns = "maker*", .every = 2 } };
    static const struct {
        const rg_trainer_phase *phases;
        size_t                  count;
        const char             *words;
    } other[] = { { renamed, 2, "phase 1 was 'critic', it is 'judge' now" },
                  { phases, 1, "more than the 1 phases" },
                  { NULL, 0, "more than the 0 phases" } };
    toy y = { 0 };
    faults_no_sync();
    assert_int_equal(train(&y, "other.checkpoint", 3, 0), RG_ESTOP);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        rg_trainer_config      c = RG_TRAINER_CONFIG_DEFAULT;
        const rg_trainer_hooks hooks = { .context = &y, .next = next, .loss = loss, .save = save, .load = load };
        rg_trainer            *trainer;
        uint64_t               step;
        c.checkpoint = "other.checkpoint";
        c.phases = other[i].phases;
        c.phase_count = other[i].count;
        assert_int_equal(rg_trainer_new(&trainer, y.params, &c, &hooks), RG_OK);
        assert_int_equal(rg_trainer_resume(&step, trainer), RG_EMATCH);
        if (!strstr(rg_message(), other[i].words)) fail_msg("%s", rg_message());
        rg_trainer_free(trainer);
    }
    rg_params_free(y.params);
    faults_off();
}

/* critic, critic, maker, critic, critic, maker, ... */
static void phases_take_turns_and_count_their_own_steps(void **state)
{
    (void)state;
    static const size_t turn[] = { 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1 };
    toy                 y = { 0 };
    assert_int_equal(train(&y, NULL, 0, 12), RG_OK);
    for (size_t i = 0; i < 12; i++)
        for (size_t w = 0; w < WORKERS; w++) {
            assert_int_equal(y.seen[i + 1][w].phase, turn[i]);
            assert_int_equal(y.seen[i + 1][w].step, i + 1);
            assert_true(y.seen[i + 1][w].part == (double)i / 12);
        }
    assert_string_equal(y.logged[0].name, "critic");
    assert_int_equal(y.logged[0].steps, 8);
    assert_int_equal(y.logged[1].steps, 4);
    assert_true(y.logged[0].loss > 0 && y.logged[1].loss > 0);
    assert_true(fabs(y.logged[0].rate - 0.05 * sqrt(2.0 / 8)) < 1e-9);       /* its eighth step */
    assert_true(fabs(y.logged[1].rate - 0.5 * 0.05 * sqrt(2.0 / 4)) < 1e-9); /* its fourth, half as fast */
    rg_params_free(y.params);
}

/* 0.75 of 12 updates, then the rest; stopped anywhere, by steps or by epochs. */
static void phases_follow_each_other(void **state)
{
    (void)state;
    toy                    y = { .follow = true };
    const rg_trainer_hooks hooks = { .context = &y, .next = next, .loss = loss };
    rg_trainer_config      c = RG_TRAINER_CONFIG_DEFAULT;
    rg_trainer            *trainer;
    assert_int_equal(train(&y, NULL, 0, 12), RG_OK);
    for (size_t i = 0; i < 12; i++)
        for (size_t w = 0; w < WORKERS; w++) assert_int_equal(y.seen[i + 1][w].phase, i >= 9);
    assert_int_equal(y.logged[0].steps, 9);
    assert_int_equal(y.logged[1].steps, 3);
    c.phases = following;
    c.phase_count = 2;
    assert_int_equal(rg_trainer_new(&trainer, y.params, &c, &hooks), RG_EINVAL); /* a share of what? */
    assert_non_null(strstr(rg_message(), "need an end"));
    rg_params_free(y.params);
    check_resumed(true);
}

static void a_phase_moves_what_it_learns_and_nothing_else(void **state)
{
    (void)state;
    toy two = { 0 }, three = { 0 }, fresh = { 0 };
    assert_int_equal(train(&two, NULL, 0, 2), RG_OK);
    assert_int_equal(train(&three, NULL, 0, 3), RG_OK);
    make_params(&fresh);
    const size_t maker = WIDE * WIDE * sizeof(rg_real), critic = WIDE * sizeof(rg_real);
    assert_memory_equal(rg_param_data(fresh.maker), rg_param_data(two.maker), maker);
    assert_memory_equal(rg_param_data(fresh.mean), rg_param_data(two.mean), critic); /* kept values too */
    assert_memory_not_equal(rg_param_data(fresh.critic), rg_param_data(two.critic), critic);
    assert_memory_equal(rg_param_data(two.critic), rg_param_data(three.critic), critic);
    assert_memory_not_equal(rg_param_data(two.maker), rg_param_data(three.maker), maker);
    assert_memory_not_equal(rg_param_data(two.mean), rg_param_data(three.mean), critic);
    rg_params_free(two.params);
    rg_params_free(three.params);
    rg_params_free(fresh.params);
}

static void a_phase_that_learns_nothing_is_refused(void **state)
{
    (void)state;
    const rg_trainer_phase bad = { .name = "maker", .learns = "nobody.*" };
    rg_trainer_config      c = RG_TRAINER_CONFIG_DEFAULT;
    rg_trainer            *trainer;
    toy                    y = { 0 };
    const rg_trainer_hooks hooks = { .context = &y, .next = next, .loss = loss };
    make_params(&y);
    c.phases = &bad;
    c.phase_count = 1;
    assert_int_equal(rg_trainer_new(&trainer, y.params, &c, &hooks), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "nobody.*"));
    rg_params_free(y.params);
}

/* ---------------------------------------------------------------------------------------------------- second passes */

static rg_tensor *pass(rg_tape *t, const toy *y, const rg_real *x)
{
    rg_tensor *z = rg_dropout(t, rg_matmul(t, rg_constant(t, x, ROWS, WIDE, NULL), rg_use(t, y->maker)), 0.5);
    return rg_batch_norm(t, rg_dropout(t, z, 0.5), rg_use(t, y->gain), rg_use(t, y->bias), y->mean, y->variance, 0.1,
                         1e-5);
}

static void a_second_pass_has_the_masks_of_the_first(void **state)
{
    (void)state;
    toy            y = { 0 };
    rg_grads      *grads;
    rg_tape       *t;
    rg_tape_config c = RG_TAPE_CONFIG_DEFAULT;
    rg_real        x[ROWS * WIDE];
    for (size_t i = 0; i < ROWS * WIDE; i++) x[i] = (rg_real)i + 1;
    make_params(&y);
    assert_int_equal(rg_grads_new(&grads, y.params), RG_OK);
    c.grads = grads;
    assert_int_equal(rg_tape_new(&t, &c), RG_OK);
    rg_tape_reset(t, 1);
    const uint64_t before = rg_tape_draws(t);
    rg_tensor     *first = pass(t, &y, x);
    rg_tape_redraw(t, before);
    rg_tensor *again = pass(t, &y, x), *other = pass(t, &y, x);
    assert_int_equal(rg_tape_status(t), RG_OK);
    assert_memory_equal(rg_tensor_data(first), rg_tensor_data(again), ROWS * WIDE * sizeof(rg_real));
    assert_memory_not_equal(rg_tensor_data(first), rg_tensor_data(other), ROWS * WIDE * sizeof(rg_real));
    rg_tape_free(t);
    rg_grads_free(grads);
    rg_params_free(y.params);
}

/* Passes with settling off use the batch's statistics and move nothing; a reset turns it on again. */
static void batch_statistics_can_be_used_without_moving_them(void **state)
{
    (void)state;
    toy            y = { 0 };
    rg_grads      *grads;
    rg_tape       *t;
    rg_tape_config c = RG_TAPE_CONFIG_DEFAULT;
    rg_real        x[ROWS * WIDE], once[WIDE], mean[WIDE];
    for (size_t i = 0; i < ROWS * WIDE; i++) x[i] = (rg_real)(i * i % 7);
    make_params(&y);
    assert_int_equal(rg_grads_new(&grads, y.params), RG_OK);
    c.grads = grads;
    assert_int_equal(rg_tape_new(&t, &c), RG_OK);
    for (int passes = 1; passes <= 2; passes++) {
        memset(rg_param_data(y.mean), 0, sizeof mean);
        rg_tape_reset(t, 1);
        rg_tensor *first = pass(t, &y, x), *second = first;
        if (passes == 2) {
            assert_true(rg_tape_update_statistics(t, false));
            rg_tape_redraw(t, 0);
            second = pass(t, &y, x);
        }
        assert_int_equal(rg_tape_status(t), RG_OK);
        assert_memory_equal(rg_tensor_data(first), rg_tensor_data(second), ROWS * WIDE * sizeof(rg_real));
        assert_int_equal(rg_tape_backward(t, rg_sum(t, rg_add(t, first, second))), RG_OK);
        rg_params_update_kept(y.params, &grads, 1);
        memcpy(passes == 1 ? once : mean, rg_param_data(y.mean), sizeof mean);
    }
    assert_memory_equal(once, mean, sizeof mean);
    rg_tape_reset(t, 2);
    assert_true(rg_tape_update_statistics(t, true));
    rg_tape_free(t);
    rg_grads_free(grads);
    rg_params_free(y.params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_resumes_between_any_two_updates),
        cmocka_unit_test(a_run_of_other_phases_is_not_resumed),
        cmocka_unit_test(phases_take_turns_and_count_their_own_steps),
        cmocka_unit_test(phases_follow_each_other),
        cmocka_unit_test(a_phase_moves_what_it_learns_and_nothing_else),
        cmocka_unit_test(a_phase_that_learns_nothing_is_refused),
        cmocka_unit_test(a_second_pass_has_the_masks_of_the_first),
        cmocka_unit_test(batch_statistics_can_be_used_without_moving_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
