/* GNMT (Wu et al. 2016): deep LSTMs with residual sums, and one attention whose context goes into every layer of the
 * decoder.
 *
 *     encoder   x^1 = [forward; backward]                  layer 1 reads both ways, the others ahead
 *               x^l = LSTM^l(x^{l-1}) + x^{l-1}            the sum from layer 3 on: layer 2 has another width than what it reads
 *     decoder   c_i = attend(y^1_{i-1}, x^L)               the query is the BOTTOM layer's state of the word BEFORE
 *               y^1_i = LSTM^1([E y_{i-1}; c_i])
 *               y^l_i = LSTM^l([y^{l-1}_i; c_i]) + y^{l-1}_i    the sum from layer 3 on
 *               p(y_i) = softmax(W y^L_i)
 *
 * Only the bottom layer has to go word by word, because its state asks for the next context; the layers above run
 * over whole sentences. Decoder layer l starts where the encoder's layer l ended (the last one for layers that the
 * encoder does not have). */
#include "models/deep_parts.h"

typedef struct {
    rg_rnn_settings  rnn;
    rg_deep_settings deep;
} settings;

static const rg_option options[] = { RG_RNN_DEEP_ROWS(settings, "4", "4"), RG_DEEP_ROWS(settings), RG_OPTION_END };

typedef struct {
    rg_rnn_parts        rnn;                        /* its encoder is layer 1, both ways */
    rg_recurrent_params reader[RG_RECURRENT_DEPTH]; /* encoder layers 2 ..               */
    rg_deep_bottom      bottom;                     /* decoder layer 1                   */
    rg_recurrent_params writer[RG_RECURRENT_DEPTH]; /* decoder layers 2 ..               */
} parts;

static bool sums(size_t layer) { return layer >= 2; } /* from the third layer on */

/* ---------------------------------------------------------------------------------------------------------- build */

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *p = m->parts;
    const size_t    u = (size_t)s->rnn.width;
    RG_TRY(rg_rnn_check_depths(&s->rnn));
    rg_rnn_settings bottom = s->rnn;
    bottom.encoder = 1;
    bottom.bidirectional = true;
    bottom.combine = (char[]){ "concat" };
    RG_TRY(rg_rnn_build(&p->rnn, m, &bottom, u, rg_rnn_deviation(&bottom)));
    const rg_recurrent_config c = p->rnn.encoder.config;
    for (size_t l = 1; l < (size_t)s->rnn.encoder; l++) {
        rg_params_push(m->params, "encoder.%zu", l);
        rg_recurrent_params_init(&p->reader[l], m->params, &c, l == 1 ? 2 * u : u);
        rg_params_pop(m->params);
    }
    const size_t keys = s->rnn.encoder > 1 ? u : 2 * u;
    RG_TRY(rg_deep_bottom_init(&p->bottom, m, &s->deep, &c, (size_t)s->rnn.d, keys));
    for (size_t l = 1; l < (size_t)s->rnn.decoder; l++) {
        rg_params_push(m->params, "decoder.%zu", l);
        rg_recurrent_params_init(&p->writer[l], m->params, &c, u + keys);
        rg_params_pop(m->params);
    }
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- the source */

/* Layer l of the encoder over whole sentences; its ends are left in `ends`. */
static rg_tensor *read_layer(rg_tape *t, const parts *p, const settings *s, size_t l, rg_tensor *x,
                             rg_recurrent_states *ends)
{
    const rg_recurrent_weights w = rg_recurrent_params_use(t, &p->reader[l]);
    rg_tensor                 *cells = NULL;
    rg_tape_push(t, "encoder.%zu", l);
    rg_tensor *h = rg_recurrent(t, p->rnn.cell, &w, rg_dropout(t, x, s->rnn.dropout), NULL, NULL, false,
                                p->rnn.cell == RG_LSTM ? &cells : NULL);
    ends->h[l] = rg_last_rows(t, h, false);
    ends->c[l] = cells ? rg_last_rows(t, cells, false) : NULL;
    rg_tape_pop(t);
    return sums(l) ? rg_add(t, h, x) : h;
}

/* The last u columns: of two directions the one that ended at the first word. */
static rg_tensor *last_columns(rg_tape *t, rg_tensor *x, size_t u)
{
    return x && rg_tensor_cols(x) > u ? rg_columns(t, x, rg_tensor_cols(x) - u, u) : x;
}

static rg_deep_source encode(rg_tape *t, const parts *p, const settings *s, const int32_t *ids, const rg_layout *layout,
                             rg_recurrent_states *first)
{
    const size_t        depth = (size_t)s->rnn.encoder, u = (size_t)s->rnn.width;
    rg_recurrent_states ends = { 0 };
    rg_tensor          *x = rg_rnn_read(t, &p->rnn, &s->rnn, ids, layout, &ends);
    for (size_t l = 1; l < depth && x; l++) x = read_layer(t, p, s, l, x, &ends);
    for (size_t l = 0; l < (size_t)s->rnn.decoder; l++) {
        first->h[l] = last_columns(t, ends.h[l < depth ? l : depth - 1], u);
        first->c[l] = last_columns(t, ends.c[l < depth ? l : depth - 1], u);
    }
    return rg_deep_prepare(t, &p->bottom, x);
}

