/* safetensors_header.c - the JSON header of a safetensors file, checked.
 *
 * Nothing in it is believed: depth and richness are counted before the parser runs, sizes are computed with checked
 * products and compared with the offsets, and the arrays sorted by offset must follow each other from the first byte of
 * the data to the last. */
#include "base/safetensors.h"

#include "base/hash.h"
#include "base/json_scan.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

bool rg_safetensors__parse_sum(uint64_t *out, const char *digits, size_t count)
{
    uint64_t sum = 0;
    if (count != RG_SAFETENSORS_SUM_DIGITS) return false;
    for (size_t i = 0; i < count; i++) {
        char c = digits[i];
        if (c >= '0' && c <= '9') sum = sum << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f') sum = sum << 4 | (uint64_t)(c - 'a' + 10);
        else return false;
    }
    *out = sum;
    return true;
}

static rg_status bad(const rg_safetensors *st, const char *name, const char *why)
{
    return rg_fail(RG_EFORMAT, "%s: array \"%s\": %s", st->path, name, why);
}

/* ------------------------------------------------------------------------------------------ before the parser */

/* Limits that every real header keeps, so that a small file cannot make the parser allocate much more than its size:
 * one object for each array and two around them, two lists for each, a handful of numbers in them. */
static rg_status check_text(const rg_safetensors *st, const char *header, size_t bytes)
{
    if (bytes == 0 || header[0] != '{')
        return rg_fail(RG_EFORMAT, "%s: byte 8: a header begins with '{'; this is no safetensors file", st->path);
    rg_json_scan scan = rg_json_scan_text(header, bytes);
    if (scan.depth > RG_JSON_DEPTH_MAX)
        return rg_fail(RG_ELIMIT, "%s: header nested %zu deep, at most %d", st->path, scan.depth, RG_JSON_DEPTH_MAX);
    if (scan.objects > RG_SAFETENSORS_COUNT_MAX + 2)
        return rg_fail(RG_ELIMIT, "%s: header with %zu objects, at most %d arrays", st->path, scan.objects,
                       RG_SAFETENSORS_COUNT_MAX);
    if (scan.arrays > 2 * scan.objects || scan.commas > 16 * scan.objects + 2 * RG_SAFETENSORS_COUNT_MAX)
        return rg_fail(RG_ELIMIT, "%s: header with %zu objects but %zu lists and %zu commas", st->path, scan.objects,
                       scan.arrays, scan.commas);
    return RG_OK;
}

/* A header of ours that was not rewritten by another program begins with its own checksum. */
static rg_status check_own_sum(const rg_safetensors *st, const char *header, size_t bytes)
{
    static const char opening[] = RG_SAFETENSORS_OPENING, zeros[] = "0000000000000000";
    const size_t at = sizeof opening - 1, after = at + RG_SAFETENSORS_SUM_DIGITS;
    uint64_t stated, found;
    rg_hash64 hash;
    if (bytes < after || memcmp(header, opening, at) != 0) return RG_OK;
    rg_hash64_begin(&hash);
    rg_hash64_add(&hash, header, at);
    rg_hash64_add(&hash, zeros, RG_SAFETENSORS_SUM_DIGITS);
    rg_hash64_add(&hash, header + after, bytes - after);
    found = rg_hash64_end(&hash);
    if (rg_safetensors__parse_sum(&stated, header + at, RG_SAFETENSORS_SUM_DIGITS) && stated == found) return RG_OK;
    return rg_fail(RG_EFORMAT, "%s: the header is damaged: its checksum is %016" PRIx64 ", it says %.*s", st->path,
                   found, RG_SAFETENSORS_SUM_DIGITS, header + at);
}

/* -------------------------------------------------------------------------------------------------- one array */

static const char *keep(rg_safetensors *st, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = rg_arena_get(st->arena, bytes);
    if (copy != NULL) memcpy(copy, text, bytes);
    return copy;
}

/* A list of at most `most` numbers >= 0. */
static bool read_numbers(size_t *out, size_t *out_count, const json_t *list, size_t most)
{
    if (!json_is_array(list) || json_array_size(list) > most) return false;
    *out_count = json_array_size(list);
    for (size_t i = 0; i < *out_count; i++) {
        const json_t *number = json_array_get(list, i);
        if (!json_is_integer(number) || json_integer_value(number) < 0) return false;
        out[i] = (size_t)json_integer_value(number);
    }
    return true;
}

