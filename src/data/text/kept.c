/* kept.c - see kept.h. */
#include "data/text/kept.h"

#include <string.h>

#include "regard/base.h"

char *rg_kept_path(const char *directory, const char *file, uint64_t key, const char *ending)
{
    const char *slash = strrchr(file, '/'), *name = slash && directory ? slash + 1 : file;
    return rg_format("%s%s%s.%016llx.%s", directory ? directory : "", directory ? "/" : "", name,
                     (unsigned long long)key, ending);
}
