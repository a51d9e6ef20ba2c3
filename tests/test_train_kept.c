/* test_train_kept.c - kept values with several workers: nobody writes them while passes run, and a step moves each
 * once, by the mean of what the workers asked for, in their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/attention.h"
#include "regard/between.h"
#include "regard/ops.h"
#include "regard/train.h"

#include <math.h>
#include <string.h>

enum { D = 5, ROWS = 12, WORKERS = 2, KEYS = 3 };

#define OK(call) expect_ok((call), #call)
static void expect_ok(rg_status status, const char *call)
{
    if (status != RG_OK) fail_msg("%s: %s", call, rg_message());
}

/* y = batch norm of (x + shift), then each row picks one of KEYS columns' weights: both kept values of the library
 * in one loss. */
typedef struct model {
    rg_params *params;
    rg_param  *shift, *gain, *bias, *mean, *variance;
    rg_hard    hard;
    bool       inner; /* run everything once more inside mark and rewind */
    bool       spoil; /* the second worker's gradient is not finite */
} model;

typedef struct share {
    rg_real x[ROWS * D], reward[ROWS];
    size_t  rows;
} share;

static void build(model *m)
{
    memset(m, 0, sizeof *m);
    m->hard = (rg_hard)RG_HARD_DEFAULT;
    OK(rg_params_new(&m->params));
    m->shift = rg_params_add(m->params, "shift", RG_VECTOR, 1, D, RG_INIT_ONE, 0);
    m->gain = rg_params_add(m->params, "gain", RG_VECTOR, 1, D, RG_INIT_ONE, 0);
    m->bias = rg_params_add(m->params, "bias", RG_VECTOR, 1, D, RG_INIT_ZERO, 0);
    m->mean = rg_params_add(m->params, "mean", RG_KEPT, 1, D, RG_INIT_ZERO, 0);
    m->variance = rg_params_add(m->params, "variance", RG_KEPT, 1, D, RG_INIT_ONE, 0);
    rg_hard_init(&m->hard, m->params);
    OK(rg_params_build(m->params, 1));
}

static void draw(share *s, unsigned number, size_t rows)
{
    s->rows = rows;
    for (size_t i = 0; i < rows * D; i++) s->x[i] = (rg_real)sin((double)(i * 7 + number * 31 + 1));
    for (size_t i = 0; i < rows; i++) s->reward[i] = (rg_real)(-1.0 - (double)number - 0.25 * (double)i);
}

static rg_tensor *forward(const model *m, rg_tape *t, const share *s)
{
    rg_tensor *x = rg_add(t, rg_input(t, s->x, s->rows, D, NULL), rg_use(t, m->shift));
    rg_tensor *y = rg_batch_norm(t, x, rg_use(t, m->gain), rg_use(t, m->bias), m->mean, m->variance, 0.1, 1e-5);
    int32_t    begin[ROWS], end[ROWS];
    for (size_t i = 0; i < s->rows; i++) begin[i] = 0, end[i] = KEYS;
    const rg_reach *reach = rg_reach_intervals(t, s->rows, KEYS, begin, end);
    rg_tensor      *a = rg_softmax_over(t, rg_input(t, s->x, s->rows * KEYS, 1, NULL), reach);
    rg_hard         hard = m->hard;
    return rg_add(t, rg_sum(t, rg_mul(t, y, y)),
                  rg_hard_loss(t, &hard, a, rg_hard_sample(t, a, reach), s->reward, reach));
}

static rg_loss loss(void *context, rg_tape *t, const void *part, int worker)
{
    const model *m = context;
    const share *s = part;
    if (m->inner) {
        rg_tape_point *point = rg_tape_mark(t);
        forward(m, t, s);
        rg_tape_rewind(t, point);
    }
    rg_tensor *sum = forward(m, t, s);
    if (m->spoil && worker == 1) {
        static const rg_real dy[D] = { INFINITY };
        (void)rg_tape_backward_from(t, rg_use(t, m->shift), dy);
    }
    return (rg_loss){ .sum = sum, .count = (double)s->rows };
}

static rg_status step(model *m, rg_workers *w, rg_optimizer *opt, const share *s, uint64_t number)
{
    const void *shares[] = { &s[0], &s[1] };
    rg_losses   losses;
    RG_TRY(rg_workers_run(&losses, w,
                          &(rg_job){ .shares = shares, .count = WORKERS, .step = number, .loss = loss, .context = m }));
    return rg_optimizer_step(NULL, opt, rg_workers_grads(w), WORKERS, losses.count, 0.01, rg_workers_team(w));
}

static void open(model *m, rg_workers **w, rg_optimizer **opt)
{
    rg_workers_config   wc = RG_WORKERS_CONFIG_DEFAULT;
    rg_optimizer_config oc = RG_OPTIMIZER_CONFIG_DEFAULT;
    wc.workers = WORKERS;
    build(m);
    OK(rg_workers_new(w, m->params, &wc));
    OK(rg_optimizer_new(opt, m->params, &oc));
}

