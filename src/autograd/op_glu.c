/* op_glu.c - the gated linear unit (Dauphin et al. 2017): [a | b] -> a sigma(b), in one pass forward and one
 * backward. */
#include "autograd/tape.h"

typedef struct {
    rg_node        node;
    rg_tensor     *x;
    rg_real       *gate; /* sigma(b), rows as wide as y */
    const rg_real *dy;
    rg_real       *dx;
    bool           add;
} glu_node;

static void glu_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    glu_node        *n = context;
    const rg_tensor *x = n->x, *y = n->node.out;
    const size_t     D = y->cols;
    for (size_t i = begin; i < end; i++) {
        const rg_real *a = x->data + i * x->ld;
        rg_real       *g = n->gate + i * D, *out = y->data + i * y->ld;
        rg_kernel()->map(RG_SIGMOID, D, g, a + D);
        for (size_t j = 0; j < D; j++) out[j] = a[j] * g[j];
    }
}

/* y = a g, g = sigma(b):   da = dy g    db = dy a g (1 - g) */
static void glu_rows_backward(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    glu_node        *n = context;
    const rg_tensor *x = n->x, *y = n->node.out;
    const size_t     D = y->cols;
    for (size_t i = begin; i < end; i++) {
        const rg_real *a = x->data + i * x->ld, *g = n->gate + i * D, *dy = n->dy + i * y->ld;
        rg_real       *da = n->dx + i * x->ld, *db = da + D;
        for (size_t j = 0; j < D; j++) {
            const rg_real first = dy[j] * g[j], second = first * a[j] * (1 - g[j]);
            da[j] = n->add ? da[j] + first : first;
            db[j] = n->add ? db[j] + second : second;
        }
    }
}

static void glu_backward(rg_tape *t, rg_node *node)
{
    glu_node *n = (glu_node *)node;
    n->dy = rg_tape__arrived(t, node->out);
    n->dx = rg_tape__grad(t, n->x, &n->add);
    if (n->dx) rg_tape__rows(t, n->x->rows, n->x->cols * 3, glu_rows_backward, n);
}

rg_tensor *rg_glu(rg_tape *t, rg_tensor *x)
{
    if (!rg_tape__begin(t, "glu", 1, &x)) return NULL;
    if (x->cols % 2) return rg_tape_fail(t, RG_ESHAPE, "%zu columns have no halves", x->cols);
    rg_tensor *y = rg_tape__tensor(t, x->rows, x->cols / 2, x->layout);
    if (!y) return NULL;
    rg_real *gate = rg_tape__live(t) ? rg_tape__reals(t, y->rows * y->cols) : NULL;
    if (!gate && rg_tape__live(t)) return NULL;
    rg_tape__will_keep(t, y->rows * y->cols * sizeof *gate);
    glu_node now = { .node.out = y, .x = x, .gate = gate };
    if (rg_tape__live(t)) rg_tape__rows(t, x->rows, x->cols * 3, glu_rows, &now);
    rg_tape__count(t, 5.0 * (double)(y->rows * y->cols));
    glu_node *n = rg_tape__node(t, sizeof *n, y, glu_backward, 1, &x);
    if (n) n->x = x, n->gate = gate;
    return y;
}
