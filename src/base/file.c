/* file.c - reading and writing plain files, and replacing one so that it is never seen half written.
 *
 * Short counts and EINTR are looped. Writes are gathered into blocks; the first failure of a file is kept and every
 * later call on it fails too, so a file with a hole in it cannot be committed. A failed sync is final: the kernel
 * may have dropped the pages, and a second sync would wrongly succeed. */
#define _GNU_SOURCE 1
#include "regard/base.h"
#include "base/file_target.h"
#include "base/seams.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK_BYTES = 1 << 16 };
#define CALL_BYTES ((size_t)1 << 30) /* most bytes asked of one system call */

struct rg_file {
    int fd;
    bool failed; /* a write or sync was lost */
    char *path;  /* for messages; of a replacement, the file to be replaced */
    char *temp;  /* of a replacement: where the bytes go; NULL otherwise */
    unsigned char *block;
    size_t filled; /* bytes of `block` not yet written */
};

static const char *name_of(const rg_file *file)
{
    return file->temp != NULL ? file->temp : file->path;
}

static rg_status fail_errno(const char *path, const char *deed)
{
    int error = errno;
    if (error == EWOULDBLOCK) return rg_fail(RG_EIO, "%s: another program is writing this file", path);
    return rg_fail(RG_EIO, "%s: cannot %s: %s", path, deed, strerror(error));
}

