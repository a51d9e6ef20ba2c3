/* picture_parts.c - see picture_parts.h. */
#include "models/picture_parts.h"

#include <string.h>

/* --------------------------------------------------------------------------------------------------------- pictures */

rg_status rg_picture_build(rg_picture_parts *out, rg_model *m, const rg_picture_settings *s)
{
    const size_t channels = rg_model_size(m, "channels"), height = rg_model_size(m, "height"),
                 width = rg_model_size(m, "width");
    const char *layers = strcmp(s->layers, "auto") != 0 ? s->layers
                         : rg_model_size(m, "encoded")  ? ""
                                                        : "c3x32 p2 c3x64 p2 c3x64";
    *out = (rg_picture_parts){ .coordinates = s->coordinates, .centre = s->centre };
    if (!channels || !height)
        return rg_fail(RG_EINVAL, "%s reads pictures, and the data have none: give --pictures", m->system->name);
    rg_status status = rg_net_parse(&out->net, layers, channels, height, width);
    if (status == RG_OK && out->net.count > out->net.maps)
        status = rg_fail(RG_EINVAL, "dense layers (f) leave no cells to look at");
    if (status != RG_OK) return rg_fail_in(status, "--layers: ");
    rg_net_init(&out->net, m->params, "picture", 0);
    out->down = rg_net_height(&out->net);
    out->across = rg_net_width(&out->net);
    out->width = rg_net_channels(&out->net) + (s->coordinates ? 2 : 0);
    RG_TRY(rg_sizes_put(&m->sizes, "cells-down", out->down));
    return rg_sizes_put(&m->sizes, "cells-across", out->across);
}

/* x and y of every cell, the middle of the picture 0. */
static rg_tensor *places(rg_tape *t, const rg_picture_parts *p, size_t rows)
{
    const size_t each = p->down * p->across;
    rg_real     *xy = rg_tape_memory(t, 2 * rows * sizeof *xy);
    for (size_t i = 0; xy && i < rows; i++) {
        const size_t at = i % each;
        xy[2 * i] = (rg_real)((2.0 * (double)(at % p->across) + 1) / (double)p->across - 1);
        xy[2 * i + 1] = (rg_real)((2.0 * (double)(at / p->across) + 1) / (double)p->down - 1);
    }
    return xy ? rg_constant(t, xy, rows, 2, NULL) : NULL;
}

/* x less the mean of its picture, column by column. */
static rg_tensor *centred(rg_tape *t, rg_tensor *x)
{
    const rg_layout *groups = x ? rg_tensor_layout(x) : NULL;
    int32_t         *of = groups ? rg_tape_memory(t, (rg_tensor_rows(x) + 1) * sizeof *of) : NULL;
    if (!of) return NULL;
    for (size_t g = 0; g < groups->groups; g++)
        for (int32_t i = groups->start[g]; i < groups->start[g + 1]; i++) of[i] = (int32_t)g;
    return rg_sub(t, x, rg_gather(t, rg_mean_groups(t, x), of, rg_tensor_rows(x), groups));
}

rg_tensor *rg_picture_cells(rg_tape *t, const rg_picture_parts *p, const rg_field *f)
{
    rg_tensor *x = rg_tape_offer(t, "inputs", rg_constant(t, f->values, rg_field_rows(f), f->width, &f->layout), NULL);
    if (p->centre) x = centred(t, x);
    rg_tape_push(t, "picture");
    x = rg_net_maps(t, &p->net, x);
    rg_tape_pop(t);
    if (!x || !p->coordinates) return x;
    rg_tensor *both[] = { x, places(t, p, rg_tensor_rows(x)) };
    return rg_with_layout(t, rg_concat_columns(t, 2, both), rg_tensor_layout(x));
}

/* ------------------------------------------------------------------------------------------------------------ texts */

rg_status rg_texts_of(rg_texts *out, rg_tape *t, const rg_field *f, int32_t eos)
{
    const size_t rows = rg_field_rows(f);
    int32_t *start = rg_tape_memory(t, (rows + 1) * sizeof *start), *of = rg_tape_memory(t, (rows + 1) * sizeof *of);
    *out = (rg_texts){ .of = of };
    if (!start || !of) return rg_tape_status(t);
    for (size_t g = 0; g < f->layout.groups; g++)
        for (int32_t i = f->layout.start[g]; i < f->layout.start[g + 1]; i++) {
            if (i > f->layout.start[g] && f->ids[i - 1] != eos) continue;
            start[out->count] = i;
            of[out->count++] = (int32_t)g;
        }
    start[out->count] = (int32_t)rows;
    rg_layout *layout = rg_tape_layout(t, out->count, start);
    if (!layout) return rg_tape_status(t);
    layout->first = f->layout.first;
    out->layout = layout;
    return RG_OK;
}

