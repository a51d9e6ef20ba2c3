/* op_loss.c - losses: (1, 1) sums.
 *
 *   cross-entropy with label smoothing e (Szegedy et al. 2016), q = (1-e) onehot(y) + e/V on every class:
 *       L_i = lse(x_i) - (1-e) x_i[y_i] - e/V sum_j x_ij         dL_i/dx_ij = softmax(x_i)_j - q_j
 *
 * Over a vocabulary the logits of a few rows at a time are made, turned into their own gradient in place, and spent
 * on the gradients of both factors: three products, one block of logits, whatever the number of rows. */
#include "autograd/params.h"
#include "autograd/tape.h"

#include <math.h>

enum { LOGIT_BYTES = 12 << 20 }; /* of one block of rows */

/* ------------------------------------------------------------------------------------- one row of cross-entropy */

/* Turns the logits x of one row into weight * (softmax - q), returns the loss of the row (times weight). */
static double row_loss(size_t V, rg_real *x, int32_t target, double smoothing, double weight)
{
    const rg_kernels *k = rg_kernel();
    if (target < 0) {
        for (size_t j = 0; j < V; j++) x[j] = 0;
        return 0;
    }
    const double at = (double)x[target], sum = smoothing > 0 ? (double)k->sum(V, x) : 0;
    const double lse = (double)k->softmax(V, x, x);
    const double each = smoothing / (double)V;
    if (each > 0)
        for (size_t j = 0; j < V; j++) x[j] -= (rg_real)each;
    x[target] -= (rg_real)(1 - smoothing);
    if (weight != 1) k->scale(V, x, (rg_real)weight, x);
    return weight * (lse - (1 - smoothing) * at - each * sum);
}

typedef struct {
    size_t         V;
    rg_real       *logits;
    const int32_t *target;
    double        *loss;
    double         smoothing, weight;
    const rg_real *each; /* a weight of each row, beside `weight`; NULL: 1 */
} rows_job;

static void loss_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const rows_job *job = context;
    for (size_t i = begin; i < end; i++)
        job->loss[i] = row_loss(job->V, job->logits + i * job->V, job->target[i], job->smoothing,
                                job->each ? job->weight * (double)job->each[i] : job->weight);
}

