/* test_autograd.c - the tape itself: latched failures, switches, inner passes, costs, memory, and which bits may
 * change. */
#include "base/seams.h"
#include "regard/ops.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* ------------------------------------------------------------------------------------------------ a small network */

enum { ROWS = 37, WIDTH = 48, CLASSES = 33 };

typedef struct {
    rg_params *params;
    rg_grads  *grads;
    rg_param  *table, *w, *b, *gain, *bias, *out;
    rg_team   *team;
    rg_tape   *tape;
} net;

static rg_status net_open(net *n, bool dry, int members)
{
    *n = (net){0};
    RG_TRY(rg_params_new(&n->params));
    rg_params *p = n->params;
    rg_params_push(p, "encoder");
    n->table = rg_params_add(p, "table", RG_TABLE, 50, WIDTH, RG_INIT_NORMAL, 0.5);
    n->w = rg_params_add(p, "w", RG_WEIGHT, WIDTH, WIDTH, RG_INIT_GLOROT, 1);
    n->b = rg_params_add(p, "b", RG_VECTOR, 1, WIDTH, RG_INIT_ZERO, 0);
    n->gain = rg_params_add(p, "gain", RG_VECTOR, 1, WIDTH, RG_INIT_ONE, 0);
    n->bias = rg_params_add(p, "bias", RG_VECTOR, 1, WIDTH, RG_INIT_ZERO, 0);
    rg_params_pop(p);
    n->out = rg_params_add(p, "out", RG_TIED, CLASSES, WIDTH, RG_INIT_GLOROT, 1);
    RG_TRY(rg_params_build(p, 1));
    RG_TRY(rg_grads_new(&n->grads, p));
    RG_TRY(rg_team_new(&n->team, members));
    rg_tape_config config = {
        .record = true, .learn = true, .dry = dry, .seed = 3, .team = n->team, .grads = n->grads
    };
    return rg_tape_new(&n->tape, &config);
}

static void net_close(net *n)
{
    rg_tape_free(n->tape);
    rg_team_free(n->team);
    rg_grads_free(n->grads);
    rg_params_free(n->params);
}

static rg_tensor *net_logits(net *n, rg_tensor **out_embedded)
{
    rg_tape *t = n->tape;
    int32_t  token[ROWS];
    for (int i = 0; i < ROWS; i++) token[i] = (i * 7) % 50;
    rg_tensor *x = rg_gather(t, rg_use(t, n->table), token, ROWS, NULL);
    if (out_embedded) *out_embedded = x;
    rg_tensor *h = rg_dropout(t, rg_linear(t, x, rg_use(t, n->w), rg_use(t, n->b), RG_TANH), 0.25);
    h = rg_add_norm(t, x, h, rg_use(t, n->gain), rg_use(t, n->bias), 1e-5);
    return rg_matmul_nt(t, h, rg_use(t, n->out));
}

static rg_tensor *net_loss(net *n)
{
    int32_t target[ROWS];
    for (int i = 0; i < ROWS; i++) target[i] = i % 5 == 0 ? -1 : (i * 3) % CLASSES;
    return rg_cross_entropy(n->tape, net_logits(n, NULL), target, 0.1);
}

static rg_status net_step(net *n, uint64_t step)
{
    rg_tape_reset(n->tape, step);
    return rg_tape_backward(n->tape, net_loss(n));
}

/* --------------------------------------------------------------------------------------------------------- errors */

static void the_first_failure_stays_with_its_scope_and_NULL_flows_through(void **state)
{
    (void)state;
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t;
    rg_real        zeros[64] = {0};
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tape_push(t, "decoder");
    rg_tape_push(t, "%d", 2);
    rg_tensor *x = rg_input(t, zeros, 3, 5, NULL), *y = rg_input(t, zeros, 4, 5, NULL);
    rg_tensor *bad = rg_matmul(t, x, y);
    assert_null(bad);
    rg_tape_pop(t);
    assert_null(rg_tanh(t, bad));
    assert_null(rg_add(t, x, rg_sum_rows(t, bad))); /* nothing runs after a failure, not even what would fit */
    assert_null(rg_scale(t, x, 2));
    assert_int_equal(rg_tensor_rows(bad), 0);
    assert_null(rg_tensor_data(bad));
    assert_int_equal(rg_tape_backward(t, rg_sum(t, bad)), RG_ESHAPE);
    assert_non_null(strstr(rg_message(), "decoder.2.matmul: "));
    assert_non_null(strstr(rg_message(), "3 x 5"));
    assert_non_null(strstr(rg_message(), "4 x 5"));
    assert_int_equal(rg_tape_status(t), RG_ESHAPE);
    rg_tape_reset(t, 1);
    assert_int_equal(rg_tape_status(t), RG_OK);
    assert_non_null(rg_scale(t, rg_input(t, zeros, 3, 5, NULL), 2));
    rg_tape_free(t);
}

