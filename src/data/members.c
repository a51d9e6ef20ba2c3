/* members.c - a file of a folder or an archive as a row: cats/7_tom.png has label cats, path cats/7_tom.png, name 7_tom,
 * prefix 7. */
#include "data/reader.h"

#include <string.h>

bool rg_reader__is_hidden(const char *path)
{
    for (const char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        if (*part == '.') return true;
    return false;
}

bool rg_reader__leaves(const char *path)
{
    if (*path == '/') return true;
    for (const char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || !part[2])) return true;
    return false;
}

rg_status rg_reader__read_file(rg_text *out, const char *path, size_t most)
{
    char      buffer[1 << 14];
    rg_file  *file = NULL;
    size_t    got = 1;
    rg_status status = rg_file_open(&file, path, "rr");
    for (size_t all = 0; status == RG_OK && got; all += got) {
        status = rg_file_read_some(&got, file, buffer, sizeof buffer);
        if (status == RG_OK && got > most - all)
            status = rg_fail(RG_ELIMIT, "%s: a file of more than %zu bytes", path, most);
        if (status == RG_OK) status = rg_text_add(out, buffer, got);
    }
    (void)rg_file_close(file); /* only read */
    return status;
}

rg_status rg_reader__add_member(rg_reader *r, const char *path)
{
    const char *base = strrchr(path, '/'), *folder = NULL;
    if (base) {
        for (folder = base; folder > path && folder[-1] != '/';) folder--;
        RG_TRY(rg_reader__add_cell(r, folder, (size_t)(base - folder)));
        base++;
    } else {
        RG_TRY(rg_reader__add_missing(r));
        base = path;
    }
    RG_TRY(rg_reader__add_cell(r, path, strlen(path)));
    const char  *dot = strrchr(base, '.');
    const size_t bytes = dot && dot > base ? (size_t)(dot - base) : strlen(base), first = strcspn(base, "_");
    RG_TRY(rg_reader__add_cell(r, base, bytes));
    return rg_reader__add_cell(r, base, first < bytes ? first : bytes);
}

bool rg_reader__wants_member(const rg_reader *r)
{
    return rg_reader__wants(r, RG_MEMBER_PICTURE) || rg_reader__wants(r, RG_MEMBER_SOUND);
}

rg_status rg_reader__begin_member(rg_reader *r)
{
    if (!rg_reader__wants(r, RG_MEMBER_PICTURE)) RG_TRY(rg_reader__add_missing(r));
    return rg_reader__begin_cell(r);
}
