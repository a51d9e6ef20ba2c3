/* graph_parts.h - what the systems on graphs share: products that drop what goes in, and the loss of what they
 * predict. */
#ifndef RG_MODELS_GRAPH_PARTS_H
#define RG_MODELS_GRAPH_PARTS_H

#include "regard/graph.h"
#include "regard/model.h"

enum { RG_GRAPH_LAYERS = 16 }; /* at most */

/* RG_EINVAL unless 1 <= layers <= RG_GRAPH_LAYERS. */
rg_status rg_graph_parts_check(int64_t layers);

/* drop(x) w; x NULL: the features of the graph's nodes. While learning each of `heads` column blocks of w sees a
 * mask of its own. */
rg_tensor *rg_graph_parts_product(rg_tape *t, const rg_graph *graph, rg_tensor *x, const rg_param *w, size_t heads,
                                  double dropout);

/* Sum of the loss over the labelled nodes of a split; logits (nodes, classes). */
rg_loss rg_graph_loss(rg_tape *t, const rg_graph_batch *batch, rg_tensor *logits);

/* The `compare` of systems on graphs. */
rg_loss rg_graph_parts_compare(rg_tape *t, const void *batch, rg_tensor *logits);

#endif
