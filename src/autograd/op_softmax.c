/* op_softmax.c - softmax and its logarithm over the columns of each row, and picking one column per row. (Softmax
 * over the keys a query reaches is attention's: src/attention.) */
#include "autograd/tape.h"

#include <math.h>

typedef struct {
    rg_node        node;
    rg_tensor     *x;
    const rg_real *dy;
    rg_real       *dx;
    bool           add, logarithm;
} softmax_node;

static void forward_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    softmax_node    *n = context;
    const rg_tensor *x = n->x, *y = n->node.out;
    for (size_t i = begin; i < end; i++) {
        rg_real       *yi = y->data + i * y->ld;
        const rg_real *xi = x->data + i * x->ld;
        rg_real        z = rg_kernel()->softmax(x->cols, yi, xi);
        for (size_t j = 0; n->logarithm && j < x->cols; j++) yi[j] = xi[j] - z;
    }
}

/* softmax:      dx = y (dy - sum_j y_j dy_j)
 * log-softmax:  dx = dy - exp(y) sum_j dy_j */
static void backward_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    softmax_node     *n = context;
    const rg_tensor  *x = n->x, *y = n->node.out;
    const rg_kernels *k = rg_kernel();
    for (size_t i = begin; i < end; i++) {
        const rg_real *yi = y->data + i * y->ld, *dyi = n->dy + i * y->ld;
        rg_real       *dxi = n->dx + i * x->ld;
        if (!n->logarithm) {
            k->softmax_backward(x->cols, dxi, yi, dyi, n->add);
            continue;
        }
        const rg_real sum = k->sum(x->cols, dyi);
        for (size_t j = 0; j < x->cols; j++) {
            rg_real d = dyi[j] - (rg_real)exp((double)yi[j]) * sum;
            dxi[j] = n->add ? dxi[j] + d : d;
        }
    }
}

static void softmax_backward(rg_tape *t, rg_node *node)
{
    softmax_node *n = (softmax_node *)node;
    n->dy = rg_tape__arrived(t, node->out);
    n->dx = rg_tape__grad(t, n->x, &n->add);
    if (n->dx) rg_tape__rows(t, n->x->rows, n->x->cols * 4, backward_rows, n);
}

static rg_tensor *softmax(rg_tape *t, rg_tensor *x, bool logarithm)
{
    rg_tensor *y = rg_tape__tensor(t, x->rows, x->cols, x->layout);
    if (!y) return NULL;
    softmax_node now = { .node.out = y, .x = x, .logarithm = logarithm };
    if (rg_tape__live(t)) rg_tape__rows(t, x->rows, x->cols * 8, forward_rows, &now);
    rg_tape__count(t, 5.0 * (double)(x->rows * x->cols));
    softmax_node *n = rg_tape__node(t, sizeof *n, y, softmax_backward, 1, &x);
    if (n) n->x = x, n->logarithm = logarithm;
    return y;
}

rg_tensor *rg_softmax(rg_tape *t, rg_tensor *x)
{
    return rg_tape__begin(t, "softmax", 1, &x) ? softmax(t, x, false) : NULL;
}
rg_tensor *rg_log_softmax(rg_tape *t, rg_tensor *x)
{
    return rg_tape__begin(t, "log_softmax", 1, &x) ? softmax(t, x, true) : NULL;
}

typedef struct {
    rg_node        node;
    rg_tensor     *x;
    const int32_t *column;
} pick_node;

static void pick_backward(rg_tape *t, rg_node *node)
{
    pick_node     *n = (pick_node *)node;
    const rg_real *dy = rg_tape__arrived(t, node->out);
    rg_real       *dx = rg_tape__grad_add(t, n->x);
    for (size_t i = 0; dx && i < n->x->rows; i++)
        if (n->column[i] >= 0) dx[i * n->x->ld + (size_t)n->column[i]] += dy[i * node->out->ld];
}

rg_tensor *rg_pick(rg_tape *t, rg_tensor *x, const int32_t *column)
{
    if (!rg_tape__begin(t, "pick", 1, &x)) return NULL;
    for (size_t i = 0; i < x->rows; i++)
        if (column[i] < -1 || (column[i] >= 0 && (size_t)column[i] >= x->cols))
            return rg_tape_fail(t, RG_EINVAL, "row %zu picks column %d of %zu", i, column[i], x->cols);
    rg_tensor *y = rg_tape__tensor(t, x->rows, 1, x->layout);
    if (!y) return NULL;
    for (size_t i = 0; rg_tape__live(t) && i < x->rows; i++)
        y->data[i] = column[i] < 0 ? 0 : x->data[i * x->ld + (size_t)column[i]];
    pick_node *n = rg_tape__node(t, sizeof *n, y, pick_backward, 1, &x);
    if (n) n->x = x, n->column = rg_tape__indices(t, column, x->rows);
    return y;
}
