/* optimise_loops.h - the loops themselves, included once for each table. Plain C that the compiler turns into the
 * vectors of its instruction set; the pass waits for memory, not for arithmetic. Formulas are in optimise.h. */
#ifndef RG_TENSOR_OPTIMISE_LOOPS_H
#define RG_TENSOR_OPTIMISE_LOOPS_H

#include <math.h>
#include <tgmath.h>

#include "tensor/optimise.h"

enum { CHUNK = 256, FOLDS = 8 };

typedef rg_real *restrict numbers;
typedef const rg_real *restrict readable;

/* ------------------------------------------------------------------------------------------------- gradients */

static void add_up(readable x, readable y, size_t n, numbers g)
{
    for (size_t i = 0; i < n; i++) g[i] = x[i] + y[i];
}

static void add_more(readable x, size_t n, numbers g)
{
    for (size_t i = 0; i < n; i++) g[i] += x[i];
}

/* The sum of the workers' gradients: in `room`, or the only worker's own. */
static const rg_real *summed(const rg_real *const *grads, size_t workers, size_t at, size_t n, rg_real *room)
{
    if (workers == 1) return grads[0] + at;
    if (workers == 0)
        for (size_t i = 0; i < n; i++) room[i] = 0;
    else add_up(grads[0] + at, grads[1] + at, n, room);
    for (size_t k = 2; k < workers; k++) add_more(grads[k] + at, n, room);
    return room;
}

/* g = clip(scale x) + decay w */
static void finish(const rg_update *u, readable x, readable w, size_t n, numbers g)
{
    const rg_real scale = u->scale, limit = u->limit, decay = u->decay;
    for (size_t i = 0; i < n; i++) g[i] = scale * x[i];
    if (limit > 0)
        for (size_t i = 0; i < n; i++) g[i] = g[i] > limit ? limit : g[i] < -limit ? -limit : g[i];
    if (decay != 0)
        for (size_t i = 0; i < n; i++) g[i] += decay * w[i];
}

/* Sums in double: a float's square neither overflows nor vanishes there. */
static double squares(const rg_real *const *grads, size_t workers, size_t at, size_t n)
{
    double  fold[FOLDS] = {0}, rest = 0;
    rg_real room[CHUNK];
    for (size_t done = 0; done < n && workers; done += CHUNK) {
        size_t         some = n - done < CHUNK ? n - done : CHUNK, i = 0;
        const rg_real *g = summed(grads, workers, at + done, some, room);
        for (; i + FOLDS <= some; i += FOLDS)
            for (size_t j = 0; j < FOLDS; j++) fold[j] += (double)g[i + j] * (double)g[i + j];
        for (; i < some; i++) rest += (double)g[i] * (double)g[i];
    }
    for (size_t j = 0; j < FOLDS; j++) rest += fold[j];
    return rest;
}

/* ----------------------------------------------------------------------------------------------------- rules */

static void descent(const rg_update *u, size_t n, readable g, numbers w)
{
    const rg_real rate = u->rate;
    for (size_t i = 0; i < n; i++) w[i] -= rate * g[i];
}

static void momentum(const rg_update *u, size_t n, readable g, numbers w, numbers m)
{
    const rg_real rate = u->rate, a = u->a;
    for (size_t i = 0; i < n; i++) {
        m[i] = a * m[i] + g[i];
        w[i] -= rate * m[i];
    }
}

static void nesterov(const rg_update *u, size_t n, readable g, numbers w, numbers m)
{
    const rg_real rate = u->rate, a = u->a;
    for (size_t i = 0; i < n; i++) {
        m[i] = a * m[i] + g[i];
        w[i] -= rate * (g[i] + a * m[i]);
    }
}

static void adam(const rg_update *u, size_t n, readable g, numbers w, numbers m, numbers v)
{
    const rg_real a = u->a, b = u->b, a1 = 1 - a, b1 = 1 - b, eps = u->eps, rate1 = u->rate1, rate2 = u->rate2;
    for (size_t i = 0; i < n; i++) {
        rg_real first = a * m[i] + a1 * g[i], second = b * v[i] + b1 * (g[i] * g[i]);
        m[i] = first;
        v[i] = second;
        w[i] -= rate1 * first / (sqrt(second) * rate2 + eps);
    }
}

static void adadelta(const rg_update *u, size_t n, readable g, numbers w, numbers v, numbers d)
{
    const rg_real b = u->b, b1 = 1 - b, eps = u->eps, rate = u->rate;
    for (size_t i = 0; i < n; i++) {
        rg_real second = b * v[i] + b1 * (g[i] * g[i]);
        rg_real step = g[i] * (sqrt(d[i] + eps) / sqrt(second + eps));
        v[i] = second;
        d[i] = b * d[i] + b1 * (step * step);
        w[i] -= rate * step;
    }
}

