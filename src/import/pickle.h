/* pickle.h - Python's pickles as data: a machine with a short list of instructions that runs nothing.
 *
 * A pickle is a program. Here it may build numbers, texts, lists and dictionaries, and name a handful of things
 * (collections.OrderedDict, how PyTorch puts tensors together, its types of storage); whatever else it names or does
 * is refused by name. Values live on an arena; every instruction makes at most a few, so memory is bounded by the
 * length of the pickle. */
#ifndef RG_IMPORT_PICKLE_H
#define RG_IMPORT_PICKLE_H

#include "regard/safetensors.h"

enum { RG_PICKLE_DIMS = RG_SAFETENSORS_DIMS_MAX };

typedef enum rg_pickle_type {
    RG_PICKLE_NONE,
    RG_PICKLE_BOOL,
    RG_PICKLE_INT,
    RG_PICKLE_REAL,
    RG_PICKLE_TEXT,
    RG_PICKLE_LIST,
    RG_PICKLE_DICT,
    RG_PICKLE_NAME,
    RG_PICKLE_STORAGE,
    RG_PICKLE_TENSOR,
    RG_PICKLE_MARK
} rg_pickle_type;

typedef struct rg_pickle {
    rg_pickle_type     type;
    int64_t            integer; /* INT, BOOL; STORAGE: how many numbers; TENSOR: offset in its storage; NAME: which */
    double             real;
    const char        *text; /* TEXT, NAME; STORAGE: its key */
    struct rg_pickle **item; /* LIST (also tuples); DICT: key, value, key, value; TENSOR: its storage */
    size_t             count, room;
    rg_dtype           dtype; /* STORAGE */
    size_t             ndim, dims[RG_PICKLE_DIMS], strides[RG_PICKLE_DIMS]; /* TENSOR */
} rg_pickle;

/* The value a pickle builds, on `arena`. RG_EFORMAT names the instruction or the thing that is not allowed. */
rg_status rg_pickle_read(const rg_pickle **out, rg_arena *arena, const unsigned char *bytes, size_t count);

#endif
