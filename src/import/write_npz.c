/* write_npz.c - Marian's .npz: a zip archive, not compressed, with a member NAME.npy per array (read_npz.c). The same
 * model gives the same bytes. */
#include "import/export.h"
#include "import/marian.h"

#include <string.h>
#include <zip.h>

static const unsigned char magic[8] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0 };

/* Header and data of one member. */
static unsigned char *member(size_t *out_count, rg_arena *arena, const char *type, const size_t *dims, size_t ndim,
                             const void *data, size_t bytes)
{
    char shape[80], header[256];
    if (ndim == 1) snprintf(shape, sizeof shape, "(%zu,)", dims[0]);
    else snprintf(shape, sizeof shape, "(%zu, %zu)", dims[0], dims[1]);
    int n = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    while ((n + 11) % 64) header[n++] = ' '; /* NumPy's own alignment; the longest header has 143 characters */
    header[n++] = '\n';
    *out_count = 10 + (size_t)n + bytes;
    unsigned char *all = rg_arena_get(arena, *out_count);
    if (!all) return NULL;
    memcpy(all, magic, sizeof magic);
    all[8] = (unsigned char)(n & 255);
    all[9] = (unsigned char)(n >> 8);
    memcpy(all + 10, header, (size_t)n);
    memcpy(all + 10 + n, data, bytes);
    return all;
}

/* The arena stays until the archive is closed. */
static rg_status add(zip_t *zip, rg_arena *arena, const char *name, const char *type, const size_t *dims, size_t ndim,
                     const void *data, size_t bytes)
{
    size_t            count;
    unsigned char    *all = member(&count, arena, type, dims, ndim, data, bytes);
    zip_source_t     *source = all ? zip_source_buffer(zip, all, count, 0) : NULL;
    char             *file = rg_format("%s.npy", name);
    const zip_int64_t at = source && file ? zip_file_add(zip, file, source, ZIP_FL_ENC_UTF_8) : -1;
    if (at < 0) zip_source_free(source);
    rg_free(file);
    if (at < 0 || zip_set_file_compression(zip, (zip_uint64_t)at, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(zip, (zip_uint64_t)at, 0, 0x21, 0) != 0)
        return rg_fail(RG_ENOMEM, "no memory for the array \"%s\" of an archive", name);
    return RG_OK;
}

static rg_status read_back(rg_text *out, zip_source_t *archive)
{
    char        chunk[1 << 14];
    zip_int64_t got = 0;
    rg_status   status = zip_source_open(archive) == 0 ? RG_OK : RG_EIO;
    while (status == RG_OK && (got = zip_source_read(archive, chunk, sizeof chunk)) > 0)
        status = rg_text_add(out, chunk, (size_t)got);
    zip_source_close(archive);
    return got < 0 || status == RG_EIO ? rg_fail(RG_EIO, "the archive cannot be read back") : status;
}

rg_status rg_write_npz(rg_text *out, const rg_export_arrays *arrays, const char *settings)
{
    zip_error_t  error;
    const size_t length = strlen(settings) + 1;
    rg_arena    *arena;
    RG_TRY(rg_arena_new(&arena, 1 << 16));
    zip_source_t *archive = zip_source_buffer_create(NULL, 0, 0, &error);
    zip_t        *zip = archive ? zip_open_from_source(archive, ZIP_TRUNCATE, &error) : NULL;
    rg_status     status = zip ? RG_OK : RG_ENOMEM;
    if (zip) zip_source_keep(archive); /* it is read when the archive was closed */
    for (size_t i = 0; status == RG_OK && i < arrays->count; i++) {
        const rg_export_array *a = &arrays->list[i];
        const size_t           n = a->dims[0] * (a->ndim == 2 ? a->dims[1] : 1);
        status = add(zip, arena, a->name, "<f4", a->dims, a->ndim, a->data, n * sizeof *a->data);
    }
    if (status == RG_OK) status = add(zip, arena, RG_MARIAN_SETTINGS, "|i1", &length, 1, settings, length);
    if (status == RG_OK && zip_close(zip) != 0) status = rg_fail(RG_EIO, "the archive: %s", zip_strerror(zip));
    else if (status == RG_OK) zip = NULL;
    if (zip) zip_discard(zip);
    if (status == RG_OK) status = read_back(out, archive);
    if (archive) zip_source_free(archive);
    rg_arena_free(arena);
    return status;
}
