/* api.c - LibreTranslate's fields, answers and messages, and the record of a translation. */
#include "serve/serve.h"

#include <stdlib.h>
#include <string.h>

#include "regard/view.h"

/* ---------------------------------------------------------------------------------------------------- who may ask */

/* Every character of the longer one is looked at, so that the time tells nothing. */
static bool same_key(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    unsigned     difference = n != m;
    for (size_t i = 0; i < n; i++) difference |= (unsigned char)(a[i] ^ b[m ? i % m : 0]);
    return difference == 0;
}

bool rg_serve__allowed(rg_request *r, const json_t *fields)
{
    const char *wanted = r->server->config->api_key, *given = json_string_value(json_object_get(fields, "api_key"));
    if (!wanted || !*wanted || (given && same_key(given, wanted))) return true;
    if (given && *given) rg_serve__error(&r->reply, 403, "Invalid API key");
    else rg_serve__error(&r->reply, 403, "Please contact the server operator to get an API key");
    return false;
}

size_t rg_serve__characters(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += (*text & 0xC0) != 0x80;
    return n;
}

static const char *name_of(const char *code)
{
    static const char *const names[][2] = {
        { "ar", "Arabic" },     { "bg", "Bulgarian" },  { "bn", "Bengali" },
        { "ca", "Catalan" },    { "cs", "Czech" },      { "cy", "Welsh" },
        { "da", "Danish" },     { "de", "German" },     { "el", "Greek" },
        { "en", "English" },    { "eo", "Esperanto" },  { "es", "Spanish" },
        { "et", "Estonian" },   { "eu", "Basque" },     { "fa", "Persian" },
        { "fi", "Finnish" },    { "fr", "French" },     { "ga", "Irish" },
        { "gl", "Galician" },   { "he", "Hebrew" },     { "hi", "Hindi" },
        { "hr", "Croatian" },   { "hu", "Hungarian" },  { "id", "Indonesian" },
        { "is", "Icelandic" },  { "it", "Italian" },    { "ja", "Japanese" },
        { "ko", "Korean" },     { "la", "Latin" },      { "lt", "Lithuanian" },
        { "lv", "Latvian" },    { "ms", "Malay" },      { "mt", "Maltese" },
        { "nb", "Norwegian" },  { "nl", "Dutch" },      { "pl", "Polish" },
        { "pt", "Portuguese" }, { "ro", "Romanian" },   { "ru", "Russian" },
        { "sk", "Slovak" },     { "sl", "Slovenian" },  { "sq", "Albanian" },
        { "sr", "Serbian" },    { "sv", "Swedish" },    { "sw", "Swahili" },
        { "ta", "Tamil" },      { "th", "Thai" },       { "tl", "Tagalog" },
        { "tr", "Turkish" },    { "uk", "Ukrainian" },  { RG_SERVE_UNKNOWN, "unknown language" },
        { "ur", "Urdu" },       { "vi", "Vietnamese" }, { "zh", "Chinese" }
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], code) == 0) return names[i][1];
    return code;
}

/* ---------------------------------------------------------------------------------------------------- translate */

/* Nothing tells the two languages apart: one to itself, or neither is known. */
static bool alike(const rg_serve_config *c) { return strcmp(c->source, c->target) == 0; }

/* What is translated is cut into lines; a text that is in the target language already stays as it is, as
 * LibreTranslate leaves it. */
static bool read_text(rg_request *r, rg_segments *out, const char *text)
{
    const rg_serve_config *c = r->server->config;
    bool                   first = strcmp(r->source, c->source) == 0; /* in the language that is translated from? */
    double                 p = 1;
    if (r->detected) {
        if (rg_serve__source_likelihood(&p, r->server, text) != RG_OK)
            return rg_serve__error(&r->reply, 503, "%s", rg_message()), false;
        first = p >= 0.5 || alike(c);
    }
    const char *from = first ? c->source : c->target;
    const bool  pair = first && strcmp(r->target, c->target) == 0;
    if (!pair && strcmp(from, r->target) != 0)
        return rg_serve__error(&r->reply, 400, "%s (%s) is not available as a target language from %s (%s)",
                               name_of(r->target), r->target, name_of(from), from),
               false;
    const rg_attention_use *uses = r->server->translator->model->system->uses;
    const bool              aligned = uses && uses[0].where;
    if ((!pair     ? rg_segments_keep(out, text)
         : r->html ? rg_segments_cut_html(out, text, aligned)
                   : rg_segments_cut(out, text)) != RG_OK)
        return rg_serve__error(&r->reply, 503, "No memory"), false;
    out->language = from;
    out->confidence = first ? p : 1 - p;
    return true;
}

