/* options_yaml.c - reads settings from YAML: one flat map, `name: value` or `name: [a, b]`.
 *
 * libyaml's events are read one by one; nothing is built that the input could make deep or large. Aliases and nested
 * maps are refused. */
#include <string.h>
#include <yaml.h>

#include "regard/options.h"

enum { LARGEST_FILE = 1 << 20, MOST_WORDS = 65536 };

typedef struct reader {
    yaml_parser_t parser;
    const char   *where;
    size_t        line;
} reader;

static rg_status refuse(const reader *r, const char *reason)
{
    return rg_fail(RG_EFORMAT, "%s: line %zu: %s", r->where, r->line, reason);
}

static rg_status next(reader *r, yaml_event_t *event)
{
    if (!yaml_parser_parse(&r->parser, event)) {
        r->line = r->parser.problem_mark.line + 1;
        return refuse(r, r->parser.problem ? r->parser.problem : "not YAML");
    }
    r->line = event->start_mark.line + 1;
    return RG_OK;
}

static rg_status expect(reader *r, yaml_event_type_t type, const char *reason)
{
    yaml_event_t event;
    RG_TRY(next(r, &event));
    yaml_event_type_t got = event.type;
    yaml_event_delete(&event);
    return got == type ? RG_OK : refuse(r, reason);
}

/* A scalar as a new string; a NUL inside would cut it short, so it is refused. */
static rg_status take_scalar(reader *r, char **out, const yaml_event_t *event)
{
    const char *bytes = (const char *)event->data.scalar.value;
    if (strlen(bytes) != event->data.scalar.length) return refuse(r, "a value holds a zero byte");
    *out = rg_strdup(bytes);
    return *out ? RG_OK : RG_ENOMEM;
}

static rg_status append(rg_list *list, char *word)
{
    if ((list->count & (list->count - 1)) == 0) { /* 0, 1, 2, 4, ...: room doubles */
        char **larger = rg_realloc(list->items, (list->count ? 2 * list->count : 1) * sizeof(char *));
        if (!larger) {
            rg_free(word);
            return RG_ENOMEM;
        }
        list->items = larger;
    }
    list->items[list->count++] = word;
    return RG_OK;
}

static rg_status read_words(reader *r, rg_list *words)
{
    yaml_event_t event;
    char        *word = NULL;
    rg_status    status;

    RG_TRY(next(r, &event));
    if (event.type == YAML_SCALAR_EVENT) {
        status = take_scalar(r, &word, &event);
        yaml_event_delete(&event);
        return status == RG_OK ? append(words, word) : status;
    }
    yaml_event_type_t opening = event.type;
    yaml_event_delete(&event);
    if (opening != YAML_SEQUENCE_START_EVENT) return refuse(r, "a value is a word or a list of words");
    for (;;) {
        RG_TRY(next(r, &event));
        yaml_event_type_t type = event.type;
        status = type == YAML_SCALAR_EVENT ? take_scalar(r, &word, &event) : RG_OK;
        yaml_event_delete(&event);
        if (type == YAML_SEQUENCE_END_EVENT) return RG_OK;
        if (type != YAML_SCALAR_EVENT) return refuse(r, "a list holds words only");
        if (status != RG_OK) return status;
        if (words->count >= MOST_WORDS) return rg_free(word), refuse(r, "a list of more than 65536 words");
        RG_TRY(append(words, word));
    }
}

static void free_words(rg_list *words)
{
    for (size_t i = 0; i < words->count; i++) rg_free(words->items[i]);
    rg_free(words->items);
}

/* Set one; of names that nobody has those of a strict reading are collected. */
static rg_status set_named(const reader *r, const rg_option_group *groups, size_t count, const char *name,
                           const rg_list *words, size_t line, rg_unknown_options *unknown)
{
    bool            known;
    const rg_status status =
        rg_options_try(&known, groups, count, name, words->count, (const char *const *)words->items);
    if (status == RG_EINVAL) return rg_fail_in(status, "%s: line %zu: ", r->where, line);
    if (status != RG_OK || known || !unknown) return status;
    char *flag = rg_format("--%s", name);
    if (!flag) return RG_ENOMEM;
    rg_unknown_options_add(unknown, groups, count, flag, line);
    rg_free(flag);
    return RG_OK;
}

