/* op_conv_depth.c - depthwise convolution: every column has its own taps.
 *
 *   y[i] = b + sum_j x[at_j] w[j]         dw[j] = sum_i x[at_j] dy[i]         dx[at_j] += w[j] dy[i]        (products number by number) */
#include "autograd/taps.h"

#include <string.h>

typedef struct {
    rg_node    node;
    rg_tensor *x, *w, *b;
    rg_taps    taps;
} depth_node;

static void depth_rows(void *context, int member, size_t begin, size_t end)
{
    const depth_node *n = context;
    const rg_tensor  *x = n->x, *w = n->w, *y = n->node.out;
    (void)member;
    for (size_t i = begin; i < end; i++) {
        rg_real *yi = y->data + i * y->ld;
        if (n->b) memcpy(yi, n->b->data, y->cols * sizeof *yi);
        else memset(yi, 0, y->cols * sizeof *yi);
        for (size_t j = 0; j < n->taps.K; j++) {
            const int64_t row = rg_taps__row(&n->taps, i, j);
            if (row >= 0) rg_kernel()->mul(y->cols, yi, x->data + (size_t)row * x->ld, w->data + j * w->ld, true);
        }
    }
}

static void depth_backward(rg_tape *t, rg_node *node)
{
    depth_node      *n = (depth_node *)node;
    const rg_tensor *x = n->x, *w = n->w, *y = node->out;
    const rg_real   *dy = rg_tape__arrived(t, node->out);
    bool             add_b;
    rg_real *dx = rg_tape__grad_add(t, n->x), *dw = rg_tape__grad_add(t, n->w), *db = rg_tape__grad(t, n->b, &add_b);
    for (size_t i = 0; i < y->rows; i++)
        for (size_t j = 0; j < n->taps.K; j++) {
            const int64_t row = rg_taps__row(&n->taps, i, j);
            if (row < 0) continue;
            if (dx) rg_kernel()->mul(y->cols, dx + (size_t)row * x->ld, w->data + j * w->ld, dy + i * y->ld, true);
            if (dw) rg_kernel()->mul(y->cols, dw + j * w->ld, x->data + (size_t)row * x->ld, dy + i * y->ld, true);
        }
    if (db) rg_rows__column_sums(y->rows, y->cols, db, dy, y->ld, add_b);
}

static rg_tensor *depthwise(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, const rg_taps *taps)
{
    if (w->rows != taps->K || w->cols != x->cols)
        return rg_tape_fail(t, RG_ESHAPE, "weights of %zu x %zu; %zu taps on %zu columns need %zu x %zu", w->rows,
                            w->cols, taps->K, x->cols, taps->K, x->cols);
    if (b && (b->rows != 1 || b->cols != x->cols))
        return rg_tape_fail(t, RG_ESHAPE, "the bias is %zu x %zu, it should be 1 x %zu", b->rows, b->cols, x->cols);
    rg_tensor *y = rg_tape__tensor(t, taps->units * taps->out, x->cols, taps->layout);
    if (!y) return NULL;
    depth_node now = { .node.out = y, .x = x, .w = w, .b = b, .taps = *taps };
    if (rg_tape__live(t)) rg_tape__rows(t, y->rows, taps->K * y->cols, depth_rows, &now);
    rg_tape__count(t, 2.0 * (double)(y->rows * taps->K) * (double)y->cols);
    rg_tensor  *in[] = { x, w, b };
    depth_node *n = rg_tape__node(t, sizeof *n, y, depth_backward, 3, in);
    if (n) n->x = x, n->w = w, n->b = b, n->taps = *taps;
    return y;
}

rg_tensor *rg_depthwise1d(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, const rg_time_window *window)
{
    rg_tensor *in[] = { x, w };
    rg_taps    taps;
    return rg_tape__begin(t, "depthwise1d", 2, in) && rg_taps__time(&taps, t, x->layout, window)
               ? depthwise(t, x, w, b, &taps)
               : NULL;
}

rg_tensor *rg_depthwise2d(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, const rg_window *window)
{
    rg_tensor *in[] = { x, w };
    rg_taps    taps;
    return rg_tape__begin(t, "depthwise2d", 2, in) && rg_taps__window(&taps, t, x->layout, window)
               ? depthwise(t, x, w, b, &taps)
               : NULL;
}
