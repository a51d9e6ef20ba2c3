/* blocks.c - ops on the column blocks of heads. */
#include "attention/blocks.h"
#include "autograd/tape.h"

#include <math.h>
#include <string.h>

enum { ROWS = 32, CALLS = 64 }; /* rows of a block; what the calls for a row cost, in numbers */

typedef struct {
    rg_node    node;
    rg_tensor *x, *w, *b;
    size_t     heads, width;
    const rg_real *dy; /* while backward runs */
    rg_real       *dx, *parts; /* parts: what each block of rows gives to dw and db, H d + H numbers */
    bool           add;
} block_node;

static bool divides(rg_tape *t, const rg_tensor *x, size_t heads)
{
    if (heads && x->cols % heads == 0) return true;
    rg_tape_fail(t, RG_ESHAPE, "%zu columns do not make %zu heads", x->cols, heads);
    return false;
}

/* ------------------------------------------------------------------------------------------- y = w_h . x_h + b_h */

static size_t blocks_of(const rg_tensor *x) { return (x->rows + ROWS - 1) / ROWS; }

static void dots_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const block_node *n = context;
    const rg_tensor  *y = n->node.out;
    for (size_t i = begin; i < end; i++) {
        rg_real *to = y->data + i * y->ld;
        rg_kernel()->heads_dot(n->heads, n->width, to, 1, 1, n->w->data, n->width, n->x->data + i * n->x->ld, n->width);
        for (size_t h = 0; n->b && h < n->heads; h++) to[h] += n->b->data[h];
    }
}

/* One look at a block of rows gives dx and the block's share of dw and db; shares are added in their order, whoever
 * made them. */
static void dots_blocks_backward(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const block_node *n = context;
    const rg_kernels *k = rg_kernel();
    const size_t      H = n->heads, d = n->width, D = H * d;
    for (size_t block = begin; block < end; block++) {
        const size_t low = block * ROWS, high = low + ROWS < n->x->rows ? low + ROWS : n->x->rows;
        rg_real     *dw = n->parts + block * (D + H);
        memset(dw, 0, D * sizeof *dw);
        for (size_t i = low; i < high; i++) {
            rg_real *dx = n->dx ? n->dx + i * n->x->ld : NULL;
            if (dx && !n->add) memset(dx, 0, D * sizeof *dx);
            if (dx) k->heads_axpy(H, d, dx, d, n->dy + i * H, 1, n->w->data, d);
            k->heads_axpy(H, d, dw, d, n->dy + i * H, 1, n->x->data + i * n->x->ld, d);
        }
        k->lists_sum(high - low, H, dw + D, false, n->dy + low * H, NULL);
    }
}

static void add_parts(rg_real *to, bool add, size_t count, const block_node *n, size_t at)
{
    const size_t blocks = blocks_of(n->x), step = n->x->cols + n->heads;
    if (!add) memset(to, 0, count * sizeof *to);
    for (size_t block = 0; block < blocks; block++) rg_kernel()->axpy(count, to, 1, n->parts + block * step + at);
}

static void dots_backward(rg_tape *t, rg_node *node)
{
    block_node *n = (block_node *)node;
    bool        add_w = false, add_b = false;
    n->dy = rg_tape__arrived(t, node->out);
    n->dx = rg_tape__grad(t, n->x, &n->add);
    rg_real *dw = rg_tape__grad(t, n->w, &add_w), *db = rg_tape__grad(t, n->b, &add_b);
    rg_arena_point scratch = rg_tape__scratch(t);
    n->parts = rg_tape__reals(t, blocks_of(n->x) * (n->x->cols + n->heads));
    if (n->parts) {
        rg_tape__rows(t, blocks_of(n->x), ROWS * (2 * n->x->cols + CALLS), dots_blocks_backward, n);
        if (dw) add_parts(dw, add_w, n->x->cols, n, 0);
        if (db) add_parts(db, add_b, n->heads, n, n->x->cols);
    }
    rg_tape__release(t, scratch);
}

rg_tensor *rg_block_dots(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, size_t heads)
{
    rg_tensor *in[] = { x, w, b };
    if (!rg_tape__begin(t, "block_dots", 2, in) || !divides(t, x, heads)) return NULL;
    if (w->rows != 1 || w->cols != x->cols)
        return rg_tape_fail(t, RG_ESHAPE, "rows are %zu wide, the vector %zu x %zu", x->cols, w->rows, w->cols);
    if (b && (b->rows != 1 || b->cols != heads))
        return rg_tape_fail(t, RG_ESHAPE, "the bias of %zu heads is %zu x %zu", heads, b->rows, b->cols);
    const size_t width = x->cols / heads;
    rg_tensor   *y = rg_tape__tensor(t, x->rows, heads, x->layout);
    if (!y) return NULL;
    block_node now = { .node.out = y, .x = x, .w = w, .b = b, .heads = heads, .width = width };
    if (rg_tape__live(t)) rg_tape__rows(t, x->rows, x->cols + CALLS / 2, dots_rows, &now);
    rg_tape__count(t, 2.0 * (double)(x->rows * x->cols));
    block_node *n = rg_tape__node(t, sizeof *n, y, dots_backward, 3, in);
    if (n) now.node = n->node, *n = now;
    if (n) rg_tape__will_need(t, blocks_of(x) * (x->cols + heads) * sizeof(rg_real));
    return y;
}

/* ---------------------------------------------------------------------------------------------- y = x / (|x| + eps) */

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
            if (r > 0)
                rg_kernel()->axpy(n->width, dx + at, (rg_real)(-(double)rg_kernel()->dot(n->width, x, d) / (r * s * s)),
                                  x);
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
            rg_kernel()->scale(width, y->data + i * y->ld + h * width, (rg_real)(1 / (length(width, from) + UNIT_EPS)),
                               from);
        }
    rg_tape__count(t, 3.0 * (double)(x->rows * x->cols));
    block_node *n = rg_tape__node(t, sizeof *n, y, unit_backward, 1, &x);
    if (n) n->x = x, n->heads = heads, n->width = width;
    return y;
}
