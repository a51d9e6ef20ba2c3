/* read_npz.c - NumPy archives: .npy members, and Marian's settings among them.
 *
 *   "\x93NUMPY", version, u16 (version 1) or u32 length, then text: {'descr': '<f4', 'fortran_order': False, 'shape': (512, 512), }
 *
 * Marian keeps its YAML settings as the characters of special:model.yml.npy, closed by a zero. */
#include "import/arrays.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *descr;
    rg_dtype    dtype;
} types[] = { { "<f4", RG_DTYPE_F32 },  { "<f8", RG_DTYPE_F64 }, { "<f2", RG_DTYPE_F16 }, { "|i1", RG_DTYPE_I8 },
              { "|u1", RG_DTYPE_U8 },   { "<i2", RG_DTYPE_I16 }, { "<i4", RG_DTYPE_I32 }, { "<i8", RG_DTYPE_I64 },
              { "|b1", RG_DTYPE_BOOL }, { "<u4", RG_DTYPE_U32 } };

/* What stands after 'key': in the header, or NULL. */
static const char *value_of(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    if (!at) return NULL;
    at += strlen(key);
    return at + strspn(at, ": ");
}

static bool read_shape(size_t *dims, size_t *ndim, const char *at)
{
    *ndim = 0;
    if (!at || *at++ != '(') return false;
    for (at += strspn(at, " "); *at && *at != ')'; at += strspn(at, ", ")) {
        char *end;
        if (*at < '0' || *at > '9' || *ndim == RG_ARRAYS_DIMS) return false;
        dims[(*ndim)++] = strtoull(at, &end, 10);
        at = end;
    }
    return *at == ')';
}

static bool read_type(rg_dtype *out, const char *at)
{
    for (size_t i = 0; at && i < sizeof types / sizeof *types; i++)
        if (*at == '\'' && strncmp(at + 1, types[i].descr, 3) == 0 && at[4] == '\'') {
            *out = types[i].dtype;
            return true;
        }
    return false;
}

static rg_status add_npy(rg_arrays *out, const char *name, const unsigned char *bytes, size_t count)
{
    char     header[1024];
    rg_dtype dtype;
    size_t   dims[RG_ARRAYS_DIMS], ndim, length, at;
    if (count < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0) return rg_fail(RG_EFORMAT, "%s: not a NumPy array", name);
    at = bytes[6] == 1 ? 10 : 12;
    length = bytes[8] | (size_t)bytes[9] << 8 | (at == 12 ? (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24 : 0);
    if (length >= sizeof header || length > count - at)
        return rg_fail(RG_EFORMAT, "%s: a header of %zu bytes", name, length);
    memcpy(header, bytes + at, length);
    header[length] = '\0';
    const char *order = value_of(header, "'fortran_order'");
    if (!read_type(&dtype, value_of(header, "'descr'")) || !read_shape(dims, &ndim, value_of(header, "'shape'")) ||
        !order)
        return rg_fail(RG_EFORMAT, "%s: the header \"%.100s\" is not understood", name, header);
    if (strncmp(order, "False", 5) != 0 && ndim > 1)
        return rg_fail(RG_EFORMAT, "%s: an array in Fortran's order", name);
    return rg_arrays_add(out, name, dtype, dims, ndim, bytes + at + length, count - at - length);
}

rg_status rg_read_npz(rg_arrays *out, const char *file, rg_members *members)
{
    for (size_t i = 0; i < rg_members_count(members); i++) {
        char                 name[RG_ARRAYS_NAME];
        rg_status            status;
        size_t               bytes;
        const unsigned char *data = rg_members_find(&status, &bytes, members, rg_members_name(members, i));
        RG_TRY(status);
        const size_t length = strlen(rg_members_name(members, i));
        if (!data || length < 5 || length >= sizeof name) continue; /* a folder, or a name no array has */
        memcpy(name, rg_members_name(members, i), length - 4); /* without .npy */
        name[length - 4] = '\0';
        status = rg_utf8_check(name, length - 4, NULL) ? add_npy(out, name, data, bytes)
                                                       : rg_fail(RG_EFORMAT, "a name that is not UTF-8");
        if (status != RG_OK) return rg_fail_in(status, "%s: ", file);
    }
    bool marian;
    RG_TRY(rg_arrays_settings(&marian, out));
    out->format = marian ? "Marian npz" : "NumPy npz";
    return RG_OK;
}
