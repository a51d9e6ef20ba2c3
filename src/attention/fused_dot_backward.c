/* fused_dot_backward.c - gradients of softmax(scale q k^T) v.
 *
 * forward was   A = softmax(scale Q K^T)     O = A V
 * so            dV = A^T dO     dA = dO V^T     dS = scale A (dA - D)     D = rowsum(A dA) = rowsum(dO O)
 *               dQ = dS K       dK = dS^T Q
 *
 * block by block of queries, some keys at a time, each product through register tiles on small packed blocks. A is
 * what forward kept or, for long spans, exp(e - log sum exp) of scores computed again. dK and dV are one chain over
 * the queries in rising order for each number, summed beside and added once at the end where there are several
 * blocks. The unit of work is a head of a span, so nothing is written by two. */
#include "attention/fused_dot.h"

#include <string.h>

typedef struct {
    const rg_fused_node *n;
    const rg_real       *dout;
    rg_real             *dq, *dk, *dv; /* NULL: not wanted */
    bool                 add_q, add_k, add_v;
} job;

/* Where dK or dV of a span and head is summed: beside, or at once where it goes when one block does all of it and
 * nothing is there. */
typedef struct {
    rg_real *at;
    size_t   ld;
    bool     direct;
} sums;

typedef struct {
    rg_real *key_panels;       /* K (keys, dk): right side of dQ            */
    rg_real *keys, *values;    /* K^T and V^T: right sides of E and of dA    */
    rg_real *sum_k, *sum_v;    /* (keys, dk) and (keys, dv)                  */
    sums     to_k, to_v;       /* where they really go                       */
    rg_real *q, *q_panels;     /* scaled rows of a block; its panels for dK  */
    rg_real *d, *d_panels;     /* the same of dO                             */
    rg_real *a, *s;            /* weights, and dA which becomes dS           */
} room;

