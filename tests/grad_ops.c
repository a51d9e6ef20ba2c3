/* grad_ops.c - every op of ops.h against central differences, at odd sizes, with inputs worn in every way. */
#include "support/gradient.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const size_t sizes[][2] = { { 1, 1 },  { 1, 7 },  { 3, 1 },  { 3, 9 }, { 7, 3 },
                                   { 9, 17 }, { 17, 7 }, { 3, 31 }, { 5, 33 } };
enum { SIZES = sizeof sizes / sizeof *sizes };

static const int32_t ragged[] = { 0, 3, 3, 4, 9, 9 }; /* groups of 3, 0, 1, 5 and 0 rows */
static const rg_layout groups = { .groups = 5, .start = ragged };

#define OP1(name, call)                                                           \
    static rg_tensor *name(rg_tape *t, rg_tensor *const *x, void *context)         \
    {                                                                              \
        (void)context;                                                             \
        return call;                                                               \
    }

/* ------------------------------------------------------------------------------------------------- same shape in */

OP1(scale_it, rg_scale(t, x[0], -1.75))
OP1(shift_it, rg_shift(t, x[0], 0.5))
OP1(clamp_it, rg_clamp(t, x[0], -0.4, 0.6))
OP1(drop_it, rg_dropout(t, x[0], 0.4))
OP1(softmax_it, rg_softmax(t, x[0]))
OP1(log_softmax_it, rg_log_softmax(t, x[0]))
OP1(transpose_it, rg_transpose(t, x[0]))
OP1(sum_it, rg_sum(t, x[0]))
OP1(sum_columns_it, rg_sum_columns(t, x[0]))
OP1(sum_rows_it, rg_sum_rows(t, x[0]))
OP1(straight_it, rg_straight_through(t, x[0], x[0]))

static rg_tensor *map_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    return rg_map(t, x[0], *(const rg_activation *)context);
}

static void one_input(const char *name, rg_gradient_function *function, void *context, double low, double high)
{
    for (size_t i = 0; i < SIZES; i++)
        rg_expect_gradient(&(rg_gradient_case){ .name = name, .function = function, .context = context,
                                                .input = { { sizes[i][0], sizes[i][1], NULL, low, high } } });
}

static void every_activation_has_a_correct_gradient(void **state)
{
    (void)state;
    for (rg_activation f = RG_IDENTITY; f < RG_ACTIVATIONS; f++) {
        one_input(rg_activation_name(f), map_it, &f, f == RG_LOG ? 0.2 : -2, 2);
    }
}

static void ops_of_one_tensor_have_correct_gradients(void **state)
{
    (void)state;
    one_input("scale", scale_it, NULL, -1, 1);
    one_input("shift", shift_it, NULL, -1, 1);
    one_input("clamp", clamp_it, NULL, -1, 1);
    one_input("dropout", drop_it, NULL, -1, 1);
    one_input("softmax", softmax_it, NULL, -2, 2);
    one_input("log_softmax", log_softmax_it, NULL, -2, 2);
    one_input("transpose", transpose_it, NULL, -1, 1);
    one_input("sum", sum_it, NULL, -1, 1);
    one_input("sum_columns", sum_columns_it, NULL, -1, 1);
    one_input("sum_rows", sum_rows_it, NULL, -1, 1);
    one_input("straight_through of itself", straight_it, NULL, -1, 1);
}

/* ------------------------------------------------------------------------------------------------- two tensors in */

OP1(add_it, rg_add(t, x[0], x[1]))
OP1(sub_it, rg_sub(t, x[0], x[1]))
OP1(mul_it, rg_mul(t, x[0], x[1]))
OP1(square_it, rg_mul(t, x[0], x[0]))
OP1(double_it, rg_add(t, x[0], x[0]))
OP1(gram_it, rg_matmul_nt(t, x[0], x[0]))
OP1(power_it, rg_power(t, x[0], x[1]))
OP1(dot_rows_it, rg_dot_rows(t, x[0], x[1]))

static void two(const char *name, rg_gradient_function *function, size_t rows, size_t cols, size_t rows2, size_t cols2,
                double low)
{
    rg_expect_gradient(
        &(rg_gradient_case){ .name = name,
                             .function = function,
                             .input = { { rows, cols, NULL, low, 1.2 }, { rows2, cols2, NULL, low, 1.2 } } });
}

