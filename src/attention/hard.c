/* hard.c - hard attention: one key drawn from the weights instead of a mixture of all (Xu et al. 2015, section 4.1),
 * its score-function loss, and the Gumbel softmax.
 *
 *     j ~ Categorical(a)     loss = - lambda_r (R - b) log a_j - lambda_e H(a)
 *
 * R and b are constants there, so the gradient of it is Williams' estimator of d E[R]; the mean of R moves b (a kept
 * value). */
#include "autograd/tape.h"
#include "regard/between.h"

#include <math.h>
#include <string.h>

/* Two uniform numbers of query i and head h: from seed, step, op, the query's row in the whole batch and the head. */
typedef struct {
    uint32_t key[2];
    uint64_t stream, first;
} draw;

static draw new_draw(rg_tape *t, const rg_reach *reach)
{
    draw d = { .first = reach->rows ? reach->rows->first : 0 };
    d.stream = rg_tape__draw(t, d.key);
    return d;
}

static double uniform(const draw *d, size_t row, size_t place)
{
    const uint64_t at = d->first + row;
    const uint32_t counter[4] = { (uint32_t)at, (uint32_t)(at >> 32) ^ (uint32_t)d->stream, (uint32_t)place,
                                  (uint32_t)((uint64_t)place >> 32) };
    uint32_t       out[4];
    rg_philox(out, counter, d->key);
    return ((double)(((uint64_t)out[0] << 21) ^ (uint64_t)(out[1] >> 11)) + 0.5) / 9007199254740992.0; /* inside (0, 1) */
}

static bool fits(rg_tape *t, const rg_tensor *a, const rg_reach *reach)
{
    if (reach && a->rows == reach->P) return true;
    rg_tape_fail(t, RG_ESHAPE, "%zu weights for %zu pairs", a->rows, reach ? reach->P : 0);
    return false;
}

/* ------------------------------------------------------------------------------------------------------- picking */

/* The pair whose part of [0, sum of weights) holds u; rounding may leave u past the end, which is the last with a
 * weight. */
static size_t find(const rg_tensor *a, size_t first, size_t end, size_t h, double u)
{
    double sum = 0, below = 0;
    size_t last = first;
    for (size_t p = first; p < end; p++) sum += (double)a->data[p * a->ld + h];
    for (size_t p = first; p < end; p++) {
        const double w = (double)a->data[p * a->ld + h];
        if (!(w > 0)) continue;
        last = p;
        below += w;
        if (u * sum < below) break;
    }
    return last;
}

static size_t largest(const rg_tensor *a, size_t first, size_t end, size_t h)
{
    size_t best = first;
    for (size_t p = first + 1; p < end; p++)
        if (a->data[p * a->ld + h] > a->data[best * a->ld + h]) best = p;
    return best;
}

static rg_tensor *pick(rg_tape *t, rg_tensor *a, const rg_reach *reach, const draw *d)
{
    rg_tensor *y = rg_tape__tensor(t, a->rows, a->cols, a->layout);
    if (!y) return NULL;
    if (rg_tape__live(t)) memset(y->data, 0, y->rows * y->ld * sizeof *y->data);
    for (size_t i = 0; rg_tape__live(t) && i < reach->Nq; i++) {
        const size_t first = reach->first[i], end = reach->first[i + 1];
        for (size_t h = 0; first < end && h < a->cols; h++) {
            const size_t p = d ? find(a, first, end, h, uniform(d, i, h)) : largest(a, first, end, h);
            y->data[p * y->ld + h] = 1;
        }
    }
    rg_tape__count(t, 2.0 * (double)(a->rows * a->cols));
    return y;
}

rg_tensor *rg_hard_sample(rg_tape *t, rg_tensor *a, const rg_reach *reach)
{
    if (!rg_tape__begin(t, "hard_sample", 1, &a) || !fits(t, a, reach)) return NULL;
    const draw d = new_draw(t, reach);
    return pick(t, a, reach, &d);
}

rg_tensor *rg_hard_argmax(rg_tape *t, rg_tensor *a, const rg_reach *reach)
{
    return rg_tape__begin(t, "hard_argmax", 1, &a) && fits(t, a, reach) ? pick(t, a, reach, NULL) : NULL;
}

/* --------------------------------------------------------------------- sums over a query's pairs and heads: (Nq, 1) */

typedef struct {
    rg_node         node;
    rg_tensor      *a;
    const rg_tensor *picked; /* NULL: entropy */
    const rg_reach *reach;
} sum_node;

/* forward was  y = sum picked log a      so  da += picked / a dy
 *              y = - sum a log a             da -= (log a + 1) dy; a weight of 0 stays where it is */
static void sum_backward(rg_tape *t, rg_node *node)
{
    const sum_node *n = (sum_node *)node;
    const rg_real  *dy = rg_tape__arrived(t, node->out);
    rg_real        *da = rg_tape__grad_add(t, n->a);
    for (size_t i = 0; da && i < n->reach->Nq; i++)
        for (size_t p = n->reach->first[i]; p < n->reach->first[i + 1]; p++)
            for (size_t h = 0; h < n->a->cols; h++) {
                const double a = (double)n->a->data[p * n->a->ld + h], d = (double)dy[i * node->out->ld];
                if (!(a > 0)) continue;
                const double slope = n->picked ? (double)n->picked->data[p * n->picked->ld + h] / a : -(log(a) + 1);
                da[p * n->a->ld + h] += (rg_real)(d * slope);
            }
}

