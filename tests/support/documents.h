/* documents.h - any bytes as a document: read, "translated" to the same words in the same and in the opposite order,
 * and joined again. For fuzz targets. */
#ifndef RG_TESTS_DOCUMENTS_H
#define RG_TESTS_DOCUMENTS_H

#include <stdlib.h>
#include <string.h>

#include "base/seams.h"
#include "data/documents/documents.h"

static inline void rg_support_must(bool condition)
{
    if (!condition) abort();
}

/* Links of a line with itself: a subword for every four bytes, attention to the same one or to its mirror image. */
static inline void rg_support_link(rg_links *l, const char *text, bool mirrored)
{
    const size_t bytes = strlen(text), n = (bytes + 3) / 4;
    *l = (rg_links){ .targets = n, .sources = n };
    l->target = rg_alloc_array(n + 1, sizeof *l->target);
    l->source = rg_alloc_array(n + 1, sizeof *l->source);
    l->sum = rg_alloc_array((n + 1) * (n + 1), sizeof *l->sum);
    rg_support_must(l->target && l->source && l->sum);
    for (size_t k = 0; k < n; k++) {
        l->target[k] = (rg_range){ 4 * k, 4 * k + 4 < bytes ? 4 * k + 4 : bytes };
        l->source[k] = (double)(4 * k) + 0.5;
        for (size_t j = 0; j <= n; j++) l->sum[k * (n + 1) + j] = j > (mirrored ? n - 1 - k : k) ? 1 : 0;
    }
}

static inline const char *rg_support_rendered(void *context, size_t i) { return ((char **)context)[i]; }

/* The document with every sentence translated to itself; false: it was refused. Called with what is in it if `see`. */
static inline bool rg_support_translate(rg_text *out, const char *format, const void *bytes, size_t count, bool aligned,
                                        bool mirrored, void (*see)(const rg_document *d, void *context), void *context)
{
    const rg_document_config c = { .format = rg_document_format_find(format), .name = "fuzz", .aligned = aligned };
    rg_document             *d = NULL;
    if (rg_document_read(&d, bytes, count, &c) != RG_OK) {
        rg_support_must(!d);
        return false;
    }
    const size_t n = rg_document_count(d);
    char       **rendered = rg_alloc_zero((n + 1) * sizeof *rendered);
    rg_support_must(rendered != NULL);
    for (size_t i = 0; i < n; i++) {
        rg_links links;
        rg_text  text = { 0 };
        rg_support_must(*rg_document_text(d, i) && !strchr(rg_document_text(d, i), '\n'));
        rg_support_link(&links, rg_document_text(d, i), mirrored);
        rg_support_must(rg_document_render(&text, d, i, rg_document_text(d, i), &links) == RG_OK);
        rg_support_must((rendered[i] = rg_strdup(rg_text_c(&text))) != NULL);
        rg_text_free(&text);
        rg_links_free(&links);
    }
    rg_support_must(rg_document_join(out, d, rg_support_rendered, rendered) == RG_OK);
    if (see) see(d, context);
    for (size_t i = 0; i < n; i++) rg_free(rendered[i]);
    rg_free(rendered);
    rg_document_free(d);
    return true;
}

/* All ways; what comes out can be read again. */
static inline void rg_support_all_ways(const char *format, const void *bytes, size_t count)
{
    const size_t blocks = rg_base__live_blocks();
    for (int way = 0; way < 4; way++) {
        rg_text out = { 0 }, again = { 0 };
        if (rg_support_translate(&out, format, bytes, count, way & 1, way & 2, NULL, NULL))
            rg_support_must(rg_support_translate(&again, format, rg_text_c(&out), out.length, way & 1, way & 2, NULL, NULL));
        rg_text_free(&out);
        rg_text_free(&again);
    }
    rg_support_must(rg_base__live_blocks() == blocks);
}

#endif
