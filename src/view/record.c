/* record.c - making a record and asking it. The reader uses the same adders, so what they check holds for every
 * record. */
#include "regard/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[RG_LABEL_KINDS] = { "token", "region", "node", "slot" };

const char *rg_label_kind_name(rg_label_kind kind)
{
    return (unsigned)kind < RG_LABEL_KINDS ? kind_names[kind] : "token";
}

rg_status rg_record_new(rg_record **out, const char *title, const char *kind)
{
    rg_record *r = rg_alloc_zero(sizeof *r);

    if (!r) return RG_ENOMEM;
    r->title = rg_strdup(title ? title : "");
    r->kind = rg_strdup(kind ? kind : "");
    if (!r->title || !r->kind) {
        rg_record_free(r);
        return RG_ENOMEM;
    }
    *out = r;
    return RG_OK;
}

rg_status rg_record_set_kind(rg_record *r, const char *kind)
{
    char *copy = rg_strdup(kind);
    if (!copy) return RG_ENOMEM;
    rg_free(r->kind);
    r->kind = copy;
    return RG_OK;
}

static void labels_fini(rg_labels *l)
{
    rg_free(l->name);
    for (size_t i = 0; l->text && i < l->count; i++) rg_free(l->text[i]);
    rg_free(l->text);
    rg_free(l->boxes);
    rg_free(l->places);
    rg_free(l->picture);
}

static void map_fini(rg_record_map *m)
{
    rg_free(m->name);
    rg_free(m->weights);
    rg_free(m->from);
    rg_free(m->to);
}

static void curves_fini(rg_curves *c)
{
    rg_free(c->title);
    rg_free(c->x_name);
    rg_free(c->y_name);
    for (size_t i = 0; i < c->count; i++) {
        rg_free(c->series[i].name);
        rg_free(c->series[i].x);
        rg_free(c->series[i].y);
        rg_free(c->series[i].low);
        rg_free(c->series[i].high);
    }
    rg_free(c->series);
    for (size_t i = 0; i < c->bars; i++) rg_free(c->bar[i]);
    rg_free(c->bar);
}

void rg_record_free(rg_record *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->label_lists; i++) labels_fini(&r->labels[i]);
    for (size_t i = 0; i < r->maps; i++) map_fini(&r->map[i]);
    for (size_t i = 0; i < r->curve_sets; i++) curves_fini(&r->curves[i]);
    for (size_t i = 0; i < r->texts; i++) {
        rg_free(r->text[i].role);
        rg_free(r->text[i].text);
    }
    rg_free(r->labels);
    rg_free(r->map);
    rg_free(r->text);
    rg_free(r->curves);
    rg_free(r->title);
    rg_free(r->kind);
    rg_free(r);
}

/* Room for one more element in an array of `count`; it grows at powers of two. */
static rg_status one_more(void *array, size_t count, size_t each, size_t most, const char *what)
{
    void **a = array;
    void  *grown;

    if (count >= most) return rg_fail(RG_ELIMIT, "a record holds at most %zu %s", most, what);
    if (count & (count - 1)) return RG_OK;
    if (!(grown = rg_realloc(*a, (count ? count * 2 : 1) * each))) return RG_ENOMEM;
    *a = grown;
    return RG_OK;
}

static rg_status copy_bytes(void *out, const void *from, size_t count, size_t each)
{
    void *copy = rg_alloc_array(count, each);

    if (!copy) return RG_ENOMEM;
    if (count) memcpy(copy, from, count * each);
    *(void **)out = copy;
    return RG_OK;
}

static rg_status check_finite(const float *v, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(v[i])) return rg_fail(RG_ENUMBER, "%s: number %zu of %zu is not finite", what, i, count);
    return RG_OK;
}

