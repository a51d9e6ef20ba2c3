/* reader.c - the table of formats, which one a file has, and which of its columns are wanted. */
#include "data/reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The list makes both the declarations and the table. */
#define RG_FORMATS(X) X(tsv) X(csv) X(jsonl) X(label) X(svmlight) X(conll) X(lines) X(folder) X(tar) X(idx) X(coco) X(tmx) X(xliff)
#define DECLARE(name) extern const rg_reader_format rg_reader_##name;
#define ENTRY(name)   &rg_reader_##name,
RG_FORMATS(DECLARE)
static const rg_reader_format *const table[] = { RG_FORMATS(ENTRY) NULL };

enum { MOST_COLUMNS = 1 << 20, LOOKED_AT = 1 << 12 };

const rg_reader_format *const *rg_reader_format_all(void)
{
    return table;
}

rg_status rg_reader_format_find(const rg_reader_format **out, const char *name)
{
    rg_text names = { 0 };
    for (const rg_reader_format *const *f = table; *f; f++) {
        if (strcmp((*f)->name, name) != 0) continue;
        *out = *f;
        return RG_OK;
    }
    for (const rg_reader_format *const *f = table; *f; f++)
        (void)rg_text_print(&names, "%s%s", f > table ? ", " : "", (*f)->name);
    rg_fail(RG_EINVAL, "no format is called '%s'; there are %s", name, rg_text_c(&names));
    rg_text_free(&names);
    return RG_EINVAL;
}

/* --------------------------------------------------------------------------------------------------- which format */

/* Does the name end so, .gz aside? */
static bool ends_with(const char *path, const char *endings)
{
    size_t length = strlen(path);
    if (length > 3 && strcmp(path + length - 3, ".gz") == 0) length -= 3;
    else if (length > 4 && strcmp(path + length - 4, ".zst") == 0) length -= 4;
    for (const char *at = endings; *at;) {
        const size_t bytes = strcspn(at, " ");
        if (length > bytes && strncmp(path + length - bytes, at, bytes) == 0) return true;
        at += bytes + (at[bytes] == ' ');
    }
    return false;
}

/* By the first bytes; NULL: they do not tell. */
static const rg_reader_format *by_content(const char *bytes, size_t count)
{
    const size_t line = strcspn(bytes, "\n");
    if (count >= 262 && memcmp(bytes + 257, "ustar", 5) == 0) return &rg_reader_tar;
    if (count >= 4 && memcmp(bytes, "\0\0", 2) == 0 && bytes[2] >= 8 && bytes[2] <= 14 && bytes[3] > 0)
        return &rg_reader_idx;
    if (bytes[strspn(bytes, " \t\r\n\xEF\xBB\xBF")] == '{')
        return strstr(bytes, "\"images\"") || strstr(bytes, "\"annotations\"") ? &rg_reader_coco : &rg_reader_jsonl;
    return memchr(bytes, '\t', line) ? &rg_reader_tsv : NULL;
}

static rg_status look(rg_text *out, const rg_reader *r)
{
    rg_stream s = { 0 };
    rg_status status = r->path ? rg_stream_open(&s, r->path) : rg_stream_open_bytes(&s, r->name, r->bytes, r->count);
    if (status == RG_OK) status = rg_stream_read_some(out, &s, LOOKED_AT);
    rg_stream_close(&s);
    return status;
}

