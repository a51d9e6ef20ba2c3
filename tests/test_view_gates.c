/* Gates of recurrent layers as maps: the numbers of the formulas, the direct path of an LSTM's cell; attention over
 * the past as a curve. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/recurrent.h"
#include "regard/view.h"

#include <math.h>
#include <string.h>

enum { U = 5, N = 7 };

static void ok(rg_status status)
{
    if (status != RG_OK) fail_msg("%s", rg_message());
}

static void fill(rg_real *x, size_t n, uint64_t seed, double scale)
{
    rg_random random = rg_random_new(seed, 1);
    for (size_t i = 0; i < n; i++) x[i] = (rg_real)(scale * rg_random_normal(&random));
}

static rg_record *record_of(rg_recurrence kind, rg_real *x, rg_real *u, rg_real *u_new)
{
    static const char *const words[N] = { "a", "b", "c", "d", "e", "f", "g" };
    const size_t             G = rg_recurrence_gates(kind), cols = kind == RG_GRU ? 2 * U : G * U;
    const int32_t            start[] = { 0, N };
    const rg_layout          layout = { .groups = 1, .start = start };
    rg_tape_config           config = { .record = false };
    rg_gate_collector       *c;
    rg_record               *r;
    rg_tape                 *t;
    size_t                   list;
    ok(rg_record_new(&r, "gates", "language"));
    ok(rg_record_add_labels(&list, r, "words", RG_LABEL_TOKEN, words, N));
    ok(rg_gate_collector_new(&c, r, list));
    ok(rg_tape_new(&t, &config));
    rg_tape_set_watcher(t, rg_gate_collector_watcher(c));
    rg_recurrent_weights w = { .u = rg_input(t, u, U, cols, NULL),
                               .u_new = kind == RG_GRU ? rg_input(t, u_new, U, U, NULL) : NULL };
    rg_tape_push(t, "rnn.%d", 3);
    assert_non_null(rg_recurrent(t, kind, &w, rg_input(t, x, N, G * U, &layout), NULL, NULL, false, NULL));
    rg_tape_pop(t);
    ok(rg_tape_status(t));
    ok(rg_gate_collector_finish(c));
    rg_tape_free(t);
    return r;
}

static const rg_record_map *map_named(const rg_record *r, const char *name)
{
    const size_t i = rg_record_find(r, name, 3, -1, -1);
    if (i == r->maps) fail_msg("no map %s", name);
    assert_int_equal(r->map[i].rows, U);
    assert_int_equal(r->map[i].cols, N);
    return &r->map[i];
}

static double logistic(double x) { return 1 / (1 + exp(-x)); }

/* The LSTM by its formulas, step by step. */
static void maps_of_an_lstm_are_its_formulas(void **state)
{
    (void)state;
    rg_real x[N * 4 * U], u[U * 4 * U];
    double  h[U] = { 0 }, c[U] = { 0 };
    fill(x, N * 4 * U, 1, 1);
    fill(u, U * 4 * U, 2, 0.5);
    rg_record           *r = record_of(RG_LSTM, x, u, NULL);
    const rg_record_map *in = map_named(r, "input"), *forget = map_named(r, "forget"), *out = map_named(r, "output"),
                        *cell = map_named(r, "cell");
    for (size_t t = 0; t < N; t++) {
        double e[4 * U], next[U];
        for (size_t k = 0; k < 4 * U; k++) {
            e[k] = (double)x[t * 4 * U + k];
            for (size_t j = 0; j < U; j++) e[k] += h[j] * (double)u[j * 4 * U + k];
        }
        for (size_t j = 0; j < U; j++) {
            const double i = logistic(e[j]), f = logistic(e[U + j]), o = logistic(e[2 * U + j]);
            c[j] = f * c[j] + i * tanh(e[3 * U + j]);
            next[j] = o * tanh(c[j]);
            assert_true(fabs((double)rg_map_weight(in, j, t) - i) < 1e-5);
            assert_true(fabs((double)rg_map_weight(forget, j, t) - f) < 1e-5);
            assert_true(fabs((double)rg_map_weight(out, j, t) - o) < 1e-5);
            assert_true(fabs((double)rg_map_weight(cell, j, t) - (1 + tanh(c[j])) / 2) < 1e-5);
        }
        memcpy(h, next, sizeof h);
    }
    assert_int_equal(r->curve_sets, 1);
    assert_int_equal(r->curves[0].count, 3); /* means of input, forget, output */
    rg_record_free(r);
}

