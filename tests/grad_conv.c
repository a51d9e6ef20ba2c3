/* grad_conv.c - convolution, pooling and batch normalisation: against plain loops and central differences. */
#include "regard/conv.h"
#include "support/gradient.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static const int32_t   sentences_start[] = { 0, 4, 4, 5, 12 };
static const rg_layout sentences = { .groups = 4, .start = sentences_start };
static const int32_t   pictures_start[] = { 0, 15, 30 };
static const rg_layout pictures = { .groups = 2, .start = pictures_start, .height = 3, .width = 5 };

static const rg_time_window spans[] = { { 1, 1, false }, { 3, 1, false }, { 3, 1, true },
                                        { 2, 3, true },  { 5, 2, false }, { 4, 1, false } };
static const rg_window      windows[] = {
         { 3, 3, 1, 1, 1, 0, 0 }, { 1, 1, 1, 0, 1, 0, 0 }, { 2, 2, 2, 0, 1, 0, 0 }, { 3, 2, 2, 1, 1, 0, 0 },
         { 2, 3, 1, 2, 2, 0, 0 }, { 3, 5, 1, 0, 1, 0, 0 }, { 1, 1, 2, 2, 1, 0, 0 }, { 3, 3, 2, 0, 1, 1, 0 },
         { 2, 3, 1, 1, 1, 2, 0 }, { 2, 2, 2, 0, 1, 0, 1 }, { 3, 3, 2, 1, 1, 0, 1 },
};
enum { SPANS = sizeof spans / sizeof *spans, WINDOWS = sizeof windows / sizeof *windows };

#define OF(name, type, call)                                                    \
    static rg_tensor *name(rg_tape *t, rg_tensor *const *x, void *context)      \
    {                                                                           \
        const type *how = context;                                              \
        return call;                                                            \
    }

OF(conv1d_it, rg_time_window, rg_conv1d(t, x[0], x[1], x[2], RG_IDENTITY, how))
OF(depthwise1d_it, rg_time_window, rg_depthwise1d(t, x[0], x[1], x[2], how))
OF(separable_it, rg_time_window, rg_linear(t, rg_depthwise1d(t, x[0], x[1], NULL, how), x[2], NULL, RG_RELU))
OF(conv2d_it, rg_window, rg_conv2d(t, x[0], x[1], x[2], RG_IDENTITY, how))
OF(depthwise2d_it, rg_window, rg_depthwise2d(t, x[0], x[1], x[2], how))
OF(max_pool_it, rg_window, rg_max_pool2d(t, x[0], how))
OF(average_pool_it, rg_window, rg_average_pool2d(t, x[0], how))

typedef struct {
    rg_window     window;
    rg_activation f;
} ended;
OF(ended_it, ended, rg_conv2d(t, rg_scale(t, x[0], 0.5), x[1], x[2], how->f, &how->window))

static void convolutions_with_an_activation_inside_have_correct_gradients(void **state)
{
    (void)state;
    for (int f = 0; f < RG_ACTIVATIONS; f++)
        for (size_t D = 1; D < 12; D += 5) { /* few columns go back a channel at a time, others by lists of readers */
            ended            e = { { 2, 3, 1, 1, 1, 0, 0 }, (rg_activation)f };
            rg_gradient_case c = { .name = rg_activation_name((rg_activation)f),
                                   .function = ended_it,
                                   .context = &e,
                                   .plain_only = D > 1,
                                   .input = { { 30, D, &pictures }, { 6 * D, 3 }, { 1, 3 } } };
            if (f == RG_LOG) /* of what is above 0 */
                for (int i = 0; i < 3; i++) c.input[i].low = 0.5, c.input[i].high = 1;
            rg_expect_gradient(&c);
        }
}

static const int32_t   places_start[] = { 0, 4, 9 };
static const rg_layout places = { .groups = 2, .start = places_start };
OF(sample_it, rg_window, ((void)how, rg_sample(t, x[0], x[1])))

