/* fused_linear.c - attention with the linear score over lists in one pass: graph attention (Velickovic et al. 2018).
 *
 *     s_p = u_i + z_j       a = softmax over the pairs p of query i of f(s_p) + bias_p       out_i = sum over p of drop(a)_p v_j
 *
 * Forward goes query by query. When backward will come it keeps dropout's mask, one bit per pair and head, and for each
 * query its seat, what the weights are made of again, and a second sum, bent_i = sum over p of f'(s_p) drop(a)_p v_j.
 * No number a pair is stored, because what backward needs of all pairs of a query is known before any of them is looked
 * at:
 *
 *     level_i = sum over p of drop(a)_p da_p = out_i . dout_i
 *     du_i    = sum over p of ds_p           = bent_i . dout_i - level_i sum over p of f'(s_p) a_p
 *
 * So it goes over the pairs once, by key, in the order of the transposed list, and reads each row of dout once:
 *
 *     da_p = dout_i . v_j      ds_p = f'(s_p) a_p (drop'(da)_p - level_i)      dz_j = sum of ds_p      dv_j = sum of drop(a)_p dout_i
 *
 * Work is cut into pieces of about as many pairs each, whatever the degrees are; a row's result does not depend on
 * where the cuts are. */
#include "attention/fused.h"
#include "attention/reach.h"
#include "autograd/tape.h"

#include <string.h>

enum {
    SOME = 32,      /* pairs of a key at a time: their rows of dout stay in the nearest cache between two uses */
    MOST_HEADS = 64 /* heads of a row at a time */
};
#define NEAR_BYTES ((size_t)512 << 10) /* rows of more are prefetched before their turn */

typedef struct {
    rg_node         node;
    rg_tensor      *u, *z, *v;
    const rg_reach *reach;
    size_t          heads, width;
    rg_real         slope, factor; /* factor: of weights that are kept */
    double          dropout;       /* 0: none */
    uint32_t        key[2];
    uint64_t        stream;
    uint8_t        *bits;  /* pair p, head h is bit p * heads + h; NULL: no dropout */
    rg_real        *seats, *steep, *bent; /* (Nq, 4 H), kernels.h; (Nq, H): sums of f'(s) a; (Nq, H d). NULL: nobody asks for gradients */
    size_t          pieces, back_pieces, most; /* most: pairs of a piece */
    rg_team        *team;
    const rg_real  *dout; /* while backward runs */
    rg_real        *du, *dz, *dv;
    bool            add_u, add_z, add_v, far;
} linear_node;

static void draw_bits(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const linear_node *n = context;
    const size_t       all = n->reach->P * n->heads, high = 8 * end < all ? 8 * end : all;
    rg_kernel()->dropout_mask(high - 8 * begin, n->bits + begin, (rg_real)n->dropout, n->key, n->stream, 8 * begin);
}

static bool is_far(const rg_tensor *x) { return x->rows * x->ld * sizeof(rg_real) > NEAR_BYTES; }

static void forward_pieces(void *context, int member, size_t begin, size_t end)
{
    const linear_node *n = context;
    const rg_reach    *r = n->reach;
    const rg_kernels  *k = rg_kernel();
    const rg_tensor   *out = n->node.out;
    const size_t       H = n->heads;
    rg_real           *a = rg_team_scratch(n->team, member, 2 * n->most * H * sizeof *a);
    for (size_t piece = begin; piece < end; piece++) {
        const size_t low = rg_reach__cut(r->first, r->Nq, piece, n->pieces),
                     high = rg_reach__cut(r->first, r->Nq, piece + 1, n->pieces);
        const size_t first = r->first[low], last = r->first[high];
        k->edges_weigh(high - low, r->first + low, r->key + first, H, a, n->u->data + low * n->u->ld, n->u->ld,
                       n->z->data, n->z->ld, n->slope, r->bias ? r->bias + first : NULL,
                       n->seats ? n->seats + low * 4 * H : NULL, n->bits, n->factor);
        for (size_t i = low; i < high && n->seats; i++)
            memcpy(n->steep + i * H, n->seats + (4 * i + 3) * H, H * sizeof(rg_real));
        for (size_t i = low; i < high; i++) {
            const size_t   count = r->first[i + 1] - r->first[i], more = n->far ? last - r->first[i + 1] : 0;
            const rg_real *mine = a + (r->first[i] - first) * H;
            k->lists_mix(count, H, n->width, out->data + i * out->ld, false, mine, H, NULL, n->v->data, n->v->ld,
                         r->key + r->first[i], more);
            if (n->bent)
                k->lists_mix(count, H, n->width, n->bent + i * out->ld, false, mine + (last - first) * H, H, NULL,
                             n->v->data, n->v->ld, r->key + r->first[i], 0);
        }
    }
}