static rg_status find_format(rg_reader *r)
{
    struct stat about;
    if (r->config.format && *r->config.format) return rg_reader_format_find(&r->format, r->config.format);
    if (r->path && strcmp(r->path, "-") == 0)
        return rg_fail(RG_EINVAL, "standard input: give its format: tsv, csv, jsonl, label, ...");
    if (r->path && stat(r->path, &about) == 0 && S_ISDIR(about.st_mode)) {
        r->format = &rg_reader_folder;
        return RG_OK;
    }
    rg_text   first = { 0 };
    rg_status status = look(&first, r);
    if (status == RG_OK && !first.length) status = rg_fail(RG_EFORMAT, "%s: the file is empty", r->name);
    for (const rg_reader_format *const *f = table; status == RG_OK && *f && r->path; f++)
        if (ends_with(r->path, (*f)->endings)) r->format = *f;
    if (status == RG_OK) {
        const rg_reader_format *told = by_content(first.data, first.length);
        if (told == &rg_reader_tar || told == &rg_reader_idx || !r->format) r->format = told; /* bytes that cannot be text come first */
    }
    if (status == RG_OK && !r->format && r->config.wanted_count < 2) r->format = &rg_reader_lines;
    rg_text_free(&first);
    if (status == RG_OK && !r->format)
        status = rg_fail(
            RG_EFORMAT,
            "%s: line 1: no tab between columns, and the name does not tell the format: separate columns by tabs, "
            "or give the format (csv, label, svmlight, ...)",
            r->name);
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- rows */

void rg_reader__begin_row(rg_reader *r, uint64_t line)
{
    rg_text_clear(&r->text);
    r->raw_count = r->height = 0;
    r->row = (rg_row){ .cell = r->cells, .line = line };
}

rg_status rg_reader__begin_cell(rg_reader *r)
{
    if (r->raw_count == MOST_COLUMNS)
        return rg_reader__complain(r, r->row.line, "more than %d columns", MOST_COLUMNS);
    if (r->raw_count == r->raw_room) {
        const size_t room = r->raw_room ? 2 * r->raw_room : 16;
        rg_raw_cell *raw = rg_realloc(r->raw, room * sizeof *raw);
        if (!raw) return RG_ENOMEM;
        r->raw = raw;
        r->raw_room = room;
    }
    r->raw[r->raw_count++] = (rg_raw_cell){ .at = r->text.length };
    return RG_OK;
}

rg_status rg_reader__end_cell(rg_reader *r)
{
    rg_raw_cell *cell = &r->raw[r->raw_count - 1];
    cell->count = r->text.length - cell->at;
    return rg_text_add(&r->text, "", 1);
}

rg_status rg_reader__add_cell(rg_reader *r, const void *bytes, size_t count)
{
    RG_TRY(rg_reader__begin_cell(r));
    RG_TRY(rg_text_add(&r->text, bytes, count));
    return rg_reader__end_cell(r);
}

rg_status rg_reader__add_missing(rg_reader *r)
{
    RG_TRY(rg_reader__add_cell(r, "", 0));
    r->raw[r->raw_count - 1].missing = true;
    return RG_OK;
}

rg_status rg_reader__open_lines(rg_reader *r)
{
    const rg_lines_config config = { RG_TEXT_AS_IS,
                                     r->config.max_bytes < (size_t)16 << 20 ? r->config.max_bytes : (size_t)16 << 20 };
    return r->path ? rg_lines_open(&r->lines, r->path, &config)
                   : rg_lines_open_bytes(&r->lines, r->bytes, r->count, &config);
}

rg_status rg_reader__open_stream(rg_reader *r)
{
    return r->path ? rg_stream_open(&r->stream, r->path)
                   : rg_stream_open_bytes(&r->stream, r->name, r->bytes, r->count);
}

rg_status rg_reader__next_line(bool *out_more, rg_line *out, rg_reader *r)
{
    RG_TRY(rg_lines_next(out_more, out, r->lines));
    if (!*out_more) return RG_OK;
    rg_reader__begin_row(r, out->number);
    r->row.faults = out->faults;
    return RG_OK;
}

bool rg_reader__is_empty(const rg_line *line)
{
    return line->text[strspn(line->text, " \t")] == '\0';
}

rg_status rg_reader__complain(const rg_reader *r, uint64_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    rg_failv(RG_EFORMAT, format, args);
    va_end(args);
    return rg_fail_in(RG_EFORMAT, "%s: line %llu: ", r->name, (unsigned long long)line);
}

rg_status rg_reader_blame(rg_status status, const rg_reader *r, const rg_row *row)
{
    if (row->member) return rg_fail_in(status, "%s: %s: ", r->name, row->member);
    return rg_fail_in(status, "%s: %s %llu: ", r->name, r->lines ? "line" : "item", (unsigned long long)row->line);
}

/* -------------------------------------------------------------------------------------------------------- columns */

static bool find_column(size_t *out, const rg_reader *r, const char *name, size_t bytes)
{
    const char *other = rg_text_c(&r->header);
    for (size_t i = 0; i < r->header_count; i++, other += strlen(other) + 1) {
        if (strlen(other) != bytes || memcmp(other, name, bytes) != 0) continue;
        *out = i;
        return true;
    }
    return false;
}

static bool to_number(size_t *out, const char *text, size_t bytes)
{
    *out = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] < '0' || text[i] > '9' || i > 6) return false;
        *out = 10 * *out + (size_t)(text[i] - '0');
    }
    return *out > 0;
}

