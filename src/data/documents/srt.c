/* srt.c - subtitles: SubRip and WebVTT. The text of a cue is one paragraph, written on as many lines as it had;
 * numbers, times, settings, notes and styles stay. Lines of a dialogue, which begin with a dash, are paragraphs.
 *
 *     00:00:01,000 --> 00:00:03,000
 *     <i>Where are</i> you going
 *     so early? */
#include "data/documents/documents.h"

#include <ctype.h>
#include <string.h>

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
    const char close = text[at] == '{' && text[at + 1] == '\\' ? '}'
                       : text[at] == '<' && isdigit((unsigned char)text[at + 1]) ? '>' : 0;
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

/* The lines of a cue from `at` to `end`, behind its last line. */
static rg_status read_cue(rg_cutter *c, size_t at, size_t end, bool entities)
{
    bool     dialogue = false;
    unsigned lines = 0;
    for (size_t from = at, to; from < end; from = to + 1, lines++) {
        to = line_end(c->text, end, from);
        dialogue = dialogue || (lines && is_dash(c->text, from, to));
    }
    for (size_t from = at, to; from < end; from = to + 1) {
        to = line_end(c->text, end, from);
        RG_TRY(read_line(c, from, to, entities));
        if (to + 1 >= end) break;
        if (dialogue) RG_TRY(rg_cutter__cut(c, to, to + 1));
        else RG_TRY(rg_cutter__blank(c));
    }
    c->lines = dialogue ? 0 : lines;
    return RG_OK;
}

static rg_status read_cues(rg_document *d, const char *text, size_t bytes, bool entities)
{
    rg_cutter c = rg_cutter__new(d, text, bytes, 0, entities ? rg_html__escape : rg_escape__none);
    rg_status status = RG_OK;
    for (size_t at = 0; status == RG_OK && at < bytes;) {
        const size_t end = line_end(text, bytes, at);
        size_t       cue = end < bytes ? end + 1 : bytes, last = cue, to;
        if (!is_time_line(text, at, end)) {
            at = cue;
            continue;
        }
        for (size_t from = cue; from < bytes; from = to + (to < bytes)) {
            to = line_end(text, bytes, from);
            if (is_blank_line(text, from, to)) break;
            last = to;
        }
        status = rg_cutter__cut(&c, c.begin, cue);
        if (status == RG_OK) status = read_cue(&c, cue, last, entities);
        if (status == RG_OK) status = rg_cutter__end(&c, last);
        at = last > cue ? last : cue;
    }
    if (status == RG_OK) status = rg_cutter__end(&c, bytes);
    rg_cutter__fini(&c);
    return status;
}

static rg_status read_srt(rg_document *d, const char *text, size_t bytes) { return read_cues(d, text, bytes, false); }
static rg_status read_vtt(rg_document *d, const char *text, size_t bytes) { return read_cues(d, text, bytes, true); }

const rg_document_format rg_document_format_srt = {
    .name = "srt",
    .endings = " .srt ",
    .type = "application/x-subrip",
    .about = "the text of subtitles, on as many lines as it had",
    .read = read_srt,
};

const rg_document_format rg_document_format_vtt = {
    .name = "vtt",
    .endings = " .vtt ",
    .type = "text/vtt",
    .about = "the same of WebVTT",
    .read = read_vtt,
};
