/* op_top.c - the k largest numbers of each row, largest first; of equals the one further left comes first.
 *
 *   y_ir = x[i][c_ir]        dx[i][c_ir] += dy_ir */
#include "autograd/tape.h"

typedef struct {
    rg_node    node;
    rg_tensor *x;
    int32_t   *column; /* (N, k) */
} top_node;

static bool before(rg_real a, rg_real b) { return a > b || (b != b && a == a); } /* a NaN comes last */

/* Insertion into the k best so far: k is small, and most numbers are not among them. */
static void top_rows(void *context, int member, size_t begin, size_t end)
{
    const top_node  *n = context;
    const rg_tensor *x = n->x, *y = n->node.out;
    const size_t     k = y->cols;
    (void)member;
    for (size_t i = begin; i < end; i++) {
        const rg_real *row = x->data + i * x->ld;
        rg_real       *best = y->data + i * y->ld;
        int32_t       *column = n->column + i * k;
        size_t         have = 0;
        for (size_t j = 0; j < x->cols; j++) {
            if (have == k && !before(row[j], best[k - 1])) continue;
            size_t at = have < k ? have++ : k - 1;
            for (; at > 0 && before(row[j], best[at - 1]); at--) best[at] = best[at - 1], column[at] = column[at - 1];
            best[at] = row[j], column[at] = (int32_t)j;
        }
    }
}

static void top_backward(rg_tape *t, rg_node *node)
{
    const top_node  *n = (const top_node *)node;
    const rg_tensor *y = node->out;
    const rg_real   *dy = rg_tape__arrived(t, node->out);
    rg_real         *dx = rg_tape__grad_add(t, n->x);
    for (size_t i = 0; dx && i < y->rows; i++)
        for (size_t r = 0; r < y->cols; r++) dx[i * n->x->ld + (size_t)n->column[i * y->cols + r]] += dy[i * y->ld + r];
}

rg_tensor *rg_top_columns(rg_tape *t, rg_tensor *x, size_t k, const int32_t **column)
{
    if (column) *column = NULL;
    if (!rg_tape__begin(t, "top_columns", 1, &x)) return NULL;
    if (k == 0 || k > x->cols) return rg_tape_fail(t, RG_ESHAPE, "the %zu largest of %zu columns", k, x->cols);
    rg_tensor *y = rg_tape__tensor(t, x->rows, k, x->layout);
    top_node   now = { .node.out = y, .x = x };
    if (!y) return NULL;
    if (rg_tape__live(t) && !(now.column = rg_tape__keep(t, x->rows * k * sizeof *now.column))) return NULL;
    if (rg_tape__live(t)) rg_tape__rows(t, x->rows, x->cols, top_rows, &now);
    rg_tape__will_keep(t, x->rows * k * sizeof *now.column);
    top_node *n = rg_tape__node(t, sizeof *n, y, top_backward, 1, &x);
    if (n) n->x = x, n->column = now.column;
    if (column) *column = now.column;
    return y;
}
