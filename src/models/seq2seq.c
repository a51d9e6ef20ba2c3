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
    RG_RNN_ROWS(settings, "false"),
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
    if (s->bidirectional) return rg_fail(RG_EINVAL, "the decoder starts from the encoder's last states, which one direction alone has: --enc-bidirectional false");
    RG_TRY(rg_rnn_build(&p->rnn, m, s, (size_t)s->width));
    rg_recurrent_config c = p->rnn.encoder.config;
    rg_recurrent_stack_init(&p->decoder, m->params, "decoder", &c);
    return RG_OK;
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const rg_rnn_settings *s = &((const settings *)m->options)->rnn;
    const parts           *p = m->parts;
    const rg_batch        *batch = data;
    rg_recurrent_states    states = { 0 };
    rg_rnn_encode(t, &p->rnn, s, batch->source_ids, &batch->source, &states);
    rg_tape_push(t, "decoder");
    rg_tensor *y = rg_gather(t, rg_use(t, p->rnn.target), batch->previous, (size_t)batch->target.start[batch->target.groups], &batch->target);
    y = y ? rg_recurrent_stack_run(t, &p->decoder, y, &states) : NULL;
    rg_tape_pop(t);
    return rg_rnn_loss(t, &p->rnn, s, y, batch);
}

/* Block 2l of the bank is h of layer l, block 2l + 1 its c. */
static rg_status put_states(rg_bank *bank, const rg_recurrent_states *states, size_t depth)
{
    for (size_t l = 0; l < depth; l++) {
        RG_TRY(rg_bank_put(bank, 2 * l, states->h[l]));
        if (states->c[l]) RG_TRY(rg_bank_put(bank, 2 * l + 1, states->c[l]));
    }
    return RG_OK;
}

static rg_status start(rg_decoding *d)
{
    const rg_rnn_settings *s = &((const settings *)d->model->options)->rnn;
    const parts           *p = d->model->parts;
    rg_recurrent_states    states = { 0 };
    rg_rnn_encode(d->memory, &p->rnn, s, d->source_ids, &d->sources, &states);
    RG_TRY(rg_tape_status(d->memory));
    return put_states(d->state, &states, p->decoder.config.depth);
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const rg_rnn_settings *s = &((const settings *)d->model->options)->rnn;
    const parts           *p = d->model->parts;
    rg_bank               *bank = d->state;
    rg_recurrent_states    states = { 0 };
    for (size_t l = 0; l < p->decoder.config.depth; l++) {
        states.h[l] = rg_bank_use(t, bank, 2 * l);
        if (p->rnn.cell == RG_LSTM) states.c[l] = rg_bank_use(t, bank, 2 * l + 1);
    }
    rg_tensor *y = rg_rnn_embed(t, &p->rnn, s, d->tokens, d->n, NULL);
    y = rg_recurrent_stack_step(t, &p->decoder, y, &states);
    if (!y) return NULL;
    if (put_states(bank, &states, p->decoder.config.depth) != RG_OK) return rg_tape_fail(t, RG_ENOMEM, "no memory for the states of %zu hypotheses", d->n);
    return rg_rnn_logits(t, &p->rnn, y);
}

static rg_status keep(rg_decoding *d, const int32_t *parents, size_t n) { return rg_bank_keep(d->state, parents, n); }
static void finish(rg_decoding *d) { rg_bank_fini(d->state); }

static const rg_attention_use uses[] = { { NULL, NULL, NULL, NULL, NULL, NULL } };

const rg_system rg_system_seq2seq = {
    .name = "seq2seq",
    .summary = "a deep LSTM reads, another writes; no attention",
    .paper = "Sutskever, Vinyals, Le 2014, Sequence to Sequence Learning with Neural Networks",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .state_bytes = sizeof(rg_bank),
    .start = start,
    .step = step,
    .keep = keep,
    .finish = finish,
};
