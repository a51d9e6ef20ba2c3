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

/* ---------------------------------------------------------------------------------------------------- translate */

static bool no_memory(rg_reply *reply) { return rg_serve__error(reply, 503, "No memory"), false; }

/* The language a text is in, and the models from there to the target; a text that is in the target language already
 * stays as it is, as LibreTranslate leaves it. */
static bool choose_models(rg_request *r, rg_asked_text *in, const char *text)
{
    const rg_server *s = r->server;
    rg_guess         guess[RG_SERVE_GUESSES];
    rg_served       *path[2];
    size_t           count;
    in->language = r->source;
    in->confidence = 1;
    if (r->detected) {
        if (rg_serve__guess(guess, &count, s, text, r->html) != RG_OK)
            return rg_serve__error(&r->reply, 503, "%s", rg_message()), false;
        if (!count)
            return rg_serve__error(&r->reply, 400,
                                   "The language of the text cannot be told; name it: source is one of /languages"),
                   false;
        in->language = guess[0].language;
        in->confidence = guess[0].confidence;
    }
    const size_t legs = rg_models_path(path, s, in->language, r->target);
    in->keep = !legs && strcmp(in->language, r->target) == 0;
    if (!legs && !in->keep) return rg_serve__no_pair(&r->reply, s, in->language, r->target), false;
    if (legs) {
        memcpy(r->leg, path, sizeof path);
        r->legs = legs;
    }
    return true;
}

/* Every text of a server with one direction is looked at alone. Where there are several, all texts of a request are
 * taken for one language, as LibreTranslate takes them. */
static bool choose_for_all(rg_request *r)
{
    rg_text   all = { 0 };
    rg_status status = RG_OK;
    bool      good = true;
    if (r->server->models.count == 1 || !r->detected) {
        for (size_t i = 0; good && i < r->count; i++) good = choose_models(r, &r->input[i], r->input[i].text);
        return good;
    }
    for (size_t i = 0; status == RG_OK && i < r->count; i++) status = rg_text_print(&all, "%s\n", r->input[i].text);
    good = status == RG_OK ? choose_models(r, &r->input[0], rg_text_c(&all)) : no_memory(&r->reply);
    rg_text_free(&all);
    for (size_t i = 1; i < r->count; i++) {
        r->input[i].language = r->input[0].language;
        r->input[i].confidence = r->input[0].confidence;
        r->input[i].keep = r->input[0].keep;
    }
    return good;
}

/* What the lines cost: counted here, so that what is too long never waits. A record takes another pass for each of
 * its answers. */
static bool count_subwords(rg_reply *reply, rg_request *r)
{
    const rg_serve_config *c = r->server->config;
    const rg_translator   *t = r->holds ? r->holds->translator : NULL;
    const size_t most = r->attention ? RG_SERVE_WATCHED : RG_SERVE_LONGEST, known = t ? t->model->longest : 0;
    const size_t longest = known && known - 1 < most ? known - 1 : most;
    size_t       all = 0;
    rg_ids       ids = { 0 };
    for (size_t i = 0; t && i < r->ready && !reply->code; i++) {
        rg_part *line = r->line[i];
        ids.count = 0;
        if (rg_vocab_encode(&ids, NULL, t->source, line->text, strlen(line->text)) != RG_OK)
            rg_serve__error(reply, 503, "%s", rg_message());
        line->subwords = ids.count * (r->attention ? 2 + r->alternatives : 1) + 1;
        all += line->subwords;
        if (ids.count > longest)
            rg_serve__error(reply, 400, "Invalid request: line %zu has %zu subwords; at most %zu are read", i + 1,
                            ids.count, longest);
    }
    rg_ids_free(&ids);
    if (!reply->code && all > c->queue)
        rg_serve__error(reply, 400, "Invalid request: request (%zu subwords) exceeds text limit (%zu)", all, c->queue);
    return !reply->code;
}

static rg_status cut(rg_segments *out, const rg_request *r, const rg_asked_text *in, rg_sentences *sentences)
{
    rg_segments_free(out);
    if (in->keep) return rg_segments_keep(out, in->text);
    const rg_attention_use *uses = r->holds ? r->holds->model->system->uses : NULL;
    const rg_upload        *u = &r->upload;
    rg_document_config      c = { .format = rg_document_format_find(r->html ? "html" : "text"),
                                  .name = "q",
                                  .sentences = sentences,
                                  .aligned = uses && uses[0].where };
    if (!u->format) return rg_segments_cut(out, in->text, strlen(in->text), &c);
    c.format = u->format;
    c.name = "file";
    return rg_segments_cut(out, u->bytes, u->count, &c);
}

