/* test_attention_between.c - what comes between weighing and mixing: local windows, drawing one key, rows kept
 * apart, key-value. */
#include "regard/between.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/gradient.h"

static const int32_t   target_start[] = { 0, 7, 8, 8 }, source_start[] = { 0, 5, 8, 11 };
static const rg_layout target = { .groups = 3, .start = target_start }, source = { .groups = 3, .start = source_start };

static rg_tape *new_tape(uint64_t seed)
{
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t = NULL;
    config.seed = seed;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    return t;
}

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.9g and %.9g differ by more than %g", a, b, tolerance);
}

/* --------------------------------------------------------------------------------------------------------- local */

static void local_m_follows_the_target_and_stops_at_the_end_of_the_source(void **state)
{
    (void)state;
    rg_tape        *t = new_tape(1);
    const rg_reach *r = rg_reach_local_m(t, rg_reach_groups(t, &target, &source), NULL, 1);
    assert_non_null(r);
    static const int32_t begin[] = { 0, 0, 1, 2, 3, 3, 3, 5 };
    static const size_t  count[] = { 2, 3, 3, 3, 2, 2, 2, 2 }; /* places 1 .. 7 over 5 words, then 1 over 3 */
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(r->begin[i], begin[i]);
        assert_int_equal(r->first[i + 1] - r->first[i], count[i]);
    }
    const int32_t   place[] = { 3, 0 }, from[] = { 0, 5 }, to[] = { 5, 8 }; /* a decoder's step: two hypotheses of two sentences */
    const rg_reach *step = rg_reach_local_m(t, rg_reach_intervals(t, 2, 11, from, to), place, 1);
    assert_int_equal(step->begin[0], 2);
    assert_int_equal(step->begin[1], 5);
    rg_tape_free(t);
}

static void local_p_rounds_its_window_and_weighs_by_the_gaussian(void **state)
{
    (void)state;
    rg_tape        *t = new_tape(1);
    const rg_real   at[] = { 0, (rg_real)0.4, (rg_real)2.6, (rg_real)4.9, 5, 1, 3, (rg_real)1.5 };
    const rg_reach *whole = rg_reach_groups(t, &target, &source);
    rg_tensor      *p = rg_input(t, at, 8, 1, NULL);
    const rg_reach *r = rg_reach_local_p(t, whole, p, 1);
    static const int32_t begin[] = { 0, 0, 1, 3, 3, 0, 1, 5 };
    static const size_t  count[] = { 2, 2, 3, 2, 2, 2, 3, 3 };
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(r->begin[i], begin[i]);
        assert_int_equal(r->first[i + 1] - r->first[i], count[i]);
    }
    rg_real ones[64];
    for (size_t i = 0; i < 64; i++) ones[i] = 1;
    rg_tensor *g = rg_local_gaussian(t, rg_input(t, ones, r->P, 2, NULL), p, r, whole, 1);
    for (size_t i = 0; i < 8; i++)
        for (size_t j = r->first[i]; j < r->first[i + 1]; j++) {
            const double s = (double)((size_t)r->begin[i] + j - r->first[i]) - (double)whole->begin[i] + 1,
                         x = s - (double)at[i];
            near((double)rg_tensor_at(g, j, 1), exp(-x * x / (2 * 0.25)), 1e-6);
        }
    rg_tensor *n = rg_normalise_over(t, g, r);
    for (size_t i = 0; i < 8; i++) {
        double sum = 0;
        for (size_t j = r->first[i]; j < r->first[i + 1]; j++) sum += (double)rg_tensor_at(n, j, 0);
        near(sum, 1, 1e-6);
    }
    rg_tape_free(t);
}

static void predicted_centres_lie_inside_the_sentence(void **state)
{
    (void)state;
    rg_params *params = NULL;
    rg_local   local;
    rg_real    x[8 * 3];
    assert_int_equal(rg_params_new(&params), RG_OK);
    rg_local_init(&local, params, 3, 4);
    assert_int_equal(rg_params_build(params, 2), RG_OK);
    rg_test_fill(x, 24, 1, -3, 3);
    rg_tape   *t = new_tape(1);
    rg_tensor *p = rg_local_centres(t, &local, rg_input(t, x, 8, 3, &target), rg_reach_groups(t, &target, &source));
    assert_int_equal(rg_tape_status(t), RG_OK);
    for (size_t i = 0; i < 8; i++) assert_true(rg_tensor_at(p, i, 0) > 0 && rg_tensor_at(p, i, 0) < (i < 7 ? 5 : 3));
    rg_tape_free(t);
    rg_params_free(params);
}

/* ---------------------------------------------------------------------------------------------------------- hard */