/* What the lines cost: counted here, so that what is too long never waits. A record takes another pass for each of
 * its answers. */
static bool count_subwords(rg_request *r)
{
    const rg_serve_config *c = r->server->config;
    const rg_translator   *t = r->server->translator;
    const size_t           most = r->attention ? RG_SERVE_WATCHED : RG_SERVE_LONGEST, known = t->model->longest;
    const size_t           longest = known && known - 1 < most ? known - 1 : most;
    size_t                 all = 0;
    rg_ids                 ids = { 0 };
    for (size_t i = 0; i < r->lines; i++) {
        rg_part *line = r->line[i];
        ids.count = 0;
        if (rg_vocab_encode(&ids, NULL, t->source, line->text, strlen(line->text)) != RG_OK) {
            rg_ids_free(&ids);
            return rg_serve__error(&r->reply, 503, "%s", rg_message()), false;
        }
        line->subwords = ids.count * (r->attention ? 2 + r->alternatives : 1) + 1;
        all += line->subwords;
        if (ids.count <= longest) continue;
        rg_serve__error(&r->reply, 400, "Invalid request: line %zu has %zu subwords; at most %zu are read", i + 1,
                        ids.count, longest);
        break;
    }
    rg_ids_free(&ids);
    if (!r->reply.code && all > c->queue)
        rg_serve__error(&r->reply, 400, "Invalid request: request (%zu subwords) exceeds text limit (%zu)", all,
                        c->queue);
    return !r->reply.code;
}

static bool list_lines(rg_request *r)
{
    size_t n = 0;
    if (!(r->line = rg_alloc_array(r->lines + 1, sizeof *r->line)))
        return rg_serve__error(&r->reply, 503, "No memory"), false;
    for (size_t t = 0; t < r->count; t++)
        for (size_t i = 0; i < r->texts[t].count; i++)
            if (r->texts[t].part[i].line) r->line[n++] = &r->texts[t].part[i];
    return count_subwords(r);
}

/* The text or texts of q. */
static bool read_texts(rg_request *r, const json_t *q)
{
    const rg_serve_config *c = r->server->config;
    size_t                 all = 0;
    r->array = json_is_array(q);
    const size_t n = r->array ? json_array_size(q) : 1;
    if (n > RG_SERVE_TEXTS)
        return rg_serve__error(&r->reply, 400, "Invalid request: request (%zu) exceeds text limit (%d)", n,
                               RG_SERVE_TEXTS),
               false;
    if (!(r->texts = rg_alloc_zero((n + 1) * sizeof *r->texts)))
        return rg_serve__error(&r->reply, 503, "No memory"), false;
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(r->array ? json_array_get(q, i) : q);
        if (!text) return rg_serve__error(&r->reply, 400, "Invalid request: q is a string or a list of strings"), false;
        all += rg_serve__characters(text);
        if (all > c->char_limit)
            return rg_serve__error(&r->reply, 400, "Invalid request: request (%zu) exceeds text limit (%zu)", all,
                                   c->char_limit),
                   false;
        r->count = i + 1;
        if (!read_text(r, &r->texts[i], text)) return false;
        r->lines += r->texts[i].lines;
    }
    return list_lines(r);
}

/* The configuration's own string for a code, or NULL. */
static const char *served(const rg_serve_config *c, const char *code)
{
    return strcmp(code, c->source) == 0 ? c->source : strcmp(code, c->target) == 0 ? c->target : NULL;
}

static bool known(const rg_serve_config *c)
{
    return strcmp(c->source, RG_SERVE_UNKNOWN) != 0 && strcmp(c->target, RG_SERVE_UNKNOWN) != 0;
}

