/* show.h - what `regard show` does once it has a record. */
#ifndef RG_CLI_SHOW_H
#define RG_CLI_SHOW_H

#include "regard/record.h"

/* `options` is the filled struct of rg_command_show's rows. */
rg_status rg_cli_show_record(const rg_record *record, const void *options);
/* Only the files that the options name. */
rg_status rg_cli_show_files(const rg_record *record, const void *options);
/* The same with every option at its default: drawn in the terminal, or as a figure into the file `png` (NULL: the
 * terminal). */
rg_status rg_cli_draw_record(const rg_record *record, const char *png);

#endif