static void sampling_has_correct_gradients_to_pixels_and_places(void **state)
{
    (void)state;
    for (size_t D = 1; D < 18; D += 8) /* places on all sides of the picture, and outside */
        rg_expect_gradient(&(rg_gradient_case){ .name = "sample", .function = sample_it,
                                                .input = { { 30, D, &pictures }, { 9, 2, &places, -2, 6 } } });
}

OF(global_it, rg_window, rg_mean_groups(t, rg_conv2d(t, x[0], x[1], NULL, RG_IDENTITY, how)))

static void a_place_on_a_pixel_reads_it_and_one_outside_reads_zeros(void **state)
{
    (void)state;
    rg_real          pixels[30], where[18] = { 0, 0, 4, 2, 1.5, 1, -1, 0, /* picture 2 */ 2, 0.5, 4.5, 2, 5, 2, 0, (rg_real)NAN, -0.25, -0.5 };
    const rg_real    want[9] = { 0, 14, 6.5, 0, 19.5, 14.5, 0, 0, 15 * 0.75 * 0.5 };
    rg_tape         *t = NULL;
    rg_tape_config   config = { .record = false };
    for (int i = 0; i < 30; i++) pixels[i] = (rg_real)i;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    const rg_tensor *y = rg_sample(t, rg_constant(t, pixels, 30, 1, &pictures), rg_constant(t, where, 9, 2, &places));
    for (size_t i = 0; i < 9; i++) assert_near(rg_tensor_at(y, i, 0), want[i]);
    assert_ptr_equal(rg_tensor_layout(y), &places);
    assert_null(rg_sample(t, rg_constant(t, pixels, 30, 1, &pictures), rg_constant(t, where, 6, 3, &places)));
    assert_int_equal(rg_tape_status(t), RG_ESHAPE);
    rg_tape_free(t);
}

static void convolutions_over_sentences_have_correct_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; i < SPANS; i++) {
        const size_t     K = spans[i].taps, D = i % 2 ? 3 : 1, E = i == 2 ? 17 : 3;
        rg_gradient_case c = { .name = "conv1d", .function = conv1d_it, .context = (void *)&spans[i],
                               .input = { { 12, D, &sentences }, { K * D, E }, { 1, E } } };
        rg_expect_gradient(&c);
        c = (rg_gradient_case){ .name = "depthwise1d", .function = depthwise1d_it, .context = (void *)&spans[i],
                                .input = { { 12, 7, &sentences }, { K, 7 }, { 1, 7 } } };
        rg_expect_gradient(&c);
        c.name = "separable", c.function = separable_it, c.input[2] = (rg_gradient_input){ 7, 3 };
        rg_expect_gradient(&c);
    }
}

static void convolutions_and_pools_over_pictures_have_correct_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; i < WINDOWS; i++) {
        const size_t     K = windows[i].height * windows[i].width, D = i % 2 ? 1 : 3;
        rg_gradient_case c = { .name = "conv2d", .function = conv2d_it, .context = (void *)&windows[i],
                               .input = { { 30, D, &pictures }, { K * D, 3 }, { 1, 3 } } };
        rg_expect_gradient(&c);
        c.name = "global average", c.function = global_it, c.plain_only = true;
        rg_expect_gradient(&c);
        c = (rg_gradient_case){ .name = "depthwise2d", .function = depthwise2d_it, .context = (void *)&windows[i],
                                .input = { { 30, 3, &pictures }, { K, 3 }, { 1, 3 } } };
        rg_expect_gradient(&c);
        c = (rg_gradient_case){ .name = "max_pool2d",
                                .function = max_pool_it,
                                .context = (void *)&windows[i],
                                .input = { { 30, 3, &pictures } } };
        rg_expect_gradient(&c);
        c.name = "average_pool2d", c.function = average_pool_it;
        rg_expect_gradient(&c);
    }
}

typedef struct {
    rg_param *w, *b;
    rg_window window;
} learned;

OF(learned_it, learned, rg_conv2d(t, rg_tanh(t, x[0]), rg_use(t, how->w), rg_use(t, how->b), RG_IDENTITY, &how->window))

