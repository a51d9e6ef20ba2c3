/* arrays.c - see arrays.h. */
#include "import/arrays.h"
#include "import/marian.h"

#include <math.h>
#include <string.h>

void rg_arrays_fini(rg_arrays *a)
{
    for (size_t i = 0; i < a->blocks; i++) rg_free(a->block[i]);
    rg_free(a->block);
    rg_free(a->list);
    rg_text_free(&a->settings);
    json_decref(a->about);
    rg_arena_free(a->arena);
    *a = (rg_arrays){ 0 };
}

rg_array *rg_arrays_find(const rg_arrays *a, const char *name)
{
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->list[i].name, name) == 0) return &a->list[i];
    return NULL;
}

void *rg_arrays_block(rg_arrays *a, size_t bytes)
{
    void **list = rg_realloc(a->block, (a->blocks + 1) * sizeof *list);
    if (!list) return NULL;
    a->block = list;
    void *block = rg_alloc(bytes ? bytes : 1);
    if (block) a->block[a->blocks++] = block;
    return block;
}

static const char *keep_name(rg_arrays *a, const char *name)
{
    const size_t bytes = strlen(name) + 1;
    char        *copy = rg_arena_get(a->arena, bytes);
    return copy ? memcpy(copy, name, bytes) : NULL;
}

static rg_status make_room(rg_arrays *a)
{
    if (a->count < a->room) return RG_OK;
    if (a->count >= RG_ARRAYS_MAX) return rg_fail(RG_ELIMIT, "more than %d arrays", RG_ARRAYS_MAX);
    const size_t room = a->room ? 2 * a->room : 64;
    rg_array    *list = rg_realloc(a->list, room * sizeof *list);
    if (!list) return RG_ENOMEM;
    a->list = list;
    a->room = room;
    return RG_OK;
}

