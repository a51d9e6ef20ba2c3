/* LSTMN, the long short-term memory-network (Cheng, Dong, Lapata 2016): an LSTM without one state. Every step looks
 * back at the states and cells of the steps before it, which stay on a tape:
 *
 *     e_i  = v . tanh(U h_i + W [x_t; h~_t-1])       i < t, the last `window` of them      s = softmax(e)
 *     h~_t = sum_i s_i h_i      c~_t = sum_i s_i c_i
 *     [i; f; o; n] = x_t W' + h~_t U' + b            c_t = f c~_t + i n       h_t = o tanh(c_t)
 *
 * The first word of a text has nothing before it: h~ and c~ are 0. The tape of the last `window` steps is carried from
 * chunk to chunk. */
#include "decode/step_state.h"
#include "models/language_parts.h"

typedef struct {
    int64_t d, width, layers, window;
    double  dropout, uniform, forget_bias;
    bool    tied;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "dim-emb", offsetof(settings, d), "300", "width of embeddings", 0, "[1,1000000]" },
    { RG_OPTION_INT, "dim-rnn", offsetof(settings, width), "300", "width of states", 0, "[1,1000000]" },
    { RG_OPTION_INT, "layers", offsetof(settings, layers), "1", "layers; each reads the states of the one below", 0,
      "[1,16]" },
    { RG_OPTION_INT, "window", offsetof(settings, window), "35", "steps of the tape that are looked at", 0,
      "[1,10000]" },
    { RG_OPTION_REAL, "dropout-rnn", offsetof(settings, dropout), "0",
      "share of embeddings, layer inputs and outputs dropped", 0, "[0,1)" },
    { RG_OPTION_BOOL, "tied-embeddings", offsetof(settings, tied), "false", "one table for words and output", 0, NULL },
    { RG_OPTION_REAL, "init-uniform", offsetof(settings, uniform), "0",
      "weights start uniform in +- this; 0: Glorot, orthogonal for states", 0, "[0,10]" },
    { RG_OPTION_REAL, "forget-bias", offsetof(settings, forget_bias), "1", "bias of forget gates at the start", 0,
      "[-10,10]" },
    RG_OPTION_END
};

typedef struct {
    rg_lm_tables tables;
    struct {
        rg_recurrent_params gates;
        rg_attention        look;
    } layer[RG_RECURRENT_DEPTH];
} parts;

static rg_status build(rg_model *m)
{
    const settings     *s = m->options;
    parts              *q = m->parts;
    rg_recurrent_config c = RG_RECURRENT_CONFIG_DEFAULT;
    rg_attention_config a = RG_ATTENTION_CONFIG_DEFAULT;
    c.width = a.k_width = a.hidden = (size_t)s->width;
    c.uniform = s->uniform;
    c.forget_bias = s->forget_bias;
    a.score = "additive";
    for (size_t l = 0; l < (size_t)s->layers; l++) {
        const size_t in = l ? c.width : (size_t)s->d;
        a.q_width = in + c.width;
        rg_params_push(m->params, "layer.%zu", l);
        rg_recurrent_params_init(&q->layer[l].gates, m->params, &c, in);
        rg_params_push(m->params, "look");
        RG_TRY(rg_attention_init(&q->layer[l].look, &a, m->params));
        rg_params_pop(m->params);
        rg_params_pop(m->params);
    }
    return rg_lm_tables_init(&q->tables, m, (size_t)s->d, c.width, s->tied, true,
                             s->uniform > 0 ? RG_INIT_UNIFORM : RG_INIT_NORMAL, s->uniform > 0 ? s->uniform : 0.1);
}

/* Blocks of layer l: the tape [h | c], how many of its rows there were, and h~. */
enum { TAPE, COUNT, SUMMARY, BLOCKS };

static size_t carries(const rg_model *m, size_t block)
{
    const settings *s = m->options;
    const size_t    u = (size_t)s->width, width[BLOCKS] = { (size_t)s->window * 2 * u, 1, u };
    return block < BLOCKS * (size_t)s->layers ? width[block % BLOCKS] : 0;
}

/* One step of n rows: the sums over the tape, then the cell. *summary is h~ of the step before and becomes that of this
 * one. */
