/* api.c - LibreTranslate's fields, answers and messages, and the record of a translation. */
#include "serve/serve.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "regard/view.h"

/* ------------------------------------------------------------------------------------------------------- fields */

static int hex(char c) { return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1; }

/* + and %XX of a form, in place; false for a % that is none, or a zero byte. */
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
        if (!c) return false;
        text[to++] = c;
    }
    *bytes = to;
    return true;
}

/* a=b&c=d as an object of strings; a name that comes twice becomes a list. */
static json_t *read_form(char *text, size_t bytes)
{
    json_t *object = json_object();
    for (size_t at = 0; object && at < bytes;) {
        char  *pair = text + at, *end = memchr(pair, '&', bytes - at);
        size_t n = end ? (size_t)(end - pair) : bytes - at;
        char  *equals = memchr(pair, '=', n);
        size_t name = equals ? (size_t)(equals - pair) : n, value = equals ? n - name - 1 : 0;
        at += n + 1;
        if (!n) continue;
        char key[64];
        bool good = decode_form(pair, &name) && (!equals || decode_form(equals + 1, &value)) && name < sizeof key;
        json_t *string = good ? json_stringn(equals ? equals + 1 : "", value) : NULL; /* NULL also for what is not UTF-8 */
        if (!string) {
            json_decref(object);
            return NULL;
        }
        memcpy(key, pair, name);
        key[name] = 0;
        json_t *there = json_object_get(object, key);
        if (!there) json_object_set_new(object, key, string);
        else if (json_is_array(there)) json_array_append_new(there, string);
        else json_object_set_new(object, key, json_pack("[Oo]", there, string));
    }
    return object;
}

/* The body's fields, or an answer that says what is wrong with it. */
static json_t *read_fields(rg_request *r)
{
    const char  *type = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Content-Type");
    const size_t n = type ? strcspn(type, "; ") : 0;
    json_t      *object = NULL;
    if (!n || (n == 16 && strncasecmp(type, "application/json", n) == 0)) {
        json_error_t error;
        object = json_loadb(r->body.data ? r->body.data : "", r->body.length, JSON_REJECT_DUPLICATES, &error);
        if (!object) rg_serve__error(r, 400, "Invalid JSON: %s (line %d, column %d)", error.text, error.line, error.column);
        else if (!json_is_object(object)) {
            rg_serve__error(r, 400, "Invalid JSON format");
            json_decref(object);
            object = NULL;
        }
    } else if (n == 33 && strncasecmp(type, "application/x-www-form-urlencoded", n) == 0) {
        object = read_form(r->body.data, r->body.length);
        if (!object) rg_serve__error(r, 400, "Invalid form: fields are name=value in UTF-8, joined by &");
    } else rg_serve__error(r, 400, "Invalid request: Content-Type is neither application/json nor application/x-www-form-urlencoded");
    return object;
}

/* Every character of the longer one is looked at, so that the time tells nothing. */
static bool same_key(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    unsigned     difference = n != m;
    for (size_t i = 0; i < n; i++) difference |= (unsigned char)(a[i] ^ b[m ? i % m : 0]);
    return difference == 0;
}

static bool allowed(rg_request *r, const json_t *fields)
{
    const char *wanted = r->server->config->api_key, *given = json_string_value(json_object_get(fields, "api_key"));
    if (!wanted || !*wanted || (given && same_key(given, wanted))) return true;
    if (given && *given) rg_serve__error(r, 403, "Invalid API key");
    else rg_serve__error(r, 403, "Please contact the server operator to get an API key");
    return false;
}

static size_t characters(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += (*text & 0xC0) != 0x80;
    return n;
}

static const char *name_of(const char *code)
{
    static const char *const names[][2] = { { "en", "English" }, { "fr", "French" }, { "de", "German" }, { "es", "Spanish" }, { "it", "Italian" },
                                            { "nl", "Dutch" }, { "pt", "Portuguese" }, { "cs", "Czech" }, { "ru", "Russian" }, { "zh", "Chinese" },
                                            { "ja", "Japanese" }, { "ar", "Arabic" }, { "pl", "Polish" }, { "sv", "Swedish" }, { "fi", "Finnish" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], code) == 0) return names[i][1];
    return code;
}

/* ---------------------------------------------------------------------------------------------------- translate */

