/* deep_parts.c - the bottom of a deep decoder that looks back before every word. */
#include "models/deep_parts.h"

rg_status rg_deep_bottom_init(rg_deep_bottom *out, rg_model *m, const rg_deep_settings *s, const rg_recurrent_config *c,
                              size_t d, size_t keys)
{
    const size_t u = c->width;
    *out = (rg_deep_bottom){ .kind = c->kind };
    RG_TRY(rg_rnn_attention(&out->att, &out->key, m, s->score, s->activation, u, keys,
                            s->align > 0 ? (size_t)s->align : u));
    rg_params_push(m->params, "decoder.0");
    rg_recurrent_params_init(&out->cell, m->params, c, d);
    out->context =
        rg_params_add(m->params, "context", RG_WEIGHT, keys, rg_recurrence_gates(c->kind) * u, RG_INIT_GLOROT, 1);
    rg_params_pop(m->params);
    return RG_OK;
}

rg_deep_source rg_deep_prepare(rg_tape *t, const rg_deep_bottom *b, rg_tensor *x)
{
    return (rg_deep_source){ .keys = rg_rnn_keys(t, &b->att, b->key, x), .values = x };
}

rg_tensor *rg_deep_words(rg_tape *t, const rg_deep_bottom *b, rg_tensor *y)
{
    const rg_recurrent_weights w = rg_recurrent_params_use(t, &b->cell);
    return rg_linear(t, y, w.w, w.b, RG_IDENTITY);
}

rg_tensor *rg_deep_move(rg_tape *t, const rg_deep_bottom *b, rg_tensor *words, rg_tensor **h, rg_tensor **c,
                        const rg_deep_source *source, const rg_reach *reach, rg_tensor **f)
{
    rg_recurrent_weights w = rg_recurrent_params_use(t, &b->cell);
    w.w = w.b = NULL; /* projected already */
    rg_tape_push(t, "attention");
    rg_tensor *context = rg_attend(t, &b->att, *h, source->keys, source->values, reach);
    rg_tape_pop(t);
    rg_tensor *x = rg_add(t, words, rg_matmul(t, context, rg_use(t, b->context))), *cell = NULL;
    rg_tape_push(t, "0");
    *h = rg_recurrent_cell(t, b->kind, &w, x, *h, *c, b->kind == RG_LSTM ? &cell : NULL);
    rg_tape_pop(t);
    *c = cell;
    if (f) *f = x;
    return context;
}

rg_tensor *rg_deep_run(rg_tape *t, const rg_deep_bottom *b, rg_tensor *y, const rg_batch *batch,
                       const rg_deep_source *source, rg_tensor *h, rg_tensor *c, rg_tensor **contexts, rg_tensor **f)
{
    const rg_field *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    const size_t    N = rg_field_rows(to);
    const rg_steps *steps = rg_steps_new(t, &to->layout, false);
    rg_tensor      *words = rg_deep_words(t, b, y);
    rg_tensor      *states = rg_rows_new(t, N, rg_param_rows(b->cell.u), &to->layout);
    if (contexts) *contexts = source->values ? rg_rows_new(t, N, rg_tensor_cols(source->values), &to->layout) : NULL;
    if (f) *f = words ? rg_rows_new(t, N, rg_tensor_cols(words), &to->layout) : NULL;
    if (!steps || !words || !states || !h) return NULL;
    h = rg_gather(t, h, steps->order, steps->running, NULL); /* longest sentence first */
    c = c ? rg_gather(t, c, steps->order, steps->running, NULL) : NULL;
    for (size_t i = 0; i < steps->steps && h; i++) {
        const size_t    n = (size_t)steps->count[i];
        const int32_t  *rows = steps->row + steps->first[i];
        const rg_reach *reach = rg_rnn_reach_step(t, steps, i, &from->layout);
        rg_tensor      *gates = NULL;
        h = rg_rows(t, h, 0, n);
        c = c ? rg_rows(t, c, 0, n) : NULL;
        rg_tensor *context = rg_deep_move(t, b, rg_gather(t, words, rows, n, NULL), &h, &c, source, reach, &gates);
        if (!h) return NULL;
        rg_rows_put(t, states, rows, h);
        if (contexts) rg_rows_put(t, *contexts, rows, context);
        if (f) rg_rows_put(t, *f, rows, gates);
    }
    return states;
}
