/* po.c - PO files of gettext: every msgstr that is empty is filled from its msgid, forms of plurals from
 * msgid_plural. What is translated already stays, and so do comments, contexts, the header and obsolete entries.
 *
 *     msgid "%d file"            first form: msgid, unless it is the only one
 *     msgid_plural "%d files"    the others
 *     msgstr[0] ""
 *     msgstr[1] "" */
#include "data/documents/documents.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FORMS = 16 }; /* of a plural */

typedef struct {
    rg_range text; /* from the first quote to behind the last; joints between lines and all */
    bool     empty;
} literal;

typedef struct {
    rg_document *d;
    const char  *text;
    size_t       bytes, kept;
    literal      id, plural, *last;
    literal      form[FORMS];
    size_t       forms;
} reader;

rg_status rg_po__escape(rg_text *out, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char c = text[i];
        if (c == '"' || c == '\\') RG_TRY(rg_text_print(out, "\\%c", c));
        else if (c == '\t') RG_TRY(rg_text_add_string(out, "\\t"));
        else if (c == '\n') RG_TRY(rg_text_add_string(out, "\\n"));
        else RG_TRY(rg_text_add(out, text + i, 1));
    }
    return RG_OK;
}

/* Where the next literal of a string begins: behind its quote. `at` is a quote that closes one; 0: it is the last. */
static size_t joint(const char *text, size_t end, size_t at)
{
    size_t next = at + 1;
    while (next < end && isspace((unsigned char)text[next])) next++;
    return next < end && text[next] == '"' ? next + 1 : 0;
}

/* One character or escape of the source at text[at]. */
static rg_status read_character(rg_cutter *c, size_t at, size_t *next)
{
    const char e = c->text[at] == '\\' && at + 1 < c->bytes ? c->text[at + 1] : 0;
    *next = at + (e ? 2 : 1);
    if (e && e != '"' && e != '\\' && e != 't') return rg_cutter__cut(c, at, *next);
    if (c->text[at] == ' ' && rg_cutter__drops_blank(c)) return RG_OK;
    RG_TRY(rg_text_add(&c->plain, e == 't' ? "\t" : c->text + at + (e != 0), 1));
    if (c->text[at] != ' ' && e != 't') rg_cutter__solid(c, *next);
    return RG_OK;
}

/* What stands between the quotes of a source string, as paragraphs: each line one. */
static rg_status translate(rg_document *d, const char *text, size_t begin, size_t end, bool several)
{
    rg_cutter c = rg_cutter__new(d, text, end, begin, rg_po__escape);
    rg_status status = RG_OK;
    for (size_t at = begin, next; status == RG_OK && at < end; at = next) {
        if (text[at] == '"' && (next = joint(text, end, at))) {
            if (c.begin == at) c.begin = c.solid = next;
            continue;
        }
        if (text[at] == '<' && rg_cutter__string_tag(&status, &c, at, end, &next)) continue;
        if (strncmp(text + at, "\\n", 2) != 0) {
            status = read_character(&c, at, &next);
            continue;
        }
        next = at + 2;
        const size_t behind = next < end && text[next] == '"' ? joint(text, end, next) : 0;
        if (behind) next = behind;
        status = rg_cutter__end(&c, at);
        if (status == RG_OK) status = rg_document__keep(d, "\\n", 2);
        if (status == RG_OK && several && next < end) {
            status = rg_document__keep(d, "\"", 1);
            if (status == RG_OK) status = rg_document__keep(d, d->line_end, strlen(d->line_end));
            if (status == RG_OK) status = rg_document__keep(d, "\"", 1);
        }
        c.begin = c.solid = next;
    }
    if (status == RG_OK) status = rg_cutter__end(&c, end);
    rg_cutter__fini(&c);
    return status;
}

/* Is there a line end that is not its last character? */
static bool has_lines(const char *text, rg_range r)
{
    for (size_t at = r.begin + 1; at + 3 < r.end; at++) {
        if (text[at] != '\\') continue;
        if (text[at + 1] == 'n' && joint(text, r.end, at + 2) + 1 != r.end) return true;
        at++;
    }
    return false;
}