static void what_does_not_make_sense_is_refused_with_the_numbers(void **state)
{
    (void)state;
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t;
    rg_real        zeros[64] = {0};
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
#define REFUSED(call, status, words)                           \
    do {                                                       \
        rg_tape_reset(t, 0);                                   \
        rg_tensor *x = rg_input(t, zeros, 4, 6, NULL);         \
        assert_non_null(x);                                    \
        call;                                                  \
        assert_int_equal(rg_tape_status(t), status);           \
        assert_non_null(strstr(rg_message(), words));          \
    } while (0)
    REFUSED(rg_gather(t, x, (const int32_t[]){ 0, 4 }, 2, NULL), RG_EINVAL, "index 1 is 4");
    REFUSED(rg_gather(t, x, (const int32_t[]){ -2 }, 1, NULL), RG_EINVAL, "-2");
    REFUSED(rg_scatter(t, x, (const int32_t[]){ 0, 1, 2, 9 }, 5, NULL), RG_EINVAL, "9");
    REFUSED(rg_columns(t, x, 4, 3), RG_ESHAPE, "6");
    REFUSED(rg_columns(t, x, (size_t)-1, 2), RG_ESHAPE, "6");
    REFUSED(rg_rows(t, x, 5, 0), RG_ESHAPE, "4");
    REFUSED(rg_split(t, x, 4, (rg_tensor *[4]){0}), RG_ESHAPE, "4");
    REFUSED(rg_dropout(t, x, 1), RG_EINVAL, "1");
    REFUSED(rg_cross_entropy(t, x, (const int32_t[]){ 0, 1, 6, 2 }, 0), RG_EINVAL, "target 2 is 6");
    REFUSED(rg_mean_groups(t, x), RG_EINVAL, "layout");
    REFUSED(rg_sub(t, x, rg_rows(t, x, 0, 1)), RG_ESHAPE, "1 x 6");
    REFUSED(rg_zeros(t, (size_t)1 << 40, (size_t)1 << 40, NULL), RG_ELIMIT, "memory");
    REFUSED(rg_use(t, NULL), RG_EINVAL, "parameter");
#undef REFUSED
    rg_tape_reset(t, 0);
    assert_int_equal(rg_tape_backward(t, rg_input(t, zeros, 4, 6, NULL)), RG_ESHAPE);
    rg_tape_reset(t, 0);
    assert_int_equal(rg_tape_backward(t, rg_log_softmax(t, rg_input(t, (const rg_real[]){ NAN }, 1, 1, NULL))),
                     RG_ENUMBER);
    rg_tape_free(t);
}

/* ------------------------------------------------------------------------------------------ what gets a gradient */

/* A weight that a loop uses step by step gets the gradient that one use over all rows gives. */
static void a_weight_used_in_every_step_of_a_loop_gets_the_gradient_of_all_its_rows(void **state)
{
    (void)state;
    enum { STEPS = 6, EACH = 5 };
    rg_real together[WIDTH * WIDTH], bias[WIDTH];
    net     n;
    assert_int_equal(net_open(&n, false, 1), RG_OK);
    for (int loop = 0; loop < 2; loop++) {
        rg_tape *t = n.tape;
        int32_t  token[STEPS * EACH];
        rg_tape_reset(t, 1);
        for (int i = 0; i < STEPS * EACH; i++) token[i] = (i * 7) % 50;
        rg_tensor *x = rg_gather(t, rg_use(t, n.table), token, STEPS * EACH, NULL), *sum = NULL;
        for (size_t i = 0; i < (loop ? STEPS : 1); i++) {
            rg_tensor *some = loop ? rg_rows(t, x, i * EACH, EACH) : x;
            rg_tensor *y = rg_linear(t, some, rg_use(t, n.w), rg_use(t, n.b), RG_TANH);
            rg_tensor *part = rg_sum(t, rg_mul(t, y, y));
            sum = sum ? rg_add(t, sum, part) : part;
        }
        assert_int_equal(rg_tape_backward(t, sum), RG_OK);
        const rg_real *dw = rg_grads_of(n.grads, n.w), *db = rg_grads_of(n.grads, n.b);
        if (!loop) memcpy(together, dw, sizeof together), memcpy(bias, db, sizeof bias);
        for (size_t i = 0; loop && i < WIDTH * WIDTH; i++)
            assert_true(fabs((double)(dw[i] - together[i])) <= 2e-5 * fmax(1, fabs((double)together[i])));
        for (size_t i = 0; loop && i < WIDTH; i++)
            assert_true(fabs((double)(db[i] - bias[i])) <= 2e-5 * fmax(1, fabs((double)bias[i])));
    }
    net_close(&n);
}

