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

/* What output row i sees: its taps in the table of a unit, and where that unit begins. */
typedef struct {
    const int32_t *at;
    size_t         first;
} sight;

static sight sight_of(const rg_taps *p, size_t i) { return (sight){ p->at + i % p->out * p->K, i / p->out * p->in }; }

/* y and best where x is larger; without a branch, so that it goes several columns at a time. */
static void larger_columns(size_t  n, rg_real *restrict y, int32_t *restrict best, const rg_real *restrict x,
                           int32_t row)
{
    for (size_t d = 0; d < n; d++) {
        const bool more = x[d] > y[d];
        y[d] = more ? x[d] : y[d];
        best[d] = more ? row : best[d];
    }
}

/* The same for windows of four taps, all inside, in one pass: y and best are written once. */
static void largest_of_four(size_t n, rg_real *restrict y, int32_t *restrict best, const rg_real *restrict x, size_t ld,
                            int32_t first, const int32_t at[4])
{
    const rg_real *restrict a = x + (size_t)at[0] * ld, *restrict b = x + (size_t)at[1] * ld;
    const rg_real *restrict c = x + (size_t)at[2] * ld, *restrict e = x + (size_t)at[3] * ld;
    const int32_t row[4] = { first + at[0], first + at[1], first + at[2], first + at[3] };
    for (size_t d = 0; d < n; d++) {
        rg_real top = a[d];
        int32_t won = row[0];
        won = b[d] > top ? row[1] : won, top = b[d] > top ? b[d] : top;
        won = c[d] > top ? row[2] : won, top = c[d] > top ? c[d] : top;
        won = e[d] > top ? row[3] : won, top = e[d] > top ? e[d] : top;
        y[d] = top, best[d] = won;
    }
}

static void max_rows(void *context, int member, size_t begin, size_t end)
{
    const pool_node *n = context;
    const rg_tensor *x = n->x, *y = n->node.out;
    (void)member;
    for (size_t i = begin; i < end; i++) {
        const sight s = sight_of(&n->taps, i);
        rg_real    *yi = y->data + i * y->ld;
        int32_t    *best = n->best + i * y->cols;
        size_t      j = 0;
        if (n->taps.K == 4 && s.at[0] >= 0 && s.at[1] >= 0 && s.at[2] >= 0 && s.at[3] >= 0) {
            largest_of_four(y->cols, yi, best, x->data + s.first * x->ld, x->ld, (int32_t)s.first, s.at);
            continue;
        }
        while (j < n->taps.K && s.at[j] < 0) j++;
        const int32_t row = j < n->taps.K ? (int32_t)s.first + s.at[j] : -1; /* the first of all: larger than nothing */
        if (row < 0) memset(yi, 0, y->cols * sizeof *yi);
        else memcpy(yi, x->data + (size_t)row * x->ld, y->cols * sizeof *yi);
        for (size_t d = 0; d < y->cols; d++) best[d] = row;
        for (j++; j < n->taps.K; j++)
            if (s.at[j] >= 0)
                larger_columns(y->cols, yi, best, x->data + (s.first + (size_t)s.at[j]) * x->ld,
                               (int32_t)s.first + s.at[j]);
    }
}

/* Backward goes picture by picture: no two of them meet in a pixel. */
typedef struct {
    const pool_node *n;
    const rg_real   *dy;
    rg_real         *dx;
} back_job;

static void max_pictures(void *context, int member, size_t begin, size_t end)
{
    const back_job  *b = context;
    const rg_tensor *x = b->n->x, *y = b->n->node.out;
    (void)member;
    for (size_t i = begin * b->n->taps.out; i < end * b->n->taps.out; i++) {
        const int32_t *best = b->n->best + i * y->cols;
        const rg_real *dy = b->dy + i * y->ld;
        for (size_t d = 0; d < y->cols && best[d] >= 0; d++) b->dx[(size_t)best[d] * x->ld + d] += dy[d];
    }
}

static rg_real share(const rg_taps *taps, const int32_t *at)
{
    size_t inside = 0;
    for (size_t j = 0; j < taps->K; j++) inside += at[j] >= 0;
    return inside ? (rg_real)(1.0 / (double)inside) : 0;
}

static void average_rows(void *context, int member, size_t begin, size_t end)
{
    const pool_node *n = context;
    const rg_tensor *x = n->x, *y = n->node.out;
    (void)member;
    for (size_t i = begin; i < end; i++) {
        const sight   s = sight_of(&n->taps, i);
        rg_real      *yi = y->data + i * y->ld;
        const rg_real part = share(&n->taps, s.at);
        memset(yi, 0, y->cols * sizeof *yi);
        for (size_t j = 0; j < n->taps.K; j++)
            if (s.at[j] >= 0) rg_kernel()->axpy(y->cols, yi, part, x->data + (s.first + (size_t)s.at[j]) * x->ld);
    }
}

static void average_pictures(void *context, int member, size_t begin, size_t end)
{
    const back_job  *b = context;
    const rg_taps   *taps = &b->n->taps;
    const rg_tensor *x = b->n->x, *y = b->n->node.out;
    (void)member;
    for (size_t i = begin * taps->out; i < end * taps->out; i++) {
        const sight   s = sight_of(taps, i);
        const rg_real part = share(taps, s.at);
        for (size_t j = 0; j < taps->K; j++)
            if (s.at[j] >= 0)
                rg_kernel()->axpy(y->cols, b->dx + (s.first + (size_t)s.at[j]) * x->ld, part, b->dy + i * y->ld);
    }
}

static void pool_backward(rg_tape *t, rg_node *node)
{
    const pool_node *n = (const pool_node *)node;
    back_job         job = { n, rg_tape__arrived(t, node->out), rg_tape__grad_add(t, n->x) };
    if (job.dx)
        rg_tape__rows(t, n->taps.units, n->taps.out * n->taps.K * node->out->cols,
                      n->best ? max_pictures : average_pictures, &job);
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
    pool_node *n = rg_tape__node(t, sizeof *n, y, pool_backward, 1, &x);
    if (n) n->x = x, n->taps = taps, n->best = now.best;
    return y;
}

rg_tensor *rg_max_pool2d(rg_tape *t, rg_tensor *x, const rg_window *window)
{
    return pool(t, "max_pool2d", x, window, true);
}
rg_tensor *rg_average_pool2d(rg_tape *t, rg_tensor *x, const rg_window *window)
{
    return pool(t, "average_pool2d", x, window, false);
}
