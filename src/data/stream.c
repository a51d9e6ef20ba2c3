/* stream.c - bytes a chunk at a time.
 *
 *   source (file, stdin, bytes) --> [inflate] --> chunk
 *
 * Memory stays within two chunks, whatever a gzip file expands to; zstd (stream_zstd.c) needs its window too. */
#include "data/stream.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = RG_STREAM_CHUNK };

static rg_status read_source(size_t *out, rg_stream *s, char *buffer, size_t room)
{
    if (s->file) return rg_file_read_some(out, s->file, buffer, room);
    if (s->standard) {
        ssize_t got;
        do got = read(STDIN_FILENO, buffer, room);
        while (got < 0 && errno == EINTR);
        if (got < 0) return rg_fail(RG_EIO, "standard input: %s", strerror(errno));
        *out = (size_t)got;
        return RG_OK;
    }
    *out = s->memory_left < room ? s->memory_left : room;
    if (*out) memcpy(buffer, s->memory, *out);
    s->memory += *out;
    s->memory_left -= *out;
    return RG_OK;
}

/* More packed bytes, when all are used. */
rg_status rg_stream__read_packed(rg_stream *s)
{
    size_t got = 0;
    if (s->packed_at < s->packed_end || s->ended) return RG_OK;
    RG_TRY(read_source(&got, s, s->packed, CHUNK));
    s->packed_at = 0;
    s->packed_end = got;
    s->ended = got == 0;
    return RG_OK;
}

static void *zlib_alloc(void *context, unsigned count, unsigned size)
{
    (void)context;
    return rg_alloc_array(count, size);
}

static void zlib_free(void *context, void *block)
{
    (void)context;
    rg_free(block);
}

static rg_status inflate_begin(rg_stream *s)
{
    if (s->inflating) return RG_OK;
    s->inflater = (z_stream){ .zalloc = zlib_alloc, .zfree = zlib_free };
    if (inflateInit2(&s->inflater, 15 + 16) != Z_OK) return rg_fail(RG_ENOMEM, "%s: no memory to unpack gzip", s->name);
    s->inflating = true;
    return RG_OK;
}

/* Unpack until there is something; several members one after another are one text, as gzip itself has it. */
static rg_status fill_gzip(rg_stream *s)
{
    while (s->at == s->end) {
        RG_TRY(rg_stream__read_packed(s));
        if (s->ended) {
            if (s->inflating) return rg_fail(RG_EFORMAT, "%s: the gzip data is cut short", s->name);
            return RG_OK;
        }
        RG_TRY(inflate_begin(s));
        s->inflater.next_in = (Bytef *)s->packed + s->packed_at;
        s->inflater.avail_in = (uInt)(s->packed_end - s->packed_at);
        s->inflater.next_out = (Bytef *)s->chunk;
        s->inflater.avail_out = CHUNK;
        int result = inflate(&s->inflater, Z_NO_FLUSH);
        s->packed_at = s->packed_end - s->inflater.avail_in;
        s->at = 0;
        s->end = CHUNK - s->inflater.avail_out;
        if (result == Z_STREAM_END) {
            inflateEnd(&s->inflater);
            s->inflating = false;
        } else if (result == Z_MEM_ERROR) {
            return rg_fail(RG_ENOMEM, "%s: no memory to unpack gzip", s->name);
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            return rg_fail(RG_EFORMAT, "%s: broken gzip data after %llu unpacked bytes: %s", s->name,
                           (unsigned long long)s->given, s->inflater.msg ? s->inflater.msg : "not gzip");
        }
    }
    return RG_OK;
}

/* Do the first bytes begin as those of a packed file do? */
static bool begins(const rg_stream *s, const char *magic, size_t bytes)
{
    return s->packed_end && memcmp(s->packed, magic, s->packed_end < bytes ? s->packed_end : bytes) == 0;
}

/* The first bytes decide. A person typing a short line must not be waited for another byte. */
static rg_status sniff(rg_stream *s)
{
    static const char gzip[] = "\x1F\x8B", zstd[] = "\x28\xB5\x2F\xFD";
    RG_TRY(rg_stream__read_packed(s));
    while (!s->ended && ((s->packed_end < 2 && begins(s, gzip, 2)) || (s->packed_end < 4 && begins(s, zstd, 4)))) {
        size_t got = 0;
        RG_TRY(read_source(&got, s, s->packed + s->packed_end, CHUNK - s->packed_end));
        if (!got) break;
        s->packed_end += got;
    }
    s->zstd_packed = s->packed_end >= 4 && begins(s, zstd, 4);
    s->gzip = s->zstd_packed || (s->packed_end >= 2 && begins(s, gzip, 2));
    s->chunk = s->packed;
    if (s->gzip && !(s->chunk = rg_alloc(CHUNK))) return RG_ENOMEM;
    return RG_OK;
}

