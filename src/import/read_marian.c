/* read_marian.c - Marian's .bin (marian.h). Programs that write it may fill arrays up to a multiple of 256 bytes. */
#include "import/arrays.h"
#include "import/marian.h"

#include <math.h>

#include "data/little_endian.h"

typedef struct {
    const unsigned char *at, *end;
    const char          *file;
} cursor;

typedef struct {
    uint64_t name, type, rank, data; /* lengths in bytes; rank: how many dimensions */
} header;

static const struct {
    uint64_t    type;
    const char *name;
    rg_dtype    dtype;
    bool        read;
} types[] = {
    { RG_MARIAN_INT8, "int8", RG_DTYPE_I8, true },
    { 0x0102, "int16", RG_DTYPE_I16, true },
    { 0x0104, "int32", RG_DTYPE_I32, true },
    { 0x0108, "int64", RG_DTYPE_I64, true },
    { 0x0201, "uint8", RG_DTYPE_U8, true },
    { 0x0202, "uint16", RG_DTYPE_U16, true },
    { 0x0204, "uint32", RG_DTYPE_U32, true },
    { 0x0208, "uint64", RG_DTYPE_U64, true },
    { 0x0402, "float16", RG_DTYPE_F16, true },
    { RG_MARIAN_FLOAT32, "float32", RG_DTYPE_F32, true },
    { 0x0408, "float64", RG_DTYPE_F64, true },
    { RG_MARIAN_INTGEMM8, "intgemm8", RG_DTYPE_I8, true },
    { RG_MARIAN_INTGEMM16, "intgemm16", RG_DTYPE_I16, true },
    { 0x0802, "packed16", RG_DTYPE_U16, false }, /* laid out for one kind of processor by FBGEMM */
    { 0x1801, "packed8avx2", RG_DTYPE_U8, false },
    { 0x2801, "packed8avx512", RG_DTYPE_U8, false },
};

static size_t left(const cursor *c) { return (size_t)(c->end - c->at); }

static rg_status cut_short(const cursor *c, const char *what)
{
    return rg_fail(RG_EFORMAT, "%s: cut short in %s: %zu bytes are left", c->file, what, left(c));
}

static rg_status take(const unsigned char **out, cursor *c, uint64_t bytes, const char *what)
{
    if (bytes > left(c)) return cut_short(c, what);
    *out = c->at;
    c->at += bytes;
    return RG_OK;
}

static bool is_intgemm(uint64_t type) { return type == RG_MARIAN_INTGEMM8 || type == RG_MARIAN_INTGEMM16; }

static rg_status find_type(rg_dtype *out, const cursor *c, const char *name, uint64_t type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type) {
            *out = types[i].dtype;
            if (types[i].read) return RG_OK;
            return rg_fail(
                RG_EMATCH,
                "%s: array \"%.80s\" is of type %s, which is laid out for one kind of processor and not read; "
                "marian-conv --gemm-type float32 or intgemm8 writes one that is",
                c->file, name, types[i].name);
        }
    return rg_fail(RG_EFORMAT, "%s: array \"%.80s\": type 0x%llx is not known", c->file, name,
                   (unsigned long long)type);
}

/* q / m as floats, in the order of rows. */
static rg_status unpack(rg_arrays *out, const cursor *c, const char *name, rg_dtype dtype, const size_t dims[2],
                        const unsigned char *data)
{
    const size_t   rows = dims[0], cols = dims[1], width = rg_dtype_bytes(dtype), n = rows * cols;
    const uint32_t bits = (uint32_t)rg_little_get(data + n * width, 4);
    float          m, *x;
    memcpy(&m, &bits, sizeof m);
    if (!(m > 0) || !isfinite(m) || !isfinite(1 / m))
        return rg_fail(RG_ENUMBER, "%s: array \"%.80s\": its multiplier is %g", c->file, name, (double)m);
    if (!(x = rg_arrays_block(out, n * sizeof *x))) return RG_ENOMEM;
    const bool straight = rg_marian_is_table(name);
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < cols; k++) {
            const unsigned char *q = data + (straight ? r * cols + k : k * rows + r) * width;
            x[r * cols + k] = (float)(width == 1 ? (int8_t)*q : (int16_t)rg_little_get(q, 2)) * (1 / m);
        }
    return rg_arrays_add(out, name, RG_DTYPE_F32, dims, 2, x, n * sizeof *x);
}

