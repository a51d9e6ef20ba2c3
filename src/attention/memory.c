/* memory.c - moving and writing heads. See memory.h. */
#include "attention/memory.h"
#include "attention/reach.h"
#include "autograd/tape.h"

typedef struct {
    rg_node         node;
    rg_tensor      *a, *s, *m;
    const rg_reach *reach;
    size_t          width; /* roll: S */
    bool            erase;
} head_node;

/* ------------------------------------------------------------------------------------------------------------- roll */

/* y[x] += s a[x - j mod n] for n places, `step` numbers apart: two straight runs instead of a division a place. */
static void roll_add(size_t n, size_t step, rg_real *y, size_t by, rg_real s, const rg_real *a, size_t a_step)
{
    for (size_t x = by; x < n; x++) y[x * step] += s * a[(x - by) * a_step];
    for (size_t x = 0; x < by; x++) y[x * step] += s * a[(n + x - by) * a_step];
}

/* How far forward (0 .. n-1) shift k of S moves. */
static size_t forward_by(size_t k, size_t S, size_t n) { return (n * (1 + S) + k - S / 2) % n; }

/* forward was  y(x) = sum_j s(j) a(x - j)      so  da(x) += s(j) dy(x + j)     ds(j) += sum_x dy(x) a(x - j) */
static void roll_backward(rg_tape *t, rg_node *node)
{
    const head_node *n = (head_node *)node;
    const rg_reach  *r = n->reach;
    const size_t     H = node->out->cols, S = n->width, ld = node->out->ld, lda = n->a->ld;
    const rg_real   *dy = rg_tape__arrived(t, node->out);
    rg_real         *da = rg_tape__grad_add(t, n->a), *ds = rg_tape__grad_add(t, n->s);
    for (size_t i = 0; i < r->Nq; i++) {
        const size_t first = r->first[i], count = r->first[i + 1] - first;
        for (size_t h = 0; h < H && count; h++)
            for (size_t k = 0; k < S; k++) {
                const size_t   by = forward_by(k, S, count);
                const rg_real *d = dy + first * ld + h, *a = n->a->data + first * lda + h;
                if (da)
                    roll_add(count, lda, da + first * lda + h, (count - by) % count,
                             n->s->data[i * n->s->ld + h * S + k], d, ld);
                if (!ds) continue;
                rg_real sum = 0;
                for (size_t x = by; x < count; x++) sum += d[x * ld] * a[(x - by) * lda];
                for (size_t x = 0; x < by; x++) sum += d[x * ld] * a[(count + x - by) * lda];
                ds[i * n->s->ld + h * S + k] += sum;
            }
    }
}

rg_tensor *rg_roll(rg_tape *t, rg_tensor *a, rg_tensor *s, const rg_reach *r)
{
    rg_tensor *in[] = { a, s };
    if (!rg_tape__begin(t, "roll", 2, in)) return NULL;
    if (!r || a->rows != r->P || s->rows != r->Nq || s->cols % a->cols)
        return rg_tape_fail(t, RG_ESHAPE, "weights %zu x %zu, shifts %zu x %zu, %zu pairs of %zu queries", a->rows,
                            a->cols, s->rows, s->cols, r ? r->P : 0, r ? r->Nq : 0);
    const size_t H = a->cols, S = s->cols / H;
    rg_tensor   *y = rg_tape__tensor(t, a->rows, H, a->layout);
    if (!y) return NULL;
    if (rg_tape__live(t)) rg_rows__zero(y->rows, H, y->data, y->ld);
    for (size_t i = 0; rg_tape__live(t) && i < r->Nq; i++) {
        const size_t first = r->first[i], count = r->first[i + 1] - first;
        for (size_t h = 0; h < H && count; h++)
            for (size_t k = 0; k < S; k++)
                roll_add(count, y->ld, y->data + first * y->ld + h, forward_by(k, S, count),
                         s->data[i * s->ld + h * S + k], a->data + first * a->ld + h, a->ld);
    }
    rg_tape__count(t, 2.0 * (double)(a->rows * s->cols));
    head_node *n = rg_tape__node(t, sizeof *n, y, roll_backward, 2, in);
    if (n) n->a = a, n->s = s, n->reach = r, n->width = S;
    return y;
}

/* ----------------------------------------------------------------------------------------------------- erase, write */

