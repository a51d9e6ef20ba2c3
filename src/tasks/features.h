/* features.h - the inside of features (regard/features.h): features.c is the network, features_open.c finds it in
 * files, features_kept.c keeps what it computed. */
#ifndef RG_TASKS_FEATURES_H
#define RG_TASKS_FEATURES_H

#include "regard/features.h"
#include "regard/net.h"

enum { RG_FEATURES_RULE = 16 };

typedef struct rg_features_entry {
    uint64_t key; /* of the picture file's bytes */
    float   *rows;
} rg_features_entry;

struct rg_features {
    rg_net           net;
    rg_params       *params;
    char            *layers;                 /* the text net was made of */
    char             pixels[RG_FEATURES_RULE]; /* a rule of rg_pixels_as   */
    rg_pixels_config size;
    uint64_t         sum; /* changes with weights, layers, rule and size */
    rg_team         *team;
    rg_tape         *tape;
    rg_real         *values; /* of one picture */
    float           *result;
    uint64_t         computed;

    rg_features_entry *entry;
    size_t             entries, room;
    uint32_t          *slot; /* open addressing by key: entry + 1; 0: free */
    size_t             slots;
    char              *cache;
    size_t             saved; /* entries that are in the cache file */
};

/* A network with these layers, its parameters zeros. Pixels of size 0: `side`. */
rg_status rg_features__new(rg_features **out, const char *layers, const char *rule, const rg_pixels_config *size,
                           size_t side);
/* After its parameters were filled. */
rg_status rg_features__ready(rg_features *f, int threads);
rg_status rg_features__open(rg_features **out, const char *path, const rg_pixels_config *size); /* not yet ready */

rg_status rg_features__load(rg_features *f, const char *path); /* the cache, where there is one */
extern const rg_kept_rows rg_features__kept;

#endif