/* All texts of a request, for the leg at hand; on any thread. The record of a line is that of the whole line. */
static bool cut_all(rg_reply *reply, size_t *lines, rg_request *r)
{
    rg_sentences *sentences = NULL;
    rg_status     status = RG_OK;
    if (r->server->sentences && r->holds && !r->attention)
        status = rg_sentences_like(&sentences, r->server->sentences, r->holds->source);
    for (size_t i = 0; i < r->count && status == RG_OK; i++) {
        status = cut(&r->texts[i], r, &r->input[i], sentences);
        *lines += r->texts[i].lines;
    }
    rg_sentences_free(sentences);
    if (status != RG_OK) rg_serve__error(reply, status == RG_ENOMEM ? 503 : 400, "%s", rg_message());
    return status == RG_OK;
}

bool rg_serve__prepare(rg_reply *reply, rg_request *r)
{
    size_t lines = 0, n = 0;
    rg_free(r->line);
    r->line = NULL;
    r->ready = 0;
    if (!cut_all(reply, &lines, r)) return false;
    if (r->attention && lines != 1)
        return rg_serve__error(reply, 400, "Invalid request: the record of one line to translate, not of %zu", lines),
               false;
    if (!(r->line = rg_alloc_array(lines + 1, sizeof *r->line))) return no_memory(reply);
    const rg_translation_memory *memory = r->holds && !r->attention ? r->holds->memory : NULL;
    for (size_t t = 0; t < r->count; t++)
        for (size_t i = 0; i < r->texts[t].count; i++)
            if (r->texts[t].part[i].line && !rg_segments_recalled(&r->texts[t].part[i], memory) &&
                !rg_recent_recall(&r->texts[t].part[i], r))
                r->line[n++] = &r->texts[t].part[i];
    r->ready = n;
    return count_subwords(reply, r);
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
    r->texts = rg_alloc_zero((n + 1) * sizeof *r->texts);
    r->input = rg_alloc_zero((n + 1) * sizeof *r->input);
    if (!r->texts || !r->input) return no_memory(&r->reply);
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(r->array ? json_array_get(q, i) : q);
        if (!text) return rg_serve__error(&r->reply, 400, "Invalid request: q is a string or a list of strings"), false;
        all += rg_serve__characters(text);
        if (all > c->char_limit)
            return rg_serve__error(&r->reply, 400, "Invalid request: request (%zu) exceeds text limit (%zu)", all,
                                   c->char_limit),
                   false;
        r->count = i + 1;
        if (!(r->input[i].text = rg_strdup(text))) return no_memory(&r->reply);
    }
    return choose_for_all(r);
}

/* A form has only strings. */
static bool is_true(const json_t *value)
{
    return json_is_true(value) || (json_is_string(value) && strcmp(json_string_value(value), "true") == 0);
}

