/* test_conv.c - convolution in float: the fast way to columns and back against the plain one, bit for bit; what does
 * not show in the bits. */
#include "autograd/columns.h"
#include "support/gradient.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const rg_window windows[] = {
    { 5, 5, 1, 0, 1, 0, 0 }, { 5, 5, 1, 2, 1, 0, 0 }, { 3, 3, 1, 1, 1, 0, 0 }, { 3, 3, 2, 1, 1, 0, 0 },
    { 2, 2, 2, 0, 1, 0, 0 }, { 1, 1, 1, 0, 1, 0, 0 }, { 3, 2, 1, 1, 2, 0, 0 }, { 7, 7, 2, 3, 1, 0, 0 },
    { 3, 6, 1, 4, 1, 0, 0 }, { 1, 3, 1, 0, 1, 0, 0 }, { 4, 4, 3, 5, 1, 0, 0 }, { 3, 3, 2, 0, 1, 1, 0 },
    { 3, 3, 2, 1, 1, 0, 1 },
};
static const size_t    widths[] = { 1, 2, 3, 4, 7, 8, 17, 33 };
enum {
    WINDOWS = sizeof windows / sizeof *windows,
    WIDTHS = sizeof widths / sizeof *widths,
    G = 3,
    H = 8,
    W = 9,
    GAP = 2
};

static rg_real *numbers(size_t n, uint64_t seed)
{
    rg_real *x = rg_alloc(n * sizeof *x);
    assert_non_null(x);
    rg_test_fill(x, n, seed, -1, 1);
    return x;
}

typedef struct {
    rg_tape   *t;
    rg_taps    taps;
    rg_tensor *x;  /* columns of something wider: rows are not dense */
    size_t     D;
} setting;

static void open_setting(setting *s, rg_team *team, const rg_window *window, size_t D)
{
    const rg_tape_config config = { .record = true, .team = team };
    rg_real             *xs = numbers(G * H * W * (D + GAP), 3);
    assert_int_equal(rg_tape_new(&s->t, &config), RG_OK);
    const rg_layout *pictures = rg_tape_pictures(s->t, G, H, W);
    s->x = rg_columns(s->t, rg_input(s->t, xs, G * H * W, D + GAP, pictures), 1, D);
    s->D = D;
    assert_non_null(s->x);
    assert_true(rg_taps__window(&s->taps, s->t, pictures, window));
    rg_free(xs);
}

static void columns_gathered_in_runs_equal_those_gathered_tap_by_tap(void **state)
{
    (void)state;
    rg_team *team;
    assert_int_equal(rg_team_new(&team, 3), RG_OK);
    for (size_t w = 0; w < WINDOWS; w++)
        for (size_t d = 0; d < WIDTHS; d++) {
            setting s;
            open_setting(&s, team, &windows[w], widths[d]);
            const size_t all = s.taps.units * s.taps.out, wide = s.taps.K * s.D;
            for (size_t from = 0; from < all; from += all / 3 + 1) { /* blocks that begin and end inside pictures */
                const rg_columns_block b = { &s.taps, s.D, from, all - from < all / 2 + 1 ? all - from : all / 2 + 1 };
                rg_real *want = numbers(b.rows * wide, 1), *got = numbers(b.rows * wide + RG_COLUMNS_SLACK, 2);
                rg_columns__gather_plain(&b, s.x, want);
                assert_true(rg_columns__gather(s.t, &b, s.x, got));
                assert_memory_equal(got, want, b.rows * wide * sizeof *want);
                rg_free(want), rg_free(got);
            }
            rg_tape_free(s.t);
        }
    rg_team_free(team);
}

static void transpose(rg_real *to, const rg_real *from, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) to[j * rows + i] = from[i * cols + j];
}

