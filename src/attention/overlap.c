/* overlap.c - sums over the keys of each query: weights made to sum to 1 again, and the penalty that keeps several
 * rows of attention apart (Lin et al. 2017). */
#include "autograd/tape.h"
#include "regard/between.h"

typedef struct {
    rg_node         node;
    rg_tensor      *a;
    const rg_reach *reach;
} over_node;

static bool fits(rg_tape *t, const rg_tensor *a, const rg_reach *reach)
{
    if (reach && a->rows == reach->P) return true;
    rg_tape_fail(t, RG_ESHAPE, "%zu weights for %zu pairs", a->rows, reach ? reach->P : 0);
    return false;
}

/* --------------------------------------------------------------------------------------------------- normalise */

static double column_sum(const rg_tensor *a, const rg_reach *r, size_t i, size_t h)
{
    double sum = 0;
    for (size_t p = r->first[i]; p < r->first[i + 1]; p++) sum += (double)a->data[p * a->ld + h];
    return sum;
}

/* forward was  y = a / s, s = sum a      so  da += (dy - sum y dy) / s */
static void normalise_backward(rg_tape *t, rg_node *node)
{
    const over_node *n = (over_node *)node;
    const rg_tensor *y = node->out;
    const rg_real   *dy = rg_tape__arrived(t, node->out);
    rg_real         *da = rg_tape__grad_add(t, n->a);
    for (size_t i = 0; da && i < n->reach->Nq; i++)
        for (size_t h = 0; h < y->cols; h++) {
            const double sum = column_sum(n->a, n->reach, i, h);
            double       shared = 0;
            for (size_t p = n->reach->first[i]; p < n->reach->first[i + 1]; p++)
                shared += (double)y->data[p * y->ld + h] * (double)dy[p * y->ld + h];
            for (size_t p = n->reach->first[i]; sum != 0 && p < n->reach->first[i + 1]; p++)
                da[p * n->a->ld + h] += (rg_real)(((double)dy[p * y->ld + h] - shared) / sum);
        }
}

rg_tensor *rg_normalise_over(rg_tape *t, rg_tensor *a, const rg_reach *reach)
{
    if (!rg_tape__begin(t, "normalise_over", 1, &a) || !fits(t, a, reach)) return NULL;
    rg_tensor *y = rg_tape__tensor(t, a->rows, a->cols, a->layout);
    if (!y) return NULL;
    for (size_t i = 0; rg_tape__live(t) && i < reach->Nq; i++)
        for (size_t h = 0; h < a->cols; h++) {
            const double sum = column_sum(a, reach, i, h);
            for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++)
                y->data[p * y->ld + h] = sum != 0 ? (rg_real)((double)a->data[p * a->ld + h] / sum) : 0;
        }
    rg_tape__count(t, 2.0 * (double)(a->rows * a->cols));
    over_node *n = rg_tape__node(t, sizeof *n, y, normalise_backward, 1, &a);
    if (n) n->a = a, n->reach = reach;
    return y;
}

/* ----------------------------------------------------------------------------------------------------- overlap */

/* (A A^T - I) of query i at rows g, h */
static double excess(const rg_tensor *a, const rg_reach *r, size_t i, size_t g, size_t h)
{
    double sum = g == h ? -1 : 0;
    for (size_t p = r->first[i]; p < r->first[i + 1]; p++)
        sum += (double)a->data[p * a->ld + g] * (double)a->data[p * a->ld + h];
    return sum;
}

/* forward was  y = sum_gh E_gh^2, E = A A^T - I      so  dA += 4 E A dy */
static void overlap_backward(rg_tape *t, rg_node *node)
{
    const over_node *n = (over_node *)node;
    const rg_reach  *r = n->reach;
    const double     d = 4 * (double)*rg_tape__arrived(t, node->out);
    rg_real         *da = rg_tape__grad_add(t, n->a);
    for (size_t i = 0; da && i < r->Nq; i++)
        for (size_t g = 0; g < n->a->cols && r->first[i + 1] > r->first[i]; g++)
            for (size_t h = 0; h < n->a->cols; h++) {
                const double e = d * excess(n->a, r, i, g, h);
                for (size_t p = r->first[i]; p < r->first[i + 1]; p++)
                    da[p * n->a->ld + g] += (rg_real)(e * (double)n->a->data[p * n->a->ld + h]);
            }
}

/* A query that reaches nothing has no rows and costs nothing. */
rg_tensor *rg_overlap_penalty(rg_tape *t, rg_tensor *a, const rg_reach *reach)
{
    if (!rg_tape__begin(t, "overlap_penalty", 1, &a) || !fits(t, a, reach)) return NULL;
    rg_tensor *y = rg_tape__tensor(t, 1, 1, NULL);
    if (!y) return NULL;
    double sum = 0;
    for (size_t i = 0; rg_tape__live(t) && i < reach->Nq; i++)
        for (size_t g = 0; g < a->cols && reach->first[i + 1] > reach->first[i]; g++)
            for (size_t h = 0; h < a->cols; h++) {
                const double e = excess(a, reach, i, g, h);
                sum += e * e;
            }
    if (rg_tape__live(t)) y->data[0] = (rg_real)sum;
    rg_tape__count(t, 2.0 * (double)a->rows * (double)a->cols * (double)a->cols);
    over_node *n = rg_tape__node(t, sizeof *n, y, overlap_backward, 1, &a);
    if (n) n->a = a, n->reach = reach;
    return y;
}
