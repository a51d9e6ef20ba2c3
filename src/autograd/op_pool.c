/* op_pool.c - pooling over windows of pictures: the largest, or the mean, of what lies inside.
 *
 *   max       y = x[best]                 dx[best] += dy          (the first of equals)
 *   average   y = sum_j x[at_j] / m       dx[at_j] += dy / m      m taps lie inside the picture */
#include "autograd/taps.h"

#include <string.h>

typedef struct {
    rg_node    node;
    rg_tensor *x;
    rg_taps    taps;
    int32_t   *best; /* of max: the row that won, for every number of the result; -1: the window saw nothing */
} pool_node;

static void max_rows(void *context, int member, size_t begin, size_t end)
{
    const pool_node *n = context;
    const rg_tensor *x = n->x, *y = n->node.out;
    (void)member;
    for (size_t i = begin; i < end; i++) {
        rg_real *yi = y->data + i * y->ld;
        int32_t *best = n->best + i * y->cols;
        for (size_t d = 0; d < y->cols; d++) yi[d] = 0, best[d] = -1;
        for (size_t j = 0; j < n->taps.K; j++) {
            const int64_t row = rg_taps__row(&n->taps, i, j);
            if (row < 0) continue;
            const rg_real *xr = x->data + (size_t)row * x->ld;
            for (size_t d = 0; d < y->cols; d++)
                if (best[d] < 0 || xr[d] > yi[d]) yi[d] = xr[d], best[d] = (int32_t)row;
        }
    }
}

static void max_backward(rg_tape *t, rg_node *node)
{
    pool_node       *n = (pool_node *)node;
    const rg_tensor *y = node->out;
    const rg_real   *dy = rg_tape__arrived(t, node->out);
    rg_real         *dx = rg_tape__grad_add(t, n->x);
    for (size_t i = 0; dx && i < y->rows * y->cols; i++)
        if (n->best[i] >= 0) dx[(size_t)n->best[i] * n->x->ld + i % y->cols] += dy[i];
}

static rg_real share(const rg_taps *taps, size_t i)
{
    size_t inside = 0;
    for (size_t j = 0; j < taps->K; j++) inside += rg_taps__row(taps, i, j) >= 0;
    return inside ? (rg_real)(1.0 / (double)inside) : 0;
}

static void average_rows(void *context, int member, size_t begin, size_t end)
{
    const pool_node *n = context;
    const rg_tensor *x = n->x, *y = n->node.out;
    (void)member;
    for (size_t i = begin; i < end; i++) {
        rg_real      *yi = y->data + i * y->ld;
        const rg_real part = share(&n->taps, i);
        memset(yi, 0, y->cols * sizeof *yi);
        for (size_t j = 0; j < n->taps.K; j++) {
            const int64_t row = rg_taps__row(&n->taps, i, j);
            if (row >= 0) rg_kernel()->axpy(y->cols, yi, part, x->data + (size_t)row * x->ld);
        }
    }
}

static void average_backward(rg_tape *t, rg_node *node)
{
    pool_node       *n = (pool_node *)node;
    const rg_tensor *y = node->out;
    const rg_real   *dy = rg_tape__arrived(t, node->out);
    rg_real         *dx = rg_tape__grad_add(t, n->x);
    for (size_t i = 0; dx && i < y->rows; i++) {
        const rg_real part = share(&n->taps, i);
        for (size_t j = 0; j < n->taps.K; j++) {
            const int64_t row = rg_taps__row(&n->taps, i, j);
            if (row >= 0) rg_kernel()->axpy(y->cols, dx + (size_t)row * n->x->ld, part, dy + i * y->ld);
        }
    }
}

static rg_tensor *pool(rg_tape *t, const char *op, rg_tensor *x, const rg_window *window, bool max)
{
    rg_taps taps;
    if (!rg_tape__begin(t, op, 1, &x) || !rg_taps__window(&taps, t, x->layout, window)) return NULL;
    rg_tensor *y = rg_tape__tensor(t, taps.units * taps.out, x->cols, taps.layout);
    if (!y) return NULL;
    pool_node now = { .node.out = y, .x = x, .taps = taps };
    if (max && rg_tape__live(t) && !(now.best = rg_tape__keep(t, y->rows * y->cols * sizeof *now.best))) return NULL;
    if (rg_tape__live(t)) rg_tape__rows(t, y->rows, taps.K * y->cols, max ? max_rows : average_rows, &now);
    if (max) rg_tape__will_keep(t, y->rows * y->cols * sizeof *now.best);
    rg_tape__count(t, (double)(y->rows * taps.K) * (double)y->cols);
    pool_node *n = rg_tape__node(t, sizeof *n, y, max ? max_backward : average_backward, 1, &x);
    if (n) n->x = x, n->taps = taps, n->best = now.best;
    return y;
}

rg_tensor *rg_max_pool2d(rg_tape *t, rg_tensor *x, const rg_window *window) { return pool(t, "max_pool2d", x, window, true); }
rg_tensor *rg_average_pool2d(rg_tape *t, rg_tensor *x, const rg_window *window) { return pool(t, "average_pool2d", x, window, false); }