static rg_status read_array(rg_safetensors *st, rg_safetensors_entry *entry, const char *name, const json_t *value,
                            size_t data_start)
{
    size_t range[2], range_count;
    const char *type = json_string_value(json_object_get(value, "dtype"));
    if (!json_is_object(value)) return bad(st, name, "not described by an object");
    if (type == NULL) return bad(st, name, "has no dtype");
    if (!rg_dtype_find(&entry->dtype, type))
        return rg_fail(RG_EFORMAT, "%s: array \"%s\": dtype \"%s\" is not known here", st->path, name, type);
    const json_t *shape = json_object_get(value, "shape");
    if (json_array_size(shape) > RG_SAFETENSORS_DIMS_MAX)
        return rg_fail(RG_ELIMIT, "%s: array \"%s\": %zu dimensions, at most %d", st->path, name,
                       json_array_size(shape), RG_SAFETENSORS_DIMS_MAX);
    if (!read_numbers(entry->dims, &entry->ndim, shape, RG_SAFETENSORS_DIMS_MAX))
        return bad(st, name, "shape is not a list of sizes");
    if (!read_numbers(range, &range_count, json_object_get(value, "data_offsets"), 2) || range_count != 2)
        return bad(st, name, "data_offsets is not a list of two offsets");

    size_t room = (size_t)st->size - data_start;
    if (range[0] > range[1] || range[1] > room)
        return rg_fail(RG_EFORMAT, "%s: array \"%s\": bytes %zu to %zu of the data, which has %zu", st->path, name,
                       range[0], range[1], room);
    entry->bytes = rg_dtype_bytes(entry->dtype);
    for (size_t i = 0; i < entry->ndim; i++)
        if (!rg_size_mul(&entry->bytes, entry->bytes, entry->dims[i]))
            return bad(st, name, "shape is too large to exist");
    if (entry->bytes != range[1] - range[0])
        return rg_fail(RG_EFORMAT, "%s: array \"%s\": shape and dtype make %zu bytes, the file gives it %zu", st->path,
                       name, entry->bytes, range[1] - range[0]);
    entry->offset = data_start + range[0];
    return (entry->name = keep(st, name)) == NULL ? RG_ENOMEM : RG_OK;
}

/* --------------------------------------------------------------------------------------------------- metadata */

static int by_key(const void *a, const void *b)
{
    return strcmp(((const rg_safetensors_pair *)a)->key, ((const rg_safetensors_pair *)b)->key);
}

static rg_status read_metadata(rg_safetensors *st, json_t *metadata)
{
    const char *key;
    json_t *value;
    if (metadata == NULL) return RG_OK;
    if (!json_is_object(metadata)) return rg_fail(RG_EFORMAT, "%s: __metadata__ is not an object", st->path);
    st->metadata = rg_arena_get(st->arena, json_object_size(metadata) * sizeof *st->metadata);
    if (st->metadata == NULL) return RG_ENOMEM;
    json_object_foreach(metadata, key, value)
    {
        if (!json_is_string(value))
            return rg_fail(RG_EFORMAT, "%s: metadata \"%s\" is not a string", st->path, key);
        if (strcmp(key, RG_SAFETENSORS_HEADER_KEY) == 0) continue;
        if (strncmp(key, RG_SAFETENSORS_SUM_PREFIX, strlen(RG_SAFETENSORS_SUM_PREFIX)) == 0) continue;
        rg_safetensors_pair pair = { keep(st, key), keep(st, json_string_value(value)) };
        if (pair.key == NULL || pair.value == NULL) return RG_ENOMEM;
        st->metadata[st->metadata_count++] = pair;
    }
    qsort(st->metadata, st->metadata_count, sizeof *st->metadata, by_key);
    return RG_OK;
}