/* Head by head; the level takes the last place of the seat. */
static void seat_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const linear_node *n = context;
    const rg_kernels  *k = rg_kernel();
    const size_t       H = n->heads, d = n->width, ld = n->node.out->ld;
    for (size_t i = begin; i < end; i++) {
        rg_real  level[MOST_HEADS], bent[MOST_HEADS];
        rg_real *seat = n->seats + (4 * i + 3) * H, *steep = n->steep + i * H,
                *du = n->du ? n->du + i * n->u->ld : NULL;
        for (size_t h = 0; h < H; h += MOST_HEADS) {
            const size_t   some = H - h < MOST_HEADS ? H - h : MOST_HEADS;
            const rg_real *dout = n->dout + i * ld + h * d;
            k->heads_dot(some, d, level, 1, 1, n->node.out->data + i * ld + h * d, d, dout, d);
            if (du) k->heads_dot(some, d, bent, 1, 1, n->bent + i * ld + h * d, d, dout, d);
            for (size_t j = 0; j < some; j++) {
                if (du) du[h + j] = (n->add_u ? du[h + j] : 0) + (bent[j] - level[j] * steep[h + j]);
                seat[h + j] = level[j];
            }
        }
    }
}

static void key_pieces(void *context, int member, size_t begin, size_t end)
{
    const linear_node *n = context;
    const rg_reach    *r = n->reach;
    const rg_kernels  *k = rg_kernel();
    const size_t       H = n->heads, ldo = n->node.out->ld;
    const size_t       low = rg_reach__cut(r->back, r->Nk, begin, n->back_pieces),
                 high = rg_reach__cut(r->back, r->Nk, end, n->back_pieces);
    rg_real           *a = rg_team_scratch(n->team, member, SOME * H * sizeof *a);
    for (size_t j = low; j < high; j++) {
        rg_real *dz = n->dz + j * n->z->ld;
        if (!n->add_z) memset(dz, 0, H * sizeof *dz);
        for (size_t at = r->back[j], last = r->back[j + 1], first = at; at < last || at == first; at += SOME) {
            const size_t some = last - at < SOME ? last - at : SOME, more = n->far ? r->back[high] - at - some : 0;
            k->edges_back(some, H, n->width, NULL, a, dz, r->pair + at, r->asker + at, n->seats, n->dout, ldo,
                          n->z->data + j * n->z->ld, n->v->data + j * n->v->ld, n->slope, r->bias, n->bits, n->factor,
                          more);
            if (n->dv)
                k->lists_mix(some, H, n->width, n->dv + j * n->v->ld, n->add_v || at > first, a, H, NULL, n->dout, ldo,
                             r->asker + at, 0);
        }
    }
}

static bool scratch_for(rg_tape *t, const linear_node *n, size_t pairs)
{
    for (int member = 0; member < rg_team_size(n->team); member++)
        if (!rg_team_scratch(n->team, member, pairs * n->heads * sizeof(rg_real)))
            return rg_tape__check(t, RG_ENOMEM), false;
    return true;
}

static void linear_backward(rg_tape *t, rg_node *node)
{
    linear_node    *n = (linear_node *)node;
    const rg_reach *r = n->reach;
    n->dout = rg_tape__arrived(t, node->out);
    n->du = rg_tape__grad(t, n->u, &n->add_u);
    n->dz = rg_tape__grad(t, n->z, &n->add_z);
    n->dv = rg_tape__grad(t, n->v, &n->add_v);
    n->far = is_far(node->out);
    rg_arena_point scratch = rg_tape__scratch(t);
    rg_real       *spare = n->dz ? NULL : rg_tape__reals(t, r->Nk * n->z->ld);
    if (!n->dz) n->dz = spare, n->add_z = false;
    if (rg_tape_status(t) == RG_OK && scratch_for(t, n, SOME)) {
        rg_tape__rows(t, r->Nq, 2 * node->out->cols + 64, seat_rows, n); /* the calls count too */
        rg_tape__rows(t, n->back_pieces, RG_REACH_PIECE * n->heads * (n->width + 16), key_pieces, n);
    }
    rg_tape__release(t, scratch);
}

