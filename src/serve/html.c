/* html.c - HTML as lines to translate, each without its tags, and what stays as it is.
 *
 * Block tags (p, li, td, br, ...) and line ends separate lines; the tags inside a line become marks over its text,
 * which markup.c puts back into the translation:
 *
 *     <p>Press <code>Ctrl+C</code> to <b>stop</b> it.      part   <p>
 *                                                          line   Press Ctrl+C to stop it.
 *                                                                       ~~~~~~    ~~~~       a keep and an element
 *
 * HTML is read loosely: nothing is refused, and every tag is handed back once. The content of code, of
 * translate="no" and of class "notranslate" is part of the line, so that the sentence is whole, and stands in the
 * translation as it stood in the source. */
#include "serve/markup.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
    DEEPEST = 64, /* elements inside each other                  */
    NAME = 24,    /* bytes of a tag's name                       */
    MARKS = 512,  /* of a line                                   */
    KEPT = 200    /* bytes of an element that stays inside a line */
};

static const char blocks[] = " html head body title meta link base p div h1 h2 h3 h4 h5 h6 ul ol li dl dt dd dir menu "
                             "table caption colgroup col thead tbody tfoot tr "
                             "td th section article aside header footer nav main figure figcaption blockquote pre form "
                             "fieldset legend hr br address details summary "
                             "dialog select option optgroup textarea button iframe video audio source track object "
                             "embed canvas noscript template center hgroup "
                             "search frameset frame map area ";
static const char voids[] = " area base br col embed hr img input link meta param source track wbr ";
static const char untranslated[] = " code kbd samp var tt math svg script style ";

typedef struct {
    rg_segments *out;
    const char  *text;
    size_t       bytes, begin; /* begin: of the line at hand */
    bool         aligned;
    rg_text      plain; /* of the line, without tags */
    rg_mark     *mark;
    size_t       marks, room;
    size_t       solid, solid_marks, solid_plain; /* behind the last that is neither blank nor point: in text, mark, plain */
    int          open, depth; /* the innermost mark that is open, or -1 */
    int          closed;      /* tags of lines before that were closed on this one */
} reader;

/* ---------------------------------------------------------------------------------------------------------- tags */

static bool is_tag(const char *at) /* < and what may begin a tag; "a < b" is text */
{
    return at[0] == '<' && (isalpha((unsigned char)at[1]) || at[1] == '!' || at[1] == '?' ||
                            (at[1] == '/' && isalpha((unsigned char)at[2])));
}

/* Where what begins at `at` ends; quotes may hold a >, unless they are never closed. */
static size_t tag_end(const char *text, size_t bytes, size_t at)
{
    if (strncmp(text + at, "<!--", 4) == 0) {
        const char *end = strstr(text + at + 4, "-->");
        return end ? (size_t)(end - text) + 3 : bytes;
    }
    char quote = 0;
    for (size_t i = at + 1; i < bytes; i++) {
        if (quote) quote = text[i] == quote ? 0 : quote;
        else if ((text[i] == '"' || text[i] == '\'') && text[i - 1] == '=') quote = text[i];
        else if (text[i] == '>') return i + 1;
    }
    const char *end = strchr(text + at, '>');
    return end ? (size_t)(end - text) + 1 : bytes;
}

/* The lower-case name of a tag; "" of a comment. */
static void name_of(char out[NAME], const char *tag)
{
    size_t n = 0;
    for (tag += tag[1] == '/' ? 2 : 1; n < NAME - 1 && (isalnum((unsigned char)*tag) || *tag == '-' || *tag == ':');
         tag++)
        out[n++] = (char)tolower((unsigned char)*tag);
    out[n] = 0;
}

static bool in_list(const char *list, const char *name)
{
    char word[NAME + 2];
    snprintf(word, sizeof word, " %s ", name);
    return *name && strstr(list, word);
}

