/* office.c - Office Open XML: documents (docx) and presentations (pptx).
 *
 * A paragraph is a list of runs, each with one format:
 *
 *     <w:p><w:pPr/> <w:r><w:rPr/><w:t>Some </w:t></w:r> <w:r><w:rPr><w:b/></w:rPr><w:t>bold</w:t></w:r> ... </w:p>
 *
 * Text must stand in a run, so the run with the most text is the ground; every other one is a mark whose tags end the
 * ground's run and begin it again. Runs of the same format, which editors cut at every correction, are one. What is no
 * text (pictures, notes) is a point; paragraphs inside of it, as those of text boxes, are read for themselves.
 *
 * A field has a command and a result, <w:fldSimple w:instr="PAGE">3</w:fldSimple> or
 *
 *     begin  HYPERLINK "http://..."  separate  the text of the link  end          each in a run of its own
 *
 * Results that are texts (links, tables of contents, references to headings) are translated, with the command as their
 * tags; pages, dates and other values are points. */
#include "data/documents/archive.h"

#include <ctype.h>
#include <string.h>

enum {
    DEEPEST = 8,     /* paragraphs inside of paragraphs             */
    FORMAT = 4096,   /* bytes of a format                           */
    OPEN_FIELDS = 16 /* fields of a paragraph that end in another   */
};

typedef struct {
    const char *paragraph, *run, *format, *text; /* names of elements */
    const char *first, *last;                    /* what stands first and last in a paragraph */
    const char *containers;                      /* elements around runs */
    const char *field;                           /* marks the begin and end of fields; NULL: none */
    const char *open, *shut;                     /* tags around text */
} vocabulary;

static const vocabulary word = { "w:p", "w:r", "w:rpr", "w:t", "w:ppr", NULL, " w:hyperlink w:ins w:smarttag ", "w:fldchar",
                                 "<w:t xml:space=\"preserve\">", "</w:t>" };
static const vocabulary slide = { "a:p", "a:r", "a:rpr", "a:t", "a:ppr", "a:endpararpr", " ", NULL, "<a:t>", "</a:t>" };

static const char breaks[] = " w:tab w:br w:cr a:br ";
static const char text_fields[] = " hyperlink toc ref styleref quote index "; /* commands whose result is a text */

typedef struct {
    const vocabulary *v;
    rg_document      *d;
    const char       *text;
    size_t            bytes;
    int               depth;
} reader;

typedef struct {
    char   name[RG_MARK_NAME];
    size_t begin, inner, close, end; /* its tag, its content, its closing tag and what follows */
} element;

/* ------------------------------------------------------------------------------------------------------- elements */

/* The element at text[at], a tag that opens one. */
static element element_at(const reader *r, size_t at, size_t end)
{
    element e = { .begin = at, .inner = rg_tag__end(r->text, end, at) };
    rg_tag__name(e.name, r->text + at);
    e.close = e.end = e.inner;
    if (*e.name && !rg_tag__closes_itself(r->text, e.inner) && r->text[at + 1] != '/')
        e.end = rg_tag__element_end(&e.close, r->text, end, e.inner, e.name);
    return e;
}

/* The next tag that opens or closes something, from `at`; `end`: none. */
static size_t next_tag(const reader *r, size_t at, size_t end)
{
    while (at < end) {
        const char *tag = memchr(r->text + at, '<', end - at);
        if (!tag) return end;
        at = (size_t)(tag - r->text);
        if (rg_tag__is(tag)) return at;
        at++;
    }
    return end;
}

