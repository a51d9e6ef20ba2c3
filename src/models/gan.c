/* A generative adversarial network (Goodfellow et al. 2014): a generator makes samples of noise, a discriminator tells
 * them from the data, and each learns from the other through the gradient alone.
 *
 *     min_G max_D   E_x log D(x) + E_z log(1 - D(G(z)))          D = sigmoid of a logit d
 *
 *     phase discriminator    softplus(-d(x)) + softplus(d(G(z)))           --critic-steps of them per step of the generator
 *     phase generator        softplus(-d(G(z)))     non-saturating: -log D(G(z))
 *                            -softplus(d(G(z)))     minimax: log(1 - D(G(z))), the gradient of the discriminator's loss reversed
 *
 * Everything is computed from logits. Numbers are standardised by the training data; pixels are made by a sigmoid.
 * What is fixed best answers D = p / (p + q), p the density of the data and q that of the samples. */
#include <string.h>

#include "regard/layers.h"
#include "regard/model.h"
#include "regard/net.h"

typedef struct {
    char   *generator, *discriminator, *noise_kind, *loss;
    int64_t noise, critic_steps;
    double  real;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "noise", offsetof(settings, noise), "100", "numbers of noise that a sample is made of", 0,
      "[1,100000]", NULL },
    { RG_OPTION_STRING, "noise-kind", offsetof(settings, noise_kind), "uniform", "uniform in -1 .. 1, or normal", 0,
      "uniform|normal", NULL },
    { RG_OPTION_STRING, "generator-layers", offsetof(settings, generator), "f1200 f1200",
      "hidden layers of the generator: f100 dense, n batch norm, d0.5 dropout", 0, NULL, NULL },
    { RG_OPTION_STRING, "discriminator-layers", offsetof(settings, discriminator), "f512 d0.3 f256 d0.3",
      "layers of the discriminator; on pictures also c5x32 convolution, p2 pooling", 0, NULL, NULL },
    { RG_OPTION_STRING, "gan-loss", offsetof(settings, loss), "non-saturating", "what the generator learns by", 0,
      "non-saturating|minimax", NULL },
    { RG_OPTION_INT, "critic-steps", offsetof(settings, critic_steps), "1",
      "steps of the discriminator per step of the generator", 0, "[1,1000]", NULL },
    { RG_OPTION_REAL, "real-label", offsetof(settings, real), "1",
      "what the discriminator should say of data; 0.9 smooths one side", 0, "(0,1]", NULL },
    RG_OPTION_END
};

typedef struct {
    rg_net    generator, discriminator;
    rg_dense  sample, verdict;
    rg_param *shift, *scale, *out_shift, *out_scale; /* kept: numbers are standardised */
    size_t    rows, cells;                           /* rows of an example, of the discriminator's last map */
    bool      pixels;
} parts;

static const settings *its(const rg_model *m) { return m->options; }

static rg_status build_generator(rg_model *m, parts *q, size_t width)
{
    rg_status status = rg_net_parse(&q->generator, its(m)->generator, (size_t)its(m)->noise, 1, 1);
    if (status != RG_OK) return rg_fail_in(status, "--generator-layers: ");
    if (q->generator.maps)
        return rg_fail(RG_EINVAL, "--generator-layers: the generator has dense layers (f100), no maps");
    rg_params_push(m->params, "generator");
    rg_net_init(&q->generator, m->params, "net", (size_t)its(m)->noise);
    rg_dense_init(&q->sample, m->params, "sample", rg_net_units(&q->generator, (size_t)its(m)->noise), width,
                  q->pixels ? RG_SIGMOID : RG_IDENTITY);
    rg_params_pop(m->params);
    return RG_OK;
}

static rg_status build(rg_model *m)
{
    parts       *q = m->parts;
    const size_t height = rg_model_size(m, "height"), wide = rg_model_size(m, "width"),
                 channels = rg_model_size(m, "channels");
    const size_t width = rg_model_size(m, "features");
    q->pixels = height > 0;
    q->rows = q->pixels ? height * wide : 1;
    RG_TRY(build_generator(m, q, width));
    rg_status status = rg_net_parse(&q->discriminator, its(m)->discriminator, q->pixels ? channels : width,
                                    q->pixels ? height : 1, q->pixels ? wide : 1);
    if (status != RG_OK) return rg_fail_in(status, "--discriminator-layers: ");
    if (q->discriminator.maps && !q->pixels)
        return rg_fail(RG_EINVAL, "--discriminator-layers: maps (c5x32, p2) are for pictures");
    q->cells = q->discriminator.maps ? rg_net_height(&q->discriminator) * rg_net_width(&q->discriminator) : q->rows;
    const size_t units = q->discriminator.maps ? q->cells * rg_net_channels(&q->discriminator) : width;
    rg_params_push(m->params, "discriminator");
    rg_net_init(&q->discriminator, m->params, "net", units);
    rg_dense_init(&q->verdict, m->params, "verdict", rg_net_units(&q->discriminator, units), 1, RG_IDENTITY);
    rg_params_pop(m->params);
    if (!q->pixels) {
        q->shift = rg_params_add(m->params, "input.shift", RG_KEPT, 1, width, RG_INIT_ZERO, 0);
        q->scale = rg_params_add(m->params, "input.scale", RG_KEPT, 1, width, RG_INIT_ONE, 1);
        q->out_shift = rg_params_add(m->params, "output.shift", RG_KEPT, 1, width, RG_INIT_ZERO, 0);
        q->out_scale = rg_params_add(m->params, "output.scale", RG_KEPT, 1, width, RG_INIT_ONE, 1);
    }
    return rg_sizes_put(&m->sizes, "noise", (size_t)its(m)->noise);
}

