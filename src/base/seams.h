/* seams.h - where tests reach under the library: memory, the clock and the file system calls.
 *
 * A seam is process-wide and is set before other threads exist. Passing NULL puts the real thing back. The program
 * itself never calls these. */
#ifndef REGARD_BASE_SEAMS_H
#define REGARD_BASE_SEAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Memory: `refuse` is asked before every allocation and says true to make it fail. */
void   rg_base__seam_alloc(bool (*refuse)(void *context, size_t bytes), void *context);
size_t rg_base__live_blocks(void); /* blocks handed out and not yet freed */
size_t rg_base__live_bytes(void);  /* what they occupy, the allocator's rounding included */
size_t rg_base__alloc_calls(void); /* allocations granted or refused since the program began */

/* Time: rg_now() returns now(context). */
void rg_base__seam_now(double (*now)(void *context), void *context);

/* Files: the system calls rg_file makes, with their conventions: -1 and errno, short counts allowed. */
typedef enum rg_file_kind {
    RG_FILE_READ,    /* anything that can be read: a file, a pipe                                       */
    RG_FILE_REGULAR, /* a regular file only; a pipe without a writer must not make open() wait          */
    RG_FILE_WRITE,   /* made or emptied                                                                 */
    RG_FILE_APPEND,  /* made or added to                                                                */
    RG_FILE_TEMP,    /* made or emptied, locked against other processes; EWOULDBLOCK when one has it    */
    RG_FILE_DEVICE,  /* what is there and is not a regular file: a device, a FIFO, an open descriptor   */
    RG_FILE_FOLDER   /* a folder, to be synced                                                          */
} rg_file_kind;

#define RG_FILE_TEMP_END ".regard-tmp" /* of the name of a file until it replaces another: nobody else's name ends so */

typedef struct rg_file_calls {
    void *context;
    int (*open)(void *context, const char *path, rg_file_kind kind);
    ssize_t (*read)(void *context, int fd, void *buffer, size_t bytes);
    ssize_t (*write)(void *context, int fd, const void *bytes, size_t count);
    int64_t (*seek)(void *context, int fd, int64_t offset);
    int64_t (*size)(void *context, int fd); /* -1 and ESPIPE for what has no size */
    int (*sync)(void *context, int fd);
    int (*close)(void *context, int fd);
    int (*rename)(void *context, const char *from, const char *to);
    int (*unlink)(void *context, const char *path);
} rg_file_calls;

void                 rg_base__seam_file(const rg_file_calls *calls); /* borrowed while it is set */
const rg_file_calls *rg_base__file_calls(void);                      /* the ones in use */
const rg_file_calls *rg_base__file_calls_real(void);                 /* the system's, for a seam that wraps them */

#endif
