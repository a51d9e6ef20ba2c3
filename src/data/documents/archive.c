/* archive.c - zip archives with libzip, in memory. Members that are not translated keep their packed bytes; the others
 * keep their name, order, time and way of packing.
 *
 * What a member unpacks to is bounded before memory is taken: by its ratio, and all of them together by the limit of
 * documents. */
#include "data/documents/archive.h"

#include <inttypes.h>
#include <string.h>
#include <zip.h>

enum { MOST_MEMBERS = 20000, MOST_RATIO = 200, FREE_BYTES = 1 << 20 };

static bool is_like(const char *name, const char *pattern)
{
    const char  *star = strchr(pattern, '*');
    const size_t n = strlen(name), head = star ? (size_t)(star - pattern) : 0, tail = star ? strlen(star + 1) : 0;
    if (!star) return strcmp(name, pattern) == 0;
    return n >= head + tail && strncmp(name, pattern, head) == 0 && strcmp(name + n - tail, star + 1) == 0;
}

static const rg_member_kind *kind_of(const rg_member_kind *kinds, const char *name)
{
    for (; kinds->pattern; kinds++)
        if (is_like(name, kinds->pattern)) return kinds;
    return NULL;
}

static rg_status fail(const rg_document *d, zip_error_t *error, const char *what)
{
    const rg_status status =
        rg_fail(RG_EFORMAT, "%s: %s: %s", d->config.name, what, zip_error_strerror(error));
    zip_error_fini(error);
    return status;
}

static rg_status open_bytes(zip_t **out, zip_source_t **out_source, const rg_document *d, int flags)
{
    zip_error_t error;
    zip_error_init(&error);
    *out = NULL;
    *out_source = zip_source_buffer_create(d->bytes, d->count, 0, &error);
    if (*out_source) *out = zip_open_from_source(*out_source, flags, &error);
    if (*out) return RG_OK;
    zip_source_free(*out_source);
    *out_source = NULL;
    return fail(d, &error, "not a whole zip archive");
}

/* ------------------------------------------------------------------------------------------------------- reading */

static rg_status unpack(char **out, size_t *bytes, const rg_document *d, zip_t *zip, size_t i, size_t left)
{
    const zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_NAME;
    zip_stat_t         about;
    *out = NULL;
    if (zip_stat_index(zip, i, 0, &about) != 0 || (about.valid & wanted) != wanted)
        return rg_fail(RG_EFORMAT, "%s: member %zu has no size", d->config.name, i);
    if (about.size > left || (about.size > FREE_BYTES && about.size / MOST_RATIO > about.comp_size))
        return rg_fail(RG_ELIMIT, "%s: %s grows from %" PRIu64 " to %" PRIu64 " bytes; at most %d times, and %d for all",
                       d->config.name, about.name, (uint64_t)about.comp_size, (uint64_t)about.size, MOST_RATIO,
                       RG_DOCUMENT_BYTES);
    zip_file_t *file = zip_fopen_index(zip, i, 0);
    if (!file)
        return rg_fail(RG_EFORMAT, "%s: %s: %s", d->config.name, about.name, zip_strerror(zip));
    char      *text = rg_alloc((size_t)about.size + 1);
    const bool whole = text && zip_fread(file, text, about.size) == (zip_int64_t)about.size &&
                       zip_fread(file, &(char){ 0 }, 1) == 0;
    const int closed = zip_fclose(file); /* the checksum is compared at the end of the last read */
    if (!text) return RG_ENOMEM;
    text[about.size] = 0;
    if (!whole || closed != 0 || memchr(text, 0, about.size)) {
        rg_free(text);
        return rg_fail(RG_EFORMAT, "%s: %s is damaged, or no text in UTF-8", d->config.name, about.name);
    }
    *out = text;
    *bytes = (size_t)about.size;
    return RG_OK;
}

static rg_status add_member(rg_document *d, const char *name, size_t index)
{
    if (d->members == d->member_room) {
        const size_t room = d->member_room ? 2 * d->member_room : 8;
        rg_member   *member = rg_realloc(d->member, room * sizeof *member);
        if (!member) return RG_ENOMEM;
        d->member = member;
        d->member_room = room;
    }
    char *copy = rg_strdup(name);
    if (!copy) return RG_ENOMEM;
    d->member[d->members++] = (rg_member){ copy, index, d->parts, d->parts };
    return RG_OK;
}

