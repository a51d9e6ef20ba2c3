/* markdown.h - what the two halves of the Markdown reader share. */
#ifndef RG_DATA_MARKDOWN_H
#define RG_DATA_MARKDOWN_H

#include "data/documents/documents.h"

rg_status rg_markdown__escape(rg_text *out, const char *text, size_t bytes);
/* text[begin .. end) of the cutter, part of a paragraph. */
rg_status rg_markdown__inline(rg_cutter *c, size_t begin, size_t end);
/* Bytes at the beginning of a line that are no text of a paragraph it continues: blanks and > of quotes. */
size_t    rg_markdown__prefix(const char *line, size_t bytes);

#endif
