/* yaml.c - YAML: scalars that are values and words. Keys, numbers, true, false and null stay.
 *
 * libyaml's scanner says where scalars begin and end; all else is copied. A value is written as it was quoted; plain
 * ones are quoted when their translation could be read as something else. */
#include "data/documents/documents.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

rg_status rg_json__escape(rg_text *out, const char *text, size_t bytes);
rg_status rg_json__string(rg_document *d, const char *text, size_t begin, size_t end);

typedef struct {
    rg_document  *d;
    const char   *text;
    size_t        bytes, kept;
    size_t        character, byte; /* libyaml counts characters: here is character number `character` */
    bool          key, tagged;
    yaml_parser_t parser;
} reader;

/* The byte of a character; asked for in order. */
static size_t byte_of(reader *r, size_t character)
{
    for (; r->character < character && r->byte < r->bytes; r->character++) {
        r->byte++;
        while (r->byte < r->bytes && (r->text[r->byte] & 0xC0) == 0x80) r->byte++;
    }
    return r->byte;
}

/* ---------------------------------------------------------------------------------------------------------- quoting */

static rg_status escape_single(rg_text *out, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\'') RG_TRY(rg_text_add(out, "'", 1));
        RG_TRY(rg_text_add(out, text + i, 1));
    }
    return RG_OK;
}

/* A line of text, blanks and line ends of its source as one blank. */
static rg_status add_folded(rg_cutter *c, size_t begin, size_t end, bool single)
{
    rg_status status = RG_OK;
    for (size_t at = begin, next; status == RG_OK && at < end; at = next) {
        if (c->text[at] == '<' && rg_cutter__string_tag(&status, c, at, end, &next)) continue;
        next = at + 1;
        if (isspace((unsigned char)c->text[at])) {
            while (next < end && isspace((unsigned char)c->text[next])) next++;
            if (memchr(c->text + at, '\n', next - at)) status = rg_cutter__blank(c);
            else if (!rg_cutter__drops_blank(c)) status = rg_text_add(&c->plain, c->text + at, next - at);
            continue;
        }
        if (single && c->text[at] == '\'' && next < end && c->text[next] == '\'') next++;
        status = rg_text_add(&c->plain, c->text + at, 1);
        rg_cutter__solid(c, next);
    }
    return status;
}

static rg_status read_folded(rg_document *d, const char *text, size_t begin, size_t end, rg_escape *escape)
{
    rg_cutter c = rg_cutter__new(d, text, end, begin, escape);
    rg_status status = add_folded(&c, begin, end, escape == escape_single);
    if (status == RG_OK) status = rg_cutter__end(&c, end);
    rg_cutter__fini(&c);
    return status;
}

/* Values that YAML 1.1 or 1.2 would read as something else than text. */
static bool is_word(const char *value)
{
    static const char *const others[] = { "true", "false", "yes", "no", "on", "off", "null", "y", "n" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcasecmp(value, others[i]) == 0) return false;
    return true;
}

/* ----------------------------------------------------------------------------------------------------------- blocks */

