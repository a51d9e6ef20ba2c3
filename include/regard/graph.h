/* graph.h - graphs whose nodes have features and labels: citation networks, molecules, friendships.
 *
 *   DIR/edges.tsv      u TAB v [TAB weight]   one edge a line, nodes count from 0
 *   DIR/features.txt   line i: the numbers of node i's features that are 1, or number:value; empty: none
 *      or features.tsv line i: all features of node i as numbers
 *   DIR/labels.txt     line i: the class of node i, -1 when it is not known; several classes a line: several labels a node
 *   DIR/split.tsv      train|val|test TAB node
 *
 * Each file may be gzipped (NAME.gz). Labels and split may be missing: without a split every labelled node belongs
 * to whatever the graph is used for. Features are kept as they are used: node i "reaches" its features, so X W is a
 * mix of rows of W. */
#ifndef REGARD_GRAPH_H
#define REGARD_GRAPH_H

#include "regard/attention.h"
#include "regard/text.h"

RG_API_BEGIN

typedef enum rg_graph_split { RG_GRAPH_TRAIN, RG_GRAPH_VALID, RG_GRAPH_TEST, RG_GRAPH_SPLITS } rg_graph_split;

/* Labelled nodes of one part of the split. */
typedef struct rg_graph_set {
    size_t   count;
    int32_t *node;
    int32_t *label;   /* one class each; NULL with several labels a node */
    rg_real *targets; /* several labels: (count, classes) zeros and ones */
} rg_graph_set;

typedef struct rg_graph {
    char     *name;
    size_t    nodes, edges, features, classes; /* edges as listed */
    bool      directed, several;               /* several: labels a node */
    rg_reach *reach;                           /* a node sees its neighbours and itself */
    rg_real  *weight, *bias;                   /* of each pair of reach, and its logarithm, which reach holds too; NULL: all 1 */
    rg_real  *even;                            /* weight / sqrt(degrees): the fixed weights of a graph convolution */
    rg_reach *words;                           /* node -> its features */
    rg_real  *value;                           /* of each pair of words */
    int32_t  *label;                           /* of each node, -1: none or several; NULL: no labels */
    rg_graph_set set[RG_GRAPH_SPLITS];
    bool      has_split;
} rg_graph;

typedef struct rg_graph_config {
    bool   directed;  /* u TAB v: v sees u only                                    */
    bool   normalize; /* features.txt: each node's features are divided by their sum */
    size_t features;  /* how many a model knows; 0: one more than the largest       */
    size_t classes;   /* the same of classes                                       */
    bool   several;   /* the model knows several labels a node                     */
} rg_graph_config;
#define RG_GRAPH_CONFIG_DEFAULT { .normalize = true }

/* What a graph is read from; labels and split may be NULL. Messages use rg_lines_name and line numbers. */
typedef struct rg_graph_sources {
    rg_lines *edges, *features, *labels, *split;
    bool      dense; /* features are a table of numbers */
} rg_graph_sources;

/* RG_EFORMAT names file, line and what is wrong there: a node out of range, an edge that was there before, a missing
 * label. */
rg_status rg_graph_load(rg_graph **out, const char *folder, const rg_graph_config *config);
rg_status rg_graph_read(rg_graph **out, const char *name, const rg_graph_sources *sources,
                        const rg_graph_config *config);
void      rg_graph_free(rg_graph *graph);

/* All labelled nodes become the set of `split`, the others empty: for graphs that are train, valid or test as a
 * whole. */
rg_status rg_graph_take_all(rg_graph *graph, rg_graph_split split);

/* What systems on graphs learn from and answer: their batch. */
typedef struct rg_graph_batch {
    const rg_graph *graph;
    rg_graph_split  split; /* whose loss */
} rg_graph_batch;

/* How good: accuracy, or micro-F1 with several labels. Counts of several graphs add up. Rows of logits are ld apart. */
typedef struct rg_graph_counts {
    uint64_t hit, said, gold; /* said and gold: answers given, answers there were */
} rg_graph_counts;
void   rg_graph_count(rg_graph_counts *counts, const rg_graph *graph, rg_graph_split split, const rg_real *logits,
                      size_t ld);
double rg_graph_score(const rg_graph_counts *counts);

RG_API_END
#endif
