/* markdown_inline.c - Markdown inside a paragraph: emphasis, links, code, tags of HTML.
 *
 * CommonMark's rules in the form in which they matter here: a run of * or _ opens what follows it directly and closes
 * what stands directly before it; links are brackets with an address behind them; code and addresses are copied. */
#include "data/documents/markdown.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_LINK = 2000 };

typedef struct {
    rg_cutter    *c;
    const char   *text;  /* the document */
    size_t        begin, end;
    size_t        whole; /* bytes of the document */
} span;

rg_status rg_markdown__escape(rg_text *out, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char before = i ? text[i - 1] : ' ', after = i + 1 < bytes ? text[i + 1] : ' ';
        const bool apart = isspace((unsigned char)before) && isspace((unsigned char)after);
        bool       special = strchr("`\\", text[i]) != NULL;
        if (text[i] == '*') special = !apart;
        if (text[i] == '_') special = !apart && !(isalnum((unsigned char)before) && isalnum((unsigned char)after));
        if (text[i] == '<') special = isalpha((unsigned char)after) || strchr("/!?", after);
        if (text[i] == '[') special = memchr(text + i, ']', bytes - i) && strstr(text + i, "](");
        if (text[i] == '&') special = isalpha((unsigned char)after) || after == '#';
        if (special) RG_TRY(rg_text_add_string(out, text[i] == '&' ? "&amp;" : "\\"));
        if (!special || text[i] != '&') RG_TRY(rg_text_add(out, text + i, 1));
    }
    return RG_OK;
}

static size_t run_of(const span *s, size_t at, char c)
{
    size_t n = 0;
    while (at + n < s->end && s->text[at + n] == c) n++;
    return n;
}

/* ------------------------------------------------------------------------------------------------------------ code */

/* `code`: *next behind it, or 0. */
static size_t code_end(const span *s, size_t at)
{
    const size_t n = run_of(s, at, '`');
    for (size_t i = at + n; i < s->end;) {
        const size_t k = s->text[i] == '`' ? run_of(s, i, '`') : 1;
        if (s->text[i] == '`' && k == n) return i + k;
        i += k;
    }
    return 0;
}

/* What is copied: its words are part of the sentence where links will tell where they went. */
static rg_status keep(span *s, size_t at, size_t to, size_t words, size_t words_end)
{
    rg_cutter *c = s->c;
    if (!c->document->config.aligned || c->marks >= RG_CUTTER_MARKS) return rg_cutter__cut(c, at, to);
    const size_t before = c->plain.length;
    for (size_t i = words; i < words_end; i++) {
        const char letter = isspace((unsigned char)s->text[i]) ? ' ' : s->text[i];
        RG_TRY(rg_text_add(&c->plain, &letter, 1));
    }
    return c->plain.length == before ? rg_cutter__point(c, at, to) : rg_cutter__kept(c, at, to, before);
}

/* ----------------------------------------------------------------------------------------------------------- links */

/* The bracket that closes the one at `at`; 0: none. */
static size_t bracket_end(const span *s, size_t at)
{
    const char open = s->text[at], close = open == '[' ? ']' : ')';
    size_t     depth = 0;
    for (size_t i = at; i < s->end && i - at < LONGEST_LINK; i++) {
        if (s->text[i] == '\\') i++;
        else if (open == '[' && s->text[i] == '`') {
            const size_t code = code_end(s, i);
            if (code) i = code - 1;
        } else if (s->text[i] == open) depth++;
        else if (s->text[i] == close && --depth == 0) return i;
    }
    return 0;
}

/* Is there a line "[label]: address"? */
static bool is_defined(const span *s, size_t begin, size_t end)
{
    const size_t n = end - begin;
    if (!n || n > 200) return false;
    for (const char *at = s->text; (at = strstr(at, "]:")); at++)
        if ((size_t)(at - s->text) > n && at[-(ptrdiff_t)n - 1] == '[' && strncasecmp(at - n, s->text + begin, n) == 0 &&
            ((size_t)(at - s->text) == n + 1 || at[-(ptrdiff_t)n - 2] == '\n' || at[-(ptrdiff_t)n - 2] == ' '))
            return true;
    return false;
}

