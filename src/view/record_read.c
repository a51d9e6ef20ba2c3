/* record_read.c - a record from JSON. Nothing is believed: sizes come from what is there, every index is checked, every
 * number must be finite, and a refusal says where it stands: "maps[3]: weights: row 2 has 7 numbers, the columns 8". */
#include "regard/record.h"
#include "view/buffer.h"
#include "view/record_files.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { MOST_DEPTH = 64 };

rg_status rg_view__check_depth(const char *json, size_t bytes)
{
    int  depth = 0;
    bool in_string = false;

    for (size_t i = 0; i < bytes; i++) {
        char c = json[i];
        if (in_string) {
            if (c == '\\') i++;
            else if (c == '"') in_string = false;
        } else if (c == '"') in_string = true;
        else if (c == '[' || c == '{') {
            if (++depth > MOST_DEPTH) return rg_fail(RG_ELIMIT, "JSON deeper than %d at byte %zu", MOST_DEPTH, i);
        } else if (c == ']' || c == '}') depth--;
    }
    return RG_OK;
}

static rg_status get_string(const char **out, json_t *object, const char *key, const char *otherwise)
{
    json_t *v = json_object_get(object, key);

    *out = otherwise;
    if (!v) return otherwise ? RG_OK : rg_fail(RG_EFORMAT, "\"%s\" is missing", key);
    if (!json_is_string(v)) return rg_fail(RG_EFORMAT, "\"%s\" is not a string", key);
    if (json_string_length(v) > RG_RECORD_MAX_LABEL)
        return rg_fail(RG_ELIMIT, "\"%s\" has %zu bytes, at most %zu", key, json_string_length(v), RG_RECORD_MAX_LABEL);
    *out = json_string_value(v);
    return RG_OK;
}

static rg_status get_int(int *out, json_t *object, const char *key, int otherwise)
{
    json_t *v = json_object_get(object, key);

    *out = otherwise;
    if (!v || json_is_null(v)) return RG_OK;
    if (!json_is_integer(v)) return rg_fail(RG_EFORMAT, "\"%s\" is not a whole number", key);
    if (json_integer_value(v) < -1 || json_integer_value(v) > 1000000)
        return rg_fail(RG_EFORMAT, "\"%s\" is %" JSON_INTEGER_FORMAT, key, json_integer_value(v));
    *out = (int)json_integer_value(v);
    return RG_OK;
}

static rg_status get_array(json_t **out, json_t *object, const char *key, size_t most)
{
    json_t *v = json_object_get(object, key);

    *out = v;
    if (!v) return RG_OK;
    if (!json_is_array(v)) return rg_fail(RG_EFORMAT, "\"%s\" is not a list", key);
    if (json_array_size(v) > most)
        return rg_fail(RG_ELIMIT, "\"%s\" has %zu entries, at most %zu", key, json_array_size(v), most);
    return RG_OK;
}

static rg_status get_number(double *out, json_t *v)
{
    if (!json_is_number(v)) return rg_fail(RG_EFORMAT, "not a number");
    *out = json_number_value(v);
    return isfinite(*out) ? RG_OK : rg_fail(RG_ENUMBER, "a number that is not finite");
}

static bool get_true(json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

/* A list of `rows` lists of `cols` numbers. */
static rg_status read_matrix(float *out, json_t *list, size_t rows, size_t cols)
{
    if (!json_is_array(list) || json_array_size(list) != rows)
        return rg_fail(RG_EFORMAT, "%zu rows, the labels are %zu", json_is_array(list) ? json_array_size(list) : 0,
                       rows);
    for (size_t i = 0; i < rows; i++) {
        json_t *row = json_array_get(list, i);
        if (!json_is_array(row) || json_array_size(row) != cols)
            return rg_fail(RG_EFORMAT, "row %zu has %zu numbers, the columns %zu", i,
                           json_is_array(row) ? json_array_size(row) : 0, cols);
        for (size_t j = 0; j < cols; j++) {
            double    v = 0;
            rg_status status = get_number(&v, json_array_get(row, j));
            if (status != RG_OK) return rg_fail_in(status, "row %zu, column %zu: ", i, j);
            out[i * cols + j] = (float)v;
        }
    }
    return RG_OK;
}

/* The bytes of a base64 string; the room is measured by the text that is there. */
static rg_status read_base64(unsigned char **out, size_t *out_bytes, json_t *text)
{
    rg_status      status;
    unsigned char *bytes = rg_alloc(rg_base64_size(json_string_length(text)));

    if (!bytes) return RG_ENOMEM;
    status = rg_base64_decode(out_bytes, bytes, json_string_value(text), json_string_length(text));
    if (status != RG_OK) {
        rg_free(bytes);
        return status;
    }
    *out = bytes;
    return RG_OK;
}

static rg_status read_f32(float *out, const unsigned char *in, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t u = 0;
        for (int k = 0; k < 4; k++) u |= (uint32_t)in[4 * i + (size_t)k] << (8 * k);
        memcpy(&out[i], &u, 4);
    }
    return RG_OK;
}

