/* html.c - HTML (and, by other lists of elements, XML): paragraphs without their tags, and what stays as it is.
 *
 * Block tags (p, li, td, br, ...) separate paragraphs; the tags inside a paragraph become marks over its text
 * (cutter.c), which markup.c puts back into the translation. A line end is a blank.
 *
 * HTML is read loosely, by byte offsets and without a tree: nothing is refused, broken markup stays as broken as it
 * was, and every tag is handed back once. A tree library would repair what it reads, and the file would not be the
 * same outside of its text. The content of code, of translate="no" and of class "notranslate" is part of the
 * sentence, so that the sentence is whole, and stands in the translation as it stood in the source. */
#include "data/documents/documents.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
    KEPT = 200, /* bytes of an element that stays inside a sentence */
    DEEPEST = 4 /* notes inside of notes                            */
};

const rg_dialect rg_dialect_html = {
    .blocks = " html head body title meta link base p div h1 h2 h3 h4 h5 h6 ul ol li dl dt dd dir menu table caption "
              "colgroup col thead tbody tfoot tr td th section article aside header footer nav main figure figcaption "
              "blockquote pre form fieldset legend hr br address details summary dialog select option optgroup "
              "textarea button iframe video audio source track object embed canvas noscript template center hgroup "
              "search frameset frame map area listing xmp plaintext ",
    .voids = " area base br col embed hr img input link meta param source track wbr ",
    .kept = " code kbd samp var tt ",
    .skipped = " math svg script style pre listing xmp plaintext ",
    .attributes = " title alt placeholder aria-label label summary ",
    .html = true,
};

typedef struct {
    rg_cutter         c;
    const rg_dialect *dialect;
    size_t            inside; /* elements of dialect->inside that are open */
    int               depth;  /* notes around it                           */
} reader;

static bool has_no_end(const reader *r, size_t end, const char *name)
{
    return (r->dialect->voids && rg_word_in(r->dialect->voids, name)) || rg_tag__closes_itself(r->c.text, end);
}

static bool is_block(const reader *r, const char *name)
{
    if (!*name) return false; /* a comment */
    return r->dialect->blocks ? rg_word_in(r->dialect->blocks, name) : !rg_word_in(r->dialect->inlines, name);
}

/* Is it copied with all that is in it? */
static bool stays(const reader *r, const char *tag, size_t bytes, const char *name)
{
    const char *value = NULL;
    if (tag[1] == '/' || !*name) return false;
    if (rg_word_in(r->dialect->kept, name) || rg_word_in(r->dialect->skipped, name)) return true;
    if (!r->dialect->html) return false;
    size_t n = rg_tag__value(&value, tag, bytes, "translate");
    if (n == 2 && strncasecmp(value, "no", 2) == 0) return true;
    n = rg_tag__value(&value, tag, bytes, "class");
    for (size_t i = 0; i + 11 <= n; i++)
        if (strncmp(value + i, "notranslate", 11) == 0) return true;
    return false;
}

/* Where the element whose tag ends at `at` ends: behind its closing tag, or the text's end. */
static size_t element_end(const reader *r, size_t at, const char *name)
{
    char         other[RG_MARK_NAME];
    const char  *text = r->c.text;
    const bool   raw = r->dialect->html && rg_word_in(" script style ", name); /* no tags inside */
    const size_t n = strlen(name);
    for (size_t depth = 1, end; at < r->c.bytes; at = end) {
        const char *tag = memchr(text + at, '<', r->c.bytes - at);
        if (!tag) break;
        at = (size_t)(tag - text);
        end = at + 1;
        if (!rg_tag__is(tag)) continue;
        if (raw && !(tag[1] == '/' && strncasecmp(tag + 2, name, n) == 0)) continue;
        end = rg_tag__end(text, r->c.bytes, at);
        rg_tag__name(other, tag);
        if (strcmp(other, name) != 0) continue;
        if (tag[1] != '/') depth += !has_no_end(r, end, other);
        else if (--depth == 0) return end;
    }
    return r->c.bytes;
}