/* Where the link whose brackets are [open .. close] ends; 0: it is none. */
static size_t link_end(const span *s, size_t open, size_t close)
{
    if (close + 1 < s->end && (s->text[close + 1] == '(' || s->text[close + 1] == '[')) {
        const size_t end = bracket_end(s, close + 1);
        if (end) return end + 1;
    }
    return is_defined(s, open + 1, close) ? close + 1 : 0;
}

static rg_status read_span(span *s, size_t begin, size_t end);

static rg_status read_link(span *s, size_t at, size_t open, size_t close, size_t to)
{
    rg_cutter *c = s->c;
    rg_text    tag = { 0 };
    RG_TRY(rg_cutter__open(c, "[", s->text + at, open + 1 - at));
    rg_cutter__solid(c, open + 1);
    RG_TRY(read_span(s, open + 1, close));
    rg_status status = rg_text_add(&tag, s->text + close, to - close);
    if (status == RG_OK && to == close + 1) /* [label]: another text needs the label behind it */
        status = rg_text_print(&tag, "[%.*s]", (int)(close - open - 1), s->text + open + 1);
    if (status == RG_OK) status = rg_cutter__close(c, "[", rg_text_c(&tag), tag.length);
    rg_cutter__solid(c, to);
    rg_text_free(&tag);
    return status;
}

/* A bracket at `at` (or ! before one): *next is behind the link, or stays. */
static rg_status try_link(span *s, size_t at, size_t *next)
{
    const size_t open = at + (s->text[at] == '!'), close = open < s->end ? bracket_end(s, open) : 0;
    if (!close || s->c->marks >= RG_CUTTER_MARKS) return RG_OK;
    if (s->text[open + 1] == '^') { /* a footnote */
        *next = close + 1;
        return rg_cutter__point(s->c, at, *next);
    }
    const size_t to = link_end(s, open, close);
    if (!to) return RG_OK;
    *next = to;
    return read_link(s, at, open, close, to);
}

/* -------------------------------------------------------------------------------------------------------- emphasis */

static bool is_punctuation(char c) { return ispunct((unsigned char)c); }
static bool is_blank(char c) { return c == 0 || isspace((unsigned char)c); }

