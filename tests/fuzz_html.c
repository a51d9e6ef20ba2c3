/* fuzz_html.c - any bytes as HTML to translate: cut into lines, "translated" to the same words in the same and in
 * the opposite order, and joined again. Nothing is refused, every tag comes back once, and no text becomes a tag
 * (P1, P6). */
#include <stdint.h>

#include "support/documents.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static size_t count_of(const char *text, char sign)
{
    size_t n = 0;
    for (; text && *text; text++) n += *text == sign;
    return n;
}

/* Tags of all parts: of what is copied, and of the marks. */
static void count_tags(const rg_document *d, void *context)
{
    size_t *tags = context;
    for (size_t i = 0; i < d->parts; i++) {
        const rg_document_part *p = &d->part[i];
        if (!p->sentence) *tags += count_of(p->text, '<');
        for (size_t m = 0; m < p->marks; m++) *tags += count_of(p->mark[m].open, '<') + count_of(p->mark[m].close, '<');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const size_t blocks = rg_base__live_blocks();
    char        *text = malloc(count + 1);
    size_t       n = 0;
    rg_support_must(text != NULL);
    for (size_t i = 0; i < count; i++)
        if (bytes[i]) text[n++] = (char)bytes[i];
    if (n >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) n = 0; /* UTF-16 is refused */
    for (int way = 0; way < 4; way++) {
        rg_text out = { 0 };
        size_t  tags = 0;
        rg_support_must(rg_support_translate(&out, "html", text, n, way & 1, way & 2, count_tags, &tags));
        rg_support_must(count_of(rg_text_c(&out), '<') == tags);
        rg_text_free(&out);
    }
    rg_text out = { 0 }; /* plain text comes back as it was */
    rg_support_must(rg_support_translate(&out, "text", text, n, true, false, NULL, NULL));
    rg_support_must(out.length == n && memcmp(rg_text_c(&out), text, n) == 0);
    rg_text_free(&out);
    free(text);
    rg_support_must(rg_base__live_blocks() == blocks);
    return 0;
}