static void a_gru_shows_its_update_gate(void **state)
{
    (void)state;
    static const rg_recurrence kinds[] = { RG_GRU, RG_GRU_RESET_AFTER };
    rg_real                    x[N * 3 * U], u[U * 3 * U], u_new[U * U];
    fill(x, N * 3 * U, 3, 1);
    fill(u, U * 3 * U, 4, 0.5);
    fill(u_new, U * U, 5, 0.5);
    for (size_t k = 0; k < 2; k++) {
        rg_record           *r = record_of(kinds[k], x, u, u_new);
        const rg_record_map *update = map_named(r, "update");
        for (size_t j = 0; j < U; j++)
            assert_true(fabs((double)rg_map_weight(update, j, 0) - logistic((double)x[j])) < 1e-5); /* h is 0 before */
        map_named(r, "reset");
        rg_record_free(r);
    }
}

/* An encoder that reads backwards and a decoder that goes word by word: each over its own words, the same numbers as
 * over whole sentences. A sentence in another order stands in the order of its words. */
static void scopes_have_words_of_their_own_and_rows_come_one_by_one(void **state)
{
    (void)state;
    enum { M = 4 };
    static const char *const source[N] = { "a", "b", "c", "d", "e", "f", "g" };
    static const char *const target[M] = { "w", "x", "y", "z" };
    const int32_t            start[] = { 0, N };
    const rg_layout          layout = { .groups = 1, .start = start };
    const rg_tape_config     config = { .record = false };
    rg_real                  x[N * 3 * U], turned[N * 3 * U], u[U * 2 * U], u_new[U * U], order[N];
    rg_gate_collector       *c;
    rg_record               *r;
    rg_tape                 *t;
    size_t                   from, to;
    fill(x, N * 3 * U, 3, 1);
    fill(u, U * 2 * U, 4, 0.5);
    fill(u_new, U * U, 5, 0.5);
    for (size_t i = 0; i < N; i++) {
        order[i] = (rg_real)(N - 1 - i);
        memcpy(turned + i * 3 * U, x + (N - 1 - i) * 3 * U, 3 * U * sizeof *x);
    }
    ok(rg_record_new(&r, "gates", "translation"));
    ok(rg_record_add_labels(&from, r, "source", RG_LABEL_TOKEN, source, N));
    ok(rg_record_add_labels(&to, r, "output", RG_LABEL_TOKEN, target, M));
    ok(rg_gate_collector_new(&c, r, from));
    ok(rg_gate_collector_scope(c, "encoder", from));
    ok(rg_gate_collector_scope(c, "turned", from));
    ok(rg_gate_collector_scope(c, "decoder", to));
    ok(rg_gate_collector_scope(c, "more", to));
    assert_int_equal(rg_gate_collector_scope(c, "too many", to), RG_ELIMIT);
    ok(rg_tape_new(&t, &config));
    rg_tape_set_watcher(t, rg_gate_collector_watcher(c));
    const rg_recurrent_weights w = { .u = rg_input(t, u, U, 2 * U, NULL), .u_new = rg_input(t, u_new, U, U, NULL) };
    rg_tape_push(t, "encoder.3");
    assert_non_null(rg_recurrent(t, RG_GRU, &w, rg_input(t, x, N, 3 * U, &layout), NULL, NULL, true, NULL));
    rg_tape_pop(t);
    rg_tape_push(t, "turned");
    rg_tape_watch(t, "gates.order", rg_constant(t, order, N, 1, &layout), NULL);
    rg_tape_push(t, "3");
    assert_non_null(rg_recurrent(t, RG_GRU, &w, rg_input(t, turned, N, 3 * U, &layout), NULL, NULL, false, NULL));
    rg_tape_pop(t);
    rg_tape_pop(t);
    rg_tape_push(t, "decoder");
    rg_tensor *h = rg_zeros(t, 1, U, NULL);
    for (size_t i = 0; i < M; i++)
        h = rg_recurrent_cell(t, RG_GRU, &w, rg_input(t, x + i * 3 * U, 1, 3 * U, NULL), h, NULL, NULL);
    rg_tape_pop(t);
    ok(rg_tape_status(t));
    ok(rg_gate_collector_finish(c));
    const rg_record_map *back = map_named(r, "encoder.back.update"), *same = map_named(r, "turned.update");
    for (size_t i = 0; i < N; i++) /* backwards over x, or ahead over x turned round: the same states */
        for (size_t j = 0; j < U; j++)
            assert_true(fabs((double)(rg_map_weight(back, j, i) - rg_map_weight(same, j, i))) < 1e-6);
    rg_record           *whole = record_of(RG_GRU, x, u, u_new);
    const rg_record_map *ahead = map_named(whole, "update"),
                        *stepped = &r->map[rg_record_find(r, "decoder.update", -1, -1, -1)];
    assert_int_equal(stepped->cols, M);
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < U; j++)
            assert_true(fabs((double)(rg_map_weight(stepped, j, i) - rg_map_weight(ahead, j, i))) < 1e-6);
    assert_true(fabs((double)(rg_map_weight(back, 0, 0) - rg_map_weight(ahead, 0, 0))) > 1e-4);
    assert_int_equal(r->maps, 9); /* update, reset and candidate of three */
    rg_tape_free(t);
    rg_record_free(whole);
    rg_record_free(r);
}

