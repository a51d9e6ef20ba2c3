/* text.c - growing buffers of bytes, ids and spans, and the count of what was wrong in a file. */
#include "regard/text.h"

#include <stdio.h>
#include <string.h>

/* Room for `need` elements of `size` bytes: doubles, so that n additions cost O(n). */
static rg_status grow(void **data, size_t *room, size_t need, size_t size)
{
    size_t bytes, next = *room < 16 ? 16 : *room;
    if (need <= *room) return RG_OK;
    while (next < need) {
        if (!rg_size_mul(&next, next, 2)) return rg_fail(RG_ENOMEM, "a buffer of %zu elements is too large", need);
    }
    if (!rg_size_mul(&bytes, next, size)) return rg_fail(RG_ENOMEM, "a buffer of %zu elements is too large", next);
    void *grown = rg_realloc(*data, bytes);
    if (!grown) return RG_ENOMEM;
    *data = grown;
    *room = next;
    return RG_OK;
}

void rg_text_free(rg_text *text)
{
    if (!text) return;
    rg_free(text->data);
    *text = (rg_text){ 0 };
}

void rg_text_clear(rg_text *text)
{
    text->length = 0;
    if (text->data) text->data[0] = '\0';
}

const char *rg_text_c(const rg_text *text)
{
    return text->data ? text->data : "";
}

rg_status rg_text_add(rg_text *text, const void *bytes, size_t count)
{
    size_t need;
    if (!rg_size_add(&need, text->length, count) || !rg_size_add(&need, need, 1))
        return rg_fail(RG_ENOMEM, "a text of %zu + %zu bytes is too large", text->length, count);
    void *data = text->data;
    RG_TRY(grow(&data, &text->room, need, 1));
    text->data = data;
    if (count) memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
    return RG_OK;
}

rg_status rg_text_add_string(rg_text *text, const char *string)
{
    return rg_text_add(text, string, strlen(string));
}

rg_status rg_text_print(rg_text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    rg_status status = RG_OK;
    int       length = vsnprintf(NULL, 0, format, args);
    if (length < 0) {
        status = rg_fail(RG_EINVAL, "cannot print with the format \"%s\"", format);
    } else {
        void *data = text->data;
        status = grow(&data, &text->room, text->length + (size_t)length + 1, 1);
        text->data = data;
        if (status == RG_OK) {
            vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
            text->length += (size_t)length;
        }
    }
    va_end(again);
    va_end(args);
    return status;
}

void rg_ids_free(rg_ids *ids)
{
    if (!ids) return;
    rg_free(ids->data);
    *ids = (rg_ids){ 0 };
}

rg_status rg_ids_reserve(rg_ids *ids, size_t more)
{
    size_t need;
    if (!rg_size_add(&need, ids->count, more)) return rg_fail(RG_ENOMEM, "%zu more ids are too many", more);
    void *data = ids->data;
    RG_TRY(grow(&data, &ids->room, need, sizeof *ids->data));
    ids->data = data;
    return RG_OK;
}

rg_status rg_ids_add(rg_ids *ids, int32_t id)
{
    RG_TRY(rg_ids_reserve(ids, 1));
    ids->data[ids->count++] = id;
    return RG_OK;
}

void rg_spans_free(rg_spans *spans)
{
    if (!spans) return;
    rg_free(spans->data);
    *spans = (rg_spans){ 0 };
}

rg_status rg_spans_add(rg_spans *spans, size_t begin, size_t end)
{
    if (end > UINT32_MAX) return rg_fail(RG_ELIMIT, "a line of more than 4 GiB cannot be cut into tokens");
    void *data = spans->data;
    RG_TRY(grow(&data, &spans->room, spans->count + 1, sizeof *spans->data));
    spans->data = data;
    spans->data[spans->count++] = (rg_span){ (uint32_t)begin, (uint32_t)end };
    return RG_OK;
}

void rg_fault_note(rg_fault *fault, uint64_t line)
{
    if (fault->count < RG_FAULT_LINES) fault->lines[fault->count] = line;
    fault->count++;
}

rg_status rg_fault_print(rg_text *out, const rg_fault *fault, const char *what)
{
    if (!fault->count) return RG_OK;
    RG_TRY(rg_text_print(out, "%llu %s (line%s", (unsigned long long)fault->count, what, fault->count > 1 ? "s" : ""));
    for (uint64_t i = 0; i < fault->count && i < RG_FAULT_LINES; i++)
        RG_TRY(rg_text_print(out, "%s %llu", i ? "," : "", (unsigned long long)fault->lines[i]));
    return rg_text_add_string(out, fault->count > RG_FAULT_LINES ? ", ...)" : ")");
}