enum { LD = RG_FUSED_KEYS + 16 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Pieces of one member's scratch, in order; with a NULL base only counted. */
static rg_real *take(rg_real *base, size_t *used, size_t count)
{
    rg_real *piece = base ? base + *used : NULL;
    *used += rg_fused__up(count);
    return piece;
}

static size_t lay_out(room *r, const rg_fused_node *n, rg_real *base)
{
    const size_t keys = rg_fused__up(n->plan->most_keys), rows = n->plan->most_rows, wk = rg_fused__up(n->dk),
                 wv = rg_fused__up(n->dv);
    size_t       used = 0;
    r->key_panels = take(base, &used, keys * wk);
    r->values = take(base, &used, keys * n->dv);
    r->keys = !n->plan->again ? NULL : take(base, &used, keys * n->dk);
    r->sum_k = take(base, &used, keys * n->dk);
    r->sum_v = take(base, &used, keys * n->dv);
    r->q = take(base, &used, rows * n->dk);
    r->q_panels = take(base, &used, rows * wk);
    r->d = take(base, &used, rows * n->dv);
    r->d_panels = take(base, &used, rows * wv);
    r->a = !n->plan->again ? NULL : take(base, &used, rows * LD + 16); /* a row's kernels may touch 15 numbers past it */
    r->s = take(base, &used, rows * LD + 16);
    return used;
}

static size_t room_bytes(const rg_fused_node *n)
{
    room r;
    return lay_out(&r, n, NULL) * sizeof(rg_real);
}

/* ------------------------------------------------------------------------------------------------------ a block */

/* Which of the block's queries reach each key of low .. high: intervals too, because those of the queries only move
 * forward. */
static void ranges_of_keys(const rg_fused_plan *p, const rg_fused_span *s, const rg_fused_block *b, size_t low,
                           size_t high, size_t *from, size_t *to)
{
    size_t first = b->q0, last = b->q0;
    for (size_t j = low; j < high; j++) {
        while (first < b->q1 && rg_fused__end(p->reach, s, first) <= j) first++;
        while (last < b->q1 && rg_fused__begin(p->reach, s, last) <= j) last++;
        from[j - low] = first - b->q0;
        to[j - low] = larger(last, first) - b->q0;
    }
}

/* The block's keys low .. high. */
static void some_keys(const job *g, const rg_fused_span *s, const rg_fused_block *b, size_t h, const room *r,
                      size_t low, size_t high, const rg_real *level)
{
    const rg_fused_node *n = g->n;
    const rg_fused_plan *p = n->plan;
    const rg_kernels    *k = rg_kernel();
    const size_t         rows = b->q1 - b->q0, total = s->k1 - s->k0, some = smaller(high, total) - low;
    const rg_real       *a = r->a;
    size_t               ld = LD, from[RG_FUSED_KEYS], to[RG_FUSED_KEYS];
    if (s->keep) a = n->kept + b->kept + h * rows * b->ld + (low - b->low), ld = b->ld;
    else rg_fused__scores(p, s, b, low, high, n->dk, r->q, n->dk, r->keys, r->a, LD);
    rg_fused__scores(p, s, b, low, high, n->dv, g->dout + b->q0 * n->node.out->ld + h * n->dv, n->node.out->ld,
                     r->values, r->s, LD);
    rg_real factor[RG_FUSED_ROWS];
    for (size_t i = 0; i < rows; i++) {
        const rg_real stat = n->stat[(b->q0 + i) * n->H + h];
        factor[i] = s->keep ? stat * n->scale : n->scale;
        from[i] = larger(low, rg_fused__begin(p->reach, s, b->q0 + i)) - low;
        to[i] = larger(low + from[i], smaller(high, rg_fused__end(p->reach, s, b->q0 + i))) - low;
        if (!s->keep) k->exps(to[i] - from[i], r->a + i * LD + from[i], r->a + i * LD + from[i], stat);
    }
    k->slope_rows(rows, r->s, LD, a, ld, from, to, level, factor);
    if (g->dq)
        k->gemm_ranges(rows, n->dk, r->s, LD, 1, from, to, r->key_panels + low * RG_PANEL, total * RG_PANEL,
                       g->dq + b->q0 * n->q->ld + h * n->dk, n->q->ld, g->add_q || low > b->low);
    ranges_of_keys(p, s, b, low, low + some, from, to);
    if (g->dv)
        k->gemm_ranges(some, n->dv, a, 1, ld, from, to, r->d_panels, rows * RG_PANEL, r->to_v.at + low * r->to_v.ld,
                       r->to_v.ld, !r->to_v.direct);
    if (g->dk)
        k->gemm_ranges(some, n->dk, r->s, 1, LD, from, to, r->q_panels, rows * RG_PANEL, r->to_k.at + low * r->to_k.ld,
                       r->to_k.ld, !r->to_k.direct);
}

static void block_backward(const job *g, const rg_fused_span *s, const rg_fused_block *b, size_t h, const room *r)
{
    const rg_fused_node *n = g->n;
    const rg_kernels    *k = rg_kernel();
    const rg_tensor     *out = n->node.out;
    const size_t         rows = b->q1 - b->q0;
    rg_real              level[RG_FUSED_ROWS];
    for (size_t i = 0; i < rows; i++) {
        const size_t   at = (b->q0 + i) * out->ld + h * n->dv;
        const rg_real *d = g->dout + at;
        level[i] = k->dot(n->dv, d, out->data + at);
        k->scale(n->dv, r->d + i * n->dv, s->keep ? n->stat[(b->q0 + i) * n->H + h] : 1, d); /* what is kept lacks its 1 / sum */
        if (!s->keep) k->scale(n->dk, r->q + i * n->dk, n->scale, n->q->data + (b->q0 + i) * n->q->ld + h * n->dk);
    }
    if (g->dv) k->pack(r->d_panels, r->d, n->dv, rows, n->dv);
    if (g->dk) k->pack(r->q_panels, n->q->data + b->q0 * n->q->ld + h * n->dk, n->q->ld, rows, n->dk);
    for (size_t low = b->low; low < b->high; low += RG_FUSED_KEYS)
        some_keys(g, s, b, h, r, low, smaller(low + RG_FUSED_KEYS, b->high), level);
}

static void pack_span(const job *g, const rg_fused_span *s, size_t h, const room *r)
{
    const rg_fused_node *n = g->n;
    const rg_kernels    *k = rg_kernel();
    const size_t         keys = s->k1 - s->k0;
    const rg_real       *from = n->k->data + s->k0 * n->k->ld + h * n->dk;
    if (g->dq) k->pack(r->key_panels, from, n->k->ld, keys, n->dk);
    if (!s->keep) k->pack_transposed(r->keys, from, n->k->ld, n->dk, keys);
    k->pack_transposed(r->values, n->v->data + s->k0 * n->v->ld + h * n->dv, n->v->ld, n->dv, keys);
}

static sums sums_of(const rg_fused_span *s, rg_real *gradient, bool add, size_t ld, size_t width, rg_real *beside)
{
    if (gradient && !add && s->blocks == 1) return (sums){ gradient, ld, true };
    if (gradient) memset(beside, 0, (s->k1 - s->k0) * width * sizeof *beside);
    return (sums){ beside, width, false };
}

static void soon(const job *g, const rg_fused_span *s, size_t h)
{
    const rg_fused_node *n = g->n;
    if (h >= n->H) return;
    rg_fused__soon(n->q->data, n->q->ld, s->q0, s->q1, h * n->dk, n->dk);
    rg_fused__soon(n->k->data, n->k->ld, s->k0, s->k1, h * n->dk, n->dk);
    rg_fused__soon(n->v->data, n->v->ld, s->k0, s->k1, h * n->dv, n->dv);
    rg_fused__soon(g->dout, n->node.out->ld, s->q0, s->q1, h * n->dv, n->dv);
    rg_fused__soon(n->node.out->data, n->node.out->ld, s->q0, s->q1, h * n->dv, n->dv);
}

static void span_backward(const job *g, const rg_fused_span *s, size_t h, room *r)
{
    const rg_fused_node *n = g->n;
    const size_t         keys = s->k1 - s->k0;
    if (!keys) {
        if (g->dq && !g->add_q) rg_rows__zero(s->q1 - s->q0, n->dk, g->dq + s->q0 * n->q->ld + h * n->dk, n->q->ld);
        return;
    }
    rg_real *dk = g->dk ? g->dk + s->k0 * n->k->ld + h * n->dk : NULL,
            *dv = g->dv ? g->dv + s->k0 * n->v->ld + h * n->dv : NULL;
    r->to_k = sums_of(s, dk, g->add_k, n->k->ld, n->dk, r->sum_k);
    r->to_v = sums_of(s, dv, g->add_v, n->v->ld, n->dv, r->sum_v);
    pack_span(g, s, h, r);
    soon(g, s, h + 1);
    for (size_t b = s->block; b < s->block + s->blocks; b++) block_backward(g, s, &n->plan->block[b], h, r);
    if (dk && !r->to_k.direct) rg_rows__axpy(keys, n->dk, dk, n->k->ld, 1, r->sum_k, n->dk, g->add_k);
    if (dv && !r->to_v.direct) rg_rows__axpy(keys, n->dv, dv, n->v->ld, 1, r->sum_v, n->dv, g->add_v);
}

/* --------------------------------------------------------------------------------------------------------- team */

static void units_backward(void *context, int member, size_t begin, size_t end)
{
    const job           *g = context;
    const rg_fused_node *n = g->n;
    room                 r;
    lay_out(&r, n, rg_team_scratch(n->team, member, room_bytes(n)));
    for (size_t u = begin; u < end; u++) span_backward(g, &n->plan->span[u / n->H], u % n->H, &r);
}

/* Spans that share keys write the same gradients: a head does all of them, in order. */
static void heads_backward(void *context, int member, size_t begin, size_t end)
{
    const job           *g = context;
    const rg_fused_node *n = g->n;
    room                 r;
    lay_out(&r, n, rg_team_scratch(n->team, member, room_bytes(n)));
    for (size_t h = begin; h < end; h++)
        for (size_t s = 0; s < n->plan->spans; s++) span_backward(g, &n->plan->span[s], h, &r);
}

/* Every key row belongs to exactly one span: its gradient may be written instead of added to zeros. */
static bool covers(const rg_fused_plan *p)
{
    size_t keys = 0;
    for (size_t s = 0; s < p->spans; s++) {
        if (p->span[s].k0 == p->span[s].k1) continue;
        if (p->span[s].k0 != keys) return false;
        keys = p->span[s].k1;
    }
    return keys == p->reach->Nk;
}

static rg_real *place(rg_tape *t, rg_tensor *x, bool whole, bool *add)
{
    if (whole) return rg_tape__grad(t, x, add);
    *add = true;
    return rg_tape__grad_add(t, x);
}

void rg_fused__backward(rg_tape *t, rg_node *node)
{
    const rg_fused_node *n = (rg_fused_node *)node;
    const bool           whole = covers(n->plan);
    job                  g = { .n = n, .dout = rg_tape__arrived(t, node->out) };
    g.dq = rg_tape__grad(t, n->q, &g.add_q);
    g.dk = place(t, n->k, whole, &g.add_k);
    g.dv = place(t, n->v, whole, &g.add_v);
    if (rg_tape_status(t) != RG_OK || (!g.dq && !g.dk && !g.dv)) return;
    for (int member = 0; member < rg_team_size(n->team); member++)
        if (!rg_team_scratch(n->team, member, room_bytes(n))) {
            rg_tape__check(t, RG_ENOMEM);
            return;
        }
    const bool small = (double)n->plan->reach->P * (double)n->q->cols < 1e5;
    if (n->plan->disjoint) rg_team_for(small ? NULL : n->team, n->plan->spans * n->H, 1, units_backward, &g);
    else rg_team_for(small ? NULL : n->team, n->H, 1, heads_backward, &g);
}
