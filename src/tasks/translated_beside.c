/* translated_beside.c - see translated_beside.h. A decoder that goes step by step shows a row at a time: rows are
 * collected, and become maps when the answer is through. */
#include "tasks/translated_beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char load_title[] = "Load of the experts";

static bool ends(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

static bool ours(const char *name)
{
    return ends(name, "copy.switch") || ends(name, "experts.load") || ends(name, "experts.chosen");
}

static bool wants(void *context, const char *name)
{
    const rg_beside *b = context;
    return ours(name) || (b->inner && b->inner->wants(b->inner->context, name));
}

static rg_beside_point *point_of(rg_beside *b, const char *name, size_t cols)
{
    for (size_t i = 0; i < b->points; i++)
        if (strcmp(b->point[i].name, name) == 0) return b->point[i].cols == cols ? &b->point[i] : NULL;
    if (b->points == RG_BESIDE_POINTS) return NULL;
    rg_beside_point *p = &b->point[b->points];
    *p = (rg_beside_point){ .name = rg_strdup(name), .cols = cols };
    if (!p->name) b->out_of_memory = true;
    else b->points++;
    return p->name ? p : NULL;
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    rg_beside *b = context;
    if (!ours(name)) {
        b->inner->see(b->inner->context, name, x, reach);
        return;
    }
    const size_t     rows = rg_tensor_rows(x), cols = rg_tensor_cols(x);
    rg_beside_point *p = point_of(b, name, cols);
    if (!p) return;
    if (p->count + rows * cols > p->room) {
        const size_t room = 2 * (p->count + rows * cols);
        double      *value = rg_realloc(p->value, room * sizeof *value);
        if (!value) {
            b->out_of_memory = true;
            return;
        }
        p->value = value;
        p->room = room;
    }
    if (!p->value) return; /* no rows so far */
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) p->value[p->count++] = (double)rg_tensor_at(x, i, j);
}

void rg_beside_init(rg_beside *b, const rg_watcher *inner)
{
    *b = (rg_beside){ .inner = inner };
    b->watcher = (rg_watcher){ b, wants, see };
}

void rg_beside_fini(rg_beside *b)
{
    for (size_t i = 0; i < b->points; i++) {
        rg_free(b->point[i].name);
        rg_free(b->point[i].value);
    }
    b->points = 0;
}

/* ----------------------------------------------------------------------------------------------------------- maps */

/* "decoder.1.experts.load" without its number and without `end`; the number, or -1. */
static int short_name(char *out, size_t room, const char *name, const char *end)
{
    int    layer = -1;
    size_t used = 0;
    for (const char *at = name, *stop = name + strlen(name) - strlen(end); at < stop;) {
        size_t n = strcspn(at, ".");
        if (at + n > stop) n = (size_t)(stop - at);
        if (n && layer < 0 && strspn(at, "0123456789") == n) layer = atoi(at);
        else if (n && used + n + 2 < room) used += (size_t)snprintf(out + used, room - used, "%s%.*s", used ? "." : "", (int)n, at);
        at += n + (at[n] == '.');
    }
    out[used] = '\0';
    return layer;
}

static rg_status add_switch(rg_record *r, const rg_beside_point *p, size_t output, int hypothesis)
{
    static const char *const rows[] = { "generated", "copied" };
    const size_t             n = r->labels[output].count;
    const rg_map_place       place = { "copy.switch", -1, -1, -1, hypothesis };
    size_t                   labels;
    if (p->count != n) return RG_OK;
    rg_real *w = rg_alloc_array(2 * n + 1, sizeof *w);
    if (!w) return RG_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        w[i] = (rg_real)p->value[i];
        w[n + i] = (rg_real)(1 - p->value[i]);
    }
    rg_status status = rg_record_add_labels(&labels, r, "switch", RG_LABEL_TOKEN, rows, 2);
    if (status == RG_OK) status = rg_record_add_map(NULL, r, place, labels, output, w, n);
    rg_free(w);
    return status;
}

/* Labels "expert 1" ... of the record, made when there are none. */
static rg_status expert_labels(size_t *out, rg_record *r, size_t experts)
{
    char(*text)[32] = rg_alloc_array(experts + 1, sizeof *text);
    const char **name = rg_alloc_array(experts + 1, sizeof *name);
    rg_status    status = text && name ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < experts; i++) {
        snprintf(text[i], sizeof text[i], "expert %zu", i + 1);
        name[i] = text[i];
    }
    if (status == RG_OK) status = rg_record_add_labels(out, r, "experts", RG_LABEL_TOKEN, name, experts);
    rg_free(text);
    rg_free(name);
    return status;
}

