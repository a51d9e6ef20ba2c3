/* test_recurrent.c - recurrence and convolution in float: bits that must not change, memory, costs. */
#include "base/seams.h"
#include "regard/conv.h"
#include "regard/layers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { IN = 40, WIDTH = 72, GROUPS = 5, ROWS = 33 };
static const int32_t   start[] = { 0, 7, 7, 20, 21, ROWS };
static const rg_layout layout = { .groups = GROUPS, .start = start };
static const int32_t   picture_start[] = { 0, ROWS };
static const rg_layout picture = { .groups = 1, .start = picture_start, .height = 3, .width = 11 };

typedef struct {
    rg_params         *params;
    rg_grads          *grads;
    rg_team           *team;
    rg_tape           *tape;
    rg_recurrent_stack stack;
    rg_param          *w, *b;
    rg_real            x[ROWS * IN];
} net;

static rg_status net_open(net *n, rg_recurrence kind, int members, bool dry)
{
    memset(n, 0, sizeof *n);
    rg_random random = rg_random_new(1, 1);
    for (size_t i = 0; i < ROWS * IN; i++) n->x[i] = (rg_real)rg_random_normal(&random);
    rg_recurrent_config config = RG_RECURRENT_CONFIG_DEFAULT;
    config.kind = kind, config.in = IN, config.width = WIDTH, config.depth = 2, config.bidirectional = true,
    config.dropout = 0.1;
    RG_TRY(rg_params_new(&n->params));
    rg_recurrent_stack_init(&n->stack, n->params, "encoder", &config);
    n->w = rg_params_add(n->params, "w", RG_WEIGHT, 9 * IN, IN, RG_INIT_GLOROT, 1);
    n->b = rg_params_add(n->params, "b", RG_VECTOR, 1, IN, RG_INIT_ZERO, 0);
    RG_TRY(rg_params_build(n->params, 1));
    RG_TRY(rg_grads_new(&n->grads, n->params));
    RG_TRY(rg_team_new(&n->team, members));
    rg_tape_config tape = { .record = true, .learn = true, .seed = 3, .team = n->team, .grads = n->grads, .dry = dry };
    return rg_tape_new(&n->tape, &tape);
}

static void net_close(net *n)
{
    rg_tape_free(n->tape);
    rg_team_free(n->team);
    rg_grads_free(n->grads);
    rg_params_free(n->params);
}

/* A picture is convolved and pooled, then its rows are read as sentences in both directions. */
static rg_tensor *net_run(net *n)
{
    rg_tape        *t = n->tape;
    const rg_window window = RG_WINDOW_DEFAULT;
    rg_tensor      *x = rg_input(t, n->x, ROWS, IN, &picture);
    x = rg_max_pool2d(t, rg_conv2d(t, x, rg_use(t, n->w), rg_use(t, n->b), RG_IDENTITY, &window), &window);
    rg_recurrent_states states = {0};
    rg_tensor          *y = rg_recurrent_stack_run(t, &n->stack, rg_with_layout(t, x, &layout), &states);
    return rg_add(t, rg_sum(t, rg_mul(t, y, y)), rg_sum(t, states.h[1]));
}

static rg_status net_step(net *n, uint64_t step)
{
    rg_tape_reset(n->tape, step);
    return rg_tape_backward(n->tape, net_run(n));
}

/* ------------------------------------------------------------------------------------------------------------ bits */

static void the_team_does_not_change_a_bit(void **state)
{
    (void)state;
    for (rg_recurrence kind = RG_RNN; kind < RG_RECURRENCES; kind++) {
        net one, more;
        assert_int_equal(net_open(&one, kind, 1, false), RG_OK);
        assert_int_equal(net_step(&one, 1), RG_OK);
        for (int members = 2; members < 4; members++) {
            assert_int_equal(net_open(&more, kind, members, false), RG_OK);
            assert_int_equal(net_step(&more, 1), RG_OK);
            for (size_t i = 0; i < rg_params_count(one.params); i++) {
                const rg_param *a = rg_params_at(one.params, i), *b = rg_params_at(more.params, i);
                assert_memory_equal(rg_grads_of(one.grads, a), rg_grads_of(more.grads, b),
                                    rg_param_rows(a) * rg_param_cols(a) * sizeof(rg_real));
            }
            net_close(&more);
        }
        net_close(&one);
    }
}

