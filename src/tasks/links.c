/* links.c - from attention over subwords to links between bytes of a translation and bytes of its source line. */
#include "regard/translate.h"

#include <string.h>

enum { WINDOW = 8 };

/* Characters that are not blanks: what a normalisation changes least. */
static size_t signs(const char *text, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) n += (text[i] & 0xC0) != 0x80 && !strchr(" \t\r\n", text[i]);
    return n;
}

/* The byte of `text` before which `count` signs stand. */
static double byte_of(const char *text, double count)
{
    size_t i = 0;
    for (double n = 0; text[i] && n < count; i++) n += (text[i + 1] & 0xC0) != 0x80 && !strchr(" \t\r\n", text[i]);
    return (double)i;
}

/* Where the subwords lie in the line: spans are those of the normalised text, so they are taken over by counting
 * characters. */
static rg_status place_sources(rg_links *l, const rg_vocab *vocab, const char *line)
{
    rg_ids    ids = { 0 };
    rg_spans  spans = { 0 };
    rg_text   normal = { 0 };
    rg_status status = rg_vocab_encode(&ids, &spans, vocab, line, strlen(line));
    if (status == RG_OK) status = rg_vocab_normalize(&normal, vocab, line, strlen(line));
    if (status == RG_OK && !(l->source = rg_alloc_array(l->sources + 1, sizeof *l->source))) status = RG_ENOMEM;
    const char  *text = rg_text_c(&normal);
    const double scale =
        (double)signs(line, strlen(line)) / (double)(signs(text, normal.length) + (normal.length == 0));
    for (size_t j = 0; status == RG_OK && j < l->sources; j++) {
        const rg_range span = j < spans.count ? (rg_range){ spans.data[j].begin, spans.data[j].end }
                                              : (rg_range){ normal.length, normal.length };
        const double   first = (double)signs(text, span.begin),
                     count = (double)signs(text + span.begin, span.end - span.begin);
        l->source[j] = byte_of(line, scale * (first + (count > 1 ? count / 2 : 0))) + 0.5;
    }
    rg_ids_free(&ids);
    rg_spans_free(&spans);
    rg_text_free(&normal);
    return status;
}

/* The bytes that each token adds to the text: what a few tokens that end with it are longer than without it. */
static rg_status place_targets(rg_links *l, const rg_vocab *vocab, const rg_answer *a)
{
    rg_text   with = { 0 }, without = { 0 };
    rg_status status = RG_OK;
    size_t    at = 0;
    if (!(l->target = rg_alloc_array(l->targets + 1, sizeof *l->target))) return RG_ENOMEM;
    for (size_t k = 0; status == RG_OK && k < l->targets; k++) {
        const size_t from = k < WINDOW ? 0 : k - WINDOW;
        rg_text_clear(&with);
        rg_text_clear(&without);
        status = rg_vocab_decode(&with, vocab, a->tokens + from, k + 1 - from);
        if (status == RG_OK) status = rg_vocab_decode(&without, vocab, a->tokens + from, k - from);
        const size_t begin = at;
        if (with.length > without.length) at += with.length - without.length;
        l->target[k] = (rg_range){ begin, at };
    }
    rg_text_free(&with);
    rg_text_free(&without);
    return status;
}

static rg_status add_up(rg_links *l, const rg_answer *a)
{
    const size_t S = l->sources, T = l->targets;
    bool         any = false;
    for (size_t k = 0; a->attention && k < T && !any; k++)
        for (size_t j = 0; j < S && !any; j++) any = a->attention[k * a->source_length + j] > 0;
    if (!(l->sum = rg_alloc_array((T + 1) * (S + 1), sizeof *l->sum))) return RG_ENOMEM;
    for (size_t k = 0; k < T; k++) {
        double *sum = l->sum + k * (S + 1);
        sum[0] = 0;
        for (size_t j = 0; j < S; j++)
            sum[j + 1] = sum[j] + (any ? (double)a->attention[k * a->source_length + j] : j == k * S / T ? 1 : 0);
    }
    return RG_OK;
}

rg_status rg_links_make(rg_links *out, const rg_translator *t, const char *line, const rg_translated *r, size_t rank)
{
    const rg_answer *a = r->best[rank].answer;
    *out =
        (rg_links){ .targets = a->length, .sources = r->source_length ? r->source_length - 1 : 0 }; /* without </s> */
    RG_TRY(place_sources(out, t->source, line));
    RG_TRY(place_targets(out, t->target, a));
    return add_up(out, a);
}
