/* graph_parts.c - what the systems on graphs share. */
#include "models/graph_parts.h"

rg_status rg_graph_parts_check(int64_t layers)
{
    if (layers >= 1 && layers <= RG_GRAPH_LAYERS) return RG_OK;
    return rg_fail(RG_EINVAL, "--layers is %lld; it should be at least 1 and at most %d", (long long)layers,
                   RG_GRAPH_LAYERS);
}

rg_tensor *rg_graph_parts_product(rg_tape *t, const rg_graph *g, rg_tensor *x, const rg_param *param, size_t heads,
                                  double dropout)
{
    rg_tensor *w = rg_use(t, param);
    if (!x) return rg_sparse_product(t, g->words, g->value, w, heads, dropout);
    if (heads == 1 || !rg_tape_learning(t) || dropout == 0) return rg_matmul(t, rg_dropout(t, x, dropout), w);
    const size_t width = rg_param_cols(param) / heads;
    rg_tensor  **part = rg_tape_memory(t, heads * sizeof(rg_tensor *));
    if (!part) return NULL;
    for (size_t h = 0; h < heads; h++)
        part[h] = rg_matmul(t, rg_dropout(t, x, dropout), rg_columns(t, w, h * width, width));
    return rg_concat_columns(t, heads, part);
}

rg_loss rg_graph_loss(rg_tape *t, const rg_graph_batch *batch, rg_tensor *logits)
{
    const rg_graph_set *s = &batch->graph->set[batch->split];
    rg_tensor          *rows = rg_gather(t, logits, s->node, s->count, NULL);
    return (rg_loss){ s->targets ? rg_binary_cross_entropy(t, rows, s->targets)
                                 : rg_cross_entropy(t, rows, s->label, 0),
                      (double)s->count };
}

rg_loss rg_graph_parts_compare(rg_tape *t, const void *batch, rg_tensor *logits)
{
    return rg_graph_loss(t, batch, logits);
}
