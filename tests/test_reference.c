/* test_reference.c - layers and losses against vectors from PyTorch (tests/reference/make_reference.py), forward and
 * backward. */
#include "regard/conv.h"
#include "regard/recurrent.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MATRICES = 16, NUMBERS = 512 };

typedef struct {
    char    name[32];
    size_t  rows, cols;
    rg_real x[NUMBERS];
} matrix;

typedef struct {
    const char *name;
    size_t      count;
    matrix      m[MATRICES];
} reference;

static const int32_t   sentence_start[] = { 0, 4, 5, 8 }, picture_start[] = { 0, 20, 40 };
static const rg_layout sentences = { .groups = 3, .start = sentence_start };
static const rg_layout pictures = { .groups = 2, .start = picture_start, .height = 5, .width = 4 };

static void load(reference *r, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/reference/%s.txt", SOURCE_DIR, name);
    FILE *f = fopen(path, "r");
    if (!f) fail_msg("%s: no such file", path);
    *r = (reference){ .name = name };
    for (matrix *m = r->m; fscanf(f, "%31s %zu %zu", m->name, &m->rows, &m->cols) == 3; m++) {
        assert_in_range(m->rows * m->cols, 1, NUMBERS);
        for (size_t i = 0; i < m->rows * m->cols; i++) {
            double v;
            assert_int_equal(fscanf(f, "%lf", &v), 1);
            m->x[i] = (rg_real)v;
        }
        assert_in_range(++r->count, 1, MATRICES - 1);
    }
    fclose(f);
}

static const matrix *find(const reference *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->m[i].name, name) == 0) return &r->m[i];
    fail_msg("%s has no %s", r->name, name);
    return NULL;
}

/* Relative 1e-5, and as much of the largest number as float sums lose. */
static void expect(const reference *r, const char *name, const rg_real *got, size_t ld)
{
    const matrix *m = find(r, name);
    double        largest = 0;
    if (!got) fail_msg("%s: %s was not computed: %s", r->name, name, rg_message());
    for (size_t i = 0; i < m->rows * m->cols; i++) largest = fmax(largest, fabs((double)m->x[i]));
    for (size_t i = 0; i < m->rows * m->cols; i++) {
        const double want = (double)m->x[i], have = (double)got[i / m->cols * ld + i % m->cols];
        if (!(fabs(have - want) <= 1e-5 * fabs(want) + 1e-6 * largest))
            fail_msg("%s: %s at (%zu, %zu) is %.9g, PyTorch has %.9g", r->name, name, i / m->cols, i % m->cols, have,
                     want);
    }
}

/* One tape a file: inputs by name, what to compare by name. */
typedef struct {
    reference  r;
    rg_tape   *t;
    rg_tensor *input[MATRICES];
    char       name[MATRICES][32];
    size_t     inputs;
} bench;

static void open_case(bench *b, const char *name)
{
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    b->inputs = 0;
    load(&b->r, name);
    assert_int_equal(rg_tape_new(&b->t, &config), RG_OK);
}

static rg_tensor *in(bench *b, const char *name, const rg_layout *layout)
{
    const matrix *m = find(&b->r, name);
    rg_tensor    *x = rg_input(b->t, m->x, m->rows, m->cols, layout);
    snprintf(b->name[b->inputs], sizeof *b->name, "d%s", name);
    b->input[b->inputs++] = x;
    return x;
}

static void close_case(bench *b, rg_tensor *y)
{
    if (!y) fail_msg("%s: %d", b->r.name, (int)rg_tape_status(b->t));
    expect(&b->r, "y", rg_tensor_data(y), rg_tensor_ld(y));
    const bool loss = rg_tensor_rows(y) == 1 && rg_tensor_cols(y) == 1;
    assert_int_equal(loss ? rg_tape_backward(b->t, y) : rg_tape_backward_from(b->t, y, find(&b->r, "dy")->x), RG_OK);
    for (size_t i = 0; i < b->inputs; i++)
        expect(&b->r, b->name[i], rg_tape_gradient(b->t, b->input[i]), rg_tensor_ld(b->input[i]));
    rg_tape_free(b->t);
}