static rg_status read_sum(rg_safetensors *st, rg_safetensors_item *item, const json_t *metadata)
{
    char *key = rg_format(RG_SAFETENSORS_SUM_PREFIX "%s", item->entry.name);
    if (key == NULL) return RG_ENOMEM;
    const char *digits = json_string_value(json_object_get(metadata, key));
    rg_free(key);
    if (digits == NULL) return RG_OK;
    item->has_sum = rg_safetensors__parse_sum(&item->sum, digits, strlen(digits));
    return item->has_sum ? RG_OK : bad(st, item->entry.name, "its checksum is not 16 hexadecimal digits");
}

/* ------------------------------------------------------------------------------------------------- all arrays */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const rg_safetensors_item *)a)->entry.name, ((const rg_safetensors_item *)b)->entry.name);
}

static int by_offset(const void *a, const void *b)
{
    const rg_safetensors_entry *x = &((const rg_safetensors_item *)a)->entry,
                               *y = &((const rg_safetensors_item *)b)->entry;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes; /* empty ones first */
}

static rg_status check_cover(rg_safetensors *st, size_t data_start)
{
    uint64_t end = data_start;
    if (st->count > 0) qsort(st->items, st->count, sizeof *st->items, by_offset);
    for (size_t i = 0; i < st->count; i++) {
        const rg_safetensors_entry *entry = &st->items[i].entry;
        if (entry->offset != end)
            return rg_fail(RG_EFORMAT,
                           "%s: array \"%s\" begins at byte %" PRIu64 ", the one before it ends at %" PRIu64 ": %s",
                           st->path, entry->name, entry->offset, end, entry->offset < end ? "overlap" : "hole");
        end += entry->bytes;
    }
    if (end != st->size)
        return rg_fail(RG_EFORMAT, "%s: the arrays end at byte %" PRIu64 ", the file at %" PRIu64, st->path, end,
                       st->size);
    if (st->count > 0) qsort(st->items, st->count, sizeof *st->items, by_name);
    return RG_OK;
}

static rg_status read_arrays(rg_safetensors *st, json_t *root, size_t data_start)
{
    const char *name;
    json_t *value;
    json_t *metadata = json_object_get(root, "__metadata__");
    size_t count = json_object_size(root) - (metadata != NULL);
    if (count > RG_SAFETENSORS_COUNT_MAX)
        return rg_fail(RG_ELIMIT, "%s: %zu arrays, at most %d", st->path, count, RG_SAFETENSORS_COUNT_MAX);
    RG_TRY(read_metadata(st, metadata));
    st->items = rg_arena_get_zero(st->arena, count * sizeof *st->items);
    if (st->items == NULL) return RG_ENOMEM;
    json_object_foreach(root, name, value)
    {
        if (value == metadata) continue;
        rg_safetensors_item *item = &st->items[st->count];
        RG_TRY(read_array(st, &item->entry, name, value, data_start));
        RG_TRY(read_sum(st, item, metadata));
        st->count++;
    }
    return check_cover(st, data_start);
}

/* jansson (2.14) overruns its text buffer when that cannot be doubled. So make sure that the memory it may need for
 * the longest string - the buffer, its double and the result - is there before it starts. */
static rg_status check_memory(size_t header_bytes)
{
    void *probe = rg_alloc(4 * header_bytes + (1 << 16));
    rg_free(probe);
    return probe == NULL ? RG_ENOMEM : RG_OK;
}

rg_status rg_safetensors__parse(rg_safetensors *st, const char *header, size_t header_bytes)
{
    json_error_t error;
    RG_TRY(check_text(st, header, header_bytes));
    RG_TRY(check_own_sum(st, header, header_bytes));
    RG_TRY(check_memory(header_bytes));
    json_t *root = json_loadb(header, header_bytes, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL && (json_error_code(&error) == json_error_out_of_memory || error.text[0] == '\0'))
        return rg_fail(RG_ENOMEM, "%s: no memory to parse a header of %zu bytes", st->path, header_bytes);
    if (root == NULL)
        return rg_fail(RG_EFORMAT, "%s: byte %zu: the header is not JSON: %s", st->path, 8 + (size_t)error.position,
                       error.text);
    rg_status status = read_arrays(st, root, 8 + header_bytes); /* an object: check_text saw its '{' */
    json_decref(root);
    return status;
}
