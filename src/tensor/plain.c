/* plain.c - the kernel table in ordinary loops: what the fast ones must equal, and the only one of the double library.
 *
 * Products keep the rule of kernels.h: one chain over k in rising order for each output. Reductions are summed in
 * double, which makes this table the more exact one of the two that a test compares. */
#include <math.h>
#include <string.h>
#include <tgmath.h>

#include "tensor/plain_lists.h"
#include "tensor/plain_small.h"

/* ------------------------------------------------------------------------------------------------- functions */

static rg_real gelu_inside(rg_real x) { return (rg_real)0.79788456080286535588 * (x + (rg_real)0.044715 * x * x * x); }

static rg_real apply(rg_activation f, rg_real x)
{
    const rg_real zero = 0, one = 1, half = (rg_real)0.5, slope = (rg_real)0.2;
    switch (f) {
    case RG_RELU: return x > zero ? x : x != x ? x : zero;
    case RG_LEAKY_RELU: return x > zero ? x : slope * x;
    case RG_ELU: return x > zero ? x : expm1(x);
    case RG_GELU: return half * x * (one + erf(x * (rg_real)0.70710678118654752440));
    case RG_TANH: return tanh(x);
    case RG_SIGMOID: return x >= zero ? one / (one + exp(-x)) : exp(x) / (one + exp(x));
    case RG_SOFTPLUS: return (x > zero ? x : zero) + log1p(exp(-fabs(x)));
    case RG_EXP: return exp(x);
    case RG_LOG: return log(x);
    case RG_SWISH: return x * apply(RG_SIGMOID, x);
    case RG_GELU_TANH: return half * x * (one + tanh(gelu_inside(x)));
    default: return x;
    }
}

/* f'(x), from y = f(x) alone except where rg_slope_reads_input. */
static rg_real slope_of(rg_activation f, const rg_real *x, rg_real y)
{
    const rg_real zero = 0, one = 1, half = (rg_real)0.5, slope = (rg_real)0.2;
    switch (f) {
    case RG_RELU: return y > zero ? one : zero;
    case RG_LEAKY_RELU: return y > zero ? one : slope;
    case RG_ELU: return y > zero ? one : y + one;
    case RG_GELU:
        return half * (one + erf(*x * (rg_real)0.70710678118654752440)) +
               *x * (rg_real)0.39894228040143267794 * exp(-half * *x * *x);
    case RG_SWISH: {
        const rg_real s = apply(RG_SIGMOID, *x);
        return s + *x * s * (one - s);
    }
    case RG_GELU_TANH: {
        const rg_real u = tanh(gelu_inside(*x)),
                      inside = (rg_real)0.79788456080286535588 * (one + (rg_real)(3 * 0.044715) * *x * *x);
        return half * (one + u) + half * *x * (one - u * u) * inside;
    }
    case RG_TANH: return one - y * y;
    case RG_SIGMOID: return y * (one - y);
    case RG_SOFTPLUS: return -expm1(-y);
    case RG_EXP: return y;
    case RG_LOG: return exp(-y);
    default: return one;
    }
}

static void map(rg_activation f, size_t n, rg_real *y, const rg_real *x)
{
    for (size_t i = 0; i < n; i++) y[i] = apply(f, x[i]);
}

static void map_backward(rg_activation f, size_t n, rg_real *dx, const rg_real *x, const rg_real *y, const rg_real *dy,
                         bool add)
{
    for (size_t i = 0; i < n; i++) {
        rg_real d = dy[i];
        if (rg_slope_reads_input(f)) d *= slope_of(f, x + i, 0);
        else if (f != RG_IDENTITY) d *= slope_of(f, NULL, y[i]);
        dx[i] = add ? dx[i] + d : d;
    }
}

/* -------------------------------------------------------------------------------------------------- products */

/* One row of A against one panel. */
static void row_by_panel(size_t K, size_t columns, const rg_real *a, const rg_real *panel, rg_real *c, bool add,
                         const rg_real *bias, rg_activation f)
{
    rg_real sum[RG_PANEL] = {0};
    if (add) memcpy(sum, c, columns * sizeof *c);
    for (size_t k = 0; k < K; k++)
        for (size_t j = 0; j < RG_PANEL; j++) sum[j] += a[k] * panel[k * RG_PANEL + j];
    for (size_t j = 0; j < columns; j++) c[j] = apply(f, bias ? sum[j] + bias[j] : sum[j]);
}

static void gemm_packed(size_t M, size_t N, size_t K, const rg_real *a, size_t lda, const rg_real *panels, rg_real *c,
                        size_t ldc, bool add, const rg_real *bias, rg_activation f)
{
    for (size_t n = 0; n < N; n += RG_PANEL, panels += K * RG_PANEL) {
        size_t columns = N - n < RG_PANEL ? N - n : RG_PANEL;
        for (size_t m = 0; m < M; m++)
            row_by_panel(K, columns, a + m * lda, panels, c + m * ldc + n, add, bias ? bias + n : NULL, f);
    }
}

