/* grad_pictures.c - what pictures and soft targets need beside convolution: rows joined and split, the largest
 * columns, losses of rows and of distributions. Gradients against central differences, numbers against plain loops. */
#include "support/gradient.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-12)

#define OP(name, call)                                                     \
    static rg_tensor *name(rg_tape *t, rg_tensor *const *x, void *context) \
    {                                                                      \
        (void)context;                                                     \
        return call;                                                       \
    }

static rg_tape *new_tape(bool record)
{
    rg_tape             *t = NULL;
    const rg_tape_config config = { .record = record };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    return t;
}

/* ------------------------------------------------------------------------------------------------------ joined rows */

OP(join_it, rg_join_rows(t, x[0], 3))
OP(split_it, rg_split_rows(t, x[0], 3))
OP(there_and_back_it, rg_split_rows(t, rg_tanh(t, rg_join_rows(t, rg_tanh(t, x[0]), 2)), 4))

static void joined_and_split_rows_have_correct_gradients(void **state)
{
    (void)state;
    rg_expect_gradient(&(rg_gradient_case){ .name = "join_rows", .function = join_it, .input = { { 6, 5 } } });
    rg_expect_gradient(&(rg_gradient_case){ .name = "split_rows", .function = split_it, .input = { { 4, 9 } } });
    rg_expect_gradient(
        &(rg_gradient_case){ .name = "there and back", .function = there_and_back_it, .input = { { 6, 6 } } });
}

static void joined_rows_keep_their_order_and_groups(void **state)
{
    (void)state;
    rg_tape         *t = new_tape(false);
    rg_real          numbers[24];
    rg_layout       *two = rg_tape_pictures(t, 2, 2, 3);
    for (int i = 0; i < 24; i++) numbers[i] = (rg_real)i;
    rg_tensor *pixels = rg_constant(t, numbers, 12, 2, two), *rows = rg_join_rows(t, pixels, 6),
              *lines = rg_join_rows(t, pixels, 3);
    assert_int_equal(rg_tensor_rows(rows), 2);
    assert_int_equal(rg_tensor_cols(rows), 12);
    for (size_t i = 0; i < 24; i++) assert_true(rg_tensor_at(rows, i / 12, i % 12) == numbers[i]);
    assert_int_equal(rg_tensor_layout(lines)->groups, 2);
    assert_int_equal(rg_tensor_layout(lines)->start[1], 2);
    assert_int_equal(rg_tensor_layout(lines)->height, 0);
    rg_tensor *again = rg_with_layout(t, rg_split_rows(t, rows, 6), two);
    assert_int_equal(rg_tensor_layout(again)->width, 3);
    for (size_t i = 0; i < 24; i++) assert_true(rg_tensor_at(again, i / 2, i % 2) == numbers[i]);
    assert_null(rg_tensor_layout(rg_join_rows(t, pixels, 4))); /* a group of six does not divide */
    assert_null(rg_join_rows(t, pixels, 5));
    assert_int_equal(rg_tape_status(t), RG_ESHAPE);
    rg_tape_free(t);
}

static void pictures_after_pictures_are_pictures(void **state)
{
    (void)state;
    rg_tape      *t = new_tape(false);
    const rg_real zeros[24] = { 0 };
    rg_tensor    *two = rg_constant(t, zeros, 12, 2, rg_tape_pictures(t, 2, 2, 3)),
              *one = rg_constant(t, zeros, 6, 2, rg_tape_pictures(t, 1, 2, 3));
    rg_tensor *tall = rg_constant(t, zeros, 6, 2, rg_tape_pictures(t, 1, 3, 2)),
              *rows = rg_constant(t, zeros, 6, 2, NULL);
    const rg_layout *three = rg_tensor_layout(rg_concat_rows(t, 2, (rg_tensor *[]){ two, one }));
    assert_int_equal(three->groups, 3);
    for (int32_t g = 0; g <= 3; g++) assert_int_equal(three->start[g], 6 * g);
    assert_int_equal(three->height, 2);
    assert_int_equal(three->width, 3);
    const rg_layout *mixed = rg_tensor_layout(rg_concat_rows(t, 2, (rg_tensor *[]){ two, tall }));
    assert_true(mixed->groups == 3 && mixed->height == 0 && mixed->start[3] == 18);
    assert_null(rg_tensor_layout(rg_concat_rows(t, 2, (rg_tensor *[]){ two, rows })));
    const rg_layout wrong = { .groups = 2, .start = (const int32_t[]){ 0, 6, 12 }, .height = 3, .width = 3 };
    assert_null(rg_with_layout(t, two, &wrong));
    assert_int_equal(rg_tape_status(t), RG_ESHAPE);
    rg_tape_free(t);
}

