/* lists.h - the tables of the library, printed. */
#ifndef RG_CLI_LISTS_H
#define RG_CLI_LISTS_H

#include "regard/options.h"

typedef struct rg_list_options {
    bool full, json; /* all there is to say of a row; one JSON object per line */
} rg_list_options;
extern const rg_option rg_list_rows[]; /* of `regard list` and its aliases */

typedef struct rg_list_row {
    const char *name, *group, *summary, *paper;
    char        more[2048];
} rg_list_row;

/* One table: `regard list NAME` prints it. */
typedef struct rg_list_kind {
    const char *name, *summary;
    /* Row number i as words: its name, a heading it belongs under, a line, and more for --long, lines of "what:
     * text"; false: no such row. Strings are borrowed until the next call. */
    bool (*row)(rg_list_row *out, size_t i);
} rg_list_kind;

const rg_list_kind *rg_list_kinds(void); /* ends with a row without a name */

/* The rows that have every one of the words in their name, heading, line or paper, whatever the case. RG_EINVAL:
 * there is no such list. */
rg_status rg_list_print(const char *kind, const rg_list *words, size_t first, const rg_list_options *options);

#endif
