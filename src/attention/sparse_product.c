/* sparse_product.c - sparse features times weights while features are dropped, each head with a mask of its own:
 *
 *     (X w)_ih = sum over the features j of node i of  m_ijh x_ij w_jh / (1 - p)       m: kept with probability 1 - p
 *
 * Without dropout it is a mix with given weights: rows of w are the values. With it, a mask is one bit per pair and
 * head, drawn before and kept for backward; what a pair weighs for each head stands only in a buffer that the
 * nearest cache holds. */
#include "attention/reach.h"
#include "autograd/tape.h"

enum { SOME = 64, MOST_HEADS = 64 }; /* pairs of a buffer; heads */
#define TURN_BYTES ((size_t)768 << 10) /* rows of more are gathered in several turns */

typedef struct {
    rg_node         node;
    rg_tensor      *w;
    const rg_reach *reach;
    const rg_real  *value;
    size_t          heads, width;
    uint8_t        *bits; /* of the mask: pair p, head h is bit p * heads + h */
    size_t          pieces;
    double          p;
    uint32_t        key[2];
    uint64_t        stream;
    const rg_real  *dy; /* while backward runs */
    rg_real        *dw;
    bool            add;
    size_t          turns, *next; /* next: where each feature's list goes on in the next turn */
} product_node;

static void draw_bits(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const product_node *n = context;
    rg_kernel()->dropout_bits(end - begin, n->bits + begin, (rg_real)n->p, n->key, n->stream, begin);
}

static void node_pieces(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const product_node *n = context;
    const rg_reach     *r = n->reach;
    const rg_tensor    *y = n->node.out;
    const rg_kernels   *k = rg_kernel();
    const size_t        low = rg_reach__cut(r->first, r->Nq, begin, n->pieces),
                 high = rg_reach__cut(r->first, r->Nq, end, n->pieces);
    const rg_real       factor = rg_dropout_factor((rg_real)n->p);
    rg_real             a[SOME * MOST_HEADS];
    for (size_t i = low; i < high; i++) {
        const size_t first = r->first[i], count = r->first[i + 1] - first;
        for (size_t at = 0; at == 0 || at < count; at += SOME) {
            const size_t some = count - at < SOME ? count - at : SOME;
            k->lists_expand(some, n->heads, a, n->bits, n->value, factor, NULL, first + at);
            k->lists_mix(some, n->heads, n->width, y->data + i * y->ld, at > 0, a, n->heads, NULL, n->w->data, n->w->ld,
                         r->key + first + at, r->first[high] - first - at - some);
        }
    }
}

/* Words at .. end - 1 of the transposed list, which are feature j of their nodes. */
static void back_to_feature(const product_node *n, size_t j, size_t at, size_t end, bool add)
{
    const rg_reach   *r = n->reach;
    const rg_kernels *k = rg_kernel();
    const rg_real     factor = rg_dropout_factor((rg_real)n->p);
    rg_real           a[SOME * MOST_HEADS];
    for (bool any = false; at < end || !any; at += SOME, any = add = true) {
        const size_t some = end - at < SOME ? end - at : SOME;
        k->lists_expand(some, n->heads, a, n->bits, n->value, factor, r->pair + at, 0);
        k->lists_mix(some, n->heads, n->width, n->dw + j * n->w->ld, add, a, n->heads, NULL, n->dy, n->node.out->ld,
                     r->asker + at, end - at - some);
    }
}

static void feature_pieces(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const product_node *n = context;
    const rg_reach     *r = n->reach;
    const size_t        low = rg_reach__cut(r->back, r->Nk, begin, n->pieces),
                 high = rg_reach__cut(r->back, r->Nk, end, n->pieces);
    for (size_t turn = 0; turn < n->turns; turn++) {
        const size_t limit = rg_reach__turn_limit(r->Nq, turn, n->turns);
        for (size_t j = low; j < high; j++) {
            const size_t at = turn ? n->next[j] : r->back[j], stop = rg_reach__turn_end(r, at, r->back[j + 1], limit);
            if (turn == 0 || at < stop) back_to_feature(n, j, at, stop, n->add || turn);
            n->next[j] = stop;
        }
    }
}

/* Turns that keep rows of dy in the second cache, as long as a turn finds some words of most features. */
static size_t turns_of(const product_node *n)
{
    const size_t turns = n->reach->Nq * n->node.out->ld * sizeof(rg_real) / TURN_BYTES + 1,
                 most = n->reach->P / (16 * n->reach->Nk + 1);
    return turns < most ? turns : most ? most : 1;
}

static void product_backward(rg_tape *t, rg_node *node)
{
    product_node *n = (product_node *)node;
    n->dy = rg_tape__arrived(t, node->out);
    n->dw = rg_tape__grad(t, n->w, &n->add);
    n->pieces = rg_reach__pieces(n->reach->P, n->reach->Nk);
    n->turns = turns_of(n);
    rg_arena_point scratch = rg_tape__scratch(t);
    n->next = rg_tape__keep(t, n->reach->Nk * sizeof *n->next);
    if (n->dw && n->next) rg_tape__rows(t, n->pieces, RG_REACH_PIECE * n->w->cols, feature_pieces, n);
    rg_tape__release(t, scratch);
}

/* Features are given: only w has a gradient. */
static rg_tensor *dropped(rg_tape *t, const rg_reach *words, const rg_real *value, rg_tensor *w, size_t heads, double p)
{
    if (!rg_tape__begin(t, "features", 1, &w)) return NULL;
    if (w->rows != words->Nk || w->cols % heads)
        return rg_tape_fail(t, RG_ESHAPE, "%zu features for weights %zu x %zu of %zu heads", words->Nk, w->rows,
                            w->cols, heads);
    if (heads > MOST_HEADS) return rg_tape_fail(t, RG_ELIMIT, "features for %zu heads; at most %d", heads, MOST_HEADS);
    if (!(p < 1)) return rg_tape_fail(t, RG_EINVAL, "the share to drop is %g; it should be at least 0 and below 1", p);
    rg_tensor *y = rg_tape__tensor(t, words->Nq, w->cols, NULL);
    if (!y) return NULL;
    product_node now = {
        .node.out = y, .w = w, .reach = words, .value = value, .heads = heads, .width = w->cols / heads, .p = p
    };
    const size_t bytes = words->P / 8 * heads + (words->P % 8 * heads + 7) / 8;
    now.stream = rg_tape__draw(t, now.key);
    now.pieces = rg_reach__pieces(words->P, words->Nq);
    rg_tape__will_keep(t, bytes);
    if (rg_tape__live(t)) {
        if (!(now.bits = rg_tape__keep(t, bytes + 1))) return NULL;
        rg_tape__rows(t, bytes, 16, draw_bits, &now);
        rg_tape__rows(t, now.pieces, RG_REACH_PIECE * w->cols, node_pieces, &now);
    }
    rg_tape__count(t, 2.0 * (double)words->P * (double)w->cols);
    product_node *n = rg_tape__node(t, sizeof *n, y, product_backward, 1, &w);
    if (n) now.node = n->node, *n = now;
    return y;
}

rg_tensor *rg_sparse_product(rg_tape *t, const rg_reach *words, const rg_real *value, rg_tensor *w, size_t heads,
                             double dropout)
{
    if (rg_tape_learning(t) && dropout > 0) return dropped(t, words, value, w, heads, dropout);
    return rg_mix__as_given(t, rg_borrow(t, value, words->P, 1, 1), w, words, false);
}
