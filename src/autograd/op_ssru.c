/* op_ssru.c - the recurrence of the simpler simple recurrent unit (Kim et al. 2019, From Research to Production and
 * Back): a mean of what came before whose gate depends on the input alone, so that all products stand outside of it.
 *
 *     c_t = f_t c_{t-1} + (1 - f_t) x_t          number by number, over the rows of each group */
#include <string.h>

#include "autograd/tape.h"

typedef struct {
    rg_node        node;
    rg_tensor     *f, *x, *from; /* from: NULL, zeros */
    rg_layout      each;         /* the groups          */
    const rg_real *dy;
    rg_real       *df, *dx, *later; /* later: f_{t+1} dc_{t+1} of each group */
    bool           add_f, add_x;
} ssru_node;

static const rg_real *row_before(const ssru_node *n, size_t g, int32_t i)
{
    const rg_tensor *y = n->node.out;
    if (i > n->each.start[g]) return y->data + (size_t)(i - 1) * y->ld;
    return n->from ? n->from->data + g * n->from->ld : NULL;
}

static void ssru_groups(void *context, int member, size_t begin, size_t end)
{
    const ssru_node *n = context;
    const rg_tensor *y = n->node.out;
    (void)member;
    if (!y->data) return; /* no rows */
    for (size_t g = begin; g < end; g++)
        for (int32_t i = n->each.start[g]; i < n->each.start[g + 1]; i++) {
            const rg_real *f = n->f->data + (size_t)i * n->f->ld, *x = n->x->data + (size_t)i * n->x->ld,
                          *before = row_before(n, g, i);
            rg_real *c = y->data + (size_t)i * y->ld;
            for (size_t j = 0; j < y->cols; j++) c[j] = x[j] + f[j] * ((before ? before[j] : 0) - x[j]);
        }
}

/* forward was  c_t = x_t + f_t (c_{t-1} - x_t)
 * so           dc_t = dy_t + f_{t+1} dc_{t+1},   df_t += dc_t (c_{t-1} - x_t),   dx_t += dc_t (1 - f_t) */
static void ssru_groups_backward(void *context, int member, size_t begin, size_t end)
{
    const ssru_node *n = context;
    const rg_tensor *y = n->node.out;
    const size_t     D = y->cols;
    (void)member;
    for (size_t g = begin; g < end; g++) {
        rg_real *later = n->later + g * D;
        memset(later, 0, D * sizeof *later);
        for (int32_t i = n->each.start[g + 1]; i-- > n->each.start[g];) {
            const rg_real *f = n->f->data + (size_t)i * n->f->ld, *x = n->x->data + (size_t)i * n->x->ld,
                          *before = row_before(n, g, i), *dy = n->dy + (size_t)i * y->ld;
            rg_real *df = n->df ? n->df + (size_t)i * n->f->ld : NULL, *dx = n->dx ? n->dx + (size_t)i * n->x->ld : NULL;
            for (size_t j = 0; j < D; j++) {
                const rg_real dc = dy[j] + later[j], gate = dc * ((before ? before[j] : 0) - x[j]), in = dc * (1 - f[j]);
                if (df) df[j] = n->add_f ? df[j] + gate : gate;
                if (dx) dx[j] = n->add_x ? dx[j] + in : in;
                later[j] = f[j] * dc;
            }
        }
    }
}

static void ssru_backward(rg_tape *t, rg_node *node)
{
    ssru_node *n = (ssru_node *)node;
    n->dy = rg_tape__arrived(t, node->out);
    n->df = rg_tape__grad(t, n->f, &n->add_f);
    n->dx = rg_tape__grad(t, n->x, &n->add_x);
    rg_arena_point scratch = rg_tape__scratch(t);
    if ((n->df || n->dx) && (n->later = rg_tape__reals(t, n->each.groups * node->out->cols)))
        rg_tape__rows(t, n->each.groups, node->out->rows / (n->each.groups + 1) * node->out->cols * 6 + 1,
                      ssru_groups_backward, n);
    rg_tape__release(t, scratch);
}

/* The layout's groups; without one each row is a group of its own, where a state comes in, or all are one. */
static bool groups_of(rg_tape *t, rg_layout *out, const rg_tensor *x, const rg_tensor *from)
{
    if (x->layout && !from) return *out = *x->layout, true;
    const size_t groups = from ? x->rows : 1, each = from ? 1 : x->rows;
    int32_t     *start = rg_tape__keep(t, (groups + 1) * sizeof *start);
    for (size_t g = 0; start && g <= groups; g++) start[g] = (int32_t)(g * each);
    *out = (rg_layout){ .groups = groups, .start = start };
    return start != NULL;
}

rg_tensor *rg_ssru(rg_tape *t, rg_tensor *f, rg_tensor *x, rg_tensor *from)
{
    rg_tensor *in[] = { f, x };
    if (!rg_tape__begin(t, "ssru", 2, in)) return NULL;
    if (f->rows != x->rows || f->cols != x->cols || (from && (from->rows != x->rows || from->cols != x->cols)))
        return rg_tape_fail(t, RG_ESHAPE, "gates %zu x %zu, inputs %zu x %zu, states %zu x %zu: they should be alike",
                            f->rows, f->cols, x->rows, x->cols, from ? from->rows : x->rows, from ? from->cols : x->cols);
    rg_tensor *y = rg_tape__tensor(t, x->rows, x->cols, x->layout);
    ssru_node  now = { .node.out = y, .f = f, .x = x, .from = from };
    if (!y || !groups_of(t, &now.each, x, from)) return NULL;
    rg_tape__count(t, 3.0 * (double)x->rows * (double)x->cols);
    rg_tape__will_need(t, now.each.groups * x->cols * sizeof(rg_real));
    if (rg_tape__live(t))
        rg_tape__rows(t, now.each.groups, x->rows / (now.each.groups + 1) * x->cols * 3 + 1, ssru_groups, &now);
    ssru_node *n = rg_tape__node(t, sizeof *n, y, ssru_backward, 2, in);
    if (n) n->f = f, n->x = x, n->from = from, n->each = now.each;
    return y;
}
