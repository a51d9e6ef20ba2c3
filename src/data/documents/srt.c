/* srt.c - subtitles: SubRip and WebVTT. The text of a cue is one paragraph, whose sentences are translated one by one and
 * whose line ends go where they stood in proportion (layout.c); numbers, times, settings, notes and styles stay. Lines
 * of a dialogue, which begin with a dash, are paragraphs.
 *
 *     00:00:01,000 --> 00:00:03,000
 *     <i>Where are</i> you going
 *     so early?
 *
 * A sentence that goes on in the next cue is translated whole, where that is clear: no sign of an end, no tags, and a next
 * cue that follows at once or begins with a small letter. */
#include "data/documents/documents.h"

#include <ctype.h>
#include <string.h>
#include <utf8proc.h>

static size_t line_end(const char *text, size_t bytes, size_t at) /* its LF, or the end */
{
    const char *end = memchr(text + at, '\n', bytes - at);
    return end ? (size_t)(end - text) : bytes;
}

static bool is_blank_line(const char *text, size_t at, size_t end)
{
    while (at < end && isspace((unsigned char)text[at])) at++;
    return at == end;
}

static bool is_time_line(const char *text, size_t at, size_t end)
{
    while (at < end && (text[at] == ' ' || text[at] == '\t')) at++;
    if (at == end || !isdigit((unsigned char)text[at])) return false;
    for (; at + 3 <= end; at++)
        if (memcmp(text + at, "-->", 3) == 0) return true;
    return false;
}

static bool is_dash(const char *text, size_t at, size_t end)
{
    while (at < end && (text[at] == ' ' || text[at] == '<')) {
        if (text[at] == '<')
            while (at < end && text[at] != '>') at++;
        if (at < end) at++;
    }
    return at < end && (text[at] == '-' || (end - at >= 3 && (memcmp(text + at, "\xe2\x80\x93", 3) == 0 ||
                                                              memcmp(text + at, "\xe2\x80\x94", 3) == 0)));
}

/* {\an8} of SubRip, <00:00:01.000> of WebVTT: 0 when there is none. */
static size_t code_end(const char *text, size_t at, size_t end)
{
    const char close = text[at] == '{' && text[at + 1] == '\\'                   ? '}'
                       : text[at] == '<' && isdigit((unsigned char)text[at + 1]) ? '>'
                                                                                 : 0;
    size_t     to = at;
    if (!close) return 0;
    while (to < end && text[to] != close && text[to] != '\n') to++;
    return to < end && text[to] == close ? to + 1 : 0;
}

static rg_status read_line(rg_cutter *c, size_t at, size_t end, bool entities)
{
    rg_status status = RG_OK;
    size_t    next;
    for (; status == RG_OK && at < end; at = next) {
        if ((next = code_end(c->text, at, end))) {
            status = rg_cutter__point(c, at, next);
        } else if (c->text[at] == '<' && rg_cutter__string_tag(&status, c, at, end, &next)) {
            continue;
        } else if (strchr(" \t\r", c->text[at])) {
            next = at + 1;
            if (c->text[at] != '\r' && !rg_cutter__drops_blank(c)) status = rg_text_add(&c->plain, c->text + at, 1);
        } else {
            next = at;
            if (entities) status = rg_html__character(&c->plain, c->text, end, &next);
            else status = rg_text_add(&c->plain, c->text + next++, 1);
            rg_cutter__solid(c, next);
        }
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ cues */

enum {
    MOST_CUES = 8,    /* that are one paragraph                        */
    MOST_BYTES = 600, /* of these                                      */
    MOST_LINES = 32,  /* of a cue whose lines are one paragraph        */
    MOST_TEXT = 16384 /* bytes of one                                  */
};

typedef struct {
    size_t begin, end;       /* of its text: end at the line end of its last line */
    double from, to;         /* seconds; below 0: not known */
    bool   dialogue, tagged; /* lines are for themselves; it has tags */
} cue;

typedef struct {
    cue   *cue;
    size_t count, room;
} cue_list;

/* 00:01:02,500, or without hours; below 0: it is none. */
static double seconds_of(const char *text, size_t at, size_t end)
{
    double time = 0;
    int    parts = 0;
    while (at < end && (text[at] == ' ' || text[at] == '\t')) at++;
    while (at < end && isdigit((unsigned char)text[at]) && parts < 4) {
        char        *behind;
        const double number = rg_real_parse(text + at, &behind); /* seconds with a point, too */
        time = 60 * time + number;
        at = (size_t)(behind - text);
        parts++;
        if (at < end && text[at] == ',') return time + rg_real_parse(text + at + 1, &behind) / 1000;
        if (at >= end || text[at] != ':') break;
        at++;
    }
    return parts > 1 ? time : -1;
}

static cue look_at(const char *text, size_t time, size_t time_end, size_t begin, size_t end)
{
    cue         c = { .begin = begin, .end = end, .from = seconds_of(text, time, time_end), .to = -1 };
    const char *arrow = memchr(text + time, '>', time_end - time);
    if (arrow) c.to = seconds_of(text, (size_t)(arrow + 1 - text), time_end);
    size_t lines = 0;
    for (size_t from = begin, to; from < end; from = to + 1, lines++) {
        to = line_end(text, end, from);
        c.dialogue = c.dialogue || (from > begin && is_dash(text, from, to));
    }
    if (lines > MOST_LINES || end - begin > MOST_TEXT) c.dialogue = true; /* no subtitle, but line by line it is read */
    for (size_t i = begin; i < end; i++) c.tagged = c.tagged || text[i] == '<' || text[i] == '{';
    return c;
}

static rg_status add_cue(cue_list *list, cue c)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 64;
        cue         *larger = rg_realloc(list->cue, room * sizeof *larger);
        if (!larger) return RG_ENOMEM;
        list->cue = larger;
        list->room = room;
    }
    list->cue[list->count++] = c;
    return RG_OK;
}

