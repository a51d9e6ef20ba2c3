/* plain_lists.c - lists, graph attention's edges and dropout of the plain table (plain.c). */
#include <math.h>
#include <string.h>
#include <tgmath.h>

#include "tensor/plain_lists.h"

static rg_real dot(size_t n, const rg_real *x, const rg_real *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)y[i];
    return (rg_real)sum;
}

/* ---------------------------------------------------------------------------------------------------- lists */

void rg_plain__lists_mix(size_t n, size_t H, size_t d, rg_real *y, bool add, const rg_real *a, size_t lda,
                         const size_t *pair, const rg_real *x, size_t ldx, const int32_t *row, size_t more)
{
    (void)more;
    for (size_t j = 0; j < H * d; j++) {
        rg_real sum = add ? y[j] : 0;
        for (size_t t = 0; t < n; t++) {
            const size_t p = pair ? pair[t] : t;
            sum += a[p * lda + j / d] * x[(size_t)row[p] * ldx + j];
        }
        y[j] = sum;
    }
}

void rg_plain__lists_sum(size_t n, size_t H, rg_real *y, bool add, const rg_real *x, const size_t *pair)
{
    for (size_t h = 0; h < H; h++) {
        rg_real sum = add ? y[h] : 0;
        for (size_t t = 0; t < n; t++) sum += x[(pair ? pair[t] : t) * H + h];
        y[h] = sum;
    }
}

void rg_plain__lists_expand(size_t n, size_t H, rg_real *a, const uint8_t *bits, const rg_real *value, rg_real factor,
                            const size_t *pair, size_t from)
{
    for (size_t t = 0; t < n; t++)
        for (size_t h = 0; h < H; h++) {
            const size_t p = pair ? pair[t] : from + t, bit = p * H + h;
            a[t * H + h] = bits[bit / 8] >> bit % 8 & 1 ? value[p] * factor : 0;
        }
}

static bool bit_of(const uint8_t *bits, size_t at) { return !bits || (bits[at / 8] >> at % 8 & 1); }

void rg_plain__edges_weigh(size_t queries, const size_t *first, const int32_t *key, size_t H, rg_real *a,
                           const rg_real *u, size_t ldu, const rg_real *z, size_t ldz, rg_real slope,
                           const rg_real *bias, rg_real *seats, const uint8_t *bits, rg_real factor)
{
    for (size_t i = 0; i < queries; i++)
        for (size_t h = 0; h < H; h++) {
            const size_t begin = first[i] - first[0], end = first[i + 1] - first[0];
            rg_real      most = -INFINITY;
            double       sum = 0;
            for (size_t p = begin; p < end; p++) {
                const rg_real s = u[i * ldu + h] + z[(size_t)key[p] * ldz + h];
                a[p * H + h] = (s > 0 ? s : slope * s) + (bias ? bias[p] : 0);
                if (a[p * H + h] > most) most = a[p * H + h];
            }
            for (size_t p = begin; p < end; p++) sum += (double)(a[p * H + h] = exp(a[p * H + h] - most));
            const rg_real share = (rg_real)(1 / sum);
            double        steep = 0;
            for (size_t p = begin; p < end; p++) {
                const rg_real s = u[i * ldu + h] + z[(size_t)key[p] * ldz + h], w = a[p * H + h] * share;
                a[p * H + h] = bit_of(bits, (first[0] + p) * H + h) ? w * factor : 0;
                steep += (double)w * (s > 0 ? 1 : (double)slope);
                if (seats) a[((first[queries] - first[0]) + p) * H + h] = a[p * H + h] * (s > 0 ? 1 : slope);
            }
            if (!seats) continue;
            seats[4 * H * i + h] = u[i * ldu + h];
            seats[4 * H * i + H + h] = most;
            seats[4 * H * i + 2 * H + h] = share;
            seats[4 * H * i + 3 * H + h] = (rg_real)steep;
        }
}

