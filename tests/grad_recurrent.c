/* grad_recurrent.c - recurrence of every kind: against the formulas written with plain ops, and against central
 * differences. */
#include "regard/recurrent.h"
#include "support/gradient.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const int32_t ragged_start[] = { 0, 2, 2, 6, 7, 10, 10 }, even_start[] = { 0, 3, 6, 9 }, one_start[] = { 0, 5 },
                     none_start[] = { 0, 0, 0 }, sorted_start[] = { 0, 1, 2, 3 };
static const rg_layout layouts[] = {
    { .groups = 6, .start = ragged_start },
    { .groups = 3, .start = even_start },
    { .groups = 1, .start = one_start },
    { .groups = 3, .start = sorted_start },
    { .groups = 2, .start = none_start },
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* ----------------------------------------------------------------------------------------------------------- steps */

static void steps_read_a_layout_longest_group_first(void **state)
{
    (void)state;
    static const int32_t start[] = { 0, 2, 6, 6, 7 };
    static const int32_t ahead[] = { 2, 0, 6, 3, 1, 4, 5 }, back[] = { 5, 1, 6, 4, 0, 3, 2 }, order[] = { 1, 0, 3, 2 },
                         count[] = { 3, 2, 1, 1 };
    const rg_layout      layout = { .groups = 4, .start = start };
    rg_tape_config       config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape             *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    for (int reverse = 0; reverse < 2; reverse++) {
        const rg_steps *s = rg_steps_new(t, &layout, reverse);
        assert_non_null(s);
        assert_int_equal(s->groups, 4);
        assert_int_equal(s->running, 3);
        assert_int_equal(s->steps, 4);
        assert_int_equal(s->rows, 7);
        assert_false(s->as_is);
        assert_memory_equal(s->order, order, sizeof order);
        assert_memory_equal(s->count, count, sizeof count);
        assert_memory_equal(s->row, reverse ? back : ahead, sizeof ahead);
        assert_int_equal(s->first[4], 7);
    }
    assert_true(rg_steps_new(t, &layouts[2], false)->as_is);
    assert_false(rg_steps_new(t, &layouts[2], true)->as_is);
    assert_true(rg_steps_new(t, &layouts[3], true)->as_is);
    assert_int_equal(rg_steps_new(t, &layouts[4], false)->steps, 0);
    assert_null(rg_steps_new(t, NULL, false));
    assert_int_equal(rg_tape_status(t), RG_EINVAL);
    rg_tape_free(t);
}

/* ----------------------------------------------------------------------------------------- formulas in plain ops */

typedef struct {
    rg_recurrence    kind;
    const rg_layout *layout;
    bool             reverse, cells, only_cells;
    bool             projected, bias, states;
    rg_params       *params; /* weights are parameters; NULL: inputs 1, 2, 3 ... */
    rg_param        *w, *b, *u, *u_new, *b_new;
} setup;

static rg_tensor *gate(rg_tape *t, rg_tensor *x, size_t k, size_t u) { return rg_columns(t, x, k * u, u); }

/* One step as the header states it. h, c (1, u); x (1, G u) projected. */
static rg_tensor *formula(rg_tape *t, rg_recurrence kind, const rg_recurrent_weights *w, rg_tensor *x, rg_tensor *h,
                          rg_tensor **c)
{
    const size_t u = rg_tensor_cols(h);
    rg_tensor   *a = rg_matmul(t, h, w->u);
    if (kind == RG_RNN) return rg_tanh(t, rg_add(t, x, a));
    if (kind == RG_LSTM) {
        rg_tensor *s = rg_add(t, x, a);
        rg_tensor *i = rg_sigmoid(t, gate(t, s, 0, u)), *f = rg_sigmoid(t, gate(t, s, 1, u)),
                  *o = rg_sigmoid(t, gate(t, s, 2, u));
        *c = rg_add(t, rg_mul(t, f, *c), rg_mul(t, i, rg_tanh(t, gate(t, s, 3, u))));
        return rg_mul(t, o, rg_tanh(t, *c));
    }
    rg_tensor *z = rg_sigmoid(t, rg_add(t, gate(t, x, 0, u), gate(t, a, 0, u))),
              *r = rg_sigmoid(t, rg_add(t, gate(t, x, 1, u), gate(t, a, 1, u)));
    rg_tensor *rest = rg_shift(t, rg_scale(t, z, -1), 1); /* 1 - z */
    if (kind == RG_GRU) {
        rg_tensor *n = rg_tanh(t, rg_add(t, gate(t, x, 2, u), rg_matmul(t, rg_mul(t, r, h), w->u_new)));
        return rg_add(t, rg_mul(t, rest, h), rg_mul(t, z, n));
    }
    rg_tensor *inner = w->b_new ? rg_add(t, gate(t, a, 2, u), w->b_new) : gate(t, a, 2, u);
    rg_tensor *n = rg_tanh(t, rg_add(t, gate(t, x, 2, u), rg_mul(t, r, inner)));
    return rg_add(t, rg_mul(t, rest, n), rg_mul(t, z, h));
}

/* Group by group, row by row, into rows[] of states and cells. */
static void by_formula(rg_tape *t, const setup *s, const rg_recurrent_weights *w, rg_tensor *x, rg_tensor *h0,
                       rg_tensor *c0, rg_tensor **h_rows, rg_tensor **c_rows)
{
    const size_t u = rg_tensor_rows(w->u);
    rg_tensor   *p = w->w ? rg_linear(t, x, w->w, w->b, RG_IDENTITY) : w->b ? rg_add(t, x, w->b) : x;
    for (size_t g = 0; g < s->layout->groups; g++) {
        const int32_t from = s->layout->start[g], end = s->layout->start[g + 1];
        rg_tensor    *h = h0 ? rg_rows(t, h0, g, 1) : rg_zeros(t, 1, u, NULL),
                  *c = c0 ? rg_rows(t, c0, g, 1) : rg_zeros(t, 1, u, NULL);
        for (int32_t i = 0; i < end - from; i++) {
            const size_t row = (size_t)(s->reverse ? end - 1 - i : from + i);
            h_rows[row] = h = formula(t, s->kind, w, rg_rows(t, p, row, 1), h, &c);
            c_rows[row] = c;
        }
    }
}

/* Inputs: x, then h0, c0 when there are states, then the weights unless they are parameters. */
static rg_recurrent_weights weights_of(rg_tape *t, const setup *s, rg_tensor *const *x)
{
    if (s->params)
        return (rg_recurrent_weights){ .w = s->w ? rg_use(t, s->w) : NULL,
                                       .b = s->b ? rg_use(t, s->b) : NULL,
                                       .u = rg_use(t, s->u),
                                       .u_new = s->u_new ? rg_use(t, s->u_new) : NULL,
                                       .b_new = s->b_new ? rg_use(t, s->b_new) : NULL };
    rg_recurrent_weights w = { .u = x[3] };
    if (!s->projected) w.w = x[4];
    if (s->bias) w.b = x[5];
    if (s->kind == RG_GRU) w.u_new = x[6];
    if (s->kind == RG_GRU_RESET_AFTER) w.b_new = x[6];
    return w;
}

static rg_tensor *recurrent_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    const setup               *s = context;
    const rg_recurrent_weights w = weights_of(t, s, x);
    rg_tensor *c = NULL;
    rg_tensor                 *h = rg_recurrent(t, s->kind, &w, x[0], s->states ? x[1] : NULL,
                                s->states && s->kind == RG_LSTM ? x[2] : NULL, s->reverse, s->cells ? &c : NULL);
    if (s->only_cells) return c;
    return c ? rg_concat_columns(t, 2, (rg_tensor *const[]){ h, c }) : h;
}