/* A cue is a line with times and the lines behind it up to an empty one. */
static rg_status find_cues(cue_list *out, const char *text, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const size_t end = line_end(text, bytes, at);
        size_t       begin = end < bytes ? end + 1 : bytes, last = begin, to;
        if (is_time_line(text, at, end)) {
            for (size_t from = begin; from < bytes; from = to + (to < bytes)) {
                to = line_end(text, bytes, from);
                if (is_blank_line(text, from, to)) break;
                last = to;
            }
            RG_TRY(add_cue(out, look_at(text, at, end, begin, last)));
        }
        at = last > begin ? last : begin;
    }
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------ sentences */

static utf8proc_category_t category_at(const char *text, size_t at, size_t end)
{
    utf8proc_int32_t code = 0;
    if (at >= end || utf8proc_iterate((const utf8proc_uint8_t *)text + at, (utf8proc_ssize_t)(end - at), &code) <= 0)
        return UTF8PROC_CATEGORY_CN;
    return utf8proc_category(code);
}

static bool has_small_letters(const char *text, size_t at, size_t end)
{
    for (; at < end; at++)
        if ((text[at] & 0xC0) != 0x80 && category_at(text, at, end) == UTF8PROC_CATEGORY_LL) return true;
    return false;
}

/* Does the sentence at the end of cue a go on in cue b? Signs and songs without a full stop do not. */
static bool goes_on(const char *text, const cue *a, const cue *b)
{
    size_t last = a->end, first = b->begin;
    if (a->dialogue || b->dialogue || a->tagged || b->tagged || a->begin == a->end) return false;
    while (last > a->begin && isspace((unsigned char)text[last - 1])) last--;
    while (first < b->end && isspace((unsigned char)text[first])) first++;
    if (last == a->begin || first == b->end || is_dash(text, first, b->end)) return false;
    const bool comma = text[last - 1] == ',' || (last - a->begin >= 3 && (memcmp(text + last - 3, "\xef\xbc\x8c", 3) == 0 ||
                                                                          memcmp(text + last - 3, "\xe3\x80\x81", 3) == 0));
    size_t     at = last - 1;
    while (at > a->begin && (text[at] & 0xC0) == 0x80) at--;
    const utf8proc_category_t end = category_at(text, at, last), begin = category_at(text, first, b->end);
    const double              gap = a->to >= 0 && b->from >= 0 ? b->from - a->to : 0;
    if (!comma && !(end >= UTF8PROC_CATEGORY_LU && end <= UTF8PROC_CATEGORY_LM) && end != UTF8PROC_CATEGORY_ND) return false;
    if (begin == UTF8PROC_CATEGORY_LL) return gap <= 3;
    return (begin == UTF8PROC_CATEGORY_LU || begin == UTF8PROC_CATEGORY_ND || (comma && begin == UTF8PROC_CATEGORY_LO)) &&
           gap <= 1 && (comma || has_small_letters(text, a->begin, a->end));
}

