/* lines.c - one clean line after another, from a file, a gzip file, standard input or memory.
 *
 *   source (file, stdin, bytes) --> [inflate] --> chunk --> raw line --> rg_text_clean --> line
 *
 * Memory stays within max_bytes of one line and a chunk, however long lines are and whatever a gzip file expands to. */
#include "regard/text.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { CHUNK = 1 << 16 };

struct rg_lines {
    char           *name;
    rg_lines_config config;
    rg_file        *file;  /* one of file, memory, standard input */
    const char     *memory;
    size_t          memory_left;
    bool            standard;

    bool      gzip, inflating; /* inflating: inside a member */
    bool      ended;           /* the source has no more bytes */
    z_stream  stream;
    char     *packed; /* CHUNK bytes as they come; the chunk itself when not gzip */
    size_t    packed_at, packed_end;
    char     *chunk;
    size_t    at, end;

    rg_text  raw, clean;
    bool     over; /* the line being read is past the limit */
    uint64_t count;
    rg_fault faults[3];
};

/* ---------------------------------------------------------------------------------------------------- sources */

static rg_status read_source(size_t *out, rg_lines *l, char *buffer, size_t room)
{
    if (l->file) return rg_file_read_some(out, l->file, buffer, room);
    if (l->standard) {
        ssize_t got;
        do got = read(STDIN_FILENO, buffer, room);
        while (got < 0 && errno == EINTR);
        if (got < 0) return rg_fail(RG_EIO, "standard input: %s", strerror(errno));
        *out = (size_t)got;
        return RG_OK;
    }
    *out = l->memory_left < room ? l->memory_left : room;
    if (*out) memcpy(buffer, l->memory, *out);
    l->memory += *out;
    l->memory_left -= *out;
    return RG_OK;
}

