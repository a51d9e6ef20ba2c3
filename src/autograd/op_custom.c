/* op_custom.c - gradients by hand: reversal (Ganin et al. 2016), straight-through (Bengio et al. 2013), and your
 * own. */
#include "autograd/tape.h"

typedef struct {
    rg_node             node;
    rg_tensor          *x;
    double              factor;
    rg_custom_backward *backward;
    void               *context;
} custom_node;

static void factor_backward(rg_tape *t, rg_node *node)
{
    custom_node *n = (custom_node *)node;
    bool         add;
    rg_real     *dx = rg_tape__grad(t, n->x, &add);
    if (dx)
        rg_rows__axpy(n->x->rows, n->x->cols, dx, n->x->ld, (rg_real)n->factor, rg_tape__arrived(t, node->out),
                      node->out->ld, add);
}

/* A copy of `numbers` whose gradient goes to x times factor. */
static rg_tensor *redirect(rg_tape *t, rg_tensor *numbers, rg_tensor *x, double factor)
{
    rg_tensor *y = rg_tape__tensor(t, x->rows, x->cols, x->layout);
    if (!y) return NULL;
    if (rg_tape__live(t)) rg_rows__copy(x->rows, x->cols, y->data, y->ld, numbers->data, numbers->ld);
    custom_node *n = rg_tape__node(t, sizeof *n, y, factor_backward, 1, &x);
    if (n) n->x = x, n->factor = factor;
    return y;
}

rg_tensor *rg_reverse_gradient(rg_tape *t, rg_tensor *x, double lambda)
{
    return rg_tape__begin(t, "reverse_gradient", 1, &x) ? redirect(t, x, x, -lambda) : NULL;
}

rg_tensor *rg_scale_gradient(rg_tape *t, rg_tensor *x, double factor)
{
    return rg_tape__begin(t, "scale_gradient", 1, &x) ? redirect(t, x, x, factor) : NULL;
}

rg_tensor *rg_straight_through(rg_tape *t, rg_tensor *hard, rg_tensor *soft)
{
    rg_tensor *in[] = { hard, soft };
    if (!rg_tape__begin(t, "straight_through", 2, in)) return NULL;
    if (hard->rows != soft->rows || hard->cols != soft->cols)
        return rg_tape_fail(t, RG_ESHAPE, "%zu x %zu and %zu x %zu differ", hard->rows, hard->cols, soft->rows,
                            soft->cols);
    return redirect(t, hard, soft, 1);
}

typedef struct {
    rg_node    node;
    rg_tensor *x, *loss;
} attach_node;

/* forward was  y = x, total = f(y) + loss      so  dx += dy, dloss += 1 */
static void attach_backward(rg_tape *t, rg_node *node)
{
    const attach_node *n = (const attach_node *)node;
    bool               add;
    rg_real           *dx = rg_tape__grad(t, n->x, &add), *loss = rg_tape__grad_add(t, n->loss);
    if (dx) rg_rows__axpy(n->x->rows, n->x->cols, dx, n->x->ld, 1, rg_tape__arrived(t, node->out), node->out->ld, add);
    if (loss) loss[0] += 1;
}

rg_tensor *rg_attach_loss(rg_tape *t, rg_tensor *x, rg_tensor *loss)
{
    rg_tensor *in[] = { x, loss };
    if (!rg_tape__begin(t, "attach_loss", 2, in)) return NULL;
    if (loss->rows != 1 || loss->cols != 1)
        return rg_tape_fail(t, RG_ESHAPE, "a loss of %zu x %zu, not 1 x 1", loss->rows, loss->cols);
    rg_tensor *y = rg_tape__tensor(t, x->rows, x->cols, x->layout);
    if (!y) return NULL;
    if (rg_tape__live(t)) rg_rows__copy(x->rows, x->cols, y->data, y->ld, x->data, x->ld);
    attach_node *n = rg_tape__node(t, sizeof *n, y, attach_backward, 2, in);
    if (n) n->x = x, n->loss = loss;
    return y;
}

static void custom_backward(rg_tape *t, rg_node *node)
{
    custom_node *n = (custom_node *)node;
    rg_real     *dx = rg_tape__grad_add(t, n->x);
    if (dx)
        n->backward(n->context, n->x->rows, n->x->cols, rg_tape__arrived(t, node->out), node->out->ld, dx, n->x->ld);
}

rg_tensor *rg_custom(rg_tape *t, rg_tensor *x, const rg_real *y, rg_custom_backward *backward, void *context)
{
    if (!rg_tape__begin(t, "custom", 1, &x)) return NULL;
    rg_tensor *out = rg_tape__tensor(t, x->rows, x->cols, x->layout);
    if (!out) return NULL;
    if (rg_tape__live(t)) rg_rows__copy(x->rows, x->cols, out->data, out->ld, y, x->cols);
    custom_node *n = rg_tape__node(t, sizeof *n, out, custom_backward, 1, &x);
    if (n) n->x = x, n->backward = backward, n->context = context;
    return out;
}