static rg_gradient_case case_of(setup *s, size_t in, size_t u)
{
    const size_t     gu = rg_recurrence_gates(s->kind) * u, G = s->layout->groups;
    rg_gradient_case c = {
        .name = rg_recurrence_name(s->kind), .function = recurrent_it, .context = s, .params = s->params
    };
    c.input[0] = (rg_gradient_input){ (size_t)s->layout->start[G], s->projected ? gu : in, s->layout };
    c.input[1] = c.input[2] = (rg_gradient_input){ G, u };
    if (s->params) return c;
    c.input[3] = (rg_gradient_input){ u, s->kind == RG_GRU ? 2 * u : gu };
    c.input[4] = (rg_gradient_input){ in, gu };
    c.input[5] = (rg_gradient_input){ 1, gu };
    c.input[6] = (rg_gradient_input){ s->kind == RG_GRU ? u : 1, u };
    return c;
}

static void declare(setup *s, size_t in, size_t u)
{
    const size_t gu = rg_recurrence_gates(s->kind) * u;
    assert_int_equal(rg_params_new(&s->params), RG_OK);
    s->w = rg_params_add(s->params, "w", RG_WEIGHT, in, gu, RG_INIT_NORMAL, 0.5);
    s->b = rg_params_add(s->params, "b", RG_VECTOR, 1, gu, RG_INIT_NORMAL, 0.5);
    s->u = rg_params_add(s->params, "u", RG_WEIGHT, u, s->kind == RG_GRU ? 2 * u : gu, RG_INIT_NORMAL, 0.5);
    if (s->kind == RG_GRU) s->u_new = rg_params_add(s->params, "u_new", RG_WEIGHT, u, u, RG_INIT_NORMAL, 0.5);
    if (s->kind == RG_GRU_RESET_AFTER)
        s->b_new = rg_params_add(s->params, "b_new", RG_VECTOR, 1, u, RG_INIT_NORMAL, 0.5);
    assert_int_equal(rg_params_build(s->params, 8), RG_OK);
}

