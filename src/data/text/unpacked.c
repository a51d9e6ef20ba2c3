/* unpacked.c - see unpacked.h. */
#include "data/text/unpacked.h"

#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "data/stream.h"
#include "data/text/kept.h"

enum { BLOCK = 1 << 20, ASK_CHUNKS = 64 };

static rg_status ask(const rg_read_watch *watch, const char *path)
{
    if (!watch || watch->go_on(watch->context, 0)) return RG_OK;
    return rg_fail(RG_ESTOP, "asked to stop while %s was unpacked", path);
}

static rg_status sum_of(uint64_t *out, const char *path, const rg_read_watch *watch)
{
    rg_hash64 hash;
    rg_file  *file = NULL;
    char     *block = rg_alloc(BLOCK);
    rg_status status = block ? rg_file_open(&file, path, "rr") : RG_ENOMEM;
    rg_hash64_begin(&hash);
    for (size_t got = 1; status == RG_OK && got;) {
        if ((status = rg_file_read_some(&got, file, block, BLOCK)) == RG_OK) status = ask(watch, path);
        if (status == RG_OK) rg_hash64_add(&hash, block, got);
    }
    *out = rg_hash64_end(&hash);
    (void)rg_file_close(file);
    rg_free(block);
    return status;
}

static rg_status copy(rg_file *to, rg_stream *from, const rg_read_watch *watch)
{
    for (size_t chunk = 1;; chunk++) {
        RG_TRY(rg_stream_fill(from));
        if (from->at == from->end) return RG_OK;
        RG_TRY(rg_file_write(to, from->chunk + from->at, from->end - from->at));
        from->at = from->end;
        if (chunk % ASK_CHUNKS == 0) RG_TRY(ask(watch, from->name));
    }
}

static rg_status unpack(rg_file *to, const char *path, const rg_read_watch *watch)
{
    rg_stream from = { 0 };
    rg_status status = rg_stream_open(&from, path);
    if (status == RG_OK) status = copy(to, &from, watch);
    rg_stream_close(&from);
    if (status == RG_OK) return rg_file_replace_commit(to);
    rg_file_replace_abandon(to);
    return status;
}

/* Begin the file at `to`; NULL in *out when another process has finished it meanwhile. */
static rg_status begin(rg_file **out, const char *to, const rg_read_watch *watch)
{
    const struct timespec moment = { .tv_nsec = 100000000 };
    for (;;) {
        bool there;
        *out = NULL;
        RG_TRY(rg_file_exists(&there, to));
        if (there) return RG_OK;
        const rg_status status = rg_file_replace_begin(out, to);
        if (status == RG_OK || !strstr(rg_message(), "another program is writing")) return status;
        RG_TRY(ask(watch, to));
        nanosleep(&moment, NULL);
    }
}

rg_status rg_unpacked_text(char **out, const char *path, const char *directory, const rg_read_watch *watch)
{
    uint64_t key;
    rg_file *file;
    *out = NULL;
    RG_TRY(sum_of(&key, path, watch));
    char *to = rg_kept_path(directory, path, key, "text");
    if (!to) return RG_ENOMEM;
    rg_status status = begin(&file, to, watch);
    if (status == RG_OK && file) status = unpack(file, path, watch);
    if (status == RG_OK) *out = to;
    else rg_free(to);
    return status;
}
