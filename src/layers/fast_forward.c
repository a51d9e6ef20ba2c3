/* fast_forward.c - a deep recurrent stack with fast-forward connections. */
#include "layers/fast_forward.h"

static size_t gates_of(const rg_fast_forward *s) { return rg_recurrence_gates(s->config.kind) * s->config.width; }

void rg_fast_forward_init(rg_fast_forward *s, rg_params *p, const char *name)
{
    const size_t u = s->config.width, above = s->forward ? gates_of(s) / 2 + u : u;
    for (size_t l = s->first; l < s->config.depth; l++) {
        rg_params_push(p, "%s.%zu", name, l);
        rg_recurrent_params_init(&s->layer[l], p, &s->config, l ? above : s->config.in);
        rg_params_pop(p);
    }
}

bool rg_fast_forward_reverse(const rg_fast_forward *s, size_t layer)
{
    return s->back != (s->alternate && layer % 2 == 1);
}

rg_tensor *rg_fast_forward_gates(rg_tape *t, const rg_fast_forward *s, size_t layer, rg_tensor *f, rg_tensor *h)
{
    const rg_recurrent_weights w = rg_recurrent_params_use(t, &s->layer[layer]);
    rg_tensor                 *in = rg_dropout(t, h, s->config.dropout);
    if (f && s->forward) {
        rg_tensor *both[] = { rg_columns(t, f, 0, gates_of(s) / 2), in };
        in = both[0] && both[1] ? rg_concat_columns(t, 2, both) : NULL;
    }
    return rg_linear(t, in, w.w, w.b, RG_IDENTITY);
}

/* The weights of a layer whose input is projected already. */
static rg_recurrent_weights without_input(rg_tape *t, const rg_fast_forward *s, size_t l)
{
    rg_recurrent_weights w = rg_recurrent_params_use(t, &s->layer[l]);
    w.w = w.b = NULL;
    return w;
}

rg_tensor *rg_fast_forward_run(rg_tape *t, const rg_fast_forward *s, rg_tensor *f, rg_tensor *h,
                               rg_recurrent_states *states)
{
    const bool cells = s->config.kind == RG_LSTM;
    for (size_t l = s->first; l < s->config.depth && h; l++) {
        const rg_recurrent_weights w = without_input(t, s, l);
        const bool                 reverse = rg_fast_forward_reverse(s, l);
        rg_tensor                 *all_c = NULL;
        rg_tape_push(t, "%zu", l);
        f = rg_fast_forward_gates(t, s, l, f, h);
        h = rg_recurrent(t, s->config.kind, &w, f, states ? states->h[l] : NULL, states && cells ? states->c[l] : NULL,
                         reverse, states && cells ? &all_c : NULL);
        if (states) {
            states->h[l] = rg_last_rows(t, h, reverse);
            states->c[l] = cells ? rg_last_rows(t, all_c, reverse) : NULL;
        }
        rg_tape_pop(t);
    }
    return h;
}

rg_tensor *rg_fast_forward_step(rg_tape *t, const rg_fast_forward *s, rg_tensor *f, rg_tensor *h,
                                rg_recurrent_states *states)
{
    const bool cells = s->config.kind == RG_LSTM;
    for (size_t l = s->first; l < s->config.depth && h; l++) {
        const rg_recurrent_weights w = without_input(t, s, l);
        rg_tensor                 *c = NULL;
        rg_tape_push(t, "%zu", l);
        f = rg_fast_forward_gates(t, s, l, f, h);
        h = states->h[l] =
            rg_recurrent_cell(t, s->config.kind, &w, f, states->h[l], cells ? states->c[l] : NULL, cells ? &c : NULL);
        states->c[l] = c;
        rg_tape_pop(t);
    }
    return h;
}
