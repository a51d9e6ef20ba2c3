/* powercut.h - what a disk may hold after the power fails (P4).
 *
 * A recorder behind the file seam notes every call while passing it on. From the first n notes it then rebuilds the
 * disk: a file's bytes count as safe when the file was synced after them, a name when its folder was synced. What is
 * not safe may be lost, kept, or kept in part, which the mode decides. */
#ifndef TESTS_SUPPORT_POWERCUT_H
#define TESTS_SUPPORT_POWERCUT_H

#include "regard/base.h"

typedef enum powercut_mode {
    POWERCUT_ALL_LOST,   /* nothing that was not synced survives                                        */
    POWERCUT_NAMES_KEPT, /* renames and new names survive, bytes do not: the way to an empty new file   */
    POWERCUT_BYTES_KEPT, /* bytes survive, names do not                                                 */
    POWERCUT_NONE_LOST,  /* only the program died                                                       */
    POWERCUT_TORN        /* names up to some moment, each file's bytes up to another, the last bytes garbled */
} powercut_mode;

void   powercut_record(void);       /* forget all and begin; the disk is empty */
void   powercut_stop(void);         /* put the real file calls back */
size_t powercut_operations(void);   /* notes so far */

/* The bytes called `path` after the first `operations` notes and a cut. False when there is no such file. Free with
 * free(). */
bool powercut_disk(unsigned char **out, size_t *out_count, const char *path, size_t operations, powercut_mode mode,
                   rg_random *random);

#endif
