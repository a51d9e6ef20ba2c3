/* json.c - JSON (and ARB): values that are strings. Keys stay, and so does all below a key that begins with @, which
 * is what ARB files say about a message.
 *
 * The file is checked by a JSON library, then walked through by its bytes: numbers, blanks and the order of keys stay
 * as they are. */
#include "data/documents/documents.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

typedef struct {
    rg_document *d;
    const char  *text;
    size_t       bytes, at;
    size_t       kept; /* everything before is in the document */
} reader;

static size_t string_end(const reader *r, size_t at) /* behind the quote that closes it */
{
    for (at++; at < r->bytes && r->text[at] != '"'; at++) at += r->text[at] == '\\';
    return at < r->bytes ? at + 1 : r->bytes;
}

static size_t skip_blanks(const reader *r, size_t at)
{
    while (at < r->bytes && isspace((unsigned char)r->text[at])) at++;
    return at;
}

/* Behind the value at `at`. */
static size_t value_end(const reader *r, size_t at)
{
    size_t depth = 0;
    do {
        if (r->text[at] == '"') at = string_end(r, at);
        else {
            depth += r->text[at] == '{' || r->text[at] == '[';
            depth -= (r->text[at] == '}' || r->text[at] == ']') && depth;
            at++;
        }
    } while (at < r->bytes && (depth || !strchr(",}]", r->text[at])));
    return at;
}

/* --------------------------------------------------------------------------------------------------------- strings */

rg_status rg_json__escape(rg_text *out, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') RG_TRY(rg_text_print(out, "\\%c", c));
        else if (c == '\t') RG_TRY(rg_text_add_string(out, "\\t"));
        else if (c < 32) RG_TRY(rg_text_print(out, "\\u%04x", c));
        else RG_TRY(rg_text_add(out, text + i, 1));
    }
    return RG_OK;
}

static uint32_t hex4(const char *text, size_t left)
{
    uint32_t code = 0;
    for (size_t i = 0; i < 4; i++) {
        const char c = i < left ? text[i] : 0;
        if (!isxdigit((unsigned char)c)) return 0;
        code = code * 16 + (uint32_t)(isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10);
    }
    return code;
}

/* The escape at text[0], a backslash: its character, 0 for one that separates paragraphs, and its length. */
static uint32_t escaped(const char *text, size_t left, size_t *used)
{
    *used = left < 2 ? left : 2;
    if (left < 2) return 0;
    if (text[1] == 't') return '\t';
    if (strchr("nrbf0aev", text[1])) return 0;
    if (text[1] != 'u') return (unsigned char)text[1] < 0x80 ? (uint32_t)text[1] : 0;
    uint32_t code = hex4(text + 2, left - 2);
    *used = left < 6 ? left : 6;
    if (code >= 0xD800 && code < 0xDC00 && left >= 12 && text[6] == '\\' && text[7] == 'u') {
        const uint32_t low = hex4(text + 8, left - 8);
        if (low >= 0xDC00 && low < 0xE000) {
            *used = 12;
            return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    return code < 32 || (code >= 0xD800 && code < 0xE000) ? 0 : code;
}

rg_status rg_json__string(rg_document *d, const char *text, size_t begin, size_t end)
{
    rg_cutter c = rg_cutter__new(d, text, end, begin, rg_json__escape);
    rg_status status = RG_OK;
    for (size_t at = begin, next; status == RG_OK && at < end; at = next) {
        if (text[at] == '<' && rg_cutter__string_tag(&status, &c, at, end, &next)) continue;
        next = at + 1;
        if (text[at] == '\\') {
            const uint32_t code = escaped(text + at, end - at, &next);
            next += at;
            status = code ? rg_utf8_add(&c.plain, code) : rg_cutter__cut(&c, at, next);
            if (code) rg_cutter__solid(&c, next);
        } else if (text[at] == ' ' && rg_cutter__drops_blank(&c)) {
            continue;
        } else {
            status = rg_text_add(&c.plain, text + at, 1);
            if (text[at] != ' ') rg_cutter__solid(&c, next);
        }
    }
    if (status == RG_OK) status = rg_cutter__end(&c, end);
    rg_cutter__fini(&c);
    return status;
}

static rg_status read(rg_document *d, const char *text, size_t bytes)
{
    reader       r = { d, text, bytes, 0, 0 };
    json_error_t error;
    json_t      *value = json_loadb(text, bytes, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (!value)
        return rg_fail(RG_EFORMAT, "%s: line %d, column %d: not JSON: %s", d->config.name, error.line, error.column,
                       error.text);
    json_decref(value);
    while (r.at < bytes) {
        if (text[r.at] != '"') {
            r.at++;
            continue;
        }
        const size_t end = string_end(&r, r.at), behind = skip_blanks(&r, end);
        if (behind < bytes && text[behind] == ':') { /* a key */
            const size_t after = skip_blanks(&r, behind + 1);
            r.at = text[r.at + 1] == '@' ? value_end(&r, after) : after;
            continue;
        }
        RG_TRY(rg_document__keep(d, text + r.kept, r.at + 1 - r.kept));
        RG_TRY(rg_json__string(d, text, r.at + 1, end - 1));
        r.kept = end - 1;
        r.at = end;
    }
    return rg_document__keep(d, text + r.kept, bytes - r.kept);
}

const rg_document_format rg_document_format_json = {
    .name = "json",
    .endings = " .json .arb ",
    .type = "application/json",
    .about = "values that are strings; not keys, nor what stands below keys that begin with @",
    .read = read,
};
