/* Graph convolution (Kipf, Welling 2017): attention with weights that are given instead of learned.
 *
 *     h' = f(D^-1/2 (A + I) D^-1/2 h W + b)           f = ReLU, nothing after the last layer
 *
 * The normalised adjacency is one weight per pair of the same reach, so the layer is the mix of graph attention
 * without its weigh. */
#include "models/graph_parts.h"

typedef struct {
    int64_t layers, width;
    double  dropout;
} settings;

static const rg_option options[] = { { RG_OPTION_INT, "layers", offsetof(settings, layers), "2", "layers", 0, NULL },
                                     { RG_OPTION_INT, "width", offsetof(settings, width), "16",
                                       "units of a hidden layer", 0, "[1,1000000]" },
                                     { RG_OPTION_REAL, "dropout", offsetof(settings, dropout), "0.5",
                                       "share of every layer's inputs dropped", 0, "[0,1)" },
                                     RG_OPTION_END };

typedef struct {
    rg_param *w[RG_GRAPH_LAYERS], *b[RG_GRAPH_LAYERS];
} parts;

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    RG_TRY(rg_graph_parts_check(s->layers));
    for (int64_t i = 0; i < s->layers; i++) {
        const size_t in = i ? (size_t)s->width : rg_model_size(m, "features"),
                     out = i + 1 == s->layers ? rg_model_size(m, "classes") : (size_t)s->width;
        rg_params_push(m->params, "%lld", (long long)i);
        q->w[i] = rg_params_add(m->params, "w", i ? RG_WEIGHT : RG_TABLE, in, out, RG_INIT_GLOROT, 1);
        q->b[i] = rg_params_add(m->params, "b", RG_VECTOR, 1, out, RG_INIT_ZERO, 0);
        rg_params_pop(m->params);
    }
    return RG_OK;
}

static rg_tensor *product(rg_tape *t, const rg_model *m, const void *data, rg_tensor *x, int64_t layer)
{
    const parts *q = m->parts;
    return rg_graph_parts_product(t, ((const rg_graph_batch *)data)->graph, x, q->w[layer], 1,
                                  ((const settings *)m->options)->dropout);
}

/* What the neighbours of each node have, in fixed shares. */
static rg_tensor *mix(rg_tape *t, const rg_model *m, const void *data, rg_tensor *wh, int64_t layer)
{
    const bool      last = layer + 1 == ((const settings *)m->options)->layers;
    const rg_graph *g = ((const rg_graph_batch *)data)->graph;
    rg_tensor      *a = rg_borrow(t, g->even, g->reach->P, 1, 1);
    return rg_bias_map(t, rg_mix(t, a, wh, g->reach), rg_use(t, ((const parts *)m->parts)->b[layer]),
                       last ? RG_IDENTITY : RG_RELU);
}

static rg_tensor *enter(rg_tape *t, const rg_model *m, const void *data) { return product(t, m, data, NULL, 0); }

/* All layers but the last; of one alone, what it will mix. */
static rg_tensor *features(rg_tape *t, const rg_model *m, const void *data, rg_tensor *wh)
{
    const int64_t layers = ((const settings *)m->options)->layers;
    if (layers == 1) return wh;
    rg_tensor *x = mix(t, m, data, wh, 0);
    for (int64_t i = 1; i + 1 < layers; i++) x = mix(t, m, data, product(t, m, data, x, i), i);
    return x;
}

static rg_tensor *answer(rg_tape *t, const rg_model *m, const void *data, rg_tensor *x)
{
    const int64_t last = ((const settings *)m->options)->layers - 1;
    return mix(t, m, data, last ? product(t, m, data, x, last) : x, last);
}

static const rg_attention_use uses[] = {
    { "every layer", "the node", "its neighbours and itself", "the same, W h", "none: 1 / sqrt(degrees)",
      "edges with loops" },
    { 0 },
};

const rg_system rg_system_gcn = {
    .name = "gcn",
    .summary = "graph convolution: every neighbour counts by its degree alone",
    .paper = "Kipf, Welling 2017, Semi-Supervised Classification with Graph Convolutional Networks",
    .task = &rg_task_graph,
    .batches = "graphs",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .enter = enter,
    .features = features,
    .answer = answer,
    .compare = rg_graph_parts_compare,
    .predict = rg_model_predict,
};
