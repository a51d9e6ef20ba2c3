/* op_map.c - ops that take one number at a time: f(x), a x + b, x + y, x y, x^gamma, dropout, clamp, maxout. */
#include "autograd/tape.h"

#include <math.h>

/* -------------------------------------------------------------------------------------------------- y = f(x) */

typedef struct {
    rg_node       node;
    rg_tensor    *x;
    rg_activation f;
    const rg_real *dy;
    rg_real      *dx;
    bool          add;
} map_node;

static void map_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    map_node *n = context;
    for (size_t i = begin; i < end; i++)
        rg_kernel()->map(n->f, n->x->cols, n->node.out->data + i * n->node.out->ld, n->x->data + i * n->x->ld);
}

static void map_rows_backward(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    map_node        *n = context;
    const rg_tensor *x = n->x, *y = n->node.out;
    for (size_t i = begin; i < end; i++)
        rg_kernel()->map_backward(n->f, x->cols, n->dx + i * x->ld, x->data + i * x->ld, y->data + i * y->ld,
                                  n->dy + i * y->ld, n->add);
}

static void map_backward(rg_tape *t, rg_node *node)
{
    map_node *n = (map_node *)node;
    n->dy = rg_tape__arrived(t, node->out);
    n->dx = rg_tape__grad(t, n->x, &n->add);
    if (n->dx) rg_tape__rows(t, n->x->rows, n->x->cols * 4, map_rows_backward, n);
}

rg_tensor *rg_map(rg_tape *t, rg_tensor *x, rg_activation f)
{
    if (!rg_tape__begin(t, rg_activation_name(f), 1, &x)) return NULL;
    rg_tensor *y = rg_tape__tensor(t, x->rows, x->cols, x->layout);
    if (!y) return NULL;
    map_node now = { .node.out = y, .x = x, .f = f };
    if (rg_tape__live(t)) rg_tape__rows(t, x->rows, x->cols * 4, map_rows, &now);
    rg_tape__count(t, (double)(x->rows * x->cols));
    map_node *n = rg_tape__node(t, sizeof *n, y, map_backward, 1, &x);
    if (n) n->x = x, n->f = f;
    return y;
}

rg_tensor *rg_tanh(rg_tape *t, rg_tensor *x) { return rg_map(t, x, RG_TANH); }
rg_tensor *rg_sigmoid(rg_tape *t, rg_tensor *x) { return rg_map(t, x, RG_SIGMOID); }
rg_tensor *rg_relu(rg_tape *t, rg_tensor *x) { return rg_map(t, x, RG_RELU); }

/* --------------------------------------------------------------------------------------------- y = a x + shift */

typedef struct {
    rg_node    node;
    rg_tensor *x;
    double     a;
} affine_node;

static void affine_backward(rg_tape *t, rg_node *node)
{
    affine_node   *n = (affine_node *)node;
    const rg_real *dy = rg_tape__arrived(t, node->out);
    bool           add;
    rg_real       *dx = rg_tape__grad(t, n->x, &add);
    if (dx) rg_rows__axpy(n->x->rows, n->x->cols, dx, n->x->ld, (rg_real)n->a, dy, node->out->ld, add);
}

static rg_tensor *affine(rg_tape *t, rg_tensor *x, double a, double shift)
{
    rg_tensor *y = rg_tape__tensor(t, x->rows, x->cols, x->layout);
    if (!y) return NULL;
    if (rg_tape__live(t)) {
        rg_rows__axpy(x->rows, x->cols, y->data, y->ld, (rg_real)a, x->data, x->ld, false);
        for (size_t i = 0; shift != 0 && i < x->rows * x->cols; i++) y->data[i] += (rg_real)shift;
    }
    rg_tape__count(t, (double)(x->rows * x->cols));
    affine_node *n = rg_tape__node(t, sizeof *n, y, affine_backward, 1, &x);
    if (n) n->x = x, n->a = a;
    return y;
}

rg_tensor *rg_scale(rg_tape *t, rg_tensor *x, double a)
{
    return rg_tape__begin(t, "scale", 1, &x) ? affine(t, x, a, 0) : NULL;
}
rg_tensor *rg_shift(rg_tape *t, rg_tensor *x, double a)
{
    return rg_tape__begin(t, "shift", 1, &x) ? affine(t, x, 1, a) : NULL;
}

/* -------------------------------------------------------------------------------------------------- z = x + a y */

typedef struct {
    rg_node    node;
    rg_tensor *x, *y;
    rg_real    a;
} add_node;

