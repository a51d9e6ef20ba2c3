/* copy_parts.c - copying words of the source. */
#include "models/copy_parts.h"

#include "tensor/kernels.h"

#include <math.h>
#include <string.h>

rg_status rg_copy_init(rg_copy *out, rg_model *m, const rg_copy_settings *s, size_t width, size_t keys)
{
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    if (!s->on) return s->hard ? rg_fail(RG_EINVAL, "--copy-switch says how to copy: give --copy too") : RG_OK;
    c.score = "general";
    c.q_width = width;
    c.k_width = keys;
    rg_params_push(m->params, "copy");
    RG_TRY(rg_attention_init(&out->att, &c, m->params));
    rg_dense_init(&out->gate, m->params, "gate", width + keys, 1, RG_IDENTITY);
    rg_params_pop(m->params);
    out->hard = s->hard;
    m->copies = true;
    return RG_OK;
}

/* What the pointer sees: the words of query i's source number group[i], not the </s> that closes it and cannot be
 * copied. */
static const rg_reach *words_of(rg_tape *t, const int32_t *group, size_t n, const rg_layout *source,
                                const int32_t *copies)
{
    int32_t *begin = rg_tape_memory(t, (2 * n + 1) * sizeof *begin), *end = begin + n;
    for (size_t i = 0; begin && i < n; i++) {
        begin[i] = source->start[group[i]];
        end[i] = source->start[group[i] + 1];
        if (end[i] > begin[i] && copies[end[i] - 1] < 0) end[i]--;
    }
    return begin ? rg_reach_intervals(t, n, (size_t)source->start[source->groups], begin, end) : NULL;
}

static const int32_t *groups_of(rg_tape *t, const rg_layout *layout)
{
    int32_t *group = rg_tape_memory(t, ((size_t)layout->start[layout->groups] + 1) * sizeof *group);
    for (size_t g = 0; group && g < layout->groups; g++)
        for (int32_t i = layout->start[g]; i < layout->start[g + 1]; i++) group[i] = (int32_t)g;
    return group;
}

/* The pointer's weights, (P, 1), and *logit of the switch, (N, 1). */
static rg_tensor *point(rg_tape *t, const rg_copy *c, rg_tensor *y, rg_tensor *keys, rg_tensor *values,
                        const rg_reach *reach, rg_tensor **logit)
{
    rg_tape_push(t, "copy");
    rg_tensor *a = rg_weigh(t, &c->att, y, keys, reach);
    rg_tensor *both[] = { y, rg_mix(t, a, values, reach) };
    *logit = both[0] && both[1] ? rg_dense_run(t, &c->gate, rg_concat_columns(t, 2, both)) : NULL;
    rg_tape_pop(t);
    return a;
}

/* -------------------------------------------------------------------------------------------------------- learning */

static const double least = 1e-30; /* keeps logarithms finite */

static rg_tensor *log_of(rg_tape *t, rg_tensor *p) { return rg_map(t, rg_shift(t, p, least), RG_LOG); }

/* For each pair the query's row where the key's word is its target, else -1. */
static const int32_t *hits(rg_tape *t, const rg_reach *reach, const rg_field *from, const rg_field *to)
{
    int32_t *row = reach ? rg_tape_memory(t, (reach->P + 1) * sizeof *row) : NULL;
    for (size_t i = 0; row && i < reach->Nq; i++)
        for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++) {
            const int32_t key = reach->begin[i] + (int32_t)(p - reach->first[i]);
            row[p] = from->copies[key] == to->ids[i] ? (int32_t)i : -1;
        }
    return row;
}

/* A column of 1 where the target is a word of the vocabulary; `hard`: also where the source has no such word. */
static rg_tensor *known_targets(rg_tape *t, const rg_field *to, size_t V, const int32_t *hit, const rg_reach *reach,
                                bool hard)
{
    const size_t N = rg_field_rows(to);
    rg_real     *known = rg_tape_memory(t, (N + 1) * sizeof *known);
    for (size_t i = 0; known && i < N; i++) {
        bool there = false;
        for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++) there = there || hit[p] >= 0;
        known[i] = (size_t)to->ids[i] < V || (hard && !there) ? 1 : 0;
    }
    return known ? rg_borrow(t, known, N, 1, 1) : NULL;
}

static const int32_t *within(rg_tape *t, const rg_field *to, size_t V)
{
    const size_t N = rg_field_rows(to);
    int32_t     *ids = rg_tape_memory(t, (N + 1) * sizeof *ids);
    for (size_t i = 0; ids && i < N; i++) ids[i] = (size_t)to->ids[i] < V ? to->ids[i] : 0;
    return ids;
}

/* -log (s p(w) + (1 - s) q) of each row */
static rg_tensor *mixture_rows(rg_tape *t, rg_tensor *s, rg_tensor *entropy, rg_tensor *known, rg_tensor *copied)
{
    rg_tensor *p = rg_mul(t, rg_mul(t, rg_map(t, rg_scale(t, entropy, -1), RG_EXP), known), s);
    rg_tensor *q = rg_mul(t, copied, rg_shift(t, rg_scale(t, s, -1), 1));
    return rg_scale(t, log_of(t, rg_add(t, p, q)), -1);
}

/* known (entropy - log s) - (1 - known) (log (1 - s) + log q) */
static rg_tensor *switch_rows(rg_tape *t, rg_tensor *s, rg_tensor *entropy, rg_tensor *known, rg_tensor *copied)
{
    rg_tensor *other = rg_shift(t, rg_scale(t, known, -1), 1);
    rg_tensor *generated = rg_sub(t, entropy, log_of(t, s));
    rg_tensor *pointed = rg_add(t, log_of(t, rg_shift(t, rg_scale(t, s, -1), 1)), log_of(t, copied));
    return rg_sub(t, rg_mul(t, generated, known), rg_mul(t, pointed, other));
}