static rg_tensor *advance(rg_tape *t, const parts *q, size_t l, rg_tensor *x, rg_tensor *gates, rg_tensor **summary,
                          rg_tensor *keys, rg_tensor *values, const rg_reach *reach)
{
    rg_tensor *const asks[] = { x, *summary };
    rg_tensor       *mixed = rg_attend(t, &q->layer[l].look, rg_concat_columns(t, 2, asks), keys, values, reach),
              *sum[2] = { NULL, NULL }, *c;
    if (!mixed) return NULL;
    rg_split(t, mixed, 2, sum);
    rg_tensor       *h = rg_lstm_cell(t, gates, sum[0], sum[1], rg_use(t, q->layer[l].gates.u), &c);
    rg_tensor *const both[] = { h, c };
    *summary = sum[0];
    return h ? rg_concat_columns(t, 2, both) : NULL;
}

static rg_tensor *state_of(rg_tape *t, rg_tensor *both)
{
    return both ? rg_columns(t, both, 0, rg_tensor_cols(both) / 2) : NULL;
}

/* --------------------------------------------------------------------------------------------------------- learning */

/* Where the rows of step i go in the buffers, and what they see: the rows of their stream before them. */
static const rg_reach *look_back(rg_tape *t, const rg_past *past, const rg_steps *steps, size_t i, int32_t **at)
{
    const size_t n = (size_t)steps->count[i];
    int32_t     *begin = rg_tape_memory(t, 2 * (n + 1) * sizeof *begin), *end = begin + n;
    if (!begin) return NULL;
    for (size_t k = 0; k < n; k++) {
        const size_t g = (size_t)steps->order[k];
        begin[k] = (int32_t)rg_past_first(past, g, i);
        end[k] = (int32_t)(rg_past_base(past, g) + past->window + i);
    }
    *at = end; /* a row stands right behind what it sees */
    return rg_reach_intervals(t, n, rg_past_rows(past), begin, end);
}

/* Prepared keys beside the values; those of carried rows are made at once. */
static rg_tensor *key_buffer(rg_tape *t, const parts *q, size_t l, const rg_past *past, const rg_batch *b, size_t u)
{
    rg_tensor *keys = rg_rows_new(t, rg_past_rows(past), u, NULL);
    if (!keys || !past->window) return keys;
    rg_tensor     *carried = state_of(t, rg_past_carried(t, past, b, 2 * u));
    const int32_t *at = rg_past_carried_places(t, past);
    if (!carried || !at) return NULL;
    rg_rows_put(t, keys, at, rg_attention_prepare(t, &q->layer[l].look, carried));
    return keys;
}

static rg_tensor *run_layer(rg_tape *t, const rg_model *m, size_t l, const rg_batch *b, rg_tensor *x)
{
    const settings            *s = m->options;
    const parts               *q = m->parts;
    const size_t               u = (size_t)s->width;
    const rg_layout           *layout = &rg_lm_text(b)->layout;
    const rg_past              past = rg_past_read(t, b, l * BLOCKS, (size_t)s->window);
    const rg_recurrent_weights w = rg_recurrent_params_use(t, &q->layer[l].gates);
    rg_tensor *values = rg_past_buffer(t, &past, b, 2 * u), *keys = values ? key_buffer(t, q, l, &past, b, u) : NULL;
    rg_tensor *gates = rg_linear(t, x, w.w, w.b, RG_IDENTITY), *out = rg_rows_new(t, rg_tensor_rows(x), u, layout);
    rg_tensor *summary = rg_carry_read(t, b, l * BLOCKS + SUMMARY, u);
    const rg_steps *steps = rg_steps_new(t, layout, false);
    if (!keys || !gates || !out || !summary || !steps) return NULL;
    summary = rg_gather(t, summary, steps->order, steps->running, NULL);
    for (size_t i = 0; i < steps->steps; i++) {
        const size_t    n = (size_t)steps->count[i];
        const int32_t  *rows = steps->row + steps->first[i];
        int32_t        *at = NULL;
        const rg_reach *reach = look_back(t, &past, steps, i, &at);
        summary = rg_rows(t, summary, 0, n);
        rg_tensor *both = reach ? advance(t, q, l, rg_gather(t, x, rows, n, NULL), rg_gather(t, gates, rows, n, NULL),
                                          &summary, keys, values, reach)
                                : NULL;
        if (!both) return NULL;
        rg_tensor *h = state_of(t, both);
        rg_rows_put(t, values, at, both);
        rg_rows_put(t, keys, at, rg_attention_prepare(t, &q->layer[l].look, h));
        rg_rows_put(t, out, rows, h);
        if (b->carry && i + 1 == (b->carry_after ? b->carry_after : steps->steps))
            rg_carry_write(t, b, l * BLOCKS + SUMMARY, summary);
    }
    rg_past_write(t, &past, b, values);
    return out;
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    const rg_batch *b = data;
    rg_tensor      *x = rg_lm_words(t, &q->tables, b);
    for (size_t l = 0; x && l < (size_t)s->layers; l++) {
        rg_tape_push(t, "layer.%zu", l);
        x = run_layer(t, m, l, b, rg_dropout(t, x, s->dropout));
        rg_tape_pop(t);
    }
    return rg_lm_loss(t, &q->tables, rg_dropout(t, x, s->dropout), b);
}

