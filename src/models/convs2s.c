/* ConvS2S (Gehring et al. 2017): convolutions read and write, and every decoder layer has an attention of its own.
 *
 *     block     x <- (GLU(conv_k(x)) + x) sqrt(1/2)             GLU([a; b]) = a sigma(b); centred in the encoder, causal in the decoder
 *     decoder   d_i = W_d h_i + b_d + g_i                       h = GLU(conv_k(x)), g_i: the embedded word before, with its place
 *               a_ij = softmax_j(d_i . z_j)                     z: what leaves the encoder; dot products are not scaled
 *               c_i = sqrt(S) sum_j a_ij (z_j + e_j)            e_j: the embedded source word with its place; S: words of the source
 *               x <- ((h + c) sqrt(1/2) + x) sqrt(1/2)
 *     p(y_i) = softmax(W x_i)
 *
 * Places are learned. The gradient into the encoder is divided by the number of attentions. Weights start so that
 * variance stays the same: N(0, 4 p / (k d)) before a GLU, N(0, 1/d) in linear maps, words at 0.1. With --weight-norm
 * the convolutions learn length and direction apart (Salimans, Kingma 2016), as in the paper:
 *
 *     W_j = g_j v_j / |v_j|                                     column j; g begins at 2 sqrt(p), the length that is drawn */
#include "models/answer_parts.h"
#include "regard/conv.h"
#include "regard/layers.h"
#include "regard/trail.h"

#include <math.h>
#include <string.h>

enum { MOST_LAYERS = 32 };

typedef struct {
    int64_t d, encoder, decoder, taps, places;
    double  dropout, smoothing;
    bool    divide, normed;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "dim-emb", offsetof(settings, d), "256", "width of rows (d)", 0, "[1,1000000]" },
    { RG_OPTION_INT, "enc-depth", offsetof(settings, encoder), "4", "encoder layers", 0, NULL },
    { RG_OPTION_INT, "dec-depth", offsetof(settings, decoder), "4", "decoder layers", 0, NULL },
    { RG_OPTION_INT, "kernel", offsetof(settings, taps), "3", "words a convolution covers (k)", 0, "[1,99]" },
    { RG_OPTION_INT, "max-positions", offsetof(settings, places), "512", "places that are learned", 0, "[2,1000000]" },
    { RG_OPTION_BOOL, "divide-gradient", offsetof(settings, divide), "true",
      "gradients into the encoder are divided by the number of attentions", 0, NULL },
    { RG_OPTION_BOOL, "weight-norm", offsetof(settings, normed), "false",
      "convolutions learn the length and the direction of their weights apart", 0, NULL },
    { RG_OPTION_REAL, "dropout", offsetof(settings, dropout), "0.2",
      "share of embeddings and of what goes into convolutions dropped", 0, "[0,1)" },
    { RG_OPTION_REAL, "label-smoothing", offsetof(settings, smoothing), "0.1", "probability spread over all words", 0,
      "[0,1)" },
    RG_OPTION_END
};

typedef struct {
    rg_param *w, *b; /* (k d, 2 d) */
    rg_param *g;     /* (1, 2 d), times 2 sqrt(p): the length of every column; NULL: that of w */
} conv;

typedef struct {
    rg_param    *source, *target, *source_places, *target_places, *output, *output_bias;
    conv         reader[MOST_LAYERS], writer[MOST_LAYERS];
    rg_dense     query[MOST_LAYERS]; /* W_d */
    rg_attention att;                /* a dot product: nothing is learned */
} parts;

static const double half = 0.70710678118654752; /* sqrt(1/2) */

/* ---------------------------------------------------------------------------------------------------------- build */

static conv add_conv(rg_params *p, const settings *s)
{
    const size_t d = (size_t)s->d, k = (size_t)s->taps;
    const double deviation = sqrt(4 * (1 - s->dropout) / (double)(k * d));
    return (conv){ rg_params_add(p, "conv.w", s->normed ? RG_VECTOR : RG_WEIGHT, k * d, 2 * d, RG_INIT_NORMAL, deviation),
                   rg_params_add(p, "conv.b", RG_VECTOR, 1, 2 * d, RG_INIT_ZERO, 0),
                   s->normed ? rg_params_add(p, "conv.g", RG_VECTOR, 1, 2 * d, RG_INIT_ONE, 0) : NULL };
}

