/* checkpoint_small.c - weights of 8 and 16 bits in files.
 *
 *     NAME          I8   (rows, cols)                             NAME        BF16 (rows, cols)
 *     NAME.scale    F32  (1, cols) of a weight, (rows, 1) of a table          so that NAME * NAME.scale is the weight */
#include <string.h>

#include "regard/safetensors.h"
#include "train/checkpoint.h"

static bool is_scale_of(const char *scale, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(scale, name, n) == 0 && strcmp(scale + n, RG_CHECKPOINT_SCALE) == 0;
}

static const rg_safetensors_entry *scale_of(const rg_safetensors *file, const char *name)
{
    for (size_t i = 0; i < rg_safetensors_count(file); i++)
        if (is_scale_of(rg_safetensors_at(file, i)->name, name)) return rg_safetensors_at(file, i);
    return NULL;
}

bool rg_checkpoint__is_scale(const rg_safetensors *file, const rg_params *params, const char *name)
{
    for (size_t i = 0; i < rg_safetensors_count(file); i++) {
        const rg_safetensors_entry *a = rg_safetensors_at(file, i);
        if (a->dtype == RG_DTYPE_I8 && is_scale_of(name, a->name)) return rg_params_find(params, a->name) != NULL;
    }
    return false;
}

rg_status rg_checkpoint__integers(const rg_safetensors *file, const rg_safetensors_entry *a, const rg_param *e,
                                  bool learns)
{
    const char                 *path = rg_safetensors_path(file);
    const rg_safetensors_entry *s = scale_of(file, e->name);
    const bool                  by_column = e->kind == RG_WEIGHT;
    const size_t                rows = by_column ? 1 : e->rows, cols = by_column ? e->cols : 1;
    if (learns)
        return rg_fail(
            RG_EMATCH,
            "%s: tensor '%s' is I8, made for answering by `regard quantize`; train or average the float32 model", path,
            e->name);
    if (!s)
        return rg_fail(RG_EMATCH, "%s: tensor '%s' is I8, and there is no '%s" RG_CHECKPOINT_SCALE "' with its scales",
                       path, a->name, a->name);
    if (s->dtype != RG_DTYPE_F32 || s->ndim != 2 || s->dims[0] != rows || s->dims[1] != cols)
        return rg_fail(RG_EMATCH, "%s: '%s" RG_CHECKPOINT_SCALE "' should be F32 of %zu x %zu, one scale per %s", path,
                       a->name, rows, cols, by_column ? "column" : "row");
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- loading */

static void take_floats(rg_param *e, const float *numbers)
{
    if (rg_param__is_small(e)) rg_param__fill(e, numbers);
    else
        for (size_t i = 0; i < e->rows * e->cols; i++) e->data[i] = (rg_real)numbers[i];
}

static rg_status copy_floats(rg_safetensors *file, const rg_safetensors_entry *a, rg_param *e)
{
    const size_t n = e->rows * e->cols;
    float       *numbers = rg_alloc_array(n, sizeof *numbers);
    rg_status    status = numbers ? rg_safetensors_read_floats(file, a, numbers, n) : RG_ENOMEM;
    if (status == RG_OK) take_floats(e, numbers);
    rg_free(numbers);
    return status;
}

static rg_status write_out(rg_param *e, const int8_t *q, const float *scale)
{
    const size_t n = e->rows * e->cols;
    float       *numbers = rg_alloc_array(n, sizeof *numbers);
    if (!numbers) return RG_ENOMEM;
    for (size_t i = 0; i < n; i++) numbers[i] = (float)q[i] * scale[e->kind == RG_WEIGHT ? i % e->cols : i / e->cols];
    take_floats(e, numbers);
    rg_free(numbers);
    return RG_OK;
}

static rg_status copy_integers(rg_safetensors *file, const rg_safetensors_entry *a, rg_param *e)
{
    const size_t                n = e->rows * e->cols, scales = rg_param__scales(e);
    const rg_safetensors_entry *s = scale_of(file, a->name);
    int8_t                     *q = rg_alloc(n);
    float                      *scale = rg_alloc_array(scales, sizeof *scale);
    rg_status                   status = q && scale && s ? rg_safetensors_read(file, a, q, n) : RG_ENOMEM;
    if (status == RG_OK) status = rg_safetensors_read_floats(file, s, scale, scales);
    if (status == RG_OK && rg_param__is_small(e) && e->small.kind == RG_SMALL_INT8) rg_param__fill_int8(e, q, scale);
    else if (status == RG_OK) status = write_out(e, q, scale);
    rg_free(q);
    rg_free(scale);
    return status;
}

rg_status rg_checkpoint__copy_small(rg_safetensors *file, const rg_safetensors_entry *a, rg_param *e)
{
    return a->dtype == RG_DTYPE_I8 ? copy_integers(file, a, e) : copy_floats(file, a, e);
}

/* ----------------------------------------------------------------------------------------------------------- saving */

static rg_status add_integers(rg_safetensors_writer *writer, rg_arena *arena, const rg_param *e)
{
    const size_t dims[2] = { e->rows, e->cols };
    const bool   by_column = e->kind == RG_WEIGHT;
    const size_t scale_dims[2] = { by_column ? 1 : e->rows, by_column ? e->cols : 1 };
    int8_t      *q = rg_arena_get(arena, e->rows * e->cols);
    float       *scale = rg_arena_get(arena, rg_param__scales(e) * sizeof *scale);
    char        *name = rg_format("%s" RG_CHECKPOINT_SCALE, e->name);
    rg_status    status = q && scale && name ? RG_OK : RG_ENOMEM;
    if (status == RG_OK) rg_param__read_int8(e, q, scale);
    if (status == RG_OK) status = rg_safetensors_writer_add(writer, e->name, RG_DTYPE_I8, dims, 2, q);
    if (status == RG_OK) status = rg_safetensors_writer_add(writer, name, RG_DTYPE_F32, scale_dims, 2, scale);
    rg_free(name);
    return status;
}

static rg_status add_halves(rg_safetensors_writer *writer, rg_arena *arena, const rg_param *e)
{
    const size_t dims[2] = { e->rows, e->cols };
    uint16_t    *halves = rg_arena_get(arena, e->rows * e->cols * sizeof *halves);
    rg_real     *row = rg_arena_get(arena, e->cols * sizeof *row);
    if (!halves || !row) return RG_ENOMEM;
    for (size_t i = 0; i < e->rows; i++) {
        rg_param__row(e, i, row);
        for (size_t j = 0; j < e->cols; j++) halves[i * e->cols + j] = rg_bf16_round((float)row[j]);
    }
    return rg_safetensors_writer_add(writer, e->name, RG_DTYPE_BF16, dims, 2, halves);
}

rg_status rg_checkpoint__add_small(rg_safetensors_writer *writer, rg_arena *arena, const rg_param *e)
{
    return e->small.kind == RG_SMALL_INT8 ? add_integers(writer, arena, e) : add_halves(writer, arena, e);
}
