/* lists.c - rows picked by lists of row numbers: sums of them, and the softmax of graph attention's score over the pairs of a query.
 *
 * A sum stays in registers from the first row of its list to the last. With heads as wide as a register, eight of them go side by side; other
 * shapes go head by head. */
#include "tensor/kernels/elementary.h"
#include "tensor/kernels/isa.h"
#include "tensor/kernels/part.h"

enum { WIDE = 8 }; /* registers side by side */

/* What a list picks: weight row t and values row row[t], or, through `pair`, pair[t] and row[pair[t]]. */
typedef struct picks {
    const float   *a;
    size_t         lda;
    const size_t  *pair;
    const float   *x;
    size_t         ldx;
    const int32_t *row;
    bool           marked;
} picks;

INLINE size_t which(const picks *s, size_t t) { return s->pair ? s->pair[t] : t; }

/* Columns from `at`: R registers, the last of them c wide; register r takes its weight from column h + r * step. */
INLINE void some_registers(size_t n, float *y, bool add, const picks *s, size_t at, size_t h, const size_t R, const size_t step, const size_t c, const bool marked)
{
    vec sum[WIDE];
    UNROLL for (size_t r = 0; r < R; r++) sum[r] = add ? take(y + at + r * LANES, r + 1 < R ? LANES : c) : (vec){0};
    for (size_t t = 0; t < n; t++) {
        const size_t p = which(s, t);
        const float *a = s->a + p * s->lda + h, *x = s->x + (size_t)s->row[p] * s->ldx + at;
        UNROLL for (size_t r = 0; r < R; r++)
        {
            const vec left = same(a[r * step]);
            sum[r] += (marked ? larger((vec){0}, left) : left) * take(x + r * LANES, r + 1 < R ? LANES : c);
        }
    }
    UNROLL for (size_t r = 0; r < R; r++) give(y + at + r * LANES, sum[r], r + 1 < R ? LANES : c);
}

INLINE void registers(size_t n, float *y, bool add, const picks *s, size_t at, size_t h, const size_t R, const size_t step, const size_t c)
{
    if (s->marked) some_registers(n, y, add, s, at, h, R, step, c, true);
    else some_registers(n, y, add, s, at, h, R, step, c, false);
}

static void one_head(size_t n, size_t d, float *y, bool add, const picks *s, size_t h)
{
    size_t at = h * d, left = d;
    for (; left >= WIDE * LANES; at += WIDE * LANES, left -= WIDE * LANES) registers(n, y, add, s, at, h, WIDE, 0, LANES);
    for (; left >= 2 * LANES; at += 2 * LANES, left -= 2 * LANES) registers(n, y, add, s, at, h, 2, 0, LANES);
    for (; left >= LANES; at += LANES, left -= LANES) registers(n, y, add, s, at, h, 1, 0, LANES);
    if (left) registers(n, y, add, s, at, h, 1, 0, left);
}

void ISA(lists_mix)(size_t n, size_t H, size_t d, float *y, bool add, const float *a, size_t lda, const size_t *pair, const float *x, size_t ldx, const int32_t *row,
                    bool marked)
{
    const picks s = {a, lda, pair, x, ldx, row, marked};
    size_t h = 0;
    if (d == LANES)
        for (; h + WIDE <= H; h += WIDE) registers(n, y, add, &s, h * d, h, WIDE, 1, LANES);
    for (; h < H; h++) one_head(n, d, y, add, &s, h);
}

void ISA(lists_sum)(size_t n, size_t H, float *y, bool add, const float *x, const size_t *pair)
{
    size_t h = 0;
    if (H == 1) {
        float sum = add ? *y : 0;
        for (size_t t = 0; t < n; t++) sum += x[pair[t]];
        *y = sum;
        return;
    }
    for (; h < H; h += LANES) {
        const size_t c = H - h < LANES ? H - h : LANES;
        vec sum = add ? take(y + h, c) : (vec){0};
        for (size_t t = 0; t < n; t++) sum += take(x + pair[t] * H + h, c);
        give(y + h, sum, c);
    }
}

/* Eight heads are a byte. */
INLINE void expand_byte(float *a, unsigned byte, float weight)
{
    static const int32_t bit[16] __attribute__((aligned(64))) = {1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0};
    UNROLL for (size_t i = 0; i < 8; i += LANES)
    {
        const ivec mine = *(const ivec *)(bit + i), kept = (mine & same_int((int32_t)byte)) == mine;
        give(a + i, (vec)((ivec)same(weight) & kept), LANES < 8 ? LANES : 8);
    }
}

void ISA(lists_expand)(size_t n, size_t H, float *a, const uint8_t *bits, const float *value, float factor, const size_t *pair, size_t from)
{
    for (size_t t = 0; t < n; t++, a += H) {
        const size_t p = pair ? pair[t] : from + t, first = p * H;
        const float weight[2] = {0, value[p] * factor};
        if (H == 8) expand_byte(a, bits[p], weight[1]);
        else
            for (size_t h = 0; h < H; h++) a[h] = weight[bits[(first + h) / 8] >> (first + h) % 8 & 1];
    }
}

/* ------------------------------------------------------------------------------------------------ graph attention's score */

INLINE vec leaky(vec x, vec slope) { return choose(x > 0.0f, x, slope * x); }

