/* memory.c - what a writing head does to a column of a memory, and its backward pass, one pass each. */
#include "tensor/kernels/isa.h"
#include "tensor/kernels/vec.h"

void ISA(rewrite)(size_t n, float *y, const float *m, float e, float a, const float *w)
{
    const vec erase = same(e), add = same(a);
    EACH(n, {
        const vec was = get(m + i, c), there = get(w + i, c);
        put(y + i, was + there * (add - erase * was), c);
    });
}

void ISA(rewrite_backward)(size_t n, float *dm, float *dw, float *de, float *da, const float *dy, const float *m,
                           float e, float a, const float *w)
{
    const vec erase = same(e), add = same(a);
    sums      erased = {0}, added = {0};
    EACH(n, {
        const vec d = get(dy + i, c), was = get(m + i, c), there = get(w + i, c),
                  d_was = d * was; /* no product has two uses: all tables contract alike */
        added.of[p] += there * d;
        erased.of[p] -= there * d_was;
        put(dw + i, get(dw + i, c) + d * (add - erase * was), c);
        put(dm + i, d * (1.0f - erase * there), c);
    });
    *de = fold_sum(&erased);
    *da = fold_sum(&added);
}

float ISA(axpy_dot)(size_t n, float *y, float a, const float *x, const float *z)
{
    const vec left = same(a);
    sums      s = {0};
    EACH(n, {
        const vec at = get(x + i, c);
        s.of[p] += at * get(z + i, c);
        put(y + i, get(y + i, c) + left * at, c);
    });
    return fold_sum(&s);
}
