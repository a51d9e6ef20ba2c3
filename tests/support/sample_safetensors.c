/* sample_safetensors.c - see sample_safetensors.h. */
#include "support/sample_safetensors.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    rg_dtype dtype;
    size_t ndim, dims[4];
} arrays[] = {
    { "encoder.weight", RG_DTYPE_F32, 2, { 7, 9 } },
    { "tokenizer", RG_DTYPE_U8, 1, { 37 } },
    { "adam.step", RG_DTYPE_I64, 0, { 0 } },
    { "moments", RG_DTYPE_F64, 3, { 2, 3, 2 } },
    { "empty", RG_DTYPE_F32, 2, { 0, 5 } },
    { "half \"quoted\" \xC3\xA9", RG_DTYPE_BF16, 4, { 1, 2, 1, 3 } },
    { "ids", RG_DTYPE_I32, 1, { 5 } },
};
enum { ARRAYS = sizeof arrays / sizeof *arrays, BYTES = 512 };

static const char *const texts[][2] = { { "config", "system: transformer\ndim: 512\n" },
                                        { "a key", "\xE2\x82\xAC \"\\" } };

static size_t bytes_of(size_t index)
{
    size_t bytes = rg_dtype_bytes(arrays[index].dtype);
    for (size_t i = 0; i < arrays[index].ndim; i++) bytes *= arrays[index].dims[i];
    return bytes;
}

/* The numbers of array `index`: bytes that are finite floats. Kept for the lifetime of the program, as writers
 * borrow them. */
static const unsigned char *content(size_t index, int version)
{
    static unsigned char store[8][ARRAYS][BYTES];
    unsigned char *bytes = store[version & 7][index];
    for (size_t i = 0; i < bytes_of(index); i++)
        bytes[i] = (unsigned char)((i * 31 + index * 7 + (size_t)version * 13) & 0x3F);
    return bytes;
}

rg_status sample_writer(rg_safetensors_writer **out, int version)
{
    char digits[16];
    rg_safetensors_writer *w;
    *out = NULL;
    RG_TRY(rg_safetensors_writer_new(&w));
    snprintf(digits, sizeof digits, "%d", version);
    rg_status status = rg_safetensors_writer_metadata(w, "version", digits);
    for (size_t i = 0; status == RG_OK && i < 2; i++)
        status = rg_safetensors_writer_metadata(w, texts[i][0], texts[i][1]);
    for (size_t i = 0; status == RG_OK && i < ARRAYS; i++)
        status = rg_safetensors_writer_add(w, arrays[i].name, arrays[i].dtype, arrays[i].dims, arrays[i].ndim,
                                           content(i, version));
    if (status == RG_OK) *out = w;
    else rg_safetensors_writer_free(w);
    return status;
}

rg_status sample_check(int *out_version, rg_safetensors *st)
{
    const char *digits = rg_safetensors_metadata(st, "version");
    if (digits == NULL) return rg_fail(RG_EMATCH, "no version");
    *out_version = atoi(digits);
    for (size_t i = 0; i < 2; i++) {
        const char *text = rg_safetensors_metadata(st, texts[i][0]);
        if (text == NULL || strcmp(text, texts[i][1]) != 0) return rg_fail(RG_EMATCH, "metadata %s", texts[i][0]);
    }
    if (rg_safetensors_count(st) != ARRAYS) return rg_fail(RG_EMATCH, "%zu arrays", rg_safetensors_count(st));
    for (size_t i = 0; i < ARRAYS; i++) {
        const rg_safetensors_entry *e = rg_safetensors_find(st, arrays[i].name);
        if (e == NULL || e->dtype != arrays[i].dtype || e->ndim != arrays[i].ndim || e->bytes != bytes_of(i) ||
            memcmp(e->dims, arrays[i].dims, e->ndim * sizeof *e->dims) != 0)
            return rg_fail(RG_EMATCH, "array %s", arrays[i].name);
        void *buffer = rg_alloc(e->bytes);
        if (buffer == NULL) return RG_ENOMEM;
        rg_status status = rg_safetensors_read(st, e, buffer, e->bytes);
        bool same = status == RG_OK && memcmp(buffer, content(i, *out_version), e->bytes) == 0;
        rg_free(buffer);
        if (status != RG_OK) return status;
        if (!same) return rg_fail(RG_EMATCH, "numbers of %s", arrays[i].name);
    }
    return RG_OK;
}

rg_status sample_copy(rg_safetensors_writer **out, rg_safetensors *st)
{
    rg_safetensors_writer *w;
    *out = NULL;
    RG_TRY(rg_safetensors_writer_new(&w));
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < rg_safetensors_metadata_count(st); i++) {
        const char *key, *value;
        rg_safetensors_metadata_at(&key, &value, st, i);
        status = rg_safetensors_writer_metadata(w, key, value);
    }
    for (size_t i = 0; status == RG_OK && i < rg_safetensors_count(st); i++) {
        const rg_safetensors_entry *e = rg_safetensors_at(st, i);
        const void *data;
        status = rg_safetensors_data(&data, st, e);
        if (status == RG_OK) status = rg_safetensors_writer_add(w, e->name, e->dtype, e->dims, e->ndim, data);
    }
    if (status == RG_OK) *out = w;
    else rg_safetensors_writer_free(w);
    return status;
}