static rg_status emphasis(span *s, size_t at, size_t *next)
{
    rg_cutter   *c = s->c;
    const char   sign = s->text[at];
    const size_t n = run_of(s, at, sign), to = at + n;
    const char   before = at > s->begin ? s->text[at - 1] : ' ', after = to < s->end ? s->text[to] : ' ';
    const bool   opens = !is_blank(after) && (!is_punctuation(after) || is_blank(before) || is_punctuation(before)),
               closes = !is_blank(before) && (!is_punctuation(before) || is_blank(after) || is_punctuation(after));
    char         name[RG_MARK_NAME];
    *next = to;
    if (n <= 3 && (sign != '~' || n == 2) && c->marks < RG_CUTTER_MARKS) {
        snprintf(name, sizeof name, "%.*s", (int)n, s->text + at);
        bool open = false;
        for (int i = c->open; i >= 0 && !open; i = c->mark[i].parent) open = strcmp(c->mark[i].name, name) == 0;
        if (closes && open && !(sign == '_' && opens && !is_punctuation(after))) {
            RG_TRY(rg_cutter__close(c, name, s->text + at, n));
            rg_cutter__solid(c, to);
            return RG_OK;
        }
        const char *partner = opens && !(sign == '_' && closes && !is_punctuation(before)) ? s->text + to : NULL;
        while (partner && partner < s->text + s->end && strncmp(partner, name, n) != 0) partner++;
        if (partner && partner < s->text + s->end) {
            RG_TRY(rg_cutter__open(c, name, s->text + at, n));
            rg_cutter__solid(c, to);
            return RG_OK;
        }
    }
    RG_TRY(rg_text_add(&c->plain, s->text + at, n));
    rg_cutter__solid(c, to);
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- all of it */

/* <https://...>, <b>, <!-- -->: *next behind it. */
static rg_status angle(span *s, size_t at, size_t *next)
{
    const char *close = memchr(s->text + at, '>', s->end - at);
    rg_status   status = RG_OK;
    if (!close) return RG_OK;
    const size_t to = (size_t)(close - s->text) + 1;
    const bool   address = memchr(s->text + at, ':', to - at) && !memchr(s->text + at, ' ', to - at) &&
                         !memchr(s->text + at, '"', to - at);
    if (address) {
        *next = to;
        return keep(s, at, to, at + 1, to - 1);
    }
    if (strncmp(s->text + at, "<!", 2) == 0) {
        *next = rg_tag__end(s->text, s->end, at);
        return rg_cutter__point(s->c, at, *next);
    }
    rg_cutter__string_tag(&status, s->c, at, s->end, next);
    return status;
}

/* Blanks; a line end with what the next line begins with is one. Two blanks or a backslash before it: a new line. */
static rg_status blanks(span *s, size_t at, size_t *next)
{
    size_t to = at;
    while (to < s->end && (s->text[to] == ' ' || s->text[to] == '\t')) to++;
    const bool hard = to - at >= 2;
    if (to < s->end && s->text[to] == '\r') to++;
    if (to >= s->end || s->text[to] != '\n') {
        *next = to;
        if (rg_cutter__drops_blank(s->c)) at++;
        return rg_text_add(&s->c->plain, s->text + at, to - at);
    }
    *next = to + 1 + rg_markdown__prefix(s->text + to + 1, s->end - to - 1);
    return hard ? rg_cutter__cut(s->c, at, *next) : rg_cutter__blank(s->c);
}

static rg_status read_span(span *s, size_t begin, size_t end)
{
    const size_t outer = s->end;
    rg_status    status = RG_OK;
    s->end = end;
    for (size_t at = begin, next; status == RG_OK && at < end; at = next) {
        const char  c = s->text[at];
        const size_t code = c == '`' ? code_end(s, at) : 0;
        next = at;
        if (code) {
            const size_t n = run_of(s, at, '`');
            status = keep(s, at, next = code, at + n, code - n);
        } else if (c == '[' || (c == '!' && at + 1 < end && s->text[at + 1] == '[')) status = try_link(s, at, &next);
        else if (c == '<') status = angle(s, at, &next);
        else if (strchr("*_~", c)) status = emphasis(s, at, &next);
        else if (strchr(" \t\r\n", c)) status = blanks(s, at, &next);
        else if (c == '{' && at + 1 < end && s->text[at + 1] == '%') {
            const char *close = strstr(s->text + at, "%}");
            if (close && (size_t)(close - s->text) + 2 <= end)
                status = rg_cutter__point(s->c, at, next = (size_t)(close - s->text) + 2);
        } else if (c == '\\' && at + 1 < end && s->text[at + 1] == '\n') {
            next = at + 2 + rg_markdown__prefix(s->text + at + 2, end - at - 2);
            status = rg_cutter__cut(s->c, at, next);
        } else if (c == '\\' && at + 1 < end && is_punctuation(s->text[at + 1])) {
            next = at + 2;
            status = rg_text_add(&s->c->plain, s->text + at + 1, 1);
            rg_cutter__solid(s->c, next);
        }
        if (status != RG_OK || next > at) continue;
        status = rg_html__character(&s->c->plain, s->text, end, &next);
        rg_cutter__solid(s->c, next);
    }
    s->end = outer;
    return status;
}

rg_status rg_markdown__inline(rg_cutter *c, size_t begin, size_t end)
{
    span s = { .c = c, .text = c->text, .begin = begin, .end = end, .whole = c->bytes };
    return read_span(&s, begin, end);
}