const rg_reach *rg_reach_chosen(rg_tape *t, const int32_t *of, size_t n, const rg_layout *groups)
{
    int32_t *begin = groups ? rg_tape_memory(t, (2 * n + 1) * sizeof *begin) : NULL, *end = begin + n;
    for (size_t i = 0; begin && i < n; i++) begin[i] = groups->start[of[i]], end[i] = groups->start[of[i] + 1];
    return begin ? rg_reach_intervals(t, n, (size_t)groups->start[groups->groups], begin, end) : NULL;
}

/* ---------------------------------------------------------------------------------------------- a writer that looks */

rg_look_kind rg_look_kind_of(const char *name)
{
    static const char *const names[] = { "soft", "hard", "gumbel", "fixed", "mean", "none" };
    for (int k = 0; k < 6; k++)
        if (strcmp(names[k], name) == 0) return (rg_look_kind)k;
    return RG_LOOK_SOFT;
}

rg_status rg_look_build(rg_look *k, rg_model *m, size_t words, size_t d, size_t width, size_t cells)
{
    rg_recurrent_config c = RG_RECURRENT_CONFIG_DEFAULT;
    c.kind = RG_LSTM;
    c.in = d;
    c.width = width;
    k->d = d, k->width = width, k->cells = cells;
    k->table = rg_params_add(m->params, "embedding", RG_TABLE, words, d, RG_INIT_NORMAL, 0.1);
    if (k->kind == RG_LOOK_FIXED)
        k->places = rg_params_add(m->params, "places", RG_TABLE, RG_LOOK_PLACES * k->grid, 1, RG_INIT_NORMAL, 0.1);
    RG_TRY(rg_rnn_attention(&k->att, &k->key, m, "additive", "own", width, cells, width));
    rg_params_push(m->params, "decoder");
    rg_recurrent_params_init(&k->cell, m->params, &c, d);
    k->context = rg_params_add(m->params, "context", RG_WEIGHT, cells, 4 * width, RG_INIT_GLOROT, 1);
    rg_dense_init(&k->first_h, m->params, "first.h", cells, width, RG_TANH);
    rg_dense_init(&k->first_c, m->params, "first.c", cells, width, RG_TANH);
    if (k->gated) rg_dense_init(&k->gate, m->params, "gate", width, 1, RG_IDENTITY);
    rg_dense_init(&k->from_state, m->params, "output.state", width, d, RG_IDENTITY);
    k->from_context = rg_params_add(m->params, "output.context", RG_WEIGHT, cells, d, RG_INIT_GLOROT, 1);
    rg_params_pop(m->params);
    return RG_OK;
}

rg_tensor *rg_look_keys(rg_tape *t, const rg_look *k, rg_tensor *cells)
{
    return k->kind >= RG_LOOK_FIXED ? cells : rg_rnn_keys(t, &k->att, k->key, cells);
}

rg_look_state rg_look_first(rg_tape *t, const rg_look *k, rg_tensor *cells)
{
    rg_tensor *mean = rg_mean_groups(t, cells);
    if (k->kind == RG_LOOK_NONE) mean = rg_scale(t, mean, 0);
    return (rg_look_state){ rg_dense_run(t, &k->first_h, mean), rg_dense_run(t, &k->first_c, mean) };
}

/* Equal weights. */
static rg_tensor *alike(rg_tape *t, const rg_reach *reach, double total)
{
    rg_real *w = reach ? rg_tape_memory(t, (reach->P + 1) * sizeof *w) : NULL;
    for (size_t i = 0; w && i < reach->Nq; i++)
        for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++)
            w[p] = (rg_real)(total / (double)(reach->first[i + 1] - reach->first[i]));
    return w ? rg_constant(t, w, reach->P, 1, NULL) : NULL;
}