/* -------------------------------------------------------------------------------------------------------- training */

static rg_tensor *beside(rg_tape *t, rg_tensor *x, rg_tensor *context)
{
    rg_tensor *both[] = { x, context };
    return x && context ? rg_concat_columns(t, 2, both) : NULL;
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings      *s = m->options;
    const parts         *p = m->parts;
    const rg_batch      *batch = data;
    const rg_field      *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    rg_recurrent_states  first = { 0 };
    const rg_deep_source source = encode(t, p, s, from->ids, &from->layout, &first);
    rg_tensor           *contexts;
    rg_tape_push(t, "decoder");
    rg_tensor *words = rg_rnn_embed(t, &p->rnn, &s->rnn, to->previous, rg_field_rows(to), &to->layout);
    rg_tensor *y = rg_deep_run(t, &p->bottom, words, batch, &source, first.h[0], first.c[0], &contexts, NULL);
    for (size_t l = 1; l < (size_t)s->rnn.decoder && y; l++) {
        const rg_recurrent_weights w = rg_recurrent_params_use(t, &p->writer[l]);
        rg_tape_push(t, "%zu", l);
        rg_tensor *in = beside(t, rg_dropout(t, y, s->rnn.dropout), contexts);
        rg_tensor *h = rg_recurrent(t, p->rnn.cell, &w, in, first.h[l], first.c[l], false, NULL);
        y = sums(l) ? rg_add(t, h, y) : h;
        rg_tape_pop(t);
    }
    rg_tape_pop(t);
    return rg_rnn_loss(t, &p->rnn, &s->rnn, y, batch);
}

/* -------------------------------------------------------------------------------------------------------- decoding */

typedef struct {
    rg_step_state  carried;
    rg_deep_source source;
} memory;

static rg_status start(rg_decoding *d)
{
    const settings     *s = d->model->options;
    const parts        *p = d->model->parts;
    memory             *mem = d->state;
    rg_recurrent_states first = { 0 };
    mem->source = encode(d->memory, p, s, d->source.ids, &d->sources, &first);
    rg_attention_pack(d->memory, &p->bottom.att, mem->source.keys, mem->source.values, &d->sources);
    RG_TRY(rg_tape_status(d->memory));
    return rg_rnn_put_states(&mem->carried, &first, (size_t)s->rnn.decoder);
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const settings     *s = d->model->options;
    const parts        *p = d->model->parts;
    memory             *mem = d->state;
    const size_t        depth = (size_t)s->rnn.decoder;
    rg_recurrent_states states;
    rg_rnn_use_states(&states, t, &mem->carried, p->rnn.cell, depth);
    rg_tape_push(t, "decoder");
    rg_tensor *words = rg_deep_words(t, &p->bottom, rg_rnn_embed(t, &p->rnn, &s->rnn, d->tokens, d->n, NULL));
    rg_tensor *context =
        rg_deep_move(t, &p->bottom, words, &states.h[0], &states.c[0], &mem->source, rg_rnn_reach_sources(t, d), NULL);
    rg_tensor *y = states.h[0];
    for (size_t l = 1; l < depth && y; l++) {
        const rg_recurrent_weights w = rg_recurrent_params_use(t, &p->writer[l]);
        rg_tensor                 *cell = NULL;
        states.h[l] = rg_recurrent_cell(t, p->rnn.cell, &w, beside(t, y, context), states.h[l], states.c[l],
                                        p->rnn.cell == RG_LSTM ? &cell : NULL);
        states.c[l] = cell;
        y = sums(l) ? rg_add(t, states.h[l], y) : states.h[l];
    }
    rg_tape_pop(t);
    return rg_rnn_answer(d, t, &p->rnn, y, &states, depth);
}

static const rg_attention_use uses[] = {
    { "before every target word", "the bottom decoder layer's state of the word before", "top rows of the source words",
      "top rows of the source words", "additive", "groups", .watch = "*weights", .rows = "output", .cols = "source" },
    { 0 },
};

static const rg_preset presets[] = {
    { "paper", "the paper's model: 8 + 8 layers of 1,024",
      "dim-emb: 1024\ndim-rnn: 1024\nenc-depth: 8\ndec-depth: 8\n" },
    { NULL, NULL, NULL },
};

const rg_system rg_system_gnmt = {
    .name = "gnmt",
    .summary =
        "deep LSTMs with residual sums; the bottom layer's last state asks, the answer goes into every decoder layer",
    .paper = "Wu et al. 2016, Google's Neural Machine Translation System",
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
    .keep = rg_rnn_keep,
    .finish = rg_rnn_finish,
};
