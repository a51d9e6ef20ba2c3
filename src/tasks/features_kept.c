/* features_kept.c - what a frozen network computed: entries in memory by the checksum of the picture file, and a file
 * of them.
 *
 *   file   "regard features kept 1\n", u64 sum of the network, u64 numbers per entry, u64 entries;
 *          each entry: u64 key, u64 checksum of its numbers, floats */
#include "tasks/features.h"

#include <string.h>

#include "base/hash.h"

static const char magic[] = "regard features kept 1\n";
enum { MAGIC = sizeof magic - 1, SAVE_EVERY = 1000, MOST_ENTRIES = 1 << 30 };

static size_t numbers_of(const rg_features *f)
{
    return rg_features_down(f) * rg_features_across(f) * rg_features_width(f);
}

/* ---------------------------------------------------------------------------------------------------------- finding */

static size_t place_of(const rg_features *f, uint64_t key)
{
    size_t at = (size_t)key & (f->slots - 1);
    while (f->slot[at] && f->entry[f->slot[at] - 1].key != key) at = (at + 1) & (f->slots - 1);
    return at;
}

static rg_status grow_slots(rg_features *f)
{
    if (2 * (f->entries + 1) <= f->slots) return RG_OK;
    const size_t slots = f->slots ? 2 * f->slots : 256;
    uint32_t    *slot = rg_alloc_zero(slots * sizeof *slot);
    if (!slot) return RG_ENOMEM;
    rg_free(f->slot);
    f->slot = slot;
    f->slots = slots;
    for (size_t i = 0; i < f->entries; i++) f->slot[place_of(f, f->entry[i].key)] = (uint32_t)i + 1;
    return RG_OK;
}

/* Takes `rows` over, also on failure. */
static rg_status add(rg_features *f, uint64_t key, float *rows)
{
    rg_status status =
        f->entries < MOST_ENTRIES ? grow_slots(f) : rg_fail(RG_ELIMIT, "more than %d pictures", MOST_ENTRIES);
    if (status == RG_OK && f->entries == f->room) {
        const size_t       room = f->room ? 2 * f->room : 64;
        rg_features_entry *entry = rg_realloc(f->entry, room * sizeof *entry);
        if (entry) f->entry = entry, f->room = room;
        else status = RG_ENOMEM;
    }
    if (status != RG_OK) {
        rg_free(rows);
        return status;
    }
    f->slot[place_of(f, key)] = (uint32_t)f->entries + 1;
    f->entry[f->entries++] = (rg_features_entry){ key, rows };
    return RG_OK;
}

static uint64_t key_of(const rg_cell *cell)
{
    const uint64_t shape[3] = { cell->height, cell->width, cell->channels };
    rg_hash64      h;
    rg_hash64_begin(&h);
    rg_hash64_add(&h, shape, sizeof shape);
    rg_hash64_add(&h, cell->bytes, cell->count);
    return rg_hash64_end(&h);
}

static rg_status compute(rg_features *f, uint64_t key, const rg_cell *cell)
{
    rg_text    pixels = { 0 };
    rg_picture p = { .channels = 3 };
    rg_status  status = rg_pixels_decode(&pixels, &p.height, &p.width, 3, cell, NULL);
    p.pixels = (unsigned char *)pixels.data;
    const float *rows = status == RG_OK ? rg_features_of(&status, f, &p) : NULL;
    float       *own = rows ? rg_alloc_array(numbers_of(f), sizeof *own) : NULL;
    rg_text_free(&pixels);
    if (!own) return status == RG_OK ? RG_ENOMEM : status;
    memcpy(own, rows, numbers_of(f) * sizeof *own);
    return add(f, key, own);
}

static rg_status keep(uint32_t *out_entry, size_t *out_height, size_t *out_width, uint64_t *out_key,
                      const rg_cell *cell, void *context)
{
    rg_features   *f = context;
    const uint64_t key = key_of(cell);
    *out_height = rg_features_down(f), *out_width = rg_features_across(f), *out_key = key ^ f->sum;
    if (!f->slots || !f->slot[place_of(f, key)]) {
        RG_TRY(compute(f, key, cell));
        if (f->entries - f->saved >= SAVE_EVERY) RG_TRY(rg_features_save(f));
    }
    *out_entry = f->slot[place_of(f, key)] - 1;
    return RG_OK;
}

