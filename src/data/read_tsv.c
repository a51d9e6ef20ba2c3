/* read_tsv.c - columns between tabs. There is no quoting: a quote is a character like any other. */
#include "data/reader.h"

#include <string.h>

static rg_status tsv_next(bool *out_more, rg_reader *r)
{
    rg_line line;
    RG_TRY(rg_reader__next_line(out_more, &line, r));
    if (!*out_more || rg_reader__is_empty(&line)) return RG_OK;
    for (const char *at = line.text;; at++) {
        const size_t bytes = strcspn(at, "\t");
        RG_TRY(rg_reader__add_cell(r, at, bytes));
        at += bytes;
        if (!*at) return RG_OK;
    }
}

const rg_reader_format rg_reader_tsv = {
    .name = "tsv",
    .summary = "columns between tabs, with or without a header line",
    .endings = ".tsv .tab ",
    .open = rg_reader__open_lines,
    .next = tsv_next,
};