static void a_detached_tensor_passes_no_gradient(void **state)
{
    (void)state;
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t;
    const rg_real  v[] = { 2, 3 };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor *x = rg_input(t, v, 1, 2, NULL);
    assert_int_equal(rg_tape_backward(t, rg_sum(t, rg_mul(t, x, rg_detach(t, x)))), RG_OK);
    assert_true(rg_tape_gradient(t, x)[0] == 2 && rg_tape_gradient(t, x)[1] == 3); /* not 2x */
    rg_tape_reset(t, 0);
    x = rg_input(t, v, 1, 2, NULL);
    assert_int_equal(rg_tape_backward(t, rg_sum(t, rg_detach(t, x))), RG_EINVAL); /* nothing that learns leads there */
    rg_tape_free(t);
}

static void a_frozen_parameter_gets_no_gradient_and_the_others_the_same(void **state)
{
    (void)state;
    net n;
    assert_int_equal(net_open(&n, false, 1), RG_OK);
    assert_int_equal(net_step(&n, 1), RG_OK);
    rg_real before[WIDTH];
    memcpy(before, rg_grads_of(n.grads, n.gain), sizeof before);
    assert_int_equal(rg_params_freeze(n.params, "encoder.w", true), 1);
    assert_int_equal(net_step(&n, 1), RG_OK);
    assert_null(rg_grads_of(n.grads, n.w));
    assert_non_null(rg_grads_of(n.grads, n.b));
    assert_memory_equal(before, rg_grads_of(n.grads, n.gain), sizeof before);
    assert_int_equal(rg_params_freeze(n.params, "*", true), 6);
    assert_int_equal(net_step(&n, 1), RG_EINVAL);
    net_close(&n);
}

static void without_recording_the_numbers_are_the_same_and_nothing_is_kept_for_backward(void **state)
{
    (void)state;
    net n;
    assert_int_equal(net_open(&n, false, 1), RG_OK);
    rg_tape_reset(n.tape, 4);
    const rg_real with = rg_tensor_at(net_loss(&n), 0, 0);
    rg_tape_reset(n.tape, 4);
    assert_true(rg_tape_record(n.tape, false));
    rg_tensor *loss = net_loss(&n);
    assert_true(rg_tensor_at(loss, 0, 0) == with);
    assert_int_equal(rg_tape_backward(n.tape, loss), RG_EINVAL);
    assert_false(rg_tape_record(n.tape, true));
    net_close(&n);
}

static void dropout_is_the_identity_when_not_learning(void **state)
{
    (void)state;
    rg_tape_config config = { .record = true, .learn = false };
    rg_tape       *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor *x = rg_input(t, (const rg_real[]){ 1, 2, 3 }, 1, 3, NULL), *y = rg_dropout(t, x, 0.9);
    for (size_t i = 0; i < 3; i++) assert_true(rg_tensor_at(y, 0, i) == rg_tensor_at(x, 0, i));
    rg_tape_free(t);
}

/* ----------------------------------------------------------------------------------------------------- inner passes */