/* The text or texts of q, cut into lines. */
static bool read_texts(rg_request *r, const json_t *q)
{
    const rg_serve_config *c = r->server->config;
    size_t                 all = 0;
    r->array = json_is_array(q);
    const size_t n = r->array ? json_array_size(q) : 1;
    if (n > RG_SERVE_TEXTS) return rg_serve__error(r, 400, "Invalid request: %zu texts exceed the limit of %d", n, RG_SERVE_TEXTS), false;
    if (!(r->texts = rg_alloc_zero((n + 1) * sizeof *r->texts))) return rg_serve__error(r, 503, "No memory"), false;
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(r->array ? json_array_get(q, i) : q);
        if (!text) return rg_serve__error(r, 400, "Invalid request: q is a string or a list of strings"), false;
        all += characters(text);
        if (all > c->char_limit) return rg_serve__error(r, 400, "Invalid request: request (%zu) exceeds text limit (%zu)", all, c->char_limit), false;
        r->count = i + 1;
        if (rg_segments_cut(&r->texts[i], text, r->html) != RG_OK) return rg_serve__error(r, 503, "No memory"), false;
        r->lines += r->texts[i].lines;
    }
    if (r->lines > c->queue) return rg_serve__error(r, 400, "Invalid request: %zu lines exceed the limit of %zu", r->lines, c->queue), false;
    return true;
}

static bool read_languages(rg_request *r, const json_t *fields)
{
    const rg_serve_config *c = r->server->config;
    const char            *source = json_string_value(json_object_get(fields, "source")), *target = json_string_value(json_object_get(fields, "target"));
    if (!source) return rg_serve__error(r, 400, "Invalid request: missing source parameter"), false;
    if (!target) return rg_serve__error(r, 400, "Invalid request: missing target parameter"), false;
    r->detected = strcmp(source, "auto") == 0;
    if (!r->detected && strcmp(source, c->source) != 0 && strcmp(source, c->target) != 0)
        return rg_serve__error(r, 400, "%s is not supported", source), false;
    if (strcmp(target, c->source) != 0 && strcmp(target, c->target) != 0) return rg_serve__error(r, 400, "%s is not supported", target), false;
    if (strcmp(target, c->target) != 0 || (!r->detected && strcmp(source, c->source) != 0)) {
        const char *from = r->detected ? c->source : source;
        return rg_serve__error(r, 400, "%s (%s) is not available as a target language from %s (%s)", name_of(target), target, name_of(from), from), false;
    }
    return true;
}

static bool read_extras(rg_request *r, const json_t *fields)
{
    const json_t *format = json_object_get(fields, "format"), *wanted = json_object_get(fields, "alternatives");
    const size_t  most = r->server->config->beam - 1;
    const char   *name = json_string_value(format);
    if (format && (!name || (strcmp(name, "text") != 0 && strcmp(name, "html") != 0)))
        return rg_serve__error(r, 400, "%s format is not supported", name ? name : "this"), false;
    r->html = name && strcmp(name, "html") == 0;
    if (!wanted) return true;
    char     *end = NULL;
    long long n = json_is_string(wanted) ? strtoll(json_string_value(wanted), &end, 10) : json_is_integer(wanted) ? json_integer_value(wanted) : -1;
    if (n < 0 || (end && *end)) return rg_serve__error(r, 400, "Invalid request: alternatives parameter is not a number"), false;
    if ((unsigned long long)n > most) return rg_serve__error(r, 400, "Invalid request: alternatives (%lld) exceed the limit (%zu)", n, most), false;
    r->alternatives = (size_t)n;
    return true;
}

/* The texts' own language when it is not said; the first text stands for all. */
static bool detect_source(rg_request *r, const json_t *q)
{
    const char *text = json_string_value(r->array ? json_array_get(q, 0) : q);
    if (!r->detected) return true;
    if (rg_serve__source_likelihood(&r->confidence, r->server, text ? text : "") != RG_OK) return rg_serve__error(r, 503, "%s", rg_message()), false;
    return true;
}