rg_status rg_stream_fill(rg_stream *s)
{
    if (!s->chunk) RG_TRY(sniff(s));
    if (s->gzip) {
        RG_TRY(s->zstd_packed ? rg_stream__fill_zstd(s) : fill_gzip(s));
    } else {
        RG_TRY(rg_stream__read_packed(s));
        s->at = s->packed_at;
        s->end = s->packed_end;
        s->packed_at = s->packed_end;
    }
    s->given += s->end - s->at;
    return RG_OK;
}

bool rg_stream_would_wait(rg_stream *s)
{
    if (!s->standard || s->ended || (s->gzip && s->packed_at < s->packed_end)) return false;
    struct pollfd ready = { .fd = STDIN_FILENO, .events = POLLIN };
    return poll(&ready, 1, 0) == 0;
}

/* ---------------------------------------------------------------------------------------------- open, close, read */

static rg_status begin(rg_stream *s, const char *name)
{
    *s = (rg_stream){ .name = rg_strdup(name), .packed = rg_alloc(CHUNK) };
    if (s->name && s->packed) return RG_OK;
    rg_stream_close(s);
    return RG_ENOMEM;
}

rg_status rg_stream_open(rg_stream *out, const char *path)
{
    const bool standard = strcmp(path, "-") == 0;
    RG_TRY(begin(out, standard ? "standard input" : path));
    out->standard = standard;
    rg_status status = standard ? RG_OK : rg_file_open(&out->file, path, "rb");
    if (status != RG_OK) rg_stream_close(out);
    return status;
}

rg_status rg_stream_open_bytes(rg_stream *out, const char *name, const void *bytes, size_t count)
{
    RG_TRY(begin(out, name));
    out->memory = bytes;
    out->memory_left = count;
    return RG_OK;
}

void rg_stream_close(rg_stream *s)
{
    if (s->inflating && !s->zstd_packed) inflateEnd(&s->inflater);
    if (s->zstd) rg_stream__close_zstd(s);
    (void)rg_file_close(s->file); /* nothing was written that could be lost */
    if (s->chunk != s->packed) rg_free(s->chunk);
    rg_free(s->packed);
    rg_free(s->name);
    *s = (rg_stream){ 0 };
}

/* Take up to `count` bytes of what is at hand, or fill; *out_taken is 0 at the end. */
static rg_status take_some(const char **out, size_t *out_taken, rg_stream *s, uint64_t count)
{
    if (s->at == s->end) RG_TRY(rg_stream_fill(s));
    const size_t there = s->end - s->at;
    *out = s->chunk + s->at;
    *out_taken = there < count ? there : (size_t)count;
    s->at += *out_taken;
    return RG_OK;
}

rg_status rg_stream_read_some(rg_text *out, rg_stream *s, size_t count)
{
    while (count) {
        const char *bytes;
        size_t      taken = 0;
        RG_TRY(take_some(&bytes, &taken, s, count));
        if (!taken) return RG_OK;
        RG_TRY(rg_text_add(out, bytes, taken));
        count -= taken;
    }
    return RG_OK;
}

rg_status rg_stream_read(rg_text *out, rg_stream *s, size_t count)
{
    const size_t before = out->length;
    RG_TRY(rg_stream_read_some(out, s, count));
    if (out->length - before == count) return RG_OK;
    return rg_fail(RG_EFORMAT, "%s: cut short: %zu of %zu bytes", s->name, out->length - before, count);
}

rg_status rg_stream_skip(rg_stream *s, uint64_t count)
{
    while (count) {
        const char *bytes;
        size_t      taken = 0;
        RG_TRY(take_some(&bytes, &taken, s, count));
        if (!taken)
            return rg_fail(RG_EFORMAT, "%s: cut short: %llu more bytes are announced", s->name,
                           (unsigned long long)count);
        count -= taken;
    }
    return RG_OK;
}
