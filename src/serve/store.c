/* store.c - byte strings under keys, in memory that the processes of a server share: translated files, recent
 * translations. As many as fit into a number of bytes; the oldest go first.
 *
 *         oldest                        next
 *           v                            v
 *     ......[entry][entry] ... [entry]...         a ring of `room` bytes: positions only grow, the place of one is
 *                                                 position % room
 *
 * A bucket of hashes has the position of its newest entry, and each entry that of the next older one of its bucket. What
 * lies before `oldest` has been written over, and so has everything behind it in a chain: nothing is ever unlinked.
 *
 * A process that dies with the lock leaves the store in doubt; whoever takes the lock next empties it. */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS */
#include "serve/store.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum {
    UNIT = 64,          /* bytes: entries begin at multiples, so that a header always fits before the end of the ring */
    BUCKET_BYTES = 512, /* of the ring for each bucket   */
    MOST_STEPS = 64     /* of a chain, however somebody chose the texts */
};

typedef struct {
    uint64_t older;                  /* position + 1 of the next one of the bucket; 0: none */
    uint64_t hash, size, key, value; /* size: of all; key 0: it only fills the end of the ring */
    double   since;
} entry;

struct rg_store {
    pthread_mutex_t lock;
    size_t          mapped, room, buckets; /* buckets: a power of two */
    uint64_t        oldest, next;
    uint64_t        bucket[]; /* position + 1 of its newest; then the ring */
};

static size_t round_up(size_t n) { return (n + UNIT - 1) / UNIT * UNIT; }

static unsigned char *ring(rg_store *s) { return (unsigned char *)(s->bucket + s->buckets); }

static entry *at(rg_store *s, uint64_t position) { return (entry *)(void *)(ring(s) + position % s->room); }

/* FNV-1a */
static uint64_t hash_of(const void *key, size_t bytes)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < bytes; i++) h = (h ^ ((const unsigned char *)key)[i]) * 1099511628211u;
    return h ^ h >> 32;
}

/* ----------------------------------------------------------------------------------------------------------- life */

static rg_status share_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    const int failed = pthread_mutex_init(lock, &a);
    pthread_mutexattr_destroy(&a);
    return failed ? rg_fail(RG_EIO, "no lock that processes share: %s", strerror(failed)) : RG_OK;
}

rg_status rg_store_open(rg_store **out, size_t bytes)
{
    size_t buckets = UNIT / sizeof(uint64_t), all;
    *out = NULL;
    if (bytes > SIZE_MAX / 4) return rg_fail(RG_ELIMIT, "a store of %zu bytes is too large", bytes);
    const size_t room = round_up(bytes < 4096 ? 4096 : bytes);
    while (buckets < room / BUCKET_BYTES) buckets *= 2;
    all = round_up(sizeof(rg_store)) + buckets * sizeof(uint64_t) + room;
    void *memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return rg_fail(RG_ENOMEM, "no memory of %zu bytes that processes share: %s", all, strerror(errno));
    rg_store *s = memory;
    s->mapped = all;
    s->room = room;
    s->buckets = buckets;
    const rg_status status = share_lock(&s->lock);
    if (status != RG_OK) munmap(memory, all);
    else *out = s;
    return status;
}

void rg_store_close(rg_store *s)
{
    if (!s) return;
    pthread_mutex_destroy(&s->lock);
    munmap(s, s->mapped);
}

static void empty(rg_store *s)
{
    memset(s->bucket, 0, s->buckets * sizeof *s->bucket);
    s->oldest = s->next = 0;
}

static bool take_lock(rg_store *s)
{
    const int failed = pthread_mutex_lock(&s->lock);
    if (failed != EOWNERDEAD) return failed == 0;
    empty(s);
    return pthread_mutex_consistent(&s->lock) == 0;
}

/* -------------------------------------------------------------------------------------------------------- entries */

/* The newest with this key; NULL: none. */
static entry *find(rg_store *s, uint64_t *out_position, const void *key, size_t bytes, uint64_t hash)
{
    uint64_t position = s->bucket[hash & (s->buckets - 1)];
    for (int step = 0; position && position - 1 >= s->oldest && step < MOST_STEPS; step++) {
        entry *e = at(s, position - 1);
        if (e->hash == hash && e->key == bytes && memcmp(e + 1, key, bytes) == 0) {
            *out_position = position - 1;
            return e;
        }
        position = e->older;
    }
    return NULL;
}

/* A place of `size` bytes in a row behind the newest entry. */
static entry *append(rg_store *s, size_t size)
{
    const size_t   left = s->room - (size_t)(s->next % s->room), fill = left < size ? left : 0;
    const uint64_t end = s->next + fill + size;
    while (s->oldest < s->next && end - s->oldest > s->room) s->oldest += at(s, s->oldest)->size;
    if (fill) *at(s, s->next) = (entry){ .size = fill };
    if (s->oldest == s->next) s->oldest += fill;
    s->next = end;
    return at(s, end - size);
}

static bool put(rg_store *s, const void *key, size_t key_bytes, const rg_store_piece *piece, size_t pieces, double since)
{
    size_t value = 0, whole;
    for (size_t i = 0; i < pieces; i++)
        if (!rg_size_add(&value, value, piece[i].count)) return false;
    if (!rg_size_add(&whole, value, key_bytes + sizeof(entry) + UNIT)) return false;
    const size_t size = round_up(value + key_bytes + sizeof(entry));
    if (!key_bytes || size > s->room) return false;
    entry         *e = append(s, size);
    const uint64_t hash = hash_of(key, key_bytes), position = s->next - size;
    uint64_t      *head = &s->bucket[hash & (s->buckets - 1)];
    unsigned char *to = (unsigned char *)(e + 1);
    *e = (entry){ .older = *head, .hash = hash, .size = size, .key = key_bytes, .value = value, .since = since };
    *head = position + 1;
    memcpy(to, key, key_bytes);
    to += key_bytes;
    for (size_t i = 0; i < pieces; i++) {
        if (piece[i].count) memcpy(to, piece[i].bytes, piece[i].count);
        to += piece[i].count;
    }
    return true;
}

bool rg_store_put(rg_store *s, const void *key, size_t key_bytes, const rg_store_piece *piece, size_t pieces)
{
    if (!take_lock(s)) return false;
    const bool kept = put(s, key, key_bytes, piece, pieces, rg_now());
    pthread_mutex_unlock(&s->lock);
    return kept;
}

bool rg_store_get(rg_text *out, rg_store *s, const void *key, size_t key_bytes, double seconds)
{
    const size_t before = out->length;
    uint64_t     position;
    if (!take_lock(s)) return false;
    const entry *e = find(s, &position, key, key_bytes, hash_of(key, key_bytes));
    const double since = e ? e->since : 0;
    const bool   found = e && (seconds <= 0 || rg_now() - since <= seconds) &&
                       rg_text_add(out, (const unsigned char *)(e + 1) + key_bytes, e->value) == RG_OK;
    if (found && s->next - position > s->room / 2) { /* what is asked for again does not go with its neighbours */
        const rg_store_piece again = { out->data + before, out->length - before };
        put(s, key, key_bytes, &again, 1, since);
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}
