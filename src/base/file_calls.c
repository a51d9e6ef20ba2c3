/* file_calls.c - the system calls behind rg_file, in a table that tests can replace. */
#define _GNU_SOURCE 1
#include "base/file_target.h"
#include "base/seams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_with(int fd, int error)
{
    close(fd);
    errno = error;
    return -1;
}

static int open_regular(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return -1;
    struct stat s;
    if (fstat(fd, &s) != 0) return fail_with(fd, errno);
    if (S_ISDIR(s.st_mode)) return fail_with(fd, EISDIR);
    if (!S_ISREG(s.st_mode)) return fail_with(fd, ESPIPE);
    return fd;
}

/* The name of a temporary file is fixed, so that a killed program leaves at most one; the lock keeps a second program
 * from writing into it, and the look at the name catches a file that was renamed away between open and lock. */
static int open_temp(const char *path)
{
    for (int attempt = 0; attempt < 10; attempt++) {
        struct stat of_fd, of_path;
        int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
        if (fd < 0) return -1;
        if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return fail_with(fd, EWOULDBLOCK);
        if (fstat(fd, &of_fd) != 0) return fail_with(fd, errno);
        if (!S_ISREG(of_fd.st_mode)) return fail_with(fd, ESPIPE);
        bool same = stat(path, &of_path) == 0 && of_fd.st_ino == of_path.st_ino && of_fd.st_dev == of_path.st_dev;
        if (same) return ftruncate(fd, 0) == 0 ? fd : fail_with(fd, errno);
        close(fd);
    }
    errno = EWOULDBLOCK;
    return -1;
}

/* An open descriptor by its name (what /dev/stdout leads to) is shared with whoever wrote before, at the place where
 * they stopped. */
static int open_device(const char *path)
{
    int n;
    return rg_base__descriptor_of(&n, path) ? fcntl(n, F_DUPFD_CLOEXEC, 0)
                                            : open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

static int real_open(void *context, const char *path, rg_file_kind kind)
{
    (void)context;
    switch (kind) {
    case RG_FILE_READ: return open(path, O_RDONLY | O_CLOEXEC);
    case RG_FILE_REGULAR: return open_regular(path);
    case RG_FILE_WRITE: return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    case RG_FILE_APPEND: return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    case RG_FILE_TEMP: return open_temp(path);
    case RG_FILE_DEVICE: return open_device(path);
    case RG_FILE_FOLDER: return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    errno = EINVAL;
    return -1;
}

static ssize_t real_read(void *context, int fd, void *buffer, size_t bytes)
{
    (void)context;
    return read(fd, buffer, bytes);
}

static ssize_t real_write(void *context, int fd, const void *bytes, size_t count)
{
    (void)context;
    return write(fd, bytes, count);
}

static int64_t real_seek(void *context, int fd, int64_t offset)
{
    (void)context;
    return (int64_t)lseek(fd, (off_t)offset, SEEK_SET);
}

static int64_t real_size(void *context, int fd)
{
    (void)context;
    struct stat s;
    if (fstat(fd, &s) != 0) return -1;
    if (S_ISREG(s.st_mode)) return (int64_t)s.st_size;
    errno = ESPIPE;
    return -1;
}

static int real_sync(void *context, int fd)
{
    (void)context;
    return fsync(fd);
}

static int real_close(void *context, int fd)
{
    (void)context;
    return close(fd);
}

static int real_rename(void *context, const char *from, const char *to)
{
    (void)context;
    return rename(from, to);
}

static int real_unlink(void *context, const char *path)
{
    (void)context;
    return unlink(path);
}

static const rg_file_calls real = {
    .open = real_open, .read = real_read,   .write = real_write,   .seek = real_seek,     .size = real_size,
    .sync = real_sync, .close = real_close, .rename = real_rename, .unlink = real_unlink,
};

static const rg_file_calls *in_use = &real;

void rg_base__seam_file(const rg_file_calls *calls)
{
    in_use = calls == NULL ? &real : calls;
}

const rg_file_calls *rg_base__file_calls(void)
{
    return in_use;
}

const rg_file_calls *rg_base__file_calls_real(void)
{
    return &real;
}
