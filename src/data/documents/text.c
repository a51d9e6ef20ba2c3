/* text.c - plain text: a line is a paragraph; line ends, and blanks at both ends of a line, stay as they are. */
#include "data/documents/documents.h"

#include <string.h>

static rg_status read(rg_document *d, const char *text, size_t bytes)
{
    rg_cutter c = rg_cutter__new(d, text, bytes, 0, rg_escape__none);
    rg_status status = RG_OK;
    for (size_t at = 0; status == RG_OK && at < bytes;) {
        const char  *end = memchr(text + at, '\n', bytes - at);
        size_t       solid = end ? (size_t)(end - text) : bytes;
        const size_t line = solid;
        while (solid > at && strchr(" \t\r\f\v", text[solid - 1])) solid--;
        status = rg_text_add(&c.plain, text + at, solid - at);
        rg_cutter__solid(&c, solid);
        if (status == RG_OK) status = rg_cutter__cut(&c, line, line + (end != NULL));
        at = line + (end != NULL);
    }
    if (status == RG_OK) status = rg_cutter__end(&c, bytes);
    rg_cutter__fini(&c);
    return status;
}

const rg_document_format rg_document_format_text = {
    .name = "text",
    .endings = " .txt .text ",
    .type = "text/plain",
    .about = "every line, sentence by sentence",
    .read = read,
};