static void add_backward(rg_tape *t, rg_node *node)
{
    add_node        *n = (add_node *)node;
    const rg_tensor *z = node->out;
    const rg_real   *dz = rg_tape__arrived(t, node->out);
    bool             add;
    rg_real         *dx = rg_tape__grad(t, n->x, &add);
    if (dx) rg_rows__axpy(z->rows, z->cols, dx, n->x->ld, 1, dz, z->ld, add);
    rg_real *dy = rg_tape__grad(t, n->y, &add);
    if (!dy) return;
    if (n->y->rows == z->rows && n->y->cols == z->cols) {
        rg_rows__axpy(z->rows, z->cols, dy, n->y->ld, n->a, dz, z->ld, add);
    } else if (n->y->cols == z->cols) { /* one row served all:  dy = sum of rows */
        rg_rows__column_sums(z->rows, z->cols, dy, dz, z->ld, add);
    } else {                           /* one number served all */
        rg_real sum = 0;
        for (size_t i = 0; i < z->rows; i++) sum += rg_kernel()->sum(z->cols, dz + i * z->ld);
        *dy = add ? *dy + sum : sum;
    }
}

typedef struct {
    rg_tensor       *z;
    const rg_tensor *x, *y;
    rg_real          a;
    bool             same, row;
} adding;

static void add_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const adding *j = context;
    for (size_t i = begin; i < end; i++) {
        rg_real       *zi = j->z->data + i * j->z->ld;
        const rg_real *xi = j->x->data + i * j->x->ld, *yi = j->y->data + (j->same ? i * j->y->ld : 0);
        if (j->a == 1 && (j->same || j->row)) rg_kernel()->add(j->z->cols, zi, xi, yi);
        else
            for (size_t c = 0; c < j->z->cols; c++) zi[c] = xi[c] + j->a * yi[j->same || j->row ? c : 0];
    }
}

static rg_tensor *sum_of(rg_tape *t, rg_tensor *x, rg_tensor *y, rg_real a)
{
    const bool same = x->rows == y->rows && x->cols == y->cols;
    const bool row = y->rows == 1 && y->cols == x->cols, one = y->rows == 1 && y->cols == 1;
    if (!same && !row && !one)
        return rg_tape_fail(t, RG_ESHAPE, "%zu x %zu and %zu x %zu do not add: same shape, one row or one number",
                            x->rows, x->cols, y->rows, y->cols);
    rg_tensor *z = rg_tape__tensor(t, x->rows, x->cols, x->layout ? x->layout : y->layout);
    if (!z) return NULL;
    adding job = { z, x, y, a, same, row };
    if (rg_tape__live(t)) rg_tape__rows(t, z->rows, z->cols, add_rows, &job);
    rg_tape__count(t, (double)(z->rows * z->cols));
    rg_tensor *in[] = { x, y };
    add_node  *n = rg_tape__node(t, sizeof *n, z, add_backward, 2, in);
    if (n) n->x = x, n->y = y, n->a = a;
    return z;
}

rg_tensor *rg_add(rg_tape *t, rg_tensor *x, rg_tensor *y)
{
    rg_tensor *in[] = { x, y };
    return rg_tape__begin(t, "add", 2, in) ? sum_of(t, x, y, 1) : NULL;
}

rg_tensor *rg_sub(rg_tape *t, rg_tensor *x, rg_tensor *y)
{
    rg_tensor *in[] = { x, y };
    if (!rg_tape__begin(t, "sub", 2, in)) return NULL;
    if (x->rows != y->rows || x->cols != y->cols)
        return rg_tape_fail(t, RG_ESHAPE, "%zu x %zu and %zu x %zu differ", x->rows, x->cols, y->rows, y->cols);
    return sum_of(t, x, y, -1);
}

/* ------------------------------------------------------------------------------------------------------ z = x y */

typedef struct {
    rg_node    node;
    rg_tensor *x, *y;
} mul_node;

/* How far y moves a row and a column: (ld, 1) same shape, (ld, 0) one column, (0, 1) one row, (0, 0) one number. */
static size_t row_step(const rg_tensor *y) { return y->rows == 1 ? 0 : y->ld; }
static size_t col_step(const rg_tensor *y) { return y->cols == 1 ? 0 : 1; }

/* Two whole tensors of one shape: one run of numbers instead of rows. */
static bool tight(const rg_tensor *x, const rg_tensor *y)
{
    return x->rows == y->rows && x->cols == y->cols && x->ld == x->cols && y->ld == y->cols;
}