/* P_step of every query's cells. */
static rg_tensor *fixed(rg_tape *t, const rg_look *k, const rg_reach *reach, size_t step)
{
    const size_t row = step < RG_LOOK_PLACES ? step : RG_LOOK_PLACES - 1;
    int32_t     *at = reach ? rg_tape_memory(t, (reach->P + 1) * sizeof *at) : NULL;
    for (size_t i = 0; at && i < reach->Nq; i++)
        for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++)
            at[p] = (int32_t)(row * k->grid + (p - reach->first[i]));
    return at ? rg_gather(t, rg_use(t, k->places), at, reach->P, NULL) : NULL;
}

/* The weights into out->a, those that are mixed by into out->picked. */
static rg_tensor *weigh(rg_looked *out, rg_tape *t, const rg_look *k, rg_tensor *q, rg_tensor *keys,
                        const rg_reach *reach, bool soft, size_t step)
{
    if (k->kind >= RG_LOOK_MEAN) {
        out->picked = alike(t, reach, k->kind == RG_LOOK_MEAN);
        if (out->picked) rg_tape_watch(t, "weights", out->picked, reach);
        return out->picked;
    }
    rg_tensor *e = k->kind == RG_LOOK_FIXED ? fixed(t, k, reach, step) : rg_scores(t, &k->att, q, keys, reach);
    out->a = k->kind == RG_LOOK_GUMBEL ? rg_gumbel_over(t, e, reach, k->temperature) : rg_softmax_over(t, e, reach);
    out->picked = out->a;
    if (k->kind == RG_LOOK_GUMBEL) out->picked = rg_straight_through(t, rg_hard_argmax(t, out->a, reach), out->a);
    else if (k->kind == RG_LOOK_HARD && !soft)
        out->picked = rg_tape_learning(t) ? rg_hard_sample(t, out->a, reach) : rg_hard_argmax(t, out->a, reach);
    if (out->a) rg_tape_watch(t, "weights", out->a, reach);
    return out->picked;
}

rg_look_state rg_look_step(rg_looked *out, rg_tape *t, const rg_look *k, rg_tensor *words, rg_look_state before,
                           rg_tensor *keys, rg_tensor *cells, const rg_reach *reach, bool soft, size_t step)
{
    rg_look_state next = { 0 };
    *out = (rg_looked){ .reach = reach };
    rg_tape_push(t, "look");
    rg_tensor *z = rg_mix(t, weigh(out, t, k, before.h, keys, reach, soft, step), cells, reach);
    if (k->gated) z = rg_mul(t, z, rg_sigmoid(t, rg_dense_run(t, &k->gate, before.h)));
    rg_tape_pop(t);
    rg_recurrent_weights w = rg_recurrent_params_use(t, &k->cell);
    rg_tensor *gates = rg_add(t, rg_linear(t, words, w.w, w.b, RG_IDENTITY), rg_matmul(t, z, rg_use(t, k->context)));
    w.w = w.b = NULL; /* projected already */
    next.h = rg_recurrent_cell(t, RG_LSTM, &w, gates, before.h, before.c, &next.c);
    rg_tensor *sum = rg_add(t, rg_dense_run(t, &k->from_state, rg_dropout(t, next.h, k->dropout)),
                            rg_matmul(t, z, rg_use(t, k->from_context)));
    out->y = rg_add(t, words, sum);
    return next;
}

/* Draws of a step depend on where in the batch a worker's share begins. */
static const rg_reach *with_first(rg_tape *t, const rg_reach *reach, uint64_t first)
{
    rg_reach *copy = reach ? rg_tape_memory(t, sizeof *copy) : NULL;
    int32_t  *start = copy ? rg_tape_memory(t, (reach->Nq + 1) * sizeof *start) : NULL;
    if (!start) return NULL;
    for (size_t i = 0; i <= reach->Nq; i++) start[i] = (int32_t)i;
    rg_layout *rows = rg_tape_layout(t, reach->Nq, start);
    if (!rows) return NULL;
    rows->first = first;
    *copy = *reach;
    copy->rows = rows;
    return copy;
}

/* The weights of all steps together, and which row of the texts each query is. */
static void gather_steps(rg_looked *out, rg_tape *t, const rg_steps *steps, rg_tensor *const *a,
                         rg_tensor *const *picked, const rg_texts *texts, const rg_layout *cells)
{
    int32_t *of = rg_tape_memory(t, (steps->rows + 1) * sizeof *of);
    if (!of) return;
    for (size_t i = 0; i < steps->steps; i++)
        for (int32_t k = 0; k < steps->count[i]; k++) of[steps->first[i] + k] = texts->of[steps->order[k]];
    out->reach = rg_reach_chosen(t, of, steps->rows, cells);
    out->row = steps->row;
    out->a = a[0] ? rg_concat_rows(t, steps->steps, a) : NULL;
    out->picked = a[0] ? rg_concat_rows(t, steps->steps, picked) : NULL;
}

