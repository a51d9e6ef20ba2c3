/* vectors.c - sums, products and reductions of arrays. */
#include "tensor/kernels/isa.h"
#include "tensor/kernels/vec.h"

void ISA(add)(size_t n, float *z, const float *x, const float *y)
{
    EACH(n, put(z + i, get(x + i, c) + get(y + i, c), c););
}

void ISA(mul)(size_t n, float *z, const float *x, const float *y, bool add)
{
    if (add) EACH(n, put(z + i, get(z + i, c) + get(x + i, c) * get(y + i, c), c););
    else EACH(n, put(z + i, get(x + i, c) * get(y + i, c), c););
}

void ISA(axpy)(size_t n, float *y, float a, const float *x)
{
    EACH(n, put(y + i, get(y + i, c) + same(a) * get(x + i, c), c););
}

void ISA(scale)(size_t n, float *y, float a, const float *x)
{
    EACH(n, put(y + i, same(a) * get(x + i, c), c););
}

float ISA(dot)(size_t n, const float *x, const float *y)
{
    sums s = {0};
    EACH(n, s.of[p] += get(x + i, c) * get(y + i, c););
    return fold_sum(&s);
}

float ISA(sum)(size_t n, const float *x)
{
    sums s = {0};
    EACH(n, s.of[p] += get(x + i, c););
    return fold_sum(&s);
}

float ISA(max)(size_t n, const float *x)
{
    sums most;
    UNROLL for (size_t p = 0; p < PARTS; p++) most.of[p] = same(x[0]);
    EACH(n, most.of[p] = larger(only(get(x + i, c), c, x[0]), most.of[p]););
    return fold_max(&most);
}
