/* graph_task.h - learning the labels of nodes: the graphs of a run, and what a trained model says of a graph. */
#ifndef RG_TASKS_GRAPH_TASK_H
#define RG_TASKS_GRAPH_TASK_H

#include "regard/graph.h"
#include "regard/record.h"
#include "regard/task.h"

typedef struct rg_graph_options {
    rg_list graphs, valid_graphs, test_graphs;
    bool    directed, normalize;
} rg_graph_options;

/* What a model of this task needs beside weights. */
typedef struct rg_graph_assets {
    rg_model *model;
    bool      several, directed, normalize; /* several: labels per node */
} rg_graph_assets;

/* The graphs of a run: one with a split, or lists that are train, valid and test as wholes. */
typedef struct rg_graph_data {
    rg_graph **graph; /* count of them: train, valid, test one after the other */
    size_t     train, valid, test; /* how many; valid and test 0: the sets of the train graphs */
    size_t     features, classes;
    bool       several;
} rg_graph_data;

rg_status rg_graph_data_load(rg_graph_data *out, const rg_graph_options *options);
void      rg_graph_data_free(rg_graph_data *data);

/* Logits of every node, (nodes, classes) tightly packed, for rg_free. `watcher` (may be NULL) sees the attention. */
rg_status rg_graph_predict(rg_real **out, const rg_model *model, const rg_graph *graph, rg_team *team,
                           const rg_watcher *watcher);

/* Who looks at whom: every layer and head, at most `hops` steps around `node`; node < 0: the whole graph. With
 * `explain` (may be NULL) also why the node, or each of a small graph, has its class. */
rg_status rg_graph_record(rg_record **out, const rg_model *model, const rg_graph *graph, int64_t node, int64_t hops,
                          const rg_explain_options *explain);

#endif
