/* RNNsearch (Bahdanau, Cho, Bengio 2015): a decoder that looks back at the source before every word.
 *
 *     h_j = [forward_j; backward_j]                               states of a bidirectional GRU: keys and values
 *     c_i = attend(s_{i-1}, h)                                    the query is the state BEFORE this word
 *     s_i = GRU(E y_{i-1}, s_{i-1}, c_i)                          the context goes into every gate
 *     t_i = maxout(U_o s + V_o E y_{i-1} + C_o c_i)               p(y_i) = softmax(W_o t_i)
 *     s_0 = tanh(W_s backward_1)
 *
 * The appendix prints s_{i-1} in the output, later codes use s_i: --output-state previous|current. --output-layer
 * tanh takes maxout away: tanh of a sum half as wide. */
#include "models/copy_parts.h"
#include "models/recurrent_parts.h"

typedef struct {
    rg_rnn_settings rnn;
    char           *score, *activation, *output_state, *output_layer;
    int64_t         align, maxout;
    rg_copy_settings copy;
} settings;

static const rg_option options[] = {
    RG_RNN_ROWS(settings, "true"),
    { RG_OPTION_STRING, "cell", offsetof(settings, rnn.cell), "gru", "kind of recurrence", 0,
      "lstm|gru|rnn|gru-reset-after" },
    { RG_OPTION_STRING, "score", offsetof(settings, score), "additive", "score of the attention (`regard scores`)", 0,
      NULL },
    { RG_OPTION_STRING, "score-activation", offsetof(settings, activation), "own",
      "function inside the linear, additive and concat scores; own: identity in linear, else tanh", 0,
      "own|identity|tanh|relu|leaky_relu" },
    RG_RNN_ORDER_ROW(settings),
    { RG_OPTION_INT, "dim-align", offsetof(settings, align), "0", "width inside the score; 0: that of states", 0,
      "[0,1000000]" },
    { RG_OPTION_INT, "dim-maxout", offsetof(settings, maxout), "0",
      "width of the output layer, after maxout; 0: that of embeddings", 0, "[0,1000000]" },
    { RG_OPTION_STRING, "output-layer", offsetof(settings, output_layer), "maxout",
      "between states and words: maxout is the paper's", 0, "maxout|tanh" },
    { RG_OPTION_STRING, "output-state", offsetof(settings, output_state), "current",
      "which state the output reads; the paper's appendix prints previous", 0, "previous|current" },
    RG_COPY_ROWS(settings),
    RG_OPTION_END
};

typedef struct {
    rg_rnn_parts        rnn;
    rg_attention        att;
    rg_param           *key;          /* keys as wide as queries, for scores that need it; or NULL */
    rg_recurrent_params cell;         /* reads the embedded word */
    rg_param           *context;      /* C: (encoder width, gates) */
    rg_dense            initial;      /* s_0 from the encoder's backward end */
    rg_dense            from_state;   /* U_o, with the bias */
    rg_param           *from_word, *from_context; /* V_o, C_o */
    rg_copy             copy;
} parts;

static bool has_maxout(const settings *s) { return s->output_layer[0] == 'm'; }

/* ------------------------------------------------------------------------------------------------------- build */

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *p = m->parts;
    const size_t    d = (size_t)s->rnn.d, u = (size_t)s->rnn.width, out = s->maxout > 0 ? (size_t)s->maxout : d;
    const size_t    sums = has_maxout(s) ? 2 * out : out;
    RG_TRY(rg_rnn_build(&p->rnn, m, &s->rnn, out, 0.1));
    const size_t keys = rg_recurrent_stack_width(&p->rnn.encoder);
    RG_TRY(
        rg_rnn_attention(&p->att, &p->key, m, s->score, s->activation, u, keys, s->align > 0 ? (size_t)s->align : u));
    rg_recurrent_config c = p->rnn.encoder.config;
    rg_params_push(m->params, "decoder");
    rg_recurrent_params_init(&p->cell, m->params, &c, d);
    p->context =
        rg_params_add(m->params, "context", RG_WEIGHT, keys, rg_recurrence_gates(p->rnn.cell) * u, RG_INIT_GLOROT, 1);
    rg_dense_init(&p->initial, m->params, "initial", u, u, RG_TANH);
    rg_dense_init(&p->from_state, m->params, "output.state", u, sums, RG_IDENTITY);
    p->from_word = rg_params_add(m->params, "output.word", RG_WEIGHT, d, sums, RG_INIT_GLOROT, 1);
    p->from_context = rg_params_add(m->params, "output.context", RG_WEIGHT, keys, sums, RG_INIT_GLOROT, 1);
    rg_params_pop(m->params);
    return rg_copy_init(&p->copy, m, &s->copy, out, keys);
}