/* The weights of a convolution, (k d, 2 d). */
static rg_tensor *weights_of(rg_tape *t, const conv *c, const settings *s)
{
    rg_tensor *v = rg_use(t, c->w);
    if (!c->g || !v) return v;
    rg_tensor *squares = rg_sum_rows(t, rg_mul(t, v, v));                                  /* |v_j|^2   */
    rg_tensor *inverse = rg_map(t, rg_scale(t, rg_map(t, squares, RG_LOG), -0.5), RG_EXP); /* 1 / |v_j| */
    rg_tensor *length = rg_scale(t, rg_use(t, c->g), 2 * sqrt(1 - s->dropout));            /* g_j       */
    return rg_mul(t, v, rg_mul(t, length, inverse));
}

static void build_tables(rg_model *m, parts *p, const settings *s)
{
    const size_t d = (size_t)s->d, V = rg_model_size(m, "target-vocabulary"), P = (size_t)s->places;
    p->source = rg_params_add(m->params, "source.embedding", RG_TABLE, rg_model_size(m, "source-vocabulary"), d,
                              RG_INIT_NORMAL, 0.1);
    p->target = rg_params_add(m->params, "target.embedding", RG_TABLE, V, d, RG_INIT_NORMAL, 0.1);
    p->source_places = rg_params_add(m->params, "source.places", RG_TABLE, P, d, RG_INIT_NORMAL, 0.1);
    p->target_places = rg_params_add(m->params, "target.places", RG_TABLE, P, d, RG_INIT_NORMAL, 0.1);
    p->output = rg_params_add(m->params, "output", RG_TIED, V, d, RG_INIT_NORMAL, sqrt((1 - s->dropout) / (double)d));
    p->output_bias = rg_params_add(m->params, "output.bias", RG_VECTOR, 1, V, RG_INIT_ZERO, 0);
    m->longest = P;
}

static rg_status build(rg_model *m)
{
    const settings     *s = m->options;
    parts              *p = m->parts;
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    if (s->encoder < 1 || s->decoder < 1 || s->encoder > MOST_LAYERS || s->decoder > MOST_LAYERS)
        return rg_fail(RG_EINVAL, "enc-depth %lld and dec-depth %lld must lie in 1 .. %d", (long long)s->encoder,
                       (long long)s->decoder, MOST_LAYERS);
    build_tables(m, p, s);
    for (int64_t l = 0; l < s->encoder; l++) {
        rg_params_push(m->params, "encoder.%d", (int)l);
        p->reader[l] = add_conv(m->params, s);
        rg_params_pop(m->params);
    }
    for (int64_t l = 0; l < s->decoder; l++) {
        rg_params_push(m->params, "decoder.%d", (int)l);
        p->writer[l] = add_conv(m->params, s);
        rg_dense_init(&p->query[l], m->params, "query", (size_t)s->d, (size_t)s->d, RG_IDENTITY);
        rg_params_pop(m->params);
    }
    c.score = "dot";
    c.q_width = c.k_width = (size_t)s->d;
    return rg_attention_init(&p->att, &c, m->params);
}

/* -------------------------------------------------------------------------------------------------------- sentences */

static rg_tensor *embed(rg_tape *t, const settings *s, const rg_param *words, const rg_param *places,
                        const int32_t *ids, const rg_layout *layout, bool reads)
{
    const size_t n = (size_t)layout->start[layout->groups];
    for (size_t g = 0; g < layout->groups; g++)
        if (layout->start[g + 1] - layout->start[g] > s->places)
            return rg_tape_fail(t, RG_ELIMIT, "a sentence of %d pieces; places were learned for %lld (--max-positions)",
                                (int)(layout->start[g + 1] - layout->start[g]), (long long)s->places);
    rg_tensor *x = rg_gather(t, rg_use(t, words), ids, n, layout);
    if (reads) x = rg_tape_offer(t, "inputs", x, NULL);
    x = rg_add(t, x, rg_gather(t, rg_use(t, places), rg_places(t, layout), n, layout));
    return rg_dropout(t, x, s->dropout);
}

