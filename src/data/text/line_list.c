/* line_list.c - all lines of a file, or of one column of it. */
#include "regard/text.h"

#include <string.h>

/* Field number `column` of a tab-separated line, as a new string. */
static char *field(const char *line, int column)
{
    for (; column > 0 && line; column--) {
        line = strchr(line, '\t');
        if (line) line++;
    }
    char *copy = rg_strdup(line ? line : "");
    if (copy) copy[strcspn(copy, "\t")] = 0;
    return copy;
}

static rg_status add(rg_line_list *list, char *line)
{
    if (!line) return RG_ENOMEM;
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 1024;
        char       **next = rg_realloc(list->line, room * sizeof *next);
        if (!next) {
            rg_free(line);
            return RG_ENOMEM;
        }
        list->line = next;
        list->room = room;
    }
    list->line[list->count++] = line;
    return RG_OK;
}

rg_status rg_line_list_read(rg_line_list *out, const char *path, int column)
{
    rg_lines *lines;
    *out = (rg_line_list){ 0 };
    RG_TRY(rg_lines_open(&lines, path, NULL));
    rg_status status = RG_OK;
    for (bool more = true; status == RG_OK && more;) {
        rg_line line;
        status = rg_lines_next(&more, &line, lines);
        if (status == RG_OK && more) status = add(out, column < 0 ? rg_strdup(line.text) : field(line.text, column));
    }
    rg_lines_close(lines);
    if (status != RG_OK) rg_line_list_free(out);
    return status;
}

void rg_line_list_free(rg_line_list *list)
{
    for (size_t i = 0; i < list->count; i++) rg_free(list->line[i]);
    rg_free(list->line);
    *list = (rg_line_list){ 0 };
}
