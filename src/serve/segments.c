/* segments.c - a text as lines to translate and parts that stay as they are: line ends and blanks at both ends of a
 * line. */
#include "serve/markup.h"

#include <string.h>

void rg_segments_free(rg_segments *s)
{
    for (size_t i = 0; i < s->count; i++) {
        for (size_t k = 0; k < s->part[i].count; k++) rg_free(s->part[i].best[k]);
        for (size_t k = 0; k < s->part[i].marks; k++) {
            rg_free(s->part[i].mark[k].open);
            rg_free(s->part[i].mark[k].close);
        }
        rg_free(s->part[i].mark);
        rg_free(s->part[i].best);
        rg_free(s->part[i].text);
    }
    rg_free(s->part);
    *s = (rg_segments){ 0 };
}

rg_status rg_segments__add(rg_segments *s, const char *text, size_t bytes, bool line)
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

/* Lines without their ends and without the blanks around them. */
rg_status rg_segments_cut(rg_segments *s, const char *text)
{
    const size_t bytes = strlen(text);
    *s = (rg_segments){ 0 };
    for (size_t at = 0; at < bytes;) {
        size_t begin = at, end;
        while (begin < bytes && strchr(" \t\r\n", text[begin])) begin++;
        RG_TRY(rg_segments__add(s, text + at, begin - at, false));
        for (end = begin; end < bytes && text[end] != '\n';) end++;
        at = end;
        while (end > begin && strchr(" \t\r", text[end - 1])) end--;
        RG_TRY(rg_segments__add(s, text + begin, end - begin, true));
        RG_TRY(rg_segments__add(s, text + end, at - end, false));
    }
    return RG_OK;
}

rg_status rg_segments_keep(rg_segments *out, const char *text)
{
    *out = (rg_segments){ 0 };
    return rg_segments__add(out, text, strlen(text), false);
}

static rg_status with_tags(rg_text *out, const rg_part *line, const rg_translator *t, const rg_translated *result,
                           size_t rank)
{
    const char *text = result->best[rank].text;
    rg_links    links = { 0 };
    if (!line->marks) return rg_html__escape(out, text, strlen(text));
    rg_status status = rg_links_make(&links, t, line->text, result, rank);
    if (status == RG_OK) status = rg_markup_write(out, line, text, &links);
    rg_links_free(&links);
    return status;
}

rg_status rg_segments_translated(rg_part *line, const rg_translator *t, const rg_translated *result, bool html)
{
    if (!(line->best = rg_alloc_zero((result->count + 1) * sizeof *line->best))) return RG_ENOMEM;
    for (size_t k = 0; k < result->count; k++) {
        rg_text   text = { 0 };
        rg_status status =
            html ? with_tags(&text, line, t, result, k) : rg_text_add_string(&text, result->best[k].text);
        if (status == RG_OK && !(line->best[k] = rg_strdup(rg_text_c(&text)))) status = RG_ENOMEM;
        rg_text_free(&text);
        RG_TRY(status);
        line->count++;
    }
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
