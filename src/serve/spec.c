/* spec.c - /spec: what the server answers, as OpenAPI 3 (https://spec.openapis.org/oas/v3.0.3), from the table of
 * routes and what is said about each here. */
#include "serve/serve.h"

#include <string.h>

#include "regard/version.h"

typedef struct {
    const char *name, *type, *help;
    bool        required;
} field;

#define KEY { "api_key", "string", "Key, where the server asks for one", false }
#define LANGUAGES                                                                                                       \
    { "source", "string", "Language of the text: a code of /languages, or auto", true },                              \
    { "target", "string", "Language to translate to: a code of /languages", true }

static const field translate[] = { { "q", "texts", "Text, or list of texts", true },
                                   LANGUAGES,
                                   { "format", "string", "text or html", false },
                                   { "alternatives", "integer", "How many other translations", false },
                                   { "glossary", "object", "Terms with the translations that are wanted", false },
                                   { "scores", "boolean", "Probabilities of sentences and words too", false },
                                   KEY,
                                   { 0 } };
static const field translated[] = {
    { "translatedText", "texts", "Translation; a list when q is one", true },
    { "alternatives", "array", "Other translations, where asked for", false },
    { "detectedLanguage", "object", "language and confidence (0 to 100) where source was auto", false },
    { "scores", "array", "Sentences with text, logProbability, score, and words with text and probability", false },
    { 0 }
};
static const field attention[] = { { "q", "string", "One line", true },
                                   LANGUAGES,
                                   { "alternatives", "integer", "How many other translations", false },
                                   KEY,
                                   { 0 } };
static const field record[] = { { "format", "string", "regard-record/1", true },
                                { "texts", "array", "Source and translations", false },
                                { "labels", "array", "What rows and columns stand for", true },
                                { "maps", "array", "Every layer and head", true },
                                { 0 } };
static const field text[] = { { "q", "string", "Text", true }, KEY, { 0 } };
static const field guess[] = { { "confidence", "number", "0 to 100", true },
                               { "language", "string", "Code, or und", true },
                               { 0 } };
static const field language[] = { { "code", "string", "Language code", true },
                                  { "name", "string", "Its English name", true },
                                  { "targets", "array", "Codes it can be translated to", true },
                                  { 0 } };
static const field file[] = { { "file", "binary", "File to translate", true },
                              LANGUAGES,
                              { "direct", "boolean", "The answer is the translated file itself", false },
                              { "glossary", "string", "Terms with the translations you want, as JSON", false },
                              KEY,
                              { 0 } };
static const field fetched[] = { { "translatedFileUrl", "string", "Where the translated file is, for ten minutes", true },
                                 { 0 } };
static const field suggestion[] = { { "q", "string", "Text", true },
                                    { "s", "string", "Suggested translation", true },
                                    LANGUAGES,
                                    KEY,
                                    { 0 } };
static const field success[] = { { "success", "boolean", "It is stored", true }, { 0 } };
static const field settings[] = { { "apiKeys", "boolean", "Are there keys?", true },
                                  { "charLimit", "integer", "Characters of one request", true },
                                  { "frontendTimeout", "integer", "Milliseconds to wait while somebody types", true },
                                  { "keyRequired", "boolean", "Is a key needed?", true },
                                  { "suggestions", "boolean", "Is /suggest open?", true },
                                  { "filesTranslation", "boolean", "Is /translate_file open?", true },
                                  { "supportedFilesFormat", "array", "Endings of files", true },
                                  { "language", "object", "source and target to begin with", true },
                                  { 0 } };
static const field description[] = { { "openapi", "string", "3.0.3", true }, { 0 } };
static const field health[] = { { "status", "string", "ok", true }, { 0 } };
static const field predict[] = { { "q", "texts", "Text, or list of texts", true },
                                 { "attention", "boolean", "With the record of the one text", false },
                                 KEY,
                                 { 0 } };
static const field rows[] = { { "rows", "array", "Rows of the answer; a list of such lists when q is one", true },
                              { "record", "object", "Where the model looked", false },
                              { 0 } };