static rg_status read_map(reader *r, const rg_option_group *groups, size_t count, rg_unknown_options *unknown)
{
    for (;;) {
        yaml_event_t event;
        char        *name = NULL;
        rg_list      words = {0, NULL};

        RG_TRY(next(r, &event));
        yaml_event_type_t type = event.type;
        rg_status         status = type == YAML_SCALAR_EVENT ? take_scalar(r, &name, &event) : RG_OK;
        yaml_event_delete(&event);
        if (type == YAML_MAPPING_END_EVENT) return RG_OK;
        if (type != YAML_SCALAR_EVENT) return refuse(r, "a name is a word");
        size_t line = r->line;
        if (status == RG_OK) status = read_words(r, &words);
        if (status == RG_OK) status = set_named(r, groups, count, name, &words, line, unknown);
        rg_free(name);
        free_words(&words);
        if (status != RG_OK) return status;
    }
}

static rg_status read_document(reader *r, const rg_option_group *groups, size_t count, bool lenient)
{
    yaml_event_t event;
    RG_TRY(expect(r, YAML_STREAM_START_EVENT, "not YAML"));
    RG_TRY(next(r, &event));
    yaml_event_type_t type = event.type;
    yaml_event_delete(&event);
    if (type == YAML_STREAM_END_EVENT) return RG_OK; /* an empty file changes nothing */
    RG_TRY(next(r, &event));
    type = event.type;
    bool empty = type == YAML_SCALAR_EVENT && event.data.scalar.length == 0;
    yaml_event_delete(&event);
    if (!empty) {
        if (type != YAML_MAPPING_START_EVENT) return refuse(r, "expected lines of the form name: value");
        rg_unknown_options unknown = { 0 };
        RG_TRY(read_map(r, groups, count, lenient ? NULL : &unknown));
        if (rg_unknown_options_check(&unknown) != RG_OK) return rg_fail_in(RG_EINVAL, "%s: ", r->where);
    }
    RG_TRY(expect(r, YAML_DOCUMENT_END_EVENT, "expected the end"));
    return expect(r, YAML_STREAM_END_EVENT, "more than one document");
}

rg_status rg_options_read_yaml(const rg_option_group *groups, size_t count, const char *text, size_t bytes,
                               const char *where, bool lenient)
{
    reader r = {.where = where, .line = 1};
    if (!yaml_parser_initialize(&r.parser)) return rg_fail(RG_ENOMEM, "%s: no memory to read YAML", where);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, bytes);
    rg_status status = read_document(&r, groups, count, lenient);
    yaml_parser_delete(&r.parser);
    return status;
}

rg_status rg_options_read_file(const rg_option_group *groups, size_t count, const char *path, bool lenient)
{
    rg_status status;
    rg_file  *file = NULL;
    size_t    got = 0, used = 0;
    char     *text = rg_alloc(LARGEST_FILE + 1);

    if (!text) return RG_ENOMEM;
    if ((status = rg_file_open(&file, path, "rb")) != RG_OK) goto done;
    do {
        if ((status = rg_file_read_some(&got, file, text + used, LARGEST_FILE + 1 - used)) != RG_OK) goto done;
        used += got;
    } while (got && used <= LARGEST_FILE);
    if (used > LARGEST_FILE) status = rg_fail(RG_ELIMIT, "%s: a configuration is at most %d bytes", path, LARGEST_FILE);
    else status = rg_options_read_yaml(groups, count, text, used, path, lenient);
done:
    rg_file_close(file);
    rg_free(text);
    return status;
}

/* Through YAML, so that strings and lists become the copy's own. */
rg_status rg_options_copy(const rg_option *rows, void *to, const void *from)
{
    RG_TRY(rg_options_init(rows, to));
    const rg_option_group source = { .rows = rows, .values = (void *)from }, target = { .rows = rows, .values = to };
    char     *yaml = rg_options_yaml(&source, 1);
    rg_status status = yaml ? rg_options_read_yaml(&target, 1, yaml, strlen(yaml), "settings", false) : RG_ENOMEM;
    rg_free(yaml);
    return status;
}
