/* graph_data.c - the graphs of a run, which must know the same features and classes; and what a model says of a
 * graph. */
#include "tasks/graph_task.h"

#include <math.h>
#include <string.h>

void rg_graph_data_free(rg_graph_data *d)
{
    for (size_t i = 0; d->graph && i < d->train + d->valid + d->test; i++) rg_graph_free(d->graph[i]);
    rg_free(d->graph);
    *d = (rg_graph_data){ 0 };
}

/* The first graph decides the number of features and classes, unless a later one has more: then all are read again
 * with that. */
static rg_status load_list(rg_graph_data *d, size_t at, const rg_list *list, const rg_graph_options *o)
{
    for (size_t i = 0; i < list->count; i++) {
        const rg_graph_config c = { .directed = o->directed,
                                    .normalize = o->normalize,
                                    .features = d->features,
                                    .classes = d->classes,
                                    .several = d->several };
        RG_TRY(rg_graph_load(&d->graph[at + i], list->items[i], &c));
        if (!d->graph[at + i]->label)
            return rg_fail(RG_EFORMAT, "%s: no labels.txt: nothing to learn from", list->items[i]);
    }
    return RG_OK;
}

static void free_graphs(rg_graph_data *d)
{
    for (size_t i = 0; i < d->train + d->valid + d->test; i++) {
        rg_graph_free(d->graph[i]);
        d->graph[i] = NULL;
    }
}

static rg_status load_all(rg_graph_data *d, const rg_graph_options *o)
{
    RG_TRY(load_list(d, 0, &o->graphs, o));
    RG_TRY(load_list(d, d->train, &o->valid_graphs, o));
    return load_list(d, d->train + d->valid, &o->test_graphs, o);
}

static rg_status agree(rg_graph_data *d, const rg_graph_options *o)
{
    size_t features = 0, classes = 0;
    bool   several = false, same = true;
    for (size_t i = 0; i < d->train + d->valid + d->test; i++) {
        const rg_graph *g = d->graph[i];
        same = same && (i == 0 || (g->features == features && g->classes == classes && g->several == several));
        if (g->features > features) features = g->features;
        if (g->classes > classes) classes = g->classes;
        several = several || g->several;
    }
    d->features = features;
    d->classes = classes;
    d->several = several;
    if (same) return RG_OK;
    free_graphs(d);
    return load_all(d, o);
}

static rg_status take_wholes(rg_graph_data *d)
{
    const bool lists = d->valid + d->test > 0 || d->train > 1;
    for (size_t i = 0; lists && i < d->train + d->valid + d->test; i++)
        RG_TRY(rg_graph_take_all(d->graph[i], i < d->train              ? RG_GRAPH_TRAIN
                                              : i < d->train + d->valid ? RG_GRAPH_VALID
                                                                        : RG_GRAPH_TEST));
    size_t learn = 0;
    for (size_t i = 0; i < d->train; i++) learn += d->graph[i]->set[RG_GRAPH_TRAIN].count;
    if (!learn) return rg_fail(RG_EFORMAT, "%s: the split names no labelled node to learn from", d->graph[0]->name);
    if (!lists && !d->graph[0]->has_split)
        return rg_fail(RG_EFORMAT,
                       "%s: no split.tsv says which nodes to learn from; give one, or --valid-graph and --test-graph",
                       d->graph[0]->name);
    return RG_OK;
}

rg_status rg_graph_data_load(rg_graph_data *out, const rg_graph_options *o)
{
    *out = (rg_graph_data){ .train = o->graphs.count, .valid = o->valid_graphs.count, .test = o->test_graphs.count };
    if (!out->train) return rg_fail(RG_EINVAL, "--graph names the folder to learn from");
    out->graph = rg_alloc_zero((out->train + out->valid + out->test) * sizeof(rg_graph *));
    rg_status status = out->graph ? load_all(out, o) : RG_ENOMEM;
    if (status == RG_OK) status = agree(out, o);
    if (status == RG_OK) status = take_wholes(out);
    if (status != RG_OK) rg_graph_data_free(out);
    return status;
}

static rg_status check_scores(const rg_real *x, size_t nodes, size_t C)
{
    for (size_t i = 0; i < nodes * C; i++)
        if (!isfinite(x[i]))
            return rg_fail(RG_ENUMBER,
                           "node %zu: the score of class %zu is not finite; the model's weights give infinite numbers",
                           i / C, i % C);
    return RG_OK;
}

rg_status rg_graph_predict(rg_real **out, const rg_model *m, const rg_graph *g, rg_team *team,
                           const rg_watcher *watcher)
{
    *out = NULL;
    if (g->features != rg_model_size(m, "features"))
        return rg_fail(RG_EMATCH, "the graph has %zu features a node, the model knows %zu", g->features,
                       rg_model_size(m, "features"));
    const rg_tape_config config = { .record = false, .team = team };
    const rg_graph_batch batch = { .graph = g };
    rg_tape             *t;
    RG_TRY(rg_tape_new(&t, &config));
    rg_tape_set_watcher(t, watcher);
    const rg_tensor *y = m->system->predict(t, m, &batch);
    rg_status        status = rg_tape_status(t);
    const size_t     C = rg_model_size(m, "classes");
    if (status == RG_OK && !(*out = rg_alloc_array(g->nodes * C, sizeof **out))) status = RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < g->nodes; i++)
        memcpy(*out + i * C, rg_tensor_row(y, i), C * sizeof **out);
    if (status == RG_OK) status = check_scores(*out, g->nodes, C);
    if (status != RG_OK) {
        rg_free(*out);
        *out = NULL;
    }
    rg_tape_free(t);
    return status;
}
