/* collect.c - from watch points to a record: every attention a tape computes while it is watched becomes maps, one a
 * head.
 *
 * A watch point "decoder.2.cross.weights" gives (P, H) weights of the open pairs and their reach. Its number is the
 * layer, the rest the name ("decoder.cross"). Which labels name its rows and columns is what the system's `uses` say of
 * that watch point, and the sizes must agree.
 *
 * A recurrent decoder looks once a step: its watch point comes with one row after the other, and the map is there
 * with the last of them. One that weighs again (a Gaussian over the weights of a window) is seen twice with the same
 * reach: the later one counts.
 *
 * Maps of a long text at itself are left out: of 10,000 words one head would have 400 MB. */
#include "regard/attention.h"
#include "regard/view.h"

#include <stdlib.h>
#include <string.h>

typedef struct walk { /* a map that comes row by row */
    char       *name;
    rg_real    *w; /* (heads, rows, cols) */
    size_t      rows, cols, heads, filled, last;
    size_t      row_labels, col_labels;
    const void *reach; /* of the last rows */
    struct walk *next;
} walk;

struct rg_collector {
    rg_record *record;
    walk      *walks;
    const rg_attention_use *uses;
    int        hypothesis;
    char      *pattern; /* of names; NULL: all */
    int        head;    /* -1: all             */
    rg_status  status;
    char      *message;
    size_t     skipped;
    rg_watcher watcher;
};

static bool labels_named(size_t *out, const rg_collector *c, const char *name);

/* More weights than anybody looks at. */
static bool is_too_large(const rg_collector *c, const rg_attention_use *use)
{
    enum { MOST = 1 << 24 };
    size_t rows, cols, count;
    if (!labels_named(&rows, c, use->rows) || !labels_named(&cols, c, use->cols)) return false;
    if (c->record->labels[rows].kind == RG_LABEL_NODE) return false; /* edges are kept as they are */
    return !rg_size_mul(&count, c->record->labels[rows].count, c->record->labels[cols].count) || count > MOST;
}

static bool wants(void *context, const char *name)
{
    rg_collector           *c = context;
    const rg_attention_use *use = rg_attention_use_find(c->uses, name);
    if (!use || (c->pattern && !rg_name_matches(c->pattern, name))) return false;
    if (!is_too_large(c, use)) return true;
    c->skipped++;
    return false;
}

/* "decoder.2.cross.weights" -> "decoder.cross" and 2. `out` has room for the whole name. */
static int split_name(char *out, const char *name)
{
    int    layer = -1;
    size_t used = 0;

    for (const char *at = name; *at;) {
        size_t n = strcspn(at, ".");
        bool   number = n > 0 && n < 6 && strspn(at, "0123456789") == n, last = !at[n];
        if (number && layer < 0) layer = atoi(at);
        else if (!(last && used && n == 7 && !strncmp(at, "weights", 7))) {
            if (used) out[used++] = '.';
            memcpy(out + used, at, n);
            used += n;
        }
        at += n + (at[n] == '.');
    }
    out[used] = 0;
    return layer;
}

static rg_status add_head(rg_collector *c, rg_map_place place, size_t rows, size_t cols, const rg_tensor *x,
                          const rg_reach *reach)
{
    rg_status status;
    rg_real  *w = rg_alloc_zero(reach->Nq * reach->Nk * sizeof *w + 1);

    if (!w) return RG_ENOMEM;
    for (size_t i = 0; i < reach->Nq; i++)
        for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++) {
            size_t key = (size_t)(reach->begin ? reach->begin[i] + (int32_t)(p - reach->first[i])
                                  : reach->key ? reach->key[p]
                                               : 0);
            w[i * reach->Nk + key] = rg_tensor_at(x, p, (size_t)place.head);
        }
    status = rg_record_add_map(NULL, c->record, place, rows, cols, w, reach->Nk);
    rg_free(w);
    return status;
}