bool rg_serve__translate(rg_request *r, bool attention)
{
    bool    queued = false;
    json_t *fields = read_fields(r), *q;
    if (!fields) return false;
    r->attention = attention;
    if (!allowed(r, fields)) goto done;
    if (!(q = json_object_get(fields, "q"))) {
        rg_serve__error(r, 400, "Invalid request: missing q parameter");
        goto done;
    }
    if (attention && !json_is_string(q)) {
        rg_serve__error(r, 400, "Invalid request: the record of one text, q is a string");
        goto done;
    }
    if (!read_languages(r, fields) || !read_extras(r, fields) || !read_texts(r, q) || !detect_source(r, q)) goto done;
    if (attention && (r->lines != 1 || r->html)) rg_serve__error(r, 400, "Invalid request: the record of one line, not of %zu", r->lines);
    else if (r->lines == 0) rg_serve__translated(r, NULL);
    else if (!(queued = rg_queue_put(r))) rg_serve__error(r, 503, "Too many requests are waiting");
done:
    json_decref(fields);
    return queued;
}

static json_t *string_of(const char *text)
{
    json_t *string = json_string(text);
    if (string) return string;
    rg_text clean = { 0 }; /* pieces of bytes need not add up to characters */
    if (rg_text_clean(&clean, text, strlen(text), RG_TEXT_AS_IS, NULL) == RG_OK) string = json_string(rg_text_c(&clean));
    rg_text_free(&clean);
    return string;
}

static json_t *joined(const rg_request *r, size_t text, const rg_translated *results, size_t rank)
{
    rg_text   out = { 0 };
    rg_status status = rg_segments_join(&out, &r->texts[text], results, rank, r->html);
    json_t   *string = status == RG_OK ? string_of(rg_text_c(&out)) : NULL;
    rg_text_free(&out);
    return string;
}

/* The next best ones that differ from all before. */
static json_t *others(const rg_request *r, size_t text, const rg_translated *results, const json_t *best)
{
    json_t *list = json_array();
    for (size_t k = 1; k <= r->alternatives; k++) {
        json_t *other = joined(r, text, results, k);
        bool    same = !other || json_equal(other, best);
        for (size_t i = 0; i < json_array_size(list) && !same; i++) same = json_equal(other, json_array_get(list, i));
        if (same) json_decref(other);
        else json_array_append_new(list, other);
    }
    return list;
}

static void answer_texts(rg_request *r, const rg_translated *results)
{
    json_t *object = json_object(), *texts = json_array(), *alternatives = json_array(), *languages = json_array();
    for (size_t i = 0; i < r->count; results += r->texts[i].lines, i++) {
        json_t *best = joined(r, i, results, 0);
        json_array_append_new(alternatives, others(r, i, results, best));
        json_array_append_new(texts, best);
        json_array_append_new(languages, json_pack("{s:f, s:s}", "confidence", (double)(int)(100 * r->confidence + 0.5), "language", r->server->config->source));
    }
    json_object_set(object, "translatedText", r->array ? texts : json_array_get(texts, 0));
    if (r->alternatives) json_object_set(object, "alternatives", r->array ? alternatives : json_array_get(alternatives, 0));
    if (r->detected) json_object_set(object, "detectedLanguage", r->array ? languages : json_array_get(languages, 0));
    json_decref(texts);
    json_decref(alternatives);
    json_decref(languages);
    rg_serve__answer(r, 200, object);
}

void rg_serve__translated(rg_request *r, const rg_translated *results)
{
    for (size_t i = 0; i < r->lines; i++) {
        const size_t most = r->attention ? RG_SERVE_WATCHED : RG_SERVE_PIECES, pieces = results[i].source_length + results[i].cut;
        if (pieces <= most + 1 && !results[i].cut) continue;
        rg_serve__error(r, 400, "Invalid request: a line has %zu pieces; at most %zu are read", pieces, most);
        return;
    }
    if (!r->attention) {
        answer_texts(r, results);
        return;
    }
    rg_translated one = results[0];
    rg_record    *record = NULL;
    if (one.count > r->alternatives + 1) one.count = r->alternatives + 1;
    rg_status status = rg_record_of_heads(&record, r->server->translator, &one, NULL);
    if (status == RG_OK) status = rg_record_to_json(&r->answer, &r->answer_bytes, record, RG_WEIGHTS_U16);
    rg_record_free(record);
    if (status != RG_OK) rg_serve__error(r, 500, "Cannot record the attention: %s", rg_message());
    else r->code = 200;
}

/* ------------------------------------------------------------------------------------------------- small answers */

