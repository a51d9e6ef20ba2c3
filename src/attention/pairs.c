/* pairs.c - scores of open pairs: dot products, sums, and w . f(x + y), each over any reach. */
#include "attention/pairs.h"
#include "attention/fused_plan.h"
#include "autograd/tape.h"

#include <string.h>

typedef struct {
    rg_node         node;
    rg_tensor      *q, *k, *v;
    const rg_reach *reach;
    size_t          heads, width, k_step; /* k_step: columns from one head of k to the next; 0 when shared */
    rg_real         scale;
    rg_activation   f;
    rg_team        *team;
    size_t          parts; /* additive: pieces of work of backward */
    const rg_fused_plan *plan;
    const rg_real  *de;   /* while backward runs */
    rg_real        *dq, *dk, *dv;
} pairs_node;

enum { MOST_PARTS = 64 };

static bool rows_fit(rg_tape *t, const rg_tensor *q, const rg_tensor *k, const rg_reach *reach)
{
    if (!reach) {
        rg_tape_fail(t, RG_EINVAL, "there is no reach");
        return false;
    }
    if (q->rows == reach->Nq && k->rows == reach->Nk) return true;
    rg_tape_fail(t, RG_ESHAPE, "the reach joins %zu queries and %zu keys; there are %zu and %zu rows", reach->Nq,
                 reach->Nk, q->rows, k->rows);
    return false;
}

/* ------------------------------------------------------------------------------------------ e = scale * q . k */

static void dot_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const pairs_node *n = context;
    const rg_reach   *r = n->reach;
    for (size_t i = begin; i < end; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++) {
            const rg_real *q = n->q->data + i * n->q->ld, *k = n->k->data + rg_reach__key(r, i, p) * n->k->ld;
            rg_real       *e = n->node.out->data + p * n->heads;
            rg_kernel()->heads_dot(n->heads, n->width, e, 1, n->scale, q, n->width, k, n->k_step);
        }
}

/* forward was  e = s q . k      so  dq += s de k     dk += s de q
 *
 * Queries by query. Keys by key, from the transpose, when the reach has one; else by heads: nothing is written by
 * two. */
static void scaled_axpy(const pairs_node *n, size_t p, size_t h, size_t heads, rg_real *y, size_t y_step,
                        const rg_real *x, size_t x_step)
{
    for (size_t end = h + heads; h < end; h++, y += y_step, x += x_step)
        rg_kernel()->axpy(n->width, y, n->scale * n->de[p * n->heads + h], x);
}

static void dot_queries(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const pairs_node *n = context;
    const rg_reach   *r = n->reach;
    for (size_t i = begin; i < end; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++)
            scaled_axpy(n, p, 0, n->heads, n->dq + i * n->q->ld, n->width,
                        n->k->data + rg_reach__key(r, i, p) * n->k->ld, n->k_step);
}

static void dot_keys(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const pairs_node *n = context;
    const rg_reach   *r = n->reach;
    for (size_t j = begin; j < end; j++)
        for (size_t at = r->back[j]; at < r->back[j + 1]; at++) {
            const size_t p = r->pair[at];
            scaled_axpy(n, p, 0, n->heads, n->dk + j * n->k->ld, n->k_step, n->q->data + (size_t)r->query[p] * n->q->ld,
                        n->width);
        }
}

static void dot_heads(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const pairs_node *n = context;
    const rg_reach   *r = n->reach;
    for (size_t i = 0; i < r->Nq; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++)
            scaled_axpy(n, p, begin, end - begin, n->dk + rg_reach__key(r, i, p) * n->k->ld + begin * n->k_step,
                        n->k_step, n->q->data + i * n->q->ld + begin * n->width, n->width);
}

static void dot_backward(rg_tape *t, rg_node *node)
{
    pairs_node     *n = (pairs_node *)node;
    const rg_reach *r = n->reach;
    n->de = rg_tape__arrived(t, node->out);
    n->dq = rg_tape__grad_add(t, n->q);
    n->dk = rg_tape__grad_add(t, n->k);
    if (n->dq) rg_tape__rows(t, r->Nq, r->P / (r->Nq + 1) * n->q->cols, dot_queries, n);
    if (n->dk && r->back) rg_tape__rows(t, r->Nk, r->P / (r->Nk + 1) * n->q->cols, dot_keys, n);
    else if (n->dk && n->k_step) rg_tape__rows(t, n->heads, r->P * n->width, dot_heads, n);
    else if (n->dk) dot_heads(n, 0, 0, n->heads); /* all heads write the same keys */
}

