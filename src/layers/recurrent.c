/* recurrent.c - stacks of recurrent layers, over sequences and one step at a time, one way or both ways. */
#include "regard/layers.h"

/* --------------------------------------------------------------------------------------------------- one direction */

void rg_recurrent_params_init(rg_recurrent_params *out, rg_params *p, const rg_recurrent_config *config, size_t in)
{
    const rg_recurrence kind = config->kind;
    const size_t        u = config->width, gu = rg_recurrence_gates(kind) * u;
    const bool          even = config->uniform > 0;
    const rg_init       to_gates = even ? RG_INIT_UNIFORM : RG_INIT_GLOROT,
                  to_states = even ? RG_INIT_UNIFORM : RG_INIT_ORTHOGONAL;
    const double        scale = even ? config->uniform : 1;
    *out = (rg_recurrent_params){0};
    out->w = rg_params_add(p, "w", RG_WEIGHT, in, gu, to_gates, scale);
    out->b =
        rg_params_add(p, "b", RG_VECTOR, 1, gu, kind == RG_LSTM ? RG_INIT_FORGET : RG_INIT_ZERO, config->forget_bias);
    out->u = rg_params_add(p, "u", RG_WEIGHT, u, kind == RG_GRU ? 2 * u : gu, to_states, scale);
    if (kind == RG_GRU) out->u_new = rg_params_add(p, "u_new", RG_WEIGHT, u, u, to_states, scale);
    if (kind == RG_GRU_RESET_AFTER) out->b_new = rg_params_add(p, "b_new", RG_VECTOR, 1, u, RG_INIT_ZERO, 0);
}

rg_recurrent_weights rg_recurrent_params_use(rg_tape *t, const rg_recurrent_params *r)
{
    return (rg_recurrent_weights){ .w = rg_use(t, r->w),
                                   .b = rg_use(t, r->b),
                                   .u = rg_use(t, r->u),
                                   .u_new = r->u_new ? rg_use(t, r->u_new) : NULL,
                                   .b_new = r->b_new ? rg_use(t, r->b_new) : NULL };
}

/* ------------------------------------------------------------------------------------------------------------ stack */

size_t rg_recurrent_stack_width(const rg_recurrent_stack *s)
{
    return s->config.bidirectional && s->config.combine == RG_COMBINE_CONCAT ? 2 * s->config.width : s->config.width;
}

void rg_recurrent_stack_init(rg_recurrent_stack *out, rg_params *p, const char *name, const rg_recurrent_config *config)
{
    *out = (rg_recurrent_stack){ .config = *config };
    if (out->config.depth > RG_RECURRENT_DEPTH) out->config.depth = RG_RECURRENT_DEPTH + 1; /* running it says so */
    rg_params_push(p, "%s", name);
    for (size_t l = 0; l < out->config.depth && l < RG_RECURRENT_DEPTH; l++) {
        const size_t in = l ? rg_recurrent_stack_width(out) : config->in;
        rg_params_push(p, "%zu", l);
        if (config->bidirectional) rg_params_push(p, "ahead");
        rg_recurrent_params_init(&out->ahead[l], p, config, in);
        if (config->bidirectional) {
            rg_params_pop(p);
            rg_params_push(p, "back");
            rg_recurrent_params_init(&out->back[l], p, config, in);
            rg_params_pop(p);
        }
        rg_params_pop(p);
    }
    rg_params_pop(p);
}

static bool runs(rg_tape *t, const rg_recurrent_stack *s)
{
    if (s->config.depth <= RG_RECURRENT_DEPTH) return true;
    rg_tape_fail(t, RG_ELIMIT, "a recurrent stack has at most %d layers", RG_RECURRENT_DEPTH);
    return false;
}

