/* fused_linear.c - attention with the linear score over lists in one pass: graph attention (Velickovic et al. 2018).
 *
 *     s_p = u_i + z_j       a = softmax over the pairs p of query i of f(s)       out_i = sum over p of drop(a)_p v_j
 *
 * Forward goes query by query and, when backward will come, keeps one number a pair and head: the weight, with the mask of dropout in its
 * sign (kernels.h, edges_slope). Backward needs one more: ds. Beside them nothing has the size of the pairs; the pair path makes nine of that size.
 *
 *     by query:   da_p = dout_i . v_j      ds_p      du_i = sum of ds_p
 *     by key:     dz_j = sum of ds_p       dv_j = sum of drop(a)_p dout_i           in the order of the transposed list
 *
 * Work is cut into pieces of about as many pairs each, whatever the degrees are; a row's result does not depend on where the cuts are. */
#include "attention/fused.h"
#include "attention/reach.h"
#include "autograd/tape.h"

typedef struct {
    rg_node         node;
    rg_tensor      *u, *z, *v;
    const rg_reach *reach;
    size_t          heads, width;
    rg_real         slope;
    double          dropout; /* 0: none */
    uint32_t        key[2];
    uint64_t        stream;
    rg_real        *a;       /* (P, H); NULL: a piece at a time in scratch */
    size_t          pieces, back_pieces, most; /* most: pairs of a piece */
    rg_team        *team;
    const rg_real  *dout; /* while backward runs */
    rg_real        *ds, *du, *dz, *dv;
    bool            add_u, add_z, add_v;
} linear_node;

/* Dropout of `count` weights from pair `first` on: kept ones w / (1 - p), dropped ones -w. */
static void mark(const linear_node *n, rg_real *a, size_t first, size_t count)
{
    enum { SOME = 512 };
    rg_real      kept[SOME];
    const size_t numbers = count * n->heads;
    for (size_t at = 0; at < numbers; at += SOME) {
        const size_t some = numbers - at < SOME ? numbers - at : SOME;
        rg_kernel()->dropout(some, kept, a + at, (rg_real)n->dropout, n->key, n->stream, first * n->heads + at, false);
        for (size_t i = 0; i < some; i++) a[at + i] = kept[i] > 0 ? kept[i] : -a[at + i];
    }
}

static void forward_pieces(void *context, int member, size_t begin, size_t end)
{
    const linear_node *n = context;
    const rg_reach    *r = n->reach;
    const rg_kernels  *k = rg_kernel();
    const rg_tensor   *out = n->node.out;
    const size_t       H = n->heads;
    rg_real           *spare = n->a ? NULL : rg_team_scratch(n->team, member, n->most * H * sizeof *spare);
    for (size_t piece = begin; piece < end; piece++) {
        const size_t low = rg_reach__cut(r->first, r->Nq, piece, n->pieces), high = rg_reach__cut(r->first, r->Nq, piece + 1, n->pieces);
        const size_t first = r->first[low];
        rg_real     *a = n->a ? n->a + first * H : spare;
        k->edges_weigh(high - low, r->first + low, r->key + first, H, a, n->u->data + low * n->u->ld, n->u->ld, n->z->data, n->z->ld, n->slope);
        if (n->dropout > 0) mark(n, a, first, r->first[high] - first);
        for (size_t i = low; i < high; i++)
            k->lists_mix(r->first[i + 1] - r->first[i], H, n->width, out->data + i * out->ld, false, a + (r->first[i] - first) * H, H, NULL, n->v->data, n->v->ld,
                         r->key + r->first[i], n->dropout > 0);
    }
}

static void query_pieces(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const linear_node *n = context;
    const rg_reach    *r = n->reach;
    const rg_kernels  *k = rg_kernel();
    const size_t       H = n->heads;
    for (size_t piece = begin; piece < end; piece++) {
        const size_t low = rg_reach__cut(r->first, r->Nq, piece, n->pieces), high = rg_reach__cut(r->first, r->Nq, piece + 1, n->pieces);
        const size_t first = r->first[low];
        for (size_t i = low; i < high; i++)
            for (size_t p = r->first[i]; p < r->first[i + 1]; p++)
                k->heads_dot(H, n->width, n->ds + p * H, 1, 1, n->dout + i * n->node.out->ld, n->width, n->v->data + (size_t)r->key[p] * n->v->ld, n->width);
        k->edges_slope(high - low, r->first + low, r->key + first, H, n->ds + first * H, n->a + first * H, (rg_real)(1 - n->dropout), n->u->data + low * n->u->ld,
                       n->u->ld, n->z->data, n->z->ld, n->slope, n->du + low * n->u->ld, n->u->ld, n->add_u);
    }
}

