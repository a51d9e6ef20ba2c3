/* segments.c - a text as lines to translate and parts that stay as they are: line ends, blanks at both ends of a line and, in HTML, tags.
 *
 * HTML is read loosely: what stands between < and > is a tag, the content of script and style stays, the five common entities are read
 * in lines and written again. Everything is handed back, whatever the text. */
#include "serve/serve.h"

#include <string.h>
#include <strings.h>

void rg_segments_free(rg_segments *s)
{
    for (size_t i = 0; i < s->count; i++) {
        for (size_t k = 0; k < s->part[i].count; k++) rg_free(s->part[i].best[k]);
        rg_free(s->part[i].best);
        rg_free(s->part[i].text);
    }
    rg_free(s->part);
    *s = (rg_segments){ 0 };
}

static rg_status add(rg_segments *s, const char *text, size_t bytes, bool line)
{
    if (!bytes) return RG_OK;
    if (s->count == s->room) {
        const size_t room = s->room ? 2 * s->room : 8;
        rg_part     *part = rg_realloc(s->part, room * sizeof *part);
        if (!part) return RG_ENOMEM;
        s->part = part;
        s->room = room;
    }
    char *copy = rg_alloc(bytes + 1);
    if (!copy) return RG_ENOMEM;
    memcpy(copy, text, bytes);
    copy[bytes] = 0;
    s->part[s->count++] = (rg_part){ .text = copy, .line = line };
    if (line) s->lines++;
    return RG_OK;
}

static const struct {
    const char *entity;
    char        sign;
} entities[] = { { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' }, { "&#39;", '\'' } };
enum { ENTITIES = sizeof entities / sizeof *entities };

static void unescape(char *text)
{
    char *to = text;
    while (*text) {
        size_t e = 0;
        while (e < ENTITIES && strncmp(text, entities[e].entity, strlen(entities[e].entity)) != 0) e++;
        *to++ = e < ENTITIES ? entities[e].sign : *text;
        text += e < ENTITIES ? strlen(entities[e].entity) : 1;
    }
    *to = 0;
}

static rg_status escape(rg_text *out, const char *text)
{
    for (; *text; text++) {
        size_t e = 0;
        while (e < 3 && entities[e].sign != *text) e++; /* quotes may stand in a text */
        RG_TRY(e < 3 ? rg_text_add_string(out, entities[e].entity) : rg_text_add(out, text, 1));
    }
    return RG_OK;
}

/* Lines without their ends and without the blanks around them. */
static rg_status cut_lines(rg_segments *s, const char *text, size_t bytes, bool html)
{
    for (size_t at = 0; at < bytes;) {
        size_t begin = at, end;
        while (begin < bytes && strchr(" \t\r\n", text[begin])) begin++;
        RG_TRY(add(s, text + at, begin - at, false));
        for (end = begin; end < bytes && text[end] != '\n';) end++;
        at = end;
        while (end > begin && strchr(" \t\r", text[end - 1])) end--;
        if (end > begin) {
            RG_TRY(add(s, text + begin, end - begin, true));
            if (html) unescape(s->part[s->count - 1].text);
        }
        RG_TRY(add(s, text + end, at - end, false));
    }
    return RG_OK;
}

/* Where a tag that begins at `at` ends; script and style with their content. */
static size_t tag_end(const char *text, size_t bytes, size_t at)
{
    static const char *const whole[][2] = { { "<!--", "-->" }, { "<script", "</script>" }, { "<style", "</style>" } };
    const char              *close = ">";
    for (size_t i = 0; i < 3; i++)
        if (strncasecmp(text + at, whole[i][0], strlen(whole[i][0])) == 0) close = whole[i][1];
    for (const size_t n = strlen(close); at + n <= bytes; at++)
        if (strncasecmp(text + at, close, n) == 0) return at + n;
    return bytes;
}

rg_status rg_segments_cut(rg_segments *out, const char *text, bool html)
{
    const size_t bytes = strlen(text);
    *out = (rg_segments){ 0 };
    if (!html) return cut_lines(out, text, bytes, false);
    for (size_t at = 0, end; at < bytes; at = end) {
        if (text[at] == '<') {
            end = tag_end(text, bytes, at);
            RG_TRY(add(out, text + at, end - at, false));
        } else {
            end = at + strcspn(text + at, "<");
            RG_TRY(cut_lines(out, text + at, end - at, true));
        }
    }
    return RG_OK;
}

rg_status rg_segments_keep(rg_segments *out, const char *text)
{
    *out = (rg_segments){ 0 };
    return add(out, text, strlen(text), false);
}

static rg_status one_translation(char **out, const char *text, bool html)
{
    rg_text   whole = { 0 };
    rg_status status = html ? escape(&whole, text) : rg_text_add_string(&whole, text);
    if (status == RG_OK && !(*out = rg_strdup(rg_text_c(&whole)))) status = RG_ENOMEM;
    rg_text_free(&whole);
    return status;
}

rg_status rg_segments_translated(rg_part *line, const rg_translated *result, bool html)
{
    if (!(line->best = rg_alloc_zero((result->count + 1) * sizeof *line->best))) return RG_ENOMEM;
    for (; line->count < result->count; line->count++)
        RG_TRY(one_translation(&line->best[line->count], result->best[line->count].text, html));
    return RG_OK;
}

rg_status rg_segments_join(rg_text *out, const rg_segments *s, size_t rank)
{
    for (size_t i = 0; i < s->count; i++) {
        const rg_part *p = &s->part[i];
        const char    *text = !p->line ? p->text : p->count ? p->best[rank < p->count ? rank : p->count - 1] : "";
        RG_TRY(rg_text_add_string(out, text));
    }
    return RG_OK;
}
