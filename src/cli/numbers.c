/* numbers.c - reading rows of numbers: tabs or blanks between them, one line per row, an empty line between groups. */
#include "cli/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "regard/text.h"

enum { MOST_ROWS = 1 << 24 };

typedef struct {
    size_t data, rows, groups; /* room */
    bool   open;               /* the current group has rows */
} rooms;

static bool grow(void *array, size_t *room, size_t need, size_t each)
{
    if (need <= *room) return true;
    size_t more = need < 64 ? 64 : 2 * need, bytes;
    void **at = array;
    void  *larger = rg_size_mul(&bytes, more, each) ? rg_realloc(*at, bytes) : NULL;
    if (!larger) return false;
    *at = larger;
    *room = more;
    return true;
}

/* The number at `text`, which ends at a blank; *length its letters. */
static rg_status read_number(rg_real *out, const rg_numbers *n, const char *text, size_t length, uint64_t line,
                             size_t column)
{
    char  *end = NULL;
    double x = strtod(text, &end);
    if (end != text + length || !isfinite(x) || !isfinite((double)(rg_real)x))
        return rg_fail(RG_EFORMAT, "%s, line %llu, column %zu: \"%.*s\" is not a number", n->path,
                       (unsigned long long)line, column, (int)(length > 40 ? 40 : length), text);
    *out = (rg_real)x;
    return RG_OK;
}

static rg_status read_row(rg_numbers *n, rooms *room, const rg_line *line)
{
    size_t column = 0, used = n->rows * n->cols;
    for (const char *at = line->text + strspn(line->text, " \t"); *at; at += strspn(at, " \t")) {
        const size_t length = strcspn(at, " \t");
        if (!grow(&n->data, &room->data, used + column + 1, sizeof *n->data)) return RG_ENOMEM;
        RG_TRY(read_number(&n->data[used + column], n, at, length, line->number, column + 1));
        column++;
        at += length;
    }
    if (n->rows && column != n->cols)
        return rg_fail(RG_EFORMAT, "%s, line %llu: %zu numbers; the lines before have %zu", n->path,
                       (unsigned long long)line->number, column, n->cols);
    if (n->rows == MOST_ROWS) return rg_fail(RG_ELIMIT, "%s: more than %d rows", n->path, MOST_ROWS);
    n->cols = column;
    size_t lines = room->rows;
    if (!grow(&n->line, &lines, n->rows + 1, sizeof *n->line)) return RG_ENOMEM;
    room->rows = lines;
    n->line[n->rows++] = line->number;
    return RG_OK;
}

/* A group ends at an empty line or at the end of the file. */
static rg_status end_group(rg_numbers *n, rooms *room)
{
    if (!room->open) return RG_OK;
    if (!grow(&n->start, &room->groups, n->groups + 2, sizeof *n->start)) return RG_ENOMEM;
    n->start[0] = 0;
    n->start[++n->groups] = (int32_t)n->rows;
    room->open = false;
    return RG_OK;
}

static rg_status read_all(rg_numbers *n, rg_lines *lines)
{
    rooms   room = { 0 };
    bool    more;
    rg_line line;
    for (;;) {
        RG_TRY(rg_lines_next(&more, &line, lines));
        if (!more) break;
        if (line.text[0] == '#') continue;
        if (line.text[strspn(line.text, " \t")] == 0) RG_TRY(end_group(n, &room));
        else {
            RG_TRY(read_row(n, &room, &line));
            room.open = true;
        }
    }
    RG_TRY(end_group(n, &room));
    return n->rows ? RG_OK : rg_fail(RG_EFORMAT, "%s: there are no numbers in it", n->path);
}

rg_status rg_numbers_read(rg_numbers *out, const char *path)
{
    rg_lines *lines = NULL;
    *out = (rg_numbers){ .path = rg_strdup(path) };
    if (!out->path) return RG_ENOMEM;
    rg_status status = rg_lines_open(&lines, path, NULL);
    if (status == RG_OK) status = read_all(out, lines);
    rg_lines_close(lines);
    if (status != RG_OK) rg_numbers_free(out);
    return status;
}

void rg_numbers_free(rg_numbers *n)
{
    rg_free(n->path);
    rg_free(n->data);
    rg_free(n->line);
    rg_free(n->start);
    *n = (rg_numbers){ 0 };
}
