/* confining.c - see confining.h */
#include "cli/confining.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "regard/text.h"

void rg_say_confined(const char *command, unsigned how)
{
    const bool calls = how & RG_CONFINED_CALLS, files = how & RG_CONFINED_FILES;
    if (calls && files) return;
    fprintf(stderr, "regard %s: %s: docs/serve.md says what that leaves open\n", command,
            calls   ? "this kernel has no Landlock; system calls are confined, files by their kind only"
            : files ? "this kernel has no seccomp filters; files are confined, system calls are not"
                    : "this kernel has neither Landlock nor seccomp filters: not confined");
}

enum { MOST = 4096 }; /* links of a folder that are followed */

typedef struct {
    char  *path[MOST + 4];
    size_t count;
} paths;

static rg_status add(paths *p, char *path)
{
    if (!path) return RG_ENOMEM;
    p->path[p->count++] = path;
    return RG_OK;
}

/* Where links of the folder lead: downloaded models are often folders of links. */
static rg_status add_links(paths *p, const char *folder)
{
    DIR           *d = opendir(folder);
    struct dirent *entry;
    rg_status      status = RG_OK;
    while (status == RG_OK && d && (entry = readdir(d)) && p->count < MOST) {
        char        whole[PATH_MAX], target[PATH_MAX];
        struct stat facts;
        const int   n = snprintf(whole, sizeof whole, "%s/%s", folder, entry->d_name);
        if (n < 0 || (size_t)n >= sizeof whole || lstat(whole, &facts) != 0 || !S_ISLNK(facts.st_mode)) continue;
        if (realpath(whole, target)) status = add(p, rg_strdup(target));
    }
    if (d) closedir(d);
    return status;
}

static rg_status add_input(paths *p, const char *input)
{
    struct stat facts;
    char       *copy = rg_strdup(input), *slash = copy ? strrchr(copy, '/') : NULL;
    const bool  folder = stat(input, &facts) == 0 && S_ISDIR(facts.st_mode);
    if (copy && !folder && slash) slash[slash == copy] = 0;
    if (copy && !folder && !slash) {
        rg_free(copy);
        copy = rg_strdup(".");
    }
    RG_TRY(add(p, copy));
    RG_TRY(add(p, rg_strdup(input)));
    return add_links(p, copy);
}

rg_status rg_confine_files(const char *command, const char *input, const char *beside, const char *output)
{
    paths     *p = rg_alloc_zero(sizeof *p);
    unsigned   how = 0;
    rg_status  status = p ? add_input(p, input) : RG_ENOMEM;
    if (status == RG_OK && *beside) status = add(p, rg_strdup(beside));
    if (status == RG_OK) {
        const rg_confinement c = {
            .read = (const char *const *)p->path, .reads = p->count, .write = &output, .writes = 1
        };
        status = rg_confine(&how, &c);
    }
    if (status == RG_OK) rg_say_confined(command, how);
    for (size_t i = 0; p && i < p->count; i++) rg_free(p->path[i]);
    rg_free(p);
    return status;
}
