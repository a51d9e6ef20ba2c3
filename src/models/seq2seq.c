/* Plain sequence to sequence (Sutskever, Vinyals, Le 2014): a deep LSTM reads the source, its last states start another that writes.
 *
 *     p(y | x) = prod_t p(y_t | c, y_<t)          c: all layers' h and c after the last source word
 *
 * No attention: the control that every attention is measured against. --reverse reads the source backwards, which shortens the
 * first dependencies. */
#include "models/recurrent_parts.h"

typedef struct {
    rg_rnn_settings rnn;
} settings;

static const rg_option options[] = {
    RG_RNN_ROWS(settings, "false", "true"),
    { RG_OPTION_STRING, "cell", offsetof(settings, rnn.cell), "lstm", "kind of recurrence", 0, "lstm|gru|rnn|gru-reset-after" },
    RG_OPTION_END
};

typedef struct {
    rg_rnn_parts       rnn;
    rg_recurrent_stack decoder;
} parts;

static rg_status build(rg_model *m)
{
    const rg_rnn_settings *s = &((const settings *)m->options)->rnn;
    parts                 *p = m->parts;
    if (s->bidirectional)
        return rg_fail(RG_EINVAL,
                       "the decoder starts from the encoder's last states, which one direction alone has: --enc-bidirectional false");
    RG_TRY(rg_rnn_build(&p->rnn, m, s, (size_t)s->width, 1));
    rg_recurrent_config c = p->rnn.encoder.config;
    rg_recurrent_stack_init(&p->decoder, m->params, "decoder", &c);
    return RG_OK;
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const rg_rnn_settings *s = &((const settings *)m->options)->rnn;
    const parts           *p = m->parts;
    const rg_batch        *batch = data;
    const rg_field        *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    rg_recurrent_states    states = { 0 };
    rg_rnn_read(t, &p->rnn, s, from->ids, &from->layout, &states);
    rg_tape_push(t, "decoder");
    rg_tensor *y = rg_rnn_words(t, &p->rnn, to->previous, rg_field_rows(to), &to->layout);
    y = y ? rg_recurrent_stack_run(t, &p->decoder, y, &states) : NULL;
    rg_tape_pop(t);
    return rg_rnn_loss(t, &p->rnn, s, y, batch);
}

static rg_status start(rg_decoding *d)
{
    const rg_rnn_settings *s = &((const settings *)d->model->options)->rnn;
    const parts           *p = d->model->parts;
    rg_recurrent_states    states = { 0 };
    rg_rnn_read(d->memory, &p->rnn, s, d->source.ids, &d->sources, &states);
    RG_TRY(rg_tape_status(d->memory));
    return rg_rnn_put_states(d->state, &states, p->decoder.config.depth);
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const rg_rnn_settings *s = &((const settings *)d->model->options)->rnn;
    const parts           *p = d->model->parts;
    const size_t           depth = p->decoder.config.depth;
    rg_recurrent_states    states;
    rg_rnn_use_states(&states, t, d->state, p->rnn.cell, depth);
    rg_tensor *y = rg_rnn_embed(t, &p->rnn, s, d->tokens, d->n, NULL);
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