/* "3", "4-9", "4-": columns by number, from 1. */
static bool to_range(rg_pick *out, const char *text, size_t bytes)
{
    const char *dash = memchr(text, '-', bytes);
    size_t      first, last;
    const size_t digits = dash ? (size_t)(dash - text) : bytes;
    if (!to_number(&first, text, digits)) return false;
    last = first;
    if (dash && digits + 1 == bytes) last = MOST_COLUMNS;
    else if (dash && !to_number(&last, dash + 1, bytes - digits - 1)) return false;
    *out = (rg_pick){ first - 1, last - 1 };
    return last >= first;
}

/* Part i of a list between commas; false when it has fewer. */
static bool list_part(const char **out, size_t *out_bytes, const char *list, size_t i)
{
    for (; i; i--) {
        list += strcspn(list, ",");
        if (!*list++) return false;
    }
    while (*list == ' ') list++;
    *out = list;
    *out_bytes = strcspn(list, ",");
    while (*out_bytes && list[*out_bytes - 1] == ' ') --*out_bytes;
    return *out_bytes > 0;
}

static rg_status no_column(const rg_reader *r, const char *name, size_t bytes)
{
    rg_text names = { 0 };
    const char *other = rg_text_c(&r->header);
    for (size_t i = 0; i < r->header_count && i < 20; i++, other += strlen(other) + 1)
        (void)rg_text_print(&names, "%s%s", i ? ", " : "", other);
    rg_fail(RG_EFORMAT, "%s: no column is called '%.*s'; there %s %s; choose columns by name or by number from 1",
            r->name, (int)bytes, name, r->header_count == 1 ? "is" : "are",
            r->header_count ? rg_text_c(&names) : "no names");
    rg_text_free(&names);
    return RG_EFORMAT;
}

/* What is wanted i-th. By `columns` where given, by its own name where there are names, otherwise by position. */
static rg_status pick_one(rg_reader *r, size_t i)
{
    const char *name = r->config.wanted[i];
    size_t      bytes = strlen(name), at = 0;
    const bool  given = r->config.columns && *r->config.columns;
    if (given && !list_part(&name, &bytes, r->config.columns, i))
        return rg_fail(RG_EINVAL, "%s: columns \"%s\": %zu are wanted: %s is missing", r->name, r->config.columns,
                       r->config.wanted_count, r->config.wanted[i]);
    if (find_column(&at, r, name, bytes)) {
        r->pick[i] = (rg_pick){ at, at };
        return RG_OK;
    }
    if (given && to_range(&r->pick[i], name, bytes)) return RG_OK;
    if (given || r->header_count) return no_column(r, name, bytes);
    r->pick[i] = (rg_pick){ i, i };
    return RG_OK;
}

static rg_status pick_all(rg_reader *r)
{
    const char *rest;
    size_t      bytes;
    for (size_t i = 0; i < r->config.wanted_count; i++) RG_TRY(pick_one(r, i));
    if (r->config.columns && *r->config.columns && list_part(&rest, &bytes, r->config.columns, r->config.wanted_count))
        return rg_fail(RG_EINVAL, "%s: columns \"%s\": only %zu are wanted", r->name, r->config.columns,
                       r->config.wanted_count);
    r->picked = true;
    return RG_OK;
}

size_t rg_reader__wanted_last(const rg_reader *r)
{
    size_t last = 0;
    for (size_t i = 0; i < r->config.wanted_count; i++) {
        const rg_pick *p = &r->pick[i];
        const size_t   needed = p->last >= MOST_COLUMNS - 1 ? p->first : p->last;
        if (needed + 1 > last) last = needed + 1;
    }
    return last;
}

bool rg_reader__wants(const rg_reader *r, size_t column)
{
    for (size_t i = 0; i < r->config.wanted_count; i++)
        if (r->pick[i].first <= column && column <= r->pick[i].last) return true;
    return false;
}

