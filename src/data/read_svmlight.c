/* read_svmlight.c - "label number:value number:value ... # comment", numbers rising. A line that is only a comment
 * is no row. */
#include "data/reader.h"

#include <string.h>

static rg_status svmlight_next(bool *out_more, rg_reader *r)
{
    rg_line line;
    do RG_TRY(rg_reader__next_line(out_more, &line, r));
    while (*out_more && line.text[strspn(line.text, " \t")] == '#');
    if (!*out_more || rg_reader__is_empty(&line)) return RG_OK;
    const char  *label = line.text + strspn(line.text, " \t");
    const size_t bytes = strcspn(label, " \t#");
    RG_TRY(rg_reader__add_cell(r, label, bytes));
    return rg_reader__add_cell(r, label + bytes, strcspn(label + bytes, "#"));
}

const rg_reader_format rg_reader_svmlight = {
    .name = "svmlight",
    .summary = "label number:value number:value ...",
    .endings = ".svmlight .libsvm .svm ",
    .columns = "label counts",
    .open = rg_reader__open_lines,
    .next = svmlight_next,
};
