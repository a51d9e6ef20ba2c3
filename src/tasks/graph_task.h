/* graph_task.h - learning the labels of nodes: the settings, as rows, the run, and what a trained model says of a graph. */
#ifndef RG_TASKS_GRAPH_TASK_H
#define RG_TASKS_GRAPH_TASK_H

#include "regard/graph.h"
#include "regard/model.h"
#include "tasks/report.h"

typedef struct rg_graph_options {
    rg_list graphs, valid_graphs, test_graphs;
    char   *model, *log_json, *optimizer;
    bool    directed, normalize, overwrite;
    int64_t epochs, patience, disp_freq, threads, seed;
    double  rate, beta1, beta2, epsilon, weight_decay, save_minutes;
} rg_graph_options;

extern const rg_option rg_graph_rows[];

/* The graphs of a run: one with a split, or lists that are train, valid and test as wholes. */
typedef struct rg_graph_data {
    rg_graph **graph; /* count of them: train, valid, test one after the other */
    size_t     train, valid, test; /* how many; valid and test 0: the sets of the train graphs */
    size_t     features, classes;
    bool       several;
} rg_graph_data;

rg_status rg_graph_data_load(rg_graph_data *out, const rg_graph_options *options);
void      rg_graph_data_free(rg_graph_data *data);

typedef struct rg_graph_result {
    double   valid_loss, valid_score, test_score; /* of the weights that are kept */
    uint64_t epochs;
    double   seconds, step_seconds, valid_seconds; /* all; the mean of one update and of one validation */
} rg_graph_result;

/* Train on loaded graphs. A model named "" is not written. out_model (may be NULL) is the caller's to free. RG_ESTOP: asked to stop;
 * the best weights so far are in the model's file, and the same call goes on from the checkpoint. */
rg_status rg_graph_train(rg_graph_result *out, rg_model **out_model, const rg_system *system, const void *system_options,
                         const rg_graph_options *options, const rg_graph_data *data, const rg_train_report *report);

/* Logits of every node, (nodes, classes) tightly packed, for rg_free. `watcher` (may be NULL) sees the attention. */
rg_status rg_graph_predict(rg_real **out, const rg_model *model, const rg_graph *graph, rg_team *team, const rg_watcher *watcher);

#endif
