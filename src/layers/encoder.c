/* encoder.c - the table of encoders: recurrent stacks, blocks of Transformers, windows. See encoder.h. */
#include "regard/encoder.h"

#include <math.h>
#include <string.h>

enum { MOST_WINDOW = 10 }; /* rows on either side */

/* ------------------------------------------------------------------------------------------------------- recurrent */

static rg_status init_recurrent(rg_encoder *e, rg_params *p)
{
    rg_recurrent_config c = RG_RECURRENT_CONFIG_DEFAULT;
    c.kind = e->kind->cell;
    c.bidirectional = e->kind->both;
    c.in = e->in;
    c.width = (size_t)e->settings->width;
    c.depth = (size_t)e->settings->layers;
    rg_recurrent_stack_init(&e->of.recurrent, p, "encoder", &c);
    e->out = rg_recurrent_stack_width(&e->of.recurrent);
    return RG_OK;
}

static rg_tensor *run_recurrent(rg_tape *t, const rg_encoder *e, rg_tensor *x, const int32_t *segment, rg_tensor **end)
{
    rg_recurrent_states states = { 0 };
    (void)segment;
    rg_tape_push(t, "encoder");
    x = rg_recurrent_stack_run(t, &e->of.recurrent, x, end ? &states : NULL);
    rg_tape_pop(t);
    if (end) *end = states.h[e->of.recurrent.config.depth - 1];
    return x;
}

/* --------------------------------------------------------------------------------------------------------- windows */

/* The row `by` places on within the same group; -1, the zero row, outside it. */
static rg_tensor *shifted(rg_tape *t, rg_tensor *x, int64_t by)
{
    const rg_layout *l = rg_tensor_layout(x);
    if (!by || !x) return x;
    if (!l) return rg_tape_fail(t, RG_EINVAL, "rows without layout have no neighbours");
    const size_t N = rg_tensor_rows(x);
    int32_t     *at = rg_tape_memory(t, (N + 1) * sizeof *at);
    for (size_t g = 0; at && g < l->groups; g++)
        for (int64_t i = l->start[g]; i < l->start[g + 1]; i++)
            at[i] = i + by >= l->start[g] && i + by < l->start[g + 1] ? (int32_t)(i + by) : -1;
    return at ? rg_gather(t, x, at, N, l) : NULL;
}

/* Row i with the `before` rows before it and those behind it, n together, side by side. */
static rg_tensor *windows(rg_tape *t, rg_tensor *x, size_t n, size_t before)
{
    rg_tensor *part[2 * MOST_WINDOW + 1];
    for (size_t k = 0; k < n; k++) part[k] = shifted(t, x, (int64_t)k - (int64_t)before);
    return rg_concat_columns(t, n, part);
}

static rg_status init_cnn(rg_encoder *e, rg_params *p)
{
    const size_t maps = (size_t)e->settings->maps;
    for (size_t i = 0; i < RG_ENCODER_WINDOWS; i++) {
        char name[16];
        snprintf(name, sizeof name, "window.%u", (unsigned)(i + 3));
        rg_dense_init(&e->of.window[i], p, name, (i + 3) * e->in, maps, RG_RELU);
    }
    e->out = RG_ENCODER_WINDOWS * maps;
    return RG_OK;
}

/* h_i = relu([x_i-a ; ... ; x_i+b] W + c) for windows of 3, 4 and 5 rows, side by side (Kim 2014) */
static rg_tensor *run_cnn(rg_tape *t, const rg_encoder *e, rg_tensor *x, const int32_t *segment, rg_tensor **end)
{
    rg_tensor *maps[RG_ENCODER_WINDOWS];
    (void)segment, (void)end;
    for (size_t i = 0; i < RG_ENCODER_WINDOWS; i++)
        maps[i] = rg_dense_run(t, &e->of.window[i], windows(t, x, i + 3, (i + 2) / 2));
    return rg_concat_columns(t, RG_ENCODER_WINDOWS, maps);
}

static rg_status init_window(rg_encoder *e, rg_params *p)
{
    e->out = (size_t)e->settings->width;
    rg_dense_init(&e->of.window[0], p, "hidden", e->in * (2 * (size_t)e->settings->window + 1), e->out, RG_TANH);
    return RG_OK;
}

/* h_i = tanh([x_i-r ; ... ; x_i ; ... ; x_i+r] W + c), beyond the text zeros (Collobert et al. 2011) */
static rg_tensor *run_window(rg_tape *t, const rg_encoder *e, rg_tensor *x, const int32_t *segment, rg_tensor **end)
{
    const size_t r = (size_t)e->settings->window;
    (void)segment, (void)end;
    return rg_dense_run(t, &e->of.window[0], windows(t, x, 2 * r + 1, r));
}

static rg_status init_words(rg_encoder *e, rg_params *p)
{
    (void)p;
    e->out = e->in;
    return RG_OK;
}

static rg_tensor *run_words(rg_tape *t, const rg_encoder *e, rg_tensor *x, const int32_t *segment, rg_tensor **end)
{
    (void)t, (void)e, (void)segment, (void)end;
    return x;
}

/* ----------------------------------------------------------------------------------------------------- transformer */

static bool learned(const rg_encoder_settings *s) { return strcmp(s->positions, "learned") == 0; }

