/* Plain sequence to sequence (Sutskever, Vinyals, Le 2014): a deep LSTM reads the source, its last states start another
 * that writes.
 *
 *     p(y | x) = prod_t p(y_t | c, y_<t)          c: all layers' h and c after the last source word
 *
 * No attention: the control that every attention is measured against. --reverse reads the source backwards, which
 * shortens the first dependencies. --summary mean|max starts all layers from the mean or the largest of the top
 * layer's rows instead; --context every-step also puts the summary beside every word that goes in (Cho et al. 2014). */
#include "models/recurrent_parts.h"

typedef struct {
    rg_rnn_settings rnn;
    char           *summary, *context;
} settings;

static const rg_option options[] = {
    RG_RNN_ROWS(settings, "false"),
    { RG_OPTION_STRING, "cell", offsetof(settings, rnn.cell), "lstm", "kind of recurrence", 0,
      "lstm|gru|rnn|gru-reset-after" },
    { RG_OPTION_STRING, "summary", offsetof(settings, summary), "last",
      "the source as one row: its last states, or the mean or the largest of the top layer's", 0, "last|mean|max" },
    { RG_OPTION_STRING, "context", offsetof(settings, context), "start",
      "where the decoder sees it: before the first word, or also at every step", 0, "start|every-step" },
    RG_OPTION_END
};

typedef struct {
    rg_rnn_parts       rnn;
    rg_recurrent_stack decoder;
} parts;

static bool takes_last(const settings *s) { return s->summary[0] == 'l'; }
static bool every_step(const settings *s) { return s->context[0] == 'e'; }

static rg_status build(rg_model *m)
{
    const rg_rnn_settings *s = &((const settings *)m->options)->rnn;
    parts                 *p = m->parts;
    if (s->bidirectional)
        return rg_fail(RG_EINVAL, "the decoder starts from the encoder's last states, which one direction alone has: "
                                  "--enc-bidirectional false");
    RG_TRY(rg_rnn_build(&p->rnn, m, s, (size_t)s->width, rg_rnn_deviation(s)));
    rg_recurrent_config c = p->rnn.encoder.config;
    if (every_step(m->options)) c.in += (size_t)s->width;
    rg_recurrent_stack_init(&p->decoder, m->params, "decoder", &c);
    return RG_OK;
}

/* The source as one row, (G, width), from the rows of its top layer and where they ended. */
static rg_tensor *summary_of(rg_tape *t, const settings *s, rg_tensor *h, const rg_recurrent_states *ends, size_t depth)
{
    return takes_last(s) ? ends->h[depth - 1] : s->summary[1] == 'e' ? rg_mean_groups(t, h) : rg_max_groups(t, h);
}

/* Where the decoder starts, and the summary that it may see at every step. */
static rg_tensor *read_source(rg_tape *t, const parts *p, const settings *s, const int32_t *ids,
                              const rg_layout *layout, rg_recurrent_states *states)
{
    const size_t depth = p->decoder.config.depth;
    rg_tensor   *h = rg_rnn_read(t, &p->rnn, &s->rnn, ids, layout, states),
              *summary = h ? summary_of(t, s, h, states, depth) : NULL;
    for (size_t l = 0; summary && !takes_last(s) && l < depth; l++) {
        states->h[l] = summary;
        if (states->c[l]) states->c[l] = rg_zeros(t, rg_tensor_rows(summary), (size_t)s->rnn.width, NULL);
    }
    return summary;
}

static rg_tensor *beside(rg_tape *t, rg_tensor *y, rg_tensor *summary)
{
    rg_tensor *both[] = { y, summary };
    return y && summary ? rg_concat_columns(t, 2, both) : NULL;
}

/* The summary of each row's sentence. */
static rg_tensor *spread(rg_tape *t, rg_tensor *summary, const rg_layout *layout)
{
    const size_t n = (size_t)layout->start[layout->groups];
    int32_t     *row = rg_tape_memory(t, (n + 1) * sizeof *row);
    for (size_t g = 0; row && g < layout->groups; g++)
        for (int32_t i = layout->start[g]; i < layout->start[g + 1]; i++) row[i] = (int32_t)g;
    return row ? rg_gather(t, summary, row, n, layout) : NULL;
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings     *s = m->options;
    const parts        *p = m->parts;
    const rg_batch     *batch = data;
    const rg_field     *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    rg_recurrent_states states = { 0 };
    rg_tensor          *summary = read_source(t, p, s, from->ids, &from->layout, &states);
    rg_tape_push(t, "decoder");
    rg_tensor *y = rg_rnn_words(t, &p->rnn, to->previous, rg_field_rows(to), &to->layout);
    if (every_step(s)) y = beside(t, y, spread(t, summary, &to->layout));
    y = y ? rg_recurrent_stack_run(t, &p->decoder, y, &states) : NULL;
    rg_tape_pop(t);
    return rg_rnn_loss(t, &p->rnn, &s->rnn, y, batch);
}

enum { SUMMARY = RG_STEP_STATE_BLOCKS - 1 };

static rg_status start(rg_decoding *d)
{
    const settings     *s = d->model->options;
    const parts        *p = d->model->parts;
    rg_recurrent_states states = { 0 };
    rg_tensor          *summary = read_source(d->memory, p, s, d->source.ids, &d->sources, &states);
    RG_TRY(rg_tape_status(d->memory));
    if (every_step(s)) RG_TRY(rg_step_state_put(d->state, SUMMARY, summary));
    return rg_rnn_put_states(d->state, &states, p->decoder.config.depth);
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const settings     *s = d->model->options;
    const parts        *p = d->model->parts;
    const size_t        depth = p->decoder.config.depth;
    rg_recurrent_states states;
    rg_rnn_use_states(&states, t, d->state, p->rnn.cell, depth);
    rg_tensor *y = rg_rnn_embed(t, &p->rnn, &s->rnn, d->tokens, d->n, NULL);
    if (every_step(s)) y = beside(t, y, rg_step_state_use(t, d->state, SUMMARY));
    return rg_rnn_answer(d, t, &p->rnn, rg_recurrent_stack_step(t, &p->decoder, y, &states), &states, depth);
}

static const rg_attention_use uses[] = { { 0 } };

const rg_system rg_system_seq2seq = {
    .name = "seq2seq",
    .summary = "a deep LSTM reads, another writes; no attention",
    .paper = "Sutskever, Vinyals, Le 2014, Sequence to Sequence Learning with Neural Networks",
    .task = &rg_task_translation,
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .earlier = RG_RNN_EARLIER,
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .state_bytes = sizeof(rg_step_state),
    .start = start,
    .step = step,
    .keep = rg_rnn_keep,
    .finish = rg_rnn_finish,
};