/* Eighty groups, some a step shorter: enough for members of a team to run through all steps of their own groups. */
enum { MANY = 80, LONG = 5, SHORT = 4, MANY_ROWS = MANY * LONG - SHORT };

static void groups_run_apart_on_a_team_without_changing_a_bit(void **state)
{
    (void)state;
    static rg_real x[MANY_ROWS * IN], h0[MANY * WIDTH], y[MANY_ROWS * WIDTH],
        gradient[2][(IN + WIDTH) * 4 * WIDTH + MANY_ROWS * IN + MANY * WIDTH];
    int32_t        many[MANY + 1] = { 0 };
    rg_random      random = rg_random_new(4, 1);
    for (size_t g = 0; g < MANY; g++) many[g + 1] = many[g] + (g % 20 == 3 ? LONG - 1 : LONG);
    assert_int_equal(many[MANY], MANY_ROWS);
    const rg_layout groups = { .groups = MANY, .start = many };
    for (size_t i = 0; i < MANY_ROWS * IN; i++) x[i] = (rg_real)rg_random_normal(&random);
    for (size_t i = 0; i < MANY * WIDTH; i++) h0[i] = (rg_real)rg_random_normal(&random);
    for (size_t i = 0; i < MANY_ROWS * WIDTH; i++) y[i] = (rg_real)rg_random_normal(&random);
    for (rg_recurrence kind = RG_RNN; kind < RG_RECURRENCES; kind++)
        for (int members = 1; members < 4; members++) {
            const size_t gu = rg_recurrence_gates(kind) * WIDTH, ru = kind == RG_GRU ? 2 * WIDTH : gu;
            rg_params   *params;
            rg_grads    *grads;
            rg_team     *team;
            rg_tape     *t;
            assert_int_equal(rg_params_new(&params), RG_OK);
            rg_param *part[] = { rg_params_add(params, "w", RG_WEIGHT, IN, gu, RG_INIT_GLOROT, 1),
                                 rg_params_add(params, "u", RG_WEIGHT, WIDTH, ru, RG_INIT_GLOROT, 1),
                                 kind == RG_GRU
                                     ? rg_params_add(params, "u_new", RG_WEIGHT, WIDTH, WIDTH, RG_INIT_GLOROT, 1)
                                     : NULL,
                                 rg_params_add(params, "x", RG_TABLE, MANY_ROWS, IN, RG_INIT_ZERO, 0),
                                 rg_params_add(params, "h0", RG_TABLE, MANY, WIDTH, RG_INIT_ZERO, 0) };
            assert_int_equal(rg_params_build(params, 9), RG_OK);
            memcpy(rg_param_data(part[3]), x, sizeof x);
            memcpy(rg_param_data(part[4]), h0, sizeof h0);
            assert_int_equal(rg_grads_new(&grads, params), RG_OK);
            assert_int_equal(rg_team_new(&team, members), RG_OK);
            assert_int_equal(
                rg_tape_new(&t, &(rg_tape_config){ .record = true, .learn = true, .team = team, .grads = grads }),
                RG_OK);
            const rg_recurrent_weights w = { .w = rg_use(t, part[0]),
                                             .u = rg_use(t, part[1]),
                                             .u_new = part[2] ? rg_use(t, part[2]) : NULL };
            rg_tensor *rows = rg_with_layout(t, rg_use(t, part[3]), &groups);
            rg_tensor *ahead = rg_recurrent(t, kind, &w, rows, rg_use(t, part[4]), NULL, false, NULL);
            rg_tensor *back = rg_recurrent(t, kind, &w, rows, rg_use(t, part[4]), NULL, true, NULL);
            assert_int_equal(rg_tape_backward_from(t, rg_add(t, ahead, back), y), RG_OK);
            size_t   at = 0;
            rg_real *all = gradient[members > 1];
            for (size_t i = 0; i < 5; i++) {
                if (!part[i]) continue;
                const size_t n = rg_param_rows(part[i]) * rg_param_cols(part[i]);
                memcpy(all + at, rg_grads_of(grads, part[i]), n * sizeof *all);
                at += n;
            }
            if (members > 1) assert_memory_equal(gradient[0], gradient[1], at * sizeof *all);
            rg_tape_free(t);
            rg_team_free(team);
            rg_grads_free(grads);
            rg_params_free(params);
        }
}

