/* Listen, attend and spell (Chan, Jaitly, Le, Vinyals 2016): rows of numbers, such as the frames of a recording, as text.
 *
 *     x_i = (r_i + shift) scale W + b          rows as they are read, every column with mean 0 and deviation 1
 *     a_i = encoder(x)                         states of both directions by default; a pyramid is --sound-stack here
 *     h_t, c_t, z_t, alpha_t                   a writer that looks at the rows before every token (picture_parts.h)
 *     p(y_t) = softmax(L_o (E y_{t-1} + L_h h_t + L_z z_t))        loss = - log p(y)
 *
 * The writer is the one that captions pictures: rows of time in the place of cells of a picture. */
#include "models/picture_parts.h"
#include "regard/encoder.h"

typedef struct {
    char               *attention;
    int64_t             in, d, width;
    double              dropout_in, dropout, smoothing;
    bool                gate;
    rg_encoder_settings encoder;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "dim-in", offsetof(settings, in), "100", "numbers that a row becomes before the encoder", 0,
      "[1,1000000]", NULL },
    RG_ENCODER_ROWS(settings, encoder, "bilstm", "100"),
    { RG_OPTION_STRING, "attention", offsetof(settings, attention), "soft",
      "which rows a token sees: all weighted; all alike and none are controls", 0, "soft|mean|none", NULL },
    { RG_OPTION_INT, "dim-emb", offsetof(settings, d), "64", "width of embeddings", 0, "[1,1000000]", NULL },
    { RG_OPTION_INT, "dim-rnn", offsetof(settings, width), "128", "width of the writer's states", 0, "[1,1000000]", NULL },
    { RG_OPTION_REAL, "dropout-in", offsetof(settings, dropout_in), "0.1", "share of what goes into and out of the encoder dropped", 0,
      "[0,1)", NULL },
    { RG_OPTION_REAL, "dropout-rnn", offsetof(settings, dropout), "0.1",
      "share of embeddings, states and outputs dropped", 0, "[0,1)", NULL },
    { RG_OPTION_REAL, "label-smoothing", offsetof(settings, smoothing), "0", "probability spread over all tokens", 0,
      "[0,1)", NULL },
    { RG_OPTION_BOOL, "gate", offsetof(settings, gate), "false", "a scalar says how much of what is seen counts", 0,
      NULL, NULL },
    RG_OPTION_END
};

typedef struct {
    rg_param    *shift, *scale; /* kept: from the training data */
    rg_dense     entry;
    rg_encoder   encoder;
    rg_look      look;
    rg_rnn_parts words; /* its output only */
} parts;

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    const size_t    V = rg_model_size(m, "target-vocabulary"), in = rg_model_size(m, "features");
    if (!in) return rg_fail(RG_EINVAL, "%s reads rows of numbers, and the data have none", m->system->name);
    q->shift = rg_params_add(m->params, "input.shift", RG_KEPT, 1, in, RG_INIT_ZERO, 0);
    q->scale = rg_params_add(m->params, "input.scale", RG_KEPT, 1, in, RG_INIT_ONE, 1);
    rg_dense_init(&q->entry, m->params, "numbers", in, (size_t)s->in, RG_IDENTITY);
    RG_TRY(rg_encoder_init(&q->encoder, m->params, &s->encoder, (size_t)s->in));
    m->longest = rg_encoder_longest(&q->encoder);
    q->look = (rg_look){ .kind = rg_look_kind_of(s->attention), .gated = s->gate, .temperature = 1, .dropout = s->dropout };
    RG_TRY(rg_look_build(&q->look, m, V, (size_t)s->d, (size_t)s->width, q->encoder.out));
    rg_look_output(&q->words, m, V, (size_t)s->d);
    return RG_OK;
}

/* (rows, encoder.out), a group per recording. */
static rg_tensor *encode(rg_tape *t, const rg_model *m, const rg_field *f)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    rg_tensor      *end, *x = rg_tape_offer(t, "inputs", rg_constant(t, f->values, rg_field_rows(f), f->width, &f->layout), NULL);
    x = rg_mul(t, rg_add(t, x, rg_use(t, q->shift)), rg_use(t, q->scale));
    x = rg_dropout(t, rg_dense_run(t, &q->entry, x), s->dropout_in);
    return rg_dropout(t, rg_encoder_run(t, &q->encoder, x, NULL, &end), s->dropout_in);
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    const rg_batch *b = data;
    const rg_field *to = &b->field[RG_TARGET];
    rg_tensor      *rows = encode(t, m, &b->field[RG_SOURCE]), *each = NULL;
    rg_texts        texts;
    if (rg_texts_of(&texts, t, to, (int32_t)rg_model_size(m, "eos")) != RG_OK) return (rg_loss){ NULL, 0 };
    const rg_looked seen = rg_look_run(t, &q->look, rows, &texts, to->previous, to->layout.first, false);
    rg_tensor      *sum = rg_cross_entropy_over_rows(t, rg_dropout(t, seen.y, s->dropout), rg_use(t, q->words.output),
                                                     rg_use(t, q->words.output_bias), to->ids,
                                                     rg_tape_learning(t) ? s->smoothing : 0, NULL, &each);
    return (rg_loss){ sum, (double)rg_field_rows(to) };
}

/* --------------------------------------------------------------------------------------------------------- decoding */

static rg_status start(rg_decoding *d)
{
    return rg_look_start(d, &((const parts *)d->model->parts)->look, encode(d->memory, d->model, &d->source));
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const parts *q = d->model->parts;
    return rg_look_answer(d, t, &q->look, &q->words);
}

static const rg_attention_use uses[] = {
    { "before every token", "the writer's previous state", "rows of the encoder", "rows of the encoder", "additive",
      "groups", .watch = "*look.weights", .rows = "output", .cols = "frames" },
    { "every block", "rows", "rows", "rows", "scaled_dot", "groups or causal", .watch = "block.*weights",
      .rows = "frames", .cols = "frames" },
    { 0 },
};

const rg_system rg_system_listen = {
    .name = "listen",
    .summary = "a recording, or another sequence of numbers, as text: an encoder and a writer that looks at its rows",
    .paper = "Chan et al. 2016, Listen, Attend and Spell; Chorowski et al. 2015",
    .task = &rg_task_transcribe,
    .reads = "sound|sequence",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .state_bytes = sizeof(rg_look_memory),
    .start = start,
    .step = step,
    .keep = rg_rnn_keep,
    .finish = rg_rnn_finish,
};