/* ------------------------------------------------------------------------------------------------- one decoder step */

typedef struct {
    rg_tensor *h, *c; /* state; cell of an LSTM */
} state;

static rg_tensor *look(rg_tape *t, const parts *p, const settings *s, rg_tensor *q, rg_tensor *keys, rg_tensor *values,
                       const rg_reach *reach)
{
    rg_tape_push(t, "attention");
    rg_tensor *context = rg_rnn_attend(t, &s->rnn, &p->att, q, keys, values, reach);
    rg_tape_pop(t);
    return context;
}

/* x: the word's share of the gates, W E y + b */
static state advance(rg_tape *t, const parts *p, rg_tensor *x, rg_tensor *context, state before)
{
    rg_recurrent_weights w = rg_recurrent_params_use(t, &p->cell);
    w.w = NULL; /* projected already */
    w.b = NULL;
    rg_tensor *gates = rg_add(t, x, rg_matmul(t, context, rg_use(t, p->context)));
    state      next = { 0 };
    next.h = rg_recurrent_cell(t, p->rnn.cell, &w, gates, before.h, before.c, p->rnn.cell == RG_LSTM ? &next.c : NULL);
    return next;
}

static rg_tensor *word_gates(rg_tape *t, const parts *p, rg_tensor *y)
{
    const rg_recurrent_weights w = rg_recurrent_params_use(t, &p->cell);
    return rg_linear(t, y, w.w, w.b, RG_IDENTITY);
}

static rg_tensor *deep_output(rg_tape *t, const parts *p, bool maxout, rg_tensor *s, rg_tensor *y, rg_tensor *context)
{
    rg_tensor *sum = rg_dense_run(t, &p->from_state, s);
    sum = rg_add(t, sum, rg_matmul(t, y, rg_use(t, p->from_word)));
    sum = rg_add(t, sum, rg_matmul(t, context, rg_use(t, p->from_context)));
    return maxout ? rg_max_pairs(t, sum) : rg_tanh(t, sum);
}

/* s_0 = tanh(W_s backward_1): the last u columns of the first row that was read of each sentence; one direction: of
 * the last. */
static state first_state(rg_tape *t, const parts *p, const settings *s, rg_tensor *h)
{
    const size_t u = (size_t)s->rnn.width, width = rg_tensor_cols(h);
    rg_tensor   *ends = rg_columns(t, rg_last_rows(t, h, s->rnn.bidirectional), width - u, u);
    state        first = { .h = rg_dense_run(t, &p->initial, ends) };
    if (first.h && p->rnn.cell == RG_LSTM) first.c = rg_zeros(t, rg_tensor_rows(first.h), u, NULL);
    return first;
}

