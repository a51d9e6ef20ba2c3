/* Every kernel table against the plain loops, on sizes around every register width; FMA tables against each other,
 * bit for bit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tensor/kernels.h"

static const size_t sizes[] = {0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 257};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 257 };

/* An array of exactly n numbers between -range and range, so that a sanitizer sees any access outside. */
static float *numbers(size_t n, float range, uint64_t seed)
{
    float *x = rg_alloc(n * sizeof *x);
    rg_random random = rg_random_new(seed, 7);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) x[i] = range * (float)(2 * rg_random_uniform(&random) - 1);
    return x;
}

static float *copy_of(const float *x, size_t n)
{
    float *y = rg_alloc(n * sizeof *y);
    assert_non_null(y);
    memcpy(y, x, n * sizeof *y);
    return y;
}

static void expect_near(const char *table, const char *what, size_t n, const float *got, const float *want,
                        float tolerance)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(want[i]) ? isnan(got[i]) : got[i] == want[i]) continue;
        if (!(fabsf(got[i] - want[i]) <= tolerance * (1 + fabsf(want[i]))))
            fail_msg("%s %s: element %zu of %zu is %.9g, plain has %.9g", table, what, i, n, (double)got[i],
                     (double)want[i]);
    }
}

#define EACH_TABLE(k) for (const rg_kernels *const *all_ = rg_kernels_all(), *k; (k = *all_) != NULL; all_++)

static const rg_kernels *plain(void)
{
    return rg_kernels_all()[0];
}

static bool has_fma(const rg_kernels *k)
{
    return strcmp(k->name, "plain") != 0 && strcmp(k->name, "baseline") != 0;
}

/* ------------------------------------------------------------------------------------------------- selection */

