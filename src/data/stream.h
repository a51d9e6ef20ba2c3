/* stream.h - bytes of a file, a gzip or zstd file, standard input or memory, a chunk at a time. Lines, archives and idx
 * files are read through it. */
#ifndef REGARD_DATA_STREAM_H
#define REGARD_DATA_STREAM_H

#include <zlib.h>

#include "regard/text.h"

enum { RG_STREAM_CHUNK = 1 << 16 };

typedef struct rg_stream {
    char       *name;
    rg_file    *file; /* one of file, memory, standard input */
    const char *memory;
    size_t      memory_left;
    bool        standard;

    bool     gzip, inflating; /* gzip: packed, by gzip or zstd; inflating: inside a member */
    bool     zstd_packed;
    bool     ended;           /* the source has no more bytes */
    z_stream inflater;
    void    *zstd;   /* NULL: nothing of that kind was unpacked yet */
    char    *packed; /* bytes as they come; the chunk itself when not gzip */
    size_t   packed_at, packed_end;
    char    *chunk; /* NULL until the first bytes decided about gzip */
    size_t   at, end; /* what is at hand: chunk[at .. end-1] */
    uint64_t given;   /* bytes of all chunks so far */
} rg_stream;

/* "-" is standard input. gzip and zstd are recognised by their first bytes, whatever the name. All zero may be closed. */
rg_status rg_stream_open(rg_stream *out, const char *path);
rg_status rg_stream_open_bytes(rg_stream *out, const char *name, const void *bytes, size_t count); /* borrowed */
void      rg_stream_close(rg_stream *s);

/* Fill the empty chunk; at == end afterwards means the end. A failure names the source. */
rg_status rg_stream_fill(rg_stream *s);
/* Would rg_stream_fill have to wait for somebody? Only standard input makes one wait. */
bool      rg_stream_would_wait(rg_stream *s);
/* Append exactly `count` bytes to out; fewer are RG_EFORMAT "cut short". Memory grows with the bytes that are there. */
rg_status rg_stream_read(rg_text *out, rg_stream *s, size_t count);
/* As many as there are, at most `count`. */
rg_status rg_stream_read_some(rg_text *out, rg_stream *s, size_t count);
rg_status rg_stream_skip(rg_stream *s, uint64_t count);

rg_status rg_stream__read_packed(rg_stream *s); /* more bytes as they come, when all are used */
rg_status rg_stream__fill_zstd(rg_stream *s);
void      rg_stream__close_zstd(rg_stream *s);

#endif
