/* op_reduce.c - sums over everything, rows, columns and groups; means and maxima of groups; dot products of rows. */
#include "autograd/tape.h"

#include <string.h>

typedef struct {
    rg_node    node;
    rg_tensor *x, *y;
    int32_t   *at; /* max_groups: the row that won */
} reduce_node;

/* -------------------------------------------------------------------------------------------- everything: (1, 1) */

static void sum_backward(rg_tape *t, rg_node *node)
{
    reduce_node  *n = (reduce_node *)node;
    const rg_real d = *rg_tape__arrived(t, node->out);
    rg_real      *dx = rg_tape__grad_add(t, n->x);
    for (size_t i = 0; dx && i < n->x->rows; i++)
        for (size_t j = 0; j < n->x->cols; j++) dx[i * n->x->ld + j] += d;
}

rg_tensor *rg_sum(rg_tape *t, rg_tensor *x)
{
    if (!rg_tape__begin(t, "sum", 1, &x)) return NULL;
    rg_tensor *y = rg_tape__tensor(t, 1, 1, NULL);
    if (!y) return NULL;
    if (rg_tape__live(t)) {
        double sum = 0;
        for (size_t i = 0; i < x->rows; i++) sum += (double)rg_kernel()->sum(x->cols, x->data + i * x->ld);
        *y->data = (rg_real)sum;
    }
    reduce_node *n = rg_tape__node(t, sizeof *n, y, sum_backward, 1, &x);
    if (n) n->x = x;
    return y;
}

/* ---------------------------------------------------------------------------------------------- each row: (N, 1) */

static void sum_columns_backward(rg_tape *t, rg_node *node)
{
    reduce_node   *n = (reduce_node *)node;
    const rg_real *dy = rg_tape__arrived(t, node->out);
    rg_real       *dx = rg_tape__grad_add(t, n->x);
    for (size_t i = 0; dx && i < n->x->rows; i++)
        for (size_t j = 0; j < n->x->cols; j++) dx[i * n->x->ld + j] += dy[i];
}

rg_tensor *rg_sum_columns(rg_tape *t, rg_tensor *x)
{
    if (!rg_tape__begin(t, "sum_columns", 1, &x)) return NULL;
    rg_tensor *y = rg_tape__tensor(t, x->rows, 1, x->layout);
    if (!y) return NULL;
    for (size_t i = 0; rg_tape__live(t) && i < x->rows; i++)
        y->data[i] = rg_kernel()->sum(x->cols, x->data + i * x->ld);
    reduce_node *n = rg_tape__node(t, sizeof *n, y, sum_columns_backward, 1, &x);
    if (n) n->x = x;
    return y;
}

/* ------------------------------------------------------------------------------------------- each column: (1, D) */

static void sum_rows_backward(rg_tape *t, rg_node *node)
{
    reduce_node   *n = (reduce_node *)node;
    const rg_real *dy = rg_tape__arrived(t, node->out);
    bool           add;
    rg_real       *dx = rg_tape__grad(t, n->x, &add);
    if (dx) rg_rows__axpy(n->x->rows, n->x->cols, dx, n->x->ld, 1, dy, 0, add);
}

rg_tensor *rg_sum_rows(rg_tape *t, rg_tensor *x)
{
    if (!rg_tape__begin(t, "sum_rows", 1, &x)) return NULL;
    rg_tensor *y = rg_tape__tensor(t, 1, x->cols, NULL);
    if (!y) return NULL;
    if (rg_tape__live(t)) rg_rows__column_sums(x->rows, x->cols, y->data, x->data, x->ld, false);
    reduce_node *n = rg_tape__node(t, sizeof *n, y, sum_rows_backward, 1, &x);
    if (n) n->x = x;
    return y;
}

/* -------------------------------------------------------------------------------------------- each group: (G, D) */

typedef enum { GROUP_SUM, GROUP_MEAN } group_kind;

typedef struct {
    rg_node    node;
    rg_tensor *x;
    group_kind kind;
} group_node;

static rg_real share(const rg_layout *layout, size_t g, group_kind kind)
{
    const int32_t rows = layout->start[g + 1] - layout->start[g];
    return kind == GROUP_MEAN && rows ? (rg_real)(1.0 / rows) : 1;
}

static void group_backward(rg_tape *t, rg_node *node)
{
    group_node      *n = (group_node *)node;
    const rg_layout *layout = n->x->layout;
    const rg_real   *dy = rg_tape__arrived(t, node->out);
    bool             add;
    rg_real         *dx = rg_tape__grad(t, n->x, &add);
    for (size_t g = 0; dx && g < layout->groups; g++) {
        const size_t from = (size_t)layout->start[g], rows = (size_t)layout->start[g + 1] - from;
        const size_t ld = n->x->ld;
        for (size_t i = 0; i < rows; i++) /* every row of the group gets the group's gradient */
            rg_rows__axpy(1, n->x->cols, dx + (from + i) * ld, ld, share(layout, g, n->kind), dy + g * node->out->ld,
                          ld, add);
    }
}

