/* weigh.c - softmax over the keys of each query, and the weighted sum of values: the two halves of attention. */
#include "attention/reach.h"
#include "autograd/tape.h"

#include <string.h>

typedef struct {
    rg_node         node;
    rg_tensor      *a, *v;
    const rg_reach *reach;
    size_t          heads, width, v_step;
    rg_team        *team;
    const rg_real  *dy;
    rg_real        *dx;
    bool            add;
} weigh_node;

/* ------------------------------------------------------------------------------------------ softmax over keys */

/* Columns of (P, H) are H apart; one head of one query is gathered, worked on and put back. With one head nothing moves. */
static void fetch(rg_real *to, const rg_real *from, size_t n, size_t step)
{
    for (size_t i = 0; i < n; i++) to[i] = from[i * step];
}

static void store(rg_real *to, const rg_real *from, size_t n, size_t step, bool add)
{
    for (size_t i = 0; i < n; i++) to[i * step] = add ? to[i * step] + from[i] : from[i];
}

static void softmax_rows(void *context, int member, size_t begin, size_t end)
{
    const weigh_node *n = context;
    const size_t      H = n->heads;
    for (size_t i = begin; i < end; i++) {
        const size_t   first = n->reach->first[i], count = n->reach->first[i + 1] - first;
        const rg_real *e = n->a->data + first * H;
        rg_real       *a = n->node.out->data + first * H;
        if (H == 1) {
            rg_kernel()->softmax(count, a, e);
            continue;
        }
        rg_real *row = rg_team_scratch(n->team, member, count * sizeof *row);
        for (size_t h = 0; row && h < H; h++) {
            fetch(row, e + h, count, H);
            rg_kernel()->softmax(count, row, row);
            store(a + h, row, count, H, false);
        }
    }
}

/* forward was  a = softmax(e)     so  de = a (da - sum a da) */
static void softmax_rows_backward(void *context, int member, size_t begin, size_t end)
{
    const weigh_node *n = context;
    const size_t      H = n->heads;
    for (size_t i = begin; i < end; i++) {
        const size_t   first = n->reach->first[i], count = n->reach->first[i + 1] - first;
        const rg_real *a = n->node.out->data + first * H, *da = n->dy + first * H;
        if (H == 1) {
            rg_kernel()->softmax_backward(count, n->dx + first, a, da, n->add);
            continue;
        }
        rg_real *row = rg_team_scratch(n->team, member, 2 * count * sizeof *row);
        for (size_t h = 0; row && h < H; h++) {
            fetch(row, a + h, count, H);
            fetch(row + count, da + h, count, H);
            rg_kernel()->softmax_backward(count, row + count, row, row + count, false);
            store(n->dx + first * H + h, row + count, count, H, n->add);
        }
    }
}

static void softmax_over_backward(rg_tape *t, rg_node *node)
{
    weigh_node *n = (weigh_node *)node;
    n->dy = rg_tape__arrived(t, node->out);
    n->dx = rg_tape__grad(t, n->a, &n->add);
    if (n->dx) rg_tape__rows(t, n->reach->Nq, n->reach->P / (n->reach->Nq + 1) * n->heads * 8, softmax_rows_backward, n);
}

rg_tensor *rg_softmax_over(rg_tape *t, rg_tensor *e, const rg_reach *reach)
{
    if (!rg_tape__begin(t, "softmax_over", 1, &e)) return NULL;
    if (!reach || e->rows != reach->P) return rg_tape_fail(t, RG_ESHAPE, "%zu scores for %zu pairs", e->rows, reach ? reach->P : 0);
    if (e->ld != e->cols) return rg_tape_fail(t, RG_ESHAPE, "scores are a view of %zu of %zu columns", e->cols, e->ld);
    rg_tensor *a = rg_tape__tensor(t, e->rows, e->cols, e->layout);
    if (!a) return NULL;
    weigh_node now = { .node.out = a, .a = e, .reach = reach, .heads = e->cols, .team = rg_tape_team(t) };
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
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++) {
            const rg_real *v = n->v->data + rg_reach__key(r, i, p) * n->v->ld, *a = n->a->data + p * n->a->ld;
            for (size_t h = 0; h < n->heads; h++) rg_kernel()->axpy(n->width, o + h * n->width, a[h], v + h * n->v_step);
        }
    }
}

/* forward was  out_i = sum_p a_p v_j      so  da_p = dout_i . v_j     dv_j += a_p dout_i */
static void mix_backward(rg_tape *t, rg_node *node)
{
    const weigh_node *n = (weigh_node *)node;
    const rg_reach   *r = n->reach;
    const rg_real    *dout = rg_tape__arrived(t, node->out);
    rg_real          *da = rg_tape__grad_add(t, n->a), *dv = rg_tape__grad_add(t, n->v);
    for (size_t i = 0; i < r->Nq; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++) {
            const size_t j = rg_reach__key(r, i, p);
            for (size_t h = 0; h < n->heads; h++) {
                const rg_real *d = dout + i * node->out->ld + h * n->width;
                const size_t   at = j * n->v->ld + h * n->v_step;
                if (da) da[p * n->a->ld + h] += rg_kernel()->dot(n->width, d, n->v->data + at);
                if (dv) rg_kernel()->axpy(n->width, dv + at, n->a->data[p * n->a->ld + h], d);
            }
        }
}

static rg_tensor *mix(rg_tape *t, rg_tensor *a, rg_tensor *v, const rg_reach *reach, bool shared)
{
    rg_tensor *in[] = { a, v };
    if (!rg_tape__begin(t, "mix", 2, in)) return NULL;
    if (!reach || a->rows != reach->P || v->rows != reach->Nk)
        return rg_tape_fail(t, RG_ESHAPE, "%zu weights and %zu values for %zu pairs of %zu keys", a->rows, v->rows, reach ? reach->P : 0,
                            reach ? reach->Nk : 0);
    const size_t H = a->cols;
    if (!shared && v->cols % H) return rg_tape_fail(t, RG_ESHAPE, "values of %zu columns do not make %zu heads", v->cols, H);
    const size_t width = shared ? v->cols : v->cols / H;
    rg_tensor   *out = rg_tape__tensor(t, reach->Nq, H * width, reach->rows);
    if (!out) return NULL;
    weigh_node now = { .node.out = out, .a = a, .v = v, .reach = reach, .heads = H, .width = width, .v_step = shared ? 0 : width };
    if (rg_tape__live(t)) rg_tape__rows(t, reach->Nq, reach->P / (reach->Nq + 1) * v->cols, mix_rows, &now);
    rg_tape__count(t, 2.0 * (double)reach->P * (double)(H * width));
    weigh_node *n = rg_tape__node(t, sizeof *n, out, mix_backward, 2, in);
    if (n) now.node = n->node, *n = now;
    return out;
}

rg_tensor *rg_mix(rg_tape *t, rg_tensor *a, rg_tensor *v, const rg_reach *reach) { return mix(t, a, v, reach, false); }
rg_tensor *rg_mix_shared(rg_tape *t, rg_tensor *a, rg_tensor *v, const rg_reach *reach) { return mix(t, a, v, reach, true); }