static bool read_languages(rg_request *r, const json_t *fields)
{
    const char *source = json_string_value(json_object_get(fields, "source")),
               *target = json_string_value(json_object_get(fields, "target"));
    if (!source || !*source) return rg_serve__error(&r->reply, 400, "Invalid request: missing source parameter"), false;
    if (!target || !*target) return rg_serve__error(&r->reply, 400, "Invalid request: missing target parameter"), false;
    r->detected = strcmp(source, "auto") == 0;
    r->source = r->detected ? "auto" : served(r->server->config, source);
    r->target = served(r->server->config, target);
    if (r->source && r->target) return true;
    const char *unknown = r->source ? target : source;
    if (known(r->server->config)) rg_serve__error(&r->reply, 400, "%s is not supported", unknown);
    else
        rg_serve__error(
            &r->reply, 400,
            "%s is not supported: the model does not say which languages it translates. Ask for %s, or start the "
            "server with --source-lang and --target-lang",
            unknown, RG_SERVE_UNKNOWN);
    return false;
}

static bool read_extras(rg_request *r, const json_t *fields)
{
    const json_t *format = json_object_get(fields, "format"), *wanted = json_object_get(fields, "alternatives");
    const size_t  most = r->server->config->beam - 1;
    const char   *name = json_string_value(format);
    if (format && !json_is_null(format) && (!name || (*name && strcmp(name, "text") != 0 && strcmp(name, "html") != 0)))
        return rg_serve__error(&r->reply, 400, "%s format is not supported", name ? name : "this"), false;
    r->html = name && strcmp(name, "html") == 0;
    if (!wanted || json_is_null(wanted)) return true;
    char        *end = NULL;
    const char  *text = json_string_value(wanted);
    const double real = json_number_value(wanted);
    long long    n = text                                                 ? strtoll(text, &end, 10)
                     : json_is_number(wanted) && real >= 0 && real < 1e15 ? (long long)real
                                                                          : -1;
    if (n < 0 || (text && (*end || end == text)))
        return rg_serve__error(&r->reply, 400, "Invalid request: alternatives parameter is not a number"), false;
    if ((unsigned long long)n > most)
        return rg_serve__error(&r->reply, 400, "Invalid request: alternatives (%lld) exceed the limit (%zu)", n, most),
               false;
    r->alternatives = (size_t)n;
    return true;
}

/* LibreTranslate's `if not q`: absent, null, "" and [] are all nothing. */
static bool has_text(const json_t *q)
{
    return q && !json_is_null(q) && !(json_is_string(q) && !json_string_length(q)) &&
           !(json_is_array(q) && !json_array_size(q));
}

bool rg_serve__translate(rg_request *r, bool attention)
{
    bool    queued = false;
    json_t *fields = rg_serve__fields(r), *q;
    if (!fields) return false;
    r->attention = attention;
    if (!rg_serve__allowed(r, fields)) goto done;
    q = json_object_get(fields, "q");
    if (!has_text(q)) {
        rg_serve__error(&r->reply, 400, "Invalid request: missing q parameter");
        goto done;
    }
    if (attention && !json_is_string(q)) {
        rg_serve__error(&r->reply, 400, "Invalid request: the record of one text, q is a string");
        goto done;
    }
    if (!read_languages(r, fields) || !read_extras(r, fields) || !read_texts(r, q)) goto done;
    if (attention && r->lines != 1)
        rg_serve__error(&r->reply, 400, "Invalid request: the record of one line to translate, not of %zu", r->lines);
    else if (r->lines == 0) rg_serve__translated(&r->reply, r, NULL);
    else if (!(queued = rg_queue_put(r))) rg_serve__error(&r->reply, 503, "Too many requests are waiting");
done:
    json_decref(fields);
    return queued;
}

static json_t *string_of(const char *text)
{
    json_t *string = json_string(text);
    if (string) return string;
    rg_text clean = { 0 }; /* pieces of bytes need not add up to characters */
    if (rg_text_clean(&clean, text, strlen(text), RG_TEXT_AS_IS, NULL) == RG_OK)
        string = json_string(rg_text_c(&clean));
    rg_text_free(&clean);
    return string;
}

static json_t *joined(const rg_request *r, size_t text, size_t rank)
{
    rg_text   out = { 0 };
    rg_status status = rg_segments_join(&out, &r->texts[text], rank);
    json_t   *string = status == RG_OK ? string_of(rg_text_c(&out)) : NULL;
    rg_text_free(&out);
    return string;
}

