/* edges.c - graph attention over the pairs of a reach: the softmax of its score query by query, and back from what
 * arrived key by key.
 *
 * With eight heads a pair's numbers fill a register; one head goes over several pairs at once, because a node has
 * few of them. */
#include "tensor/kernels/elementary.h"
#include "tensor/kernels/folds.h"
#include "tensor/kernels/isa.h"
#include "tensor/kernels/kept.h"

enum {
    AHEAD = 12, /* pairs prefetched before they are used */
    LINE = 16,  /* floats of a line of the cache */
    FEW = 64    /* pairs of one head at a time */
};

INLINE vec leaky(vec x, vec slope) { return rounded(choose(x > 0.0f, x, slope * x)); } /* the bias of a pair comes after rounding */
INLINE bool bit_of(const uint8_t *bits, size_t at) { return !bits || (bits[at / 8] >> at % 8 & 1); }

/* Weights times `factor` where they are kept, 0 where they were dropped; pair p's bits begin at p * H. */
INLINE vec dropped(vec w, const uint8_t *bits, size_t bit, size_t H, vec factor, const size_t c)
{
    if (!bits) return w;
    if (H == 8 && LANES <= 8) return (vec)((ivec)(w * factor) & lanes_kept(bits + bit / 8, bit % 8, 8));
    return (vec)((ivec)(w * factor) & lanes_kept_from(bits, bit, c));
}

/* ----------------------------------------------------------------------------------------------- weights of a query */

/* LANES heads of one query, or the c that are left; `bit`: of the first pair and head; `bent`: where a f'(s) goes. */
INLINE void weigh_columns(size_t n, size_t H, float *a, const float *u, const float *z, size_t ldz, const int32_t *key,
                          float slope, const float *bias, float *seat, float *bent, const uint8_t *bits, size_t bit,
                          float factor, const size_t c)
{
    const vec mine = get(u, c), f = same(slope), one = same(1.0f);
    vec most = same(-INFINITY), sum = {0}, steep = {0};
    for (size_t t = 0; t < n; t++) {
        const vec s = mine + get(z + (size_t)key[t] * ldz, c), e = bias ? leaky(s, f) + same(bias[t]) : leaky(s, f);
        if (seat) put(bent + t * H, choose(s > 0.0f, one, f), c);
        put(a + t * H, e, c);
        most = larger(e, most);
    }
    for (size_t t = 0; t < n; t++) {
        const vec e = vec_exp(get(a + t * H, c) - most);
        put(a + t * H, e, c);
        sum += e;
    }
    const vec share = 1.0f / sum, times = same(factor);
    for (size_t t = 0; t < n; t++) {
        const vec w = get(a + t * H, c) * share, kept = dropped(w, bits, bit + t * H, H, times, c);
        put(a + t * H, kept, c);
        if (!seat) continue;
        const vec bend = get(bent + t * H, c);
        steep += w * bend;
        put(bent + t * H, kept * bend, c);
    }
    if (!seat) return;
    put(seat, mine, c);
    put(seat + H, most, c);
    put(seat + 2 * H, share, c);
    put(seat + 3 * H, steep, c);
}

/* By itself: a compiler that saw slope * s + bias might fuse it here and not there. Returns the largest. */
static __attribute__((noinline)) float add_bias(size_t n, float *a, const float *bias)
{
    float most = -INFINITY;
    for (size_t p = 0; p < n; p++) {
        a[p] += bias[p];
        most = a[p] > most ? a[p] : most;
    }
    return most;
}

/* One head: queries have few pairs, so the exponentials of all of them are taken together. */
static void weigh_single(size_t queries, const size_t *first, const int32_t *key, float *a, const float *u, size_t ldu,
                         const float *z, size_t ldz, float slope, const float *bias, float *seats, const uint8_t *bits,
                         float factor)
{
    const size_t begin = first[0], pairs = first[queries] - begin;
    float *bent = a + pairs;
    for (size_t i = 0; i < queries; i++) {
        float most = -INFINITY;
        for (size_t p = first[i] - begin; p < first[i + 1] - begin; p++) {
            const float s = u[i * ldu] + z[(size_t)key[p] * ldz], e = s > 0 ? s : slope * s;
            if (seats) bent[p] = s > 0 ? 1 : slope;
            a[p] = e;
            most = e > most ? e : most;
        }
        if (bias) most = add_bias(first[i + 1] - first[i], a + first[i] - begin, bias + first[i] - begin);
        if (seats) seats[4 * i] = u[i * ldu], seats[4 * i + 1] = most;
        for (size_t p = first[i] - begin; p < first[i + 1] - begin; p++) a[p] -= most;
    }
    for (size_t i = 0; i < pairs; i += LANES) {
        const size_t c = pairs - i < LANES ? pairs - i : LANES;
        put(a + i, vec_exp(get(a + i, c)), c);
    }
    const float times[2] = {0, factor};
    for (size_t i = 0; i < queries; i++) {
        float sum = 0, steep = 0;
        for (size_t p = first[i] - begin; p < first[i + 1] - begin; p++) sum += a[p];
        const float share = 1 / sum;
        for (size_t p = first[i] - begin; p < first[i + 1] - begin; p++) {
            const float w = a[p] * share;
            a[p] = bits ? w * times[bit_of(bits, begin + p)] : w;
            if (!seats) continue;
            steep += w * bent[p];
            bent[p] *= a[p];
        }
        if (seats) seats[4 * i + 2] = share, seats[4 * i + 3] = steep;
    }
}

