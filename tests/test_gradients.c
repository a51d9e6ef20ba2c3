/* test_gradients.c - records made from the tape: watched attention, and the picture of vanishing gradients. */
#include "regard/attention.h"
#include "regard/recurrent.h"
#include "regard/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const rg_attention_use uses[] = {
    { .where = "self", .watch = "decoder.*self.weights", .rows = "output", .cols = "output" },
    { .where = "cross", .watch = "decoder.*cross.weights", .rows = "output", .cols = "source" },
    { 0 },
};

static void a_watched_attention_becomes_maps(void **state)
{
    static const char *const source[] = { "a", "b", "c" }, *const target[] = { "x", "y" };
    rg_tape_config      tape_config = RG_TAPE_CONFIG_DEFAULT;
    rg_attention_config config = RG_ATTENTION_CONFIG_DEFAULT;
    rg_tape            *t = NULL;
    rg_params          *params = NULL;
    rg_attention        att;
    rg_record          *r = NULL;
    rg_collector       *c = NULL;
    rg_random           random = rg_random_new(1, 1);
    rg_real             q[2 * 8], k[3 * 8];
    int32_t             q_start[] = { 0, 2 }, k_start[] = { 0, 3 };
    rg_layout           ql = { .groups = 1, .start = q_start }, kl = { .groups = 1, .start = k_start };
    size_t              s, o, skipped = 0;

    (void)state;
    for (size_t i = 0; i < 16; i++) q[i] = (rg_real)rg_random_normal(&random);
    for (size_t i = 0; i < 24; i++) k[i] = (rg_real)rg_random_normal(&random);
    config.heads = 2;
    config.q_width = config.k_width = 8;
    assert_int_equal(rg_params_new(&params), RG_OK);
    assert_int_equal(rg_attention_init(&att, &config, params), RG_OK);
    assert_int_equal(rg_params_build(params, 1), RG_OK);
    assert_int_equal(rg_tape_new(&t, &tape_config), RG_OK);
    assert_int_equal(rg_record_new(&r, "watched", "translation"), RG_OK);
    assert_int_equal(rg_record_add_labels(&s, r, "source", RG_LABEL_TOKEN, source, 3), RG_OK);
    assert_int_equal(rg_record_add_labels(&o, r, "output", RG_LABEL_TOKEN, target, 2), RG_OK);
    assert_int_equal(rg_collector_new(&c, r, uses, -1), RG_OK);
    rg_tape_set_watcher(t, rg_collector_watcher(c));
    rg_tensor *tq = rg_input(t, q, 2, 8, &ql), *tk = rg_input(t, k, 3, 8, &kl);
    const rg_reach *reach = rg_reach_groups(t, &ql, &kl);
    rg_tape_push(t, "decoder");
    rg_tape_push(t, "%d", 2);
    rg_tape_push(t, "cross");
    assert_non_null(rg_attend(t, &att, tq, rg_attention_prepare(t, &att, tk), tk, reach));
    rg_tape_pop(t);
    rg_tape_push(t, "self"); /* sizes that are not the target's: counted, not guessed */
    assert_non_null(rg_attend(t, &att, tq, rg_attention_prepare(t, &att, tk), tk, reach));
    rg_tape_set_watcher(t, NULL);
    assert_int_equal(rg_collector_finish(c, &skipped), RG_OK);
    assert_int_equal(skipped, 1);
    assert_int_equal(r->maps, 2);
    for (int h = 0; h < 2; h++) {
        const rg_record_map *m = &r->map[h];
        assert_string_equal(m->name, "decoder.cross");
        assert_int_equal(m->layer, 2);
        assert_int_equal(m->head, h);
        for (size_t i = 0; i < 2; i++) {
            double e[3], sum = 0;
            for (size_t j = 0; j < 3; j++) {
                double dot = 0;
                for (size_t x = 0; x < 4; x++)
                    dot += (double)q[8 * i + 4 * (size_t)h + x] * (double)k[8 * j + 4 * (size_t)h + x];
                sum += e[j] = exp(dot / 2);
            }
            for (size_t j = 0; j < 3; j++) assert_true(fabs((double)m->weights[3 * i + j] - e[j] / sum) < 1e-5);
        }
    }
    rg_record_free(r);
    rg_tape_free(t);
    rg_params_free(params);
}