static rg_status fill(reader *r, const literal *form, const literal *source)
{
    const bool  several = has_lines(r->text, source->text);
    const char *end = r->d->line_end;
    RG_TRY(rg_document__keep(r->d, r->text + r->kept, form->text.begin - r->kept));
    RG_TRY(rg_document__keep(r->d, "\"", 1));
    if (several) {
        RG_TRY(rg_document__keep(r->d, "\"", 1));
        RG_TRY(rg_document__keep(r->d, end, strlen(end)));
        RG_TRY(rg_document__keep(r->d, "\"", 1));
    }
    RG_TRY(translate(r->d, r->text, source->text.begin + 1, source->text.end - 1, several));
    RG_TRY(rg_document__keep(r->d, "\"", 1));
    r->kept = form->text.end;
    return RG_OK;
}

static rg_status end_entry(reader *r)
{
    for (size_t i = 0; i < r->forms && !r->id.empty && r->id.text.end; i++)
        if (r->form[i].empty)
            RG_TRY(fill(r, &r->form[i], r->plural.text.end && (i || r->forms == 1) ? &r->plural : &r->id));
    r->id = r->plural = (literal){ 0 };
    r->last = NULL;
    r->forms = 0;
    return RG_OK;
}

/* The literal at text[at], a quote, of a line that ends at `end`; it belongs to r->last. */
static rg_status read_literal(reader *r, size_t at, size_t end)
{
    size_t to = at + 1;
    while (to < end && r->text[to] != '"') to += r->text[to] == '\\' ? 2 : 1;
    if (to >= end) return rg_document__fail(r->d, r->text, at, "a string without a closing quote");
    for (size_t i = to + 1; i < end; i++)
        if (!isspace((unsigned char)r->text[i]))
            return rg_document__fail(r->d, r->text, at, "something stands behind the closing quote");
    if (!r->last) return RG_OK; /* of msgctxt */
    if (!r->last->text.end) r->last->text.begin = at, r->last->empty = true;
    r->last->text.end = to + 1;
    if (to > at + 1) r->last->empty = false;
    return RG_OK;
}

static rg_status read_keyword(reader *r, size_t at, size_t end)
{
    const char  *word = r->text + at;
    const size_t n = strcspn(word, " \t\"[\r\n");
    size_t       quote = at + n;
    if (n == 7 && strncmp(word, "msgctxt", n) == 0) {
        if (r->forms) RG_TRY(end_entry(r));
        r->last = NULL;
    } else if (n == 5 && strncmp(word, "msgid", n) == 0) {
        if (r->forms) RG_TRY(end_entry(r));
        if (r->id.text.end) return rg_document__fail(r->d, r->text, at, "the msgid before it has no msgstr");
        r->last = &r->id;
    } else if (n == 12 && strncmp(word, "msgid_plural", n) == 0) {
        if (r->plural.text.end || r->forms)
            return rg_document__fail(r->d, r->text, at, "msgid_plural stands behind msgid, once");
        r->last = &r->plural;
    } else if (n == 6 && strncmp(word, "msgstr", n) == 0) {
        if (r->forms == FORMS) return rg_document__fail(r->d, r->text, at, "more than 16 forms of a plural");
        r->last = &r->form[r->forms++];
        *r->last = (literal){ 0 };
        if (r->text[quote] == '[') quote += strcspn(r->text + quote, "]\n") + 1;
    } else {
        return rg_document__fail(r->d, r->text, at, "neither a comment nor msgid, msgid_plural, msgctxt, msgstr");
    }
    while (quote < end && (r->text[quote] == ' ' || r->text[quote] == '\t')) quote++;
    if (quote >= end || r->text[quote] != '"') return rg_document__fail(r->d, r->text, at, "no string behind the keyword");
    return read_literal(r, quote, end);
}

static rg_status read(rg_document *d, const char *text, size_t bytes)
{
    reader r = { .d = d, .text = text, .bytes = bytes };
    for (size_t at = 0, end; at < bytes; at = end + 1) {
        const char *line_end = memchr(text + at, '\n', bytes - at);
        end = line_end ? (size_t)(line_end - text) : bytes;
        while (at < end && isspace((unsigned char)text[at])) at++;
        if (at == end) continue;
        if (text[at] == '#') {
            if (r.forms) RG_TRY(end_entry(&r));
        } else RG_TRY(text[at] == '"' ? read_literal(&r, at, end) : read_keyword(&r, at, end));
    }
    RG_TRY(end_entry(&r));
    return rg_document__keep(d, text + r.kept, bytes - r.kept);
}

const rg_document_format rg_document_format_po = {
    .name = "po",
    .endings = " .po .pot ",
    .type = "text/x-gettext-translation",
    .about = "empty msgstr, from msgid and msgid_plural; what is translated stays",
    .read = read,
};