static rg_status read_u16(float *out, const unsigned char *in, size_t count, json_t *object)
{
    double low = 0, high = 0;

    RG_TRY(get_number(&low, json_object_get(object, "low")));
    RG_TRY(get_number(&high, json_object_get(object, "high")));
    for (size_t i = 0; i < count; i++)
        out[i] = (float)(low + (high - low) * (double)(in[2 * i] | in[2 * i + 1] << 8) / 65535.0);
    return RG_OK;
}

static rg_status read_packed(float *out, json_t *object, size_t count)
{
    rg_status      status;
    json_t        *text = json_object_get(object, "f32");
    size_t         each = text ? 4 : 2, bytes = 0;
    unsigned char *data = NULL;

    if (!text) text = json_object_get(object, "u16");
    if (!json_is_string(text)) return rg_fail(RG_EFORMAT, "neither rows nor \"f32\", \"u16\" or \"edges\"");
    RG_TRY(read_base64(&data, &bytes, text));
    if (bytes != count * each)
        status = rg_fail(RG_EFORMAT, "%zu bytes for %zu weights of %zu", bytes, count, each);
    else
        status = each == 4 ? read_f32(out, data, count) : read_u16(out, data, count, object);
    rg_free(data);
    return status;
}

static rg_status to_real(rg_real **out, const float *w, size_t count)
{
    rg_real *v = rg_alloc_array(count, sizeof *v);

    if (!v) return RG_ENOMEM;
    for (size_t i = 0; i < count; i++) v[i] = w[i];
    *out = v;
    return RG_OK;
}

static rg_status add_edges(rg_record *r, rg_map_place place, size_t rows, size_t cols, const uint32_t *from,
                           const uint32_t *to, const float *w, size_t edges)
{
    rg_real  *weights = NULL;
    rg_status status = to_real(&weights, w, edges);

    if (status == RG_OK) status = rg_record_add_edges(NULL, r, place, rows, cols, from, to, weights, edges);
    rg_free(weights);
    return status;
}

static rg_status add_dense(rg_record *r, rg_map_place place, size_t rows, size_t cols, const float *w)
{
    rg_real  *weights = NULL;
    size_t    n = r->labels[cols].count;
    rg_status status = to_real(&weights, w, r->labels[rows].count * n);

    if (status == RG_OK) status = rg_record_add_map(NULL, r, place, rows, cols, weights, n);
    rg_free(weights);
    return status;
}

