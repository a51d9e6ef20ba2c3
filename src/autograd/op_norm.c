/* op_norm.c - layer normalisation (Ba, Kiros, Hinton 2016), alone and with the residual sum before it.
 *
 *   y = g (x - mean) / sqrt(var + eps) + b          mean and (biased) variance over the columns of each row
 *   dx = rstd (g dy - mean(g dy) - xhat mean(g dy xhat))      dg = sum dy xhat      db = sum dy */
#include "autograd/tape.h"

#include <string.h>

typedef struct {
    rg_node    node;
    rg_tensor *x, *y; /* y: the residual added before, or NULL */
    rg_tensor *gain, *bias;
    rg_real   *sum; /* x + y, or x's own numbers */
    size_t     ld_sum;
    rg_real   *mean, *rstd; /* one number per row */
    rg_real    eps;
    const rg_real *dout;
    rg_real   *dx;
    bool       add;
} norm_node;

static void norm_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    norm_node       *n = context;
    const rg_tensor *out = n->node.out, *x = n->x, *y = n->y;
    for (size_t i = begin; i < end; i++) {
        rg_real *sum = n->sum + i * n->ld_sum;
        if (y) rg_kernel()->add(x->cols, sum, x->data + i * x->ld, y->data + i * y->ld);
        rg_kernel()->norm(x->cols, out->data + i * out->ld, &n->mean[i], &n->rstd[i], sum, n->gain->data, n->bias->data,
                          n->eps);
    }
}

static void norm_backward(rg_tape *t, rg_node *node)
{
    norm_node     *n = (norm_node *)node;
    const size_t   rows = n->x->rows, cols = n->x->cols;
    const rg_real *dout = rg_tape__arrived(t, node->out);
    rg_real       *dg = rg_tape__grad_add(t, n->gain), *db = rg_tape__grad_add(t, n->bias);
    bool           add_x = false, add_y = false;
    rg_real       *dx = rg_tape__grad(t, n->x, &add_x), *dy = rg_tape__grad(t, n->y, &add_y);
    rg_arena_point scratch = rg_tape__scratch(t);
    rg_real       *ds = rg_tape__reals(t, cols); /* gradient of one row of the sum: goes to x and to y */
    for (size_t i = 0; ds && i < rows; i++) {
        const rg_real *s = n->sum + i * n->ld_sum;
        rg_real       *to = dx && !dy ? dx + i * n->x->ld : ds;
        rg_kernel()->norm_backward(cols, to, dg, db, s, n->mean[i], n->rstd[i], n->gain->data, dout + i * cols,
                                   to != ds && add_x);
        if (to != ds) continue;
        if (dx) rg_rows__axpy(1, cols, dx + i * n->x->ld, cols, 1, ds, cols, add_x);
        if (dy) rg_rows__axpy(1, cols, dy + i * n->y->ld, cols, 1, ds, cols, add_y);
    }
    rg_tape__release(t, scratch);
}

static rg_tensor *normalise(rg_tape *t, rg_tensor *x, rg_tensor *y, rg_tensor *gain, rg_tensor *bias, double eps)
{
    if (y && (y->rows != x->rows || y->cols != x->cols))
        return rg_tape_fail(t, RG_ESHAPE, "%zu x %zu and %zu x %zu differ", x->rows, x->cols, y->rows, y->cols);
    if (gain->cols != x->cols || bias->cols != x->cols || gain->rows != 1 || bias->rows != 1)
        return rg_tape_fail(t, RG_ESHAPE, "gain and bias of %zu and %zu columns for rows of %zu", gain->cols,
                            bias->cols, x->cols);
    rg_tensor *out = rg_tape__tensor(t, x->rows, x->cols, x->layout);
    if (!out) return NULL;
    norm_node now = { .node.out = out,
                      .x = x,
                      .y = y,
                      .gain = gain,
                      .bias = bias,
                      .eps = (rg_real)eps,
                      .sum = x->data,
                      .ld_sum = x->ld };
    if (rg_tape__live(t)) {
        now.mean = rg_tape__reals(t, 2 * x->rows);
        now.rstd = now.mean ? now.mean + x->rows : NULL;
        if (y) now.sum = rg_tape__reals(t, x->rows * x->cols), now.ld_sum = x->cols;
        if (!now.mean || (!now.sum && x->rows)) return NULL;
        rg_tape__rows(t, x->rows, x->cols * 4, norm_rows, &now);
    }
    rg_tape__will_keep(t, (2 * x->rows + (y ? x->rows * x->cols : 0)) * sizeof(rg_real));
    rg_tape__count(t, 8.0 * (double)(x->rows * x->cols));
    rg_tensor *in[] = { x, y, gain, bias };
    norm_node *n = rg_tape__node(t, sizeof *n, out, norm_backward, 4, in);
    if (n) {
        rg_node head = n->node;
        *n = now;
        n->node = head;
    }
    return out;
}

rg_tensor *rg_layer_norm(rg_tape *t, rg_tensor *x, rg_tensor *gain, rg_tensor *bias, double eps)
{
    rg_tensor *in[] = { x, gain, bias };
    return rg_tape__begin(t, "layer_norm", 3, in) ? normalise(t, x, NULL, gain, bias, eps) : NULL;
}

rg_tensor *rg_add_norm(rg_tape *t, rg_tensor *x, rg_tensor *y, rg_tensor *gain, rg_tensor *bias, double eps)
{
    rg_tensor *in[] = { x, y, gain, bias };
    return rg_tape__begin(t, "add_norm", 4, in) ? normalise(t, x, y, gain, bias, eps) : NULL;
}