static int open_looped(const char *path, rg_file_kind kind)
{
    const rg_file_calls *calls = rg_base__file_calls();
    int fd;
    do fd = calls->open(calls->context, path, kind);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static int sync_looped(int fd)
{
    const rg_file_calls *calls = rg_base__file_calls();
    int result;
    do result = calls->sync(calls->context, fd);
    while (result != 0 && errno == EINTR);
    return result;
}

/* Linux closes the descriptor even when it reports EINTR; a second close could hit another thread's file. */
static int close_once(int fd)
{
    const rg_file_calls *calls = rg_base__file_calls();
    return calls->close(calls->context, fd) == 0 || errno == EINTR ? 0 : -1;
}

static void free_file(rg_file *file)
{
    rg_free(file->path);
    rg_free(file->temp);
    rg_free(file->block);
    rg_free(file);
}

/* Opens `path`, or for a replacement a file beside it. */
static rg_status open_kind(rg_file **out, const char *path, rg_file_kind kind)
{
    rg_status status = RG_ENOMEM;
    *out = NULL;
    rg_file *file = rg_alloc_zero(sizeof *file);
    if (file == NULL) return RG_ENOMEM;

    if ((file->path = rg_strdup(path)) == NULL) goto failed;
    if (kind == RG_FILE_TEMP && (file->temp = rg_format("%s" RG_FILE_TEMP_END, path)) == NULL) goto failed;
    const bool writes = kind == RG_FILE_WRITE || kind == RG_FILE_APPEND || kind == RG_FILE_TEMP || kind == RG_FILE_DEVICE;
    if (writes && (file->block = rg_alloc(BLOCK_BYTES)) == NULL) goto failed;
    file->fd = open_looped(name_of(file), kind);
    if (file->fd >= 0) {
        *out = file;
        return RG_OK;
    }
    status = errno == ESPIPE ? rg_fail(RG_EIO, "%s: is a pipe or a device, not a file", name_of(file))
                             : fail_errno(name_of(file), "open");
failed:
    free_file(file);
    return status;
}

rg_status rg_file_open(rg_file **out, const char *path, const char *mode)
{
    if (strcmp(mode, "rb") == 0) return open_kind(out, path, RG_FILE_READ);
    if (strcmp(mode, "rr") == 0) return open_kind(out, path, RG_FILE_REGULAR);
    if (strcmp(mode, "wb") == 0) return open_kind(out, path, RG_FILE_WRITE);
    if (strcmp(mode, "ab") == 0) return open_kind(out, path, RG_FILE_APPEND);
    *out = NULL;
    return rg_fail(RG_EINVAL, "%s: \"%s\" is no way to open a file; use \"rb\", \"rr\", \"wb\" or \"ab\"", path, mode);
}

rg_status rg_file_read_some(size_t *out_bytes, rg_file *file, void *buffer, size_t bytes)
{
    const rg_file_calls *calls = rg_base__file_calls();
    ssize_t got;
    *out_bytes = 0;
    do got = calls->read(calls->context, file->fd, buffer, bytes < CALL_BYTES ? bytes : CALL_BYTES);
    while (got < 0 && errno == EINTR);
    if (got < 0) return fail_errno(name_of(file), "read");
    *out_bytes = (size_t)got;
    return RG_OK;
}

rg_status rg_file_read(rg_file *file, void *buffer, size_t bytes)
{
    unsigned char *to = buffer;
    for (size_t done = 0, got; done < bytes; done += got) {
        RG_TRY(rg_file_read_some(&got, file, to + done, bytes - done));
        if (got == 0)
            return rg_fail(RG_EFORMAT, "%s: cut short: %zu bytes wanted, %zu there", name_of(file), bytes, done);
    }
    return RG_OK;
}

static rg_status write_through(rg_file *file, const unsigned char *bytes, size_t count)
{
    const rg_file_calls *calls = rg_base__file_calls();
    while (count > 0) {
        ssize_t put = calls->write(calls->context, file->fd, bytes, count < CALL_BYTES ? count : CALL_BYTES);
        if (put < 0 && errno == EINTR) continue;
        if (put == 0) errno = ENOSPC; /* no progress and no reason: do not loop for ever */
        if (put <= 0) {
            file->failed = true;
            return fail_errno(name_of(file), "write");
        }
        bytes += put;
        count -= (size_t)put;
    }
    return RG_OK;
}

static rg_status flush(rg_file *file)
{
    size_t filled = file->filled;
    if (file->failed) return rg_fail(RG_EIO, "%s: an earlier write failed", name_of(file));
    file->filled = 0;
    return write_through(file, file->block, filled);
}

rg_status rg_file_write(rg_file *file, const void *bytes, size_t count)
{
    if (file->block == NULL) return rg_fail(RG_EINVAL, "%s: was opened for reading", file->path);
    if (count == 0) return RG_OK;
    if (count > BLOCK_BYTES - file->filled) {
        RG_TRY(flush(file));
        if (count >= BLOCK_BYTES) return write_through(file, bytes, count);
    }
    if (file->failed) return flush(file);
    memcpy(file->block + file->filled, bytes, count);
    file->filled += count;
    return RG_OK;
}

rg_status rg_file_flush(rg_file *file)
{
    return file->block != NULL ? flush(file) : RG_OK;
}

rg_status rg_file_seek(rg_file *file, uint64_t offset)
{
    const rg_file_calls *calls = rg_base__file_calls();
    if (file->block != NULL) RG_TRY(flush(file));
    if (offset > INT64_MAX)
        return rg_fail(RG_EINVAL, "%s: no file reaches to byte %ju", name_of(file), (uintmax_t)offset);
    if (calls->seek(calls->context, file->fd, (int64_t)offset) < 0) return fail_errno(name_of(file), "seek");
    return RG_OK;
}

rg_status rg_file_size(uint64_t *out, rg_file *file)
{
    const rg_file_calls *calls = rg_base__file_calls();
    if (file->block != NULL) RG_TRY(flush(file));
    int64_t size = calls->size(calls->context, file->fd);
    if (size < 0) return fail_errno(name_of(file), "tell the size");
    *out = (uint64_t)size;
    return RG_OK;
}

rg_status rg_file_size_at(uint64_t *out, const char *path)
{
    rg_file *file;
    RG_TRY(rg_file_open(&file, path, "rr"));
    const rg_status status = rg_file_size(out, file);
    (void)rg_file_close(file);
    return status;
}

rg_status rg_file_sync(rg_file *file)
{
    if (file->block != NULL) RG_TRY(flush(file));
    if (sync_looped(file->fd) == 0) return RG_OK;
    file->failed = true;
    return fail_errno(name_of(file), "sync");
}

rg_status rg_file_close(rg_file *file)
{
    if (file == NULL) return RG_OK;
    rg_status status = file->block != NULL ? flush(file) : RG_OK;
    if (close_once(file->fd) != 0 && status == RG_OK) status = fail_errno(name_of(file), "close");
    free_file(file);
    return status;
}

/* ----------------------------------------------------------------------------------------------- replacements */

/* The folder that holds `path`, synced: without it a power cut may undo the rename. */
static rg_status sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    int length = slash == NULL ? 1 : slash == path ? 1 : (int)(slash - path);
    char *folder = rg_format("%.*s", length, slash == NULL ? "." : path);
    if (folder == NULL) return RG_ENOMEM;

    rg_status status = RG_OK;
    int fd = open_looped(folder, RG_FILE_FOLDER);
    if (fd < 0) status = fail_errno(folder, "open");
    else {
        if (sync_looped(fd) != 0 && errno != EINVAL) status = fail_errno(folder, "sync"); /* EINVAL: it has no sync */
        close_once(fd);
    }
    rg_free(folder);
    return status;
}

