/* module.c - opens regard-<name>.so by hand, so that `regard translate` does not wait for cairo to load.
 *
 * It is looked for beside the program (a build tree), then in regard/ beside the library and beside the library itself,
 * wherever that was installed or moved to. */
#define _GNU_SOURCE 1 /* dladdr */
#include "base/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* The path of the module beside the program, where a build tree has it. */
static bool path_beside(char *path, size_t room, const char *name)
{
    ssize_t length = readlink("/proc/self/exe", path, room - 1);
    if (length <= 0) return false;
    path[length] = 0;
    char *slash = strrchr(path, '/');
    if (!slash) return false;
    snprintf(slash + 1, room - (size_t)(slash + 1 - path), "regard-%.32s.so", name);
    return access(path, R_OK) == 0;
}

/* By the address of something in it. */
bool rg_module__folder(char *out, size_t room)
{
    static const char here;
    Dl_info           info;
    if (!dladdr(&here, &info) || !info.dli_fname) return false;
    const char *slash = strrchr(info.dli_fname, '/');
    const int   length = slash ? (int)(slash + 1 - info.dli_fname) : 0;
    return length > 0 && (size_t)snprintf(out, room, "%.*s", length, info.dli_fname) < room;
}

/* The path of the module in `folder` beside this library. */
static bool path_by_library(char *path, size_t room, const char *folder, const char *name)
{
    if (!rg_module__folder(path, room)) return false;
    const size_t used = strlen(path);
    snprintf(path + used, room - used, "%sregard-%.32s.so", folder, name);
    return access(path, R_OK) == 0;
}

rg_status rg_module_open(rg_module_function **out, const char *name, const char *symbol)
{
    char path[PATH_MAX];
    if (!path_beside(path, sizeof path, name) && !path_by_library(path, sizeof path, "", name) &&
        !path_by_library(path, sizeof path, "regard/", name))
        snprintf(path, sizeof path, "regard-%.32s.so", name); /* dlopen names it in its reason */
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        const char *reason = dlerror();
        return rg_fail(RG_EIO, "the part \"%s\" of regard cannot be opened: %s", name,
                       reason ? reason : "no reason given");
    }
    void *found = dlsym(module, symbol);
    if (!found) return rg_fail(RG_EIO, "regard-%s.so has no %s: it is not of this version", name, symbol);
    memcpy(out, &found, sizeof found); /* ISO C has no cast from an object pointer to a function */
    return RG_OK;
}