static void ops_of_two_tensors_have_correct_gradients_for_every_shape_they_accept(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        const size_t n = sizes[i][0], d = sizes[i][1];
        two("add same", add_it, n, d, n, d, -1);
        two("add row", add_it, n, d, 1, d, -1);
        two("add number", add_it, n, d, 1, 1, -1);
        two("sub", sub_it, n, d, n, d, -1);
        two("mul same", mul_it, n, d, n, d, -1);
        two("mul column", mul_it, n, d, n, 1, -1);
        two("mul row", mul_it, n, d, 1, d, -1);
        two("mul number", mul_it, n, d, 1, 1, -1);
        two("power same", power_it, n, d, n, d, 0.3);
        two("power column", power_it, n, d, n, 1, 0.3);
        two("dot_rows", dot_rows_it, n, d, n, d, -1);
    }
    one_input("x x", square_it, NULL, -1, 1);
    one_input("x + x", double_it, NULL, -1, 1);
    one_input("x x^T", gram_it, NULL, -1, 1);
}

/* ------------------------------------------------------------------------------------------------------- products */

OP1(matmul_it, rg_matmul(t, x[0], x[1]))
OP1(matmul_nt_it, rg_matmul_nt(t, x[0], x[1]))
static rg_tensor *linear_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    return rg_linear(t, x[0], x[1], x[2], *(const rg_activation *)context);
}
static rg_tensor *bias_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    return rg_bias_map(t, x[0], x[1], *(const rg_activation *)context);
}
OP1(linear_nt_it, rg_linear_nt(t, x[0], x[1], x[2]))

/* Rows of less and more than a block. */
static void a_bias_and_an_activation_in_one_pass_have_correct_gradients(void **state)
{
    (void)state;
    static const rg_activation all[] = { RG_IDENTITY, RG_RELU,     RG_LEAKY_RELU, RG_ELU,   RG_GELU,     RG_TANH,
                                         RG_SIGMOID,  RG_SOFTPLUS, RG_EXP,        RG_SWISH, RG_GELU_TANH };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t rows = 1; rows < 80; rows += 35) {
            rg_activation f = all[i];
            rg_expect_gradient(&(rg_gradient_case){
                .name = "bias", .function = bias_it, .context = &f, .input = { { rows, 3 }, { 1, 3 } } });
        }
}

static void products_of_tensors_have_correct_gradients(void **state)
{
    (void)state;
    static const size_t mkn[][3] = { { 1, 1, 1 },  { 1, 7, 3 },  { 3, 1, 9 },  { 7, 9, 1 },
                                     { 3, 17, 7 }, { 7, 3, 17 }, { 1, 31, 3 }, { 3, 3, 33 } };
    for (size_t i = 0; i < sizeof mkn / sizeof *mkn; i++) {
        const size_t M = mkn[i][0], K = mkn[i][1], N = mkn[i][2];
        two("matmul", matmul_it, M, K, K, N, -1);
        two("matmul_nt", matmul_nt_it, M, K, N, K, -1);
    }
    rg_expect_gradient(&(rg_gradient_case){
        .name = "linear_nt", .function = linear_nt_it, .input = { { 3, 7 }, { 9, 7 }, { 1, 9 } } });
    for (rg_activation f = RG_IDENTITY; f < RG_EXP; f++)
        rg_expect_gradient(&(rg_gradient_case){
            .name = "linear", .function = linear_it, .context = &f, .input = { { 3, 7 }, { 7, 9 }, { 1, 9 } } });
}

typedef struct {
    rg_param     *w, *b, *tied;
    rg_activation f;
    bool          twice; /* the same weight in two products: its gradients add up */
} weights;

static rg_tensor *packed_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    const weights *w = context;
    rg_tensor     *y = rg_linear(t, x[0], rg_use(t, w->w), w->b ? rg_use(t, w->b) : NULL, w->f);
    if (w->tied) y = rg_matmul_nt(t, rg_matmul(t, y, rg_use(t, w->tied)), rg_use(t, w->tied));
    return y;
}