rg_looked rg_look_run(rg_tape *t, const rg_look *k, rg_tensor *cells, const rg_texts *texts, const int32_t *previous,
                      uint64_t first, bool soft)
{
    const rg_steps *steps = cells && texts->layout ? rg_steps_new(t, texts->layout, false) : NULL;
    rg_looked       out = { 0 };
    if (!steps) return out;
    const rg_layout *groups = rg_tensor_layout(cells);
    rg_tensor       *keys = rg_look_keys(t, k, cells),
              *words =
                  rg_dropout(t, rg_gather(t, rg_use(t, k->table), previous, steps->rows, texts->layout), k->dropout);
    rg_tensor **a = rg_tape_memory(t, 2 * (steps->steps + 1) * sizeof(rg_tensor *)), **picked = a + steps->steps + 1;
    int32_t         *of = rg_tape_memory(t, (steps->running + 1) * sizeof *of);
    rg_look_state    now = rg_look_first(t, k, cells);
    rg_tensor       *y = rg_rows_new(t, steps->rows, k->d, texts->layout);
    if (!a || !of || !y) return out;
    for (size_t i = 0; i < steps->running; i++) of[i] = texts->of[steps->order[i]];
    now.h = rg_gather(t, now.h, of, steps->running, NULL); /* longest text first */
    now.c = rg_gather(t, now.c, of, steps->running, NULL);
    for (size_t i = 0; i < steps->steps && now.h; i++) {
        const size_t        n = (size_t)steps->count[i];
        const int32_t      *rows = steps->row + steps->first[i];
        const rg_look_state before = { rg_rows(t, now.h, 0, n), rg_rows(t, now.c, 0, n) };
        const rg_reach     *reach = with_first(t, rg_reach_chosen(t, of, n, groups), first);
        rg_looked           one;
        now = rg_look_step(&one, t, k, rg_gather(t, words, rows, n, NULL), before, keys, cells, reach, soft, i);
        if (one.y) rg_rows_put(t, y, rows, one.y);
        a[i] = one.a, picked[i] = one.picked;
    }
    out.y = y;
    if (now.h) gather_steps(&out, t, steps, a, picked, texts, groups);
    return out;
}

/* --------------------------------------------------------------------------------------------------------- decoding */

void rg_look_output(rg_rnn_parts *out, rg_model *m, size_t V, size_t d)
{
    *out = (rg_rnn_parts){ .scale = 1, .cell = RG_LSTM };
    out->output = rg_params_add(m->params, "output", RG_TIED, V, d, RG_INIT_GLOROT, 1);
    out->output_bias = rg_params_add(m->params, "output.bias", RG_VECTOR, 1, V, RG_INIT_ZERO, 0);
}

rg_status rg_look_start(rg_decoding *d, const rg_look *k, rg_tensor *cells)
{
    rg_look_memory *mem = d->state;
    mem->cells = cells;
    mem->keys = rg_look_keys(d->memory, k, cells);
    const rg_look_state       first = rg_look_first(d->memory, k, cells);
    const rg_recurrent_states states = { .h = { first.h }, .c = { first.c } };
    RG_TRY(rg_tape_status(d->memory));
    return rg_rnn_put_states(&mem->carried, &states, 1);
}

rg_tensor *rg_look_answer(rg_decoding *d, rg_tape *t, const rg_look *k, const rg_rnn_parts *output)
{
    rg_look_memory     *mem = d->state;
    rg_recurrent_states states;
    rg_looked           seen;
    rg_rnn_use_states(&states, t, &mem->carried, RG_LSTM, 1);
    const rg_reach     *reach = rg_reach_chosen(t, d->source_of, d->n, rg_tensor_layout(mem->cells));
    rg_tensor          *words = rg_gather(t, rg_use(t, k->table), d->tokens, d->n, NULL);
    const rg_look_state before = { states.h[0], states.c[0] };
    const rg_look_state now = rg_look_step(&seen, t, k, words, before, mem->keys, mem->cells, reach, false, d->steps);
    states.h[0] = now.h;
    states.c[0] = now.c;
    return rg_rnn_answer(d, t, output, seen.y, &states, 1);
}
