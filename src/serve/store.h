/* store.h - byte strings under keys, bounded, in memory that the processes of a server share. */
#ifndef RG_SERVE_STORE_H
#define RG_SERVE_STORE_H

#include "regard/text.h"

typedef struct rg_store rg_store;

/* `bytes` for everything in it; they are taken from the system as they are used. Before the processes are made. */
rg_status rg_store_open(rg_store **out, size_t bytes);
void      rg_store_close(rg_store *store);

typedef struct rg_store_piece {
    const void *bytes;
    size_t      count;
} rg_store_piece;

/* Keep the pieces, one after the other, under a key of one byte or more, in place of what had it; the oldest make
 * room. False: they do not fit. Any thread and process. */
bool rg_store_put(rg_store *store, const void *key, size_t key_bytes, const rg_store_piece *piece, size_t pieces);
/* Append what is kept under a key; false: nothing, or it is older than `seconds` (0: any age). */
bool rg_store_get(rg_text *out, rg_store *store, const void *key, size_t key_bytes, double seconds);

#endif