static void products_with_packed_weights_have_correct_gradients(void **state)
{
    (void)state;
    static const size_t mkn[][3] = {
        { 1, 1, 1 }, { 1, 7, 17 }, { 3, 9, 16 }, { 9, 3, 33 }, { 7, 17, 7 }, { 2, 31, 3 }
    };
    for (size_t i = 0; i < sizeof mkn / sizeof *mkn; i++) {
        for (rg_activation f = RG_IDENTITY; f < RG_EXP; f++) {
            rg_params *params;
            assert_int_equal(rg_params_new(&params), RG_OK);
            weights w = { .f = f };
            w.w = rg_params_add(params, "w", RG_WEIGHT, mkn[i][1], mkn[i][2], RG_INIT_NORMAL, 0.3);
            w.b = f == RG_SIGMOID ? NULL : rg_params_add(params, "b", RG_VECTOR, 1, mkn[i][2], RG_INIT_NORMAL, 0.3);
            w.tied = f == RG_TANH ? rg_params_add(params, "e", RG_TIED, mkn[i][2], 5, RG_INIT_NORMAL, 0.3) : NULL;
            assert_int_equal(rg_params_build(params, 4), RG_OK);
            rg_expect_gradient(&(rg_gradient_case){ .name = "packed linear",
                                                    .function = packed_it,
                                                    .context = &w,
                                                    .params = params,
                                                    .input = { { mkn[i][0], mkn[i][1] } } });
            rg_params_free(params);
        }
    }
}

/* -------------------------------------------------------------------------------------------- columns, rows, index */

static const int32_t some_rows[] = { 4, -1, 0, 0, 2, 4 };

OP1(max_pairs_it, rg_max_pairs(t, x[0]))
OP1(glu_it, rg_glu(t, x[0]))
static const int32_t ssru_start[] = { 0, 3, 3, 4, 8 };
static const rg_layout ssru_groups = { .groups = 4, .start = ssru_start };

/* Groups of three rows, none, one and four; gates and inputs from one tensor. */
static rg_tensor *ssru_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    static const int32_t same[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    (void)context;
    rg_tensor *rows = rg_gather(t, x[0], same, 8, &ssru_groups);
    return rg_ssru(t, rg_sigmoid(t, rows), rg_gather(t, x[1], same, 8, &ssru_groups), NULL);
}
OP1(ssru_whole_it, rg_ssru(t, x[0], x[1], NULL))
OP1(ssru_step_it, rg_ssru(t, x[0], x[1], rg_constant(t, (const rg_real[]){ 1, 2, 3, 4, 5, 6 }, 2, 3, NULL)))
OP1(columns_it, rg_columns(t, x[0], 2, 3))
OP1(rows_it, rg_rows(t, x[0], 1, 3))
OP1(gather_it, rg_gather(t, x[0], some_rows, 6, NULL))
OP1(scatter_it, rg_scatter(t, x[0], some_rows, 7, NULL))
OP1(pick_it, rg_pick(t, x[0], (const int32_t[]){ 2, 0, -1, 6, 6 }))
OP1(concat_columns_it, rg_concat_columns(t, 3, (rg_tensor *const[]){ x[0], x[1], x[0] }))
OP1(concat_rows_it, rg_concat_rows(t, 3, (rg_tensor *const[]){ x[0], x[1], x[0] }))

static rg_tensor *split_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    (void)context;
    rg_tensor *own = rg_scale(t, x[0], 2), *part[3]; /* a tensor of its own: pieces write their gradient in place */
    rg_split(t, own, 3, part);
    rg_tensor *y = rg_add(t, rg_mul(t, part[0], part[2]), part[0]); /* piece 1 gets no gradient */
    return rg_concat_columns(t, 2, (rg_tensor *const[]){ y, own }); /* and the whole is used as well */
}

static rg_tensor *split_partly_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    (void)context;
    rg_tensor *part[3];
    rg_split(t, rg_tanh(t, x[0]), 3, part);
    return rg_mul(t, part[2], rg_columns(t, part[2], 1, 1)); /* pieces 0 and 1 unused: zeros must reach x */
}