/* The names of columns, given or cells of the first row. */
static rg_status take_names(rg_reader *r, const char *names)
{
    while (names && *names) {
        const size_t bytes = strcspn(names, " ");
        RG_TRY(rg_text_add(&r->header, names, bytes));
        RG_TRY(rg_text_add(&r->header, "", 1));
        r->header_count++;
        names += bytes + (names[bytes] == ' ');
    }
    return RG_OK;
}

static rg_status take_header_row(rg_reader *r)
{
    for (size_t i = 0; i < r->raw_count; i++) {
        const char *name = r->text.data + r->raw[i].at; /* blanks around it are not part of the name; nor what follows a NUL */
        name += strspn(name, " ");
        size_t bytes = strlen(name);
        while (bytes && name[bytes - 1] == ' ') bytes--;
        RG_TRY(rg_text_add(&r->header, name, bytes));
        RG_TRY(rg_text_add(&r->header, "", 1));
        r->header_count++;
    }
    return RG_OK;
}

/* Do columns have names that are not numbers? */
static bool columns_are_names(const rg_reader *r)
{
    const char *name;
    size_t      bytes;
    rg_pick     pick;
    for (size_t i = 0; r->config.columns && list_part(&name, &bytes, r->config.columns, i); i++)
        if (!to_range(&pick, name, bytes)) return true;
    return false;
}

static bool first_row_is_header(rg_reader *r)
{
    size_t at;
    if (r->config.header != RG_HEADER_AUTO) return r->config.header == RG_HEADER_YES;
    if (r->config.columns && *r->config.columns) return columns_are_names(r);
    for (size_t i = 0; i < r->config.wanted_count; i++)
        if (!find_column(&at, r, r->config.wanted[i], strlen(r->config.wanted[i]))) return false;
    return r->config.wanted_count > 0;
}

/* Formats whose columns have fixed names have them now; jsonl reads what is wanted by name; tsv and csv may have a
 * header. */
static rg_status find_columns(rg_reader *r)
{
    if (r->format->columns) {
        RG_TRY(take_names(r, r->format->columns));
        return pick_all(r);
    }
    bool more;
    RG_TRY(r->format->next(&more, r));
    if (!more) return pick_all(r);
    if (r->config.header != RG_HEADER_NO) RG_TRY(take_header_row(r));
    if (!first_row_is_header(r)) {
        rg_text_clear(&r->header);
        r->header_count = 0;
        r->held = true;
    }
    return pick_all(r);
}

/* --------------------------------------------------------------------------------------------------- open, close */

static rg_status open_files(rg_reader *r)
{
    const char *name = r->config.file ? r->config.file : "picture";
    while (r->file < r->config.wanted_count && strcmp(r->config.wanted[r->file], name) != 0) r->file++;
    return r->file < r->config.wanted_count ? rg_files_open(&r->files, r->config.files) : RG_OK; /* nobody wants them in this pass */
}

static rg_status begin(rg_reader **out, const char *path, const void *bytes, size_t count,
                       const rg_reader_config *config)
{
    rg_reader *r = rg_alloc_zero(sizeof *r);
    if (!r) return RG_ENOMEM;
    r->config = *config;
    r->bytes = bytes;
    r->count = count;
    r->name = rg_strdup(!path ? "bytes in memory" : strcmp(path, "-") == 0 ? "standard input" : path);
    r->path = path;
    r->pick = rg_alloc_array(config->wanted_count, sizeof *r->pick);
    r->cells = rg_alloc_array(config->wanted_count, sizeof *r->cells);
    rg_status status = r->name && r->pick && r->cells ? RG_OK : RG_ENOMEM;
    if (status == RG_OK) status = find_format(r);
    if (status == RG_OK && !path && r->format == &rg_reader_folder)
        status = rg_fail(RG_EINVAL, "a folder cannot be read from memory");
    if (status == RG_OK) status = r->format->open(r);
    if (status == RG_OK) status = find_columns(r);
    if (status == RG_OK && config->files) status = open_files(r);
    r->path = NULL; /* the caller's, and used up */
    if (status == RG_OK) *out = r;
    else rg_reader_close(r);
    return status;
}

rg_status rg_reader_open(rg_reader **out, const char *path, const rg_reader_config *config)
{
    return begin(out, path, NULL, 0, config);
}

rg_status rg_reader_open_bytes(rg_reader **out, const void *bytes, size_t count, const rg_reader_config *config)
{
    return begin(out, NULL, bytes, count, config);
}

