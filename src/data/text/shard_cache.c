/* shard_cache.c - see shard_cache.h. */
#include "data/text/shard_cache.h"

#include <string.h>

#include "base/hash.h"
#include "data/read_at.h"

static const char magic[8] = "RGSHARD1";

typedef struct {
    uint64_t at, bytes, sum;
    uint64_t there; /* 1: it was put */
} entry;

typedef struct {
    char     magic[8];
    uint64_t key, shards, table_at, bytes, sum; /* bytes and sum of table and note */
} trailer;

struct rg_shard_cache {
    char    *path;
    uint64_t key;
    size_t   shards, put, note_bytes;
    entry   *table; /* the note stands behind it */
    rg_file *file;  /* whole: to be read; otherwise the one in the making, NULL: it cannot be written */
    bool     whole;
    uint64_t end; /* of the records so far */
};

static size_t table_bytes(const rg_shard_cache *c)
{
    return c->shards * sizeof *c->table + c->note_bytes;
}

static char *note_of(const rg_shard_cache *c)
{
    return (char *)(c->table + c->shards);
}

/* ------------------------------------------------------------------------------------------------------- opening */

static rg_status check_table(const rg_shard_cache *c, uint64_t end)
{
    for (size_t i = 0; i < c->shards; i++) {
        const entry *e = &c->table[i];
        if (e->there != 1 || e->at > end || e->bytes > end - e->at)
            return rg_fail(RG_EFORMAT, "%s: shard %zu of %zu is outside the file", c->path, i, c->shards);
    }
    return RG_OK;
}

static rg_status read_whole(rg_shard_cache *c, rg_file *file)
{
    trailer  t;
    uint64_t size;
    RG_TRY(rg_file_size(&size, file));
    if (size < sizeof t + table_bytes(c))
        return rg_fail(RG_EFORMAT, "%s: cut short at %llu bytes", c->path, (unsigned long long)size);
    RG_TRY(rg_file_seek(file, size - sizeof t));
    RG_TRY(rg_file_read(file, &t, sizeof t));
    if (memcmp(t.magic, magic, sizeof magic) != 0)
        return rg_fail(RG_EFORMAT, "%s: does not end as a file of encoded text does", c->path);
    if (t.key != c->key || t.shards != c->shards)
        return rg_fail(RG_EMATCH, "%s: of another text, vocabulary or length of sentences", c->path);
    if (t.bytes != table_bytes(c) || t.table_at != size - sizeof t - t.bytes)
        return rg_fail(RG_EFORMAT, "%s: its table of %llu bytes at %llu does not end where it should", c->path,
                       (unsigned long long)t.bytes, (unsigned long long)t.table_at);
    RG_TRY(rg_file_seek(file, t.table_at));
    RG_TRY(rg_file_read(file, c->table, table_bytes(c)));
    if (rg_hash64_of(c->table, table_bytes(c)) != t.sum)
        return rg_fail(RG_EFORMAT, "%s: its table is damaged", c->path);
    return check_table(c, t.table_at);
}

/* A new file under another name; NULL in c->file when there can be none. */
static void begin(rg_shard_cache *c)
{
    memset(c->table, 0, table_bytes(c));
    c->whole = false;
    c->put = 0;
    c->end = 0;
    if (rg_file_replace_begin(&c->file, c->path) == RG_OK) return;
    c->file = NULL;
    rg_log(RG_LOG_WARN, "encoded text is not kept for the next run: %s", rg_message());
}

static void open_file(rg_shard_cache *c)
{
    bool there = false;
    if (rg_file_exists(&there, c->path) == RG_OK && there) {
        rg_status status = rg_file_open(&c->file, c->path, "rr");
        if (status == RG_OK) status = read_whole(c, c->file);
        if ((c->whole = status == RG_OK)) return;
        rg_log(RG_LOG_WARN, "text is encoded anew: %s", rg_message());
        (void)rg_file_close(c->file);
        c->file = NULL;
    }
    begin(c);
}

