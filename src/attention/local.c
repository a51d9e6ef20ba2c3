/* local.c - local attention (Luong, Pham, Manning 2015, section 3.2): windows around a centre, and the Gaussian that
 * makes a predicted centre learn.
 *
 *     a'(s) = a(s) exp(-(s - p)^2 / (2 sigma^2))        sigma = D/2, positions s = 1 .. S */
#include "attention/reach.h"
#include "autograd/tape.h"
#include "regard/between.h"

#include <math.h>

typedef struct {
    rg_node         node;
    rg_tensor      *a, *p;
    const rg_reach *reach, *whole;
    double          sigma;
} local_node;

static size_t count_of(const rg_reach *r, size_t i) { return r->first[i + 1] - r->first[i]; }

static bool is_whole(rg_tape *t, const rg_reach *whole)
{
    if (whole && whole->begin) return true;
    rg_tape_fail(t, RG_EINVAL, "local attention needs each query's sentence as an interval");
    return false;
}

/* ----------------------------------------------------------------------------------------------------- centres */

void rg_local_init(rg_local *out, rg_params *params, size_t width, size_t hidden)
{
    rg_params_push(params, "local");
    out->w = rg_params_add(params, "w", RG_WEIGHT, width, hidden, RG_INIT_GLOROT, 1);
    out->v = rg_params_add(params, "v", RG_WEIGHT, hidden, 1, RG_INIT_GLOROT, 1);
    rg_params_pop(params);
}

rg_tensor *rg_local_centres(rg_tape *t, const rg_local *local, rg_tensor *x, const rg_reach *whole)
{
    if (!rg_tape__begin(t, "local", 1, &x) || !is_whole(t, whole)) return NULL;
    if (x->rows != whole->Nq) return rg_tape_fail(t, RG_ESHAPE, "%zu rows for %zu queries", x->rows, whole->Nq);
    rg_real *S = rg_tape__reals(t, whole->Nq);
    for (size_t i = 0; S && i < whole->Nq; i++) S[i] = (rg_real)count_of(whole, i);
    if (!S) return NULL;
    rg_tensor *share =
        rg_linear(t, rg_linear(t, x, rg_use(t, local->w), NULL, RG_TANH), rg_use(t, local->v), NULL, RG_SIGMOID);
    return rg_mul(t, share, rg_constant(t, S, whole->Nq, 1, NULL));
}

/* ------------------------------------------------------------------------------------------------------ windows */

/* The keys of `whole` within D of each centre (from 1); a centre outside the sentence is moved to its end. */
static const rg_reach *around(rg_tape *t, const rg_reach *whole, const int64_t *centre, size_t D)
{
    int32_t *begin = rg_tape__keep(t, 2 * (whole->Nq + 1) * sizeof *begin), *end = begin + whole->Nq;
    if (!begin) return NULL;
    const int64_t far = D > INT32_MAX ? INT32_MAX : (int64_t)D;
    for (size_t i = 0; i < whole->Nq; i++) {
        const int64_t S = (int64_t)count_of(whole, i);
        int64_t       c = centre[i] < 1 ? 1 : centre[i];
        if (c > S) c = S;
        const int64_t from = c - far < 1 ? 1 : c - far, to = c + far > S ? S : c + far;
        begin[i] = whole->begin[i] + (int32_t)(S ? from - 1 : 0);
        end[i] = whole->begin[i] + (int32_t)to;
    }
    const rg_reach *r = rg_reach_intervals(t, whole->Nq, whole->Nk, begin, end);
    rg_reach       *grouped = r ? rg_tape__keep(t, sizeof *grouped) : NULL;
    if (!grouped) return NULL;
    *grouped = *r;
    grouped->rows = whole->rows;
    return grouped;
}

const rg_reach *rg_reach_local_m(rg_tape *t, const rg_reach *whole, const int32_t *place, size_t D)
{
    if (!rg_tape__begin(t, "reach", 0, NULL) || !is_whole(t, whole)) return NULL;
    if (!place && !whole->rows) {
        rg_tape_fail(t, RG_EINVAL, "places of queries are neither given nor known from a layout");
        return NULL;
    }
    int64_t *centre = rg_tape__keep(t, (whole->Nq + 1) * sizeof *centre);
    if (!centre) return NULL;
    if (place)
        for (size_t i = 0; i < whole->Nq; i++) centre[i] = (int64_t)place[i] + 1;
    else
        for (size_t g = 0; g < whole->rows->groups; g++)
            for (int32_t i = whole->rows->start[g]; i < whole->rows->start[g + 1]; i++)
                centre[i] = i - whole->rows->start[g] + 1;
    return around(t, whole, centre, D);
}

