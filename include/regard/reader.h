/* reader.h - rows of named cells from files of many formats.
 *
 *   file, folder, archive --rg_reader--> rows of cells --rg_examples--> batches of fields
 *
 *   tsv       columns between tabs; a header line or not                       csv       RFC 4180: quotes, line ends inside quotes
 *   jsonl     one JSON object per line; columns are its keys                   label     label BLANK text
 *   svmlight  label number:value number:value ...                              lines     one text per line
 *   conll     word TAB tag, an empty line between sentences                    idx       MNIST's format, labels in a second file
 *   folder    a folder per class, or a flat folder                             tar       the same, in an archive (ustar, pax, GNU)
 *   coco      COCO captions: images and annotations in one JSON object         tmx, xliff  memories and files of translators
 *
 * gzip is recognised by its first bytes, whatever the name. N rows in a file are N rows here, or a failure that
 * names the file and the line (or the member). */
#ifndef REGARD_READER_H
#define REGARD_READER_H

#include "regard/text.h"

RG_API_BEGIN

typedef enum rg_header {
    RG_HEADER_AUTO, /* the first line is a header when it has every wanted name, or when `columns` has names */
    RG_HEADER_YES,
    RG_HEADER_NO
} rg_header;

typedef struct rg_reader_config {
    const char        *format;  /* a name of the table; "": told by the content and the name                                */
    const char *const *wanted;  /* what each row is to give, in this order: { "label", "text" }                             */
    size_t             wanted_count;
    const char        *columns; /* which column each of them is: "stars,review", "2,3", "1,4-9" (joined by tabs), "3-";     *
                                 * "": by the wanted names where there is a header, otherwise 1, 2, ... */
    rg_header          header;  /* tsv and csv */
    const char        *labels;  /* idx: the file of labels; NULL: images-idx3 replaced by labels-idx1 in the name           */
    size_t             max_bytes; /* of a row of text, a picture, a member                                                  */
    const char        *files;     /* a folder or tar archive: cells of column `file` are paths in it and become the bytes there */
    const char        *file;      /* a wanted name; NULL: "picture"                                                         */
} rg_reader_config;
#define RG_READER_CONFIG_DEFAULT { "", NULL, 0, "", RG_HEADER_AUTO, NULL, (size_t)64 << 20, NULL, NULL }

/* Bytes are text, or a file (folder, tar), or raw pixels, one byte per number, channels last (idx; height is then
 * not 0). */
typedef struct rg_cell {
    const char *bytes; /* borrowed until the next row; a NUL follows that is not counted */
    size_t      count;
    bool        missing; /* an empty line, a key that is absent or null, a picture without a folder */
    size_t      height, width, channels;
} rg_cell;

typedef struct rg_row {
    const rg_cell *cell;   /* one per wanted column */
    uint64_t       line;   /* where the row begins; items and members are numbered from 1 */
    const char    *member; /* folder, tar: its path; otherwise NULL */
    unsigned       faults; /* RG_LINE_ bits and RG_ROW_ABSENT; RG_LINE_TOO_LONG: the cells are missing */
} rg_row;
enum { RG_ROW_ABSENT = 256 }; /* the row names a file that `files` does not have: its cell is missing */

typedef struct rg_reader rg_reader;

typedef struct rg_reader_format {
    const char *name, *summary;
    const char *endings; /* of file names, blank after each: ".csv " */
    const char *columns; /* the names of its columns where they are fixed: "label text"; NULL: as the file or `wanted` says */
    rg_status (*open)(rg_reader *reader);
    rg_status (*next)(bool *out_more, rg_reader *reader);
    void (*close)(rg_reader *reader);
} rg_reader_format;

const rg_reader_format *const *rg_reader_format_all(void); /* NULL at the end */
rg_status                      rg_reader_format_find(const rg_reader_format **out, const char *name);

/* Settings are borrowed and must outlive the reader. */
rg_status   rg_reader_open(rg_reader **out, const char *path, const rg_reader_config *config);
/* The bytes of one file (borrowed): every format but folder. */
rg_status   rg_reader_open_bytes(rg_reader **out, const void *bytes, size_t count, const rg_reader_config *config);
void        rg_reader_close(rg_reader *reader);
rg_status   rg_reader_next(bool *out_more, rg_row *out, rg_reader *reader); /* *out_more is false at the end */
const char *rg_reader_name(const rg_reader *reader);
const char *rg_reader_format_of(const rg_reader *reader); /* its name */
bool        rg_reader_has_header(const rg_reader *reader); /* the names of its columns are known: fixed, or a first line */
/* Files of a folder or a plain tar archive by their path below it. */
typedef struct rg_files rg_files;
rg_status rg_files_open(rg_files **out, const char *path);
void      rg_files_close(rg_files *files);
/* Append the bytes of a file, at most `most`. *out_there is false when there is none of that path. */
rg_status rg_files_read(bool *out_there, rg_text *out, rg_files *files, const char *path, size_t most);

/* Put "FILE: line 12: " (or the member) in front of the message that is there; returns status. */
rg_status   rg_reader_blame(rg_status status, const rg_reader *reader, const rg_row *row);

/* --------------------------------------------------------------------------------------------- texts of a table */

/* A corpus (text.h) of two wanted columns, source and target. A row with an empty cell is counted, not kept. */
rg_status rg_corpus_open_table(rg_corpus **out, const rg_corpus_config *config, const char *path,
                               const rg_reader_config *table, const rg_vocab *source, const rg_vocab *target);
/* A vocabulary of the texts of `count` wanted columns, beginning with `first`, column after column. */
rg_status rg_vocab_train_table(rg_vocab **out, const rg_vocab_config *config, const char *path,
                               const rg_reader_config *table, size_t first, size_t count);
/* The text of one wanted column, in normal form C; "" where a row has none. */
rg_status rg_line_list_read_table(rg_line_list *out, const char *path, const rg_reader_config *table, size_t wanted);

RG_API_END
#endif
