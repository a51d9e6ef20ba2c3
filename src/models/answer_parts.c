/* answer_parts.c - the end of every translator. */
#include "models/answer_parts.h"
#include "autograd/picked.h"

#include <stdlib.h>
#include <string.h>

rg_loss rg_answer_loss(rg_tape *t, rg_tensor *y, rg_tensor *w, rg_tensor *b, const rg_field *target, double smoothing)
{
    const double count = (double)rg_field_rows(target);
    if (target->weights)
        return (rg_loss){ rg_cross_entropy_over_rows(t, y, w, b, target->ids, 0, target->weights, NULL), count };
    return (rg_loss){ rg_cross_entropy_over(t, y, w, b, target->ids, rg_tape_learning(t) ? smoothing : 0, 1), count };
}

/* N of "batch:N"; -1: all, -2: neither. */
static long long most_frequent(const char *vocabulary)
{
    char *end;
    if (strcmp(vocabulary, "all") == 0) return -1;
    if (strncmp(vocabulary, "batch:", 6) != 0) return -2;
    const long long n = strtoll(vocabulary + 6, &end, 10);
    return end == vocabulary + 6 || *end || n < 0 || n > 100000000 ? -2 : n;
}

rg_status rg_answer_vocabulary_check(const char *vocabulary)
{
    return most_frequent(vocabulary) != -2
               ? RG_OK
               : rg_fail(RG_EINVAL, "--output-vocabulary %s: all, or batch:N such as batch:2000", vocabulary);
}

/* The words the softmax ranges over, rising, in words[0 .. returned), and in place[] where each word of the
 * vocabulary stands among them. */
static size_t choose_words(int32_t *words, int32_t *place, size_t V, size_t frequent, const rg_field *target,
                           const rg_field *source)
{
    size_t n = 0;
    for (size_t v = 0; v < V; v++) place[v] = v < frequent ? 0 : -1;
    for (size_t i = 0; i < rg_field_rows(target); i++) place[target->ids[i]] = 0;
    for (size_t i = 0; source && i < rg_field_rows(source); i++) place[source->ids[i]] = 0;
    for (size_t v = 0; v < V; v++)
        if (place[v] == 0) {
            place[v] = (int32_t)n;
            words[n++] = (int32_t)v;
        }
    return n;
}

rg_loss rg_answer_loss_over(rg_tape *t, const rg_model *m, rg_tensor *y, rg_tensor *w, rg_tensor *b,
                            const rg_batch *batch, double smoothing, const char *vocabulary)
{
    const rg_field *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    const long long frequent = most_frequent(vocabulary);
    if (frequent < 0 || !rg_tape_learning(t) || !w) return rg_answer_loss(t, y, w, b, to, smoothing);
    const size_t V = rg_tensor_rows(w), N = rg_field_rows(to);
    int32_t *words = rg_tape_memory(t, (V + 1) * sizeof *words), *place = rg_tape_memory(t, (V + 1) * sizeof *place);
    int32_t     *ids = rg_tape_memory(t, (N + 1) * sizeof *ids);
    if (!words || !place || !ids) return (rg_loss){ NULL, 0 };
    const size_t n =
        choose_words(words, place, V, (size_t)frequent, to, rg_model_size(m, "joint-vocabulary") ? from : NULL);
    for (size_t i = 0; i < N; i++) ids[i] = place[to->ids[i]];
    rg_field target = *to;
    target.ids = ids;
    rg_tensor *bias = b ? rg_transpose(t, rg_gather(t, rg_transpose(t, b), words, n, NULL)) : NULL;
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