static rg_tensor *mean(rg_tape *t, rg_tensor *x, rg_tensor *y) { return rg_scale(t, rg_add(t, x, y), half); }

/* What every decoder layer looks at. */
typedef struct {
    rg_tensor *keys, *values; /* z, z + e */
} memory_of_source;

static memory_of_source encode(rg_tape *t, const parts *p, const settings *s, const int32_t *ids,
                               const rg_layout *layout)
{
    const rg_time_window window = { .taps = (size_t)s->taps, .dilation = 1 };
    rg_tensor           *e = embed(t, s, p->source, p->source_places, ids, layout, true), *x = e;
    for (int64_t l = 0; l < s->encoder; l++) {
        rg_tensor *in = rg_dropout(t, x, s->dropout);
        x = mean(
            t,
            rg_glu(t, rg_conv1d(t, in, weights_of(t, &p->reader[l], s), rg_use(t, p->reader[l].b), RG_IDENTITY, &window)),
            x);
    }
    if (s->divide && rg_tape_learning(t)) x = rg_scale_gradient(t, x, 1.0 / (double)s->decoder);
    return (memory_of_source){ rg_attention_prepare(t, &p->att, x), rg_add(t, x, e) };
}

/* The rest of decoder layer l after its convolution, h: look at the source, and the two residual sums. */
static rg_tensor *look(rg_tape *t, const parts *p, int64_t l, rg_tensor *h, rg_tensor *g, rg_tensor *x,
                       const memory_of_source *source, const rg_reach *reach, rg_tensor *root)
{
    rg_tensor *query = rg_add(t, rg_dense_run(t, &p->query[l], h), g);
    rg_tensor *c = rg_mul(t, rg_attend(t, &p->att, query, source->keys, source->values, reach), root);
    return mean(t, mean(t, h, c), x);
}

/* sqrt(S) of each row of a reach, a column. */
static rg_tensor *roots(rg_tape *t, const rg_reach *reach)
{
    rg_real *root = reach ? rg_tape_memory(t, (reach->Nq + 1) * sizeof *root) : NULL;
    for (size_t i = 0; root && i < reach->Nq; i++)
        root[i] = (rg_real)sqrt((double)(reach->first[i + 1] - reach->first[i]));
    return root ? rg_borrow(t, root, reach->Nq, 1, 1) : NULL;
}

/* -------------------------------------------------------------------------------------------------------- learning */

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings        *s = m->options;
    const parts           *p = m->parts;
    const rg_batch        *batch = data;
    const rg_field        *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    const rg_time_window   window = { .taps = (size_t)s->taps, .dilation = 1, .causal = true };
    const memory_of_source source = encode(t, p, s, from->ids, &from->layout);
    const rg_reach        *reach = rg_reach_groups(t, &to->layout, &from->layout);
    rg_tensor             *root = roots(t, reach), *x,
              *g = x = embed(t, s, p->target, p->target_places, to->previous, &to->layout, false);
    for (int64_t l = 0; l < s->decoder && x; l++) {
        rg_tape_push(t, "decoder.%d", (int)l);
        rg_tensor *in = rg_dropout(t, x, s->dropout);
        rg_tensor *h =
            rg_glu(t, rg_conv1d(t, in, weights_of(t, &p->writer[l], s), rg_use(t, p->writer[l].b), RG_IDENTITY, &window));
        x = look(t, p, l, h, g, x, &source, reach, root);
        rg_tape_pop(t);
    }
    return rg_answer_loss(t, rg_dropout(t, x, s->dropout), rg_use(t, p->output), rg_use(t, p->output_bias), to,
                          s->smoothing);
}

