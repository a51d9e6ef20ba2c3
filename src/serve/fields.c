/* fields.c - the fields of a request as one JSON object, whichever way they came: a JSON body, a form (urlencoded or
 * multipart), the query of the address. A name that comes twice becomes a list. Names and values are UTF-8 without
 * zero bytes, or the request is refused. */
#include "serve/serve.h"

#include <string.h>
#include <strings.h>

enum { NAME = 64, BOUNDARY = 70 }; /* most bytes of a field's name; of a boundary (RFC 2046) */

/* Browsers send a text area with CR LF: line ends of a form's text are LF, and one at its end is none. */
static size_t plain_lines(char *text, size_t bytes)
{
    size_t to = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\r' && i + 1 < bytes && text[i + 1] == '\n') continue;
        text[to++] = text[i] == '\r' ? '\n' : text[i];
    }
    return to && text[to - 1] == '\n' ? to - 1 : to;
}

static bool add_field(json_t *object, const char *name, size_t name_bytes, char *value, size_t bytes)
{
    char key[NAME];
    if (!name_bytes || name_bytes >= NAME || memchr(name, 0, name_bytes) || (bytes && memchr(value, 0, bytes)))
        return false;
    memcpy(key, name, name_bytes);
    key[name_bytes] = 0;
    if (bytes && strcmp(key, "q") == 0) bytes = plain_lines(value, bytes);
    json_t *string = json_stringn(bytes ? value : "", bytes), *there = json_object_get(object, key); /* NULL also for what is not UTF-8 */
    if (!string) return false;
    if (!there) return json_object_set_new(object, key, string) == 0;
    if (json_is_array(there)) return json_array_append_new(there, string) == 0;
    return json_object_set_new(object, key, json_pack("[Oo]", there, string)) == 0;
}

/* ---------------------------------------------------------------------------------------------------- urlencoded */

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* + and %XX of a form, in place; false for a % that is none. */
static bool decode_form(char *text, size_t *bytes)
{
    size_t to = 0;
    for (size_t i = 0; i < *bytes; i++) {
        char c = text[i] == '+' ? ' ' : text[i];
        if (c == '%') {
            if (i + 2 >= *bytes || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0) return false;
            c = (char)(16 * hex(text[i + 1]) + hex(text[i + 2]));
            i += 2;
        }
        text[to++] = c;
    }
    *bytes = to;
    return true;
}

