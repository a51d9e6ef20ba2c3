/* op_shape.c - columns and rows: views, splits, concatenation, gathering, write-once buffers. Views copy nothing:
 * their gradient is a part of the whole's. */
#include "autograd/params.h"
#include "autograd/tape.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------------- views */

rg_tensor *rg_columns(rg_tape *t, rg_tensor *x, size_t from, size_t count)
{
    if (!rg_tape__begin(t, "columns", 1, &x)) return NULL;
    if (from > x->cols || count > x->cols - from)
        return rg_tape_fail(t, RG_ESHAPE, "columns %zu .. %zu of a tensor with %zu", from, from + count, x->cols);
    rg_tensor *v = rg_tape__view(t, x, 0, from, x->rows, count);
    if (v) v->layout = x->layout;
    return v;
}

rg_tensor *rg_rows(rg_tape *t, rg_tensor *x, size_t from, size_t count)
{
    if (!rg_tape__begin(t, "rows", 1, &x)) return NULL;
    if (from > x->rows || count > x->rows - from)
        return rg_tape_fail(t, RG_ESHAPE, "rows %zu .. %zu of a tensor with %zu", from, from + count, x->rows);
    return rg_tape__view(t, x, from, 0, count, x->cols);
}

void rg_split(rg_tape *t, rg_tensor *x, size_t n, rg_tensor **out)
{
    for (size_t i = 0; i < n; i++) out[i] = NULL;
    if (!rg_tape__begin(t, "split", 1, &x)) return;
    if (n == 0 || x->cols % n) {
        rg_tape_fail(t, RG_ESHAPE, "%zu columns do not split into %zu", x->cols, n);
        return;
    }
    const bool own = !x->whole && !x->param && !x->pieces; /* else: plain views, zeroed on first touch */
    for (size_t i = 0; i < n; i++) {
        if (!(out[i] = rg_columns(t, x, i * (x->cols / n), x->cols / n))) return;
        if (!own) continue;
        out[i]->piece = true;
    }
    for (size_t i = 0; own && i < n; i++) out[i]->sibling = i + 1 < n ? out[i + 1] : NULL;
    if (own) x->pieces = out[0];
}

/* ----------------------------------------------------------------------------------------------- concatenation */

typedef struct {
    rg_node     node;
    size_t      n;
    rg_tensor **part;
    bool        by_rows;
} concat_node;

static void concat_backward(rg_tape *t, rg_node *node)
{
    concat_node   *c = (concat_node *)node;
    const rg_real *dy = rg_tape__arrived(t, node->out);
    for (size_t i = 0; i < c->n; i++) {
        rg_tensor *p = c->part[i];
        bool       add;
        rg_real   *dp = rg_tape__grad(t, p, &add);
        if (dp) rg_rows__axpy(p->rows, p->cols, dp, p->ld, 1, dy, node->out->ld, add);
        dy += c->by_rows ? p->rows * node->out->ld : p->cols;
    }
}

/* The groups of all parts, one after another; pictures stay pictures where all are of one size. NULL when a part has
 * none, or no memory. */
static const rg_layout *joined_groups(rg_tape *t, size_t n, rg_tensor *const *parts)
{
    const rg_layout *one = parts[0]->layout;
    size_t           groups = 0;
    bool             alike = true;
    for (size_t i = 0; i < n; i++) {
        const rg_layout *l = parts[i]->layout;
        if (!l) return NULL;
        groups += l->groups;
        alike = alike && l->height == one->height && l->width == one->width;
    }
    rg_layout *layout = rg_tape__keep(t, sizeof *layout);
    int32_t   *start = rg_tape__keep(t, (groups + 1) * sizeof *start), at = 0;
    if (!layout || !start) return NULL;
    *layout = (rg_layout){ .groups = groups, .start = start, .height = alike ? one->height : 0, .width = alike ? one->width : 0, .first = one->first };
    for (size_t i = 0; i < n; i++) {
        const rg_layout *l = parts[i]->layout;
        for (size_t g = 0; g < l->groups; g++) *start++ = at + l->start[g];
        at += l->start[l->groups];
    }
    *start = at;
    return layout;
}

