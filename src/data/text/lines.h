/* lines.h - what of lines is not for everybody. */
#ifndef REGARD_DATA_LINES_H
#define REGARD_DATA_LINES_H

#include "regard/text.h"

/* Past a line without cleaning it; its bytes as they stand in the file go to *out_bytes. */
rg_status rg_lines__skip(bool *out_more, size_t *out_bytes, rg_lines *lines);

#endif
