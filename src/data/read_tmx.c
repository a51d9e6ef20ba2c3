/* read_tmx.c - translators' own files: TMX translation memories (1.1 to 1.4) and XLIFF (1.2 and 2.x), one row per unit.
 *
 *     TMX    columns are languages: `--columns en,de`; without, source is the language of the header (or of the first
 *            variant of a unit) and target the first other one
 *     XLIFF  source and target; a unit without a target gives a row without one
 *
 * Text is plain: codes (bpt, ept, ph, it, ut, x, ...) are left out, what hi, g, pc and mrk enclose stays. Files are read
 * unit by unit, each bounded, so that memories of any size can be read. */
#include "data/reader.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "data/documents/documents.h"

enum { BLOCK = 1 << 16, UNIT = 4 << 20, LANGUAGE = 32, MOST_COLUMNS = 2 }; /* bytes read at once, of a unit, of a code */

typedef struct {
    const char *unit;  /* the element of a row */
    const char *other; /* another one that is; NULL: none */
} kind;

static const kind tmx = { "tu", NULL }, xliff = { "trans-unit", "segment" };

typedef struct {
    const kind *kind;
    const char *unit; /* of kind, once the first was seen */
    rg_text     buffer;
    size_t      at; /* of the buffer: what was given is before it */
    uint64_t    line, units; /* of the file, for messages; given */
    bool        end;
    char        key[MOST_COLUMNS][LANGUAGE]; /* of the wanted columns; "": not named */
    char        source[LANGUAGE];            /* of the header */
} state;

/* ---------------------------------------------------------------------------------------------------------- tags */

static bool is_named(const char *tag, const char *name)
{
    char other[RG_MARK_NAME];
    rg_tag__name(other, tag);
    return strcmp(other, name) == 0;
}

/* Elements of this name in text[at .. end): the next one's tag, content and end. False: there is none. */
typedef struct {
    size_t begin, inner, close, end;
} element;

static bool find(element *out, const char *text, size_t at, size_t end, const char *name)
{
    size_t depth = 0;
    for (const char *tag; at < end && (tag = memchr(text + at, '<', end - at));) {
        at = (size_t)(tag - text);
        const size_t next = rg_tag__is(tag) ? rg_tag__end(text, end, at) : at + 1;
        if (rg_tag__is(tag) && is_named(tag, name)) {
            if (tag[1] == '/') {
                if (depth && --depth == 0) {
                    out->close = at;
                    out->end = next;
                    return true;
                }
            } else if (rg_tag__closes_itself(text, next)) {
                if (!depth) {
                    *out = (element){ at, next, next, next };
                    return true;
                }
            } else if (depth++ == 0) *out = (element){ at, next, next, next };
        }
        at = next;
    }
    return false;
}