/* ----------------------------------------------------------------------------------------------------- attributes */

/* Is this attribute a text for people? */
static bool is_text(const reader *r, const char *tag, size_t bytes, const rg_attribute *a, const char *name)
{
    const char *other = NULL;
    char        word[RG_MARK_NAME];
    if (!r->dialect->attributes || a->name.end - a->name.begin >= sizeof word) return false;
    for (size_t i = 0; i < a->name.end - a->name.begin; i++)
        word[i] = (char)tolower((unsigned char)tag[a->name.begin + i]);
    word[a->name.end - a->name.begin] = 0;
    if (rg_word_in(r->dialect->attributes, word)) return true;
    if (!r->dialect->html) return false;
    if (strcmp(word, "content") == 0 && strcmp(name, "meta") == 0) {
        static const char *const texts[] = { "description", "keywords", "og:title", "og:description", "twitter:title",
                                             "twitter:description" };
        size_t n = rg_tag__value(&other, tag, bytes, "name");
        if (!n) n = rg_tag__value(&other, tag, bytes, "property");
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            if (strlen(texts[i]) == n && strncasecmp(other, texts[i], n) == 0) return true;
    }
    if (strcmp(word, "value") == 0 && strcmp(name, "input") == 0) {
        const size_t n = rg_tag__value(&other, tag, bytes, "type");
        return (n == 6 && (strncasecmp(other, "submit", 6) == 0 || strncasecmp(other, "button", 6) == 0)) ||
               (n == 5 && strncasecmp(other, "reset", 5) == 0);
    }
    return false;
}

/* The text of a value as paragraphs. */
static rg_status read_value(rg_document *d, const char *text, size_t begin, size_t end)
{
    rg_cutter c = rg_cutter__new(d, text, end, begin, rg_html__escape_value);
    rg_status status = RG_OK;
    for (size_t at = begin; status == RG_OK && at < end;) {
        if (isspace((unsigned char)text[at])) {
            status = rg_cutter__blank(&c);
            at++;
        } else {
            status = rg_html__character(&c.plain, text, end, &at);
            rg_cutter__solid(&c, at);
        }
    }
    if (status == RG_OK) status = rg_cutter__end(&c, end);
    rg_cutter__fini(&c);
    return status;
}

/* The tag with groups in place of the texts of its attributes. */
static rg_status tag_text(rg_text *out, reader *r, size_t at, size_t end, const char *name)
{
    const char  *tag = r->c.text + at;
    rg_document *d = r->c.document;
    rg_attribute a;
    size_t       written = 0;
    const bool   tagged = r->dialect->attributes && tag[1] != '/' && *name && !d->ungrouped;
    for (size_t i = 0; tagged && rg_tag__next(&a, tag, end - at, &i);) {
        int before;
        if (a.value.end == a.value.begin || !is_text(r, tag, end - at, &a, name)) continue;
        RG_TRY(rg_text_add(out, tag + written, a.value.begin - written));
        if (!a.quote) RG_TRY(rg_text_add(out, "\"", 1)); /* a translation may have blanks */
        RG_TRY(rg_document__begin_group(d, &before));
        RG_TRY(read_value(d, r->c.text, at + a.value.begin, at + a.value.end));
        RG_TRY(rg_document__end_group(out, d, before));
        if (!a.quote) RG_TRY(rg_text_add(out, "\"", 1));
        written = a.value.end;
    }
    return rg_text_add(out, tag + written, end - at - written);
}

/* ----------------------------------------------------------------------------------------------------------- tags */

/* The words of an element, without tags and with single blanks, as part of the sentence. */
static rg_status add_words(reader *r, size_t at, size_t end)
{
    rg_text *plain = &r->c.plain;
    while (at < end) {
        if (rg_tag__is(r->c.text + at)) {
            at = rg_tag__end(r->c.text, end, at);
        } else if (isspace((unsigned char)r->c.text[at])) {
            if (plain->length && plain->data[plain->length - 1] != ' ') RG_TRY(rg_text_add(plain, " ", 1));
            at++;
        } else {
            RG_TRY(rg_html__character(plain, r->c.text, end, &at));
        }
    }
    return RG_OK;
}

