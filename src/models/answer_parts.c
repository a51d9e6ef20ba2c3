/* answer_parts.c - the end of every translator. */
#include "models/answer_parts.h"
#include "autograd/picked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RG_DRAWN_ALL = 1000 }; /* so many draws per word: all words are among them */

rg_loss rg_answer_loss(rg_tape *t, rg_tensor *y, rg_tensor *w, rg_tensor *b, const rg_field *target, double smoothing)
{
    const double count = (double)rg_field_rows(target);
    if (target->weights)
        return (rg_loss){ rg_cross_entropy_over_rows(t, y, w, b, target->ids, 0, target->weights, NULL), count };
    return (rg_loss){ rg_cross_entropy_over(t, y, w, b, target->ids, rg_tape_learning(t) ? smoothing : 0, 1), count };
}

typedef struct {
    enum { ALL,
           BATCH,
           SAMPLED,
           NONE } kind;
    size_t n;
} range;

/* "all", "batch:N", "sampled:N". */
static range range_of(const char *vocabulary)
{
    const char *colon = strchr(vocabulary, ':');
    char       *end = NULL;
    if (strcmp(vocabulary, "all") == 0) return (range){ ALL, 0 };
    const bool      batch = strncmp(vocabulary, "batch:", 6) == 0, sampled = strncmp(vocabulary, "sampled:", 8) == 0;
    const long long n = colon ? strtoll(colon + 1, &end, 10) : -1;
    if ((!batch && !sampled) || end == colon + 1 || *end || n < (sampled ? 1 : 0) || n > 100000000)
        return (range){ NONE, 0 };
    return (range){ batch ? BATCH : SAMPLED, (size_t)n };
}

rg_status rg_answer_vocabulary_check(const char *vocabulary)
{
    return range_of(vocabulary).kind != NONE
               ? RG_OK
               : rg_fail(RG_EINVAL, "--output-vocabulary %s: all, batch:N such as batch:2000, or sampled:N", vocabulary);
}

/* q(v) = log((v + 2) / (v + 1)) / log(V + 1): words are numbered by how frequent they are. */
static double zipf(size_t v, size_t V) { return log((double)(v + 2) / (double)(v + 1)) / log((double)V + 1); }

/* Mark n words drawn by q. On a dry tape nothing is drawn: the first words count. */
static void mark_drawn(int32_t *place, rg_tape *t, size_t V, size_t n)
{
    const bool       dry = rg_tape_dry(t);
    const rg_tensor *u = dry || n >= RG_DRAWN_ALL * V ? NULL : rg_uniform(t, n, 1, NULL);
    for (size_t i = 0; u && i < n; i++) {
        const size_t v = (size_t)(exp((double)rg_tensor_at(u, i, 0) * log((double)V + 1)) - 1);
        place[v < V ? v : V - 1] = 0;
    }
    for (size_t v = 0; !u && v < V && v < n; v++) place[v] = 0;
}

/* The words the softmax ranges over, rising, in words[0 .. returned), and in place[] where each word of the
 * vocabulary stands among them. */
static size_t choose_words(int32_t *words, int32_t *place, rg_tape *t, size_t V, range r, const rg_field *target,
                           const rg_field *source)
{
    size_t n = 0;
    for (size_t v = 0; v < V; v++) place[v] = r.kind == BATCH && v < r.n ? 0 : -1;
    if (r.kind == SAMPLED) mark_drawn(place, t, V, r.n);
    for (size_t i = 0; i < rg_field_rows(target); i++) place[target->ids[i]] = 0;
    for (size_t i = 0; r.kind == BATCH && source && i < rg_field_rows(source); i++) place[source->ids[i]] = 0;
    for (size_t v = 0; v < V; v++)
        if (place[v] == 0) {
            place[v] = (int32_t)n;
            words[n++] = (int32_t)v;
        }
    return n;
}

/* -log of the probability that a word is among those that are compared, 1 - (1 - q)^(n + T): the T targets are draws
 * of the same kind. Added to the logits, it makes the sum over them that over all words, in the mean. */
static rg_tensor *correction(rg_tape *t, const int32_t *words, size_t count, size_t V, size_t draws)
{
    rg_real *c = rg_tape_memory(t, (count + 1) * sizeof *c);
    for (size_t i = 0; c && i < count; i++)
        c[i] = (rg_real)-log(-expm1((double)draws * log1p(-zipf((size_t)words[i], V))));
    return c ? rg_borrow(t, c, 1, count, count) : NULL;
}

rg_loss rg_answer_loss_over(rg_tape *t, const rg_model *m, rg_tensor *y, rg_tensor *w, rg_tensor *b,
                            const rg_batch *batch, double smoothing, const char *vocabulary)
{
    const rg_field *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    const range     r = range_of(vocabulary);
    if (r.kind == ALL || r.kind == NONE || !rg_tape_learning(t) || !w) return rg_answer_loss(t, y, w, b, to, smoothing);
    const size_t V = rg_tensor_rows(w), N = rg_field_rows(to);
    int32_t     *words = rg_tape_memory(t, (V + 1) * sizeof *words), *place = rg_tape_memory(t, (V + 1) * sizeof *place);
    int32_t     *ids = rg_tape_memory(t, (N + 1) * sizeof *ids);
    if (!words || !place || !ids) return (rg_loss){ NULL, 0 };
    const size_t n = choose_words(words, place, t, V, r, to, rg_model_size(m, "joint-vocabulary") ? from : NULL);
    for (size_t i = 0; i < N; i++) ids[i] = place[to->ids[i]];
    rg_field target = *to;
    target.ids = ids;
    rg_tensor *bias = b ? rg_transpose(t, rg_gather(t, rg_transpose(t, b), words, n, NULL)) : NULL;
    if (r.kind == SAMPLED) {
        rg_tensor *c = correction(t, words, n, V, r.n + N);
        bias = bias ? rg_add(t, bias, c) : c;
    }
    return rg_answer_loss(t, y, rg_gather(t, w, words, n, NULL), bias, &target, smoothing);
}

rg_tensor *rg_answer_logits(rg_decoding *d, rg_tape *t, rg_tensor *y, const rg_param *w, const rg_param *b)
{
    if (!d->words) return rg_linear_nt(t, y, rg_use(t, w), b ? rg_use(t, b) : NULL);
    if (!y) return NULL;
    if (d->picked->w != w) { /* the first step since start */
        const rg_status status = rg_picked_set(d->picked, w, b, d->words, d->word_count);
        if (status != RG_OK) return rg_tape_fail(t, status, "%s", rg_message());
    }
    return rg_linear_picked(t, y, d->picked);
}

const rg_reach *rg_answer_reach_groups(rg_tape *t, const int32_t *group, size_t n, const rg_layout *source)
{
    int32_t *begin = rg_tape_memory(t, 2 * n * sizeof *begin), *end = begin + n;
    for (size_t i = 0; begin && i < n; i++) {
        begin[i] = source->start[group[i]];
        end[i] = source->start[group[i] + 1];
    }
    return begin ? rg_reach_intervals(t, n, (size_t)source->start[source->groups], begin, end) : NULL;
}

const rg_reach *rg_answer_reach(rg_tape *t, const rg_decoding *d)
{
    return rg_answer_reach_groups(t, d->source_of, d->n, &d->sources);
}