rg_tensor *rg_pairs_dot(rg_tape *t, rg_tensor *q, rg_tensor *k, const rg_reach *reach, size_t heads, double scale)
{
    rg_tensor *in[] = { q, k };
    if (!rg_tape__begin(t, "scores", 2, in) || !rows_fit(t, q, k, reach)) return NULL;
    const bool shared = heads > 1 && k->cols * heads == q->cols;
    if (heads == 0 || q->cols % heads || (!shared && k->cols != q->cols))
        return rg_tape_fail(t, RG_ESHAPE, "keys are %zu wide, queries %zu, heads %zu", k->cols, q->cols, heads);
    rg_tensor *e = rg_tape__tensor(t, reach->P, heads, NULL);
    if (!e) return NULL;
    pairs_node now = {
        .node.out = e, .q = q, .k = k, .reach = reach, .heads = heads, .width = q->cols / heads, .scale = (rg_real)scale
    };
    now.k_step = shared ? 0 : now.width;
    if (rg_tape__live(t)) rg_tape__rows(t, reach->Nq, reach->P / (reach->Nq + 1) * q->cols, dot_rows, &now);
    rg_tape__count(t, 2.0 * (double)reach->P * (double)q->cols);
    pairs_node *n = rg_tape__node(t, sizeof *n, e, dot_backward, 2, in);
    if (n) now.node = n->node, *n = now;
    return e;
}

/* ------------------------------------------------------------------------------------------------- e = u + z */

static void sum_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const pairs_node *n = context;
    const rg_reach   *r = n->reach;
    const size_t      H = n->heads;
    for (size_t i = begin; i < end; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++)
            rg_kernel()->add(H, n->node.out->data + p * H, n->q->data + i * n->q->ld,
                             n->k->data + rg_reach__key(r, i, p) * n->k->ld);
}

static void sum_queries(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const pairs_node *n = context;
    const rg_reach   *r = n->reach;
    for (size_t i = begin; i < end; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++) {
            rg_real *du = n->dq + i * n->q->ld;
            rg_kernel()->add(n->heads, du, du, n->de + p * n->heads);
        }
}

/* By key, from the transpose. */
static void sum_keys(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const pairs_node *n = context;
    const rg_reach   *r = n->reach;
    for (size_t j = begin; j < end; j++)
        for (size_t at = r->back[j]; at < r->back[j + 1]; at++) {
            rg_real *dz = n->dk + j * n->k->ld;
            rg_kernel()->add(n->heads, dz, dz, n->de + r->pair[at] * n->heads);
        }
}

static void sum_backward(rg_tape *t, rg_node *node)
{
    pairs_node     *n = (pairs_node *)node;
    const rg_reach *r = n->reach;
    n->de = rg_tape__arrived(t, node->out);
    n->dq = rg_tape__grad_add(t, n->q);
    n->dk = rg_tape__grad_add(t, n->k);
    if (n->dq) rg_tape__rows(t, r->Nq, r->P / (r->Nq + 1) * n->heads * 2, sum_queries, n);
    if (n->dk && r->back) rg_tape__rows(t, r->Nk, r->P / (r->Nk + 1) * n->heads * 2, sum_keys, n);
    for (size_t i = 0; n->dk && !r->back && i < r->Nq; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++) {
            rg_real *dz = n->dk + rg_reach__key(r, i, p) * n->k->ld;
            rg_kernel()->add(n->heads, dz, dz, n->de + p * n->heads);
        }
}

rg_tensor *rg_pairs_add(rg_tape *t, rg_tensor *u, rg_tensor *z, const rg_reach *reach)
{
    rg_tensor *in[] = { u, z };
    if (!rg_tape__begin(t, "scores", 2, in) || !rows_fit(t, u, z, reach)) return NULL;
    if (u->cols != z->cols) return rg_tape_fail(t, RG_ESHAPE, "%zu heads of queries, %zu of keys", u->cols, z->cols);
    const size_t H = u->cols;
    rg_tensor   *e = rg_tape__tensor(t, reach->P, H, NULL);
    if (!e) return NULL;
    pairs_node now = { .node.out = e, .q = u, .k = z, .reach = reach, .heads = H };
    if (rg_tape__live(t)) rg_tape__rows(t, reach->Nq, reach->P / (reach->Nq + 1) * H * 2, sum_rows, &now);
    rg_tape__count(t, (double)reach->P * (double)H);
    pairs_node *n = rg_tape__node(t, sizeof *n, e, sum_backward, 2, in);
    if (n) now.node = n->node, *n = now;
    return e;
}

