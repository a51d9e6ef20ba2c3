/* grad_spatial.c - grids, enlarging, glimpses and stacks of layers: gradients in double, and numbers against plain
 * loops. */
#include "regard/spatial.h"
#include "regard/net.h"
#include "support/gradient.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { G = 2, H = 5, W = 6 };
static const int32_t   start[] = { 0, H * W, 2 * H * W };
static const rg_layout pictures = { .groups = G, .start = start, .height = H, .width = W };

static rg_tape *new_tape(void)
{
    const rg_tape_config config = { .record = true };
    rg_tape             *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    return t;
}

/* -------------------------------------------------------------------------------------------------------- gradients */

static rg_tensor *affine_it(rg_tape *t, rg_tensor *const *x, void *c)
{
    return (void)c, rg_sample(t, x[0], rg_affine_grid(t, x[1], &pictures, 3, 4));
}
static rg_tensor *attention_it(rg_tape *t, rg_tensor *const *x, void *c)
{
    return (void)c, rg_sample(t, x[0], rg_attention_grid(t, x[1], &pictures, 4, 3));
}
static rg_tensor *projective_it(rg_tape *t, rg_tensor *const *x, void *c)
{
    return (void)c, rg_sample(t, x[0], rg_projective_grid(t, x[1], &pictures, 3, 3));
}
static rg_tensor *upsample_it(rg_tape *t, rg_tensor *const *x, void *c) { return (void)c, rg_upsample(t, x[0], 7, 11); }

static void grids_and_enlarging_have_correct_gradients(void **state)
{
    const rg_gradient_case cases[] = {
        { .name = "affine",
          .function = affine_it,
          .input = { { G * H * W, 2, &pictures }, { G, 6, NULL, -0.7, 0.7 } } },
        { .name = "attention",
          .function = attention_it,
          .input = { { G * H * W, 2, &pictures }, { G, 3, NULL, -0.7, 0.7 } } },
        { .name = "projective",
          .function = projective_it,
          .input = { { G * H * W, 1, &pictures }, { G, 8, NULL, -0.4, 0.4 } } },
        { .name = "upsample", .function = upsample_it, .input = { { G * H * W, 3, &pictures } } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) rg_expect_gradient(&cases[i]);
}

/* ---------------------------------------------------------------------------------------------------------- numbers */

static rg_tensor *some_pictures(rg_tape *t, size_t D)
{
    static rg_real x[G * H * W * 3];
    rg_test_fill(x, G * H * W * D, 5, -1, 1);
    return rg_constant(t, x, G * H * W, D, &pictures);
}

static void the_identity_gives_the_picture(void **state)
{
    static const rg_real affine[12] = { 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0 }, attention[6] = { 1, 0, 0, 1, 0, 0 };
    static const rg_real projective[16] = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 };
    (void)state;
    rg_tape   *t = new_tape();
    rg_tensor *x = some_pictures(t, 3);
    rg_tensor *y[] = { rg_sample(t, x, rg_affine_grid(t, rg_constant(t, affine, G, 6, NULL), &pictures, H, W)),
                       rg_sample(t, x, rg_attention_grid(t, rg_constant(t, attention, G, 3, NULL), &pictures, H, W)),
                       rg_sample(t, x, rg_projective_grid(t, rg_constant(t, projective, G, 8, NULL), &pictures, H, W)),
                       rg_upsample(t, x, H, W) };
    for (size_t k = 0; k < 4; k++) {
        assert_non_null(y[k]);
        assert_int_equal(rg_tensor_layout(y[k])->height, H);
        for (size_t i = 0; i < G * H * W; i++)
            for (size_t d = 0; d < 3; d++)
                assert_true(fabs((double)(rg_tensor_at(y[k], i, d) - rg_tensor_at(x, i, d))) < 1e-6);
    }
    rg_tape_free(t);
}

/* Theta of a turn by 90 degrees on a square: pixel (x, y) of the result is (y, side - 1 - x) of the input. */
static void a_turn_moves_pixels_where_they_belong(void **state)
{
    enum { SIDE = 4 };
    static const rg_real theta[6] = { 0, 1, 0, -1, 0, 0 };
    rg_real              xs[SIDE * SIDE];
    (void)state;
    rg_tape *t = new_tape();
    rg_test_fill(xs, SIDE * SIDE, 3, -1, 1);
    const rg_layout *one = rg_tape_pictures(t, 1, SIDE, SIDE);
    rg_tensor       *y = rg_sample(t, rg_constant(t, xs, SIDE * SIDE, 1, one),
                                   rg_affine_grid(t, rg_constant(t, theta, 1, 6, NULL), one, SIDE, SIDE));
    for (size_t i = 0; i < SIDE * SIDE; i++)
        assert_true(fabs((double)(rg_tensor_at(y, i, 0) - xs[(SIDE - 1 - i % SIDE) * SIDE + i / SIDE])) < 1e-9);
    rg_tape_free(t);
}

