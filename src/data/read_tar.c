/* read_tar.c - the files of an archive, one after another, without unpacking it: ustar (POSIX 1003.1), pax, GNU long
 * names.
 *
 *   header (512 bytes) | bytes, filled up to a block of 512 | header | ... | two blocks of zeros
 *
 * Names that leave the archive's folder (/x, a/../b) are refused, and so are links: nothing here writes files, but
 * paths are compared with those of tables beside the archive. */
#include "data/reader.h"

#include <string.h>

enum { BLOCK = 512, MOST_PATH = 4096, MOST_PAX = 1 << 20 };

/* Fields of a header: where, and how many bytes. */
enum {
    NAME_AT = 0,
    NAME = 100,
    SIZE_AT = 124,
    SIZE = 12,
    SUM_AT = 148,
    SUM = 8,
    TYPE_AT = 156,
    MAGIC_AT = 257,
    PREFIX_AT = 345,
    PREFIX = 155
};

typedef struct archive {
    rg_text  header, pax, path; /* path: of the member at hand */
    rg_text  next_path;         /* told by a pax header or a GNU long name before the member; empty: by its own header */
    uint64_t next_size, members;
    bool     has_next_size, ended;
} archive;

static rg_status bad(const rg_reader *r, const archive *a, const char *format, ...) RG_PRINTF(3, 4);
static rg_status bad(const rg_reader *r, const archive *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    rg_failv(RG_EFORMAT, format, args);
    va_end(args);
    return rg_fail_in(RG_EFORMAT, "%s: %s: ", r->name, a->path.length ? a->path.data : "before the first member");
}

/* ---------------------------------------------------------------------------------------------------------- numbers */

static bool octal(uint64_t *out, const char *text, size_t bytes)
{
    size_t i = 0;
    *out = 0;
    while (i < bytes && text[i] == ' ') i++;
    const size_t begin = i;
    for (; i < bytes && text[i] >= '0' && text[i] <= '7'; i++) *out = *out << 3 | (uint64_t)(text[i] - '0');
    return i > begin && (i == bytes || text[i] == ' ' || text[i] == '\0');
}

/* Octal digits, or GNU's form for large files: the high bit, then the number itself. */
static bool number(uint64_t *out, const char *text, size_t bytes)
{
    if (!((unsigned char)text[0] & 0x80)) return octal(out, text, bytes);
    *out = (unsigned char)text[0] & 0x7F;
    for (size_t i = 1; i < bytes; i++) {
        if (*out >> 54) return false;
        *out = *out << 8 | (unsigned char)text[i];
    }
    return true;
}

/* The sum of all bytes, those of the sum itself counted as blanks. */
static bool sum_is_right(const char *header)
{
    uint64_t told, sum = 0;
    for (size_t i = 0; i < BLOCK; i++) sum += i >= SUM_AT && i < SUM_AT + SUM ? ' ' : (unsigned char)header[i];
    return octal(&told, header + SUM_AT, SUM) && told == sum;
}

