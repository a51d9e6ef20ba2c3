/* gates.c - rows of recurrent steps (gates.h) in one pass each: gates, cell and state while they are in registers. */
#include "tensor/kernels/elementary.h"
#include "tensor/kernels/isa.h"

INLINE vec maybe(const float *x, size_t i, size_t c) { return x ? get(x + i, c) : (vec){0}; }
INLINE vec logistic_slope(vec y) { return y * (1.0f - y); }

/* ------------------------------------------------------------------------------------------------------ LSTM */

static void lstm(size_t u, float *gates, float *cell, float *h, const float *c_before)
{
    float *gi = gates, *gf = gates + u, *go = gates + 2 * u, *gn = gates + 3 * u;
    EACH(u, {
        vec in = vec_sigmoid(get(gi + i, c)), forget = vec_sigmoid(get(gf + i, c)), out = vec_sigmoid(get(go + i, c)),
            n = vec_tanh(get(gn + i, c));
        vec now = in * n;
        if (c_before) now = forget * get(c_before + i, c) + now;
        put(gi + i, in, c);
        put(gf + i, forget, c);
        put(go + i, out, c);
        put(gn + i, n, c);
        put(cell + i, now, c);
        put(h + i, out * vec_tanh(now), c);
    });
}

static void lstm_backward(size_t u, float *dz, float *dc, const float *gates, const float *cell, const float *c_before,
                          const float *dh)
{
    const float *gi = gates, *gf = gates + u, *go = gates + 2 * u, *gn = gates + 3 * u;
    EACH(u, {
        vec in = get(gi + i, c), forget = get(gf + i, c), out = get(go + i, c), n = get(gn + i, c), d = get(dh + i, c);
        vec shown = vec_tanh(get(cell + i, c));
        vec through = d * out;
        vec now = through * (1.0f - shown * shown) + get(dc + i, c);
        put(dz + i, now * n * logistic_slope(in), c);
        put(dz + u + i, now * maybe(c_before, i, c) * logistic_slope(forget), c);
        put(dz + 2 * u + i, d * shown * logistic_slope(out), c);
        put(dz + 3 * u + i, now * in * (1.0f - n * n), c);
        put(dc + i, now * forget, c);
    });
}

/* ------------------------------------------------------------------------------------- GRU, reset before product */

static void gru_reset(size_t u, float *gates, float *rh, const float *before)
{
    EACH(u, {
        vec z = vec_sigmoid(get(gates + i, c)), r = vec_sigmoid(get(gates + u + i, c));
        put(gates + i, z, c);
        put(gates + u + i, r, c);
        put(rh + i, r * maybe(before, i, c), c);
    });
}

static void gru(size_t u, float *gates, float *h, const float *before)
{
    EACH(u, {
        vec n = vec_tanh(get(gates + 2 * u + i, c)), h0 = maybe(before, i, c), change = n - h0;
        put(gates + 2 * u + i, n, c);
        put(h + i, get(gates + i, c) * change + h0, c);
    });
}

static void gru_backward(size_t u, float *dgates, float *dh, const float *gates, const float *before)
{
    EACH(u, {
        vec z = get(gates + i, c), n = get(gates + 2 * u + i, c), d = get(dh + i, c), h0 = maybe(before, i, c);
        vec dz = ready(d * (n - h0) * logistic_slope(z)), dn = ready(d * z * (1.0f - n * n)),
            d0 = ready(d * (1.0f - z));
        put_ready(dgates + i, dz, c);
        put_ready(dgates + 2 * u + i, dn, c);
        put_ready(dh + i, d0, c);
    });
}

static void gru_reset_backward(size_t u, float *dgates, float *dh, const float *drh, const float *gates,
                               const float *before)
{
    EACH(u, {
        vec r = get(gates + u + i, c), d = get(drh + i, c), h0 = maybe(before, i, c), d0 = get(dh + i, c);
        vec dr = ready(d * h0 * logistic_slope(r));
        d0 = ready(d * r + d0);
        put_ready(dgates + u + i, dr, c);
        put_ready(dh + i, d0, c);
    });
}

/* -------------------------------------------------------------------------------------- GRU, reset after product */

static void gru_after(size_t u, float *gates, float *hn, float *h, const float *a, const float *b, const float *before)
{
    EACH(u, {
        vec z = vec_sigmoid(get(gates + i, c) + maybe(a, i, c)),
            r = vec_sigmoid(get(gates + u + i, c) + maybe(a, u + i, c));
        vec inner = maybe(a, 2 * u + i, c) + maybe(b, i, c);
        vec n = vec_tanh(r * inner + get(gates + 2 * u + i, c)), change = maybe(before, i, c) - n;
        put(gates + i, z, c);
        put(gates + u + i, r, c);
        put(gates + 2 * u + i, n, c);
        put(hn + i, inner, c);
        put(h + i, z * change + n, c);
    });
}

static void gru_after_backward(size_t u, float *dgates, float *da, float *dh, const float *gates, const float *hn,
                               const float *before)
{
    EACH(u, {
        vec z = get(gates + i, c), r = get(gates + u + i, c), n = get(gates + 2 * u + i, c), d = get(dh + i, c),
            h0 = maybe(before, i, c), inner = get(hn + i, c);
        vec dz = d * (h0 - n) * logistic_slope(z), dn = d * (1.0f - z) * (1.0f - n * n);
        vec dr = ready(dn * inner * logistic_slope(r)), through = ready(dn * r), d0 = ready(d * z);
        dz = ready(dz);
        dn = ready(dn);
        put_ready(dgates + i, dz, c);
        put_ready(da + i, dz, c);
        put_ready(dgates + u + i, dr, c);
        put_ready(da + u + i, dr, c);
        put_ready(dgates + 2 * u + i, dn, c);
        put_ready(da + 2 * u + i, through, c);
        put_ready(dh + i, d0, c);
    });
}

const rg_gates ISA(gates) = { lstm,         lstm_backward,      gru_reset, gru,
                              gru_backward, gru_reset_backward, gru_after, gru_after_backward };