static void an_inner_pass_gives_gradients_of_tensors_and_leaves_parameters_alone(void **state)
{
    (void)state;
    net n;
    assert_int_equal(net_open(&n, false, 1), RG_OK);
    assert_int_equal(net_step(&n, 2), RG_OK);
    rg_real plain[WIDTH * WIDTH];
    memcpy(plain, rg_grads_of(n.grads, n.w), sizeof plain);

    rg_tape_reset(n.tape, 2);
    rg_tensor     *loss = net_loss(&n);
    rg_tape_point *point = rg_tape_mark(n.tape);
    assert_non_null(point);
    rg_real   *noise = rg_tape_memory(n.tape, 2 * WIDTH * sizeof *noise);
    for (int i = 0; i < 2 * WIDTH; i++) noise[i] = (rg_real)(0.01 * i);
    rg_tensor *r = rg_input(n.tape, noise, 2, WIDTH, NULL);
    rg_tensor *inner = rg_sum(n.tape, rg_linear(n.tape, r, rg_use(n.tape, n.w), rg_use(n.tape, n.b), RG_TANH));
    assert_int_equal(rg_tape_backward(n.tape, inner), RG_OK);
    assert_non_null(rg_tape_gradient(n.tape, r));
    assert_null(rg_grads_of(n.grads, n.w));
    rg_tape_rewind(n.tape, point);

    assert_int_equal(rg_tape_backward(n.tape, loss), RG_OK); /* the outer pass goes on as if nothing had been */
    assert_memory_equal(plain, rg_grads_of(n.grads, n.w), sizeof plain);
    net_close(&n);
}

static void an_inner_pass_does_not_reach_tensors_before_the_mark(void **state)
{
    (void)state;
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor     *x = rg_input(t, (const rg_real[]){ 2 }, 1, 1, NULL), *y = rg_mul(t, x, x);
    rg_tape_point *point = rg_tape_mark(t);
    rg_tensor     *d = rg_input(t, (const rg_real[]){ 3 }, 1, 1, NULL);
    assert_int_equal(rg_tape_backward(t, rg_mul(t, y, d)), RG_OK);
    assert_true(rg_tape_gradient(t, d)[0] == 4);
    rg_tape_rewind(t, point);
    assert_null(rg_tape_gradient(t, y));
    assert_int_equal(rg_tape_backward(t, y), RG_OK);
    assert_true(rg_tape_gradient(t, x)[0] == 4);
    rg_tape_free(t);
}

/* ----------------------------------------------------------------------------------------------------------- costs */

static void a_dry_tape_counts_what_a_real_one_does(void **state)
{
    (void)state;
    net dry, real;
    assert_int_equal(net_open(&dry, true, 1), RG_OK);
    assert_int_equal(net_open(&real, false, 1), RG_OK);
    rg_tape_reset(dry.tape, 1);
    rg_tensor *loss = net_loss(&dry);
    assert_non_null(loss);
    assert_null(rg_tensor_data(loss));
    assert_int_equal(rg_tape_backward(dry.tape, loss), RG_OK);
    assert_int_equal(net_step(&real, 1), RG_OK);
    const rg_tape_cost a = rg_tape_get_cost(dry.tape), b = rg_tape_get_cost(real.tape);
    assert_true(a.flops == b.flops && a.flops >= 2.0 * ROWS * WIDTH * (WIDTH + CLASSES));
    assert_int_equal(a.depth, b.depth);
    assert_int_equal(a.ops, b.ops);
    assert_in_range(a.depth, 5, 9);
    assert_true((double)a.bytes > 0.85 * (double)b.bytes && (double)a.bytes < 1.25 * (double)b.bytes);
    net_close(&dry);
    net_close(&real);
}

static void after_the_first_step_nothing_is_allocated(void **state)
{
    (void)state;
    net n;
    assert_int_equal(net_open(&n, false, 2), RG_OK);
    assert_int_equal(net_step(&n, 1), RG_OK);
    rg_tape_reset(n.tape, 2);
    const size_t calls = rg_base__alloc_calls();
    for (uint64_t step = 2; step < 6; step++) assert_int_equal(net_step(&n, step), RG_OK);
    assert_int_equal(rg_base__alloc_calls(), calls);
    net_close(&n);
}

typedef struct {
    size_t left;
} allowance;

static bool refuse_when_used_up(void *context, size_t bytes)
{
    allowance *a = context;
    (void)bytes;
    if (a->left == 0) return true;
    a->left--;
    return false;
}