static bool is_zero(const char *header)
{
    for (size_t i = 0; i < BLOCK; i++)
        if (header[i]) return false;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ names */

/* Length of a field that ends at a NUL or is full. */
static size_t field_bytes(const char *field, size_t most)
{
    const char *nul = memchr(field, '\0', most);
    return nul ? (size_t)(nul - field) : most;
}

static rg_status take_path(archive *a)
{
    const char *h = a->header.data;
    rg_text_clear(&a->path);
    if (a->next_path.length) {
        RG_TRY(rg_text_add(&a->path, a->next_path.data, a->next_path.length));
    } else {
        if (memcmp(h + MAGIC_AT, "ustar\0", 6) == 0 && h[PREFIX_AT]) { /* GNU's "ustar  " has other things there */
            RG_TRY(rg_text_add(&a->path, h + PREFIX_AT, field_bytes(h + PREFIX_AT, PREFIX)));
            RG_TRY(rg_text_add(&a->path, "/", 1));
        }
        RG_TRY(rg_text_add(&a->path, h + NAME_AT, field_bytes(h + NAME_AT, NAME)));
    }
    rg_text_clear(&a->next_path);
    while (a->path.length >= 2 && memcmp(a->path.data, "./", 2) == 0) {
        memmove(a->path.data, a->path.data + 2, a->path.length - 1); /* with its NUL */
        a->path.length -= 2;
    }
    return RG_OK;
}

static rg_status check_path(const rg_reader *r, const archive *a)
{
    const char *path = rg_text_c(&a->path);
    if (!*path || strlen(path) != a->path.length)
        return rg_fail(RG_EFORMAT, "%s: member %llu has no name, or a NUL in it", r->name,
                       (unsigned long long)a->members + 1);
    if (!rg_utf8_check(path, a->path.length, NULL))
        return rg_fail(RG_EFORMAT, "%s: the name of member %llu is not UTF-8", r->name,
                       (unsigned long long)a->members + 1);
    return rg_reader__leaves(path)
               ? bad(r, a,
                     "the name leaves the archive's folder: make the archive again without / in front and without ..")
               : RG_OK;
}

/* One record of a pax header: "27 path=name\n", the number counts all of it. Returns its bytes, 0 when it is none. */
static size_t pax_record(const char **key, const char **value, const char **end, const char *at, size_t left)
{
    size_t bytes = 0, digits = 0;
    for (; digits < left && at[digits] >= '0' && at[digits] <= '9' && bytes <= left; digits++)
        bytes = 10 * bytes + (size_t)(at[digits] - '0');
    if (!digits || bytes > left || digits >= left || at[digits] != ' ' || bytes < digits + 3 || at[bytes - 1] != '\n')
        return 0;
    *key = at + digits + 1;
    *end = at + bytes - 1;
    *value = memchr(*key, '=', (size_t)(*end - *key));
    if (!*value) return 0;
    ++*value;
    return bytes;
}

static bool key_is(const char *key, const char *value, const char *name)
{
    const size_t bytes = (size_t)(value - 1 - key);
    return strlen(name) == bytes && memcmp(key, name, bytes) == 0;
}

static rg_status take_pax(const rg_reader *r, archive *a)
{
    const char *at = a->pax.data, *key, *value, *end;
    size_t      left = a->pax.length;
    while (left) {
        const size_t bytes = pax_record(&key, &value, &end, at, left);
        if (!bytes) return bad(r, a, "the pax header behind it is damaged");
        if (key_is(key, value, "path")) {
            rg_text_clear(&a->next_path);
            RG_TRY(rg_text_add(&a->next_path, value, (size_t)(end - value)));
        } else if (key_is(key, value, "size")) {
            a->next_size = 0;
            for (; value < end; value++) {
                if (*value < '0' || *value > '9' || a->next_size >> 58)
                    return bad(r, a, "the pax header behind it has a size that is no number");
                a->next_size = 10 * a->next_size + (uint64_t)(*value - '0');
            }
            a->has_next_size = true;
        } else if (end - key > 10 && memcmp(key, "GNU.sparse", 10) == 0) {
            return bad(r, a, "the next member is a sparse file: make the archive again without --sparse");
        }
        at += bytes;
        left -= bytes;
    }
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- members */

static rg_status read_filled(rg_text *out, rg_reader *r, uint64_t bytes)
{
    RG_TRY(rg_stream_read(out, &r->stream, (size_t)bytes));
    return rg_stream_skip(&r->stream, (BLOCK - bytes % BLOCK) % BLOCK);
}

/* What is told about the next member: its long name, its attributes. */
static rg_status read_about(rg_reader *r, archive *a, char type, uint64_t size)
{
    const bool wanted = type == 'x' || type == 'L';
    if (size > (type == 'L' ? MOST_PATH : MOST_PAX))
        return bad(r, a, "a header of %llu bytes behind it", (unsigned long long)size);
    rg_text_clear(&a->pax);
    RG_TRY(read_filled(&a->pax, r, size));
    if (type == 'x') return take_pax(r, a);
    if (!wanted) return RG_OK;
    rg_text_clear(&a->next_path);
    return rg_text_add(&a->next_path, a->pax.data, field_bytes(rg_text_c(&a->pax), a->pax.length));
}

static rg_status read_header(rg_reader *r, archive *a)
{
    rg_text_clear(&a->header);
    RG_TRY(rg_stream_read_some(&a->header, &r->stream, BLOCK));
    if (a->header.length < BLOCK)
        return rg_fail(RG_EFORMAT, "%s: cut short after %llu members: copy the archive again", r->name,
                       (unsigned long long)a->members);
    a->ended = is_zero(a->header.data);
    if (!a->ended && !sum_is_right(a->header.data))
        return bad(r, a, "the header behind it is damaged, or this is no tar archive");
    return RG_OK;
}

/* A file of the archive as a row. */
static rg_status give(rg_reader *r, archive *a, uint64_t size)
{
    rg_reader__begin_row(r, ++a->members);
    r->row.member = a->path.data;
    r->member_at = r->stream.given - (r->stream.end - r->stream.at);
    r->member_bytes = size;
    if (size > r->config.max_bytes)
        return bad(r, a, "a file of %llu bytes; at most %zu are possible", (unsigned long long)size,
                   r->config.max_bytes);
    RG_TRY(rg_reader__add_member(r, a->path.data));
    if (!rg_reader__wants_member(r)) {
        RG_TRY(rg_stream_skip(&r->stream, size + (BLOCK - size % BLOCK) % BLOCK));
        return rg_reader__add_missing(r);
    }
    RG_TRY(rg_reader__begin_member(r));
    RG_TRY(read_filled(&r->text, r, size));
    return rg_reader__end_cell(r);
}

static rg_status tar_next(bool *out_more, rg_reader *r)
{
    archive *a = r->own;
    for (*out_more = false; !a->ended;) {
        uint64_t size;
        RG_TRY(read_header(r, a));
        if (a->ended) break;
        const char type = a->header.data[TYPE_AT];
        if (!number(&size, a->header.data + SIZE_AT, SIZE))
            return bad(r, a, "the header behind it has a size that is no number");
        if (type == 'x' || type == 'g' || type == 'L' || type == 'K') {
            RG_TRY(read_about(r, a, type, size));
            continue;
        }
        if (a->has_next_size) size = a->next_size;
        a->has_next_size = false;
        RG_TRY(take_path(a));
        RG_TRY(check_path(r, a));
        if (type == '1' || type == '2')
            return bad(r, a, "a link: make the archive again with --dereference --hard-dereference");
        if (type == 'S') return bad(r, a, "a sparse file: make the archive again without --sparse");
        if ((type == '0' || type == '\0' || type == '7') && a->path.data[a->path.length - 1] != '/' &&
            !rg_reader__is_hidden(a->path.data)) {
            *out_more = true;
            return give(r, a, size);
        }
        if (size >> 62) return bad(r, a, "a size of %llu", (unsigned long long)size);
        RG_TRY(rg_stream_skip(&r->stream, type == '5' ? 0 : size + (BLOCK - size % BLOCK) % BLOCK));
    }
    return RG_OK;
}

static rg_status tar_open(rg_reader *r)
{
    r->own = rg_alloc_zero(sizeof(archive));
    return r->own ? rg_reader__open_stream(r) : RG_ENOMEM;
}

static void tar_close(rg_reader *r)
{
    archive *a = r->own;
    if (!a) return;
    rg_text_free(&a->header);
    rg_text_free(&a->pax);
    rg_text_free(&a->path);
    rg_text_free(&a->next_path);
    rg_free(a);
}

const rg_reader_format rg_reader_tar = {
    .name = "tar",
    .summary = "the files of an archive (ustar, pax, GNU), a folder per class or not",
    .endings = ".tar .tgz ",
    .columns = RG_MEMBER_COLUMNS,
    .open = tar_open,
    .next = tar_next,
    .close = tar_close,
};