/* dc_t / dc_{t-1} along the direct path is the forget gate. */
static void the_cell_passes_its_gradient_times_the_forget_gate(void **state)
{
    (void)state;
    rg_real        x[4 * U], u[U * 4 * U], h[U], c[U], ones[U];
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t;
    rg_tensor     *after = NULL;
    fill(x, 4 * U, 6, 1);
    fill(u, U * 4 * U, 7, 0.5);
    fill(h, U, 8, 1);
    fill(c, U, 9, 1);
    for (size_t j = 0; j < U; j++) ones[j] = 1;
    ok(rg_tape_new(&t, &config));
    rg_tensor *before = rg_input(t, c, 1, U, NULL);
    assert_non_null(rg_lstm_cell(t, rg_input(t, x, 1, 4 * U, NULL), rg_input(t, h, 1, U, NULL), before,
                                 rg_input(t, u, U, 4 * U, NULL), &after));
    ok(rg_tape_backward_from(t, after, ones));
    const rg_real *g = rg_tape_gradient(t, before);
    for (size_t j = 0; j < U; j++) {
        double e = (double)x[U + j];
        for (size_t i = 0; i < U; i++) e += (double)h[i] * (double)u[i * 4 * U + U + j];
        assert_true(fabs((double)g[j] - logistic(e)) < 1e-6);
    }
    rg_tape_free(t);
}

static void weights_over_the_past_become_a_curve_of_distance(void **state)
{
    (void)state;
    static const char *const words[] = { "a", "b", "c", "d" };
    const rg_real            one[16] = { 1, 0, 0, 0, .5f, .5f, 0, 0, .2f, .3f, .5f, 0, .1f, .1f, .2f, .6f };
    const rg_real            two[16] = { 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    rg_record               *r;
    size_t                   list;
    ok(rg_record_new(&r, "past", "language"));
    ok(rg_record_add_labels(&list, r, "words", RG_LABEL_TOKEN, words, 4));
    ok(rg_record_add_map(NULL, r, (rg_map_place){ "self", 1, 0, -1, -1 }, list, list, one, 4));
    ok(rg_record_add_map(NULL, r, (rg_map_place){ "self", 1, 1, -1, -1 }, list, list, two, 4));
    ok(rg_record_add_distances(r));
    assert_int_equal(r->curve_sets, 1);
    assert_int_equal(r->curves[0].count, 1); /* heads are averaged */
    const rg_series *s = &r->curves[0].series[0];
    const double     expected[] = { (2.6 + 1) / 8, (0.5 + 0.3 + 0.2 + 3) / 6, (0.2 + 0.1) / 4, 0.1 / 2 };
    assert_int_equal(s->count, 4);
    for (size_t k = 0; k < 4; k++) assert_true(fabs(s->y[k] - expected[k]) < 1e-6);
    rg_record_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_of_an_lstm_are_its_formulas),
        cmocka_unit_test(a_gru_shows_its_update_gate),
        cmocka_unit_test(scopes_have_words_of_their_own_and_rows_come_one_by_one),
        cmocka_unit_test(the_cell_passes_its_gradient_times_the_forget_gate),
        cmocka_unit_test(weights_over_the_past_become_a_curve_of_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