/* | and >: lines below the indicator. Of | every line is a paragraph; of > lines that follow each other are one. */
static rg_status read_block(reader *r, size_t begin, size_t end)
{
    const bool folded = r->text[begin] == '>';
    rg_cutter  c = rg_cutter__new(r->d, r->text, end, begin, rg_escape__none);
    rg_status  status = RG_OK;
    const char *first = memchr(r->text + begin, '\n', end - begin);
    size_t      at = first ? (size_t)(first - r->text) + 1 : end;
    if (at > begin) status = rg_cutter__cut(&c, begin, at);
    while (status == RG_OK && at < end) {
        const char *found = memchr(r->text + at, '\n', end - at);
        size_t      line = found ? (size_t)(found - r->text) : end, from = at, to = line;
        while (from < to && (r->text[from] == ' ' || r->text[from] == '\t')) from++;
        while (to > from && isspace((unsigned char)r->text[to - 1])) to--;
        const size_t next = line < end ? line + 1 : end;
        if (from == to || !folded || !c.plain.length) status = rg_cutter__cut(&c, c.plain.length ? c.solid : at, from);
        else status = rg_cutter__blank(&c);
        if (status == RG_OK) status = add_folded(&c, from, to, false);
        at = next;
    }
    if (status == RG_OK) status = rg_cutter__end(&c, end);
    rg_cutter__fini(&c);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- scalars */

static rg_status read_scalar(reader *r, const yaml_token_t *token)
{
    const size_t begin = byte_of(r, token->start_mark.index);
    size_t       end = byte_of(r, token->end_mark.index);
    const char  *value = (const char *)token->data.scalar.value;
    if (begin < r->kept || end > r->bytes || end <= begin) return RG_OK;
    const char quote = r->text[begin];
    switch (token->data.scalar.style) {
    case YAML_SINGLE_QUOTED_SCALAR_STYLE:
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
        if (end - begin < 2 || r->text[end - 1] != quote) return RG_OK;
        RG_TRY(rg_document__keep(r->d, r->text + r->kept, begin + 1 - r->kept));
        r->kept = end - 1;
        if (memchr(r->text + begin, '\n', end - begin) && quote == '"') { /* lines that are joined: leave them alone */
            r->kept = begin + 1;
            return RG_OK;
        }
        return quote == '"' ? rg_json__string(r->d, r->text, begin + 1, end - 1)
                            : read_folded(r->d, r->text, begin + 1, end - 1, escape_single);
    case YAML_LITERAL_SCALAR_STYLE:
    case YAML_FOLDED_SCALAR_STYLE:
        RG_TRY(rg_document__keep(r->d, r->text + r->kept, begin - r->kept));
        r->kept = end;
        return read_block(r, begin, end);
    default:
        break;
    }
    bool words = false;
    if (!is_word(value)) return RG_OK;
    RG_TRY(rg_segment__has_words(&words, value, strlen(value), NULL, 0));
    if (!words) return RG_OK;
    RG_TRY(rg_document__keep(r->d, r->text + r->kept, begin - r->kept)); /* quoted: its translation may hold ": " or " #" */
    RG_TRY(rg_document__keep(r->d, "\"", 1));
    r->kept = end;
    RG_TRY(read_folded(r->d, r->text, begin, end, rg_json__escape));
    return rg_document__keep(r->d, "\"", 1);
}

static rg_status take(reader *r, const yaml_token_t *token)
{
    const char *tag;
    switch (token->type) {
    case YAML_KEY_TOKEN: r->key = true; return RG_OK;
    case YAML_VALUE_TOKEN:
    case YAML_BLOCK_ENTRY_TOKEN:
    case YAML_FLOW_ENTRY_TOKEN:
    case YAML_BLOCK_END_TOKEN:
    case YAML_FLOW_MAPPING_END_TOKEN: r->key = r->tagged = false; return RG_OK;
    case YAML_TAG_TOKEN: /* !!int 5, !ruby/regexp: not ours; !!str is */
        tag = (const char *)token->data.tag.suffix;
        r->tagged = !tag || strcmp(tag, "str") != 0;
        return RG_OK;
    case YAML_SCALAR_TOKEN: {
        const bool ours = !r->key && !r->tagged;
        r->tagged = false;
        return ours ? read_scalar(r, token) : RG_OK;
    }
    default: return RG_OK;
    }
}

static rg_status read(rg_document *d, const char *text, size_t bytes)
{
    reader    r = { .d = d, .text = text, .bytes = bytes };
    rg_status status = RG_OK;
    if (!yaml_parser_initialize(&r.parser)) return RG_ENOMEM;
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, bytes);
    for (bool more = true; more && status == RG_OK;) {
        yaml_token_t token;
        if (!yaml_parser_scan(&r.parser, &token)) {
            status = rg_fail(RG_EFORMAT, "%s: line %zu: not YAML: %s", d->config.name,
                             (size_t)r.parser.problem_mark.line + 1, r.parser.problem ? r.parser.problem : "no memory");
            break;
        }
        more = token.type != YAML_STREAM_END_TOKEN;
        status = take(&r, &token);
        yaml_token_delete(&token);
    }
    yaml_parser_delete(&r.parser);
    return status == RG_OK ? rg_document__keep(d, text + r.kept, bytes - r.kept) : status;
}

const rg_document_format rg_document_format_yaml = {
    .name = "yaml",
    .endings = " .yaml .yml ",
    .type = "application/yaml",
    .about = "values that are words; not keys, numbers, true, false, null",
    .read = read,
};