/* The mean of the rows: every step has as many choices. */
static rg_status add_load(rg_record *r, const rg_beside_point *p, size_t experts, int hypothesis)
{
    static const char *const one[] = { "share" };
    const size_t             E = p->cols, steps = p->count / E;
    char                     name[128];
    const int                layer = short_name(name, sizeof name, p->name, "");
    const rg_map_place       place = { name, layer, -1, -1, hypothesis };
    size_t                   labels;
    rg_real                 *w = rg_alloc_zero((E + 1) * sizeof *w);
    if (!w) return RG_ENOMEM;
    for (size_t i = 0; i < steps * E; i++) w[i % E] += (rg_real)(p->value[i] / (double)steps);
    rg_status status = rg_record_add_labels(&labels, r, "load", RG_LABEL_TOKEN, one, 1);
    if (status == RG_OK) status = rg_record_add_map(NULL, r, place, labels, experts, w, E);
    rg_free(w);
    return status;
}

/* Which expert each word went to first. */
static rg_status add_chosen(rg_record *r, const rg_beside_point *p, size_t experts, size_t words, int hypothesis)
{
    const size_t       E = r->labels[experts].count, n = r->labels[words].count;
    char               name[128];
    const int          layer = short_name(name, sizeof name, p->name, ".chosen");
    const rg_map_place place = { name, layer, -1, -1, hypothesis };
    if (p->count != n) return RG_OK;
    rg_real *w = rg_alloc_zero((E * n + 1) * sizeof *w);
    if (!w) return RG_ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (p->value[i] >= 0 && p->value[i] < (double)E) w[(size_t)p->value[i] * n + i] = 1;
    const rg_status status = rg_record_add_map(NULL, r, place, experts, words, w, n);
    rg_free(w);
    return status;
}

static rg_status add_load_series(rg_record *r, size_t curves, const rg_record_map *m)
{
    const size_t scope = strlen(m->name) - strlen("experts.load");
    double      *x = rg_alloc_array(2 * m->cols, sizeof *x);
    char        *name = !scope           ? rg_strdup("experts")
                        : m->layer < 0 ? rg_format("%.*s", (int)scope - 1, m->name)
                                       : rg_format("%.*s, layer %d", (int)scope - 1, m->name, m->layer);
    rg_status status = x && name ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < m->cols; i++) {
        x[i] = (double)i;
        x[m->cols + i] = (double)rg_map_weight(m, 0, i);
    }
    if (status == RG_OK) status = rg_record_add_series(r, curves, name, x, x + m->cols, m->cols);
    rg_free(name);
    rg_free(x);
    return status;
}

/* The loads of all mixtures as bars; of several hypotheses those of the first. */
static rg_status add_load_bars(rg_record *r, size_t experts, int hypothesis)
{
    const rg_labels *l = &r->labels[experts];
    size_t           curves;
    for (size_t i = 0; i < r->curve_sets; i++)
        if (strcmp(r->curves[i].title, load_title) == 0) return RG_OK;
    RG_TRY(rg_record_add_curves(&curves, r, load_title, "", "share of the words' choices", false, false));
    RG_TRY(rg_record_set_bars(r, curves, (const char *const *)l->text, l->count));
    for (size_t i = 0; i < r->maps; i++)
        if (r->map[i].hypothesis == hypothesis && r->map[i].col_labels == experts && ends(r->map[i].name, "experts.load"))
            RG_TRY(add_load_series(r, curves, &r->map[i]));
    return RG_OK;
}

rg_status rg_beside_finish(rg_beside *b, rg_record *r, size_t source, size_t output, int hypothesis)
{
    size_t experts = 0;
    bool   labelled = false;
    if (b->out_of_memory) return rg_fail(RG_ENOMEM, "no memory for what %zu watch points showed", b->points);
    for (size_t i = 0; i < b->points; i++) {
        const rg_beside_point *p = &b->point[i];
        if (ends(p->name, "copy.switch")) RG_TRY(add_switch(r, p, output, hypothesis));
        if (ends(p->name, "experts.load")) {
            if (!labelled) RG_TRY(expert_labels(&experts, r, p->cols));
            labelled = true;
            if (r->labels[experts].count == p->cols) RG_TRY(add_load(r, p, experts, hypothesis));
        }
        if (ends(p->name, "experts.chosen") && labelled)
            RG_TRY(add_chosen(r, p, experts, strstr(p->name, "encoder") ? source : output, hypothesis));
    }
    return labelled ? add_load_bars(r, experts, hypothesis) : RG_OK;
}
