/* safetensors_write.c - collect arrays and write them as one safetensors file.
 *
 * The bytes depend on the content only: arrays go by size of their type (so that each lies aligned), then by name;
 * the header is compact JSON, metadata by key, padded with spaces to a multiple of 64 with its length. */
#include "base/safetensors.h"

#include "base/finite.h"
#include "base/hash.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { DATA_ALIGN = 64 };

typedef struct piece {
    const char *name;
    rg_dtype dtype;
    size_t ndim, dims[RG_SAFETENSORS_DIMS_MAX], bytes;
    const void *data;
} piece;

struct rg_safetensors_writer {
    rg_arena *arena; /* names, keys, values */
    json_t *names;   /* the names there are, to refuse a second one */
    piece *pieces;
    size_t count, capacity;
    rg_safetensors_pair *metadata;
    size_t metadata_count, metadata_capacity;
    bool finite_only;
};

rg_status rg_safetensors_writer_new(rg_safetensors_writer **out)
{
    *out = NULL;
    rg_safetensors_writer *w = rg_alloc_zero(sizeof *w);
    if (w == NULL) return RG_ENOMEM;
    w->names = json_object();
    if (w->names == NULL) rg_fail(RG_ENOMEM, "no memory for a list of names");
    if (w->names == NULL || rg_arena_new(&w->arena, 1 << 14) != RG_OK) {
        rg_safetensors_writer_free(w);
        return RG_ENOMEM;
    }
    *out = w;
    return RG_OK;
}

void rg_safetensors_writer_free(rg_safetensors_writer *w)
{
    if (w == NULL) return;
    json_decref(w->names);
    rg_arena_free(w->arena);
    rg_free(w->pieces);
    rg_free(w->metadata);
    rg_free(w);
}

void rg_safetensors_writer_finite_only(rg_safetensors_writer *w, bool finite_only)
{
    w->finite_only = finite_only;
}

static const char *keep(rg_safetensors_writer *w, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = rg_arena_get(w->arena, bytes);
    if (copy != NULL) memcpy(copy, text, bytes);
    return copy;
}

/* `list` with room for one more than `count`, moved when it had to grow; NULL for want of memory. */
static void *with_room(void *list, size_t *capacity, size_t count, size_t bytes_each)
{
    if (count < *capacity) return list;
    size_t more = *capacity == 0 ? 32 : 2 * *capacity, bytes;
    if (!rg_size_mul(&bytes, more, bytes_each)) return NULL;
    void *grown = rg_realloc(list, bytes);
    if (grown != NULL) *capacity = more;
    return grown;
}