rg_status rg_record_add_labels(size_t *out_index, rg_record *r, const char *name, rg_label_kind kind,
                               const char *const *text, size_t count)
{
    rg_labels l = { .kind = kind, .count = count };

    if ((unsigned)kind >= RG_LABEL_KINDS) return rg_fail(RG_EINVAL, "labels of unknown kind %d", (int)kind);
    if (count > RG_RECORD_MAX_LABELS)
        return rg_fail(RG_ELIMIT, "%zu labels in one list, at most %d", count, RG_RECORD_MAX_LABELS);
    RG_TRY(one_more(&r->labels, r->label_lists, sizeof *r->labels, RG_RECORD_MAX_LISTS, "label lists"));
    l.name = rg_strdup(name ? name : "");
    l.text = rg_alloc_array(count, sizeof *l.text);
    if (l.text && count) memset(l.text, 0, count * sizeof *l.text);
    if (!l.name || !l.text) goto no_memory;
    for (size_t i = 0; i < count; i++)
        if (!(l.text[i] = rg_strdup(text && text[i] ? text[i] : ""))) goto no_memory;
    if (out_index) *out_index = r->label_lists;
    r->labels[r->label_lists++] = l;
    return RG_OK;
no_memory:
    labels_fini(&l);
    return RG_ENOMEM;
}

static rg_status find_labels(rg_labels **out, rg_record *r, size_t labels)
{
    if (labels >= r->label_lists)
        return rg_fail(RG_EINVAL, "label list %zu of a record with %zu", labels, r->label_lists);
    *out = &r->labels[labels];
    return RG_OK;
}

rg_status rg_record_set_boxes(rg_record *r, size_t labels, const float *boxes)
{
    rg_labels *l = NULL;
    float     *copy;

    RG_TRY(find_labels(&l, r, labels));
    RG_TRY(check_finite(boxes, 4 * l->count, "boxes"));
    RG_TRY(copy_bytes(&copy, boxes, 4 * l->count, sizeof *copy));
    rg_free(l->boxes);
    l->boxes = copy;
    return RG_OK;
}

rg_status rg_record_set_places(rg_record *r, size_t labels, const float *places)
{
    rg_labels *l = NULL;
    float     *copy;

    RG_TRY(find_labels(&l, r, labels));
    RG_TRY(check_finite(places, 2 * l->count, "places"));
    RG_TRY(copy_bytes(&copy, places, 2 * l->count, sizeof *copy));
    rg_free(l->places);
    l->places = copy;
    return RG_OK;
}

rg_status rg_record_set_picture(rg_record *r, size_t labels, const void *bytes, size_t count)
{
    rg_labels     *l = NULL;
    unsigned char *copy;

    RG_TRY(find_labels(&l, r, labels));
    if (count > RG_RECORD_MAX_PICTURE)
        return rg_fail(RG_ELIMIT, "a picture of %zu bytes, at most %zu", count, RG_RECORD_MAX_PICTURE);
    RG_TRY(copy_bytes(&copy, bytes, count, 1));
    rg_free(l->picture);
    l->picture = copy;
    l->picture_bytes = count;
    return RG_OK;
}

bool rg_labels_are_strips(const rg_labels *l)
{
    if (l->kind != RG_LABEL_REGION || !l->boxes || l->count < 2) return false;
    for (size_t i = 0; i < l->count; i++) {
        const float *b = l->boxes + 4 * i;
        if (b[1] > 0 || b[3] < 1 || (i && b[0] < b[-2] - 1e-6f)) return false;
    }
    return true;
}

rg_status rg_record_add_grid(size_t *out_index, rg_record *r, const char *name, size_t down, size_t across)
{
    rg_status  status;
    size_t     count, index;
    rg_labels *l = NULL;
    float     *box;

    if (!rg_size_mul(&count, down, across) || count > RG_RECORD_MAX_LABELS)
        return rg_fail(RG_ELIMIT, "a grid of %zu x %zu regions, at most %d", down, across, RG_RECORD_MAX_LABELS);
    if (!(box = rg_alloc_array(count, 4 * sizeof *box))) return RG_ENOMEM;
    if ((status = rg_record_add_labels(&index, r, name, RG_LABEL_REGION, NULL, count)) != RG_OK) {
        rg_free(box);
        return status;
    }
    l = &r->labels[index];
    for (size_t i = 0; i < count; i++) {
        size_t y = i / across, x = i % across;
        char  *text = rg_format("%zu,%zu", y, x);
        if (text) { /* without memory for a name the region stays nameless */
            rg_free(l->text[i]);
            l->text[i] = text;
        }
        box[4 * i + 0] = (float)x / (float)across;
        box[4 * i + 1] = (float)y / (float)down;
        box[4 * i + 2] = (float)(x + 1) / (float)across;
        box[4 * i + 3] = (float)(y + 1) / (float)down;
    }
    l->boxes = box;
    if (out_index) *out_index = index;
    return RG_OK;
}

