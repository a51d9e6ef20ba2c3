/* set_parts.c - see set_parts.h. */
#include "models/set_parts.h"

#include <math.h>

#include "autograd/tape.h"
#include "layers/set_losses.h"

rg_status rg_set_writer_build(rg_set_writer *w, rg_model *m, const rg_set_settings *s, size_t cells, bool recurrent)
{
    const size_t    d = (size_t)s->d;
    rg_block_config c = { .width = d,
                          .hidden = (size_t)s->hidden,
                          .heads = (size_t)s->heads,
                          .score = "scaled_dot",
                          .activation = RG_RELU,
                          .pre = true,
                          .dropout = s->dropout };
    *w = (rg_set_writer){ .recurrent = recurrent, .shuffle = s->shuffle, .dropout = s->dropout };
    w->classes = rg_model_size(m, "classes");
    w->most = rg_model_size(m, "most-members") ? rg_model_size(m, "most-members") : 1;
    if (recurrent) {
        w->look = (rg_look){ .kind = RG_LOOK_SOFT, .gated = true, .temperature = 1, .dropout = s->dropout };
        RG_TRY(rg_look_build(&w->look, m, w->classes + 1, d, (size_t)s->width, cells));
    } else {
        w->table = rg_params_add(m->params, "embedding", RG_TABLE, w->classes + 1, d, RG_INIT_NORMAL, 0.3);
        rg_dense_init(&w->cells, m->params, "cells", cells, d, RG_IDENTITY);
        RG_TRY(rg_stack_init(&w->blocks, m->params, "decoder", &c, (size_t)s->depth, true));
    }
    rg_dense_init(&w->output, m->params, "output", d, w->classes + 1, RG_IDENTITY);
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------------- rows */

/* Rows of all pictures: what each reads, in groups. */
typedef struct {
    const rg_layout *layout;
    const int32_t   *read;
} writing;

static rg_tensor *run_blocks(rg_tape *t, const rg_set_writer *w, const writing *x, rg_tensor *cells)
{
    const rg_reach *past = rg_reach_causal(t, x->layout),
                   *seen = cells ? rg_reach_groups(t, x->layout, rg_tensor_layout(cells)) : NULL;
    rg_tensor      *see = rg_dense_run(t, &w->cells, cells);
    rg_tensor      *y = rg_dropout(
             t, rg_gather(t, rg_use(t, w->table), x->read, (size_t)x->layout->start[x->layout->groups], x->layout),
             w->dropout);
    for (size_t i = 0; i < w->blocks.depth; i++) {
        rg_tensor *k, *v;
        rg_tape_push(t, "decoder.%zu", i);
        y = rg_block_self(t, &w->blocks, i, y, past);
        rg_heads_memory(t, &w->blocks.block[i].cross, see, &k, &v);
        rg_tape_push(t, "look");
        y = rg_block_cross(t, &w->blocks, i, y, k, v, seen);
        rg_tape_pop(t);
        y = rg_block_feed_forward(t, &w->blocks, i, y);
        rg_tape_pop(t);
    }
    return rg_stack_end(t, &w->blocks, y);
}

static rg_tensor *run_look(rg_tape *t, const rg_set_writer *w, const writing *x, rg_tensor *cells)
{
    int32_t *of = rg_tape_memory(t, (x->layout->groups + 1) * sizeof *of);
    if (!of) return NULL;
    for (size_t g = 0; g < x->layout->groups; g++) of[g] = (int32_t)g;
    const rg_texts texts = { x->layout, of, x->layout->groups };
    return rg_look_run(t, &w->look, cells, &texts, x->read, x->layout->first, false).y;
}

/* Logits (rows, C + 1), those of labels that stand before a row far below all others. */
static rg_tensor *run(rg_tape *t, const rg_set_writer *w, const writing *x, rg_tensor *cells)
{
    const size_t C = w->classes, rows = (size_t)x->layout->start[x->layout->groups];
    rg_real     *barred = rg_tape_memory(t, (rows * (C + 1) + 1) * sizeof *barred);
    if (!barred) return NULL;
    memset(barred, 0, rows * (C + 1) * sizeof *barred);
    for (size_t g = 0; g < x->layout->groups; g++)
        for (int32_t i = x->layout->start[g]; i < x->layout->start[g + 1]; i++)
            for (int32_t k = x->layout->start[g]; k <= i; k++)
                if (x->read[k] < (int32_t)C) barred[(size_t)i * (C + 1) + (size_t)x->read[k]] = -1e4f;
    rg_tensor *y = w->recurrent ? run_look(t, w, x, cells) : run_blocks(t, w, x, cells);
    return rg_add(t, rg_dense_run(t, &w->output, rg_dropout(t, y, w->dropout)),
                  rg_constant(t, barred, rows, C + 1, NULL));
}

/* --------------------------------------------------------------------------------------------------------- learning */

rg_real *rg_set_targets(rg_tape *t, const rg_field *set, size_t C)
{
    rg_real *y = rg_tape_memory(t, (set->layout.groups * C + 1) * sizeof *y);
    if (!y) return NULL;
    memset(y, 0, set->layout.groups * C * sizeof *y);
    for (size_t g = 0; g < set->layout.groups; g++)
        for (int32_t i = set->layout.start[g]; i < set->layout.start[g + 1]; i++) y[g * C + (size_t)set->ids[i]] = 1;
    return y;
}

/* Fisher and Yates, by numbers of (seed, step, row in the whole batch). */
static void mix(int32_t *ids, size_t n, const uint32_t key[2], uint64_t stream, uint64_t first)
{
    for (size_t i = n; i > 1; i--) {
        const uint64_t at = first + i;
        const uint32_t counter[4] = { (uint32_t)at, (uint32_t)(at >> 32) ^ (uint32_t)stream, (uint32_t)n, 0x736574 };
        uint32_t       out[4];
        rg_philox(out, counter, key);
        const size_t  k = out[0] % i;
        const int32_t swap = ids[i - 1];
        ids[i - 1] = ids[k], ids[k] = swap;
    }
}

rg_tensor *rg_set_writer_loss(rg_tape *t, const rg_model *m, const rg_set_writer *w, const rg_field *set,
                              rg_tensor *cells)
{
    const size_t G = set->layout.groups, rows = (size_t)set->layout.start[G] + G;
    int32_t     *read = rg_tape_memory(t, (rows + 1) * sizeof *read),
            *answer = rg_tape_memory(t, (rows + 1) * sizeof *answer),
            *start = rg_tape_memory(t, (G + 1) * sizeof *start);
    uint32_t     key[2] = { 0, 0 };
    (void)m;
    if (!read || !answer || !start) return NULL;
    const bool     shuffle = w->shuffle && rg_tape_learning(t);
    const uint64_t stream = shuffle ? rg_tape__draw(t, key) : 0;
    for (size_t g = 0; g < G; g++) {
        const int32_t from = set->layout.start[g], n = set->layout.start[g + 1] - from;
        start[g] = from + (int32_t)g;
        memcpy(answer + start[g], set->ids + from, (size_t)n * sizeof *answer);
        if (shuffle) mix(answer + start[g], (size_t)n, key, stream, set->layout.first + (uint64_t)from);
        answer[start[g] + n] = (int32_t)w->classes;
        read[start[g]] = (int32_t)w->classes;
        memcpy(read + start[g] + 1, answer + start[g], (size_t)n * sizeof *read);
    }
    start[G] = (int32_t)rows;
    const writing x = { rg_tape_layout(t, G, start), read };
    rg_tensor    *logits = x.layout ? run(t, w, &x, cells) : NULL;
    rg_tape_watch(t, "logits", logits, NULL);
    return logits ? rg_cross_entropy(t, logits, answer, 0) : NULL;
}

/* -------------------------------------------------------------------------------------------------------- by itself */

typedef struct {
    int32_t *label; /* (pictures, most): what was written; -1 from the end on */
    rg_real *p;     /* the probability of each                                */
    size_t   steps;
} written;

/* The likeliest answer of a row, and its probability. */
static size_t likeliest(double *out_p, const rg_tensor *logits, size_t row, size_t count)
{
    size_t best = 0;
    double sum = 0;
    for (size_t c = 1; c < count; c++)
        if (rg_tensor_at(logits, row, c) > rg_tensor_at(logits, row, best)) best = c;
    for (size_t c = 0; c < rg_tensor_cols(logits); c++)
        sum += exp((double)rg_tensor_at(logits, row, c) - (double)rg_tensor_at(logits, row, best));
    *out_p = 1 / sum;
    return best;
}

/* Write greedily; `through`: past the end too, label after label. All pictures together, each by itself. */
static bool write_sets(written *out, rg_tape *t, const rg_set_writer *w, rg_tensor *cells, size_t G, bool through)
{
    const size_t C = w->classes, most = w->most < C ? w->most : C;
    out->steps = most;
    out->label = rg_tape_memory(t, (G * most + 1) * sizeof *out->label);
    out->p = rg_tape_memory(t, (G * most + 1) * sizeof *out->p);
    if (!out->label || !out->p) return false;
    for (size_t i = 0; i < G * most; i++) out->label[i] = -1, out->p[i] = 0;
    for (size_t s = 0; s < most; s++) {
        int32_t *read = rg_tape_memory(t, (G * (s + 1) + 1) * sizeof *read),
                *start = rg_tape_memory(t, (G + 1) * sizeof *start);
        if (!read || !start) return false;
        for (size_t g = 0; g <= G; g++) start[g] = (int32_t)(g * (s + 1));
        for (size_t g = 0; g < G; g++)
            for (size_t k = 0; k <= s; k++) {
                const int32_t before = k ? out->label[g * most + k - 1] : -1;
                read[g * (s + 1) + k] = before < 0 ? (int32_t)C : before;
            }
        const writing    x = { rg_tape_layout(t, G, start), read };
        const rg_tensor *logits = x.layout ? run(t, w, &x, cells) : NULL;
        if (!logits) return false;
        for (size_t g = 0; g < G; g++) {
            double p = 0;
            if (s && out->label[g * most + s - 1] < 0) continue; /* it has ended */
            const size_t best = rg_tape_dry(t) ? s : likeliest(&p, logits, g * (s + 1) + s, through ? C : C + 1);
            if (best == C) continue;
            out->label[g * most + s] = (int32_t)best;
            out->p[g * most + s] = (rg_real)p;
        }
    }
    return true;
}

rg_tensor *rg_set_writer_pooled_loss(rg_tape *t, const rg_model *m, const rg_set_writer *w, const rg_field *set,
                                     rg_tensor *cells)
{
    const size_t G = set->layout.groups, C = w->classes;
    written      own;
    if (!cells) return NULL;
    if (rg_tape_watched(t, "decoder.0.look.cross.weights") || rg_tape_watched(t, "logits"))
        return rg_set_writer_loss(t, m, w, set, cells);
    const bool recorded = rg_tape_record(t, false), learned = rg_tape_learn(t, false);
    const bool good = write_sets(&own, t, w, cells, G, true);
    rg_tape_record(t, recorded);
    rg_tape_learn(t, learned);
    const size_t steps = own.steps + 1;
    int32_t     *read = good ? rg_tape_memory(t, (G * steps + 1) * sizeof *read) : NULL,
            *start = rg_tape_memory(t, (G + 1) * sizeof *start);
    rg_real     *y = rg_set_targets(t, set, C);
    if (!read || !start || !y) return NULL;
    for (size_t g = 0; g <= G; g++) start[g] = (int32_t)(g * steps);
    for (size_t g = 0; g < G; g++) {
        read[g * steps] = (int32_t)C;
        memcpy(read + g * steps + 1, own.label + g * own.steps, own.steps * sizeof *read);
    }
    const writing x = { rg_tape_layout(t, G, start), read };
    return x.layout ? rg_pooled_set_loss(t, run(t, w, &x, cells), y, steps) : NULL;
}

rg_tensor *rg_set_writer_answer(rg_tape *t, const rg_model *m, const rg_set_writer *w, rg_tensor *cells)
{
    const size_t G = cells ? rg_tensor_layout(cells)->groups : 0, C = w->classes;
    rg_real     *out = rg_tape_memory(t, (G * C + 1) * sizeof *out);
    written      own;
    (void)m;
    if (!cells || !out || !write_sets(&own, t, w, cells, G, false)) return NULL;
    memset(out, 0, G * C * sizeof *out);
    for (size_t i = 0; i < G * own.steps; i++)
        if (own.label[i] >= 0)
            out[i / own.steps * C + (size_t)own.label[i]] = (rg_real)0.5 + (rg_real)fmax(1e-6, (double)own.p[i]) / 2;
    return rg_constant(t, out, G, C, NULL);
}
