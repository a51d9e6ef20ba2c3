/* experts.c - a mixture of experts: noisy choice of the top k, one product per expert on its own rows, losses that
 * balance them. */
#include "regard/experts.h"

#include "autograd/tape.h"
#include "regard/spatial.h"

#include <math.h>
#include <string.h>

rg_status rg_experts_init(rg_experts *out, rg_params *p, const rg_experts_config *c)
{
    if (c->experts < 1 || c->experts > RG_EXPERTS_MAX)
        return rg_fail(RG_EINVAL, "--experts %zu: there may be 1 .. %d", c->experts, RG_EXPERTS_MAX);
    if (c->top < 1 || c->top > c->experts)
        return rg_fail(RG_EINVAL, "--top-experts %zu of --experts %zu: each row uses 1 .. %zu of them", c->top,
                       c->experts, c->experts);
    *out = (rg_experts){ .config = *c };
    out->gate = rg_params_add(p, "gate", RG_WEIGHT, c->width, c->experts, RG_INIT_ZERO, 0);
    out->noise = rg_params_add(p, "noise", RG_WEIGHT, c->width, c->experts, RG_INIT_ZERO, 0);
    for (size_t i = 0; i < c->experts; i++) {
        rg_params_push(p, "%zu", i);
        rg_feed_forward_init(&out->expert[i], p, c->width, c->hidden, c->activation);
        rg_params_pop(p);
    }
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------------- choosing */

typedef struct {
    rg_tensor     *clean, *deviation, *noisy; /* (N, E); deviation NULL: no noise */
    rg_tensor     *weight;                    /* (N, k) softmax of the chosen     */
    const int32_t *column;                    /* (N, k) which                     */
} choice;

/* On a tape without numbers rows are spread evenly: what the cost is counted by. */
static const int32_t *spread(rg_tape *t, size_t N, size_t k, size_t experts)
{
    int32_t *column = rg_tape_memory(t, (N * k + 1) * sizeof *column);
    for (size_t i = 0; column && i < N * k; i++) column[i] = (int32_t)(i % experts);
    return column;
}

static choice choose(rg_tape *t, const rg_experts *e, rg_tensor *x)
{
    const size_t     N = x ? rg_tensor_rows(x) : 0, E = e->config.experts;
    const rg_layout *layout = x ? rg_tensor_layout(x) : NULL;
    choice           c = { .clean = rg_matmul(t, x, rg_use(t, e->gate)) };
    c.noisy = c.clean;
    if (rg_tape_learning(t)) {
        rg_tensor *draws = rg_normal_around(t, rg_zeros(t, N, E, NULL), 1, layout ? layout->first : 0);
        c.deviation = rg_map(t, rg_matmul(t, x, rg_use(t, e->noise)), RG_SOFTPLUS);
        c.noisy = rg_add(t, c.clean, rg_mul(t, c.deviation, draws));
    }
    c.weight = rg_softmax(t, rg_top_columns(t, c.noisy, e->config.top, &c.column));
    if (c.weight && !rg_tape__live(t)) c.column = spread(t, N, e->config.top, E);
    return c;
}

/* ---------------------------------------------------------------------------------------------------------- balance */

typedef struct {
    const rg_tensor *z;
} normal_context;

/* d Phi(z) = exp(-z^2 / 2) / sqrt(2 pi) */
static void phi_backward(void *context, size_t rows, size_t cols, const rg_real *dy, size_t lddy, rg_real *dx,
                         size_t lddx)
{
    const rg_tensor *z = ((const normal_context *)context)->z;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            const double v = (double)rg_tensor_at(z, i, j);
            dx[i * lddx + j] += dy[i * lddy + j] * (rg_real)(exp(-0.5 * v * v) * 0.39894228040143268);
        }
}

