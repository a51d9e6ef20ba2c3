/* blocks.c - ops on the column blocks of heads. */
#include "attention/blocks.h"
#include "autograd/tape.h"

#include <math.h>

typedef struct {
    rg_node    node;
    rg_tensor *x, *w;
    size_t     heads, width;
    const rg_real *dy; /* while backward runs */
    rg_real       *dx, *dw;
} block_node;

static bool divides(rg_tape *t, const rg_tensor *x, size_t heads)
{
    if (heads && x->cols % heads == 0) return true;
    rg_tape_fail(t, RG_ESHAPE, "%zu columns do not make %zu heads", x->cols, heads);
    return false;
}

/* ------------------------------------------------------------------------------------------------- y = w_h . x_h */

static void dots_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const block_node *n = context;
    const rg_tensor  *y = n->node.out;
    for (size_t i = begin; i < end; i++)
        rg_kernel()->heads_dot(n->heads, n->width, y->data + i * y->ld, 1, 1, n->w->data, n->width, n->x->data + i * n->x->ld, n->width);
}

static void dots_rows_backward(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const block_node *n = context;
    for (size_t i = begin; i < end; i++)
        rg_kernel()->heads_axpy(n->heads, n->width, n->dx + i * n->x->ld, n->width, n->dy + i * n->heads, 1, n->w->data, n->width);
}

static void dots_heads_backward(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const block_node *n = context;
    const size_t      at = begin * n->width;
    for (size_t i = 0; i < n->x->rows; i++)
        rg_kernel()->heads_axpy(end - begin, n->width, n->dw + at, n->width, n->dy + i * n->heads + begin, 1, n->x->data + i * n->x->ld + at, n->width);
}

static void dots_backward(rg_tape *t, rg_node *node)
{
    block_node *n = (block_node *)node;
    n->dy = rg_tape__arrived(t, node->out);
    n->dx = rg_tape__grad_add(t, n->x);
    n->dw = rg_tape__grad_add(t, n->w);
    if (n->dx) rg_tape__rows(t, n->x->rows, n->x->cols, dots_rows_backward, n);
    if (n->dw) rg_tape__rows(t, n->heads, n->x->rows * n->width, dots_heads_backward, n);
}

rg_tensor *rg_block_dots(rg_tape *t, rg_tensor *x, rg_tensor *w, size_t heads)
{
    rg_tensor *in[] = { x, w };
    if (!rg_tape__begin(t, "block_dots", 2, in) || !divides(t, x, heads)) return NULL;
    if (w->rows != 1 || w->cols != x->cols) return rg_tape_fail(t, RG_ESHAPE, "rows are %zu wide, the vector %zu x %zu", x->cols, w->rows, w->cols);
    const size_t width = x->cols / heads;
    rg_tensor   *y = rg_tape__tensor(t, x->rows, heads, x->layout);
    if (!y) return NULL;
    block_node now = { .node.out = y, .x = x, .w = w, .heads = heads, .width = width };
    if (rg_tape__live(t)) rg_tape__rows(t, x->rows, x->cols, dots_rows, &now);
    rg_tape__count(t, 2.0 * (double)(x->rows * x->cols));
    block_node *n = rg_tape__node(t, sizeof *n, y, dots_backward, 2, in);
    if (n) now.node = n->node, *n = now;
    return y;
}

/* ------------------------------------------------------------------------------------------------ y = x / (|x| + eps) */

#define UNIT_EPS 1e-8

static double length(size_t n, const rg_real *x) { return sqrt((double)rg_kernel()->dot(n, x, x)); }

/* forward was  y = x / (r + eps), r = |x|
 * so           dx = dy / (r + eps) - x (x . dy) / (r (r + eps)^2) */
static void unit_backward(rg_tape *t, rg_node *node)
{
    const block_node *n = (block_node *)node;
    const rg_real    *dy = rg_tape__arrived(t, node->out);
    rg_real          *dx = rg_tape__grad_add(t, n->x);
    for (size_t i = 0; dx && i < n->x->rows; i++)
        for (size_t h = 0; h < n->heads; h++) {
            const size_t   at = i * n->x->ld + h * n->width;
            const rg_real *x = n->x->data + at, *d = dy + i * node->out->ld + h * n->width;
            const double   r = length(n->width, x), s = r + UNIT_EPS;
            rg_kernel()->axpy(n->width, dx + at, (rg_real)(1 / s), d);
            if (r > 0) rg_kernel()->axpy(n->width, dx + at, (rg_real)(-(double)rg_kernel()->dot(n->width, x, d) / (r * s * s)), x);
        }
}

rg_tensor *rg_unit_blocks(rg_tape *t, rg_tensor *x, size_t heads)
{
    if (!rg_tape__begin(t, "unit_blocks", 1, &x) || !divides(t, x, heads)) return NULL;
    const size_t width = x->cols / heads;
    rg_tensor   *y = rg_tape__tensor(t, x->rows, x->cols, x->layout);
    if (!y) return NULL;
    for (size_t i = 0; rg_tape__live(t) && i < x->rows; i++)
        for (size_t h = 0; h < heads; h++) {
            const rg_real *from = x->data + i * x->ld + h * width;
            rg_kernel()->scale(width, y->data + i * y->ld + h * width, (rg_real)(1 / (length(width, from) + UNIT_EPS)), from);
        }
    rg_tape__count(t, 3.0 * (double)(x->rows * x->cols));
    block_node *n = rg_tape__node(t, sizeof *n, y, unit_backward, 1, &x);
    if (n) n->x = x, n->heads = heads, n->width = width;
    return y;
}
