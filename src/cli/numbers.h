/* numbers.h - rows of numbers from a text file, for commands that calculate. */
#ifndef RG_CLI_NUMBERS_H
#define RG_CLI_NUMBERS_H

#include "regard/tensor.h"

/* One row per line, numbers separated by tabs or blanks. Lines that begin with # are remarks; an empty line starts a
 * new group. */
typedef struct rg_numbers {
    char     *path;
    size_t    rows, cols;
    rg_real  *data; /* rows * cols */
    uint64_t *line; /* of each row, for messages */
    size_t    groups;
    int32_t  *start; /* groups + 1 */
} rg_numbers;

/* "-" is standard input. A failure names the file, the line and the column. */
rg_status rg_numbers_read(rg_numbers *out, const char *path);
void      rg_numbers_free(rg_numbers *numbers); /* also a zeroed one */

#endif