static rg_status read_edges(rg_record *r, rg_map_place place, size_t rows, size_t cols, json_t *list)
{
    rg_status status = RG_OK;
    size_t    edges = json_array_size(list);
    uint32_t *from = rg_alloc_array(edges, sizeof *from), *to = rg_alloc_array(edges, sizeof *to);
    float    *w = rg_alloc_array(edges, sizeof *w);

    if (!from || !to || !w) status = RG_ENOMEM;
    for (size_t e = 0; status == RG_OK && e < edges; e++) {
        json_t *edge = json_array_get(list, e), *a = json_array_get(edge, 0), *b = json_array_get(edge, 1);
        double  v = 0;
        if (!json_is_integer(a) || !json_is_integer(b) || json_array_size(edge) != 3)
            status = rg_fail(RG_EFORMAT, "edge %zu is not [from, to, weight]", e);
        else if (json_integer_value(a) < 0 || json_integer_value(a) >= RG_RECORD_MAX_LABELS ||
                 json_integer_value(b) < 0 || json_integer_value(b) >= RG_RECORD_MAX_LABELS)
            status = rg_fail(RG_EFORMAT, "edge %zu goes outside the labels", e);
        else if ((status = get_number(&v, json_array_get(edge, 2))) != RG_OK)
            rg_fail_in(status, "edge %zu: ", e);
        if (status != RG_OK) break;
        from[e] = (uint32_t)json_integer_value(a);
        to[e] = (uint32_t)json_integer_value(b);
        w[e] = (float)v;
    }
    if (status == RG_OK) status = add_edges(r, place, rows, cols, from, to, w, edges);
    rg_free(from);
    rg_free(to);
    rg_free(w);
    return status;
}

static rg_status read_dense(rg_record *r, rg_map_place place, size_t rows, size_t cols, json_t *weights, size_t bytes)
{
    rg_status status;
    size_t    count;
    float    *w;

    /* A weight needs a character at least: two long label lists do not make a matrix that the file cannot hold. */
    if (!rg_size_mul(&count, r->labels[rows].count, r->labels[cols].count) || count > bytes)
        return rg_fail(RG_EFORMAT, "%zu x %zu weights in a file of %zu bytes", r->labels[rows].count,
                       r->labels[cols].count, bytes);
    if (!(w = rg_alloc_array(count, sizeof *w))) return RG_ENOMEM;
    if (json_is_object(weights)) status = read_packed(w, weights, count);
    else status = read_matrix(w, weights, r->labels[rows].count, r->labels[cols].count);
    if (status == RG_OK) status = add_dense(r, place, rows, cols, w);
    rg_free(w);
    return status;
}

static rg_status read_from_source(rg_record *r, rg_map_place place, size_t rows, size_t cols,
                                  const rg_weights_source *source)
{
    const float    *w = NULL;
    const uint32_t *from = NULL, *to = NULL;
    size_t          edges = 0;

    RG_TRY(source->get(source->context, r->maps, r->labels[rows].count, r->labels[cols].count, &w, &from, &to, &edges));
    return from ? add_edges(r, place, rows, cols, from, to, w, edges) : add_dense(r, place, rows, cols, w);
}

static rg_status read_weights(rg_record *r, json_t *object, size_t bytes, const rg_weights_source *source)
{
    rg_status    status;
    rg_map_place place = RG_MAP_PLACE_DEFAULT;
    int          rows = -1, cols = -1;
    json_t      *weights = json_object_get(object, "weights"), *edges;

    RG_TRY(get_string(&place.name, object, "name", "attention"));
    RG_TRY(get_int(&place.layer, object, "layer", -1));
    RG_TRY(get_int(&place.head, object, "head", -1));
    RG_TRY(get_int(&place.step, object, "step", -1));
    RG_TRY(get_int(&place.hypothesis, object, "hypothesis", -1));
    RG_TRY(get_int(&rows, object, "rows", -1));
    RG_TRY(get_int(&cols, object, "cols", -1));
    if (rows < 0 || cols < 0 || (size_t)rows >= r->label_lists || (size_t)cols >= r->label_lists)
        return rg_fail(RG_EFORMAT, "rows are labels[%d], columns labels[%d], there are %zu lists", rows, cols,
                       r->label_lists);
    if (!weights && source) return read_from_source(r, place, (size_t)rows, (size_t)cols, source);
    edges = json_object_get(weights, "edges");
    if (edges && !json_is_array(edges)) return rg_fail(RG_EFORMAT, "\"edges\" is not a list");
    status = edges ? read_edges(r, place, (size_t)rows, (size_t)cols, edges)
                   : read_dense(r, place, (size_t)rows, (size_t)cols, weights, bytes);
    return status == RG_OK ? RG_OK : rg_fail_in(status, "weights: ");
}

