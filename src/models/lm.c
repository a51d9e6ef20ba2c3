/* Recurrent language model (Mikolov et al. 2010; Zaremba, Sutskever, Vinyals 2014): p(text) = prod_t p(w_t | w_<t).
 *
 *     x_t = E[w_t-1]      h_t = recurrent stack      p(w_t) = softmax(h*_t O^T + b)
 *
 * State is carried from chunk to chunk of a text. Dropout sits on embeddings, between layers and on the top output, never
 * on what goes on in time. h* is h, or a look back at the network's own last outputs (Daniluk et al. 2017), which are
 * carried over chunks too:
 *
 *     attention           keys h, values h          h*_t = tanh(r_t Wr + h_t Wx),  r_t from the last L outputs
 *     key-value           h = [k; v]                h*_t = tanh(r_t Wr + v_t Wx)
 *     key-value-predict   h = [k; v; p]             h*_t = tanh(r_t Wr + p_t Wx)
 *     n-gram              h = [h1; ..; hL]          h*_t = tanh(W [h1_t; h2_t-1; ..; hL_t-L+1])     an (L+1)-gram
 *
 * Instead of words it reads rows of numbers where the data are numbers (--numbers): a linear input, and the next row by
 * squared error (number_parts.h). */
#include <string.h>

#include "decode/step_state.h"
#include "models/language_parts.h"
#include "models/number_parts.h"
#include "regard/between.h"

typedef struct {
    int64_t d, width, layers, window;
    char   *cell, *look;
    double  dropout, uniform, forget_bias;
    bool    tied;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "dim-emb", offsetof(settings, d), "200", "width of embeddings", 0, "[1,1000000]" },
    { RG_OPTION_INT, "dim-rnn", offsetof(settings, width), "200", "width of states", 0, "[1,1000000]" },
    { RG_OPTION_INT, "layers", offsetof(settings, layers), "2", "recurrent layers", 0, "[1,16]" },
    { RG_OPTION_STRING, "cell", offsetof(settings, cell), "lstm", "kind of recurrence", 0,
      "rnn|lstm|gru|gru-reset-after" },
    { RG_OPTION_REAL, "dropout-rnn", offsetof(settings, dropout), "0",
      "share of embeddings, layer inputs and outputs dropped", 0, "[0,1)" },
    { RG_OPTION_BOOL, "tied-embeddings", offsetof(settings, tied), "false", "one table for words and output", 0, NULL },
    { RG_OPTION_STRING, "look", offsetof(settings, look), "none", "how the last outputs are looked at again", 0,
      "none|attention|key-value|key-value-predict|n-gram" },
    { RG_OPTION_INT, "window", offsetof(settings, window), "5",
      "outputs looked at; n-gram: parts of an output, 3 for a 4-gram", 0, "[1,10000]" },
    { RG_OPTION_REAL, "init-uniform", offsetof(settings, uniform), "0",
      "weights start uniform in +- this; 0: Glorot, orthogonal for states", 0, "[0,10]" },
    { RG_OPTION_REAL, "forget-bias", offsetof(settings, forget_bias), "1", "bias of forget gates at the start", 0,
      "[-10,10]" },
    RG_OPTION_END
};

typedef struct {
    rg_lm_tables       tables;
    rg_number_parts    numbers; /* in their place */
    rg_recurrent_stack stack;
    rg_key_value       look;   /* parts > 0 */
    rg_param          *ngram;  /* (width, width / parts), or NULL */
    size_t             parts;  /* of an output; 0: nothing is looked at again */
    size_t             window; /* outputs before the last that are kept */
} parts;

/* How an output is cut: 0 not at all, -1 into as many parts as the window says. */
static const struct {
    const char *name;
    int         parts;
} looks[] = { { "none", 0 }, { "attention", 1 }, { "key-value", 2 }, { "key-value-predict", 3 }, { "n-gram", -1 } };

