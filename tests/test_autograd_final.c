/* test_autograd_final.c - a gradient is marked as final when nothing can be added to it any more, not before and not only at
 * the end: tied parameters, weights of a loop, unused and frozen ones, inner passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "autograd/params.h"
#include "autograd/tape.h"

enum { ROWS = 7, WIDTH = 24, WORDS = 20, STEPS = 6, TIED = 0, FIRST, LOOP, GAIN, UNUSED, FROZEN, ENTRIES };

static const char *const name[ENTRIES] = { "tied", "first", "loop", "gain", "unused", "frozen" };

typedef struct net {
    rg_params *params;
    rg_grads  *grads;
    rg_param  *p[ENTRIES];
    rg_tape   *tape;
    bool       at_output[ENTRIES], at_loop[ENTRIES]; /* marks when backward passes the spies */
    rg_real    loop[WIDTH * WIDTH];                  /* its gradient at the second one        */
} net;

static void open_net(net *n)
{
    static const rg_param_kind kind[] = { RG_TIED, RG_WEIGHT, RG_WEIGHT, RG_VECTOR, RG_WEIGHT, RG_WEIGHT };
    static const size_t        rows[] = { WORDS, WIDTH, WIDTH, 1, WIDTH, WIDTH };
    memset(n, 0, sizeof *n);
    assert_int_equal(rg_params_new(&n->params), RG_OK);
    for (int i = 0; i < ENTRIES; i++)
        n->p[i] = rg_params_add(n->params, name[i], kind[i], rows[i], WIDTH, RG_INIT_GLOROT, 1);
    assert_int_equal(rg_params_build(n->params, 1), RG_OK);
    rg_params_freeze(n->params, "frozen", true);
    assert_int_equal(rg_grads_new(&n->grads, n->params), RG_OK);
    assert_int_equal(rg_grads__announce(n->grads), RG_OK);
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    config.grads = n->grads;
    assert_int_equal(rg_tape_new(&n->tape, &config), RG_OK);
}

static void close_net(net *n)
{
    rg_tape_free(n->tape);
    rg_grads_free(n->grads);
    rg_params_free(n->params);
}

static void pass_on(size_t rows, size_t cols, const rg_real *dy, size_t lddy, rg_real *dx, size_t lddx)
{
    rg_rows__axpy(rows, cols, dx, lddx, 1, dy, lddy, true);
}

static void note_output(void *context, size_t rows, size_t cols, const rg_real *dy, size_t lddy, rg_real *dx, size_t lddx)
{
    net *n = context;
    for (size_t i = 0; i < ENTRIES; i++) n->at_output[i] = rg_final_is(n->grads->final, i);
    pass_on(rows, cols, dy, lddy, dx, lddx);
}

static void note_loop(void *context, size_t rows, size_t cols, const rg_real *dy, size_t lddy, rg_real *dx, size_t lddx)
{
    net *n = context;
    for (size_t i = 0; i < ENTRIES; i++) n->at_loop[i] = rg_final_is(n->grads->final, i);
    memcpy(n->loop, n->grads->block + n->p[LOOP]->offset, sizeof n->loop);
    pass_on(rows, cols, dy, lddy, dx, lddx);
}

/* tied -> first, frozen -> spy -> loop x 6 -> spy -> gain -> tied */
static rg_tensor *loss_of(net *n)
{
    rg_tape *t = n->tape;
    int32_t  word[ROWS] = { 1, 4, 2, 8, 5, 7, 1 };
    rg_tape_reset(t, 1);
    rg_tensor *x = rg_gather(t, rg_use(t, n->p[TIED]), word, ROWS, NULL);
    rg_tensor *h = rg_linear(t, rg_matmul(t, x, rg_use(t, n->p[FIRST])), rg_use(t, n->p[FROZEN]), NULL, RG_TANH);
    h = rg_custom(t, h, rg_tensor_data(h), note_loop, n);
    for (int i = 0; i < STEPS; i++) h = rg_linear(t, h, rg_use(t, n->p[LOOP]), NULL, RG_TANH);
    h = rg_custom(t, h, rg_tensor_data(h), note_output, n);
    return rg_cross_entropy(t, rg_linear_nt(t, rg_mul(t, h, rg_use(t, n->p[GAIN])), rg_use(t, n->p[TIED]), NULL), word, 0);
}

static void expect_marks(const bool *marks, unsigned bits, const char *when)
{
    for (unsigned i = 0; i < ENTRIES; i++)
        if (marks[i] != (bits >> i & 1)) fail_msg("%s: '%s' is %sfinal", when, name[i], marks[i] ? "" : "not ");
}

static void gradients_are_marked_when_their_first_use_is_passed(void **state)
{
    net n;
    (void)state;
    open_net(&n);
    rg_tensor *loss = loss_of(&n);
    rg_tape__announce(n.tape);
    assert_int_equal(rg_tape_backward(n.tape, loss), RG_OK);
    expect_marks(n.at_output, 1 << GAIN | 1 << UNUSED | 1 << FROZEN, "behind the output");
    expect_marks(n.at_loop, 1 << LOOP | 1 << GAIN | 1 << UNUSED | 1 << FROZEN, "behind the loop");
    for (size_t i = 0; i < ENTRIES; i++) assert_true(rg_final_is(n.grads->final, i));
    assert_memory_equal(n.loop, n.grads->block + n.p[LOOP]->offset, sizeof n.loop); /* nothing came after the mark */
    close_net(&n);
}

static void marks_change_no_bit(void **state)
{
    net with, without;
    (void)state;
    open_net(&with);
    open_net(&without);
    rg_tensor *a = loss_of(&with), *b = loss_of(&without);
    rg_tape__announce(with.tape);
    assert_int_equal(rg_tape_backward(with.tape, a), RG_OK);
    assert_int_equal(rg_tape_backward(without.tape, b), RG_OK);
    assert_memory_equal(with.grads->block, without.grads->block, with.params->numbers * sizeof(rg_real));
    for (size_t i = 0; i < ENTRIES; i++) assert_false(rg_final_is(without.grads->final, i)); /* nobody asked */
    close_net(&with);
    close_net(&without);
}

static void an_inner_pass_marks_nothing(void **state)
{
    net n;
    (void)state;
    open_net(&n);
    rg_tensor     *outer = loss_of(&n);
    rg_tape_point *point = rg_tape_mark(n.tape);
    rg_tensor     *x = rg_input(n.tape, rg_param_data(n.p[FIRST]), WIDTH, WIDTH, NULL);
    rg_tensor     *inner = rg_sum(n.tape, rg_matmul(n.tape, x, rg_use(n.tape, n.p[UNUSED])));
    rg_tape__announce(n.tape);
    assert_int_equal(rg_tape_backward(n.tape, inner), RG_OK);
    for (size_t i = 0; i < ENTRIES; i++) assert_false(rg_final_is(n.grads->final, i));
    rg_tape_rewind(n.tape, point);
    rg_tape__announce(n.tape);
    assert_int_equal(rg_tape_backward(n.tape, outer), RG_OK);
    expect_marks(n.at_loop, 1 << LOOP | 1 << GAIN | 1 << UNUSED | 1 << FROZEN, "behind the loop");
    close_net(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_marked_when_their_first_use_is_passed),
        cmocka_unit_test(marks_change_no_bit),
        cmocka_unit_test(an_inner_pass_marks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
