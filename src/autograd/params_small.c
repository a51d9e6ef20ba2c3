/* params_small.c - parameters whose weights and tables are kept in one or two bytes a number (tensor/int8.h), for
 * answering only.
 *
 *     weight (in, out)           right side of x w: a scale per column
 *     table, tied table (V, D)   right side of x w^T, rows are looked up: a scale per row */
#include <string.h>

#include "autograd/params.h"

enum { LEAST_NUMBERS = 64 };

static const char *const names[] = { "stored", "f32", "bf16", "int8" };

const char *rg_weights_name(rg_weights weights) { return names[weights]; }

bool rg_weights_find(rg_weights *out, const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) != 0) continue;
        *out = (rg_weights)i;
        return true;
    }
    return false;
}

void rg_params_set_weights(rg_params *p, rg_weights weights) { p->weights = weights; }
rg_weights rg_params_get_weights(const rg_params *p)
{
    return p->weights == RG_WEIGHT_STORED ? RG_WEIGHT_F32 : p->weights;
}

static size_t depth_of(const rg_param *e) { return e->kind == RG_WEIGHT ? e->rows : e->cols; }

static bool to_be_small(const rg_params *p, const rg_param *e)
{
    const bool right_kind = e->kind == RG_WEIGHT || e->kind == RG_TIED || e->kind == RG_TABLE;
    return right_kind && e->rows * e->cols >= LEAST_NUMBERS &&
           (p->weights == RG_WEIGHT_BF16 || depth_of(e) <= RG_INT8_MOST_K);
}

/* Packs for what can be small, a block of numbers for the rest. */
rg_status rg_params__make_small(rg_params *p)
{
    size_t numbers = 0, at = 0;
    if (p->status != RG_OK) return rg_fail(p->status, "%s", p->message);
    if (p->block || p->slim) return rg_fail(RG_EINVAL, "the parameters are built already");
    for (size_t i = 0; i < p->count; i++)
        if (!to_be_small(p, p->entry[i])) numbers += rg_param__room(p->entry[i]);
    if (!(p->slim = rg_alloc_zero((numbers + 1) * sizeof *p->slim))) return RG_ENOMEM;
    for (size_t i = 0; i < p->count; i++) {
        rg_param *e = p->entry[i];
        if (!to_be_small(p, e)) {
            e->data = p->slim + at;
            at += rg_param__room(e);
            continue;
        }
        e->data = NULL;
        RG_TRY(rg_small_init(&e->small, p->weights == RG_WEIGHT_INT8 ? RG_SMALL_INT8 : RG_SMALL_BF16, depth_of(e),
                             rg_param__scales(e)));
        if (e->kind != RG_TABLE) e->forward = (rg_pack){ e->small.K, e->small.N, NULL, &e->small };
    }
    return RG_OK;
}

/* From float32 in the block to what make_small() makes room for. */
rg_status rg_params_convert(rg_params *p, rg_weights weights)
{
    if (!p->block || weights < RG_WEIGHT_BF16)
        return rg_fail(RG_EINVAL, "parameters are converted from float32 to bf16 or int8");
    rg_real   *block = p->block, *forward = p->forward, *transposed = p->transposed;
    rg_status  status;
    float     *numbers = rg_alloc_array(p->numbers + 1, sizeof *numbers); /* rg_real may be double */
    if (!numbers) return RG_ENOMEM;
    for (size_t i = 0; i < p->numbers; i++) numbers[i] = (float)block[i];
    p->block = p->forward = p->transposed = NULL;
    p->weights = weights;
    for (size_t i = 0; i < p->count; i++) p->entry[i]->forward = p->entry[i]->transposed = (rg_pack){ 0 };
    status = rg_params_build_empty(p);
    for (size_t i = 0; status == RG_OK && i < p->count; i++) {
        rg_param    *e = p->entry[i];
        const float *from = numbers + e->offset;
        if (rg_param__is_small(e)) rg_param__fill(e, from);
        else
            for (size_t j = 0; j < e->rows * e->cols; j++) e->data[j] = (rg_real)from[j];
    }
    rg_free(numbers);
    rg_free(block);
    rg_free(forward);
    rg_free(transposed);
    return status == RG_OK ? rg_params_repack(p, NULL) : status;
}

/* From one k, and from one column of the right side, to the next. */
static size_t row_step(const rg_param *e) { return e->kind == RG_WEIGHT ? e->cols : 1; }
static size_t column_step(const rg_param *e) { return e->kind == RG_WEIGHT ? 1 : e->cols; }

void rg_param__fill(rg_param *e, const float *numbers)
{
    rg_small_set(&e->small, 0, e->small.N, numbers, row_step(e), column_step(e));
}

void rg_param__fill_int8(rg_param *e, const int8_t *q, const float *scale)
{
    rg_small_put_int8(&e->small, q, row_step(e), column_step(e), scale);
}

void rg_param__read_int8(const rg_param *e, int8_t *q, float *scale)
{
    rg_small_get_int8(&e->small, q, row_step(e), column_step(e), scale);
}

void rg_param__row(const rg_param *e, size_t row, rg_real *y)
{
    if (e->kind == RG_WEIGHT) rg_small_row(&e->small, row, y);
    else rg_small_column(&e->small, row, y);
}
