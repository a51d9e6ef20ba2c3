/* graph.h - a graph while its files are read. */
#ifndef RG_DATA_GRAPH_H
#define RG_DATA_GRAPH_H

#include "regard/graph.h"

/* Edges as they stand in the file. */
typedef struct rg_edges {
    int32_t *from, *to;
    rg_real *weight;
    uint64_t *line;
    size_t   count, room;
    bool     weighted;
} rg_edges;

/* Rows of ragged lists of numbers, filled in order. */
typedef struct rg_ragged {
    size_t  *first; /* rows + 1 */
    size_t   rows, rows_room;
    int32_t *item;
    rg_real *value; /* of each item */
    size_t   count, room;
} rg_ragged;

rg_status rg_ragged__add(rg_ragged *r, int32_t item, rg_real value);
rg_status rg_ragged__end_row(rg_ragged *r);
void      rg_ragged__free(rg_ragged *r);

/* graph_read.c: file by file; each fails with file, line and reason. */
rg_status rg_graph__read_features(rg_ragged *out, size_t *out_features, rg_lines *lines, bool dense,
                                  const rg_graph_config *config);
rg_status rg_graph__read_labels(rg_ragged *out, size_t *out_classes, bool *out_several, rg_lines *lines, size_t nodes,
                                const rg_graph_config *config);
rg_status rg_graph__read_edges(rg_edges *out, rg_lines *lines, size_t nodes, bool directed);
rg_status rg_graph__read_split(uint8_t *out, rg_lines *lines, size_t nodes); /* out[nodes]: 0 none, else split + 1 */
void      rg_edges__free(rg_edges *e);

#endif