static void key_pieces(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const linear_node *n = context;
    const rg_reach    *r = n->reach;
    const rg_kernels  *k = rg_kernel();
    const size_t       low = rg_reach__cut(r->back, r->Nk, begin, n->back_pieces), high = rg_reach__cut(r->back, r->Nk, end, n->back_pieces);
    for (size_t j = low; j < high; j++) {
        const size_t  count = r->back[j + 1] - r->back[j];
        const size_t *pair = r->pair + r->back[j];
        if (n->dz) k->lists_sum(count, n->heads, n->dz + j * n->z->ld, n->add_z, n->ds, pair);
        if (n->dv)
            k->lists_mix(count, n->heads, n->width, n->dv + j * n->v->ld, n->add_v, n->a, n->heads, pair, n->dout, n->node.out->ld, r->query, n->dropout > 0);
    }
}

static void linear_backward(rg_tape *t, rg_node *node)
{
    linear_node    *n = (linear_node *)node;
    const rg_reach *r = n->reach;
    n->dout = rg_tape__arrived(t, node->out);
    n->du = rg_tape__grad(t, n->u, &n->add_u);
    n->dz = rg_tape__grad(t, n->z, &n->add_z);
    n->dv = rg_tape__grad(t, n->v, &n->add_v);
    rg_arena_point scratch = rg_tape__scratch(t);
    rg_real       *spare = n->du ? NULL : rg_tape__reals(t, r->Nq * n->u->ld);
    n->ds = rg_tape__reals(t, r->P * n->heads);
    if (!n->du) n->du = spare, n->add_u = false;
    if (rg_tape_status(t) == RG_OK) {
        const size_t cost = n->heads * (n->width + 16);
        rg_tape__rows(t, n->pieces, RG_REACH_PIECE * cost, query_pieces, n);
        rg_tape__rows(t, n->back_pieces, RG_REACH_PIECE * cost, key_pieces, n);
    }
    rg_tape__release(t, scratch);
}

/* Pairs of the largest piece. */
static size_t most_pairs(const rg_reach *r, size_t pieces)
{
    size_t most = 0;
    for (size_t piece = 0; piece < pieces; piece++) {
        const size_t pairs = r->first[rg_reach__cut(r->first, r->Nq, piece + 1, pieces)] - r->first[rg_reach__cut(r->first, r->Nq, piece, pieces)];
        if (pairs > most) most = pairs;
    }
    return most;
}

/* Weights of all pairs when backward will read them, else room for a piece in the scratch of each member. */
static bool find_room(rg_tape *t, linear_node *n)
{
    const size_t numbers = n->reach->P * n->heads;
    if (rg_tape__recording(t)) {
        rg_tape__will_keep(t, numbers * sizeof(rg_real));
        rg_tape__will_need(t, numbers * sizeof(rg_real));
        if (rg_tape__live(t)) n->a = rg_tape__reals(t, numbers);
        return rg_tape_status(t) == RG_OK;
    }
    n->most = most_pairs(n->reach, n->pieces);
    for (int member = 0; rg_tape__live(t) && member < rg_team_size(n->team); member++)
        if (!rg_team_scratch(n->team, member, (n->most + 1) * n->heads * sizeof(rg_real))) return rg_tape__check(t, RG_ENOMEM), false;
    return true;
}

rg_tensor *rg_fused_linear(rg_tape *t, rg_tensor *u, rg_tensor *z, rg_tensor *v, const rg_reach *reach, double slope, double dropout)
{
    rg_tensor *in[] = { u, z, v };
    if (!rg_tape__begin(t, "attend", 3, in)) return NULL;
    if (!reach->key || (rg_tape__recording(t) && !reach->back)) return NULL;
    if (u->rows != reach->Nq || z->rows != reach->Nk || v->rows != reach->Nk)
        return rg_tape_fail(t, RG_ESHAPE, "the reach joins %zu queries and %zu keys; there are %zu, %zu and %zu rows", reach->Nq, reach->Nk, u->rows, z->rows, v->rows);
    const size_t H = u->cols;
    if (z->cols != H || v->cols % H) return rg_tape_fail(t, RG_ESHAPE, "%zu heads of queries, %zu of keys; values are %zu wide", H, z->cols, v->cols);
    if (!(dropout >= 0 && dropout < 1)) return rg_tape_fail(t, RG_EINVAL, "the share to drop is %g; it should be at least 0 and below 1", dropout);
    rg_tensor *out = rg_tape__tensor(t, reach->Nq, v->cols, reach->rows);
    if (!out) return NULL;
    linear_node now = { .node.out = out, .u = u, .z = z, .v = v, .reach = reach, .heads = H, .width = v->cols / H, .slope = (rg_real)slope, .team = rg_tape_team(t) };
    now.dropout = rg_tape_learning(t) ? dropout : 0;
    if (now.dropout > 0) now.stream = rg_tape__draw(t, now.key);
    now.pieces = rg_reach__pieces(reach->P, reach->Nq);
    now.back_pieces = rg_reach__pieces(reach->P, reach->Nk);
    if (!find_room(t, &now)) return NULL;
    if (rg_tape__live(t)) rg_tape__rows(t, now.pieces, RG_REACH_PIECE * H * (now.width + 16), forward_pieces, &now);
    rg_tape__count(t, (double)reach->P * (2.0 * (double)v->cols + 8.0 * (double)H));
    linear_node *n = rg_tape__node(t, sizeof *n, out, linear_backward, 3, in);
    if (n) now.node = n->node, *n = now;
    return out;
}
