/* powercut.c - see powercut.h. Calls are played back on a model of a disk: inodes with bytes, one folder with names. */
#include "support/powercut.h"

#include "base/seams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef enum note_kind { CREATE, WRITE, SYNC_FILE, SYNC_FOLDER, RENAME, UNLINK } note_kind;

typedef struct note {
    note_kind kind;
    int inode; /* of CREATE, WRITE, SYNC_FILE */
    char path[256], to[256];
    unsigned char *bytes; /* of WRITE */
    size_t offset, count;
} note;

enum { NOTES = 4096, FILES = 64, FDS = 1024 };

static struct {
    note notes[NOTES];
    size_t count;
    int inodes;
    struct {
        int inode; /* 0: not ours; -1: a folder */
        size_t offset;
    } fds[FDS];
} tape;

/* --------------------------------------------------------------------------------------------------- recording */

static note *add_note(note_kind kind, int inode)
{
    if (tape.count == NOTES) abort();
    note *n = &tape.notes[tape.count++];
    *n = (note){ .kind = kind, .inode = inode };
    return n;
}

static const rg_file_calls *below(void)
{
    return rg_base__file_calls_real();
}

static int note_open(void *context, const char *path, rg_file_kind kind)
{
    int fd = below()->open(context, path, kind);
    if (fd < 0) return fd;
    if (fd >= FDS) abort();
    tape.fds[fd].inode = kind == RG_FILE_FOLDER ? -1 : 0;
    tape.fds[fd].offset = 0;
    if (kind == RG_FILE_WRITE || kind == RG_FILE_TEMP) { /* a fresh inode: emptying is as good as replacing */
        tape.fds[fd].inode = ++tape.inodes;
        snprintf(add_note(CREATE, tape.inodes)->path, 256, "%s", path);
    }
    return fd;
}

static ssize_t note_write(void *context, int fd, const void *bytes, size_t count)
{
    size_t piece = count > 100 ? (count + 1) / 2 : count; /* in two goes, so that cuts fall between them */
    ssize_t put = below()->write(context, fd, bytes, piece);
    if (put <= 0) return put;
    note *n = add_note(WRITE, tape.fds[fd].inode);
    n->offset = tape.fds[fd].offset;
    n->count = (size_t)put;
    if ((n->bytes = malloc(n->count)) == NULL) abort();
    memcpy(n->bytes, bytes, n->count);
    tape.fds[fd].offset += (size_t)put;
    return put;
}

static int note_sync(void *context, int fd)
{
    int result = below()->sync(context, fd);
    if (result == 0) add_note(tape.fds[fd].inode < 0 ? SYNC_FOLDER : SYNC_FILE, tape.fds[fd].inode);
    return result;
}

static int note_rename(void *context, const char *from, const char *to)
{
    int result = below()->rename(context, from, to);
    if (result != 0) return result;
    note *n = add_note(RENAME, 0);
    snprintf(n->path, sizeof n->path, "%s", from);
    snprintf(n->to, sizeof n->to, "%s", to);
    return 0;
}

static int note_unlink(void *context, const char *path)
{
    int result = below()->unlink(context, path);
    if (result == 0) snprintf(add_note(UNLINK, 0)->path, 256, "%s", path);
    return result;
}

void powercut_record(void)
{
    static rg_file_calls calls;
    for (size_t i = 0; i < tape.count; i++) free(tape.notes[i].bytes);
    memset(&tape, 0, sizeof tape);
    calls = *below();
    calls.open = note_open;
    calls.write = note_write;
    calls.sync = note_sync;
    calls.rename = note_rename;
    calls.unlink = note_unlink;
    rg_base__seam_file(&calls);
}

void powercut_stop(void)
{
    rg_base__seam_file(NULL);
}

size_t powercut_operations(void)
{
    return tape.count;
}

/* -------------------------------------------------------------------------------------------------- playing back */

typedef struct folder {
    struct {
        char path[256];
        int inode;
    } names[FILES];
    size_t count;
} folder;

static size_t find_name(const folder *f, const char *path)
{
    size_t i = 0;
    while (i < f->count && strcmp(f->names[i].path, path) != 0) i++;
    return i;
}

static void set_name(folder *f, const char *path, int inode)
{
    size_t i = find_name(f, path);
    if (i == FILES) abort();
    if (i == f->count) f->count++;
    snprintf(f->names[i].path, sizeof f->names[i].path, "%s", path);
    f->names[i].inode = inode;
}

static int drop_name(folder *f, const char *path)
{
    size_t i = find_name(f, path);
    if (i == f->count) return 0;
    int inode = f->names[i].inode;
    f->names[i] = f->names[--f->count];
    return inode;
}

/* The inode that `path` names when changes of names count up to note number `last`. */
static int inode_of(const char *path, size_t last)
{
    static folder f;
    f.count = 0;
    for (size_t i = 0; i < last; i++) {
        const note *n = &tape.notes[i];
        if (n->kind == CREATE) set_name(&f, n->path, n->inode);
        if (n->kind == RENAME) set_name(&f, n->to, drop_name(&f, n->path));
        if (n->kind == UNLINK) drop_name(&f, n->path);
    }
    size_t i = find_name(&f, path);
    return i == f.count ? 0 : f.names[i].inode;
}

/* Number of notes up to and with the last sync that counts: of the folder (inode 0) or of a file. */
static size_t last_sync(size_t operations, int inode)
{
    size_t last = 0;
    for (size_t i = 0; i < operations; i++) {
        const note *n = &tape.notes[i];
        if (inode == 0 ? n->kind == SYNC_FOLDER : (n->kind == SYNC_FILE && n->inode == inode)) last = i + 1;
    }
    return last;
}

static size_t between(size_t low, size_t high, rg_random *random)
{
    return low + (size_t)rg_random_below(random, high - low + 1);
}

bool powercut_disk(unsigned char **out, size_t *out_count, const char *path, size_t operations, powercut_mode mode,
                   rg_random *random)
{
    bool keep_names = mode == POWERCUT_NAMES_KEPT || mode == POWERCUT_NONE_LOST;
    bool keep_bytes = mode == POWERCUT_BYTES_KEPT || mode == POWERCUT_NONE_LOST;
    size_t names = keep_names ? operations : last_sync(operations, 0);
    if (mode == POWERCUT_TORN) names = between(names, operations, random);
    int inode = inode_of(path, names);
    *out = NULL;
    *out_count = 0;
    if (inode == 0) return false;

    size_t safe = last_sync(operations, inode), bytes = keep_bytes ? operations : safe;
    if (mode == POWERCUT_TORN) bytes = between(bytes, operations, random);
    for (size_t i = 0; i < bytes; i++) {
        const note *n = &tape.notes[i];
        if (n->kind != WRITE || n->inode != inode) continue;
        if (n->offset + n->count > *out_count) {
            unsigned char *grown = realloc(*out, n->offset + n->count);
            if (grown == NULL) abort();
            *out = grown;
            *out_count = n->offset + n->count;
        }
        memcpy(*out + n->offset, n->bytes, n->count);
        if (mode != POWERCUT_TORN || i < safe) continue;
        for (size_t j = between(0, n->count, random); j < n->count; j++) (*out)[n->offset + j] = 0; /* blocks never written */
    }
    return true;
}
