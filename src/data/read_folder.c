/* read_folder.c - files below a folder, in the order of their paths: one sub-folder per class, or all in one. */
#include "data/reader.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST = 16, MOST_FILES = 1 << 26 };

typedef struct listing {
    char  *root;
    char **path; /* below root, sorted */
    size_t count, room, next;
} listing;

static rg_status keep(listing *l, char *path)
{
    if (!path) return RG_ENOMEM;
    if (l->count == l->room) {
        const size_t room = l->room ? 2 * l->room : 256;
        char       **grown = room <= MOST_FILES ? rg_realloc(l->path, room * sizeof *grown) : NULL;
        if (!grown) {
            rg_free(path);
            return room <= MOST_FILES ? RG_ENOMEM : rg_fail(RG_ELIMIT, "%s: more than %d files", l->root, MOST_FILES);
        }
        l->path = grown;
        l->room = room;
    }
    l->path[l->count++] = path;
    return RG_OK;
}

static rg_status list_folder(listing *l, const char *below, int depth);

static rg_status list_entry(listing *l, const char *below, const char *name, int depth)
{
    struct stat about;
    char       *path = *below ? rg_format("%s/%s", below, name) : rg_strdup(name);
    char       *whole = path ? rg_format("%s/%s", l->root, path) : NULL;
    rg_status   status = whole ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && stat(whole, &about) != 0) status = rg_fail(RG_EIO, "%s: %s", whole, strerror(errno));
    rg_free(whole);
    if (status == RG_OK && S_ISREG(about.st_mode)) return keep(l, path);
    if (status == RG_OK && S_ISDIR(about.st_mode)) status = list_folder(l, path, depth + 1);
    rg_free(path);
    return status;
}

static rg_status list_folder(listing *l, const char *below, int depth)
{
    char *whole = *below ? rg_format("%s/%s", l->root, below) : rg_strdup(l->root);
    if (!whole) return RG_ENOMEM;
    const size_t before = l->count;
    DIR         *folder = depth <= DEEPEST ? opendir(whole) : NULL;
    rg_status    status = RG_OK;
    if (depth > DEEPEST) status = rg_fail(RG_ELIMIT, "%s: more than %d folders inside each other", whole, DEEPEST);
    else if (!folder) status = rg_fail(errno == ENOMEM ? RG_ENOMEM : RG_EIO, "%s: %s", whole, strerror(errno));
    for (struct dirent *entry; status == RG_OK && (entry = readdir(folder));)
        if (entry->d_name[0] != '.') status = list_entry(l, below, entry->d_name, depth);
    if (folder) closedir(folder);
    if (status == RG_OK && l->count == before)
        status = rg_fail(RG_EFORMAT, "%s: the folder has no files: fill it or remove it", whole);
    rg_free(whole);
    return status;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static rg_status folder_open(rg_reader *r)
{
    listing *l = rg_alloc_zero(sizeof *l);
    r->own = l;
    if (!l || !(l->root = rg_strdup(r->path))) return RG_ENOMEM;
    RG_TRY(list_folder(l, "", 0));
    qsort(l->path, l->count, sizeof *l->path, by_path);
    return RG_OK;
}

static void folder_close(rg_reader *r)
{
    listing *l = r->own;
    if (!l) return;
    for (size_t i = 0; i < l->count; i++) rg_free(l->path[i]);
    rg_free(l->path);
    rg_free(l->root);
    rg_free(l);
}

static rg_status folder_next(bool *out_more, rg_reader *r)
{
    listing *l = r->own;
    *out_more = l->next < l->count;
    if (!*out_more) return RG_OK;
    const char *path = l->path[l->next++];
    rg_reader__begin_row(r, l->next);
    r->row.member = path;
    RG_TRY(rg_reader__add_member(r, path));
    if (!rg_reader__wants_member(r)) return rg_reader__add_missing(r);
    char *whole = rg_format("%s/%s", l->root, path);
    if (!whole) return RG_ENOMEM;
    rg_status status = rg_reader__begin_member(r);
    if (status == RG_OK) status = rg_reader__read_file(&r->text, whole, r->config.max_bytes);
    rg_free(whole);
    return status == RG_OK ? rg_reader__end_cell(r) : status;
}

const rg_reader_format rg_reader_folder = {
    .name = "folder",
    .summary = "files in one sub-folder per class, or a flat folder of files",
    .endings = "",
    .columns = RG_MEMBER_COLUMNS,
    .open = folder_open,
    .next = folder_next,
    .close = folder_close,
};