static void every_kind_is_its_formula_in_both_directions_over_every_layout(void **state)
{
    (void)state;
    enum { IN = 3, U = 5 };
    for (rg_recurrence kind = RG_RNN; kind < RG_RECURRENCES; kind++)
        for (size_t l = 0; l < LAYOUTS; l++)
            for (int flags = 0; flags < 4; flags++) {
                setup s = { .kind = kind,
                            .layout = &layouts[l],
                            .reverse = flags & 1,
                            .states = flags & 2,
                            .cells = kind == RG_LSTM };
                declare(&s, IN, U);
                rg_real xs[32 * IN], hs[6 * U], cs[6 * U];
                rg_test_fill(xs, 32 * IN, 1, -1, 1);
                rg_test_fill(hs, 6 * U, 2, -1, 1);
                rg_test_fill(cs, 6 * U, 3, -1, 1);
                rg_tape_config config = { .record = false };
                rg_tape       *t;
                assert_int_equal(rg_tape_new(&t, &config), RG_OK);
                const size_t N = (size_t)s.layout->start[s.layout->groups];
                rg_tensor   *x = rg_constant(t, xs, N, IN, s.layout);
                rg_tensor   *h0 = s.states ? rg_constant(t, hs, s.layout->groups, U, NULL) : NULL;
                rg_tensor   *c0 = s.states && kind == RG_LSTM ? rg_constant(t, cs, s.layout->groups, U, NULL) : NULL;
                const rg_recurrent_weights w = weights_of(t, &s, NULL);
                rg_tensor *c = NULL, *h = rg_recurrent(t, kind, &w, x, h0, c0, s.reverse, s.cells ? &c : NULL),
                          *h_row[32], *c_row[32];
                by_formula(t, &s, &w, x, h0, c0, h_row, c_row);
                assert_int_equal(rg_tape_status(t), RG_OK);
                assert_int_equal(rg_tensor_rows(h), N);
                assert_ptr_equal(rg_tensor_layout(h), s.layout);
                for (size_t i = 0; i < N * U; i++) {
                    assert_true(fabs(rg_tensor_at(h, i / U, i % U) - rg_tensor_at(h_row[i / U], 0, i % U)) < 1e-14);
                    if (c)
                        assert_true(fabs(rg_tensor_at(c, i / U, i % U) - rg_tensor_at(c_row[i / U], 0, i % U)) < 1e-14);
                }
                rg_tape_free(t);
                rg_params_free(s.params);
            }
}

/* ------------------------------------------------------------------------------------------------------- gradients */

static void every_kind_has_correct_gradients_of_tensors(void **state)
{
    (void)state;
    for (rg_recurrence kind = RG_RNN; kind < RG_RECURRENCES; kind++)
        for (size_t l = 0; l < LAYOUTS - 1; l++)
            for (int flags = 0; flags < 4; flags++) {
                setup            s = { .kind = kind,
                                       .layout = &layouts[l],
                                       .reverse = flags & 1,
                                       .states = flags != 1,
                                       .projected = flags == 2,
                                       .bias = flags != 3,
                                       .cells = flags == 3 && kind == RG_LSTM };
                rg_gradient_case c = case_of(&s, 3, 3);
                c.plain_only = l > 0;
                rg_expect_gradient(&c);
            }
}