/* Plain text of a segment, on one line. */
static rg_status add_plain(rg_text *out, const char *text, size_t at, size_t end)
{
    static const char codes[] = " bpt ept ph it ut x bx ex sc ec sm em cp ";
    const size_t      begin = out->length;
    while (at < end) {
        if (text[at] == '<' && rg_tag__is(text + at)) {
            char    name[RG_MARK_NAME];
            element e;
            rg_tag__name(name, text + at);
            const size_t tag = rg_tag__end(text, end, at);
            const bool   code = text[at + 1] != '/' && rg_word_in(codes, name);
            at = code && find(&e, text, at, end, name) ? e.end : tag;
        } else if (isspace((unsigned char)text[at])) {
            if (out->length > begin && out->data[out->length - 1] != ' ') RG_TRY(rg_text_add(out, " ", 1));
            at++;
        } else {
            RG_TRY(rg_html__character(out, text, end, &at));
        }
    }
    while (out->length > begin && out->data[out->length - 1] == ' ') out->data[--out->length] = 0;
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- units */

static rg_status more(rg_reader *r, state *s)
{
    const size_t before = s->buffer.length;
    if (s->at > BLOCK) { /* what was given goes */
        memmove(s->buffer.data, s->buffer.data + s->at, s->buffer.length - s->at + 1);
        s->buffer.length -= s->at;
        s->at = 0;
        return RG_OK;
    }
    const size_t held = s->buffer.length - s->at;
    if (held > UNIT) return rg_reader__complain(r, s->line, "a unit of more than %d bytes", UNIT);
    RG_TRY(rg_stream_read_some(&s->buffer, &r->stream, held > BLOCK ? held : BLOCK)); /* twice as many: few searches */
    s->end = s->buffer.length == before;
    if (memchr(rg_text_c(&s->buffer) + before, 0, s->buffer.length - before))
        return rg_reader__complain(r, s->line, "a NUL byte: it is no XML in UTF-8");
    return RG_OK;
}

/* The next whole unit, or none at the end of the file. */
static rg_status next_unit(element *out, bool *found, rg_reader *r, state *s)
{
    for (size_t looked = 0;;) {
        const char  *text = rg_text_c(&s->buffer);
        const size_t n = s->buffer.length;
        if (!looked || n > looked) {
            looked = n;
            *found = find(out, text, s->at, n, s->unit ? s->unit : s->kind->unit);
            if (*found && !s->unit) s->unit = s->kind->unit;
            if (!s->unit && s->kind->other && (*found = find(out, text, s->at, n, s->kind->other)))
                s->unit = s->kind->other;
            if (*found) return RG_OK;
        }
        *found = false;
        if (s->end) return RG_OK;
        const size_t at = s->at;
        RG_TRY(more(r, s));
        if (s->at != at) looked = 0;
    }
}

static bool same_language(const char *a, size_t n, const char *b)
{
    const size_t m = strlen(b);
    if (strncasecmp(a, b, n < m ? n : m) != 0) return false;
    return n == m || (n > m ? a[m] == '-' || a[m] == '_' : b[n] == '-' || b[n] == '_'); /* en and en-US */
}

/* Does a variant belong to wanted column i? `first`: the language of the unit's source. */
static bool belongs(const state *s, size_t i, const char *language, size_t n, const char *first)
{
    if (*s->key[i]) return same_language(language, n, s->key[i]);
    return same_language(language, n, first) == (i == 0);
}

static rg_status add_variant(rg_reader *r, const state *s, const element *unit, size_t i)
{
    const char *text = rg_text_c(&s->buffer), *language;
    char        first[LANGUAGE] = "";
    element     v, seg;
    snprintf(first, sizeof first, "%s", s->source);
    for (size_t at = unit->inner; find(&v, text, at, unit->close, "tuv"); at = v.end) {
        size_t n = rg_tag__value(&language, text + v.begin, v.inner - v.begin, "xml:lang");
        if (!n) n = rg_tag__value(&language, text + v.begin, v.inner - v.begin, "lang");
        if (!*first) snprintf(first, sizeof first, "%.*s", (int)n, n ? language : "");
        if (!n || !belongs(s, i, language, n, first) || !find(&seg, text, v.inner, v.close, "seg")) continue;
        RG_TRY(rg_reader__begin_cell(r));
        RG_TRY(add_plain(&r->text, text, seg.inner, seg.close));
        return rg_reader__end_cell(r);
    }
    return rg_reader__add_missing(r);
}

static rg_status add_side(rg_reader *r, const state *s, const element *unit, size_t i)
{
    const char *text = rg_text_c(&s->buffer), *name = *s->key[i] ? s->key[i] : i ? "target" : "source";
    element     e;
    if (!find(&e, text, unit->inner, unit->close, name)) return rg_reader__add_missing(r);
    RG_TRY(rg_reader__begin_cell(r));
    RG_TRY(add_plain(&r->text, text, e.inner, e.close));
    return rg_reader__end_cell(r);
}

static rg_status next_row(bool *out_more, rg_reader *r)
{
    state  *s = r->own;
    element unit;
    RG_TRY(next_unit(&unit, out_more, r, s));
    if (!*out_more) return RG_OK;
    const char *text = rg_text_c(&s->buffer);
    for (size_t i = s->at; i < unit.begin; i++) s->line += text[i] == '\n';
    rg_reader__begin_row(r, ++s->units);
    if (s->kind == &tmx && !*s->source) { /* the header stands before the first unit */
        element     header;
        const char *language = NULL;
        if (find(&header, text, s->at, unit.begin, "header")) {
            const size_t n = rg_tag__value(&language, text + header.begin, header.inner - header.begin, "srclang");
            if (n && n < LANGUAGE && strncmp(language, "*all*", 5) != 0)
                snprintf(s->source, sizeof s->source, "%.*s", (int)n, language);
        }
    }
    for (size_t i = 0; i < r->config.wanted_count; i++)
        RG_TRY(s->kind == &tmx ? add_variant(r, s, &unit, i) : add_side(r, s, &unit, i));
    for (size_t i = unit.begin; i < unit.end; i++) s->line += text[i] == '\n';
    s->at = unit.end;
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------- open, close */

static rg_status open_units(rg_reader *r, const kind *k)
{
    state      *s = rg_alloc_zero(sizeof *s);
    const char *list = r->config.columns ? r->config.columns : "";
    r->own = s;
    if (!s) return RG_ENOMEM;
    s->kind = k;
    s->line = 1;
    if (r->config.wanted_count > MOST_COLUMNS)
        return rg_fail(RG_EINVAL, "%s: it has source and target, and %zu columns are wanted", r->name,
                       r->config.wanted_count);
    for (size_t i = 0; *list && i < r->config.wanted_count; i++) {
        const size_t n = strcspn(list, ",");
        if (!n || n >= LANGUAGE)
            return rg_fail(RG_EINVAL, "%s: columns \"%s\": languages are wanted, such as en,de", r->name,
                           r->config.columns);
        snprintf(s->key[i], sizeof s->key[i], "%.*s", (int)n, list);
        list += n + (list[n] == ',');
    }
    r->config.columns = "";
    r->config.header = RG_HEADER_NO; /* cells stand in the wanted order */
    return rg_reader__open_stream(r);
}

static rg_status open_tmx(rg_reader *r) { return open_units(r, &tmx); }
static rg_status open_xliff(rg_reader *r) { return open_units(r, &xliff); }

static void close_units(rg_reader *r)
{
    state *s = r->own;
    if (s) rg_text_free(&s->buffer);
    rg_free(s);
}

const rg_reader_format rg_reader_tmx = {
    .name = "tmx",
    .summary = "translation memory: columns are languages, --columns en,de",
    .endings = ".tmx ",
    .open = open_tmx,
    .next = next_row,
    .close = close_units,
};

const rg_reader_format rg_reader_xliff = {
    .name = "xliff",
    .summary = "translators' exchange format: source and target of each unit",
    .endings = ".xlf .xliff ",
    .open = open_xliff,
    .next = next_row,
    .close = close_units,
};
