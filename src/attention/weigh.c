/* weigh.c - softmax over the keys of each query, and the weighted sum of values: the two halves of attention. */
#include "attention/reach.h"
#include "autograd/tape.h"

#include <string.h>

typedef struct {
    rg_node         node;
    rg_tensor      *a, *v;
    const rg_reach *reach;
    size_t          heads, width, v_step;
    size_t          pieces; /* of a list */
    const rg_real  *dy;
    rg_real        *dx, *dv;
    bool            add, add_v;
} weigh_node;

enum { MOST_HEADS = 64 }; /* dots of so many heads at a time before they are added */

/* ------------------------------------------------------------------------------------------ softmax over keys */

static void softmax_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const weigh_node *n = context;
    const size_t      H = n->heads;
    for (size_t i = begin; i < end; i++) {
        const size_t first = n->reach->first[i], count = n->reach->first[i + 1] - first;
        if (H == 1) rg_kernel()->softmax(count, n->node.out->data + first, n->a->data + first);
        else rg_kernel()->columns_softmax(count, H, n->node.out->data + first * H, n->a->data + first * H);
    }
}

/* forward was  a = softmax(e)     so  de = a (da - sum a da) */
static void softmax_rows_backward(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const weigh_node *n = context;
    const size_t      H = n->heads;
    for (size_t i = begin; i < end; i++) {
        const size_t   first = n->reach->first[i], count = n->reach->first[i + 1] - first;
        const rg_real *a = n->node.out->data + first * H, *da = n->dy + first * H;
        if (H == 1) rg_kernel()->softmax_backward(count, n->dx + first, a, da, n->add);
        else rg_kernel()->columns_softmax_backward(count, H, n->dx + first * H, a, da, n->add);
    }
}

static void softmax_over_backward(rg_tape *t, rg_node *node)
{
    weigh_node *n = (weigh_node *)node;
    n->dy = rg_tape__arrived(t, node->out);
    n->dx = rg_tape__grad(t, n->a, &n->add);
    if (n->dx)
        rg_tape__rows(t, n->reach->Nq, n->reach->P / (n->reach->Nq + 1) * n->heads * 8, softmax_rows_backward, n);
}

rg_tensor *rg_softmax_over(rg_tape *t, rg_tensor *e, const rg_reach *reach)
{
    if (!rg_tape__begin(t, "softmax_over", 1, &e)) return NULL;
    if (!reach || e->rows != reach->P)
        return rg_tape_fail(t, RG_ESHAPE, "%zu scores for %zu pairs", e->rows, reach ? reach->P : 0);
    if (e->ld != e->cols) return rg_tape_fail(t, RG_ESHAPE, "scores are a view of %zu of %zu columns", e->cols, e->ld);
    rg_tensor *a = rg_tape__tensor(t, e->rows, e->cols, e->layout);
    if (!a) return NULL;
    weigh_node now = { .node.out = a, .a = e, .reach = reach, .heads = e->cols };
    if (rg_tape__live(t)) rg_tape__rows(t, reach->Nq, reach->P / (reach->Nq + 1) * e->cols * 8, softmax_rows, &now);
    rg_tape__count(t, 5.0 * (double)(e->rows * e->cols));
    weigh_node *n = rg_tape__node(t, sizeof *n, a, softmax_over_backward, 1, &e);
    if (n) now.node = n->node, *n = now;
    return a;
}

/* -------------------------------------------------------------------------------------------------------- mix */

static void mix_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const weigh_node *n = context;
    const rg_reach   *r = n->reach;
    const rg_tensor  *out = n->node.out;
    for (size_t i = begin; i < end; i++) {
        rg_real *o = out->data + i * out->ld;
        memset(o, 0, out->cols * sizeof *o);
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++)
            rg_kernel()->heads_axpy(n->heads, n->width, o, n->width, n->a->data + p * n->a->ld, 1,
                                    n->v->data + rg_reach__key(r, i, p) * n->v->ld, n->v_step);
    }
}

/* The same over lists, a block of values a head: sums stay in registers. */
static void mix_pieces(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const weigh_node *n = context;
    const rg_reach   *r = n->reach;
    const rg_kernels *k = rg_kernel();
    const rg_tensor  *out = n->node.out;
    const size_t      low = rg_reach__cut(r->first, r->Nq, begin, n->pieces),
                 high = rg_reach__cut(r->first, r->Nq, end, n->pieces);
    for (size_t i = low; i < high; i++)
        k->lists_mix(r->first[i + 1] - r->first[i], n->heads, n->width, out->data + i * out->ld, false,
                     n->a->data + r->first[i] * n->a->ld, n->a->ld, NULL, n->v->data, n->v->ld, r->key + r->first[i],
                     0);
}

/* forward was  out_i = sum_p a_p v_j      so  da_p = dout_i . v_j     dv_j += a_p dout_i
 *
 * Weights by query. Values by key, from the transpose, when the reach has one; else by heads: nothing is written by
 * two. */
