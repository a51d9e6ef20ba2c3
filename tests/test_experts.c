/* A mixture of experts: what it computes, for whom, and how it is balanced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/experts.h"
#include "tasks/expert_load.h"

#include <math.h>
#include <string.h>

enum { N = 9,
       D = 4,
       HIDDEN = 5,
       E = 3 };

typedef struct {
    rg_params *params;
    rg_experts experts;
    rg_grads  *grads;
    rg_tape   *t;
} mixture;

static rg_real input[N * D];

static void numbers(rg_param *p, double seed)
{
    rg_real *x = rg_param_data(p);
    for (size_t i = 0; i < rg_param_rows(p) * rg_param_cols(p); i++) x[i] = (rg_real)sin(seed + 1.3 * (double)i);
}

static void open_mixture(mixture *m, size_t top, bool learn)
{
    const rg_experts_config c = {
        .width = D, .hidden = HIDDEN, .experts = E, .top = top, .balance = 0.1, .activation = RG_TANH
    };
    assert_int_equal(rg_params_new(&m->params), RG_OK);
    assert_int_equal(rg_experts_init(&m->experts, m->params, &c), RG_OK);
    assert_int_equal(rg_params_build(m->params, 3), RG_OK);
    for (size_t i = 0; i < rg_params_count(m->params); i++) numbers(rg_params_at(m->params, i), (double)i);
    assert_int_equal(rg_params_repack(m->params, NULL), RG_OK);
    assert_int_equal(rg_grads_new(&m->grads, m->params), RG_OK);
    const rg_tape_config config = { .record = true, .learn = learn, .grads = m->grads, .seed = 5 };
    assert_int_equal(rg_tape_new(&m->t, &config), RG_OK);
    for (size_t i = 0; i < N * D; i++) input[i] = (rg_real)cos(0.9 * (double)i);
}

static void close_mixture(mixture *m)
{
    rg_tape_free(m->t);
    rg_grads_free(m->grads);
    rg_params_free(m->params);
}

static rg_tensor *x_of(const mixture *m) { return rg_borrow(m->t, input, N, D, D); }

/* Permuted experts are the same experts: the gate's columns and their networks trade places. */
static void a_permutation_changes_nothing_but_names(void **state)
{
    (void)state;
    mixture a, b;
    open_mixture(&a, 2, false);
    open_mixture(&b, 2, false);
    static const size_t place[E] = { 2, 0, 1 }; /* expert i of a is expert place[i] of b */
    for (size_t i = 0; i < E; i++) {
        const rg_feed_forward *from = &a.experts.expert[i], *to = &b.experts.expert[place[i]];
        rg_param *const        pairs[][2] = { { from->inner.w, to->inner.w },
                                              { from->inner.b, to->inner.b },
                                              { from->outer.w, to->outer.w },
                                              { from->outer.b, to->outer.b } };
        for (size_t k = 0; k < 4; k++)
            memcpy(rg_param_data(pairs[k][1]), rg_param_data(pairs[k][0]),
                   rg_param_rows(pairs[k][0]) * rg_param_cols(pairs[k][0]) * sizeof(rg_real));
        for (size_t d = 0; d < D; d++)
            rg_param_data(b.experts.gate)[d * E + place[i]] = rg_param_data(a.experts.gate)[d * E + i];
    }
    assert_int_equal(rg_params_repack(b.params, NULL), RG_OK);
    const rg_tensor *y = rg_experts_run(a.t, &a.experts, x_of(&a)), *z = rg_experts_run(b.t, &b.experts, x_of(&b));
    assert_int_equal(rg_tape_status(a.t), RG_OK);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < D; j++) assert_float_equal(rg_tensor_at(y, i, j), rg_tensor_at(z, i, j), 1e-6);
    close_mixture(&a);
    close_mixture(&b);
}

