/* hash.c - XXH64, after the description of the algorithm:
 *
 *     four lanes take 8 bytes each in turn:   lane = rotl(lane + input * P2, 31) * P1
 *     the lanes are merged, the last 0..31 bytes and the length mixed in, and the bits spread. */
#include "base/hash.h"

#include <string.h>

#define P1 0x9E3779B185EBCA87u
#define P2 0xC2B2AE3D27D4EB4Fu
#define P3 0x165667B19E3779F9u
#define P4 0x85EBCA77C2B2AE63u
#define P5 0x27D4EB2F165667C5u

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files and hashes are read in place, little endian");

static uint64_t rotl(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t load64(const unsigned char *bytes)
{
    uint64_t x;
    memcpy(&x, bytes, sizeof x);
    return x;
}

static uint64_t load32(const unsigned char *bytes)
{
    uint32_t x;
    memcpy(&x, bytes, sizeof x);
    return x;
}

static uint64_t mix(uint64_t lane, uint64_t input)
{
    return rotl(lane + input * P2, 31) * P1;
}

/* Whole stripes of 32 bytes; returns how many bytes were taken. */
static size_t take_stripes(uint64_t lane[4], const unsigned char *bytes, size_t count)
{
    uint64_t a = lane[0], b = lane[1], c = lane[2], d = lane[3];
    size_t at = 0;
    for (; count - at >= 32; at += 32) {
        a = mix(a, load64(bytes + at));
        b = mix(b, load64(bytes + at + 8));
        c = mix(c, load64(bytes + at + 16));
        d = mix(d, load64(bytes + at + 24));
    }
    lane[0] = a, lane[1] = b, lane[2] = c, lane[3] = d;
    return at;
}

void rg_hash64_begin(rg_hash64 *hash)
{
    *hash = (rg_hash64){ .lane = { P1 + P2, P2, 0, 0 - P1 } };
}

void rg_hash64_add(rg_hash64 *hash, const void *data, size_t count)
{
    const unsigned char *bytes = data;
    if (count == 0) return;
    hash->total += count;
    if (hash->rest_bytes > 0) {
        size_t fill = 32 - hash->rest_bytes < count ? 32 - hash->rest_bytes : count;
        memcpy(hash->rest + hash->rest_bytes, bytes, fill);
        hash->rest_bytes += fill;
        bytes += fill;
        count -= fill;
        if (hash->rest_bytes < 32) return;
        take_stripes(hash->lane, hash->rest, 32);
        hash->rest_bytes = 0;
    }
    size_t taken = take_stripes(hash->lane, bytes, count);
    hash->rest_bytes = count - taken;
    if (hash->rest_bytes > 0) memcpy(hash->rest, bytes + taken, hash->rest_bytes);
}

uint64_t rg_hash64_end(const rg_hash64 *hash)
{
    const uint64_t *lane = hash->lane;
    uint64_t h = P5;
    if (hash->total >= 32) {
        h = rotl(lane[0], 1) + rotl(lane[1], 7) + rotl(lane[2], 12) + rotl(lane[3], 18);
        for (int i = 0; i < 4; i++) h = (h ^ mix(0, lane[i])) * P1 + P4;
    }
    h += hash->total;

    size_t at = 0, rest = hash->rest_bytes;
    for (; rest - at >= 8; at += 8) h = rotl(h ^ mix(0, load64(hash->rest + at)), 27) * P1 + P4;
    if (rest - at >= 4) {
        h = rotl(h ^ load32(hash->rest + at) * P1, 23) * P2 + P3;
        at += 4;
    }
    for (; at < rest; at++) h = rotl(h ^ hash->rest[at] * P5, 11) * P1;

    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}

uint64_t rg_hash64_of(const void *bytes, size_t count)
{
    rg_hash64 hash;
    rg_hash64_begin(&hash);
    rg_hash64_add(&hash, bytes, count);
    return rg_hash64_end(&hash);
}
