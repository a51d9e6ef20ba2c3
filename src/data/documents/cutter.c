/* cutter.c - a paragraph at hand: its plain text, and its tags as marks over it.
 *
 *     <p>Press <code>Ctrl+C</code> to <b>stop</b> it.      copied     <p>
 *                                                          paragraph  Press Ctrl+C to stop it.
 *                                                                           ~~~~~~    ~~~~       a keep and an element */
#include "data/documents/documents.h"

#include <string.h>

enum { DEEPEST = 64 }; /* elements inside each other */

rg_cutter rg_cutter__new(rg_document *document, const char *text, size_t bytes, size_t begin, rg_escape *escape)
{
    return (rg_cutter){ .document = document, .text = text, .bytes = bytes, .begin = begin, .escape = escape,
                        .open = -1 };
}

static void forget(rg_cutter *c)
{
    for (size_t i = 0; i < c->swaps; i++) rg_free(c->swap[i].text);
    c->swaps = 0;
    rg_marks__free(c->mark, c->marks);
    c->mark = NULL;
    c->marks = c->room = 0;
    c->open = -1;
    c->depth = c->closed = 0;
    c->solid = c->begin;
    c->solid_marks = c->solid_plain = 0;
    c->gap = 0;
    rg_text_clear(&c->plain);
}

void rg_cutter__fini(rg_cutter *c)
{
    forget(c);
    rg_free(c->swap);
    rg_text_free(&c->plain);
}

void rg_cutter__solid(rg_cutter *c, size_t at)
{
    c->solid = at;
    c->solid_marks = c->marks;
    c->solid_plain = c->plain.length;
}

/* --------------------------------------------------------------------------------------------------------- swaps */

rg_status rg_cutter__swap(rg_cutter *c, size_t at, size_t end, const char *tag, size_t bytes)
{
    if (bytes == end - at && memcmp(tag, c->text + at, bytes) == 0) return RG_OK;
    if (c->swaps == c->swap_room) {
        const size_t room = c->swap_room ? 2 * c->swap_room : 4;
        rg_swap     *swap = rg_realloc(c->swap, room * sizeof *swap);
        if (!swap) return RG_ENOMEM;
        c->swap = swap;
        c->swap_room = room;
    }
    char *copy = rg_document__copy(tag, bytes);
    if (!copy) return RG_ENOMEM;
    c->swap[c->swaps++] = (rg_swap){ { at, end }, copy };
    return RG_OK;
}

/* A paragraph without a word: as it was, but for the tags that have another text. */
static rg_status keep_text(rg_cutter *c, size_t at)
{
    size_t from = c->begin;
    for (size_t i = 0; i < c->swaps; i++) {
        RG_TRY(rg_document__keep(c->document, c->text + from, c->swap[i].range.begin - from));
        RG_TRY(rg_document__keep(c->document, c->swap[i].text, strlen(c->swap[i].text)));
        from = c->swap[i].range.end;
    }
    return rg_document__keep(c->document, c->text + from, at - from);
}

/* --------------------------------------------------------------------------------------------------------- marks */

static rg_status add_mark(rg_cutter *c, rg_mark_kind kind, const char *name, const char *tag, size_t bytes)
{
    if (c->marks == c->room) {
        const size_t room = c->room ? 2 * c->room : 8;
        rg_mark     *mark = rg_realloc(c->mark, room * sizeof *mark);
        if (!mark) return RG_ENOMEM;
        c->mark = mark;
        c->room = room;
    }
    char *text = rg_document__copy(tag, bytes);
    if (!text) return RG_ENOMEM;
    rg_mark *m = &c->mark[c->marks++];
    *m = (rg_mark){ .kind = kind, .begin = c->plain.length, .end = c->plain.length, .parent = c->open, .open = text };
    snprintf(m->name, sizeof m->name, "%s", name);
    return RG_OK;
}

rg_status rg_cutter__open(rg_cutter *c, const char *name, const char *tag, size_t bytes)
{
    if (c->depth >= DEEPEST) return add_mark(c, RG_MARK_POINT, "", tag, bytes);
    RG_TRY(add_mark(c, RG_MARK_OPEN, name, tag, bytes));
    c->open = (int)c->marks - 1;
    c->depth++;
    return RG_OK;
}

/* A tag that was opened in a paragraph before encloses all before it. */
static rg_status close_before(rg_cutter *c, const char *tag, size_t bytes)
{
    if (c->open >= 0 || c->closed >= DEEPEST) return add_mark(c, RG_MARK_POINT, "", tag, bytes);
    RG_TRY(add_mark(c, RG_MARK_CLOSE, "", tag, bytes));
    const int self = (int)c->marks - 1;
    c->closed++;
    c->mark[self].begin = 0;
    for (int i = 0; i < self; i++)
        if (c->mark[i].parent < 0) c->mark[i].parent = self;
    return RG_OK;
}

