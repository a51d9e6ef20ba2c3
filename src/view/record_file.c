/* record_file.c - records on disk: JSON, or safetensors for large ones.
 *
 * The safetensors form keeps the JSON, without weights and pictures, as the metadata string "regard.record". Map n
 * is the array "map.n" (rows x cols), or for edges "map.n.from", "map.n.to" and "map.n.weights"; the picture of
 * label list n is "labels.n.picture". */
#include "regard/record.h"
#include "regard/safetensors.h"
#include "view/buffer.h"
#include "view/record_files.h"

#include <stdlib.h>
#include <string.h>

static const char metadata_key[] = "regard.record";

/* --------------------------------------------------------------------------------------------------- writing */

static rg_status add_array(rg_safetensors_writer *w, const char *kind, size_t index, const char *part, rg_dtype dtype,
                           const size_t *dims, size_t ndim, const void *data)
{
    rg_status status;
    char     *name = rg_format("%s.%zu%s", kind, index, part);

    if (!name) return RG_ENOMEM;
    status = rg_safetensors_writer_add(w, name, dtype, dims, ndim, data);
    rg_free(name);
    return status;
}

static rg_status add_map(rg_safetensors_writer *w, const rg_record_map *m, size_t index)
{
    size_t dims[2] = { m->rows, m->cols };

    if (!m->from) return add_array(w, "map", index, "", RG_DTYPE_F32, dims, 2, m->weights);
    RG_TRY(add_array(w, "map", index, ".from", RG_DTYPE_U32, &m->edges, 1, m->from));
    RG_TRY(add_array(w, "map", index, ".to", RG_DTYPE_U32, &m->edges, 1, m->to));
    return add_array(w, "map", index, ".weights", RG_DTYPE_F32, &m->edges, 1, m->weights);
}

static rg_status fill_writer(rg_safetensors_writer *w, const rg_record *r, const char *json)
{
    RG_TRY(rg_safetensors_writer_metadata(w, metadata_key, json));
    for (size_t i = 0; i < r->maps; i++) RG_TRY(add_map(w, &r->map[i], i));
    for (size_t i = 0; i < r->label_lists; i++)
        if (r->labels[i].picture)
            RG_TRY(add_array(w, "labels", i, ".picture", RG_DTYPE_U8, &r->labels[i].picture_bytes, 1,
                             r->labels[i].picture));
    return RG_OK;
}

static rg_status save_safetensors(const rg_record *r, const char *path)
{
    rg_status              status;
    rg_safetensors_writer *w = NULL;
    char                  *json = NULL;

    if ((status = rg_record__to_json(&json, NULL, r, RG_WEIGHTS_AUTO, false)) == RG_OK &&
        (status = rg_safetensors_writer_new(&w)) == RG_OK && (status = fill_writer(w, r, json)) == RG_OK)
        status = rg_safetensors_writer_save(w, path);
    rg_safetensors_writer_free(w);
    rg_free(json);
    return status;
}

static rg_status save_json(const rg_record *r, const char *path)
{
    rg_status status;
    char     *json = NULL;
    size_t    bytes;

    RG_TRY(rg_record_to_json(&json, &bytes, r, RG_WEIGHTS_AUTO));
    status = bytes > RG_RECORD_MAX_JSON ? rg_fail(RG_ELIMIT, "%s: %zu bytes of JSON, at most %zu: name it .safetensors",
                                                  path, bytes, RG_RECORD_MAX_JSON)
                                        : rg_file_replace(path, json, bytes);
    rg_free(json);
    return status;
}

rg_status rg_record_save(const rg_record *r, const char *path)
{
    const char *end = strrchr(path, '.');
    return end && !strcmp(end, ".safetensors") ? save_safetensors(r, path) : save_json(r, path);
}

/* --------------------------------------------------------------------------------------------------- reading */

/* The array "map.INDEX<part>", which must be of that type and shape (dims[0] SIZE_MAX: any length, told in *length). */
static rg_status get_array(const void **out, size_t *length, rg_safetensors *st, size_t index, const char *part,
                           rg_dtype dtype, size_t ndim, const size_t *dims)
{
    char                        name[64];
    const rg_safetensors_entry *e;

    snprintf(name, sizeof name, "map.%zu%s", index, part);
    if (!(e = rg_safetensors_find(st, name))) return rg_fail(RG_EFORMAT, "the array %s is missing", name);
    if (e->dtype != dtype || e->ndim != ndim || (dims[0] != SIZE_MAX && e->dims[0] != dims[0]) ||
        (ndim == 2 && e->dims[1] != dims[1]))
        return rg_fail(RG_EFORMAT, "the array %s is not of the type or shape its labels ask for", name);
    *length = e->dims[0];
    return rg_safetensors_data(out, st, e);
}