/* An element that is not translated. Without attention nothing says where its words went: then it separates
 * paragraphs, and so does one of several lines or one that is longer than a few words. */
static rg_status keep(reader *r, size_t at, size_t end, size_t whole, const char *name)
{
    rg_cutter *c = &r->c;
    const bool wordless = rg_word_in(r->dialect->skipped, name),
               small = whole - at <= KEPT && !memchr(c->text + at, '\n', whole - at);
    if (is_block(r, name) || c->marks >= RG_CUTTER_MARKS ||
        (!wordless && (!c->document->config.aligned || !small)))
        return rg_cutter__cut(c, at, whole);
    const size_t before = c->plain.length;
    if (!wordless) RG_TRY(add_words(r, end, whole));
    return c->plain.length == before ? rg_cutter__point(c, at, whole) : rg_cutter__kept(c, at, whole, before);
}

static rg_status cut_tag(reader *r, size_t at, size_t end, const char *name)
{
    rg_text   text = { 0 };
    rg_status status = rg_cutter__end(&r->c, at);
    if (status == RG_OK) status = tag_text(&text, r, at, end, name);
    if (status == RG_OK) status = rg_document__keep(r->c.document, rg_text_c(&text), text.length);
    r->c.begin = r->c.solid = end;
    rg_text_free(&text);
    return status;
}

/* A tag without an end: img, a comment. Before the first word it stays where it is. */
static rg_status lone_tag(reader *r, size_t at, size_t end, const char *name)
{
    rg_text   text = { 0 };
    rg_status status = tag_text(&text, r, at, end, name);
    if (status == RG_OK) status = rg_cutter__point_as(&r->c, at, end, rg_text_c(&text), text.length);
    if (r->dialect->breaks && rg_word_in(r->dialect->breaks, name)) rg_cutter__break(&r->c);
    rg_text_free(&text);
    return status;
}

static rg_status inline_tag(reader *r, size_t at, size_t end, const char *name)
{
    rg_cutter *c = &r->c;
    rg_text    text = { 0 };
    rg_status  status = tag_text(&text, r, at, end, name);
    if (status == RG_OK) status = rg_cutter__swap(c, at, end, rg_text_c(&text), text.length);
    if (status == RG_OK)
        status = c->text[at + 1] == '/' ? rg_cutter__close(c, name, rg_text_c(&text), text.length)
                                        : rg_cutter__open(c, name, rg_text_c(&text), text.length);
    rg_cutter__solid(c, end);
    rg_text_free(&text);
    return status;
}

static rg_status read_text(reader *r, size_t from, size_t to);

static bool is_note(const reader *r, size_t at, size_t end, const char *name)
{
    return r->dialect->notes && r->inside && r->c.text[at + 1] != '/' && rg_word_in(r->dialect->notes, name) &&
           !has_no_end(r, end, name) && r->depth < DEEPEST && !r->c.document->ungrouped && r->c.marks < RG_CUTTER_MARKS;
}

/* A footnote: a point of the sentence it stands in, with paragraphs of its own as a group. */
static rg_status read_note(reader *r, size_t at, size_t end, size_t whole)
{
    rg_document *d = r->c.document;
    reader       inner = { .c = rg_cutter__new(d, r->c.text, whole, end, rg_html__escape), .dialect = r->dialect,
                           .depth = r->depth + 1 };
    rg_text      text = { 0 };
    int          before = -1;
    rg_status    status = rg_text_add(&text, r->c.text + at, end - at);
    if (status == RG_OK) status = rg_document__begin_group(d, &before);
    if (status == RG_OK) status = read_text(&inner, end, whole);
    if (status == RG_OK) status = rg_cutter__end(&inner.c, whole);
    if (status == RG_OK) status = rg_document__end_group(&text, d, before);
    if (status == RG_OK) status = rg_cutter__point_as(&r->c, at, whole, rg_text_c(&text), text.length);
    rg_cutter__fini(&inner.c);
    rg_text_free(&text);
    return status;
}

