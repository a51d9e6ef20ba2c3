/* confine_files.c - which files can be opened and which ports used, by Landlock
 * (https://docs.kernel.org/userspace-api/landlock.html).
 *
 * A ruleset names the rights it takes away, and rules give some of them back beneath a path. Numbers and structs are
 * written here, since headers are often older than kernels; a kernel is asked only for what its version has. */
#define _GNU_SOURCE 1 /* O_PATH */
#include "base/module.h"
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_landlock_create_ruleset

enum { /* rights on files, by bit */
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_FILE = 1 << 5,
    MAKE_REG = 1 << 8,
    TRUNCATE = 1 << 14,
    FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE, /* that make sense beneath what is no folder */
    READING = READ_FILE | READ_DIR,
    WRITING = WRITE_FILE | READ_FILE | READ_DIR | REMOVE_FILE | MAKE_REG | TRUNCATE
};

static const uint64_t rights_of[] = { 0, (1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1 };

struct ruleset {
    uint64_t files, network, scopes;
};
struct beneath {
    uint64_t allowed;
    int32_t  fd;
} __attribute__((packed));

enum { VERSION = 1, BENEATH = 1, TCP = 3 /* bind, connect */, SCOPES = 3 /* abstract sockets, signals */ };

/* What is not there needs no rule, and what has no place in a file system (a pipe) is never refused. */
static rg_status allow(int ruleset, uint64_t handled, const char *path, uint64_t rights)
{
    struct stat    facts;
    struct beneath rule = { .fd = open(path, O_PATH | O_CLOEXEC) };
    if (rule.fd < 0) return RG_OK;
    const bool folder = fstat(rule.fd, &facts) == 0 && S_ISDIR(facts.st_mode);
    rule.allowed = rights & handled & (folder ? UINT64_MAX : (uint64_t)FILE_RIGHTS);
    const long result = syscall(SYS_landlock_add_rule, ruleset, BENEATH, &rule, 0);
    const int  error = errno;
    close(rule.fd);
    if (result == 0 || error == EBADFD) return RG_OK;
    return rg_fail(RG_EIO, "%s: cannot be allowed by Landlock: %s", path, strerror(error));
}

/* A file that is replaced is written beside the one that its name leads to. */
static rg_status allow_output(int ruleset, uint64_t handled, const char *path)
{
    char *whole = realpath(path, NULL), *copy = NULL;
    RG_TRY(allow(ruleset, handled, path, WRITE_FILE | READ_FILE | TRUNCATE));
    if (!(copy = rg_strdup(whole ? whole : path))) {
        free(whole);
        return RG_ENOMEM;
    }
    free(whole);
    char *slash = strrchr(copy, '/');
    if (slash) slash[slash == copy] = 0;
    const bool      device = strncmp(copy, "/dev", 4) == 0 || strncmp(copy, "/proc", 5) == 0;
    const rg_status status = device ? RG_OK : allow(ruleset, handled, slash ? copy : ".", WRITING);
    rg_free(copy);
    return status;
}

/* Libraries that are opened on use, and what the C library looks at. */
static rg_status allow_libraries(int ruleset, uint64_t handled)
{
    static const char *const path[] = {
        "/lib",      "/lib64",       "/usr/lib",                "/usr/lib64",       "/usr/local/lib", "/usr/share",
        "/dev/null", "/dev/urandom", "/sys/devices/system/cpu", "/etc/ld.so.cache",
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
        "/proc" /* the sanitizers' report at the end */
#endif
    };
    char    self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) RG_TRY(allow(ruleset, handled, path[i], READING));
    char library[PATH_MAX];
    if (rg_module__folder(library, sizeof library)) RG_TRY(allow(ruleset, handled, library, READING));
    if (length <= 0) return RG_OK;
    self[length] = 0;
    char *slash = strrchr(self, '/');
    if (slash) slash[slash == self] = 0;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    return allow(ruleset, handled, self, WRITING); /* counts of coverage */
#else
    return allow(ruleset, handled, self, READING); /* modules of a build tree */
#endif
}

static rg_status add_rules(int ruleset, uint64_t handled, const rg_confinement *c)
{
    RG_TRY(allow_libraries(ruleset, handled));
    for (size_t i = 0; i < c->reads; i++) RG_TRY(allow(ruleset, handled, c->read[i], READING));
    for (size_t i = 0; i < c->writes; i++) RG_TRY(allow_output(ruleset, handled, c->write[i]));
    return RG_OK;
}

rg_status rg_confine__files(unsigned *how, const rg_confinement *c)
{
    const long version = syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION);
    const long known = (long)(sizeof rights_of / sizeof *rights_of) - 1;
    if (version < 1) return RG_OK; /* not built in, or not switched on */
    struct ruleset what = { .files = rights_of[version < known ? version : known],
                            .network = version >= 4 ? TCP : 0,
                            .scopes = version >= 6 ? SCOPES : 0 };
    const size_t   bytes = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    const int      ruleset = (int)syscall(SYS_landlock_create_ruleset, &what, bytes, 0);
    if (ruleset < 0) return rg_fail(RG_EIO, "Landlock refuses a ruleset: %s", strerror(errno));
    rg_status status = add_rules(ruleset, what.files, c);
    if (status == RG_OK && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
                            syscall(SYS_landlock_restrict_self, ruleset, 0) != 0))
        status = rg_fail(RG_EIO, "Landlock refuses to confine this process: %s", strerror(errno));
    close(ruleset);
    if (status == RG_OK) *how |= RG_CONFINED_FILES | (what.network ? RG_CONFINED_NETWORK : 0u);
    return status;
}

#else
rg_status rg_confine__files(unsigned *how, const rg_confinement *c)
{
    (void)how;
    (void)c;
    return RG_OK;
}
#endif
