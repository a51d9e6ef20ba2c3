/* grad_layers_recurrent.c - recurrent stacks: gradients of every parameter, steps equal to the whole, states carried
 * on. */
#include "regard/layers.h"
#include "support/gradient.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const int32_t   ragged_start[] = { 0, 3, 3, 7, 8 };
static const rg_layout ragged = { .groups = 4, .start = ragged_start };

static rg_tensor *run_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    rg_recurrent_states states = {0};
    rg_tensor          *y = rg_recurrent_stack_run(t, context, x[0], &states);
    const size_t        top = ((const rg_recurrent_stack *)context)->config.depth - 1;
    return rg_concat_rows(t, states.c[top] ? 3 : 2, (rg_tensor *const[]){ y, states.h[top], states.c[top] });
}

static void stacks_of_every_kind_have_correct_gradients_one_way_and_both_ways(void **state)
{
    (void)state;
    for (rg_recurrence kind = RG_RNN; kind < RG_RECURRENCES; kind++)
        for (int both = 0; both < 4; both++) {
            rg_recurrent_config config = RG_RECURRENT_CONFIG_DEFAULT;
            config.kind = kind, config.in = 3, config.width = 3, config.depth = 2, config.dropout = 0.2,
            config.uniform = both == 2 ? 0.5 : 0;
            config.bidirectional = both > 0, config.combine = both ? (rg_combine)(both - 1) : RG_COMBINE_CONCAT;
            rg_params         *params;
            rg_recurrent_stack stack;
            assert_int_equal(rg_params_new(&params), RG_OK);
            rg_recurrent_stack_init(&stack, params, "encoder", &config);
            assert_int_equal(rg_params_build(params, 3), RG_OK);
            assert_non_null(rg_params_find(params, both ? "encoder.1.back.u" : "encoder.1.u"));
            rg_expect_gradient(&(rg_gradient_case){ .name = rg_recurrence_name(kind),
                                                    .function = run_it,
                                                    .context = &stack,
                                                    .params = params,
                                                    .plain_only = true,
                                                    .input = { { 8, 3, &ragged } } });
            rg_params_free(params);
        }
}

static void the_bias_of_an_lstm_starts_with_its_forget_gates_open(void **state)
{
    (void)state;
    rg_recurrent_config config = RG_RECURRENT_CONFIG_DEFAULT;
    config.in = 3, config.width = 5;
    rg_params         *params;
    rg_recurrent_stack stack;
    assert_int_equal(rg_params_new(&params), RG_OK);
    rg_recurrent_stack_init(&stack, params, "r", &config);
    assert_int_equal(rg_params_build(params, 3), RG_OK);
    for (size_t j = 0; j < 20; j++) assert_true(rg_param_data(stack.ahead[0].b)[j] == (j / 5 == 1 ? 1 : 0));
    rg_params_free(params);
}

/* The same sentence whole, in two parts with the states carried on, and step by step. */
static void parts_and_steps_with_carried_states_equal_the_whole(void **state)
{
    (void)state;
    enum { T = 7, CUT = 3, D = 3, U = 5 };
    static const int32_t whole_start[] = { 0, T }, left_start[] = { 0, CUT }, right_start[] = { 0, T - CUT };
    const rg_layout      whole = { .groups = 1, .start = whole_start }, left = { .groups = 1, .start = left_start },
                    right = { .groups = 1, .start = right_start };
    rg_real         xs[T * D];
    rg_test_fill(xs, T * D, 1, -1, 1);
    for (rg_recurrence kind = RG_RNN; kind < RG_RECURRENCES; kind++) {
        rg_recurrent_config config = RG_RECURRENT_CONFIG_DEFAULT;
        config.kind = kind, config.in = D, config.width = U, config.depth = 3;
        rg_params         *params;
        rg_recurrent_stack stack;
        assert_int_equal(rg_params_new(&params), RG_OK);
        rg_recurrent_stack_init(&stack, params, "r", &config);
        assert_int_equal(rg_params_build(params, 3), RG_OK);
        rg_tape_config tape_config = { .record = false };
        rg_tape       *t;
        assert_int_equal(rg_tape_new(&t, &tape_config), RG_OK);
        rg_recurrent_states parts = {0}, steps = {0};
        rg_tensor          *y = rg_recurrent_stack_run(t, &stack, rg_constant(t, xs, T, D, &whole), NULL);
        rg_tensor          *a = rg_recurrent_stack_run(t, &stack, rg_constant(t, xs, CUT, D, &left), &parts);
        rg_tensor *b = rg_recurrent_stack_run(t, &stack, rg_constant(t, xs + CUT * D, T - CUT, D, &right), &parts);
        for (size_t i = 0; i < T; i++) {
            rg_tensor *s = rg_recurrent_stack_step(t, &stack, rg_constant(t, xs + i * D, 1, D, NULL), &steps);
            assert_int_equal(rg_tape_status(t), RG_OK);
            for (size_t j = 0; j < U; j++) {
                assert_true(rg_tensor_at(y, i, j) == rg_tensor_at(s, 0, j)); /* bit for bit */
                assert_true(rg_tensor_at(y, i, j) == (i < CUT ? rg_tensor_at(a, i, j) : rg_tensor_at(b, i - CUT, j)));
            }
        }
        rg_tape_free(t);
        rg_params_free(params);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_of_every_kind_have_correct_gradients_one_way_and_both_ways),
        cmocka_unit_test(the_bias_of_an_lstm_starts_with_its_forget_gates_open),
        cmocka_unit_test(parts_and_steps_with_carried_states_equal_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
