/* markdown.c - Markdown by its lines: paragraphs, headings, items, quotes and cells of tables are translated; front
 * matter, code, rules, definitions of links and the marks themselves stay. Blocks of HTML are read as HTML. */
#include "data/documents/markdown.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    rg_cutter   c;
    const char *text;
    size_t      bytes;
    bool        listed;    /* inside of a list: indented lines are its text          */
    bool        paragraph; /* the line before was one of the paragraph at hand       */
    size_t      from;      /* of which this is the first byte                        */
    size_t      to;        /* behind its last line's text                            */
} reader;

typedef struct {
    size_t begin, end, next; /* without its line end; behind it */
} line;

static line line_at(const reader *r, size_t at)
{
    const char *lf = memchr(r->text + at, '\n', r->bytes - at);
    size_t      end = lf ? (size_t)(lf - r->text) : r->bytes;
    line        l = { at, end, lf ? end + 1 : r->bytes };
    while (l.end > l.begin && strchr(" \t\r", r->text[l.end - 1])) l.end--;
    return l;
}

static size_t indent_of(const char *text, size_t begin, size_t end)
{
    size_t columns = 0;
    for (; begin < end && (text[begin] == ' ' || text[begin] == '\t'); begin++)
        columns += text[begin] == '\t' ? 4 - columns % 4 : 1;
    return columns;
}

static size_t skip(const char *text, size_t at, size_t end)
{
    while (at < end && (text[at] == ' ' || text[at] == '\t')) at++;
    return at;
}

size_t rg_markdown__prefix(const char *text, size_t bytes)
{
    size_t at = 0;
    while (at < bytes && strchr(" \t>", text[at])) at++;
    return at;
}

/* -------------------------------------------------------------------------------------------------- kinds of lines */

/* ``` or ~~~: how many; 0: it is no fence. */
static size_t fence_of(const reader *r, size_t at, size_t end)
{
    size_t n = 0;
    at = skip(r->text, at, end);
    if (at >= end || (r->text[at] != '`' && r->text[at] != '~')) return 0;
    while (at + n < end && r->text[at + n] == r->text[at]) n++;
    if (r->text[at] == '`' && memchr(r->text + at + n, '`', end - at - n)) return 0;
    return n >= 3 ? n : 0;
}

/* Only these signs and blanks; at least `least` of them. */
static bool only(const reader *r, size_t at, size_t end, const char *signs, size_t least)
{
    size_t n = 0;
    for (; at < end; at++) {
        if (r->text[at] == ' ' || r->text[at] == '\t') continue;
        if (!strchr(signs, r->text[at])) return false;
        n++;
    }
    return n >= least;
}

static bool is_rule(const reader *r, size_t at, size_t end)
{
    return only(r, at, end, "-", 3) || only(r, at, end, "*", 3) || only(r, at, end, "_", 3);
}

static bool is_delimiter_row(const reader *r, size_t at, size_t end)
{
    return only(r, at, end, "|:-", 2) && memchr(r->text + at, '-', end - at) && memchr(r->text + at, '|', end - at);
}

/* [label]: address */
static bool is_definition(const reader *r, size_t at, size_t end)
{
    if (at >= end || r->text[at] != '[' || r->text[at + 1] == '^') return false;
    const char *close = memchr(r->text + at, ']', end - at);
    return close && close + 1 < r->text + end && close[1] == ':';
}

/* The tag of a block of HTML, or a comment. */
static bool is_html(const reader *r, size_t at, size_t end)
{
    char name[RG_MARK_NAME];
    if (at >= end || !rg_tag__is(r->text + at)) return false;
    rg_tag__name(name, r->text + at);
    return !*name || rg_word_in(rg_dialect_html.blocks, name) || rg_word_in(" script style pre ", name);
}