/* -------------------------------------------------------------------------------------------------- largest columns */

OP(top_it, rg_top_columns(t, x[0], 3, NULL))
OP(top_all_it, rg_top_columns(t, x[0], 7, NULL))

static void the_largest_columns_have_correct_gradients(void **state)
{
    (void)state;
    rg_expect_gradient(&(rg_gradient_case){ .name = "top 3", .function = top_it, .input = { { 5, 17 } } });
    rg_expect_gradient(&(rg_gradient_case){ .name = "top of all", .function = top_all_it, .input = { { 5, 7 } } });
}

static void the_largest_columns_fall_and_equals_stand_from_left_to_right(void **state)
{
    (void)state;
    rg_tape         *t = new_tape(false);
    const rg_real    x[2][6] = { { 1, 5, 2, 5, 0, 2 }, { (rg_real)NAN, 1, -(rg_real)INFINITY, 3, (rg_real)NAN, 2 } };
    const int32_t   *column, want[2][5] = { { 1, 3, 2, 5, 0 }, { 3, 5, 1, 2, 0 } };
    const rg_tensor *y = rg_top_columns(t, rg_constant(t, x[0], 2, 6, NULL), 5, &column);
    assert_non_null(y);
    assert_memory_equal(column, want, sizeof want);
    for (size_t i = 0; i < 2; i++)
        for (size_t r = 0; r < 4; r++) assert_true(rg_tensor_at(y, i, r) == x[i][want[i][r]]);
    assert_null(rg_top_columns(t, rg_constant(t, x[0], 2, 6, NULL), 7, &column));
    assert_null(column);
    rg_tape_free(t);
}

/* ----------------------------------------------------------------------------------------------------------- losses */

static const int32_t classes[] = { 3, 0, -1, 6, 3 };
static const rg_real weights[] = { 1, 0.5, 2, 0, 3 };

OP(rows_it, rg_cross_entropy_rows(t, x[0], classes, 0.1, weights))
OP(squared_rows_it, rg_sum(t, rg_power(t, rg_cross_entropy_rows(t, x[0], classes, 0, NULL), x[1])))
OP(soft_it, rg_soft_cross_entropy(t, x[0], x[1], weights))
OP(soft_of_soft_it, rg_soft_cross_entropy(t, x[0], rg_softmax(t, x[1]), NULL))
OP(divergence_it, rg_scale(t, rg_divergence(t, x[0], x[1], weights), 0.7))
OP(own_divergence_it, rg_divergence(t, x[0], rg_tanh(t, x[0]), NULL))

static void losses_of_rows_and_distributions_have_correct_gradients(void **state)
{
    (void)state;
    const rg_gradient_input logits = { 5, 7, NULL, -2, 2 }, shares = { 5, 7, NULL, 0, 1 };
    rg_expect_gradient(&(rg_gradient_case){ .name = "cross_entropy_rows", .function = rows_it, .input = { logits } });
    rg_expect_gradient(&(rg_gradient_case){ .name = "powers of row losses", .function = squared_rows_it,
                                            .input = { logits, { 5, 1, NULL, 2, 3 } }, .plain_only = true });
    rg_expect_gradient(
        &(rg_gradient_case){ .name = "soft_cross_entropy", .function = soft_it, .input = { logits, shares } });
    rg_expect_gradient(
        &(rg_gradient_case){ .name = "of a softmax", .function = soft_of_soft_it, .input = { logits, logits } });
    rg_expect_gradient(
        &(rg_gradient_case){ .name = "divergence", .function = divergence_it, .input = { logits, logits } });
    rg_expect_gradient(
        &(rg_gradient_case){ .name = "divergence from itself", .function = own_divergence_it, .input = { logits } });
}