static void any_allocation_may_fail_and_nothing_leaks(void **state)
{
    (void)state;
    net warm;
    assert_int_equal(net_open(&warm, false, 1), RG_OK); /* whatever is made once a process */
    assert_int_equal(net_step(&warm, 1), RG_OK);
    net_close(&warm);
    const size_t blocks = rg_base__live_blocks();
    size_t       failures = 0;
    for (size_t allowed = 0;; allowed++) {
        allowance a = { allowed };
        net       n;
        rg_base__seam_alloc(refuse_when_used_up, &a);
        rg_status status = net_open(&n, false, 1);
        for (uint64_t step = 1; status == RG_OK && step < 4; step++) status = net_step(&n, step);
        rg_base__seam_alloc(NULL, NULL);
        net_close(&n);
        assert_int_equal(rg_base__live_blocks(), blocks);
        if (status == RG_OK) break;
        assert_int_equal(status, RG_ENOMEM);
        failures++;
        assert_in_range(allowed, 0, 200);
    }
    assert_in_range(failures, 8, 200);
}

static void a_tape_that_ran_out_of_memory_works_again_after_a_reset(void **state)
{
    (void)state;
    rg_tape_config config = { .record = true, .learn = true, .bytes = 4096 };
    rg_tape       *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    allowance none = { 0 };
    rg_base__seam_alloc(refuse_when_used_up, &none);
    assert_null(rg_zeros(t, 1000, 1000, NULL));
    rg_base__seam_alloc(NULL, NULL);
    assert_int_equal(rg_tape_status(t), RG_ENOMEM);
    rg_tape_reset(t, 1);
    assert_non_null(rg_zeros(t, 1000, 1000, NULL));
    rg_tape_free(t);
}

/* ------------------------------------------------------------------------------------------------------------ bits */

static void the_same_seed_gives_the_same_bits_whatever_the_team(void **state)
{
    (void)state;
    enum { ALL = 50 * WIDTH + WIDTH * WIDTH };
    static rg_real first[ALL];
    for (int run = 0; run < 4; run++) {
        net n;
        assert_int_equal(net_open(&n, false, run == 0 ? 1 : run), RG_OK);
        assert_int_equal(net_step(&n, 7), RG_OK);
        if (run == 0) memcpy(first, rg_grads_block(n.grads), sizeof first);
        else assert_memory_equal(first, rg_grads_block(n.grads), sizeof first);
        assert_int_equal(net_step(&n, 8), RG_OK); /* another step: another mask */
        assert_memory_not_equal(first, rg_grads_block(n.grads), sizeof first);
        net_close(&n);
    }
}

static void a_row_is_dropped_alike_in_whichever_share_of_the_batch_it_stands(void **state)
{
    (void)state;
    enum { N = 21, D = 13, CUT = 8 };
    static const int32_t whole_start[] = { 0, CUT, N }, left_start[] = { 0, CUT }, right_start[] = { 0, N - CUT };
    const rg_layout      whole = { .groups = 2, .start = whole_start };
    const rg_layout      left = { .groups = 1, .start = left_start },
                    right = { .groups = 1, .start = right_start, .first = CUT };
    rg_real              ones[N * D], y[N * D];
    for (int i = 0; i < N * D; i++) ones[i] = 1;
    rg_tape_config config = { .record = true, .learn = true, .seed = 5 };
    rg_tape       *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tape_reset(t, 9);
    memcpy(y, rg_tensor_data(rg_dropout(t, rg_input(t, ones, N, D, &whole), 0.5)), sizeof y);
    rg_tape_reset(t, 9);
    assert_memory_equal(y, rg_tensor_data(rg_dropout(t, rg_input(t, ones, CUT, D, &left), 0.5)), CUT * D * sizeof *y);
    rg_tape_reset(t, 9);
    assert_memory_equal(y + CUT * D, rg_tensor_data(rg_dropout(t, rg_input(t, ones, N - CUT, D, &right), 0.5)),
                        (N - CUT) * D * sizeof *y);
    int kept = 0;
    for (int i = 0; i < N * D; i++) kept += y[i] != 0;
    assert_in_range(kept, N * D / 3, 2 * N * D / 3);
    rg_tape_free(t);
}

/* --------------------------------------------------------------------------------------------------------- watching */

typedef struct {
    char   name[64];
    size_t rows, seen;
} sighting;

static bool wants_weights(void *context, const char *name)
{
    (void)context;
    return strstr(name, "weights") != NULL;
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    sighting *s = context;
    (void)reach;
    snprintf(s->name, sizeof s->name, "%s", name);
    s->rows = rg_tensor_rows(x);
    s->seen++;
}

