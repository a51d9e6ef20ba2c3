/* file_target.c - see file_target.h. Only looks: nothing is opened or changed.
 *
 *     out.txt                        replaced by a file written beside it
 *     link -> folder/out.txt         folder/out.txt is replaced, the link stays
 *     /dev/full, a FIFO              written to
 *     /dev/stdout -> /proc/self/fd/1 written to through descriptor 1 */
#define _GNU_SOURCE 1
#include "base/file_target.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

bool rg_base__descriptor_of(int *out, const char *path)
{
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char  *digits = path + strlen(folders[i]);
        const size_t n = strncmp(path, folders[i], strlen(folders[i])) == 0 ? strlen(digits) : 0;
        if (n == 0 || n > 6 || strspn(digits, "0123456789") != n) continue;
        for (*out = 0; *digits; digits++) *out = 10 * *out + (*digits - '0');
        return true;
    }
    return false;
}

/* What the link `at` points to, from where it stands. */
static rg_status follow(char **out, const char *at)
{
    char          to[PATH_MAX];
    const ssize_t n = readlink(at, to, sizeof to - 1);
    const char   *slash = strrchr(at, '/');
    if (n < 0) return rg_fail(RG_EIO, "%s: cannot follow the link: %s", at, strerror(errno));
    to[n] = '\0';
    *out = to[0] == '/' || !slash ? rg_strdup(to) : rg_format("%.*s/%s", (int)(slash - at), at, to);
    return *out ? RG_OK : RG_ENOMEM;
}

static rg_status look(rg_file_target *out, bool *is_link)
{
    struct stat s;
    int         n;
    *is_link = false;
    if ((out->direct = rg_base__descriptor_of(&n, out->path))) return RG_OK;
    if (lstat(out->path, &s) != 0)
        return errno == ENOENT ? RG_OK : rg_fail(RG_EIO, "%s: cannot write: %s", out->path, strerror(errno));
    *is_link = S_ISLNK(s.st_mode);
    if (*is_link) return RG_OK;
    if (S_ISDIR(s.st_mode)) return rg_fail(RG_EIO, "%s: cannot write: it is a folder", out->path);
    out->direct = !S_ISREG(s.st_mode);
    out->there = true;
    out->mode = s.st_mode & 0777;
    if (access(out->path, W_OK) != 0) return rg_fail(RG_EIO, "%s: cannot write: %s", out->path, strerror(errno));
    return RG_OK;
}

rg_status rg_base__file_target(rg_file_target *out, const char *path)
{
    rg_status status = RG_OK;
    bool      is_link = true;
    *out = (rg_file_target){ .path = rg_strdup(path) };
    if (!out->path) return RG_ENOMEM;
    for (int links = 0; status == RG_OK && is_link; links++) {
        char *next = NULL;
        status = look(out, &is_link);
        if (status == RG_OK && is_link && links == MOST_LINKS)
            status = rg_fail(RG_EIO, "%s: links lead in a circle", path);
        if (status != RG_OK || !is_link) continue;
        status = follow(&next, out->path);
        if (status != RG_OK) continue;
        rg_free(out->path);
        out->path = next;
    }
    if (status == RG_OK) return RG_OK;
    rg_free(out->path);
    out->path = NULL;
    return status;
}