static rg_tensor *sum_logs(rg_tape *t, rg_tensor *a, const rg_tensor *picked, const rg_reach *reach)
{
    rg_tensor *y = rg_tape__tensor(t, reach->Nq, 1, reach->rows);
    if (!y) return NULL;
    for (size_t i = 0; rg_tape__live(t) && i < reach->Nq; i++) {
        double sum = 0;
        for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++)
            for (size_t h = 0; h < a->cols; h++) {
                const double w = (double)a->data[p * a->ld + h],
                             by = picked ? (double)picked->data[p * picked->ld + h] : -w;
                if (by != 0) sum += by * log(w);
            }
        y->data[i] = (rg_real)sum;
    }
    rg_tape__count(t, 3.0 * (double)(a->rows * a->cols));
    sum_node *n = rg_tape__node(t, sizeof *n, y, sum_backward, 1, &a);
    if (n) n->a = a, n->picked = picked, n->reach = reach;
    return y;
}

rg_tensor *rg_log_picked(rg_tape *t, rg_tensor *a, rg_tensor *picked, const rg_reach *reach)
{
    rg_tensor *in[] = { a, picked };
    if (!rg_tape__begin(t, "log_picked", 2, in) || !fits(t, a, reach)) return NULL;
    if (picked->rows != a->rows || picked->cols != a->cols)
        return rg_tape_fail(t, RG_ESHAPE, "weights %zu x %zu, picks %zu x %zu", a->rows, a->cols, picked->rows,
                            picked->cols);
    return sum_logs(t, a, picked, reach);
}

rg_tensor *rg_entropy_over(rg_tape *t, rg_tensor *a, const rg_reach *reach)
{
    return rg_tape__begin(t, "entropy_over", 1, &a) && fits(t, a, reach) ? sum_logs(t, a, NULL, reach) : NULL;
}

/* ---------------------------------------------------------------------------------------------------------- loss */

void rg_hard_init(rg_hard *hard, rg_params *params)
{
    hard->baseline = rg_params_add(params, "baseline", RG_KEPT, 1, 1, RG_INIT_ZERO, 0);
}

bool rg_hard_coin(rg_tape *t, const rg_hard *hard)
{
    if (!rg_tape_learning(t)) return false;
    draw d = { 0 };
    d.stream = rg_tape__draw(t, d.key);
    return uniform(&d, 0, 0) < hard->soft_share;
}

rg_tensor *rg_hard_loss(rg_tape *t, rg_hard *hard, rg_tensor *a, rg_tensor *picked, const rg_real *reward,
                        const rg_reach *reach)
{
    rg_tensor *in[] = { a, picked };
    if (!rg_tape__begin(t, "hard_loss", 2, in) || !fits(t, a, reach)) return NULL;
    rg_real *by = rg_tape__reals(t, reach->Nq + 1);
    if (!by) return NULL;
    const double b = hard->baseline ? (double)*rg_param_data(hard->baseline) : 0;
    double       sum = 0;
    for (size_t i = 0; rg_tape__live(t) && i < reach->Nq; i++) {
        by[i] = (rg_real)(-hard->reward * ((double)reward[i] - b));
        sum += (double)reward[i];
    }
    rg_real *move = reach->Nq && hard->baseline ? rg_tape__moves(t, hard->baseline) : NULL;
    if (move) *move += (rg_real)((1 - hard->decay) * (sum / (double)reach->Nq - b));
    rg_tensor *term = rg_mul(t, rg_log_picked(t, a, picked, reach), rg_constant(t, by, reach->Nq, 1, NULL));
    return rg_sum(t, rg_add(t, term, rg_scale(t, rg_entropy_over(t, a, reach), -hard->entropy)));
}

/* -------------------------------------------------------------------------------------------------------- Gumbel */

rg_tensor *rg_gumbel_over(rg_tape *t, rg_tensor *e, const rg_reach *reach, double temperature)
{
    if (!rg_tape__begin(t, "gumbel_over", 1, &e) || !fits(t, e, reach)) return NULL;
    if (!(temperature > 0)) return rg_tape_fail(t, RG_EINVAL, "a temperature of %g; it must be positive", temperature);
    if (rg_tape_learning(t)) {
        const draw d = new_draw(t, reach);
        rg_real   *g = rg_tape__reals(t, e->rows * e->cols);
        if (!g) return NULL;
        for (size_t i = 0; rg_tape__live(t) && i < reach->Nq; i++)
            for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++)
                for (size_t h = 0; h < e->cols; h++)
                    g[p * e->cols + h] = (rg_real)-log(-log(uniform(&d, i, (p - reach->first[i]) * e->cols + h)));
        e = rg_add(t, e, rg_constant(t, g, e->rows, e->cols, NULL));
    }
    return rg_softmax_over(t, rg_scale(t, e, 1 / temperature), reach);
}
