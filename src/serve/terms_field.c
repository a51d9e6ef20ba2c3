/* terms_field.c - the field `glossary` of a request: {"dog": "Köter", "cats": ["Katzen", "Katern"], "Tom": null}, or
 * the same as a list, [["dog", "Köter"], ["Tom"]]; in a form it is the text of either. */
#include "serve/serve.h"

#include <string.h>

static bool refuse(rg_request *r, const char *term, const char *why)
{
    rg_serve__error(&r->reply, 400, "Invalid request: glossary: %s%s%s", term, *term ? ": " : "", why);
    return false;
}

/* A text that C can hold; NULL: it is none. */
static const char *text_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && strlen(text) == json_string_length(value) ? text : NULL;
}

static bool add(rg_request *r, const char *term, const json_t *targets, size_t from, uint64_t number)
{
    const char  *form[RG_GLOSSARY_FORMS + 1];
    const bool   list = json_is_array(targets);
    const size_t n = !targets || json_is_null(targets) ? 0 : list ? json_array_size(targets) - from : 1;
    if (!term) return refuse(r, "", "a term is a text without NUL");
    if (n > RG_GLOSSARY_FORMS) return refuse(r, term, "too many targets");
    for (size_t i = 0; i < n; i++) {
        const json_t *value = list ? json_array_get(targets, from + i) : targets;
        if (!(form[i] = json_is_null(value) && n == 1 ? "" : text_of(value)))
            return refuse(r, term, "a target is a text, several are a list of texts, null copies the term");
    }
    return rg_glossary_add(r->glossary, term, form, n, number) == RG_OK || refuse(r, "", rg_message());
}

static bool read_all(rg_request *r, json_t *given)
{
    const char *term;
    json_t     *value;
    size_t      i;
    if (json_is_object(given) && json_object_size(given) > RG_SERVE_TERMS) return refuse(r, "", "more than 1000 terms");
    if (json_is_array(given) && json_array_size(given) > RG_SERVE_TERMS) return refuse(r, "", "more than 1000 terms");
    if (json_is_object(given)) {
        size_t number = 0;
        json_object_foreach(given, term, value) if (!add(r, term, value, 0, ++number)) return false;
    } else {
        json_array_foreach(given, i, value)
        {
            if (!json_array_size(value)) return refuse(r, "", "each entry of a list is a list: term, target");
            if (!add(r, text_of(json_array_get(value, 0)), value, 1, i + 1)) return false;
        }
    }
    return rg_glossary_ready(r->glossary) == RG_OK || refuse(r, "", rg_message());
}

bool rg_serve__glossary(rg_request *r, const json_t *fields)
{
    json_t     *given = json_object_get(fields, "glossary"), *parsed = NULL;
    const char *text = text_of(given);
    if (!given || json_is_null(given) || (text && !*text)) return true;
    if (text) given = parsed = json_loads(text, 0, NULL);
    bool done = false;
    if (!json_is_object(given) && !json_is_array(given))
        refuse(r, "", "an object of terms and targets, or a list of lists");
    else if (rg_glossary_new(&r->glossary) != RG_OK) rg_serve__error(&r->reply, 503, "%s", rg_message());
    else done = read_all(r, given);
    json_decref(parsed);
    return done;
}