/* Graphs: the pairs as they are. */
static rg_status add_head_edges(rg_collector *c, rg_map_place place, size_t rows, size_t cols, const rg_tensor *x,
                                const rg_reach *reach)
{
    rg_status status = RG_ENOMEM;
    uint32_t *from = rg_alloc_array(reach->P, sizeof *from), *to = rg_alloc_array(reach->P, sizeof *to);
    rg_real  *w = rg_alloc_array(reach->P, sizeof *w);

    if (from && to && w) {
        for (size_t i = 0; i < reach->Nq; i++)
            for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++) {
                from[p] = (uint32_t)i;
                to[p] = (uint32_t)reach->key[p];
                w[p] = rg_tensor_at(x, p, (size_t)place.head);
            }
        status = rg_record_add_edges(NULL, c->record, place, rows, cols, from, to, w, reach->P);
    }
    rg_free(from);
    rg_free(to);
    rg_free(w);
    return status;
}

/* Heads of a map that is there at once. */
static rg_status add_whole(rg_collector *c, const char *name, size_t rows, size_t cols, const rg_tensor *x,
                           const rg_reach *reach)
{
    rg_status    status = RG_OK;
    rg_map_place place = { NULL, -1, -1, -1, c->hypothesis };
    char        *short_name = rg_alloc(strlen(name) + 1);

    if (!short_name) return RG_ENOMEM;
    place.layer = split_name(short_name, name);
    place.name = *short_name ? short_name : "attention";
    for (size_t h = 0; h < rg_tensor_cols(x) && status == RG_OK; h++) {
        if (c->head >= 0 && (size_t)c->head != h) continue;
        place.head = (int)h;
        if (reach->key && c->record->labels[rows].kind == RG_LABEL_NODE)
            status = add_head_edges(c, place, rows, cols, x, reach);
        else status = add_head(c, place, rows, cols, x, reach);
    }
    rg_free(short_name);
    return status;
}

static rg_status walk_of(walk **out, rg_collector *c, const char *name, size_t row_labels, size_t col_labels,
                         size_t heads)
{
    const size_t rows = c->record->labels[row_labels].count, cols = c->record->labels[col_labels].count;
    size_t count, bytes;
    for (*out = c->walks; *out; *out = (*out)->next)
        if (strcmp((*out)->name, name) == 0) return RG_OK;
    walk *w = rg_alloc_zero(sizeof *w);
    if (!w) return RG_ENOMEM;
    *w = (walk){ .rows = rows, .cols = cols, .heads = heads, .row_labels = row_labels, .col_labels = col_labels, .name = rg_strdup(name) };
    if (rg_size_mul(&count, rows, cols) && rg_size_mul(&count, count, heads) &&
        rg_size_mul(&bytes, count, sizeof *w->w))
        w->w = rg_alloc_zero(bytes + 1);
    walk **end = &c->walks;
    while (*end) end = &(*end)->next;
    *end = *out = w; /* in the order in which they were first seen */
    return w->name && w->w ? RG_OK : RG_ENOMEM;
}

/* Some rows more. */
static rg_status add_rows(rg_collector *c, const char *name, size_t rows, size_t cols, const rg_tensor *x,
                          const rg_reach *reach)
{
    walk *w;
    RG_TRY(walk_of(&w, c, name, rows, cols, rg_tensor_cols(x)));
    const bool   again = w->reach == reach && w->filled;
    const size_t first = again ? w->last : w->filled;
    if (first + reach->Nq > w->rows || rg_tensor_cols(x) != w->heads || reach->Nk != w->cols) {
        c->skipped++;
        return RG_OK;
    }
    for (size_t h = 0; h < w->heads; h++)
        for (size_t i = 0; i < reach->Nq; i++) {
            rg_real *row = w->w + ((h * w->rows) + first + i) * w->cols;
            memset(row, 0, w->cols * sizeof *row);
            for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++)
                row[reach->begin ? reach->begin[i] + (int32_t)(p - reach->first[i]) : reach->key[p]] =
                    rg_tensor_at(x, p, h);
        }
    w->last = first;
    w->filled = first + reach->Nq;
    w->reach = reach;
    return RG_OK;
}

