/* lines.h - text for people: folded or cut at 80 columns, and words quoted so that a shell takes them back. */
#ifndef RG_CLI_LINES_H
#define RG_CLI_LINES_H

#include <stdio.h>

#include "regard/base.h"

enum { RG_LINE_COLUMNS = 80 };

/* Print words, folded between them at RG_LINE_COLUMNS; later lines are indented. A word that is longer stays whole. */
void rg_lines_fold(FILE *out, const char *text, size_t indent);
/* Print one line of at most `columns`, cut with an ellipsis, without anything a terminal would obey. */
void rg_lines_cut(FILE *out, const char *text, size_t columns);

#endif