void ISA(edges_weigh)(size_t queries, const size_t *first, const int32_t *key, size_t H, float *a, const float *u,
                      size_t ldu, const float *z, size_t ldz, float slope, const float *bias, float *seats,
                      const uint8_t *bits, float factor)
{
    NARROW(H, edges_weigh, (queries, first, key, H, a, u, ldu, z, ldz, slope, bias, seats, bits, factor))
    if (H == 1) {
        weigh_single(queries, first, key, a, u, ldu, z, ldz, slope, bias, seats, bits, factor);
        return;
    }
    const size_t pairs = first[queries] - first[0];
    for (size_t i = 0; i < queries; i++)
        for (size_t h = 0; h < H; h += LANES) {
            const size_t at = first[i] - first[0], n = first[i + 1] - first[i], bit = first[i] * H + h;
            float       *to = a + at * H + h, *seat = seats ? seats + 4 * H * i + h : NULL, *bent = to + pairs * H;
            const float *mine = u + i * ldu + h, *lean = bias ? bias + at : NULL;
            if (H - h >= LANES)
                weigh_columns(n, H, to, mine, z + h, ldz, key + at, slope, lean, seat, bent, bits, bit, factor, LANES);
            else weigh_columns(n, H, to, mine, z + h, ldz, key + at, slope, lean, seat, bent, bits, bit, factor, H - h);
        }
}

/* ---------------------------------------------------------------------------------------------------- back to a key */

/* Everything of one key and n of its pairs. */
typedef struct back {
    size_t         H, d;
    float         *ds, *a, *dz;
    const size_t  *pair;
    const int32_t *query;
    const float   *seats, *dout;
    size_t         ldo;
    const float   *z, *v, *bias;
    float          slope, factor;
    const uint8_t *bits;
} back;

INLINE void call_for(const back *b, size_t t)
{
    const float *row = b->dout + (size_t)b->query[t] * b->ldo, *who = b->seats + (size_t)b->query[t] * 4 * b->H;
    for (size_t i = 0; i < b->H * b->d; i += LINE) __builtin_prefetch(row + i, 0, 3);
    for (size_t i = 0; i < 4 * b->H; i += LINE) __builtin_prefetch(who + i, 0, 3);
    if (b->ds) __builtin_prefetch(b->ds + b->pair[t] * b->H, 1, 3);
    if (b->bits) __builtin_prefetch(b->bits + b->pair[t] * b->H / 8, 0, 3);
}

/* The weight again, as forward made it; then  ds = f'(s) w (g - level),  with g what arrived at the weight before dropout. */
INLINE vec slope_of(const back *b, vec s, vec bias, vec top, vec share, vec level, vec da, ivec kept, vec *a)
{
    const vec slope = same(b->slope), factor = same(b->factor);
    const vec w = vec_exp(leaky(s, slope) + bias - top) * share;
    *a = (vec)((ivec)(w * factor) & kept);
    return w * ((vec)((ivec)(da * factor) & kept) - level) * choose(s > (vec){0}, same(1.0f), slope);
}

INLINE ivec kept_lanes(const uint8_t *bits, size_t bit, size_t H, const size_t c)
{
    if (!bits) return same_int(-1);
    if (H == 8 && LANES <= 8) return lanes_kept(bits + bit / 8, bit % 8, 8);
    return lanes_kept_from(bits, bit, c);
}

/* Heads h .. h + c - 1 of pair t, from what arrived at their weights. */
INLINE vec slope_columns(const back *b, size_t t, size_t h, vec da, const size_t c)
{
    const float *who = b->seats + (size_t)b->query[t] * 4 * b->H + h;
    const vec    s = get(who, c) + get(b->z + h, c);
    vec          a;
    const vec    ds =
        slope_of(b, s, same(b->bias ? b->bias[b->pair[t]] : 0.0f), get(who + b->H, c), get(who + 2 * b->H, c),
                 get(who + 3 * b->H, c), da, kept_lanes(b->bits, b->pair[t] * b->H + h, b->H, c), &a);
    put(b->a + t * b->H + h, a, c);
    if (b->ds) put(b->ds + b->pair[t] * b->H + h, ds, c);
    return ds;
}

