/* op_batch_norm.c - batch normalisation (Ioffe, Szegedy 2015): statistics of each column over all rows.
 *
 *   y = g xhat + b        xhat = (x - mean) rstd        rstd = 1 / sqrt(var + eps)
 *   learning:  dx = g rstd (dy - mean(dy) - xhat mean(dy xhat))
 *   otherwise: dx = g rstd dy, with the kept statistics
 *
 * While learning the kept statistics move by momentum (batch - kept), the variance without bias; with momentum 0 they
 * do not.
 *
 * Sums over rows are taken CHUNK rows at a time in registers, and those in double in the order of the chunks:
 * whoever takes a chunk, the sum has the same bits. */
#include "autograd/tape.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 64 };

typedef struct {
    rg_node    node;
    rg_tensor *x, *gain, *bias;
    rg_real   *mean, *rstd; /* (D) */
    bool       batch;       /* statistics are of this batch */
} batch_node;

/* --------------------------------------------------------------------------------------------------- sums over rows */

/* Of each column: the sum of a, and the sum of a times (x - mean), or of a alone. */
typedef struct {
    size_t         rows, D, lda, ldx;
    const rg_real *a, *x; /* a NULL: x - mean itself, so that the second sum is of squares */
    const rg_real *minus; /* - mean; NULL: 0 */
    rg_real       *parts; /* 2 D for each chunk, then D for each member */
    size_t         chunks;
} summing;

static void sum_chunks(void *context, int member, size_t begin, size_t end)
{
    const summing    *s = context;
    const rg_kernels *k = rg_kernel();
    const size_t      D = s->D;
    rg_real          *away = s->parts + (2 * s->chunks + (size_t)member) * D;
    for (size_t c = begin; c < end; c++) {
        rg_real     *sum = s->parts + 2 * c * D, *product = sum + D;
        const size_t last = (c + 1) * CHUNK < s->rows ? (c + 1) * CHUNK : s->rows;
        memset(sum, 0, 2 * D * sizeof *sum);
        for (size_t i = c * CHUNK; i < last; i++) {
            const rg_real *x = s->x + i * s->ldx;
            if (s->minus) k->add(D, away, x, s->minus), x = away;
            const rg_real *a = s->a ? s->a + i * s->lda : x;
            k->add(D, sum, sum, a);
            k->mul(D, product, a, x, true);
        }
    }
}

/* total (2 D): both sums. False: no memory. */
static bool sum_rows(rg_tape *t, summing *s, double *total)
{
    rg_arena_point scratch = rg_tape__scratch(t);
    const size_t   D = s->D;
    s->chunks = (s->rows + CHUNK - 1) / CHUNK;
    s->parts = rg_tape__reals(t, (2 * s->chunks + (size_t)rg_team_size(rg_tape_team(t))) * D);
    for (size_t j = 0; j < 2 * D; j++) total[j] = 0;
    if (s->parts) rg_tape__rows(t, s->chunks, CHUNK * D * 2, sum_chunks, s);
    for (size_t c = 0; s->parts && c < s->chunks; c++)
        for (size_t j = 0; j < 2 * D; j++) total[j] += (double)s->parts[2 * c * D + j];
    rg_tape__release(t, scratch);
    return s->parts != NULL;
}

/* What sums and one row's coefficients take beside the node. */
static size_t scratch_bytes(const rg_tape *t, size_t rows, size_t D)
{
    const size_t chunks = (rows + CHUNK - 1) / CHUNK, members = (size_t)rg_team_size(rg_tape_team(t));
    return (2 * chunks + members + 4) * D * sizeof(rg_real) + 2 * D * sizeof(double);
}

/* Mean and rstd of this batch; work holds the variance (D numbers) afterwards. */
static bool take_statistics(rg_tape *t, batch_node *n, double *work, rg_real *minus, double eps)
{
    const rg_tensor *x = n->x;
    const size_t     D = x->cols;
    const double     N = x->rows ? (double)x->rows : 1;
    summing          s = { .rows = x->rows, .D = D, .ldx = x->ld, .x = x->data };
    if (!sum_rows(t, &s, work)) return false;
    for (size_t j = 0; j < D; j++) n->mean[j] = (rg_real)(work[j] / N), minus[j] = -n->mean[j];
    s.minus = minus; /* a second pass about the mean: no cancellation */
    if (!sum_rows(t, &s, work)) return false;
    for (size_t j = 0; j < D; j++) {
        const double rest = work[j] / N, var = work[D + j] / N - rest * rest;
        n->rstd[j] = (rg_real)(1 / sqrt(var + eps));
        work[j] = var;
    }
    return true;
}