static rg_tensor *normal_cdf(rg_tape *t, rg_tensor *z)
{
    if (!z) return NULL;
    const size_t    N = rg_tensor_rows(z), E = rg_tensor_cols(z);
    rg_real        *y = rg_tape_memory(t, (N * E + 1) * sizeof *y);
    normal_context *context = rg_tape_memory(t, sizeof *context);
    if (!y || !context) return NULL;
    context->z = z;
    for (size_t i = 0; rg_tape__live(t) && i < N * E; i++)
        y[i] = (rg_real)(0.5 * erfc(-(double)rg_tensor_at(z, i / E, i % E) * 0.70710678118654752));
    return rg_custom(t, z, y, phi_backward, context);
}

/* E sum v^2 / (sum v)^2 - 1 of a row v of positive numbers: their squared coefficient of variation. */
static rg_tensor *variation(rg_tape *t, rg_tensor *v)
{
    rg_tensor *squares = rg_map(t, rg_dot_rows(t, v, v), RG_LOG), *sum = rg_map(t, rg_sum_columns(t, v), RG_LOG);
    rg_tensor *ratio = rg_map(t, rg_add(t, squares, rg_scale(t, sum, -2)), RG_EXP);
    return ratio ? rg_shift(t, rg_scale(t, ratio, (double)rg_tensor_cols(v)), -1) : NULL;
}

/* (N, E): what each H must exceed: the k-th largest of the others, which is number k + 1 of all for those chosen,
 * else number k. */
static rg_tensor *thresholds(rg_tape *t, const rg_experts *e, const choice *c)
{
    const size_t   N = rg_tensor_rows(c->noisy), E = e->config.experts, k = e->config.top;
    const int32_t *column;
    rg_tensor     *largest = rg_top_columns(t, c->noisy, k + 1, &column);
    int32_t       *from = rg_tape_memory(t, (N * E + 1) * sizeof *from);
    if (!largest || !from) return NULL;
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < E; j++) from[i * E + j] = (int32_t)(i * (k + 1) + k - 1);
        for (size_t j = 0; rg_tape__live(t) && j < k; j++)
            from[i * E + (size_t)column[i * (k + 1) + j]] = (int32_t)(i * (k + 1) + k);
    }
    return rg_join_rows(t, rg_gather(t, rg_split_rows(t, largest, k + 1), from, N * E, NULL), E);
}

static rg_tensor *load_loss(rg_tape *t, const rg_experts *e, const choice *c)
{
    rg_tensor *inverse = rg_map(t, rg_scale(t, rg_map(t, c->deviation, RG_LOG), -1), RG_EXP);
    rg_tensor *z = rg_mul(t, rg_sub(t, c->clean, thresholds(t, e, c)), inverse);
    return variation(t, rg_sum_rows(t, normal_cdf(t, z)));
}

/* importance: (1, E) sums of weights. */
static rg_tensor *balance_of(rg_tape *t, const rg_experts *e, const choice *c, rg_tensor *importance)
{
    rg_tensor *loss = variation(t, importance);
    return e->config.top < e->config.experts ? rg_add(t, loss, load_loss(t, e, c)) : loss; /* all are loaded alike */
}

/* ----------------------------------------------------------------------------------------------------------- mixing */

/* The choices, row by row and k to a row, that fell on expert i. */
static size_t choices_of(int32_t *out, const int32_t *column, size_t count, size_t i)
{
    size_t n = 0;
    for (size_t j = 0; j < count; j++)
        if (column[j] == (int32_t)i) out[n++] = (int32_t)j;
    return n;
}

static void show(rg_tape *t, const choice *c, const size_t *chosen, size_t E, size_t N, size_t k)
{
    rg_real *share = rg_tape_watched(t, "load") ? rg_tape_memory(t, E * sizeof *share) : NULL;
    for (size_t i = 0; share && i < E; i++) share[i] = (rg_real)((double)chosen[i] / (double)(N * k));
    if (share) rg_tape_watch(t, "load", rg_borrow(t, share, 1, E, E), NULL);
    rg_real *first = rg_tape_watched(t, "chosen") ? rg_tape_memory(t, (N + 1) * sizeof *first) : NULL;
    for (size_t i = 0; first && i < N; i++) first[i] = (rg_real)c->column[i * k];
    if (first) rg_tape_watch(t, "chosen", rg_borrow(t, first, N, 1, 1), NULL);
}

