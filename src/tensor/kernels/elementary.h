/* elementary.h - exp, log, tanh, sigmoid, erf and what is made of them, on registers.
 *
 * Each reduces its argument and finishes with a polynomial whose coefficients were fitted for the smallest largest
 * relative error on the reduced range. Largest errors measured against double over dense samples of all floats (FMA
 * instruction sets; tests/test_kernels.c repeats it):
 *
 * No sum here has two products, because a compiler may fuse either: all instruction sets with FMA agree bit for bit.
 *
 *     exp 1.02   log 0.83   tanh 1.23   sigmoid 1.91   softplus 1.79   elu 0.84   gelu above 0 (erf) 1.50 ulp
 *
 * Infinities and NaN as in libm. */
#ifndef RG_TENSOR_KERNELS_ELEMENTARY_H
#define RG_TENSOR_KERNELS_ELEMENTARY_H

#include <math.h>

#include "tensor/kernels/vec.h"

#define LOG2_HIGH 0.693145752f      /* log 2 in 15 bits: n times it is exact */
#define LOG2_LOW 1.42860677e-6f     /* and the rest */
#define ROUNDER 12582912.0f         /* 1.5 * 2^23: adding it rounds to an integer in the low bits */

INLINE vec power_of_two(ivec n) { return (vec)((n + 127) << 23); } /* -126 .. 127 */

/* x = n log 2 + r with |r| <= log(2)/2; returns exp(r) - 1. */
INLINE vec exp_rest(vec x, ivec *n)
{
    vec rounded = x * 1.44269504f + ROUNDER;
    *n = (ivec)rounded - (ivec)same(ROUNDER);
    vec whole = rounded - ROUNDER;
    vec r = (x - whole * LOG2_HIGH) - whole * LOG2_LOW;
    vec p = same(1.395297237e-03f);
    p = p * r + 8.370321244e-03f;
    p = p * r + 4.166616872e-02f;
    p = p * r + 1.666650623e-01f;
    p = p * r + 5.000000000e-01f;
    return (p * r) * r + r;
}

INLINE vec vec_exp(vec x)
{
    vec inside = larger(same(-104.0f), smaller(same(89.0f), x)); /* a NaN stays: both return their second argument */
    ivec n;
    vec p = exp_rest(inside, &n) + 1.0f;
    ivec half = n >> 1; /* in two steps: results below the normal numbers, and 2^128 */
    return p * power_of_two(half) * power_of_two(n - half);
}

INLINE vec vec_expm1(vec x) /* for x <= 0, exact near 0 */
{
    vec inside = larger(same(-80.0f), x);
    ivec n;
    vec p = exp_rest(inside, &n), scale = power_of_two(n);
    return p * scale + (scale - 1.0f);
}

INLINE vec vec_log(vec x)
{
    ivec tiny = x < 1.17549435e-38f;
    vec y = choose(tiny, x * 8388608.0f, x);
    ivec e = (ivec)((uvec)y - 0x3f3504f3u) >> 23; /* sqrt(1/2) <= fraction < sqrt 2; unsigned: negative x wraps to a NaN below */
    vec fraction = (vec)((uvec)y - ((uvec)e << 23)) - 1.0f;
    vec n = __builtin_convertvector(e - (tiny & 23), vec);
    vec f = fraction, p = same(6.746638566e-02f);
    p = p * f - 1.167565137e-01f;
    p = p * f + 1.188816279e-01f;
    p = p * f - 1.240558922e-01f;
    p = p * f + 1.421955228e-01f;
    p = p * f - 1.666799635e-01f;
    p = p * f + 2.000211924e-01f;
    p = p * f - 2.500000894e-01f;
    p = p * f + 3.333331347e-01f;
    vec log1p = ((p * f - 0.5f) * f) * f + f;
    vec result = n * LOG2_HIGH + (n * LOG2_LOW + log1p);
    result = choose(x == 0.0f, same(-INFINITY), result);
    result = choose(x < 0.0f, same(NAN), result);
    return choose((x == INFINITY) | (x != x), x, result);
}

INLINE vec vec_tanh(vec x)
{
    vec size = magnitude(x), s = x * x;
    vec p = same(-5.603913683e-03f);
    p = p * s + 2.055171877e-02f;
    p = p * s - 5.371410772e-02f;
    p = p * s + 1.333115250e-01f;
    p = p * s - 3.333327174e-01f;
    vec small = (p * s) * x + x;
    vec large = 1.0f - 2.0f / (vec_exp(size + size) + 1.0f);
    return choose(size < 0.625f, small, with_sign_of(large, x));
}

INLINE vec vec_sigmoid(vec x)
{
    vec e = vec_exp(-magnitude(x));
    return choose(x < 0.0f, e, same(1.0f)) / (1.0f + e);
}

INLINE vec vec_erf(vec x)
{
    vec size = magnitude(x), s = x * x;
    vec p = same(8.215426351e-05f);
    p = p * s - 8.105965680e-04f;
    p = p * s + 5.197797436e-03f;
    p = p * s - 2.685810439e-02f;
    p = p * s + 1.128367260e-01f;
    p = p * s - 3.761263192e-01f;
    p = p * s + 1.283791661e-01f;
    vec small = p * x + x;
    vec t = smaller(same(4.0f), size); /* erf(4) rounds to 1; -log(1 - erf(t)) is a polynomial from 0.9 on */
    vec q = same(-1.982197282e-04f);
    q = q * t + 3.065490862e-03f;
    q = q * t - 2.231521532e-02f;
    q = q * t + 1.041136831e-01f;
    q = q * t + 6.369760633e-01f;
    q = q * t + 1.127797246e+00f;
    q = q * t + 1.664471638e-04f;
    vec large = 1.0f - vec_exp(-q);
    return choose(size < 0.9375f, small, with_sign_of(large, x));
}

/* max(x, 0) + log(1 + e) with e = exp(-|x|); what 1 + e rounds away is put back. */
INLINE vec vec_softplus(vec x)
{
    vec e = vec_exp(-magnitude(x)), u = 1.0f + e;
    return larger((vec){0}, x) + (vec_log(u) + (e - (u - 1.0f)) / u);
}

#endif