/* The next best ones that differ from all before. */
static json_t *others(const rg_request *r, size_t text, const json_t *best)
{
    json_t *list = json_array();
    for (size_t k = 1; k <= r->alternatives; k++) {
        json_t *other = joined(r, text, k);
        bool    same = !other || json_equal(other, best);
        for (size_t i = 0; i < json_array_size(list) && !same; i++) same = json_equal(other, json_array_get(list, i));
        if (same) json_decref(other);
        else json_array_append_new(list, other);
    }
    return list;
}

static void answer_texts(rg_reply *reply, const rg_request *r)
{
    json_t *object = json_object(), *texts = json_array(), *alternatives = json_array(), *languages = json_array();
    for (size_t i = 0; i < r->count; i++) {
        json_t *best = joined(r, i, 0);
        json_array_append_new(alternatives, others(r, i, best));
        json_array_append_new(texts, best);
        json_array_append_new(languages,
                              json_pack("{s:f, s:s}", "confidence", (double)(int)(100 * r->texts[i].confidence + 0.5),
                                        "language", r->texts[i].language));
    }
    json_object_set(object, "translatedText", r->array ? texts : json_array_get(texts, 0));
    if (r->alternatives)
        json_object_set(object, "alternatives", r->array ? alternatives : json_array_get(alternatives, 0));
    if (r->detected) json_object_set(object, "detectedLanguage", r->array ? languages : json_array_get(languages, 0));
    json_decref(texts);
    json_decref(alternatives);
    json_decref(languages);
    rg_serve__answer(reply, 200, object);
}

void rg_serve__translated(rg_reply *reply, const rg_request *r, const rg_translated *result)
{
    if (!r->attention || !result) {
        answer_texts(reply, r);
        return;
    }
    rg_translated one = *result;
    rg_record    *record = NULL;
    if (one.count > r->alternatives + 1) one.count = r->alternatives + 1;
    rg_status status = rg_record_of_heads_until(&record, r->server->translator, &one, NULL, rg_queue_unwanted, r);
    if (status == RG_OK) status = rg_record_to_json(&reply->text, &reply->bytes, record, RG_WEIGHTS_U16);
    rg_record_free(record);
    if (status == RG_ESTOP) return; /* the clock answers */
    if (status != RG_OK)
        rg_serve__error(reply, status == RG_ENOMEM ? 503 : 500, "Cannot record the attention: %s", rg_message());
    else reply->code = 200;
}

/* ------------------------------------------------------------------------------------------------- small answers */

bool rg_serve__detect(rg_request *r)
{
    const rg_serve_config *c = r->server->config;
    json_t                *fields = rg_serve__fields(r);
    const json_t          *q;
    const char            *text;
    double                 p;
    if (!fields) return false;
    if (!rg_serve__allowed(r, fields)) goto done;
    q = json_object_get(fields, "q");
    text = json_string_value(json_is_array(q) ? json_array_get(q, 0) : q);
    if (!text || !*text) rg_serve__error(&r->reply, 400, "Invalid request: missing q parameter");
    else if (rg_serve__characters(text) > c->char_limit)
        rg_serve__error(&r->reply, 400, "Invalid request: request (%zu) exceeds text limit (%zu)",
                        rg_serve__characters(text), c->char_limit);
    else if (rg_serve__source_likelihood(&p, r->server, text) != RG_OK)
        rg_serve__error(&r->reply, 503, "%s", rg_message());
    else if (alike(c))
        rg_serve__answer(&r->reply, 200, json_pack("[{s:f, s:s}]", "confidence", 100.0, "language", c->source));
    else {
        const bool first = p >= 0.5;
        const double a = (double)(int)(100 * (first ? p : 1 - p) + 0.5);
        rg_serve__answer(&r->reply, 200,
                         json_pack("[{s:f, s:s}, {s:f, s:s}]", "confidence", a, "language",
                                   first ? c->source : c->target, "confidence", 100 - a, "language",
                                   first ? c->target : c->source));
    }
done:
    json_decref(fields);
    return false;
}

/* As LibreTranslate lists them, each language is also a target of itself. */
bool rg_serve__languages(rg_request *r)
{
    const rg_serve_config *c = r->server->config;
    const bool             ordered = strcmp(c->source, c->target) < 0;
    json_t *list = json_pack("[{s:s, s:s, s:[s, s]}, {s:s, s:s, s:[s]}]", "code", c->source, "name", name_of(c->source),
                             "targets", ordered ? c->source : c->target, ordered ? c->target : c->source, "code",
                             c->target, "name", name_of(c->target), "targets", c->target);
    if (alike(c))
        json_array_remove(list, 1), json_array_remove(json_object_get(json_array_get(list, 0), "targets"), 1);
    rg_serve__answer(&r->reply, 200, list);
    return false;
}

