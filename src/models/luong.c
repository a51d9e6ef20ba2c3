/* Luong attention (Luong, Pham, Manning 2015): the decoder moves first, then looks back with its CURRENT top state.
 *
 *     h_t  = LSTM([E y_{t-1}; h~_{t-1}], h_{t-1})           input feeding; without it the input is E y_{t-1} alone
 *     c_t  = attend(h_t, hbar)                              hbar: top states of the source words, keys and values
 *     h~_t = tanh(W_c [c_t; h_t])                           the attention vector
 *     p(y_t) = softmax(W_s h~_t)                            h~_0 = 0; the encoder's last states start the decoder
 *
 * --attention-kind global looks at the whole source, local-m at 2D + 1 words around the place of the target word, local-p around a
 * place it predicts, p_t = S sigma(v . tanh(W h_t)), with weights times a Gaussian of deviation D/2. */
#include "models/copy_parts.h"
#include "models/recurrent_parts.h"
#include "regard/experts.h"
#include "regard/between.h"

typedef struct {
    rg_rnn_settings rnn;
    char           *score, *activation, *kind;
    int64_t         align, window, experts, top, expert_width;
    double          balance;
    rg_copy_settings copy;
    bool            feeding;
} settings;

static const rg_option options[] = {
    RG_RNN_ROWS(settings, "false"),
    { RG_OPTION_STRING, "cell", offsetof(settings, rnn.cell), "lstm", "kind of recurrence", 0,
      "lstm|gru|rnn|gru-reset-after" },
    { RG_OPTION_STRING, "score", offsetof(settings, score), "general",
      "score of the attention (`regard scores`); the paper's concat is additive", 0, NULL },
    { RG_OPTION_STRING, "attention-kind", offsetof(settings, kind), "global", "how much of the source a word looks at",
      0, "global|local-m|local-p" },
    { RG_OPTION_INT, "window", offsetof(settings, window), "10", "local attention: D words to either side", 0,
      "[1,100000]" },
    { RG_OPTION_STRING, "score-activation", offsetof(settings, activation), "own",
      "function inside the linear, additive and concat scores; own: identity in linear, else tanh", 0,
      "own|identity|tanh|relu|leaky_relu" },
    RG_RNN_ORDER_ROW(settings),
    { RG_OPTION_INT, "dim-align", offsetof(settings, align), "0",
      "width inside the score and of the predicted place; 0: that of states", 0, "[0,1000000]" },
    { RG_OPTION_INT, "experts", offsetof(settings, experts), "0",
      "feed-forward networks after the attention, of which each word uses a few; 0: none", 0, "[0,64]" },
    { RG_OPTION_INT, "top-experts", offsetof(settings, top), "2", "how many of the experts each word uses", 0,
      "[1,64]" },
    { RG_OPTION_INT, "dim-expert", offsetof(settings, expert_width), "0", "width inside an expert; 0: that of states",
      0, "[0,1000000]" },
    { RG_OPTION_REAL, "balance", offsetof(settings, balance), "0.05",
      "weight of the losses that spread words over the experts", 0, "[0,inf)" },
    RG_COPY_ROWS(settings),
    { RG_OPTION_BOOL, "input-feeding", offsetof(settings, feeding), "true",
      "the attention vector is part of the next input", 0, NULL },
    RG_OPTION_END
};

typedef struct {
    rg_rnn_parts       rnn;
    rg_recurrent_stack decoder;
    rg_attention       att;
    rg_param          *key;    /* keys as wide as queries, for scores that need it; or NULL */
    rg_local           local;  /* the predicted place of local-p */
    rg_param          *vector; /* W_c: (context and state, width) */
    rg_copy            copy;
    rg_experts         mixture; /* of h~ on its way to the output */
} parts;

