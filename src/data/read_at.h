/* read_at.h - some bytes of a file, from any place. */
#ifndef REGARD_DATA_READ_AT_H
#define REGARD_DATA_READ_AT_H

#include "regard/text.h"

/* Exactly `bytes` bytes from `at` on, in place of what was in out. The caller has checked that they are not too many. */
rg_status rg_read_at(rg_text *out, rg_file *file, uint64_t at, size_t bytes);

#endif