/* -------------------------------------------------------------------------------------------------------- decoding */

typedef struct {
    memory_of_source source;
    rg_trail        *past;           /* the last k - 1 inputs of every layer */
    rg_tensor       *w[MOST_LAYERS]; /* of the decoder's convolutions, once for all steps; NULL: as they are stored */
} memory;

static void finish(rg_decoding *d)
{
    memory *mem = d->state;
    rg_trail_free(mem->past);
    memset(mem, 0, sizeof *mem);
}

static rg_status start(rg_decoding *d)
{
    const settings *s = d->model->options;
    const parts    *p = d->model->parts;
    memory         *mem = d->state;
    if (!mem->past) RG_TRY(rg_trail_new(&mem->past, (size_t)s->decoder, (size_t)s->taps));
    rg_trail_clear(mem->past);
    mem->source = encode(d->memory, p, s, d->source.ids, &d->sources);
    for (int64_t l = 0; l < s->decoder; l++) mem->w[l] = s->normed ? weights_of(d->memory, &p->writer[l], s) : NULL;
    rg_attention_pack(d->memory, &p->att, mem->source.keys, mem->source.values, &d->sources);
    return rg_tape_status(d->memory);
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const settings *s = d->model->options;
    const parts    *p = d->model->parts;
    memory         *mem = d->state;
    const int32_t   place = (int32_t)d->steps;
    if (d->steps >= (size_t)s->places)
        return rg_tape_fail(t, RG_ELIMIT, "places were learned for %lld words (--max-positions)", (long long)s->places);
    const rg_reach *reach = rg_answer_reach(t, d);
    rg_tensor      *root = roots(t, reach);
    rg_tensor      *g = rg_add(t, rg_gather(t, rg_use(t, p->target), d->tokens, d->n, NULL),
                               rg_gather(t, rg_use(t, p->target_places), &place, 1, NULL));
    rg_tensor      *x = g;
    rg_trail_step(t, mem->past, d->n);
    for (int64_t l = 0; l < s->decoder && x; l++) {
        rg_tape_push(t, "decoder.%d", (int)l);
        rg_tensor *window = rg_trail_window(t, mem->past, (size_t)l, x, (size_t)s->taps, 1);
        rg_tensor *h =
            rg_glu(t, rg_linear(t, window, mem->w[l] ? mem->w[l] : rg_use(t, p->writer[l].w), rg_use(t, p->writer[l].b), RG_IDENTITY));
        x = look(t, p, l, h, g, x, &mem->source, reach, root);
        rg_tape_pop(t);
    }
    return rg_answer_logits(d, t, x, p->output, p->output_bias);
}

static rg_status keep(rg_decoding *d, const int32_t *parents, size_t n)
{
    return rg_trail_keep(((memory *)d->state)->past, parents, n);
}

static const rg_attention_use uses[] = {
    { "every decoder layer", "target words so far: a convolution's output and the word before",
      "what leaves the encoder (z)", "z and the embedded source words", "dot", "groups", .watch = "decoder.*weights",
      .rows = "output", .cols = "source" },
    { 0 },
};

static const rg_preset presets[] = {
    { "small", "4 + 4 layers of 256: Multi30k", "dim-emb: 256\nenc-depth: 4\ndec-depth: 4\nkernel: 3\n" },
    { "paper", "near the paper's: 15 + 15 layers, width 512",
      "dim-emb: 512\nenc-depth: 15\ndec-depth: 15\nkernel: 3\ndropout: 0.1\n" },
    { NULL, NULL, NULL },
};

const rg_system rg_system_convs2s = {
    .name = "convs2s",
    .summary = "convolutions with gated linear units read and write; every decoder layer looks at the source",
    .paper = "Gehring et al. 2017, Convolutional Sequence to Sequence Learning",
    .task = &rg_task_translation,
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .presets = presets,
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .state_bytes = sizeof(memory),
    .start = start,
    .step = step,
    .keep = keep,
    .finish = finish,
};