static double at(const rg_tensor *x, size_t g, ptrdiff_t a, ptrdiff_t b, size_t d)
{
    return a >= 0 && b >= 0 && a < W && b < H ? (double)rg_tensor_at(x, g * H * W + (size_t)(b * W + a), d) : 0;
}

/* Every scale against means taken one by one; places inside, on the border and far outside. */
static void glimpses_see_what_a_plain_loop_sees(void **state)
{
    static const rg_real where[][4] = { { 0, 0, 0, 0 }, { -1, -1, 1, 1 }, { 0.3f, -0.6f, 3, 0.1f } };
    (void)state;
    for (size_t k = 0; k < 3; k++)
        for (size_t patch = 1; patch <= 4; patch++) {
            const rg_retina retina = { patch, 3, k == 1 ? 0 : 2 };
            rg_tape        *t = new_tape();
            rg_tensor *x = some_pictures(t, 2), *y = rg_glimpse(t, x, rg_constant(t, where[k], G, 2, NULL), &retina);
            assert_non_null(y);
            assert_int_equal(rg_tensor_cols(y), 3 * patch * patch * 2);
            for (size_t g = 0; g < G; g++)
                for (size_t s = 0, c = 0; s < 3; s++) {
                    const ptrdiff_t step = (ptrdiff_t)1 << s;
                    const double    cx = 2.5 + (double)where[k][2 * g] * (k == 1 ? 2.5 : 2),
                                 cy = 2 + (double)where[k][2 * g + 1] * 2;
                    const ptrdiff_t left = (ptrdiff_t)floor(cx - ((double)(patch * (size_t)step) - 1) / 2 + 0.5);
                    const ptrdiff_t top = (ptrdiff_t)floor(cy - ((double)(patch * (size_t)step) - 1) / 2 + 0.5);
                    for (size_t i = 0; i < patch * patch; i++)
                        for (size_t d = 0; d < 2; d++, c++) {
                            double sum = 0;
                            for (ptrdiff_t e = 0; e < step * step; e++)
                                sum += at(x, g, left + (ptrdiff_t)(i % patch) * step + e % step,
                                          top + (ptrdiff_t)(i / patch) * step + e / step, d);
                            assert_true(fabs((double)rg_tensor_at(y, g, c) - sum / (double)(step * step)) < 1e-9);
                        }
                }
            rg_tape_free(t);
        }
}

static void wrong_shapes_are_named(void **state)
{
    static const rg_real few[G * 5] = { 0 };
    const rg_retina      none = { 0, 1, 0 };
    (void)state;
    rg_tape *t = new_tape();
    assert_null(rg_affine_grid(t, rg_constant(t, few, G, 5, NULL), &pictures, 2, 2));
    assert_int_equal(rg_tape_status(t), RG_ESHAPE);
    rg_tape_reset(t, 0);
    assert_null(rg_upsample(t, rg_constant(t, few, G, 5, NULL), 2, 2));
    assert_int_equal(rg_tape_status(t), RG_EINVAL);
    rg_tape_reset(t, 0);
    assert_null(rg_glimpse(t, some_pictures(t, 1), rg_constant(t, few, G, 2, NULL), &none));
    assert_int_equal(rg_tape_status(t), RG_EINVAL);
    rg_tape_free(t);
}

/* ----------------------------------------------------------------------------------------------------------- stacks */

/* A stack whose parameters are the first inputs of a gradient case would be many; its ops have their own tests.
 * Here: shapes, names, numbers. */