rg_loss rg_copy_loss(rg_tape *t, const rg_copy *c, rg_tensor *y, rg_tensor *w, rg_tensor *b, rg_tensor *source,
                     const rg_batch *batch, double smoothing)
{
    const rg_field *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    if (!from->copies) return rg_answer_loss(t, y, w, b, to, smoothing);
    const size_t    N = rg_field_rows(to), V = w ? rg_tensor_rows(w) : 0;
    const int32_t  *group = groups_of(t, &to->layout);
    const rg_reach *reach = group ? words_of(t, group, N, &from->layout, from->copies) : NULL;
    rg_tensor      *logit, *a = point(t, c, y, rg_attention_prepare(t, &c->att, source), source, reach, &logit),
                      *s = rg_sigmoid(t, logit);
    const int32_t  *hit = a ? hits(t, reach, from, to) : NULL, *ids = within(t, to, V);
    if (!hit || !ids) return (rg_loss){ NULL, 0 };
    rg_tape_watch(t, "copy.switch", s, NULL);
    rg_tensor *entropy =
        rg_cross_entropy_rows(t, rg_linear_nt(t, y, w, b), ids, c->hard && rg_tape_learning(t) ? smoothing : 0, NULL);
    rg_tensor *copied = rg_scatter(t, a, hit, N, NULL), *known = known_targets(t, to, V, hit, reach, c->hard);
    rg_tensor *rows = (c->hard ? switch_rows : mixture_rows)(t, s, entropy, known, copied);
    if (to->weights) rows = rg_mul(t, rows, rg_borrow(t, to->weights, N, 1, 1));
    if (rows) rg_tape_watch(t, "losses", rows, NULL);
    return (rg_loss){ rg_sum(t, rows), (double)N };
}

/* -------------------------------------------------------------------------------------------------------- decoding */

rg_copy_memory rg_copy_start(rg_decoding *d, const rg_copy *c, rg_tensor *source)
{
    const size_t   n = (size_t)d->sources.start[d->sources.groups];
    rg_copy_memory m = { .extra = d->source.extra };
    int32_t       *copies = d->source.copies ? rg_tape_memory(d->memory, (n + 1) * sizeof *copies) : NULL;
    if (!copies) return m;
    memcpy(copies, d->source.copies, n * sizeof *copies);
    m.copies = copies;
    m.keys = rg_attention_prepare(d->memory, &c->att, source);
    m.values = source;
    return m;
}

typedef struct {
    double  *mass; /* (V + extra) zeros: what each word gets */
    int32_t *touched;
    size_t   count;
} touched_words;

/* One row: the logits with what is copied in them. Their sum of exponentials stays what it was. */
static void mix_row(rg_real *out, const rg_real *logits, size_t V, size_t extra, double s, bool hard, touched_words *w)
{
    const double  lse = (double)rg_kernel()->softmax(V, NULL, logits);
    const bool    pointing = hard ? s <= 0.5 : s < 1;
    const rg_real moved = (rg_real)(hard ? 0 : log(s));
    for (size_t v = 0; v < V; v++) out[v] = hard && pointing ? (rg_real)-INFINITY : logits[v] + moved;
    for (size_t v = V; v < V + extra; v++) out[v] = (rg_real)-INFINITY;
    for (size_t k = 0; k < w->count; k++) {
        const size_t v = (size_t)w->touched[k];
        const double made = hard || v >= V ? 0 : s * exp((double)logits[v] - lse),
                     p = made + (hard ? 1 : 1 - s) * w->mass[v];
        if (pointing && p > 0) out[v] = (rg_real)(lse + log(p));
        w->mass[v] = 0;
    }
    w->count = 0;
}

static void gather_row(touched_words *w, const rg_tensor *a, const rg_reach *reach, size_t i, const int32_t *copies)
{
    for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++) {
        const int32_t v = copies[reach->begin[i] + (int32_t)(p - reach->first[i])];
        if (v < 0) continue;
        if (w->mass[v] == 0) w->touched[w->count++] = v;
        w->mass[v] += (double)rg_tensor_at(a, p, 0) + 1e-300; /* above 0: it was touched */
    }
}

rg_tensor *rg_copy_step(rg_decoding *d, rg_tape *t, const rg_copy *c, const rg_copy_memory *m, rg_tensor *y,
                        rg_tensor *logits)
{
    if (!m->copies || !logits) return logits;
    const size_t n = d->n, V = rg_tensor_cols(logits), width = V + m->extra,
                 longest = (size_t)d->sources.start[d->sources.groups];
    const rg_reach *reach = words_of(t, d->source_of, d->n, &d->sources, m->copies);
    rg_tensor      *logit, *a = point(t, c, y, m->keys, m->values, reach, &logit), *s = rg_sigmoid(t, logit);
    rg_real        *out = rg_tape_memory(t, (n * width + 1) * sizeof *out);
    touched_words   words = { rg_tape_memory(t, width * sizeof *words.mass),
                              rg_tape_memory(t, (longest + 1) * sizeof *words.touched), 0 };
    if (!a || !s || !out || !words.mass || !words.touched) return NULL;
    memset(words.mass, 0, width * sizeof *words.mass);
    rg_tape_watch(t, "copy.switch", s, NULL);
    for (size_t i = 0; i < n; i++) {
        gather_row(&words, a, reach, i, m->copies);
        mix_row(out + i * width, rg_tensor_row(logits, i), V, m->extra, (double)rg_tensor_at(s, i, 0), c->hard, &words);
    }
    return rg_borrow(t, out, n, width, width);
}