static void every_kind_has_correct_gradients_of_packed_weights_at_odd_sizes(void **state)
{
    (void)state;
    static const size_t sizes[][2] = { { 1, 1 }, { 3, 7 }, { 9, 1 }, { 7, 17 }, { 17, 9 } };
    for (rg_recurrence kind = RG_RNN; kind < RG_RECURRENCES; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            setup s = { .kind = kind, .layout = &layouts[i % 4], .reverse = i % 2, .states = i > 1, .bias = true };
            declare(&s, sizes[i][0], sizes[i][1]);
            rg_gradient_case c = case_of(&s, sizes[i][0], sizes[i][1]);
            c.plain_only = true;
            rg_expect_gradient(&c);
            rg_params_free(s.params);
        }
}

static void a_gradient_that_arrives_at_the_cells_alone_is_carried_back(void **state)
{
    (void)state;
    setup s = {
        .kind = RG_LSTM, .layout = &layouts[0], .cells = true, .only_cells = true, .bias = true, .states = true
    };
    rg_gradient_case c = case_of(&s, 3, 7);
    c.plain_only = true;
    rg_expect_gradient(&c);
}

/* ---------------------------------------------------------------------------------------------- cells, ends, ways */

static rg_tensor *decoder_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    const rg_recurrence kind = *(const rg_recurrence *)context;
    rg_tensor          *h = x[1], *c = x[2], *buffer = rg_rows_new(t, 6, rg_tensor_cols(h), NULL);
    for (int32_t step = 0; step < 2; step++) { /* two steps of three rows, the second with fewer */
        const size_t rows = step ? 2 : 3;
        rg_tensor   *in = rg_rows(t, x[0], (size_t)step * 3, rows), *before = rg_rows(t, h, 0, rows);
        switch (kind) {
        case RG_RNN: h = rg_rnn_cell(t, in, before, x[3]); break;
        case RG_LSTM: h = rg_lstm_cell(t, in, before, rg_rows(t, c, 0, rows), x[3], &c); break;
        case RG_GRU: h = rg_gru_cell(t, in, before, x[3], x[4]); break;
        default:
            h = rg_recurrent_cell(t, kind, &(rg_recurrent_weights){ .u = x[3], .b_new = x[4] }, in, before, NULL, NULL);
            break;
        }
        rg_rows_put(t, buffer, (const int32_t[]){ step * 3, step * 3 + 1, 2 }, h);
    }
    return buffer;
}

static void cells_one_step_at_a_time_have_correct_gradients(void **state)
{
    (void)state;
    for (rg_recurrence kind = RG_RNN; kind < RG_RECURRENCES; kind++) {
        const size_t     u = 7, gu = rg_recurrence_gates(kind) * u;
        rg_gradient_case c = { .name = rg_recurrence_name(kind),
                               .function = decoder_it,
                               .context = &kind,
                               .input = { { 6, gu },
                                          { 3, u },
                                          { 3, u },
                                          { u, kind == RG_GRU ? 2 * u : gu },
                                          { kind == RG_GRU ? u : 1, u } } };
        rg_expect_gradient(&c);
    }
}

static rg_tensor *last_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    return rg_last_rows(t, x[0], *(const bool *)context);
}

static rg_tensor *both_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    return rg_bidirectional(t, RG_GRU_RESET_AFTER, &(rg_recurrent_weights){ .w = x[1], .u = x[2] },
                            &(rg_recurrent_weights){ .w = x[3], .u = x[4] }, x[0], *(const rg_combine *)context);
}

static void ends_of_groups_and_both_directions_have_correct_gradients(void **state)
{
    (void)state;
    for (int reverse = 0; reverse < 2; reverse++) {
        bool back = reverse;
        rg_expect_gradient(&(rg_gradient_case){
            .name = "last_rows", .function = last_it, .context = &back, .input = { { 10, 3, &layouts[0] } } });
    }
    for (rg_combine how = RG_COMBINE_CONCAT; how <= RG_COMBINE_MULTIPLY; how++)
        rg_expect_gradient(
            &(rg_gradient_case){ .name = "bidirectional",
                                 .function = both_it,
                                 .context = &how,
                                 .plain_only = true,
                                 .input = { { 10, 3, &layouts[0] }, { 3, 9 }, { 3, 9 }, { 3, 9 }, { 3, 9 } } });
}

