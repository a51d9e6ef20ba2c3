/* set_losses.c - see set_losses.h. Forward and gradient are worked out together and kept; the tape only scales the
 * gradient. */
#include "layers/set_losses.h"

#include <math.h>

/* The gradient of a loss whose value is in the first number of y. */
static void by_gradient(void *context, size_t rows, size_t cols, const rg_real *dy, size_t lddy, rg_real *dx,
                        size_t lddx)
{
    const rg_real *slope = context;
    (void)lddy;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) dx[i * lddx + j] += dy[0] * slope[i * cols + j];
}

/* (1, 1) with this value, and these derivatives for x. */
static rg_tensor *loss_with(rg_tape *t, rg_tensor *x, double value, rg_real *slope)
{
    const size_t numbers = rg_tensor_rows(x) * rg_tensor_cols(x);
    rg_real     *y = rg_tape_memory(t, numbers * sizeof *y);
    if (!y) return NULL;
    for (size_t i = 0; i < numbers; i++) y[i] = 0;
    y[0] = (rg_real)value;
    return rg_sum(t, rg_custom(t, x, y, by_gradient, slope));
}

rg_tensor *rg_soft_iou(rg_tape *t, rg_tensor *x, const rg_real *target)
{
    const size_t N = rg_tensor_rows(x), C = rg_tensor_cols(x);
    rg_real     *slope = x ? rg_tape_memory(t, (N * C + 1) * sizeof *slope) : NULL;
    double       value = 0;
    if (!slope) return NULL;
    for (size_t i = 0; i < N && !rg_tape_dry(t); i++) {
        double both = 0, either = 0;
        for (size_t c = 0; c < C; c++) {
            const double p = 1 / (1 + exp(-(double)rg_tensor_at(x, i, c))), y = (double)target[i * C + c];
            both += p * y;
            either += p + y - p * y;
        }
        value += either > 0 ? 1 - both / either : 0;
        for (size_t c = 0; c < C; c++) { /* d both / dp = y        d either / dp = 1 - y        dp / dx = p (1 - p) */
            const double p = 1 / (1 + exp(-(double)rg_tensor_at(x, i, c))), y = (double)target[i * C + c];
            slope[i * C + c] =
                (rg_real)(either > 0 ? -(y * either - both * (1 - y)) / (either * either) * p * (1 - p) : 0);
        }
    }
    return loss_with(t, x, value, slope);
}

/* ----------------------------------------------------------------------------------------------------------- pooled */

static double clear_of_ends(double p) { return fmin(fmax(p, 1e-7), 1 - 1e-7); }
static double entropy(double p, double y) { return -y * log(clear_of_ends(p)) - (1 - y) * log(1 - clear_of_ends(p)); }
static double entropy_slope(double p, double y) { return (1 - y) / (1 - clear_of_ends(p)) - y / clear_of_ends(p); }

static void softmax_row(rg_real *p, const rg_tensor *x, size_t row, size_t n)
{
    double most = -INFINITY, sum = 0;
    for (size_t j = 0; j < n; j++) most = fmax(most, (double)rg_tensor_at(x, row, j));
    for (size_t j = 0; j < n; j++) sum += exp((double)rg_tensor_at(x, row, j) - most);
    for (size_t j = 0; j < n; j++) p[j] = (rg_real)(exp((double)rg_tensor_at(x, row, j) - most) / sum);
}

/* One set: its loss; d, zeroed, becomes the slope with respect to p. */
static double pool(rg_real *d, const rg_real *p, const rg_real *y, size_t steps, size_t C)
{
    double value = 0, sum = 0, members = 0;
    for (size_t c = 0; c < C; c++) members += (double)y[c];
    for (size_t c = 0; c < C; c++) {
        size_t best = 0;
        for (size_t s = 1; s < steps; s++)
            if (p[s * (C + 1) + c] > p[best * (C + 1) + c]) best = s;
        const double q = (double)p[best * (C + 1) + c];
        value += entropy(q, (double)y[c]);
        sum += q;
        d[best * (C + 1) + c] = (rg_real)entropy_slope(q, (double)y[c]);
    }
    const double sign = sum > members ? 1 : -1;
    for (size_t c = 0; c < C; c++)
        for (size_t s = 0; s < steps; s++)
            if (d[s * (C + 1) + c] != 0) d[s * (C + 1) + c] += (rg_real)(sign / (double)C);
    for (size_t s = 0; s < steps; s++) {
        const double due = (double)s >= members ? 1 : 0, q = (double)p[s * (C + 1) + C];
        value += entropy(q, due) / (double)steps;
        d[s * (C + 1) + C] = (rg_real)(entropy_slope(q, due) / (double)steps);
    }
    return value + fabs(sum - members) / (double)C;
}

rg_tensor *rg_pooled_set_loss(rg_tape *t, rg_tensor *x, const rg_real *target, size_t steps)
{
    const size_t N = rg_tensor_rows(x), W = rg_tensor_cols(x);
    rg_real     *p = x ? rg_tape_memory(t, (2 * N * W + 1) * sizeof *p) : NULL, *slope = p + N * W;
    double       value = 0;
    if (!p) return NULL;
    for (size_t i = 0; i < N * W; i++) slope[i] = 0;
    for (size_t i = 0; i < N && !rg_tape_dry(t); i++) softmax_row(p + i * W, x, i, W);
    for (size_t i = 0; i < N && !rg_tape_dry(t); i += steps)
        value += pool(slope + i * W, p + i * W, target + i / steps * (W - 1), steps, W - 1);
    for (size_t i = 0; i < N && !rg_tape_dry(t); i++) { /* p = softmax(x): dx_j = p_j (d_j - sum_k d_k p_k) */
        double mean = 0;
        for (size_t j = 0; j < W; j++) mean += (double)slope[i * W + j] * (double)p[i * W + j];
        for (size_t j = 0; j < W; j++)
            slope[i * W + j] = (rg_real)((double)p[i * W + j] * ((double)slope[i * W + j] - mean));
    }
    return loss_with(t, x, value, slope);
}
