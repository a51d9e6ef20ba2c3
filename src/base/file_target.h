/* file_target.h - where the bytes of an output go, given the name somebody asked for. */
#ifndef RG_BASE_FILE_TARGET_H
#define RG_BASE_FILE_TARGET_H

#include "regard/base.h"

#include <sys/types.h>

typedef struct rg_file_target {
    char *path; /* what the name stands for when symbolic links are followed; to be freed */
    bool
        direct; /* a device, a FIFO or an open descriptor: written to. Otherwise a regular file, there or not: replaced */
    bool   there;
    mode_t mode; /* its permissions */
} rg_file_target;

/* RG_EIO for a folder, for a file without permission to write, for links in a circle. */
rg_status rg_base__file_target(rg_file_target *out, const char *path);

/* Is it the name of an open descriptor: /dev/fd/N, /proc/self/fd/N? */
bool rg_base__descriptor_of(int *out, const char *path);

#endif
