/* rows.c - softmax and layer norm of one row, forward and backward (formulas in kernels.h). */
#include "tensor/kernels/elementary.h"
#include "tensor/kernels/isa.h"

float ISA(softmax)(size_t n, float *y, const float *x)
{
    float most = n ? ISA(max)(n, x) : -INFINITY;
    if (most == -INFINITY) { /* no element, or none with a weight */
        for (size_t i = 0; y && i < n; i++) y[i] = 0;
        return -INFINITY;
    }
    sums s = {0};
    if (y) EACH(n, vec e = vec_exp(get(x + i, c) - most); put(y + i, e, c); s.of[p] += only(e, c, 0););
    else EACH(n, s.of[p] += only(vec_exp(get(x + i, c) - most), c, 0););
    float sum = fold_sum(&s);
    if (y) ISA(scale)(n, y, 1.0f / sum, y);
    vec log_sum = vec_log(same(sum));
    return most + log_sum[0];
}

/* forward was  a[i] = exp(x[i]) / sum_j exp(x[j])   so   dx[i] = a[i] (da[i] - sum_j a[j] da[j]) */
void ISA(softmax_backward)(size_t n, float *dx, const float *a, const float *da, bool add)
{
    vec mean = same(ISA(dot)(n, a, da));
    if (add) EACH(n, put(dx + i, get(dx + i, c) + get(a + i, c) * (get(da + i, c) - mean), c););
    else EACH(n, put(dx + i, get(a + i, c) * (get(da + i, c) - mean), c););
}

void ISA(norm)(size_t n, float *y, float *mean, float *rstd, const float *x, const float *g, const float *b, float eps)
{
    float middle = ISA(sum)(n, x) / (float)n;
    sums squares = {0};
    EACH(n, vec d = only(get(x + i, c) - middle, c, 0); squares.of[p] += d * d;);
    float inverse = 1.0f / sqrtf(fold_sum(&squares) / (float)n + eps);
    EACH(n, put(y + i, get(g + i, c) * ((get(x + i, c) - middle) * inverse) + get(b + i, c), c););
    *mean = middle;
    *rstd = inverse;
}

/* forward was  y[i] = g[i] xhat[i] + b[i],  xhat = (x - mean) rstd
 * so           dxhat = g dy,  and dx is dxhat without its parts along 1 and along xhat, times rstd */
void ISA(norm_backward)(size_t n, float *dx, float *dg, float *db, const float *x, float mean, float rstd,
                        const float *g, const float *dy, bool add)
{
    sums s = {0}, t = {0};
    EACH(n, vec gdy = get(g + i, c) * get(dy + i, c); vec xhat = (get(x + i, c) - mean) * rstd; s.of[p] += gdy;
         t.of[p] += gdy * xhat;); /* lanes beyond the end have gdy = 0 */
    vec level = same(fold_sum(&s) / (float)n), along = same(fold_sum(&t) / (float)n);
#define INPUT (get(g + i, c) * get(dy + i, c) - level - ((get(x + i, c) - mean) * rstd) * along)
    if (add) EACH(n, put(dx + i, INPUT * rstd + get(dx + i, c), c););
    else EACH(n, put(dx + i, INPUT * rstd, c););
    if (dg) EACH(n, put(dg + i, get(dy + i, c) * ((get(x + i, c) - mean) * rstd) + get(dg + i, c), c););
    if (db) EACH(n, put(db + i, get(dy + i, c) + get(db + i, c), c););
}
