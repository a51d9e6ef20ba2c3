/* test_train_workers.c - shares of a batch on several threads: the same bits as one after another, no allocations,
 * errors that reach the caller. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/faults.h"
#include "support/toy.h"
#include "autograd/params.h"

#include <math.h>
#include <string.h>

#define OK(call) expect_ok((call), #call)
static void expect_ok(rg_status status, const char *call)
{
    if (status != RG_OK) fail_msg("%s: %s", call, rg_message());
}

typedef struct run {
    toy           toy;
    rg_workers   *workers;
    rg_optimizer *opt;
} run;

static rg_status open_run(run *r, int workers, int threads)
{
    memset(r, 0, sizeof *r);
    rg_workers_config   wc = RG_WORKERS_CONFIG_DEFAULT;
    rg_optimizer_config oc = RG_OPTIMIZER_CONFIG_DEFAULT;
    wc.workers = workers;
    wc.threads = threads;
    wc.seed = 5;
    oc.clip_norm = 1;
    RG_TRY(toy_build(&r->toy, 1));
    RG_TRY(rg_workers_new(&r->workers, r->toy.params, &wc));
    return rg_optimizer_new(&r->opt, r->toy.params, &oc);
}

static void close_run(run *r)
{
    rg_optimizer_free(r->opt);
    rg_workers_free(r->workers);
    toy_free(&r->toy);
}

static double largest_difference(const rg_params *a, const rg_params *b)
{
    double most = 0;
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < a->entry[i]->rows * a->entry[i]->cols; j++)
            most = fmax(most, fabs((double)a->entry[i]->data[j] - (double)b->entry[i]->data[j]));
    return most;
}

/* Steps 1 .. n; the last loss. */
static double train(run *r, uint64_t n)
{
    rg_losses losses = {0};
    for (uint64_t step = 1; step <= n; step++) OK(toy_step(&losses, &r->toy, r->workers, r->opt, step));
    assert_true(losses.count == TOY_ROWS);
    return losses.sum;
}

/* By hand: a tape and gradients for each share, one after another on this thread. */
static double train_in_turn(run *r, size_t shares, uint64_t n)
{
    rg_grads *grads[8];
    double    sum = 0;
    for (size_t i = 0; i < shares; i++) OK(rg_grads_new(&grads[i], r->toy.params));
    for (uint64_t step = 1; step <= n; step++) {
        double count = 0;
        sum = 0;
        for (size_t i = 0; i < shares; i++) {
            rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
            rg_tape       *tape;
            toy_share      share;
            config.seed = 5;
            config.grads = grads[i];
            OK(rg_tape_new(&tape, &config));
            rg_tape_reset(tape, step);
            toy_draw(&share, step, i * TOY_ROWS / shares, (i + 1) * TOY_ROWS / shares - i * TOY_ROWS / shares);
            rg_loss loss = toy_loss(&r->toy, tape, &share, 0);
            OK(rg_tape_backward(tape, loss.sum));
            sum += (double)rg_tensor_at(loss.sum, 0, 0);
            count += loss.count;
            rg_tape_free(tape);
        }
        OK(rg_optimizer_step(NULL, r->opt, grads, shares, count, 0.01, NULL));
    }
    for (size_t i = 0; i < shares; i++) rg_grads_free(grads[i]);
    return sum;
}

static void workers_equal_their_shares_one_after_another(void **state)
{
    (void)state;
    for (int n = 1; n <= 3; n++) {
        run together, alone;
        OK(open_run(&together, n, 1));
        OK(open_run(&alone, 1, 1));
        double a = train(&together, 6), b = train_in_turn(&alone, (size_t)n, 6);
        assert_true(a == b);
        assert_true(largest_difference(together.toy.params, alone.toy.params) == 0);
        close_run(&together);
        close_run(&alone);
    }
}

static void threads_of_a_worker_change_no_bit(void **state)
{
    (void)state;
    run one, three;
    OK(open_run(&one, 2, 1));
    OK(open_run(&three, 2, 3));
    assert_true(train(&one, 5) == train(&three, 5));
    assert_true(largest_difference(one.toy.params, three.toy.params) == 0);
    close_run(&one);
    close_run(&three);
}

static void two_runs_give_the_same_bits_and_learn(void **state)
{
    (void)state;
    run    a, b;
    double first = 0;
    OK(open_run(&a, 2, 1));
    OK(open_run(&b, 2, 1));
    first = train(&a, 1);
    close_run(&a);
    OK(open_run(&a, 2, 1));
    assert_true(train(&a, 150) == train(&b, 150));
    assert_true(largest_difference(a.toy.params, b.toy.params) == 0);
    assert_true(train(&a, 1) < 0.7 * first);
    close_run(&a);
    close_run(&b);
}

