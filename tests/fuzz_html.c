/* fuzz_html.c - any bytes as HTML to translate: cut into lines, "translated" to the same words in the same and in
 * the opposite order, and joined again. Nothing is refused, every tag comes back once, and no text becomes a tag
 * (P1, P6). */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/seams.h"
#include "serve/markup.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void must(bool condition)
{
    if (!condition) abort();
}

static size_t count_of(const char *text, char sign)
{
    size_t n = 0;
    for (; text && *text; text++) n += *text == sign;
    return n;
}

/* Links of a line with itself: a subword for every four bytes, attention to the same one or to its mirror image. */
static void link_line(rg_links *l, const char *text, bool mirrored)
{
    const size_t bytes = strlen(text), n = (bytes + 3) / 4;
    *l = (rg_links){ .targets = n, .sources = n };
    l->target = rg_alloc_array(n + 1, sizeof *l->target);
    l->source = rg_alloc_array(n + 1, sizeof *l->source);
    l->sum = rg_alloc_array((n + 1) * (n + 1), sizeof *l->sum);
    must(l->target && l->source && l->sum);
    for (size_t k = 0; k < n; k++) {
        l->target[k] = (rg_range){ 4 * k, 4 * k + 4 < bytes ? 4 * k + 4 : bytes };
        l->source[k] = (double)(4 * k) + 0.5;
        for (size_t j = 0; j <= n; j++) l->sum[k * (n + 1) + j] = j > (mirrored ? n - 1 - k : k) ? 1 : 0;
    }
}

/* One line translated to itself; *tags grows by the tags it has. */
static void translate(rg_part *line, size_t *tags, bool mirrored)
{
    rg_links links;
    rg_text  out = { 0 };
    link_line(&links, line->text, mirrored);
    must(rg_markup_write(&out, line, line->text, &links) == RG_OK);
    for (size_t m = 0; m < line->marks; m++)
        *tags += count_of(line->mark[m].open, '<') + count_of(line->mark[m].close, '<');
    must((line->best = rg_alloc_zero(sizeof *line->best)) && (line->best[0] = rg_strdup(rg_text_c(&out))));
    line->count = 1;
    rg_text_free(&out);
    rg_links_free(&links);
}

static void whole(const char *html, bool aligned, bool mirrored)
{
    rg_segments s;
    rg_text     joined = { 0 };
    size_t      tags = 0;
    must(rg_segments_cut_html(&s, html, aligned) == RG_OK);
    for (size_t i = 0; i < s.count; i++)
        if (s.part[i].line) translate(&s.part[i], &tags, mirrored);
        else tags += count_of(s.part[i].text, '<');
    must(rg_segments_join(&joined, &s, 0) == RG_OK);
    must(count_of(rg_text_c(&joined), '<') == tags);
    rg_text_free(&joined);
    rg_segments_free(&s);
}

/* Without markup the text itself comes back. */
static void plain(const char *text)
{
    rg_segments s;
    rg_text     joined = { 0 };
    must(rg_segments_cut(&s, text) == RG_OK);
    for (size_t i = 0; i < s.count; i++) s.part[i].line = false;
    must(rg_segments_join(&joined, &s, 0) == RG_OK && !strcmp(rg_text_c(&joined), text));
    rg_text_free(&joined);
    rg_segments_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const size_t blocks = rg_base__live_blocks();
    char        *text = malloc(count + 1);
    must(text != NULL);
    memcpy(text, bytes, count);
    text[count] = 0;
    for (int way = 0; way < 4; way++) whole(text, way & 1, way & 2);
    plain(text);
    free(text);
    must(rg_base__live_blocks() == blocks);
    return 0;
}