static bool targets_fit(rg_tape *t, const int32_t *target, size_t rows, size_t V)
{
    for (size_t i = 0; i < rows; i++) {
        if (target[i] >= -1 && (target[i] < 0 || (size_t)target[i] < V)) continue;
        rg_tape_fail(t, RG_EINVAL, "target %zu is %d; there are %zu classes", i, target[i], V);
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------- logits given as rows */

typedef struct {
    rg_node    node;
    rg_tensor *x;
    rg_real   *dx; /* made in the forward pass, for a gradient of 1 */
} kept_gradient_node;

/* The loss kept dL/dx; scale it by what arrived. */
static void kept_gradient_backward(rg_tape *t, rg_node *node)
{
    kept_gradient_node *n = (kept_gradient_node *)node;
    const rg_real       d = *rg_tape__arrived(t, node->out);
    bool                add;
    rg_real            *dx = rg_tape__grad(t, n->x, &add);
    if (dx) rg_rows__axpy(n->x->rows, n->x->cols, dx, n->x->ld, d, n->dx, n->x->cols, add);
}

static void keep_gradient(rg_tape *t, rg_tensor *out, rg_tensor *x, rg_real *dx)
{
    kept_gradient_node *n = rg_tape__node(t, sizeof *n, out, kept_gradient_backward, 1, &x);
    if (n) n->x = x, n->dx = dx;
}

/* Losses of all rows and, in `work`, their gradients. */
static bool cross_entropy(rg_tape *t, rg_tensor *logits, const int32_t *target, double smoothing, const rg_real *weight,
                          rg_tensor *work, double *loss)
{
    const size_t N = logits->rows, V = logits->cols;
    if (!work || !loss) return false;
    rg_tape__count(t, 6.0 * (double)(N * V));
    if (!rg_tape__live(t)) return true;
    rg_rows__copy(N, V, work->data, V, logits->data, logits->ld);
    rows_job job = { V, work->data, target, loss, smoothing, 1, weight };
    rg_tape__rows(t, N, V * 8, loss_rows, &job);
    return true;
}

rg_tensor *rg_cross_entropy(rg_tape *t, rg_tensor *logits, const int32_t *target, double smoothing)
{
    if (!rg_tape__begin(t, "cross_entropy", 1, &logits) || !targets_fit(t, target, logits->rows, logits->cols))
        return NULL;
    const size_t N = logits->rows, V = logits->cols;
    rg_tensor   *out = rg_tape__tensor(t, 1, 1, NULL);
    rg_tensor   *work = rg_tape__tensor(t, N, V, NULL);
    double      *loss = rg_tape__keep(t, N * sizeof *loss);
    if (!out || !cross_entropy(t, logits, target, smoothing, NULL, work, loss)) return NULL;
    double sum = 0;
    for (size_t i = 0; rg_tape__live(t) && i < N; i++) sum += loss[i];
    if (rg_tape__live(t)) *out->data = (rg_real)sum;
    keep_gradient(t, out, logits, work->data);
    return out;
}

/* What arrived at each row's loss scales that row's kept gradient. */
static void kept_rows_backward(rg_tape *t, rg_node *node)
{
    kept_gradient_node *n = (kept_gradient_node *)node;
    const rg_real      *d = rg_tape__arrived(t, node->out);
    const size_t        V = n->x->cols;
    bool                add;
    rg_real            *dx = rg_tape__grad(t, n->x, &add);
    for (size_t i = 0; dx && i < n->x->rows; i++)
        rg_rows__axpy(1, V, dx + i * n->x->ld, V, d[i * node->out->ld], n->dx + i * V, V, add);
}

rg_tensor *rg_cross_entropy_rows(rg_tape *t, rg_tensor *logits, const int32_t *target, double smoothing,
                                 const rg_real *weight)
{
    if (!rg_tape__begin(t, "cross_entropy_rows", 1, &logits) || !targets_fit(t, target, logits->rows, logits->cols))
        return NULL;
    const size_t N = logits->rows, V = logits->cols;
    rg_tensor   *out = rg_tape__tensor(t, N, 1, logits->layout);
    rg_tensor   *work = rg_tape__tensor(t, N, V, NULL);
    double      *loss = rg_tape__keep(t, N * sizeof *loss);
    if (!out || !cross_entropy(t, logits, target, smoothing, weight, work, loss)) return NULL;
    for (size_t i = 0; rg_tape__live(t) && i < N; i++) out->data[i] = (rg_real)loss[i];
    kept_gradient_node *n = rg_tape__node(t, sizeof *n, out, kept_rows_backward, 1, &logits);
    if (n) n->x = logits, n->dx = work->data;
    return out;
}

/* --------------------------------------------------------------------------------- fused over a vocabulary product */

typedef struct {
    rg_node    node;
    rg_tensor *x;
    rg_real   *dx;
} over_node;

static void over_backward(rg_tape *t, rg_node *node)
{
    over_node    *n = (over_node *)node;
    const rg_real d = *rg_tape__arrived(t, node->out);
    bool          add;
    if (d != 1) {
        rg_tape_fail(t, RG_EINVAL, "the gradient of a fused cross-entropy is %g, not 1: give the factor as its weight",
                     (double)d);
        return;
    }
    rg_real *dx = n->dx ? rg_tape__grad(t, n->x, &add) : NULL;
    if (dx) rg_rows__axpy(n->x->rows, n->x->cols, dx, n->x->ld, 1, n->dx, n->x->cols, add);
}

typedef struct {
    rg_real *dx;         /* (rows, D) tight; NULL: not wanted    */
    rg_real *dw, *db;    /* of the table and the bias, or NULL   */
    bool     add_w, add_b;
} over_gradients;

/* Rows from .. from + rows: logits, their gradient in place, then both factors' gradients. */
static void over_block(rg_tape *t, const rg_tensor *x, const rg_tensor *w, const rg_tensor *b, size_t from,
                       rows_job *job, size_t rows, over_gradients *g)
{
    const size_t    V = w->rows, D = w->cols;
    const rg_real  *xs = x->data + from * x->ld;
    const rg_param *p = w->param;
    rg_team        *team = rg_tape_team(t);
    if (p && rg_pack_there(&p->forward) && p->kind == RG_TIED)
        rg_tape__check(t, rg_product_packed(team, rows, xs, x->ld, &p->forward, job->logits, V, false,
                                            b ? b->data : NULL, RG_IDENTITY));
    else {
        rg_tape__check(t, rg_product(team, RG_NT, rows, V, D, xs, x->ld, w->data, w->ld, job->logits, V, false));
        for (size_t i = 0; b && i < rows; i++) rg_kernel()->axpy(V, job->logits + i * V, 1, b->data);
    }
    rg_tape__rows(t, rows, V * 8, loss_rows, job);
    if (g->dx && p && p->transposed.data && p->kind == RG_TIED)
        rg_tape__check(t, rg_product_packed(team, rows, job->logits, V, &p->transposed, g->dx + from * D, D, false,
                                            NULL, RG_IDENTITY));
    else if (g->dx)
        rg_tape__check(t,
                       rg_product(team, RG_NN, rows, D, V, job->logits, V, w->data, w->ld, g->dx + from * D, D, false));
    if (g->dw)
        rg_tape__check(t, rg_product(team, RG_TN, V, D, rows, job->logits, V, xs, x->ld, g->dw, w->ld, g->add_w));
    if (g->db) rg_tape__column_sums(t, rows, V, g->db, job->logits, V, g->add_b);
    g->add_w = g->add_b = true;
}

/* Returns the sum; `each` (may be NULL) gets the loss of every row. */
static double over_blocks(rg_tape *t, const rg_tensor *x, const rg_tensor *w, const rg_tensor *b, rows_job *job,
                          size_t block, over_gradients *g, rg_real *each)
{
    const int32_t *target = job->target;
    const rg_real *weight = job->each;
    double         sum = 0;
    for (size_t from = 0; from < x->rows; from += block) {
        const size_t rows = x->rows - from < block ? x->rows - from : block;
        job->target = target + from;
        job->each = weight ? weight + from : NULL;
        over_block(t, x, w, b, from, job, rows, g);
        for (size_t i = 0; i < rows; i++) sum += job->loss[i];
        for (size_t i = 0; each && i < rows; i++) each[from + i] = (rg_real)job->loss[i];
    }
    return sum;
}

static rg_tensor *cross_entropy_over(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, const int32_t *target,
                                     double smoothing, double weight, const rg_real *row_weight, rg_tensor **losses)
{
    rg_tensor *in[] = { x, w, b };
    if (!rg_tape__begin_packed(t, "cross_entropy_over", 2, in) || !targets_fit(t, target, x->rows, w->rows))
        return NULL;
    if (x->cols != w->cols) return rg_tape_fail(t, RG_ESHAPE, "rows are %zu wide, the table %zu", x->cols, w->cols);
    if (b && (b->rows != 1 || b->cols != w->rows))
        return rg_tape_fail(t, RG_ESHAPE, "the bias is %zu x %zu, it should be 1 x %zu", b->rows, b->cols, w->rows);
    const bool by_pack = w->param && w->param->kind == RG_TIED && rg_pack_there(&w->param->forward);
    if (!by_pack && !rg_tape__there(t, w)) return NULL;
    const size_t V = w->rows, rows_that_fit = LOGIT_BYTES / (V * sizeof(rg_real));
    const size_t block = rows_that_fit < 24        ? 24
                         : rows_that_fit > x->rows ? (x->rows ? x->rows : 1)
                                                   : rows_that_fit / 24 * 24;
    rg_tensor   *out = rg_tape__tensor(t, 1, 1, NULL);
    if (!out) return NULL;
    rg_tape__count(t, 2.0 * (double)x->rows * (double)V * (double)x->cols);
    over_node     *n = rg_tape__node(t, sizeof *n, out, over_backward, 3, in);
    over_gradients g = { 0 };
    if (n) {
        n->x = x;
        if (rg_tape__wants(t, x)) n->dx = g.dx = rg_tape__live(t) ? rg_tape__reals(t, x->rows * x->cols) : NULL;
        if (rg_tape__live(t)) g.dw = rg_tape__grad(t, w, &g.add_w), g.db = rg_tape__grad(t, b, &g.add_b);
    }
    rg_tape__will_need(t, block * V * sizeof(rg_real) + x->rows * x->cols * sizeof(rg_real));
    rg_tensor *each = losses || rg_tape_watched(t, "losses") ? rg_tape__tensor(t, x->rows, 1, NULL) : NULL;
    if (losses && !(*losses = each)) return NULL;
    if (!rg_tape__live(t)) return out;
    rg_arena_point scratch = rg_tape__scratch(t);
    rows_job       job = { .V = V, .target = target, .smoothing = smoothing, .weight = weight, .each = row_weight };
    job.logits = rg_tape__reals(t, block * V);
    job.loss = rg_tape__keep(t, block * sizeof *job.loss);
    if (job.logits && job.loss)
        *out->data = (rg_real)over_blocks(t, x, w, b, &job, block, &g, each ? each->data : NULL);
    rg_tape__release(t, scratch);
    if (job.logits && job.loss) rg_tape_watch(t, "losses", each, NULL);
    return rg_tape_status(t) == RG_OK ? out : NULL;
}

rg_tensor *rg_cross_entropy_over(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, const int32_t *target,
                                 double smoothing, double weight)
{
    return cross_entropy_over(t, x, w, b, target, smoothing, weight, NULL, NULL);
}

rg_tensor *rg_cross_entropy_over_rows(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, const int32_t *target,
                                      double smoothing, const rg_real *weight, rg_tensor **each)
{
    if (each) *each = NULL;
    return cross_entropy_over(t, x, w, b, target, smoothing, 1, weight, each);
}

/* ------------------------------------------------------------------------------------------------------- the others */

/* L = sum log(1 + exp(x)) - y x        dx = sigmoid(x) - y */
rg_tensor *rg_binary_cross_entropy(rg_tape *t, rg_tensor *x, const rg_real *target)
{
    if (!rg_tape__begin(t, "binary_cross_entropy", 1, &x)) return NULL;
    rg_tensor *out = rg_tape__tensor(t, 1, 1, NULL), *dx = rg_tape__tensor(t, x->rows, x->cols, NULL);
    if (!out || !dx) return NULL;
    double sum = 0;
    for (size_t i = 0; rg_tape__live(t) && i < x->rows * x->cols; i++) {
        const double v = (double)x->data[i / x->cols * x->ld + i % x->cols], y = (double)target[i], e = exp(-fabs(v));
        sum += (v > 0 ? v : 0) + log1p(e) - y * v;
        dx->data[i] = (rg_real)((v > 0 ? 1 / (1 + e) : e / (1 + e)) - y);
    }
    if (rg_tape__live(t)) *out->data = (rg_real)sum;
    keep_gradient(t, out, x, dx->data);
    return out;
}

/* L = sum (x - y)^2        dx = 2 (x - y) */
rg_tensor *rg_squared_error(rg_tape *t, rg_tensor *x, const rg_real *target)
{
    if (!rg_tape__begin(t, "squared_error", 1, &x)) return NULL;
    rg_tensor *out = rg_tape__tensor(t, 1, 1, NULL), *dx = rg_tape__tensor(t, x->rows, x->cols, NULL);
    if (!out || !dx) return NULL;
    double sum = 0;
    for (size_t i = 0; rg_tape__live(t) && i < x->rows * x->cols; i++) {
        const rg_real d = x->data[i / x->cols * x->ld + i % x->cols] - target[i];
        sum += (double)d * (double)d;
        dx->data[i] = 2 * d;
    }
    if (rg_tape__live(t)) *out->data = (rg_real)sum;
    keep_gradient(t, out, x, dx->data);
    return out;
}
