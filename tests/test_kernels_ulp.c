/* The elementary functions of every table against libm in double, over dense samples of all floats: error in units of
 * the last place. The figures in src/tensor/kernels/elementary.h are what this prints. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tensor/kernels.h"

static double exact(rg_activation f, double x)
{
    switch (f) {
    case RG_EXP: return exp(x);
    case RG_LOG: return log(x);
    case RG_TANH: return tanh(x);
    case RG_SIGMOID: return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
    case RG_SOFTPLUS: return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
    case RG_ELU: return x > 0 ? x : expm1(x);
    default: return 0.5 * x * (1 + erf(x * sqrt(0.5)));
    }
}

/* The distance of two neighbouring floats at x. */
static double unit(double x)
{
    int exponent;
    if (fabs(x) < ldexp(1, -126)) return ldexp(1, -149);
    frexp(x, &exponent);
    return ldexp(1, exponent - 24);
}

static double error_in_units(float got, double want)
{
    if (isnan(want)) return isnan(got) ? 0 : INFINITY;
    if (fabs(want) >= ldexp(1, 128) - ldexp(1, 103)) return isinf(got) && (got > 0) == (want > 0) ? 0 : INFINITY;
    return isfinite(got) ? fabs((double)got - want) / unit(want) : INFINITY;
}

static float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double largest_error(const rg_kernels *k, rg_activation f, float *where)
{
    enum { BATCH = 1000 };
    float x[BATCH], y[BATCH];
    double worst = 0;
    *where = 0;
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32;) {
        for (size_t i = 0; i < BATCH; i++, bits += 6151) x[i] = from_bits((uint32_t)bits);
        k->map(f, BATCH, y, x);
        for (size_t i = 0; i < BATCH; i++) {
            double error = error_in_units(y[i], exact(f, (double)x[i]));
            if (error > worst) worst = error, *where = x[i];
        }
    }
    return worst;
}

static void elementary_functions_keep_their_stated_error(void **state)
{
    (void)state;
    static const struct {
        rg_activation f;
        double        fused, split; /* with and without FMA */
    } limits[] = { { RG_EXP, 1.1, 2 },   { RG_LOG, 1.1, 2 },    { RG_TANH, 2, 3 },
                   { RG_SIGMOID, 2, 3 }, { RG_SOFTPLUS, 2, 3 }, { RG_ELU, 2, 3 } };
    for (const rg_kernels *const *k = rg_kernels_all() + 1; *k; k++)
        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
            float where;
            double error = largest_error(*k, limits[i].f, &where);
            const char *name = rg_activation_name(limits[i].f);
            print_message("%-9s %-8s %.2f ulp (at %.9g)\n", (*k)->name, name, error, (double)where);
            double limit = strcmp((*k)->name, "baseline") == 0 ? limits[i].split : limits[i].fused;
            if (error > limit) fail_msg("%s %s is %.2f ulp off at %.9g", (*k)->name, name, error, (double)where);
        }
}

/* erf is only reachable through gelu(x) = x/2 (1 + erf(x / sqrt 2)):  erf(z) = 2 gelu(x) / x - 1. For x > 0 nothing cancels, so
 * gelu is as exact there as erf; below zero 1 + erf cancels and the error is absolute. */
static void gelu_is_exact_above_zero_and_small_below(void **state)
{
    (void)state;
    for (const rg_kernels *const *k = rg_kernels_all() + 1; *k; k++) {
        double worst = 0, below = 0;
        for (float x = 1e-6f; x < 12; x *= 1.0001f) {
            float in[2] = {x, -x}, y[2];
            (*k)->map(RG_GELU, 2, y, in);
            worst = fmax(worst, error_in_units(y[0], exact(RG_GELU, (double)x)));
            below = fmax(below, fabs((double)y[1] - exact(RG_GELU, -(double)x)));
        }
        print_message("%-9s gelu     %.2f ulp above 0, %.1e below\n", (*k)->name, worst, below);
        assert_true(worst <= 4);
        assert_true(below <= 4e-7);
    }
}

static void extremes_are_those_of_libm(void **state)
{
    (void)state;
    static const float x[] = { 0,        -0.0f,   INFINITY, -INFINITY, NAN,    88.72283f, 88.7229f,
                               -103.97f, -104.1f, 1e-45f,   3e38f,     -3e38f, -1 };
    enum { N = sizeof x / sizeof *x };
    static const rg_activation functions[] = {RG_EXP, RG_LOG, RG_TANH, RG_SIGMOID, RG_SOFTPLUS, RG_ELU};
    for (const rg_kernels *const *k = rg_kernels_all(); *k; k++)
        for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
            float y[N];
            (*k)->map(functions[f], N, y, x);
            for (size_t i = 0; i < N; i++) {
                double want = exact(functions[f], (double)x[i]);
                if (error_in_units(y[i], want) > 4)
                    fail_msg("%s %s(%g) is %g, not %g", (*k)->name, rg_activation_name(functions[f]), (double)x[i],
                             (double)y[i], want);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementary_functions_keep_their_stated_error),
        cmocka_unit_test(gelu_is_exact_above_zero_and_small_below),
        cmocka_unit_test(extremes_are_those_of_libm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