/* The value of an attribute of a tag, without its quotes. */
static size_t attribute(const char **out, const char *tag, size_t bytes, const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 1; i + n < bytes; i++) {
        if (!strchr(" \t\r\n/\"'", tag[i - 1]) || strncasecmp(tag + i, name, n) != 0) continue;
        size_t at = i + n;
        while (at < bytes && isspace((unsigned char)tag[at])) at++;
        if (at >= bytes || tag[at] != '=') continue;
        for (at++; at < bytes && isspace((unsigned char)tag[at]);) at++;
        const char quote = at < bytes && (tag[at] == '"' || tag[at] == '\'') ? tag[at++] : 0;
        size_t     end = at;
        while (end < bytes && (quote ? tag[end] != quote : !strchr(" \t\r\n>", tag[end]))) end++;
        *out = tag + at;
        return end - at;
    }
    return 0;
}

static bool stays(const char *tag, size_t bytes, const char *name)
{
    const char *value = NULL;
    if (tag[1] == '/') return false;
    if (in_list(untranslated, name)) return true;
    size_t n = attribute(&value, tag, bytes, "translate");
    if (n == 2 && strncasecmp(value, "no", 2) == 0) return true;
    n = attribute(&value, tag, bytes, "class");
    for (size_t i = 0; i + 11 <= n; i++)
        if (strncmp(value + i, "notranslate", 11) == 0) return true;
    return false;
}

static bool closes_itself(const char *text, size_t end, const char *name)
{
    return in_list(voids, name) || (end >= 2 && text[end - 2] == '/' && text[end - 1] == '>');
}

/* Where the element whose tag ends at `at` ends: behind its closing tag, or the text's end. */
static size_t element_end(const char *text, size_t bytes, size_t at, const char *name)
{
    char         other[NAME];
    const bool   raw = in_list(" script style ", name); /* no tags inside */
    const size_t n = strlen(name);
    for (size_t depth = 1, end; at < bytes; at = end) {
        end = at + 1;
        if (text[at] != '<' || !is_tag(text + at)) continue;
        if (raw && !(text[at + 1] == '/' && strncasecmp(text + at + 2, name, n) == 0)) continue;
        end = tag_end(text, bytes, at);
        name_of(other, text + at);
        if (strcmp(other, name) != 0) continue;
        if (text[at + 1] != '/') depth += !closes_itself(text, end, other);
        else if (--depth == 0) return end;
    }
    return bytes;
}

/* --------------------------------------------------------------------------------------------------------- marks */

static char *copy(const char *text, size_t bytes)
{
    char *out = rg_alloc(bytes + 1);
    if (!out) return NULL;
    memcpy(out, text, bytes);
    out[bytes] = 0;
    return out;
}

static rg_status add_mark(reader *r, rg_mark_kind kind, const char *tag, size_t bytes)
{
    if (r->marks == r->room) {
        const size_t room = r->room ? 2 * r->room : 8;
        rg_mark     *mark = rg_realloc(r->mark, room * sizeof *mark);
        if (!mark) return RG_ENOMEM;
        r->mark = mark;
        r->room = room;
    }
    char *text = copy(tag, bytes);
    if (!text) return RG_ENOMEM;
    r->mark[r->marks++] =
        (rg_mark){ .kind = kind, .begin = r->plain.length, .end = r->plain.length, .parent = r->open, .open = text };
    return RG_OK;
}

static bool same_name(const char *tag, const char *name)
{
    char other[NAME];
    name_of(other, tag);
    return strcmp(other, name) == 0;
}

static rg_status open_tag(reader *r, const char *tag, size_t bytes)
{
    if (r->depth >= DEEPEST) return add_mark(r, RG_MARK_POINT, tag, bytes);
    RG_TRY(add_mark(r, RG_MARK_OPEN, tag, bytes));
    r->open = (int)r->marks - 1;
    r->depth++;
    return RG_OK;
}