static rg_tensor *buffer_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    (void)context;
    rg_tensor *buffer = rg_rows_new(t, 9, rg_tensor_cols(x[0]), NULL);
    rg_rows_put(t, buffer, (const int32_t[]){ 8, 0, 3, -1, 1 }, x[0]);
    rg_tensor *seen = rg_gather(t, buffer, (const int32_t[]){ 8, 3, 3 }, 3, NULL); /* a later step reads earlier rows */
    rg_rows_put(t, buffer, (const int32_t[]){ 2, 4, 5 }, rg_tanh(t, seen));
    return buffer;
}

static void ops_that_move_rows_and_columns_have_correct_gradients(void **state)
{
    (void)state;
    rg_expect_gradient(&(rg_gradient_case){ .name = "max_pairs", .function = max_pairs_it, .input = { { 3, 14 } } });
    rg_expect_gradient(&(rg_gradient_case){ .name = "ssru", .function = ssru_it, .input = { { 8, 5 }, { 8, 5 } } });
    rg_expect_gradient(
        &(rg_gradient_case){ .name = "ssru, one group", .function = ssru_whole_it, .input = { { 4, 3 }, { 4, 3 } } });
    rg_expect_gradient(
        &(rg_gradient_case){ .name = "ssru, a step", .function = ssru_step_it, .input = { { 2, 3 }, { 2, 3 } } });
    rg_expect_gradient(&(rg_gradient_case){ .name = "glu", .function = glu_it, .input = { { 3, 14 } } });
    rg_expect_gradient(&(rg_gradient_case){ .name = "columns", .function = columns_it, .input = { { 5, 7 } } });
    rg_expect_gradient(&(rg_gradient_case){ .name = "rows", .function = rows_it, .input = { { 5, 7 } } });
    rg_expect_gradient(&(rg_gradient_case){ .name = "gather", .function = gather_it, .input = { { 5, 7 } } });
    rg_expect_gradient(&(rg_gradient_case){ .name = "scatter", .function = scatter_it, .input = { { 6, 3 } } });
    rg_expect_gradient(&(rg_gradient_case){ .name = "pick", .function = pick_it, .input = { { 5, 7 } } });
    rg_expect_gradient(&(rg_gradient_case){
        .name = "concat_columns", .function = concat_columns_it, .input = { { 5, 7 }, { 5, 1 } } });
    rg_expect_gradient(
        &(rg_gradient_case){ .name = "concat_rows", .function = concat_rows_it, .input = { { 5, 7 }, { 1, 7 } } });
    rg_expect_gradient(&(rg_gradient_case){ .name = "split", .function = split_it, .input = { { 5, 9 } } });
    rg_expect_gradient(
        &(rg_gradient_case){ .name = "split partly used", .function = split_partly_it, .input = { { 3, 9 } } });
    rg_expect_gradient(&(rg_gradient_case){ .name = "write-once rows", .function = buffer_it, .input = { { 5, 7 } } });
}

/* --------------------------------------------------------------------------------------------------------- groups */

OP1(sum_groups_it, rg_sum_groups(t, x[0]))
OP1(mean_groups_it, rg_mean_groups(t, x[0]))
OP1(max_groups_it, rg_max_groups(t, x[0]))

static void reductions_of_groups_have_correct_gradients_with_empty_groups(void **state)
{
    (void)state;
    for (size_t cols = 1; cols <= 33; cols += 16) {
        rg_expect_gradient(
            &(rg_gradient_case){ .name = "sum_groups", .function = sum_groups_it, .input = { { 9, cols, &groups } } });
        rg_expect_gradient(&(rg_gradient_case){
            .name = "mean_groups", .function = mean_groups_it, .input = { { 9, cols, &groups } } });
        rg_expect_gradient(
            &(rg_gradient_case){ .name = "max_groups", .function = max_groups_it, .input = { { 9, cols, &groups } } });
    }
}

static void an_empty_group_gives_zeros(void **state)
{
    (void)state;
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t;
    rg_real        data[18];
    rg_test_fill(data, 18, 1, 1, 2);
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor *x = rg_input(t, data, 9, 2, &groups);
    rg_tensor *y[] = { rg_sum_groups(t, x), rg_mean_groups(t, x), rg_max_groups(t, x) };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(rg_tensor_rows(y[i]), 5);
        assert_true(rg_tensor_at(y[i], 1, 1) == 0 && rg_tensor_at(y[i], 4, 0) == 0);
        assert_true(rg_tensor_at(y[i], 3, 0) >= 1);
    }
    rg_tape_free(t);
}

