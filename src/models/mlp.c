/* Dense layers: the multilayer perceptron, on numbers, counts (a bag of words, svmlight), the pixels of a picture, or
 * the features of a graph's nodes, whose edges it does not see. Without hidden layers it is softmax regression (or
 * linear regression).
 *
 *     h_0 = (x + shift) scale        numbers only: every column with mean 0 and deviation 1 on the training data
 *     h_l = f(drop(h_l-1) W_l + b_l)
 *     y   = drop(h_L) W + b          a number: y scale + shift, those of the training data
 *
 * Counts and features of nodes are mostly zero: they enter by the rows of W_1 that they name, so for them "the rows
 * that go in" (objective.h) are those of the first layer. */
#include <stdlib.h>
#include <string.h>

#include "models/graph_parts.h"

enum { MOST_LAYERS = 16 };

typedef struct {
    char   *layers, *activation;
    double  dropout;
    int64_t width;
} settings;

#define ROWS(dropped)                                                                                                                        \
    { RG_OPTION_STRING, "layers", offsetof(settings, layers), "f64",                                                                          \
      "hidden layers: f100 f100 are two of 100 units, d0.5 drops half of what the next one sees; empty: none", 0, NULL, NULL },               \
    { RG_OPTION_STRING, "activation", offsetof(settings, activation), "relu", "of the hidden layers", 0, "relu|tanh|sigmoid", NULL },         \
    { RG_OPTION_REAL, "dropout", offsetof(settings, dropout), dropped, "share of every layer's inputs dropped where --layers says nothing", 0, \
      "[0,1)", NULL }

static const rg_option options[] = { ROWS("0"), RG_OPTION_END };
static const rg_option graph_options[] = { ROWS("0.5"),
                                           { RG_OPTION_INT, "width", offsetof(settings, width), "0",
                                             "units of one hidden layer, instead of --layers; 0: as --layers says", 0,
                                             "[0,1000000]", NULL },
                                           RG_OPTION_END };

typedef struct {
    rg_param     *shift, *scale, *out_shift, *out_scale;  /* kept: filled from the training data                    */
    rg_param     *w[MOST_LAYERS + 1], *b[MOST_LAYERS + 1]; /* the last are those of the answer                       */
    double        drop[MOST_LAYERS + 1];                  /* of what goes into each layer                           */
    rg_activation f;
    size_t        last;         /* units of the last hidden layer                                    */
    size_t        layers, rows; /* hidden layers; rows of an example: pixels of a picture, 1: numbers */
    bool          table;        /* the first layer is a table of rows, one per count or feature       */
} parts;

/* --------------------------------------------------------------------------------------------------------- building */

static rg_activation activation_of(const settings *s)
{
    return strcmp(s->activation, "relu") == 0 ? RG_RELU : strcmp(s->activation, "tanh") == 0 ? RG_TANH : RG_SIGMOID;
}

/* "f100 d0.5 f50", or "100 50", as such networks were once written. */
static rg_status read_layers(parts *q, size_t *units, const settings *s)
{
    const char *text = s->layers;
    for (size_t i = 0; i <= MOST_LAYERS; i++) q->drop[i] = s->dropout;
    for (char *end; *(text += strspn(text, " ,")); text = end) {
        const bool   drops = *text == 'd';
        const char  *digits = text + (drops || *text == 'f');
        const double n = strtod(digits, &end);
        const bool   whole = *end == 0 || *end == ' ' || *end == ',';
        if (end == digits || !whole || !(drops ? n >= 0 && n < 1 : n >= 1 && n <= 1000000 && n == (double)(size_t)n))
            return rg_fail(RG_EINVAL,
                           "--layers takes f100 (1 to 1000000 units) and d0.5 (a share below 1), not '%.*s'; c and p "
                           "are for --type cnn",
                           (int)strcspn(text, " ,"), text);
        if (!drops && q->layers == MOST_LAYERS) return rg_fail(RG_EINVAL, "--layers: more than %d", MOST_LAYERS);
        if (drops) q->drop[q->layers] = n;
        else units[q->layers++] = (size_t)n;
    }
    return RG_OK;
}

/* Names of a layer's parameters: those that files of every kind had. */
static void add_layer(rg_model *m, parts *q, size_t i, size_t in, size_t out, bool graph)
{
    rg_params *p = m->params;
    char       w[32], b[32];
    if (graph) snprintf(w, sizeof w, "w%zu", i + 1), snprintf(b, sizeof b, "b%zu", i + 1);
    else if (i == 0 && q->table) snprintf(w, sizeof w, "counts.weight"), snprintf(b, sizeof b, "counts.bias");
    else snprintf(w, sizeof w, "layer.%zu.w", i), snprintf(b, sizeof b, "layer.%zu.b", i);
    q->w[i] = rg_params_add(p, w, i == 0 && q->table ? RG_TABLE : RG_WEIGHT, in, out, RG_INIT_GLOROT, 1);
    q->b[i] = rg_params_add(p, b, RG_VECTOR, 1, out, RG_INIT_ZERO, 0);
}

static rg_status build_layers(rg_model *m, bool graph)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    size_t          units[MOST_LAYERS + 1], in = rg_model_size(m, "features");
    q->f = activation_of(s);
    RG_TRY(read_layers(q, units, s));
    if (s->width) q->layers = 1, units[0] = (size_t)s->width;
    q->last = q->layers ? units[q->layers - 1] : 0;
    units[q->layers] = rg_model_size(m, "classes");
    for (size_t i = 0; i <= q->layers; in = units[i++]) add_layer(m, q, i, in, units[i], graph);
    return RG_OK;
}

