/* guided.c - guided attention (Chen et al. 2016, "Guided alignment training for topic-aware neural machine
 * translation"; Garg et al. 2019, "Jointly learning to align and translate with Transformer models"):
 *
 *     L = - sum_i log m_i        m_i = sum_{j linked with i} a_ij        over the queries i that have a link
 *
 * For one link this is the cross-entropy of the weights with the link. Of several, such as the subwords of one
 * word, the sum counts: how the weights are spread over them is the model's affair. */
#include "attention/guided.h"

#include "autograd/tape.h"

#include <math.h>

#define TINY 1e-6 /* added to m: a weight that has vanished still has a gradient */

typedef struct {
    rg_node              node;
    rg_tensor           *a;
    const rg_reach      *reach;
    const unsigned char *mark;
    size_t               from, heads; /* columns that count */
} guided_node;

static double mass_of(const guided_node *n, size_t i)
{
    double sum = 0;
    for (size_t p = n->reach->first[i]; p < n->reach->first[i + 1]; p++)
        for (size_t h = n->from; n->mark[p] && h < n->from + n->heads; h++) sum += (double)n->a->data[p * n->a->ld + h];
    return sum / (double)n->heads;
}

static bool linked(const guided_node *n, size_t i)
{
    for (size_t p = n->reach->first[i]; p < n->reach->first[i + 1]; p++)
        if (n->mark[p]) return true;
    return false;
}

/* forward was  L = - sum_i log m_i, m_i = sum_j a_ij / H     so  da_ij = - 1 / (H m_i) for linked j */
static void guided_backward(rg_tape *t, rg_node *node)
{
    const guided_node *n = (const guided_node *)node;
    const double       d = (double)*rg_tape__arrived(t, node->out);
    rg_real           *da = rg_tape__grad_add(t, n->a);
    for (size_t i = 0; da && i < n->reach->Nq; i++) {
        if (!linked(n, i)) continue;
        const rg_real each = (rg_real)(-d / ((double)n->heads * (mass_of(n, i) + TINY)));
        for (size_t p = n->reach->first[i]; p < n->reach->first[i + 1]; p++)
            for (size_t h = n->from; n->mark[p] && h < n->from + n->heads; h++) da[p * n->a->ld + h] += each;
    }
}

rg_tensor *rg_guided_loss(rg_tape *t, rg_tensor *a, const rg_reach *reach, const unsigned char *mark, int head)
{
    if (!rg_tape__begin(t, "guided_loss", 1, &a)) return NULL;
    if (!reach || a->rows != reach->P || (head >= 0 && (size_t)head >= a->cols))
        return rg_tape_fail(t, RG_ESHAPE,
                            "weights of %zu pairs and %zu heads, of which head %d over %zu pairs is guided", a->rows,
                            a->cols, head, reach ? reach->P : 0);
    rg_tensor *y = rg_tape__tensor(t, 1, 1, NULL);
    if (!y) return NULL;
    guided_node now = { .node.out = y, .a = a, .reach = reach, .mark = mark };
    now.from = head < 0 ? 0 : (size_t)head;
    now.heads = head < 0 ? a->cols : 1;
    double sum = 0;
    for (size_t i = 0; rg_tape__live(t) && i < reach->Nq; i++)
        if (linked(&now, i)) sum -= log(mass_of(&now, i) + TINY);
    if (rg_tape__live(t)) y->data[0] = (rg_real)sum;
    guided_node *n = rg_tape__node(t, sizeof *n, y, guided_backward, 1, &a);
    if (n) now.node = n->node, *n = now;
    return y;
}
