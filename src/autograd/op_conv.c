/* op_conv.c - convolution as a product: the rows a window sees, side by side, times the weights.
 *
 *   columns (M, K D)  =  [ x[at_0] | x[at_1] | ... ]        y = f(columns w + b)
 *   dz = f'(y) dy        dw = columns^T dz        db = sum of dz        dx[at_j] += (dz w^T)_j
 *
 * Columns exist for one block of output rows at a time (BLOCK_NUMBERS); columns.h makes them and takes their gradient.
 * Forward of windows with many channels does without them: a product reads the windows where they lie. Bits depend
 * neither on the block nor on this: each output of every product is one chain (tensor/kernels.h). */
#include "autograd/columns.h"

#include <string.h>

enum { BLOCK_NUMBERS = 1 << 17, BLOCK_LEAST = 48 };

typedef struct {
    rg_node       node;
    rg_tensor    *x, *w, *b;
    rg_activation f;
    rg_taps       taps;
} conv_node;

static size_t rows_out(const rg_taps *p) { return p->units * p->out; }

/* Output rows of a block: whole pictures where one fits. */
static size_t block_rows(const rg_taps *p, size_t D)
{
    const size_t width = p->K * D, rows = width ? BLOCK_NUMBERS / width : 0;
    const size_t some = rows > BLOCK_LEAST ? rows / 12 * 12 : BLOCK_LEAST,
                 block = p->out && rows >= p->out ? rows / p->out * p->out : some;
    return block < rows_out(p) ? block : rows_out(p);
}

/* Backward works with d^T, a channel at a time: blocks must be whole pictures. */
static bool by_planes(const rg_taps *p, size_t D)
{
    return rg_columns__in_planes(p, D) && block_rows(p, D) % p->out == 0;
}

static size_t block_numbers(const rg_taps *p, size_t D) { return block_rows(p, D) * p->K * D + RG_COLUMNS_SLACK; }

static void forward(rg_tape *t, rg_tensor *y, const rg_taps *taps, const rg_tensor *x, rg_tensor *w, const rg_tensor *b,
                    rg_activation f)
{
    const size_t   D = x->cols, width = taps->K * D, block = block_rows(taps, D);
    rg_arena_point scratch = rg_tape__scratch(t);
    const rg_pack  pack = rg_tape__pack(t, w, false);
    if (rg_pack_there(&pack) && rg_columns__multiply(t, taps, x, &pack, b ? b->data : NULL, f, y)) {
        rg_tape__release(t, scratch);
        return;
    }
    rg_real *columns = rg_tape__reals(t, block_numbers(taps, D));
    for (size_t from = 0; columns && rg_pack_there(&pack) && from < y->rows; from += block) {
        const rg_columns_block some = { taps, D, from, y->rows - from < block ? y->rows - from : block };
        if (!rg_columns__gather(t, &some, x, columns)) break;
        rg_tape__check(t, rg_product_packed(rg_tape_team(t), some.rows, columns, width, &pack, y->data + from * y->ld,
                                            y->ld, false, b ? b->data : NULL, f));
    }
    rg_tape__release(t, scratch);
}

/* --------------------------------------------------------------------------------------------------------- backward */

typedef struct {
    rg_activation    f;
    const rg_tensor *y;
    const rg_real   *dy;
    rg_real         *dz;
} slope_job;

static void slope_rows(void *context, int member, size_t begin, size_t end)
{
    const slope_job *j = context;
    const size_t     at = begin * j->y->cols;
    (void)member;
    rg_kernel()->map_backward(j->f, (end - begin) * j->y->cols, j->dz + at, j->y->data + at, j->y->data + at,
                              j->dy + at, false);
}

/* y = f(z):  dz = f'(z) dy.  NULL: no memory. */
static const rg_real *slopes(rg_tape *t, const conv_node *n)
{
    const rg_tensor *y = n->node.out;
    const rg_real   *dy = rg_tape__arrived(t, n->node.out);
    if (n->f == RG_IDENTITY) return dy;
    rg_real *dz = rg_tape__reals(t, y->rows * y->cols);
    if (dz) rg_tape__rows(t, y->rows, y->cols, slope_rows, &(slope_job){ n->f, y, dy, dz });
    return dz;
}

typedef struct {
    rg_pack    pack; /* of w^T */
    rg_readers readers;
    rg_real   *dx; /* NULL: not wanted */
    bool       planes, fresh;
} input_plan;

/* What the gradient of x takes; false: no memory. */
static bool plan_input(input_plan *plan, rg_tape *t, const conv_node *n, bool add)
{
    const rg_tensor *x = n->x;
    if (!plan->dx) return true;
    plan->planes = by_planes(&n->taps, x->cols);
    plan->fresh = !add && plan->planes;
    if (!add && !(plan->planes && n->node.out->rows)) rg_rows__zero(x->rows, x->cols, plan->dx, x->ld);
    if (plan->planes) return true;
    plan->pack = rg_tape__pack(t, n->w, true);
    return rg_pack_there(&plan->pack) && rg_columns__readers(&plan->readers, t, &n->taps);
}

