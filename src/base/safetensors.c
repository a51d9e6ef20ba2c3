/* safetensors.c - open a safetensors file, find and read its arrays. */
#include "base/safetensors.h"

#include "base/finite.h"
#include "base/hash.h"

#include <inttypes.h>
#include <string.h>

#define PIECE_BYTES ((size_t)1 << 18) /* read and hashed at a time, while it is in cache */

/* `bytes` from `offset` on; the caller has compared them with st->size. */
static rg_status copy_out(rg_safetensors *st, void *buffer, uint64_t offset, size_t bytes)
{
    if (st->file == NULL) {
        if (bytes > 0) memcpy(buffer, st->bytes + offset, bytes);
        return RG_OK;
    }
    RG_TRY(rg_file_seek(st->file, offset));
    return rg_file_read(st->file, buffer, bytes);
}

static rg_status read_header(rg_safetensors *st)
{
    unsigned char length[8];
    uint64_t header_bytes = 0;
    if (st->size < 8)
        return rg_fail(RG_EFORMAT, "%s: %" PRIu64 " bytes are too few for a safetensors file", st->path, st->size);
    RG_TRY(copy_out(st, length, 0, sizeof length));
    for (int i = 7; i >= 0; i--) header_bytes = header_bytes << 8 | length[i];
    if (header_bytes > st->size - 8)
        return rg_fail(RG_EFORMAT, "%s: byte 0: a header of %" PRIu64 " bytes is announced, %" PRIu64 " are left",
                       st->path, header_bytes, st->size - 8);
    if (header_bytes > RG_SAFETENSORS_HEADER_MAX)
        return rg_fail(RG_ELIMIT, "%s: byte 0: a header of %" PRIu64 " bytes, at most %d", st->path, header_bytes,
                       RG_SAFETENSORS_HEADER_MAX);
    char *header = rg_alloc((size_t)header_bytes);
    if (header == NULL) return RG_ENOMEM;
    rg_status status = copy_out(st, header, 8, (size_t)header_bytes);
    if (status == RG_OK) status = rg_safetensors__parse(st, header, (size_t)header_bytes);
    rg_free(header);
    return status;
}

static rg_status new_object(rg_safetensors **out, const char *name)
{
    size_t bytes = strlen(name) + 1;
    rg_arena *arena;
    *out = NULL;
    RG_TRY(rg_arena_new(&arena, 1 << 14));
    rg_safetensors *st = rg_arena_get_zero(arena, sizeof *st);
    char *path = rg_arena_get(arena, bytes);
    if (st == NULL || path == NULL) {
        rg_arena_free(arena);
        return RG_ENOMEM;
    }
    st->arena = arena;
    st->path = memcpy(path, name, bytes);
    *out = st;
    return RG_OK;
}

rg_status rg_safetensors_open(rg_safetensors **out, const char *path)
{
    rg_safetensors *st;
    *out = NULL;
    RG_TRY(new_object(&st, path));
    rg_status status = rg_file_open(&st->file, path, "rr");
    if (status == RG_OK) status = rg_file_size(&st->size, st->file);
    if (status == RG_OK) status = read_header(st);
    if (status == RG_OK) *out = st;
    else rg_safetensors_close(st);
    return status;
}

rg_status rg_safetensors_open_memory(rg_safetensors **out, const char *name, const void *bytes, size_t count)
{
    rg_safetensors *st;
    *out = NULL;
    RG_TRY(new_object(&st, name));
    st->bytes = bytes;
    st->size = count;
    rg_status status = read_header(st);
    if (status == RG_OK) *out = st;
    else rg_safetensors_close(st);
    return status;
}

void rg_safetensors_close(rg_safetensors *st)
{
    if (st == NULL) return;
    for (size_t i = 0; i < st->count; i++) rg_free(st->items[i].data);
    rg_file_close(st->file); /* read only: nothing can be lost here */
    rg_arena_free(st->arena);
}

/* ---------------------------------------------------------------------------------------------------- look up */

const char *rg_safetensors_path(const rg_safetensors *st)
{
    return st->path;
}

size_t rg_safetensors_count(const rg_safetensors *st)
{
    return st->count;
}

const rg_safetensors_entry *rg_safetensors_at(const rg_safetensors *st, size_t index)
{
    return index < st->count ? &st->items[index].entry : NULL;
}

const rg_safetensors_entry *rg_safetensors_find(const rg_safetensors *st, const char *name)
{
    for (size_t low = 0, high = st->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, st->items[middle].entry.name);
        if (order == 0) return &st->items[middle].entry;
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return NULL;
}