static void weights_backward(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const weigh_node *n = context;
    const rg_reach   *r = n->reach;
    const size_t      H = n->heads;
    rg_real           some[MOST_HEADS];
    for (size_t i = begin; i < end; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++)
            for (size_t h = 0; h < H; h += MOST_HEADS) {
                const size_t few = H - h < MOST_HEADS ? H - h : MOST_HEADS;
                rg_real     *da = n->dx + p * n->a->ld + h, *to = n->add ? some : da;
                rg_kernel()->heads_dot(few, n->width, to, 1, 1, n->dy + i * n->node.out->ld + h * n->width, n->width,
                                       n->v->data + rg_reach__key(r, i, p) * n->v->ld + h * n->v_step, n->v_step);
                for (size_t j = 0; n->add && j < few; j++) da[j] += some[j];
            }
}

static void values_by_key(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const weigh_node *n = context;
    const rg_reach   *r = n->reach;
    const rg_kernels *k = rg_kernel();
    const size_t      low = rg_reach__cut(r->back, r->Nk, begin, n->pieces),
                 high = rg_reach__cut(r->back, r->Nk, end, n->pieces);
    const size_t      shares = n->v_step ? 1 : n->heads, H = n->heads / shares; /* values that heads share are summed up head by head */
    for (size_t j = low; j < high; j++)
        for (size_t h = 0; h < shares; h++)
            k->lists_mix(r->back[j + 1] - r->back[j], H, n->width, n->dv + j * n->v->ld, n->add_v || h, n->a->data + h,
                         n->a->ld, r->pair + r->back[j], n->dy + h * n->width, n->node.out->ld, r->query, 0);
}

static void values_by_head(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const weigh_node *n = context;
    const rg_reach   *r = n->reach;
    for (size_t i = 0; i < r->Nq; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++)
            rg_kernel()->heads_axpy(
                end - begin, n->width, n->dv + rg_reach__key(r, i, p) * n->v->ld + begin * n->v_step, n->v_step,
                n->a->data + p * n->a->ld + begin, 1, n->dy + i * n->node.out->ld + begin * n->width, n->width);
}

static void mix_backward(rg_tape *t, rg_node *node)
{
    weigh_node     *n = (weigh_node *)node;
    const rg_reach *r = n->reach;
    const size_t    cost = r->P / (r->Nq + 1) * n->heads * n->width;
    n->dy = rg_tape__arrived(t, node->out);
    n->dx = rg_tape__grad(t, n->a, &n->add);
    n->dv = r->back ? rg_tape__grad(t, n->v, &n->add_v) : rg_tape__grad_add(t, n->v);
    if (n->dx) rg_tape__rows(t, r->Nq, cost, weights_backward, n);
    n->pieces = rg_reach__pieces(r->P, r->Nk);
    if (n->dv && r->back) rg_tape__rows(t, n->pieces, RG_REACH_PIECE * n->heads * n->width, values_by_key, n);
    else if (n->dv && n->v_step) rg_tape__rows(t, n->heads, r->P * n->width, values_by_head, n);
    else if (n->dv) values_by_head(n, 0, 0, n->heads); /* all heads write the same values */
}

static rg_tensor *mix(rg_tape *t, rg_tensor *a, rg_tensor *v, const rg_reach *reach, bool shared)
{
    rg_tensor *in[] = { a, v };
    if (!rg_tape__begin(t, "mix", 2, in)) return NULL;
    if (!reach || a->rows != reach->P || v->rows != reach->Nk)
        return rg_tape_fail(t, RG_ESHAPE, "%zu weights and %zu values for %zu pairs of %zu keys", a->rows, v->rows,
                            reach ? reach->P : 0, reach ? reach->Nk : 0);
    const size_t H = a->cols;
    if (!shared && v->cols % H)
        return rg_tape_fail(t, RG_ESHAPE, "values of %zu columns do not make %zu heads", v->cols, H);
    const size_t width = shared ? v->cols : v->cols / H;
    rg_tensor   *out = rg_tape__tensor(t, reach->Nq, H * width, reach->rows);
    if (!out) return NULL;
    weigh_node now = {
        .node.out = out, .a = a, .v = v, .reach = reach, .heads = H, .width = width, .v_step = shared ? 0 : width
    };
    now.pieces = rg_reach__pieces(reach->P, reach->Nq);
    if (rg_tape__live(t) && reach->key && !shared)
        rg_tape__rows(t, now.pieces, RG_REACH_PIECE * v->cols, mix_pieces, &now);
    else if (rg_tape__live(t)) rg_tape__rows(t, reach->Nq, reach->P / (reach->Nq + 1) * v->cols, mix_rows, &now);
    rg_tape__count(t, 2.0 * (double)reach->P * (double)(H * width));
    weigh_node *n = rg_tape__node(t, sizeof *n, out, mix_backward, 2, in);
    if (n) now.node = n->node, *n = now;
    return out;
}

/* Values can be exchanged here, and in rg_attend, which has its own way to mix them. */
rg_tensor *rg_mix(rg_tape *t, rg_tensor *a, rg_tensor *v, const rg_reach *reach)
{
    return mix(t, a, rg_tape_offer(t, "values", v, reach), reach, false);
}

rg_tensor *rg_mix_shared(rg_tape *t, rg_tensor *a, rg_tensor *v, const rg_reach *reach)
{
    return mix(t, a, rg_tape_offer(t, "values", v, reach), reach, true);
}

rg_tensor *rg_mix__as_given(rg_tape *t, rg_tensor *a, rg_tensor *v, const rg_reach *reach, bool shared)
{
    return mix(t, a, v, reach, shared);
}
