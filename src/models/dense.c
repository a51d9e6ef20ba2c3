/* Dense layers on numbers, counts (a bag of words, svmlight) or the pixels of a picture: the multilayer perceptron. Without hidden layers it is
 * softmax regression (or linear regression).
 *
 *     h_0 = (x + shift) scale        numbers only: every column with mean 0 and deviation 1 on the training data
 *     h_l = f(drop(h_l-1) W_l + b_l)
 *     y   = h_L W + b                a number: y scale + shift, those of the training data */
#include <stdlib.h>
#include <string.h>

#include "regard/layers.h"
#include "regard/model.h"

enum { MOST_LAYERS = 16 };

typedef struct {
    char  *layers, *activation;
    double dropout;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "layers", offsetof(settings, layers), "64", "units of every hidden layer: 100 100; empty: none", 0, NULL, NULL },
    { RG_OPTION_STRING, "activation", offsetof(settings, activation), "relu", "of the hidden layers", 0, "relu|tanh|sigmoid", NULL },
    { RG_OPTION_REAL, "dropout", offsetof(settings, dropout), "0", "share of every layer's inputs dropped", 0, "[0,1)", NULL },
    RG_OPTION_END
};

typedef struct {
    rg_param *shift, *scale, *out_shift, *out_scale; /* kept: filled from the training data */
    rg_param *table, *bias;                          /* of counts: the first layer          */
    rg_dense  layer[MOST_LAYERS + 1];
    size_t    layers, rows; /* rows: pixels of a picture; 1: numbers */
} parts;

static rg_activation activation_of(const settings *s)
{
    return strcmp(s->activation, "relu") == 0 ? RG_RELU : strcmp(s->activation, "tanh") == 0 ? RG_TANH : RG_SIGMOID;
}

/* "100 50" into units; the number of them, or an error that names the option. */
static rg_status read_layers(size_t *units, size_t *out_count, const char *text)
{
    *out_count = 0;
    for (char *end; *(text += strspn(text, " ,")); text = end) {
        const long n = strtol(text, &end, 10);
        if (end == text || n < 1 || n > 1000000 || *out_count == MOST_LAYERS)
            return rg_fail(RG_EINVAL, "--layers takes at most %d numbers of units, 1 to 1000000: not '%s'", MOST_LAYERS, text);
        units[(*out_count)++] = (size_t)n;
    }
    return RG_OK;
}

/* Counts enter by the rows of a table: the first layer is not a product with mostly zeros. */
static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    size_t          units[MOST_LAYERS + 1], in = rg_model_size(m, "features"), first = 0;
    RG_TRY(read_layers(units, &q->layers, s->layers));
    units[q->layers] = rg_model_size(m, "classes");
    q->rows = rg_model_size(m, "height") ? rg_model_size(m, "height") * rg_model_size(m, "width") : 1;
    if (rg_model_size(m, "sparse")) {
        q->table = rg_params_add(m->params, "counts.weight", RG_TABLE, in, units[0], RG_INIT_GLOROT, 1);
        q->bias = rg_params_add(m->params, "counts.bias", RG_VECTOR, 1, units[0], RG_INIT_ZERO, 0);
        in = units[0];
        first = 1;
    } else if (q->rows == 1) {
        q->shift = rg_params_add(m->params, "input.shift", RG_KEPT, 1, in, RG_INIT_ZERO, 0);
        q->scale = rg_params_add(m->params, "input.scale", RG_KEPT, 1, in, RG_INIT_ONE, 1);
    }
    rg_params_push(m->params, "layer");
    for (size_t i = first; i <= q->layers; in = units[i++]) {
        char name[8];
        snprintf(name, sizeof name, "%u", (unsigned)i);
        rg_dense_init(&q->layer[i], m->params, name, in, units[i], i < q->layers ? activation_of(s) : RG_IDENTITY);
    }
    rg_params_pop(m->params);
    if (!rg_model_size(m, "regression")) return RG_OK;
    q->out_shift = rg_params_add(m->params, "output.shift", RG_KEPT, 1, units[q->layers], RG_INIT_ZERO, 0);
    q->out_scale = rg_params_add(m->params, "output.scale", RG_KEPT, 1, units[q->layers], RG_INIT_ONE, 1);
    return RG_OK;
}

/* Pixels and numbers as they are; of counts, count_f W_f for every feature. */
static rg_tensor *enter(rg_tape *t, const rg_model *m, const void *data)
{
    const parts    *q = m->parts;
    const rg_field *x = &((const rg_batch *)data)->field[RG_INPUT];
    const size_t    rows = rg_field_rows(x);
    rg_tensor      *h = rg_constant(t, x->values, rows, x->width, &x->layout);
    return q->table ? rg_mul(t, rg_gather(t, rg_use(t, q->table), x->ids, rows, &x->layout), h) : h;
}

static rg_tensor *features(rg_tape *t, const rg_model *m, const void *data, rg_tensor *h)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    (void)data;
    if (q->table) h = rg_bias_map(t, rg_sum_groups(t, h), rg_use(t, q->bias), q->layers ? activation_of(s) : RG_IDENTITY);
    else h = rg_join_rows(t, h, q->rows);
    if (q->shift) h = rg_mul(t, rg_add(t, h, rg_use(t, q->shift)), rg_use(t, q->scale));
    for (size_t i = q->table ? 1 : 0; i < q->layers; i++) h = rg_dense_run(t, &q->layer[i], rg_dropout(t, h, s->dropout));
    return h; /* (examples, units of the last hidden layer) */
}

static rg_tensor *answer(rg_tape *t, const rg_model *m, const void *data, rg_tensor *h)
{
    const parts *q = m->parts;
    (void)data;
    if (q->layers || !q->table) h = rg_dense_run(t, &q->layer[q->layers], rg_dropout(t, h, ((const settings *)m->options)->dropout));
    return q->out_scale ? rg_add(t, rg_mul(t, h, rg_use(t, q->out_scale)), rg_use(t, q->out_shift)) : h; /* (examples, classes) */
}

static const rg_attention_use uses[] = { { 0 } };

const rg_system rg_system_dense = {
    .name = "dense",
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