/* Of a map, where somebody measured it. */
static rg_status read_faithfulness(rg_record *r, json_t *object)
{
    json_t         *f = json_object_get(object, "faithfulness");
    rg_faithfulness faith = { .measured = true };
    double          rank = 0, drop = 0, random = 0;
    int             k = 0;
    if (!f) return RG_OK;
    RG_TRY(get_number(&rank, json_object_get(f, "rank")));
    RG_TRY(get_number(&drop, json_object_get(f, "drop")));
    RG_TRY(get_number(&random, json_object_get(f, "random")));
    RG_TRY(get_int(&k, f, "k", 0));
    if (k < 0) return rg_fail(RG_EFORMAT, "k is %d", k);
    faith.rank = (float)rank, faith.drop = (float)drop, faith.random = (float)random, faith.k = (size_t)k;
    if (!isfinite(faith.rank) || !isfinite(faith.drop) || !isfinite(faith.random))
        return rg_fail(RG_ENUMBER, "a number is too large");
    rg_record_set_faithfulness(r, r->maps - 1, faith);
    return RG_OK;
}

static rg_status read_map(rg_record *r, json_t *object, size_t bytes, const rg_weights_source *source)
{
    RG_TRY(read_weights(r, object, bytes, source));
    const rg_status status = read_faithfulness(r, object);
    return status == RG_OK ? RG_OK : rg_fail_in(status, "faithfulness: ");
}

static rg_status read_tuples(rg_record *r, json_t *object, const char *key, size_t index, size_t each,
                             rg_status (*set)(rg_record *, size_t, const float *))
{
    rg_status status;
    size_t    count = r->labels[index].count;
    json_t   *list = json_object_get(object, key);
    float    *v;

    if (!list) return RG_OK;
    if (!(v = rg_alloc_array(count, each * sizeof *v))) return RG_ENOMEM;
    if ((status = read_matrix(v, list, count, each)) == RG_OK) status = set(r, index, v);
    rg_free(v);
    return status == RG_OK ? RG_OK : rg_fail_in(status, "%s: ", key);
}

static rg_status read_picture(rg_record *r, json_t *object, size_t index)
{
    rg_status      status;
    json_t        *text = json_object_get(object, "picture");
    unsigned char *bytes = NULL;
    size_t         count = 0;

    if (!text) return RG_OK;
    if (!json_is_string(text)) return rg_fail(RG_EFORMAT, "\"picture\" is not a string");
    if ((status = read_base64(&bytes, &count, text)) == RG_OK) status = rg_record_set_picture(r, index, bytes, count);
    rg_free(bytes);
    return status == RG_OK ? RG_OK : rg_fail_in(status, "picture: ");
}

static rg_status read_kind(rg_label_kind *out, json_t *object)
{
    const char *name;

    RG_TRY(get_string(&name, object, "kind", "token"));
    for (int k = 0; k < RG_LABEL_KINDS; k++) {
        *out = (rg_label_kind)k;
        if (!strcmp(name, rg_label_kind_name(*out))) return RG_OK;
    }
    return rg_fail(RG_EFORMAT, "kind \"%s\" is none of token, region, node, slot", name);
}

static rg_status read_labels(rg_record *r, json_t *object)
{
    rg_status     status = RG_OK;
    const char   *name, **text;
    rg_label_kind kind;
    json_t       *list;
    size_t        index, count;

    RG_TRY(get_string(&name, object, "name", ""));
    RG_TRY(read_kind(&kind, object));
    RG_TRY(get_array(&list, object, "text", RG_RECORD_MAX_LABELS));
    if (!list) return rg_fail(RG_EFORMAT, "\"text\" is missing");
    count = json_array_size(list);
    if (!(text = rg_alloc_array(count, sizeof *text))) return RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        json_t *v = json_array_get(list, i);
        if (!json_is_string(v)) status = rg_fail(RG_EFORMAT, "text[%zu] is not a string", i);
        else if (json_string_length(v) > RG_RECORD_MAX_LABEL)
            status = rg_fail(RG_ELIMIT, "text[%zu] has %zu bytes, at most %zu", i, json_string_length(v),
                             RG_RECORD_MAX_LABEL);
        else text[i] = json_string_value(v);
    }
    if (status == RG_OK) status = rg_record_add_labels(&index, r, name, kind, text, count);
    rg_free(text);
    if (status != RG_OK) return status;
    RG_TRY(read_tuples(r, object, "boxes", index, 4, rg_record_set_boxes));
    RG_TRY(read_tuples(r, object, "places", index, 2, rg_record_set_places));
    return read_picture(r, object, index);
}