static bool grouped(rg_tape *t, const rg_tensor *x)
{
    if (x->layout) return true;
    rg_tape_fail(t, RG_EINVAL, "rows of a tensor without layout do not group");
    return false;
}

static rg_tensor *reduce_groups(rg_tape *t, rg_tensor *x, group_kind kind)
{
    if (!grouped(t, x)) return NULL;
    const rg_layout *layout = x->layout;
    rg_tensor       *y = rg_tape__tensor(t, layout->groups, x->cols, NULL);
    if (!y) return NULL;
    for (size_t g = 0; rg_tape__live(t) && g < layout->groups; g++) {
        const size_t from = (size_t)layout->start[g], rows = (size_t)layout->start[g + 1] - from;
        rg_real     *yg = y->data + g * y->ld;
        rg_rows__column_sums(rows, x->cols, yg, x->data + from * x->ld, x->ld, false);
        if (kind == GROUP_MEAN) rg_kernel()->scale(x->cols, yg, share(layout, g, kind), yg);
    }
    group_node *n = rg_tape__node(t, sizeof *n, y, group_backward, 1, &x);
    if (n) n->x = x, n->kind = kind;
    return y;
}

rg_tensor *rg_sum_groups(rg_tape *t, rg_tensor *x)
{
    return rg_tape__begin(t, "sum_groups", 1, &x) ? reduce_groups(t, x, GROUP_SUM) : NULL;
}
rg_tensor *rg_mean_groups(rg_tape *t, rg_tensor *x)
{
    return rg_tape__begin(t, "mean_groups", 1, &x) ? reduce_groups(t, x, GROUP_MEAN) : NULL;
}

static void max_groups_backward(rg_tape *t, rg_node *node)
{
    reduce_node   *n = (reduce_node *)node;
    const rg_real *dy = rg_tape__arrived(t, node->out);
    rg_real       *dx = rg_tape__grad_add(t, n->x);
    const size_t   cols = n->x->cols;
    for (size_t i = 0; dx && i < node->out->rows * cols; i++)
        if (n->at[i] >= 0) dx[(size_t)n->at[i] * n->x->ld + i % cols] += dy[i];
}

rg_tensor *rg_max_groups(rg_tape *t, rg_tensor *x)
{
    if (!rg_tape__begin(t, "max_groups", 1, &x) || !grouped(t, x)) return NULL;
    const rg_layout *layout = x->layout;
    rg_tensor       *y = rg_tape__tensor(t, layout->groups, x->cols, NULL);
    int32_t         *at = rg_tape__keep(t, layout->groups * x->cols * sizeof *at);
    if (!y || !at) return NULL;
    for (size_t g = 0; rg_tape__live(t) && g < layout->groups; g++)
        for (size_t j = 0; j < x->cols; j++) {
            int32_t best = -1;
            for (int32_t i = layout->start[g]; i < layout->start[g + 1]; i++)
                if (best < 0 || x->data[(size_t)i * x->ld + j] > x->data[(size_t)best * x->ld + j]) best = i;
            at[g * x->cols + j] = best;
            y->data[g * y->ld + j] = best < 0 ? 0 : x->data[(size_t)best * x->ld + j];
        }
    reduce_node *n = rg_tape__node(t, sizeof *n, y, max_groups_backward, 1, &x);
    if (n) n->x = x, n->at = at;
    return y;
}

/* ---------------------------------------------------------------------------------- dot products of rows: (N, 1) */

static void dot_rows_backward(rg_tape *t, rg_node *node)
{
    reduce_node     *n = (reduce_node *)node;
    const rg_tensor *x = n->x, *y = n->y;
    const rg_real   *dz = rg_tape__arrived(t, node->out);
    rg_real         *dx = rg_tape__grad_add(t, n->x);
    for (size_t i = 0; dx && i < x->rows; i++) rg_kernel()->axpy(x->cols, dx + i * x->ld, dz[i], y->data + i * y->ld);
    rg_real *dy = rg_tape__grad_add(t, n->y);
    for (size_t i = 0; dy && i < x->rows; i++) rg_kernel()->axpy(x->cols, dy + i * y->ld, dz[i], x->data + i * x->ld);
}

rg_tensor *rg_dot_rows(rg_tape *t, rg_tensor *x, rg_tensor *y)
{
    rg_tensor *in[] = { x, y };
    if (!rg_tape__begin(t, "dot_rows", 2, in)) return NULL;
    if (x->rows != y->rows || x->cols != y->cols)
        return rg_tape_fail(t, RG_ESHAPE, "%zu x %zu and %zu x %zu differ", x->rows, x->cols, y->rows, y->cols);
    rg_tensor *z = rg_tape__tensor(t, x->rows, 1, x->layout);
    if (!z) return NULL;
    for (size_t i = 0; rg_tape__live(t) && i < x->rows; i++)
        z->data[i] = rg_kernel()->dot(x->cols, x->data + i * x->ld, y->data + i * y->ld);
    rg_tape__count(t, 2.0 * (double)(x->rows * x->cols));
    reduce_node *n = rg_tape__node(t, sizeof *n, z, dot_rows_backward, 2, in);
    if (n) n->x = x, n->y = y;
    return z;
}