static rg_tensor *concat(rg_tape *t, size_t n, rg_tensor *const *parts, bool by_rows)
{
    size_t rows = by_rows ? 0 : parts[0]->rows, cols = by_rows ? parts[0]->cols : 0;
    for (size_t i = 0; i < n; i++) {
        if (by_rows ? parts[i]->cols != cols : parts[i]->rows != rows)
            return rg_tape_fail(t, RG_ESHAPE, "part 1 is %zu x %zu, part %zu is %zu x %zu", parts[0]->rows,
                                parts[0]->cols, i + 1, parts[i]->rows, parts[i]->cols);
        if (by_rows) rows += parts[i]->rows;
        else cols += parts[i]->cols;
    }
    rg_tensor *y = rg_tape__tensor(t, rows, cols, by_rows ? joined_groups(t, n, parts) : parts[0]->layout);
    if (!y) return NULL;
    rg_real *at = y->data;
    for (size_t i = 0; rg_tape__live(t) && i < n; i++) {
        rg_rows__copy(parts[i]->rows, parts[i]->cols, at, y->ld, parts[i]->data, parts[i]->ld);
        at += by_rows ? parts[i]->rows * y->ld : parts[i]->cols;
    }
    concat_node *c = rg_tape__node(t, sizeof *c, y, concat_backward, n, parts);
    if (!c) return y;
    c->by_rows = by_rows;
    c->part = rg_tape__keep(t, n * sizeof *c->part);
    if (!c->part) return NULL;
    memcpy(c->part, parts, n * sizeof *c->part);
    c->n = n;
    return y;
}

rg_tensor *rg_concat_columns(rg_tape *t, size_t n, rg_tensor *const *parts)
{
    if (!rg_tape__begin(t, "concat_columns", n, parts)) return NULL;
    return n ? concat(t, n, parts, false) : rg_tape_fail(t, RG_EINVAL, "nothing to concatenate");
}

rg_tensor *rg_concat_rows(rg_tape *t, size_t n, rg_tensor *const *parts)
{
    if (!rg_tape__begin(t, "concat_rows", n, parts)) return NULL;
    return n ? concat(t, n, parts, true) : rg_tape_fail(t, RG_EINVAL, "nothing to concatenate");
}

/* ---------------------------------------------------------------------------------- gather, scatter and buffers */

typedef struct {
    rg_node        node;
    rg_tensor     *x;
    const int32_t *index;
    size_t         count;
} index_node;

static bool in_range(rg_tape *t, const int32_t *index, size_t count, size_t rows)
{
    for (size_t i = 0; i < count; i++) {
        if (index[i] >= -1 && (index[i] < 0 || (size_t)index[i] < rows)) continue;
        rg_tape_fail(t, RG_EINVAL, "index %zu is %d; there are rows 0 .. %zd", i, index[i], (ssize_t)rows - 1);
        return false;
    }
    return true;
}

/* dst[to(i)] = or += src[from(i)], one of the two sides through the index */
static void spread(size_t cols, const int32_t *index, size_t count, rg_real *dst, size_t ld_dst, const rg_real *src,
                   size_t ld_src)
{
    for (size_t i = 0; i < count; i++)
        if (index[i] >= 0) rg_kernel()->axpy(cols, dst + (size_t)index[i] * ld_dst, 1, src + i * ld_src);
}

static void collect(size_t cols, const int32_t *index, size_t count, rg_real *dst, size_t ld_dst, const rg_real *src,
                    size_t ld_src, bool add)
{
    for (size_t i = 0; i < count; i++) {
        rg_real *to = dst + i * ld_dst;
        if (index[i] < 0) {
            if (!add) memset(to, 0, cols * sizeof *to);
        } else if (add) {
            rg_kernel()->axpy(cols, to, 1, src + (size_t)index[i] * ld_src);
        } else {
            memcpy(to, src + (size_t)index[i] * ld_src, cols * sizeof *to);
        }
    }
}

/* Rows of a table that is kept in few bytes. */
static void look_up(const rg_param *table, const int32_t *index, size_t count, rg_tensor *y)
{
    for (size_t i = 0; i < count; i++) {
        if (index[i] < 0) memset(y->data + i * y->ld, 0, y->cols * sizeof *y->data);
        else rg_param__row(table, (size_t)index[i], y->data + i * y->ld);
    }
}

static void gather_backward(rg_tape *t, rg_node *node)
{
    index_node *n = (index_node *)node;
    rg_real    *dx = rg_tape__grad_add(t, n->x);
    if (dx) spread(n->x->cols, n->index, n->count, dx, n->x->ld, rg_tape__arrived(t, node->out), node->out->ld);
}

