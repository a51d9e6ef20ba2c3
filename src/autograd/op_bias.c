/* op_bias.c - f(x + b) in one pass, and back in one.
 *
 *     y = f(x + b)        dx = f'(x + b) dy        db = sum over rows of dx
 *
 * Rows are worked on in blocks that stay in the nearest cache. A block has its own sum of rows; sums of blocks are
 * added in their order, so that the team's size shows nowhere. */
#include "autograd/tape.h"

enum { ROWS = 32 }; /* of a block */

typedef struct {
    rg_node        node;
    rg_tensor     *x, *b;
    rg_activation  f;
    const rg_real *dy; /* while backward runs */
    rg_real       *dx, *parts, *room; /* parts (blocks, D): sums of rows; room: where dx goes when it must not stand alone */
    bool           add;
} bias_node;

static size_t blocks_of(const rg_tensor *x) { return (x->rows + ROWS - 1) / ROWS; }
static size_t block_end(const rg_tensor *x, size_t block)
{
    return (block + 1) * ROWS < x->rows ? (block + 1) * ROWS : x->rows;
}

static void bias_blocks(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const bias_node *n = context;
    const rg_tensor *x = n->x, *y = n->node.out;
    for (size_t block = begin; block < end; block++) {
        const size_t low = block * ROWS, high = block_end(x, block);
        for (size_t i = low; i < high; i++)
            rg_kernel()->add(y->cols, y->data + i * y->cols, x->data + i * x->ld, n->b->data);
        if (n->f != RG_IDENTITY)
            rg_kernel()->map(n->f, (high - low) * y->cols, y->data + low * y->cols, y->data + low * y->cols);
    }
}

static void bias_blocks_backward(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const bias_node  *n = context;
    const rg_kernels *k = rg_kernel();
    const size_t      D = n->x->cols;
    for (size_t block = begin; block < end; block++) {
        const size_t low = block * ROWS, high = block_end(n->x, block), at = low * D;
        rg_real     *dz = n->room ? n->room + at : n->dx + at;
        k->map_backward(n->f, (high - low) * D, dz, NULL, n->node.out->data + at, n->dy + at, false);
        if (n->parts) k->lists_sum(high - low, D, n->parts + block * D, false, dz, NULL);
        if (n->room && n->dx) rg_rows__axpy(high - low, D, n->dx + low * n->x->ld, n->x->ld, 1, dz, D, n->add);
    }
}

static void bias_backward(rg_tape *t, rg_node *node)
{
    bias_node   *n = (bias_node *)node;
    const size_t D = n->x->cols;
    bool         add = false;
    n->dy = rg_tape__arrived(t, node->out);
    n->dx = rg_tape__grad(t, n->x, &n->add);
    rg_real       *db = rg_tape__grad(t, n->b, &add);
    rg_arena_point scratch = rg_tape__scratch(t);
    n->parts = db ? rg_tape__reals(t, blocks_of(n->x) * D) : NULL;
    n->room = !n->dx || n->add || n->x->ld != D ? rg_tape__reals(t, n->x->rows * D) : NULL;
    if (rg_tape_status(t) == RG_OK) {
        rg_tape__rows(t, blocks_of(n->x), ROWS * D * 4, bias_blocks_backward, n);
        if (db) rg_kernel()->lists_sum(blocks_of(n->x), D, db, add, n->parts, NULL);
    }
    rg_tape__release(t, scratch);
}

rg_tensor *rg_bias_map(rg_tape *t, rg_tensor *x, rg_tensor *b, rg_activation f)
{
    rg_tensor *in[] = { x, b };
    if (rg_slope_reads_input(f)) return rg_map(t, rg_add(t, x, b), f); /* its slope does not follow from its result */
    if (!rg_tape__begin(t, "bias", 2, in)) return NULL;
    if (b->rows != 1 || b->cols != x->cols)
        return rg_tape_fail(t, RG_ESHAPE, "the bias is %zu x %zu, it should be 1 x %zu", b->rows, b->cols, x->cols);
    rg_tensor *y = rg_tape__tensor(t, x->rows, x->cols, x->layout);
    if (!y) return NULL;
    bias_node now = { .node.out = y, .x = x, .b = b, .f = f };
    if (rg_tape__live(t)) rg_tape__rows(t, blocks_of(x), ROWS * (x->cols * 4 + 16), bias_blocks, &now);
    rg_tape__count(t, 2.0 * (double)(x->rows * x->cols));
    bias_node *n = rg_tape__node(t, sizeof *n, y, bias_backward, 2, in);
    if (n) now.node = n->node, *n = now;
    if (n) rg_tape__will_need(t, (blocks_of(x) + x->rows) * x->cols * sizeof(rg_real));
    return y;
}