rg_status rg_arrays_add(rg_arrays *a, const char *name, rg_dtype dtype, const size_t *dims, size_t ndim,
                        const void *data, size_t bytes)
{
    rg_array array = { .dtype = dtype, .ndim = ndim, .count = 1, .bytes = data };
    size_t   need;
    if (ndim > RG_ARRAYS_DIMS)
        return rg_fail(RG_ELIMIT, "array \"%.80s\": %zu dimensions, at most %d", name, ndim, RG_ARRAYS_DIMS);
    if (strlen(name) >= RG_ARRAYS_NAME)
        return rg_fail(RG_ELIMIT, "an array with a name of %zu bytes, at most %d", strlen(name), RG_ARRAYS_NAME - 1);
    for (size_t i = 0; i < ndim; i++) {
        array.dims[i] = dims[i];
        if (!rg_size_mul(&array.count, array.count, dims[i]))
            return rg_fail(RG_EFORMAT, "array \"%.80s\" is too large to exist", name);
    }
    if (!rg_size_mul(&need, array.count, rg_dtype_bytes(dtype)) || need != bytes)
        return rg_fail(RG_EFORMAT, "array \"%.80s\": %zu numbers of type %s do not fill its %zu bytes", name,
                       array.count, rg_dtype_name(dtype), bytes);
    if (rg_arrays_find(a, name)) return rg_fail(RG_EFORMAT, "array \"%.80s\" is there twice", name);
    RG_TRY(make_room(a));
    if (!(array.name = keep_name(a, name))) return RG_ENOMEM;
    a->list[a->count++] = array;
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------------- numbers */

/* Scales are one per row, or one for all. */
static rg_status divide(float *x, const rg_arrays *a, const rg_array *array, const rg_array *scale)
{
    const size_t rows = array->ndim ? array->dims[0] : 1, width = rows ? array->count / rows : 0;
    if (scale->count != 1 && scale->count != rows)
        return rg_fail(RG_EFORMAT, "array \"%s\" has %zu rows and %zu scales", array->name, rows, scale->count);
    float *by = rg_alloc_array(scale->count + 1, sizeof *by);
    if (!by) return RG_ENOMEM;
    rg_status status = rg_array_floats(by, a, scale);
    for (size_t i = 0; status == RG_OK && i < scale->count; i++)
        if (!(fabsf(by[i]) > 0))
            status = rg_fail(RG_ENUMBER, "array \"%s\": scale %zu is %g", scale->name, i, (double)by[i]);
    for (size_t r = 0; status == RG_OK && r < rows; r++)
        for (size_t i = 0; i < width; i++) x[r * width + i] /= by[scale->count == 1 ? 0 : r];
    rg_free(by);
    return status;
}

rg_status rg_array_floats(float *out, const rg_arrays *a, const rg_array *array)
{
    char            name[RG_ARRAYS_NAME + 8];
    const rg_array *scale = NULL;
    const rg_status status = rg_dtype_floats(out, array->dtype, array->bytes, array->count);
    if (status != RG_OK) return rg_fail_in(status, "array \"%s\": ", array->name);
    if (array->dtype == RG_DTYPE_I8 || array->dtype == RG_DTYPE_I16) {
        snprintf(name, sizeof name, "%s_scale", array->name);
        scale = rg_arrays_find(a, name);
    }
    if (scale && scale->dtype == RG_DTYPE_F32) RG_TRY(divide(out, a, array, scale));
    for (size_t i = 0; i < array->count; i++)
        if (!isfinite(out[i]))
            return rg_fail(RG_ENUMBER, "array \"%s\": value %zu of %zu is infinite or not a number", array->name, i,
                           array->count);
    return RG_OK;
}

double rg_arrays_number(const rg_arrays *a, const char *name, double other)
{
    rg_array *array = rg_arrays_find(a, name);
    float     value;
    if (!array || array->count != 1 || rg_array_floats(&value, a, array) != RG_OK) return other;
    array->used = true;
    return (double)value;
}

/* --------------------------------------------------------------------------------------------------------- formats */

rg_status rg_arrays_settings(bool *out_there, rg_arrays *a)
{
    rg_array *yaml = rg_arrays_find(a, RG_MARIAN_SETTINGS);
    *out_there = yaml != NULL;
    if (!yaml || rg_dtype_bytes(yaml->dtype) != 1) return RG_OK;
    yaml->used = true;
    return rg_text_add(&a->settings, yaml->bytes, strnlen((const char *)yaml->bytes, yaml->count));
}

static bool is_zip(const unsigned char *b, size_t n) { return n > 4 && memcmp(b, "PK\3\4", 4) == 0; }
static bool is_safetensors(const unsigned char *b, size_t n) { return n > 8 && b[8] == '{'; }
static bool is_ctranslate2(const unsigned char *b, size_t n)
{
    return n > 8 && b[0] >= 1 && b[0] < 64 && !b[1] && !b[2] && !b[3];
}

/* Its version is 64 bits wide. CTranslate2's is 32, and never 1 with nothing behind it. */
static bool is_marian(const unsigned char *b, size_t n) { return n > 16 && memcmp(b, "\1\0\0\0\0\0\0\0", 8) == 0; }

static bool is_old_torch(const unsigned char *b, size_t n) { return n > 8 && memcmp(b, "\x80\x02\x8a\x0a", 4) == 0; }
static rg_status refuse_old_torch(rg_arrays *out, const char *name, const unsigned char *b, size_t n)
{
    (void)out, (void)b, (void)n;
    return rg_fail(RG_EFORMAT,
                   "%s: a PyTorch file of before version 1.6, or another pickle, is not read; load it in PyTorch and "
                   "save it again "
                   "(torch.save writes zip archives), or save safetensors",
                   name);
}

static bool is_pickle(const unsigned char *b, size_t n) { return n > 2 && b[0] == 0x80 && b[1] >= 2 && b[1] <= 5; }

static const struct {
    const char *name;
    bool (*fits)(const unsigned char *bytes, size_t count);
    rg_status (*read)(rg_arrays *out, const char *name, const unsigned char *bytes, size_t count);
} formats[] = {
    { "zip", is_zip, rg_read_zip },
    { "old PyTorch", is_old_torch, refuse_old_torch },
    { "pickle", is_pickle, refuse_old_torch },
    { "safetensors", is_safetensors, rg_read_safetensors },
    { "Marian bin", is_marian, rg_read_marian },
    { "CTranslate2", is_ctranslate2, rg_read_ctranslate2 },
};

rg_status rg_arrays_read(rg_arrays *out, const char *name, const void *bytes, size_t count)
{
    *out = (rg_arrays){ 0 };
    RG_TRY(rg_arena_new(&out->arena, 1 << 14));
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].fits(bytes, count)) return formats[i].read(out, name, bytes, count);
    return rg_fail(RG_EFORMAT,
                   "%s: no model that can be imported: neither safetensors nor a PyTorch or NumPy archive (zip) nor "
                   "CTranslate2's model.bin nor Marian's .bin",
                   name);
}

rg_status rg_read_safetensors(rg_arrays *out, const char *name, const unsigned char *bytes, size_t count)
{
    rg_safetensors *st;
    RG_TRY(rg_safetensors_open_memory(&st, name, bytes, count));
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < rg_safetensors_count(st); i++) {
        const rg_safetensors_entry *e = rg_safetensors_at(st, i);
        status = rg_arrays_add(out, e->name, e->dtype, e->dims, e->ndim, bytes + e->offset, e->bytes);
    }
    if (status == RG_OK && rg_safetensors_metadata(st, "regard.task"))
        status = rg_fail(RG_EMATCH, "%s is a model of regard: there is nothing to import", name);
    rg_safetensors_close(st);
    out->format = "safetensors";
    return status;
}