static bool is_local(const settings *s) { return s->kind[0] == 'l'; }
static bool predicts(const settings *s) { return is_local(s) && s->kind[6] == 'p'; } /* local-p */

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *p = m->parts;
    const size_t    d = (size_t)s->rnn.d, u = (size_t)s->rnn.width, hidden = s->align > 0 ? (size_t)s->align : u;
    RG_TRY(rg_rnn_build(&p->rnn, m, &s->rnn, u, 0.4)); /* deviation of embedded words: docs/models/luong.md, Start */
    const size_t keys = rg_recurrent_stack_width(&p->rnn.encoder);
    RG_TRY(rg_rnn_attention(&p->att, &p->key, m, s->score, s->activation, u, keys, hidden));
    rg_recurrent_config c = p->rnn.encoder.config;
    c.bidirectional = false;
    c.in = s->feeding ? d + u : d;
    rg_recurrent_stack_init(&p->decoder, m->params, "decoder", &c);
    rg_params_push(m->params, "attention");
    if (predicts(s)) rg_local_init(&p->local, m->params, u, hidden);
    p->vector = rg_params_add(m->params, "vector", RG_WEIGHT, keys + u, u, RG_INIT_GLOROT, 1);
    rg_params_pop(m->params);
    RG_TRY(rg_copy_init(&p->copy, m, &s->copy, u, keys));
    if (!s->experts) return RG_OK;
    const rg_experts_config mixture = { .width = u,
                                        .hidden = s->expert_width ? (size_t)s->expert_width : u,
                                        .experts = (size_t)s->experts,
                                        .top = (size_t)s->top,
                                        .balance = s->balance,
                                        .activation = RG_RELU };
    rg_params_push(m->params, "experts");
    RG_TRY(rg_experts_init(&p->mixture, m->params, &mixture));
    rg_params_pop(m->params);
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------- looking back */

typedef struct {
    rg_tensor *keys, *values;
} memory_of_source;

static rg_tensor *read_local(rg_tape *t, const parts *p, const settings *s, rg_tensor *h,
                             const memory_of_source *source, const rg_reach *whole, const int32_t *place)
{
    const size_t    D = (size_t)s->window;
    rg_tensor      *centre = predicts(s) ? rg_local_centres(t, &p->local, h, whole) : NULL;
    const rg_reach *near = predicts(s) ? rg_reach_local_p(t, whole, centre, D) : rg_reach_local_m(t, whole, place, D);
    const bool      mirrored = rg_rnn_reads_mirrored(&s->rnn);
    rg_tensor      *e = rg_scores(t, &p->att, h, source->keys, near);
    rg_tensor      *a = rg_softmax_over(t, e, near);
    if (predicts(s)) a = rg_local_gaussian(t, a, centre, near, whole, (double)D);
    if (mirrored) rg_rnn_watch(t, a, near, whole);
    else rg_tape_watch(t, "weights", a, near);
    return rg_rnn_mix(t, &s->rnn, a, source->values, near);
}

/* h~ of states h. place (NULL: from the rows of `whole`) is how many words came before each. */
static rg_tensor *attention_vector(rg_tape *t, const parts *p, const settings *s, rg_tensor *h,
                                   const memory_of_source *source, const rg_reach *whole, const int32_t *place)
{
    rg_tape_push(t, "attention");
    rg_tensor *context =
        is_local(s) ? read_local(t, p, s, h, source, whole, place)
                    : rg_rnn_attend(t, &s->rnn, &p->att, h, source->keys, source->values, whole);
    rg_tensor *both[] = { context, h };
    rg_tensor *vector =
        context && h ? rg_linear(t, rg_concat_columns(t, 2, both), rg_use(t, p->vector), NULL, RG_TANH) : NULL;
    rg_tape_pop(t);
    return vector;
}

static const int32_t *same_place(rg_tape *t, size_t n, size_t place)
{
    int32_t *places = rg_tape_memory(t, n * sizeof *places);
    for (size_t i = 0; places && i < n; i++) places[i] = (int32_t)place;
    return places;
}

/* The source's states, and where the decoder starts: the encoder's ends, of two directions the one that ends at the
 * first word. */