static void mul_backward(rg_tape *t, rg_node *node)
{
    mul_node        *n = (mul_node *)node;
    const rg_tensor *x = n->x, *y = n->y, *z = node->out;
    const rg_real   *dz = rg_tape__arrived(t, node->out);
    const size_t     ry = row_step(y), cy = col_step(y);
    bool             add;
    rg_real         *dx = rg_tape__grad(t, n->x, &add);
    if (tight(x, y)) {
        if (dx) rg_kernel()->mul(z->rows * z->cols, dx, y->data, dz, add);
        rg_real *dy = rg_tape__grad(t, n->y, &add);
        if (dy) rg_kernel()->mul(z->rows * z->cols, dy, x->data, dz, add);
        return;
    }
    for (size_t i = 0; dx && i < z->rows; i++) {
        const rg_real *yi = y->data + i * ry, *dzi = dz + i * z->ld;
        rg_real       *dxi = dx + i * x->ld;
        if (cy) rg_kernel()->mul(z->cols, dxi, yi, dzi, add);
        else (add ? rg_kernel()->axpy : rg_kernel()->scale)(z->cols, dxi, *yi, dzi);
    }
    rg_real *dy = rg_tape__grad_add(t, n->y);
    for (size_t i = 0; dy && i < z->rows; i++) {
        const rg_real *xi = x->data + i * x->ld, *dzi = dz + i * z->ld;
        if (cy) rg_kernel()->mul(z->cols, dy + i * ry, xi, dzi, true);
        else dy[i * ry] += rg_kernel()->dot(z->cols, xi, dzi);
    }
}

rg_tensor *rg_mul(rg_tape *t, rg_tensor *x, rg_tensor *y)
{
    rg_tensor *in[] = { x, y };
    if (!rg_tape__begin(t, "mul", 2, in)) return NULL;
    if ((y->rows != x->rows && y->rows != 1) || (y->cols != x->cols && y->cols != 1))
        return rg_tape_fail(t, RG_ESHAPE,
                            "%zu x %zu and %zu x %zu do not multiply: same shape, one column, one row or one number",
                            x->rows, x->cols, y->rows, y->cols);
    rg_tensor *z = rg_tape__tensor(t, x->rows, x->cols, x->layout);
    if (!z) return NULL;
    const size_t ry = row_step(y), cy = col_step(y);
    if (rg_tape__live(t) && tight(x, y)) rg_kernel()->mul(z->rows * z->cols, z->data, x->data, y->data, false);
    for (size_t i = 0; rg_tape__live(t) && !tight(x, y) && i < z->rows; i++) {
        const rg_real *xi = x->data + i * x->ld, *yi = y->data + i * ry;
        if (cy) rg_kernel()->mul(z->cols, z->data + i * z->ld, xi, yi, false);
        else rg_kernel()->scale(z->cols, z->data + i * z->ld, *yi, xi);
    }
    rg_tape__count(t, (double)(z->rows * z->cols));
    mul_node *n = rg_tape__node(t, sizeof *n, z, mul_backward, 2, in);
    if (n) n->x = x, n->y = y;
    return z;
}

/* -------------------------------------------------------------------------------------------------- z = x^gamma */

typedef struct {
    rg_node    node;
    rg_tensor *x, *gamma;
} power_node;

/* forward was  z = x^g
 * so           dx = g x^(g-1) dz        dg = z log x dz      (both 0 at x = 0, where sharpened weights rest) */
static void power_backward(rg_tape *t, rg_node *node)
{
    power_node      *n = (power_node *)node;
    const rg_tensor *x = n->x, *g = n->gamma, *z = node->out;
    const rg_real   *dz = rg_tape__arrived(t, node->out);
    rg_real         *dx = rg_tape__grad_add(t, n->x), *dg = rg_tape__grad_add(t, n->gamma);
    for (size_t i = 0; i < z->rows; i++)
        for (size_t j = 0; j < z->cols; j++) {
            const double xv = (double)x->data[i * x->ld + j], d = (double)dz[i * z->ld + j];
            const size_t at = i * row_step(g) + j * col_step(g);
            if (xv <= 0) continue;
            if (dx) dx[i * x->ld + j] += (rg_real)((double)g->data[at] * pow(xv, (double)g->data[at] - 1) * d);
            if (dg) dg[at] += (rg_real)((double)z->data[i * z->ld + j] * log(xv) * d);
        }
}

