/* hash.h - XXH64 (Yann Collet's xxHash, 64 bits, seed 0): the checksum of our files, at several bytes a cycle. */
#ifndef REGARD_BASE_HASH_H
#define REGARD_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct rg_hash64 { /* a hash in the making: begin, add pieces of any size, end */
    uint64_t lane[4], total;
    unsigned char rest[32];
    size_t rest_bytes;
} rg_hash64;

void     rg_hash64_begin(rg_hash64 *hash);
void     rg_hash64_add(rg_hash64 *hash, const void *bytes, size_t count);
uint64_t rg_hash64_end(const rg_hash64 *hash);

uint64_t rg_hash64_of(const void *bytes, size_t count);

#endif