static void packed_weights_of_a_convolution_get_correct_gradients(void **state)
{
    (void)state;
    rg_params *params;
    learned    l = { .window = RG_WINDOW_DEFAULT };
    assert_int_equal(rg_params_new(&params), RG_OK);
    l.w = rg_params_add(params, "w", RG_WEIGHT, 9 * 3, 9, RG_INIT_GLOROT, 1);
    l.b = rg_params_add(params, "b", RG_VECTOR, 1, 9, RG_INIT_NORMAL, 1);
    assert_int_equal(rg_params_build(params, 2), RG_OK);
    rg_expect_gradient(&(rg_gradient_case){ .name = "conv2d",
                                            .function = learned_it,
                                            .context = &l,
                                            .params = params,
                                            .plain_only = true,
                                            .input = { { 30, 3, &pictures } } });
    rg_params_free(params);
}

/* ---------------------------------------------------------------------------------------------------- plain loops */

static rg_tape *new_tape(void)
{
    rg_tape_config config = { .record = false };
    rg_tape       *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    return t;
}

static void a_convolution_over_sentences_is_its_formula_and_stays_inside_each(void **state)
{
    (void)state;
    enum { N = 12, D = 3, E = 5 };
    rg_real  xs[N * D], ws[5 * D * E];
    rg_tape *t = new_tape();
    rg_test_fill(xs, N * D, 1, -1, 1);
    rg_test_fill(ws, 5 * D * E, 2, -1, 1);
    for (size_t s = 0; s < SPANS; s++) {
        const size_t K = spans[s].taps;
        rg_tape_reset(t, 0);
        rg_tensor *y = rg_conv1d(t, rg_constant(t, xs, N, D, &sentences), rg_constant(t, ws, K * D, E, NULL), NULL,
                                 RG_IDENTITY, &spans[s]);
        assert_non_null(y);
        assert_ptr_equal(rg_tensor_layout(y), &sentences);
        for (size_t g = 0; g < 4; g++)
            for (int i = sentences_start[g]; i < sentences_start[g + 1]; i++)
                for (size_t e = 0; e < E; e++) {
                    double sum = 0;
                    for (size_t j = 0; j < K; j++) {
                        const int back = (int)(spans[s].causal ? K - 1 : (K - 1) / 2) - (int)j,
                                  from = i - back * (int)spans[s].dilation;
                        if (from < sentences_start[g] || from >= sentences_start[g + 1]) continue;
                        for (size_t d = 0; d < D; d++) sum += xs[(size_t)from * D + d] * ws[(j * D + d) * E + e];
                    }
                    assert_true(fabs(sum - rg_tensor_at(y, (size_t)i, e)) < 1e-14);
                }
    }
    rg_tape_free(t);
}

static void a_convolution_over_pictures_is_its_formula_whatever_the_blocks(void **state)
{
    (void)state;
    enum { G = 2, H = 23, W = 31, D = 41, E = 2 }; /* more rows than one block of columns */
    static rg_real       xs[G * H * W * D], ws[9 * D * E];
    static const int32_t start[] = { 0, H * W, 2 * H * W };
    const rg_layout      layout = { .groups = G, .start = start, .height = H, .width = W, .first = 4 * H * W };
    const rg_window      window = { 3, 3, 2, 1, 1, 0, 0 };
    rg_tape             *t = new_tape();
    rg_test_fill(xs, G * H * W * D, 1, -1, 1);
    rg_test_fill(ws, 9 * D * E, 2, -1, 1);
    rg_tensor *y = rg_conv2d(t, rg_constant(t, xs, G * H * W, D, &layout), rg_constant(t, ws, 9 * D, E, NULL), NULL,
                             RG_IDENTITY, &window);
    assert_non_null(y);
    const rg_layout *out = rg_tensor_layout(y);
    assert_int_equal(out->height, 12);
    assert_int_equal(out->width, 16);
    assert_int_equal(out->first, 4 * 12 * 16);
    assert_int_equal(rg_tensor_rows(y), G * 12 * 16);
    for (size_t r = 0; r < rg_tensor_rows(y); r++)
        for (size_t e = 0; e < E; e++) {
            const int g = (int)r / 192, py = (int)r % 192 / 16 * 2 - 1, px = (int)r % 16 * 2 - 1;
            double    sum = 0;
            for (int j = 0; j < 9; j++) {
                const int yy = py + j / 3, xx = px + j % 3;
                if (yy < 0 || xx < 0 || yy >= H || xx >= W) continue;
                for (int d = 0; d < D; d++) sum += xs[((g * H + yy) * W + xx) * D + d] * ws[(j * D + d) * E + (int)e];
            }
            assert_true(fabs(sum - rg_tensor_at(y, r, e)) < 1e-12);
        }
    rg_tape_free(t);
}

