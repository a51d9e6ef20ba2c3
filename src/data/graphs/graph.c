/* graph.c - a graph as attention uses it: neighbours and features as reaches, sets of labelled nodes. */
#include "data/graphs/graph.h"

#include <math.h>
#include <string.h>

static void free_set(rg_graph_set *s)
{
    rg_free(s->node);
    rg_free(s->label);
    rg_free(s->targets);
    *s = (rg_graph_set){ 0 };
}

void rg_graph_free(rg_graph *g)
{
    if (!g) return;
    for (int s = 0; s < RG_GRAPH_SPLITS; s++) free_set(&g->set[s]);
    rg_reach_free(g->reach);
    rg_reach_free(g->words);
    rg_free(g->weight);
    rg_free(g->bias);
    rg_free(g->even);
    rg_free(g->value);
    rg_free(g->label);
    rg_free(g->name);
    rg_free(g);
}

/* ------------------------------------------------------------------------------------------------------- neighbours */

/* Both directions of every edge but loops, which every node has anyway. */
static rg_status make_reach(rg_graph *g, const rg_edges *e)
{
    const size_t most = (g->directed ? 1 : 2) * e->count;
    int32_t     *from = rg_alloc_array(most + 1, sizeof *from), *to = rg_alloc_array(most + 1, sizeof *to);
    size_t       n = 0;
    rg_status    status = from && to ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < e->count; i++) {
        if (e->from[i] == e->to[i]) continue;
        from[n] = e->from[i], to[n++] = e->to[i];
        if (!g->directed) from[n] = e->to[i], to[n++] = e->from[i];
    }
    if (status == RG_OK) status = rg_reach_new_edges(&g->reach, g->nodes, n, from, to, true);
    rg_free(from);
    rg_free(to);
    return status;
}

/* Weights in the order of the reach: itself first, then edges as they were listed. */
static rg_status make_weights(rg_graph *g, const rg_edges *e)
{
    size_t *next = rg_alloc_array(g->nodes, sizeof *next);
    g->weight = rg_alloc_array(g->reach->P, sizeof *g->weight);
    if (!next || !g->weight) {
        rg_free(next);
        return RG_ENOMEM;
    }
    for (size_t i = 0; i < g->nodes; i++) {
        next[i] = g->reach->first[i];
        g->weight[next[i]++] = 1;
    }
    for (size_t i = 0; i < e->count; i++) {
        if (e->from[i] == e->to[i]) {
            g->weight[g->reach->first[e->to[i]]] = e->weight[i];
            continue;
        }
        g->weight[next[e->to[i]]++] = e->weight[i];
        if (!g->directed) g->weight[next[e->from[i]]++] = e->weight[i];
    }
    rg_free(next);
    return RG_OK;
}

/* softmax(e + log w): what the score says times the edge's weight. */
static rg_status bias_reach(rg_graph *g)
{
    if (!(g->bias = rg_alloc_array(g->reach->P, sizeof *g->bias))) return RG_ENOMEM;
    for (size_t p = 0; p < g->reach->P; p++) g->bias[p] = (rg_real)log((double)g->weight[p]);
    g->reach->bias = g->bias;
    return RG_OK;
}

/* w_ij / sqrt(d_i d_j) (Kipf, Welling 2017), with a direction w_ij / d_i; d_i is the sum of what i sees. */
static rg_status make_even(rg_graph *g)
{
    const rg_reach *r = g->reach;
    double         *degree = rg_alloc_zero(g->nodes * sizeof *degree);
    g->even = rg_alloc_array(r->P, sizeof *g->even);
    if (!degree || !g->even) {
        rg_free(degree);
        return RG_ENOMEM;
    }
    for (size_t i = 0; i < g->nodes; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++) degree[i] += g->weight ? (double)g->weight[p] : 1;
    for (size_t i = 0; i < g->nodes; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++)
            g->even[p] = (rg_real)((g->weight ? (double)g->weight[p] : 1) /
                                   (g->directed ? degree[i] : sqrt(degree[i] * degree[r->key[p]])));
    rg_free(degree);
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------------- sets */

static rg_status fill_set(rg_graph *g, rg_graph_set *s, const rg_ragged *labels, const uint8_t *split, uint8_t part)
{
    free_set(s);
    s->node = rg_alloc_array(g->nodes, sizeof *s->node);
    s->label = g->several ? NULL : rg_alloc_array(g->nodes, sizeof *s->label);
    if (!s->node || (!g->several && !s->label)) return RG_ENOMEM;
    for (size_t i = 0; i < g->nodes; i++) {
        if (split && split[i] != part) continue;
        if (!g->several && g->label[i] < 0) continue;
        if (s->label) s->label[s->count] = g->label[i];
        s->node[s->count++] = (int32_t)i;
    }
    if (!g->several) return RG_OK;
    size_t numbers;
    if (!rg_size_mul(&numbers, s->count, g->classes) || !(s->targets = rg_alloc_zero(numbers * sizeof *s->targets)))
        return RG_ENOMEM;
    for (size_t n = 0; n < s->count; n++)
        for (size_t p = labels->first[s->node[n]]; p < labels->first[s->node[n] + 1]; p++)
            if (labels->item[p] >= 0) s->targets[n * g->classes + (size_t)labels->item[p]] = 1;
    return RG_OK;
}

static rg_status make_sets(rg_graph *g, const rg_ragged *labels, rg_lines *lines)
{
    uint8_t  *split = lines ? rg_alloc_zero(g->nodes) : NULL;
    rg_status status = !lines || split ? RG_OK : RG_ENOMEM;
    g->label = rg_alloc_array(g->nodes, sizeof *g->label);
    if (!g->label) status = RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < g->nodes; i++)
        g->label[i] = labels->first[i + 1] - labels->first[i] == 1 ? labels->item[labels->first[i]] : -1;
    if (status == RG_OK && lines) status = rg_graph__read_split(split, lines, g->nodes);
    for (uint8_t s = 0; status == RG_OK && s < RG_GRAPH_SPLITS; s++)
        status = fill_set(g, &g->set[s], labels, split, (uint8_t)(s + 1));
    for (size_t i = 0; status == RG_OK && split && !g->several && i < g->nodes; i++)
        if (split[i] == 1 && g->label[i] < 0)
            status = rg_fail(RG_EFORMAT, "%s: node %zu is to be learned from but its label is missing (-1)",
                             rg_lines_name(lines), i);
    g->has_split = lines != NULL;
    rg_free(split);
    return status;
}