/* Well formed UTF-8: no stray, missing or overlong bytes, no surrogates, nothing past U+10FFFF. */
static bool is_utf8(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    while (*c != 0) {
        unsigned first = *c++;
        if (first < 0x80) continue;
        int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
        unsigned least = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0x80;
        uint32_t code = first & (0x3Fu >> more);
        if (first < 0xC2 || first > 0xF4) return false;
        for (; more > 0; more--, c++) {
            if ((*c & 0xC0) != 0x80) return false; /* the end of the text is caught here too */
            code = code << 6 | (*c & 0x3Fu);
        }
        if (code < least || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    }
    return true;
}

rg_status rg_safetensors_writer_add(rg_safetensors_writer *w, const char *name, rg_dtype dtype, const size_t *dims,
                                    size_t ndim, const void *data)
{
    piece p = { .dtype = dtype, .ndim = ndim, .bytes = rg_dtype_bytes(dtype), .data = data };
    if (ndim > RG_SAFETENSORS_DIMS_MAX)
        return rg_fail(RG_ELIMIT, "array \"%s\" has %zu dimensions, at most %d", name, ndim, RG_SAFETENSORS_DIMS_MAX);
    if (w->count == RG_SAFETENSORS_COUNT_MAX)
        return rg_fail(RG_ELIMIT, "array \"%s\": a file holds at most %d arrays", name, RG_SAFETENSORS_COUNT_MAX);
    for (size_t i = 0; i < ndim; i++) {
        p.dims[i] = dims[i];
        if (!rg_size_mul(&p.bytes, p.bytes, dims[i]) || dims[i] > INT64_MAX)
            return rg_fail(RG_ESHAPE, "array \"%s\" is too large to exist", name);
    }
    if (!is_utf8(name)) return rg_fail(RG_EINVAL, "the name of array \"%s\" is not UTF-8", name);
    if (strcmp(name, "__metadata__") == 0) return rg_fail(RG_EINVAL, "no array can be called \"__metadata__\"");
    if (json_object_get(w->names, name) != NULL) return rg_fail(RG_EINVAL, "there is already an array \"%s\"", name);
    piece *pieces = with_room(w->pieces, &w->capacity, w->count, sizeof *pieces);
    if (pieces == NULL) return RG_ENOMEM;
    w->pieces = pieces;
    if ((p.name = keep(w, name)) == NULL) return RG_ENOMEM;
    if (json_object_set_new(w->names, name, json_true()) != 0)
        return rg_fail(RG_ENOMEM, "no memory for name \"%s\"", name);
    w->pieces[w->count++] = p;
    return RG_OK;
}

rg_status rg_safetensors_writer_metadata(rg_safetensors_writer *w, const char *key, const char *value)
{
    if (strcmp(key, RG_SAFETENSORS_HEADER_KEY) == 0 ||
        strncmp(key, RG_SAFETENSORS_SUM_PREFIX, strlen(RG_SAFETENSORS_SUM_PREFIX)) == 0)
        return rg_fail(RG_EINVAL, "metadata \"%s\" is written by the library itself", key);
    if (!is_utf8(key) || !is_utf8(value)) return rg_fail(RG_EINVAL, "metadata \"%s\" is not UTF-8", key);
    const char *kept = keep(w, value);
    if (kept == NULL) return RG_ENOMEM;
    for (size_t i = 0; i < w->metadata_count; i++) {
        if (strcmp(w->metadata[i].key, key) != 0) continue;
        w->metadata[i].value = kept;
        return RG_OK;
    }
    rg_safetensors_pair *pairs = with_room(w->metadata, &w->metadata_capacity, w->metadata_count, sizeof *pairs);
    if (pairs == NULL) return RG_ENOMEM;
    w->metadata = pairs;
    rg_safetensors_pair pair = { keep(w, key), kept };
    if (pair.key == NULL) return RG_ENOMEM;
    w->metadata[w->metadata_count++] = pair;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------ header */

static int by_type_and_name(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    size_t x_bytes = rg_dtype_bytes(x->dtype), y_bytes = rg_dtype_bytes(y->dtype);
    if (x_bytes != y_bytes) return x_bytes > y_bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const rg_safetensors_pair *)a)->key, ((const rg_safetensors_pair *)b)->key);
}

/* jansson fails only for want of memory here: all text has been checked. */
static bool set_text(json_t *object, const char *key, const char *value)
{
    return json_object_set_new(object, key, json_string(value)) == 0;
}

static bool append_number(json_t *list, size_t number)
{
    return json_array_append_new(list, json_integer((json_int_t)number)) == 0;
}

static bool add_metadata(json_t *root, const rg_safetensors_writer *w)
{
    json_t *metadata = json_object();
    if (json_object_set_new(root, "__metadata__", metadata) != 0) return false;
    if (!set_text(metadata, RG_SAFETENSORS_HEADER_KEY, "0000000000000000")) return false;
    for (size_t i = 0; i < w->metadata_count; i++)
        if (!set_text(metadata, w->metadata[i].key, w->metadata[i].value)) return false;
    for (size_t i = 0; i < w->count; i++) {
        const piece *p = &w->pieces[i];
        char digits[RG_SAFETENSORS_SUM_DIGITS + 1];
        snprintf(digits, sizeof digits, "%016" PRIx64, rg_hash64_of(p->data, p->bytes));
        char *key = rg_format(RG_SAFETENSORS_SUM_PREFIX "%s", p->name);
        bool set = key != NULL && set_text(metadata, key, digits);
        rg_free(key);
        if (!set) return false;
    }
    return true;
}

static bool add_array(json_t *root, const piece *p, size_t begin)
{
    json_t *array = json_object(), *shape = json_array(), *range = json_array();
    bool done = json_object_set_new(root, p->name, array) == 0; /* from here on root owns it */
    done = done && set_text(array, "dtype", rg_dtype_name(p->dtype));
    if (!done) {
        json_decref(shape);
        json_decref(range);
        return false;
    }
    done = json_object_set_new(array, "shape", shape) == 0;
    done = json_object_set_new(array, "data_offsets", range) == 0 && done;
    for (size_t i = 0; done && i < p->ndim; i++) done = append_number(shape, p->dims[i]);
    return done && append_number(range, begin) && append_number(range, begin + p->bytes);
}

