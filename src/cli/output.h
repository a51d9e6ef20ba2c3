/* output.h - where a command prints its results: standard output, or a file that appears whole or not at all. */
#ifndef RG_CLI_OUTPUT_H
#define RG_CLI_OUTPUT_H

#include <stdio.h>

#include "regard/base.h"

typedef struct rg_output {
    FILE    *stream; /* to print to */
    rg_file *file;   /* NULL: standard output */
    char    *why;    /* the first write that failed; NULL: none */
} rg_output;

/* "-" is standard output. Otherwise as rg_file_replace_begin(): a regular file is replaced when it is closed. */
rg_status rg_output_open(rg_output *out, const char *path);

/* What was printed reaches whoever reads: at once for devices and FIFOs. */
rg_status rg_output_flush(rg_output *out);

/* With RG_OK the file takes its place; otherwise what was there stays and `status` comes back. A zeroed output is
 * fine. */
rg_status rg_output_close(rg_output *out, rg_status status);

/* RG_EINVAL when `output` (of the option --flag) is the very file `input` ("-": standard input): an output never
 * replaces what is read. Empty names are fine. */
rg_status rg_output_is_not(const char *flag, const char *output, const char *input);

#endif
