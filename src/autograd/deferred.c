/* deferred.c - rows of weight gradients that wait for the end of backward. */
#include "autograd/deferred.h"

enum {
    FEW_ROWS = 256, /* more make a good product by themselves */
    OFTEN = 4       /* uses from which waiting pays for the copies */
};

struct rg_deferred {
    rg_deferred              *next;
    const struct rg_param *param;
    rg_tensor             *w;
    size_t                 uses, rows, filled; /* rows: of all uses; filled: put down so far */
    rg_real               *a, *dz;             /* (rows, K), (rows, N); NULL until backward asks */
};

static rg_deferred *find(rg_tape *t, const rg_tensor *w)
{
    rg_deferred *l = w && w->param ? *rg_tape__deferred(t) : NULL;
    while (l && l->param != w->param) l = l->next;
    return l;
}

void rg_deferred_use(rg_tape *t, rg_tensor *w, size_t rows)
{
    if (!w || !w->param || rows > FEW_ROWS || !rg_tape__wants(t, w)) return;
    rg_deferred *l = find(t, w);
    if (!l) {
        if (!(l = rg_tape__keep(t, sizeof *l))) return;
        *l = (rg_deferred){ .next = *rg_tape__deferred(t), .param = w->param, .w = w };
        *rg_tape__deferred(t) = l;
    }
    l->uses++;
    l->rows += rows;
    if (l->uses >= OFTEN)
        rg_tape__will_keep(t, (l->uses == OFTEN ? l->rows : rows) * (w->rows + w->cols) * sizeof(rg_real));
}

rg_deferred *rg_deferred_find(rg_tape *t, const rg_tensor *w, size_t rows)
{
    rg_deferred *l = find(t, w);
    if (!l || l->uses < OFTEN || rows > FEW_ROWS || !rg_tape__wants(t, w)) return NULL; /* an inner pass wants no weights */
    if (!l->a) {
        l->a = rg_tape__reals(t, l->rows * w->rows);
        l->dz = rg_tape__reals(t, l->rows * w->cols);
    }
    return l->a && l->dz ? l : NULL;
}

void rg_deferred_add(rg_deferred *l, size_t rows, const rg_real *a, size_t lda, const rg_real *dz, size_t lddz)
{
    const size_t K = l->w->rows, N = l->w->cols;
    rg_rows__copy(rows, K, l->a + l->filled * K, K, a, lda);
    rg_rows__copy(rows, N, l->dz + l->filled * N, N, dz, lddz);
    l->filled += rows;
}

void rg_deferred_flush(rg_tape *t, const struct rg_param *param)
{
    for (rg_deferred *l = *rg_tape__deferred(t); l; l = l->next) {
        const size_t K = l->w->rows, N = l->w->cols, rows = l->filled;
        bool         add;
        if (!rows || (param && l->param != param)) continue;
        rg_real *dw = rg_tape__grad(t, l->w, &add);
        if (dw) rg_tape__check(t, rg_product(rg_tape_team(t), RG_TN, K, N, rows, l->a, K, l->dz, N, dw, l->w->ld, add));
        l->uses = l->rows = l->filled = 0; /* uses recorded after this walk count anew, and have room of their own */
        l->a = l->dz = NULL;
    }
}
