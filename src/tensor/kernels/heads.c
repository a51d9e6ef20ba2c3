/* heads.c - all heads of a row at once: dots, weighted sums, and softmax over the pairs of one query, a lane a head. */
#include "tensor/kernels/elementary.h"
#include "tensor/kernels/folds.h"
#include "tensor/kernels/isa.h"
#include "tensor/kernels/kept.h"

/* Heads as wide as a register, as graph attention has them: nothing is left over at the end of a head. */
enum { SLIM = RG_LANES };

void ISA(heads_dot)(size_t H, size_t d, float *e, size_t e_step, float scale, const float *x, size_t x_step,
                    const float *y, size_t y_step)
{
    NARROW(d, heads_dot, (H, d, e, e_step, scale, x, x_step, y, y_step))
#if RG_LANES == 8
    for (; d == SLIM && e_step == 1 && H >= 8; H -= 8, e += 8) {
        vec terms[8];
        UNROLL for (size_t h = 0; h < 8; h++, x += x_step, y += y_step) terms[h] = load(x) * load(y);
        store(e, scale * fold_eight(terms));
    }
#endif
    if (d == SLIM) {
        for (size_t h = 0; h < H; h++, x += x_step, y += y_step) e[h * e_step] = scale * fold_one(load(x) * load(y));
        return;
    }
#if RG_LANES == 8
    if (d < SLIM) {
        for (size_t h = 0; h < H; h++, x += x_step, y += y_step)
            e[h * e_step] = scale * fold_one(get(x, d) * get(y, d));
        return;
    }
#endif
    for (size_t h = 0; h < H; h++, x += x_step, y += y_step) {
        sums s = {0};
        EACH(d, s.of[p] += get(x + i, c) * get(y + i, c););
        e[h * e_step] = scale * fold_sum(&s);
    }
}

void ISA(heads_axpy)(size_t H, size_t d, float *y, size_t y_step, const float *a, size_t a_step, const float *x,
                     size_t x_step)
{
    NARROW(d, heads_axpy, (H, d, y, y_step, a, a_step, x, x_step))
    if (d == SLIM) {
        for (size_t h = 0; h < H; h++, y += y_step, x += x_step) store(y, load(y) + same(a[h * a_step]) * load(x));
        return;
    }
#if RG_LANES >= 8
    if (d < SLIM && d >= LANES / 2) { /* two halves that overlap */
        for (size_t h = 0; h < H; h++, y += y_step, x += x_step) {
            const float  left = a[h * a_step];
            const size_t end = d - LANES / 2;
            const half low = load_half(y) + left * load_half(x), high = load_half(y + end) + left * load_half(x + end);
            store_half(y, low);
            store_half(y + end, high);
        }
        return;
    }
#endif
    for (size_t h = 0; h < H; h++, y += y_step, x += x_step) {
        const vec left = same(a[h * a_step]);
        if (d < LANES) {
            put(y, get(y, d) + left * get(x, d), d);
            continue;
        }
        const vec end = load(y + d - LANES) + left * load(x + d - LANES); /* of the old y: it overlaps the register before it */
        for (size_t i = 0; i + LANES <= d; i += LANES) store(y + i, load(y + i) + left * load(x + i));
        store(y + d - LANES, end);
    }
}

/* --------------------------------------------------------------------------------------------------- lists of rows */

enum { TOGETHER = 4, COLUMNS = 8 }; /* rows a dot takes together; registers a sum holds */

INLINE void fetch_row(const float *x, size_t d)
{
    for (size_t i = 0; i < d; i += 16) __builtin_prefetch(x + i, 0, 3);
}

/* Rows are far apart: those of the next turn are prefetched before this one's are used. */
void ISA(rows_dot)(size_t n, size_t d, float *e, float scale, const float *y, const float *x, size_t ld,
                   const int32_t *row)
{
    NARROW(d, rows_dot, (n, d, e, scale, y, x, ld, row))
    size_t at = 0;
    for (; at + TOGETHER <= n; at += TOGETHER) {
        const float *from[TOGETHER];
        sums         s[TOGETHER] = {0};
        UNROLL for (size_t r = 0; r < TOGETHER; r++) from[r] = x + (size_t)row[at + r] * ld;
        for (size_t r = at + TOGETHER; r < n && r < at + 2 * TOGETHER; r++) fetch_row(x + (size_t)row[r] * ld, d);
        EACH(d, const vec left = get(y + i, c);
             UNROLL for (size_t r = 0; r < TOGETHER; r++) s[r].of[p] += left * get(from[r] + i, c););
        UNROLL for (size_t r = 0; r < TOGETHER; r++) e[at + r] = scale * fold_sum(&s[r]);
    }
    for (; at < n; at++) ISA(heads_dot)(1, d, e + at, 1, scale, y, 0, x + (size_t)row[at] * ld, 0);
}

