/* handle.c - one request: what is refused before its body is read, the body, the answer. */
#include "serve/serve.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------------------------------------------- answers */

void rg_serve__answer(rg_reply *reply, unsigned code, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    json_decref(value);
    rg_free(reply->text);
    reply->text = rg_strdup(text ? text : "{\"error\":\"No memory\"}");
    reply->bytes = reply->text ? strlen(reply->text) : 0;
    reply->code = text ? code : 503;
    free(text);
}

/* A message may hold what a client sent: it is cut where it is long, between two characters. */
void rg_serve__error(rg_reply *reply, unsigned code, const char *format, ...)
{
    enum { ROOM = 1024 };
    char    message[ROOM + 4];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(message, ROOM, format, args);
    va_end(args);
    if (n >= ROOM) {
        size_t end = ROOM - 1;
        while (end > 0 && ((unsigned char)message[end - 1] & 0xC0) == 0x80) end--; /* back over the rest of the last character */
        if (end > 0 && ((unsigned char)message[end - 1] & 0x80)) end--;            /* and over its first byte                 */
        memcpy(message + end, "\xe2\x80\xa6", 4);                                  /* an ellipsis                             */
    }
    json_t *text = json_string(message);
    rg_serve__answer(reply, code, json_pack("{s:o}", "error", text ? text : json_string("Invalid request")));
}

const double rg_serve__buckets[RG_SERVE_BUCKETS] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10 };

static void count_answer(rg_request *r)
{
    rg_server   *s = r->server;
    const double took = rg_now() - r->began;
    size_t       bucket = 0;
    while (bucket < RG_SERVE_BUCKETS && took > rg_serve__buckets[bucket]) bucket++;
    atomic_fetch_add(&s->counters->codes[r->reply.code < RG_SERVE_CODES ? r->reply.code : 0], 1);
    atomic_fetch_add(&s->counters->duration[bucket], 1);
    rg_count_add(s, RG_COUNT_DURATION_US, (unsigned long long)(took * 1e6));
}

/* Pages of other servers may ask, as they may LibreTranslate: there is nothing here but what was sent. */
static void allow_other_origins(struct MHD_Response *response)
{
    MHD_add_response_header(response, "Access-Control-Allow-Origin", "*");
    MHD_add_response_header(response, "Access-Control-Allow-Headers", "Authorization, Content-Type");
    MHD_add_response_header(response, "Access-Control-Expose-Headers", "Authorization");
    MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET, POST");
    MHD_add_response_header(response, "Access-Control-Max-Age", "1728000");
}

static enum MHD_Result send_answer(rg_request *r)
{
    rg_server           *s = r->server;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(r->reply.bytes, r->reply.text ? r->reply.text : "", MHD_RESPMEM_MUST_COPY);
    if (!response) return MHD_NO;
    MHD_add_response_header(response, "Content-Type", r->reply.type ? r->reply.type : "application/json");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (r->reply.attached) MHD_add_response_header(response, "Content-Disposition", "attachment");
    if (r->reply.code == 503 || r->reply.code == 429)
        MHD_add_response_header(response, "Retry-After", r->reply.code == 503 ? "1" : "60");
    if (r->allow) MHD_add_response_header(response, "Allow", r->allow);
    allow_other_origins(response);
    if (atomic_load(&s->draining) || r->reply.code == 413) MHD_add_response_header(response, "Connection", "close");
    rg_serve__phase(r, RG_PHASE_ANSWER);
    count_answer(r);
    enum MHD_Result result = MHD_queue_response(r->connection, r->reply.code, response);
    MHD_destroy_response(response);
    return result;
}

/* ------------------------------------------------------------------------------------------- before the body */

typedef struct {
    size_t bytes, lengths, codings;
    bool   bad_length;
} header_facts;

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
    header_facts *facts = context;
    (void)kind;
    facts->bytes += strlen(key) + (value ? strlen(value) : 0) + 4;
    if (strcasecmp(key, "Transfer-Encoding") == 0) facts->codings++;
    if (strcasecmp(key, "Content-Length") == 0) {
        facts->lengths++;
        facts->bad_length = !value || !*value || value[strspn(value, "0123456789")] != 0;
    }
    return MHD_YES;
}