static rg_status build_look(rg_model *m, parts *q, const settings *s)
{
    const size_t width = (size_t)s->width;
    int          cut = 0;
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        if (strcmp(looks[i].name, s->look) == 0) cut = looks[i].parts;
    q->parts = cut < 0 ? (size_t)s->window : (size_t)cut;
    q->window = cut < 0 ? (size_t)s->window - 1 : cut > 0 ? (size_t)s->window : 0;
    if (q->parts && width % q->parts)
        return rg_fail(RG_EINVAL, "--look %s cuts outputs into %zu parts; --dim-rnn %zu is no multiple of that",
                       s->look, q->parts, width);
    rg_params_push(m->params, "look");
    if (cut > 0) RG_TRY(rg_key_value_init(&q->look, m->params, width, q->parts, q->window));
    if (cut < 0) q->ngram = rg_params_add(m->params, "w", RG_WEIGHT, width, width / q->parts, RG_INIT_GLOROT, 1);
    rg_params_pop(m->params);
    return RG_OK;
}

static rg_status build(rg_model *m)
{
    const settings     *s = m->options;
    parts              *q = m->parts;
    rg_recurrent_config c = RG_RECURRENT_CONFIG_DEFAULT;
    RG_TRY(rg_recurrence_find(&c.kind, s->cell));
    c.in = (size_t)s->d;
    c.width = (size_t)s->width;
    c.depth = (size_t)s->layers;
    c.dropout = s->dropout;
    c.uniform = s->uniform;
    c.forget_bias = s->forget_bias;
    rg_recurrent_stack_init(&q->stack, m->params, "rnn", &c);
    RG_TRY(build_look(m, q, s));
    const size_t numbers = rg_model_size(m, "numbers"), answer = q->parts ? c.width / q->parts : c.width;
    if (numbers && s->tied) return rg_fail(RG_EINVAL, "--tied-embeddings: numbers have none");
    if (numbers) {
        rg_number_parts_init(&q->numbers, m, numbers, c.in, answer);
        return RG_OK;
    }
    return rg_lm_tables_init(&q->tables, m, c.in, answer, s->tied, true,
                             s->uniform > 0 ? RG_INIT_UNIFORM : RG_INIT_NORMAL, s->uniform > 0 ? s->uniform : 0.1);
}

/* ---------------------------------------------------------------------------------------------------------- carried */

/* Blocks: h of every layer, then c of every layer of an LSTM, then the past of the look. */
static size_t state_blocks(const parts *q) { return q->stack.config.depth * (q->stack.config.kind == RG_LSTM ? 2 : 1); }

static size_t carries(const rg_model *m, size_t block)
{
    const parts *q = m->parts;
    const size_t width = q->stack.config.width, states = state_blocks(q);
    if (block < states) return width;
    if (!q->window || block > states + 1) return 0;
    return block == states ? q->window * width : 1;
}

static void read_states(rg_recurrent_states *out, rg_tape *t, const parts *q, const rg_batch *b)
{
    const size_t depth = q->stack.config.depth, width = q->stack.config.width;
    for (size_t l = 0; l < depth; l++) {
        out->h[l] = rg_carry_read(t, b, l, width);
        if (q->stack.config.kind == RG_LSTM) out->c[l] = rg_carry_read(t, b, depth + l, width);
    }
}

static void write_states(rg_tape *t, const parts *q, const rg_batch *b, const rg_recurrent_states *states)
{
    const size_t depth = q->stack.config.depth;
    for (size_t l = 0; l < depth; l++) {
        rg_carry_write(t, b, l, states->h[l]);
        if (q->stack.config.kind == RG_LSTM) rg_carry_write(t, b, depth + l, states->c[l]);
    }
}

/* ------------------------------------------------------------------------------------------------------------- look */

/* Every row of the batch sees the `window` rows before it. */
static const rg_reach *reach_back(rg_tape *t, const rg_past *past)
{
    const int32_t *start = past->layout->start;
    const size_t   N = (size_t)start[past->layout->groups];
    int32_t       *begin = rg_tape_memory(t, 2 * (N + 1) * sizeof *begin), *end = begin + N;
    if (!begin) return NULL;
    for (size_t g = 0; g < past->layout->groups; g++)
        for (int32_t i = start[g]; i < start[g + 1]; i++) {
            const size_t j = (size_t)(i - start[g]);
            begin[i] = (int32_t)rg_past_first(past, g, j);
            end[i] = (int32_t)(rg_past_base(past, g) + past->window + j);
        }
    return rg_reach_intervals(t, N, rg_past_rows(past), begin, end);
}