rg_tensor *rg_gather(rg_tape *t, rg_tensor *x, const int32_t *index, size_t count, const rg_layout *layout)
{
    if (!rg_tape__begin_packed(t, "gather", 1, &x) || !in_range(t, index, count, x->rows)) return NULL;
    rg_tensor *y = rg_tape__tensor(t, count, x->cols, layout);
    if (!y) return NULL;
    if (rg_tape__live(t) && !x->data && x->param && rg_param__is_small(x->param)) look_up(x->param, index, count, y);
    else if (rg_tape__live(t)) collect(x->cols, index, count, y->data, y->ld, x->data, x->ld, false);
    index_node *n = rg_tape__node(t, sizeof *n, y, gather_backward, 1, &x);
    if (n) n->x = x, n->count = count, n->index = rg_tape__indices(t, index, count);
    return y;
}

static void scatter_backward(rg_tape *t, rg_node *node)
{
    index_node *n = (index_node *)node;
    bool        add;
    rg_real    *dx = rg_tape__grad(t, n->x, &add);
    if (dx) collect(n->x->cols, n->index, n->count, dx, n->x->ld, rg_tape__arrived(t, node->out), node->out->ld, add);
}

rg_tensor *rg_scatter(rg_tape *t, rg_tensor *x, const int32_t *index, size_t rows, const rg_layout *layout)
{
    if (!rg_tape__begin(t, "scatter", 1, &x) || !in_range(t, index, x->rows, rows)) return NULL;
    rg_tensor *y = rg_tape__tensor(t, rows, x->cols, layout);
    if (!y) return NULL;
    if (rg_tape__live(t)) {
        rg_rows__zero(rows, x->cols, y->data, y->ld);
        spread(x->cols, index, x->rows, y->data, y->ld, x->data, x->ld);
    }
    index_node *n = rg_tape__node(t, sizeof *n, y, scatter_backward, 1, &x);
    if (n) n->x = x, n->count = x->rows, n->index = rg_tape__indices(t, index, x->rows);
    return y;
}

/* A buffer starts as zeros and needs a gradient from the start, because steps read it before later steps write it. */
rg_tensor *rg_rows_new(rg_tape *t, size_t rows, size_t cols, const rg_layout *layout)
{
    rg_tensor *buffer = rg_zeros(t, rows, cols, layout);
    if (buffer) buffer->needs = rg_tape__recording(t);
    return buffer;
}

static void put_backward(rg_tape *t, rg_node *node)
{
    index_node *n = (index_node *)node;
    bool        add;
    rg_real    *dx = rg_tape__grad(t, n->x, &add);
    if (dx) collect(n->x->cols, n->index, n->count, dx, n->x->ld, rg_tape__arrived(t, node->out), node->out->ld, add);
}

void rg_rows_put(rg_tape *t, rg_tensor *buffer, const int32_t *at, rg_tensor *x)
{
    rg_tensor *in[] = { buffer, x };
    if (!rg_tape__begin(t, "rows_put", 2, in) || !in_range(t, at, x->rows, buffer->rows)) return;
    if (x->cols != buffer->cols) {
        rg_tape_fail(t, RG_ESHAPE, "rows of %zu columns put into a buffer of %zu", x->cols, buffer->cols);
        return;
    }
    for (size_t i = 0; rg_tape__live(t) && i < x->rows; i++)
        if (at[i] >= 0)
            memcpy(buffer->data + (size_t)at[i] * buffer->ld, x->data + i * x->ld, x->cols * sizeof(rg_real));
    index_node *n = rg_tape__node(t, sizeof *n, buffer, put_backward, 1, &x);
    if (n) n->x = x, n->count = x->rows, n->index = rg_tape__indices(t, at, x->rows);
}

/* --------------------------------------------------------------------------------------------------- transpose */

typedef struct {
    rg_node    node;
    rg_tensor *x;
} transpose_node;

static void transpose_backward(rg_tape *t, rg_node *node)
{
    transpose_node  *n = (transpose_node *)node;
    const rg_tensor *x = n->x;
    const rg_real   *dy = rg_tape__arrived(t, node->out);
    rg_real         *dx = rg_tape__grad_add(t, n->x);
    for (size_t i = 0; dx && i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++) dx[i * x->ld + j] += dy[j * node->out->ld + i];
}

rg_tensor *rg_transpose(rg_tape *t, rg_tensor *x)
{
    if (!rg_tape__begin(t, "transpose", 1, &x)) return NULL;
    rg_tensor *y = rg_tape__tensor(t, x->cols, x->rows, NULL);
    if (!y) return NULL;
    for (size_t i = 0; rg_tape__live(t) && i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++) y->data[j * y->ld + i] = x->data[i * x->ld + j];
    transpose_node *n = rg_tape__node(t, sizeof *n, y, transpose_backward, 1, &x);
    if (n) n->x = x;
    return y;
}