/* The tag that it closes, and those inside that were never closed; or one that was opened on a line before. */
static rg_status close_tag(reader *r, const char *tag, size_t bytes, const char *name)
{
    int at = r->open;
    while (at >= 0 && !same_name(r->mark[at].open, name)) at = r->mark[at].parent;
    if (at < 0) {
        if (r->open >= 0 || r->closed >= DEEPEST) return add_mark(r, RG_MARK_POINT, tag, bytes);
        RG_TRY(add_mark(r, RG_MARK_CLOSE, tag, bytes));
        const int self = (int)r->marks - 1;
        r->closed++;
        r->mark[self].begin = 0;
        for (int i = 0; i < self; i++)
            if (r->mark[i].parent < 0) r->mark[i].parent = self; /* it encloses all before it */
        return RG_OK;
    }
    for (; r->open != at; r->open = r->mark[r->open].parent, r->depth--) {
        r->mark[r->open].kind = RG_MARK_POINT;
        for (size_t i = 0; i < r->marks; i++) /* what it enclosed is enclosed by the one around it */
            if (r->mark[i].parent == r->open) r->mark[i].parent = r->mark[r->open].parent;
    }
    rg_mark *m = &r->mark[at];
    if (!(m->close = copy(tag, bytes))) return RG_ENOMEM;
    m->kind = RG_MARK_ELEMENT;
    m->end = r->plain.length;
    r->open = m->parent;
    r->depth--;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- a line */

static bool is_blank(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (strchr(" \t\r\n", text[i])) continue;
        if (strncmp(text + i, "\xc2\xa0", 2) != 0) return false; /* a no-break space */
        i++;
    }
    return true;
}

static size_t clamp(size_t at, size_t from, size_t n) { return at <= from ? 0 : at - from < n ? at - from : n; }

static void forget_line(reader *r)
{
    for (size_t i = 0; i < r->marks; i++) {
        rg_free(r->mark[i].open);
        rg_free(r->mark[i].close);
    }
    rg_free(r->mark);
    r->mark = NULL;
    r->marks = r->room = 0;
    r->open = -1;
    r->depth = r->closed = 0;
    r->solid_marks = r->solid_plain = 0;
    rg_text_clear(&r->plain);
}

static void is_solid(reader *r, size_t at)
{
    r->solid = at;
    r->solid_marks = r->marks;
    r->solid_plain = r->plain.length;
}

/* Points behind the last word, such as comments, stay behind it with the blanks around them. */
static rg_status end_of_line(reader *r, size_t at, size_t to)
{
    RG_TRY(rg_segments__add(r->out, rg_text_c(&r->plain) + to, r->solid_plain - to, false));
    return rg_segments__add(r->out, r->text + r->solid, at - r->solid, false);
}

/* The line from r->begin to `at` is whole. Blanks at its ends are not part of it; one without a word stays as it
 * was. */
static rg_status end_line(reader *r, size_t at)
{
    const char *plain = rg_text_c(&r->plain);
    size_t      from = 0, to = r->plain.length;
    rg_status   status = RG_OK;
    if (is_blank(plain, to)) {
        status = rg_segments__add(r->out, r->text + r->begin, at - r->begin, false);
    } else {
        while (strchr(" \t\r", plain[from])) from++;
        while (strchr(" \t\r", plain[to - 1])) to--;
        status = rg_segments__add(r->out, plain, from, false);
        if (status == RG_OK) status = rg_segments__add(r->out, plain + from, to - from, true);
        for (; r->marks > r->solid_marks; r->marks--) rg_free(r->mark[r->marks - 1].open);
        for (size_t i = 0; i < r->marks; i++) {
            rg_mark *m = &r->mark[i];
            if (m->kind == RG_MARK_OPEN) m->end = r->plain.length;
            m->begin = clamp(m->begin, from, to - from);
            m->end = clamp(m->end, from, to - from);
        }
        if (status == RG_OK) {
            rg_part *line = &r->out->part[r->out->count - 1];
            line->mark = r->mark;
            line->marks = r->marks;
            r->mark = NULL;
            r->marks = 0;
            status = end_of_line(r, at, to);
        }
    }
    r->begin = at;
    forget_line(r);
    return status;
}

/* What stays and separates lines. */
static rg_status cut(reader *r, size_t at, size_t end)
{
    RG_TRY(end_line(r, at));
    r->begin = end;
    return rg_segments__add(r->out, r->text + at, end - at, false);
}

/* Before the first word it stays where it is. */
static rg_status add_point(reader *r, size_t at, size_t end)
{
    if (!r->marks && is_blank(rg_text_c(&r->plain), r->plain.length)) return cut(r, at, end);
    RG_TRY(add_mark(r, RG_MARK_POINT, r->text + at, end - at));
    if (r->open >= 0) is_solid(r, end);
    return RG_OK;
}

