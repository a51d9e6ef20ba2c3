/* record_write.c - a record as JSON, the form docs/record.md describes. */
#include "regard/record.h"
#include "view/buffer.h"
#include "view/record_files.h"

#include <math.h>
#include <string.h>

enum { NUMBERS_UP_TO = 16384 }; /* weights of a map that RG_WEIGHTS_AUTO writes as plain numbers */

static void write_tuples(rg_buffer *b, const char *key, const float *v, size_t count, size_t each)
{
    rg_buffer_format(b, ",\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        rg_buffer_text(b, i ? ",[" : "[");
        for (size_t k = 0; k < each; k++) {
            if (k) rg_buffer_text(b, ",");
            rg_buffer_float(b, v[i * each + k]);
        }
        rg_buffer_text(b, "]");
    }
    rg_buffer_text(b, "]");
}

static void write_labels(rg_buffer *b, const rg_labels *l, bool with_picture)
{
    rg_buffer_text(b, "{\"name\":");
    rg_buffer_json(b, l->name);
    rg_buffer_format(b, ",\"kind\":\"%s\",\"text\":[", rg_label_kind_name(l->kind));
    for (size_t i = 0; i < l->count; i++) {
        if (i) rg_buffer_text(b, ",");
        rg_buffer_json(b, l->text[i]);
    }
    rg_buffer_text(b, "]");
    if (l->boxes) write_tuples(b, "boxes", l->boxes, l->count, 4);
    if (l->places) write_tuples(b, "places", l->places, l->count, 2);
    if (l->picture && with_picture) {
        rg_buffer_text(b, ",\"picture\":\"");
        rg_buffer_base64(b, l->picture, l->picture_bytes);
        rg_buffer_text(b, "\"");
    }
    rg_buffer_text(b, "}");
}

static void write_f32(rg_buffer *b, const float *w, size_t count)
{
    unsigned char *bytes = rg_alloc_array(count, 4);

    if (!bytes) {
        b->status = RG_ENOMEM;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t u;
        memcpy(&u, &w[i], 4);
        for (int k = 0; k < 4; k++) bytes[4 * i + (size_t)k] = (unsigned char)(u >> (8 * k));
    }
    rg_buffer_text(b, "{\"f32\":\"");
    rg_buffer_base64(b, bytes, count * 4);
    rg_buffer_text(b, "\"}");
    rg_free(bytes);
}

/* w ~ low + scale * n / 65535, n in 16 bits. */
static void write_u16(rg_buffer *b, const float *w, size_t count)
{
    unsigned char *bytes = rg_alloc_array(count, 2);
    float          low = 0, high = 0;

    if (!bytes) {
        b->status = RG_ENOMEM;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        low = w[i] < low ? w[i] : low;
        high = w[i] > high ? w[i] : high;
    }
    for (size_t i = 0; i < count; i++) {
        double span = (double)high - (double)low;
        long   n = span > 0 ? lround(((double)w[i] - (double)low) / span * 65535.0) : 0;
        bytes[2 * i] = (unsigned char)n;
        bytes[2 * i + 1] = (unsigned char)(n >> 8);
    }
    rg_buffer_text(b, "{\"low\":");
    rg_buffer_float(b, low);
    rg_buffer_text(b, ",\"high\":");
    rg_buffer_float(b, high);
    rg_buffer_text(b, ",\"u16\":\"");
    rg_buffer_base64(b, bytes, count * 2);
    rg_buffer_text(b, "\"}");
    rg_free(bytes);
}

static void write_weights(rg_buffer *b, const rg_record_map *m, rg_weights_as as)
{
    size_t count = m->rows * m->cols;

    if (m->from) {
        rg_buffer_text(b, "{\"edges\":[");
        for (size_t e = 0; e < m->edges; e++) {
            rg_buffer_format(b, "%s[%u,%u,", e ? "," : "", (unsigned)m->from[e], (unsigned)m->to[e]);
            rg_buffer_float(b, m->weights[e]);
            rg_buffer_text(b, "]");
        }
        rg_buffer_text(b, "]}");
        return;
    }
    if (as == RG_WEIGHTS_AUTO) as = count > NUMBERS_UP_TO ? RG_WEIGHTS_F32 : RG_WEIGHTS_NUMBERS;
    if (as == RG_WEIGHTS_F32) write_f32(b, m->weights, count);
    else if (as == RG_WEIGHTS_U16) write_u16(b, m->weights, count);
    else {
        rg_buffer_text(b, "[");
        for (size_t i = 0; i < m->rows; i++) {
            rg_buffer_text(b, i ? ",\n[" : "\n[");
            for (size_t j = 0; j < m->cols; j++) {
                if (j) rg_buffer_text(b, ",");
                rg_buffer_float(b, m->weights[i * m->cols + j]);
            }
            rg_buffer_text(b, "]");
        }
        rg_buffer_text(b, "]");
    }
}

static void write_faithfulness(rg_buffer *b, const rg_faithfulness *f)
{
    if (!f->measured) return;
    rg_buffer_text(b, ",\"faithfulness\":{\"rank\":");
    rg_buffer_float(b, f->rank);
    rg_buffer_format(b, ",\"k\":%zu,\"drop\":", f->k);
    rg_buffer_float(b, f->drop);
    rg_buffer_text(b, ",\"random\":");
    rg_buffer_float(b, f->random);
    rg_buffer_text(b, "}");
}

static void write_map(rg_buffer *b, const rg_record_map *m, rg_weights_as as, bool with_weights)
{
    rg_buffer_text(b, "{\"name\":");
    rg_buffer_json(b, m->name);
    if (m->layer >= 0) rg_buffer_format(b, ",\"layer\":%d", m->layer);
    if (m->head >= 0) rg_buffer_format(b, ",\"head\":%d", m->head);
    if (m->step >= 0) rg_buffer_format(b, ",\"step\":%d", m->step);
    if (m->hypothesis >= 0) rg_buffer_format(b, ",\"hypothesis\":%d", m->hypothesis);
    rg_buffer_format(b, ",\"rows\":%zu,\"cols\":%zu", m->row_labels, m->col_labels);
    write_faithfulness(b, &m->faith);
    if (with_weights) {
        rg_buffer_text(b, ",\"weights\":");
        write_weights(b, m, as);
    }
    rg_buffer_text(b, "}");
}

static void write_text(rg_buffer *b, const rg_record_text *t)
{
    rg_buffer_text(b, "{\"role\":");
    rg_buffer_json(b, t->role);
    rg_buffer_text(b, ",\"text\":");
    rg_buffer_json(b, t->text);
    if (t->score != 0) {
        rg_buffer_text(b, ",\"score\":");
        rg_buffer_double(b, t->score);
    }
    if (t->chosen) rg_buffer_text(b, ",\"chosen\":true");
    rg_buffer_text(b, "}");
}

static void write_numbers(rg_buffer *b, const char *key, const double *v, size_t count)
{
    rg_buffer_format(b, ",\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        if (i) rg_buffer_text(b, ",");
        rg_buffer_double(b, v[i]);
    }
    rg_buffer_text(b, "]");
}

static void write_curves(rg_buffer *b, const rg_curves *c)
{
    rg_buffer_text(b, "{\"title\":");
    rg_buffer_json(b, c->title);
    rg_buffer_text(b, ",\"x\":");
    rg_buffer_json(b, c->x_name);
    rg_buffer_text(b, ",\"y\":");
    rg_buffer_json(b, c->y_name);
    if (c->x_log) rg_buffer_text(b, ",\"x_log\":true");
    if (c->y_log) rg_buffer_text(b, ",\"y_log\":true");
    for (size_t i = 0; i < c->bars; i++) {
        rg_buffer_text(b, i ? "," : ",\"bars\":[");
        rg_buffer_json(b, c->bar[i]);
    }
    if (c->bars) rg_buffer_text(b, "]");
    rg_buffer_text(b, ",\"series\":[");
    for (size_t i = 0; i < c->count; i++) {
        rg_buffer_text(b, i ? ",\n{\"name\":" : "\n{\"name\":");
        rg_buffer_json(b, c->series[i].name);
        write_numbers(b, "x", c->series[i].x, c->series[i].count);
        write_numbers(b, "y", c->series[i].y, c->series[i].count);
        if (c->series[i].low) write_numbers(b, "low", c->series[i].low, c->series[i].count);
        if (c->series[i].high) write_numbers(b, "high", c->series[i].high, c->series[i].count);
        rg_buffer_text(b, "}");
    }
    rg_buffer_text(b, "]}");
}

/* ",\n "key":[ a,\n b ]" around what `element` writes */
#define WRITE_LIST(key, count, element)                       \
    if (count) {                                              \
        rg_buffer_text(&b, ",\n\"" key "\":[");               \
        for (size_t i = 0; i < (count); i++) {                \
            rg_buffer_text(&b, i ? ",\n" : "\n");             \
            element;                                          \
        }                                                     \
        rg_buffer_text(&b, "]");                              \
    }

rg_status rg_record__to_json(char **out, size_t *out_bytes, const rg_record *r, rg_weights_as as, bool with_weights)
{
    rg_buffer b = RG_BUFFER_EMPTY;

    rg_buffer_text(&b, "{\"format\":\"" RG_RECORD_VERSION "\",\n\"title\":");
    rg_buffer_json(&b, r->title);
    rg_buffer_text(&b, ",\n\"kind\":");
    rg_buffer_json(&b, r->kind);
    WRITE_LIST("texts", r->texts, write_text(&b, &r->text[i]))
    WRITE_LIST("labels", r->label_lists, write_labels(&b, &r->labels[i], with_weights))
    WRITE_LIST("maps", r->maps, write_map(&b, &r->map[i], as, with_weights))
    WRITE_LIST("curves", r->curve_sets, write_curves(&b, &r->curves[i]))
    rg_buffer_text(&b, "}\n");
    return rg_buffer_take(out, out_bytes, &b);
}

rg_status rg_record_to_json(char **out, size_t *out_bytes, const rg_record *r, rg_weights_as weights)
{
    return rg_record__to_json(out, out_bytes, r, weights, true);
}
