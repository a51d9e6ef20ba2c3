/* map.c - functions of one number over arrays, and their derivatives. */
#include "tensor/kernels/elementary.h"
#include "tensor/kernels/isa.h"

INLINE vec identity(vec x) { return x; }
INLINE vec relu(vec x) { return larger((vec){0}, x); }
INLINE vec leaky_relu(vec x) { return choose(x > 0.0f, x, 0.2f * x); }
INLINE vec elu(vec x) { return choose(x > 0.0f, x, vec_expm1(smaller((vec){0}, x))); }
INLINE vec gelu(vec x) { return 0.5f * x * (1.0f + vec_erf(x * 0.70710678f)); }

#define MAP(call) EACH(n, vec v = get(x + i, c); put(y + i, call, c);)

void ISA(map)(rg_activation f, size_t n, float *y, const float *x)
{
    switch (f) {
    case RG_RELU: MAP(relu(v)); break;
    case RG_LEAKY_RELU: MAP(leaky_relu(v)); break;
    case RG_ELU: MAP(elu(v)); break;
    case RG_GELU: MAP(gelu(v)); break;
    case RG_TANH: MAP(vec_tanh(v)); break;
    case RG_SIGMOID: MAP(vec_sigmoid(v)); break;
    case RG_SOFTPLUS: MAP(vec_softplus(v)); break;
    case RG_EXP: MAP(vec_exp(v)); break;
    case RG_LOG: MAP(vec_log(v)); break;
    default: MAP(identity(v)); break;
    }
}

/* d/dx [ x P(x) ] = P(x) + x p(x) with the normal distribution's P and density p */
INLINE vec gelu_slope(vec x)
{
    return 0.5f * (1.0f + vec_erf(x * 0.70710678f)) + x * 0.39894228f * vec_exp(-0.5f * x * x);
}

#define SLOPE(from, slope)                                       \
    EACH(n, vec v = get((from) + i, c); (void)v; vec d = (slope) * get(dy + i, c); \
         put(dx + i, add ? get(dx + i, c) + d : d, c);)

void ISA(map_backward)(rg_activation f, size_t n, float *dx, const float *x, const float *y, const float *dy, bool add)
{
    const vec zero = {0}, one = same(1.0f);
    switch (f) {
    case RG_RELU: SLOPE(y, choose(v > zero, one, zero)); break;
    case RG_LEAKY_RELU: SLOPE(y, choose(v > zero, one, same(0.2f))); break;
    case RG_ELU: SLOPE(y, choose(v > zero, one, v + 1.0f)); break;
    case RG_GELU: SLOPE(x, gelu_slope(v)); break;
    case RG_TANH: SLOPE(y, one - v * v); break;
    case RG_SIGMOID: SLOPE(y, v * (one - v)); break;
    case RG_SOFTPLUS: SLOPE(y, -vec_expm1(-v)); break;
    case RG_EXP: SLOPE(y, v); break;
    case RG_LOG: SLOPE(y, vec_exp(-v)); break;
    default: SLOPE(dy, one); break;
    }
}