static void a_watcher_sees_what_it_asked_for_by_full_name(void **state)
{
    (void)state;
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t;
    sighting       s = {0};
    rg_watcher     watcher = { &s, wants_weights, see };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor *x = rg_zeros(t, 3, 2, NULL);
    rg_tape_push(t, "cross");
    rg_tape_watch(t, "weights", x, NULL);
    assert_int_equal(s.seen, 0);
    rg_tape_set_watcher(t, &watcher);
    rg_tape_watch(t, "weights", x, NULL);
    rg_tape_watch(t, "scores", x, NULL);
    rg_tape_watch(t, "weights", NULL, NULL);
    assert_int_equal(s.seen, 1);
    assert_int_equal(s.rows, 3);
    assert_string_equal(s.name, "cross.weights");
    rg_tape_free(t);
}

/* dW of y = x w summed over several uses: rows that wait and rows that do not, gathered over two passes. */
static void a_weight_used_again_and_again_gets_the_sum_of_its_uses(void **state)
{
    (void)state;
    enum { K = 3, N = 2, MOST = 300 };
    static const size_t rows[] = { MOST, 5, 200, 7, 256, 257, 1 };
    static rg_real      x[MOST * K];
    for (size_t i = 0; i < MOST * K; i++) x[i] = (rg_real)(i % 7) - 3;
    rg_params *params;
    rg_grads  *grads;
    rg_tape   *t;
    assert_int_equal(rg_params_new(&params), RG_OK);
    rg_param *w = rg_params_add(params, "w", RG_WEIGHT, K, N, RG_INIT_ONE, 1);
    assert_int_equal(rg_params_build(params, 1), RG_OK);
    assert_int_equal(rg_grads_new(&grads, params), RG_OK);
    const rg_tape_config config = { .record = true, .learn = true, .grads = grads, .gather = true };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_grads_reset(grads);
    double expected[K] = { 0 };
    for (int pass = 0; pass < 2; pass++) {
        rg_tensor *loss = NULL;
        rg_tape_reset(t, (uint64_t)pass);
        for (size_t u = 0; u < sizeof rows / sizeof *rows; u++) {
            rg_tensor *sum = rg_sum(t, rg_matmul(t, rg_borrow(t, x, rows[u], K, K), rg_use(t, w)));
            loss = loss ? rg_add(t, loss, sum) : sum;
            for (size_t i = 0; i < rows[u] * K; i++) expected[i % K] += (double)x[i];
        }
        assert_non_null(loss);
        assert_int_equal(rg_tape_backward(t, loss), RG_OK);
    }
    for (size_t k = 0; k < K; k++)
        for (size_t j = 0; j < N; j++)
            assert_float_equal((float)rg_grads_of(grads, w)[k * N + j], (float)expected[k], 1e-3f);
    rg_tape_free(t);
    rg_grads_free(grads);
    rg_params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_failure_stays_with_its_scope_and_NULL_flows_through),
        cmocka_unit_test(what_does_not_make_sense_is_refused_with_the_numbers),
        cmocka_unit_test(a_weight_used_in_every_step_of_a_loop_gets_the_gradient_of_all_its_rows),
        cmocka_unit_test(a_detached_tensor_passes_no_gradient),
        cmocka_unit_test(a_frozen_parameter_gets_no_gradient_and_the_others_the_same),
        cmocka_unit_test(without_recording_the_numbers_are_the_same_and_nothing_is_kept_for_backward),
        cmocka_unit_test(dropout_is_the_identity_when_not_learning),
        cmocka_unit_test(an_inner_pass_gives_gradients_of_tensors_and_leaves_parameters_alone),
        cmocka_unit_test(an_inner_pass_does_not_reach_tensors_before_the_mark),
        cmocka_unit_test(a_dry_tape_counts_what_a_real_one_does),
        cmocka_unit_test(after_the_first_step_nothing_is_allocated),
        cmocka_unit_test(any_allocation_may_fail_and_nothing_leaks),
        cmocka_unit_test(a_tape_that_ran_out_of_memory_works_again_after_a_reset),
        cmocka_unit_test(the_same_seed_gives_the_same_bits_whatever_the_team),
        cmocka_unit_test(a_row_is_dropped_alike_in_whichever_share_of_the_batch_it_stands),
        cmocka_unit_test(a_watcher_sees_what_it_asked_for_by_full_name),
        cmocka_unit_test(a_weight_used_again_and_again_gets_the_sum_of_its_uses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
