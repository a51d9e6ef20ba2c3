/* lines.c - see lines.h. */
#include "cli/lines.h"

#include <string.h>

#include "regard/view.h"

static size_t word_width(const char *text, size_t bytes)
{
    char word[512];
    if (bytes >= sizeof word) return bytes;
    memcpy(word, text, bytes);
    word[bytes] = '\0';
    return rg_terminal_width(word);
}

void rg_lines_fold(FILE *out, const char *text, size_t indent)
{
    size_t at = 0;
    for (size_t blanks = 0; *text;) {
        const size_t bytes = strcspn(text, " "), width = word_width(text, bytes);
        if (at > indent && at + blanks + width > RG_LINE_COLUMNS) {
            fputc('\n', out);
            at = 0;
            blanks = indent;
        }
        fprintf(out, "%*s%.*s", (int)blanks, "", (int)bytes, text);
        at += blanks + width;
        text += bytes;
        for (blanks = 0; *text == ' '; text++) blanks++;
    }
    fputc('\n', out);
}

void rg_lines_cut(FILE *out, const char *text, size_t columns)
{
    char *line = rg_terminal_cut(text, columns);
    if (line) fprintf(out, "%s\n", line);
    rg_free(line);
}
