/* read_csv.c - comma-separated values after RFC 4180:
 *
 *     plain,"with, comma","with ""quotes""","over
 *     two lines"
 *
 * A quote counts only at the beginning of a cell. A row may span lines; it is known by the line where it begins. */
#include "data/reader.h"

#include <string.h>

/* The next line of a cell that is still open, behind a line end. `begun`: the line where its quote stands. */
static rg_status next_line_of_cell(rg_line *line, rg_reader *r, uint64_t begun)
{
    bool more;
    RG_TRY(rg_lines_next(&more, line, r->lines));
    if (!more)
        return rg_reader__complain(
            r, begun, "a quote opened here is still open at the end of the file: close it, or write \"\" for a quote");
    r->row.faults |= line->faults;
    if (line->faults & RG_LINE_TOO_LONG || r->text.length + line->bytes > r->config.max_bytes)
        return rg_reader__complain(r, begun, "a quote opened here is still open after %zu bytes: close it",
                                   r->text.length);
    return rg_text_add(&r->text, "\n", 1);
}

/* A cell in quotes, from behind its first quote; *at is left behind its last one. */
static rg_status quoted(const char **at, rg_line *line, rg_reader *r)
{
    const uint64_t begun = line->number;
    for (;;) {
        const size_t bytes = strcspn(*at, "\"");
        RG_TRY(rg_text_add(&r->text, *at, bytes));
        *at += bytes;
        if (!**at) {
            RG_TRY(next_line_of_cell(line, r, begun));
            *at = line->text;
        } else if ((*at)[1] == '"') {
            RG_TRY(rg_text_add(&r->text, "\"", 1));
            *at += 2;
        } else {
            ++*at;
            break;
        }
    }
    if (**at && **at != ',')
        return rg_reader__complain(
            r, line->number,
            "'%.20s' behind a closing quote: a comma belongs there, and a quote inside quotes is written \"\"", *at);
    return RG_OK;
}

static rg_status csv_next(bool *out_more, rg_reader *r)
{
    rg_line line;
    RG_TRY(rg_reader__next_line(out_more, &line, r));
    if (!*out_more || rg_reader__is_empty(&line)) return RG_OK;
    for (const char *at = line.text;; at++) {
        RG_TRY(rg_reader__begin_cell(r));
        if (*at == '"') {
            at++;
            RG_TRY(quoted(&at, &line, r));
        } else {
            const size_t bytes = strcspn(at, ",");
            RG_TRY(rg_text_add(&r->text, at, bytes));
            at += bytes;
        }
        RG_TRY(rg_reader__end_cell(r));
        if (!*at) return RG_OK;
    }
}

const rg_reader_format rg_reader_csv = {
    .name = "csv",
    .summary = "comma-separated values (RFC 4180), with or without a header line",
    .endings = ".csv ",
    .open = rg_reader__open_lines,
    .next = csv_next,
};