/* ------------------------------------------------------------------------------------------------------------ cases */

static void linear_layers_with_every_activation_equal_pytorch(void **state)
{
    (void)state;
    static const rg_activation f[] = { RG_IDENTITY, RG_TANH, RG_RELU,     RG_GELU,
                                       RG_SIGMOID,  RG_ELU,  RG_SOFTPLUS, RG_LEAKY_RELU };
    static const char *const   name[] = { "linear_identity", "linear_tanh", "linear_relu",     "linear_gelu",
                                          "linear_sigmoid",  "linear_elu",  "linear_softplus", "linear_leaky_relu" };
    for (size_t i = 0; i < 8; i++) {
        bench b;
        open_case(&b, name[i]);
        rg_tensor *x = in(&b, "x", NULL), *w = in(&b, "w", NULL);
        close_case(&b, rg_linear(b.t, x, w, in(&b, "b", NULL), f[i]));
    }
}

static void norms_equal_pytorch(void **state)
{
    (void)state;
    bench b;
    open_case(&b, "add_norm");
    rg_tensor *x = in(&b, "x", NULL), *r = in(&b, "r", NULL), *g = in(&b, "g", NULL);
    close_case(&b, rg_add_norm(b.t, x, r, g, in(&b, "b", NULL), 1e-5));

    rg_params *params;
    assert_int_equal(rg_params_new(&params), RG_OK);
    rg_param *mean = rg_params_add(params, "mean", RG_KEPT, 1, 7, RG_INIT_ZERO, 0),
             *variance = rg_params_add(params, "variance", RG_KEPT, 1, 7, RG_INIT_ONE, 0);
    assert_int_equal(rg_params_build(params, 1), RG_OK);
    open_case(&b, "batch_norm");
    x = in(&b, "x", NULL), g = in(&b, "g", NULL);
    rg_tensor *bias = in(&b, "b", NULL), *y = rg_batch_norm(b.t, x, g, bias, mean, variance, 0.1, 1e-5);
    expect(&b.r, "mean", rg_param_data(mean), 7);
    expect(&b.r, "variance", rg_param_data(variance), 7);
    rg_tape_learn(b.t, false);
    expect(&b.r, "later", rg_tensor_data(rg_batch_norm(b.t, x, g, bias, mean, variance, 0.1, 1e-5)), 7);
    close_case(&b, y);
    rg_params_free(params);
}

static void softmax_and_its_logarithm_equal_pytorch(void **state)
{
    (void)state;
    bench b;
    open_case(&b, "softmax");
    close_case(&b, rg_softmax(b.t, in(&b, "x", NULL)));
    open_case(&b, "log_softmax");
    close_case(&b, rg_log_softmax(b.t, in(&b, "x", NULL)));
}

static void to_index(int32_t *out, const matrix *m)
{
    for (size_t i = 0; i < m->cols; i++) out[i] = (int32_t)m->x[i];
}

static void losses_equal_pytorch(void **state)
{
    (void)state;
    bench   b;
    int32_t index[8];
    open_case(&b, "cross_entropy");
    to_index(index, find(&b.r, "target"));
    close_case(&b, rg_cross_entropy(b.t, in(&b, "x", NULL), index, 0));
    open_case(&b, "cross_entropy_smoothed");
    close_case(&b, rg_cross_entropy(b.t, in(&b, "x", NULL), index, 0.1));
    open_case(&b, "binary_cross_entropy");
    close_case(&b, rg_binary_cross_entropy(b.t, in(&b, "x", NULL), find(&b.r, "target")->x));
    open_case(&b, "squared_error");
    close_case(&b, rg_squared_error(b.t, in(&b, "x", NULL), find(&b.r, "target")->x));
}

static void an_embedding_equals_pytorch(void **state)
{
    (void)state;
    bench   b;
    int32_t index[8];
    open_case(&b, "embedding");
    to_index(index, find(&b.r, "index"));
    close_case(&b, rg_gather(b.t, in(&b, "table", NULL), index, 6, NULL));
}

