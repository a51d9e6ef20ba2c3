/* line_index.c - see line_index.h. */
#include "data/text/line_index.h"

#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "data/read_at.h"
#include "data/text/unpacked.h"

enum { BLOCK = 1 << 20 };

static bool is_packed(const char *first, size_t count)
{
    return (count >= 2 && memcmp(first, "\x1F\x8B", 2) == 0) ||
           (count >= 4 && memcmp(first, "\x28\xB5\x2F\xFD", 4) == 0);
}

/* Of a regular file: its size, and whether it is packed. */
static rg_status look(bool *out_regular, bool *out_packed, uint64_t *out_bytes, const char *path)
{
    struct stat about;
    rg_file    *file = NULL;
    char        first[4];
    size_t      got = 0;
    *out_regular = strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode);
    if (!*out_regular) return RG_OK; /* its reader will say what is wrong */
    RG_TRY(rg_file_open(&file, path, "rr"));
    rg_status status = rg_file_size(out_bytes, file);
    if (status == RG_OK) status = rg_file_read_some(&got, file, first, sizeof first);
    *out_packed = is_packed(first, got);
    (void)rg_file_close(file);
    return status;
}

rg_status rg_line_index_can(bool *out, uint64_t *out_bytes, const char *path)
{
    bool packed = false;
    RG_TRY(look(out, &packed, out_bytes, path));
    *out = *out && !packed;
    return RG_OK;
}

rg_status rg_is_packed(bool *out, uint64_t *out_bytes, const char *path)
{
    bool regular = false;
    *out = false;
    return look(&regular, out, out_bytes, path);
}

/* -------------------------------------------------------------------------------------------------------- making */

/* The pass: bytes so far, and those of the part at hand. */
typedef struct {
    rg_line_index *index;
    rg_hash64      hash;
    uint64_t       bytes, lines; /* lines of the part */
    bool           open;         /* bytes behind the last line end */
} pass;

static rg_status begin_part(rg_line_index *x, uint64_t at)
{
    if (x->parts + 1 >= x->room) {
        const size_t room = x->room ? 2 * x->room : 1024;
        uint64_t    *begin = rg_realloc(x->begin, room * sizeof *begin);
        if (begin) x->begin = begin;
        uint64_t *sum = begin ? rg_realloc(x->sum, room * sizeof *sum) : NULL;
        if (!sum) return RG_ENOMEM;
        x->sum = sum;
        x->room = room;
    }
    x->begin[x->parts] = at;
    return RG_OK;
}

static rg_status end_part(pass *p)
{
    p->index->sum[p->index->parts++] = rg_hash64_end(&p->hash);
    p->lines = 0;
    rg_hash64_begin(&p->hash);
    return begin_part(p->index, p->bytes);
}

static rg_status take(pass *p, const char *block, size_t count)
{
    const char *at = block, *end = block + count, *begun = block; /* begun: not in the hash yet */
    while (at < end) {
        const char *lf = memchr(at, '\n', (size_t)(end - at));
        p->open = !lf;
        if (!lf) break;
        at = lf + 1;
        p->index->lines++;
        if (++p->lines < p->index->every) continue;
        rg_hash64_add(&p->hash, begun, (size_t)(at - begun));
        p->bytes += (size_t)(at - begun);
        begun = at;
        RG_TRY(end_part(p));
    }
    rg_hash64_add(&p->hash, begun, (size_t)(end - begun));
    p->bytes += (size_t)(end - begun);
    return RG_OK;
}

static rg_status read_all(pass *p, rg_file *file, char *block, const rg_read_watch *watch)
{
    rg_line_index *x = p->index;
    for (size_t got = 1; got;) {
        RG_TRY(rg_file_read_some(&got, file, block, BLOCK));
        RG_TRY(take(p, block, got));
        if (watch && !watch->go_on(watch->context, x->lines))
            return rg_fail(RG_ESTOP, "asked to stop while %s was read, at line %llu", x->path,
                           (unsigned long long)x->lines);
    }
    x->lines += p->open; /* a last line may lack its LF */
    return p->lines || p->open ? end_part(p) : RG_OK;
}

rg_status rg_line_index_make(rg_line_index *x, const char *path, uint64_t every, const rg_read_watch *watch)
{
    rg_file  *file = NULL;
    char     *block = rg_alloc(BLOCK);
    pass      p = { .index = x };
    rg_status status = RG_ENOMEM;
    *x = (rg_line_index){ .path = rg_strdup(path), .every = every };
    rg_hash64_begin(&p.hash);
    if (x->path && block) status = begin_part(x, 0);
    if (status == RG_OK) status = rg_file_open(&file, path, "rr");
    if (status == RG_OK) status = read_all(&p, file, block, watch);
    (void)rg_file_close(file);
    rg_free(block);
    if (status != RG_OK) rg_line_index_free(x);
    return status;
}

void rg_line_index_free(rg_line_index *x)
{
    rg_free(x->path);
    rg_free(x->begin);
    rg_free(x->sum);
    *x = (rg_line_index){ 0 };
}

uint64_t rg_line_index_sum(const rg_line_index *x)
{
    return rg_hash64_of(x->sum, x->parts * sizeof *x->sum);
}

/* ------------------------------------------------------------------------------------------------------- reading */

rg_status rg_line_index_read(rg_text *out, const rg_line_index *x, size_t part)
{
    rg_file *file = NULL;
    RG_TRY(rg_file_open(&file, x->path, "rr"));
    rg_status status = rg_read_at(out, file, x->begin[part], (size_t)(x->begin[part + 1] - x->begin[part]));
    (void)rg_file_close(file);
    const bool changed =
        status == RG_EFORMAT || (status == RG_OK && rg_hash64_of(out->data, out->length) != x->sum[part]);
    if (!changed) return status;
    return rg_fail(RG_EFORMAT, "%s: the lines from %llu on were changed while they were trained on: start again",
                   x->path, (unsigned long long)(part * x->every + 1));
}