static const float *rows_of(void *context, uint32_t entry) { return ((const rg_features *)context)->entry[entry].rows; }

const rg_kept_rows rg_features__kept = { keep, rows_of };

/* ------------------------------------------------------------------------------------------------------------- file */

static rg_status write_entries(rg_file *file, const rg_features *f)
{
    const uint64_t head[3] = { f->sum, numbers_of(f), f->entries };
    RG_TRY(rg_file_write(file, magic, MAGIC));
    RG_TRY(rg_file_write(file, head, sizeof head));
    for (size_t i = 0; i < f->entries; i++) {
        const size_t   bytes = numbers_of(f) * sizeof(float);
        const uint64_t each[2] = { f->entry[i].key, rg_hash64_of(f->entry[i].rows, bytes) };
        RG_TRY(rg_file_write(file, each, sizeof each));
        RG_TRY(rg_file_write(file, f->entry[i].rows, bytes));
    }
    return RG_OK;
}

rg_status rg_features_save(rg_features *f)
{
    rg_file *file = NULL;
    if (!f || !f->cache || f->entries == f->saved) return RG_OK;
    RG_TRY(rg_file_replace_begin(&file, f->cache));
    const rg_status status = write_entries(file, f);
    if (status != RG_OK) {
        rg_file_replace_abandon(file);
        return rg_fail_in(status, "%s: ", f->cache);
    }
    RG_TRY(rg_file_replace_commit(file));
    f->saved = f->entries;
    return RG_OK;
}

static rg_status read_entries(rg_features *f, rg_file *file, uint64_t count)
{
    const size_t numbers = numbers_of(f);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t each[2];
        RG_TRY(rg_file_read(file, each, sizeof each));
        float *rows = rg_alloc_array(numbers, sizeof *rows);
        if (!rows) return RG_ENOMEM;
        rg_status status = rg_file_read(file, rows, numbers * sizeof *rows);
        if (status == RG_OK && rg_hash64_of(rows, numbers * sizeof *rows) != each[1])
            status = rg_fail(RG_EFORMAT, "entry %llu is damaged", (unsigned long long)i + 1);
        if (status != RG_OK) {
            rg_free(rows);
            return status;
        }
        RG_TRY(add(f, each[0], rows));
    }
    return RG_OK;
}

static rg_status read_file(rg_features *f, rg_file *file)
{
    char     begin[MAGIC];
    uint64_t head[3], size, bytes;
    RG_TRY(rg_file_size(&size, file));
    if (size < MAGIC + sizeof head)
        return rg_fail(RG_EFORMAT, "%llu bytes are no file of features", (unsigned long long)size);
    RG_TRY(rg_file_read(file, begin, MAGIC));
    RG_TRY(rg_file_read(file, head, sizeof head));
    if (memcmp(begin, magic, MAGIC) != 0)
        return rg_fail(RG_EFORMAT, "not a file of features: name another one, or remove it");
    if (head[0] != f->sum || head[1] != numbers_of(f)) return RG_OK; /* of another network or size: begun anew */
    bytes = size - MAGIC - sizeof head;
    if (bytes / (16 + head[1] * sizeof(float)) != head[2] || bytes % (16 + head[1] * sizeof(float)))
        return rg_fail(RG_EFORMAT, "%llu bytes for %llu entries: damaged, remove it", (unsigned long long)bytes,
                       (unsigned long long)head[2]);
    return read_entries(f, file, head[2]);
}

rg_status rg_features__load(rg_features *f, const char *path)
{
    rg_file *file = NULL;
    bool     there;
    if (!(f->cache = rg_strdup(path))) return RG_ENOMEM;
    RG_TRY(rg_file_exists(&there, path));
    if (!there) return RG_OK;
    RG_TRY(rg_file_open(&file, path, "rr"));
    rg_status status = read_file(f, file);
    (void)rg_file_close(file); /* only read */
    f->saved = f->entries;
    return status == RG_OK ? RG_OK : rg_fail_in(status, "%s: ", path);
}