/* ------------------------------------------------------------------------------------------------ BPTT by its sum */

/* dL/dW of a vanilla RNN is also the explicit double sum over pairs of steps k <= j: the product of Jacobians
 * between them times the immediate derivative at k. L = sum_j v_j . h_j; the recursion and the sum must agree. */
static void backward_through_time_equals_the_explicit_double_sum(void **state)
{
    (void)state;
    enum { T = 6, U = 4 };
    rg_real xs[T * U], us[U * U], v[T * U];
    rg_test_fill(xs, T * U, 1, -1, 1);
    rg_test_fill(us, U * U, 2, -1, 1);
    rg_test_fill(v, T * U, 3, -1, 1);
    const int32_t   start[] = { 0, T };
    const rg_layout layout = { .groups = 1, .start = start };
    rg_tape_config  config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape        *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor *u = rg_input(t, us, U, U, NULL);
    rg_tensor *h = rg_recurrent(t, RG_RNN, &(rg_recurrent_weights){ .u = u }, rg_input(t, xs, T, U, &layout), NULL,
                                NULL, false, NULL);
    assert_int_equal(rg_tape_backward(t, rg_sum(t, rg_mul(t, h, rg_constant(t, v, T, U, NULL)))), RG_OK);
    double sum[U * U] = {0};
    for (int j = 0; j < T; j++) {
        double d[U]; /* v_j times the Jacobians from j down to k */
        for (int a = 0; a < U; a++) d[a] = v[j * U + a];
        for (int k = j; k >= 1; k--) { /* at k = 0 the state before is zero */
            double s[U], next[U] = {0};
            for (int a = 0; a < U; a++) s[a] = d[a] * (1 - pow(rg_tensor_at(h, (size_t)k, (size_t)a), 2));
            for (int b = 0; b < U; b++)
                for (int a = 0; a < U; a++) {
                    sum[b * U + a] += rg_tensor_at(h, (size_t)k - 1, (size_t)b) * s[a];
                    next[b] += us[b * U + a] * s[a];
                }
            memcpy(d, next, sizeof d);
        }
    }
    for (size_t i = 0; i < U * U; i++) assert_true(fabs(sum[i] - rg_tape_gradient(t, u)[i]) < 1e-10);
    rg_tape_free(t);
}

static void sizes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    for (int bad = 0; bad < 7; bad++) {
        rg_tape_reset(t, 0);
        rg_tensor *x = rg_zeros(t, 10, 12, bad == 5 ? NULL : &layouts[0]), *h0 = rg_zeros(t, bad == 3 ? 5 : 6, 3, NULL);
        rg_recurrent_weights w = { .u = rg_zeros(t, 3, bad == 0 ? 9 : 12, NULL),
                                   .w = bad == 1 ? rg_zeros(t, 11, 12, NULL) : NULL,
                                   .b = rg_zeros(t, 1, bad == 2 ? 3 : 12, NULL),
                                   .u_new = bad == 4 ? rg_zeros(t, 3, 3, NULL) : NULL };
        rg_tensor *h = rg_recurrent(t, RG_LSTM, &w, x, h0, NULL, false, NULL);
        assert_int_equal(h == NULL, bad < 6);
        assert_int_equal(rg_tape_status(t), bad == 5 ? RG_EINVAL : bad < 5 ? RG_ESHAPE : RG_OK);
    }
    rg_recurrence kind;
    assert_int_equal(rg_recurrence_find(&kind, "gru"), RG_OK);
    assert_int_equal(kind, RG_GRU);
    assert_int_equal(rg_recurrence_find(&kind, "grue"), RG_EINVAL);
    rg_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_read_a_layout_longest_group_first),
        cmocka_unit_test(every_kind_is_its_formula_in_both_directions_over_every_layout),
        cmocka_unit_test(every_kind_has_correct_gradients_of_tensors),
        cmocka_unit_test(every_kind_has_correct_gradients_of_packed_weights_at_odd_sizes),
        cmocka_unit_test(a_gradient_that_arrives_at_the_cells_alone_is_carried_back),
        cmocka_unit_test(cells_one_step_at_a_time_have_correct_gradients),
        cmocka_unit_test(ends_of_groups_and_both_directions_have_correct_gradients),
        cmocka_unit_test(backward_through_time_equals_the_explicit_double_sum),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