static rg_status build(rg_model *m)
{
    parts       *q = m->parts;
    const size_t in = rg_model_size(m, "features"), classes = rg_model_size(m, "classes");
    q->rows = rg_model_size(m, "height") ? rg_model_size(m, "height") * rg_model_size(m, "width") : 1;
    q->table = rg_model_size(m, "sparse") > 0;
    if (!q->table && q->rows == 1) {
        q->shift = rg_params_add(m->params, "input.shift", RG_KEPT, 1, in, RG_INIT_ZERO, 0);
        q->scale = rg_params_add(m->params, "input.scale", RG_KEPT, 1, in, RG_INIT_ONE, 1);
    }
    RG_TRY(build_layers(m, false));
    RG_TRY(rg_sizes_put(&m->sizes, "units", q->layers ? q->last : q->table ? classes : in));
    if (!rg_model_size(m, "regression")) return RG_OK;
    q->out_shift = rg_params_add(m->params, "output.shift", RG_KEPT, 1, classes, RG_INIT_ZERO, 0);
    q->out_scale = rg_params_add(m->params, "output.scale", RG_KEPT, 1, classes, RG_INIT_ONE, 1);
    return RG_OK;
}

static rg_status build_on_graphs(rg_model *m)
{
    ((parts *)m->parts)->table = true;
    return build_layers(m, true);
}

/* ---------------------------------------------------------------------------------------------------------- running */

static rg_activation f_of(const parts *q, size_t layer) { return layer < q->layers ? q->f : RG_IDENTITY; }

static rg_tensor *run_layer(rg_tape *t, const parts *q, size_t i, rg_tensor *h)
{
    return rg_linear(t, rg_dropout(t, h, q->drop[i]), rg_use(t, q->w[i]), rg_use(t, q->b[i]), f_of(q, i));
}

/* Pixels and numbers as they are; of counts, count_f W_f for every feature. */
static rg_tensor *enter(rg_tape *t, const rg_model *m, const void *data)
{
    const parts    *q = m->parts;
    const rg_field *x = &((const rg_batch *)data)->field[RG_INPUT];
    const size_t    rows = rg_field_rows(x);
    rg_tensor      *h = rg_constant(t, x->values, rows, x->width, &x->layout);
    if (!q->table) return h;
    return rg_mul(t, rg_gather(t, rg_use(t, q->w[0]), x->ids, rows, &x->layout), rg_dropout(t, h, q->drop[0]));
}

/* The first layer of all nodes, before its bias. */
static rg_tensor *enter_graph(rg_tape *t, const rg_model *m, const void *data)
{
    const parts *q = m->parts;
    return rg_graph_parts_product(t, ((const rg_graph_batch *)data)->graph, NULL, q->w[0], 1, q->drop[0]);
}

static rg_tensor *hidden(rg_tape *t, const parts *q, rg_tensor *h)
{
    if (q->table) h = rg_bias_map(t, h, rg_use(t, q->b[0]), f_of(q, 0));
    for (size_t i = q->table ? 1 : 0; i < q->layers; i++) h = run_layer(t, q, i, h);
    return h; /* (examples, units of the last hidden layer) */
}

static rg_tensor *features(rg_tape *t, const rg_model *m, const void *data, rg_tensor *h)
{
    const parts *q = m->parts;
    (void)data;
    h = q->table ? rg_sum_groups(t, h) : rg_join_rows(t, h, q->rows);
    if (q->shift) h = rg_mul(t, rg_add(t, h, rg_use(t, q->shift)), rg_use(t, q->scale));
    return hidden(t, q, h);
}

static rg_tensor *features_on_graphs(rg_tape *t, const rg_model *m, const void *data, rg_tensor *h)
{
    (void)data;
    return hidden(t, m->parts, h);
}

static rg_tensor *answer(rg_tape *t, const rg_model *m, const void *data, rg_tensor *h)
{
    const parts *q = m->parts;
    (void)data;
    if (q->layers || !q->table) h = run_layer(t, q, q->layers, h);
    return q->out_scale ? rg_add(t, rg_mul(t, h, rg_use(t, q->out_scale)), rg_use(t, q->out_shift)) : h; /* (examples, classes) */
}

static const rg_attention_use uses[] = { { 0 } };

const rg_system rg_system_mlp = {
    .name = "mlp",
    .summary = "dense layers on numbers, counts or pixels; softmax regression without any",
    .paper = "the multilayer perceptron of Rumelhart, Hinton, Williams 1986",
    .task = &rg_task_classify,
    .reads = "numbers|counts|pixels",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .enter = enter,
    .features = features,
    .answer = answer,
    .compare = rg_compare_classes,
    .predict = rg_model_predict,
};

const rg_system rg_system_mlp_on_graphs = {
    .name = "mlp",
    .summary = "dense layers on a node's own features, without the graph",
    .paper = "the baseline of Yang, Cohen, Salakhutdinov 2016",
    .task = &rg_task_graph,
    .chosen_by = "graph",
    .batches = "graphs",
    .uses = uses,
    .options = graph_options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build_on_graphs,
    .enter = enter_graph,
    .features = features_on_graphs,
    .answer = answer,
    .compare = rg_graph_parts_compare,
    .predict = rg_model_predict,
};