/* Gradients of the parts of a batch, added, are those of the whole. */
static void parts_of_a_batch_add_up(void **state)
{
    (void)state;
    run whole, parts;
    OK(open_run(&whole, 1, 1));
    OK(open_run(&parts, 1, 1));
    rg_losses   all, part;
    toy_share   share;
    const void *shares[1] = { &share };
    toy_draw(&share, 1, 0, TOY_ROWS);
    rg_job job = { .shares = shares, .count = 1, .step = 1, .loss = toy_loss, .context = &whole.toy };
    OK(rg_workers_run(&all, whole.workers, &job));
    double sum = 0;
    for (size_t i = 0; i < 4; i++) {
        toy_draw(&share, 1, i * TOY_ROWS / 4, TOY_ROWS / 4);
        rg_job piece = {
            .shares = shares, .count = 1, .step = 1, .add = i > 0, .loss = toy_loss, .context = &parts.toy
        };
        OK(rg_workers_run(&part, parts.workers, &piece));
        sum += part.sum;
    }
    assert_float_equal(sum, all.sum, 1e-4);
    for (size_t i = 0; i < whole.toy.params->numbers; i++)
        assert_float_equal(rg_grads_block(rg_workers_grads(whole.workers)[0])[i],
                           rg_grads_block(rg_workers_grads(parts.workers)[0])[i], 1e-4);
    close_run(&whole);
    close_run(&parts);
}

static void a_step_allocates_nothing_after_the_first(void **state)
{
    (void)state;
    run       r;
    rg_losses losses;
    OK(open_run(&r, 2, 2));
    OK(toy_step(&losses, &r.toy, r.workers, r.opt, 1));
    size_t before = rg_base__alloc_calls();
    for (uint64_t step = 2; step < 8; step++) OK(toy_step(&losses, &r.toy, r.workers, r.opt, step));
    assert_int_equal(rg_base__alloc_calls() - before, 0);
    close_run(&r);
}

static void a_loss_that_is_not_finite_names_the_share_and_changes_nothing(void **state)
{
    (void)state;
    run       r, clean;
    rg_losses losses;
    OK(open_run(&r, 2, 1));
    OK(open_run(&clean, 2, 1));
    OK(toy_step(&losses, &r.toy, r.workers, r.opt, 1));
    OK(toy_step(&losses, &clean.toy, clean.workers, clean.opt, 1));
    r.toy.poison = 2;
    assert_int_equal(toy_step(&losses, &r.toy, r.workers, r.opt, 2), RG_ENUMBER);
    assert_int_equal(losses.failed, 0);
    assert_non_null(strstr(rg_message(), "worker 0"));
    assert_true(largest_difference(r.toy.params, clean.toy.params) == 0);
    r.toy.poison = 0; /* and it can go on */
    OK(toy_step(&losses, &r.toy, r.workers, r.opt, 2));
    OK(toy_step(&losses, &clean.toy, clean.workers, clean.opt, 2));
    assert_true(largest_difference(r.toy.params, clean.toy.params) == 0);
    close_run(&r);
    close_run(&clean);
}

static rg_loss fail_in_worker_one(void *context, rg_tape *tape, const void *share, int worker)
{
    if (worker == 1) rg_tape_fail(tape, RG_ESHAPE, "keys are 3 wide, queries 4");
    if (worker == 2) return (rg_loss){0}; /* nothing to learn from */
    return toy_loss(context, tape, share, worker);
}

static void a_failure_on_a_worker_reaches_the_caller_with_its_words(void **state)
{
    (void)state;
    run r;
    OK(open_run(&r, 3, 1));
    toy_share   share;
    rg_losses   losses;
    const void *shares[4] = { &share, &share, &share, &share };
    toy_draw(&share, 1, 0, 10);
    rg_job job = { .shares = shares, .count = 3, .step = 1, .loss = fail_in_worker_one, .context = &r.toy };
    assert_int_equal(rg_workers_run(&losses, r.workers, &job), RG_ESHAPE);
    assert_int_equal(losses.failed, 1);
    assert_non_null(strstr(rg_message(), "keys are 3 wide, queries 4"));
    job.count = 1; /* the others rest, and what they had is gone */
    OK(rg_workers_run(&losses, r.workers, &job));
    assert_true(losses.count == 10 && losses.failed == 1);
    assert_null(rg_grads_of(rg_workers_grads(r.workers)[2], r.toy.w1));
    job.count = 4;
    assert_int_equal(rg_workers_run(&losses, r.workers, &job), RG_EINVAL);
    close_run(&r);
}

static rg_status build_and_two_steps(void *context)
{
    run       r;
    rg_losses losses;
    (void)context;
    rg_status status = open_run(&r, 2, 1);
    for (uint64_t step = 1; step <= 2 && status == RG_OK; step++)
        status = toy_step(&losses, &r.toy, r.workers, r.opt, step);
    close_run(&r);
    return status;
}

static void memory_that_runs_out_is_reported_and_nothing_leaks(void **state)
{
    (void)state;
    faults_every_alloc(build_and_two_steps, NULL, NULL, true); /* joining an arena's chunks only saves work */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_equal_their_shares_one_after_another),
        cmocka_unit_test(threads_of_a_worker_change_no_bit),
        cmocka_unit_test(two_runs_give_the_same_bits_and_learn),
        cmocka_unit_test(parts_of_a_batch_add_up),
        cmocka_unit_test(a_step_allocates_nothing_after_the_first),
        cmocka_unit_test(a_loss_that_is_not_finite_names_the_share_and_changes_nothing),
        cmocka_unit_test(a_failure_on_a_worker_reaches_the_caller_with_its_words),
        cmocka_unit_test(memory_that_runs_out_is_reported_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
