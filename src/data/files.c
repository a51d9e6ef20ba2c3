/* files.c - files of a folder or of a tar archive by their path, for tables that name pictures. An archive is read
 * through once for the places of its members; after that a file is one seek. */
#include "data/reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data/text/words.h"

typedef struct member {
    uint64_t at, bytes;
} member;

struct rg_files {
    char    *root;
    rg_file *archive; /* NULL: a folder */
    rg_words paths;
    member  *members; /* in the order of paths */
    size_t   room;
};

static rg_status keep(rg_files *f, const rg_row *row, member m)
{
    const size_t before = f->paths.count;
    uint32_t     id;
    RG_TRY(rg_words_add(&id, &f->paths, row->member, strlen(row->member)));
    if (f->paths.count == before) return rg_fail(RG_EFORMAT, "%s: %s is there twice", f->root, row->member);
    if (id >= f->room) {
        const size_t room = f->room ? 2 * f->room : 256;
        member      *members = rg_realloc(f->members, room * sizeof *members);
        if (!members) return RG_ENOMEM;
        f->members = members;
        f->room = room;
    }
    f->members[id] = m;
    return RG_OK;
}

static rg_status list_archive(rg_files *f)
{
    static const char *const wanted[] = { "path" };
    rg_reader_config         config = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r = NULL;
    config.format = "tar";
    config.wanted = wanted;
    config.wanted_count = 1;
    config.max_bytes = SIZE_MAX / 2; /* nothing is read; a limit holds when a file is */
    rg_status status = rg_reader_open(&r, f->root, &config);
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status == RG_OK && more) status = keep(f, &row, (member){ r->member_at, r->member_bytes });
    }
    if (status == RG_OK && r->stream.gzip)
        status = rg_fail(RG_EINVAL, "%s: files of a gzipped archive cannot be found by name: unpack it with gunzip",
                         f->root);
    rg_reader_close(r);
    return status;
}

rg_status rg_files_open(rg_files **out, const char *path)
{
    struct stat about;
    rg_files   *f = rg_alloc_zero(sizeof *f);
    if (!f) return RG_ENOMEM;
    f->root = rg_strdup(path);
    rg_status status = f->root ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))) {
        status = rg_file_open(&f->archive, path, "rr");
        if (status == RG_OK) status = list_archive(f);
    }
    if (status == RG_OK) *out = f;
    else rg_files_close(f);
    return status;
}

void rg_files_close(rg_files *f)
{
    if (!f) return;
    (void)rg_file_close(f->archive); /* only read */
    rg_words_fini(&f->paths);
    rg_free(f->members);
    rg_free(f->root);
    rg_free(f);
}

/* Append `bytes` bytes of the archive. They are known to be there: the archive was read to its end. */
static rg_status read_member(rg_text *out, const rg_files *f, member m)
{
    char   buffer[1 << 14];
    size_t some;
    RG_TRY(rg_file_seek(f->archive, m.at));
    for (uint64_t left = m.bytes; left; left -= some) {
        some = left < sizeof buffer ? (size_t)left : sizeof buffer;
        RG_TRY(rg_file_read(f->archive, buffer, some));
        RG_TRY(rg_text_add(out, buffer, some));
    }
    return RG_OK;
}

rg_status rg_files_read(bool *out_there, rg_text *out, rg_files *f, const char *path, size_t most)
{
    *out_there = false;
    if (rg_reader__leaves(path))
        return rg_fail(RG_EFORMAT, "%s leaves %s: a path is given from there, without ..", path, f->root);
    if (f->archive) {
        const int64_t id = rg_words_find(&f->paths, path, strlen(path));
        if (id < 0) return RG_OK;
        if (f->members[id].bytes > most)
            return rg_fail(RG_ELIMIT, "%s: %s: a file of more than %zu bytes", f->root, path, most);
        *out_there = true;
        return read_member(out, f, f->members[id]);
    }
    char *whole = rg_format("%s/%s", f->root, path);
    if (!whole) return RG_ENOMEM;
    struct stat about;
    *out_there = stat(whole, &about) == 0 && S_ISREG(about.st_mode);
    rg_status status = *out_there ? rg_reader__read_file(out, whole, most) : RG_OK;
    rg_free(whole);
    return status;
}