bool rg_serve__detect(rg_request *r)
{
    const rg_serve_config *c = r->server->config;
    json_t                *fields = read_fields(r);
    const json_t          *q;
    const char            *text;
    double                 p;
    if (!fields) return false;
    if (!allowed(r, fields)) goto done;
    q = json_object_get(fields, "q");
    text = json_string_value(json_is_array(q) ? json_array_get(q, 0) : q);
    if (!text) rg_serve__error(r, 400, "Invalid request: missing q parameter");
    else if (characters(text) > c->char_limit) rg_serve__error(r, 400, "Invalid request: request (%zu) exceeds text limit (%zu)", characters(text), c->char_limit);
    else if (rg_serve__source_likelihood(&p, r->server, text) != RG_OK) rg_serve__error(r, 503, "%s", rg_message());
    else {
        const bool first = p >= 0.5;
        const double a = (double)(int)(100 * (first ? p : 1 - p) + 0.5);
        rg_serve__answer(r, 200, json_pack("[{s:f, s:s}, {s:f, s:s}]", "confidence", a, "language", first ? c->source : c->target, "confidence",
                                           100 - a, "language", first ? c->target : c->source));
    }
done:
    json_decref(fields);
    return false;
}

bool rg_serve__languages(rg_request *r)
{
    const rg_serve_config *c = r->server->config;
    rg_serve__answer(r, 200, json_pack("[{s:s, s:s, s:[s]}, {s:s, s:s, s:[]}]", "code", c->source, "name", name_of(c->source), "targets", c->target, "code",
                                       c->target, "name", name_of(c->target), "targets"));
    return false;
}

bool rg_serve__settings(rg_request *r)
{
    const rg_serve_config *c = r->server->config;
    const bool             keys = c->api_key && *c->api_key;
    rg_serve__answer(r, 200, json_pack("{s:b, s:i, s:i, s:b, s:b, s:b, s:[], s:{s:{s:s, s:s}, s:{s:s, s:s}}}", "apiKeys", keys, "charLimit", (int)c->char_limit,
                                       "frontendTimeout", 500, "keyRequired", keys, "suggestions", 0, "filesTranslation", 0, "supportedFilesFormat",
                                       "language", "source", "code", c->source, "name", name_of(c->source), "target", "code", c->target, "name",
                                       name_of(c->target)));
    return false;
}

static void metric(rg_text *out, const char *name, const char *type, const char *help, double value)
{
    rg_text_print(out, "# HELP regard_%s %s\n# TYPE regard_%s %s\nregard_%s %.17g\n", name, help, name, type, name, value);
}

bool rg_serve__metrics(rg_request *r)
{
    rg_server *s = r->server;
    rg_text    out = { 0 };
    pthread_mutex_lock(&s->queue.lock);
    const double waiting = (double)s->queue.lines;
    pthread_mutex_unlock(&s->queue.lock);
    rg_text_print(&out, "# HELP regard_requests_total Requests answered, by status code\n# TYPE regard_requests_total counter\n");
    for (unsigned code = 0; code < RG_SERVE_CODES; code++) {
        const unsigned long long n = atomic_load(&s->codes[code]);
        if (n) rg_text_print(&out, "regard_requests_total{code=\"%u\"} %llu\n", code, n);
    }
    metric(&out, "requests_in_flight", "gauge", "Requests begun and not yet answered", (double)atomic_load(&s->active));
    metric(&out, "queue_lines", "gauge", "Lines waiting to be translated", waiting);
    metric(&out, "lines_total", "counter", "Lines translated", (double)atomic_load(&s->lines));
    metric(&out, "batches_total", "counter", "Runs of the translator", (double)atomic_load(&s->batches));
    metric(&out, "translating_seconds_total", "counter", "Time spent in them", (double)atomic_load(&s->busy_us) * 1e-6);
    metric(&out, "connections", "gauge", "Open connections", (double)atomic_load(&s->connections));
    metric(&out, "late_connections_total", "counter", "Connections closed because a deadline had passed", (double)atomic_load(&s->late));
    metric(&out, "uptime_seconds", "gauge", "Time since the start", rg_now() - s->started);
    r->answer = out.data;
    r->answer_bytes = out.length;
    r->type = "text/plain; version=0.0.4; charset=utf-8";
    r->code = 200;
    return false;
}