const rg_reach *rg_reach_local_p(rg_tape *t, const rg_reach *whole, const rg_tensor *p, size_t D)
{
    if (!rg_tape__begin(t, "reach", 0, NULL) || !p || !is_whole(t, whole)) return NULL;
    if (p->rows != whole->Nq || p->cols != 1) {
        rg_tape_fail(t, RG_ESHAPE, "%zu x %zu centres for %zu queries", p->rows, p->cols, whole->Nq);
        return NULL;
    }
    int64_t *centre = rg_tape__keep(t, (whole->Nq + 1) * sizeof *centre);
    for (size_t i = 0; centre && i < whole->Nq; i++) {
        const double S = (double)count_of(whole, i), at = rg_tape__live(t) ? (double)p->data[i * p->ld] : S / 2; /* dry: the widest */
        centre[i] = at > 0 ? (int64_t)floor(fmin(at, S) + 0.5) : 0;
    }
    return centre ? around(t, whole, centre, D) : NULL;
}

/* ----------------------------------------------------------------------------------------------------- Gaussian */

/* s - p of pair j of query i */
static double offset(const local_node *n, size_t i, size_t j)
{
    return (double)(rg_reach__key(n->reach, i, j) - (size_t)n->whole->begin[i] + 1) - (double)n->p->data[i * n->p->ld];
}

static double bell(const local_node *n, double x) { return exp(-x * x / (2 * n->sigma * n->sigma)); }

/* forward was  a' = a g, g = exp(-x^2 / (2 sigma^2)), x = s - p      so  da += g da'     dp += sum a' (x / sigma^2) da' */
static void gaussian_backward(rg_tape *t, rg_node *node)
{
    const local_node *n = (local_node *)node;
    const size_t      H = node->out->cols;
    const rg_real    *dy = rg_tape__arrived(t, node->out);
    rg_real          *da = rg_tape__grad_add(t, n->a), *dp = rg_tape__grad_add(t, n->p);
    for (size_t i = 0; i < n->reach->Nq; i++)
        for (size_t j = n->reach->first[i]; j < n->reach->first[i + 1]; j++) {
            const double x = offset(n, i, j), g = bell(n, x);
            double       slope = 0;
            for (size_t h = 0; h < H; h++) {
                const double d = (double)dy[j * node->out->ld + h];
                if (da) da[j * n->a->ld + h] += (rg_real)(g * d);
                slope += d * (double)n->a->data[j * n->a->ld + h];
            }
            if (dp) dp[i * n->p->ld] += (rg_real)(slope * g * x / (n->sigma * n->sigma));
        }
}

rg_tensor *rg_local_gaussian(rg_tape *t, rg_tensor *a, rg_tensor *p, const rg_reach *reach, const rg_reach *whole,
                             double D)
{
    rg_tensor *in[] = { a, p };
    if (!rg_tape__begin(t, "local_gaussian", 2, in) || !is_whole(t, whole)) return NULL;
    if (!(D > 0)) return rg_tape_fail(t, RG_EINVAL, "a Gaussian of width %g; D must be positive", D);
    if (!reach || a->rows != reach->P || p->rows != reach->Nq || p->cols != 1 || whole->Nq != reach->Nq ||
        whole->Nk != reach->Nk)
        return rg_tape_fail(t, RG_ESHAPE, "%zu weights and %zu centres for %zu pairs of %zu queries", a->rows, p->rows,
                            reach ? reach->P : 0, reach ? reach->Nq : 0);
    rg_tensor *y = rg_tape__tensor(t, a->rows, a->cols, a->layout);
    if (!y) return NULL;
    local_node now = { .node.out = y, .a = a, .p = p, .reach = reach, .whole = whole, .sigma = D / 2 };
    for (size_t i = 0; rg_tape__live(t) && i < reach->Nq; i++)
        for (size_t j = reach->first[i]; j < reach->first[i + 1]; j++) {
            const rg_real g = (rg_real)bell(&now, offset(&now, i, j));
            for (size_t h = 0; h < a->cols; h++) y->data[j * y->ld + h] = g * a->data[j * a->ld + h];
        }
    rg_tape__count(t, (double)a->rows * (double)(a->cols + 5));
    local_node *n = rg_tape__node(t, sizeof *n, y, gaussian_backward, 2, in);
    if (n) now.node = n->node, *n = now;
    return y;
}
