/* A network of two layers that does not look at the edges: what features alone can tell.
 *
 *     y = relu(x W1 + b1) W2 + b2 */
#include "models/graph_parts.h"

typedef struct {
    int64_t width;
    double  dropout;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "width", offsetof(settings, width), "64", "units of the hidden layer", 0, "[1,1000000]" },
    { RG_OPTION_REAL, "dropout", offsetof(settings, dropout), "0.5", "share of every layer's inputs dropped", 0, "[0,1)" },
    RG_OPTION_END
};

typedef struct {
    rg_param *w1, *b1, *w2, *b2;
} parts;

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    q->w1 = rg_params_add(m->params, "w1", RG_TABLE, rg_model_size(m, "features"), (size_t)s->width, RG_INIT_GLOROT, 1);
    q->b1 = rg_params_add(m->params, "b1", RG_VECTOR, 1, (size_t)s->width, RG_INIT_ZERO, 0);
    q->w2 = rg_params_add(m->params, "w2", RG_WEIGHT, (size_t)s->width, rg_model_size(m, "classes"), RG_INIT_GLOROT, 1);
    q->b2 = rg_params_add(m->params, "b2", RG_VECTOR, 1, rg_model_size(m, "classes"), RG_INIT_ZERO, 0);
    return RG_OK;
}

static rg_tensor *predict(rg_tape *t, const rg_model *m, const void *data)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    const rg_graph *g = ((const rg_graph_batch *)data)->graph;
    rg_tensor      *x = rg_relu(t, rg_add(t, rg_graph_parts_product(t, g, NULL, q->w1, 1, s->dropout), rg_use(t, q->b1)));
    return rg_add(t, rg_graph_parts_product(t, g, x, q->w2, 1, s->dropout), rg_use(t, q->b2));
}

static const rg_attention_use uses[] = { { 0 } };

const rg_system rg_system_mlp = {
    .name = "mlp",
    .summary = "two layers on a node's own features, without the graph",
    .paper = "the baseline of Yang, Cohen, Salakhutdinov 2016",
    .task = &rg_task_graph,
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = rg_graph_parts_loss,
    .predict = predict,
};