/* Bytes of "- ", "1. ", "# ", "> ", "[ ] ", "[^1]: " at the beginning, which stay. */
static size_t marker(reader *r, size_t at, size_t end)
{
    const size_t from = skip(r->text, at, end);
    size_t       n = from;
    if (n >= end) return 0;
    if (r->text[n] == '>') return n + 1 - at;
    if (r->text[n] == '#') {
        while (n < end && r->text[n] == '#') n++;
        return n - from <= 6 && (n == end || isspace((unsigned char)r->text[n])) ? skip(r->text, n, end) - at : 0;
    }
    if (strncmp(r->text + n, "[^", 2) == 0) {
        const char *close = memchr(r->text + n, ']', end - n);
        if (close && close + 1 < r->text + end && close[1] == ':') return (size_t)(close - r->text) + 2 - at;
        return 0;
    }
    if (strchr("-+*", r->text[n])) n++;
    else {
        while (n < end && n - from < 9 && isdigit((unsigned char)r->text[n])) n++;
        if (n == from || n >= end || !strchr(".)", r->text[n])) return 0;
        n++;
    }
    if (n < end && !isspace((unsigned char)r->text[n])) return 0;
    r->listed = true;
    n = skip(r->text, n, end);
    if (end - n > 3 && r->text[n] == '[' && r->text[n + 2] == ']' && strchr(" xX", r->text[n + 1]))
        n = skip(r->text, n + 3, end); /* a task */
    return n - at;
}

/* ---------------------------------------------------------------------------------------------------------- blocks */

static rg_status end_paragraph(reader *r)
{
    if (!r->paragraph) return RG_OK;
    r->paragraph = false;
    RG_TRY(rg_markdown__inline(&r->c, r->from, r->to));
    return rg_cutter__end(&r->c, r->to);
}

/* text[.. end) stays, together with all before it that is not in the document yet. */
static rg_status keep(reader *r, size_t end)
{
    RG_TRY(end_paragraph(r));
    return rg_cutter__cut(&r->c, r->c.begin, end);
}

static rg_status read_fence(reader *r, line *l, size_t n)
{
    const char sign = r->text[skip(r->text, l->begin, l->end)];
    while (l->next < r->bytes) {
        *l = line_at(r, l->next);
        const size_t at = skip(r->text, l->begin, l->end);
        if (fence_of(r, l->begin, l->end) >= n && r->text[at] == sign && only(r, at, l->end, (char[]){ sign, 0 }, n))
            break;
    }
    return keep(r, l->next);
}

/* Up to an empty line; of comments, scripts and the like up to their end. */
static rg_status read_html(reader *r, line *l)
{
    const size_t begin = l->begin, at = skip(r->text, l->begin, l->end);
    char         name[RG_MARK_NAME];
    size_t       end;
    rg_tag__name(name, r->text + at);
    RG_TRY(keep(r, begin));
    if (!*name) {
        end = rg_tag__end(r->text, r->bytes, at);
        while (l->next < end) *l = line_at(r, l->next);
    } else {
        const bool  raw = rg_word_in(" script style pre ", name);
        char        close[RG_MARK_NAME + 4];
        snprintf(close, sizeof close, "</%s", name);
        while (l->next < r->bytes) {
            const line next = line_at(r, l->next);
            const char *closed = raw ? strstr(r->text + begin, close) : NULL;
            if (raw ? closed && (size_t)(closed - r->text) < l->next : next.begin == next.end) break;
            *l = next;
        }
    }
    end = l->next;
    char *copy = rg_document__copy(r->text + begin, end - begin);
    if (!copy) return RG_ENOMEM;
    const rg_status status = rg_html__read(r->c.document, copy, end - begin, &rg_dialect_html);
    rg_free(copy);
    r->c.begin = r->c.solid = end;
    return status;
}

static rg_status read_cells(reader *r, const line *l)
{
    size_t at = l->begin;
    while (at < l->end) {
        size_t end = at;
        while (end < l->end && r->text[end] != '|') end += r->text[end] == '\\' ? 2 : 1;
        if (end > l->end) end = l->end;
        size_t from = skip(r->text, at, end), to = end;
        while (to > from && isspace((unsigned char)r->text[to - 1])) to--;
        RG_TRY(keep(r, from));
        RG_TRY(rg_markdown__inline(&r->c, from, to));
        RG_TRY(rg_cutter__end(&r->c, to));
        at = end + 1;
    }
    return keep(r, l->next);
}

static rg_status read_table(reader *r, line *l)
{
    RG_TRY(read_cells(r, l));
    *l = line_at(r, l->next);
    RG_TRY(keep(r, l->next));
    while (l->next < r->bytes) {
        const line next = line_at(r, l->next);
        if (next.begin == next.end || !memchr(r->text + next.begin, '|', next.end - next.begin)) break;
        *l = next;
        RG_TRY(read_cells(r, l));
    }
    return RG_OK;
}

