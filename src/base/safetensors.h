/* safetensors.h - what the parts of the safetensors code share. */
#ifndef REGARD_BASE_SAFETENSORS_H
#define REGARD_BASE_SAFETENSORS_H

#include "regard/safetensors.h"

#define RG_SAFETENSORS_SUM_PREFIX "xxh64:"        /* metadata key of an array's checksum: this and its name */
#define RG_SAFETENSORS_HEADER_KEY "regard.header" /* metadata key of the header's own checksum */
#define RG_SAFETENSORS_SUM_DIGITS 16

/* How a header of ours begins; the digits of its checksum follow, counted as zeros while it is computed. */
#define RG_SAFETENSORS_OPENING "{\"__metadata__\":{\"" RG_SAFETENSORS_HEADER_KEY "\":\""

typedef struct rg_safetensors_pair {
    const char *key, *value;
} rg_safetensors_pair;

typedef struct rg_safetensors_item {
    rg_safetensors_entry entry;
    bool has_sum;
    uint64_t sum;
    void *data; /* of rg_safetensors_data, or NULL */
} rg_safetensors_item;

struct rg_safetensors {
    rg_arena *arena; /* names, items, metadata */
    const char *path;
    rg_file *file;              /* or NULL and */
    const unsigned char *bytes; /* the file in memory */
    uint64_t size;
    rg_safetensors_item *items; /* by name */
    size_t count;
    rg_safetensors_pair *metadata; /* by key */
    size_t metadata_count;
    bool finite_only;
};

/* Fill items and metadata from the header text; its data part begins at byte 8 + header_bytes of a file of st->size. */
rg_status rg_safetensors__parse(rg_safetensors *st, const char *header, size_t header_bytes);

/* 16 digits to a number; false when they are not. */
bool rg_safetensors__parse_sum(uint64_t *out, const char *digits, size_t count);

#endif