/* Files may be larger than texts. */
static size_t body_limit(const rg_request *r, const char *url)
{
    const size_t file = r->server->config->file_bytes;
    return strcmp(url, "/translate_file") == 0 && file > RG_SERVE_BODY ? file : RG_SERVE_BODY;
}

static void refuse_early(rg_request *r, const char *url, const char *method)
{
    header_facts facts = { 0 };
    const char  *length = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Content-Length");
    MHD_get_connection_values(r->connection, MHD_HEADER_KIND, count_header, &facts);
    if (strlen(url) + strlen(method) > RG_SERVE_LINE)
        rg_serve__error(&r->reply, 414, "The request line is longer than %d bytes", RG_SERVE_LINE);
    else if (facts.bytes > RG_SERVE_HEADER)
        rg_serve__error(&r->reply, 431, "The header is larger than %d bytes", RG_SERVE_HEADER);
    else if (facts.lengths > 1 || facts.codings > 1 || (facts.lengths && facts.codings) || facts.bad_length)
        rg_serve__error(&r->reply, 400, "Invalid request: the length of the body is not clear");
    else if (length && strtoull(length, NULL, 10) > body_limit(r, url))
        rg_serve__error(&r->reply, 413, "The body is larger than %zu bytes", body_limit(r, url));
    else if (strcmp(method, "POST") == 0 && rg_serve__over_quota(r))
        rg_serve__error(&r->reply, 429, "Slowdown: %zu per 1 minute", r->server->config->per_minute);
}

/* ------------------------------------------------------------------------------------------------------- engine */

static rg_request *begin(rg_server *s, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    rg_request                     *r = rg_alloc_zero(sizeof *r);
    if (!r) return NULL;
    r->server = s;
    r->connection = connection;
    r->began = rg_now();
    r->peer = info ? info->socket_context : NULL;
    rg_count_add(s, RG_COUNT_ACTIVE, 1);
    rg_serve__phase(r, RG_PHASE_BODY);
    return r;
}

enum MHD_Result rg_serve__handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                 const char *version, const char *data, size_t *data_bytes, void **state)
{
    rg_request *r = *state;
    (void)version;
    if (!r) {
        if (!(*state = r = begin(context, connection))) return MHD_NO;
        refuse_early(r, url, method);
        return r->reply.code ? send_answer(r) : MHD_YES;
    }
    if (*data_bytes) { /* a part of the body; past the limit it is read and dropped, then refused */
        if (r->body.length + *data_bytes > body_limit(r, url))
            rg_serve__error(&r->reply, 413, "The body is larger than %zu bytes", body_limit(r, url));
        else if (!r->reply.code && rg_text_add(&r->body, data, *data_bytes) != RG_OK)
            rg_serve__error(&r->reply, 503, "No memory");
        *data_bytes = 0;
        return MHD_YES;
    }
    if (!r->reply.code && !r->dispatched) {
        r->dispatched = true;
        if (rg_serve__route(r, url, method)) return MHD_YES; /* in the queue: not ours until it is resumed and we are called again */
    }
    return send_answer(r);
}

void rg_serve__free(rg_request *r)
{
    for (size_t i = 0; i < r->count; i++) {
        rg_segments_free(&r->texts[i]);
        if (r->input) rg_free(r->input[i].text);
    }
    rg_free(r->texts);
    rg_free(r->input);
    rg_glossary_free(r->glossary);
    rg_free(r->line);
    rg_free(r->upload.between);
    rg_serve__drop_asking(r);
    rg_text_free(&r->body);
    rg_free(r->reply.text);
    rg_free(r);
}

void rg_serve__completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode why)
{
    rg_server  *s = context;
    rg_request *r = *state;
    (void)connection;
    (void)why;
    if (!r) return;
    rg_serve__phase(r, RG_PHASE_HEADER);
    rg_queue_release(r);
    *state = NULL;
    rg_count_less(s, RG_COUNT_ACTIVE);
}