static memory_of_source encode(rg_tape *t, const parts *p, const settings *s, const int32_t *ids,
                               const rg_layout *layout, rg_recurrent_states *first)
{
    const size_t     u = (size_t)s->rnn.width;
    rg_tensor       *h = rg_rnn_turn(t, &s->rnn, rg_rnn_read(t, &p->rnn, &s->rnn, ids, layout, first), layout);
    memory_of_source source = { .keys = rg_rnn_keys(t, &p->att, p->key, h), .values = h };
    for (size_t l = 0; l < p->decoder.config.depth; l++) {
        if (first->h[l] && rg_tensor_cols(first->h[l]) > u)
            first->h[l] = rg_columns(t, first->h[l], rg_tensor_cols(first->h[l]) - u, u);
        if (first->c[l] && rg_tensor_cols(first->c[l]) > u)
            first->c[l] = rg_columns(t, first->c[l], rg_tensor_cols(first->c[l]) - u, u);
    }
    return source;
}

/* What is answered from: h~, and with experts the sum of it and what they make of it. */
static rg_tensor *mixed(rg_tape *t, const parts *p, const settings *s, rg_tensor *vector)
{
    if (!s->experts || !vector) return vector;
    rg_tape_push(t, "experts");
    rg_tensor *y = rg_add(t, vector, rg_experts_run(t, &p->mixture, vector));
    rg_tape_pop(t);
    return y;
}

/* -------------------------------------------------------------------------------------------------------- training */

/* The first n rows of every layer's states. */
static void narrow(rg_tape *t, rg_recurrent_states *states, size_t depth, size_t n)
{
    for (size_t l = 0; l < depth; l++) {
        states->h[l] = rg_rows(t, states->h[l], 0, n);
        if (states->c[l]) states->c[l] = rg_rows(t, states->c[l], 0, n);
    }
}

/* With input feeding: a word needs the attention vector before it, so sentences are walked step by step, side by
 * side. */
static rg_tensor *run_fed(rg_tape *t, const parts *p, const settings *s, rg_tensor *y, const rg_batch *batch,
                          const memory_of_source *source, rg_recurrent_states *states)
{
    const rg_field *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    const size_t    depth = p->decoder.config.depth, u = (size_t)s->rnn.width, N = rg_tensor_rows(y);
    const rg_steps *steps = rg_steps_new(t, &to->layout, false);
    rg_tensor      *vectors = rg_rows_new(t, N, u, &to->layout);
    if (!steps || !vectors) return NULL;
    for (size_t l = 0; l < depth; l++) { /* longest sentence first */
        states->h[l] = rg_gather(t, states->h[l], steps->order, steps->running, NULL);
        if (states->c[l]) states->c[l] = rg_gather(t, states->c[l], steps->order, steps->running, NULL);
    }
    rg_tensor *vector = rg_zeros(t, steps->running, u, NULL);
    for (size_t i = 0; i < steps->steps && vector; i++) {
        const size_t    n = (size_t)steps->count[i];
        const int32_t  *rows = steps->row + steps->first[i];
        const rg_reach *whole = rg_rnn_reach_step(t, steps, i, &from->layout);
        rg_tensor      *in[] = { rg_gather(t, y, rows, n, NULL), rg_rows(t, vector, 0, n) };
        narrow(t, states, depth, n);
        if (!in[0] || !in[1]) return NULL;
        rg_tensor *h = rg_recurrent_stack_step(t, &p->decoder, rg_concat_columns(t, 2, in), states);
        vector = attention_vector(t, p, s, h, source, whole, is_local(s) ? same_place(t, n, i) : NULL);
        if (vector) rg_rows_put(t, vectors, rows, vector);
    }
    return vector || !steps->steps ? vectors : NULL;
}