static void finish(model *m, rg_workers *w, rg_optimizer *opt)
{
    rg_optimizer_free(opt);
    rg_workers_free(w);
    rg_params_free(m->params);
}

/* The mean and the unbiased variance of column j of what batch norm sees. */
static void statistics(const share *s, const rg_real *shift, size_t j, double *mean, double *variance)
{
    *mean = *variance = 0;
    for (size_t i = 0; i < s->rows; i++) *mean += ((double)s->x[i * D + j] + (double)shift[j]) / (double)s->rows;
    for (size_t i = 0; i < s->rows; i++)
        *variance += pow((double)s->x[i * D + j] + (double)shift[j] - *mean, 2) / (double)(s->rows - 1);
}

static void a_step_moves_kept_values_once_by_the_mean_of_the_workers(void **state)
{
    (void)state;
    model         m;
    rg_workers   *w;
    rg_optimizer *opt;
    share         s[WORKERS];
    double        mean[D] = {0}, variance[D], baseline = 0;
    open(&m, &w, &opt);
    for (size_t j = 0; j < D; j++) variance[j] = 1;
    for (uint64_t number = 1; number <= 5; number++) {
        draw(&s[0], (unsigned)number, ROWS);
        draw(&s[1], (unsigned)number + 100, ROWS - 3);
        for (size_t j = 0; j < D; j++) {
            double a[2], b[2];
            for (int k = 0; k < 2; k++) statistics(&s[k], rg_param_data(m.shift), j, &a[k], &b[k]);
            mean[j] += 0.1 * ((a[0] + a[1]) / 2 - mean[j]);
            variance[j] += 0.1 * ((b[0] + b[1]) / 2 - variance[j]);
        }
        double reward[2] = {0};
        for (int k = 0; k < 2; k++)
            for (size_t i = 0; i < s[k].rows; i++) reward[k] += (double)s[k].reward[i] / (double)s[k].rows;
        baseline += 0.1 * ((reward[0] + reward[1]) / 2 - baseline);
        OK(step(&m, w, opt, s, number));
    }
    for (size_t j = 0; j < D; j++) {
        assert_true(fabs((double)rg_param_data(m.mean)[j] - mean[j]) < 1e-5);
        assert_true(fabs((double)rg_param_data(m.variance)[j] - variance[j]) < 1e-5);
    }
    assert_true(fabs((double)rg_param_data(m.hard.baseline)[0] - baseline) < 1e-5 * fabs(baseline));
    finish(&m, w, opt);
}

static void an_inner_pass_and_a_second_run_change_no_bit_of_them(void **state)
{
    (void)state;
    model         m[3];
    rg_workers   *w[3];
    rg_optimizer *opt[3];
    share         s[WORKERS];
    for (int k = 0; k < 3; k++) {
        open(&m[k], &w[k], &opt[k]);
        m[k].inner = k == 2;
        for (uint64_t number = 1; number <= 20; number++) {
            draw(&s[0], (unsigned)number, ROWS);
            draw(&s[1], (unsigned)number + 100, 7);
            OK(step(&m[k], w[k], opt[k], s, number));
        }
    }
    for (int k = 1; k < 3; k++) {
        assert_memory_equal(rg_param_data(m[0].mean), rg_param_data(m[k].mean), D * sizeof(rg_real));
        assert_memory_equal(rg_param_data(m[0].variance), rg_param_data(m[k].variance), D * sizeof(rg_real));
        if (k == 1)
            assert_memory_equal(rg_param_data(m[0].hard.baseline), rg_param_data(m[k].hard.baseline), sizeof(rg_real));
    }
    assert_true(rg_param_data(m[0].mean)[0] != 0);
    for (int k = 0; k < 3; k++) finish(&m[k], w[k], opt[k]);
}

static void a_refused_step_and_a_frozen_entry_leave_them(void **state)
{
    (void)state;
    model         m;
    rg_workers   *w;
    rg_optimizer *opt;
    share         s[WORKERS];
    open(&m, &w, &opt);
    draw(&s[0], 1, ROWS);
    draw(&s[1], 2, ROWS);
    m.spoil = true;
    assert_int_equal(step(&m, w, opt, s, 1), RG_ENUMBER);
    for (size_t j = 0; j < D; j++) assert_true(rg_param_data(m.mean)[j] == 0 && rg_param_data(m.variance)[j] == 1);
    m.spoil = false;
    assert_int_equal(rg_params_freeze(m.params, "mean", true), 1);
    OK(step(&m, w, opt, s, 2));
    for (size_t j = 0; j < D; j++) assert_true(rg_param_data(m.mean)[j] == 0 && rg_param_data(m.variance)[j] != 1);
    finish(&m, w, opt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_moves_kept_values_once_by_the_mean_of_the_workers),
        cmocka_unit_test(an_inner_pass_and_a_second_run_change_no_bit_of_them),
        cmocka_unit_test(a_refused_step_and_a_frozen_entry_leave_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