static void all_experts_without_noise_are_the_dense_mixture(void **state)
{
    (void)state;
    mixture m;
    open_mixture(&m, E, false);
    rg_tensor       *x = x_of(&m), *g = rg_softmax(m.t, rg_matmul(m.t, x, rg_use(m.t, m.experts.gate))), *dense = NULL;
    const rg_tensor *y = rg_experts_run(m.t, &m.experts, x);
    for (size_t i = 0; i < E; i++) {
        rg_tensor *one = rg_mul(m.t, rg_feed_forward_run(m.t, &m.experts.expert[i], x, 0), rg_columns(m.t, g, i, 1));
        dense = dense ? rg_add(m.t, dense, one) : one;
    }
    assert_int_equal(rg_tape_status(m.t), RG_OK);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < D; j++) assert_float_equal(rg_tensor_at(y, i, j), rg_tensor_at(dense, i, j), 1e-6);
    close_mixture(&m);
}

/* Nobody chooses the last expert. */
static void an_empty_expert_has_no_gradient_and_no_nan(void **state)
{
    (void)state;
    mixture m;
    open_mixture(&m, 1, true);
    for (size_t i = 0; i < N * D; i++) input[i] = (rg_real)(1 + (double)(i % 3));
    for (size_t d = 0; d < D; d++)
        for (size_t i = 0; i < E; i++) {
            rg_param_data(m.experts.gate)[d * E + i] = i + 1 < E ? 0 : -5;
            rg_param_data(m.experts.noise)[d * E + i] = -2; /* little noise */
        }
    assert_int_equal(rg_params_repack(m.params, NULL), RG_OK);
    rg_tensor *y = rg_experts_run(m.t, &m.experts, x_of(&m));
    assert_int_equal(rg_tape_backward(m.t, rg_sum(m.t, y)), RG_OK);
    const rg_real *none = rg_grads_of(m.grads, m.experts.expert[E - 1].inner.w);
    for (size_t i = 0; none && i < D * HIDDEN; i++) assert_true(none[i] == 0);
    const rg_real *gate = rg_grads_of(m.grads, m.experts.gate);
    assert_non_null(gate);
    for (size_t i = 0; i < D * E; i++) assert_true(isfinite((double)gate[i]));
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < D; j++) assert_true(isfinite((double)rg_tensor_at(y, i, j)));
    close_mixture(&m);
}

/* The same seed draws the same noise; without learning there is none. */
static void noise_belongs_to_learning_and_to_the_seed(void **state)
{
    (void)state;
    mixture a, b, c;
    open_mixture(&a, 2, true);
    open_mixture(&b, 2, true);
    open_mixture(&c, 2, false);
    const rg_tensor *x = rg_experts_run(a.t, &a.experts, x_of(&a)), *y = rg_experts_run(b.t, &b.experts, x_of(&b)),
                    *z = rg_experts_run(c.t, &c.experts, x_of(&c));
    size_t differ = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < D; j++) {
            assert_true(rg_tensor_at(x, i, j) == rg_tensor_at(y, i, j));
            differ += rg_tensor_at(x, i, j) != rg_tensor_at(z, i, j);
        }
    assert_true(differ > 0);
    close_mixture(&a);
    close_mixture(&b);
    close_mixture(&c);
}

/* The losses fall when rows are spread: gates that send all to one expert have more of them than gates of zero. */
static void one_sided_gates_cost_more(void **state)
{
    (void)state;
    double cost[2];
    for (int one = 0; one < 2; one++) {
        mixture    m;
        rg_tensor *balance;
        open_mixture(&m, 1, true);
        for (size_t i = 0; i < N * D; i++) input[i] = 1;
        for (size_t i = 0; i < D * E; i++) rg_param_data(m.experts.gate)[i] = one && i % E == 0 ? 2 : 0;
        for (size_t i = 0; i < D * E; i++) rg_param_data(m.experts.noise)[i] = 0;
        assert_int_equal(rg_params_repack(m.params, NULL), RG_OK);
        rg_experts_mix(m.t, &m.experts, x_of(&m), &balance);
        assert_non_null(balance);
        cost[one] = (double)rg_tensor_at(balance, 0, 0);
        close_mixture(&m);
    }
    assert_true(cost[1] > cost[0]);
    assert_true(cost[1] > 3.9); /* both squared coefficients of variation are near E - 1 */
}

