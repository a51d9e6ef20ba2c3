/* read_label.c - "label text": the label ends at the first blank or tab, the rest of the line is the text. */
#include "data/reader.h"

#include <string.h>

static rg_status label_next(bool *out_more, rg_reader *r)
{
    rg_line line;
    RG_TRY(rg_reader__next_line(out_more, &line, r));
    if (!*out_more || rg_reader__is_empty(&line)) return RG_OK;
    const char  *label = line.text + strspn(line.text, " \t");
    const size_t bytes = strcspn(label, " \t");
    const char  *text = label + bytes + strspn(label + bytes, " \t");
    RG_TRY(rg_reader__add_cell(r, label, bytes));
    return rg_reader__add_cell(r, text, strlen(text));
}

const rg_reader_format rg_reader_label = {
    .name = "label",
    .summary = "label, a blank, text",
    .endings = "",
    .columns = "label text",
    .open = rg_reader__open_lines,
    .next = label_next,
};