enum { MOST_PLACE = 1000000 };

static bool bad_place(int n)
{
    return n < -1 || n > MOST_PLACE;
}

static rg_status map_begin(rg_record_map *m, rg_record *r, rg_map_place place, size_t row_labels, size_t col_labels)
{
    rg_labels *rows = NULL, *cols = NULL;

    if (bad_place(place.layer) || bad_place(place.head) || bad_place(place.step) || bad_place(place.hypothesis))
        return rg_fail(RG_EINVAL, "map %s: layer %d, head %d, step %d, hypothesis %d: each is -1 or 0 to %d",
                       place.name ? place.name : "", place.layer, place.head, place.step, place.hypothesis, MOST_PLACE);
    RG_TRY(find_labels(&rows, r, row_labels));
    RG_TRY(find_labels(&cols, r, col_labels));
    RG_TRY(one_more(&r->map, r->maps, sizeof *r->map, RG_RECORD_MAX_MAPS, "maps"));
    *m = (rg_record_map){ .layer = place.layer, .head = place.head, .step = place.step, .hypothesis = place.hypothesis,
                   .row_labels = row_labels, .col_labels = col_labels, .rows = rows->count, .cols = cols->count };
    return (m->name = rg_strdup(place.name ? place.name : "")) ? RG_OK : RG_ENOMEM;
}

/* `count` floats from numbers of the library's own kind, refusing what is not finite. */
static rg_status map_weights(rg_record_map *m, size_t held, const rg_real *weights, size_t rows, size_t cols, size_t ld)
{
    size_t count;

    if (!rg_size_mul(&count, rows, cols) || count > RG_RECORD_MAX_WEIGHTS - held)
        return rg_fail(RG_ELIMIT, "map %s: %zu x %zu weights after %zu, a record holds %zu", m->name, rows, cols, held,
                       RG_RECORD_MAX_WEIGHTS);
    if (!(m->weights = rg_alloc_array(count, sizeof *m->weights))) return RG_ENOMEM;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) m->weights[i * cols + j] = (float)weights[i * ld + j];
    for (size_t i = 0; i < count; i++)
        if (!isfinite(m->weights[i]))
            return rg_fail(RG_ENUMBER, "map %s: weight %zu of %zu is not finite", m->name, i, count);
    return RG_OK;
}

static rg_status map_end(size_t *out_index, rg_record *r, rg_record_map *m, rg_status status)
{
    if (status != RG_OK) {
        map_fini(m);
        return status;
    }
    if (out_index) *out_index = r->maps;
    r->map[r->maps++] = *m;
    r->weights += m->from ? m->edges : m->rows * m->cols;
    return RG_OK;
}

rg_status rg_record_add_map(size_t *out_index, rg_record *r, rg_map_place place, size_t row_labels, size_t col_labels,
                            const rg_real *weights, size_t ld)
{
    rg_record_map    m = { 0 };
    rg_status status = map_begin(&m, r, place, row_labels, col_labels);

    if (status == RG_OK) status = map_weights(&m, r->weights, weights, m.rows, m.cols, ld);
    return map_end(out_index, r, &m, status);
}

rg_status rg_record_add_edges(size_t *out_index, rg_record *r, rg_map_place place, size_t row_labels,
                              size_t col_labels, const uint32_t *from, const uint32_t *to, const rg_real *weights,
                              size_t edges)
{
    rg_record_map    m = { 0 };
    rg_status status = map_begin(&m, r, place, row_labels, col_labels);

    if (status == RG_OK) status = map_weights(&m, r->weights, weights, 1, edges, edges);
    for (size_t e = 0; status == RG_OK && e < edges; e++)
        if (from[e] >= m.rows || to[e] >= m.cols)
            status = rg_fail(RG_ESHAPE, "map %s: edge %zu goes from %u to %u in %zu x %zu", m.name, e,
                             (unsigned)from[e], (unsigned)to[e], m.rows, m.cols);
    if (status == RG_OK) status = copy_bytes(&m.from, from, edges, sizeof *from);
    if (status == RG_OK) status = copy_bytes(&m.to, to, edges, sizeof *to);
    m.edges = edges;
    return map_end(out_index, r, &m, status);
}

void rg_record_set_faithfulness(rg_record *r, size_t map, rg_faithfulness faith) { r->map[map].faith = faith; }