static bool read_extras(rg_request *r, const json_t *fields)
{
    const json_t *format = json_object_get(fields, "format"), *wanted = json_object_get(fields, "alternatives");
    const size_t  most = r->server->config->beam - 1;
    const char   *name = json_string_value(format);
    if (format && !json_is_null(format) && (!name || (*name && strcmp(name, "text") != 0 && strcmp(name, "html") != 0)))
        return rg_serve__error(&r->reply, 400, "%s format is not supported", name ? name : "this"), false;
    r->html = name && strcmp(name, "html") == 0;
    r->scores = !r->attention && is_true(json_object_get(fields, "scores"));
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

/* What the leg has made of a text is what the next one reads: the same as if a client had sent it back. */
static bool next_leg(rg_reply *reply, rg_request *r)
{
    if (r->upload.format && rg_serve__file_between(r) != RG_OK) rg_serve__error(reply, 503, "%s", rg_message());
    for (size_t i = 0; i < r->count && !reply->code && !r->upload.format; i++) {
        json_t *text = r->input[i].keep ? NULL : joined(r, i, 0);
        char   *copy = text ? rg_strdup(json_string_value(text)) : NULL;
        json_decref(text);
        if (r->input[i].keep) continue;
        if (!copy) no_memory(reply);
        rg_free(r->input[i].text);
        r->input[i].text = copy;
    }
    r->at++;
    return !reply->code;
}

/* To the next leg that has lines to translate, which are then ready. A leg whose sentences all come from a memory or
 * from recent translations has none. Otherwise the reply is there, or *out_waits: the leg's model has to be loaded. */
static void go_on(rg_reply *reply, bool *out_waits, rg_request *r)
{
    *out_waits = false;
    do {
        if (r->legs && !rg_models_hold(r)) {
            *out_waits = true;
            return;
        }
        if (!rg_serve__prepare(reply, r) || r->ready) return;
    } while (r->at + 1 < r->legs && next_leg(reply, r));
    if (!reply->code) rg_serve__translated(reply, r, NULL);
}

/* Into the queue: its first leg, or until the model of that is there. */
static bool begin(rg_request *r)
{
    bool queued, waits;
    if (r->glossary && r->legs > 1)
        return rg_serve__error(&r->reply, 400, "Invalid request: a glossary needs a model from %s to %s; here it goes through %s",
                               r->leg[0]->source, r->leg[1]->target, r->leg[0]->target),
               false;
    if (r->attention && r->legs > 1)
        return rg_serve__error(&r->reply, 400,
                               "There is no model from %s to %s, and no record of two: ask for %s to %s, or %s to %s",
                               r->leg[0]->source, r->leg[1]->target, r->leg[0]->source, r->leg[0]->target,
                               r->leg[1]->source, r->leg[1]->target),
               false;
    go_on(&r->reply, &waits, r);
    if (r->reply.code) return false;
    queued = waits ? rg_queue_park(r) : rg_queue_put(r);
    if (!queued) rg_serve__error(&r->reply, 503, "Too many requests are waiting");
    return queued;
}

static bool translate(rg_request *r, bool attention)
{
    bool    queued = false;
    json_t *fields = rg_serve__fields(r), *q;
    if (!fields) return false;
    r->attention = attention;
    if (!rg_serve__allowed(r, fields)) goto done;
    q = json_object_get(fields, "q");
    if (!has_text(q)) rg_serve__error(&r->reply, 400, "Invalid request: missing q parameter");
    else if (attention && !json_is_string(q))
        rg_serve__error(&r->reply, 400, "Invalid request: the record of one text, q is a string");
    else if (rg_serve__read_languages(r, fields) && read_extras(r, fields) && rg_serve__glossary(r, fields) &&
             read_texts(r, q))
        queued = begin(r);
done:
    json_decref(fields);
    return queued;
}

bool rg_serve__begin_file(rg_request *r)
{
    if (!choose_models(r, &r->input[0], r->input[0].text)) return false;
    if (r->input[0].keep)
        return rg_serve__error(&r->reply, 400, "Invalid request: the file is in the target language (%s) already", r->target),
               false;
    return begin(r);
}

bool rg_serve__translate(rg_request *r) { return translate(r, false); }
bool rg_serve__attention(rg_request *r) { return translate(r, true); }

/* ---------------------------------------------------------------------------------------------------------- legs */

void rg_serve__advance(rg_request *r)
{
    rg_reply reply = { 0 };
    r->advance = false;
    if (next_leg(&reply, r)) rg_serve__resume(r);
    else rg_queue_return(r, &reply);
}

void rg_serve__resume(rg_request *r)
{
    rg_reply reply = { 0 };
    bool     waits;
    go_on(&reply, &waits, r);
    if (waits) rg_queue_park_again(r);
    else rg_queue_return(r, &reply);
}

/* -------------------------------------------------------------------------------------------------------- answers */

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
    json_t *object = json_object(), *texts = json_array(), *alternatives = json_array(), *languages = json_array(),
           *scores = r->scores ? rg_scores_json(r) : NULL;
    for (size_t i = 0; i < r->count; i++) {
        json_t *best = joined(r, i, 0);
        json_array_append_new(alternatives, others(r, i, best));
        json_array_append_new(texts, best);
        json_array_append_new(languages,
                              json_pack("{s:f, s:s}", "confidence", (double)(int)(100 * r->input[i].confidence + 0.5),
                                        "language", r->input[i].language));
    }
    json_object_set(object, "translatedText", r->array ? texts : json_array_get(texts, 0));
    if (r->alternatives)
        json_object_set(object, "alternatives", r->array ? alternatives : json_array_get(alternatives, 0));
    if (r->detected) json_object_set(object, "detectedLanguage", r->array ? languages : json_array_get(languages, 0));
    if (scores) json_object_set(object, "scores", r->array ? scores : json_array_get(scores, 0));
    json_decref(scores);
    json_decref(texts);
    json_decref(alternatives);
    json_decref(languages);
    rg_serve__answer(reply, 200, object);
}

void rg_serve__translated(rg_reply *reply, const rg_request *r, const rg_translated *result)
{
    if (r->upload.format) {
        rg_serve__file_translated(reply, r);
        return;
    }
    if (!r->attention || !result) {
        answer_texts(reply, r);
        return;
    }
    rg_translated one = *result;
    rg_record    *record = NULL;
    if (one.count > r->alternatives + 1) one.count = r->alternatives + 1;
    rg_status status = rg_record_of_heads_until(&record, r->holds->translator, &one, NULL, rg_queue_unwanted, r);
    if (status == RG_OK) status = rg_record_to_json(&reply->text, &reply->bytes, record, RG_WEIGHTS_U16);
    rg_record_free(record);
    if (status == RG_ESTOP) return; /* the clock answers */
    if (status != RG_OK)
        rg_serve__error(reply, status == RG_ENOMEM ? 503 : 500, "Cannot record the attention: %s", rg_message());
    else reply->code = 200;
}