static void gradients_of_columns_go_back_with_the_bits_of_the_plain_way(void **state)
{
    (void)state;
    rg_team *team;
    assert_int_equal(rg_team_new(&team, 3), RG_OK);
    for (size_t w = 0; w < WINDOWS; w++)
        for (size_t d = 0; d < WIDTHS; d++) {
            setting    s;
            rg_readers readers;
            open_setting(&s, team, &windows[w], widths[d]);
            const size_t all = s.taps.units * s.taps.out, wide = s.taps.K * s.D, ld = s.x->ld, n = G * H * W * ld;
            rg_real     *columns = numbers(all * wide, 1), *turned = numbers(all * wide, 1), *want = numbers(n, 5),
                    *got = numbers(n, 5);
            assert_true(rg_columns__readers(&readers, s.t, &s.taps));
            for (size_t from = 0, some = all / 2 + 1; from < all; from += some) {
                const rg_columns_block b = { &s.taps, s.D, from, all - from < some ? all - from : some };
                rg_columns__spread_plain(&b, s.x, want, columns + from * wide);
                assert_true(rg_columns__spread(s.t, &b, &readers, s.x, got, columns + from * wide));
            }
            assert_memory_equal(got, want, n * sizeof *want);
            if (rg_columns__in_planes(&s.taps, s.D)) {
                const rg_columns_block b = { &s.taps, s.D, s.taps.out, all - s.taps.out }; /* all pictures but the first */
                transpose(turned, columns, b.rows, wide);
                rg_columns__spread_plain(&b, s.x, want, columns);
                assert_true(rg_columns__spread_planes(s.t, &b, s.x, got, false, turned));
                assert_memory_equal(got, want, n * sizeof *want);
            }
            rg_free(columns), rg_free(turned), rg_free(want), rg_free(got);
            rg_tape_free(s.t);
        }
    rg_team_free(team);
}

/* y and the gradients of x, w and b of a convolution with f inside, or after it as ops of their own. */
static void both_ways(rg_real *out[4], size_t D, rg_activation f, bool inside, int threads)
{
    enum { E = 5 };
    const rg_window window = { 3, 3, 1, 1, 1 };
    rg_team        *team;
    rg_tape        *t;
    rg_real        *xs = numbers(G * H * W * D, 1), *ws = numbers(9 * D * E, 2), *bs = numbers(E, 3),
            *dy = numbers(G * H * W * E, 4);
    assert_int_equal(rg_team_new(&team, threads), RG_OK);
    const rg_tape_config config = { .record = true, .team = team };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor *x = rg_input(t, xs, G * H * W, D, rg_tape_pictures(t, G, H, W)), *w = rg_input(t, ws, 9 * D, E, NULL),
              *b = rg_input(t, bs, 1, E, NULL);
    rg_tensor *y = inside ? rg_conv2d(t, x, w, b, f, &window)
                          : rg_map(t, rg_add(t, rg_conv2d(t, x, w, NULL, RG_IDENTITY, &window), b), f);
    assert_int_equal(rg_tape_backward_from(t, y, dy), RG_OK);
    const rg_real *from[] = { rg_tensor_data(y), rg_tape_gradient(t, x), rg_tape_gradient(t, w),
                              rg_tape_gradient(t, b) };
    const size_t   count[] = { G * H * W * E, G * H * W * D, 9 * D * E, E };
    for (int i = 0; i < 4; i++) {
        out[i] = numbers(count[i] + 1, 9);
        memcpy(out[i], from[i], count[i] * sizeof *out[i]);
    }
    rg_tape_free(t);
    rg_team_free(team);
    rg_free(xs), rg_free(ws), rg_free(bs), rg_free(dy);
}

static void an_activation_inside_and_the_number_of_threads_do_not_show_in_the_bits(void **state)
{
    (void)state;
    static const rg_activation functions[] = { RG_IDENTITY, RG_RELU, RG_TANH, RG_GELU };
    for (size_t D = 1; D < 20; D += 9)
        for (size_t f = 0; f < 4; f++) {
            rg_real *out[3][4];
            both_ways(out[0], D, functions[f], false, 1);
            both_ways(out[1], D, functions[f], true, 1);
            both_ways(out[2], D, functions[f], true, 3);
            const size_t count[] = { G * H * W * 5, G * H * W * D, 9 * D * 5, 5 };
            for (int i = 0; i < 4; i++) {
                assert_memory_equal(out[0][i], out[1][i], count[i] * sizeof(rg_real));
                assert_memory_equal(out[1][i], out[2][i], count[i] * sizeof(rg_real));
                for (int k = 0; k < 3; k++) rg_free(out[k][i]);
            }
        }
}

/* ------------------------------------------------------------------------------------ pools and batch normalisation */

/* The largest, or the mean, of what a window sees of a column, number by number. */
static double plain_pool(const setting *s, size_t i, size_t d, bool max)
{
    double best = 0, sum = 0, inside = 0;
    for (size_t j = 0; j < s->taps.K; j++) {
        const int64_t row = rg_taps__row(&s->taps, i, j);
        if (row < 0) continue;
        const double v = (double)s->x->data[(size_t)row * s->x->ld + d];
        best = inside == 0 || v > best ? v : best;
        sum += v, inside++;
    }
    return max ? best : inside > 0 ? sum / inside : 0;
}