static void a_window_that_sees_nothing_or_does_not_fit_is_handled(void **state)
{
    (void)state;
    rg_tape  *t = new_tape();
    rg_real   zeros[90] = {0};
    rg_window far_out = { 1, 1, 1, 1, 1, 0, 0 }; /* corners of the padded picture see only zeros */
    rg_tensor *x = rg_constant(t, zeros, 30, 3, &pictures), *y = rg_max_pool2d(t, rg_shift(t, x, -2), &far_out);
    assert_int_equal(rg_tensor_rows(y), 2 * 5 * 7);
    assert_true(rg_tensor_at(y, 0, 0) == 0 && rg_tensor_at(y, 8, 0) == -2);
    static const rg_window bad[] = { { 4, 3, 1, 0, 1, 0, 0 },
                                     { 3, 3, 0, 1, 1, 0, 0 },
                                     { 0, 3, 1, 1, 1, 0, 0 },
                                     { 3, 3, 1, 1, 0, 0, 0 },
                                     { 2, 2, 1, 0, (size_t)1 << 63, 0, 0 } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rg_tape_reset(t, 0);
        assert_null(rg_average_pool2d(t, rg_constant(t, zeros, 30, 3, &pictures), &bad[i]));
        assert_int_equal(rg_tape_status(t), RG_ESHAPE);
    }
    rg_tape_reset(t, 0);
    assert_null(rg_max_pool2d(t, rg_constant(t, zeros, 12, 3, &sentences), &far_out));
    assert_int_equal(rg_tape_status(t), RG_EINVAL);
    rg_tape_reset(t, 0);
    assert_null(rg_conv1d(t, rg_constant(t, zeros, 12, 3, &sentences), rg_constant(t, zeros, 8, 3, NULL), NULL,
                          RG_IDENTITY, &spans[1]));
    assert_int_equal(rg_tape_status(t), RG_ESHAPE);
    rg_tape_free(t);
}

/* -------------------------------------------------------------------------------------------- batch normalisation */

typedef struct {
    rg_param *mean, *variance;
} kept;

OF(batch_norm_it, kept, rg_batch_norm(t, x[0], x[1], x[2], how->mean, how->variance, 0.1, 1e-5))

static kept keep(rg_params **params, size_t D)
{
    kept k;
    assert_int_equal(rg_params_new(params), RG_OK);
    k.mean = rg_params_add(*params, "mean", RG_KEPT, 1, D, RG_INIT_ZERO, 0);
    k.variance = rg_params_add(*params, "variance", RG_KEPT, 1, D, RG_INIT_ONE, 0);
    assert_int_equal(rg_params_build(*params, 1), RG_OK);
    return k;
}

static void batch_normalisation_has_correct_gradients_learning_and_not(void **state)
{
    (void)state;
    for (int learn = 0; learn < 2; learn++)
        for (size_t D = 1; D < 20; D += 6) {
            rg_params *params;
            kept       k = keep(&params, D);
            rg_expect_gradient(&(rg_gradient_case){ .name = "batch_norm",
                                                    .function = batch_norm_it,
                                                    .context = &k,
                                                    .params = params,
                                                    .no_learn = !learn,
                                                    .input = { { D == 7 ? 131 : 9, D }, { 1, D }, { 1, D } } });
            rg_params_free(params);
        }
}