void rg_reader_close(rg_reader *r)
{
    if (!r) return;
    if (r->format && r->format->close) r->format->close(r);
    rg_lines_close(r->lines);
    rg_stream_close(&r->stream);
    rg_text_free(&r->text);
    rg_text_free(&r->joined);
    rg_text_free(&r->content);
    rg_files_close(r->files);
    rg_text_free(&r->header);
    rg_free(r->raw);
    rg_free(r->pick);
    rg_free(r->cells);
    rg_free(r->name);
    rg_free(r);
}

const char *rg_reader_name(const rg_reader *r)
{
    return r->name;
}

bool rg_reader_has_header(const rg_reader *r)
{
    return r->header_count > 0;
}

const char *rg_reader_format_of(const rg_reader *r)
{
    return r->format->name;
}

/* ----------------------------------------------------------------------------------------------------------- next */

/* Several columns as one cell. Places in r->joined become pointers when all cells are made. */
static rg_status join(rg_cell *out, rg_reader *r, rg_pick pick)
{
    const size_t at = r->joined.length;
    for (size_t i = pick.first; i <= pick.last && i < r->raw_count; i++) {
        if (i > pick.first) RG_TRY(rg_text_add(&r->joined, "\t", 1));
        RG_TRY(rg_text_add(&r->joined, r->text.data + r->raw[i].at, r->raw[i].count));
    }
    out->count = r->joined.length - at;
    out->height = at; /* for the moment */
    return rg_text_add(&r->joined, "", 1);
}

static rg_status make_cell(rg_reader *r, size_t i)
{
    const rg_pick pick = r->pick[i];
    rg_cell      *cell = &r->cells[i];
    *cell = (rg_cell){ .bytes = "", .missing = true };
    if (pick.first >= r->raw_count) return RG_OK;
    if (pick.last > pick.first) {
        cell->missing = false;
        cell->bytes = NULL;
        return join(cell, r, pick);
    }
    const rg_raw_cell *raw = &r->raw[pick.first];
    *cell = (rg_cell){ .bytes = r->text.data + raw->at, .count = raw->count, .missing = raw->missing };
    if (!r->height || r->pixels != pick.first) return RG_OK;
    cell->height = r->height;
    cell->width = r->width;
    cell->channels = r->channels;
    return RG_OK;
}

static rg_status make_cells(rg_reader *r)
{
    rg_text_clear(&r->joined);
    for (size_t i = 0; i < r->config.wanted_count; i++) RG_TRY(make_cell(r, i));
    for (size_t i = 0; i < r->config.wanted_count; i++) {
        rg_cell *cell = &r->cells[i];
        if (cell->bytes) continue;
        cell->bytes = r->joined.data + cell->height;
        cell->height = 0;
    }
    return RG_OK;
}

/* The file that a cell names instead of its name. */
static rg_status fetch_file(rg_reader *r)
{
    rg_cell *cell = &r->cells[r->file];
    bool     there = false;
    if (cell->missing || !cell->count || cell->height) return RG_OK;
    rg_text_clear(&r->content);
    rg_status status = rg_files_read(&there, &r->content, r->files, cell->bytes, r->config.max_bytes);
    if (status != RG_OK) return rg_reader_blame(status, r, &r->row);
    if (!there) r->row.faults |= RG_ROW_ABSENT;
    *cell = (rg_cell){ .bytes = rg_text_c(&r->content), .count = r->content.length, .missing = !there };
    return RG_OK;
}

rg_status rg_reader_next(bool *out_more, rg_row *out, rg_reader *r)
{
    *out_more = true;
    if (!r->held) RG_TRY(r->format->next(out_more, r));
    r->held = false;
    if (!*out_more) return RG_OK;
    const size_t wanted = rg_reader__wanted_last(r);
    if (r->raw_count && r->raw_count < wanted)
        return rg_reader__complain(r, r->row.line,
                                   "%zu column%s, and column %zu is wanted: separate columns by %s, or give the format",
                                   r->raw_count, r->raw_count > 1 ? "s" : "", wanted,
                                   strcmp(r->format->name, "csv") == 0 ? "commas" : "a tab");
    RG_TRY(make_cells(r));
    if (r->files) RG_TRY(fetch_file(r));
    *out = r->row;
    return RG_OK;
}