static void a_group_has_the_same_bits_alone_and_among_others(void **state)
{
    (void)state;
    for (rg_recurrence kind = RG_RNN; kind < RG_RECURRENCES; kind++) {
        net n;
        assert_int_equal(net_open(&n, kind, 1, false), RG_OK);
        rg_tape_learn(n.tape, false);
        rg_tensor *all = rg_recurrent_stack_run(n.tape, &n.stack, rg_input(n.tape, n.x, ROWS, IN, &layout), NULL);
        assert_non_null(all);
        for (size_t g = 0; g < GROUPS; g++) {
            const size_t    from = (size_t)start[g], rows = (size_t)start[g + 1] - from;
            const int32_t   own_start[] = { 0, (int32_t)rows };
            const rg_layout own = { .groups = 1, .start = own_start };
            rg_tensor      *y =
                rg_recurrent_stack_run(n.tape, &n.stack, rg_input(n.tape, n.x + from * IN, rows, IN, &own), NULL);
            assert_int_equal(rg_tape_status(n.tape), RG_OK);
            if (rows)
                assert_memory_equal(rg_tensor_row(all, from), rg_tensor_data(y), rows * 2 * WIDTH * sizeof(rg_real));
        }
        net_close(&n);
    }
}

/* ---------------------------------------------------------------------------------------------------------- memory */

static void after_the_first_step_nothing_is_allocated(void **state)
{
    (void)state;
    net n;
    assert_int_equal(net_open(&n, RG_LSTM, 2, false), RG_OK);
    assert_int_equal(net_step(&n, 1), RG_OK);
    rg_tape_reset(n.tape, 2);
    const size_t calls = rg_base__alloc_calls();
    for (uint64_t step = 2; step < 5; step++) assert_int_equal(net_step(&n, step), RG_OK);
    assert_int_equal(rg_base__alloc_calls(), calls);
    net_close(&n);
}

static bool refuse_when_used_up(void *context, size_t bytes)
{
    size_t *left = context;
    (void)bytes;
    return *left == 0 || (--*left, false);
}

static void any_allocation_may_fail_and_nothing_leaks(void **state)
{
    (void)state;
    static net n;
    for (rg_recurrence kind = RG_RNN; kind < RG_RECURRENCES; kind++) {
        assert_int_equal(net_open(&n, kind, 1, false), RG_OK); /* what is made once a process */
        assert_int_equal(net_step(&n, 1), RG_OK);
        net_close(&n);
        const size_t blocks = rg_base__live_blocks();
        size_t       failures = 0;
        for (rg_status status = RG_ENOMEM; status != RG_OK; failures++) {
            size_t left = failures;
            rg_base__seam_alloc(refuse_when_used_up, &left);
            status = net_open(&n, kind, 1, false);
            for (uint64_t step = 1; status == RG_OK && step < 3; step++) status = net_step(&n, step);
            rg_base__seam_alloc(NULL, NULL);
            net_close(&n);
            assert_int_equal(rg_base__live_blocks(), blocks);
            assert_true(status == RG_OK || status == RG_ENOMEM);
            assert_in_range(failures, 0, 300);
        }
        assert_in_range(failures, 10, 300);
    }
}

/* ----------------------------------------------------------------------------------------------------------- costs */

