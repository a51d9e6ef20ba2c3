/* graph_record.c - who looks at whom in a graph, as a record: an edge list for each layer and head. */
#include <stdlib.h>
#include <string.h>

#include "regard/explain.h"
#include "tasks/graph_task.h"

typedef struct {
    const rg_graph  *graph;
    const rg_system *system;
    rg_record      *record;
    int32_t        *place; /* of a node among the labels, -1: not shown */
    size_t          labels;
    int             layer;
    rg_status       status;
} watching;

static bool wants(void *context, const char *name) 
{
    const watching *w = context;
    return rg_attention_use_find(w->system->uses, name) != NULL;
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach_of)
{
    watching       *w = context;
    const rg_reach *r = reach_of;
    uint32_t       *from = rg_alloc_array(r->P, sizeof *from), *to = rg_alloc_array(r->P, sizeof *to);
    rg_real        *a = rg_alloc_array(r->P, sizeof *a);
    (void)name;
    if (!from || !to || !a) w->status = RG_ENOMEM;
    for (size_t h = 0; w->status == RG_OK && h < rg_tensor_cols(x); h++) {
        size_t n = 0;
        for (size_t p = 0; p < r->P; p++) {
            if (w->place[r->query[p]] < 0 || w->place[r->key[p]] < 0) continue;
            from[n] = (uint32_t)w->place[r->query[p]];
            to[n] = (uint32_t)w->place[r->key[p]];
            a[n++] = rg_tensor_at(x, p, h);
        }
        const rg_map_place place = { "attention", w->layer, (int)h, -1, -1 };
        w->status = rg_record_add_edges(NULL, w->record, place, w->labels, w->labels, from, to, a, n);
    }
    w->layer++;
    rg_free(from);
    rg_free(to);
    rg_free(a);
}

/* Mark the nodes at most `hops` steps from `node`; all when node < 0. */
static size_t mark(int32_t *place, const rg_graph *g, int64_t node, int64_t hops)
{
    for (size_t i = 0; i < g->nodes; i++) place[i] = node < 0 ? 0 : -1;
    if (node >= 0) place[node] = 0;
    for (int64_t h = 1; node >= 0 && h <= hops; h++)
        for (size_t i = 0; i < g->nodes; i++)
            for (size_t p = g->reach->first[i]; place[i] == h - 1 && p < g->reach->first[i + 1]; p++)
                if (place[g->reach->key[p]] < 0) place[g->reach->key[p]] = (int32_t)h;
    size_t n = 0;
    for (size_t i = 0; i < g->nodes; i++)
        if (place[i] >= 0) place[i] = (int32_t)n++;
    return n;
}

static rg_status name_nodes(watching *w, size_t n)
{
    const char **text = rg_alloc_zero((n + 1) * sizeof *text);
    rg_status    status = text ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < w->graph->nodes; i++)
        if (w->place[i] >= 0 && !(text[w->place[i]] = w->graph->label && w->graph->label[i] >= 0
                                                          ? rg_format("%zu (%d)", i, w->graph->label[i])
                                                          : rg_format("%zu", i)))
            status = RG_ENOMEM;
    if (status == RG_OK) status = rg_record_add_labels(&w->labels, w->record, "nodes", RG_LABEL_NODE, text, n);
    for (size_t i = 0; text && i < n; i++) rg_free((char *)text[i]);
    rg_free(text);
    return status;
}

/* "cora, around node 5" */
static char *title_of(const rg_graph *g, int64_t node)
{
    size_t end = strlen(g->name), begin;
    while (end > 1 && g->name[end - 1] == '/') end--;
    for (begin = end; begin > 0 && g->name[begin - 1] != '/';) begin--;
    const int n = (int)(end - begin);
    return node < 0 ? rg_format("%.*s", n, g->name + begin)
                    : rg_format("%.*s, around node %lld", n, g->name + begin, (long long)node);
}

static rg_status fill(watching *w, const rg_model *m, int64_t node, int64_t hops)
{
    const rg_watcher watcher = { w, wants, see };
    rg_real         *logits = NULL;
    RG_TRY(name_nodes(w, mark(w->place, w->graph, node, hops)));
    rg_status status = rg_graph_predict(&logits, m, w->graph, NULL, &watcher);
    rg_free(logits);
    return status == RG_OK ? w->status : status;
}

/* ------------------------------------------------------------------------------------------------------------ why */

enum { MOST_OUTPUTS = 64 }; /* nodes of a whole graph that are explained */

