/* recurrent_parts.c - what the recurrent translators share. */
#include "models/recurrent_parts.h"

#include "attention/reach.h"
#include "models/copy_parts.h"

#include <math.h>
#include <string.h>

static rg_status find_combine(rg_combine *out, const char *name)
{
    *out = name[0] == 'c'   ? RG_COMBINE_CONCAT
           : name[0] == 'a' ? RG_COMBINE_ADD
                            : RG_COMBINE_MULTIPLY; /* the option's row allows no other */
    return RG_OK;
}

double rg_rnn_deviation(const rg_rnn_settings *s) { return s->tied && !s->scaled ? 0.4 : 1; }

/* Embedded words start with the deviation that the system asks for. A tied table is the output's matrix too, where rows
 * of that deviation make the first logits sqrt(d) times as wide: a scaled one starts at deviation / sqrt(d), and words
 * are multiplied by sqrt(d) when they are looked up. */
static void build_tables(rg_rnn_parts *out, rg_model *m, size_t d, bool tied, bool scaled, double deviation)
{
    const size_t V = rg_model_size(m, "target-vocabulary");
    const double first = tied && scaled ? deviation / sqrt((double)d) : deviation;
    out->scale = tied && scaled ? sqrt((double)d) : 1;
    out->source = rg_params_add(m->params, "source.embedding", RG_TABLE, rg_model_size(m, "source-vocabulary"), d,
                                RG_INIT_NORMAL, deviation);
    out->target = rg_params_add(m->params, "target.embedding", tied ? RG_TIED : RG_TABLE, V, d, RG_INIT_NORMAL, first);
}

rg_status rg_rnn_check_depths(const rg_rnn_settings *s)
{
    if (s->encoder >= 1 && s->encoder <= RG_RECURRENT_DEPTH && s->decoder >= 1 && s->decoder <= RG_RECURRENT_DEPTH)
        return RG_OK;
    return rg_fail(RG_EINVAL, "enc-depth %lld and dec-depth %lld must lie in 1 .. %d", (long long)s->encoder,
                   (long long)s->decoder, RG_RECURRENT_DEPTH);
}

rg_status rg_rnn_build_tables(rg_rnn_parts *out, rg_model *m, const rg_rnn_settings *s, size_t answer, double deviation)
{
    RG_TRY(rg_recurrence_find(&out->cell, s->cell));
    RG_TRY(rg_answer_vocabulary_check(s->vocabulary));
    out->model = m;
    const size_t d = (size_t)s->d, V = rg_model_size(m, "target-vocabulary");
    const bool   tied = s->tied && answer == d;
    if (s->tied && !tied)
        return rg_fail(RG_EINVAL, "--tied-embeddings needs embeddings as wide as what is answered from: %zu, not %zu",
                       answer, d);
    build_tables(out, m, d, tied, s->scaled, deviation);
    out->output = tied ? out->target : rg_params_add(m->params, "output", RG_TIED, V, answer, RG_INIT_GLOROT, 1);
    out->output_bias = rg_params_add(m->params, "output.bias", RG_VECTOR, 1, V, RG_INIT_ZERO, 0);
    return RG_OK;
}

rg_status rg_rnn_build(rg_rnn_parts *out, rg_model *m, const rg_rnn_settings *s, size_t answer, double deviation)
{
    if (s->encoder < 1 || s->encoder > RG_RECURRENT_DEPTH)
        return rg_fail(RG_EINVAL, "enc-depth %lld must lie in 1 .. %d", (long long)s->encoder, RG_RECURRENT_DEPTH);
    RG_TRY(rg_rnn_build_tables(out, m, s, answer, deviation));
    rg_recurrent_config c = RG_RECURRENT_CONFIG_DEFAULT;
    c.kind = out->cell;
    c.in = (size_t)s->d;
    c.width = (size_t)s->width;
    c.depth = (size_t)s->encoder;
    c.bidirectional = s->bidirectional;
    c.dropout = s->dropout;
    RG_TRY(find_combine(&c.combine, s->combine));
    rg_recurrent_stack_init(&out->encoder, m->params, "encoder", &c);
    return RG_OK;
}

/* Each sentence backwards, the closing </s> still last: where row i of the other order stands. Its own inverse. */
static const int32_t *mirror(rg_tape *t, const rg_layout *layout)
{
    int32_t *out = rg_tape_memory(t, ((size_t)layout->start[layout->groups] + 1) * sizeof *out);
    for (size_t g = 0; out && g < layout->groups; g++) {
        const int32_t from = layout->start[g], to = layout->start[g + 1] - 1; /* `to` is </s> */
        for (int32_t i = from; i < to; i++) out[i] = to - 1 - (i - from);
        if (to >= from) out[to] = to;
    }
    return out;
}

static const int32_t *reversed(rg_tape *t, const int32_t *ids, const rg_layout *layout)
{
    const size_t   n = (size_t)layout->start[layout->groups];
    const int32_t *row = mirror(t, layout);
    int32_t       *out = row ? rg_tape_memory(t, (n + 1) * sizeof *out) : NULL;
    for (size_t i = 0; out && i < n; i++) out[i] = ids[row[i]];
    return out;
}

