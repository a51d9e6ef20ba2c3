/* plain_gates.c - gates.h in ordinary loops: what the vector ones must equal, and the only ones of the double
 * library. */
#include <tgmath.h>

#include "tensor/kernels.h"

static rg_real at(const rg_real *x, size_t j) { return x ? x[j] : (rg_real)0; }
static rg_real logistic(rg_real x)
{
    const rg_real one = 1, e = exp(-fabs(x));
    return (x < 0 ? e : one) / (one + e);
}

/* ------------------------------------------------------------------------------------------------------ LSTM */

static void lstm(size_t u, rg_real *gates, rg_real *c, rg_real *h, const rg_real *c_before)
{
    for (size_t j = 0; j < u; j++) {
        const rg_real i = logistic(gates[j]), f = logistic(gates[u + j]), o = logistic(gates[2 * u + j]),
                      n = tanh(gates[3 * u + j]);
        gates[j] = i, gates[u + j] = f, gates[2 * u + j] = o, gates[3 * u + j] = n;
        c[j] = f * at(c_before, j) + i * n;
        h[j] = o * tanh(c[j]);
    }
}

/* forward was  c = f c0 + i n      h = o tanh(c)
 * so           do = dh tanh(c)     dc += dh o (1 - tanh(c)^2)     di = dc n     df = dc c0     dn = dc i     dc0 = dc f */
static void lstm_backward(size_t u, rg_real *dz, rg_real *dc, const rg_real *gates, const rg_real *c,
                          const rg_real *c_before, const rg_real *dh)
{
    for (size_t j = 0; j < u; j++) {
        const rg_real i = gates[j], f = gates[u + j], o = gates[2 * u + j], n = gates[3 * u + j], tc = tanh(c[j]);
        const rg_real d = dc[j] + dh[j] * o * (1 - tc * tc);
        dz[j] = d * n * i * (1 - i);
        dz[u + j] = d * at(c_before, j) * f * (1 - f);
        dz[2 * u + j] = dh[j] * tc * o * (1 - o);
        dz[3 * u + j] = d * i * (1 - n * n);
        dc[j] = d * f;
    }
}

/* ------------------------------------------------------------------------------------- GRU, reset before product */

static void gru_reset(size_t u, rg_real *gates, rg_real *rh, const rg_real *before)
{
    for (size_t j = 0; j < 2 * u; j++) gates[j] = logistic(gates[j]);
    for (size_t j = 0; j < u; j++) rh[j] = gates[u + j] * at(before, j);
}

static void gru(size_t u, rg_real *gates, rg_real *h, const rg_real *before)
{
    for (size_t j = 0; j < u; j++) {
        const rg_real n = tanh(gates[2 * u + j]), h0 = at(before, j);
        gates[2 * u + j] = n;
        h[j] = h0 + gates[j] * (n - h0);
    }
}

/* forward was  h = (1-z) h0 + z n
 * so           dz = dh (n - h0) z (1-z)     dn = dh z (1 - n^2)     dh0 = dh (1-z) + ... */
static void gru_backward(size_t u, rg_real *dgates, rg_real *dh, const rg_real *gates, const rg_real *before)
{
    for (size_t j = 0; j < u; j++) {
        const rg_real z = gates[j], n = gates[2 * u + j], d = dh[j];
        dgates[j] = d * (n - at(before, j)) * z * (1 - z);
        dgates[2 * u + j] = d * z * (1 - n * n);
        dh[j] = d * (1 - z);
    }
}

/* forward was  rh = r h0:  dr = drh h0 r (1-r)     dh0 += drh r */
static void gru_reset_backward(size_t u, rg_real *dgates, rg_real *dh, const rg_real *drh, const rg_real *gates,
                               const rg_real *before)
{
    for (size_t j = 0; j < u; j++) {
        const rg_real r = gates[u + j];
        dgates[u + j] = drh[j] * at(before, j) * r * (1 - r);
        dh[j] += drh[j] * r;
    }
}

/* -------------------------------------------------------------------------------------- GRU, reset after product */

static void gru_after(size_t u, rg_real *gates, rg_real *hn, rg_real *h, const rg_real *a, const rg_real *b,
                      const rg_real *before)
{
    for (size_t j = 0; j < u; j++) {
        const rg_real z = logistic(gates[j] + at(a, j)), r = logistic(gates[u + j] + at(a, u + j));
        hn[j] = at(a, 2 * u + j) + at(b, j);
        const rg_real n = tanh(gates[2 * u + j] + r * hn[j]);
        gates[j] = z, gates[u + j] = r, gates[2 * u + j] = n;
        h[j] = n + z * (at(before, j) - n);
    }
}

/* forward was  n = tanh(x + r hn)     h = (1-z) n + z h0
 * so           dz = dh (h0 - n) z (1-z)     dn = dh (1-z) (1 - n^2)     dr = dn hn r (1-r)     dhn = dn r     dh0 = dh z + ... */
static void gru_after_backward(size_t u, rg_real *dgates, rg_real *da, rg_real *dh, const rg_real *gates,
                               const rg_real *hn, const rg_real *before)
{
    for (size_t j = 0; j < u; j++) {
        const rg_real z = gates[j], r = gates[u + j], n = gates[2 * u + j], d = dh[j];
        const rg_real dn = d * (1 - z) * (1 - n * n);
        da[j] = dgates[j] = d * (at(before, j) - n) * z * (1 - z);
        da[u + j] = dgates[u + j] = dn * hn[j] * r * (1 - r);
        dgates[2 * u + j] = dn;
        da[2 * u + j] = dn * r;
        dh[j] = d * z;
    }
}

extern const rg_gates rg_gates_plain;
const rg_gates        rg_gates_plain = { lstm,         lstm_backward,      gru_reset, gru,
                                         gru_backward, gru_reset_backward, gru_after, gru_after_backward };
