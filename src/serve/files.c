/* files.c - /translate_file: a file comes as a form and is translated as a document; its translation is kept for a while
 * in memory, under an address that nobody can guess, or is itself the answer (`direct`).
 *
 * Nothing is written to disk, and no name from a request is ever that of a file here. */
#include "serve/serve.h"

#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum {
    KEPT_FILES = 64,       /* translations that wait to be fetched        */
    KEPT_BYTES = 64 << 20, /* of all of them                              */
    KEPT_SECONDS = 600,
    SAMPLE = 2000 /* bytes of text by which the language is told */
};

typedef struct {
    char        id[33];
    char       *bytes; /* NULL: free */
    size_t      count;
    const char *type;
    double      since;
} kept_file;

struct rg_kept_files {
    pthread_mutex_t lock;
    kept_file       file[KEPT_FILES];
};

rg_status rg_files_store_open(rg_server *s)
{
    if (!(s->files = rg_alloc_zero(sizeof *s->files))) return RG_ENOMEM;
    pthread_mutex_init(&s->files->lock, NULL);
    return RG_OK;
}

static void drop(kept_file *f)
{
    rg_free(f->bytes);
    *f = (kept_file){ .bytes = NULL };
}

void rg_files_store_close(rg_server *s)
{
    if (!s->files) return;
    for (size_t i = 0; i < KEPT_FILES; i++) drop(&s->files->file[i]);
    pthread_mutex_destroy(&s->files->lock);
    rg_free(s->files);
}

/* A free place with room for `bytes`; the oldest make it. Under the lock. */
static kept_file *place_for(struct rg_kept_files *all, size_t bytes)
{
    for (;;) {
        kept_file *free = NULL, *oldest = NULL;
        size_t     held = 0;
        for (size_t i = 0; i < KEPT_FILES; i++) {
            kept_file *f = &all->file[i];
            if (f->bytes && rg_now() - f->since > KEPT_SECONDS) drop(f);
            held += f->count;
            if (!f->bytes) free = f;
            else if (!oldest || f->since < oldest->since) oldest = f;
        }
        if (free && held + bytes <= KEPT_BYTES) return free;
        if (!oldest) return NULL;
        drop(oldest);
    }
}

/* Takes the bytes over, also on failure. */
static bool keep(char id[33], rg_server *s, char *bytes, size_t count, const char *type)
{
    unsigned char key[16];
    if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key) {
        rg_free(bytes);
        return false;
    }
    for (size_t i = 0; i < sizeof key; i++) snprintf(id + 2 * i, 3, "%02x", key[i]);
    pthread_mutex_lock(&s->files->lock);
    kept_file *f = count <= KEPT_BYTES ? place_for(s->files, count) : NULL;
    if (f) {
        *f = (kept_file){ .bytes = bytes, .count = count, .type = type, .since = rg_now() };
        memcpy(f->id, id, 33);
    }
    pthread_mutex_unlock(&s->files->lock);
    if (!f) rg_free(bytes);
    return f != NULL;
}

#define DOWNLOAD "/download_file/"

/* GET /download_file/<id>.<ending>; false: the address is another one. */
bool rg_serve__download(rg_request *r, const char *url)
{
    const size_t n = strlen(DOWNLOAD);
    if (strncmp(url, DOWNLOAD, n) != 0 || !r->server->files) return false;
    pthread_mutex_lock(&r->server->files->lock);
    for (size_t i = 0; i < KEPT_FILES && !r->reply.code; i++) {
        const kept_file *f = &r->server->files->file[i];
        if (!f->bytes || strncmp(url + n, f->id, 32) != 0 || (url[n + 32] && url[n + 32] != '.')) continue;
        if (!(r->reply.text = rg_alloc(f->count + 1))) break;
        memcpy(r->reply.text, f->bytes, f->count);
        r->reply.bytes = f->count;
        r->reply.type = f->type;
        r->reply.attached = true;
        r->reply.code = 200;
    }
    pthread_mutex_unlock(&r->server->files->lock);
    if (!r->reply.code) rg_serve__error(&r->reply, 404, "There is no such file, or no longer");
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
    } else if (!keep(id, r->server, out.data, out.length, type)) {
        rg_serve__error(reply, 503, "The translation cannot be kept; ask for it at once with direct=true");
    } else {
        rg_serve__answer(reply, 200, json_pack("{s:o}", "translatedFileUrl", address_of(r, id)));
    }
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
    if (!u->direct && r->server->config->workers > 1)
        return rg_serve__error(&r->reply, 400,
                               "Invalid request: this server has several processes, which do not know of each other's "
                               "files; send direct=true, and the answer is the file"),
               false;
    return sample(r);
}

bool rg_serve__translate_file(rg_request *r)
{
    bool    queued = false;
    json_t *fields;
    if (!r->server->config->files)
        return rg_serve__error(&r->reply, 403, "Files translation are disabled on this server."), false;
    if (!(fields = rg_serve__fields(r))) return false;
    if (rg_serve__allowed(r, fields) && rg_serve__read_languages(r, fields) && read_upload(r, fields))
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
