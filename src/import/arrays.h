/* arrays.h - the named arrays of another program's model file, whichever format they came in.
 *
 * A whole file lies in memory; arrays point into it, or into blocks that were unpacked from it. Nothing a file says
 * is believed: every size is compared with the bytes that are there before anything of that size is allocated or
 * read. */
#ifndef RG_IMPORT_ARRAYS_H
#define RG_IMPORT_ARRAYS_H

#include <jansson.h>

#include "regard/safetensors.h"
#include "regard/text.h"

enum { RG_ARRAYS_DIMS = RG_SAFETENSORS_DIMS_MAX, RG_ARRAYS_MAX = 65536, RG_ARRAYS_NAME = 1024 };

typedef struct rg_array {
    const char          *name;
    rg_dtype             dtype;
    size_t               ndim, dims[RG_ARRAYS_DIMS];
    size_t               count; /* of numbers: the product of dims */
    const unsigned char *bytes; /* row-major, little endian        */
    bool                 used;  /* of whoever takes them           */
} rg_array;

typedef struct rg_arrays {
    rg_arena   *arena; /* names */
    rg_array   *list;
    size_t      count, room;
    void      **block; /* unpacked */
    size_t      blocks;
    const char *format;   /* "safetensors", "PyTorch", "Marian npz", "Marian bin", "CTranslate2" */
    rg_text     settings; /* text that is in the file: Marian's YAML, CTranslate2's name of the model */
    json_t     *about;    /* what a PyTorch file says beside arrays; NULL: nothing */
} rg_arrays;

/* Reads bytes that must stay as long as the arrays. `name` is used in messages. Format by content; RG_EFORMAT says
 * what it is not. Always to be followed by rg_arrays_fini. */
rg_status rg_arrays_read(rg_arrays *out, const char *name, const void *bytes, size_t count);
void      rg_arrays_fini(rg_arrays *arrays);

rg_array *rg_arrays_find(const rg_arrays *arrays, const char *name); /* NULL: it is not there */

/* For readers: an array whose bytes have been found inside the file. RG_EFORMAT when its shape is not what `bytes`
 * hold, or for a name that is there already. rg_arrays_block: memory freed with the arrays. */
rg_status rg_arrays_add(rg_arrays *arrays, const char *name, rg_dtype dtype, const size_t *dims, size_t ndim,
                        const void *data, size_t bytes);
void     *rg_arrays_block(rg_arrays *arrays, size_t bytes);

/* Its numbers as floats. Quantised arrays (CTranslate2: integers, with NAME_scale beside them) are divided by their
 * scales. */
rg_status rg_array_floats(float *out, const rg_arrays *arrays, const rg_array *array);

/* The one number of an array of one, or `other` when there is none. */
double rg_arrays_number(const rg_arrays *arrays, const char *name, double other);

/* Formats, one file each. */
rg_status rg_read_safetensors(rg_arrays *out, const char *name, const unsigned char *bytes, size_t count);
rg_status rg_read_zip(rg_arrays *out, const char *name, const unsigned char *bytes, size_t count);
rg_status rg_read_ctranslate2(rg_arrays *out, const char *name, const unsigned char *bytes, size_t count);
rg_status rg_read_marian(rg_arrays *out, const char *name, const unsigned char *bytes, size_t count);

/* Marian's settings, the characters of an array that end in a zero, become out->settings; *out_there false: there are
 * none. */
rg_status rg_arrays_settings(bool *out_there, rg_arrays *out);

/* zip.c finds in an archive what these read: members by name. */
typedef struct rg_members rg_members;
/* Bytes of the member with that name or, with a '*' in front, the first whose name ends so; NULL: it is not there
 * (*status RG_OK) or is broken. They stay with the arrays, and are unpacked once. */
const unsigned char *rg_members_find(rg_status *status, size_t *out_bytes, rg_members *members, const char *name);
size_t               rg_members_bytes(const rg_members *members); /* of the archive */
size_t               rg_members_count(const rg_members *members);
const char          *rg_members_name(const rg_members *members, size_t index);

rg_status rg_read_npz(rg_arrays *out, const char *name, rg_members *members);
rg_status rg_read_torch(rg_arrays *out, const char *name, rg_members *members);

#endif