/* a=b&c=d */
static bool read_form(json_t *object, char *text, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        char  *pair = text + at, *end = memchr(pair, '&', bytes - at);
        size_t n = end ? (size_t)(end - pair) : bytes - at;
        char  *equals = memchr(pair, '=', n);
        size_t name = equals ? (size_t)(equals - pair) : n, value = equals ? n - name - 1 : 0;
        at += n + 1;
        if (!n) continue;
        if (!decode_form(pair, &name) || (equals && !decode_form(equals + 1, &value))) return false;
        if (!add_field(object, pair, name, equals ? equals + 1 : pair, value)) return false;
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------------- multipart */

/* Where `what` begins in text[at .. bytes), or `bytes`. */
static size_t find(const char *text, size_t bytes, size_t at, const char *what)
{
    const size_t n = strlen(what);
    for (; at + n <= bytes; at++) {
        const char *first = memchr(text + at, what[0], bytes - at - n + 1);
        if (!first) break;
        at = (size_t)(first - text);
        if (memcmp(first, what, n) == 0) return at;
    }
    return bytes;
}

/* The value of  ; key=value  or  ; key="value"  among a header's parameters; 0 when there is none. */
static size_t parameter(const char **out, const char *header, size_t bytes, const char *key)
{
    const size_t n = strlen(key);
    for (size_t at = 0; at < bytes;) {
        const char *semicolon = memchr(header + at, ';', bytes - at);
        if (!semicolon) return 0;
        at = (size_t)(semicolon - header) + 1;
        while (at < bytes && (header[at] == ' ' || header[at] == '\t')) at++;
        if (bytes - at <= n || strncasecmp(header + at, key, n) != 0 || header[at + n] != '=') continue;
        at += n + 1;
        const bool quoted = at < bytes && header[at] == '"';
        size_t     end = at += quoted;
        while (end < bytes && (quoted ? header[end] != '"' : !strchr("; \t\r\n", header[end]))) end++;
        *out = header + at;
        return quoted && end == bytes ? 0 : end - at;
    }
    return 0;
}

/* The file of a form: the first one is kept, for /translate_file. */
static void read_file(rg_upload *out, const char *name, size_t n, const char *bytes, size_t count)
{
    if (out->name[0]) return;
    snprintf(out->name, sizeof out->name, "%.*s", (int)(n < sizeof out->name ? n : sizeof out->name - 1), name);
    for (char *at = out->name; *at; at++)
        if ((unsigned char)*at < 32 || strchr("/\\\"<>&?#%", *at)) *at = '_';
    out->bytes = bytes;
    out->count = count;
}

/* One part: header lines, an empty line, the value. */
static bool read_part(json_t *object, rg_upload *upload, char *part, size_t bytes)
{
    static const char header[] = "Content-Disposition:";
    const size_t      top = find(part, bytes, 0, "\r\n\r\n");
    if (top == bytes) return false;
    for (size_t at = 0, end; at < top; at = end + 2) {
        const char *name, *file;
        end = find(part, top, at, "\r\n");
        if (end - at < sizeof header - 1 || strncasecmp(part + at, header, sizeof header - 1) != 0) continue;
        const size_t n = parameter(&name, part + at, end - at, "name");
        if (!n) return false;
        const size_t named = parameter(&file, part + at, end - at, "filename");
        if (named) {
            if (n == 4 && strncmp(name, "file", 4) == 0) read_file(upload, file, named, part + top + 4, bytes - top - 4);
            return true;
        }
        return add_field(object, name, n, part + top + 4, bytes - top - 4);
    }
    return false;
}

/* --boundary CRLF part CRLF --boundary CRLF part CRLF --boundary-- */
static bool read_multipart(json_t *object, rg_upload *upload, char *text, size_t bytes, const char *type)
{
    char         mark[BOUNDARY + 5] = "\r\n--";
    const char  *boundary = NULL;
    const size_t n = parameter(&boundary, type, strlen(type), "boundary");
    if (!n || n > BOUNDARY) return false;
    memcpy(mark + 4, boundary, n);
    mark[4 + n] = 0;
    size_t at = bytes >= n + 2 && memcmp(text, mark + 2, n + 2) == 0 ? n + 2 : find(text, bytes, 0, mark) + n + 4;
    while (at + 2 <= bytes) {
        if (memcmp(text + at, "--", 2) == 0) return true;
        while (at < bytes && (text[at] == ' ' || text[at] == '\t')) at++;
        if (at + 2 > bytes || memcmp(text + at, "\r\n", 2) != 0) return false;
        at += 2;
        const size_t end = find(text, bytes, at, mark);
        if (end == bytes || !read_part(object, upload, text + at, end - at)) return false;
        at = end + n + 4;
    }
    return false;
}

/* ----------------------------------------------------------------------------------------------------- all of it */

typedef struct query {
    json_t *object;
    bool    bad;
} query;

static enum MHD_Result add_argument(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
    query *q = context;
    char  *copy = rg_strdup(value ? value : "");
    (void)kind;
    if (!copy || !add_field(q->object, key, strlen(key), copy, strlen(copy))) q->bad = true;
    rg_free(copy);
    return MHD_YES;
}

static bool is_type(const char *type, size_t bytes, const char *name)
{
    return strlen(name) == bytes && strncasecmp(type, name, bytes) == 0;
}

/* application/json, application/x+json */
static bool is_json(const char *type, size_t bytes)
{
    return is_type(type, bytes, "application/json") ||
           (bytes > 17 && strncasecmp(type, "application/", 12) == 0 && strncasecmp(type + bytes - 5, "+json", 5) == 0);
}

static json_t *read_json(rg_request *r)
{
    json_error_t error;
    json_t      *object = json_loadb(r->body.data ? r->body.data : "", r->body.length, JSON_REJECT_DUPLICATES, &error);
    if (!object)
        rg_serve__error(&r->reply, 400, "Invalid JSON: %s (line %d, column %d)", error.text, error.line, error.column);
    if (!object || json_is_object(object)) return object;
    rg_serve__error(&r->reply, 400, "Invalid JSON format");
    json_decref(object);
    return NULL;
}

json_t *rg_serve__fields(rg_request *r)
{
    const char  *type = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Content-Type");
    const size_t n = type ? strcspn(type, "; \t") : 0;
    query        q = { .object = json_object() };
    bool         good = q.object != NULL;
    MHD_get_connection_values(r->connection, MHD_GET_ARGUMENT_KIND, add_argument, &q);
    good = good && !q.bad;
    if (good && (n ? is_json(type, n) : r->body.length || !json_object_size(q.object))) {
        json_t *body = read_json(r);
        if (body && !json_object_get(body, "api_key") && json_object_get(q.object, "api_key"))
            json_object_set(body, "api_key", json_object_get(q.object, "api_key"));
        json_decref(q.object);
        return body;
    }
    if (good && n && is_type(type, n, "application/x-www-form-urlencoded"))
        good = read_form(q.object, r->body.data, r->body.length);
    else if (good && n && is_type(type, n, "multipart/form-data"))
        good = read_multipart(q.object, &r->upload, r->body.data, r->body.length, type);
    else if (good && n && !json_object_get(q.object, "q")) {
        rg_serve__error(&r->reply, 400, "Invalid request: Content-Type is neither application/json nor that of a form");
        json_decref(q.object);
        return NULL;
    }
    if (good) return q.object;
    rg_serve__error(&r->reply, 400, "Invalid form: names and values are UTF-8, at most %d bytes a name", NAME - 1);
    json_decref(q.object);
    return NULL;
}
