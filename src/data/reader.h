/* reader.h - what the formats of a reader share. A format fills the cells of a row, all of its columns in their
 * order; reader.c picks those that are wanted. */
#ifndef REGARD_DATA_READER_H
#define REGARD_DATA_READER_H

#include "regard/reader.h"

#include "data/stream.h"

/* A cell as the format found it: a part of `text`, or missing. */
typedef struct rg_raw_cell {
    size_t at, count;
    bool   missing;
} rg_raw_cell;

/* Which raw columns a wanted one is: first .. last, joined by tabs when they are several. */
typedef struct rg_pick {
    size_t first, last;
} rg_pick;

struct rg_reader {
    const rg_reader_format *format;
    rg_reader_config        config;
    char                   *name;  /* for messages */
    const char             *path;  /* NULL: memory, then bytes and count */
    const void             *bytes;
    size_t                  count;

    /* What formats read from; each uses what it needs. */
    rg_lines *lines;
    rg_stream stream;
    void     *own; /* freed by the format's close */
    uint64_t  member_at, member_bytes; /* tar: where the member at hand stands in the archive */

    /* The row at hand. */
    rg_text      text; /* the bytes of all raw cells, a NUL behind each */
    rg_raw_cell *raw;
    size_t       raw_count, raw_room;
    size_t       height, width, channels; /* of the cell that is pixels; 0: none is */
    size_t       pixels;                  /* which raw cell that is */
    rg_row       row;

    /* What is wanted. */
    rg_pick *pick;
    rg_cell *cells;
    rg_text  joined;
    rg_text  header; /* names of the columns, a NUL behind each */
    size_t   header_count;
    rg_files *files;   /* what `file` cells name; NULL: they are themselves */
    size_t    file;    /* which wanted column that is */
    rg_text   content; /* of the file */
    bool      picked, held; /* held: the first row was read to look for a header, and is still to be given */
};

/* Begin a row; then its cells in order. Pointers into text are made when the row is complete. */
void      rg_reader__begin_row(rg_reader *r, uint64_t line);
rg_status rg_reader__add_cell(rg_reader *r, const void *bytes, size_t count);
rg_status rg_reader__add_missing(rg_reader *r);
/* The last cell is written piece by piece: begin, add to r->text, end. */
rg_status rg_reader__begin_cell(rg_reader *r);
rg_status rg_reader__end_cell(rg_reader *r);

/* Open r->lines or r->stream on what the reader reads. */
rg_status rg_reader__open_lines(rg_reader *r);
rg_status rg_reader__open_stream(rg_reader *r);
/* The next line into *out; notes its faults on the row, and begins the row. A line past the limit has no text. */
rg_status rg_reader__next_line(bool *out_more, rg_line *out, rg_reader *r);
/* Nothing but blanks: the row has no cells, which are then missing. */
bool      rg_reader__is_empty(const rg_line *line);
/* RG_EFORMAT with "FILE: line N: " in front. */
rg_status rg_reader__complain(const rg_reader *r, uint64_t line, const char *format, ...) RG_PRINTF(3, 4);
/* How many columns are wanted at least, from 1: what a row without enough of them is told. */
size_t    rg_reader__wanted_last(const rg_reader *r);

/* Is this raw column wanted? Bytes of files that nobody wants are not read. */
bool rg_reader__wants(const rg_reader *r, size_t column);

/* members.c: what folders and archives have in common, the cells label, path, name and prefix (of the name, before its
 * first _) of a member; its bytes are the last, under either of two names. */
#define RG_MEMBER_COLUMNS "label path name prefix picture sound"
enum { RG_MEMBER_PICTURE = 4, RG_MEMBER_SOUND };
/* All cells but the bytes, then rg_reader__begin_member ... rg_reader__end_cell around these where somebody wants them,
 * rg_reader__add_missing where nobody does. */
rg_status rg_reader__add_member(rg_reader *r, const char *path);
bool      rg_reader__wants_member(const rg_reader *r);
rg_status rg_reader__begin_member(rg_reader *r);
/* Does a path begin with / or go up with ..? */
bool rg_reader__leaves(const char *path);
/* Append a whole file of at most `most` bytes. */
rg_status rg_reader__read_file(rg_text *out, const char *path, size_t most);
/* Hidden files (.DS_Store, ._a.jpg) are nobody's data. */
bool rg_reader__is_hidden(const char *path);

#endif
