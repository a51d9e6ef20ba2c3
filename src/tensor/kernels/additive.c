/* additive.c - the additive score of one pair, sum of v f(x + y), and its gradients, in one pass each.
 *
 * tanh and leaky relu stay in registers; other functions go through pieces of a cache line or a few. */
#include "tensor/kernels/elementary.h"
#include "tensor/kernels/isa.h"

/* tanh as x P(x^2) / Q(x^2), fitted for the smallest largest relative error below 7.905, where tanh is 1 - 3e-7:
 * within 5 ulp, half the work of the exact one, which scores that are sums of hundreds do not need. */
INLINE vec quick_tanh(vec x)
{
    const vec z = larger(same(-7.905f), smaller(same(7.905f), x)), s = z * z; /* a NaN stays */
    vec p = same(2.407607927e-11f), q = same(2.380449977e-04f);
    p = p * s - 1.489651949e-08f;
    p = p * s + 9.936307918e-06f;
    p = p * s + 2.991802802e-03f;
    p = p * s + 1.298464201e-01f;
    p = p * s + 9.999999832e-01f;
    q = q * s + 2.405190771e-02f;
    q = q * s + 4.631795987e-01f;
    q = q * s + 1.0f;
    return z * p / q;
}

INLINE vec leaky_relu(vec x) { return choose(x > 0.0f, x, 0.2f * x); }

enum { PIECE = 64 };

/* Numbers to the next whole register: buffers of a piece are written and read in registers only, because what was
 * stored in parts cannot be loaded before it has reached the cache. */
INLINE size_t whole(size_t n) { return (n + LANES - 1) / LANES * LANES; }

static float by_pieces(rg_activation f, size_t n, const float *x, const float *y, const float *v)
{
    sums s = {0};
    for (size_t at = 0; at < n; at += PIECE) {
        const size_t some = n - at < PIECE ? n - at : PIECE;
        float        z[PIECE] __attribute__((aligned(64)));
        EACH(some, store(z + i, get(x + at + i, c) + get(y + at + i, c)););
        ISA(map)(f, whole(some), z, z);
        EACH(some, s.of[p] += get(v + at + i, c) * only(load(z + i), c, 0););
    }
    return fold_sum(&s);
}

float ISA(additive)(rg_activation f, size_t n, const float *x, const float *y, const float *v)
{
    sums s = {0};
    if (f == RG_TANH) EACH(n, s.of[p] += get(v + i, c) * quick_tanh(get(x + i, c) + get(y + i, c)););
    else if (f == RG_LEAKY_RELU) EACH(n, s.of[p] += get(v + i, c) * leaky_relu(get(x + i, c) + get(y + i, c)););
    else return by_pieces(f, n, x, y, v);
    return fold_sum(&s);
}

static void pieces_backward(rg_activation f, size_t n, float *dx, float *dy, float *dv, const float *x, const float *y,
                            const float *v, float de)
{
    for (size_t at = 0; at < n; at += PIECE) {
        const size_t some = n - at < PIECE ? n - at : PIECE;
        float        s[PIECE] __attribute__((aligned(64))), z[PIECE] __attribute__((aligned(64))),
            g[PIECE] __attribute__((aligned(64)));
        EACH(some, store(s + i, get(x + at + i, c) + get(y + at + i, c)); store(g + i, de * get(v + at + i, c)););
        ISA(map)(f, whole(some), z, s);
        ISA(map_backward)(f, whole(some), g, s, z, g, false);
        EACH(some, const vec a = ready(get(dx + at + i, c) + load(g + i)), b = ready(get(dy + at + i, c) + load(g + i)),
                             d = ready(get(dv + at + i, c) + de * load(z + i));
             put_ready(dx + at + i, a, c); put_ready(dy + at + i, b, c); put_ready(dv + at + i, d, c););
    }
}

#define BACKWARD(function, slope)                                                                              \
    EACH(n, const vec z = function(get(x + i, c) + get(y + i, c)); const vec g = de * get(v + i, c) * (slope); \
         const vec a = ready(get(dx + i, c) + g), b = ready(get(dy + i, c) + g), s = ready(get(dv + i, c) + de * z);   \
         put_ready(dx + i, a, c); put_ready(dy + i, b, c); put_ready(dv + i, s, c);)

void ISA(additive_backward)(rg_activation f, size_t n, float *dx, float *dy, float *dv, const float *x, const float *y,
                            const float *v, float de)
{
    if (f == RG_TANH) BACKWARD(quick_tanh, 1.0f - z * z);
    else if (f == RG_LEAKY_RELU) BACKWARD(leaky_relu, choose(z > 0.0f, same(1.0f), same(0.2f)));
    else pieces_backward(f, n, dx, dy, dv, x, y, v, de);
}