/* -------------------------------------------------------------------------------------------------------- reading */

static rg_status read_dialogue(rg_cutter *c, const cue *q, bool entities)
{
    for (size_t from = q->begin, to; from < q->end; from = to + 1) {
        to = line_end(c->text, q->end, from);
        RG_TRY(read_line(c, from, to, entities));
        if (to + 1 >= q->end) break;
        RG_TRY(rg_cutter__cut(c, to, to + 1));
    }
    return rg_cutter__end(c, q->end);
}

typedef struct {
    rg_cut_here *cut;
    size_t       count, room;
} cut_list;

static rg_status add_cut(cut_list *list, rg_cut_here cut)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 8;
        rg_cut_here *larger = rg_realloc(list->cut, room * sizeof *larger);
        if (!larger) return RG_ENOMEM;
        list->cut = larger;
        list->room = room;
    }
    list->cut[list->count++] = cut;
    return RG_OK;
}

/* The lines of cues that belong together as one paragraph; what lies between them are its cuts. */
static rg_status read_lines(cut_list *cuts, rg_cutter *c, const cue *q, size_t count, bool entities)
{
    const char *end = c->document->line_end;
    for (size_t k = 0; k < count; k++) {
        if (k) {
            size_t from = q[k - 1].end;
            while (from > q[k - 1].begin && c->text[from - 1] == '\r') from--;
            RG_TRY(add_cut(cuts, (rg_cut_here){ c->plain.length, c->text + from, q[k].begin - from, true }));
            RG_TRY(rg_cutter__blank(c));
        }
        for (size_t from = q[k].begin, to; from < q[k].end; from = to + 1) {
            to = line_end(c->text, q[k].end, from);
            RG_TRY(read_line(c, from, to, entities));
            if (to + 1 >= q[k].end) break;
            RG_TRY(add_cut(cuts, (rg_cut_here){ c->plain.length, end, strlen(end), false }));
            RG_TRY(rg_cutter__blank(c));
        }
    }
    return RG_OK;
}

static rg_status read_paragraph(rg_cutter *c, const cue *q, size_t count, bool entities)
{
    cut_list     cuts = { 0 };
    rg_text      plain = { 0 };
    const size_t first = c->document->parts;
    rg_status    status = read_lines(&cuts, c, q, count, entities);
    if (status == RG_OK) status = rg_text_add(&plain, rg_text_c(&c->plain), c->plain.length);
    if (status == RG_OK) status = rg_cutter__end(c, q[count - 1].end);
    if (status == RG_OK)
        status = rg_document__block(c->document, first, rg_text_c(&plain), plain.length, cuts.cut, cuts.count);
    rg_text_free(&plain);
    rg_free(cuts.cut);
    return status;
}

static rg_status read_cues(rg_document *d, const char *text, size_t bytes, bool entities)
{
    rg_cutter c = rg_cutter__new(d, text, bytes, 0, entities ? rg_html__escape : rg_escape__none);
    cue_list  all = { 0 };
    rg_status status = find_cues(&all, text, bytes);
    for (size_t i = 0, n; status == RG_OK && i < all.count; i += n) {
        const cue *q = &all.cue[i];
        for (n = 1; i + n < all.count && n < MOST_CUES && d->config.sentences && goes_on(text, &q[n - 1], &q[n]); n++)
            if (q[n].end - q->begin > MOST_BYTES) break;
        status = rg_cutter__cut(&c, c.begin, q->begin);
        if (status == RG_OK) status = q->dialogue ? read_dialogue(&c, q, entities) : read_paragraph(&c, q, n, entities);
    }
    if (status == RG_OK) status = rg_cutter__end(&c, bytes);
    rg_free(all.cue);
    rg_cutter__fini(&c);
    return status;
}

static rg_status read_srt(rg_document *d, const char *text, size_t bytes) { return read_cues(d, text, bytes, false); }
static rg_status read_vtt(rg_document *d, const char *text, size_t bytes) { return read_cues(d, text, bytes, true); }

const rg_document_format rg_document_format_srt = {
    .name = "srt",
    .endings = " .srt ",
    .type = "application/x-subrip",
    .about = "the text of subtitles, sentences over several of them whole",
    .read = read_srt,
};

const rg_document_format rg_document_format_vtt = {
    .name = "vtt",
    .endings = " .vtt ",
    .type = "text/vtt",
    .about = "the same of WebVTT",
    .read = read_vtt,
};