/* Pairs of the largest piece. */
static size_t most_pairs(const rg_reach *r, size_t pieces)
{
    size_t most = 0;
    for (size_t piece = 0; piece < pieces; piece++) {
        const size_t pairs = r->first[rg_reach__cut(r->first, r->Nq, piece + 1, pieces)] -
                             r->first[rg_reach__cut(r->first, r->Nq, piece, pieces)];
        if (pairs > most) most = pairs;
    }
    return most;
}

/* Room for the weights of a piece, the mask, and what backward reads. */
static bool find_room(rg_tape *t, linear_node *n)
{
    const size_t seats = n->reach->Nq * 4 * n->heads, sums = n->reach->Nq * (n->node.out->cols + n->heads),
                 bytes = n->dropout > 0 ? n->reach->P * n->heads / 8 + 1 : 0;
    rg_tape__will_keep(t, bytes);
    if (rg_tape__recording(t)) rg_tape__will_keep(t, (seats + sums) * sizeof(rg_real));
    if (!rg_tape__live(t)) return true;
    if (bytes) n->bits = rg_tape__keep(t, bytes);
    if (rg_tape__recording(t)) {
        n->seats = rg_tape__reals(t, seats);
        n->bent = rg_tape__reals(t, sums);
        n->steep = n->bent ? n->bent + n->reach->Nq * n->node.out->cols : NULL;
    }
    n->most = most_pairs(n->reach, n->pieces);
    return rg_tape_status(t) == RG_OK && scratch_for(t, n, 2 * n->most + 2);
}

static void compute(rg_tape *t, linear_node *n)
{
    const size_t bytes = (n->reach->P * n->heads + 7) / 8;
    if (n->bits) rg_tape__rows(t, bytes, 16, draw_bits, n);
    rg_tape__rows(t, n->pieces, RG_REACH_PIECE * n->heads * (n->width + 16), forward_pieces, n);
}

rg_tensor *rg_fused_linear(rg_tape *t, rg_tensor *u, rg_tensor *z, rg_tensor *v, const rg_reach *reach, double slope,
                           double dropout)
{
    rg_tensor *in[] = { u, z, v };
    if (!rg_tape__begin(t, "attend", 3, in)) return NULL;
    if (!reach->key || (rg_tape__recording(t) && !reach->back)) return NULL;
    if (u->rows != reach->Nq || z->rows != reach->Nk || v->rows != reach->Nk)
        return rg_tape_fail(t, RG_ESHAPE, "the reach joins %zu queries and %zu keys; there are %zu, %zu and %zu rows",
                            reach->Nq, reach->Nk, u->rows, z->rows, v->rows);
    const size_t H = u->cols;
    if (z->cols != H || v->cols % H)
        return rg_tape_fail(t, RG_ESHAPE, "%zu heads of queries, %zu of keys; values are %zu wide", H, z->cols,
                            v->cols);
    if (!(dropout >= 0 && dropout < 1))
        return rg_tape_fail(t, RG_EINVAL, "the share to drop is %g; it should be at least 0 and below 1", dropout);
    rg_tensor *out = rg_tape__tensor(t, reach->Nq, v->cols, reach->rows);
    if (!out) return NULL;
    linear_node now = { .node.out = out,
                        .u = u,
                        .z = z,
                        .v = v,
                        .reach = reach,
                        .heads = H,
                        .width = v->cols / H,
                        .slope = (rg_real)slope,
                        .team = rg_tape_team(t) };
    now.dropout = rg_tape_learning(t) ? dropout : 0;
    now.factor = now.dropout > 0 ? rg_dropout_factor((rg_real)now.dropout) : 1;
    now.far = is_far(v);
    if (now.dropout > 0) now.stream = rg_tape__draw(t, now.key);
    now.pieces = rg_reach__pieces(reach->P, reach->Nq);
    now.back_pieces = rg_reach__pieces(reach->P, reach->Nk);
    if (!find_room(t, &now)) return NULL;
    if (rg_tape__live(t)) compute(t, &now);
    rg_tape__count(t, (double)reach->P * (2.0 * (double)v->cols + 8.0 * (double)H));
    linear_node *n = rg_tape__node(t, sizeof *n, out, linear_backward, 3, in);
    if (n) now.node = n->node, *n = now;
    return out;
}