static rg_status read_text(rg_record *r, json_t *object)
{
    const char *role;
    json_t     *text = json_object_get(object, "text"), *score = json_object_get(object, "score");
    double      value = 0;

    RG_TRY(get_string(&role, object, "role", "note"));
    if (!json_is_string(text)) return rg_fail(RG_EFORMAT, "\"text\" is missing or not a string");
    if (score) RG_TRY(get_number(&value, score));
    return rg_record_add_text(r, role, json_string_value(text), value, get_true(object, "chosen"));
}

static rg_status read_numbers(double **out, size_t *out_count, json_t *object, const char *key)
{
    rg_status status = RG_OK;
    json_t   *list = json_object_get(object, key);
    size_t    count = json_array_size(list);
    double   *v;

    if (!json_is_array(list)) return rg_fail(RG_EFORMAT, "\"%s\" is missing or not a list", key);
    if (!(v = rg_alloc_array(count, sizeof *v))) return RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < count; i++) status = get_number(&v[i], json_array_get(list, i));
    if (status != RG_OK) {
        rg_free(v);
        return rg_fail_in(status, "%s: ", key);
    }
    *out = v;
    *out_count = count;
    return RG_OK;
}

static rg_status read_interval(rg_record *r, size_t curves, json_t *object, size_t points)
{
    double   *low = NULL, *high = NULL;
    size_t    lows = 0, highs = 0;
    rg_status status;

    if (!json_object_get(object, "low") && !json_object_get(object, "high")) return RG_OK;
    if ((status = read_numbers(&low, &lows, object, "low")) == RG_OK &&
        (status = read_numbers(&high, &highs, object, "high")) == RG_OK)
        status = lows == points && highs == points
                     ? rg_record_set_interval(r, curves, low, high)
                     : rg_fail(RG_EFORMAT, "%zu numbers in low, %zu in high, %zu in y", lows, highs, points);
    rg_free(low);
    rg_free(high);
    return status;
}

static rg_status read_series(rg_record *r, size_t curves, json_t *object)
{
    rg_status   status;
    const char *name;
    double     *x = NULL, *y = NULL;
    size_t      nx = 0, ny = 0;

    RG_TRY(get_string(&name, object, "name", ""));
    if ((status = read_numbers(&x, &nx, object, "x")) == RG_OK &&
        (status = read_numbers(&y, &ny, object, "y")) == RG_OK) {
        if (nx != ny) status = rg_fail(RG_EFORMAT, "%zu numbers in x, %zu in y", nx, ny);
        else status = rg_record_add_series(r, curves, name, x, y, nx);
        if (status == RG_OK) status = read_interval(r, curves, object, ny);
    }
    rg_free(x);
    rg_free(y);
    return status;
}

static rg_status read_bars(rg_record *r, size_t curves, json_t *object)
{
    json_t      *list = json_object_get(object, "bars");
    const size_t count = json_array_size(list);
    const char **name;
    rg_status    status = RG_OK;

    if (!list) return RG_OK;
    RG_TRY(get_array(&list, object, "bars", RG_RECORD_MAX_LISTS));
    if (!(name = rg_alloc_array(count, sizeof *name))) return RG_ENOMEM;
    for (size_t i = 0; i < count && status == RG_OK; i++)
        if (!(name[i] = json_string_value(json_array_get(list, i))) || strlen(name[i]) > RG_RECORD_MAX_LABEL)
            status = rg_fail(RG_EFORMAT, "bars[%zu] is not a text of at most %zu bytes", i, RG_RECORD_MAX_LABEL);
    if (status == RG_OK) status = rg_record_set_bars(r, curves, name, count);
    rg_free(name);
    return status;
}