static void shapes_are_worked_out(void **state)
{
    static const struct {
        const char *text;
        size_t      height, width, channels, units; /* of the last map; units: of the last dense layer, with 7 going in */
    } cases[] = {
        { "", 28, 27, 3, 7 },
        { "c5x32 p2 c5x48 p2 f100", 7, 6, 48, 100 },
        { "c3x16v p3s2 c4x8 a2", 6, 6, 8, 7 },
        { "c3x6g3 c3x6g6s2n d0.25 f10n d0.5 f4", 14, 14, 6, 4 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rg_net s;
        assert_int_equal(rg_net_parse(&s, cases[i].text, 3, 28, 27), RG_OK);
        assert_int_equal(rg_net_height(&s), cases[i].height);
        assert_int_equal(rg_net_width(&s), cases[i].width);
        assert_int_equal(rg_net_channels(&s), cases[i].channels);
        assert_int_equal(rg_net_units(&s, 7), cases[i].units);
    }
}

static void mistakes_are_told_with_their_layer(void **state)
{
    static const char *const cases[][2] = {
        { "c5x32 p2 p2 p2", "layer 4 'p2': a map of 1 x 1 cannot be pooled" },
        { "c5", "layer 1 'c5': the size of the window x the number of maps" },
        { "c3x0", "must not be 0" },
        { "y3", "no layer begins so" },
        { "c3x8k", "what is 'k'?" },
        { "f10 c3x8", "layer 2 'c3x8': maps cannot follow" },
        { "c3x8g3", "multiples of the groups" },
        { "c9x4v", "smaller than the window" },
        { "d1.5", "below 1" },
        { "c3x99999999", "is above" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rg_net s;
        assert_int_not_equal(rg_net_parse(&s, cases[i][0], 2, 6, 6), RG_OK);
        if (!strstr(rg_message(), cases[i][1])) print_error("%s: %s\n", cases[i][0], rg_message());
        assert_non_null(strstr(rg_message(), cases[i][1]));
    }
}

/* Groups of channels are convolutions side by side, and as many groups as channels are a depthwise one. */
static void groups_are_convolutions_side_by_side(void **state)
{
    (void)state;
    for (size_t groups = 1; groups <= 4; groups *= 2) {
        char       text[16];
        rg_net   s;
        rg_params *p;
        rg_tape   *t = new_tape();
        rg_real    xs[H * W * 4];
        (void)snprintf(text, sizeof text, "c3x4g%zu", groups);
        assert_int_equal(rg_net_parse(&s, text, 4, H, W), RG_OK);
        assert_int_equal(rg_params_new(&p), RG_OK);
        rg_net_init(&s, p, "net", 0);
        assert_int_equal(rg_params_build(p, 3), RG_OK);
        assert_non_null(rg_params_find(p, "net.0.w"));
        rg_test_fill(xs, H * W * 4, 9, -1, 1);
        rg_tensor     *y = rg_net_maps(t, &s, rg_constant(t, xs, H * W, 4, rg_tape_pictures(t, 1, H, W)));
        const rg_real *w = rg_param_data(s.layer[0].w);
        const size_t   each = 4 / groups;
        assert_non_null(y);
        for (size_t i = 0; i < H * W; i++)
            for (size_t o = 0; o < 4; o++) {
                double sum = 0;
                for (size_t k = 0; k < 9; k++)
                    for (size_t c = 0; c < each; c++) {
                        const ptrdiff_t b = (ptrdiff_t)(i / W + k / 3) - 1, a = (ptrdiff_t)(i % W + k % 3) - 1;
                        if (a < 0 || b < 0 || a >= W || b >= H) continue;
                        const double weight = (double)(groups == 4 ? w[k * 4 + o] : w[(k * each + c) * 4 + o]);
                        sum += weight * (double)xs[((size_t)b * W + (size_t)a) * 4 + o / each * each + c];
                    }
                assert_true(fabs((double)rg_tensor_at(y, i, o) - fmax(0, sum)) < 1e-9);
            }
        rg_params_free(p);
        rg_tape_free(t);
    }
}

/* A dry tape counts what a real one does, and a whole stack runs, batch norm and dropout among it. */
static void a_whole_stack_runs_dry_and_real(void **state)
{
    rg_net   s;
    rg_params *p;
    double     flops[2];
    (void)state;
    assert_int_equal(rg_net_parse(&s, "c3x4n p2 c2x6 d0.2 f5n f3", 1, H, W), RG_OK);
    char *shapes = rg_net_describe(&s);
    assert_non_null(strstr(shapes, "p2           2 x 3 x 4"));
    rg_free(shapes);
    assert_int_equal(rg_params_new(&p), RG_OK);
    rg_net_init(&s, p, "net", 2 * 3 * 6);
    assert_int_equal(rg_params_build(p, 3), RG_OK);
    for (int dry = 0; dry < 2; dry++) {
        const rg_tape_config config = { .record = true, .dry = dry };
        rg_tape             *t;
        rg_real              xs[G * H * W];
        assert_int_equal(rg_tape_new(&t, &config), RG_OK);
        rg_test_fill(xs, G * H * W, 9, -1, 1);
        rg_tensor *y =
            rg_net_dense(t, &s, rg_join_rows(t, rg_net_maps(t, &s, rg_constant(t, xs, G * H * W, 1, &pictures)), 6));
        assert_int_equal(rg_tape_status(t), RG_OK);
        assert_int_equal(rg_tensor_rows(y), G);
        assert_int_equal(rg_tensor_cols(y), 3);
        flops[dry] = rg_tape_get_cost(t).flops;
        rg_tape_free(t);
    }
    assert_true(flops[0] == flops[1] && flops[0] > 0);
    rg_params_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_and_enlarging_have_correct_gradients),
        cmocka_unit_test(the_identity_gives_the_picture),
        cmocka_unit_test(a_turn_moves_pixels_where_they_belong),
        cmocka_unit_test(glimpses_see_what_a_plain_loop_sees),
        cmocka_unit_test(wrong_shapes_are_named),
        cmocka_unit_test(shapes_are_worked_out),
        cmocka_unit_test(mistakes_are_told_with_their_layer),
        cmocka_unit_test(groups_are_convolutions_side_by_side),
        cmocka_unit_test(a_whole_stack_runs_dry_and_real),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