/* In a child process, because a process chooses once. Must be the first test: the parent has not chosen yet. */
static int chosen_in_child(const char *wanted)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("REGARD_CPU", wanted, 1);
        const rg_kernels *const *all = rg_kernels_all(), *best = all[0], *expected = NULL;
        for (; *all; all++) {
            best = *all;
            if (strcmp((*all)->name, wanted) == 0) expected = *all;
        }
        _exit(rg_kernel() == (expected ? expected : best) && strcmp(rg_kernels_all()[0]->name, "plain") == 0 ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void regard_cpu_names_the_table(void **state)
{
    (void)state;
    static const char *const names[] = {"plain", "baseline", "avx2", "wide", "avx512", "neon", "abacus", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) assert_int_equal(chosen_in_child(names[i]), 0);
}

/* ----------------------------------------------------------------------------------------------- elementwise */

static void every_table_maps_like_plain(void **state)
{
    (void)state;
    EACH_TABLE(k)
    for (size_t s = 0; s < SIZES; s++)
        for (int f = 0; f < RG_ACTIVATIONS; f++) {
            size_t n = sizes[s];
            float *x = numbers(n, 9, s + 1), *dy = numbers(n, 2, s + 50), *y = numbers(n, 1, 1),
                  *want = numbers(n, 1, 1);
            if (f == RG_LOG)
                for (size_t i = 0; i < n; i++) x[i] = fabsf(x[i]) + 0.01f;
            plain()->map((rg_activation)f, n, want, x);
            k->map((rg_activation)f, n, y, x);
            expect_near(k->name, rg_activation_name((rg_activation)f), n, y, want, 1e-6f);
            float *there = copy_of(x, n);
            k->map((rg_activation)f, n, there, there);
            assert_memory_equal(there, y, n * sizeof *y);

            for (int add = 0; add < 2; add++) {
                float *dx = numbers(n, 1, 3), *dwant = copy_of(dx, n);
                const float *input = rg_slope_reads_input((rg_activation)f) ? x : NULL; /* nobody else may read it */
                plain()->map_backward((rg_activation)f, n, dwant, input, want, dy, add);
                k->map_backward((rg_activation)f, n, dx, input, want, dy, add);
                expect_near(k->name, rg_activation_name((rg_activation)f), n, dx, dwant, 2e-6f);
                rg_free(dx), rg_free(dwant);
            }
            rg_free(x), rg_free(dy), rg_free(y), rg_free(want), rg_free(there);
        }
}

static void not_a_number_stays_one(void **state)
{
    (void)state;
    EACH_TABLE(k)
    for (int f = 0; f < RG_ACTIVATIONS; f++) {
        float x[19], y[19];
        for (size_t i = 0; i < 19; i++) x[i] = i % 3 == 1 ? NAN : 0.5f;
        k->map((rg_activation)f, 19, y, x);
        for (size_t i = 0; i < 19; i++)
            if ((isnan(y[i]) != 0) != (i % 3 == 1)) fail_msg("%s %s", k->name, rg_activation_name((rg_activation)f));
    }
}

static void every_table_adds_and_multiplies_like_plain(void **state)
{
    (void)state;
    EACH_TABLE(k)
    for (size_t s = 0; s < SIZES; s++) {
        size_t n = sizes[s];
        float *x = numbers(n, 3, s), *y = numbers(n, 3, s + 9), *z = numbers(n, 3, s + 20), *want = copy_of(z, n);
        plain()->add(n, want, x, y), k->add(n, z, x, y);
        expect_near(k->name, "add", n, z, want, 0);
        for (int add = 0; add < 2; add++) {
            plain()->mul(n, want, x, y, add), k->mul(n, z, x, y, add);
            expect_near(k->name, "mul", n, z, want, 1e-6f);
        }
        plain()->axpy(n, want, 0.3f, x), k->axpy(n, z, 0.3f, x);
        expect_near(k->name, "axpy", n, z, want, 1e-6f);
        plain()->scale(n, want, -1.7f, x), k->scale(n, z, -1.7f, x);
        expect_near(k->name, "scale", n, z, want, 0);
        float got[3] = {k->dot(n, x, y), k->sum(n, x), n ? k->max(n, x) : 0};
        float expected[3] = {plain()->dot(n, x, y), plain()->sum(n, x), n ? plain()->max(n, x) : 0};
        expect_near(k->name, "dot, sum, max", 3, got, expected, 2e-5f);
        assert_true(got[2] == expected[2]);
        rg_free(x), rg_free(y), rg_free(z), rg_free(want);
    }
}

/* ------------------------------------------------------------------------------------------------------ rows */

static void every_table_has_the_same_softmax(void **state)
{
    (void)state;
    EACH_TABLE(k)
    for (size_t s = 0; s < SIZES; s++)
        for (int masked = 0; masked < 2; masked++) {
            size_t n = sizes[s];
            float *x = numbers(n, 20, s + 3), *y = numbers(n, 1, 1), *want = numbers(n, 1, 1), *da = numbers(n, 1, 8);
            if (masked)
                for (size_t i = 0; i < n; i += 2) x[i] = -INFINITY; /* n = 1: the whole row */
            float got[1] = {k->softmax(n, y, x)}, expected[1] = {plain()->softmax(n, want, x)};
            expect_near(k->name, "softmax", n, y, want, 1e-6f);
            assert_true(k->softmax(n, NULL, x) == got[0]); /* only the sum is asked for */
            expect_near(k->name, "log of the sum", 1, got, expected, 1e-6f);
            for (int add = 0; add < 2; add++) {
                float *dx = numbers(n, 1, 4), *dwant = copy_of(dx, n);
                k->softmax_backward(n, dx, want, da, add), plain()->softmax_backward(n, dwant, want, da, add);
                expect_near(k->name, "softmax backward", n, dx, dwant, 1e-6f);
                rg_free(dx), rg_free(dwant);
            }
            rg_free(x), rg_free(y), rg_free(want), rg_free(da);
        }
}

static void every_table_has_the_same_layer_norm(void **state)
{
    (void)state;
    EACH_TABLE(k)
    for (size_t s = 1; s < SIZES; s++) {
        size_t n = sizes[s];
        float *x = numbers(n, 4, s), *g = numbers(n, 2, 5), *b = numbers(n, 2, 6), *dy = numbers(n, 1, 7);
        float *y = numbers(n, 1, 1), *want = numbers(n, 1, 1), got[2], expected[2];
        k->norm(n, y, &got[0], &got[1], x, g, b, 1e-5f),
            plain()->norm(n, want, &expected[0], &expected[1], x, g, b, 1e-5f);
        if (n > 1) { /* one number has no spread: its rstd is 1/sqrt(eps) and magnifies any rounding */
            expect_near(k->name, "norm", n, y, want, 1e-5f);
            expect_near(k->name, "mean and rstd", 2, got, expected, 1e-5f);
        }
        for (int add = 0; add < 2; add++) {
            float *dx = numbers(n, 1, 2), *dwant = copy_of(dx, n), *dg = numbers(n, 1, 3), *dgwant = copy_of(dg, n);
            float *db = numbers(n, 1, 4), *dbwant = copy_of(db, n);
            float rstd = n > 1 ? expected[1] : 1;
            k->norm_backward(n, dx, dg, db, x, expected[0], rstd, g, dy, add);
            plain()->norm_backward(n, dwant, dgwant, dbwant, x, expected[0], rstd, g, dy, add);
            expect_near(k->name, "norm backward", n, dx, dwant, 2e-6f);
            expect_near(k->name, "gain", n, dg, dgwant, 2e-6f);
            expect_near(k->name, "bias", n, db, dbwant, 1e-6f);
            k->norm_backward(n, dx, NULL, NULL, x, expected[0], rstd, g, dy, false);
            rg_free(dx), rg_free(dwant), rg_free(dg), rg_free(dgwant), rg_free(db), rg_free(dbwant);
        }
        rg_free(x), rg_free(g), rg_free(b), rg_free(dy), rg_free(y), rg_free(want);
    }
}

/* --------------------------------------------------------------------------------------------------- dropout */

static void every_table_drops_the_same_elements(void **state)
{
    (void)state;
    static const uint64_t positions[] = {0, 1, 2, 3, 4, 13, 0x3fffffff0u, 0x3fffffffdu, UINT64_MAX / 2};
    const uint32_t key[2] = {0x12345678u, 0x9abcdef0u};
    EACH_TABLE(k)
    for (size_t s = 0; s < SIZES; s++)
        for (size_t p = 0; p < sizeof positions / sizeof *positions; p++)
            for (int add = 0; add < 2; add++) {
                size_t n = sizes[s];
                float *x = numbers(n, 3, 5), *y = numbers(n, 1, 2), *want = copy_of(y, n);
                k->dropout(n, y, x, 0.3f, key, 77, positions[p], add);
                plain()->dropout(n, want, x, 0.3f, key, 77, positions[p], add);
                if (add) expect_near(k->name, "dropout", n, y, want, 1e-6f);
                else assert_memory_equal(y, want, n * sizeof *y);
                rg_free(x), rg_free(y), rg_free(want);
            }
}

static void dropout_keeps_the_right_share_and_does_not_depend_on_the_cut(void **state)
{
    (void)state;
    enum { N = 20000 };
    const uint32_t key[2] = {1, 2};
    EACH_TABLE(k)
    {
        float *x = numbers(N, 1, 1), *whole = numbers(N, 1, 1), *parts = numbers(N, 1, 1);
        for (size_t i = 0; i < N; i++) x[i] = 1;
        k->dropout(N, whole, x, 0.1f, key, 3, 10, false);
        for (size_t at = 0, step = 1; at < N; at += step, step = step % 37 + 1)
            k->dropout(at + step < N ? step : N - at, parts + at, x + at, 0.1f, key, 3, 10 + at, false);
        assert_memory_equal(whole, parts, N * sizeof *whole);
        size_t kept = 0;
        for (size_t i = 0; i < N; i++) kept += whole[i] != 0;
        assert_in_range(kept, 17850, 18150); /* 18,000 +- 3.5 deviations */
        k->dropout(N, whole, x, 0, key, 3, 10, false);
        assert_memory_equal(whole, x, N * sizeof *x);
        rg_free(x), rg_free(whole), rg_free(parts);
    }
}

/* ------------------------------------------------------------------------------------------------- agreement */

static void expect_same_bits(const rg_kernels *k, const char *what, size_t n, const float *got, const float *want)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(got + i, want + i, sizeof *got) != 0 && !(isnan(got[i]) && isnan(want[i])))
            fail_msg("%s %s: element %zu of %zu is %.9g, not %.9g", k->name, what, i, n, (double)got[i],
                     (double)want[i]);
}