static rg_tensor *look_kv(rg_tape *t, const parts *q, const rg_past *past, rg_tensor *h, rg_tensor *all)
{
    rg_tensor *query, *x, *k, *v, *unused[2];
    if (!past->window) return rg_key_value_run(t, &q->look, h);
    rg_key_value_split(t, &q->look, h, &query, &unused[0], &unused[1], &x);
    rg_key_value_split(t, &q->look, all, &unused[0], &k, &v, &unused[1]);
    const rg_reach *reach = reach_back(t, past);
    return reach ? rg_with_layout(t, rg_key_value_read(t, &q->look, query, k, v, x, reach), rg_tensor_layout(h)) : NULL;
}

/* Part p of the row p steps before; zeros before the text. */
static rg_tensor *look_ngram(rg_tape *t, const parts *q, const rg_past *past, rg_tensor *h, rg_tensor *all)
{
    const int32_t *start = past->layout->start;
    const size_t   N = rg_tensor_rows(h), k = q->stack.config.width / q->parts;
    rg_tensor    **part = rg_tape_memory(t, (q->parts + 1) * sizeof(rg_tensor *));
    int32_t       *at = rg_tape_memory(t, (N + 1) * sizeof *at);
    if (!part || !at) return NULL;
    for (size_t p = 0; p < q->parts; p++) {
        for (size_t g = 0; g < past->layout->groups; g++)
            for (int32_t i = start[g]; i < start[g + 1]; i++) {
                const size_t j = (size_t)(i - start[g]), here = rg_past_base(past, g) + past->window + j;
                at[i] = p && here < rg_past_first(past, g, j) + p ? -1 : (int32_t)(here - p);
            }
        part[p] = rg_gather(t, rg_columns(t, all, p * k, k), at, N, rg_tensor_layout(h));
    }
    return rg_tanh(t, rg_matmul(t, rg_concat_columns(t, q->parts, part), rg_use(t, q->ngram)));
}

/* What is answered from: the outputs h (N, width), or what a look at the past made of them. */
static rg_tensor *look(rg_tape *t, const parts *q, const rg_batch *b, rg_tensor *h)
{
    if (!q->parts || !h) return h;
    rg_past    past = rg_past_read(t, b, state_blocks(q), q->window);
    rg_tensor *all = h;
    rg_tape_push(t, "look");
    if (past.window) {
        const int32_t *at = rg_past_places(t, &past);
        if ((all = rg_past_buffer(t, &past, b, rg_tensor_cols(h))) && at) rg_rows_put(t, all, at, h);
        rg_past_write(t, &past, b, all);
    }
    rg_tensor *y = !all || !past.layout ? NULL
                   : q->ngram           ? look_ngram(t, q, &past, h, all)
                                        : look_kv(t, q, &past, h, all);
    rg_tape_pop(t);
    return y;
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings     *s = m->options;
    const parts        *q = m->parts;
    const rg_batch     *b = data;
    rg_recurrent_states states = { .after = b->carry_after };
    read_states(&states, t, q, b);
    rg_tape_push(t, "rnn");
    rg_tensor *x = q->numbers.width ? rg_number_rows(t, &q->numbers, b) : rg_lm_words(t, &q->tables, b);
    rg_tensor *h = x ? rg_recurrent_stack_run(t, &q->stack, x, &states) : NULL;
    rg_tape_pop(t);
    write_states(t, q, b, &states);
    rg_tensor *y = rg_dropout(t, look(t, q, b, h), s->dropout);
    return q->numbers.width ? rg_number_loss(t, &q->numbers, y, b) : rg_lm_loss(t, &q->tables, y, b);
}

/* --------------------------------------------------------------------------------------------------------- decoding */

enum {
    PAST = 2 * RG_RECURRENT_DEPTH
}; /* the block of the last outputs; block l is h of layer l, depth + l its c */

static rg_status start(rg_decoding *d)
{
    const parts *q = d->model->parts;
    rg_step_state     *carried = d->state;
    for (size_t i = 0; i < state_blocks(q); i++)
        RG_TRY(rg_step_state_put(carried, i, rg_zeros(d->memory, d->n, q->stack.config.width, NULL)));
    if (q->window)
        RG_TRY(rg_step_state_put(carried, PAST, rg_zeros(d->memory, d->n, q->window * q->stack.config.width, NULL)));
    return rg_tape_status(d->memory);
}