static void kept_statistics_move_only_while_learning(void **state)
{
    (void)state;
    rg_params     *params;
    kept           k = keep(&params, 1);
    rg_tape_config config = { .record = true, .learn = true };
    rg_tape       *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor *x = rg_input(t, (const rg_real[]){ 1, 3 }, 2, 1, NULL),
              *one = rg_input(t, (const rg_real[]){ 1 }, 1, 1, NULL), *zero = rg_zeros(t, 1, 1, NULL);
    rg_tensor *y = rg_batch_norm(t, x, one, zero, k.mean, k.variance, 0.25, 0);
    assert_true(fabs(rg_tensor_at(y, 0, 0) + 1) < 1e-12 && fabs(rg_tensor_at(y, 1, 0) - 1) < 1e-12);
    assert_true(fabs(rg_param_data(k.mean)[0] - 0.5) < 1e-12);              /* 0 + 0.25 (2 - 0) */
    assert_true(fabs(rg_param_data(k.variance)[0] - 1.25) < 1e-12);         /* 1 + 0.25 (2 - 1): without bias */
    rg_tape_learn(t, false);
    y = rg_batch_norm(t, x, one, zero, k.mean, k.variance, 0.25, 0);
    assert_true(fabs(rg_tensor_at(y, 1, 0) - (3 - 0.5) / sqrt(1.25)) < 1e-12);
    assert_true(fabs(rg_param_data(k.mean)[0] - 0.5) < 1e-12);
    rg_tape_free(t);
    rg_params_free(params);
}

static void without_momentum_batch_statistics_are_used_and_kept_ones_stay(void **state)
{
    (void)state;
    rg_params *params;
    const kept k = keep(&params, 1);
    rg_tape   *t = NULL;
    assert_int_equal(rg_tape_new(&t, &(rg_tape_config){ .learn = true }), RG_OK);
    const rg_real numbers[] = { 1, 2, 6 }, ones[] = { 1 }, zeros[] = { 0 };
    rg_tensor    *x = rg_constant(t, numbers, 3, 1, NULL), *one = rg_constant(t, ones, 1, 1, NULL),
              *zero = rg_constant(t, zeros, 1, 1, NULL);
    rg_tensor    *y = rg_batch_norm(t, x, one, zero, k.mean, k.variance, 0, 0);
    assert_near(rg_tensor_at(y, 0, 0), -2 / sqrt(14.0 / 3));
    assert_true(rg_param_data(k.mean)[0] == 0 && rg_param_data(k.variance)[0] == 1);
    rg_batch_norm(t, x, one, zero, k.mean, k.variance, 0.1, 0);
    assert_true(rg_param_data(k.mean)[0] != 0 && rg_param_data(k.variance)[0] != 1);
    rg_tape_free(t);
    rg_params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_with_an_activation_inside_have_correct_gradients),
        cmocka_unit_test(sampling_has_correct_gradients_to_pixels_and_places),
        cmocka_unit_test(a_place_on_a_pixel_reads_it_and_one_outside_reads_zeros),
        cmocka_unit_test(convolutions_over_sentences_have_correct_gradients),
        cmocka_unit_test(convolutions_and_pools_over_pictures_have_correct_gradients),
        cmocka_unit_test(packed_weights_of_a_convolution_get_correct_gradients),
        cmocka_unit_test(a_convolution_over_sentences_is_its_formula_and_stays_inside_each),
        cmocka_unit_test(a_convolution_over_pictures_is_its_formula_whatever_the_blocks),
        cmocka_unit_test(a_window_that_sees_nothing_or_does_not_fit_is_handled),
        cmocka_unit_test(batch_normalisation_has_correct_gradients_learning_and_not),
        cmocka_unit_test(without_momentum_batch_statistics_are_used_and_kept_ones_stay),
        cmocka_unit_test(kept_statistics_move_only_while_learning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
