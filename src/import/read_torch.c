/* read_torch.c - PyTorch's zip archives: data.pkl says what the tensors are, data/KEY holds their numbers.
 *
 * Dictionaries inside dictionaries give names with dots between; a dictionary "state_dict" (or "model") adds nothing
 * to names. What is neither dictionary nor tensor, such as settings, goes to `about`. */
#include "import/arrays.h"
#include "import/pickle.h"

#include <string.h>

enum { MOST_DEPTH = 8, MOST_VALUES = 1 << 17, MOST_COPIED = 8 /* times the archive */ };

/* A value may stand in many places of a pickle: visits and copies are counted, so that a small file stays small. */
typedef struct {
    rg_arrays  *out;
    rg_members *members;
    size_t      values, copied;
} reading;

/* ---------------------------------------------------------------------------------------------------------- tensors */

/* Row-major without holes: then the numbers are where they should be. Dimensions of 1 have any stride. */
static bool is_contiguous(const rg_pickle *t)
{
    size_t step = 1;
    for (size_t i = t->ndim; i > 0; i--) {
        if (t->dims[i - 1] != 1 && t->strides[i - 1] != step) return false;
        if (!rg_size_mul(&step, step, t->dims[i - 1])) return false;
    }
    return true;
}

/* The numbers in row-major order, copied one by one. `count` of them are in the tensor, `have` in its storage. */
static rg_status copy_strided(unsigned char *to, const rg_pickle *t, const unsigned char *from, size_t count,
                              size_t have, size_t width)
{
    size_t at[RG_PICKLE_DIMS] = { 0 };
    for (size_t i = 0; i < count; i++) {
        size_t place = (size_t)t->integer;
        for (size_t d = 0; d < t->ndim; d++) {
            size_t step;
            if (!rg_size_mul(&step, at[d], t->strides[d]) || !rg_size_add(&place, place, step)) place = have;
        }
        if (place >= have) return rg_fail(RG_EFORMAT, "number %zu lies outside of the %zu that are stored", i, have);
        memcpy(to + i * width, from + place * width, width);
        for (size_t d = t->ndim; d > 0 && ++at[d - 1] == t->dims[d - 1]; d--) at[d - 1] = 0;
    }
    return RG_OK;
}

static rg_status add_tensor(reading *r, const char *name, const rg_pickle *t)
{
    const rg_pickle *s = t->item[0];
    const size_t     width = rg_dtype_bytes(s->dtype);
    char             key[RG_ARRAYS_NAME];
    size_t           bytes = 0, count = 1;
    rg_status        status;
    if (snprintf(key, sizeof key, "*/data/%s", s->text) >= (int)sizeof key) return rg_fail(RG_ELIMIT, "%s: a storage with a very long name", name);
    const unsigned char *data = rg_members_find(&status, &bytes, r->members, key);
    RG_TRY(status);
    if (!data || bytes / width < (size_t)s->integer)
        return rg_fail(RG_EFORMAT, "%s: %lld numbers are said to be in %s, which %s", name, (long long)s->integer,
                       key + 1, data ? "is shorter" : "is not there");
    const size_t have = (size_t)s->integer;
    for (size_t i = 0; i < t->ndim; i++)
        if (!rg_size_mul(&count, count, t->dims[i])) return rg_fail(RG_EFORMAT, "%s is too large to exist", name);
    if (count > have) return rg_fail(RG_EFORMAT, "%s: %zu numbers of the %zu that are stored", name, count, have);
    if (is_contiguous(t)) {
        if ((size_t)t->integer > have - count)
            return rg_fail(RG_EFORMAT, "%s: numbers %lld and on of the %zu that are stored", name,
                           (long long)t->integer, have);
        return rg_arrays_add(r->out, name, s->dtype, t->dims, t->ndim, data + (size_t)t->integer * width,
                             count * width);
    }
    r->copied += count * width;
    if (r->copied / MOST_COPIED > rg_members_bytes(r->members))
        return rg_fail(RG_ELIMIT, "%s: its transposed tensors are many times its size", name);
    unsigned char *copy = rg_arrays_block(r->out, count * width);
    if (!copy) return RG_ENOMEM;
    status = copy_strided(copy, t, data, count, have, width);
    if (status != RG_OK) return rg_fail_in(status, "%s: ", name);
    return rg_arrays_add(r->out, name, s->dtype, t->dims, t->ndim, copy, count * width);
}

/* --------------------------------------------------------------------------------------------------------- settings */

static json_t *as_json(reading *r, const rg_pickle *v, size_t depth)
{
    json_t *list;
    switch (v->type) {
    case RG_PICKLE_BOOL: return json_boolean(v->integer);
    case RG_PICKLE_INT: return json_integer(v->integer);
    case RG_PICKLE_REAL: return json_real(v->real); /* NULL when it is not finite */
    case RG_PICKLE_TEXT: return json_string(v->text);
    case RG_PICKLE_LIST:
        if (depth == MOST_DEPTH || (r->values += v->count) > MOST_VALUES) return json_null();
        list = json_array();
        for (size_t i = 0; i < v->count; i++) json_array_append_new(list, as_json(r, v->item[i], depth + 1));
        return list;
    default: return json_null();
    }
}

static rg_status walk(reading *r, const char *prefix, const rg_pickle *dict, size_t depth)
{
    if (depth == MOST_DEPTH) return rg_fail(RG_ELIMIT, "dictionaries more than %d deep", MOST_DEPTH);
    for (size_t i = 0; i + 1 < dict->count; i += 2) {
        const rg_pickle *key = dict->item[i], *value = dict->item[i + 1];
        char             name[RG_ARRAYS_NAME];
        if (++r->values > MOST_VALUES) return rg_fail(RG_ELIMIT, "more than %d values in dictionaries", MOST_VALUES);
        if (key->type != RG_PICKLE_TEXT) continue;
        const bool plain = strcmp(key->text, "state_dict") == 0 || strcmp(key->text, "model_state_dict") == 0;
        if (snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] && !plain ? "." : "", plain ? "" : key->text) >=
            (int)sizeof name)
            return rg_fail(RG_ELIMIT, "a name of more than %d bytes", RG_ARRAYS_NAME - 1);
        if (value->type == RG_PICKLE_TENSOR) RG_TRY(add_tensor(r, name, value));
        else if (value->type == RG_PICKLE_DICT) RG_TRY(walk(r, name, value, depth + 1));
        else json_object_set_new(r->out->about, name, as_json(r, value, 0));
    }
    return RG_OK;
}

rg_status rg_read_torch(rg_arrays *out, const char *name, rg_members *members)
{
    reading              r = { out, members, 0, 0 };
    const rg_pickle     *value = NULL;
    rg_status            status;
    size_t               bytes = 0;
    const unsigned char *pickle = rg_members_find(&status, &bytes, members, "*data.pkl");
    RG_TRY(status);
    if (!pickle) return rg_fail(RG_EFORMAT, "%s: has no data.pkl", name);
    out->format = "PyTorch";
    out->about = json_object();
    if (!out->about) return RG_ENOMEM;
    status = rg_pickle_read(&value, out->arena, pickle, bytes);
    if (status == RG_OK && value->type != RG_PICKLE_DICT)
        status = rg_fail(RG_EFORMAT, "it holds no dictionary of tensors");
    if (status == RG_OK) status = walk(&r, "", value, 0);
    return status == RG_OK ? status : rg_fail_in(status, "%s: ", name);
}
