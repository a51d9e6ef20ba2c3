/* fuzz_shard_cache.c - any bytes as a file of encoded shards: read, or refused and made anew; records that are taken have ids
 * of the vocabulary (P1, P6).
 *
 * The first byte says what is put right, so that mutations come further: bit 0 the checksums of shards, bit 1 that of the
 * table, bit 2 magic, key, number of shards and place of the table. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/seams.h"
#include "data/examples.h"
#include "data/text/shard_cache.h"

int    LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index);

enum { SHARDS = 3, NOTE = 8, ENTRY = 32, TRAILER = 48, TABLE = SHARDS * ENTRY + NOTE, KEY = 77 };
static const char path[] = "fuzz-shards.encoded";

static void must(bool condition)
{
    if (!condition) abort();
}

static uint64_t get(const uint8_t *at)
{
    uint64_t x;
    memcpy(&x, at, sizeof x);
    return x;
}

static void put(uint8_t *at, uint64_t x)
{
    memcpy(at, &x, sizeof x);
}

/* Sums that fit the bytes. */
static void put_right(uint8_t *bytes, size_t count, uint8_t what)
{
    if (count < TABLE + TRAILER) return;
    const size_t end = count - TRAILER - TABLE;
    uint8_t     *table = bytes + end, *trailer = bytes + count - TRAILER;
    for (size_t i = 0; what & 1 && i < SHARDS; i++) {
        uint8_t       *entry = table + i * ENTRY;
        const uint64_t at = get(entry), length = get(entry + 8);
        if (at <= end && length <= end - at) put(entry + 16, rg_hash64_of(bytes + at, (size_t)length));
    }
    if (what & 4) {
        memcpy(trailer, "RGSHARD1", 8);
        put(trailer + 8, KEY);
        put(trailer + 16, SHARDS);
        put(trailer + 24, end);
        put(trailer + 32, TABLE);
    }
    if (what & 2) put(trailer + 40, rg_hash64_of(table, TABLE));
}

static rg_examples *open_store(const rg_vocab *vocab)
{
    const rg_field_spec specs[] = { { .name = "source", .kind = RG_FIELD_IDS, .vocab = vocab, .max_rows = 9 },
                                    { .name = "target", .kind = RG_FIELD_IDS, .vocab = vocab, .max_rows = 9 } };
    rg_examples_config  config = RG_EXAMPLES_CONFIG_DEFAULT;
    rg_examples        *store = NULL;
    must(rg_examples_new(&store, &config, specs, 2) == RG_OK);
    return store;
}

/* Every id of every example is one of the vocabulary. */
static void check(rg_examples *store, const rg_vocab *vocab)
{
    if (!rg_examples_count(store)) return;
    must(rg_examples_seal(store) == RG_OK);
    for (uint64_t i = 0; i < rg_examples_count(store); i++) {
        rg_batch b;
        must(rg_examples_one(&b, store, i) == RG_OK);
        for (size_t f = 0; f < 2; f++)
            for (int32_t k = 0; k < b.field[f].layout.start[1]; k++)
                must(b.field[f].ids[k] >= 0 && (size_t)b.field[f].ids[k] < rg_vocab_size(vocab));
    }
}

static void read_all(const rg_vocab *vocab)
{
    char            note[NOTE];
    rg_shard_cache *cache = NULL;
    rg_examples    *store = open_store(vocab);
    rg_text         records = { 0 };
    must(rg_shard_cache_open(&cache, path, KEY, SHARDS, note, NOTE) == RG_OK);
    for (size_t i = 0; i < SHARDS && rg_shard_cache_whole(cache); i++)
        if (rg_shard_cache_read(&records, cache, i))
            (void)rg_examples__append(store, rg_text_c(&records), records.length);
    for (size_t i = 0; i < SHARDS && !rg_shard_cache_whole(cache); i++) rg_shard_cache_put(cache, i, "", 0, note);
    must(rg_shard_cache_whole(cache)); /* it was, or it has been made anew */
    check(store, vocab);
    rg_examples_free(store);
    rg_text_free(&records);
    rg_shard_cache_close(cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const pieces[] = { "a", "b", "c" };
    const size_t             blocks = rg_base__live_blocks();
    rg_vocab                *vocab = NULL;
    if (!count) return 0;
    uint8_t *copy = malloc(count);
    must(copy != NULL);
    memcpy(copy, bytes + 1, count - 1);
    put_right(copy, count - 1, bytes[0]);
    FILE *f = fopen(path, "wb");
    must(f && fwrite(copy, 1, count - 1, f) == count - 1 && fclose(f) == 0);
    free(copy);
    must(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, 3) == RG_OK);
    read_all(vocab);
    rg_vocab_free(vocab);
    must(unlink(path) == 0);
    must(rg_base__live_blocks() == blocks);
    return 0;
}

/* A whole file of three shards with 0, 1 and 2 records of one and two ids. */
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    enum { RECORD = 16 + 4 * 3 };
    const size_t end = 3 * RECORD, count = end + TABLE + TRAILER;
    if (index > 7 || room < count + 1) return 0;
    memset(bytes, 0, count + 1);
    bytes[0] = (uint8_t)index;
    for (unsigned r = 0; r < 3; r++) {
        uint32_t head[7] = { r + 1, 0, 1, 2, 3, 4, 5 };
        memcpy(bytes + 1 + r * RECORD, head, sizeof head);
    }
    for (unsigned i = 0; i < SHARDS; i++) {
        uint8_t *entry = bytes + 1 + end + i * ENTRY;
        put(entry, i < 2 ? 0 : RECORD);
        put(entry + 8, i * RECORD);
        put(entry + 24, 1);
    }
    put_right(bytes + 1, count, 7);
    return count + 1;
}