/* --------------------------------------------------------------------------------------------------------- decoding */

/* What is carried: block 2l is the tape of layer l, 2l + 1 its h~. */
static rg_status start(rg_decoding *d)
{
    const settings *s = d->model->options;
    const size_t    u = (size_t)s->width;
    for (size_t l = 0; l < (size_t)s->layers; l++) {
        RG_TRY(rg_step_state_put(d->state, 2 * l, rg_zeros(d->memory, d->n, (size_t)s->window * 2 * u, NULL)));
        RG_TRY(rg_step_state_put(d->state, 2 * l + 1, rg_zeros(d->memory, d->n, u, NULL)));
    }
    return rg_tape_status(d->memory);
}

static rg_tensor *step_layer(rg_decoding *d, rg_tape *t, size_t l, rg_tensor *x)
{
    const settings            *s = d->model->options;
    const parts               *q = d->model->parts;
    const size_t               window = (size_t)s->window;
    const rg_recurrent_weights w = rg_recurrent_params_use(t, &q->layer[l].gates);
    rg_tensor *tape = rg_step_state_use(t, d->state, 2 * l), *summary = rg_step_state_use(t, d->state, 2 * l + 1);
    rg_tensor                 *values = rg_split_rows(t, tape, window);
    rg_tensor                 *keys = rg_attention_prepare(t, &q->layer[l].look, state_of(t, values));
    const rg_reach            *reach = rg_past_step(t, d->n, window, d->steps);
    rg_tensor *both = reach ? advance(t, q, l, x, rg_linear(t, x, w.w, w.b, RG_IDENTITY), &summary, keys, values, reach)
                            : NULL;
    rg_tensor *longer = both ? rg_past_push(t, tape, both) : NULL;
    if (!longer) return NULL;
    rg_status status = rg_step_state_put(d->state, 2 * l, longer);
    if (status == RG_OK) status = rg_step_state_put(d->state, 2 * l + 1, summary);
    return status == RG_OK ? state_of(t, both)
                           : rg_tape_fail(t, status, "no memory for the tapes of %zu hypotheses", d->n);
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const settings *s = d->model->options;
    const parts    *q = d->model->parts;
    rg_tensor      *x = rg_gather(t, rg_use(t, q->tables.embedding), d->tokens, d->n, NULL);
    for (size_t l = 0; x && l < (size_t)s->layers; l++) {
        rg_tape_push(t, "layer.%zu", l);
        x = step_layer(d, t, l, x);
        rg_tape_pop(t);
    }
    return x ? rg_lm_logits(t, &q->tables, x) : NULL;
}

static rg_status keep(rg_decoding *d, const int32_t *parents, size_t n)
{
    return rg_step_state_keep(d->state, parents, n);
}
static void      finish(rg_decoding *d) { rg_step_state_fini(d->state); }

static const rg_attention_use uses[] = {
    { "every layer, at every step", "word and last summary", "states before it", "states and cells before it",
      "additive", "before", .watch = "layer.*weights", .rows = "words", .cols = "words" },
    { 0 },
};

const rg_system rg_system_lstmn = {
    .name = "lstmn",
    .summary = "language model whose LSTM looks back at all its last states and cells instead of one",
    .paper = "Cheng, Dong, Lapata 2016, Long Short-Term Memory-Networks for Machine Reading",
    .task = &rg_task_language,
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