/* gcc contracts a product and a sum only inside a basic block, and a sanitizer's check of an address ends one: the
 * bits are a promise of the builds people run. */
static void tables_with_fma_agree_bit_for_bit(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    return;
#endif
    const rg_kernels *first = NULL;
    EACH_TABLE(k)
    {
        if (!has_fma(k)) continue;
        if (!first) first = k;
        for (size_t s = 1; s < SIZES && k != first; s++) {
            size_t n = sizes[s];
            float *x = numbers(n, 9, s), *y = numbers(n, 2, s + 1), *u = numbers(n, 1, 1), *v = numbers(n, 1, 1), a[4],
                  b[4];
            for (int f = 0; f < RG_ACTIVATIONS; f++) {
                k->map((rg_activation)f, n, u, x), first->map((rg_activation)f, n, v, x);
                expect_same_bits(k, rg_activation_name((rg_activation)f), n, u, v);
                k->map_backward((rg_activation)f, n, u, x, y, x, true),
                    first->map_backward((rg_activation)f, n, v, x, y, x, true);
                expect_same_bits(k, rg_activation_name((rg_activation)f), n, u, v);
            }
            a[0] = k->dot(n, x, y), a[1] = k->sum(n, x), a[2] = k->softmax(n, u, x);
            b[0] = first->dot(n, x, y), b[1] = first->sum(n, x), b[2] = first->softmax(n, v, x);
            expect_same_bits(k, "dot, sum, log of the sum", 3, a, b);
            expect_same_bits(k, "row", n, u, v);
            k->norm(n, u, &a[0], &a[1], x, y, y, 1e-5f), first->norm(n, v, &b[0], &b[1], x, y, y, 1e-5f);
            expect_same_bits(k, "mean and rstd", 2, a, b);
            expect_same_bits(k, "row", n, u, v);
            k->norm_backward(n, u, NULL, NULL, x, 0.1f, 1.5f, y, x, false);
            first->norm_backward(n, v, NULL, NULL, x, 0.1f, 1.5f, y, x, false);
            expect_same_bits(k, "row", n, u, v);
            rg_free(x), rg_free(y), rg_free(u), rg_free(v);
        }
    }
}

static void activations_have_names(void **state)
{
    (void)state;
    for (int f = 0; f < RG_ACTIVATIONS; f++) {
        rg_activation found = RG_ACTIVATIONS;
        assert_int_equal(rg_activation_find(&found, rg_activation_name((rg_activation)f)), RG_OK);
        assert_int_equal(found, f);
    }
    rg_activation none;
    assert_int_equal(rg_activation_find(&none, "swosh"), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "swosh"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regard_cpu_names_the_table),
        cmocka_unit_test(every_table_maps_like_plain),
        cmocka_unit_test(not_a_number_stays_one),
        cmocka_unit_test(every_table_adds_and_multiplies_like_plain),
        cmocka_unit_test(every_table_has_the_same_softmax),
        cmocka_unit_test(every_table_has_the_same_layer_norm),
        cmocka_unit_test(every_table_drops_the_same_elements),
        cmocka_unit_test(dropout_keeps_the_right_share_and_does_not_depend_on_the_cut),
        cmocka_unit_test(tables_with_fma_agree_bit_for_bit),
        cmocka_unit_test(activations_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