static void adagrad(const rg_update *u, size_t n, readable g, numbers w, numbers v)
{
    const rg_real rate = u->rate, eps = u->eps;
    for (size_t i = 0; i < n; i++) {
        v[i] += g[i] * g[i];
        w[i] -= rate * g[i] / (sqrt(v[i]) + eps);
    }
}

static void rmsprop(const rg_update *u, size_t n, readable g, numbers w, numbers m, numbers v)
{
    const rg_real a = u->a, b = u->b, b1 = 1 - b, eps = u->eps, rate = u->rate;
    for (size_t i = 0; i < n; i++) {
        v[i] = b * v[i] + b1 * (g[i] * g[i]);
        m[i] = a * m[i] + g[i] / (sqrt(v[i]) + eps);
        w[i] -= rate * m[i];
    }
}

/* v - d^2 is a variance: rounding may leave it a little below zero. */
static void centred(const rg_update *u, size_t n, readable g, numbers w, numbers m, numbers v, numbers d)
{
    const rg_real a = u->a, b = u->b, b1 = 1 - b, eps = u->eps, rate = u->rate;
    for (size_t i = 0; i < n; i++) {
        v[i] = b * v[i] + b1 * (g[i] * g[i]);
        d[i] = b * d[i] + b1 * g[i];
        rg_real spread = v[i] - d[i] * d[i];
        m[i] = a * m[i] + g[i] / (sqrt(spread > 0 ? spread : 0) + eps);
        w[i] -= rate * m[i];
    }
}

static void graves(const rg_update *u, size_t n, readable g, numbers w, numbers m, numbers v, numbers d)
{
    const rg_real a = u->a, b = u->b, b1 = 1 - b, eps = u->eps, rate = u->rate;
    for (size_t i = 0; i < n; i++) {
        v[i] = b * v[i] + b1 * (g[i] * g[i]);
        d[i] = b * d[i] + b1 * g[i];
        rg_real spread = v[i] - d[i] * d[i];
        m[i] = a * m[i] + rate * g[i] / sqrt((spread > 0 ? spread : 0) + eps);
        w[i] -= m[i];
    }
}

static void apply(const rg_update *u, size_t at, size_t n, const rg_real *g)
{
    rg_real *w = u->w + at;
    switch (u->rule) {
    case RG_RULE_DESCENT: descent(u, n, g, w); break;
    case RG_RULE_MOMENTUM: momentum(u, n, g, w, u->m + at); break;
    case RG_RULE_NESTEROV: nesterov(u, n, g, w, u->m + at); break;
    case RG_RULE_ADAM: adam(u, n, g, w, u->m + at, u->v + at); break;
    case RG_RULE_ADADELTA: adadelta(u, n, g, w, u->v + at, u->d + at); break;
    case RG_RULE_ADAGRAD: adagrad(u, n, g, w, u->v + at); break;
    case RG_RULE_RMSPROP: rmsprop(u, n, g, w, u->m + at, u->v + at); break;
    case RG_RULE_CENTRED: centred(u, n, g, w, u->m + at, u->v + at, u->d + at); break;
    case RG_RULE_GRAVES: graves(u, n, g, w, u->m + at, u->v + at, u->d + at); break;
    }
}

static void shrink(rg_real keep, size_t n, numbers w)
{
    for (size_t i = 0; i < n; i++) w[i] *= keep;
}

static void follow(rg_real smooth, size_t n, readable w, numbers average)
{
    for (size_t i = 0; i < n; i++) average[i] += smooth * (w[i] - average[i]);
}

static void update(const rg_update *u, const rg_real *const *grads, size_t workers, size_t at, size_t n)
{
    rg_real room[CHUNK], g[CHUNK];
    for (size_t end = at + n, some; at < end; at += some) {
        some = end - at < CHUNK ? end - at : CHUNK;
        finish(u, summed(grads, workers, at, some, room), u->w + at, some, g);
        if (u->keep != 1) shrink(u->keep, some, u->w + at);
        apply(u, at, some, g);
        if (u->average) follow(u->smooth, some, u->w + at, u->average + at);
    }
}

/* ----------------------------------------------------------------------------------------------------- packs */

/* Panels that end inside a matrix are filled up with zeros. */
static void pack_rest(rg_real *panels, const rg_real *w, size_t ld, size_t rows, size_t cols)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < RG_PANEL; j++) panels[r * RG_PANEL + j] = j < cols ? w[r * ld + j] : 0;
}

static void pack_transposed_rest(rg_real *panels, const rg_real *w, size_t ld, size_t rows, size_t cols)
{
    for (size_t c = 0; c < cols; c++)
        for (size_t j = 0; j < RG_PANEL; j++) panels[c * RG_PANEL + j] = j < rows ? w[j * ld + c] : 0;
}

#endif
