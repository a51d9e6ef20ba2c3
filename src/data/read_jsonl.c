/* read_jsonl.c - one JSON object per line. Columns are keys: those that are wanted, or those that `columns` names
 * instead.
 *
 *     string -> itself    number, true, false -> as text    list -> its items, one per line    null, absent -> missing */
#include "data/reader.h"

#include <jansson.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/number.h"

static rg_status add_value(rg_reader *r, const json_t *value, const char *key)
{
    char number[40];
    if (json_is_string(value)) return rg_text_add(&r->text, json_string_value(value), json_string_length(value));
    if (json_is_boolean(value)) return rg_text_add_string(&r->text, json_is_true(value) ? "true" : "false");
    if (json_is_integer(value)) return rg_text_print(&r->text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (json_is_real(value)) {
        rg_real_print_double(number, sizeof number, 1, json_real_value(value));
        return rg_text_add_string(&r->text, number);
    }
    return rg_reader__complain(r, r->row.line, "\"%s\" is not text, a number or a list of them", key);
}

/* One element per line; those of a list within it, a row of a sequence, between blanks. */
static rg_status add_list(rg_reader *r, const json_t *list, const char *key)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (i) RG_TRY(rg_text_add(&r->text, "\n", 1));
        for (size_t k = 0; k < json_array_size(item); k++) {
            if (k) RG_TRY(rg_text_add(&r->text, " ", 1));
            RG_TRY(add_value(r, json_array_get(item, k), key));
        }
        if (!json_is_array(item)) RG_TRY(add_value(r, item, key));
    }
    return RG_OK;
}

static rg_status add_key(rg_reader *r, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value)) return rg_reader__add_missing(r);
    RG_TRY(rg_reader__begin_cell(r));
    RG_TRY(json_is_array(value) ? add_list(r, value, key) : add_value(r, value, key));
    return rg_reader__end_cell(r);
}

/* The keys of all wanted columns, a NUL behind each, are r->own. */
static rg_status jsonl_open(rg_reader *r)
{
    rg_text    *keys = rg_alloc_zero(sizeof *keys);
    const char *list = r->config.columns && *r->config.columns ? r->config.columns : NULL;
    r->own = keys;
    if (!keys) return RG_ENOMEM;
    for (size_t i = 0; i < r->config.wanted_count; i++) {
        const char  *key = list ? list : r->config.wanted[i];
        const size_t bytes = list ? strcspn(list, ",") : strlen(key);
        if (list && !bytes)
            return rg_fail(RG_EINVAL, "%s: columns \"%s\": %zu keys are wanted", r->name, r->config.columns,
                           r->config.wanted_count);
        RG_TRY(rg_text_add(keys, key, bytes));
        RG_TRY(rg_text_add(keys, "", 1));
        if (list) list += bytes + (list[bytes] == ',');
    }
    if (list && *list)
        return rg_fail(RG_EINVAL, "%s: columns \"%s\": only %zu keys are wanted", r->name, r->config.columns,
                       r->config.wanted_count);
    r->config.columns = "";
    r->config.header = RG_HEADER_NO; /* cells stand in the wanted order */
    return rg_reader__open_lines(r);
}

static void jsonl_close(rg_reader *r)
{
    rg_text_free(r->own);
    rg_free(r->own);
}

static rg_status jsonl_next(bool *out_more, rg_reader *r)
{
    rg_line      line;
    json_error_t error;
    RG_TRY(rg_reader__next_line(out_more, &line, r));
    if (!*out_more || rg_reader__is_empty(&line)) return RG_OK;
    if (rg_json_scan_text(line.text, line.bytes).depth > RG_JSON_DEPTH_MAX)
        return rg_reader__complain(r, line.number, "more than %d brackets inside each other", RG_JSON_DEPTH_MAX);
    json_t *object = json_loadb(line.text, line.bytes, JSON_REJECT_DUPLICATES, &error);
    if (!object)
        return rg_reader__complain(r, line.number, "column %d: %s: a line is one JSON object", error.column,
                                   error.text);
    rg_status status =
        json_is_object(object) ? RG_OK : rg_reader__complain(r, line.number, "not a JSON object: { \"text\": ... }");
    const char *key = rg_text_c(r->own);
    for (size_t i = 0; i < r->config.wanted_count && status == RG_OK; i++) {
        status = add_key(r, object, key);
        key += strlen(key) + 1;
    }
    json_decref(object);
    return status;
}

const rg_reader_format rg_reader_jsonl = {
    .name = "jsonl",
    .summary = "one JSON object per line; columns are its keys",
    .endings = ".jsonl .ndjson ",
    .open = jsonl_open,
    .next = jsonl_next,
    .close = jsonl_close,
};
