/* fused_dot.c - softmax(scale q k^T) v without the matrix, forward.
 *
 *     for each span and head:     K^T and V in panels                               once
 *       for each block of queries:
 *         E = scale Q K^T         whole rows, as many queries as fit the cache      product
 *         E = exp(E - max of row) each row over its own interval
 *         O = E V / sum of row    each row one chain over its own keys              ranged product
 *
 * Whole rows of scores need no running maximum, and every number is one chain over the query's own keys: it has the
 * same bits whatever the batch, the team, the blocking and what comes after. Long rows make low blocks, so memory is
 * linear in the number of keys. */
#include "attention/fused.h"
#include "attention/fused_dot.h"
#include "attention/packed_keys.h"

#include <math.h>
#include <string.h>

enum {
    STEP = 24, /* queries that share a range of keys in the product */
    SLACK = 16 /* numbers past a row that its kernels may touch */
};

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

void rg_fused__scores(const rg_fused_plan *p, const rg_fused_span *s, const rg_fused_block *b, size_t low, size_t high,
                      size_t d, const rg_real *left, size_t ld_left, const rg_real *panels, rg_real *e, size_t ld)
{
    const rg_kernels *k = rg_kernel();
    for (size_t i = b->q0; i < b->q1; i += STEP) {
        const size_t end = smaller(i + STEP, b->q1);
        const size_t from = larger(low, rg_fused__begin(p->reach, s, i) / 16 * 16);
        const size_t to = smaller(high, rg_fused__up(rg_fused__end(p->reach, s, end - 1)));
        if (from >= to) continue;
        const size_t row = i - b->q0;
        k->gemm_packed(end - i, to - from, d, left + row * ld_left, ld_left, panels + from * d,
                       e + row * ld + (from - low), ld, false, NULL, RG_IDENTITY);
    }
}

/* --------------------------------------------------------------------------------------------------- one block */

typedef struct {
    rg_real *keys, *values; /* panels of one span and head */
    rg_real *q, *e;
} room;

static size_t room_numbers(const rg_fused_node *n)
{
    const rg_fused_plan *p = n->plan;
    return rg_fused__up(p->most_keys) * n->dk + p->most_keys * rg_fused__up(n->dv) + p->most_rows * n->dk +
           p->most_scores + 2 * SLACK;
}

static room room_of(const rg_fused_node *n, int member)
{
    const rg_fused_plan *p = n->plan;
    room r = { .keys = rg_team_scratch(n->team, member, room_numbers(n) * sizeof(rg_real)) };
    r.values = r.keys + rg_fused__up(p->most_keys) * n->dk;
    r.e = r.values + rg_fused__up(p->most_keys * rg_fused__up(n->dv));
    r.q = r.e + p->most_scores + SLACK;
    return r;
}

static void pack_span(const rg_fused_node *n, const rg_fused_span *s, size_t h, const room *r)
{
    const size_t keys = s->k1 - s->k0;
    rg_kernel()->pack_transposed(r->keys, n->k->data + s->k0 * n->k->ld + h * n->dk, n->k->ld, n->dk, keys);
    rg_kernel()->pack(r->values, n->v->data + s->k0 * n->v->ld + h * n->dv, n->v->ld, keys, n->dv);
}

/* What backward wants to know of a row: 1 / sum where the weights are kept, else log sum exp (so that a row of
 * nothing gets zeros again). */
static void keep_stat(const rg_fused_node *n, const rg_fused_span *s, const rg_fused_block *b, size_t h,
                      const rg_real *share, const rg_real *top)
{
    for (size_t i = 0; i < b->q1 - b->q0; i++) {
        const rg_real log_sum = share[i] == 0 ? (rg_real)INFINITY : top[i] - (rg_real)log((double)share[i]);
        n->stat[(b->q0 + i) * n->H + h] = s->keep ? share[i] : log_sum;
    }
}

static void forward_block(const rg_fused_node *n, const rg_fused_span *s, const rg_fused_block *b, size_t h,
                          const room *r)
{
    const rg_kernels *k = rg_kernel();
    const rg_tensor  *out = n->node.out;
    const size_t      rows = b->q1 - b->q0;
    rg_real          *e = n->stat && s->keep ? n->kept + b->kept + h * rows * b->ld : r->e,
            *o = out->data + b->q0 * out->ld + h * n->dv;
    size_t            low[RG_FUSED_ROWS], high[RG_FUSED_ROWS];
    rg_real           share[RG_FUSED_ROWS], top[RG_FUSED_ROWS];

    for (size_t i = 0; i < rows; i++)
        k->scale(n->dk, r->q + i * n->dk, n->scale, n->q->data + (b->q0 + i) * n->q->ld + h * n->dk);
    rg_fused__scores(n->plan, s, b, b->low, b->high, n->dk, r->q, n->dk, r->keys, e, b->ld);
    for (size_t i = 0; i < rows; i++) {
        low[i] = rg_fused__begin(n->plan->reach, s, b->q0 + i) - b->low;
        high[i] = rg_fused__end(n->plan->reach, s, b->q0 + i) - b->low;
    }
    k->weigh_rows(rows, e, b->ld, low, high, share, top);
    if (n->stat) keep_stat(n, s, b, h, share, top);
    k->gemm_ranges(rows, n->dv, e, b->ld, 1, low, high, r->values + b->low * RG_PANEL, (s->k1 - s->k0) * RG_PANEL, o,
                   out->ld, false);
    for (size_t i = 0; i < rows; i++) k->scale(n->dv, o + i * out->ld, share[i], o + i * out->ld);
}