/* Runs rows that are 1 at the place of the expert they are to choose. */
static void run_rows(mixture *m, const size_t *expert, size_t rows)
{
    rg_real *x = rg_tape_memory(m->t, rows * D * sizeof *x);
    memset(x, 0, rows * D * sizeof *x);
    for (size_t i = 0; i < rows; i++) x[i * D + expert[i]] = 1;
    rg_experts_run(m->t, &m->experts, rg_borrow(m->t, x, rows, D, D));
    assert_int_equal(rg_tape_status(m->t), RG_OK);
}

/* Loads are summed over passes by their rows, and of several mixtures the mean is told. */
static void loads_are_summed_over_passes(void **state)
{
    (void)state;
    static const size_t all[] = { 0, 1, 2 }, one[] = { 0 }, same[] = { 0, 0, 0, 0 };
    mixture             m;
    rg_expert_load      load;
    rg_expert_figures   f;
    open_mixture(&m, 1, false);
    for (size_t d = 0; d < D; d++)
        for (size_t i = 0; i < E; i++) rg_param_data(m.experts.gate)[d * E + i] = d == i ? 1 : 0;
    assert_int_equal(rg_params_repack(m.params, NULL), RG_OK);
    rg_expert_load_init(&load);
    assert_int_equal(rg_expert_load_figures(&f, &load), RG_EINVAL);
    rg_tape_set_watcher(m.t, &load.watcher);
    rg_tape_push(m.t, "encoder.0.experts");
    run_rows(&m, all, 3);
    assert_int_equal(rg_expert_load_figures(&f, &load), RG_OK);
    assert_true(f.cv < 1e-6 && fabs(f.most - 1.0 / 3) < 1e-6 && fabs(f.least - 1.0 / 3) < 1e-6);
    run_rows(&m, one, 1); /* 2, 1 and 1 of four rows */
    rg_tape_pop(m.t);
    assert_int_equal(rg_expert_load_figures(&f, &load), RG_OK);
    assert_true(fabs(f.most - 0.5) < 1e-6 && fabs(f.least - 0.25) < 1e-6);
    const double spread = sqrt((1.0 / 36 + 2.0 / 144) / 3) * 3;
    assert_true(fabs(f.cv - spread) < 1e-6);
    rg_tape_push(m.t, "experts"); /* another mixture: all to one of three, CV sqrt 2 */
    run_rows(&m, same, 4);
    rg_tape_pop(m.t);
    assert_int_equal(rg_expert_load_figures(&f, &load), RG_OK);
    assert_int_equal(load.count, 2);
    assert_true(fabs(f.cv - (spread + sqrt(2)) / 2) < 1e-6);
    assert_true(fabs(f.most - 0.75) < 1e-6 && fabs(f.least - 0.125) < 1e-6);
    rg_tape_set_watcher(m.t, NULL);
    rg_expert_load_fini(&load);
    close_mixture(&m);
}

static void more_at_a_time_than_there_are_is_refused(void **state)
{
    (void)state;
    rg_params *p;
    rg_experts e;
    assert_int_equal(rg_params_new(&p), RG_OK);
    const rg_experts_config c = { .width = 4, .hidden = 4, .experts = 8, .top = 9 },
                            many = { .width = 4, .hidden = 4, .experts = 1000, .top = 1 };
    assert_int_equal(rg_experts_init(&e, p, &c), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "--top-experts 9"));
    assert_int_equal(rg_experts_init(&e, p, &many), RG_EINVAL);
    rg_params_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_permutation_changes_nothing_but_names),
        cmocka_unit_test(all_experts_without_noise_are_the_dense_mixture),
        cmocka_unit_test(an_empty_expert_has_no_gradient_and_no_nan),
        cmocka_unit_test(noise_belongs_to_learning_and_to_the_seed),
        cmocka_unit_test(one_sided_gates_cost_more),
        cmocka_unit_test(loads_are_summed_over_passes),
        cmocka_unit_test(more_at_a_time_than_there_are_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