enum { DRAWS = 20000, KEYS = 4 };
static const double score[KEYS] = { 0.3, -0.5, 1.0, 0.1 }, value[KEYS] = { -1.0, -1.4, -0.7, -1.2 }; /* log p of reading each */

static void exact(double *a, double *gradient, double *mean)
{
    double sum = 0;
    *mean = 0;
    for (size_t j = 0; j < KEYS; j++) sum += exp(score[j]);
    for (size_t j = 0; j < KEYS; j++) a[j] = exp(score[j]) / sum, *mean += a[j] * value[j];
    for (size_t j = 0; j < KEYS; j++) gradient[j] = a[j] * (value[j] - *mean); /* d sum_k a_k value_k / d e_j */
}

/* DRAWS queries over the same keys: each is one sample of the estimator. Mean and variance of d(-loss)/de. */
static void estimate(double baseline, double *mean, double *variance)
{
    static rg_real  e[DRAWS * KEYS], reward[DRAWS];
    static int32_t  begin[DRAWS], end[DRAWS];
    rg_params      *params = NULL;
    rg_hard         hard = RG_HARD_DEFAULT;
    rg_tape        *t = new_tape(5);
    assert_int_equal(rg_params_new(&params), RG_OK);
    rg_hard_init(&hard, params);
    assert_int_equal(rg_params_build(params, 1), RG_OK);
    rg_param_data(hard.baseline)[0] = (rg_real)baseline;
    hard.reward = 1, hard.entropy = 0;
    for (size_t i = 0; i < DRAWS * KEYS; i++) e[i] = (rg_real)score[i % KEYS];
    for (size_t i = 0; i < DRAWS; i++) begin[i] = 0, end[i] = KEYS;
    const rg_reach *reach = rg_reach_intervals(t, DRAWS, KEYS, begin, end);
    rg_tensor      *scores = rg_input(t, e, DRAWS * KEYS, 1, NULL), *a = rg_softmax_over(t, scores, reach),
              *picked = rg_hard_sample(t, a, reach);
    assert_non_null(picked);
    for (size_t i = 0; i < DRAWS; i++) {
        size_t ones = 0;
        for (size_t j = 0; j < KEYS; j++) {
            const rg_real w = rg_tensor_at(picked, i * KEYS + j, 0);
            assert_true(w == 0 || w == 1);
            if (w == 1) ones++, reward[i] = (rg_real)value[j];
        }
        assert_int_equal(ones, 1);
    }
    assert_int_equal(rg_tape_backward(t, rg_hard_loss(t, &hard, a, picked, reward, reach)), RG_OK);
    const rg_real *de = rg_tape_gradient(t, scores);
    for (size_t j = 0; j < KEYS; j++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < DRAWS; i++)
            sum += -(double)de[i * KEYS + j], square += (double)de[i * KEYS + j] * (double)de[i * KEYS + j];
        mean[j] = sum / DRAWS;
        variance[j] = square / DRAWS - mean[j] * mean[j];
    }
    rg_tape_free(t);
    rg_params_free(params);
}

static void the_mean_of_the_estimator_is_the_enumerated_gradient(void **state)
{
    (void)state;
    double a[KEYS], want[KEYS], reward, mean[KEYS], variance[KEYS];
    exact(a, want, &reward);
    for (int with = 0; with < 2; with++) {
        estimate(with ? reward : 0, mean, variance);
        for (size_t j = 0; j < KEYS; j++) near(mean[j], want[j], 3 * sqrt(variance[j] / DRAWS));
    }
}

static void the_baseline_at_least_halves_the_variance(void **state)
{
    (void)state;
    double a[KEYS], want[KEYS], reward, mean[KEYS], without[KEYS], with[KEYS], sums[2] = { 0, 0 };
    exact(a, want, &reward);
    estimate(0, mean, without);
    estimate(reward, mean, with);
    for (size_t j = 0; j < KEYS; j++) sums[0] += without[j], sums[1] += with[j];
    if (!(sums[1] <= sums[0] / 2)) fail_msg("the variance is %g without and %g with the baseline", sums[0], sums[1]);
}

static void draws_follow_the_weights_and_the_seed(void **state)
{
    (void)state;
    static const int32_t begin[1000] = { 0 };
    static int32_t       end[1000];
    static rg_real       w[3000];
    double               count[2][3] = { { 0 } };
    static rg_real       first[3000];
    for (size_t i = 0; i < 1000; i++)
        end[i] = 3, w[3 * i] = (rg_real)0.5, w[3 * i + 1] = 0, w[3 * i + 2] = (rg_real)0.5;
    for (int run = 0; run < 3; run++) {
        rg_tape        *t = new_tape(run == 2 ? 9 : 4);
        const rg_reach *reach = rg_reach_intervals(t, 1000, 3, begin, end);
        rg_tensor      *p = rg_hard_sample(t, rg_input(t, w, 3000, 1, NULL), reach);
        if (run == 0) memcpy(first, rg_tensor_data(p), sizeof first);
        if (run == 1) assert_memory_equal(first, rg_tensor_data(p), sizeof first); /* same seed, same draws */
        if (run == 2) assert_memory_not_equal(first, rg_tensor_data(p), sizeof first);
        for (size_t i = 0; run != 1 && i < 3000; i++) count[run / 2][i % 3] += (double)rg_tensor_at(p, i, 0);
        rg_tape_free(t);
    }
    for (int run = 0; run < 2; run++) {
        assert_true(count[run][1] == 0); /* a weight of 0 is never drawn */
        near(count[run][0], 500, 3.5 * sqrt(250));
    }
}