/* The tag that it closes, and those inside that were never closed. */
rg_status rg_cutter__close(rg_cutter *c, const char *name, const char *tag, size_t bytes)
{
    int at = c->open;
    while (at >= 0 && strcmp(c->mark[at].name, name) != 0) at = c->mark[at].parent;
    if (at < 0) return close_before(c, tag, bytes);
    for (; c->open != at; c->open = c->mark[c->open].parent, c->depth--) {
        c->mark[c->open].kind = RG_MARK_POINT;
        for (size_t i = 0; i < c->marks; i++) /* what it enclosed is enclosed by the one around it */
            if (c->mark[i].parent == c->open) c->mark[i].parent = c->mark[c->open].parent;
    }
    rg_mark *m = &c->mark[at];
    if (!(m->close = rg_document__copy(tag, bytes))) return RG_ENOMEM;
    m->kind = RG_MARK_ELEMENT;
    m->end = c->plain.length;
    c->open = m->parent;
    c->depth--;
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------- paragraphs */

static bool is_blank(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (strchr(" \t\r\n", text[i])) continue;
        if (strncmp(text + i, "\xc2\xa0", 2) != 0) return false; /* a no-break space */
        i++;
    }
    return true;
}

/* Before the first word it stays where it is. */
rg_status rg_cutter__point_as(rg_cutter *c, size_t at, size_t end, const char *tag, size_t bytes)
{
    if (!c->marks && is_blank(rg_text_c(&c->plain), c->plain.length)) {
        RG_TRY(rg_cutter__end(c, at));
        c->begin = c->solid = end;
        return rg_document__keep(c->document, tag, bytes);
    }
    RG_TRY(rg_cutter__swap(c, at, end, tag, bytes));
    RG_TRY(add_mark(c, RG_MARK_POINT, "", tag, bytes));
    if (c->open >= 0 || bytes != end - at || memcmp(tag, c->text + at, bytes) != 0)
        rg_cutter__solid(c, end); /* not to be copied from the text */
    return RG_OK;
}

rg_status rg_cutter__lone(rg_cutter *c, const char *tag, size_t bytes)
{
    return add_mark(c, RG_MARK_POINT, "", tag, bytes);
}

rg_status rg_cutter__point(rg_cutter *c, size_t at, size_t end)
{
    return rg_cutter__point_as(c, at, end, c->text + at, end - at);
}

rg_status rg_cutter__kept(rg_cutter *c, size_t at, size_t end, size_t before)
{
    RG_TRY(add_mark(c, RG_MARK_KEEP, "", c->text + at, end - at));
    c->mark[c->marks - 1].begin = before;
    rg_cutter__solid(c, end);
    return RG_OK;
}

void rg_cutter__break(rg_cutter *c)
{
    if (c->marks && c->mark[c->marks - 1].kind == RG_MARK_POINT) c->gap = c->marks;
}

rg_status rg_cutter__word(rg_cutter *c)
{
    const size_t gap = c->gap;
    c->gap = 0;
    if (!gap || gap > c->marks || !c->plain.length || c->plain.data[c->plain.length - 1] == ' ') return RG_OK;
    c->mark[gap - 1].instead = true;
    return rg_text_add(&c->plain, " ", 1);
}

/* A blank behind a point that has one before it: the text needs only one of them. */
bool rg_cutter__drops_blank(rg_cutter *c)
{
    rg_mark *last = c->marks ? &c->mark[c->marks - 1] : NULL;
    if (!last || (last->kind != RG_MARK_POINT && last->kind != RG_MARK_ELEMENT)) return false;
    if (last->begin != c->plain.length || last->end != c->plain.length || !last->begin ||
        c->plain.data[last->begin - 1] != ' ')
        return false;
    for (rg_mark *around; last->parent >= 0 && (around = &c->mark[last->parent])->kind == RG_MARK_ELEMENT &&
                          around->begin == around->end;)
        last = around; /* the outermost of those around nothing */
    return last->spaced = true;
}

rg_status rg_cutter__blank(rg_cutter *c)
{
    if (rg_cutter__drops_blank(c) || (c->plain.length && c->plain.data[c->plain.length - 1] == ' ')) return RG_OK;
    return rg_text_add(&c->plain, " ", 1);
}

static size_t clamp(size_t at, size_t from, size_t n) { return at <= from ? 0 : at - from < n ? at - from : n; }

/* Text that is blank at an end of the paragraph, as it stands in the document. */
static rg_status add_escaped(rg_cutter *c, const char *text, size_t bytes)
{
    rg_text         out = { 0 };
    const rg_status status = bytes ? c->escape(&out, text, bytes) : RG_OK;
    const rg_status added = status == RG_OK ? rg_document__keep(c->document, rg_text_c(&out), out.length) : status;
    rg_text_free(&out);
    return added;
}