static rg_status read_curves(rg_record *r, json_t *object)
{
    const char *title, *x_name, *y_name;
    json_t     *list;
    size_t      index;

    RG_TRY(get_string(&title, object, "title", ""));
    RG_TRY(get_string(&x_name, object, "x", ""));
    RG_TRY(get_string(&y_name, object, "y", ""));
    RG_TRY(get_array(&list, object, "series", RG_RECORD_MAX_LISTS));
    RG_TRY(
        rg_record_add_curves(&index, r, title, x_name, y_name, get_true(object, "x_log"), get_true(object, "y_log")));
    RG_TRY(read_bars(r, index, object));
    for (size_t i = 0; i < json_array_size(list); i++) {
        rg_status status = read_series(r, index, json_array_get(list, i));
        if (status != RG_OK) return rg_fail_in(status, "series[%zu]: ", i);
    }
    return RG_OK;
}

static rg_status read_list(rg_record *r, json_t *root, const char *key, size_t most,
                           rg_status (*read)(rg_record *, json_t *))
{
    json_t *list;

    RG_TRY(get_array(&list, root, key, most));
    for (size_t i = 0; i < json_array_size(list); i++) {
        rg_status status = json_is_object(json_array_get(list, i)) ? read(r, json_array_get(list, i))
                                                                   : rg_fail(RG_EFORMAT, "not an object");
        if (status != RG_OK) return rg_fail_in(status, "%s[%zu]: ", key, i);
    }
    return RG_OK;
}

static rg_status read_maps(rg_record *r, json_t *root, size_t bytes, const rg_weights_source *source)
{
    json_t *list;

    RG_TRY(get_array(&list, root, "maps", RG_RECORD_MAX_MAPS));
    for (size_t i = 0; i < json_array_size(list); i++) {
        rg_status status = json_is_object(json_array_get(list, i))
                               ? read_map(r, json_array_get(list, i), bytes, source)
                               : rg_fail(RG_EFORMAT, "not an object");
        if (status != RG_OK) return rg_fail_in(status, "maps[%zu]: ", i);
    }
    return RG_OK;
}

static rg_status read_root(rg_record **out, json_t *root, size_t bytes, const rg_weights_source *source)
{
    rg_status   status;
    rg_record  *r = NULL;
    const char *format, *title, *kind;

    if (!json_is_object(root)) return rg_fail(RG_EFORMAT, "not a record: the JSON is not an object");
    RG_TRY(get_string(&format, root, "format", ""));
    if (strcmp(format, RG_RECORD_VERSION))
        return rg_fail(RG_EFORMAT, "not a record: \"format\" is \"%.40s\", not \"" RG_RECORD_VERSION "\"", format);
    RG_TRY(get_string(&title, root, "title", ""));
    RG_TRY(get_string(&kind, root, "kind", ""));
    RG_TRY(rg_record_new(&r, title, kind));
    if ((status = read_list(r, root, "texts", RG_RECORD_MAX_LISTS, read_text)) == RG_OK &&
        (status = read_list(r, root, "labels", RG_RECORD_MAX_LISTS, read_labels)) == RG_OK &&
        (status = read_maps(r, root, bytes, source)) == RG_OK &&
        (status = read_list(r, root, "curves", RG_RECORD_MAX_LISTS, read_curves)) == RG_OK) {
        *out = r;
        return RG_OK;
    }
    rg_record_free(r);
    return status;
}

rg_status rg_record__from_json(rg_record **out, const char *json, size_t bytes, const rg_weights_source *source)
{
    rg_status    status;
    json_error_t error;
    json_t      *root;

    if (bytes > RG_RECORD_MAX_JSON)
        return rg_fail(RG_ELIMIT, "a JSON record of %zu bytes, at most %zu; use .safetensors", bytes,
                       RG_RECORD_MAX_JSON);
    RG_TRY(rg_view__check_depth(json, bytes));
    if (!(root = json_loadb(json, bytes, JSON_REJECT_DUPLICATES, &error)))
        return rg_fail(RG_EFORMAT, "line %d, column %d: %s", error.line, error.column, error.text);
    status = read_root(out, root, bytes, source);
    json_decref(root);
    return status;
}

rg_status rg_record_from_json(rg_record **out, const char *json, size_t bytes)
{
    return rg_record__from_json(out, json, bytes, NULL);
}