static void a_dry_tape_counts_what_a_real_one_does_and_depth_grows_with_length(void **state)
{
    (void)state;
    for (rg_recurrence kind = RG_RNN; kind < RG_RECURRENCES; kind++) {
        net dry, real;
        assert_int_equal(net_open(&dry, kind, 1, true), RG_OK);
        assert_int_equal(net_open(&real, kind, 1, false), RG_OK);
        assert_int_equal(net_step(&dry, 1), RG_OK);
        assert_int_equal(net_step(&real, 1), RG_OK);
        const rg_tape_cost a = rg_tape_get_cost(dry.tape), b = rg_tape_get_cost(real.tape);
        assert_true(a.flops == b.flops);
        assert_int_equal(a.depth, b.depth);
        assert_int_equal(a.ops, b.ops);
        assert_true(a.depth >= 2 * 13); /* two layers over a longest group of 13 rows */
        if (!((double)a.bytes > 0.8 * (double)b.bytes && (double)a.bytes < 1.3 * (double)b.bytes))
            fail_msg("%s: the dry tape says %zu bytes, the real one took %zu", rg_recurrence_name(kind), a.bytes,
                     b.bytes);
        net_close(&dry);
        net_close(&real);
    }
}

/* States of one sequence of six rows, of which the last is changed by `change`. */
static void states_of(rg_real *first, rg_recurrence kind, bool both, double change)
{
    enum { T = 6 };
    static const int32_t ends[] = { 0, T };
    const rg_layout      six = { .groups = 1, .start = ends };
    const rg_tape_config tape = { .record = false };
    rg_recurrent_config  config = RG_RECURRENT_CONFIG_DEFAULT;
    rg_recurrent_stack   stack;
    rg_params           *params;
    rg_tape             *t;
    rg_real              x[T * IN];
    rg_random            random = rg_random_new(5, 1);
    for (size_t i = 0; i < T * IN; i++) x[i] = (rg_real)(rg_random_normal(&random) + (i / IN == T - 1 ? change : 0));
    config.kind = kind, config.in = IN, config.width = WIDTH, config.bidirectional = both;
    assert_int_equal(rg_params_new(&params), RG_OK);
    rg_recurrent_stack_init(&stack, params, "encoder", &config);
    assert_int_equal(rg_params_build(params, 1), RG_OK);
    assert_int_equal(rg_tape_new(&t, &tape), RG_OK);
    const rg_tensor *h = rg_recurrent_stack_run(t, &stack, rg_constant(t, x, T, IN, &six), NULL);
    assert_int_equal(rg_tape_status(t), RG_OK);
    for (size_t j = 0; j < rg_tensor_cols(h); j++) first[j] = rg_tensor_at(h, 0, j);
    rg_tape_free(t);
    rg_params_free(params);
}

/* A network of both directions is no longer causal. */
static void the_first_state_depends_on_the_last_word_in_both_directions_alone(void **state)
{
    (void)state;
    for (rg_recurrence kind = 0; kind < RG_RECURRENCES; kind++) {
        rg_real a[2 * WIDTH], b[2 * WIDTH];
        states_of(a, kind, false, 0);
        states_of(b, kind, false, 1);
        assert_memory_equal(a, b, WIDTH * sizeof *a); /* no bit */
        states_of(a, kind, true, 0);
        states_of(b, kind, true, 1);
        assert_memory_equal(a, b, WIDTH * sizeof *a); /* the half that reads forwards */
        assert_memory_not_equal(a + WIDTH, b + WIDTH, WIDTH * sizeof *a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_team_does_not_change_a_bit),
        cmocka_unit_test(groups_run_apart_on_a_team_without_changing_a_bit),
        cmocka_unit_test(a_group_has_the_same_bits_alone_and_among_others),
        cmocka_unit_test(after_the_first_step_nothing_is_allocated),
        cmocka_unit_test(any_allocation_may_fail_and_nothing_leaks),
        cmocka_unit_test(the_first_state_depends_on_the_last_word_in_both_directions_alone),
        cmocka_unit_test(a_dry_tape_counts_what_a_real_one_does_and_depth_grows_with_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