/* Without a split every set is all labelled nodes already. */
rg_status rg_graph_take_all(rg_graph *g, rg_graph_split split)
{
    if (!g->label) return rg_fail(RG_EFORMAT, "%s: there are no labels", g->name);
    if (g->has_split) return RG_OK;
    for (int s = 0; s < RG_GRAPH_SPLITS; s++)
        if (s != (int)split) free_set(&g->set[s]);
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

static rg_status build(rg_graph *g, const rg_graph_sources *s, const rg_graph_config *config, rg_ragged *features,
                       rg_ragged *labels, rg_edges *edges)
{
    RG_TRY(rg_graph__read_features(features, &g->features, s->features, s->dense, config));
    g->nodes = features->rows;
    RG_TRY(rg_reach_new_lists(&g->words, g->nodes, g->features, features->first, features->item));
    g->value = features->value; /* moved */
    features->value = NULL;
    RG_TRY(rg_graph__read_edges(edges, s->edges, g->nodes, config->directed));
    g->edges = edges->count;
    g->directed = config->directed;
    RG_TRY(make_reach(g, edges));
    if (edges->weighted) {
        RG_TRY(make_weights(g, edges));
        RG_TRY(bias_reach(g));
    }
    RG_TRY(make_even(g));
    g->classes = config->classes;
    g->several = config->several;
    if (!s->labels) return RG_OK;
    RG_TRY(rg_graph__read_labels(labels, &g->classes, &g->several, s->labels, g->nodes, config));
    return make_sets(g, labels, s->split);
}

rg_status rg_graph_read(rg_graph **out, const char *name, const rg_graph_sources *sources,
                        const rg_graph_config *config)
{
    *out = NULL;
    rg_ragged features = { 0 }, labels = { 0 };
    rg_edges  edges = { 0 };
    rg_graph *g = rg_alloc_zero(sizeof *g);
    rg_status status =
        g && (g->name = rg_strdup(name)) ? build(g, sources, config, &features, &labels, &edges) : RG_ENOMEM;
    rg_ragged__free(&features);
    rg_ragged__free(&labels);
    rg_edges__free(&edges);
    if (status == RG_OK) *out = g;
    else rg_graph_free(g);
    return status;
}

/* FOLDER/NAME or FOLDER/NAME.gz; *out stays NULL when there is neither. */
static rg_status open_one(rg_lines **out, const char *folder, const char *name)
{
    for (int gz = 0; gz < 2 && !*out; gz++) {
        char *path = rg_format("%s/%s%s", folder, name, gz ? ".gz" : "");
        bool  there = false;
        if (!path) return RG_ENOMEM;
        rg_status status = rg_file_exists(&there, path);
        if (status == RG_OK && there) status = rg_lines_open(out, path, NULL);
        rg_free(path);
        RG_TRY(status);
    }
    return RG_OK;
}

static rg_status open_all(rg_graph_sources *s, const char *folder)
{
    RG_TRY(open_one(&s->edges, folder, "edges.tsv"));
    RG_TRY(open_one(&s->features, folder, "features.txt"));
    if (!s->features) {
        RG_TRY(open_one(&s->features, folder, "features.tsv"));
        s->dense = s->features != NULL;
    }
    RG_TRY(open_one(&s->labels, folder, "labels.txt"));
    RG_TRY(open_one(&s->split, folder, "split.tsv"));
    if (!s->edges) return rg_fail(RG_EIO, "%s: no edges.tsv or edges.tsv.gz there", folder);
    if (!s->features)
        return rg_fail(RG_EIO, "%s: no features.txt (numbers of features) or features.tsv (all as numbers) there",
                       folder);
    return RG_OK;
}

rg_status rg_graph_load(rg_graph **out, const char *folder, const rg_graph_config *config)
{
    *out = NULL;
    rg_graph_sources s = { 0 };
    rg_status        status = open_all(&s, folder);
    if (status == RG_OK) status = rg_graph_read(out, folder, &s, config);
    rg_lines_close(s.edges);
    rg_lines_close(s.features);
    rg_lines_close(s.labels);
    rg_lines_close(s.split);
    return status;
}