const char *rg_safetensors_metadata(const rg_safetensors *st, const char *key)
{
    for (size_t low = 0, high = st->metadata_count; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(key, st->metadata[middle].key);
        if (order == 0) return st->metadata[middle].value;
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return NULL;
}

size_t rg_safetensors_metadata_count(const rg_safetensors *st)
{
    return st->metadata_count;
}

void rg_safetensors_metadata_at(const char **out_key, const char **out_value, const rg_safetensors *st, size_t index)
{
    *out_key = st->metadata[index].key;
    *out_value = st->metadata[index].value;
}

/* ------------------------------------------------------------------------------------------------------- read */

/* An entry is the first member of its item. */
static rg_safetensors_item *item_of(rg_safetensors *st, const rg_safetensors_entry *entry)
{
    size_t index = (size_t)((const rg_safetensors_item *)(const void *)entry - st->items);
    return &st->items[index];
}

void rg_safetensors_finite_only(rg_safetensors *st, bool finite_only)
{
    st->finite_only = finite_only;
}

/* Numbers `done` and on of an array, while they are in cache. A piece holds whole numbers. */
static rg_status check_piece(const rg_safetensors *st, const rg_safetensors_entry *entry, const unsigned char *piece,
                             size_t done, size_t bytes)
{
    const size_t width = rg_dtype_bytes(entry->dtype), count = bytes / width,
                 at = rg_finite_until(entry->dtype, piece, count);
    if (at == count) return RG_OK;
    return rg_fail(RG_ENUMBER,
                   "%s: array \"%s\": value %zu of %zu is infinite or not a number; a model with it cannot be used",
                   st->path, entry->name, done / width + at, entry->bytes / width);
}

rg_status rg_safetensors_read(rg_safetensors *st, const rg_safetensors_entry *entry, void *buffer, size_t bytes)
{
    const rg_safetensors_item *item = item_of(st, entry);
    unsigned char *to = buffer;
    rg_status finite = RG_OK; /* said last: a damaged array may hold anything */
    rg_hash64 hash;
    if (bytes != entry->bytes)
        return rg_fail(RG_ESHAPE, "%s: array \"%s\" has %zu bytes, %zu were asked for", st->path, entry->name,
                       entry->bytes, bytes);
    rg_hash64_begin(&hash);
    for (size_t done = 0; done < bytes;) {
        size_t piece = bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;
        rg_status status = copy_out(st, to + done, entry->offset + done, piece);
        if (status != RG_OK) return rg_fail_in(status, "array \"%s\": ", entry->name);
        if (item->has_sum) rg_hash64_add(&hash, to + done, piece);
        if (st->finite_only && finite == RG_OK) finite = check_piece(st, entry, to + done, done, piece);
        done += piece;
    }
    if (!item->has_sum || rg_hash64_end(&hash) == item->sum) return finite;
    return rg_fail(RG_EFORMAT,
                   "%s: array \"%s\" is damaged: bytes %" PRIu64 " to %" PRIu64 " have checksum %016" PRIx64
                   ", the header says %016" PRIx64 " (or a program changed it and kept the old checksum)",
                   st->path, entry->name, entry->offset, entry->offset + bytes, rg_hash64_end(&hash), item->sum);
}

rg_status rg_safetensors_data(const void **out, rg_safetensors *st, const rg_safetensors_entry *entry)
{
    rg_safetensors_item *item = item_of(st, entry);
    *out = item->data;
    if (item->data != NULL) return RG_OK;
    void *data = rg_alloc(entry->bytes);
    if (data == NULL) return RG_ENOMEM;
    rg_status status = rg_safetensors_read(st, entry, data, entry->bytes);
    if (status != RG_OK) rg_free(data);
    else *out = item->data = data;
    return status;
}

rg_status rg_safetensors_read_floats(rg_safetensors *st, const rg_safetensors_entry *entry, float *out, size_t count)
{
    const size_t width = rg_dtype_bytes(entry->dtype);
    if (count != entry->bytes / width)
        return rg_fail(RG_ESHAPE, "%s: array \"%s\" has %zu numbers, %zu were asked for", st->path, entry->name,
                       entry->bytes / width, count);
    if (entry->dtype == RG_DTYPE_F32) return rg_safetensors_read(st, entry, out, entry->bytes);
    void *bytes = rg_alloc(entry->bytes ? entry->bytes : 1);
    if (bytes == NULL) return RG_ENOMEM;
    rg_status status = rg_safetensors_read(st, entry, bytes, entry->bytes);
    if (status == RG_OK) status = rg_dtype_floats(out, entry->dtype, bytes, count);
    if (status == RG_EINVAL) rg_fail_in(status, "%s: array \"%s\": ", st->path, entry->name);
    rg_free(bytes);
    return status;
}
