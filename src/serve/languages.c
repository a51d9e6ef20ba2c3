/* languages.c - codes and names: which languages a request asks for, which there are, which a text is in. */
#include "serve/serve.h"

#include <string.h>

const char *rg_serve__language_name(const char *code)
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


const char *rg_serve__language_of(const rg_server *s, const char *code)
{
    for (size_t i = 0; i < s->models.languages; i++)
        if (strcmp(s->models.language[i], code) == 0) return s->models.language[i];
    return NULL;
}

/* ---------------------------------------------------------------------------------------------- what is asked for */

/* "en-fr, fr-en and, by way of en, de-fr" would be long where there are many: direct ones only. */
static rg_status list_pairs(rg_text *out, const rg_server *s)
{
    for (size_t i = 0; i < s->models.count; i++)
        RG_TRY(rg_text_print(out, "%s%s-%s", i ? ", " : "", s->models.model[i].source, s->models.model[i].target));
    return RG_OK;
}

void rg_serve__no_pair(rg_reply *reply, const rg_server *s, const char *from, const char *to)
{
    rg_text pairs = { 0 };
    if (list_pairs(&pairs, s) != RG_OK) rg_serve__error(reply, 503, "No memory");
    else
        rg_serve__error(reply, 400,
                        "%s (%s) is not available as a target language from %s (%s); there is %s (source-target)",
                        rg_serve__language_name(to), to, rg_serve__language_name(from), from, rg_text_c(&pairs));
    rg_text_free(&pairs);
}

static void not_supported(rg_reply *reply, const rg_server *s, const char *code)
{
    rg_text     pairs = { 0 };
    const char *unknown = RG_SERVE_UNKNOWN;
    if (rg_serve__language_of(s, unknown))
        rg_serve__error(reply, 400,
                        "%s is not supported: the model does not say which languages it translates. Ask for %s, or "
                        "start the server with --source-lang and --target-lang",
                        code, unknown);
    else if (list_pairs(&pairs, s) != RG_OK) rg_serve__error(reply, 503, "No memory");
    else rg_serve__error(reply, 400, "%s is not supported; there is %s (source-target)", code, rg_text_c(&pairs));
    rg_text_free(&pairs);
}

bool rg_serve__read_languages(rg_request *r, const json_t *fields)
{
    const char *source = json_string_value(json_object_get(fields, "source")),
               *target = json_string_value(json_object_get(fields, "target"));
    if (!source || !*source) return rg_serve__error(&r->reply, 400, "Invalid request: missing source parameter"), false;
    if (!target || !*target) return rg_serve__error(&r->reply, 400, "Invalid request: missing target parameter"), false;
    r->detected = strcmp(source, "auto") == 0;
    r->source = r->detected ? "auto" : rg_serve__language_of(r->server, source);
    r->target = rg_serve__language_of(r->server, target);
    if (r->source && r->target) return true;
    not_supported(&r->reply, r->server, r->source ? target : source);
    return false;
}

/* -------------------------------------------------------------------------------------------------- small answers */

static json_t *guess_json(const rg_guess *guess, double percent)
{
    return json_pack("{s:f, s:s}", "confidence", percent, "language", guess->language);
}

/* Rounded so that the two of a pair add up to 100. */
static void answer_guesses(rg_reply *reply, const rg_guess *guess, size_t count)
{
    json_t *list = json_array();
    double  left = 100;
    for (size_t i = 0; i < count; i++) {
        const double percent = (double)(int)(100 * guess[i].confidence + 0.5), most = percent < left ? percent : left;
        json_array_append_new(list, guess_json(&guess[i], most));
        left -= most;
    }
    if (!count) json_array_append_new(list, guess_json(&(rg_guess){ .language = RG_SERVE_UNKNOWN }, 0));
    rg_serve__answer(reply, 200, list);
}

bool rg_serve__detect(rg_request *r)
{
    const rg_serve_config *c = r->server->config;
    json_t                *fields = rg_serve__fields(r);
    const json_t          *q;
    const char            *text;
    rg_guess               guess[RG_SERVE_GUESSES];
    size_t                 count;
    if (!fields) return false;
    if (!rg_serve__allowed(r, fields)) goto done;
    q = json_object_get(fields, "q");
    text = json_string_value(json_is_array(q) ? json_array_get(q, 0) : q);
    if (!text || !*text) rg_serve__error(&r->reply, 400, "Invalid request: missing q parameter");
    else if (rg_serve__characters(text) > c->char_limit)
        rg_serve__error(&r->reply, 400, "Invalid request: request (%zu) exceeds text limit (%zu)",
                        rg_serve__characters(text), c->char_limit);
    else if (rg_serve__guess(guess, &count, r->server, text, false) != RG_OK)
        rg_serve__error(&r->reply, 503, "%s", rg_message());
    else answer_guesses(&r->reply, guess, count);
done:
    json_decref(fields);
    return false;
}

static json_t *targets_of(const rg_server *s, const char *from)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->models.languages; i++) { /* by their code: the list of languages has two parts */
        const char *next = NULL;
        for (size_t k = 0; k < s->models.languages; k++) {
            const char *code = s->models.language[k];
            const char *last = json_string_value(json_array_get(list, json_array_size(list) - 1));
            rg_served  *path[2];
            if (last && strcmp(code, last) <= 0) continue;
            if (strcmp(code, from) != 0 && !rg_models_path(path, s, from, code)) continue;
            if (!next || strcmp(code, next) < 0) next = code;
        }
        if (!next) break;
        json_array_append_new(list, json_string(next));
    }
    return list;
}

/* As LibreTranslate lists them, each language is also a target of itself. */
bool rg_serve__languages(rg_request *r)
{
    const rg_server *s = r->server;
    json_t          *list = json_array();
    for (size_t i = 0; i < s->models.languages; i++) {
        const char *code = s->models.language[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "code", code, "name", rg_serve__language_name(code),
                                              "targets", targets_of(s, code)));
    }
    rg_serve__answer(&r->reply, 200, list);
    return false;
}

bool rg_serve__settings(rg_request *r)
{
    const rg_serve_config *c = r->server->config;
    const bool             keys = c->api_key && *c->api_key;
    rg_serve__answer(&r->reply, 200,
                     json_pack("{s:b, s:i, s:i, s:b, s:b, s:b, s:o, s:{s:{s:s, s:s}, s:{s:s, s:s}}}", "apiKeys", keys,
                               "charLimit", (int)c->char_limit, "frontendTimeout", 500, "keyRequired", keys,
                               "suggestions", r->server->suggestions != NULL, "filesTranslation", c->files,
                               "supportedFilesFormat",
                               c->files ? rg_serve__file_endings() : json_array(), "language", "source",
                               "code", c->source, "name", rg_serve__language_name(c->source), "target", "code",
                               c->target, "name", rg_serve__language_name(c->target)));
    return false;
}