/* ------------------------------------------------------------------------------------------ e = v . f(x + y) */

static void additive_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const pairs_node *n = context;
    const rg_reach   *r = n->reach;
    const size_t      d = n->width;
    for (size_t i = begin; i < end; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++) {
            const rg_real *x = n->q->data + i * n->q->ld, *y = n->k->data + rg_reach__key(r, i, p) * n->k->ld;
            for (size_t h = 0; h < n->heads; h++)
                n->node.out->data[p * n->heads + h] =
                    rg_kernel()->additive(n->f, d, x + h * d, y + h * d, n->v->data + h * n->v->ld);
        }
}

/* forward was  e = v . f(s), s = x + y      so  ds = f'(s) v de,  dx += ds,  dy += ds,  dv += f(s) de
 *
 * Queries of different spans share no key, so spans can be done at the same time: in parts whose number does not
 * depend on the team, each with its own sum for dv. */
static void additive_queries(const pairs_node *n, size_t begin, size_t end, rg_real *dv, rg_real *spare)
{
    const rg_reach *r = n->reach;
    const size_t    d = n->width;
    for (size_t i = begin; i < end; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++) {
            const size_t j = rg_reach__key(r, i, p);
            for (size_t h = 0; h < n->heads; h++) {
                const size_t at_x = i * n->q->ld + h * d, at_y = j * n->k->ld + h * d;
                rg_kernel()->additive_backward(n->f, d, n->dq ? n->dq + at_x : spare, n->dk ? n->dk + at_y : spare,
                                               dv ? dv + h * d : spare, n->q->data + at_x, n->k->data + at_y,
                                               n->v->data + h * n->v->ld, n->de[p * n->heads + h]);
            }
        }
}

/* Where part `part` of the queries begins: at the start of a span. */
static size_t part_begin(const pairs_node *n, size_t part)
{
    if (n->parts == 1) return part ? n->reach->Nq : 0;
    const size_t span = part * n->plan->spans / n->parts;
    return span == n->plan->spans ? n->reach->Nq : n->plan->span[span].q0;
}

static void additive_parts(void *context, int member, size_t begin, size_t end)
{
    const pairs_node *n = context;
    const size_t      cols = n->heads * n->width;
    rg_real          *spare = rg_team_scratch(n->team, member, n->width * sizeof *spare); /* of gradients that nobody asks for */
    memset(spare, 0, n->width * sizeof *spare);
    for (size_t part = begin; part < end; part++) {
        rg_real *dv = n->dv ? n->dv + part * cols : NULL;
        if (dv) memset(dv, 0, cols * sizeof *dv);
        additive_queries(n, part_begin(n, part), part_begin(n, part + 1), dv, spare);
    }
}

static void additive_backward(rg_tape *t, rg_node *node)
{
    pairs_node  *n = (pairs_node *)node;
    const size_t cols = n->heads * n->width;
    n->de = rg_tape__arrived(t, node->out);
    n->dq = rg_tape__grad_add(t, n->q);
    n->dk = rg_tape__grad_add(t, n->k);
    rg_real       *dv = rg_tape__grad_add(t, n->v);
    rg_arena_point scratch = rg_tape__scratch(t);
    n->dv = dv ? rg_tape__reals(t, n->parts * cols) : NULL;
    for (int member = 0; member < rg_team_size(n->team); member++)
        if (!rg_team_scratch(n->team, member, n->width * sizeof(rg_real))) rg_tape__check(t, RG_ENOMEM);
    if (rg_tape_status(t) == RG_OK) {
        rg_tape__rows(t, n->parts, n->reach->P / n->parts * cols * 16, additive_parts, n);
        for (size_t part = 0; dv && part < n->parts; part++)
            for (size_t h = 0; h < n->heads; h++)
                rg_kernel()->add(n->width, dv + h * n->v->ld, dv + h * n->v->ld, n->dv + part * cols + h * n->width);
    }
    rg_tape__release(t, scratch);
}

