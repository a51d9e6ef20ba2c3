/* plot.h - one drawing of what a command measured, in the format that the file's name ends in. */
#ifndef RG_CLI_PLOT_H
#define RG_CLI_PLOT_H

#include "regard/record.h"

/* Does the name end in .png, .svg, .pdf, .html (the page) or .json (the record, for `regard show`)? */
rg_status rg_plot_check(const char *path);

/* The first set of curves where there are any, else the first map, with numbers in its cells. */
rg_status rg_plot_save(const rg_record *record, const char *path);

#endif