/* The maps whose rows are all there; others are counted as skipped. */
static rg_status add_walks(rg_collector *c)
{
    rg_status status = RG_OK;
    for (const walk *w = c->walks; w && status == RG_OK; w = w->next) {
        rg_map_place place = { NULL, -1, -1, -1, c->hypothesis };
        char        *short_name = rg_alloc(strlen(w->name) + 1);
        if (!short_name) return RG_ENOMEM;
        place.layer = split_name(short_name, w->name);
        place.name = *short_name ? short_name : "attention";
        if (w->filled < w->rows) c->skipped++;
        for (size_t h = 0; h < w->heads && status == RG_OK && w->filled == w->rows; h++) {
            if (c->head >= 0 && (size_t)c->head != h) continue;
            place.head = (int)h;
            status = rg_record_add_map(NULL, c->record, place, w->row_labels, w->col_labels,
                                       w->w + h * w->rows * w->cols, w->cols);
        }
        rg_free(short_name);
    }
    return status;
}

/* The list of labels of that name: of several (answers) that of the hypothesis. False: there is none. */
static bool labels_named(size_t *out, const rg_collector *c, const char *name)
{
    bool found = false;
    for (size_t i = 0, seen = 0; name && i < c->record->label_lists; i++) {
        if (strcmp(c->record->labels[i].name, name) != 0) continue;
        if (!found || seen == (size_t)(c->hypothesis < 0 ? 0 : c->hypothesis)) *out = i;
        found = true;
        seen++;
    }
    return found;
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach_of)
{
    rg_collector           *c = context;
    const rg_reach         *reach = reach_of;
    const rg_attention_use *use = rg_attention_use_find(c->uses, name);
    size_t                  rows = 0, cols = 0, count;

    if (c->status != RG_OK) return;
    if (!reach || !use || !labels_named(&rows, c, use->rows) || !labels_named(&cols, c, use->cols) ||
        reach->Nk != c->record->labels[cols].count || rg_tensor_rows(x) != reach->P ||
        !rg_size_mul(&count, reach->Nq, reach->Nk)) {
        c->skipped++;
        return;
    }
    if (!rg_attention_use_crosses(use) && reach->Nq == c->record->labels[rows].count)
        c->status = add_whole(c, name, rows, cols, x, reach);
    else c->status = add_rows(c, name, rows, cols, x, reach);
    if (c->status != RG_OK) c->message = rg_strdup(rg_message());
}

rg_status rg_collector_new(rg_collector **out, rg_record *record, const rg_attention_use *uses, int hypothesis)
{
    rg_collector *c = *out = rg_alloc_zero(sizeof *c);
    if (!c) return RG_ENOMEM;
    c->record = record;
    c->uses = uses;
    c->hypothesis = hypothesis;
    c->head = -1;
    c->watcher = (rg_watcher){ c, wants, see };
    return RG_OK;
}

rg_status rg_collector_only(rg_collector *c, const char *pattern, int head)
{
    char *copy = rg_strdup(pattern);
    if (!copy) return RG_ENOMEM;
    rg_free(c->pattern);
    c->pattern = copy;
    c->head = head;
    return RG_OK;
}

const rg_watcher *rg_collector_watcher(const rg_collector *c)
{
    return &c->watcher;
}

rg_status rg_collector_finish(rg_collector *c, size_t *out_skipped)
{
    rg_status status = c ? c->status : RG_OK;

    if (status != RG_OK) rg_fail(status, "%s", c->message ? c->message : "no memory for a map");
    else if (c) status = add_walks(c);
    if (c && out_skipped) *out_skipped = c->skipped;
    for (walk *w = c ? c->walks : NULL, *next; w; w = next) {
        next = w->next;
        rg_free(w->name);
        rg_free(w->w);
        rg_free(w);
    }
    if (c) rg_free(c->message), rg_free(c->pattern);
    rg_free(c);
    return status;
}