/* ---------------------------------------------------------------------------------------------------------- norms */

OP1(layer_norm_it, rg_layer_norm(t, x[0], x[1], x[2], 1e-5))
OP1(add_norm_it, rg_add_norm(t, x[0], x[3], x[1], x[2], 1e-5))
OP1(add_norm_itself_it, rg_add_norm(t, x[0], x[0], x[1], x[2], 1e-5))

static void layer_norms_have_correct_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        const size_t n = sizes[i][0], d = sizes[i][1];
        if (d == 1) continue; /* a row of one number is its own mean */
        rg_gradient_case c = { .name = "layer_norm",
                               .function = layer_norm_it,
                               .input = { { n, d }, { 1, d }, { 1, d } } };
        rg_expect_gradient(&c);
        c.name = "add_norm of x and x", c.function = add_norm_itself_it;
        rg_expect_gradient(&c);
        c.name = "add_norm", c.function = add_norm_it, c.input[3] = (rg_gradient_input){ n, d };
        rg_expect_gradient(&c);
    }
}

/* --------------------------------------------------------------------------------------------------------- losses */

static const int32_t classes[] = { 2, 0, -1, 6, 6 };
static rg_tensor    *entropy_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    return rg_cross_entropy(t, x[0], classes, *(const double *)context);
}

static rg_tensor *binary_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    (void)context;
    rg_real target[35];
    rg_test_fill(target, 35, 3, 0, 1);
    return rg_binary_cross_entropy(t, x[0], target);
}

static rg_tensor *squared_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    (void)context;
    rg_real target[35];
    rg_test_fill(target, 35, 3, 0, 1);
    return rg_squared_error(t, x[0], target);
}

typedef struct {
    rg_param *table, *bias;
    double    smoothing, weight;
} over;

static rg_tensor *over_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    const over *o = context;
    rg_tensor  *w = rg_use(t, o->table), *b = o->bias ? rg_use(t, o->bias) : NULL;
    return rg_cross_entropy_over(t, rg_tanh(t, x[0]), w, b, classes, o->smoothing, o->weight);
}

static void losses_have_correct_gradients(void **state)
{
    (void)state;
    for (int smooth = 0; smooth < 2; smooth++) {
        double           smoothing = smooth ? 0.1 : 0;
        rg_gradient_case c = {
            .name = "cross_entropy", .function = entropy_it, .context = &smoothing, .input = { { 5, 7, NULL, -2, 2 } }
        };
        rg_expect_gradient(&c);
        for (int kind = 0; kind < 3; kind++) {
            rg_params *params;
            assert_int_equal(rg_params_new(&params), RG_OK);
            over o = { .smoothing = smoothing, .weight = kind ? 0.37 : 1 };
            o.table = rg_params_add(params, "table", kind == 2 ? RG_TABLE : RG_TIED, 33, 9, RG_INIT_NORMAL, 0.5);
            if (kind) o.bias = rg_params_add(params, "bias", RG_VECTOR, 1, 33, RG_INIT_NORMAL, 0.5);
            assert_int_equal(rg_params_build(params, 6), RG_OK);
            rg_expect_gradient(&(rg_gradient_case){ .name = "cross_entropy_over",
                                                    .function = over_it,
                                                    .context = &o,
                                                    .params = params,
                                                    .input = { { 5, 9 } } });
            rg_params_free(params);
        }
    }
    rg_expect_gradient(&(rg_gradient_case){
        .name = "binary_cross_entropy", .function = binary_it, .input = { { 5, 7, NULL, -3, 3 } } });
    rg_expect_gradient(&(rg_gradient_case){ .name = "squared_error", .function = squared_it, .input = { { 5, 7 } } });
}

/* ---------------------------------------------------------------------------------------------- embedding by gather */

typedef struct {
    rg_param *table;
} embedding;

static rg_tensor *embed_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    const embedding *e = context;
    rg_tensor       *rows = rg_gather(t, rg_use(t, e->table), (const int32_t[]){ 3, 8, 3, -1, 0 }, 5, NULL);
    return rg_mul(t, rows, x[0]);
}

