/* read_zip.c - archives: members by name, read with libzip from memory, and which reader they are for.
 *
 * A member says how large it is when unpacked. Numbers hardly shrink, so more than 64 times its packed size (and
 * more than a megabyte) is refused before memory is taken. */
#include "import/arrays.h"

#include <inttypes.h>
#include <string.h>
#include <zip.h>

enum { MOST_MEMBERS = 65536, MOST_RATIO = 64, FREE_BYTES = 1 << 20 };

struct rg_members {
    rg_arrays  *arrays;
    const char *name;
    zip_t      *zip;
    size_t      count, archive;
    struct {
        unsigned char *bytes; /* NULL: not yet unpacked */
        size_t         count;
    } *unpacked;
};

size_t      rg_members_bytes(const rg_members *m) { return m->archive; }
size_t      rg_members_count(const rg_members *m) { return m->count; }
const char *rg_members_name(const rg_members *m, size_t i)
{
    const char *name = zip_get_name(m->zip, i, ZIP_FL_ENC_RAW);
    return name ? name : "";
}

static rg_status unpack(rg_members *m, size_t i)
{
    zip_stat_t about;
    const zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    if (zip_stat_index(m->zip, i, 0, &about) != 0 || (about.valid & wanted) != wanted)
        return rg_fail(RG_EFORMAT, "%s: member %zu has no size", m->name, i);
    if (about.size > FREE_BYTES && about.size / MOST_RATIO > about.comp_size)
        return rg_fail(RG_ELIMIT, "%s: %s grows from %" PRIu64 " to %" PRIu64 " bytes, more than %d times", m->name,
                       rg_members_name(m, i), (uint64_t)about.comp_size, (uint64_t)about.size, MOST_RATIO);
    zip_file_t *file = zip_fopen_index(m->zip, i, 0);
    if (!file) return rg_fail(RG_EFORMAT, "%s: %s: %s", m->name, rg_members_name(m, i), zip_strerror(m->zip));
    unsigned char *bytes = rg_arrays_block(m->arrays, (size_t)about.size);
    const bool     whole =
        bytes && zip_fread(file, bytes, about.size) == (zip_int64_t)about.size && zip_fread(file, &(char){ 0 }, 1) == 0;
    const int      closed = zip_fclose(file); /* the checksum is compared at the end of the last read */
    if (!bytes) return RG_ENOMEM;
    if (!whole || closed != 0) return rg_fail(RG_EFORMAT, "%s: %s is damaged", m->name, rg_members_name(m, i));
    m->unpacked[i].bytes = bytes;
    m->unpacked[i].count = (size_t)about.size;
    return RG_OK;
}

static bool named(const char *member, const char *wanted)
{
    const size_t n = strlen(member), k = strlen(wanted + 1);
    return wanted[0] == '*' ? n >= k && strcmp(member + n - k, wanted + 1) == 0 : strcmp(member, wanted) == 0;
}

const unsigned char *rg_members_find(rg_status *status, size_t *out_bytes, rg_members *m, const char *name)
{
    size_t i = 0;
    *status = RG_OK;
    *out_bytes = 0;
    while (i < m->count && !named(rg_members_name(m, i), name)) i++;
    if (i == m->count) return NULL;
    if (!m->unpacked[i].bytes) *status = unpack(m, i);
    *out_bytes = m->unpacked[i].count;
    return m->unpacked[i].bytes;
}

static bool has(const rg_members *m, const char *name)
{
    for (size_t i = 0; i < m->count; i++)
        if (named(rg_members_name(m, i), name)) return true;
    return false;
}

static rg_status read_members(rg_arrays *out, const char *name, rg_members *m)
{
    if (has(m, "*.npy")) return rg_read_npz(out, name, m);
    if (has(m, "*data.pkl")) return rg_read_torch(out, name, m);
    return rg_fail(RG_EFORMAT, "%s: an archive with neither data.pkl (PyTorch) nor .npy arrays (NumPy, Marian)", name);
}

rg_status rg_read_zip(rg_arrays *out, const char *name, const unsigned char *bytes, size_t count)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(bytes, count, 0, &error);
    zip_t        *zip = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    if (!zip) {
        rg_fail(RG_EFORMAT, "%s: not a whole zip archive: %s", name, zip_error_strerror(&error));
        zip_source_free(source);
        zip_error_fini(&error);
        return RG_EFORMAT;
    }
    const zip_int64_t n = zip_get_num_entries(zip, 0);
    rg_members        m = { out, name, zip, n > 0 ? (size_t)n : 0, count, NULL };
    rg_status         status = RG_OK;
    if (n < 0 || n > MOST_MEMBERS)
        status = rg_fail(RG_ELIMIT, "%s: %lld members, at most %d", name, (long long)n, MOST_MEMBERS);
    if (status == RG_OK && !(m.unpacked = rg_alloc_zero((m.count + 1) * sizeof *m.unpacked))) status = RG_ENOMEM;
    if (status == RG_OK) status = read_members(out, name, &m);
    rg_free(m.unpacked);
    zip_discard(zip);
    return status;
}