static const rg_series *series(const rg_record *r, const char *name)
{
    for (size_t i = 0; i < r->curves[0].count; i++)
        if (!strncmp(r->curves[0].series[i].name, name, strlen(name))) return &r->curves[0].series[i];
    fail_msg("no series %s", name);
    return NULL;
}

static void the_lstm_keeps_a_thousand_times_more_after_100_steps(void **state)
{
    rg_gradients_options o = RG_GRADIENTS_OPTIONS_DEFAULT;
    rg_record           *r = NULL;

    (void)state;
    for (o.seed = 1; o.seed <= 3; o.seed++) {
        assert_int_equal(rg_gradients_record(&r, &o), RG_OK);
        const rg_series *rnn = series(r, "RNN"), *lstm = series(r, "LSTM");
        assert_int_equal(rnn->count, 128);
        assert_true(lstm->y[27] / lstm->y[127] > 1e3 * rnn->y[27] / rnn->y[127]);
        assert_int_equal(r->map[0].cols, 128);
        rg_record_free(r);
    }
}

static void a_plain_network_loses_a_constant_factor_a_step(void **state)
{
    rg_gradients_options o = RG_GRADIENTS_OPTIONS_DEFAULT;
    rg_record           *r = NULL;

    (void)state;
    assert_int_equal(rg_gradients_record(&r, &o), RG_OK);
    const rg_series *rnn = series(r, "RNN");
    double           first = log(rnn->y[120] / rnn->y[70]) / 50, second = log(rnn->y[70] / rnn->y[20]) / 50;
    assert_true(first > 0.05 && fabs(first - second) < 0.15 * first); /* a straight line on a logarithmic axis */
    rg_record_free(r);
}

/* What the Jacobians of the same network say, without a tape: h_t = tanh(x_t + h_{t-1} U), so that a small change of
 * h_{t-1} reaches h_t through diag(1 - h_t^2) U^T. The loss's own direction is sent back through them: ln of the
 * factor a step, between two steps. */
static double rate_of_jacobians(const rg_gradients_options *o, size_t from, size_t to)
{
    enum { UNITS = 64, STEPS = 128 };
    static double u[UNITS][UNITS], h[STEPS][UNITS];
    rg_random     random = rg_random_new(o->seed, (uint64_t)RG_RNN);
    double        v[UNITS], next[UNITS], sum = 0, range = o->gain * sqrt(3.0 / UNITS);

    assert_true(o->width == UNITS && o->steps == STEPS);
    for (size_t i = 0; i < UNITS; i++)
        for (size_t j = 0; j < UNITS; j++) u[i][j] = (double)(float)(range * (2 * rg_random_uniform(&random) - 1));
    for (size_t t = 0; t < STEPS; t++)
        for (size_t j = 0; j < UNITS; j++) {
            double e = (double)(float)(0.5 * rg_random_normal(&random));
            for (size_t i = 0; t && i < UNITS; i++) e += h[t - 1][i] * u[i][j];
            h[t][j] = tanh(e);
        }
    for (size_t j = 0; j < UNITS; j++) v[j] = 2 * rg_random_uniform(&random) - 1; /* the loss is v . h_T */
    for (size_t t = STEPS - 1; t > to; t--) {
        double norm = 0;
        for (size_t i = 0; i < UNITS; i++) {
            next[i] = 0;
            for (size_t j = 0; j < UNITS; j++) next[i] += u[i][j] * (1 - h[t][j] * h[t][j]) * v[j];
            norm += next[i] * next[i];
        }
        norm = sqrt(norm);
        for (size_t i = 0; i < UNITS; i++) v[i] = next[i] / norm;
        if (t <= from) sum += log(norm);
    }
    return sum / (double)(from - to);
}

