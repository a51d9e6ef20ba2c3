/* unpacked.h - the text of a packed file in a file of its own: parts of it can be read alone. */
#ifndef REGARD_DATA_UNPACKED_H
#define REGARD_DATA_UNPACKED_H

#include "regard/text.h"

/* Is it a regular file that is packed? *out_bytes is then its size. */
rg_status rg_is_packed(bool *out, uint64_t *out_bytes, const char *path);

/* Unpack a gzip or zstd file into `directory` (NULL: beside it), unless that was done before: the name of the new file
 * changes with the packed bytes. Waits while another process unpacks the same. *out is its path, a new string. */
rg_status rg_unpacked_text(char **out, const char *path, const char *directory, const rg_read_watch *watch);

#endif
