/* kept.h - where what was made of a file is kept: beside it, or in a directory. */
#ifndef REGARD_DATA_KEPT_H
#define REGARD_DATA_KEPT_H

#include <stdint.h>

/* DIRECTORY/name-of-file.KEY.ending, or file.KEY.ending where the directory is NULL. A new string; NULL: no memory. */
char *rg_kept_path(const char *directory, const char *file, uint64_t key, const char *ending);

#endif
