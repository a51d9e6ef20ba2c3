/* read_ctranslate2.c - CTranslate2's model.bin, binary versions 2 to 6.
 *
 *   u32 version, string name of the model, u32 revision, u32 how many variables
 *   a variable   string name, u8 rank, u32 dims[rank]
 *                version >= 4: u8 type, u32 bytes         older: u8 bytes of one number, u32 how many
 *                the numbers
 *   version >= 3: u32 how many aliases, pairs of strings (alias, variable)
 *
 * A string is a u16 length, its bytes and a zero, which is counted. */
#include "import/arrays.h"

#include <string.h>

typedef struct {
    const unsigned char *at, *end;
    const char          *name; /* of the file */
    size_t               size;
} cursor;

static rg_status cut_short(const cursor *c, const char *what)
{
    return rg_fail(RG_EFORMAT, "%s: byte %zu: cut short in %s", c->name, c->size - (size_t)(c->end - c->at), what);
}

static rg_status number(uint32_t *out, cursor *c, size_t bytes, const char *what)
{
    if ((size_t)(c->end - c->at) < bytes) return cut_short(c, what);
    *out = 0;
    for (size_t i = 0; i < bytes; i++) *out |= (uint32_t)c->at[i] << 8 * i;
    c->at += bytes;
    return RG_OK;
}

static rg_status string(char out[RG_ARRAYS_NAME], cursor *c, const char *what)
{
    uint32_t length = 0;
    RG_TRY(number(&length, c, 2, what));
    if ((size_t)(c->end - c->at) < length) return cut_short(c, what);
    if (!length || length > RG_ARRAYS_NAME || memchr(c->at, '\0', length) != c->at + length - 1)
        return rg_fail(RG_EFORMAT, "%s: byte %zu: %s of %u bytes is no text that ends in a zero", c->name,
                       c->size - (size_t)(c->end - c->at), what, length);
    memcpy(out, c->at, length);
    c->at += length;
    if (!rg_utf8_check(out, length - 1, NULL)) return rg_fail(RG_EFORMAT, "%s: %s is not UTF-8", c->name, what);
    return RG_OK;
}

static rg_status type_and_bytes(rg_dtype *out, size_t *out_bytes, cursor *c, uint32_t version)
{
    static const rg_dtype types[] = {
        RG_DTYPE_F32, RG_DTYPE_I8, RG_DTYPE_I16, RG_DTYPE_I32, RG_DTYPE_F16, RG_DTYPE_BF16
    };
    static const rg_dtype by_width[] = { [1] = RG_DTYPE_I8, [2] = RG_DTYPE_I16, [4] = RG_DTYPE_F32 };
    uint32_t              first = 0, second = 0;
    RG_TRY(number(&first, c, 1, "a type"));
    RG_TRY(number(&second, c, 4, "a size"));
    if (version >= 4) {
        if (first >= sizeof types / sizeof *types)
            return rg_fail(RG_EFORMAT, "%s: numbers of type %u are not known", c->name, first);
        *out = types[first];
        *out_bytes = second;
        return RG_OK;
    }
    if (first != 1 && first != 2 && first != 4) return rg_fail(RG_EFORMAT, "%s: numbers of %u bytes", c->name, first);
    *out = by_width[first];
    return rg_size_mul(out_bytes, first, second) ? RG_OK : rg_fail(RG_EFORMAT, "%s: %u numbers", c->name, second);
}

static rg_status variable(rg_arrays *out, cursor *c, uint32_t version)
{
    char     name[RG_ARRAYS_NAME];
    uint32_t rank = 0, dim = 0;
    size_t   dims[RG_ARRAYS_DIMS], bytes = 0;
    rg_dtype dtype = RG_DTYPE_F32;
    RG_TRY(string(name, c, "the name of a variable"));
    RG_TRY(number(&rank, c, 1, name));
    if (rank > RG_ARRAYS_DIMS)
        return rg_fail(RG_ELIMIT, "%s: %s: %u dimensions, at most %d", c->name, name, rank, RG_ARRAYS_DIMS);
    for (uint32_t i = 0; i < rank; i++) {
        RG_TRY(number(&dim, c, 4, name));
        dims[i] = dim;
    }
    RG_TRY(type_and_bytes(&dtype, &bytes, c, version));
    if ((size_t)(c->end - c->at) < bytes) return cut_short(c, name);
    const unsigned char *data = c->at;
    c->at += bytes;
    const rg_status status = rg_arrays_add(out, name, dtype, dims, rank, data, bytes);
    return status == RG_OK ? status : rg_fail_in(status, "%s: ", c->name);
}

static rg_status alias(rg_arrays *out, cursor *c)
{
    char name[RG_ARRAYS_NAME], of[RG_ARRAYS_NAME];
    RG_TRY(string(name, c, "an alias"));
    RG_TRY(string(of, c, "the variable of an alias"));
    const rg_array *a = rg_arrays_find(out, of);
    if (!a) return rg_fail(RG_EFORMAT, "%s: %s is another name of %s, which is not there", c->name, name, of);
    size_t dims[RG_ARRAYS_DIMS];
    memcpy(dims, a->dims, sizeof dims); /* adding may move a */
    return rg_arrays_add(out, name, a->dtype, dims, a->ndim, a->bytes, a->count * rg_dtype_bytes(a->dtype));
}

rg_status rg_read_ctranslate2(rg_arrays *out, const char *name, const unsigned char *bytes, size_t count)
{
    cursor   c = { bytes, bytes + count, name, count };
    char     spec[RG_ARRAYS_NAME];
    uint32_t version = 0, revision = 0, n = 0;
    RG_TRY(number(&version, &c, 4, "the version"));
    if (version < 2 || version > 6)
        return rg_fail(RG_EFORMAT, "%s: binary version %u of CTranslate2's model.bin; versions 2 to 6 are read", name,
                       version);
    RG_TRY(string(spec, &c, "the name of the model"));
    RG_TRY(number(&revision, &c, 4, "the revision"));
    RG_TRY(number(&n, &c, 4, "the number of variables"));
    for (uint32_t i = 0; i < n; i++) RG_TRY(variable(out, &c, version));
    if (version >= 3) {
        RG_TRY(number(&n, &c, 4, "the number of aliases"));
        for (uint32_t i = 0; i < n; i++) RG_TRY(alias(out, &c));
    }
    if (c.at != c.end)
        return rg_fail(RG_EFORMAT, "%s: %zu bytes are left after the last variable", name, (size_t)(c.end - c.at));
    out->format = "CTranslate2";
    return rg_text_print(&out->settings, "%s %u", spec, revision);
}
