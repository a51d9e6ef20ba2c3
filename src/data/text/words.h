/* words.h - a table of distinct strings, numbered in order of arrival, with counts. Vocabularies and metrics use it. */
#ifndef REGARD_DATA_WORDS_H
#define REGARD_DATA_WORDS_H

#include "regard/text.h"

typedef struct rg_word {
    size_t   at, bytes; /* in the pool; a NUL follows */
    uint64_t hash, count;
} rg_word;

typedef struct rg_words {
    rg_text   pool;
    rg_word  *words;
    size_t    count, room;
    uint32_t *slots; /* number + 1, 0 free; a power of two of them, at most half full */
    size_t    slot_count;
} rg_words;

void rg_words_fini(rg_words *words); /* all zero is an empty table */
/* The number of a string, added with count 0 if new. */
rg_status   rg_words_add(uint32_t *out, rg_words *words, const char *text, size_t bytes);
int64_t     rg_words_find(const rg_words *words, const char *text, size_t bytes); /* -1 if absent */
const char *rg_words_get(const rg_words *words, size_t i);

/* FNV-1a, 64 bits; start with RG_HASH_START or continue from a former value. */
#define RG_HASH_START 0xCBF29CE484222325u
uint64_t rg_hash_bytes(uint64_t hash, const void *bytes, size_t count);

#endif