static rg_status init_blocks(rg_encoder *e, rg_params *p)
{
    const rg_encoder_settings *s = e->settings;
    rg_block_config            c = { .width = e->in,
                                     .hidden = s->ff ? (size_t)s->ff : 4 * e->in,
                                     .heads = (size_t)s->heads,
                                     .score = "scaled_dot",
                                     .pre = strcmp(s->norm, "pre") == 0,
                                     .epsilon = s->epsilon,
                                     .dropout = s->dropout,
                                     .dropout_attention = s->dropout_attention };
    const double               deviation = rg_encoder_deviation(s, e->in);
    RG_TRY(rg_activation_find(&c.activation, s->activation));
    e->out = e->in;
    e->of.blocks.scale = learned(s) ? 1 : sqrt((double)e->in);
    if (learned(s))
        e->of.blocks.places = rg_params_add(p, "places", RG_TABLE, (size_t)s->places, e->in, RG_INIT_NORMAL, deviation);
    if (s->segments)
        e->of.blocks.segments =
            rg_params_add(p, "segments", RG_TABLE, (size_t)s->segments, e->in, RG_INIT_NORMAL, deviation);
    if (s->entry_norm) {
        rg_norm_init(&e->of.blocks.entry, p, "entry", e->in);
        e->of.blocks.entry.epsilon = s->epsilon;
    }
    return rg_stack_init(&e->of.blocks.stack, p, "block", &c, (size_t)s->layers, false);
}

/* x + P[place] + S[segment]; where nobody says the segment, it is the first. */
static rg_tensor *enter_blocks(rg_tape *t, const rg_encoder *e, rg_tensor *x, const int32_t *segment)
{
    const rg_layout *l = rg_tensor_layout(x);
    const size_t     N = rg_tensor_rows(x), most = rg_encoder_longest(e);
    if (!l) return rg_tape_fail(t, RG_EINVAL, "rows without layout have no place in a text");
    for (size_t g = 0; most && g < l->groups; g++)
        if ((size_t)(l->start[g + 1] - l->start[g]) > most)
            return rg_tape_fail(t, RG_ELIMIT, "a text of %d tokens; the model has places for %zu",
                                l->start[g + 1] - l->start[g], most);
    if (e->of.blocks.scale != 1) x = rg_scale(t, x, e->of.blocks.scale);
    if (e->of.blocks.places) {
        const int32_t *place = rg_places(t, l);
        x = place ? rg_add(t, x, rg_gather(t, rg_use(t, e->of.blocks.places), place, N, l)) : NULL;
    } else x = rg_add_positions(t, x);
    if (e->of.blocks.segments) {
        int32_t *first = segment ? NULL : rg_tape_memory(t, (N + 1) * sizeof *first);
        if (first) memset(first, 0, (N + 1) * sizeof *first);
        if (!segment && !first) return NULL;
        x = rg_add(t, x, rg_gather(t, rg_use(t, e->of.blocks.segments), segment ? segment : first, N, l));
    }
    return e->of.blocks.entry.gain ? rg_norm_run(t, &e->of.blocks.entry, x) : x;
}

static rg_tensor *run_blocks(rg_tape *t, const rg_encoder *e, rg_tensor *x, const int32_t *segment, rg_tensor **end)
{
    const bool causal = strcmp(e->settings->reach, "causal") == 0;
    (void)end;
    if (!x) return NULL;
    x = rg_dropout(t, enter_blocks(t, e, x, segment), e->settings->dropout);
    if (!x) return NULL;
    const rg_layout *l = rg_tensor_layout(x);
    return rg_stack_run(t, &e->of.blocks.stack, "block", x, causal ? rg_reach_causal(t, l) : rg_reach_groups(t, l, l));
}

/* ----------------------------------------------------------------------------------------------------------- table */

static const rg_encoder_kind kinds[] = {
    { "rnn", RG_RNN, false, init_recurrent, run_recurrent },
    { "lstm", RG_LSTM, false, init_recurrent, run_recurrent },
    { "gru", RG_GRU, false, init_recurrent, run_recurrent },
    { "bilstm", RG_LSTM, true, init_recurrent, run_recurrent },
    { "bigru", RG_GRU, true, init_recurrent, run_recurrent },
    { "transformer", RG_RNN, false, init_blocks, run_blocks },
    { "cnn", RG_RNN, false, init_cnn, run_cnn },
    { "words", RG_RNN, false, init_words, run_words },
    { "window", RG_RNN, false, init_window, run_window },
};

rg_status rg_encoder_init(rg_encoder *out, rg_params *p, const rg_encoder_settings *s, size_t in)
{
    *out = (rg_encoder){ .settings = s, .in = in };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, s->name) == 0) out->kind = &kinds[i];
    if (!out->kind) return rg_fail(RG_EINVAL, "there is no encoder '%s'", s->name);
    return out->kind->init(out, p);
}

rg_tensor *rg_encoder_run(rg_tape *t, const rg_encoder *e, rg_tensor *x, const int32_t *segment, rg_tensor **end)
{
    if (end) *end = NULL;
    return e->kind->run(t, e, x, segment, end);
}

size_t rg_encoder_longest(const rg_encoder *e)
{
    return e->kind->run == run_blocks && e->of.blocks.places ? (size_t)e->settings->places : 0;
}

double rg_encoder_deviation(const rg_encoder_settings *s, size_t in)
{
    if (strcmp(s->name, "transformer") != 0) return 0.1;
    return learned(s) ? 0.02 : 1 / sqrt((double)in);
}