static void the_slope_of_the_plain_network_is_that_of_its_jacobians(void **state)
{
    rg_gradients_options o = RG_GRADIENTS_OPTIONS_DEFAULT;
    rg_record           *r = NULL;

    (void)state;
    for (o.seed = 1; o.seed <= 3; o.seed++)
        for (o.gain = 0.7; o.gain < 1.7; o.gain += 0.3) {
            assert_int_equal(rg_gradients_record(&r, &o), RG_OK);
            const rg_series *rnn = series(r, "RNN");
            const double     slope = log(rnn->y[5] / rnn->y[100]) / 95, jacobians = rate_of_jacobians(&o, 100, 5);
            assert_true(fabs(slope - jacobians) < 0.05 * fabs(jacobians));
            rg_record_free(r);
        }
}

/* The lectures' picture: gated networks keep what a plain one loses; the GRU's update gate starts as open as the
 * LSTM's forget gate. */
static void the_gru_keeps_a_million_times_more_after_100_steps(void **state)
{
    rg_gradients_options o = RG_GRADIENTS_OPTIONS_DEFAULT;
    rg_record           *r = NULL;

    (void)state;
    for (o.seed = 1; o.seed <= 3; o.seed++) {
        assert_int_equal(rg_gradients_record(&r, &o), RG_OK);
        const rg_series *rnn = series(r, "RNN"), *gru = series(r, "GRU");
        assert_true(gru->y[27] / gru->y[127] > 1e6 * rnn->y[27] / rnn->y[127]);
        assert_non_null(strstr(r->title, "RNN vanish"));
        rg_record_free(r);
    }
    o.gain = 3;
    assert_int_equal(rg_gradients_record(&r, &o), RG_OK);
    assert_non_null(strstr(r->title, "RNN explode"));
    rg_record_free(r);
}

static void batch_norm_keeps_the_gradient_of_30_layers(void **state)
{
    static const char *const remedies[] = { "batchnorm", "orthogonal" };
    rg_gradients_options     o = RG_GRADIENTS_OPTIONS_DEFAULT;
    rg_record               *r = NULL;

    (void)state;
    o.depth = 30;
    for (size_t i = 0; i < 2; i++)
        for (o.seed = 1; o.seed <= 3; o.seed++) {
            o.remedy = remedies[i];
            assert_int_equal(rg_gradients_record(&r, &o), RG_OK);
            assert_int_equal(r->curves[0].count, 2);
            assert_true(series(r, remedies[i])->y[0] >= 100 * series(r, "no remedy")->y[0]); /* layer 1 */
            assert_non_null(strstr(r->title, "stay"));
            rg_record_free(r);
        }
    o.remedy = "clip";
    o.gain = 3;
    o.activation = "linear";
    assert_int_equal(rg_gradients_record(&r, &o), RG_OK);
    assert_true(series(r, "clip")->y[0] <= 1 && series(r, "no remedy")->y[0] > 1e6);
    rg_record_free(r);
    o.depth = 0;
    o.remedy = "batchnorm";
    assert_int_equal(rg_gradients_record(&r, &o), RG_EINVAL);
}

/* The deep linear network has Jacobians W: dL/dh_0 = dL/dh_L W_L^T .. W_1^T, so a gain of g multiplies by about g
 * per layer. */
static void a_linear_network_multiplies_by_its_gain(void **state)
{
    rg_gradients_options o = RG_GRADIENTS_OPTIONS_DEFAULT;
    rg_record           *r = NULL;

    (void)state;
    o.depth = 20;
    o.activation = "linear";
    o.width = 256;
    for (o.gain = 0.5; o.gain <= 2; o.gain *= 2) {
        assert_int_equal(rg_gradients_record(&r, &o), RG_OK);
        const rg_series *s = series(r, "no remedy");
        assert_true(fabs(log(s->y[0] / s->y[19]) / 19 - log(o.gain)) < 0.05);
        rg_record_free(r);
    }
}