static void count_inside(reader *r, size_t at, size_t end, const char *name)
{
    if (!r->dialect->inside || !rg_word_in(r->dialect->inside, name)) return;
    if (r->c.text[at + 1] == '/') r->inside -= r->inside > 0;
    else r->inside += !rg_tag__closes_itself(r->c.text, end);
}

/* The tag at `at`; *next: behind it, or behind what it encloses. */
static rg_status read_tag(reader *r, size_t at, size_t *next)
{
    const char  *tag = r->c.text + at;
    const size_t end = rg_tag__end(r->c.text, r->c.bytes, at);
    char         name[RG_MARK_NAME];
    rg_tag__name(name, tag);
    *next = end;
    if (r->c.text[end - 1] != '>') return rg_cutter__cut(&r->c, at, *next = r->c.bytes); /* never closed */
    count_inside(r, at, end, name);
    if (stays(r, tag, end - at, name)) {
        *next = has_no_end(r, end, name) ? end : element_end(r, end, name);
        return keep(r, at, end, *next, name);
    }
    if (is_note(r, at, end, name)) return read_note(r, at, end, *next = element_end(r, end, name));
    if (is_block(r, name) || r->c.marks >= RG_CUTTER_MARKS) return cut_tag(r, at, end, name);
    if (!*name || has_no_end(r, end, name)) return lone_tag(r, at, end, name);
    return inline_tag(r, at, end, name);
}

static rg_status read_text(reader *r, size_t from, size_t to)
{
    rg_cutter *c = &r->c;
    for (size_t at = from; at < to;) {
        if (c->text[at] == '<' && rg_tag__is(c->text + at)) {
            RG_TRY(read_tag(r, at, &at));
        } else if (r->dialect->inside && !r->inside) {
            at++;
        } else if (strchr(" \t\r\n", c->text[at])) {
            size_t     end = at;
            const bool dropped = rg_cutter__drops_blank(c);
            while (end < to && c->text[end] && strchr(" \t\r\n", c->text[end])) end++;
            const bool lines = memchr(c->text + at, '\n', end - at) != NULL; /* blanks without a line end stay as they are */
            if (!c->marks && !c->plain.length) RG_TRY(rg_cutter__cut(c, at, end)); /* before the first word */
            else if (!dropped) RG_TRY(rg_text_add(&c->plain, lines ? " " : c->text + at, lines ? 1 : end - at));
            else if (!lines && end - at > 1) RG_TRY(rg_text_add(&c->plain, c->text + at + 1, end - at - 1));
            at = end;
        } else {
            RG_TRY(rg_cutter__word(c));
            RG_TRY(rg_html__character(&c->plain, c->text, c->bytes, &at));
            rg_cutter__solid(c, at);
        }
    }
    return RG_OK;
}

rg_status rg_html__read(rg_document *d, const char *text, size_t bytes, const rg_dialect *dialect)
{
    reader    r = { .c = rg_cutter__new(d, text, bytes, 0, rg_html__escape), .dialect = dialect };
    rg_status status = read_text(&r, 0, bytes);
    if (status == RG_OK) status = rg_cutter__end(&r.c, bytes);
    rg_cutter__fini(&r.c);
    return status;
}

static rg_status read(rg_document *d, const char *text, size_t bytes)
{
    return rg_html__read(d, text, bytes, &rg_dialect_html);
}

const rg_document_format rg_document_format_html = {
    .name = "html",
    .endings = " .html .htm .xhtml ",
    .type = "text/html",
    .about = "text, and the attributes title, alt, placeholder, aria-label, label",
    .read = read,
};