static void recurrent_layers_over_ragged_groups_equal_pytorch(void **state)
{
    (void)state;
    static const rg_recurrence kind[] = { RG_RNN, RG_LSTM, RG_GRU_RESET_AFTER };
    static const char *const   name[][2] = { { "rnn_ahead", "rnn_back" },
                                             { "lstm_ahead", "lstm_back" },
                                             { "gru_ahead", "gru_back" } };
    for (size_t i = 0; i < 6; i++) {
        bench b;
        open_case(&b, name[i / 2][i % 2]);
        rg_recurrent_weights w = { .w = in(&b, "w", NULL), .u = in(&b, "u", NULL), .b = in(&b, "b", NULL) };
        if (kind[i / 2] == RG_GRU_RESET_AFTER) w.b_new = in(&b, "b_new", NULL);
        close_case(&b, rg_recurrent(b.t, kind[i / 2], &w, in(&b, "x", &sentences), NULL, NULL, i % 2, NULL));
    }
}

static void convolutions_and_pools_equal_pytorch(void **state)
{
    (void)state;
    static const rg_time_window span[] = { { 3, 1, false }, { 3, 2, true } };
    static const rg_window window = { 3, 3, 2, 1, 1, 0, 0 }, pool = { 2, 2, 2, 1, 1, 0, 0 };
    bench                  b;
    for (size_t i = 0; i < 2; i++) {
        open_case(&b, i ? "conv1d_causal" : "conv1d");
        rg_tensor *x = in(&b, "x", &sentences), *w = in(&b, "w", NULL);
        close_case(&b, rg_conv1d(b.t, x, w, in(&b, "b", NULL), RG_IDENTITY, &span[i]));
    }
    open_case(&b, "conv2d");
    rg_tensor *x = in(&b, "x", &pictures), *w = in(&b, "w", NULL);
    close_case(&b, rg_conv2d(b.t, x, w, in(&b, "b", NULL), RG_IDENTITY, &window));
    open_case(&b, "conv2d_relu");
    x = in(&b, "x", &pictures), w = in(&b, "w", NULL);
    close_case(&b, rg_conv2d(b.t, x, w, in(&b, "b", NULL), RG_RELU, &(rg_window){ 5, 5, 1, 2, 1, 0, 0 }));
    open_case(&b, "max_pool2d");
    close_case(&b, rg_max_pool2d(b.t, in(&b, "x", &pictures), &pool));
    open_case(&b, "average_pool2d");
    close_case(&b, rg_average_pool2d(b.t, in(&b, "x", &pictures), &pool));
}

static void bilinear_sampling_equals_pytorch(void **state)
{
    (void)state;
    static const int32_t   start[] = { 0, 6, 12 };
    static const rg_layout places = { .groups = 2, .start = start, .height = 3, .width = 2 };
    bench                  b;
    open_case(&b, "sample");
    rg_tensor *x = in(&b, "x", &pictures);
    close_case(&b, rg_sample(b.t, x, in(&b, "places", &places)));
}

static void losses_of_distributions_and_largest_columns_equal_pytorch(void **state)
{
    (void)state;
    bench b;
    open_case(&b, "soft_cross_entropy");
    rg_tensor *x = in(&b, "x", NULL);
    close_case(&b, rg_soft_cross_entropy(b.t, x, in(&b, "q", NULL), NULL));
    open_case(&b, "divergence");
    x = in(&b, "x", NULL);
    close_case(&b, rg_divergence(b.t, x, in(&b, "z", NULL), NULL));
    open_case(&b, "top_columns");
    close_case(&b, rg_top_columns(b.t, in(&b, "x", NULL), 4, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_layers_with_every_activation_equal_pytorch),
        cmocka_unit_test(norms_equal_pytorch),
        cmocka_unit_test(softmax_and_its_logarithm_equal_pytorch),
        cmocka_unit_test(losses_equal_pytorch),
        cmocka_unit_test(an_embedding_equals_pytorch),
        cmocka_unit_test(recurrent_layers_over_ragged_groups_equal_pytorch),
        cmocka_unit_test(convolutions_and_pools_equal_pytorch),
        cmocka_unit_test(bilinear_sampling_equals_pytorch),
        cmocka_unit_test(losses_of_distributions_and_largest_columns_equal_pytorch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
