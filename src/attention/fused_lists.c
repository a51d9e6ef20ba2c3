/* fused_lists.c - softmax(scale q k^T) v where each query has its own list of keys and nobody asks for gradients: a
 * beam's history in a decoder's cache.
 *
 *     for each query and head:    e = scale q . k of its list          in scratch
 *                                 softmax
 *                                 out = sum of weights times values    in the order of the list */
#include "attention/fused.h"
#include "attention/fused_dot.h"

typedef struct {
    const rg_tensor *q, *k, *v;
    rg_tensor       *out;
    const rg_reach  *reach;
    size_t           H, dk, dv, most;
    rg_real          scale;
    rg_team         *team;
} job;

static void query_rows(void *context, int member, size_t begin, size_t end)
{
    const job        *g = context;
    const rg_reach   *r = g->reach;
    const rg_kernels *k = rg_kernel();
    rg_real          *e = rg_team_scratch(g->team, member, g->most * sizeof *e);
    for (size_t i = begin; i < end; i++) {
        const size_t   first = r->first[i], count = r->first[i + 1] - first;
        const rg_real *q = g->q->data + i * g->q->ld;
        rg_real       *o = g->out->data + i * g->out->ld;
        for (size_t h = 0; h < g->H; h++) {
            k->rows_dot(count, g->dk, e, g->scale, q + h * g->dk, g->k->data + h * g->dk, g->k->ld, r->key + first);
            k->softmax(count, e, e);
            k->rows_sum(count, g->dv, o + h * g->dv, e, g->v->data + h * g->dv, g->v->ld, r->key + first);
        }
    }
}

rg_tensor *rg_fused__lists(rg_tape *t, rg_tensor *q, rg_tensor *k, rg_tensor *v, const rg_reach *reach, size_t heads,
                           double scale)
{
    rg_tensor *out = rg_tape__tensor(t, q->rows, v->cols, reach->rows);
    if (!out) return NULL;
    rg_tape__count(t, (double)reach->P * (2.0 * (double)(q->cols + v->cols) + 5.0 * (double)heads));
    job g = { q, k, v, out, reach, heads, q->cols / heads, v->cols / heads, 1, (rg_real)scale, rg_tape_team(t) };
    for (size_t i = 0; i < reach->Nq; i++)
        if (reach->first[i + 1] - reach->first[i] > g.most) g.most = reach->first[i + 1] - reach->first[i];
    for (int member = 0; member < rg_team_size(g.team); member++)
        if (!rg_team_scratch(g.team, member, g.most * sizeof(rg_real))) return rg_tape__check(t, RG_ENOMEM), NULL;
    if (rg_tape__live(t)) rg_tape__rows(t, reach->Nq, reach->P / (reach->Nq + 1) * (q->cols + v->cols), query_rows, &g);
    rg_tensor *in[] = { q, k, v };
    rg_tape__node(t, sizeof(rg_node), out, NULL, 3, in); /* counts its depth; the caller saw to it that nothing is recorded */
    return out;
}