/* The data of one array begin at *data and are h->data long. */
static rg_status add(rg_arrays *out, const cursor *c, const header *h, const char *name, const unsigned char *shape,
                     const unsigned char *data)
{
    rg_dtype dtype = RG_DTYPE_F32;
    size_t   dims[RG_ARRAYS_DIMS] = { 0 }, count = 1, need = 0;
    RG_TRY(find_type(&dtype, c, name, h->type));
    for (size_t i = 0; i < h->rank; i++) {
        const int32_t d = (int32_t)rg_little_get(shape + 4 * i, 4);
        dims[i] = d < 0 ? 0 : (size_t)d;
        if (d < 0 || !rg_size_mul(&count, count, dims[i]))
            return rg_fail(RG_EFORMAT, "%s: array \"%.80s\": dimension %zu is %d", c->file, name, i, d);
    }
    if (!rg_size_mul(&need, count, rg_dtype_bytes(dtype)) || need > SIZE_MAX - 4) need = SIZE_MAX - 4;
    if (is_intgemm(h->type)) need += 4;
    if (h->data < need || h->data - need > RG_MARIAN_ALIGN)
        return rg_fail(RG_EFORMAT, "%s: array \"%.80s\": its shape wants %zu bytes, it has %llu", c->file, name, need,
                       (unsigned long long)h->data);
    if (!is_intgemm(h->type)) return rg_arrays_add(out, name, dtype, dims, (size_t)h->rank, data, need);
    if (h->rank != 2)
        return rg_fail(RG_EFORMAT, "%s: array \"%.80s\": %llu dimensions; integers of intgemm are a matrix", c->file,
                       name, (unsigned long long)h->rank);
    return unpack(out, c, name, dtype, dims, data);
}

static header header_at(const unsigned char *at)
{
    return (header){ rg_little_get(at, 8), rg_little_get(at + 8, 8), rg_little_get(at + 16, 8),
                     rg_little_get(at + 24, 8) };
}

static rg_status check_header(const cursor *c, const header *h, const unsigned char *name, size_t index)
{
    if (!h->name || h->name > RG_ARRAYS_NAME || name[h->name - 1] || memchr(name, 0, h->name - 1) ||
        !rg_utf8_check((const char *)name, h->name - 1, NULL))
        return rg_fail(RG_EFORMAT, "%s: the name of array %zu is no text of %d bytes that ends in a zero", c->file,
                       index, RG_ARRAYS_NAME);
    if (h->rank > RG_ARRAYS_DIMS)
        return rg_fail(RG_ELIMIT, "%s: array \"%.80s\": %llu dimensions, at most %d", c->file, (const char *)name,
                       (unsigned long long)h->rank, RG_ARRAYS_DIMS);
    return RG_OK;
}

/* The parts behind the headers: where names, shapes and data begin. */
typedef struct {
    const unsigned char *headers, *names, *shapes, *data;
    size_t               count;
} parts;

static rg_status find_parts(parts *p, cursor *c)
{
    const unsigned char *at = NULL;
    uint64_t             names = 0, shapes = 0;
    RG_TRY(take(&at, c, 16, "its first numbers"));
    if (rg_little_get(at, 8) != RG_MARIAN_VERSION)
        return rg_fail(RG_EFORMAT, "%s: version %llu of Marian's .bin; version 1 is read", c->file,
                       (unsigned long long)rg_little_get(at, 8));
    const uint64_t count = rg_little_get(at + 8, 8);
    if (count > RG_ARRAYS_MAX)
        return rg_fail(RG_ELIMIT, "%s: %llu arrays, at most %d", c->file, (unsigned long long)count, RG_ARRAYS_MAX);
    p->count = (size_t)count;
    RG_TRY(take(&p->headers, c, 32 * count, "the headers of its arrays"));
    for (size_t i = 0; i < p->count; i++) { /* each is at most what the file has, so that the sums cannot overflow */
        const header h = header_at(p->headers + 32 * i);
        if (h.name > left(c) || h.rank > left(c)) return cut_short(c, "the names of its arrays");
        names += h.name;
        shapes += 4 * h.rank;
    }
    RG_TRY(take(&p->names, c, names, "the names of its arrays"));
    RG_TRY(take(&p->shapes, c, shapes, "the shapes of its arrays"));
    RG_TRY(take(&at, c, 8, "its padding"));
    return take(&p->data, c, rg_little_get(at, 8), "its padding");
}

rg_status rg_read_marian(rg_arrays *out, const char *file, const unsigned char *bytes, size_t count)
{
    cursor c = { bytes, bytes + count, file };
    parts  p = { 0 };
    RG_TRY(find_parts(&p, &c));
    for (size_t i = 0; i < p.count; i++) {
        const header         h = header_at(p.headers + 32 * i);
        const unsigned char *data = NULL;
        const char          *name = (const char *)p.names;
        RG_TRY(check_header(&c, &h, p.names, i));
        if (h.data > left(&c)) return cut_short(&c, name);
        RG_TRY(take(&data, &c, h.data, name));
        const rg_status status = add(out, &c, &h, name, p.shapes, data);
        if (status != RG_OK) return strstr(rg_message(), file) ? status : rg_fail_in(status, "%s: ", file);
        p.names += h.name;
        p.shapes += 4 * h.rank;
    }
    if (left(&c) > RG_MARIAN_ALIGN)
        return rg_fail(RG_EFORMAT, "%s: %zu bytes are left after the last array", file, left(&c));
    bool there;
    RG_TRY(rg_arrays_settings(&there, out));
    if (!there) return rg_fail(RG_EMATCH, "%s: has no array \"" RG_MARIAN_SETTINGS "\" of settings", file);
    out->format = "Marian bin";
    return RG_OK;
}
