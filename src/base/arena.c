/* arena.c - memory that is dropped together.
 *
 *     chunk 0 [#########################|..]     pieces never cross chunks; `current` is the one being filled,
 *     chunk 1 [################|...........]  <- current
 *     chunk 2 [............................]     chunks after it are empty, left by a rewind
 *
 * A reset that finds more than one chunk replaces them by one that would have held the round's peak with an eighth to
 * spare, so a loop that repeats itself allocates nothing from its second round on. Debug builds fill what is dropped
 * with 0xFF, which reads as NaN or -1, and tell the address sanitizer that it is gone. */
#include "regard/base.h"

#include <string.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define HIDE(bytes, count) __asan_poison_memory_region(bytes, count)
#define SHOW(bytes, count) __asan_unpoison_memory_region(bytes, count)
#else
#define HIDE(bytes, count) ((void)(bytes), (void)(count))
#define SHOW(bytes, count) ((void)(bytes), (void)(count))
#endif

#define PIECE_ALIGN ((size_t)64)
#define HUGE_BYTES  ((size_t)2 << 20)
#define GROW_LIMIT  ((size_t)256 << 20) /* a chunk added on the way is at most this, or the piece it must hold */

typedef struct chunk {
    unsigned char *bytes;
    size_t size, used;
} chunk;

struct rg_arena {
    chunk *chunks;
    size_t count, capacity, current;
    size_t used, peak;  /* over all chunks; since rg_arena_new */
    size_t round_peak;  /* since the last reset */
    size_t first_bytes; /* a reset never goes below this */
};

static void poison(unsigned char *bytes, size_t count)
{
#ifndef NDEBUG
    memset(bytes, 0xFF, count);
#endif
    HIDE(bytes, count);
}

static void free_chunks(rg_arena *arena)
{
    for (size_t i = 0; i < arena->count; i++) {
        SHOW(arena->chunks[i].bytes, arena->chunks[i].size);
        rg_free(arena->chunks[i].bytes);
    }
    arena->count = arena->current = arena->used = 0;
}

/* A new empty chunk at the end of the list. */
static bool add_chunk(rg_arena *arena, size_t bytes)
{
    if (arena->count == arena->capacity) {
        size_t capacity = arena->capacity == 0 ? 8 : 2 * arena->capacity;
        chunk *chunks = rg_alloc_array(capacity, sizeof *chunks);
        if (chunks == NULL) return false;
        if (arena->count > 0) memcpy(chunks, arena->chunks, arena->count * sizeof *chunks);
        rg_free(arena->chunks);
        arena->chunks = chunks;
        arena->capacity = capacity;
    }
    unsigned char *block = rg_alloc(bytes);
    if (block == NULL) return false;
    HIDE(block, bytes);
    arena->chunks[arena->count++] = (chunk){ .bytes = block, .size = bytes };
    return true;
}

rg_status rg_arena_new(rg_arena **out, size_t first_chunk_bytes)
{
    *out = NULL;
    size_t bytes;
    if (!rg_size_align(&bytes, first_chunk_bytes == 0 ? 1 : first_chunk_bytes, PIECE_ALIGN))
        return rg_fail(RG_ENOMEM, "no memory for an arena of %zu bytes", first_chunk_bytes);
    rg_arena *arena = rg_alloc_zero(sizeof *arena);
    if (arena == NULL) return RG_ENOMEM;
    arena->first_bytes = bytes;
    if (!add_chunk(arena, bytes)) {
        rg_arena_free(arena);
        return RG_ENOMEM;
    }
    *out = arena;
    return RG_OK;
}

void rg_arena_free(rg_arena *arena)
{
    if (arena == NULL) return;
    free_chunks(arena);
    rg_free(arena->chunks);
    rg_free(arena);
}

/* Make `current` a chunk with `bytes` free: the current one, an empty one after it, or a new one. */
static bool make_room(rg_arena *arena, size_t bytes)
{
    for (size_t i = arena->current; i < arena->count; i++) {
        if (bytes <= arena->chunks[i].size - arena->chunks[i].used) {
            arena->current = i;
            return true;
        }
    }
    size_t grown = arena->used < arena->first_bytes ? arena->first_bytes : arena->used;
    if (grown > GROW_LIMIT) grown = GROW_LIMIT;
    if (!add_chunk(arena, grown > bytes ? grown : bytes)) return false;
    arena->current = arena->count - 1;
    return true;
}

void *rg_arena_get(rg_arena *arena, size_t bytes)
{
    size_t padded;
    if (!rg_size_align(&padded, bytes == 0 ? 1 : bytes, PIECE_ALIGN)) {
        rg_fail(RG_ENOMEM, "no memory for %zu bytes of an arena", bytes);
        return NULL;
    }
    if (!make_room(arena, padded)) return NULL;
    chunk *c = &arena->chunks[arena->current];
    unsigned char *piece = c->bytes + c->used;
    c->used += padded;
    arena->used += padded;
    if (arena->used > arena->round_peak) arena->round_peak = arena->used;
    if (arena->used > arena->peak) arena->peak = arena->used;
    SHOW(piece, bytes);
#ifndef NDEBUG
    memset(piece, 0xFF, bytes); /* nobody may count on what was there */
#endif
    return piece;
}

void *rg_arena_get_zero(rg_arena *arena, size_t bytes)
{
    void *piece = rg_arena_get(arena, bytes);
    if (piece != NULL) memset(piece, 0, bytes);
    return piece;
}

rg_arena_point rg_arena_mark(const rg_arena *arena)
{
    size_t used = arena->count == 0 ? 0 : arena->chunks[arena->current].used;
    return (rg_arena_point){ .chunk = arena->current, .used = used };
}

void rg_arena_rewind(rg_arena *arena, rg_arena_point point)
{
    for (size_t i = point.chunk; i < arena->count && i <= arena->current; i++) {
        chunk *c = &arena->chunks[i];
        size_t keep = i == point.chunk ? point.used : 0;
        if (c->used <= keep) continue;
        SHOW(c->bytes + keep, c->used - keep);
        poison(c->bytes + keep, c->used - keep);
        arena->used -= c->used - keep;
        c->used = keep;
    }
    if (point.chunk < arena->current) arena->current = point.chunk;
}

void rg_arena_reset(rg_arena *arena)
{
    size_t peak = arena->round_peak;
    rg_arena_rewind(arena, (rg_arena_point){ 0, 0 });
    arena->round_peak = 0;
    if (arena->count == 1) return;

    size_t bytes = peak + peak / 8;
    if (bytes < arena->first_bytes) bytes = arena->first_bytes;
    if (!rg_size_align(&bytes, bytes, bytes < HUGE_BYTES ? PIECE_ALIGN : HUGE_BYTES)) return;
    free_chunks(arena);                 /* first, or the peak would be in memory twice */
    if (!add_chunk(arena, bytes)) return; /* an arena without chunks is whole: the next get tries again */
}

size_t rg_arena_used(const rg_arena *arena)
{
    return arena->used;
}

size_t rg_arena_peak(const rg_arena *arena)
{
    return arena->peak;
}