static bool has_inside(const reader *r, const char *name, size_t begin, size_t end)
{
    char other[RG_MARK_NAME];
    for (size_t at = next_tag(r, begin, end); at < end; at = next_tag(r, at + 1, end)) {
        rg_tag__name(other, r->text + at);
        if (r->text[at + 1] != '/' && strcmp(other, name) == 0) return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------ paragraphs */

typedef struct {
    reader   *r;
    rg_cutter c;
    char      ground[FORMAT]; /* the format of the ground's run */
    char      inner[FORMAT];  /* and of the one inside a container */
    bool      contained;
    char      now[FORMAT];    /* the format of the run that is open as a mark; "": none is */
    bool      marked;
} paragraph;

static const char *ground_of(const paragraph *p) { return p->contained ? p->inner : p->ground; }

/* <w:r> and its format. Identifiers of revisions on the tag are left out. */
static bool run_format(char out[FORMAT], const reader *r, const element *run)
{
    size_t n = (size_t)snprintf(out, FORMAT, "<%s>", r->v->run);
    size_t at = next_tag(r, run->inner, run->close);
    if (at >= run->close) return true;
    const element f = element_at(r, at, run->close);
    if (strcmp(f.name, r->v->format) != 0) return true;
    if (n + (f.end - f.begin) >= FORMAT) return false;
    memcpy(out + n, r->text + f.begin, f.end - f.begin);
    out[n + (f.end - f.begin)] = 0;
    return true;
}

static rg_status add_print(rg_text *out, const paragraph *p, const char *between, size_t bytes, const char *format)
{
    RG_TRY(rg_text_print(out, "%s</%s>", p->r->v->shut, p->r->v->run));
    RG_TRY(rg_text_add(out, between, bytes));
    return rg_text_print(out, "%s%s", format, p->r->v->open);
}

static rg_status close_run(paragraph *p)
{
    rg_text tag = { 0 };
    if (!p->marked) return RG_OK;
    p->marked = false;
    rg_status status = add_print(&tag, p, "", 0, ground_of(p));
    if (status == RG_OK) status = rg_cutter__close(&p->c, "run", rg_text_c(&tag), tag.length);
    rg_text_free(&tag);
    return status;
}

static rg_status open_run(paragraph *p, const char *format)
{
    rg_text tag = { 0 };
    if (p->marked && strcmp(p->now, format) == 0) return RG_OK;
    RG_TRY(close_run(p));
    if (strcmp(format, ground_of(p)) == 0 || p->c.marks >= RG_CUTTER_MARKS) return RG_OK;
    snprintf(p->now, sizeof p->now, "%s", format);
    p->marked = true;
    rg_status status = add_print(&tag, p, "", 0, format);
    if (status == RG_OK) status = rg_cutter__open(&p->c, "run", rg_text_c(&tag), tag.length);
    rg_text_free(&tag);
    return status;
}

static rg_status read_range(reader *r, size_t begin, size_t end);

/* Bytes that stay, with the paragraphs inside of them as a group. */
static rg_status add_opaque(rg_text *out, paragraph *p, size_t begin, size_t end)
{
    reader *r = p->r;
    int     before;
    if (!has_inside(r, r->v->paragraph, begin, end) || r->d->ungrouped || r->depth >= DEEPEST)
        return rg_text_add(out, r->text + begin, end - begin);
    RG_TRY(rg_document__begin_group(r->d, &before));
    RG_TRY(read_range(r, begin, end));
    return rg_document__end_group(out, r->d, before);
}

/* Something that is no text: outside of runs, or inside the one that is open. */
static rg_status add_point(paragraph *p, size_t begin, size_t end, bool inside)
{
    rg_text   tag = { 0 };
    rg_status status = RG_OK;
    if (!inside) status = close_run(p);
    if (status == RG_OK) status = rg_text_add_string(&tag, p->r->v->shut);
    if (status == RG_OK && !inside) status = rg_text_print(&tag, "</%s>", p->r->v->run);
    if (status == RG_OK) status = add_opaque(&tag, p, begin, end);
    if (status == RG_OK && !inside) status = rg_text_add_string(&tag, ground_of(p));
    if (status == RG_OK) status = rg_text_add_string(&tag, p->r->v->open);
    if (status == RG_OK) status = rg_cutter__lone(&p->c, rg_text_c(&tag), tag.length);
    rg_text_free(&tag);
    return status;
}

static rg_status add_text(paragraph *p, size_t begin, size_t end)
{
    for (size_t at = begin; at < end;) {
        if (strchr(" \n\r\t", p->r->text[at])) {
            if (!rg_cutter__drops_blank(&p->c)) RG_TRY(rg_text_add(&p->c.plain, " ", 1));
            p->c.gap = 0;
            at++;
            continue;
        }
        RG_TRY(rg_cutter__word(&p->c));
        RG_TRY(rg_html__character(&p->c.plain, p->r->text, end, &at));
    }
    return RG_OK;
}

static rg_status read_run(paragraph *p, const element *run)
{
    reader *r = p->r;
    char    format[FORMAT];
    if (!has_inside(r, r->v->text, run->inner, run->close) || !run_format(format, r, run) ||
        (r->v->field && has_inside(r, r->v->field, run->inner, run->close)) ||
        has_inside(r, r->v->paragraph, run->inner, run->close))
        return add_point(p, run->begin, run->end, false);
    RG_TRY(open_run(p, format));
    for (size_t at = next_tag(r, run->inner, run->close); at < run->close;) {
        const element e = element_at(r, at, run->close);
        if (strcmp(e.name, r->v->text) == 0) RG_TRY(add_text(p, e.inner, e.close));
        else if (strcmp(e.name, r->v->format) != 0) {
            RG_TRY(add_point(p, e.begin, e.end, true));
            if (rg_word_in(breaks, e.name)) rg_cutter__break(&p->c);
        }
        at = next_tag(r, e.end, run->close);
    }
    return RG_OK;
}

static rg_status read_items(paragraph *p, size_t begin, size_t end);

/* w:hyperlink and the like: a mark, with a ground of its own. */
static rg_status read_container(paragraph *p, const element *e)
{
    reader *r = p->r;
    rg_text tag = { 0 };
    size_t  at = next_tag(r, e->inner, e->close);
    if (at >= e->close || p->contained) return add_point(p, e->begin, e->end, false);
    const element first = element_at(r, at, e->close);
    if (strcmp(first.name, r->v->run) != 0 || !run_format(p->inner, r, &first) ||
        !has_inside(r, r->v->text, e->inner, e->close))
        return add_point(p, e->begin, e->end, false);
    rg_status status = close_run(p);
    if (status == RG_OK) status = add_print(&tag, p, r->text + e->begin, e->inner - e->begin, p->inner);
    if (status == RG_OK) status = rg_cutter__open(&p->c, "link", rg_text_c(&tag), tag.length);
    p->contained = true;
    if (status == RG_OK) status = read_items(p, e->inner, e->close);
    if (status == RG_OK) status = close_run(p);
    p->contained = false;
    rg_text_clear(&tag);
    if (status == RG_OK) status = add_print(&tag, p, r->text + e->close, e->end - e->close, p->ground);
    if (status == RG_OK) status = rg_cutter__close(&p->c, "link", rg_text_c(&tag), tag.length);
    rg_text_free(&tag);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- fields */

/* The first word of a command, as far as it is letters. */
static bool is_text_field(const char *command, size_t bytes)
{
    char   name[RG_MARK_NAME];
    size_t n = 0;
    while (bytes && strchr(" \t\r\n", *command)) command++, bytes--;
    while (n < bytes && n < sizeof name - 1 && isalpha((unsigned char)command[n])) {
        name[n] = (char)tolower((unsigned char)command[n]);
        n++;
    }
    name[n] = 0;
    return n && rg_word_in(text_fields, name);
}

typedef struct {
    bool   text;              /* its result is one */
    size_t result, last, end; /* where its result begins; the run that ends it, and behind that; last 0: not in this range */
} field;

/* The run that holds text[at], among those of `from` on: its beginning and end. */
static rg_range run_around(const reader *r, size_t from, size_t at, size_t end)
{
    char     name[RG_MARK_NAME];
    rg_range out = { at, end };
    for (size_t k = next_tag(r, from, end); k < end && k <= at; k = next_tag(r, k + 1, end)) {
        rg_tag__name(name, r->text + k);
        if (r->text[k + 1] != '/' && strcmp(name, r->v->run) == 0) out.begin = k;
    }
    out.end = element_at(r, out.begin, end).end;
    if (out.end <= at) out.end = end;
    return out;
}

/* The field that this run begins; false: it begins none. */
static bool find_field(field *out, const reader *r, const element *run, size_t end)
{
    size_t depth = 0;
    char   name[RG_MARK_NAME];
    *out = (field){ .result = 0 };
    if (!r->v->field || strcmp(run->name, r->v->run) != 0 || !has_inside(r, r->v->field, run->inner, run->close)) return false;
    for (size_t at = next_tag(r, run->inner, end); at < end; at = next_tag(r, at + 1, end)) {
        const char *kind = NULL;
        rg_tag__name(name, r->text + at);
        if (r->text[at + 1] == '/') continue;
        if (strcmp(name, "w:instrtext") == 0 && depth == 1 && !out->text && !out->result) {
            const element e = element_at(r, at, end);
            out->text = is_text_field(r->text + e.inner, e.close - e.inner);
        }
        if (strcmp(name, r->v->field) != 0) continue;
        const size_t n = rg_tag__value(&kind, r->text + at, rg_tag__end(r->text, end, at) - at, "w:fldCharType");
        if (n == 5 && strncmp(kind, "begin", 5) == 0) depth++;
        if (n == 8 && strncmp(kind, "separate", 8) == 0 && depth == 1) out->result = run_around(r, run->begin, at, end).end;
        if (n == 3 && strncmp(kind, "end", 3) == 0 && (!depth || --depth == 0)) {
            const rg_range last = run_around(r, out->result ? out->result : run->begin, at, end);
            out->last = last.begin;
            out->end = last.end;
            return true;
        }
    }
    out->end = end; /* it goes on in another paragraph */
    return true;
}

/* An element around runs as the bytes before its text, its text, and the bytes behind: links, fields, and the content of
 * controls. False: it is none. */
static bool as_container(element *e, const reader *r, size_t end)
{
    const char *value = NULL;
    field       f;
    if (rg_word_in(r->v->containers, e->name)) return true;
    if (!r->v->field) return false;
    if (strcmp(e->name, "w:fldsimple") == 0) {
        const size_t n = rg_tag__value(&value, r->text + e->begin, e->inner - e->begin, "w:instr");
        return is_text_field(value, n);
    }
    if (strcmp(e->name, "w:sdt") == 0) {
        for (size_t at = next_tag(r, e->inner, e->close); at < e->close;) {
            const element inner = element_at(r, at, e->close);
            if (strcmp(inner.name, "w:sdtcontent") == 0) {
                e->inner = inner.inner;
                e->close = inner.close;
                return true;
            }
            at = next_tag(r, inner.end, e->close);
        }
        return false;
    }
    if (!find_field(&f, r, e, end) || !f.text || !f.result || !f.last || f.last < f.result) return false;
    e->inner = f.result;
    e->close = f.last;
    e->end = f.end;
    return true;
}

/* Where a field that is no container ends, as a point: a value is one. Of a text over several paragraphs it is the command,
 * in the first of them. */
static size_t field_point(const field *f, int *open)
{
    const bool goes_on = f->text && f->result && !f->last && ++*open <= OPEN_FIELDS;
    return goes_on ? f->result : f->end;
}

static rg_status read_items(paragraph *p, size_t begin, size_t end)
{
    reader *r = p->r;
    int     open = 0;
    for (size_t at = next_tag(r, begin, end); at < end;) {
        element e = element_at(r, at, end);
        field   f;
        if (as_container(&e, r, end)) RG_TRY(read_container(p, &e));
        else if (find_field(&f, r, &e, end)) {
            e.end = field_point(&f, &open);
            RG_TRY(add_point(p, e.begin, e.end, false));
        } else if (strcmp(e.name, r->v->run) == 0) RG_TRY(read_run(p, &e));
        else {
            RG_TRY(add_point(p, e.begin, e.end, false));
            if (rg_word_in(breaks, e.name)) rg_cutter__break(&p->c);
        }
        at = next_tag(r, e.end, end);
    }
    return RG_OK;
}

/* Bytes of text in a run. */
static size_t text_bytes(const reader *r, const element *run)
{
    size_t n = 0;
    for (size_t at = next_tag(r, run->inner, run->close); at < run->close;) {
        const element e = element_at(r, at, run->close);
        if (strcmp(e.name, r->v->text) == 0) n += e.close - e.inner;
        at = next_tag(r, e.end, run->close);
    }
    return n;
}

/* The format with the most text, among runs that are children of the paragraph; a plain one where all text is inside of
 * containers. */
static bool choose_ground(paragraph *p, size_t begin, size_t end)
{
    char   format[FORMAT];
    size_t most = 0;
    bool   inside = false;
    int    open = 0;
    for (size_t at = next_tag(p->r, begin, end); at < end;) {
        element e = element_at(p->r, at, end);
        field   f;
        size_t  n = 0;
        if (as_container(&e, p->r, end)) inside = inside || has_inside(p->r, p->r->v->text, e.inner, e.close);
        else if (find_field(&f, p->r, &e, end)) e.end = field_point(&f, &open);
        else if (strcmp(e.name, p->r->v->run) == 0) n = text_bytes(p->r, &e);
        if (n > most && run_format(format, p->r, &e)) {
            most = n;
            memcpy(p->ground, format, sizeof format);
        }
        at = next_tag(p->r, e.end, end);
    }
    if (!most && inside) snprintf(p->ground, sizeof p->ground, "<%s>", p->r->v->run);
    return most > 0 || inside;
}

/* Has the paragraph words of its own, which are not in a paragraph inside of it? */
static rg_status has_words(bool *out, const reader *r, size_t begin, size_t end)
{
    rg_text   plain = { 0 };
    rg_status status = RG_OK;
    for (size_t at = next_tag(r, begin, end); status == RG_OK && at < end;) {
        const element e = element_at(r, at, end);
        const bool    text = strcmp(e.name, r->v->text) == 0, nested = strcmp(e.name, r->v->paragraph) == 0;
        if (text) status = rg_text_add(&plain, r->text + e.inner, e.close - e.inner);
        at = next_tag(r, text || nested ? e.end : e.inner, end);
    }
    if (status == RG_OK) status = rg_segment__has_words(out, rg_text_c(&plain), plain.length, NULL, 0);
    rg_text_free(&plain);
    return status;
}

/* What stands last in a paragraph is no part of its text. */
static size_t content_end(const reader *r, size_t begin, size_t end)
{
    for (size_t at = next_tag(r, begin, end); r->v->last && at < end;) {
        const element e = element_at(r, at, end);
        if (strcmp(e.name, r->v->last) == 0) return e.begin;
        at = next_tag(r, e.end, end);
    }
    return end;
}

static rg_status read_paragraph(paragraph *p, size_t begin, size_t end)
{
    reader *r = p->r;
    RG_TRY(rg_document__keep(r->d, p->ground, strlen(p->ground)));
    RG_TRY(rg_document__keep(r->d, r->v->open, strlen(r->v->open)));
    RG_TRY(read_items(p, begin, end));
    RG_TRY(close_run(p));
    rg_cutter__solid(&p->c, p->c.begin);
    RG_TRY(rg_cutter__end(&p->c, p->c.begin));
    RG_TRY(rg_document__keep(r->d, r->v->shut, strlen(r->v->shut)));
    rg_text   tail = { 0 };
    rg_status status = rg_text_print(&tail, "</%s>", r->v->run);
    if (status == RG_OK) status = rg_document__keep(r->d, rg_text_c(&tail), tail.length);
    rg_text_free(&tail);
    return status;
}

/* Paragraphs of text[begin .. end); all else is copied. */
static rg_status read_range(reader *r, size_t begin, size_t end)
{
    size_t kept = begin;
    char   name[RG_MARK_NAME];
    r->depth++;
    for (size_t at = next_tag(r, begin, end); at < end; at = next_tag(r, at + 1, end)) {
        rg_tag__name(name, r->text + at);
        if (r->text[at + 1] == '/' || strcmp(name, r->v->paragraph) != 0) continue;
        const element e = element_at(r, at, end);
        size_t        from = e.inner, to = content_end(r, e.inner, e.close);
        const size_t  first = next_tag(r, from, to);
        rg_tag__name(name, r->text + first);
        if (first < to && strcmp(name, r->v->first) == 0) from = element_at(r, first, to).end;
        bool       words = false;
        paragraph *p = rg_alloc_zero(sizeof *p);
        if (!p) return RG_ENOMEM;
        *p = (paragraph){ .r = r, .c = rg_cutter__new(r->d, r->text, to, from, rg_html__escape) };
        rg_status status = has_words(&words, r, from, to);
        if (status == RG_OK && words && choose_ground(p, from, to)) {
            status = rg_document__keep(r->d, r->text + kept, from - kept);
            if (status == RG_OK) status = read_paragraph(p, from, to);
            kept = to;
            at = to - 1;
        }
        rg_cutter__fini(&p->c);
        rg_free(p);
        RG_TRY(status);
    }
    r->depth--;
    return rg_document__keep(r->d, r->text + kept, end - kept);
}

static rg_status read_xml(rg_document *d, const char *text, size_t bytes, const vocabulary *v)
{
    reader r = { .v = v, .d = d, .text = text, .bytes = bytes };
    return read_range(&r, 0, bytes);
}
static rg_status read_word(rg_document *d, const char *text, size_t bytes) { return read_xml(d, text, bytes, &word); }
static rg_status read_slide(rg_document *d, const char *text, size_t bytes) { return read_xml(d, text, bytes, &slide); }

/* ------------------------------------------------------------------------------------------------------- writing */

/* Where the run begins whose empty text is at text[at]; `at`: it has more than a format. */
static size_t empty_run(const char *text, size_t from, size_t at, const vocabulary *v)
{
    char         open[RG_MARK_NAME + 4];
    const size_t n = (size_t)snprintf(open, sizeof open, "<%s>", v->run);
    for (size_t begin = at; begin > from && at - begin < FORMAT; begin--) {
        if (begin < n || strncmp(text + begin - n, open, n) != 0) continue;
        for (size_t i = begin; i < at; i++) /* what is between is the format */
            if (strncmp(text + i, v->open, 4) == 0 || strncmp(text + i, "</", 2) == 0) {
                char name[RG_MARK_NAME];
                rg_tag__name(name, text + i);
                if (strcmp(name, v->text) == 0 || strcmp(name, v->run) == 0) return at;
            }
        return begin - n;
    }
    return at;
}

/* Runs of ours that nothing was put into. */
static rg_status drop_empty(rg_text *out, const rg_text *member, const vocabulary *v)
{
    const char *text = rg_text_c(member);
    char        empty[128];
    size_t      from = 0;
    snprintf(empty, sizeof empty, "%s%s</%s>", v->open, v->shut, v->run);
    for (const char *found; (found = strstr(text + from, empty));) {
        const size_t at = (size_t)(found - text), begin = empty_run(text, from, at, v), end = at + strlen(empty);
        RG_TRY(rg_text_add(out, text + from, (begin < at ? begin : end) - from));
        from = end;
    }
    return rg_text_add(out, text + from, member->length - from);
}

static rg_status pack(rg_text *out, const rg_document *d, const rg_text *members, const vocabulary *v)
{
    rg_text  *clean = rg_alloc_zero((d->members + 1) * sizeof *clean);
    rg_status status = clean ? RG_OK : RG_ENOMEM;
    for (size_t m = 0; status == RG_OK && m < d->members; m++) status = drop_empty(&clean[m], &members[m], v);
    if (status == RG_OK) status = rg_archive__pack(out, d, clean);
    for (size_t m = 0; clean && m < d->members; m++) rg_text_free(&clean[m]);
    rg_free(clean);
    return status;
}
static rg_status pack_docx(rg_text *out, const rg_document *d, const rg_text *members)
{
    return pack(out, d, members, &word);
}
static rg_status pack_pptx(rg_text *out, const rg_document *d, const rg_text *members)
{
    return pack(out, d, members, &slide);
}

/* ------------------------------------------------------------------------------------------------------- formats */

static rg_status read_docx(rg_document *d, const char *bytes, size_t count)
{
    static const rg_member_kind kinds[] = { { "word/document.xml", read_word },  { "word/header*.xml", read_word },
                                            { "word/footer*.xml", read_word },   { "word/footnotes.xml", read_word },
                                            { "word/endnotes.xml", read_word },  { "word/comments.xml", read_word },
                                            { 0 } };
    return rg_archive__read(d, bytes, count, kinds);
}

static rg_status read_pptx(rg_document *d, const char *bytes, size_t count)
{
    static const rg_member_kind kinds[] = { { "ppt/slides/slide*.xml", read_slide },
                                            { "ppt/notesSlides/notesSlide*.xml", read_slide },
                                            { "ppt/diagrams/data*.xml", read_slide },
                                            { 0 } };
    return rg_archive__read(d, bytes, count, kinds);
}

const rg_document_format rg_document_format_docx = {
    .name = "docx",
    .endings = " .docx .docm .dotx ",
    .type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    .about = "paragraphs, headers, footers, notes, comments, links, contents",
    .read = read_docx,
    .pack = pack_docx,
};

const rg_document_format rg_document_format_pptx = {
    .name = "pptx",
    .endings = " .pptx .pptm ",
    .type = "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    .about = "text of slides and notes",
    .read = read_pptx,
    .pack = pack_pptx,
};