static rg_status get_weights(void *context, size_t index, size_t rows, size_t cols, const float **weights,
                             const uint32_t **from, const uint32_t **to, size_t *edges)
{
    rg_safetensors *st = context;
    char            name[64];
    const void     *w = NULL, *a = NULL, *b = NULL;
    size_t          dims[2] = { rows, cols }, any = SIZE_MAX, length = 0;

    snprintf(name, sizeof name, "map.%zu.from", index);
    if (!rg_safetensors_find(st, name)) {
        RG_TRY(get_array(&w, &length, st, index, "", RG_DTYPE_F32, 2, dims));
    } else {
        RG_TRY(get_array(&a, edges, st, index, ".from", RG_DTYPE_U32, 1, &any));
        RG_TRY(get_array(&b, &length, st, index, ".to", RG_DTYPE_U32, 1, edges));
        RG_TRY(get_array(&w, &length, st, index, ".weights", RG_DTYPE_F32, 1, edges));
    }
    *weights = w;
    *from = a;
    *to = b;
    return RG_OK;
}

static rg_status read_pictures(rg_record *r, rg_safetensors *st)
{
    for (size_t i = 0; i < r->label_lists; i++) {
        char                        name[64];
        const rg_safetensors_entry *e;
        const void                 *bytes;
        snprintf(name, sizeof name, "labels.%zu.picture", i);
        if (!(e = rg_safetensors_find(st, name))) continue;
        if (e->dtype != RG_DTYPE_U8 || e->bytes > RG_RECORD_MAX_PICTURE)
            return rg_fail(RG_EFORMAT, "the array %s is not a picture", name);
        RG_TRY(rg_safetensors_data(&bytes, st, e));
        RG_TRY(rg_record_set_picture(r, i, bytes, e->bytes));
    }
    return RG_OK;
}

static rg_status load_safetensors(rg_record **out, const char *path)
{
    rg_status         status;
    rg_safetensors   *st = NULL;
    rg_record        *r = NULL;
    rg_weights_source source = { get_weights, NULL };
    const char       *json;

    RG_TRY(rg_safetensors_open(&st, path)); /* its messages name the path */
    source.context = st;
    json = rg_safetensors_metadata(st, metadata_key);
    status = json ? rg_record__from_json(&r, json, strlen(json), &source)
                  : rg_fail(RG_EFORMAT, "not a record: it has no \"%s\" (`regard show -m` shows what a model looks at)",
                            metadata_key);
    if (status == RG_OK && (status = read_pictures(r, st)) != RG_OK) rg_record_free(r);
    rg_safetensors_close(st);
    if (status != RG_OK) return rg_fail_in(status, "%s: ", path);
    *out = r;
    return RG_OK;
}

static rg_status load_json(rg_record **out, const char *path)
{
    rg_status status;
    char     *json = NULL;
    size_t    bytes;

    RG_TRY(rg_view__read_file(&json, &bytes, path, RG_RECORD_MAX_JSON));
    status = rg_record_from_json(out, json, bytes);
    rg_free(json);
    return status == RG_OK ? RG_OK : rg_fail_in(status, "%s: ", path);
}

/* A safetensors file begins with the length of its header, whose first byte is the ninth of the file. */
static rg_status is_safetensors(bool *out, const char *path)
{
    rg_status     status;
    rg_file      *file = NULL;
    unsigned char head[9] = { 0 };
    size_t        used = 0, got = 1;

    RG_TRY(rg_file_open(&file, path, "rb"));
    for (status = RG_OK; status == RG_OK && got && used < sizeof head; used += got)
        status = rg_file_read_some(&got, file, head + used, sizeof head - used);
    rg_file_close(file);
    *out = used == sizeof head && head[8] == '{' && !head[4] && !head[5] && !head[6] && !head[7];
    return status;
}

rg_status rg_record_load(rg_record **out, const char *path)
{
    bool safetensors;

    RG_TRY(is_safetensors(&safetensors, path));
    return safetensors ? load_safetensors(out, path) : load_json(out, path);
}
