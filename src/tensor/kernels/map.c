/* map.c - functions of one number over arrays, and their derivatives.
 *
 * Each function is a loop over whole registers and, for the end of an array, one more register of which a part
 * counts. */
#include "tensor/kernels/elementary.h"
#include "tensor/kernels/isa.h"

INLINE vec identity(vec x) { return x; }
INLINE vec relu(vec x) { return larger((vec){0}, x); }
INLINE vec leaky_relu(vec x) { return choose(x > 0.0f, x, 0.2f * x); }
INLINE vec elu(vec x) { return choose(x > 0.0f, x, vec_expm1(smaller((vec){0}, x))); }
INLINE vec gelu(vec x) { return 0.5f * x * (1.0f + vec_erf(x * 0.70710678f)); }

INLINE vec swish(vec x) { return x * vec_sigmoid(x); }
INLINE vec gelu_inside(vec x) { return 0.79788456f * (x + 0.044715f * x * x * x); }
INLINE vec gelu_tanh(vec x) { return 0.5f * x * (1.0f + vec_tanh(gelu_inside(x))); }

/* Slopes from y = f(x), but where rg_slope_reads_input: from x. */
INLINE vec identity_slope(vec y) { return (void)y, same(1.0f); }
INLINE vec relu_slope(vec y) { return choose(y > 0.0f, same(1.0f), (vec){0}); }
INLINE vec leaky_relu_slope(vec y) { return choose(y > 0.0f, same(1.0f), same(0.2f)); }
INLINE vec elu_slope(vec y) { return choose(y > 0.0f, same(1.0f), y + 1.0f); }
INLINE vec tanh_slope(vec y) { return 1.0f - y * y; }
INLINE vec sigmoid_slope(vec y) { return y * (1.0f - y); }
INLINE vec softplus_slope(vec y) { return -vec_expm1(-y); }
INLINE vec exp_slope(vec y) { return y; }
INLINE vec log_slope(vec y) { return vec_exp(-y); }

/* d/dx [ x P(x) ] = P(x) + x p(x) with the normal distribution's P and density p */
INLINE vec gelu_slope(vec x)
{
    vec below = 0.5f * vec_erf(x * 0.70710678f) + 0.5f;
    return (x * 0.39894228f) * vec_exp(-0.5f * x * x) + below;
}

INLINE vec swish_slope(vec x)
{
    vec s = vec_sigmoid(x);
    return x * s * (1.0f - s) + s;
}

INLINE vec gelu_tanh_slope(vec x)
{
    vec u = vec_tanh(gelu_inside(x));
    return 0.5f * x * (1.0f - u * u) * (0.79788456f * (1.0f + 0.134145f * x * x)) + (0.5f * u + 0.5f);
}

/* Two loops backward, so that every compiler fuses the sum with its product. */
#define EACH_REGISTER(n, ...)                                                  \
    do {                                                                       \
        size_t i = 0;                                                          \
        for (; i + LANES <= (n); i += LANES) {                                 \
            const size_t c = LANES;                                            \
            __VA_ARGS__                                                        \
        }                                                                      \
        const size_t c = (n) - i;                                              \
        if (c) {                                                               \
            __VA_ARGS__                                                        \
        }                                                                      \
    } while (0)

#define FUNCTION(name, value, slope)                                                                               \
    static void name##_all(size_t n, float *y, const float *x)                                                     \
    {                                                                                                              \
        EACH_REGISTER(n, put(y + i, value(get(x + i, c)), c););                                                    \
    }                                                                                                              \
    static void name##_back(size_t n, float *dx, const float *from, const float *dy, bool add)                     \
    {                                                                                                              \
        if (add) EACH_REGISTER(n, put(dx + i, slope(get(from + i, c)) * get(dy + i, c) + get(dx + i, c), c););     \
        else EACH_REGISTER(n, put(dx + i, slope(get(from + i, c)) * get(dy + i, c), c););                          \
    }
FUNCTION(identity, identity, identity_slope)
FUNCTION(relu, relu, relu_slope)
FUNCTION(leaky_relu, leaky_relu, leaky_relu_slope)
FUNCTION(elu, elu, elu_slope)
FUNCTION(gelu, gelu, gelu_slope)
FUNCTION(tanh, vec_tanh, tanh_slope)
FUNCTION(sigmoid, vec_sigmoid, sigmoid_slope)
FUNCTION(softplus, vec_softplus, softplus_slope)
FUNCTION(exp, vec_exp, exp_slope)
FUNCTION(log, vec_log, log_slope)
FUNCTION(swish, swish, swish_slope)
FUNCTION(gelu_tanh, gelu_tanh, gelu_tanh_slope)

#define ENTRY(f, name) [f] = {name##_all, name##_back},
static const struct {
    void (*all)(size_t n, float *y, const float *x);
    void (*back)(size_t n, float *dx, const float *from, const float *dy, bool add);
} functions[RG_ACTIVATIONS] = { ENTRY(RG_IDENTITY, identity) ENTRY(RG_RELU, relu) ENTRY(RG_LEAKY_RELU, leaky_relu)
                                    ENTRY(RG_ELU, elu) ENTRY(RG_GELU, gelu) ENTRY(RG_TANH, tanh)
                                        ENTRY(RG_SIGMOID, sigmoid) ENTRY(RG_SOFTPLUS, softplus) ENTRY(RG_EXP, exp)
                                            ENTRY(RG_LOG, log) ENTRY(RG_SWISH, swish) ENTRY(RG_GELU_TANH, gelu_tanh) };

void ISA(map)(rg_activation f, size_t n, float *y, const float *x)
{
    functions[f].all(n, y, x);
}

void ISA(map_backward)(rg_activation f, size_t n, float *dx, const float *x, const float *y, const float *dy, bool add)
{
    functions[f].back(n, dx, rg_slope_reads_input(f) ? x : f == RG_IDENTITY ? dy : y, dy, add);
}