typedef struct {
    rg_param *w, *b;
} table;

static rg_tensor *over_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    const table *o = context;
    return rg_cross_entropy_over_rows(t, rg_tanh(t, x[0]), rg_use(t, o->w), rg_use(t, o->b), classes, 0.1, weights,
                                      NULL);
}

static void a_weighted_loss_over_a_table_has_correct_gradients(void **state)
{
    (void)state;
    rg_params *params;
    table      o;
    assert_int_equal(rg_params_new(&params), RG_OK);
    o.w = rg_params_add(params, "w", RG_TIED, 7, 3, RG_INIT_NORMAL, 1);
    o.b = rg_params_add(params, "b", RG_VECTOR, 1, 7, RG_INIT_NORMAL, 1);
    assert_int_equal(rg_params_build(params, 1), RG_OK);
    rg_expect_gradient(&(rg_gradient_case){ .name = "cross_entropy_over_rows",
                                            .function = over_it,
                                            .context = &o,
                                            .params = params,
                                            .input = { { 5, 3 } } });
    rg_params_free(params);
}

static void weights_and_losses_of_rows_agree_between_both_cross_entropies(void **state)
{
    (void)state;
    rg_tape   *t = new_tape(false);
    rg_real    xs[15], ws[21], sum = 0;
    rg_tensor *each = NULL;
    rg_test_fill(xs, 15, 1, -1, 1);
    rg_test_fill(ws, 21, 2, -1, 1);
    rg_tensor       *x = rg_constant(t, xs, 5, 3, NULL), *w = rg_constant(t, ws, 7, 3, NULL);
    const rg_tensor *all = rg_cross_entropy_over_rows(t, x, w, NULL, classes, 0.1, weights, &each);
    const rg_tensor *rows = rg_cross_entropy_rows(t, rg_linear_nt(t, x, w, NULL), classes, 0.1, weights);
    for (size_t i = 0; i < 5; i++) {
        assert_near(rg_tensor_at(each, i, 0), rg_tensor_at(rows, i, 0));
        sum += rg_tensor_at(rows, i, 0);
    }
    assert_near(rg_tensor_at(all, 0, 0), sum);
    assert_true(rg_tensor_at(rows, 2, 0) == 0 && rg_tensor_at(rows, 3, 0) == 0 && rg_tensor_at(rows, 4, 0) > 0);
    rg_tape_free(t);
}

static void a_divergence_is_zero_from_itself_and_skips_classes_without_a_share(void **state)
{
    (void)state;
    rg_tape      *t = new_tape(false);
    const rg_real a[2][3] = { { 1, 2, 3 }, { 0, 0, -(rg_real)INFINITY } }, b[2][3] = { { 1, 2, 3 }, { 0, 0, 0 } };
    rg_tensor    *x = rg_constant(t, a[0], 2, 3, NULL), *y = rg_constant(t, b[0], 2, 3, NULL);
    assert_near(rg_tensor_at(rg_divergence(t, x, x, (const rg_real[]){ 1, 0 }), 0, 0), 0);
    assert_near(rg_tensor_at(rg_divergence(t, x, y, NULL), 0, 0), log(1.5)); /* 2 times 1/2 log (1/2 / 1/3) */
    assert_null(rg_divergence(t, x, rg_constant(t, b[0], 1, 3, NULL), NULL));
    assert_int_equal(rg_tape_status(t), RG_ESHAPE);
    rg_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_and_split_rows_have_correct_gradients),
        cmocka_unit_test(joined_rows_keep_their_order_and_groups),
        cmocka_unit_test(pictures_after_pictures_are_pictures),
        cmocka_unit_test(the_largest_columns_have_correct_gradients),
        cmocka_unit_test(the_largest_columns_fall_and_equals_stand_from_left_to_right),
        cmocka_unit_test(losses_of_rows_and_distributions_have_correct_gradients),
        cmocka_unit_test(a_weighted_loss_over_a_table_has_correct_gradients),
        cmocka_unit_test(weights_and_losses_of_rows_agree_between_both_cross_entropies),
        cmocka_unit_test(a_divergence_is_zero_from_itself_and_skips_classes_without_a_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