/* ---------------------------------------------------------------------------------------------------------- players */

/* (n, noise) -> (n, numbers of a sample), as the discriminator sees them. */
static rg_tensor *generate(rg_tape *t, const rg_model *m, rg_tensor *z)
{
    const parts *q = m->parts;
    return rg_dense_run(t, &q->sample, rg_net_dense(t, &q->generator, z));
}

/* (n, numbers) -> (n, 1) logits: is it of the data? */
static rg_tensor *discriminate(rg_tape *t, const rg_model *m, rg_tensor *x)
{
    const parts *q = m->parts;
    if (q->discriminator.maps) {
        const rg_layout *pictures =
            rg_tape_pictures(t, rg_tensor_rows(x), rg_model_size(m, "height"), rg_model_size(m, "width"));
        x = rg_with_layout(t, rg_split_rows(t, x, q->rows), pictures);
        x = rg_join_rows(t, rg_net_maps(t, &q->discriminator, x), q->cells);
    }
    return rg_dense_run(t, &q->verdict, rg_net_dense(t, &q->discriminator, x));
}

static rg_tensor *data_rows(rg_tape *t, const rg_model *m, const rg_batch *b)
{
    const parts    *q = m->parts;
    const rg_field *f = &b->field[RG_INPUT];
    rg_tensor      *x = rg_join_rows(t, rg_constant(t, f->values, rg_field_rows(f), f->width, &f->layout), q->rows);
    return q->shift ? rg_mul(t, rg_add(t, x, rg_use(t, q->shift)), rg_use(t, q->scale)) : x;
}

/* As many samples as the batch has examples; noise goes by the number of the example in the whole batch. */
static rg_tensor *noise(rg_tape *t, const rg_model *m, const rg_batch *b)
{
    const parts *q = m->parts;
    int32_t     *start = rg_tape_memory(t, (b->examples + 1) * sizeof *start);
    if (!start) return NULL;
    for (size_t i = 0; i <= b->examples; i++) start[i] = (int32_t)i;
    rg_layout *each = rg_tape_layout(t, b->examples, start);
    if (!each) return NULL;
    each->first = b->field[RG_INPUT].layout.first / q->rows;
    const size_t width = (size_t)its(m)->noise;
    if (strcmp(its(m)->noise_kind, "normal") == 0) return rg_normal(t, b->examples, width, each);
    return rg_shift(t, rg_scale(t, rg_uniform(t, b->examples, width, each), 2), -1);
}

static rg_tensor *verdict_loss(rg_tape *t, rg_tensor *logits, double target)
{
    const size_t N = rg_tensor_rows(logits);
    rg_real     *to = rg_tape_memory(t, (N + 1) * sizeof *to);
    for (size_t i = 0; to && i < N; i++) to[i] = (rg_real)target;
    return to ? rg_binary_cross_entropy(t, logits, to) : NULL;
}

static rg_loss discriminator_loss(rg_tape *t, const rg_model *m, const void *data)
{
    const rg_batch *b = data;
    rg_tensor      *fake = rg_detach(t, generate(t, m, noise(t, m, b)));
    rg_tensor      *on_data = verdict_loss(t, discriminate(t, m, data_rows(t, m, b)), its(m)->real);
    return (rg_loss){ rg_add(t, on_data, verdict_loss(t, discriminate(t, m, fake), 0)), (double)b->examples };
}

static rg_loss generator_loss(rg_tape *t, const rg_model *m, const void *data)
{
    const rg_batch *b = data;
    rg_tensor      *d = discriminate(t, m, generate(t, m, noise(t, m, b)));
    const bool      minimax = strcmp(its(m)->loss, "minimax") == 0;
    return (rg_loss){ minimax ? rg_scale(t, verdict_loss(t, d, 0), -1) : verdict_loss(t, d, 1), (double)b->examples };
}

static int64_t critic_steps(const rg_model *m) { return its(m)->critic_steps; }

/* Samples of the noise that a batch holds as numbers, in the scale of the data. */
static rg_tensor *predict(rg_tape *t, const rg_model *m, const void *data)
{
    const parts    *q = m->parts;
    const rg_field *z = &((const rg_batch *)data)->field[RG_INPUT];
    rg_tensor      *x = generate(t, m, rg_constant(t, z->values, rg_field_rows(z), z->width, NULL));
    return q->out_scale ? rg_add(t, rg_mul(t, x, rg_use(t, q->out_scale)), rg_use(t, q->out_shift)) : x;
}

static const rg_system_phase phases[] = {
    { .name = "discriminator", .loss = discriminator_loss, .learns = "discriminator.*" },
    { .name = "generator", .loss = generator_loss, .learns = "generator.*", .every = critic_steps },
    { .name = NULL },
};

static const rg_attention_use uses[] = { { 0 } };

const rg_system rg_system_gan = {
    .name = "gan",
    .summary = "samples like the data, by a generator that learns to fool a discriminator",
    .paper = "Goodfellow, Pouget-Abadie, Mirza, Xu, Warde-Farley, Ozair, Courville, Bengio 2014",
    .task = &rg_task_sample,
    .reads = "numbers|pixels",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .phases = phases,
    .predict = predict,
};
