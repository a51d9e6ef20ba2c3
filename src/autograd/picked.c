/* picked.c - see picked.h. Columns are copied from pack to pack, so a parameter that keeps nothing else will do. */
#include "autograd/picked.h"

#include <string.h>

#include "autograd/tape.h"
#include "tensor/product.h"

/* Element (k, n) of the right side, from the numbers themselves. */
static rg_real element(const rg_param *w, size_t k, size_t n)
{
    return w->kind == RG_WEIGHT ? w->data[k * w->cols + n] : w->data[n * w->cols + k];
}

static void gather(rg_picked *p, const rg_param *w, const int32_t *ids, size_t n)
{
    const size_t   K = p->pack.K;
    const rg_real *from = w->forward.data;
    memset(p->room, 0, rg_pack_size(K, n) * sizeof *p->room);
    for (size_t j = 0; j < n; j++) {
        const size_t id = (size_t)ids[j];
        rg_real     *to = p->room + j / RG_PANEL * K * RG_PANEL + j % RG_PANEL;
        if (from) {
            const rg_real *column = from + id / RG_PANEL * K * RG_PANEL + id % RG_PANEL;
            for (size_t k = 0; k < K; k++) to[k * RG_PANEL] = column[k * RG_PANEL];
        } else {
            for (size_t k = 0; k < K; k++) to[k * RG_PANEL] = element(w, k, id);
        }
    }
}

static rg_status make_room(rg_real **block, size_t *room, size_t numbers)
{
    if (numbers <= *room) return RG_OK;
    rg_real *larger = rg_realloc(*block, numbers * sizeof **block);
    if (!larger) return RG_ENOMEM;
    *block = larger;
    *room = numbers;
    return RG_OK;
}

static rg_status set_bias(rg_picked *p, const rg_param *bias, const int32_t *ids, size_t n)
{
    p->biased = bias != NULL;
    if (!bias) return RG_OK;
    RG_TRY(make_room(&p->bias, &p->biases, n));
    for (size_t j = 0; j < n; j++) p->bias[j] = bias->data[ids[j]];
    return RG_OK;
}

rg_status rg_picked_set(rg_picked *p, const rg_param *w, const rg_param *bias, const int32_t *ids, size_t n)
{
    const size_t K = w->kind == RG_WEIGHT ? w->rows : w->cols, N = w->kind == RG_WEIGHT ? w->cols : w->rows;
    p->w = NULL;
    for (size_t j = 0; j < n; j++)
        if (ids[j] < 0 || (size_t)ids[j] >= N)
            return rg_fail(RG_EINVAL, "output %d is not among the %zu of %s", ids[j], N, w->name);
    RG_TRY(set_bias(p, bias, ids, n));
    p->pack = (rg_pack){ .K = K, .N = n };
    if (rg_param__is_small(w)) {
        rg_small_fini(&p->small);
        RG_TRY(rg_small_init(&p->small, w->small.kind, K, n));
        rg_small_pick(&p->small, &w->small, ids);
        p->pack.small = &p->small;
    } else {
        RG_TRY(make_room(&p->room, &p->numbers, rg_pack_size(K, n)));
        gather(p, w, ids, n);
        p->pack.data = p->room;
    }
    p->w = w;
    return RG_OK;
}

void rg_picked_fini(rg_picked *p)
{
    rg_small_fini(&p->small);
    rg_free(p->room);
    rg_free(p->bias);
    *p = (rg_picked){ 0 };
}

rg_tensor *rg_linear_picked(rg_tape *t, rg_tensor *x, const rg_picked *p)
{
    if (!rg_tape__begin(t, "linear_picked", 1, &x)) return NULL;
    if (x->cols != p->pack.K)
        return rg_tape_fail(t, RG_ESHAPE, "rows of %zu numbers for outputs of %zu", x->cols, p->pack.K);
    rg_tensor *y = rg_tape__tensor(t, x->rows, p->pack.N, x->layout);
    if (!y) return NULL;
    rg_tape__count(t, 2.0 * (double)x->rows * (double)p->pack.N * (double)p->pack.K);
    if (rg_tape__live(t))
        rg_tape__check(t, rg_product_packed(rg_tape_team(t), x->rows, x->data, x->ld, &p->pack, y->data, y->ld, false,
                                            p->biased ? p->bias : NULL, RG_IDENTITY));
    return rg_tape_status(t) == RG_OK ? y : NULL;
}
