/* confine.h - take away from the process what it no longer needs, for good: before bytes that others wrote are read.
 *
 *     const char *const read[] = { "model/" }, *const write[] = { "out.safetensors" };
 *     const rg_confinement c = { .read = read, .reads = 1, .write = write, .writes = 1 };
 *     unsigned how;
 *     RG_TRY(rg_confine(&how, &c));
 *
 * From then on, with Linux's Landlock (5.13 and later) and seccomp:
 *
 *   files     only what is named can be opened, beside the folders of shared libraries for reading, and what is open
 *             already; nothing is made, replaced or removed but in the folders of what is named for writing. Needs
 *             Landlock (RG_CONFINED_FILES). Without it: nothing can be opened for writing where nothing is named for
 *             writing, and any file the user may read can be read where something is named for reading.
 *   network   no socket is made, connected or bound; connections that come in at a socket that listens are taken.
 *   programs  none is started, and no other process is looked into.
 *   kernel    no mounts, namespaces, modules, io_uring, bpf, keys.
 *
 * Not promised: limits on memory or processor time; what is open already stays open; and a kernel with a fault. */
#ifndef REGARD_CONFINE_H
#define REGARD_CONFINE_H

#include "regard/base.h"

RG_API_BEGIN

typedef struct rg_confinement {
    const char *const *read; /* files, and folders with all that is in them */
    size_t             reads;
    const char *const *write; /* files that are written or replaced (rg_file_replace_begin), with their folders */
    size_t             writes;
} rg_confinement;

enum { RG_CONFINED_CALLS = 1, RG_CONFINED_FILES = 2, RG_CONFINED_NETWORK = 4 };

/* For the calling thread and all it starts afterwards: call it before there are others. *out_how says what the kernel
 * did of it: 0 where it has neither. A name that is not there is skipped. RG_EIO: the kernel has it and refused. */
rg_status rg_confine(unsigned *out_how, const rg_confinement *confinement);

RG_API_END
#endif