rg_status rg_file_replace_begin(rg_file **out, const char *path)
{
    rg_file_target target;
    *out = NULL;
    RG_TRY(rg_base__file_target(&target, path));
    const rg_status status = open_kind(out, target.path, target.direct ? RG_FILE_DEVICE : RG_FILE_TEMP);
    if (status == RG_OK && target.there && !target.direct) (void)fchmod((*out)->fd, target.mode); /* what was private stays so */
    rg_free(target.path);
    return status;
}

rg_status rg_file_replace_commit(rg_file *file)
{
    const rg_file_calls *calls = rg_base__file_calls();
    if (file->temp == NULL) return rg_file_close(file); /* a device */
    rg_status status = rg_file_sync(file);
    if (status == RG_OK && calls->rename(calls->context, file->temp, file->path) != 0)
        status = fail_errno(file->path, "rename the new file to this name");
    if (status != RG_OK) {
        rg_file_replace_abandon(file);
        return status;
    }
    /* The rename comes before close, because closing gives up the lock on the temporary name. */
    if (close_once(file->fd) != 0) status = fail_errno(file->path, "close");
    rg_status folder = sync_folder_of(file->path);
    free_file(file);
    return status != RG_OK ? status : folder;
}

void rg_file_replace_abandon(rg_file *file)
{
    if (file == NULL) return;
    const rg_file_calls *calls = rg_base__file_calls();
    if (file->temp != NULL) (void)calls->unlink(calls->context, file->temp);
    (void)close_once(file->fd);
    free_file(file);
}

rg_status rg_file_replace(const char *path, const void *bytes, size_t count)
{
    rg_file *file = NULL;
    RG_TRY(rg_file_replace_begin(&file, path));
    const rg_status status = rg_file_write(file, bytes, count);
    if (status == RG_OK) return rg_file_replace_commit(file);
    rg_file_replace_abandon(file);
    return status;
}

rg_status rg_file_rename(const char *from, const char *to)
{
    const rg_file_calls *calls = rg_base__file_calls();
    if (calls->rename(calls->context, from, to) != 0) return fail_errno(from, "give it another name");
    return sync_folder_of(to);
}

rg_status rg_file_remove(const char *path)
{
    const rg_file_calls *calls = rg_base__file_calls();
    return calls->unlink(calls->context, path) == 0 || errno == ENOENT ? RG_OK : fail_errno(path, "remove");
}

rg_status rg_file_exists(bool *out, const char *path)
{
    int fd = open_looped(path, RG_FILE_READ);
    *out = fd >= 0;
    if (fd < 0) return errno == ENOENT ? RG_OK : fail_errno(path, "open");
    close_once(fd);
    return RG_OK;
}
