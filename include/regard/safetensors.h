/* safetensors.h - named arrays in one file, readable by every safetensors program.
 *
 *     8 bytes   length N of the header, little endian
 *     N bytes   JSON: { "__metadata__": { string: string }, name: { "dtype", "shape", "data_offsets": [begin, end] } }
 *     the rest  the arrays, row-major and little endian, without overlap or hole
 *
 * Files written here also carry checksums as metadata: "xxh64:NAME" of each array and "regard.header" of the header
 * itself. They are verified when present, so that a flipped bit is found before a model is used. */
#ifndef REGARD_SAFETENSORS_H
#define REGARD_SAFETENSORS_H

#include "regard/base.h"

RG_API_BEGIN

enum {
    RG_SAFETENSORS_HEADER_MAX = 8 << 20, /* bytes */
    RG_SAFETENSORS_COUNT_MAX  = 65536,   /* arrays */
    RG_SAFETENSORS_DIMS_MAX   = 8
};

typedef enum rg_dtype {
    RG_DTYPE_F64, RG_DTYPE_I64, RG_DTYPE_U64,
    RG_DTYPE_F32, RG_DTYPE_I32, RG_DTYPE_U32,
    RG_DTYPE_F16, RG_DTYPE_BF16, RG_DTYPE_I16, RG_DTYPE_U16,
    RG_DTYPE_F8_E4M3, RG_DTYPE_F8_E5M2, RG_DTYPE_I8, RG_DTYPE_U8, RG_DTYPE_BOOL
} rg_dtype;

size_t      rg_dtype_bytes(rg_dtype dtype);
const char *rg_dtype_name(rg_dtype dtype);                    /* "F32" */
bool        rg_dtype_find(rg_dtype *out, const char *name);   /* false when there is none of that name */

/* Types that weights of models may be stored in: F32, and the halves F16 and BF16. Quantised ones take a byte, I8
 * (docs/quantize.md). */
enum { RG_WEIGHT_BYTES_LEAST = 1 };
bool rg_dtype_is_weight(rg_dtype dtype);

/* `count` little-endian numbers of that type as floats; halves (F16, BF16) and small integers exactly, F64 and wide
 * integers rounded. RG_EINVAL for the 8-bit floats and BOOL, which nobody stores weights in that we read. `bytes`
 * need not be aligned. */
rg_status rg_dtype_floats(float *out, rg_dtype dtype, const void *bytes, size_t count);

/* --------------------------------------------------------------------------------------------------- reading */

typedef struct rg_safetensors rg_safetensors;
typedef struct rg_safetensors_entry { /* one array; borrowed from its file */
    const char *name;
    rg_dtype dtype;
    size_t   ndim, dims[RG_SAFETENSORS_DIMS_MAX]; /* ndim 0: one number */
    size_t   bytes;  /* product of dims times the size of dtype; checked */
    uint64_t offset; /* from the start of the file */
} rg_safetensors_entry;

/* Reads and checks the header; the arrays stay in the file. Nothing of it has been trusted when this returns RG_OK: all
 * arrays lie inside the file, fill it, and have the size their shape says. RG_EFORMAT or RG_ELIMIT otherwise. */
rg_status rg_safetensors_open(rg_safetensors **out, const char *path);
/* The same on bytes in memory, borrowed until close; `name` is used in messages. */
rg_status rg_safetensors_open_memory(rg_safetensors **out, const char *name, const void *bytes, size_t count);
void      rg_safetensors_close(rg_safetensors *st);

const char                 *rg_safetensors_path(const rg_safetensors *st);
size_t                      rg_safetensors_count(const rg_safetensors *st);
const rg_safetensors_entry *rg_safetensors_at(const rg_safetensors *st, size_t index); /* in order of names */
const rg_safetensors_entry *rg_safetensors_find(const rg_safetensors *st, const char *name); /* NULL: not there */

/* What the file says about itself, without the checksums; in order of keys. */
const char *rg_safetensors_metadata(const rg_safetensors *st, const char *key); /* NULL: not there */
size_t      rg_safetensors_metadata_count(const rg_safetensors *st);
void rg_safetensors_metadata_at(const char **out_key, const char **out_value, const rg_safetensors *st, size_t index);

/* With true, reading an array with a value that is infinite or not a number fails with RG_ENUMBER and names both.
 * Off at first. */
void rg_safetensors_finite_only(rg_safetensors *st, bool finite_only);

/* Copy an array to `buffer`, straight from the file. `bytes` must be entry->bytes. A checksum that does not match is
 * RG_EFORMAT and names the array. One thread at a time for one file. */
rg_status rg_safetensors_read(rg_safetensors *st, const rg_safetensors_entry *entry, void *buffer, size_t bytes);
/* The same as memory that belongs to the file until it is closed, 64-byte aligned, read on the first call. */
rg_status rg_safetensors_data(const void **out, rg_safetensors *st, const rg_safetensors_entry *entry);
/* Its numbers as floats, whatever type they are stored in (rg_dtype_floats); `count` must be how many it has. */
rg_status rg_safetensors_read_floats(rg_safetensors *st, const rg_safetensors_entry *entry, float *out, size_t count);

/* --------------------------------------------------------------------------------------------------- writing */

typedef struct rg_safetensors_writer rg_safetensors_writer;

rg_status rg_safetensors_writer_new(rg_safetensors_writer **out);
void      rg_safetensors_writer_free(rg_safetensors_writer *writer);

/* `name` and `dims` are copied, `data` is borrowed until the writer is freed and may change between saves. RG_EINVAL
 * for a name that is there already or is not UTF-8. */
rg_status rg_safetensors_writer_add(rg_safetensors_writer *writer, const char *name, rg_dtype dtype, const size_t *dims,
                                    size_t ndim, const void *data);
rg_status rg_safetensors_writer_metadata(rg_safetensors_writer *writer, const char *key, const char *value);

/* With true, saving fails with RG_ENUMBER and names the array when a value is not finite. Off at first. */
void rg_safetensors_writer_finite_only(rg_safetensors_writer *writer, bool finite_only);

/* The same arrays and metadata give the same bytes, whatever the order they were added in. The file appears whole or
 * not at all. */
rg_status rg_safetensors_writer_save(rg_safetensors_writer *writer, const char *path);
rg_status rg_safetensors_writer_build(void **out, size_t *out_count, rg_safetensors_writer *writer); /* free with rg_free */

RG_API_END
#endif