static void gemm_windows(const rg_windows *a, size_t N, const rg_real *panels, rg_real *c, size_t ldc,
                         const rg_real *bias, rg_activation f)
{
    for (size_t m = 0; m < a->down * a->across; m++)
        for (size_t n = 0; n < N; n += RG_PANEL)
            for (size_t l = 0; l < a->lines; l++) {
                const bool     last = l + 1 == a->lines;
                const rg_real *from = a->a + m / a->across * a->fall + m % a->across * a->step + l * a->line;
                row_by_panel(a->run, N - n < RG_PANEL ? N - n : RG_PANEL, from,
                             panels + n * a->lines * a->run + l * a->run * RG_PANEL, c + m * ldc + n, l > 0,
                             last && bias ? bias + n : NULL, last ? f : RG_IDENTITY);
            }
}

/* Tiles of one row: the tile form of A is then A itself without gaps. */
static void pack_tiles(rg_real *tiles, const rg_real *a, size_t row, size_t step, size_t M, size_t K)
{
    for (size_t m = 0; m < M; m++)
        for (size_t k = 0; k < K; k++) tiles[m * K + k] = a[m * row + k * step];
}

static void gemm_tiles(size_t M, size_t N, size_t K, const rg_real *tiles, const rg_real *panels, rg_real *c,
                       size_t ldc, bool add)
{
    gemm_packed(M, N, K, tiles, K, panels, c, ldc, add, NULL, RG_IDENTITY);
}

static void pack(rg_real *panels, const rg_real *b, size_t ldb, size_t K, size_t N)
{
    for (size_t n = 0; n < N; n += RG_PANEL)
        for (size_t k = 0; k < K; k++)
            for (size_t j = 0; j < RG_PANEL; j++) *panels++ = n + j < N ? b[k * ldb + n + j] : 0;
}

static void pack_transposed(rg_real *panels, const rg_real *b, size_t ldb, size_t K, size_t N)
{
    for (size_t n = 0; n < N; n += RG_PANEL)
        for (size_t k = 0; k < K; k++)
            for (size_t j = 0; j < RG_PANEL; j++) *panels++ = n + j < N ? b[(n + j) * ldb + k] : 0;
}

/* --------------------------------------------------------------------------------------------------- vectors */

static void add_vectors(size_t n, rg_real *z, const rg_real *x, const rg_real *y)
{
    for (size_t i = 0; i < n; i++) z[i] = x[i] + y[i];
}

static void mul(size_t n, rg_real *z, const rg_real *x, const rg_real *y, bool add)
{
    for (size_t i = 0; i < n; i++) z[i] = add ? z[i] + x[i] * y[i] : x[i] * y[i];
}

static void axpy(size_t n, rg_real *y, rg_real a, const rg_real *x)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

static void scale(size_t n, rg_real *y, rg_real a, const rg_real *x)
{
    for (size_t i = 0; i < n; i++) y[i] = a * x[i];
}

static rg_real dot(size_t n, const rg_real *x, const rg_real *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)y[i];
    return (rg_real)sum;
}

static rg_real sum_of(size_t n, const rg_real *x)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i];
    return (rg_real)sum;
}

static rg_real max_of(size_t n, const rg_real *x)
{
    rg_real most = x[0];
    for (size_t i = 1; i < n; i++)
        if (x[i] > most) most = x[i];
    return most;
}

/* ------------------------------------------------------------------------------------------------------ rows */

static rg_real softmax(size_t n, rg_real *y, const rg_real *x)
{
    const rg_real nothing = -(rg_real)INFINITY;
    rg_real most = n ? max_of(n, x) : nothing;
    if (most == nothing) { /* no element, or none with a weight */
        for (size_t i = 0; y && i < n; i++) y[i] = 0;
        return nothing;
    }
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const rg_real e = exp(x[i] - most);
        if (y) y[i] = e;
        sum += (double)e;
    }
    rg_real share = (rg_real)(1.0 / sum);
    for (size_t i = 0; y && i < n; i++) y[i] *= share;
    return most + log((rg_real)sum);
}

static void softmax_backward(size_t n, rg_real *dx, const rg_real *a, const rg_real *da, bool add)
{
    rg_real mean = dot(n, a, da);
    for (size_t i = 0; i < n; i++) {
        rg_real d = a[i] * (da[i] - mean);
        dx[i] = add ? dx[i] + d : d;
    }
}