void rg_plain__edges_back(size_t n, size_t H, size_t d, rg_real *ds, rg_real *a, rg_real *dz, const size_t *pair,
                          const int32_t *query, const rg_real *seats, const rg_real *dout, size_t ldo, const rg_real *z,
                          const rg_real *v, rg_real slope, const rg_real *bias, const uint8_t *bits, rg_real factor,
                          size_t more)
{
    (void)more;
    for (size_t t = 0; t < n; t++)
        for (size_t h = 0; h < H; h++) {
            const rg_real *who = seats + (size_t)query[t] * 4 * H + h, s = who[0] + z[h];
            const rg_real  w = exp((s > 0 ? s : slope * s) + (bias ? bias[pair[t]] : 0) - who[H]) * who[2 * H];
            const rg_real  times = bit_of(bits, pair[t] * H + h) ? factor : 0;
            const rg_real  g = times == 0 ? 0 : times * dot(d, dout + (size_t)query[t] * ldo + h * d, v + h * d);
            a[t * H + h] = w * times;
            const rg_real slant = w * (g - who[3 * H]) * (s > 0 ? 1 : slope);
            if (ds) ds[pair[t] * H + h] = slant;
            dz[h] += slant;
        }
}

/* --------------------------------------------------------------------------------------------------- dropout */

void rg_plain__dropout(size_t n, rg_real *y, const rg_real *x, rg_real p, const uint32_t key[2], uint64_t stream,
                       uint64_t position, bool add)
{
    const uint32_t least = rg_dropout_least(p);
    const rg_real factor = rg_dropout_factor(p);
    uint32_t words[4] = {0};
    for (size_t i = 0; i < n; i++) {
        uint64_t at = position + i, block = at / 4;
        if (i == 0 || at % 4 == 0) {
            uint32_t counter[4] = { (uint32_t)block, (uint32_t)(block >> 32), (uint32_t)stream,
                                    (uint32_t)(stream >> 32) };
            rg_philox(words, counter, key);
        }
        rg_real kept = words[at % 4] >= least ? x[i] * factor : 0;
        y[i] = add ? y[i] + kept : kept;
    }
}

void rg_plain__dropout_mask(size_t n, uint8_t *bits, rg_real p, const uint32_t key[2], uint64_t stream,
                            uint64_t position)
{
    const uint32_t least = rg_dropout_least(p);
    memset(bits, 0, (n + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        const uint64_t block = (position + i) / 4;
        const uint32_t counter[4] = { (uint32_t)block, (uint32_t)(block >> 32), (uint32_t)stream,
                                      (uint32_t)(stream >> 32) };
        uint32_t words[4];
        rg_philox(words, counter, key);
        if (words[(position + i) % 4] >= least) bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << i % 8);
    }
}

void rg_plain__dropout_by(size_t n, rg_real *y, const rg_real *x, rg_real p, const uint8_t *bits, bool add)
{
    const rg_real factor = rg_dropout_factor(p);
    for (size_t i = 0; i < n; i++) {
        const rg_real kept = bit_of(bits, i) ? x[i] * factor : 0;
        y[i] = add ? y[i] + kept : kept;
    }
}

void rg_plain__dropout_bits(size_t bytes, uint8_t *bits, rg_real p, const uint32_t key[2], uint64_t stream,
                            uint64_t position)
{
    const uint32_t least = (uint32_t)(((uint64_t)rg_dropout_least(p) + 0x8000u) >> 16);
    for (size_t i = 0; i < bytes; i++) {
        const uint64_t block = position + i;
        const uint32_t counter[4] = { (uint32_t)block, (uint32_t)(block >> 32), (uint32_t)stream,
                                      (uint32_t)(stream >> 32) };
        uint32_t words[4];
        rg_philox(words, counter, key);
        bits[i] = 0;
        for (unsigned b = 0; b < 8; b++)
            if ((words[b / 2] >> 16 * (b % 2) & 0xffffu) >= least) bits[i] = (uint8_t)(bits[i] | 1u << b);
    }
}
