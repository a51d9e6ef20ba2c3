/* lines.c - one clean line after another, from a file, a gzip file, standard input or memory.
 *
 *   source (file, stdin, bytes) --> [inflate] --> chunk --> raw line --> rg_text_clean --> line
 *
 * Memory stays within max_bytes of one line and a chunk, however long lines are and whatever a gzip file expands to. */
#include "data/text/lines.h"

#include <string.h>

#include "data/stream.h"

struct rg_lines {
    rg_stream       stream;
    rg_lines_config config;
    rg_text         raw, clean;
    bool            over; /* the line being read is past the limit */
    uint64_t        count;
    rg_fault        faults[3];
};

/* ------------------------------------------------------------------------------------------------ open, close */

static rg_status open_with(rg_lines **out, const char *path, const void *bytes, size_t count,
                           const rg_lines_config *config)
{
    rg_lines *l = rg_alloc_zero(sizeof *l);
    if (!l) return RG_ENOMEM;
    l->config = config ? *config : (rg_lines_config)RG_LINES_CONFIG_DEFAULT;
    rg_status status =
        path ? rg_stream_open(&l->stream, path) : rg_stream_open_bytes(&l->stream, "text in memory", bytes, count);
    if (status == RG_OK) *out = l;
    else rg_free(l);
    return status;
}

rg_status rg_lines_open(rg_lines **out, const char *path, const rg_lines_config *config)
{
    return open_with(out, path, NULL, 0, config);
}

rg_status rg_lines_open_bytes(rg_lines **out, const void *bytes, size_t count, const rg_lines_config *config)
{
    return open_with(out, NULL, bytes, count, config);
}

void rg_lines_close(rg_lines *l)
{
    if (!l) return;
    rg_stream_close(&l->stream);
    rg_text_free(&l->raw);
    rg_text_free(&l->clean);
    rg_free(l);
}

/* ------------------------------------------------------------------------------------------------------ lines */

/* Move bytes of the chunk to the raw line, unless that would pass the limit. */
static rg_status take(rg_lines *l, size_t count)
{
    if (!l->over && count > l->config.max_bytes - l->raw.length) l->over = true;
    rg_status status = l->over ? RG_OK : rg_text_add(&l->raw, l->stream.chunk + l->stream.at, count);
    l->stream.at += count;
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

/* The next line end of what is at hand, or NULL. */
static const char *line_end(const rg_stream *s)
{
    return s->at < s->end ? memchr(s->chunk + s->at, '\n', s->end - s->at) : NULL;
}

/* The next line as it stands in the file, in l->raw. */
static rg_status read_raw(bool *out_more, rg_lines *l)
{
    rg_stream *s = &l->stream;
    bool       begun = l->raw.length || l->over;
    *out_more = false;
    for (;;) {
        if (s->at == s->end) RG_TRY(rg_stream_fill(s));
        if (s->at == s->end) { /* a last line may lack its LF */
            *out_more = begun;
            return RG_OK;
        }
        const char *lf = line_end(s);
        RG_TRY(take(l, lf ? (size_t)(lf - (s->chunk + s->at)) : s->end - s->at));
        begun = true;
        if (lf) {
            s->at++;
            *out_more = true;
            return RG_OK;
        }
    }
}

rg_status rg_lines_next(bool *out_more, rg_line *out, rg_lines *l)
{
    bool more;
    *out_more = false;
    RG_TRY(read_raw(&more, l));
    if (more) RG_TRY(finish_line(out, l));
    *out_more = more;
    return RG_OK;
}

rg_status rg_lines__skip(bool *out_more, size_t *out_bytes, rg_lines *l)
{
    RG_TRY(read_raw(out_more, l));
    *out_bytes = l->raw.length;
    l->count += *out_more;
    rg_text_clear(&l->raw);
    l->over = false;
    return RG_OK;
}

bool rg_lines_would_wait(rg_lines *l)
{
    rg_stream *s = &l->stream;
    if (!s->standard) return false;
    for (;;) {
        if (line_end(s)) return false;
        if (s->at < s->end && take(l, s->end - s->at) != RG_OK) return false; /* the next call will say so */
        if (rg_stream_would_wait(s)) return true;
        if (s->ended || (s->gzip && s->packed_at < s->packed_end)) return false;
        if (rg_stream_fill(s) != RG_OK || s->at == s->end) return false; /* broken, or the end */
    }
}

uint64_t rg_lines_count(const rg_lines *l)
{
    return l->count;
}

const char *rg_lines_name(const rg_lines *l)
{
    return l->stream.name;
}

const rg_fault *rg_lines_fault(const rg_lines *l, unsigned bit)
{
    return &l->faults[bit == RG_LINE_BAD_UTF8 ? 0 : bit == RG_LINE_NUL ? 1 : 2];
}