#if RG_LANES == 8
/* Eight heads of eight: what arrived at a pair's weights never leaves the registers. */
static void back_eight(const back *b, size_t n, size_t more)
{
    vec dz = load(b->dz);
    for (size_t t = 0; t < n; t++) {
        const float *row = b->dout + (size_t)b->query[t] * b->ldo;
        if (t + AHEAD < n + more) call_for(b, t + AHEAD);
        vec terms[8];
        UNROLL for (size_t h = 0; h < 8; h++) terms[h] = load(row + 8 * h) * load(b->v + 8 * h);
        dz += slope_columns(b, t, 0, fold_eight(terms), LANES);
    }
    store(b->dz, dz);
}
#endif

static void back_heads(const back *b, size_t n, size_t more)
{
    for (size_t t = 0; t < n; t++) {
        float *da = b->a + t * b->H; /* makes way for the weights */
        if (t + AHEAD < n + more) call_for(b, t + AHEAD);
        ISA(heads_dot)(b->H, b->d, da, 1, 1.0f, b->v, b->d, b->dout + (size_t)b->query[t] * b->ldo, b->d);
        for (size_t h = 0; h < b->H; h += LANES) {
            const size_t c = b->H - h < LANES ? b->H - h : LANES;
            put(b->dz + h, get(b->dz + h, c) + slope_columns(b, t, h, get(da + h, c), c), c);
        }
    }
}

/* v . a row of dout */
INLINE float arrived_at(const back *b, const float *row)
{
    float da;
    if (RG_LANES == 8 && b->d <= LANES) return fold_one(get(b->v, b->d) * get(row, b->d));
    ISA(heads_dot)(1, b->d, &da, 1, 1.0f, b->v, b->d, row, b->d);
    return da;
}

/* One head: the numbers of several pairs are laid side by side. */
static void back_single(const back *b, size_t n, size_t more)
{
    float s[FEW], bias[FEW], top[FEW], share[FEW], level[FEW], da[FEW], kept[FEW];
    for (size_t t = 0; t < n; t++) {
        const float *who = b->seats + (size_t)b->query[t] * 4;
        if (t + AHEAD < n + more) call_for(b, t + AHEAD);
        da[t] = arrived_at(b, b->dout + (size_t)b->query[t] * b->ldo);
        s[t] = who[0] + *b->z, bias[t] = b->bias ? b->bias[b->pair[t]] : 0, top[t] = who[1], share[t] = who[2],
        level[t] = who[3];
        kept[t] = bit_of(b->bits, b->pair[t]) ? 1.0f : 0.0f;
    }
    for (size_t t = 0; t < n; t += LANES) {
        const size_t c = n - t < LANES ? n - t : LANES;
        vec          a;
        const vec    ds = slope_of(b, get(s + t, c), get(bias + t, c), get(top + t, c), get(share + t, c),
                                   get(level + t, c), get(da + t, c), get(kept + t, c) > (vec){ 0 }, &a);
        put(b->a + t, a, c);
        put(da + t, ds, c);
    }
    for (size_t t = 0; t < n; t++) *b->dz += da[t];
    for (size_t t = 0; b->ds && t < n; t++) b->ds[b->pair[t]] = da[t];
}

/* Apart from edges_back, whose short calls would pay for this frame before they are passed on. */
static __attribute__((noinline)) void back_pairs(back *b, size_t n, size_t more)
{
    while (n) {
        const size_t some = n < FEW ? n : FEW;
        n -= some;
        if (b->H == 1) back_single(b, some, more + n);
#if RG_LANES == 8
        else if (b->H == 8 && b->d == 8) back_eight(b, some, more + n);
#endif
        else back_heads(b, some, more + n);
        b->pair += some, b->query += some, b->a += some * b->H;
    }
}

void ISA(edges_back)(size_t n, size_t H, size_t d, float *ds, float *a, float *dz, const size_t *pair,
                     const int32_t *query, const float *seats, const float *dout, size_t ldo, const float *z,
                     const float *v, float slope, const float *bias, const uint8_t *bits, float factor, size_t more)
{
    NARROW(H > d ? H : d, edges_back,
           (n, H, d, ds, a, dz, pair, query, seats, dout, ldo, z, v, slope, bias, bits, factor, more))
    back b = {H, d, ds, a, dz, pair, query, seats, dout, ldo, z, v, bias, slope, factor, bits};
    back_pairs(&b, n, more);
}
