/* parzen.c - how likely data are under a Parzen window around samples, in nats (Breuleux, Bengio, Vincent 2011;
 * Goodfellow et al. 2014, section 5):
 *
 *     log p(x) = logsumexp_j( -|x - s_j|^2 / (2 sigma^2) ) - log M - (d/2) log(2 pi sigma^2)          M samples s_j of d numbers
 *
 * sigma is chosen on other data than those that are measured. The error is the standard error over the examples. */
#include <math.h>

#include "regard/metrics.h"

static double square_distance(const rg_real *x, const rg_real *s, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        const double e = (double)(x[j] - s[j]);
        sum += e * e;
    }
    return sum;
}

/* Of one example, whose square distances to the samples are given. */
static double log_likelihood(const double *square, size_t M, size_t d, double sigma)
{
    double least = INFINITY, sum = 0;
    for (size_t j = 0; j < M; j++) least = fmin(least, square[j]);
    for (size_t j = 0; j < M; j++) sum += exp((least - square[j]) / (2 * sigma * sigma));
    return log(sum) - least / (2 * sigma * sigma) - log((double)M) -
           0.5 * (double)d * log(6.283185307179586477 * sigma * sigma);
}

enum { WIDTHS = 24 };

/* sigma from 0.01 to 10, evenly in its logarithm; scaled by nothing: the data say their scale by the best one. */
static double width_at(size_t k) { return 0.01 * pow(1000, (double)k / (WIDTHS - 1)); }

static void distances(double *square, const rg_real *x, const rg_real *samples, size_t M, size_t d)
{
    for (size_t j = 0; j < M; j++) square[j] = square_distance(x, samples + j * d, d);
}

rg_status rg_parzen_measure(rg_parzen *out, const rg_real *samples, size_t M, const rg_real *x, size_t n,
                            const rg_real *valid, size_t valid_n, size_t d)
{
    double  sum[WIDTHS] = { 0 }, squares = 0, total = 0;
    double *square = rg_alloc_array(M + 1, sizeof *square);
    *out = (rg_parzen){ .examples = n };
    if (!square) return RG_ENOMEM;
    for (size_t i = 0; i < valid_n; i++) {
        distances(square, valid + i * d, samples, M, d);
        for (size_t k = 0; k < WIDTHS; k++) sum[k] += log_likelihood(square, M, d, width_at(k));
    }
    size_t best = 0;
    for (size_t k = 1; k < WIDTHS; k++)
        if (sum[k] > sum[best]) best = k;
    out->sigma = width_at(best);
    for (size_t i = 0; i < n; i++) {
        distances(square, x + i * d, samples, M, d);
        const double l = log_likelihood(square, M, d, out->sigma);
        total += l;
        squares += l * l;
    }
    rg_free(square);
    out->mean = n ? total / (double)n : 0;
    out->error = n > 1 ? sqrt(fmax(0, squares / (double)n - out->mean * out->mean) / (double)(n - 1)) : 0;
    return RG_OK;
}
