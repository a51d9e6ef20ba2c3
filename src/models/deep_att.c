/* Deep-Att (Zhou et al. 2016): very deep LSTMs that learn because linear fast-forward connections pass by every
 * recurrence.
 *
 *     encoder   two columns of L layers; directions alternate from layer to layer, the second column begins backwards (layers/fast_forward.h)
 *               x_j = [h^{L,1}_j; h^{L,2}_j]                       keys and values
 *     decoder   c_i = attend(h^1_{i-1}, x)                         the query is layer 1's state of the word before
 *               f^1_i = W E y_{i-1} + b + C c_i ,  f^k_i = W^k [half(f^{k-1}_i); h^{k-1}_i] + b^k ,  h^k_i = LSTM(f^k_i, h^k_{i-1})
 *               p(y_i) = softmax(W h^K_i)
 *
 * Decoder layer l starts where the encoder's layer l ended at the first word: in one of the two columns.
 * --fast-forward false leaves the connections out, which is the control. Words that stay unknown are replaced by
 * what they looked at most (`translate --replace-unk`): PosUnk. */
#include "layers/fast_forward.h"
#include "models/deep_parts.h"

#include <stdlib.h>

enum { COLUMNS = 2 };

typedef struct {
    rg_rnn_settings  rnn;
    rg_deep_settings deep;
    char            *layers;
    bool             forward;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "dim-emb", offsetof(settings, rnn.d), "256", "width of embeddings", 0, "[1,1000000]" },
    { RG_OPTION_INT, "dim-rnn", offsetof(settings, rnn.width), "256", "width of states", 0, "[1,1000000]" },
    { RG_OPTION_STRING, "layers", offsetof(settings, layers), "5,3",
      "layers of encoder and decoder, or one number for both", 0, NULL },
    { RG_OPTION_BOOL, "fast-forward", offsetof(settings, forward), "true",
      "linear connections that pass by every recurrence", 0, NULL },
    RG_RNN_LOSS_ROWS(settings),
    RG_DEEP_ROWS(settings),
    RG_OPTION_END
};

typedef struct {
    rg_rnn_parts    rnn; /* tables and output; its encoder is not used */
    rg_fast_forward reader[COLUMNS];
    rg_deep_bottom  bottom; /* decoder layer 1 */
    rg_fast_forward writer; /* and those above */
} parts;

/* ---------------------------------------------------------------------------------------------------------- build */

/* "5,3", or "4" for both. */
static rg_status read_depths(size_t *encoder, size_t *decoder, const char *text)
{
    char     *end;
    long long a = strtoll(text, &end, 10), b = a;
    bool      ok = end != text;
    if (ok && *end == ',') {
        const char *second = end + 1;
        b = strtoll(second, &end, 10);
        ok = end != second;
    }
    if (!ok || *end || a < 1 || b < 1 || a > RG_RECURRENT_DEPTH || b > RG_RECURRENT_DEPTH)
        return rg_fail(RG_EINVAL, "--layers %s: depth of encoder and decoder, such as 5,3, each in 1 .. %d", text,
                       RG_RECURRENT_DEPTH);
    *encoder = (size_t)a;
    *decoder = (size_t)b;
    return RG_OK;
}

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *p = m->parts;
    const size_t    u = (size_t)s->rnn.width;
    size_t          encoder = 0, decoder = 0;
    RG_TRY(read_depths(&encoder, &decoder, s->layers));
    RG_TRY(rg_rnn_build_tables(&p->rnn, m, &s->rnn, u, rg_rnn_deviation(&s->rnn)));
    rg_recurrent_config c = RG_RECURRENT_CONFIG_DEFAULT;
    c.kind = p->rnn.cell;
    c.in = (size_t)s->rnn.d;
    c.width = u;
    c.depth = encoder;
    c.dropout = s->rnn.dropout;
    for (size_t i = 0; i < COLUMNS; i++) {
        p->reader[i] = (rg_fast_forward){ .config = c, .forward = s->forward, .alternate = true, .back = i == 1 };
        rg_fast_forward_init(&p->reader[i], m->params, i ? "encoder.back" : "encoder.ahead");
    }
    RG_TRY(rg_deep_bottom_init(&p->bottom, m, &s->deep, &c, c.in, COLUMNS * u));
    c.depth = decoder;
    p->writer = (rg_fast_forward){ .config = c, .forward = s->forward, .first = 1 };
    rg_fast_forward_init(&p->writer, m->params, "decoder");
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- the source */

