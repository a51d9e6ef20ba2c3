/* stream_zstd.c - unpacking Zstandard (RFC 8878), where regard was built with libzstd. Frames one after another are one text.
 * A frame whose window is larger than 128 MB is refused: memory is bounded whatever a file says. */
#include "data/stream.h"

#ifdef RG_ZSTD
#define ZSTD_STATIC_LINKING_ONLY /* memory by the library's own functions */
#include <zstd.h>
#include <zstd_errors.h>

enum { CHUNK = RG_STREAM_CHUNK,
       MOST_WINDOW = 27 };

static void *zstd_alloc(void *context, size_t bytes)
{
    (void)context;
    return rg_alloc(bytes);
}

static void zstd_free(void *context, void *block)
{
    (void)context;
    rg_free(block);
}

static rg_status begin(rg_stream *s)
{
    const ZSTD_customMem memory = { zstd_alloc, zstd_free, NULL };
    if (s->zstd) return RG_OK;
    if (!(s->zstd = ZSTD_createDStream_advanced(memory)))
        return rg_fail(RG_ENOMEM, "%s: no memory to unpack zstd", s->name);
    (void)ZSTD_DCtx_setParameter(s->zstd, ZSTD_d_windowLogMax, MOST_WINDOW);
    return RG_OK;
}

rg_status rg_stream__fill_zstd(rg_stream *s)
{
    RG_TRY(begin(s));
    while (s->at == s->end) {
        RG_TRY(rg_stream__read_packed(s));
        if (s->ended) return s->inflating ? rg_fail(RG_EFORMAT, "%s: the zstd data is cut short", s->name) : RG_OK;
        ZSTD_inBuffer  in = { s->packed, s->packed_end, s->packed_at };
        ZSTD_outBuffer out = { s->chunk, CHUNK, 0 };
        const size_t   left = ZSTD_decompressStream(s->zstd, &out, &in);
        if (ZSTD_isError(left))
            return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation
                       ? rg_fail(RG_ENOMEM, "%s: no memory to unpack zstd", s->name)
                       : rg_fail(RG_EFORMAT, "%s: broken zstd data after %llu unpacked bytes: %s", s->name,
                                 (unsigned long long)s->given, ZSTD_getErrorName(left));
        s->packed_at = in.pos;
        s->at = 0;
        s->end = out.pos;
        s->inflating = left != 0; /* inside a frame */
    }
    return RG_OK;
}

void rg_stream__close_zstd(rg_stream *s) { ZSTD_freeDStream(s->zstd); }
#else
rg_status rg_stream__fill_zstd(rg_stream *s)
{
    return rg_fail(RG_EINVAL, "%s: regard was built without libzstd; unpack it with zstd -d", s->name);
}

void rg_stream__close_zstd(rg_stream *s) { (void)s; }
#endif
