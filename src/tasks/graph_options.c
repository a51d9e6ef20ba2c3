/* graph_options.c - the settings of learning labels of nodes. Defaults are those of graph attention networks on Cora. */
#include "tasks/graph_task.h"

#define AT(field) offsetof(rg_graph_options, field)

const rg_option rg_graph_rows[] = {
    { RG_OPTION_LIST, "graph", AT(graphs), "", "folder with edges.tsv, features.txt or .tsv, labels.txt, split.tsv (.gz allowed); several: learn from all", 0, NULL },
    { RG_OPTION_LIST, "valid-graph", AT(valid_graphs), "", "graphs to validate on as wholes; none: the nodes the split names", 0, NULL },
    { RG_OPTION_LIST, "test-graph", AT(test_graphs), "", "graphs to test on as wholes", 0, NULL },
    { RG_OPTION_BOOL, "directed", AT(directed), "false", "u TAB v lets v see u, not u see v", 0, NULL },
    { RG_OPTION_BOOL, "normalize-features", AT(normalize), "true", "features.txt: a node's features sum to 1", 0, NULL },
    { RG_OPTION_STRING, "model", AT(model), "model.safetensors", "file to write; MODEL.checkpoint beside it is resumed from", 'm', NULL },
    { RG_OPTION_BOOL, "overwrite", AT(overwrite), "false", "begin anew although a checkpoint is there", 0, NULL },
    { RG_OPTION_STRING, "optimizer", AT(optimizer), "adam", "sgd, nesterov, adam, adamw, adadelta, rmsprop ...", 'o', NULL },
    { RG_OPTION_REAL, "learn-rate", AT(rate), "0.005", "step size", 'l', "(0,inf)" },
    { RG_OPTION_REAL, "beta1", AT(beta1), "-1", "momentum or first beta; -1: the optimiser's own", 0, "[-1,1)" },
    { RG_OPTION_REAL, "beta2", AT(beta2), "0.999", "second beta or decay of averages; -1: the optimiser's own", 0, "[-1,1)" },
    { RG_OPTION_REAL, "epsilon", AT(epsilon), "1e-8", "epsilon; -1: the optimiser's own", 0, "[-1,inf)" },
    { RG_OPTION_REAL, "weight-decay", AT(weight_decay), "0.0005", "L2 of every weight and bias", 0, "[0,inf)" },
    { RG_OPTION_INT, "after-epochs", AT(epochs), "100000", "most passes over the graphs", 'e', "[1,inf)" },
    { RG_OPTION_INT, "early-stopping", AT(patience), "100", "passes without a better loss or a better score on validation nodes before it stops; 0: never", 0, "[0,inf)" },
    { RG_OPTION_REAL, "save-minutes", AT(save_minutes), "5", "most minutes between checkpoints; 0: save only at the end", 0, "[0,inf)" },
    { RG_OPTION_INT, "disp-freq", AT(disp_freq), "100", "updates between log lines", 0, "[0,inf)" },
    { RG_OPTION_STRING, "log-json", AT(log_json), "", "log as JSON lines; empty: MODEL.jsonl", 0, NULL },
    { RG_OPTION_INT, "cpu-threads", AT(threads), "0", "threads that share the work on a graph; 0: one a core", 0, "[0,1024]" },
    { RG_OPTION_INT, "seed", AT(seed), "1", "of weights and dropout", 0, "[0,inf)" },
    RG_OPTION_END
};