/* Without it all words move at once and look at once. */
static rg_tensor *run_plain(rg_tape *t, const parts *p, const settings *s, rg_tensor *y, const rg_batch *batch,
                            const memory_of_source *source, rg_recurrent_states *states)
{
    const rg_field *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    rg_tensor      *h = rg_recurrent_stack_run(t, &p->decoder, y, states);
    return attention_vector(t, p, s, h, source, rg_reach_groups(t, &to->layout, &from->layout), NULL);
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings        *s = m->options;
    const parts           *p = m->parts;
    const rg_batch        *batch = data;
    const rg_field        *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    rg_recurrent_states    states = { 0 };
    const memory_of_source source = encode(t, p, s, from->ids, &from->layout, &states);
    const size_t           N = rg_field_rows(to);
    rg_tensor *y = rg_rnn_words(t, &p->rnn, to->previous, N, &to->layout); /* the stack drops what goes in */
    if (!y || !source.keys) return (rg_loss){ NULL, 0 };
    rg_tape_push(t, "decoder");
    rg_tensor *vectors = (s->feeding ? run_fed : run_plain)(t, p, s, y, batch, &source, &states);
    rg_tape_pop(t);
    return rg_rnn_copy_loss(t, &p->rnn, &s->rnn, m->copies ? &p->copy : NULL, mixed(t, p, s, vectors), source.values,
                            batch);
}

/* -------------------------------------------------------------------------------------------------------- decoding */

typedef struct {
    rg_step_state          carried; /* states, and in the last block the attention vector */
    memory_of_source source;
    rg_copy_memory   copy;
} memory;

enum { VECTOR = RG_STEP_STATE_BLOCKS - 1 };

static rg_status start(rg_decoding *d)
{
    const settings     *s = d->model->options;
    const parts        *p = d->model->parts;
    memory             *mem = d->state;
    rg_recurrent_states states = { 0 };
    mem->source = encode(d->memory, p, s, d->source.ids, &d->sources, &states);
    if (d->model->copies) mem->copy = rg_copy_start(d, &p->copy, mem->source.values);
    rg_tensor *zero = rg_zeros(d->memory, d->n, (size_t)s->rnn.width, NULL);
    RG_TRY(rg_tape_status(d->memory));
    RG_TRY(rg_step_state_put(&mem->carried, VECTOR, zero));
    if (!is_local(s)) rg_attention_pack(d->memory, &p->att, mem->source.keys, mem->source.values, &d->sources);
    RG_TRY(rg_tape_status(d->memory));
    return rg_rnn_put_states(&mem->carried, &states, p->decoder.config.depth);
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const settings     *s = d->model->options;
    const parts        *p = d->model->parts;
    memory             *mem = d->state;
    const size_t        depth = p->decoder.config.depth;
    rg_recurrent_states states;
    rg_rnn_use_states(&states, t, &mem->carried, p->rnn.cell, depth);
    rg_tensor *in[] = { rg_rnn_embed(t, &p->rnn, &s->rnn, d->tokens, d->n, NULL),
                        rg_step_state_use(t, &mem->carried, VECTOR) };
    if (!in[0] || !in[1]) return NULL;
    rg_tape_push(t, "decoder");
    rg_tensor *h = rg_recurrent_stack_step(t, &p->decoder, s->feeding ? rg_concat_columns(t, 2, in) : in[0], &states);
    rg_tensor *vector = attention_vector(t, p, s, h, &mem->source, rg_rnn_reach_sources(t, d),
                                         is_local(s) ? same_place(t, d->n, d->steps) : NULL);
    rg_tape_pop(t);
    if (vector && rg_step_state_put(&mem->carried, VECTOR, vector) != RG_OK)
        return rg_tape_fail(t, RG_ENOMEM, "no memory for the states of %zu hypotheses", d->n);
    rg_tensor *y = mixed(t, p, s, vector), *logits = rg_rnn_answer(d, t, &p->rnn, y, &states, depth);
    return d->model->copies ? rg_copy_step(d, t, &p->copy, &mem->copy, y, logits) : logits;
}

static const rg_attention_use uses[] = {
    { "after every decoder step", "the decoder's current top state", "top states of the source words",
      "top states of the source words", "general", "groups", .watch = "*weights", .rows = "output", .cols = "source" },
    { 0 },
};

const rg_system rg_system_luong = {
    .name = "luong",
    .summary = "a deep LSTM reads and writes, looking back with its current state; global or local, input feeding",
    .paper = "Luong, Pham, Manning 2015, Effective Approaches to Attention-based Neural Machine Translation",
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