static rg_status read_member(rg_document *d, zip_t *zip, size_t i, const rg_member_kind *kind, size_t *left)
{
    char     *text = NULL;
    size_t    bytes = 0;
    rg_status status = unpack(&text, &bytes, d, zip, i, *left);
    if (status == RG_OK) status = add_member(d, zip_get_name(zip, i, ZIP_FL_ENC_RAW), i);
    if (status == RG_OK) {
        const size_t mark = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        *left -= bytes;
        d->ungrouped = memchr(text, 1, bytes) != NULL;
        status = rg_document__keep(d, text, mark);
        if (status == RG_OK) status = kind->read(d, text + mark, bytes - mark);
        d->member[d->members - 1].end = d->parts;
    }
    rg_free(text);
    return status;
}

rg_status rg_archive__read(rg_document *d, const char *bytes, size_t count, const rg_member_kind *kinds)
{
    zip_t        *zip = NULL;
    zip_source_t *source = NULL;
    size_t        left = RG_DOCUMENT_BYTES;
    (void)bytes, (void)count;
    RG_TRY(open_bytes(&zip, &source, d, ZIP_RDONLY));
    const zip_int64_t n = zip_get_num_entries(zip, 0);
    rg_status         status = RG_OK;
    if (n < 0 || n > MOST_MEMBERS)
        status = rg_fail(RG_ELIMIT, "%s: %lld members, at most %d", d->config.name, (long long)n, MOST_MEMBERS);
    for (size_t i = 0; status == RG_OK && i < (size_t)n; i++) {
        const char           *name = zip_get_name(zip, i, ZIP_FL_ENC_RAW);
        const rg_member_kind *kind = name ? kind_of(kinds, name) : NULL;
        if (kind) status = read_member(d, zip, i, kind, &left);
    }
    zip_discard(zip);
    if (status == RG_OK && !d->members)
        status = rg_fail(RG_EFORMAT, "%s: the archive has no %s, so it is no %s", d->config.name, kinds->pattern,
                         d->config.format->name);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- writing */

static rg_status replace(zip_t *zip, const rg_document *d, const rg_member *m, const rg_text *text)
{
    zip_stat_t    about;
    zip_source_t *source = zip_source_buffer(zip, rg_text_c(text), text->length, 0);
    if (!source || zip_stat_index(zip, m->index, 0, &about) != 0) {
        zip_source_free(source);
        return rg_fail(RG_ENOMEM, "%s: %s: %s", d->config.name, m->name, zip_strerror(zip));
    }
    if (zip_file_replace(zip, m->index, source, 0) != 0) {
        zip_source_free(source);
        return rg_fail(RG_ENOMEM, "%s: %s: %s", d->config.name, m->name, zip_strerror(zip));
    }
    const int packed = about.comp_method == ZIP_CM_STORE ? ZIP_CM_STORE : ZIP_CM_DEFLATE;
    if (zip_set_file_compression(zip, m->index, packed, 0) != 0 ||
        ((about.valid & ZIP_STAT_MTIME) && zip_file_set_mtime(zip, m->index, about.mtime, 0) != 0))
        return rg_fail(RG_EFORMAT, "%s: %s: %s", d->config.name, m->name, zip_strerror(zip));
    return RG_OK;
}

static rg_status copy_out(rg_text *out, const rg_document *d, zip_source_t *source)
{
    zip_stat_t about;
    if (zip_source_stat(source, &about) != 0 || !(about.valid & ZIP_STAT_SIZE) || zip_source_open(source) != 0)
        return rg_fail(RG_EFORMAT, "%s: the archive cannot be written", d->config.name);
    char     *bytes = rg_alloc((size_t)about.size + 1);
    rg_status status = bytes ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && zip_source_read(source, bytes, about.size) != (zip_int64_t)about.size)
        status = rg_fail(RG_EFORMAT, "%s: the archive cannot be written", d->config.name);
    if (status == RG_OK) status = rg_text_add(out, bytes, (size_t)about.size);
    zip_source_close(source);
    rg_free(bytes);
    return status;
}

rg_status rg_archive__pack(rg_text *out, const rg_document *d, const rg_text *members)
{
    zip_t        *zip = NULL;
    zip_source_t *source = NULL;
    RG_TRY(open_bytes(&zip, &source, d, 0));
    zip_source_keep(source);
    rg_status status = RG_OK;
    for (size_t m = 0; status == RG_OK && m < d->members; m++) status = replace(zip, d, &d->member[m], &members[m]);
    if (status == RG_OK && zip_close(zip) != 0) {
        status = rg_fail(RG_EFORMAT, "%s: the archive cannot be written: %s", d->config.name, zip_strerror(zip));
        zip_discard(zip);
    } else if (status != RG_OK) zip_discard(zip);
    if (status == RG_OK) status = copy_out(out, d, source);
    zip_source_free(source);
    return status;
}