/* For who watches gates: which word of the sentence each row is. */
static void show_order(rg_tape *t, const int32_t *from, const rg_layout *layout)
{
    const size_t n = (size_t)layout->start[layout->groups];
    rg_real     *row = rg_tape_watched(t, "gates") ? rg_tape_memory(t, (n + 1) * sizeof *row) : NULL;
    for (size_t i = 0; row && i < n; i++) row[i] = (rg_real)from[i];
    if (row) rg_tape_watch(t, "gates.order", rg_constant(t, row, n, 1, layout), NULL);
}

rg_tensor *rg_rnn_read(rg_tape *t, const rg_rnn_parts *p, const rg_rnn_settings *s, const int32_t *ids,
                       const rg_layout *layout, rg_recurrent_states *ends)
{
    rg_tape_push(t, "encoder");
    const int32_t *from = s->reverse ? mirror(t, layout) : NULL;
    if (s->reverse) ids = reversed(t, ids, layout);
    rg_tensor *x = ids ? rg_gather(t, rg_use(t, p->source), ids, (size_t)layout->start[layout->groups], layout) : NULL;
    x = rg_tape_offer(t, "inputs", x, from);
    if (from) show_order(t, from, layout);
    rg_tensor *h = x ? rg_recurrent_stack_run(t, &p->encoder, x, ends) : NULL; /* drops what goes into each layer */
    rg_tape_pop(t);
    return h;
}

bool rg_rnn_reads_mirrored(const rg_rnn_settings *s) { return s->reverse && s->order[0] == 'r'; } /* reading */

rg_tensor *rg_rnn_turn(rg_tape *t, const rg_rnn_settings *s, rg_tensor *h, const rg_layout *layout)
{
    if (!h || !s->reverse || rg_rnn_reads_mirrored(s)) return h;
    const int32_t *row = mirror(t, layout);
    return row ? rg_gather(t, h, row, rg_tensor_rows(h), layout) : NULL;
}

rg_tensor *rg_rnn_words(rg_tape *t, const rg_rnn_parts *p, const int32_t *ids, size_t n, const rg_layout *layout)
{
    rg_tensor *y = rg_gather(t, rg_use(t, p->target), ids, n, layout);
    return p->scale == 1 ? y : rg_scale(t, y, p->scale);
}

rg_tensor *rg_rnn_embed(rg_tape *t, const rg_rnn_parts *p, const rg_rnn_settings *s, const int32_t *ids, size_t n,
                        const rg_layout *layout)
{
    return rg_dropout(t, rg_rnn_words(t, p, ids, n, layout), s->dropout);
}

rg_loss rg_rnn_loss(rg_tape *t, const rg_rnn_parts *p, const rg_rnn_settings *s, rg_tensor *y, const rg_batch *batch)
{
    y = rg_dropout(t, y, s->dropout);
    return rg_answer_loss_over(t, p->model, y, rg_use(t, p->output), rg_use(t, p->output_bias), batch, s->smoothing,
                               s->vocabulary);
}

rg_loss rg_rnn_copy_loss(rg_tape *t, const rg_rnn_parts *p, const rg_rnn_settings *s, const rg_copy *copy, rg_tensor *y,
                         rg_tensor *h, const rg_batch *batch)
{
    if (!copy) return rg_rnn_loss(t, p, s, y, batch);
    y = rg_dropout(t, y, s->dropout);
    return rg_copy_loss(t, copy, y, rg_use(t, p->output), rg_use(t, p->output_bias), h, batch, s->smoothing);
}

/* ------------------------------------------------------------------------------------------------------ attention */

rg_status rg_rnn_attention(rg_attention *out, rg_param **out_key, rg_model *m, const char *score,
                           const char *activation, size_t q, size_t keys, size_t hidden)
{
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    const rg_score     *row = rg_score_find(score); /* a name that is none fails below */
    const bool          project = keys != q && row && row->one_width;
    c.score = score;
    c.q_width = q;
    c.k_width = project ? q : keys;
    c.hidden = hidden;
    c.learned = true; /* cosine's sharpness, the distance's bandwidth */
    c.sharpness = 4;
    rg_params_push(m->params, "attention");
    *out_key = project ? rg_params_add(m->params, "key", RG_WEIGHT, keys, q, RG_INIT_GLOROT, 1) : NULL;
    RG_TRY(rg_attention_init(out, &c, m->params));
    RG_TRY(rg_attention_activate(out, activation));
    rg_params_pop(m->params);
    return RG_OK;
}

rg_tensor *rg_rnn_keys(rg_tape *t, const rg_attention *att, const rg_param *key, rg_tensor *h)
{
    return rg_attention_prepare(t, att, key ? rg_matmul(t, h, rg_use(t, key)) : h);
}