rg_status rg_shard_cache_open(rg_shard_cache **out, const char *path, uint64_t key, size_t shards, void *note,
                              size_t note_bytes)
{
    rg_shard_cache *c = rg_alloc_zero(sizeof *c);
    size_t          bytes;
    *out = NULL;
    if (!c) return RG_ENOMEM;
    *c = (rg_shard_cache){ .path = rg_strdup(path), .key = key, .shards = shards, .note_bytes = note_bytes };
    if (rg_size_mul(&bytes, shards, sizeof *c->table) && rg_size_add(&bytes, bytes, note_bytes))
        c->table = rg_alloc(bytes);
    if (!c->path || !c->table) {
        rg_shard_cache_close(c);
        return RG_ENOMEM;
    }
    open_file(c);
    if (c->whole) memcpy(note, note_of(c), note_bytes);
    *out = c;
    return RG_OK;
}

void rg_shard_cache_close(rg_shard_cache *c)
{
    if (!c) return;
    if (c->whole) (void)rg_file_close(c->file);
    else if (c->file) rg_file_replace_abandon(c->file);
    rg_free(c->path);
    rg_free(c->table);
    rg_free(c);
}

bool rg_shard_cache_whole(const rg_shard_cache *c)
{
    return c && c->whole;
}

/* ------------------------------------------------------------------------------------------------------- reading */

static rg_status read_records(rg_text *out, const rg_shard_cache *c, const entry *e)
{
    RG_TRY(rg_read_at(out, c->file, e->at, (size_t)e->bytes));
    if (rg_hash64_of(out->data, out->length) != e->sum)
        return rg_fail(RG_EFORMAT, "%s: the records at byte %llu are damaged", c->path, (unsigned long long)e->at);
    return RG_OK;
}

bool rg_shard_cache_read(rg_text *out, rg_shard_cache *c, size_t shard)
{
    const rg_status status = read_records(out, c, &c->table[shard]);
    if (status == RG_OK) return true;
    rg_log(RG_LOG_WARN, "text is encoded anew: %s", rg_message());
    (void)rg_file_close(c->file);
    c->file = NULL;
    c->whole = false;
    if (status != RG_EFORMAT) return false; /* it may be good: neither read nor written any more */
    (void)rg_file_remove(c->path);
    begin(c);
    return false;
}

/* ------------------------------------------------------------------------------------------------------- writing */

static rg_status finish(rg_shard_cache *c, const void *note)
{
    memcpy(note_of(c), note, c->note_bytes);
    trailer t = { .key = c->key, .shards = c->shards, .table_at = c->end, .bytes = table_bytes(c) };
    memcpy(t.magic, magic, sizeof magic);
    t.sum = rg_hash64_of(c->table, table_bytes(c));
    RG_TRY(rg_file_write(c->file, c->table, table_bytes(c)));
    RG_TRY(rg_file_write(c->file, &t, sizeof t));
    rg_file *file = c->file;
    c->file = NULL; /* a commit closes it in every case */
    RG_TRY(rg_file_replace_commit(file));
    RG_TRY(rg_file_open(&c->file, c->path, "rr"));
    c->whole = true;
    return RG_OK;
}

static rg_status add(rg_shard_cache *c, size_t shard, const void *records, size_t bytes)
{
    RG_TRY(rg_file_write(c->file, records, bytes));
    c->table[shard] = (entry){ .at = c->end, .bytes = bytes, .sum = rg_hash64_of(records, bytes), .there = 1 };
    c->end += bytes;
    c->put++;
    return RG_OK;
}

void rg_shard_cache_put(rg_shard_cache *c, size_t shard, const void *records, size_t bytes, const void *note)
{
    if (!c || c->whole || !c->file || c->table[shard].there) return;
    rg_status status = add(c, shard, records, bytes);
    if (status == RG_OK && c->put == c->shards) status = finish(c, note);
    if (status == RG_OK) return;
    rg_log(RG_LOG_WARN, "encoded text is not kept for the next run: %s", rg_message());
    if (c->file) rg_file_replace_abandon(c->file);
    c->file = NULL;
}
