/* read_lines.c - one text per line. */
#include "data/reader.h"

static rg_status lines_next(bool *out_more, rg_reader *r)
{
    rg_line line;
    RG_TRY(rg_reader__next_line(out_more, &line, r));
    if (!*out_more || rg_reader__is_empty(&line)) return RG_OK;
    return rg_reader__add_cell(r, line.text, line.bytes);
}

static rg_status lines_open(rg_reader *r)
{
    r->config.header = RG_HEADER_NO;
    return rg_reader__open_lines(r);
}

const rg_reader_format rg_reader_lines = {
    .name = "lines",
    .summary = "one text per line",
    .endings = "",
    .open = lines_open,
    .next = lines_next,
};
