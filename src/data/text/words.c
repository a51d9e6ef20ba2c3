/* words.c - distinct strings by open addressing; the strings themselves stand one after another in a pool. */
#include "data/text/words.h"

#include <string.h>

uint64_t rg_hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ b[i]) * 0x100000001B3u;
    return hash;
}

void rg_words_fini(rg_words *w)
{
    rg_text_free(&w->pool);
    rg_free(w->words);
    rg_free(w->slots);
    *w = (rg_words){ 0 };
}

const char *rg_words_get(const rg_words *w, size_t i)
{
    return w->pool.data + w->words[i].at;
}

/* The slot where the string is, or would be. FNV's low bits are weak: fold the high half in. */
static size_t slot_of(const rg_words *w, uint64_t hash, const char *text, size_t bytes)
{
    size_t mask = w->slot_count - 1, s = (size_t)(hash ^ (hash >> 32)) & mask;
    for (; w->slots[s]; s = (s + 1) & mask) {
        const rg_word *word = &w->words[w->slots[s] - 1];
        if (word->hash == hash && word->bytes == bytes && memcmp(w->pool.data + word->at, text, bytes) == 0) break;
    }
    return s;
}

int64_t rg_words_find(const rg_words *w, const char *text, size_t bytes)
{
    if (!w->slot_count) return -1;
    uint32_t number = w->slots[slot_of(w, rg_hash_bytes(RG_HASH_START, text, bytes), text, bytes)];
    return (int64_t)number - 1;
}

static rg_status make_room(rg_words *w)
{
    if (w->count == w->room) {
        size_t   room = w->room ? 2 * w->room : 64;
        rg_word *words = room <= SIZE_MAX / sizeof *words ? rg_realloc(w->words, room * sizeof *words) : NULL;
        if (!words) return RG_ENOMEM;
        w->words = words;
        w->room = room;
    }
    if (2 * (w->count + 1) <= w->slot_count) return RG_OK;
    if (w->count >= UINT32_MAX / 4) return rg_fail(RG_ELIMIT, "more than %u distinct words", UINT32_MAX / 4);
    size_t    count = w->slot_count ? 2 * w->slot_count : 128;
    uint32_t *slots = rg_alloc_zero(count * sizeof *slots);
    if (!slots) return RG_ENOMEM;
    rg_free(w->slots);
    w->slots = slots;
    w->slot_count = count;
    for (size_t i = 0; i < w->count; i++)
        slots[slot_of(w, w->words[i].hash, rg_words_get(w, i), w->words[i].bytes)] = (uint32_t)i + 1;
    return RG_OK;
}

rg_status rg_words_add(uint32_t *out, rg_words *w, const char *text, size_t bytes)
{
    RG_TRY(make_room(w));
    uint64_t hash = rg_hash_bytes(RG_HASH_START, text, bytes);
    size_t   slot = slot_of(w, hash, text, bytes);
    if (!w->slots[slot]) {
        size_t at = w->pool.length;
        RG_TRY(rg_text_add(&w->pool, text, bytes));
        rg_status status = rg_text_add(&w->pool, "", 1);
        if (status != RG_OK) {
            w->pool.length = at;
            return status;
        }
        w->words[w->count++] = (rg_word){ at, bytes, hash, 0 };
        w->slots[slot] = (uint32_t)w->count;
    }
    *out = w->slots[slot] - 1;
    return RG_OK;
}
