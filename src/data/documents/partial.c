/* partial.c - what is translated of a long document, kept beside its output so that a run that was interrupted goes
 * on where it was.
 *
 *     regard-partial 1 <checksum> <sentences>\n      then for each that is done:    <number> <bytes>\n<text>\n */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "data/documents/documents.h"

uint64_t rg_document_checksum(const rg_document *d, const char *settings)
{
    rg_hash64 hash;
    rg_hash64_begin(&hash);
    rg_hash64_add(&hash, settings, strlen(settings) + 1);
    rg_hash64_add(&hash, d->config.format->name, strlen(d->config.format->name) + 1);
    for (size_t i = 0; i < d->parts; i++) {
        const rg_document_part *p = &d->part[i];
        rg_hash64_add(&hash, p->text, p->bytes + 1);
        for (size_t m = 0; m < p->marks; m++) rg_hash64_add(&hash, p->mark[m].open, strlen(p->mark[m].open) + 1);
    }
    return rg_hash64_end(&hash);
}

rg_status rg_document_partial_save(const char *path, uint64_t checksum, char *const *rendered, size_t count)
{
    rg_text   out = { 0 };
    rg_status status = rg_text_print(&out, "regard-partial 1 %016" PRIx64 " %zu\n", checksum, count);
    for (size_t i = 0; status == RG_OK && i < count; i++)
        if (rendered[i]) status = rg_text_print(&out, "%zu %zu\n%s\n", i, strlen(rendered[i]), rendered[i]);
    if (status == RG_OK) status = rg_file_replace(path, rg_text_c(&out), out.length);
    rg_text_free(&out);
    return status;
}

/* A number at *at that ends with `end`; false: there is none. */
static bool number(size_t *out, const char **at, char end)
{
    char *behind;
    if (**at < '0' || **at > '9') return false;
    const unsigned long long n = strtoull(*at, &behind, 10);
    if (*behind != end || n > RG_DOCUMENT_BYTES) return false;
    *out = (size_t)n;
    *at = behind + 1;
    return true;
}

/* Entries as far as they are whole. */
static rg_status read_entries(size_t *done, char **rendered, size_t count, const char *at, const char *end)
{
    for (size_t i, bytes; at < end && number(&i, &at, ' ') && number(&bytes, &at, '\n');) {
        if (i >= count || bytes >= (size_t)(end - at) || at[bytes] != '\n' || memchr(at, 0, bytes)) break;
        if (!rendered[i]) {
            if (!(rendered[i] = rg_document__copy(at, bytes))) return RG_ENOMEM;
            ++*done;
        }
        at += bytes + 1;
    }
    return RG_OK;
}

rg_status rg_document_partial_load(size_t *out_done, const char *path, uint64_t checksum, char **rendered, size_t count)
{
    rg_text  text = { 0 };
    uint64_t sum = 0;
    size_t   sentences = 0;
    int      head = 0;
    bool     there = false;
    *out_done = 0;
    RG_TRY(rg_file_exists(&there, path));
    if (!there) return RG_OK;
    rg_status status = rg_document_read_file(&text, path);
    if (status == RG_OK && (sscanf(rg_text_c(&text), "regard-partial 1 %16" SCNx64 " %zu%n", &sum, &sentences, &head) != 2 ||
                            sum != checksum || sentences != count))
        status = rg_fail(RG_EMATCH, "%s: it belongs to another input, model or setting", path);
    if (status == RG_OK)
        status = read_entries(out_done, rendered, count, rg_text_c(&text) + head + 1, rg_text_c(&text) + text.length);
    rg_text_free(&text);
    return status;
}

enum { BLOCK = 1 << 16 };

rg_status rg_document_read_file(rg_text *out, const char *path)
{
    rg_file  *file = NULL;
    char     *block = rg_alloc(BLOCK);
    size_t    n = 1;
    rg_status status = block ? rg_file_open(&file, strcmp(path, "-") == 0 ? "/dev/stdin" : path, "rb") : RG_ENOMEM;
    while (status == RG_OK && n) {
        status = rg_file_read_some(&n, file, block, BLOCK);
        if (status == RG_OK) status = rg_text_add(out, block, n);
        if (status == RG_OK && out->length > 2 * (size_t)RG_DOCUMENT_BYTES)
            status = rg_fail(RG_ELIMIT, "%s: more than %d bytes", path, RG_DOCUMENT_BYTES);
    }
    rg_file_close(file);
    rg_free(block);
    return status;
}
