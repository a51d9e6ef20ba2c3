/* line_index.h - where the lines of a text file begin, every so many of them, so that any part can be read alone.
 *
 *   file   line line line line | line line line line | line line        every = 4
 *          ^ begin[0]            ^ begin[1]            ^ begin[2]    ^ begin[3], the end
 *
 * Parts carry a checksum of their bytes: a file that was changed since is refused when a part of it is read. */
#ifndef REGARD_DATA_LINE_INDEX_H
#define REGARD_DATA_LINE_INDEX_H

#include "regard/text.h"

typedef struct rg_line_index {
    char     *path;
    uint64_t  lines, every;
    uint64_t *begin; /* of each part; one more at the end */
    uint64_t *sum;   /* of the bytes of each part */
    size_t    parts, room;
} rg_line_index;

/* Can parts of it be read: is it a regular file that is not packed? *out_bytes is then its size. */
rg_status rg_line_index_can(bool *out, uint64_t *out_bytes, const char *path);

/* One pass over the bytes. All zero may be freed. */
rg_status rg_line_index_make(rg_line_index *out, const char *path, uint64_t every, const rg_read_watch *watch);
void      rg_line_index_free(rg_line_index *index);
uint64_t  rg_line_index_sum(const rg_line_index *index); /* of the whole file */

/* The bytes of a part in place of what was in out; other bytes than those that were indexed are RG_EFORMAT. */
rg_status rg_line_index_read(rg_text *out, const rg_line_index *index, size_t part);

#endif
