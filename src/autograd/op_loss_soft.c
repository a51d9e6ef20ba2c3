/* op_loss_soft.c - losses whose target is a distribution: (1, 1) sums over rows.
 *
 *   soft cross-entropy      L_i = - sum_j q_ij log p_ij = s_i lse(x_i) - sum_j q_ij x_ij           p = softmax(x), s_i = sum_j q_ij
 *                           dx_ij = s_i p_ij - q_ij          dq_ij = - log p_ij
 *   divergence              L_i = KL(a_i || b_i) = sum_j a_ij (log a_ij - log b_ij)                a = softmax(x), b = softmax(y)
 *                           dy_ij = b_ij - a_ij              dx_ij = a_ij (log a_ij - log b_ij - L_i) */
#include "autograd/tape.h"

#include <math.h>

/* Gradients made in the forward pass, for a gradient of 1; rows are tight. */
typedef struct {
    rg_node    node;
    rg_tensor *input[2];
    rg_real   *d[2];
} soft_node;

static void soft_backward(rg_tape *t, rg_node *node)
{
    const soft_node *n = (const soft_node *)node;
    const rg_real    d = *rg_tape__arrived(t, node->out);
    for (int i = 0; i < 2; i++) {
        rg_tensor *x = n->input[i];
        bool       add;
        rg_real   *dx = n->d[i] ? rg_tape__grad(t, x, &add) : NULL;
        if (dx) rg_rows__axpy(x->rows, x->cols, dx, x->ld, d, n->d[i], x->cols, add);
    }
}

typedef struct {
    const rg_tensor *x, *y;
    const rg_real   *weight; /* of each row; NULL: 1 */
    rg_real         *dx, *dy;
    double          *loss;
} soft_job;

static void cross_rows(void *context, int member, size_t begin, size_t end)
{
    const soft_job *s = context;
    const size_t    V = s->x->cols;
    (void)member;
    for (size_t i = begin; i < end; i++) {
        const rg_real *x = s->x->data + i * s->x->ld, *q = s->y->data + i * s->y->ld;
        rg_real       *dx = s->dx + i * V, *dq = s->dy ? s->dy + i * V : NULL;
        const rg_real  lse = rg_kernel()->softmax(V, dx, x), w = s->weight ? s->weight[i] : 1;
        double         mass = 0, along = 0;
        for (size_t j = 0; j < V; j++) mass += (double)q[j], along += q[j] != 0 ? (double)q[j] * (double)x[j] : 0;
        s->loss[i] = (double)w * (mass * (double)lse - along);
        for (size_t j = 0; j < V; j++) dx[j] = w * ((rg_real)mass * dx[j] - q[j]);
        for (size_t j = 0; dq && j < V; j++) dq[j] = w * (lse - x[j]);
    }
}

/* A class without a share, as of a logit of -inf, adds nothing. */
static void divergence_rows(void *context, int member, size_t begin, size_t end)
{
    const soft_job *s = context;
    const size_t    V = s->x->cols;
    (void)member;
    for (size_t i = begin; i < end; i++) {
        const rg_real *x = s->x->data + i * s->x->ld, *y = s->y->data + i * s->y->ld;
        rg_real       *a = s->dx + i * V, *b = s->dy + i * V;
        const rg_real  lse_a = rg_kernel()->softmax(V, a, x), lse_b = rg_kernel()->softmax(V, b, y),
                      w = s->weight ? s->weight[i] : 1;
        double         loss = 0;
        for (size_t j = 0; j < V; j++)
            if (a[j] > 0) loss += (double)a[j] * (((double)x[j] - (double)lse_a) - ((double)y[j] - (double)lse_b));
        s->loss[i] = (double)w * loss;
        for (size_t j = 0; j < V; j++) {
            const rg_real share = a[j];
            a[j] = share > 0 ? w * share * ((x[j] - lse_a) - (y[j] - lse_b) - (rg_real)loss) : 0;
            b[j] = w * (b[j] - share);
        }
    }
}

static rg_tensor *soft_loss(rg_tape *t, rg_tensor *x, rg_tensor *y, const rg_real *weight, rg_team_work *rows,
                            bool both)
{
    const size_t N = x->rows, V = x->cols;
    if (y->rows != N || y->cols != V)
        return rg_tape_fail(t, RG_ESHAPE, "logits are %zu x %zu, their target %zu x %zu", N, V, y->rows, y->cols);
    if (V == 0) return rg_tape_fail(t, RG_ESHAPE, "there are no classes");
    rg_tensor *out = rg_tape__tensor(t, 1, 1, NULL), *dx = rg_tape__tensor(t, N, V, NULL);
    rg_tensor *dy = both || rg_tape__wants(t, y) ? rg_tape__tensor(t, N, V, NULL) : NULL;
    double    *loss = rg_tape__keep(t, N * sizeof *loss);
    if (rg_tape_status(t) != RG_OK) return NULL;
    if (rg_tape__live(t)) {
        soft_job job = { x, y, weight, dx->data, dy ? dy->data : NULL, loss };
        double   sum = 0;
        rg_tape__rows(t, N, V * 12, rows, &job);
        for (size_t i = 0; i < N; i++) sum += loss[i];
        *out->data = (rg_real)sum;
    }
    rg_tape__count(t, 10.0 * (double)(N * V));
    soft_node *n = rg_tape__node(t, sizeof *n, out, soft_backward, 2, (rg_tensor *[]){ x, y });
    if (n) n->input[0] = x, n->input[1] = y, n->d[0] = dx->data, n->d[1] = dy ? dy->data : NULL;
    return rg_tape_status(t) == RG_OK ? out : NULL;
}

rg_tensor *rg_soft_cross_entropy(rg_tape *t, rg_tensor *logits, rg_tensor *target, const rg_real *weight)
{
    rg_tensor *in[] = { logits, target };
    return rg_tape__begin(t, "soft_cross_entropy", 2, in) ? soft_loss(t, logits, target, weight, cross_rows, false)
                                                          : NULL;
}

rg_tensor *rg_divergence(rg_tape *t, rg_tensor *of, rg_tensor *from, const rg_real *weight)
{
    rg_tensor *in[] = { of, from };
    return rg_tape__begin(t, "divergence", 2, in) ? soft_loss(t, of, from, weight, divergence_rows, true) : NULL;
}