bool rg_serve__settings(rg_request *r)
{
    const rg_serve_config *c = r->server->config;
    const bool             keys = c->api_key && *c->api_key;
    rg_serve__answer(&r->reply, 200,
                     json_pack("{s:b, s:i, s:i, s:b, s:b, s:b, s:[], s:{s:{s:s, s:s}, s:{s:s, s:s}}}", "apiKeys", keys,
                               "charLimit", (int)c->char_limit, "frontendTimeout", 500, "keyRequired", keys,
                               "suggestions", 0, "filesTranslation", 0, "supportedFilesFormat", "language", "source",
                               "code", c->source, "name", name_of(c->source), "target", "code", c->target, "name",
                               name_of(c->target)));
    return false;
}

static void metric(rg_text *out, const char *name, const char *type, const char *help, double value)
{
    rg_text_print(out, "# HELP regard_%s %s\n# TYPE regard_%s %s\nregard_%s %.17g\n", name, help, name, type, name,
                  value);
}

static void durations(rg_text *out, rg_server *s)
{
    unsigned long long sum = 0;
    rg_text_print(out, "# HELP regard_request_seconds From the header of a request to its answer\n# TYPE "
                       "regard_request_seconds histogram\n");
    for (size_t i = 0; i < RG_SERVE_BUCKETS; i++)
        rg_text_print(out, "regard_request_seconds_bucket{le=\"%g\"} %llu\n", rg_serve__buckets[i],
                      sum += atomic_load(&s->duration[i]));
    sum += atomic_load(&s->duration[RG_SERVE_BUCKETS]);
    rg_text_print(out,
                  "regard_request_seconds_bucket{le=\"+Inf\"} %llu\nregard_request_seconds_sum "
                  "%.6f\nregard_request_seconds_count %llu\n",
                  sum, (double)atomic_load(&s->duration_us) * 1e-6, sum);
}

bool rg_serve__metrics(rg_request *r)
{
    rg_server *s = r->server;
    rg_text    out = { 0 };
    pthread_mutex_lock(&s->queue.lock);
    const double waiting = (double)s->queue.subwords,
                 lines = (double)(s->queue.lane[RG_LANE_SHORT].lines + s->queue.lane[RG_LANE_LONG].lines);
    pthread_mutex_unlock(&s->queue.lock);
    rg_text_print(
        &out, "# HELP regard_requests_total Requests answered, by status code\n# TYPE regard_requests_total counter\n");
    for (unsigned code = 0; code < RG_SERVE_CODES; code++) {
        const unsigned long long n = atomic_load(&s->codes[code]);
        if (n) rg_text_print(&out, "regard_requests_total{code=\"%u\"} %llu\n", code, n);
    }
    durations(&out, s);
    metric(&out, "requests_in_flight", "gauge", "Requests begun and not yet answered", (double)atomic_load(&s->active));
    metric(&out, "queue_lines", "gauge", "Lines waiting to be translated", lines);
    metric(&out, "queue_subwords", "gauge", "Subwords of these lines", waiting);
    metric(&out, "left_total", "counter", "Requests given up because the client had left",
           (double)atomic_load(&s->left));
    metric(&out, "expired_total", "counter", "Requests given up because their deadline had passed",
           (double)atomic_load(&s->expired));
    metric(&out, "lines_total", "counter", "Lines translated", (double)atomic_load(&s->lines));
    metric(&out, "batches_total", "counter", "Runs of the translator", (double)atomic_load(&s->batches));
    metric(&out, "translating_seconds_total", "counter", "Time spent in them", (double)atomic_load(&s->busy_us) * 1e-6);
    metric(&out, "connections", "gauge", "Open connections", (double)atomic_load(&s->connections));
    metric(&out, "late_connections_total", "counter", "Connections closed because a deadline had passed",
           (double)atomic_load(&s->late));
    metric(&out, "uptime_seconds", "gauge", "Time since the start", rg_now() - s->started);
    r->reply.text = out.data;
    r->reply.bytes = out.length;
    r->reply.type = "text/plain; version=0.0.4; charset=utf-8";
    r->reply.code = 200;
    return false;
}
