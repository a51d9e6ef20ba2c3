/* trail.c - what a convolution needs of a decoder's past: rows, and for each hypothesis a short list of the last of
 * them, newest first.
 *
 *     rows      0 1 2 | 3 4 5 | 6 7 8          three hypotheses, three steps; the last beam kept 4, 4, 3
 *     lists     6 4 1 | 7 4 1 | 8 3 0          reach 3; -1 stands for what was before the first step */
#include "regard/trail.h"

#include "autograd/tape.h"

#include <string.h>

typedef struct {
    rg_real *row;
    size_t   cols, room; /* room in numbers */
} store;

struct rg_trail {
    size_t   layers, reach;
    store   *store;
    size_t   n, rows; /* hypotheses now, rows in all  */
    bool     begun;
    int32_t *last, *spare; /* (n, reach) row numbers       */
    size_t   room;         /* hypotheses they have room for */
};

rg_status rg_trail_new(rg_trail **out, size_t layers, size_t reach)
{
    *out = NULL;
    rg_trail *p = rg_alloc_zero(sizeof *p);
    store    *s = rg_alloc_zero((layers + 1) * sizeof *s);
    if (!p || !s) {
        rg_free(p);
        rg_free(s);
        return RG_ENOMEM;
    }
    *p = (rg_trail){ .layers = layers, .reach = reach ? reach : 1, .store = s };
    *out = p;
    return RG_OK;
}

void rg_trail_free(rg_trail *p)
{
    if (!p) return;
    for (size_t l = 0; l < p->layers; l++) rg_free(p->store[l].row);
    rg_free(p->store);
    rg_free(p->last);
    rg_free(p->spare);
    rg_free(p);
}

void rg_trail_clear(rg_trail *p)
{
    p->n = p->rows = 0;
    p->begun = false;
}

static rg_status make_room(rg_trail *p, size_t n)
{
    size_t numbers, bytes;
    if (n <= p->room) return RG_OK;
    if (!rg_size_mul(&numbers, n, p->reach) || !rg_size_mul(&bytes, numbers, sizeof *p->last))
        return rg_fail(RG_ELIMIT, "%zu hypotheses with %zu past rows do not fit in memory", n, p->reach);
    int32_t *last = rg_realloc(p->last, bytes);
    if (last) p->last = last;
    int32_t *spare = last ? rg_realloc(p->spare, bytes) : NULL;
    if (spare) p->spare = spare;
    if (!spare) return RG_ENOMEM;
    p->room = n;
    return RG_OK;
}

void rg_trail_step(rg_tape *t, rg_trail *p, size_t n)
{
    if (!rg_tape__begin(t, "past", 0, NULL)) return;
    if (p->begun && n != p->n) {
        rg_tape_fail(t, RG_EINVAL, "a step of %zu hypotheses after %zu were kept", n, p->n);
        return;
    }
    if (p->rows + n > INT32_MAX) {
        rg_tape_fail(t, RG_ELIMIT, "more than %d past rows", INT32_MAX);
        return;
    }
    const rg_status status = make_room(p, n);
    rg_tape__check(t, status);
    if (status != RG_OK) return;
    for (size_t i = 0; i < n; i++) { /* the lists move on by one */
        int32_t *list = p->last + i * p->reach;
        if (!p->begun) memset(list, 0xff, p->reach * sizeof *list); /* -1 */
        memmove(list + 1, list, (p->reach - 1) * sizeof *list);
        list[0] = (int32_t)(p->rows + i);
    }
    p->begun = true;
    p->n = n;
    p->rows += n;
}

/* The newest rows of a layer go into its store. */
static bool put(rg_tape *t, const rg_trail *p, store *s, const rg_tensor *x)
{
    size_t numbers, bytes;
    if (x->rows != p->n || (p->rows > p->n && s->cols != x->cols)) {
        rg_tape_fail(t, RG_ESHAPE, "%zu rows of %zu for %zu hypotheses with rows of %zu", x->rows, x->cols, p->n,
                     s->cols);
        return false;
    }
    if (!rg_size_mul(&numbers, p->rows, x->cols) || !rg_size_mul(&bytes, numbers, 2 * sizeof *s->row)) {
        rg_tape_fail(t, RG_ELIMIT, "%zu past rows do not fit in memory", p->rows);
        return false;
    }
    if (numbers > s->room) {
        rg_real *larger = rg_realloc(s->row, bytes);
        if (!larger) {
            rg_tape_fail(t, RG_ENOMEM, "no memory for %zu past rows", p->rows);
            return false;
        }
        s->row = larger;
        s->room = 2 * numbers;
    }
    s->cols = x->cols;
    if (rg_tape__live(t)) rg_rows__copy(x->rows, x->cols, s->row + (p->rows - p->n) * x->cols, x->cols, x->data, x->ld);
    return true;
}

rg_tensor *rg_trail_window(rg_tape *t, rg_trail *p, size_t layer, rg_tensor *x, size_t taps, size_t dilation)
{
    if (!rg_tape__begin(t, "past", 1, &x)) return NULL;
    if (layer >= p->layers || taps < 1 || (taps - 1) * dilation + 1 > p->reach)
        return rg_tape_fail(t, RG_EINVAL, "layer %zu of %zu, %zu taps %zu apart: the past reaches %zu rows back", layer,
                            p->layers, taps, dilation, p->reach);
    store *s = &p->store[layer];
    if (!put(t, p, s, x)) return NULL;
    const size_t D = x->cols;
    rg_tensor   *out = rg_tape__tensor(t, p->n, taps * D, NULL);
    for (size_t i = 0; out && rg_tape__live(t) && i < p->n; i++)
        for (size_t k = 0; k < taps; k++) {
            const int32_t row = p->last[i * p->reach + (taps - 1 - k) * dilation];
            rg_real      *to = out->data + i * out->ld + k * D;
            if (row < 0) memset(to, 0, D * sizeof *to);
            else memcpy(to, s->row + (size_t)row * D, D * sizeof *to);
        }
    return out;
}

rg_status rg_trail_keep(rg_trail *p, const int32_t *parents, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (parents[i] < 0 || (size_t)parents[i] >= p->n)
            return rg_fail(RG_EINVAL, "row %zu continues row %d; there were %zu", i, parents[i], p->n);
    RG_TRY(make_room(p, n));
    for (size_t i = 0; i < n; i++)
        memcpy(p->spare + i * p->reach, p->last + (size_t)parents[i] * p->reach, p->reach * sizeof *p->last);
    int32_t *swap = p->last;
    p->last = p->spare;
    p->spare = swap;
    p->n = n;
    return RG_OK;
}