/* A blank behind a point that has one before it: the line needs only one of them. */
static bool follows_point(reader *r)
{
    rg_mark *last = r->marks ? &r->mark[r->marks - 1] : NULL;
    if (!last || (last->kind != RG_MARK_POINT && last->kind != RG_MARK_ELEMENT)) return false;
    if (last->begin != r->plain.length || last->end != r->plain.length || !last->begin ||
        r->plain.data[last->begin - 1] != ' ')
        return false;
    for (rg_mark *around; last->parent >= 0 && (around = &r->mark[last->parent])->kind == RG_MARK_ELEMENT &&
                          around->begin == around->end;)
        last = around; /* the outermost of those around nothing */
    return last->spaced = true;
}

/* The words of an element, without tags and with single blanks, as part of the line. */
static rg_status add_words(reader *r, size_t at, size_t end)
{
    while (at < end) {
        if (is_tag(r->text + at)) {
            at = tag_end(r->text, end, at);
        } else if (isspace((unsigned char)r->text[at])) {
            if (r->plain.length && r->plain.data[r->plain.length - 1] != ' ') RG_TRY(rg_text_add(&r->plain, " ", 1));
            at++;
        } else {
            RG_TRY(rg_html__character(&r->plain, r->text, end, &at));
        }
    }
    return RG_OK;
}

/* An element that is not translated. Without attention nothing says where its words went: then it separates lines,
 * and so does one of several lines or one that is longer than a few words. */
static rg_status keep(reader *r, size_t at, size_t end, size_t whole, const char *name)
{
    const bool wordless = in_list(" script style svg math ", name),
               small = whole - at <= KEPT && !memchr(r->text + at, '\n', whole - at);
    if (in_list(blocks, name) || r->marks >= MARKS || (!wordless && (!r->aligned || !small))) return cut(r, at, whole);
    const size_t before = r->plain.length;
    if (!wordless) RG_TRY(add_words(r, end, whole));
    const size_t after = r->plain.length;
    if (after == before) return add_point(r, at, whole);
    RG_TRY(add_mark(r, RG_MARK_KEEP, r->text + at, whole - at));
    r->mark[r->marks - 1].begin = before;
    is_solid(r, whole);
    return RG_OK;
}

/* The tag at `at`; *next: behind it, or behind what it encloses. */
static rg_status read_tag(reader *r, size_t at, size_t *next)
{
    const char  *tag = r->text + at;
    const size_t end = tag_end(r->text, r->bytes, at);
    char         name[NAME];
    name_of(name, tag);
    *next = end;
    if (r->text[end - 1] != '>') return cut(r, at, *next = r->bytes); /* never closed */
    if (stays(tag, end - at, name)) {
        *next = closes_itself(r->text, end, name) ? end : element_end(r->text, r->bytes, end, name);
        return keep(r, at, end, *next, name);
    }
    if (in_list(blocks, name) || r->marks >= MARKS) return cut(r, at, end);
    if (!*name || closes_itself(r->text, end, name)) return add_point(r, at, end);
    RG_TRY(tag[1] == '/' ? close_tag(r, tag, end - at, name) : open_tag(r, tag, end - at));
    is_solid(r, end);
    return RG_OK;
}

rg_status rg_segments_cut_html(rg_segments *out, const char *text, bool aligned)
{
    reader    r = { .out = out, .text = text, .bytes = strlen(text), .aligned = aligned, .open = -1 };
    rg_status status = RG_OK;
    *out = (rg_segments){ 0 };
    for (size_t at = 0; status == RG_OK && at < r.bytes;) {
        if (is_tag(text + at)) {
            status = read_tag(&r, at, &at);
        } else if (text[at] == '\n') {
            status = cut(&r, at, at + 1);
            at++;
        } else {
            const bool blank = strchr(" \t\r", text[at]);
            if (blank && follows_point(&r)) at++;
            else status = rg_html__character(&r.plain, text, r.bytes, &at);
            if (!blank) is_solid(&r, at);
        }
    }
    if (status == RG_OK) status = end_line(&r, r.bytes);
    forget_line(&r);
    rg_text_free(&r.plain);
    return status;
}