/* `count` registers of columns. */
INLINE void sum_columns(size_t n, const size_t count, float *y, const float *a, const float *x, size_t ld,
                        const int32_t *row)
{
    vec s[COLUMNS];
    UNROLL for (size_t j = 0; j < count; j++) s[j] = (vec){0};
    for (size_t i = 0; i < n; i++) {
        const float *from = x + (size_t)row[i] * ld;
        const vec    left = same(a[i]);
        if (i + TOGETHER < n) fetch_row(x + (size_t)row[i + TOGETHER] * ld, count * LANES);
        UNROLL for (size_t j = 0; j < count; j++) s[j] += left * load(from + j * LANES);
    }
    UNROLL for (size_t j = 0; j < count; j++) store(y + j * LANES, s[j]);
}

void ISA(rows_sum)(size_t n, size_t d, float *y, const float *a, const float *x, size_t ld, const int32_t *row)
{
    NARROW(d, rows_sum, (n, d, y, a, x, ld, row))
    size_t at = 0;
    for (; at + COLUMNS * LANES <= d; at += COLUMNS * LANES) sum_columns(n, COLUMNS, y + at, a, x + at, ld, row);
    for (; at + 4 * LANES <= d; at += 4 * LANES) sum_columns(n, 4, y + at, a, x + at, ld, row);
    for (; at + LANES <= d; at += LANES) sum_columns(n, 1, y + at, a, x + at, ld, row);
    if (at == d) return;
    vec s = {0};
    for (size_t i = 0; i < n; i++) s += same(a[i]) * load_part(x + (size_t)row[i] * ld + at, d - at);
    store_part(y + at, s, d - at);
}

/* LANES columns, or the `c` that are left. */
INLINE void some_columns(size_t n, size_t H, float *y, const float *x, const size_t c)
{
    vec most = same(-INFINITY), sum = {0};
    for (size_t i = 0; i < n; i++) most = larger(get(x + i * H, c), most);
    const vec shift = choose(most == same(-INFINITY), (vec){0}, most);
    for (size_t i = 0; i < n; i++) {
        const vec e = vec_exp(get(x + i * H, c) - shift);
        put(y + i * H, e, c);
        sum += e;
    }
    const vec share = choose(sum == (vec){0}, (vec){0}, 1.0f / sum);
    for (size_t i = 0; i < n; i++) put(y + i * H, get(y + i * H, c) * share, c);
}

void ISA(columns_softmax)(size_t n, size_t H, float *y, const float *x)
{
    NARROW(H, columns_softmax, (n, H, y, x))
    size_t h = 0;
    for (; h + LANES <= H; h += LANES) some_columns(n, H, y + h, x + h, LANES);
    if (h < H) some_columns(n, H, y + h, x + h, H - h);
}

INLINE void some_columns_backward(size_t n, size_t H, float *dx, const float *a, const float *da, bool add,
                                  const size_t c)
{
    vec mean = {0};
    for (size_t i = 0; i < n; i++) mean += get(a + i * H, c) * get(da + i * H, c);
    for (size_t i = 0; i < n; i++) {
        const vec d = get(a + i * H, c) * (get(da + i * H, c) - mean);
        put(dx + i * H, add ? get(dx + i * H, c) + d : d, c);
    }
}

void ISA(columns_softmax_backward)(size_t n, size_t H, float *dx, const float *a, const float *da, bool add)
{
    NARROW(H, columns_softmax_backward, (n, H, dx, a, da, add))
    size_t h = 0;
    for (; h + LANES <= H; h += LANES) some_columns_backward(n, H, dx + h, a + h, da + h, add, LANES);
    if (h < H) some_columns_backward(n, H, dx + h, a + h, da + h, add, H - h);
}