/* Queries that reach nothing. */
static void forward_nothing(const rg_fused_node *n, const rg_fused_block *b, size_t h)
{
    const rg_tensor *out = n->node.out;
    rg_rows__zero(b->q1 - b->q0, n->dv, out->data + b->q0 * out->ld + h * n->dv, out->ld);
    for (size_t i = b->q0; n->stat && i < b->q1; i++) n->stat[i * n->H + h] = 0;
}

static void forward_units(void *context, int member, size_t begin, size_t end)
{
    const rg_fused_node *n = context;
    const rg_fused_plan *p = n->plan;
    const room           r = room_of(n, member);
    size_t               at = 0, packed = SIZE_MAX; /* span, and unit / blocks of what is packed */
    for (size_t u = begin; u < end; u++) {
        while (at + 1 < p->spans && p->span[at + 1].unit <= u) at++, packed = SIZE_MAX;
        const rg_fused_span  *s = &p->span[at];
        const size_t          h = (u - s->unit) / s->blocks;
        const rg_fused_block *b = &p->block[s->block + (u - s->unit) % s->blocks];
        if (s->k0 == s->k1) {
            forward_nothing(n, b, h);
            continue;
        }
        room now = r;
        const bool packed_before = rg_packed_keys__find(n->k, n->v, n->H, s->k0, s->k1, h, &now.keys, &now.values);
        if (!packed_before && packed != h) pack_span(n, s, packed = h, &r);
        if (!packed_before && b->q0 == s->q0 && h + 1 < n->H) {
            rg_fused__soon(n->q->data, n->q->ld, s->q0, s->q1, (h + 1) * n->dk, n->dk);
            rg_fused__soon(n->k->data, n->k->ld, s->k0, s->k1, (h + 1) * n->dk, n->dk);
            rg_fused__soon(n->v->data, n->v->ld, s->k0, s->k1, (h + 1) * n->dv, n->dv);
        }
        forward_block(n, s, b, h, &now);
    }
}

/* ---------------------------------------------------------------------------------------------------------- op */

static bool reserve(rg_tape *t, const rg_fused_node *n, size_t bytes)
{
    for (int member = 0; member < rg_team_size(n->team); member++)
        if (!rg_team_scratch(n->team, member, bytes)) {
            rg_tape__check(t, RG_ENOMEM);
            return false;
        }
    return true;
}

static bool fits(const rg_tensor *q, const rg_tensor *k, const rg_tensor *v, const rg_reach *r, size_t H)
{
    return H && q->cols % H == 0 && k->cols == q->cols && v->cols % H == 0 && v->cols && q->cols && q->rows == r->Nq &&
           k->rows == r->Nk && v->rows == r->Nk;
}

rg_tensor *rg_fused_dot(rg_tape *t, rg_tensor *q, rg_tensor *k, rg_tensor *v, const rg_reach *reach, size_t heads,
                        double scale)
{
    rg_tensor *in[] = { q, k, v };
    if (!rg_tape__begin(t, "attend", 3, in) || !fits(q, k, v, reach, heads)) return NULL;
    const bool learns = rg_tape__recording(t) && (rg_tape__wants(t, q) || rg_tape__wants(t, k) || rg_tape__wants(t, v));
    if (!reach->begin) return learns ? NULL : rg_fused__lists(t, q, k, v, reach, heads, scale);
    rg_fused_plan *plan = rg_fused_plan_new(t, reach, heads);
    rg_tensor     *out = plan ? rg_tape__tensor(t, q->rows, v->cols, reach->rows) : NULL;
    if (!out) return NULL;
    rg_fused_node now = { .node.out = out, .q = q, .k = k, .v = v, .plan = plan, .H = heads, .dk = q->cols / heads,
                          .dv = v->cols / heads, .scale = (rg_real)scale, .team = rg_tape_team(t) };
    const size_t kept = learns && plan->kept ? plan->kept + SLACK : 0, stats = learns ? q->rows * heads : 0;
    if (rg_tape__live(t)) {
        if (stats && !(now.stat = rg_tape__reals(t, stats))) return NULL;
        if (kept && !(now.kept = rg_tape__reals(t, kept))) return NULL;
        if (!reserve(t, &now, room_numbers(&now) * sizeof(rg_real))) return NULL;
        const bool small = (double)reach->P * (double)q->cols < 2e5; /* waking the team costs more than it brings */
        rg_team_for(small ? NULL : now.team, plan->units, 1, forward_units, &now);
    }
    rg_tape__will_keep(t, (stats + kept) * sizeof(rg_real));
    rg_tape__count(t, (double)reach->P * (2.0 * (double)(q->cols + v->cols) + 5.0 * (double)heads));
    rg_fused_node *n = rg_tape__node(t, sizeof *n, out, rg_fused__backward, 3, in);
    if (n) now.node = n->node, *n = now;
    return out;
}