static void norm(size_t n, rg_real *y, rg_real *mean, rg_real *rstd, const rg_real *x, const rg_real *g,
                 const rg_real *b, rg_real eps)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i];
    double middle = sum / (double)n;
    for (size_t i = 0; i < n; i++) squares += ((double)x[i] - middle) * ((double)x[i] - middle);
    double inverse = 1.0 / sqrt(squares / (double)n + (double)eps);
    *mean = (rg_real)middle;
    *rstd = (rg_real)inverse;
    for (size_t i = 0; i < n; i++) y[i] = g[i] * ((x[i] - *mean) * *rstd) + b[i];
}

static void norm_backward(size_t n, rg_real *dx, rg_real *dg, rg_real *db, const rg_real *x, rg_real mean, rg_real rstd,
                          const rg_real *g, const rg_real *dy, bool add)
{
    double sum = 0, along = 0; /* of g dy, and of g dy xhat */
    for (size_t i = 0; i < n; i++) {
        double gdy = (double)g[i] * (double)dy[i];
        sum += gdy;
        along += gdy * (double)((x[i] - mean) * rstd);
    }
    rg_real mean_gdy = (rg_real)(sum / (double)n), mean_along = (rg_real)(along / (double)n);
    for (size_t i = 0; i < n; i++) {
        rg_real xhat = (x[i] - mean) * rstd, dyi = dy[i];
        rg_real d = rstd * (g[i] * dyi - mean_gdy - xhat * mean_along);
        dx[i] = add ? dx[i] + d : d;
        if (dg) dg[i] += dyi * xhat;
        if (db) db[i] += dyi;
    }
}

/* ------------------------------------------------------------------------------------------------- attention */

static void gemm_ranges(size_t M, size_t N, const rg_real *a, size_t row, size_t step, const size_t *low,
                        const size_t *high, const rg_real *panels, size_t panel, rg_real *c, size_t ldc, bool add)
{
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            const rg_real *b = panels + n / RG_PANEL * panel + n % RG_PANEL;
            rg_real sum = add ? c[m * ldc + n] : 0;
            for (size_t k = low[m]; k < high[m]; k++) sum += a[m * row + k * step] * b[k * RG_PANEL];
            c[m * ldc + n] = sum;
        }
}

static void exps(size_t n, rg_real *y, const rg_real *x, rg_real shift)
{
    for (size_t i = 0; i < n; i++) y[i] = exp(x[i] - shift);
}

static void weigh_rows(size_t M, rg_real *e, size_t ld, const size_t *low, const size_t *high, rg_real *share,
                       rg_real *top)
{
    const rg_real nothing = -(rg_real)INFINITY;
    for (size_t m = 0; m < M; m++) {
        double sum = 0;
        rg_real most = nothing;
        for (size_t i = low[m]; i < high[m]; i++)
            if (e[m * ld + i] > most) most = e[m * ld + i];
        for (size_t i = low[m]; i < high[m]; i++) {
            e[m * ld + i] = exp(e[m * ld + i] - (most == nothing ? 0 : most));
            sum += (double)e[m * ld + i];
        }
        share[m] = sum == 0 ? 0 : (rg_real)(1.0 / sum);
        top[m] = most;
    }
}

static void slope_rows(size_t M, rg_real *d, size_t ldd, const rg_real *a, size_t lda, const size_t *low,
                       const size_t *high, const rg_real *level, const rg_real *factor)
{
    for (size_t m = 0; m < M; m++)
        for (size_t i = low[m]; i < high[m]; i++)
            d[m * ldd + i] = factor[m] * a[m * lda + i] * (d[m * ldd + i] - level[m]);
}

static void heads_dot(size_t H, size_t d, rg_real *e, size_t e_step, rg_real factor, const rg_real *x, size_t x_step,
                      const rg_real *y, size_t y_step)
{
    for (size_t h = 0; h < H; h++) e[h * e_step] = factor * dot(d, x + h * x_step, y + h * y_step);
}

static void heads_axpy(size_t H, size_t d, rg_real *y, size_t y_step, const rg_real *a, size_t a_step, const rg_real *x,
                       size_t x_step)
{
    for (size_t h = 0; h < H; h++) axpy(d, y + h * y_step, a[h * a_step], x + h * x_step);
}

static rg_real additive(rg_activation f, size_t n, const rg_real *x, const rg_real *y, const rg_real *v)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)v[i] * (double)apply(f, x[i] + y[i]);
    return (rg_real)sum;
}

static void additive_backward(rg_activation f, size_t n, rg_real *dx, rg_real *dy, rg_real *dv, const rg_real *x,
                              const rg_real *y, const rg_real *v, rg_real de)
{
    for (size_t i = 0; i < n; i++) {
        const rg_real s = x[i] + y[i], z = apply(f, s), g = de * v[i] * slope_of(f, &s, z);
        dx[i] += g;
        dy[i] += g;
        dv[i] += de * z;
    }
}