static void move(rg_tape *t, const batch_node *n, const double *var, rg_param *mean, rg_param *variance,
                 double momentum)
{
    const double N = (double)n->x->rows;
    if (!n->x->rows || momentum == 0) return;
    rg_real       *dm = rg_tape__moves(t, mean), *dv = rg_tape__moves(t, variance);
    const rg_real *m = rg_param_data(mean), *v = rg_param_data(variance);
    for (size_t j = 0; dm && dv && j < n->x->cols; j++) {
        dm[j] += (rg_real)(momentum * ((double)n->mean[j] - (double)m[j]));
        dv[j] += (rg_real)(momentum * (var[j] * N / (N > 1 ? N - 1 : 1) - (double)v[j]));
    }
}

/* Rows of  to = (x - mean) slope + shift [+ a factor]  with coefficients for each column; `add`: to what is there. */
typedef struct {
    size_t         D, ldx, lda, ldto;
    const rg_real *x, *a; /* a NULL: none */
    const rg_real *minus, *slope, *shift, *factor;
    rg_real       *to, *rows; /* rows: D for each member, where `add` needs them */
    bool           add;
} lines_job;

static void line_rows(void *context, int member, size_t begin, size_t end)
{
    const lines_job  *j = context;
    const rg_kernels *k = rg_kernel();
    for (size_t i = begin; i < end; i++) {
        rg_real *to = j->to + i * j->ldto, *row = j->add ? j->rows + (size_t)member * j->D : to;
        k->add(j->D, row, j->x + i * j->ldx, j->minus);
        k->mul(j->D, row, row, j->slope, false);
        k->add(j->D, row, row, j->shift);
        if (j->a) k->mul(j->D, row, j->a + i * j->lda, j->factor, true);
        if (j->add) k->add(j->D, to, to, row);
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
    rg_real         *minus = rg_tape__reals(t, (4 + (size_t)rg_team_size(rg_tape_team(t))) * D);
    rg_real         *slope = minus ? minus + D : NULL, *shift = minus ? minus + 2 * D : NULL,
            *factor = minus ? minus + 3 * D : NULL;
    if (!sum || !minus) return;
    for (size_t j = 0; j < D; j++) minus[j] = -n->mean[j];
    summing s = { .rows = x->rows, .D = D, .lda = y->ld, .ldx = x->ld, .a = dy, .x = x->data, .minus = minus };
    if (!sum_rows(t, &s, sum)) return;
    const double share = n->batch && x->rows ? 1 / (double)x->rows : 0; /* kept statistics do not depend on x */
    for (size_t j = 0; j < D; j++) {
        const double rstd = (double)n->rstd[j], scale = (double)n->gain->data[j] * rstd, along = product[j] * rstd; /* sum of dy xhat */
        if (dg) dg[j] += (rg_real)along;
        if (db) db[j] += (rg_real)sum[j];
        slope[j] = (rg_real)(-scale * share * along * rstd);
        shift[j] = (rg_real)(-scale * share * sum[j]);
        factor[j] = (rg_real)scale;
    }
    lines_job lines = { D, x->ld, y->ld, x->ld, x->data, dy, minus, slope, shift, factor, dx, minus + 4 * D, add };
    if (dx) rg_tape__rows(t, x->rows, 4 * D, line_rows, &lines);
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
    rg_arena_point scratch = rg_tape__scratch(t);
    double        *work = rg_tape__keep(t, 2 * D * sizeof *work);
    rg_real       *minus = rg_tape__reals(t, 2 * D), *slope = minus ? minus + D : NULL;
    if (!work || !minus) return false;
    if (n->batch) {
        if (!take_statistics(t, n, work, minus, eps)) return false;
        move(t, n, work, mean, variance, momentum);
    } else {
        for (size_t j = 0; j < D; j++)
            n->mean[j] = rg_param_data(mean)[j],
            n->rstd[j] = (rg_real)(1 / sqrt((double)rg_param_data(variance)[j] + eps));
    }
    for (size_t j = 0; j < D; j++) minus[j] = -n->mean[j], slope[j] = n->gain->data[j] * n->rstd[j];
    lines_job lines = { .D = D,
                        .ldx = x->ld,
                        .ldto = y->ld,
                        .x = x->data,
                        .minus = minus,
                        .slope = slope,
                        .shift = n->bias->data,
                        .to = y->data };
    rg_tape__rows(t, x->rows, 3 * D, line_rows, &lines);
    rg_tape__release(t, scratch);
    return true;
}

rg_tensor *rg_batch_norm(rg_tape *t, rg_tensor *x, rg_tensor *gain, rg_tensor *bias, rg_param *mean, rg_param *variance,
                         double momentum, double eps)
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
    rg_tape__will_need(t, scratch_bytes(t, x->rows, x->cols));
    rg_tape__count(t, 8.0 * (double)(x->rows * x->cols));
    batch_node *n = rg_tape__node(t, sizeof *n, y, batch_backward, 3, in);
    if (n) n->x = x, n->gain = gain, n->bias = bias, n->mean = now.mean, n->rstd = now.rstd, n->batch = now.batch;
    return y;
}