/* Row `after` of every group, from 1; 0: the last. */
static rg_tensor *end_rows(rg_tape *t, rg_tensor *x, size_t after, bool reverse)
{
    const rg_layout *layout = rg_tensor_layout(x);
    if (!after || !layout) return rg_last_rows(t, x, reverse);
    int32_t *row = rg_tape_memory(t, (layout->groups + 1) * sizeof *row);
    for (size_t g = 0; row && g < layout->groups; g++) {
        const size_t rows = (size_t)(layout->start[g + 1] - layout->start[g]);
        if (after > rows) return rg_tape_fail(t, RG_EINVAL, "the state after row %zu of a group of %zu", after, rows);
        row[g] = layout->start[g] + (int32_t)after - 1;
    }
    return row ? rg_gather(t, x, row, layout->groups, NULL) : NULL;
}

/* One direction of layer l over all rows; *h and *c become the states where it ends, or after so many rows of each
 * group. */
static rg_tensor *one_way(rg_tape *t, const rg_recurrent_stack *s, const rg_recurrent_params *params, rg_tensor *x,
                          rg_tensor **h, rg_tensor **c, bool reverse, size_t after)
{
    const rg_recurrent_weights w = rg_recurrent_params_use(t, params);
    const bool                 cells = c && s->config.kind == RG_LSTM;
    rg_tensor *all_c = NULL;
    rg_tensor                 *all_h =
        rg_recurrent(t, s->config.kind, &w, x, h ? *h : NULL, cells ? *c : NULL, reverse, cells ? &all_c : NULL);
    if (h) *h = end_rows(t, all_h, after, reverse);
    if (cells) *c = end_rows(t, all_c, after, reverse);
    return all_h;
}

static rg_tensor *both_ways(rg_tape *t, const rg_recurrent_stack *s, size_t l, rg_tensor *x,
                            rg_recurrent_states *states)
{
    rg_tensor *h[2] = {0}, *c[2] = {0};
    rg_tensor *ahead = one_way(t, s, &s->ahead[l], x, states ? &h[0] : NULL, states ? &c[0] : NULL, false, 0);
    rg_tensor *back = one_way(t, s, &s->back[l], x, states ? &h[1] : NULL, states ? &c[1] : NULL, true, 0);
    if (states) {
        states->h[l] = rg_combined(t, s->config.combine, h[0], h[1]);
        states->c[l] = c[0] ? rg_combined(t, s->config.combine, c[0], c[1]) : NULL;
    }
    return rg_combined(t, s->config.combine, ahead, back);
}

rg_tensor *rg_recurrent_stack_run(rg_tape *t, const rg_recurrent_stack *s, rg_tensor *x, rg_recurrent_states *states)
{
    for (size_t l = 0; runs(t, s) && l < s->config.depth; l++) {
        rg_tape_push(t, "%zu", l);
        x = rg_dropout(t, x, s->config.dropout);
        if (s->config.bidirectional) x = both_ways(t, s, l, x, states);
        else
            x = one_way(t, s, &s->ahead[l], x, states ? &states->h[l] : NULL, states ? &states->c[l] : NULL, false,
                        states ? states->after : 0);
        rg_tape_pop(t);
    }
    return x;
}

rg_tensor *rg_recurrent_stack_step(rg_tape *t, const rg_recurrent_stack *s, rg_tensor *x, rg_recurrent_states *states)
{
    if (s->config.bidirectional)
        return rg_tape_fail(t, RG_EINVAL, "a recurrence in both directions cannot go one step at a time");
    for (size_t l = 0; runs(t, s) && l < s->config.depth; l++) {
        const rg_recurrent_weights w = rg_recurrent_params_use(t, &s->ahead[l]);
        const bool                 cells = s->config.kind == RG_LSTM;
        rg_tensor                 *c = NULL;
        rg_tape_push(t, "%zu", l);
        x = rg_dropout(t, x, s->config.dropout);
        x = states->h[l] =
            rg_recurrent_cell(t, s->config.kind, &w, x, states->h[l], cells ? states->c[l] : NULL, cells ? &c : NULL);
        states->c[l] = c;
        rg_tape_pop(t);
    }
    return x;
}