static const struct {
    const char  *path, *summary;
    const field *asked, *answer; /* NULL: no fields, or an answer that is no JSON */
    const char  *type;           /* of such an answer */
    bool         list;           /* the answer is a list of them */
} said[] = {
    { "/", "A page to type into", NULL, NULL, "text/html", false },
    { "/translate", "Translate texts", translate, translated, NULL, false },
    { "/v1/attention", "Translate a line and tell where the model looked", attention, record, NULL, false },
    { "/detect", "Tell the language of a text", text, guess, NULL, true },
    { "/languages", "The languages, and what each can be translated to", NULL, language, NULL, true },
    { "/translate_file", "Translate a file", file, fetched, NULL, false },
    { "/suggest", "Suggest a better translation", suggestion, success, NULL, false },
    { "/frontend/settings", "What clients may ask for", NULL, settings, NULL, false },
    { "/v1/predict", "Answer texts, by a model that does not translate", predict, rows, NULL, false },
    { "/classify", "Classify texts", predict, rows, NULL, false },
    { "/health", "Does the server answer?", NULL, health, NULL, false },
    { "/metrics", "Counters for Prometheus", NULL, NULL, "text/plain", false },
    { "/spec", "This description", NULL, description, NULL, false },
};

static json_t *type_of(const field *f)
{
    if (strcmp(f->type, "texts") == 0)
        return json_pack("{s:[{s:s}, {s:s, s:{s:s}}], s:s}", "oneOf", "type", "string", "type", "array", "items",
                         "type", "string", "description", f->help);
    if (strcmp(f->type, "array") == 0)
        return json_pack("{s:s, s:{}, s:s}", "type", "array", "items", "description", f->help);
    if (strcmp(f->type, "binary") == 0)
        return json_pack("{s:s, s:s, s:s}", "type", "string", "format", "binary", "description", f->help);
    return json_pack("{s:s, s:s}", "type", f->type, "description", f->help);
}

static json_t *object_of(const field *f)
{
    json_t *properties = json_object(), *required = json_array();
    for (; f->name; f++) {
        json_object_set_new(properties, f->name, type_of(f));
        if (f->required) json_array_append_new(required, json_string(f->name));
    }
    return json_pack("{s:s, s:o, s:o}", "type", "object", "properties", properties, "required", required);
}

static json_t *answer_schema(size_t i)
{
    if (!said[i].answer) return json_pack("{s:s}", "type", "string");
    json_t *one = object_of(said[i].answer);
    return said[i].list ? json_pack("{s:s, s:o}", "type", "array", "items", one) : one;
}

static json_t *body_of(const field *asked)
{
    json_t *schema = object_of(asked), *content = json_object();
    static const char *const kinds[] = { "application/json", "application/x-www-form-urlencoded",
                                         "multipart/form-data" };
    const size_t first = strcmp(asked->type, "binary") == 0 ? 2 : 0; /* files come as a form only */
    for (size_t i = first; i < 3; i++)
        json_object_set_new(content, kinds[i], json_pack("{s:O}", "schema", schema));
    json_decref(schema);
    return json_pack("{s:b, s:o}", "required", 1, "content", content);
}

static json_t *operation_of(size_t i)
{
    const char *type = said[i].type ? said[i].type : "application/json";
    json_t     *responses =
        json_pack("{s:{s:s, s:{s:{s:o}}}, s:{s:s}}", "200", "description", "The answer", "content", type, "schema",
                  answer_schema(i), "default", "$ref", "#/components/responses/error");
    json_t *operation = json_pack("{s:s, s:o}", "summary", said[i].summary, "responses", responses);
    if (said[i].asked) json_object_set_new(operation, "requestBody", body_of(said[i].asked));
    return operation;
}

json_t *rg_serve__describe(bool translates)
{
    size_t          count;
    const rg_route *route = rg_serve__routes(&count);
    json_t         *paths = json_object();
    for (size_t i = 0; i < count; i++) {
        if (translates ? route[i].others : route[i].translators) continue;
        for (size_t k = 0; k < sizeof said / sizeof *said; k++)
            if (strcmp(said[k].path, route[i].path) == 0)
                json_object_set_new(paths, route[i].path,
                                    json_pack("{s:o}", route[i].post ? "post" : "get", operation_of(k)));
    }
    json_t *error = json_pack("{s:s, s:{s:{s:{s:s, s:{s:{s:s}}}}}}", "description", "What is wrong", "content",
                              "application/json", "schema", "type", "object", "properties", "error", "type", "string");
    return json_pack("{s:s, s:{s:s, s:s, s:s}, s:o, s:{s:{s:o}}}", "openapi", "3.0.3", "info", "title", "regard",
                     "version", rg_version(), "description",
                     "LibreTranslate's API and more: docs/serve.md of regard", "paths", paths, "components",
                     "responses", "error", error);
}

bool rg_serve__spec(rg_request *r)
{
    rg_serve__answer(&r->reply, 200, rg_serve__describe(r->server->translates));
    return false;
}