static void the_terms_of_the_double_sum_add_up_to_the_tape(void **state)
{
    rg_gradients_options o = { 24, 16, 0, 1, "tanh", "none", 0 };
    rg_record           *r = NULL;
    double               apart = 1;

    (void)state;
    for (o.gain = 0.5; o.gain <= 2; o.gain *= 2) {
        assert_int_equal(rg_gradients_contributions(&r, &apart, &o), RG_OK);
        assert_true(apart < 1e-6);
        assert_int_equal(r->map[0].rows, 24);
        for (size_t t = 0; t < 24; t++)
            for (size_t k = 0; k < 24; k++) /* no loss reaches a later step, and nothing stands before the first */
                assert_true(k > t || k == 0 ? rg_map_weight(&r->map[0], t, k) == 0
                                            : rg_map_weight(&r->map[0], t, k) >= 0);
        assert_true(rg_map_weight(&r->map[0], 23, 23) > 0);
        rg_record_free(r);
    }
    o.steps = 1000;
    assert_int_equal(rg_gradients_contributions(&r, NULL, &o), RG_EINVAL);
}

static void sizes_out_of_range_are_refused(void **state)
{
    rg_gradients_options o = RG_GRADIENTS_OPTIONS_DEFAULT;
    rg_record           *r = NULL;

    (void)state;
    o.steps = 1;
    assert_int_equal(rg_gradients_record(&r, &o), RG_EINVAL);
    o.steps = 128;
    o.gain = NAN;
    assert_int_equal(rg_gradients_record(&r, &o), RG_EINVAL);
}

/* The matrix is the formula; the dot product knows the distance alone. */
static void positions_are_sines_and_cosines(void **state)
{
    enum { PLACES = 20, WIDTH = 16 };
    rg_record *r = NULL;
    (void)state;
    assert_int_equal(rg_positions_record(&r, PLACES, WIDTH), RG_OK);
    for (size_t p = 0; p < PLACES; p++)
        for (size_t j = 0; j < WIDTH; j++) {
            const double angle = (double)p / pow(10000, (double)(j - j % 2) / WIDTH), code = j % 2 ? cos(angle) : sin(angle);
            assert_true(fabs((double)r->map[0].weights[p * WIDTH + j] - (1 + code) / 2) < 1e-6);
        }
    const rg_curves *c = &r->curves[0];
    assert_int_equal(c->count, 2);
    for (size_t k = 0; k < c->series[1].count; k++) {
        double product = 0;
        for (size_t i = 0; i < WIDTH / 2; i++) product += cos((double)k / pow(10000, 2.0 * (double)i / WIDTH));
        assert_true(fabs(c->series[0].y[k] - product) < 1e-5);
        assert_true(fabs(c->series[1].y[k] - product) < 1e-5);
    }
    rg_record_free(r);
    assert_int_equal(rg_positions_record(&r, 20, 15), RG_EINVAL);
    assert_int_equal(rg_positions_record(&r, 1, 16), RG_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_watched_attention_becomes_maps),
        cmocka_unit_test(the_lstm_keeps_a_thousand_times_more_after_100_steps),
        cmocka_unit_test(a_plain_network_loses_a_constant_factor_a_step),
        cmocka_unit_test(the_slope_of_the_plain_network_is_that_of_its_jacobians),
        cmocka_unit_test(the_gru_keeps_a_million_times_more_after_100_steps),
        cmocka_unit_test(batch_norm_keeps_the_gradient_of_30_layers),
        cmocka_unit_test(a_linear_network_multiplies_by_its_gain),
        cmocka_unit_test(the_terms_of_the_double_sum_add_up_to_the_tape),
        cmocka_unit_test(sizes_out_of_range_are_refused),
        cmocka_unit_test(positions_are_sines_and_cosines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