/* The text of a line behind its markers: it begins a paragraph or continues one. */
static rg_status add_text(reader *r, size_t from, size_t to, bool alone)
{
    if (from >= to) return RG_OK;
    if (!r->paragraph) {
        RG_TRY(keep(r, from));
        r->from = from;
    }
    r->paragraph = true;
    r->to = to;
    return alone ? end_paragraph(r) : RG_OK;
}

static rg_status read_marked(reader *r, const line *l)
{
    size_t at = l->begin;
    bool   heading = false, quoted = false;
    for (size_t n; (n = marker(r, at, l->end)) && !heading; at += n) {
        heading = r->text[skip(r->text, at, l->end)] == '#';
        quoted = r->text[skip(r->text, at, l->end)] == '>';
        if (!quoted || !r->paragraph) RG_TRY(end_paragraph(r)); /* a quote may continue */
    }
    at = skip(r->text, at, l->end);
    size_t to = l->end;
    if (heading) { /* # so # */
        size_t hash = to;
        while (hash > at && r->text[hash - 1] == '#') hash--;
        if (hash < to && hash > at && r->text[hash - 1] == ' ') to = hash - 1;
        while (to > at && r->text[to - 1] == ' ') to--;
    }
    if (at >= l->end || (quoted && (is_rule(r, at, l->end) || fence_of(r, at, l->end)))) return keep(r, l->next);
    return add_text(r, at, to, heading);
}

static rg_status read_line(reader *r, line *l)
{
    const size_t at = skip(r->text, l->begin, l->end), indent = indent_of(r->text, l->begin, l->end);
    size_t       fence;
    if (at >= l->end) {
        RG_TRY(keep(r, l->next));
        return RG_OK;
    }
    if (!indent && r->listed && !r->paragraph && !marker(r, l->begin, l->end)) r->listed = false;
    if (indent >= (r->listed ? 8 : 4) && !r->paragraph) return keep(r, l->next); /* code */
    if ((fence = fence_of(r, l->begin, l->end))) return read_fence(r, l, fence);
    if (r->paragraph && (only(r, at, l->end, "=", 1) || only(r, at, l->end, "-", 1))) return keep(r, l->next);
    if (is_rule(r, at, l->end) || (!r->paragraph && is_definition(r, at, l->end))) return keep(r, l->next);
    if (strncmp(r->text + at, "{%", 2) == 0 || strncmp(r->text + at, ":::", 3) == 0) return keep(r, l->next);
    if (!r->paragraph && is_html(r, at, l->end)) return read_html(r, l);
    if (memchr(r->text + at, '|', l->end - at) && l->next < r->bytes) {
        const line next = line_at(r, l->next);
        if (is_delimiter_row(r, next.begin, next.end)) {
            RG_TRY(end_paragraph(r));
            return read_table(r, l);
        }
    }
    if (marker(r, l->begin, l->end)) return read_marked(r, l);
    return add_text(r, at, l->end, false);
}

/* --- or +++ on the first line, up to the same again. */
static rg_status read_front_matter(reader *r, size_t *at)
{
    const char *mark = strncmp(r->text, "---", 3) == 0 ? "---" : strncmp(r->text, "+++", 3) == 0 ? "+++" : NULL;
    line        l = line_at(r, 0);
    if (!mark || l.end != 3) return RG_OK;
    while (l.next < r->bytes) {
        l = line_at(r, l.next);
        if (l.end - l.begin != 3 || strncmp(r->text + l.begin, mark, 3) != 0) continue;
        *at = l.next;
        return keep(r, l.next);
    }
    return RG_OK;
}

static rg_status read(rg_document *d, const char *text, size_t bytes)
{
    reader    r = { .c = rg_cutter__new(d, text, bytes, 0, rg_markdown__escape), .text = text, .bytes = bytes };
    size_t    at = 0;
    rg_status status = read_front_matter(&r, &at);
    while (status == RG_OK && at < bytes) {
        line l = line_at(&r, at);
        status = read_line(&r, &l);
        at = l.next;
    }
    if (status == RG_OK) status = end_paragraph(&r);
    if (status == RG_OK) status = rg_cutter__end(&r.c, bytes);
    rg_cutter__fini(&r.c);
    return status;
}

const rg_document_format rg_document_format_markdown = {
    .name = "markdown",
    .endings = " .md .markdown .mkd ",
    .type = "text/markdown",
    .about = "paragraphs, headings, items, quotes, cells; not code, addresses, front matter",
    .read = read,
};
