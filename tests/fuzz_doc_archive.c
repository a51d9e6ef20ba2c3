/* fuzz_doc_archive.c - any bytes as the text of a docx, odt, pptx or epub (the first byte says which), and as such an
 * archive itself: it is refused, or what comes out can be read again (P1). */
#include <stdint.h>
#include <zip.h>

#include "support/documents.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* An archive with one member. */
static size_t pack(unsigned char *out, size_t room, const char *member, const void *bytes, size_t count)
{
    zip_error_t   error;
    zip_stat_t    about;
    zip_source_t *target = zip_source_buffer_create(NULL, 0, 0, &error);
    rg_support_must(target != NULL);
    zip_source_keep(target);
    zip_t        *zip = zip_open_from_source(target, ZIP_CREATE | ZIP_TRUNCATE, &error);
    zip_source_t *source = zip ? zip_source_buffer(zip, bytes, count, 0) : NULL;
    rg_support_must(source && zip_file_add(zip, member, source, 0) >= 0);
    zip_set_file_compression(zip, 0, ZIP_CM_STORE, 0);
    rg_support_must(zip_close(zip) == 0 && zip_source_stat(target, &about) == 0 && about.size <= room);
    rg_support_must(zip_source_open(target) == 0 && zip_source_read(target, out, about.size) == (zip_int64_t)about.size);
    zip_source_close(target);
    zip_source_free(target);
    return (size_t)about.size;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const kinds[][2] = { { "docx", "word/document.xml" },
                                            { "odt", "content.xml" },
                                            { "pptx", "ppt/slides/slide1.xml" },
                                            { "epub", "a.xhtml" } };
    if (!count || count > 1 << 16) return 0;
    const size_t   kind = bytes[0] % 4;
    unsigned char *archive = malloc(count + 4096);
    rg_support_must(archive != NULL);
    rg_support_all_ways(kinds[kind][0], bytes + 1, count - 1);
    if (count > 1) {
        const size_t size = pack(archive, count + 4096, kinds[kind][1], bytes + 1, count - 1);
        rg_support_all_ways(kinds[kind][0], archive, size);
    }
    free(archive);
    return 0;
}
