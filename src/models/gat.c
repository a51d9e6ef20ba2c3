/* Graph attention networks (Velickovic et al. 2018): a node reads from its neighbours, weighted by how well they fit.
 *
 *     e_ij = LeakyReLU(a1 . W h_i + a2 . W h_j)      a_ij = softmax over the neighbours j of i and i itself
 *     h'_i = ELU(concat over heads of sum_j a_ij W h_j + b)          the last layer: the mean over heads, no ELU
 *
 * As in the authors' program: the input's mask is drawn anew for each head, dropout also falls on the normalised
 * weights and on W h before the sum, both halves of a score have a bias. Weights w_ij of edges multiply: softmax(e +
 * log w), which is the graph's reach. With --score additive the activation stands between a and the sum, e_ij = a .
 * LeakyReLU(W1 W h_i + W2 W h_j) (GATv2: Brody, Alon, Yahav 2022). */
#include "models/graph_parts.h"

#include <math.h>

typedef struct {
    int64_t layers, heads, width, output_heads;
    double  dropout, dropout_attention;
    char   *score, *activation;
    bool    skip;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "layers", offsetof(settings, layers), "2", "layers of attention", 0, NULL },
    { RG_OPTION_INT, "heads", offsetof(settings, heads), "8", "heads of every layer but the last", 0, "[1,1000000]" },
    { RG_OPTION_INT, "width", offsetof(settings, width), "8", "features of one head", 0, "[1,1000000]" },
    { RG_OPTION_INT, "output-heads", offsetof(settings, output_heads), "1", "heads of the last layer, averaged", 0,
      "[1,1000000]" },
    { RG_OPTION_REAL, "dropout", offsetof(settings, dropout), "0.6", "share of inputs dropped, and of W h", 0,
      "[0,1)" },
    { RG_OPTION_REAL, "dropout-attention", offsetof(settings, dropout_attention), "0.6",
      "share of normalised weights dropped", 0, "[0,1)" },
    { RG_OPTION_STRING, "score", offsetof(settings, score), "linear", "linear: as published; additive: GATv2", 0,
      "linear|additive" },
    { RG_OPTION_STRING, "score-activation", offsetof(settings, activation), "leaky_relu",
      "function inside the score; own: identity in linear, tanh in additive", 0, "own|identity|tanh|relu|leaky_relu" },
    { RG_OPTION_BOOL, "skip", offsetof(settings, skip), "false", "add what went in where a layer keeps the width", 0,
      NULL },
    RG_OPTION_END
};

typedef struct {
    rg_attention att;
    rg_param    *w, *b;
    size_t       heads, width, in;
} layer;

typedef struct {
    layer layer[RG_GRAPH_LAYERS];
} parts;

/* ------------------------------------------------------------------------------------------------------------ build */

/* Glorot as if every head were a layer of its own. */
static rg_status build_layer(layer *l, rg_params *p, const settings *s, bool first, bool last)
{
    const size_t        out = l->heads * l->width;
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    c.score = s->score;
    c.heads = l->heads;
    c.q_width = c.k_width = out;
    c.hidden = l->width;
    c.biased = true;
    c.dropout = s->dropout_attention;
    l->w = rg_params_add(p, "w", first ? RG_TABLE : RG_WEIGHT, l->in, out, RG_INIT_GLOROT,
                         sqrt((double)(l->in + out) / (double)(l->in + l->width)));
    l->b = rg_params_add(p, "b", RG_VECTOR, 1, last ? l->width : out, RG_INIT_ZERO, 0);
    RG_TRY(rg_attention_init(&l->att, &c, p));
    return rg_attention_activate(&l->att, s->activation);
}

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    RG_TRY(rg_graph_parts_check(s->layers));
    size_t in = rg_model_size(m, "features");
    for (int64_t i = 0; i < s->layers; i++) {
        const bool last = i + 1 == s->layers;
        layer     *l = &q->layer[i];
        l->heads = (size_t)(last ? s->output_heads : s->heads);
        l->width = last ? rg_model_size(m, "classes") : (size_t)s->width;
        l->in = in;
        rg_params_push(m->params, "%lld", (long long)i);
        RG_TRY(build_layer(l, m->params, s, i == 0, last));
        rg_params_pop(m->params);
        in = l->heads * l->width;
    }
    return RG_OK;
}