/* The header as text with its length in front, its own checksum filled in. */
static rg_status dump_header(char **out, size_t *out_bytes, json_t *root)
{
    static const char opening[] = RG_SAFETENSORS_OPENING;
    size_t bytes = json_dumpb(root, NULL, 0, JSON_COMPACT), padded;
    if (bytes == 0) return rg_fail(RG_ENOMEM, "no memory to write the header of a file");
    if (!rg_size_align(&padded, bytes + 8, DATA_ALIGN) || padded - 8 > RG_SAFETENSORS_HEADER_MAX)
        return rg_fail(RG_ELIMIT, "a header of %zu bytes, at most %d: fewer or shorter names and metadata are needed",
                       bytes, RG_SAFETENSORS_HEADER_MAX);
    char *header = rg_alloc(padded);
    if (header == NULL) return RG_ENOMEM;
    memset(header, ' ', padded);
    for (int i = 0; i < 8; i++) header[i] = (char)((padded - 8) >> 8 * i & 0xFF);
    if (json_dumpb(root, header + 8, bytes, JSON_COMPACT) != bytes) {
        rg_free(header);
        return rg_fail(RG_ENOMEM, "no memory to write the header of a file");
    }
    char digits[RG_SAFETENSORS_SUM_DIGITS + 1];
    snprintf(digits, sizeof digits, "%016" PRIx64, rg_hash64_of(header + 8, padded - 8));
    memcpy(header + 8 + sizeof opening - 1, digits, RG_SAFETENSORS_SUM_DIGITS);
    *out = header;
    *out_bytes = padded;
    return RG_OK;
}

static rg_status check_finite(const piece *p)
{
    const size_t count = p->bytes / rg_dtype_bytes(p->dtype), at = rg_finite_until(p->dtype, p->data, count);
    if (at == count) return RG_OK;
    return rg_fail(RG_ENUMBER, "array \"%s\": value %zu of %zu is not finite; nothing is saved", p->name, at, count);
}

static rg_status make_header(char **out, size_t *out_bytes, size_t *out_data_bytes, rg_safetensors_writer *w)
{
    size_t end = 0;
    *out = NULL;
    for (size_t i = 0; w->finite_only && i < w->count; i++)
        RG_TRY(check_finite(&w->pieces[i]));
    if (w->count > 0) qsort(w->pieces, w->count, sizeof *w->pieces, by_type_and_name);
    if (w->metadata_count > 0) qsort(w->metadata, w->metadata_count, sizeof *w->metadata, by_key);

    json_t *root = json_object();
    bool done = root != NULL && add_metadata(root, w);
    for (size_t i = 0; done && i < w->count; i++) {
        done = add_array(root, &w->pieces[i], end);
        if (!rg_size_add(&end, end, w->pieces[i].bytes)) done = false;
    }
    rg_status status =
        done ? dump_header(out, out_bytes, root) : rg_fail(RG_ENOMEM, "no memory to make the header of a file");
    json_decref(root);
    *out_data_bytes = end;
    return status;
}

/* -------------------------------------------------------------------------------------------------------- save */

rg_status rg_safetensors_writer_save(rg_safetensors_writer *w, const char *path)
{
    rg_file *file = NULL;
    char *header;
    size_t header_bytes, data_bytes;
    rg_status status = make_header(&header, &header_bytes, &data_bytes, w);
    if (status != RG_OK) return rg_fail_in(status, "%s: ", path);

    status = rg_file_replace_begin(&file, path);
    if (status == RG_OK) status = rg_file_write(file, header, header_bytes);
    for (size_t i = 0; status == RG_OK && i < w->count; i++)
        status = rg_file_write(file, w->pieces[i].data, w->pieces[i].bytes);
    if (status == RG_OK) status = rg_file_replace_commit(file);
    else rg_file_replace_abandon(file);
    rg_free(header);
    return status;
}

rg_status rg_safetensors_writer_build(void **out, size_t *out_count, rg_safetensors_writer *w)
{
    char *header;
    size_t header_bytes, data_bytes, total;
    *out = NULL;
    RG_TRY(make_header(&header, &header_bytes, &data_bytes, w));
    unsigned char *bytes = rg_size_add(&total, header_bytes, data_bytes) ? rg_alloc(total) : NULL;
    if (bytes == NULL) {
        rg_free(header);
        return rg_fail(RG_ENOMEM, "no memory for a file of %zu bytes of data", data_bytes);
    }
    memcpy(bytes, header, header_bytes);
    for (size_t i = 0, at = header_bytes; i < w->count; at += w->pieces[i].bytes, i++)
        if (w->pieces[i].bytes > 0) memcpy(bytes + at, w->pieces[i].data, w->pieces[i].bytes);
    rg_free(header);
    *out = bytes;
    *out_count = total;
    return RG_OK;
}