static rg_status find_against(rg_subject *s, const rg_graph *g)
{
    char *end;
    if (!s->against_text || !*s->against_text) return RG_OK;
    const long c = strtol(s->against_text, &end, 10);
    if (end == s->against_text || *end || c < 0 || (size_t)c >= g->classes)
        return rg_fail(RG_EINVAL, "--against %s: classes are 0 .. %zu", s->against_text, g->classes - 1);
    if (s->bits) return rg_fail(RG_EMATCH, "--against: a node has several labels, each on its own");
    s->against = (int32_t)c;
    return RG_OK;
}

/* Numbers of the outputs: the node, or all that are shown. */
typedef struct {
    int32_t *node, *seat, *best;
    rg_real *bits;
    char   **name;
    size_t   count;
} asked_nodes;

static void asked_free(asked_nodes *a)
{
    for (size_t i = 0; a->name && i < a->count; i++) rg_free(a->name[i]);
    rg_free(a->name);
    rg_free(a->node);
    rg_free(a->bits);
}

static rg_status ask_nodes(asked_nodes *a, const watching *w, int64_t node, const rg_real *logits)
{
    const rg_graph *g = w->graph;
    const size_t    C = g->classes;
    a->node = rg_alloc_array(3 * MOST_OUTPUTS, sizeof *a->node);
    a->bits = rg_alloc_array(MOST_OUTPUTS * C, sizeof *a->bits);
    a->name = rg_alloc_zero(MOST_OUTPUTS * sizeof *a->name);
    if (!a->node || !a->bits || !a->name) return RG_ENOMEM;
    a->seat = a->node + MOST_OUTPUTS, a->best = a->seat + MOST_OUTPUTS;
    for (size_t i = 0; i < g->nodes; i++) {
        const rg_real *x = logits + i * C;
        size_t         best = 0;
        if (w->place[i] < 0 || (node >= 0 && (int64_t)i != node)) continue;
        if (a->count == MOST_OUTPUTS)
            return rg_fail(RG_EINVAL, "--by: a graph of %zu nodes; name one of them with --node", g->nodes);
        for (size_t c = 1; c < C; c++)
            if (x[c] > x[best]) best = c;
        for (size_t c = 0; c < C; c++) a->bits[a->count * C + c] = x[c] > 0;
        a->node[a->count] = (int32_t)i, a->seat[a->count] = w->place[i], a->best[a->count] = (int32_t)best;
        if (!(a->name[a->count++] = g->several ? rg_format("%zu", i) : rg_format("%zu: %zu", i, best))) return RG_ENOMEM;
    }
    return RG_OK;
}

static rg_status explain(const watching *w, const rg_model *m, int64_t node, const rg_explain_options *o)
{
    const rg_graph      *g = w->graph;
    const rg_graph_batch batch = { .graph = g, .split = RG_GRAPH_TEST };
    asked_nodes          a = { 0 };
    rg_real             *logits = NULL;
    rg_status            status = rg_graph_predict(&logits, m, g, o->team, NULL);
    if (status == RG_OK) status = ask_nodes(&a, w, node, logits);
    rg_subject s = { .model = m,
                     .batch = &batch,
                     .rows = g->nodes,
                     .inputs = w->record->labels[w->labels].count,
                     .unit = w->place,
                     .keys = "nodes",
                     .answers = g->nodes,
                     .outputs = a.count,
                     .row = a.node,
                     .word = a.best,
                     .bits = g->several ? a.bits : NULL,
                     .against = -1,
                     .against_text = o->against,
                     .seat = a.seat,
                     .col_labels = w->labels,
                     .hypothesis = -1 };
    if (status == RG_OK) status = find_against(&s, g);
    if (status == RG_OK)
        status = rg_record_add_labels(&s.row_labels, w->record, "answers", RG_LABEL_TOKEN, (const char *const *)a.name,
                                      a.count);
    if (status == RG_OK) status = rg_explain(w->record, &s, o);
    rg_free(logits);
    asked_free(&a);
    return status;
}

rg_status rg_graph_record(rg_record **out, const rg_model *m, const rg_graph *g, int64_t node, int64_t hops,
                          const rg_explain_options *o)
{
    *out = NULL;
    if (node >= (int64_t)g->nodes)
        return rg_fail(RG_EINVAL, "--node %lld: %s has nodes 0 .. %zu", (long long)node, g->name, g->nodes - 1);
    watching  w = { .graph = g, .system = m->system, .place = rg_alloc_array(g->nodes, sizeof *w.place) };
    char     *title = title_of(g, node);
    rg_status status = w.place && title ? rg_record_new(&w.record, title, "graph") : RG_ENOMEM;
    if (status == RG_OK) status = fill(&w, m, node, hops);
    if (status == RG_OK && o) status = explain(&w, m, node, o);
    rg_free(title);
    rg_free(w.place);
    if (status == RG_OK) *out = w.record;
    else rg_record_free(w.record);
    return status;
}