/* -------------------------------------------------------------------------------------------------------- training */

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings *s = m->options;
    const parts    *p = m->parts;
    const rg_batch *batch = data;
    const rg_field *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    const bool      current = s->output_state[0] == 'c';
    rg_tensor      *read = rg_rnn_read(t, &p->rnn, &s->rnn, from->ids, &from->layout, NULL);
    rg_tensor      *h = rg_rnn_turn(t, &s->rnn, read, &from->layout);
    rg_tensor      *keys = rg_rnn_keys(t, &p->att, p->key, h);
    const size_t    N = rg_field_rows(to);
    rg_tensor      *y = rg_rnn_embed(t, &p->rnn, &s->rnn, to->previous, N, &to->layout);
    rg_tensor      *gates = word_gates(t, p, y); /* of all words: one product */
    const rg_steps *steps = rg_steps_new(t, &to->layout, false);
    rg_tensor      *states = rg_rows_new(t, N, (size_t)s->rnn.width, &to->layout);
    rg_tensor      *contexts = rg_rows_new(t, N, h ? rg_tensor_cols(h) : 0, &to->layout);
    if (!steps || !states || !contexts || !gates) return (rg_loss){ NULL, 0 };
    state now = first_state(t, p, s, read);
    now.h = rg_gather(t, now.h, steps->order, steps->running, NULL); /* longest sentence first */
    if (now.c) now.c = rg_rows(t, now.c, 0, steps->running);
    rg_tape_push(t, "decoder");
    for (size_t i = 0; i < steps->steps; i++) {
        const size_t   n = (size_t)steps->count[i];
        const int32_t *rows = steps->row + steps->first[i];
        state          before = { rg_rows(t, now.h, 0, n), now.c ? rg_rows(t, now.c, 0, n) : NULL };
        rg_tensor     *context = look(t, p, s, before.h, keys, h, rg_rnn_reach_step(t, steps, i, &from->layout));
        now = advance(t, p, rg_gather(t, gates, rows, n, NULL), context, before);
        if (!now.h) break;
        rg_rows_put(t, states, rows, current ? now.h : before.h);
        rg_rows_put(t, contexts, rows, context);
    }
    rg_tape_pop(t);
    return rg_rnn_copy_loss(t, &p->rnn, &s->rnn, m->copies ? &p->copy : NULL,
                            deep_output(t, p, has_maxout(s), states, y, contexts), h, batch);
}

/* -------------------------------------------------------------------------------------------------------- decoding */

typedef struct {
    rg_step_state    carried; /* 0: state, 1: cell */
    rg_tensor *keys, *values;
    rg_copy_memory copy;
} memory;

static rg_status start(rg_decoding *d)
{
    const settings *s = d->model->options;
    const parts    *p = d->model->parts;
    memory         *mem = d->state;
    rg_tensor      *read = rg_rnn_read(d->memory, &p->rnn, &s->rnn, d->source.ids, &d->sources, NULL);
    mem->values = rg_rnn_turn(d->memory, &s->rnn, read, &d->sources);
    mem->keys = rg_rnn_keys(d->memory, &p->att, p->key, mem->values);
    rg_attention_pack(d->memory, &p->att, mem->keys, mem->values, &d->sources);
    if (d->model->copies) mem->copy = rg_copy_start(d, &p->copy, mem->values);
    const state               first = first_state(d->memory, p, s, read);
    const rg_recurrent_states states = { .h = { first.h }, .c = { first.c } };
    RG_TRY(rg_tape_status(d->memory));
    return rg_rnn_put_states(&mem->carried, &states, 1);
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const settings *s = d->model->options;
    const parts    *p = d->model->parts;
    memory         *mem = d->state;
    rg_recurrent_states states;
    rg_rnn_use_states(&states, t, &mem->carried, p->rnn.cell, 1);
    const state     before = { states.h[0], states.c[0] };
    rg_tensor      *y = rg_rnn_embed(t, &p->rnn, &s->rnn, d->tokens, d->n, NULL);
    rg_tape_push(t, "decoder");
    rg_tensor  *context = look(t, p, s, before.h, mem->keys, mem->values, rg_rnn_reach_sources(t, d));
    const state now = advance(t, p, word_gates(t, p, y), context, before);
    rg_tensor  *out = deep_output(t, p, has_maxout(s), s->output_state[0] == 'c' ? now.h : before.h, y, context);
    rg_tape_pop(t);
    states.h[0] = now.h;
    states.c[0] = now.c;
    rg_tensor *logits = rg_rnn_answer(d, t, &p->rnn, out, &states, 1);
    return d->model->copies ? rg_copy_step(d, t, &p->copy, &mem->copy, out, logits) : logits;
}

static const rg_attention_use uses[] = {
    { "before every target word", "the decoder's previous state", "states of the source words",
      "states of the source words", "additive", "groups", .watch = "*weights", .rows = "output", .cols = "source" },
    { 0 },
};

const rg_system rg_system_rnnsearch = {
    .name = "rnnsearch",
    .summary = "a bidirectional GRU reads, a GRU that looks back before every word writes; maxout output",
    .paper = "Bahdanau, Cho, Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate",
    .task = &rg_task_translation,
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .earlier = RG_RNN_EARLIER_ATTENTION,
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .state_bytes = sizeof(memory),
    .start = start,
    .step = step,
    .keep = rg_rnn_keep,
    .finish = rg_rnn_finish,
};
