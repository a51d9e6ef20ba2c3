/* files.c - /translate_file: a file comes as a form and is translated as a document; its translation is kept for a while
 * in memory, under an address that nobody can guess, or is itself the answer (`direct`).
 *
 * Nothing is written to disk, and no name from a request is ever that of a file here. */
#include "serve/serve.h"

#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum {
    KEPT_BYTES = 64 << 20, /* of all translations that wait to be fetched */
    KEPT_SECONDS = 600,
    SAMPLE = 2000 /* bytes of text by which the language is told */
};

rg_status rg_files_store_open(rg_server *s) { return rg_store_open(&s->files, KEPT_BYTES); }

/* Under a name that nobody can guess. What is kept begins with the MIME type, a constant that every process has at the
 * same address. */
static bool keep(char id[33], rg_server *s, const char *bytes, size_t count, const char *type)
{
    unsigned char        key[16];
    const rg_store_piece piece[] = { { &type, sizeof type }, { bytes, count } };
    if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key) return false;
    for (size_t i = 0; i < sizeof key; i++) snprintf(id + 2 * i, 3, "%02x", key[i]);
    return rg_store_put(s->files, id, 32, piece, 2);
}

#define DOWNLOAD "/download_file/"

/* GET /download_file/<id>.<ending>; false: the address is another one. */
bool rg_serve__download(rg_request *r, const char *url)
{
    const size_t n = strlen(DOWNLOAD), prefix = sizeof(const char *);
    rg_text      found = { 0 };
    if (strncmp(url, DOWNLOAD, n) != 0 || !r->server->files) return false;
    const char *id = url + n;
    if (strnlen(id, 33) >= 32 && (!id[32] || id[32] == '.') &&
        rg_store_get(&found, r->server->files, id, 32, KEPT_SECONDS)) {
        memcpy(&r->reply.type, found.data, prefix);
        memmove(found.data, found.data + prefix, found.length - prefix);
        r->reply.text = found.data;
        r->reply.bytes = found.length - prefix;
        r->reply.attached = true;
        r->reply.code = 200;
    } else rg_serve__error(&r->reply, 404, "There is no such file, or no longer");
    return true;
}

/* ------------------------------------------------------------------------------------------------------- answers */

/* http://host/download_file/id.ending, by the name the client knows us by. */
static json_t *address_of(const rg_request *r, const char *id)
{
    const char *host = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Host");
    const char *proto = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "X-Forwarded-Proto");
    const bool  secure = r->server->config->behind_proxy && proto && strcasecmp(proto, "https") == 0;
    const char *ending = strrchr(r->upload.name, '.');
    const bool  plain = host && *host && strlen(host) < 256 &&
                       strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]") == strlen(host);
    return plain ? json_sprintf("%s://%s" DOWNLOAD "%s%s", secure ? "https" : "http", host, id, ending ? ending : "")
                 : json_sprintf(DOWNLOAD "%s%s", id, ending ? ending : "");
}

/* On a lane, or at once when nothing was to be translated. */
void rg_serve__file_translated(rg_reply *reply, const rg_request *r)
{
    rg_text     out = { 0 };
    char        id[33];
    const char *type = r->upload.format->type;
    if (rg_segments_join(&out, &r->texts[0], 0) != RG_OK) {
        rg_text_free(&out);
        rg_serve__error(reply, 503, "%s", rg_message());
        return;
    }
    if (!out.data && !(out.data = rg_strdup(""))) {
        rg_serve__error(reply, 503, "No memory");
    } else if (r->upload.direct) {
        reply->text = out.data;
        reply->bytes = out.length;
        reply->type = type;
        reply->attached = true;
        reply->code = 200;
    } else {
        if (keep(id, r->server, out.data, out.length, type))
            rg_serve__answer(reply, 200, json_pack("{s:o}", "translatedFileUrl", address_of(r, id)));
        else rg_serve__error(reply, 503, "The translation cannot be kept; ask for it at once with direct=true");
        rg_text_free(&out);
    }
}

rg_status rg_serve__file_between(rg_request *r)
{
    rg_text   out = { 0 };
    rg_status status = rg_segments_join(&out, &r->texts[0], 0);
    if (status == RG_OK && !out.data && !(out.data = rg_strdup(""))) status = RG_ENOMEM;
    if (status != RG_OK) {
        rg_text_free(&out);
        return status;
    }
    rg_free(r->upload.between);
    r->upload.between = out.data;
    r->upload.bytes = out.data;
    r->upload.count = out.length;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- requests */

/* Some of its text, by which the language is told; and whether it can be read at all. */
static bool sample(rg_request *r)
{
    rg_document_config c = RG_DOCUMENT_CONFIG_DEFAULT;
    rg_document       *d = NULL;
    rg_text            text = { 0 };
    c.format = r->upload.format;
    c.name = "file";
    rg_status status = rg_document_read(&d, r->upload.bytes, r->upload.count, &c);
    for (size_t i = 0; status == RG_OK && i < rg_document_count(d) && text.length < SAMPLE; i++)
        status = rg_text_print(&text, "%s\n", rg_document_text(d, i));
    rg_document_free(d);
    if (status != RG_OK) rg_serve__error(&r->reply, status == RG_ENOMEM ? 503 : 400, "Invalid request: %s", rg_message());
    r->texts = rg_alloc_zero(2 * sizeof *r->texts);
    r->input = rg_alloc_zero(2 * sizeof *r->input);
    if (status == RG_OK && (!r->texts || !r->input || !(r->input[0].text = rg_strdup(rg_text_c(&text)))))
        rg_serve__error(&r->reply, 503, "No memory");
    r->count = r->texts && r->input ? 1 : 0;
    rg_text_free(&text);
    return !r->reply.code;
}

static bool is_true(const json_t *value)
{
    const char *text = json_string_value(value);
    return json_is_true(value) || (text && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0));
}

static bool read_upload(rg_request *r, const json_t *fields)
{
    rg_upload *u = &r->upload;
    if (!u->name[0] || !u->count) return rg_serve__error(&r->reply, 400, "Invalid request: empty file"), false;
    if (!(u->format = rg_document_format_of(u->name)))
        return rg_serve__error(&r->reply, 400, "Invalid request: file format not supported"), false;
    u->direct = is_true(json_object_get(fields, "direct"));
    return sample(r);
}

bool rg_serve__translate_file(rg_request *r)
{
    bool    queued = false;
    json_t *fields;
    if (!r->server->config->files)
        return rg_serve__error(&r->reply, 403, "Files translation are disabled on this server."), false;
    if (!(fields = rg_serve__fields(r))) return false;
    if (rg_serve__allowed(r, fields) && rg_serve__read_languages(r, fields) && rg_serve__glossary(r, fields) &&
        read_upload(r, fields))
        queued = rg_serve__begin_file(r);
    json_decref(fields);
    return queued;
}

json_t *rg_serve__file_endings(void)
{
    json_t *list = json_array();
    for (const rg_document_format *const *f = rg_document_formats(); *f; f++)
        for (const char *at = (*f)->endings; (at = strchr(at, '.')); at += strcspn(at, " "))
            json_array_append_new(list, json_stringn(at, strcspn(at, " ")));
    return list;
}