/* dx from one block of dz: the columns' gradient replaces the columns. */
static void block_to_input(rg_tape *t, const conv_node *n, const input_plan *plan, const rg_columns_block *b,
                           rg_real *columns, const rg_real *dz)
{
    const rg_tensor *w = n->w, *y = n->node.out;
    const size_t     width = w->rows;
    if (plan->planes) {
        rg_tape__check(t, rg_product(rg_tape_team(t), RG_NT, width, b->rows, w->cols, w->data, w->ld, dz, y->ld,
                                     columns, b->rows, false));
        rg_columns__spread_planes(t, b, n->x, plan->dx, plan->fresh, columns);
    } else {
        rg_tape__check(t, rg_product_packed(rg_tape_team(t), b->rows, dz, y->ld, &plan->pack, columns, width, false,
                                            NULL, RG_IDENTITY));
        rg_columns__spread(t, b, &plan->readers, n->x, plan->dx, columns);
    }
}

static void conv_backward(rg_tape *t, rg_node *node)
{
    conv_node       *n = (conv_node *)node;
    const rg_tensor *x = n->x, *w = n->w, *y = node->out;
    const size_t     D = x->cols, width = n->taps.K * D, block = block_rows(&n->taps, D);
    bool             add_x = false, add_w = false, add_b = false;
    input_plan       plan = { .dx = rg_tape__grad(t, n->x, &add_x) };
    rg_real         *dw = rg_tape__grad(t, n->w, &add_w), *db = rg_tape__grad(t, n->b, &add_b);
    rg_arena_point   scratch = rg_tape__scratch(t);
    const rg_real   *dz = slopes(t, n);
    rg_real         *columns = rg_tape__reals(t, block_numbers(&n->taps, D));
    if (dw && y->rows == 0 && !add_w) rg_rows__zero(w->rows, w->cols, dw, w->ld);
    if (!dz || !columns || !plan_input(&plan, t, n, add_x)) return;
    for (size_t from = 0; from < y->rows && rg_tape_status(t) == RG_OK; from += block) {
        const rg_columns_block some = { &n->taps, D, from, y->rows - from < block ? y->rows - from : block };
        const rg_real         *d = dz + from * y->ld;
        if (dw && rg_columns__gather(t, &some, x, columns))
            rg_tape__check(t, rg_product(rg_tape_team(t), RG_TN, width, w->cols, some.rows, columns, width, d, y->ld,
                                         dw, w->ld, add_w || from));
        if (plan.dx) block_to_input(t, n, &plan, &some, columns, d);
    }
    if (db) rg_tape__column_sums(t, y->rows, y->cols, db, dz, y->ld, add_b);
    rg_tape__release(t, scratch);
}

/* Scratch of both passes, beside packs. */
static size_t scratch_bytes(const rg_taps *p, const rg_tensor *x, const rg_tensor *y, rg_activation f)
{
    const size_t columns = block_numbers(p, x->cols) + rg_columns__padded(p, x->cols, block_rows(p, x->cols));
    return (columns + (f == RG_IDENTITY ? 0 : y->rows * y->cols)) * sizeof(rg_real) + rg_columns__readers_bytes(p);
}

static rg_tensor *convolve(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, rg_activation f, const rg_taps *taps)
{
    const size_t D = x->cols, E = w->cols;
    if (w->rows != taps->K * D)
        return rg_tape_fail(t, RG_ESHAPE, "weights of %zu x %zu; %zu taps on %zu columns need %zu rows", w->rows, E,
                            taps->K, D, taps->K * D);
    if (b && (b->rows != 1 || b->cols != E))
        return rg_tape_fail(t, RG_ESHAPE, "the bias is %zu x %zu, it should be 1 x %zu", b->rows, b->cols, E);
    rg_tensor *y = rg_tape__tensor(t, rows_out(taps), E, taps->layout);
    if (!y) return NULL;
    if (rg_tape__live(t)) forward(t, y, taps, x, w, b, f);
    rg_tape__count(t, 2.0 * (double)y->rows * (double)(taps->K * D) * (double)E);
    rg_tape__will_need(t, scratch_bytes(taps, x, y, f));
    rg_tensor *in[] = { x, w, b };
    conv_node *n = rg_tape__node(t, sizeof *n, y, conv_backward, 3, in);
    if (n) n->x = x, n->w = w, n->b = b, n->f = f, n->taps = *taps;
    return rg_tape_status(t) == RG_OK ? y : NULL;
}

/* Functions whose slope follows from their value go inside; others are ops of their own. */
static rg_tensor *ended(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, rg_activation f, const rg_taps *taps)
{
    if (rg_slope_reads_input(f) || f == RG_LOG || f == RG_EXP || f == RG_SOFTPLUS)
        return rg_map(t, convolve(t, x, w, b, RG_IDENTITY, taps), f);
    return convolve(t, x, w, b, f, taps);
}

rg_tensor *rg_conv1d(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, rg_activation f,
                     const rg_time_window *window)
{
    rg_tensor *in[] = { x, w };
    rg_taps    taps;
    return rg_tape__begin_packed(t, "conv1d", 2, in) && rg_taps__time(&taps, t, x->layout, window)
               ? ended(t, x, w, b, f, &taps)
               : NULL;
}

rg_tensor *rg_conv2d(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, rg_activation f, const rg_window *window)
{
    rg_tensor *in[] = { x, w };
    rg_taps    taps;
    return rg_tape__begin_packed(t, "conv2d", 2, in) && rg_taps__window(&taps, t, x->layout, window)
               ? ended(t, x, w, b, f, &taps)
               : NULL;
}