rg_status rg_record_add_text(rg_record *r, const char *role, const char *text, double score, bool chosen)
{
    rg_record_text t = { .score = score, .chosen = chosen };

    if (!isfinite(score)) return rg_fail(RG_ENUMBER, "the score of a text is not finite");
    RG_TRY(one_more(&r->text, r->texts, sizeof *r->text, RG_RECORD_MAX_LISTS, "texts"));
    t.role = rg_strdup(role ? role : "note");
    t.text = rg_strdup(text ? text : "");
    if (!t.role || !t.text) {
        rg_free(t.role);
        rg_free(t.text);
        return RG_ENOMEM;
    }
    r->text[r->texts++] = t;
    return RG_OK;
}

rg_status rg_record_add_curves(size_t *out_index, rg_record *r, const char *title, const char *x_name,
                               const char *y_name, bool x_log, bool y_log)
{
    rg_curves c = { .x_log = x_log, .y_log = y_log };

    RG_TRY(one_more(&r->curves, r->curve_sets, sizeof *r->curves, RG_RECORD_MAX_LISTS, "sets of curves"));
    c.title = rg_strdup(title ? title : "");
    c.x_name = rg_strdup(x_name ? x_name : "");
    c.y_name = rg_strdup(y_name ? y_name : "");
    if (!c.title || !c.x_name || !c.y_name) {
        curves_fini(&c);
        return RG_ENOMEM;
    }
    if (out_index) *out_index = r->curve_sets;
    r->curves[r->curve_sets++] = c;
    return RG_OK;
}

static bool is_bar(const rg_curves *c, double x) { return x >= 0 && x < (double)c->bars && x - floor(x) <= 0; }

rg_status rg_record_set_bars(rg_record *r, size_t curves, const char *const *name, size_t count)
{
    rg_curves *c = curves < r->curve_sets ? &r->curves[curves] : NULL;
    char     **bar;

    if (!c || c->count || c->bars) return rg_fail(RG_EINVAL, "bars are named once, before any series");
    if (!count || count > RG_RECORD_MAX_LISTS)
        return rg_fail(RG_ELIMIT, "%zu bars, 1 to %d are possible", count, RG_RECORD_MAX_LISTS);
    if (!(bar = rg_alloc_zero(count * sizeof *bar))) return RG_ENOMEM;
    c->bar = bar;
    c->bars = count;
    for (size_t i = 0; i < count; i++)
        if (!(bar[i] = rg_strdup(name[i] ? name[i] : ""))) {
            for (size_t k = 0; k < i; k++) rg_free(bar[k]);
            rg_free(bar);
            c->bar = NULL;
            c->bars = 0;
            return RG_ENOMEM;
        }
    return RG_OK;
}

rg_status rg_record_add_series(rg_record *r, size_t curves, const char *name, const double *x, const double *y,
                               size_t count)
{
    rg_series  s = { .count = count };
    rg_curves *c;

    if (curves >= r->curve_sets)
        return rg_fail(RG_EINVAL, "curves %zu of a record with %zu", curves, r->curve_sets);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i]) || !isfinite(y[i]))
            return rg_fail(RG_ENUMBER, "series %s: point %zu of %zu is not finite", name ? name : "", i, count);
    c = &r->curves[curves];
    for (size_t i = 0; c->bars && i < count; i++)
        if (!is_bar(c, x[i]))
            return rg_fail(RG_EINVAL, "series %s: %g is none of %zu bars", name ? name : "", x[i], c->bars);
    RG_TRY(one_more(&c->series, c->count, sizeof *c->series, RG_RECORD_MAX_LISTS, "series in one set"));
    s.name = rg_strdup(name ? name : "");
    if (!s.name || copy_bytes(&s.x, x, count, sizeof *x) != RG_OK || copy_bytes(&s.y, y, count, sizeof *y) != RG_OK) {
        rg_free(s.name);
        rg_free(s.x);
        return RG_ENOMEM;
    }
    c->series[c->count++] = s;
    return RG_OK;
}

