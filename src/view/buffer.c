/* buffer.c - text that grows, escapes, base64, whole files. */
#include "view/buffer.h"

#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(rg_buffer *b, size_t more)
{
    size_t need, room;
    char  *data;

    if (b->status != RG_OK) return false;
    if (!rg_size_add(&need, b->used, more) || !rg_size_add(&need, need, 1)) {
        b->status = rg_fail(RG_ELIMIT, "a text of more than %zu bytes", b->used);
        return false;
    }
    if (need <= b->room) return true;
    room = b->room ? b->room : 256;
    while (room < need) room = room > SIZE_MAX / 2 ? need : room * 2;
    if (!(data = rg_realloc(b->data, room))) {
        b->status = RG_ENOMEM;
        return false;
    }
    b->data = data;
    b->room = room;
    return true;
}

void rg_buffer_put(rg_buffer *b, const void *bytes, size_t count)
{
    if (!reserve(b, count) || !b->data) return;
    if (count) memcpy(b->data + b->used, bytes, count);
    b->used += count;
    b->data[b->used] = 0;
}

void rg_buffer_text(rg_buffer *b, const char *text)
{
    rg_buffer_put(b, text, strlen(text));
}

void rg_buffer_repeat(rg_buffer *b, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++) rg_buffer_text(b, text);
}

void rg_buffer_format(rg_buffer *b, const char *format, ...)
{
    va_list args, again;
    int     count;

    va_start(args, format);
    va_copy(again, args);
    count = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (count >= 0 && reserve(b, (size_t)count)) {
        vsnprintf(b->data + b->used, (size_t)count + 1, format, again);
        b->used += (size_t)count;
    }
    va_end(again);
}

void rg_buffer_json(rg_buffer *b, const char *text)
{
    rg_buffer_text(b, "\"");
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\') rg_buffer_format(b, "\\%c", c);
        else if (c < 0x20 || c == '<' || c == 0x7f) rg_buffer_format(b, "\\u%04x", c);
        else rg_buffer_put(b, p, 1);
    }
    rg_buffer_text(b, "\"");
}

void rg_buffer_html(rg_buffer *b, const char *text)
{
    for (const char *p = text; *p; p++) {
        switch (*p) {
        case '&': rg_buffer_text(b, "&amp;"); break;
        case '<': rg_buffer_text(b, "&lt;"); break;
        case '>': rg_buffer_text(b, "&gt;"); break;
        case '"': rg_buffer_text(b, "&quot;"); break;
        case '\'': rg_buffer_text(b, "&#39;"); break;
        default:
            /* Control characters are not allowed in XML, not even escaped. */
            if ((unsigned char)*p >= 0x20 || *p == '\t' || *p == '\n') rg_buffer_put(b, p, 1);
        }
    }
}

void rg_buffer_float(rg_buffer *b, float value)
{
    char text[32];

    rg_real_print_float(text, sizeof text, 4, value);
    rg_buffer_text(b, text);
}

void rg_buffer_double(rg_buffer *b, double value)
{
    char text[40];

    rg_real_print_double(text, sizeof text, 6, value);
    rg_buffer_text(b, text);
}

static const char base64_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void rg_buffer_base64(rg_buffer *b, const void *bytes, size_t count)
{
    const unsigned char *in = bytes;
    size_t               length;
    char                *out;

    if (!rg_size_mul(&length, count / 3 + (count % 3 != 0), 4) || !reserve(b, length)) return;
    out = b->data + b->used;
    for (size_t i = 0; i < count; i += 3) {
        uint32_t v = (uint32_t)in[i] << 16;
        if (i + 1 < count) v |= (uint32_t)in[i + 1] << 8;
        if (i + 2 < count) v |= in[i + 2];
        *out++ = base64_letters[v >> 18];
        *out++ = base64_letters[(v >> 12) & 63];
        *out++ = i + 1 < count ? base64_letters[(v >> 6) & 63] : '=';
        *out++ = i + 2 < count ? base64_letters[v & 63] : '=';
    }
    *out = 0;
    b->used += length;
}

size_t rg_base64_size(size_t count)
{
    return count / 4 * 3 + 3;
}

static int base64_value(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

rg_status rg_base64_decode(size_t *out_bytes, unsigned char *out, const char *text, size_t count)
{
    size_t used = 0;

    if (count % 4) return rg_fail(RG_EFORMAT, "base64 of %zu characters, not a multiple of 4", count);
    for (size_t i = 0; i < count; i += 4) {
        bool last = i + 4 == count;
        int  pad = last ? (text[i + 3] == '=') + (text[i + 3] == '=' && text[i + 2] == '=') : 0;
        int  v = 0;
        for (int k = 0; k < 4; k++) {
            int d = k >= 4 - pad ? 0 : base64_value(text[i + (size_t)k]);
            if (d < 0) return rg_fail(RG_EFORMAT, "base64: a wrong character at %zu", i + (size_t)k);
            v = v << 6 | d;
        }
        out[used++] = (unsigned char)(v >> 16);
        if (pad < 2) out[used++] = (unsigned char)(v >> 8);
        if (pad < 1) out[used++] = (unsigned char)v;
    }
    *out_bytes = used;
    return RG_OK;
}

rg_status rg_buffer_take(char **out, size_t *out_bytes, rg_buffer *b)
{
    rg_status status;

    rg_buffer_put(b, "", 0);
    status = b->status;
    if (status == RG_OK) {
        *out = b->data;
        if (out_bytes) *out_bytes = b->used;
        b->data = NULL;
    }
    rg_buffer_fini(b);
    return status;
}

void rg_buffer_fini(rg_buffer *b)
{
    rg_free(b->data);
    *b = (rg_buffer)RG_BUFFER_EMPTY;
}

rg_status rg_view__read_file(char **out, size_t *out_bytes, const char *path, size_t most)
{
    rg_status status;
    rg_file  *file = NULL;
    rg_buffer buffer = RG_BUFFER_EMPTY;
    char      piece[16384];
    size_t    got;

    if ((status = rg_file_open(&file, path, "rb")) != RG_OK) return status;
    do {
        if ((status = rg_file_read_some(&got, file, piece, sizeof piece)) != RG_OK) break;
        rg_buffer_put(&buffer, piece, got);
        if (buffer.used > most) status = rg_fail(RG_ELIMIT, "%s: larger than %zu bytes", path, most);
    } while (got && status == RG_OK && buffer.status == RG_OK);
    rg_file_close(file);
    if (status != RG_OK) {
        rg_buffer_fini(&buffer);
        return status;
    }
    return rg_buffer_take(out, out_bytes, &buffer);
}