/* forward was  y = m (1 - w e)      so  dm += dy (1 - w e)     dw -= sum dy m e     de -= w dy m */
static void erase_row(size_t W, const rg_real *dy, const rg_real *m, rg_real w, const rg_real *e, rg_real *dm,
                      rg_real *dw, rg_real *de)
{
    rg_real sum = 0;
    for (size_t c = 0; c < W; c++) {
        const rg_real dym = dy[c] * m[c];
        sum += dym * e[c];
        if (dm) dm[c] += dy[c] * (1 - w * e[c]);
        if (de) de[c] -= w * dym;
    }
    if (dw) *dw -= sum;
}

/* forward was  y = m + w v          so  dm += dy               dw += dy . v         dv += w dy */
static void write_row(size_t W, const rg_real *dy, rg_real w, const rg_real *v, rg_real *dm, rg_real *dw, rg_real *dv)
{
    if (dm) rg_kernel()->axpy(W, dm, 1, dy);
    if (dw) *dw += rg_kernel()->dot(W, dy, v);
    if (dv) rg_kernel()->axpy(W, dv, w, dy);
}

static void change_backward(rg_tape *t, rg_node *node)
{
    const head_node *n = (head_node *)node;
    const rg_reach  *r = n->reach;
    const size_t     W = node->out->cols;
    const rg_real   *dy = rg_tape__arrived(t, node->out);
    rg_real *dm = rg_tape__grad_add(t, n->m), *dw = rg_tape__grad_add(t, n->a), *dv = rg_tape__grad_add(t, n->s);
    for (size_t i = 0; i < r->Nq; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++) {
            const size_t   j = rg_reach__key(r, i, p), at = j * n->m->ld;
            const rg_real *d = dy + j * node->out->ld, *v = n->s->data + i * n->s->ld, w = n->a->data[p * n->a->ld];
            rg_real       *dmj = dm ? dm + at : NULL, *dwp = dw ? dw + p * n->a->ld : NULL,
                    *dvi = dv ? dv + i * n->s->ld : NULL;
            if (n->erase) erase_row(W, d, n->m->data + at, w, v, dmj, dwp, dvi);
            else write_row(W, d, w, v, dmj, dwp, dvi);
        }
}

static rg_tensor *change(rg_tape *t, rg_tensor *m, rg_tensor *w, rg_tensor *v, const rg_reach *r, bool erase)
{
    rg_tensor *in[] = { m, w, v };
    if (!rg_tape__begin(t, erase ? "erase" : "write", 3, in)) return NULL;
    if (!r || w->rows != r->P || w->cols != 1 || m->rows != r->Nk || r->P != r->Nk || v->rows != r->Nq ||
        v->cols != m->cols)
        return rg_tape_fail(t, RG_ESHAPE, "memory %zu x %zu, weights %zu x %zu, vectors %zu x %zu for %zu pairs",
                            m->rows, m->cols, w->rows, w->cols, v->rows, v->cols, r ? r->P : 0);
    const size_t W = m->cols;
    rg_tensor   *y = rg_tape__tensor(t, m->rows, W, m->layout);
    if (!y) return NULL;
    for (size_t i = 0; rg_tape__live(t) && i < r->Nq; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++) {
            const size_t   j = rg_reach__key(r, i, p);
            const rg_real *from = m->data + j * m->ld, *x = v->data + i * v->ld, a = w->data[p * w->ld];
            rg_real       *to = y->data + j * y->ld;
            for (size_t c = 0; c < W; c++) to[c] = erase ? from[c] * (1 - a * x[c]) : from[c] + a * x[c];
        }
    rg_tape__count(t, 3.0 * (double)(m->rows * W));
    head_node *n = rg_tape__node(t, sizeof *n, y, change_backward, 3, in);
    if (n) n->m = m, n->a = w, n->s = v, n->reach = r, n->erase = erase;
    return y;
}

rg_tensor *rg_erase(rg_tape *t, rg_tensor *m, rg_tensor *w, rg_tensor *e, const rg_reach *r)
{
    return change(t, m, w, e, r, true);
}
rg_tensor *rg_write(rg_tape *t, rg_tensor *m, rg_tensor *w, rg_tensor *v, const rg_reach *r)
{
    return change(t, m, w, v, r, false);
}
