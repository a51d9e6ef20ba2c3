/* rows.c - names and settings, for import and export: foreign.h. */
#include "import/foreign.h"

#include <string.h>

bool rg_row_matches(size_t *out_number, const char *pattern, const char *name)
{
    const char  *hash = strchr(pattern, '#');
    const size_t before = hash ? (size_t)(hash - pattern) : strlen(pattern);
    *out_number = 0;
    if (!hash) return strcmp(pattern, name) == 0;
    if (strncmp(pattern, name, before) != 0 || name[before] < '0' || name[before] > '9') return false;
    for (name += before; *name >= '0' && *name <= '9' && *out_number < 100000; name++)
        *out_number = 10 * *out_number + (size_t)(*name - '0');
    return strcmp(hash + 1, name) == 0;
}

void rg_row_name(char out[RG_ARRAYS_NAME], const char *pattern, size_t number)
{
    const char *hash = strchr(pattern, '#');
    if (!hash) snprintf(out, RG_ARRAYS_NAME, "%s", pattern);
    else snprintf(out, RG_ARRAYS_NAME, "%.*s%zu%s", (int)(hash - pattern), pattern, number, hash + 1);
}

size_t rg_row_parts(const rg_import_row *row)
{
    size_t parts = 0;
    while (parts < 3 && row->theirs[parts]) parts++;
    return parts;
}

void rg_row_theirs(char out[RG_ARRAYS_NAME], const rg_import_row *row, size_t i, size_t number)
{
    rg_row_name(out, row->theirs[i], number + (row->how & RG_IMPORT_FROM_ONE ? 1 : 0));
}

const char *rg_setting(char room[RG_SETTING], const char *yaml, const char *key, const char *other)
{
    const size_t k = strlen(key);
    for (const char *line = yaml; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, key, k) != 0 || line[k] != ':') continue;
        const char *from = line + k + 1 + strspn(line + k + 1, " \"'");
        snprintf(room, RG_SETTING, "%.*s", (int)strcspn(from, "\"'\n"), from);
        return room;
    }
    return snprintf(room, RG_SETTING, "%s", other), room;
}
