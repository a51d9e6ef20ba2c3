/* line_writer.c - lines into a file that takes its place when it is whole, packed (gzip) where its name says so. */
#define ZLIB_CONST /* input is const */
#include <string.h>
#include <zlib.h>

#include "regard/clean.h"

enum { CHUNK = 1 << 16, GZIP_WINDOW = 15 + 16 };

struct rg_line_writer {
    rg_file      *file;
    bool          packs;
    z_stream      z;
    unsigned char out[CHUNK];
};

rg_status rg_line_writer_open(rg_line_writer **out, const char *path)
{
    const size_t n = strlen(path);
    *out = NULL;
    if (strcmp(path, "-") == 0) return rg_fail(RG_EINVAL, "-: two sides do not fit one stream; give two files");
    rg_line_writer *w = rg_alloc_zero(sizeof *w);
    if (!w) return RG_ENOMEM;
    rg_status status = rg_file_replace_begin(&w->file, path);
    w->packs = n > 3 && strcmp(path + n - 3, ".gz") == 0;
    if (status == RG_OK && w->packs &&
        deflateInit2(&w->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        w->packs = false;
        status = rg_fail(RG_ENOMEM, "%s: no memory to pack", path);
    }
    if (status != RG_OK) return rg_line_writer_close(w, status);
    *out = w;
    return RG_OK;
}

static rg_status pack(rg_line_writer *w, const char *bytes, size_t count, int flush)
{
    w->z.next_in = (const Bytef *)bytes;
    w->z.avail_in = (uInt)count;
    int code;
    do {
        w->z.next_out = w->out;
        w->z.avail_out = CHUNK;
        code = deflate(&w->z, flush);
        if (code == Z_STREAM_ERROR) return rg_fail(RG_EIO, "a line could not be packed");
        RG_TRY(rg_file_write(w->file, w->out, CHUNK - w->z.avail_out));
    } while (w->z.avail_in || (flush == Z_FINISH && code != Z_STREAM_END));
    return RG_OK;
}

rg_status rg_line_writer_add(rg_line_writer *w, const char *line)
{
    const size_t n = strlen(line);
    if (n > UINT32_MAX / 2) return rg_fail(RG_ELIMIT, "a line of %zu bytes", n);
    RG_TRY(w->packs ? pack(w, line, n, Z_NO_FLUSH) : rg_file_write(w->file, line, n));
    return w->packs ? pack(w, "\n", 1, Z_NO_FLUSH) : rg_file_write(w->file, "\n", 1);
}

rg_status rg_line_writer_close(rg_line_writer *w, rg_status status)
{
    if (!w) return status;
    if (status == RG_OK && w->packs) status = pack(w, "", 0, Z_FINISH);
    if (w->packs) deflateEnd(&w->z);
    if (w->file && status == RG_OK) status = rg_file_replace_commit(w->file);
    else if (w->file) rg_file_replace_abandon(w->file);
    rg_free(w);
    return status;
}