static void an_embedding_table_gets_the_sum_of_its_rows_gradients(void **state)
{
    (void)state;
    rg_params *params;
    assert_int_equal(rg_params_new(&params), RG_OK);
    embedding e = { rg_params_add(params, "table", RG_TABLE, 9, 7, RG_INIT_NORMAL, 1) };
    assert_int_equal(rg_params_build(params, 6), RG_OK);
    rg_expect_gradient(&(rg_gradient_case){
        .name = "embedding", .function = embed_it, .context = &e, .params = params, .input = { { 5, 7 } } });
    rg_params_free(params);
}

/* -------------------------------------------------------------------------------------------- gradients by hand */

static void cube_backward(void *context, size_t rows, size_t cols, const rg_real *dy, size_t lddy, rg_real *dx,
                          size_t lddx)
{
    const rg_tensor *x = context;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            dx[i * lddx + j] += 3 * rg_tensor_at(x, i, j) * rg_tensor_at(x, i, j) * dy[i * lddy + j];
}

static rg_tensor *cube_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    (void)context;
    rg_real y[35];
    for (size_t i = 0; i < 35; i++) {
        const rg_real v = rg_tensor_at(x[0], i / 7, i % 7);
        y[i] = v * v * v;
    }
    return rg_custom(t, x[0], y, cube_backward, x[0]);
}

static void a_custom_backward_is_used(void **state)
{
    (void)state;
    rg_expect_gradient(&(rg_gradient_case){ .name = "custom", .function = cube_it, .input = { { 5, 7 } } });
}

static void a_reversed_gradient_is_the_negative_times_lambda(void **state)
{
    (void)state;
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t;
    const rg_real  data[] = { 1, -2, 3 };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor *x = rg_input(t, data, 1, 3, NULL), *y = rg_reverse_gradient(t, x, 0.5);
    assert_int_equal(rg_tape_backward(t, rg_sum(t, rg_mul(t, y, y))), RG_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_true(rg_tensor_at(y, 0, i) == data[i]);
        assert_true(rg_tape_gradient(t, x)[i] == -0.5 * 2 * data[i]);
    }
    rg_tape_free(t);
}

static void straight_through_has_the_numbers_of_one_and_the_gradient_of_the_other(void **state)
{
    (void)state;
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor *hard = rg_constant(t, (const rg_real[]){ 0, 1 }, 1, 2, NULL),
              *soft = rg_input(t, (const rg_real[]){ 0.4, 0.6 }, 1, 2, NULL);
    rg_tensor *y = rg_straight_through(t, hard, soft);
    assert_int_equal(rg_tape_backward(t, rg_sum(t, rg_scale(t, y, 3))), RG_OK);
    assert_true(rg_tensor_at(y, 0, 0) == 0 && rg_tensor_at(y, 0, 1) == 1);
    assert_true(rg_tape_gradient(t, soft)[0] == 3 && rg_tape_gradient(t, soft)[1] == 3);
    rg_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_activation_has_a_correct_gradient),
        cmocka_unit_test(ops_of_one_tensor_have_correct_gradients),
        cmocka_unit_test(ops_of_two_tensors_have_correct_gradients_for_every_shape_they_accept),
        cmocka_unit_test(a_bias_and_an_activation_in_one_pass_have_correct_gradients),
        cmocka_unit_test(products_of_tensors_have_correct_gradients),
        cmocka_unit_test(products_with_packed_weights_have_correct_gradients),
        cmocka_unit_test(ops_that_move_rows_and_columns_have_correct_gradients),
        cmocka_unit_test(reductions_of_groups_have_correct_gradients_with_empty_groups),
        cmocka_unit_test(an_empty_group_gives_zeros),
        cmocka_unit_test(layer_norms_have_correct_gradients),
        cmocka_unit_test(losses_have_correct_gradients),
        cmocka_unit_test(an_embedding_table_gets_the_sum_of_its_rows_gradients),
        cmocka_unit_test(a_custom_backward_is_used),
        cmocka_unit_test(a_reversed_gradient_is_the_negative_times_lambda),
        cmocka_unit_test(straight_through_has_the_numbers_of_one_and_the_gradient_of_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