void rg_rnn_watch(rg_tape *t, rg_tensor *a, const rg_reach *near, const rg_reach *whole)
{
    const size_t H = a ? rg_tensor_cols(a) : 0;
    if (a && near && near == whole && rg_tape_watched(t, "weights")) { /* rows in another order, with their gradient */
        int32_t *row = rg_tape_memory(t, (whole->P + 1) * sizeof *row);
        for (size_t i = 0; row && i < whole->Nq; i++) {
            const size_t first = whole->first[i], S = whole->first[i + 1] - first;
            for (size_t k = 0; k < S; k++) row[first + k] = (int32_t)(first + (k + 1 == S ? k : S - 2 - k));
        }
        if (row) rg_tape_watch(t, "weights", rg_gather(t, a, row, whole->P, NULL), whole);
        return;
    }
    rg_real     *w =
        a && near && whole && rg_tape_watched(t, "weights") ? rg_tape_memory(t, (whole->P * H + 1) * sizeof *w) : NULL;
    if (!w) return;
    memset(w, 0, whole->P * H * sizeof *w);
    for (size_t i = 0; i < near->Nq; i++)
        for (size_t p = near->first[i]; p < near->first[i + 1]; p++) {
            const size_t S = whole->first[i + 1] - whole->first[i]; /* words and </s>, which is the last in both orders */
            const size_t read = (size_t)(near->begin[i] - whole->begin[i]) + (p - near->first[i]),
                         place = read + 1 == S ? read : S - 2 - read;
            memcpy(w + (whole->first[i] + place) * H, rg_tensor_row(a, p), H * sizeof *w);
        }
    rg_tape_watch(t, "weights", rg_borrow(t, w, whole->P, H, H), whole);
}

rg_tensor *rg_rnn_mix(rg_tape *t, const rg_rnn_settings *s, rg_tensor *a, rg_tensor *v, const rg_reach *reach)
{
    if (!v || !rg_rnn_reads_mirrored(s) || !rg_tape_exchanged(t, "values")) return rg_mix(t, a, v, reach);
    const rg_layout *source = rg_tensor_layout(v);
    const int32_t   *row = source ? mirror(t, source) : NULL;
    if (!row) return rg_tape_fail(t, RG_EINVAL, "values without layout cannot be turned round");
    const size_t n = rg_tensor_rows(v);
    rg_tensor   *as_written = rg_tape_offer(t, "values", rg_gather(t, v, row, n, source), reach);
    return rg_mix__as_given(t, a, rg_gather(t, as_written, row, n, source), reach, false);
}

rg_tensor *rg_rnn_attend(rg_tape *t, const rg_rnn_settings *s, const rg_attention *att, rg_tensor *q, rg_tensor *k,
                         rg_tensor *v, const rg_reach *whole)
{
    const bool plain = !rg_tape_watched(t, "weights") && !rg_tape_exchanged(t, "values");
    if (!rg_rnn_reads_mirrored(s) || plain) return rg_attend(t, att, q, k, v, whole);
    rg_tensor *a = rg_softmax_over(t, rg_scores(t, att, q, k, whole), whole);
    if (rg_tape_watched(t, "weights")) rg_rnn_watch(t, a, whole, whole);
    return rg_rnn_mix(t, s, a, v, whole);
}

const rg_reach *rg_rnn_reach_step(rg_tape *t, const rg_steps *steps, size_t step, const rg_layout *source)
{
    return rg_answer_reach_groups(t, steps->order, (size_t)steps->count[step], source);
}

const rg_reach *rg_rnn_reach_sources(rg_tape *t, const rg_decoding *d) { return rg_answer_reach(t, d); }

/* ------------------------------------------------------------------------------------------------------- decoding */

rg_status rg_rnn_put_states(rg_step_state *carried, const rg_recurrent_states *states, size_t depth)
{
    for (size_t l = 0; l < depth; l++) {
        RG_TRY(rg_step_state_put(carried, 2 * l, states->h[l]));
        if (states->c[l]) RG_TRY(rg_step_state_put(carried, 2 * l + 1, states->c[l]));
    }
    return RG_OK;
}

void rg_rnn_use_states(rg_recurrent_states *out, rg_tape *t, const rg_step_state *carried, rg_recurrence cell,
                       size_t depth)
{
    *out = (rg_recurrent_states){ 0 };
    for (size_t l = 0; l < depth; l++) {
        out->h[l] = rg_step_state_use(t, carried, 2 * l);
        if (cell == RG_LSTM) out->c[l] = rg_step_state_use(t, carried, 2 * l + 1);
    }
}

rg_tensor *rg_rnn_answer(rg_decoding *d, rg_tape *t, const rg_rnn_parts *p, rg_tensor *y,
                         const rg_recurrent_states *states, size_t depth)
{
    rg_tensor *logits = y ? rg_answer_logits(d, t, y, p->output, p->output_bias) : NULL;
    if (logits && rg_rnn_put_states(d->state, states, depth) != RG_OK)
        return rg_tape_fail(t, RG_ENOMEM, "no memory for the states of %zu hypotheses", d->n);
    return logits;
}

rg_status rg_rnn_keep(rg_decoding *d, const int32_t *parents, size_t n)
{
    return rg_step_state_keep(d->state, parents, n);
}
void      rg_rnn_finish(rg_decoding *d) { rg_step_state_fini(d->state); }