rg_tensor *rg_pairs_additive(rg_tape *t, rg_tensor *x, rg_tensor *y, rg_tensor *v, const rg_reach *reach,
                             rg_activation f)
{
    rg_tensor *in[] = { x, y, v };
    if (!rg_tape__begin(t, "scores", 3, in) || !rows_fit(t, x, y, reach)) return NULL;
    if (x->cols != y->cols || x->cols != v->rows * v->cols)
        return rg_tape_fail(t, RG_ESHAPE, "queries are %zu wide, keys %zu, the vector %zu x %zu", x->cols, y->cols,
                            v->rows, v->cols);
    rg_tensor *e = rg_tape__tensor(t, reach->P, v->rows, NULL);
    if (!e) return NULL;
    pairs_node now = {
        .node.out = e, .q = x, .k = y, .v = v, .reach = reach, .heads = v->rows, .width = v->cols, .f = f
    };
    now.team = rg_tape_team(t);
    now.parts = 1;
    if (rg_tape__live(t)) rg_tape__rows(t, reach->Nq, reach->P / (reach->Nq + 1) * x->cols * 8, additive_rows, &now);
    if (reach->begin && rg_tape__recording(t)) {
        if (!(now.plan = rg_fused_plan_new(t, reach, 1))) return NULL;
        if (now.plan->disjoint && now.plan->spans)
            now.parts = now.plan->spans < MOST_PARTS ? now.plan->spans : MOST_PARTS;
    }
    rg_tape__count(t, 10.0 * (double)reach->P * (double)x->cols);
    pairs_node *n = rg_tape__node(t, sizeof *n, e, additive_backward, 3, in);
    if (n) now.node = n->node, *n = now;
    return e;
}

/* ------------------------------------------------------------------------------------------ e = x_i[place of j] */

static void place_backward(rg_tape *t, rg_node *node)
{
    const pairs_node *n = (pairs_node *)node;
    const rg_reach   *r = n->reach;
    const rg_real    *de = rg_tape__arrived(t, node->out);
    rg_real          *dx = rg_tape__grad_add(t, n->q);
    for (size_t i = 0; dx && i < r->Nq; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++)
            for (size_t h = 0; h < n->heads; h++)
                dx[i * n->q->ld + h * n->width + (p - r->first[i])] += de[p * n->heads + h];
}

rg_tensor *rg_pairs_place(rg_tape *t, rg_tensor *x, rg_tensor *k, const rg_reach *reach, size_t heads)
{
    rg_tensor *in[] = { x, k };
    if (!rg_tape__begin(t, "scores", 2, in) || !rows_fit(t, x, k, reach)) return NULL;
    const size_t S = x->cols / heads;
    for (size_t i = 0; i < reach->Nq; i++)
        if (reach->first[i + 1] - reach->first[i] > S)
            return rg_tape_fail(t, RG_ELIMIT, "query %zu reaches %zu keys; the score was built for %zu places", i,
                                reach->first[i + 1] - reach->first[i], S);
    rg_tensor *e = rg_tape__tensor(t, reach->P, heads, NULL);
    if (!e) return NULL;
    for (size_t i = 0; rg_tape__live(t) && i < reach->Nq; i++)
        for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++)
            for (size_t h = 0; h < heads; h++)
                e->data[p * heads + h] = x->data[i * x->ld + h * S + (p - reach->first[i])];
    pairs_node *n = rg_tape__node(t, sizeof *n, e, place_backward, 1, &x);
    if (n) n->q = x, n->reach = reach, n->heads = heads, n->width = S;
    return e;
}

/* ------------------------------------------------------------------------------------------- rows a pair */

/* Row numbers of every pair, on the tape. */
static int32_t *pair_rows(rg_tape *t, const rg_reach *reach, bool keys)
{
    int32_t *index = rg_tape__keep(t, reach->P * sizeof *index);
    for (size_t i = 0; index && i < reach->Nq; i++)
        for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++)
            index[p] = keys ? (int32_t)rg_reach__key(reach, i, p) : (int32_t)i;
    return index;
}

rg_tensor *rg_pairs_queries(rg_tape *t, rg_tensor *q, const rg_reach *reach)
{
    if (!rg_tape__begin(t, "scores", 1, &q)) return NULL;
    int32_t *index = pair_rows(t, reach, false);
    return index ? rg_gather(t, q, index, reach->P, NULL) : NULL;
}

rg_tensor *rg_pairs_keys(rg_tape *t, rg_tensor *k, const rg_reach *reach)
{
    if (!rg_tape__begin(t, "scores", 1, &k)) return NULL;
    int32_t *index = pair_rows(t, reach, true);
    return index ? rg_gather(t, k, index, reach->P, NULL) : NULL;
}