static rg_tensor *step_kv(rg_decoding *d, rg_tape *t, rg_tensor *h, rg_tensor *rows)
{
    const parts *q = d->model->parts;
    rg_tensor   *query, *x, *k, *v, *unused[2];
    rg_key_value_split(t, &q->look, h, &query, &unused[0], &unused[1], &x);
    rg_key_value_split(t, &q->look, rg_split_rows(t, rows, q->window), &unused[0], &k, &v, &unused[1]);
    const rg_reach *reach = rg_past_step(t, d->n, q->window, d->steps);
    return reach ? rg_key_value_read(t, &q->look, query, k, v, x, reach) : NULL;
}

static rg_tensor *step_ngram(rg_decoding *d, rg_tape *t, rg_tensor *h, rg_tensor *rows)
{
    const parts *q = d->model->parts;
    const size_t width = q->stack.config.width, k = width / q->parts;
    rg_tensor  **part = rg_tape_memory(t, (q->parts + 1) * sizeof(rg_tensor *));
    if (!part) return NULL;
    part[0] = rg_columns(t, h, 0, k);
    for (size_t p = 1; p < q->parts; p++) part[p] = rg_columns(t, rows, (q->window - p) * width + p * k, k);
    return rg_tanh(t, rg_matmul(t, rg_concat_columns(t, q->parts, part), rg_use(t, q->ngram)));
}

static rg_tensor *step_look(rg_decoding *d, rg_tape *t, rg_tensor *h, rg_tensor **rows)
{
    const parts *q = d->model->parts;
    *rows = q->window ? rg_step_state_use(t, d->state, PAST) : NULL;
    if (!q->parts || !h) return h;
    rg_tape_push(t, "look");
    rg_tensor *y = q->ngram ? step_ngram(d, t, h, *rows) : step_kv(d, t, h, *rows);
    rg_tape_pop(t);
    return y;
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const parts        *q = d->model->parts;
    const size_t        depth = q->stack.config.depth;
    const bool          cells = q->stack.config.kind == RG_LSTM;
    rg_step_state            *carried = d->state;
    rg_recurrent_states states = { 0 };
    rg_tensor          *rows;
    for (size_t l = 0; l < depth; l++) {
        states.h[l] = rg_step_state_use(t, carried, l);
        if (cells) states.c[l] = rg_step_state_use(t, carried, depth + l);
    }
    rg_tensor *x = rg_gather(t, rg_use(t, q->tables.embedding), d->tokens, d->n, NULL);
    rg_tensor *h = rg_recurrent_stack_step(t, &q->stack, x, &states);
    rg_tensor *logits = rg_lm_logits(t, &q->tables, step_look(d, t, h, &rows));
    rg_tensor *past = rows && logits ? rg_past_push(t, rows, h) : NULL;
    rg_status  status = logits ? RG_OK : rg_tape_status(t);
    for (size_t l = 0; status == RG_OK && l < depth; l++) {
        status = rg_step_state_put(carried, l, states.h[l]);
        if (status == RG_OK && cells) status = rg_step_state_put(carried, depth + l, states.c[l]);
    }
    if (status == RG_OK && past) status = rg_step_state_put(carried, PAST, past);
    return status == RG_OK ? logits : rg_tape_fail(t, status, "no memory for the states of %zu hypotheses", d->n);
}

static rg_status keep(rg_decoding *d, const int32_t *parents, size_t n)
{
    return rg_step_state_keep(d->state, parents, n);
}
static void      finish(rg_decoding *d) { rg_step_state_fini(d->state); }

static const rg_attention_use uses[] = {
    { "over the last outputs (--look)", "output", "outputs before it", "outputs before it", "additive", "before",
      .watch = "look.weights", .rows = "words", .cols = "words" },
    { 0 },
};

const rg_system rg_system_lm = {
    .name = "lm",
    .summary = "recurrent language model, with or without a look at its own last outputs",
    .paper = "Mikolov et al. 2010; Zaremba, Sutskever, Vinyals 2014; --look: Daniluk et al. 2017, Frustratingly Short "
             "Attention Spans",
    .task = &rg_task_language,
    .reads = "text|numbers",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .carries = carries,
    .state_bytes = sizeof(rg_step_state),
    .start = start,
    .step = step,
    .keep = keep,
    .finish = finish,
};