static void rows_dot(size_t n, size_t d, rg_real *e, rg_real factor, const rg_real *y, const rg_real *x, size_t ld,
                     const int32_t *row)
{
    for (size_t i = 0; i < n; i++) heads_dot(1, d, e + i, 1, factor, y, 0, x + (size_t)row[i] * ld, 0);
}

static void rows_sum(size_t n, size_t d, rg_real *y, const rg_real *a, const rg_real *x, size_t ld, const int32_t *row)
{
    for (size_t j = 0; j < d; j++) y[j] = 0;
    for (size_t i = 0; i < n; i++) axpy(d, y, a[i], x + (size_t)row[i] * ld);
}

static void columns_softmax(size_t n, size_t H, rg_real *y, const rg_real *x)
{
    for (size_t h = 0; h < H; h++) {
        rg_real most = -(rg_real)INFINITY;
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            if (x[i * H + h] > most) most = x[i * H + h];
        const rg_real shift = most == -(rg_real)INFINITY ? 0 : most;
        for (size_t i = 0; i < n; i++) {
            y[i * H + h] = exp(x[i * H + h] - shift);
            sum += (double)y[i * H + h];
        }
        const rg_real share = sum == 0 ? 0 : (rg_real)(1.0 / sum);
        for (size_t i = 0; i < n; i++) y[i * H + h] *= share;
    }
}

static void columns_softmax_backward(size_t n, size_t H, rg_real *dx, const rg_real *a, const rg_real *da, bool add)
{
    for (size_t h = 0; h < H; h++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++) mean += (double)a[i * H + h] * (double)da[i * H + h];
        for (size_t i = 0; i < n; i++) {
            const rg_real d = a[i * H + h] * (da[i * H + h] - (rg_real)mean);
            dx[i * H + h] = add ? dx[i * H + h] + d : d;
        }
    }
}

/* ------------------------------------------------------------------------------------------------- memories */

static void rewrite(size_t n, rg_real *y, const rg_real *m, rg_real e, rg_real a, const rg_real *w)
{
    for (size_t i = 0; i < n; i++) y[i] = m[i] - e * m[i] * w[i] + a * w[i];
}

static void rewrite_backward(size_t n, rg_real *dm, rg_real *dw, rg_real *de, rg_real *da, const rg_real *dy,
                             const rg_real *m, rg_real e, rg_real a, const rg_real *w)
{
    double erased = 0, added = 0;
    for (size_t i = 0; i < n; i++) {
        const rg_real d = dy[i];
        erased -= (double)w[i] * (double)(m[i] * d);
        added += (double)w[i] * (double)d;
        dw[i] += a * d - e * m[i] * d;
        dm[i] = d - e * w[i] * d;
    }
    *de = (rg_real)erased;
    *da = (rg_real)added;
}

static rg_real axpy_dot(size_t n, rg_real *y, rg_real a, const rg_real *x, const rg_real *z)
{
    const rg_real product = dot(n, x, z);
    axpy(n, y, a, x);
    return product;
}

extern const rg_gates rg_gates_plain; /* plain_gates.c */

const rg_kernels rg_kernels_plain = {
    .name = "plain",
    .gemm_packed = gemm_packed,
    .gemm_bf16 = rg_plain__gemm_bf16,
    .pack = pack,
    .pack_transposed = pack_transposed,
    .pack_tiles = pack_tiles,
    .gemm_tiles = gemm_tiles,
    .gemm_windows = gemm_windows,
    .map = map,
    .map_backward = map_backward,
    .add = add_vectors,
    .mul = mul,
    .axpy = axpy,
    .scale = scale,
    .dot = dot,
    .sum = sum_of,
    .max = max_of,
    .softmax = softmax,
    .softmax_backward = softmax_backward,
    .norm = norm,
    .norm_backward = norm_backward,
    .gemm_ranges = gemm_ranges,
    .exps = exps,
    .weigh_rows = weigh_rows,
    .slope_rows = slope_rows,
    .heads_dot = heads_dot,
    .heads_axpy = heads_axpy,
    .rows_dot = rows_dot,
    .rows_sum = rows_sum,
    .additive = additive,
    .additive_backward = additive_backward,
    .rewrite = rewrite,
    .rewrite_backward = rewrite_backward,
    .axpy_dot = axpy_dot,
    .columns_softmax = columns_softmax,
    .columns_softmax_backward = columns_softmax_backward,
    .lists_mix = rg_plain__lists_mix,
    .lists_sum = rg_plain__lists_sum,
    .lists_expand = rg_plain__lists_expand,
    .edges_weigh = rg_plain__edges_weigh,
    .edges_back = rg_plain__edges_back,
    .dropout = rg_plain__dropout,
    .dropout_mask = rg_plain__dropout_mask,
    .dropout_by = rg_plain__dropout_by,
    .dropout_bits = rg_plain__dropout_bits,
    .gates = &rg_gates_plain,
};