rg_status rg_record_set_interval(rg_record *r, size_t curves, const double *low, const double *high)
{
    rg_series *s = curves < r->curve_sets && r->curves[curves].count
                       ? &r->curves[curves].series[r->curves[curves].count - 1]
                       : NULL;
    double    *ends[2] = { NULL, NULL };

    if (!s || s->low) return rg_fail(RG_EINVAL, "an interval belongs to the series that was added last");
    for (size_t i = 0; i < s->count; i++)
        if (!isfinite(low[i]) || !isfinite(high[i]) || low[i] > s->y[i] || high[i] < s->y[i])
            return rg_fail(RG_ENUMBER, "series %s: %g to %g is no interval around %g", s->name, low[i], high[i], s->y[i]);
    if (copy_bytes(&ends[0], low, s->count, sizeof *low) != RG_OK ||
        copy_bytes(&ends[1], high, s->count, sizeof *high) != RG_OK) {
        rg_free(ends[0]);
        return RG_ENOMEM;
    }
    s->low = ends[0];
    s->high = ends[1];
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------- asking */

bool rg_map_is_sheet(const rg_record *r, const rg_record_map *m)
{
    size_t last = r->label_lists;
    while (last > 0 && !r->labels[last - 1].picture) last--;
    return last > 0 && m->col_labels == last - 1 && strcmp(r->kind, "sheet") == 0;
}

float rg_map_weight(const rg_record_map *m, size_t row, size_t col)
{
    float sum = 0;

    if (!m->from) return m->weights[row * m->cols + col];
    for (size_t e = 0; e < m->edges; e++)
        if (m->from[e] == row && m->to[e] == col) sum += m->weights[e];
    return sum;
}

rg_status rg_map_dense(float **out, const rg_record_map *m, size_t most)
{
    size_t count;
    float *w;

    if (!rg_size_mul(&count, m->rows, m->cols) || count > most)
        return rg_fail(RG_ELIMIT, "map %s: %zu x %zu is too large to draw in full, at most %zu weights", m->name,
                       m->rows, m->cols, most);
    if (!(w = rg_alloc_array(count, sizeof *w))) return RG_ENOMEM;
    if (!m->from) {
        if (count) memcpy(w, m->weights, count * sizeof *w);
    } else {
        if (count) memset(w, 0, count * sizeof *w);
        for (size_t e = 0; e < m->edges; e++) w[m->from[e] * m->cols + m->to[e]] += m->weights[e];
    }
    *out = w;
    return RG_OK;
}

static int chosen_hypothesis(const rg_record *r)
{
    int hypothesis = 0;

    for (size_t i = 0; i < r->texts; i++) {
        if (strcmp(r->text[i].role, "hypothesis")) continue;
        if (r->text[i].chosen) return hypothesis;
        hypothesis++;
    }
    return -1;
}

size_t rg_record_find(const rg_record *r, const char *name, int layer, int head, int step)
{
    size_t  best = r->maps;
    int     chosen = chosen_hypothesis(r);
    int64_t best_rank = -1;

    for (size_t i = 0; i < r->maps; i++) {
        const rg_record_map *m = &r->map[i];
        int64_t       rank = 0;
        if ((layer >= 0 && m->layer != layer) || (head >= 0 && m->head != head) || (step >= 0 && m->step != step))
            continue;
        if (name && strcmp(m->name, name)) continue;
        if (chosen < 0 || m->hypothesis < 0 || m->hypothesis == chosen) rank += (int64_t)1 << 50;
        rank += (int64_t)(m->layer + 1) << 24;
        rank += m->step + 1;
        if (rank > best_rank) {
            best_rank = rank;
            best = i;
        }
    }
    return best;
}

/* A small heap would do; with the few links a picture shows, insertion into a sorted list is simpler and as fast. */
static void keep_link(rg_link *out, size_t *count, size_t most, rg_link link)
{
    size_t i;

    if (*count == most && (!most || out[most - 1].weight >= link.weight)) return;
    i = *count < most ? (*count)++ : most - 1;
    for (; i > 0 && out[i - 1].weight < link.weight; i--) out[i] = out[i - 1];
    out[i] = link;
}

size_t rg_map_strongest(rg_link *out, const rg_record_map *m, float threshold, size_t most)
{
    size_t count = 0, entries = m->from ? m->edges : m->rows * m->cols;

    for (size_t i = 0; i < entries; i++) {
        rg_link link = { m->from ? m->from[i] : i / m->cols, m->from ? m->to[i] : i % m->cols, m->weights[i] };
        if (link.weight >= threshold) keep_link(out, &count, most, link);
    }
    return count;
}