/* More packed bytes, when all are used. */
static rg_status read_packed(rg_lines *l)
{
    size_t got = 0;
    if (l->packed_at < l->packed_end || l->ended) return RG_OK;
    RG_TRY(read_source(&got, l, l->packed, CHUNK));
    l->packed_at = 0;
    l->packed_end = got;
    l->ended = got == 0;
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

static rg_status inflate_begin(rg_lines *l)
{
    if (l->inflating) return RG_OK;
    l->stream = (z_stream){ .zalloc = zlib_alloc, .zfree = zlib_free };
    if (inflateInit2(&l->stream, 15 + 16) != Z_OK) return rg_fail(RG_ENOMEM, "%s: no memory to unpack gzip", l->name);
    l->inflating = true;
    return RG_OK;
}

/* Unpack until there is something; several members one after another are one text, as gzip itself has it. */
static rg_status fill_gzip(rg_lines *l)
{
    while (l->at == l->end) {
        RG_TRY(read_packed(l));
        if (l->ended) {
            if (l->inflating) return rg_fail(RG_EFORMAT, "%s: the gzip data is cut short", l->name);
            return RG_OK;
        }
        RG_TRY(inflate_begin(l));
        l->stream.next_in = (Bytef *)l->packed + l->packed_at;
        l->stream.avail_in = (uInt)(l->packed_end - l->packed_at);
        l->stream.next_out = (Bytef *)l->chunk;
        l->stream.avail_out = CHUNK;
        int result = inflate(&l->stream, Z_NO_FLUSH);
        l->packed_at = l->packed_end - l->stream.avail_in;
        l->at = 0;
        l->end = CHUNK - l->stream.avail_out;
        if (result == Z_STREAM_END) {
            inflateEnd(&l->stream);
            l->inflating = false;
        } else if (result == Z_MEM_ERROR) {
            return rg_fail(RG_ENOMEM, "%s: no memory to unpack gzip", l->name);
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            return rg_fail(RG_EFORMAT, "%s: broken gzip data near line %llu: %s", l->name, (unsigned long long)l->count + 1,
                           l->stream.msg ? l->stream.msg : "not gzip");
        }
    }
    return RG_OK;
}

/* Fill the empty chunk; at == end afterwards means the end. */
static rg_status fill(rg_lines *l)
{
    if (l->gzip) return fill_gzip(l);
    RG_TRY(read_packed(l));
    l->at = l->packed_at;
    l->end = l->packed_end;
    l->packed_at = l->packed_end;
    return RG_OK;
}

/* The first bytes decide about gzip. A person typing a short line must not be waited for a second byte. */
static rg_status sniff(rg_lines *l)
{
    RG_TRY(read_packed(l));
    while (!l->ended && l->packed_end == 1 && (unsigned char)l->packed[0] == 0x1F) {
        size_t got = 0;
        RG_TRY(read_source(&got, l, l->packed + 1, CHUNK - 1));
        if (!got) break;
        l->packed_end += got;
    }
    l->gzip = l->packed_end >= 2 && (unsigned char)l->packed[0] == 0x1F && (unsigned char)l->packed[1] == 0x8B;
    l->chunk = l->packed;
    if (l->gzip && !(l->chunk = rg_alloc(CHUNK))) return RG_ENOMEM;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------ open, close */

static rg_status begin(rg_lines **out, const char *name, const rg_lines_config *config)
{
    rg_lines *l = rg_alloc_zero(sizeof *l);
    if (!l) return RG_ENOMEM;
    l->config = config ? *config : (rg_lines_config)RG_LINES_CONFIG_DEFAULT;
    l->name = rg_strdup(name);
    l->packed = rg_alloc(CHUNK);
    if (!l->name || !l->packed) {
        rg_lines_close(l);
        return RG_ENOMEM;
    }
    *out = l;
    return RG_OK;
}

rg_status rg_lines_open(rg_lines **out, const char *path, const rg_lines_config *config)
{
    rg_lines *l = NULL;
    bool      standard = strcmp(path, "-") == 0;
    RG_TRY(begin(&l, standard ? "standard input" : path, config));
    l->standard = standard;
    rg_status status = standard ? RG_OK : rg_file_open(&l->file, path, "rb");
    if (status != RG_OK) {
        rg_lines_close(l);
        return status;
    }
    *out = l;
    return RG_OK;
}

rg_status rg_lines_open_bytes(rg_lines **out, const void *bytes, size_t count, const rg_lines_config *config)
{
    rg_lines *l = NULL;
    RG_TRY(begin(&l, "text in memory", config));
    l->memory = bytes;
    l->memory_left = count;
    *out = l;
    return RG_OK;
}

void rg_lines_close(rg_lines *l)
{
    if (!l) return;
    if (l->inflating) inflateEnd(&l->stream);
    (void)rg_file_close(l->file); /* nothing was written that could be lost */
    if (l->chunk != l->packed) rg_free(l->chunk);
    rg_free(l->packed);
    rg_text_free(&l->raw);
    rg_text_free(&l->clean);
    rg_free(l->name);
    rg_free(l);
}

/* ------------------------------------------------------------------------------------------------------ lines */

/* Move bytes of the chunk to the raw line, unless that would pass the limit. */
static rg_status take(rg_lines *l, size_t count)
{
    if (!l->over && count > l->config.max_bytes - l->raw.length) l->over = true;
    rg_status status = l->over ? RG_OK : rg_text_add(&l->raw, l->chunk + l->at, count);
    l->at += count;
    return status;
}

static rg_status finish_line(rg_line *out, rg_lines *l)
{
    static const unsigned bits[3] = { RG_LINE_BAD_UTF8, RG_LINE_NUL, RG_LINE_TOO_LONG };
    unsigned              faults = 0;
    const char           *raw = rg_text_c(&l->raw);
    size_t                bytes = l->over ? 0 : l->raw.length;

    l->count++;
    if (l->count == 1 && bytes >= 3 && memcmp(raw, "\xEF\xBB\xBF", 3) == 0) {
        raw += 3;
        bytes -= 3;
    }
    rg_text_clear(&l->clean);
    RG_TRY(rg_text_clean(&l->clean, raw, bytes, l->config.form, &faults));
    if (l->over) faults |= RG_LINE_TOO_LONG;
    for (int i = 0; i < 3; i++)
        if (faults & bits[i]) rg_fault_note(&l->faults[i], l->count);
    *out = (rg_line){ rg_text_c(&l->clean), l->clean.length, l->count, faults };
    rg_text_clear(&l->raw);
    l->over = false;
    return RG_OK;
}

rg_status rg_lines_next(bool *out_more, rg_line *out, rg_lines *l)
{
    *out_more = false;
    if (!l->chunk) RG_TRY(sniff(l));
    bool begun = l->raw.length || l->over;
    for (;;) {
        if (l->at == l->end) RG_TRY(fill(l));
        if (l->at == l->end) { /* a last line may lack its LF */
            if (!begun) return RG_OK;
            break;
        }
        const char *lf = memchr(l->chunk + l->at, '\n', l->end - l->at);
        RG_TRY(take(l, lf ? (size_t)(lf - (l->chunk + l->at)) : l->end - l->at));
        begun = true;
        if (lf) {
            l->at++;
            break;
        }
    }
    RG_TRY(finish_line(out, l));
    *out_more = true;
    return RG_OK;
}

bool rg_lines_would_wait(rg_lines *l)
{
    if (!l->standard) return false;
    for (;;) {
        if (l->chunk && l->at < l->end) {
            if (memchr(l->chunk + l->at, '\n', l->end - l->at)) return false;
            if (take(l, l->end - l->at) != RG_OK) return false; /* the next call will say so */
        }
        if (l->ended) return false;
        if (l->gzip && l->packed_at < l->packed_end) return false;
        struct pollfd ready = { .fd = STDIN_FILENO, .events = POLLIN };
        if (poll(&ready, 1, 0) == 0) return true;
        if ((!l->chunk && sniff(l) != RG_OK) || fill(l) != RG_OK) return false;
        if (l->at == l->end) return false; /* the end */
    }
}

uint64_t rg_lines_count(const rg_lines *l)
{
    return l->count;
}

const char *rg_lines_name(const rg_lines *l)
{
    return l->name;
}

const rg_fault *rg_lines_fault(const rg_lines *l, unsigned bit)
{
    return &l->faults[bit == RG_LINE_BAD_UTF8 ? 0 : bit == RG_LINE_NUL ? 1 : 2];
}
