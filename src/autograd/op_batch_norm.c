/* op_batch_norm.c - batch normalisation (Ioffe, Szegedy 2015): statistics of each column over all rows.
 *
 *   y = g xhat + b        xhat = (x - mean) rstd        rstd = 1 / sqrt(var + eps)
 *   learning:  dx = g rstd (dy - mean(dy) - xhat mean(dy xhat))
 *   otherwise: dx = g rstd dy, with the kept statistics
 *
 * While learning the kept statistics move by momentum (batch - kept), the variance without bias. */
#include "autograd/tape.h"

#include <math.h>

typedef struct {
    rg_node    node;
    rg_tensor *x, *gain, *bias;
    rg_real   *mean, *rstd; /* (D) */
    bool       batch;       /* statistics are of this batch */
} batch_node;

/* Sums of x - mean and of its square over all rows, in double, in row order. mean NULL: zeros. */
static void moments(const rg_tensor *x, const rg_real *mean, double *sum, double *square)
{
    for (size_t j = 0; j < x->cols; j++) sum[j] = square[j] = 0;
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++) {
            const double v = (double)x->data[i * x->ld + j] - (mean ? (double)mean[j] : 0);
            sum[j] += v;
            square[j] += v * v;
        }
}

/* Mean and rstd of this batch; work holds the variance (D numbers) afterwards. */
static void take_statistics(batch_node *n, double *work, double eps)
{
    const rg_tensor *x = n->x;
    const size_t     D = x->cols;
    const double     N = x->rows ? (double)x->rows : 1;
    moments(x, NULL, work, work + D);
    for (size_t j = 0; j < D; j++) n->mean[j] = (rg_real)(work[j] / N);
    moments(x, n->mean, work, work + D); /* a second pass about the mean: no cancellation */
    for (size_t j = 0; j < D; j++) {
        const double rest = work[j] / N, var = work[D + j] / N - rest * rest;
        n->rstd[j] = (rg_real)(1 / sqrt(var + eps));
        work[j] = var;
    }
}

static void move(rg_tape *t, const batch_node *n, const double *var, rg_param *mean, rg_param *variance, double momentum)
{
    const double N = (double)n->x->rows;
    if (!n->x->rows) return;
    rg_real       *dm = rg_tape__moves(t, mean), *dv = rg_tape__moves(t, variance);
    const rg_real *m = rg_param_data(mean), *v = rg_param_data(variance);
    for (size_t j = 0; dm && dv && j < n->x->cols; j++) {
        dm[j] += (rg_real)(momentum * ((double)n->mean[j] - (double)m[j]));
        dv[j] += (rg_real)(momentum * (var[j] * N / (N > 1 ? N - 1 : 1) - (double)v[j]));
    }
}

static void batch_backward(rg_tape *t, rg_node *node)
{
    batch_node      *n = (batch_node *)node;
    const rg_tensor *x = n->x, *y = node->out;
    const size_t     D = x->cols;
    const rg_real   *dy = rg_tape__arrived(t, node->out);
    rg_real         *dg = rg_tape__grad_add(t, n->gain), *db = rg_tape__grad_add(t, n->bias);
    bool             add = false;
    rg_real         *dx = rg_tape__grad(t, n->x, &add);
    rg_arena_point   scratch = rg_tape__scratch(t);
    double          *sum = rg_tape__keep(t, 2 * D * sizeof *sum), *product = sum ? sum + D : NULL;
    if (!sum) return;
    for (size_t j = 0; j < 2 * D; j++) sum[j] = 0;
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < D; j++) {
            const double d = (double)dy[i * y->ld + j];
            sum[j] += d;
            product[j] += d * (double)((x->data[i * x->ld + j] - n->mean[j]) * n->rstd[j]);
        }
    for (size_t j = 0; j < D; j++) {
        if (dg) dg[j] += (rg_real)product[j];
        if (db) db[j] += (rg_real)sum[j];
    }
    const double share = n->batch && x->rows ? 1 / (double)x->rows : 0; /* kept statistics do not depend on x */
    for (size_t i = 0; dx && i < x->rows; i++)
        for (size_t j = 0; j < D; j++) {
            const rg_real scale = n->gain->data[j] * n->rstd[j], xhat = (x->data[i * x->ld + j] - n->mean[j]) * n->rstd[j];
            const rg_real d = scale * (dy[i * y->ld + j] - (rg_real)(share * sum[j]) - xhat * (rg_real)(share * product[j]));
            dx[i * x->ld + j] = add ? dx[i * x->ld + j] + d : d;
        }
    rg_tape__release(t, scratch);
}

static bool fits(rg_tape *t, const rg_tensor *x, size_t rows, size_t cols, const char *what)
{
    if (rows == 1 && cols == x->cols) return true;
    rg_tape_fail(t, RG_ESHAPE, "the %s is %zu x %zu; it should be 1 x %zu", what, rows, cols, x->cols);
    return false;
}

static bool forward(rg_tape *t, batch_node *n, rg_param *mean, rg_param *variance, double momentum, double eps)
{
    const rg_tensor *x = n->x, *y = n->node.out;
    const size_t     D = x->cols;
    if (!(n->mean = rg_tape__reals(t, 2 * D))) return false;
    n->rstd = n->mean + D;
    if (n->batch) {
        rg_arena_point scratch = rg_tape__scratch(t);
        double        *work = rg_tape__keep(t, 2 * D * sizeof *work);
        if (!work) return false;
        take_statistics(n, work, eps);
        move(t, n, work, mean, variance, momentum);
        rg_tape__release(t, scratch);
    } else {
        for (size_t j = 0; j < D; j++)
            n->mean[j] = rg_param_data(mean)[j], n->rstd[j] = (rg_real)(1 / sqrt((double)rg_param_data(variance)[j] + eps));
    }
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < D; j++)
            y->data[i * y->ld + j] = n->gain->data[j] * ((x->data[i * x->ld + j] - n->mean[j]) * n->rstd[j]) + n->bias->data[j];
    return true;
}

rg_tensor *rg_batch_norm(rg_tape *t, rg_tensor *x, rg_tensor *gain, rg_tensor *bias, rg_param *mean, rg_param *variance, double momentum,
                         double eps)
{
    rg_tensor *in[] = { x, gain, bias };
    if (!rg_tape__begin(t, "batch_norm", 3, in)) return NULL;
    if (!mean || !variance) return rg_tape_fail(t, RG_EINVAL, "the kept mean and variance are missing");
    if (!fits(t, x, gain->rows, gain->cols, "gain") || !fits(t, x, bias->rows, bias->cols, "bias") ||
        !fits(t, x, rg_param_rows(mean), rg_param_cols(mean), "kept mean") ||
        !fits(t, x, rg_param_rows(variance), rg_param_cols(variance), "kept variance"))
        return NULL;
    rg_tensor *y = rg_tape__tensor(t, x->rows, x->cols, x->layout);
    if (!y) return NULL;
    batch_node now = { .node.out = y, .x = x, .gain = gain, .bias = bias, .batch = rg_tape_learning(t) };
    if (rg_tape__live(t) && !forward(t, &now, mean, variance, momentum, eps)) return NULL;
    rg_tape__will_keep(t, 2 * x->cols * sizeof(rg_real));
    rg_tape__count(t, 8.0 * (double)(x->rows * x->cols));
    batch_node *n = rg_tape__node(t, sizeof *n, y, batch_backward, 3, in);
    if (n) n->x = x, n->gain = gain, n->bias = bias, n->mean = now.mean, n->rstd = now.rstd, n->batch = now.batch;
    return y;
}
