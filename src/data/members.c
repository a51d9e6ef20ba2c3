/* members.c - a file of a folder or an archive as a row: cats/07.png has label cats, path cats/07.png, name 07. */
#include "data/reader.h"

#include <string.h>

bool rg_reader__is_hidden(const char *path)
{
    for (const char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        if (*part == '.') return true;
    return false;
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
    const char *dot = strrchr(base, '.');
    return rg_reader__add_cell(r, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}
