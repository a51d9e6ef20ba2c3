/* Graph convolution (Kipf, Welling 2017): attention with weights that are given instead of learned.
 *
 *     h' = f(D^-1/2 (A + I) D^-1/2 h W + b)           f = ReLU, nothing after the last layer
 *
 * The normalised adjacency is one weight per pair of the same reach, so the layer is the mix of graph attention without its weigh. */
#include "models/graph_parts.h"

typedef struct {
    int64_t layers, width;
    double  dropout;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "layers", offsetof(settings, layers), "2", "layers", 0, NULL },
    { RG_OPTION_INT, "width", offsetof(settings, width), "16", "units of a hidden layer", 0, "[1,1000000]" },
    { RG_OPTION_REAL, "dropout", offsetof(settings, dropout), "0.5", "share of every layer's inputs dropped", 0, "[0,1)" },
    RG_OPTION_END
};

typedef struct {
    rg_param *w[RG_GRAPH_LAYERS], *b[RG_GRAPH_LAYERS];
} parts;

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    RG_TRY(rg_graph_parts_check(s->layers));
    for (int64_t i = 0; i < s->layers; i++) {
        const size_t in = i ? (size_t)s->width : rg_model_size(m, "features"), out = i + 1 == s->layers ? rg_model_size(m, "classes") : (size_t)s->width;
        rg_params_push(m->params, "%lld", (long long)i);
        q->w[i] = rg_params_add(m->params, "w", i ? RG_WEIGHT : RG_TABLE, in, out, RG_INIT_GLOROT, 1);
        q->b[i] = rg_params_add(m->params, "b", RG_VECTOR, 1, out, RG_INIT_ZERO, 0);
        rg_params_pop(m->params);
    }
    return RG_OK;
}

static rg_tensor *predict(rg_tape *t, const rg_model *m, const void *data)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    const rg_graph *g = ((const rg_graph_batch *)data)->graph;
    rg_tensor      *a = rg_borrow(t, g->even, g->reach->P, 1, 1), *x = NULL;
    for (int64_t i = 0; i < s->layers; i++) {
        rg_tensor *wh = rg_graph_parts_product(t, g, x, q->w[i], 1, s->dropout);
        x = rg_bias_map(t, rg_mix(t, a, wh, g->reach), rg_use(t, q->b[i]), i + 1 == s->layers ? RG_IDENTITY : RG_RELU);
    }
    return x;
}

static const rg_attention_use uses[] = {
    { "every layer", "the node", "its neighbours and itself", "the same, W h", "none: 1 / sqrt(degrees)", "edges with loops" },
    { 0 },
};

const rg_system rg_system_gcn = {
    .name = "gcn",
    .summary = "graph convolution: every neighbour counts by its degree alone",
    .paper = "Kipf, Welling 2017, Semi-Supervised Classification with Graph Convolutional Networks",
    .task = &rg_task_graph,
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = rg_graph_parts_loss,
    .predict = predict,
};