static void the_largest_weight_is_picked_at_test_time_and_a_query_without_keys_picks_nothing(void **state)
{
    (void)state;
    rg_tape        *t = new_tape(1);
    const int32_t   begin[] = { 0, 2, 0 }, end[] = { 3, 2, 2 };
    const rg_real   w[] = { (rg_real)0.2, (rg_real)0.7, (rg_real)0.5, (rg_real)0.2, (rg_real)0.3,
                            (rg_real)0.1, (rg_real)0.5, (rg_real)0.4, (rg_real)0.5, (rg_real)0.6 };
    const rg_reach *reach = rg_reach_intervals(t, 3, 3, begin, end);
    rg_tensor      *p = rg_hard_argmax(t, rg_input(t, w, 5, 2, NULL), reach);
    const rg_real   want[] = { 0, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
    for (size_t i = 0; i < 10; i++) assert_true(rg_tensor_at(p, i / 2, i % 2) == want[i]);
    const rg_real v[] = { 1, 10, 2, 20, 3, 30 };
    rg_tensor    *out = rg_mix(t, p, rg_input(t, v, 3, 2, NULL), reach);
    const rg_real read[] = { 2, 10, 0, 0, 1, 20 };
    for (size_t i = 0; i < 6; i++) assert_true(rg_tensor_at(out, i / 2, i % 2) == read[i]);
    rg_tape_free(t);
}

static void the_baseline_moves_towards_the_mean_reward_while_learning_only(void **state)
{
    (void)state;
    rg_params *params = NULL;
    rg_hard    hard = RG_HARD_DEFAULT;
    assert_int_equal(rg_params_new(&params), RG_OK);
    rg_hard_init(&hard, params);
    assert_int_equal(rg_params_build(params, 1), RG_OK);
    rg_tape      *t = new_tape(1);
    const int32_t begin[] = { 0, 0 }, end[] = { 2, 2 };
    const rg_real w[] = { (rg_real)0.5, (rg_real)0.5, (rg_real)0.5, (rg_real)0.5 }, reward[] = { -2, -4 };
    double        expected = 0;
    for (uint64_t step = 0; step < 60; step++) {
        rg_tape_reset(t, step);
        rg_tape_learn(t, step < 50);
        const rg_reach *reach = rg_reach_intervals(t, 2, 2, begin, end);
        rg_tensor      *a = rg_input(t, w, 4, 1, NULL);
        assert_non_null(rg_hard_loss(t, &hard, a, rg_hard_sample(t, a, reach), reward, reach));
        if (step < 50) expected = 0.9 * expected + 0.1 * -3;
    }
    near((double)rg_param_data(hard.baseline)[0], expected, 1e-5);
    rg_tape_free(t);
    rg_params_free(params);
}

static void the_coin_falls_as_often_as_asked_and_never_outside_learning(void **state)
{
    (void)state;
    rg_hard  hard = RG_HARD_DEFAULT;
    rg_tape *t = new_tape(3);
    int      soft = 0;
    for (uint64_t step = 0; step < 2000; step++) {
        rg_tape_reset(t, step);
        soft += rg_hard_coin(t, &hard);
    }
    near(soft, 1000, 3.5 * sqrt(500));
    rg_tape_learn(t, false);
    for (uint64_t step = 0; step < 50; step++) assert_false(rg_hard_coin(t, &hard));
    rg_tape_free(t);
}

static void gumbel_draws_have_the_softmax_as_their_mean_of_argmax(void **state)
{
    (void)state;
    double          a[KEYS], gradient[KEYS], reward, count[KEYS] = { 0 };
    static rg_real  e[DRAWS * KEYS];
    static int32_t  begin[DRAWS], end[DRAWS];
    rg_tape        *t = new_tape(8);
    exact(a, gradient, &reward);
    for (size_t i = 0; i < DRAWS * KEYS; i++) e[i] = (rg_real)score[i % KEYS];
    for (size_t i = 0; i < DRAWS; i++) end[i] = KEYS;
    const rg_reach *reach = rg_reach_intervals(t, DRAWS, KEYS, begin, end);
    rg_tensor      *scores = rg_input(t, e, DRAWS * KEYS, 1, NULL), *y = rg_gumbel_over(t, scores, reach, 0.5);
    rg_tensor      *hard = rg_straight_through(t, rg_hard_argmax(t, y, reach), y);
    for (size_t i = 0; i < DRAWS * KEYS; i++) count[i % KEYS] += (double)rg_tensor_at(hard, i, 0);
    for (size_t j = 0; j < KEYS; j++) near(count[j] / DRAWS, a[j], 3.5 * sqrt(a[j] * (1 - a[j]) / DRAWS));
    assert_int_equal(rg_tape_backward(t, rg_sum(t, rg_mul(t, hard, scores))), RG_OK); /* hard forward, soft backward */
    assert_non_null(rg_tape_gradient(t, scores));
    rg_tape_learn(t, false);
    y = rg_gumbel_over(t, scores, reach, 1);
    for (size_t j = 0; j < KEYS; j++) near((double)rg_tensor_at(y, j, 0), a[j], 1e-6);
    rg_tape_free(t);
}

/* ------------------------------------------------------------------------------------------------------- overlap */

static void rows_that_look_at_different_keys_do_not_overlap(void **state)
{
    (void)state;
    rg_tape        *t = new_tape(1);
    const int32_t   begin[] = { 0, 0 }, end[] = { 2, 0 };
    const rg_reach *reach = rg_reach_intervals(t, 2, 2, begin, end);
    const rg_real   apart[] = { 1, 0, 0, 1 }, same[] = { 1, 1, 0, 0 };
    near((double)rg_tensor_at(rg_overlap_penalty(t, rg_input(t, apart, 2, 2, NULL), reach), 0, 0), 0, 0);
    near((double)rg_tensor_at(rg_overlap_penalty(t, rg_input(t, same, 2, 2, NULL), reach), 0, 0), 2, 0);
    rg_tape_free(t);
}

/* ----------------------------------------------------------------------------------------------------- key, value */

static void key_value_attention_looks_at_the_last_rows_without_its_own(void **state)
{
    (void)state;
    for (size_t parts = 1; parts <= 3; parts++) {
        rg_params   *params = NULL;
        rg_key_value kv;
        rg_real      h[11 * 6], other[11 * 6];
        assert_int_equal(rg_params_new(&params), RG_OK);
        assert_int_equal(rg_key_value_init(&kv, params, 6, parts, 2), RG_OK);
        assert_int_equal(rg_params_build(params, 4), RG_OK);
        rg_test_fill(h, 66, 1, -1, 1);
        memcpy(other, h, sizeof h);
        for (size_t c = 0; c < 6; c++) other[1 * 6 + c] += 1; /* row 1 of the first text: seen by rows 1, 2 and 3 */
        rg_tape   *t = new_tape(1);
        rg_tensor *y = rg_key_value_run(t, &kv, rg_input(t, h, 11, 6, &source)),
                  *z = rg_key_value_run(t, &kv, rg_input(t, other, 11, 6, &source));
        assert_int_equal(rg_tape_status(t), RG_OK);
        assert_int_equal(rg_tensor_cols(y), 6 / parts);
        for (size_t i = 0; i < 11; i++) {
            bool same = memcmp(rg_tensor_row(y, i), rg_tensor_row(z, i), 6 / parts * sizeof(rg_real)) == 0;
            assert_int_equal(same, !(i >= 1 && i <= 3));
        }
        rg_tape_free(t);
        rg_params_free(params);
    }
    rg_key_value kv;
    assert_int_equal(rg_key_value_init(&kv, NULL, 6, 4, 2), RG_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_m_follows_the_target_and_stops_at_the_end_of_the_source),
        cmocka_unit_test(local_p_rounds_its_window_and_weighs_by_the_gaussian),
        cmocka_unit_test(predicted_centres_lie_inside_the_sentence),
        cmocka_unit_test(the_mean_of_the_estimator_is_the_enumerated_gradient),
        cmocka_unit_test(the_baseline_at_least_halves_the_variance),
        cmocka_unit_test(draws_follow_the_weights_and_the_seed),
        cmocka_unit_test(the_largest_weight_is_picked_at_test_time_and_a_query_without_keys_picks_nothing),
        cmocka_unit_test(the_baseline_moves_towards_the_mean_reward_while_learning_only),
        cmocka_unit_test(the_coin_falls_as_often_as_asked_and_never_outside_learning),
        cmocka_unit_test(gumbel_draws_have_the_softmax_as_their_mean_of_argmax),
        cmocka_unit_test(rows_that_look_at_different_keys_do_not_overlap),
        cmocka_unit_test(key_value_attention_looks_at_the_last_rows_without_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