rg_tensor *rg_experts_mix(rg_tape *t, const rg_experts *e, rg_tensor *x, rg_tensor **balance)
{
    const size_t E = e->config.experts, k = e->config.top, N = x ? rg_tensor_rows(x) : 0, D = e->config.width;
    const choice c = choose(t, e, x);
    rg_tensor   *weight = c.weight ? rg_split_rows(t, c.weight, k) : NULL; /* (N k, 1) */
    rg_tensor   *made = rg_rows_new(t, N * k, D, NULL);
    int32_t *slot = rg_tape_memory(t, (N * k + 1) * sizeof *slot), *row = rg_tape_memory(t, (N * k + 1) * sizeof *row);
    rg_tensor   *used[RG_EXPERTS_MAX];
    size_t       chosen[RG_EXPERTS_MAX];
    if (balance) *balance = NULL;
    if (!weight || !made || !slot || !row || !c.column) return NULL;
    for (size_t i = 0; i < E; i++) {
        const size_t n = chosen[i] = choices_of(slot, c.column, N * k, i);
        used[i] = rg_zeros(t, 1, 1, NULL);
        if (!n) continue; /* nobody's choice: nothing is computed and nothing learned */
        for (size_t j = 0; j < n; j++) row[j] = slot[j] / (int32_t)k;
        rg_tensor *w = rg_gather(t, weight, slot, n, NULL);
        rg_tensor *y = rg_feed_forward_run(t, &e->expert[i], rg_gather(t, x, row, n, NULL), e->config.dropout);
        rg_rows_put(t, made, slot, rg_mul(t, y, w));
        used[i] = rg_sum(t, w);
    }
    show(t, &c, chosen, E, N, k);
    for (size_t i = 0; i < E; i++)
        if (!used[i]) return NULL;
    if (balance && rg_tape_learning(t)) *balance = balance_of(t, e, &c, rg_concat_columns(t, E, used));
    rg_tensor *wide = rg_join_rows(t, made, k), *sum = wide ? rg_columns(t, wide, 0, D) : NULL;
    for (size_t j = 1; j < k; j++) sum = rg_add(t, sum, rg_columns(t, wide, j * D, D));
    return sum;
}

/* --------------------------------------------------------------------------------------------------------- attached */

typedef struct {
    rg_node    node;
    rg_tensor *y, *loss;
    double     weight;
} attach_node;

static void attach_backward(rg_tape *t, rg_node *node)
{
    attach_node *n = (attach_node *)node;
    bool         add;
    rg_real     *dy = rg_tape__grad(t, n->y, &add);
    if (dy) rg_rows__axpy(n->y->rows, n->y->cols, dy, n->y->ld, 1, rg_tape__arrived(t, node->out), node->out->ld, add);
    rg_real *loss = rg_tape__grad_add(t, n->loss);
    if (loss) loss[0] += (rg_real)n->weight;
}

/* y, and `weight` as the gradient of a loss that nobody else sees. */
static rg_tensor *attach(rg_tape *t, rg_tensor *y, rg_tensor *loss, double weight, const rg_layout *layout)
{
    rg_tensor *in[] = { y, loss };
    if (!rg_tape__begin(t, "balance", 2, in)) return NULL;
    rg_tensor *out = rg_tape__tensor(t, y->rows, y->cols, layout);
    if (!out) return NULL;
    if (rg_tape__live(t)) rg_rows__copy(y->rows, y->cols, out->data, out->ld, y->data, y->ld);
    attach_node *n = rg_tape__node(t, sizeof *n, out, attach_backward, 2, in);
    if (n) n->y = y, n->loss = loss, n->weight = weight;
    return out;
}

rg_tensor *rg_experts_run(rg_tape *t, const rg_experts *e, rg_tensor *x)
{
    rg_tensor *balance = NULL, *y = rg_experts_mix(t, e, x, e->config.balance > 0 ? &balance : NULL);
    if (!balance) return y;
    return attach(t, y, balance, e->config.balance * (double)rg_tensor_rows(x), rg_tensor_layout(x));
}