rg_tensor *rg_power(rg_tape *t, rg_tensor *x, rg_tensor *gamma)
{
    rg_tensor *in[] = { x, gamma };
    if (!rg_tape__begin(t, "power", 2, in)) return NULL;
    if ((gamma->rows != x->rows && gamma->rows != 1) || (gamma->cols != x->cols && gamma->cols != 1))
        return rg_tape_fail(t, RG_ESHAPE, "%zu x %zu to the power %zu x %zu", x->rows, x->cols, gamma->rows,
                            gamma->cols);
    rg_tensor *z = rg_tape__tensor(t, x->rows, x->cols, x->layout);
    if (!z) return NULL;
    for (size_t i = 0; rg_tape__live(t) && i < z->rows; i++)
        for (size_t j = 0; j < z->cols; j++) {
            const double xv = (double)x->data[i * x->ld + j],
                         g = (double)gamma->data[i * row_step(gamma) + j * col_step(gamma)];
            z->data[i * z->ld + j] = xv > 0 ? (rg_real)pow(xv, g) : 0;
        }
    rg_tape__count(t, 20.0 * (double)(z->rows * z->cols));
    power_node *n = rg_tape__node(t, sizeof *n, z, power_backward, 2, in);
    if (n) n->x = x, n->gamma = gamma;
    return z;
}

/* ------------------------------------------------------------------------------------------------------ dropout */

typedef struct {
    rg_node    node;
    rg_tensor *x;
    double     p;
    uint32_t   key[2];
    uint64_t   stream;
    uint8_t   *bits; /* the mask, for backward; NULL: nobody will ask */
} dropout_node;

typedef struct {
    const dropout_node *n;
    rg_real            *y;
    const rg_real      *x;
    size_t              ldy, ldx;
    bool                add, draw;
} dropping;

enum { ROWS = 8, MOST_BITS = 8192 }; /* rows of a block: its mask is whole bytes; numbers whose mask is drawn at a time */

/* `count` numbers, side by side, the first of which is number `from` of the tensor.
 *
 * The draw of a number depends on seed, step, op, its row in the whole batch and its column: not on worker or
 * thread. */
static void drop_some(const dropping *d, size_t from, size_t count, rg_real *y, const rg_real *x)
{
    const dropout_node *n = d->n;
    const uint64_t      before = n->x->layout ? n->x->layout->first * n->x->cols : 0;
    for (size_t at = 0, some; n->bits && at < count; at += some) {
        some = count - at < MOST_BITS ? count - at : MOST_BITS;
        uint8_t *bits = n->bits + (from + at) / 8;
        if (d->draw) rg_kernel()->dropout_mask(some, bits, (rg_real)n->p, n->key, n->stream, before + from + at);
        rg_kernel()->dropout_by(some, y + at, x + at, (rg_real)n->p, bits, d->add);
    }
    if (!n->bits) rg_kernel()->dropout(count, y, x, (rg_real)n->p, n->key, n->stream, before + from, d->add);
}

static void drop_blocks(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const dropping *d = context;
    const size_t    cols = d->n->x->cols, low = begin * ROWS,
                 high = end * ROWS < d->n->x->rows ? end * ROWS : d->n->x->rows;
    if (d->ldy == cols && d->ldx == cols)
        drop_some(d, low * cols, (high - low) * cols, d->y + low * cols, d->x + low * cols);
    else
        for (size_t i = low; i < high; i++) drop_some(d, i * cols, cols, d->y + i * d->ldy, d->x + i * d->ldx);
}

static void drop(rg_tape *t, const dropout_node *n, rg_real *y, size_t ldy, const rg_real *x, size_t ldx, bool add,
                 bool draw)
{
    dropping d = { .n = n, .y = y, .x = x, .ldy = ldy, .ldx = ldx, .add = add, .draw = draw };
    rg_tape__rows(t, (n->x->rows + ROWS - 1) / ROWS, n->x->cols * 2 * ROWS, drop_blocks, &d);
}

static void dropout_backward(rg_tape *t, rg_node *node)
{
    dropout_node *n = (dropout_node *)node;
    bool          add;
    rg_real      *dx = rg_tape__grad(t, n->x, &add);
    if (dx) drop(t, n, dx, n->x->ld, rg_tape__arrived(t, node->out), node->out->ld, add, false);
}

