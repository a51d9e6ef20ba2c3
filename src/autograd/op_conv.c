/* op_conv.c - convolution as a product: the rows a window sees, side by side, times the weights.
 *
 *   columns (M, K D)  =  [ x[at_0] | x[at_1] | ... ]        y = columns w + b
 *   dw = columns^T dy        dx[at_j] += (dy w^T)_j
 *
 * Columns exist for one block of output rows at a time (BLOCK_NUMBERS), in backward again. Bits do not depend on the block: each output of
 * every product is one chain (tensor/kernels.h). */
#include "autograd/taps.h"

#include <string.h>

enum { BLOCK_NUMBERS = 1 << 17, BLOCK_LEAST = 48 };

typedef struct {
    rg_node    node;
    rg_tensor *x, *w, *b;
    rg_taps    taps;
} conv_node;

typedef struct {
    const rg_taps   *taps;
    const rg_tensor *x;
    rg_real         *columns;
    size_t           from;
} columns_job;

static size_t rows_out(const rg_taps *p) { return p->units * p->out; }

static size_t block_rows(const rg_taps *p, size_t D)
{
    const size_t width = p->K * D, rows = width ? BLOCK_NUMBERS / width : 0, block = rows > BLOCK_LEAST ? rows / 12 * 12 : BLOCK_LEAST;
    return block < rows_out(p) ? block : rows_out(p);
}

static void columns_rows(void *context, int member, size_t begin, size_t end)
{
    const columns_job *job = context;
    const size_t       D = job->x->cols, K = job->taps->K;
    (void)member;
    for (size_t i = begin; i < end; i++) {
        rg_real *to = job->columns + i * K * D;
        for (size_t j = 0; j < K; j++, to += D) {
            const int64_t row = rg_taps__row(job->taps, job->from + i, j);
            if (row < 0) memset(to, 0, D * sizeof *to);
            else memcpy(to, job->x->data + (size_t)row * job->x->ld, D * sizeof *to);
        }
    }
}

static void make_columns(rg_tape *t, const rg_taps *taps, const rg_tensor *x, rg_real *columns, size_t from, size_t rows)
{
    columns_job job = { taps, x, columns, from };
    rg_tape__rows(t, rows, taps->K * x->cols, columns_rows, &job);
}

static void forward(rg_tape *t, rg_tensor *y, const rg_taps *taps, const rg_tensor *x, const rg_tensor *w, const rg_tensor *b)
{
    const size_t   D = x->cols, width = taps->K * D, block = block_rows(taps, D);
    rg_arena_point scratch = rg_tape__scratch(t);
    const rg_pack  pack = rg_tape__pack(t, w, false);
    rg_real       *columns = rg_tape__reals(t, block * width);
    for (size_t from = 0; columns && pack.data && from < y->rows; from += block) {
        const size_t rows = y->rows - from < block ? y->rows - from : block;
        make_columns(t, taps, x, columns, from, rows);
        rg_tape__check(t, rg_product_packed(rg_tape_team(t), rows, columns, width, &pack, y->data + from * y->ld, y->ld, false,
                                            b ? b->data : NULL, RG_IDENTITY));
    }
    rg_tape__release(t, scratch);
}

static void spread_columns(const rg_taps *taps, const rg_tensor *x, rg_real *dx, const rg_real *columns, size_t from, size_t rows)
{
    const size_t D = x->cols, K = taps->K;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < K; j++) {
            const int64_t row = rg_taps__row(taps, from + i, j);
            if (row >= 0) rg_kernel()->axpy(D, dx + (size_t)row * x->ld, 1, columns + (i * K + j) * D);
        }
}

static void conv_backward(rg_tape *t, rg_node *node)
{
    conv_node       *n = (conv_node *)node;
    const rg_tensor *x = n->x, *w = n->w, *y = node->out;
    const size_t     D = x->cols, width = n->taps.K * D, block = block_rows(&n->taps, D);
    const rg_real   *dy = rg_tape__arrived(t, node->out);
    bool             add_w = false, add_b = false;
    rg_real         *dx = rg_tape__grad_add(t, n->x), *dw = rg_tape__grad(t, n->w, &add_w), *db = rg_tape__grad(t, n->b, &add_b);
    rg_arena_point   scratch = rg_tape__scratch(t);
    const rg_pack    pack = dx ? rg_tape__pack(t, w, true) : (rg_pack){0};
    rg_real         *columns = rg_tape__reals(t, block * width);
    if (dw && y->rows == 0 && !add_w) rg_rows__zero(w->rows, w->cols, dw, w->ld);
    for (size_t from = 0; columns && from < y->rows && rg_tape_status(t) == RG_OK; from += block) {
        const size_t   rows = y->rows - from < block ? y->rows - from : block;
        const rg_real *d = dy + from * y->ld;
        if (dw) {
            make_columns(t, &n->taps, x, columns, from, rows);
            rg_tape__check(t, rg_product(rg_tape_team(t), RG_TN, width, w->cols, rows, columns, width, d, y->ld, dw, w->ld, add_w || from));
        }
        if (!dx) continue;
        rg_tape__check(t, rg_product_packed(rg_tape_team(t), rows, d, y->ld, &pack, columns, width, false, NULL, RG_IDENTITY));
        spread_columns(&n->taps, x, dx, columns, from, rows);
    }
    if (db) rg_rows__column_sums(y->rows, y->cols, db, dy, y->ld, add_b);
    rg_tape__release(t, scratch);
}

static rg_tensor *convolve(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, const rg_taps *taps)
{
    const size_t D = x->cols, E = w->cols;
    if (w->rows != taps->K * D)
        return rg_tape_fail(t, RG_ESHAPE, "weights of %zu x %zu; %zu taps on %zu columns need %zu rows", w->rows, E, taps->K, D,
                            taps->K * D);
    if (b && (b->rows != 1 || b->cols != E))
        return rg_tape_fail(t, RG_ESHAPE, "the bias is %zu x %zu, it should be 1 x %zu", b->rows, b->cols, E);
    rg_tensor *y = rg_tape__tensor(t, rows_out(taps), E, taps->layout);
    if (!y) return NULL;
    if (rg_tape__live(t)) forward(t, y, taps, x, w, b);
    rg_tape__count(t, 2.0 * (double)y->rows * (double)(taps->K * D) * (double)E);
    rg_tape__will_need(t, block_rows(taps, D) * taps->K * D * sizeof(rg_real));
    rg_tensor *in[] = { x, w, b };
    conv_node *n = rg_tape__node(t, sizeof *n, y, conv_backward, 3, in);
    if (n) n->x = x, n->w = w, n->b = b, n->taps = *taps;
    return rg_tape_status(t) == RG_OK ? y : NULL;
}

rg_tensor *rg_conv1d(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, const rg_span *span)
{
    rg_tensor *in[] = { x, w };
    rg_taps    taps;
    return rg_tape__begin(t, "conv1d", 2, in) && rg_taps__span(&taps, t, x->layout, span) ? convolve(t, x, w, b, &taps) : NULL;
}

rg_tensor *rg_conv2d(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, const rg_window *window)
{
    rg_tensor *in[] = { x, w };
    rg_taps    taps;
    return rg_tape__begin(t, "conv2d", 2, in) && rg_taps__window(&taps, t, x->layout, window) ? convolve(t, x, w, b, &taps) : NULL;
}
