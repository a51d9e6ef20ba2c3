/* lists.c - rows picked by lists of row numbers: sums of them.
 *
 * A sum stays in registers from the first row of its list to the last. With heads as wide as a register, eight of
 * them go side by side; other shapes go head by head. Rows beyond the nearest caches are called for AHEAD of their
 * turn, also those of the next list. */
#include "tensor/kernels/elementary.h"
#include "tensor/kernels/isa.h"
#include "tensor/kernels/kept.h"

enum { WIDE = 8 }; /* registers side by side */

enum { AHEAD = 12, LINE = 16 }; /* rows prefetched before they are used; floats of a line of the cache */

/* What a list picks: weight row t and values row row[t], or, through `pair`, pair[t] and row[pair[t]]. */
typedef struct picks {
    const float   *a;
    size_t         lda;
    const size_t  *pair;
    const float   *x;
    size_t         ldx;
    const int32_t *row;
    size_t         more;
} picks;

INLINE size_t which(const picks *s, size_t t) { return s->pair ? s->pair[t] : t; }

INLINE void call_for(const float *x, size_t numbers)
{
    for (size_t i = 0; i < numbers; i += LINE) __builtin_prefetch(x + i, 0, 3);
}

/* Columns from `at`: R registers, the last of them c wide; register r takes its weight from column h + r * step. */
INLINE void some_registers(size_t n, float *y, bool add, const picks *s, size_t at, size_t h, const size_t R,
                           const size_t step, const size_t c, const bool far)
{
    vec sum[WIDE];
    UNROLL for (size_t r = 0; r < R; r++) sum[r] = add ? get(y + at + r * LANES, r + 1 < R ? LANES : c) : (vec){0};
    for (size_t t = 0; t < n; t++) {
        const size_t p = which(s, t);
        const float *a = s->a + p * s->lda + h, *x = s->x + (size_t)s->row[p] * s->ldx + at;
        if (far && t + AHEAD < n + s->more)
            call_for(s->x + (size_t)s->row[which(s, t + AHEAD)] * s->ldx + at, (R - 1) * LANES + c);
        UNROLL for (size_t r = 0; r < R; r++) sum[r] += same(a[r * step]) * get(x + r * LANES, r + 1 < R ? LANES : c);
    }
    UNROLL for (size_t r = 0; r < R; r++) put(y + at + r * LANES, sum[r], r + 1 < R ? LANES : c);
}

INLINE void registers(size_t n, float *y, bool add, const picks *s, size_t at, size_t h, const size_t R,
                      const size_t step, const size_t c)
{
    if (s->more) some_registers(n, y, add, s, at, h, R, step, c, true);
    else some_registers(n, y, add, s, at, h, R, step, c, false);
}

static void one_head(size_t n, size_t d, float *y, bool add, const picks *s, size_t h)
{
    size_t at = h * d, left = d;
    for (; left >= WIDE * LANES; at += WIDE * LANES, left -= WIDE * LANES)
        registers(n, y, add, s, at, h, WIDE, 0, LANES);
    for (; left >= 2 * LANES; at += 2 * LANES, left -= 2 * LANES) registers(n, y, add, s, at, h, 2, 0, LANES);
    for (; left >= LANES; at += LANES, left -= LANES) registers(n, y, add, s, at, h, 1, 0, LANES);
    if (left) registers(n, y, add, s, at, h, 1, 0, left);
}

void ISA(lists_mix)(size_t n, size_t H, size_t d, float *y, bool add, const float *a, size_t lda, const size_t *pair,
                    const float *x, size_t ldx, const int32_t *row, size_t more)
{
    NARROW(d, lists_mix, (n, H, d, y, add, a, lda, pair, x, ldx, row, more))
    const picks s = {a, lda, pair, x, ldx, row, more};
    size_t h = 0;
    if (d == LANES)
        for (; h + WIDE <= H; h += WIDE) registers(n, y, add, &s, h * d, h, WIDE, 1, LANES);
    for (; h < H; h++) one_head(n, d, y, add, &s, h);
}

void ISA(lists_sum)(size_t n, size_t H, float *y, bool add, const float *x, const size_t *pair)
{
    NARROW(H, lists_sum, (n, H, y, add, x, pair))
    size_t h = 0;
    if (H == 1) {
        float sum = add ? *y : 0;
        for (size_t t = 0; t < n; t++) sum += x[pair ? pair[t] : t];
        *y = sum;
        return;
    }
    for (; h < H; h += LANES) {
        const size_t c = H - h < LANES ? H - h : LANES;
        vec sum = add ? get(y + h, c) : (vec){0};
        for (size_t t = 0; t < n; t++) sum += get(x + (pair ? pair[t] : t) * H + h, c);
        put(y + h, sum, c);
    }
}

/* Eight heads are a byte. */
INLINE void expand_byte(float *a, const uint8_t *byte, float weight)
{
    UNROLL for (size_t i = 0; i < 8; i += LANES)
        put(a + i, (vec)((ivec)same(weight) & lanes_kept(byte, i, 8)), LANES < 8 ? LANES : 8);
}

void ISA(lists_expand)(size_t n, size_t H, float *a, const uint8_t *bits, const float *value, float factor,
                       const size_t *pair, size_t from)
{
    for (size_t t = 0; t < n; t++, a += H) {
        const size_t p = pair ? pair[t] : from + t, first = p * H;
        const float weight[2] = {0, value[p] * factor};
        if (H == 8) expand_byte(a, bits + p, weight[1]);
        else
            for (size_t h = 0; h < H; h++) a[h] = weight[bits[(first + h) / 8] >> (first + h) % 8 & 1];
    }
}