/* LANES heads of one query, or the c that are left. */
INLINE void weigh_columns(size_t n, size_t H, float *a, const float *u, const float *z, size_t ldz, const int32_t *key, float slope, const size_t c)
{
    const vec mine = take(u, c), f = same(slope);
    vec most = same(-INFINITY), sum = {0};
    for (size_t t = 0; t < n; t++) {
        const vec e = leaky(mine + take(z + (size_t)key[t] * ldz, c), f);
        give(a + t * H, e, c);
        most = larger(e, most);
    }
    for (size_t t = 0; t < n; t++) {
        const vec e = vec_exp(take(a + t * H, c) - most);
        give(a + t * H, e, c);
        sum += e;
    }
    const vec share = 1.0f / sum;
    for (size_t t = 0; t < n; t++) give(a + t * H, take(a + t * H, c) * share, c);
}

/* One head: queries have few pairs, so the exponentials of all of them are taken together. */
static void weigh_single(size_t queries, const size_t *first, const int32_t *key, float *a, const float *u, size_t ldu, const float *z, size_t ldz, float slope)
{
    const size_t begin = first[0], pairs = first[queries] - begin;
    for (size_t i = 0; i < queries; i++) {
        float most = -INFINITY;
        for (size_t p = first[i]; p < first[i + 1]; p++) {
            const float s = u[i * ldu] + z[(size_t)key[p - begin] * ldz], e = s > 0 ? s : slope * s;
            a[p - begin] = e;
            most = e > most ? e : most;
        }
        for (size_t p = first[i]; p < first[i + 1]; p++) a[p - begin] -= most;
    }
    for (size_t i = 0; i < pairs; i += LANES) {
        const size_t c = pairs - i < LANES ? pairs - i : LANES;
        give(a + i, vec_exp(take(a + i, c)), c);
    }
    for (size_t i = 0; i < queries; i++) {
        float sum = 0;
        for (size_t p = first[i]; p < first[i + 1]; p++) sum += a[p - begin];
        const float share = 1 / sum;
        for (size_t p = first[i]; p < first[i + 1]; p++) a[p - begin] *= share;
    }
}

void ISA(edges_weigh)(size_t queries, const size_t *first, const int32_t *key, size_t H, float *a, const float *u, size_t ldu, const float *z, size_t ldz, float slope)
{
    if (H == 1) {
        weigh_single(queries, first, key, a, u, ldu, z, ldz, slope);
        return;
    }
    for (size_t i = 0; i < queries; i++) {
        const size_t at = first[i] - first[0], n = first[i + 1] - first[i];
        size_t h = 0;
        for (; h + LANES <= H; h += LANES) weigh_columns(n, H, a + at * H + h, u + i * ldu + h, z + h, ldz, key + at, slope, LANES);
        if (h < H) weigh_columns(n, H, a + at * H + h, u + i * ldu + h, z + h, ldz, key + at, slope, H - h);
    }
}

INLINE void slope_columns(size_t n, size_t H, float *d, const float *a, float share, const float *u, const float *z, size_t ldz, const int32_t *key, float slope,
                          float *du, bool add, const size_t c)
{
    const vec mine = take(u, c), zero = {0}, one = same(1.0f), f = same(slope), back = same(share), factor = same(1.0f / share);
    vec level = zero, sum = add ? take(du, c) : zero;
    for (size_t t = 0; t < n; t++) level += larger(take(a + t * H, c), zero) * take(d + t * H, c);
    for (size_t t = 0; t < n; t++) {
        const vec w = take(a + t * H, c), s = mine + take(z + (size_t)key[t] * ldz, c);
        const vec weight = choose(w > zero, w * back, -w), g = choose(w > zero, take(d + t * H, c) * factor, zero);
        const vec e = weight * (g - level) * choose(s > zero, one, f);
        give(d + t * H, e, c);
        sum += e;
    }
    give(du, sum, c);
}

static void slope_single(size_t n, float *d, const float *a, float share, float u, const float *z, size_t ldz, const int32_t *key, float slope, float *du, bool add)
{
    const float factor = 1.0f / share;
    float level = 0, sum = add ? *du : 0;
    for (size_t t = 0; t < n; t++) level += (a[t] > 0 ? a[t] : 0) * d[t];
    for (size_t t = 0; t < n; t++) {
        const float s = u + z[(size_t)key[t] * ldz], weight = a[t] > 0 ? a[t] * share : -a[t], g = a[t] > 0 ? d[t] * factor : 0;
        sum += d[t] = weight * (g - level) * (s > 0 ? 1 : slope);
    }
    *du = sum;
}

void ISA(edges_slope)(size_t queries, const size_t *first, const int32_t *key, size_t H, float *d, const float *a, float share, const float *u, size_t ldu,
                      const float *z, size_t ldz, float slope, float *du, size_t lddu, bool add)
{
    for (size_t i = 0; i < queries; i++) {
        const size_t at = first[i] - first[0], n = first[i + 1] - first[i];
        size_t h = 0;
        if (H == 1) {
            slope_single(n, d + at, a + at, share, u[i * ldu], z, ldz, key + at, slope, du + i * lddu, add);
            continue;
        }
        for (; h + LANES <= H; h += LANES)
            slope_columns(n, H, d + at * H + h, a + at * H + h, share, u + i * ldu + h, z + h, ldz, key + at, slope, du + i * lddu + h, add, LANES);
        if (h < H) slope_columns(n, H, d + at * H + h, a + at * H + h, share, u + i * ldu + h, z + h, ldz, key + at, slope, du + i * lddu + h, add, H - h);
    }
}