/* The mask is kept where its rows are whole bytes or lie side by side; else it is drawn anew. */
static bool keeps_mask(rg_tape *t, const rg_tensor *x)
{
    return rg_tape__recording(t) && x->needs && (x->cols % 8 == 0 || x->ld == x->cols);
}

rg_tensor *rg_dropout(rg_tape *t, rg_tensor *x, double p)
{
    if (!rg_tape__begin(t, "dropout", 1, &x)) return NULL;
    if (!(p >= 0 && p < 1))
        return rg_tape_fail(t, RG_EINVAL, "the share to drop is %g; it should be at least 0 and below 1", p);
    if (!rg_tape_learning(t) || p == 0) return x;
    rg_tensor *y = rg_tape__tensor(t, x->rows, x->cols, x->layout);
    if (!y) return NULL;
    dropout_node now = { .x = x, .p = p };
    now.stream = rg_tape__draw(t, now.key);
    if (keeps_mask(t, x)) {
        const size_t bytes = x->rows * x->cols / 8 + 1;
        rg_tape__will_keep(t, bytes);
        if (rg_tape__live(t) && !(now.bits = rg_tape__keep(t, bytes))) return NULL;
    }
    if (rg_tape__live(t)) drop(t, &now, y->data, y->ld, x->data, x->ld, false, true);
    rg_tape__count(t, (double)(x->rows * x->cols));
    dropout_node *n = rg_tape__node(t, sizeof *n, y, dropout_backward, 1, &x);
    if (n) now.node = n->node, *n = now;
    return y;
}

/* -------------------------------------------------------------------------------------------- clamp and maxout */

typedef struct {
    rg_node    node;
    rg_tensor *x;
    double     low, high;
} clamp_node;

static void clamp_backward(rg_tape *t, rg_node *node)
{
    clamp_node      *n = (clamp_node *)node;
    const rg_tensor *x = n->x, *y = node->out;
    const rg_real   *dy = rg_tape__arrived(t, node->out);
    rg_real         *dx = rg_tape__grad_add(t, n->x);
    for (size_t i = 0; dx && i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++) {
            const double v = (double)x->data[i * x->ld + j];
            if (v >= n->low && v <= n->high) dx[i * x->ld + j] += dy[i * y->ld + j];
        }
}

rg_tensor *rg_clamp(rg_tape *t, rg_tensor *x, double low, double high)
{
    if (!rg_tape__begin(t, "clamp", 1, &x)) return NULL;
    rg_tensor *y = rg_tape__tensor(t, x->rows, x->cols, x->layout);
    if (!y) return NULL;
    for (size_t i = 0; rg_tape__live(t) && i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++) {
            const double v = (double)x->data[i * x->ld + j];
            y->data[i * y->ld + j] = (rg_real)(v < low ? low : v > high ? high : v);
        }
    clamp_node *n = rg_tape__node(t, sizeof *n, y, clamp_backward, 1, &x);
    if (n) n->x = x, n->low = low, n->high = high;
    return y;
}

typedef struct {
    rg_node    node;
    rg_tensor *x;
} max_node;

static void max_backward(rg_tape *t, rg_node *node)
{
    max_node        *n = (max_node *)node;
    const rg_tensor *x = n->x, *y = node->out;
    const rg_real   *dy = rg_tape__arrived(t, node->out);
    rg_real         *dx = rg_tape__grad_add(t, n->x);
    for (size_t i = 0; dx && i < y->rows; i++)
        for (size_t j = 0; j < y->cols; j++) {
            const rg_real *pair = x->data + i * x->ld + 2 * j;
            dx[i * x->ld + 2 * j + (pair[1] > pair[0])] += dy[i * y->ld + j];
        }
}

rg_tensor *rg_max_pairs(rg_tape *t, rg_tensor *x)
{
    if (!rg_tape__begin(t, "max_pairs", 1, &x)) return NULL;
    if (x->cols % 2) return rg_tape_fail(t, RG_ESHAPE, "%zu columns do not pair", x->cols);
    rg_tensor *y = rg_tape__tensor(t, x->rows, x->cols / 2, x->layout);
    if (!y) return NULL;
    for (size_t i = 0; rg_tape__live(t) && i < y->rows; i++)
        for (size_t j = 0; j < y->cols; j++) {
            const rg_real *pair = x->data + i * x->ld + 2 * j;
            y->data[i * y->ld + j] = pair[1] > pair[0] ? pair[1] : pair[0];
        }
    max_node *n = rg_tape__node(t, sizeof *n, y, max_backward, 1, &x);
    if (n) n->x = x;
    return y;
}