static rg_deep_source encode(rg_tape *t, const parts *p, const int32_t *ids, const rg_layout *layout,
                             rg_recurrent_states *first)
{
    const size_t        depth = p->reader[0].config.depth;
    rg_recurrent_states ends[COLUMNS] = { { .after = 0 } };
    rg_tensor          *top[COLUMNS],
        *x = rg_gather(t, rg_use(t, p->rnn.source), ids, (size_t)layout->start[layout->groups], layout);
    rg_tape_push(t, "encoder");
    x = rg_tape_offer(t, "inputs", x, NULL);
    for (size_t i = 0; i < COLUMNS; i++) top[i] = rg_fast_forward_run(t, &p->reader[i], NULL, x, &ends[i]);
    rg_tape_pop(t);
    for (size_t l = 0; l < p->writer.config.depth; l++) {
        const size_t own = l < depth ? l : depth - 1, column = rg_fast_forward_reverse(&p->reader[0], own) ? 0 : 1;
        first->h[l] = ends[column].h[own];
        first->c[l] = ends[column].c[own];
    }
    return rg_deep_prepare(t, &p->bottom, top[0] && top[1] ? rg_concat_columns(t, COLUMNS, top) : NULL);
}

/* -------------------------------------------------------------------------------------------------------- training */

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings      *s = m->options;
    const parts         *p = m->parts;
    const rg_batch      *batch = data;
    const rg_field      *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    rg_recurrent_states  states = { .after = 0 };
    const rg_deep_source source = encode(t, p, from->ids, &from->layout, &states);
    rg_tensor *f = NULL, *words = rg_rnn_embed(t, &p->rnn, &s->rnn, to->previous, rg_field_rows(to), &to->layout);
    rg_tape_push(t, "decoder");
    rg_tensor *h = rg_deep_run(t, &p->bottom, words, batch, &source, states.h[0], states.c[0], NULL, &f);
    h = rg_fast_forward_run(t, &p->writer, f, h, &states);
    rg_tape_pop(t);
    return rg_rnn_loss(t, &p->rnn, &s->rnn, h, batch);
}

/* -------------------------------------------------------------------------------------------------------- decoding */

typedef struct {
    rg_step_state  carried;
    rg_deep_source source;
} memory;

static rg_status start(rg_decoding *d)
{
    const parts        *p = d->model->parts;
    memory             *mem = d->state;
    rg_recurrent_states first = { .after = 0 };
    mem->source = encode(d->memory, p, d->source.ids, &d->sources, &first);
    rg_attention_pack(d->memory, &p->bottom.att, mem->source.keys, mem->source.values, &d->sources);
    RG_TRY(rg_tape_status(d->memory));
    return rg_rnn_put_states(&mem->carried, &first, p->writer.config.depth);
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const settings     *s = d->model->options;
    const parts        *p = d->model->parts;
    memory             *mem = d->state;
    const size_t        depth = p->writer.config.depth;
    rg_recurrent_states states;
    rg_tensor          *f = NULL;
    rg_rnn_use_states(&states, t, &mem->carried, p->rnn.cell, depth);
    rg_tape_push(t, "decoder");
    rg_tensor *words = rg_deep_words(t, &p->bottom, rg_rnn_embed(t, &p->rnn, &s->rnn, d->tokens, d->n, NULL));
    rg_deep_move(t, &p->bottom, words, &states.h[0], &states.c[0], &mem->source, rg_rnn_reach_sources(t, d), &f);
    rg_tensor *h = rg_fast_forward_step(t, &p->writer, f, states.h[0], &states);
    rg_tape_pop(t);
    return rg_rnn_answer(d, t, &p->rnn, h, &states, depth);
}

static const rg_attention_use uses[] = {
    { "before every target word", "decoder layer 1's state of the word before",
      "both columns' top states of the source words", "the same", "additive", "groups", .watch = "*weights",
      .rows = "output", .cols = "source" },
    { 0 },
};

static const rg_preset presets[] = {
    { "paper", "the paper's model: 9 + 7 layers of 512", "dim-emb: 512\ndim-rnn: 512\nlayers: 9,7\n" },
    { NULL, NULL, NULL },
};

const rg_system rg_system_deep_att = {
    .name = "deep-att",
    .summary = "very deep LSTMs of alternating directions with fast-forward connections; attention before every word",
    .paper = "Zhou et al. 2016, Deep Recurrent Models with Fast-Forward Connections for Neural Machine Translation",
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