/* -------------------------------------------------------------------------------------------------------------- run */

static rg_tensor *mean_of_heads(rg_tape *t, rg_tensor *x, size_t heads)
{
    if (heads == 1) return x;
    rg_tensor **part = rg_tape_memory(t, heads * sizeof(rg_tensor *));
    if (!part) return NULL;
    rg_split(t, x, heads, part);
    rg_tensor *sum = part[0];
    for (size_t h = 1; h < heads; h++) sum = rg_add(t, sum, part[h]);
    return rg_scale(t, sum, 1 / (double)heads);
}

static rg_tensor *attend(rg_tape *t, const settings *s, const layer *l, rg_tensor *wh, const rg_graph *g, bool last,
                         rg_activation f)
{
    rg_tensor *k = rg_attention_prepare(t, &l->att, wh), *v = rg_dropout(t, wh, s->dropout);
    rg_tensor *x = rg_attend(t, &l->att, wh, k, v, g->reach);
    return rg_bias_map(t, last ? mean_of_heads(t, x, l->heads) : x, rg_use(t, l->b), f);
}

/* Layer i of x, of which wh is W h already where it is there: that of the first layer is what enters. */
static rg_tensor *run_layer(rg_tape *t, const rg_model *m, const void *data, int64_t i, rg_tensor *x, rg_tensor *wh)
{
    const settings *s = m->options;
    const layer    *l = &((const parts *)m->parts)->layer[i];
    const rg_graph *g = ((const rg_graph_batch *)data)->graph;
    const bool      last = i + 1 == s->layers;
    rg_tape_push(t, "%lld", (long long)i);
    if (!wh) wh = rg_graph_parts_product(t, g, x, l->w, l->heads, s->dropout);
    const bool skips = s->skip && x && rg_tensor_cols(x) == (last ? l->width : l->heads * l->width);
    rg_tensor *y = attend(t, s, l, wh, g, last, last || skips ? RG_IDENTITY : RG_ELU);
    if (skips) y = rg_add(t, y, x);
    rg_tape_pop(t);
    return skips && !last ? rg_map(t, y, RG_ELU) : y;
}

static rg_tensor *enter(rg_tape *t, const rg_model *m, const void *data)
{
    const layer *l = &((const parts *)m->parts)->layer[0];
    return rg_graph_parts_product(t, ((const rg_graph_batch *)data)->graph, NULL, l->w, l->heads,
                                  ((const settings *)m->options)->dropout);
}

/* All layers but the last; of one alone, what it will attend to. */
static rg_tensor *features(rg_tape *t, const rg_model *m, const void *data, rg_tensor *wh)
{
    const int64_t layers = ((const settings *)m->options)->layers;
    if (layers == 1 || !wh) return wh;
    rg_tensor *x = run_layer(t, m, data, 0, NULL, wh);
    for (int64_t i = 1; i + 1 < layers; i++) x = run_layer(t, m, data, i, x, NULL);
    return x;
}

static rg_tensor *answer(rg_tape *t, const rg_model *m, const void *data, rg_tensor *x)
{
    const int64_t last = ((const settings *)m->options)->layers - 1;
    if (!x) return NULL;
    return last ? run_layer(t, m, data, last, x, NULL) : run_layer(t, m, data, 0, NULL, x);
}

static const rg_attention_use uses[] = {
    { "every layer", "the node, W h", "its neighbours and itself, W h", "the same, W h", "linear (leaky relu)",
      "edges with loops", .watch = "*weights", .rows = "nodes", .cols = "nodes" },
    { 0 },
};

const rg_system rg_system_gat = {
    .name = "gat",
    .summary = "graph attention network: nodes read from their neighbours",
    .paper = "Velickovic et al. 2018, Graph Attention Networks",
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