/* Points before the first word, or behind the last, with a blank between: they stay there, outside of the sentence. */
static rg_status lead(rg_cutter *c, size_t from)
{
    size_t n = 0, at = 0;
    while (n < c->marks && c->mark[n].kind == RG_MARK_POINT && c->mark[n].parent < 0 && c->mark[n].begin < from) n++;
    for (size_t i = 0; i < n; i++) {
        RG_TRY(add_escaped(c, rg_text_c(&c->plain) + at, c->mark[i].begin - at));
        RG_TRY(rg_document__keep(c->document, c->mark[i].open, strlen(c->mark[i].open)));
        at = c->mark[i].begin;
        if (c->mark[i].spaced) RG_TRY(rg_document__keep(c->document, " ", 1));
    }
    for (size_t i = 0; i < n; i++) rg_free(c->mark[i].open);
    if (n) memmove(c->mark, c->mark + n, (c->marks - n) * sizeof *c->mark);
    c->marks -= n;
    c->solid_marks -= n < c->solid_marks ? n : c->solid_marks;
    for (size_t i = 0; i < c->marks; i++)
        if (c->mark[i].parent >= 0) c->mark[i].parent -= (int)n;
    return add_escaped(c, rg_text_c(&c->plain) + at, from - at);
}

/* The first of the points behind `to`. */
static size_t first_behind(const rg_cutter *c, size_t to)
{
    size_t n = c->marks;
    while (n && c->mark[n - 1].kind == RG_MARK_POINT && c->mark[n - 1].parent < 0 && c->mark[n - 1].begin > to) n--;
    return n;
}

static rg_status trail(rg_cutter *c, const rg_mark *mark, size_t marks, size_t to)
{
    const char *plain = rg_text_c(&c->plain);
    for (size_t i = 0; i < marks; i++) {
        RG_TRY(add_escaped(c, plain + to, mark[i].begin - to));
        RG_TRY(rg_document__keep(c->document, mark[i].open, strlen(mark[i].open)));
        to = mark[i].begin;
        if (mark[i].spaced) RG_TRY(rg_document__keep(c->document, " ", 1));
    }
    return c->solid_plain > to ? add_escaped(c, plain + to, c->solid_plain - to) : RG_OK;
}

/* Blanks at both ends are not part of the paragraph; points behind the last word, such as comments, stay behind it
 * with the blanks around them. */
static rg_status end_text(rg_cutter *c, size_t at)
{
    const char *plain = rg_text_c(&c->plain);
    size_t      from = 0, to = c->plain.length;
    while (strchr(" \t\r", plain[from])) from++;
    while (strchr(" \t\r", plain[to - 1])) to--;
    RG_TRY(lead(c, from));
    for (; c->marks > c->solid_marks; c->marks--) rg_free(c->mark[c->marks - 1].open);
    const size_t behind = first_behind(c, to), marks = c->marks - behind;
    rg_mark     *last = marks ? rg_alloc_array(marks, sizeof *last) : NULL;
    if (marks && !last) return RG_ENOMEM;
    if (marks) memcpy(last, c->mark + behind, marks * sizeof *last);
    c->marks = behind;
    for (size_t i = 0; i < c->marks; i++) {
        rg_mark *m = &c->mark[i];
        if (m->kind == RG_MARK_OPEN) m->end = c->plain.length;
        m->begin = clamp(m->begin, from, to - from);
        m->end = clamp(m->end, from, to - from);
    }
    rg_mark     *mark = c->mark;
    const size_t inner = c->marks;
    c->mark = NULL;
    c->marks = c->room = 0;
    rg_status status = rg_segment__add(c->document, plain + from, to - from, mark, inner, c->escape);
    if (status == RG_OK) status = trail(c, last, marks, to);
    rg_marks__free(last, marks);
    RG_TRY(status);
    return rg_document__keep(c->document, c->text + c->solid, at - c->solid);
}

rg_status rg_cutter__end(rg_cutter *c, size_t at)
{
    bool      words = false;
    rg_status status = rg_segment__has_words(&words, rg_text_c(&c->plain), c->plain.length, c->mark, c->marks);
    if (status == RG_OK)
        status = words ? end_text(c, at) : keep_text(c, at);
    c->begin = at;
    forget(c);
    return status;
}

rg_status rg_cutter__cut(rg_cutter *c, size_t at, size_t end)
{
    RG_TRY(rg_cutter__end(c, at));
    c->begin = c->solid = end;
    return rg_document__keep(c->document, c->text + at, end - at);
}

enum { STRING_TAG = 500 };

bool rg_cutter__string_tag(rg_status *status, rg_cutter *c, size_t at, size_t end, size_t *next)
{
    char   name[RG_MARK_NAME];
    size_t to = at + 1;
    if (!rg_tag__is(c->text + at) || c->text[at + 1] == '!' || c->text[at + 1] == '?' ||
        c->marks >= RG_CUTTER_MARKS)
        return false;
    while (to < end && to - at < STRING_TAG && !strchr("<>\n", c->text[to])) to++;
    if (to >= end || c->text[to] != '>') return false;
    *next = ++to;
    rg_tag__name(name, c->text + at);
    if (rg_tag__closes_itself(c->text, to) || rg_word_in(" br img hr wbr ", name)) {
        *status = rg_cutter__point(c, at, to);
        return true;
    }
    *status = c->text[at + 1] == '/' ? rg_cutter__close(c, name, c->text + at, to - at)
                                     : rg_cutter__open(c, name, c->text + at, to - at);
    rg_cutter__solid(c, to);
    return true;
}
