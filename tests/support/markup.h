/* markup.h - translations that are made up, for tests of HTML: the same text, or its words in another order. */
#ifndef RG_TESTS_MARKUP_H
#define RG_TESTS_MARKUP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/documents/documents.h"

static inline rg_document *rg_support_read(const char *format, const char *text, bool aligned)
{
    rg_document             *d = NULL;
    const rg_document_config c = { .format = rg_document_format_find(format), .name = "test", .aligned = aligned };
    if (rg_document_read(&d, text, strlen(text), &c) != RG_OK) {
        fprintf(stderr, "%s\n", rg_message());
        abort();
    }
    return d;
}

/* Sentence i as it is inside the document. */
static inline const rg_document_part *rg_support_part(const rg_document *d, size_t i)
{
    return &d->part[d->sentence[i]];
}

static inline size_t rg_support_words(rg_range *out, const char *text)
{
    size_t n = 0;
    for (size_t at = 0; text[at];) {
        at += strspn(text + at, " \t\r");
        if (!text[at]) break;
        out[n].begin = at;
        at += strcspn(text + at, " \t\r");
        out[n++].end = at;
    }
    return n;
}

/* Word k of the translation stands for word order[k] of the line. */
static inline rg_links rg_support_links(const char *line, const char *translation, const int *order)
{
    rg_links  l = { 0 };
    rg_range *source = rg_alloc_array(strlen(line) + 1, sizeof *source);
    l.target = rg_alloc_array(strlen(translation) + 1, sizeof *l.target);
    if (!source || !l.target) abort();
    l.sources = rg_support_words(source, line);
    l.targets = rg_support_words(l.target, translation);
    l.source = rg_alloc_array(l.sources + 1, sizeof *l.source);
    l.sum = rg_alloc_zero((l.targets + 1) * (l.sources + 1) * sizeof *l.sum);
    if (!l.source || !l.sum) abort();
    for (size_t j = 0; j < l.sources; j++) l.source[j] = 0.5 * (double)(source[j].begin + source[j].end);
    for (size_t k = 0; k < l.targets; k++)
        for (size_t j = 0; j <= l.sources; j++) l.sum[k * (l.sources + 1) + j] = j > (size_t)order[k] ? 1 : 0;
    rg_free(source);
    return l;
}

static inline const char *rg_support_none(void *context, size_t i)
{
    (void)context, (void)i;
    return NULL;
}

/* Every sentence with itself as its translation. To be freed with rg_free. */
static inline char *rg_support_same(const char *format, const char *text)
{
    rg_document *d = rg_support_read(format, text, true);
    rg_text      out = { 0 };
    if (rg_document_join(&out, d, rg_support_none, NULL) != RG_OK) abort();
    char *all = rg_strdup(rg_text_c(&out));
    rg_text_free(&out);
    rg_document_free(d);
    return all;
}

static inline size_t rg_support_count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; *what && (at = strstr(at, what)); at += strlen(what)) n++;
    return n;
}

/* But for blanks. */
static inline bool rg_support_same_signs(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " \t\r");
        b += strspn(b, " \t\r");
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

/* Is every tag there once, and is the text that of the translation? NULL, or what is wrong. */
static inline const char *rg_support_check(const rg_document_part *line, const char *translation, const char *markup)
{
    static char problem[8192];
    rg_text     text = { 0 };
    bool        kept = false;
    for (size_t i = 0; i < line->marks; i++) {
        size_t wanted = 0;
        for (size_t k = 0; k < line->marks; k++) {
            wanted += rg_support_count(line->mark[k].open, line->mark[i].open);
            if (line->mark[k].close) wanted += rg_support_count(line->mark[k].close, line->mark[i].open);
        }
        if (line->mark[i].kind == RG_MARK_KEEP) kept = true;
        if (rg_support_count(markup, line->mark[i].open) != wanted) {
            snprintf(problem, sizeof problem, "%zu times %.100s in %.3000s",
                     rg_support_count(markup, line->mark[i].open), line->mark[i].open, markup);
            return problem;
        }
    }
    if (kept) return NULL;
    for (size_t at = 0, n = strlen(markup); at < n;) { /* without its tags it is the translation */
        const char *tag = NULL;
        for (size_t i = 0; i < line->marks && !tag; i++) {
            const rg_mark *m = &line->mark[i];
            if (strncmp(markup + at, m->open, strlen(m->open)) == 0) tag = m->open;
            else if (m->close && strncmp(markup + at, m->close, strlen(m->close)) == 0) tag = m->close;
        }
        if (tag) at += strlen(tag);
        else if (rg_html__character(&text, markup, n, &at) != RG_OK) abort();
    }
    const bool same = rg_support_same_signs(rg_text_c(&text), translation);
    snprintf(problem, sizeof problem, "%.3000s is not %.3000s", rg_text_c(&text), translation);
    rg_text_free(&text);
    return same ? NULL : problem;
}

/* Every sentence with its words drawn at random as a translation; NULL, or what is wrong. */
static inline const char *rg_support_shuffled(const char *html, rg_random *random)
{
    rg_document *d = rg_support_read("html", html, true);
    const char  *problem = NULL;
    for (size_t i = 0; i < rg_document_count(d) && !problem; i++) {
        const char *line = rg_document_text(d, i);
        rg_range   *word = rg_alloc_array(strlen(line) + 1, sizeof *word);
        if (!word) abort();
        const size_t n = rg_support_words(word, line), m = 1 + rg_random_below(random, n + 3);
        int         *order = rg_alloc_array(m, sizeof *order);
        rg_text      translation = { 0 }, out = { 0 };
        if (!order) abort();
        for (size_t k = 0; k < m; k++) {
            order[k] = (int)rg_random_below(random, n);
            const rg_range w = word[order[k]];
            if ((k && rg_text_add(&translation, " ", 1) != RG_OK) ||
                rg_text_add(&translation, line + w.begin, w.end - w.begin) != RG_OK)
                abort();
        }
        rg_links links = rg_support_links(line, rg_text_c(&translation), order);
        if (rg_document_render(&out, d, i, rg_text_c(&translation), &links) != RG_OK) abort();
        problem = rg_support_check(rg_support_part(d, i), rg_text_c(&translation), rg_text_c(&out));
        rg_links_free(&links);
        rg_text_free(&translation);
        rg_text_free(&out);
        rg_free(order);
        rg_free(word);
    }
    rg_document_free(d);
    return problem;
}

#endif