static void pools_equal_plain_loops(void **state)
{
    (void)state;
    rg_team *team;
    assert_int_equal(rg_team_new(&team, 3), RG_OK);
    for (size_t w = 0; w < WINDOWS; w++)
        for (size_t d = 0; d < WIDTHS; d++) {
            setting s;
            open_setting(&s, team, &windows[w], widths[d]);
            const rg_tensor *most = rg_max_pool2d(s.t, s.x, &windows[w]),
                            *mean = rg_average_pool2d(s.t, s.x, &windows[w]);
            for (size_t i = 0; i < s.taps.units * s.taps.out * s.D; i++) {
                assert_true((double)rg_tensor_at(most, i / s.D, i % s.D) == plain_pool(&s, i / s.D, i % s.D, true));
                assert_float_equal(rg_tensor_at(mean, i / s.D, i % s.D), plain_pool(&s, i / s.D, i % s.D, false), 1e-6);
            }
            rg_tape_free(s.t);
        }
    rg_team_free(team);
}

/* Results and gradients of pools and a batch norm on 1 or 3 threads. */
static void pooled_and_normed(rg_real *out, int threads)
{
    enum { MANY = 40, D = 33 };
    const rg_window three = { 3, 3, 1, 1, 1 };
    rg_team        *team;
    rg_tape        *t;
    rg_params      *params;
    rg_real        *xs = numbers(MANY * H * W * D, 1), *gs = numbers(D, 2), *bs = numbers(D, 3),
            *dy = numbers(MANY * H * W * D, 4);
    assert_int_equal(rg_params_new(&params), RG_OK);
    rg_param *mean = rg_params_add(params, "mean", RG_KEPT, 1, D, RG_INIT_ZERO, 0),
             *variance = rg_params_add(params, "v", RG_KEPT, 1, D, RG_INIT_ONE, 0);
    assert_int_equal(rg_params_build(params, 1), RG_OK);
    assert_int_equal(rg_team_new(&team, threads), RG_OK);
    assert_int_equal(rg_tape_new(&t, &(rg_tape_config){ .record = true, .learn = true, .team = team }), RG_OK);
    rg_tensor *x = rg_input(t, xs, MANY * H * W, D, rg_tape_pictures(t, MANY, H, W)), *g = rg_input(t, gs, 1, D, NULL),
              *b = rg_input(t, bs, 1, D, NULL);
    rg_tensor *y =
        rg_average_pool2d(t, rg_max_pool2d(t, rg_batch_norm(t, x, g, b, mean, variance, 0.1, 1e-5), &three), &three);
    assert_int_equal(rg_tape_backward_from(t, y, dy), RG_OK);
    memcpy(out, rg_tensor_data(y), MANY * H * W * D * sizeof *out);
    memcpy(out + MANY * H * W * D, rg_tape_gradient(t, x), MANY * H * W * D * sizeof *out);
    memcpy(out + 2 * MANY * H * W * D, rg_tape_gradient(t, g), D * sizeof *out);
    memcpy(out + 2 * MANY * H * W * D + D, rg_param_data(mean), D * sizeof *out);
    rg_tape_free(t);
    rg_team_free(team);
    rg_params_free(params);
    rg_free(xs), rg_free(gs), rg_free(bs), rg_free(dy);
}

static void the_number_of_threads_does_not_show_in_pools_and_batch_norms(void **state)
{
    (void)state;
    const size_t n = 2 * 40 * H * W * 33 + 66;
    rg_real     *one = numbers(n, 1), *three = numbers(n, 2);
    pooled_and_normed(one, 1);
    pooled_and_normed(three, 3);
    assert_memory_equal(one, three, n * sizeof *one);
    rg_free(one), rg_free(three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_gathered_in_runs_equal_those_gathered_tap_by_tap),
        cmocka_unit_test(gradients_of_columns_go_back_with_the_bits_of_the_plain_way),
        cmocka_unit_test(pools_equal_plain_loops),
        cmocka_unit_test(the_number_of_threads_does_not_show_in_pools_and_batch_norms),
        cmocka_unit_test(an_activation_inside_and_the_number_of_threads_do_not_show_in_the_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
