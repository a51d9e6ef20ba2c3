/* answer_parts.c - the end of every translator. */
#include "models/answer_parts.h"

rg_loss rg_answer_loss(rg_tape *t, rg_tensor *y, rg_tensor *w, rg_tensor *b, const rg_field *target, double smoothing)
{
    const double count = (double)rg_field_rows(target);
    if (target->weights) return (rg_loss){ rg_cross_entropy_over_rows(t, y, w, b, target->ids, 0, target->weights, NULL), count };
    return (rg_loss){ rg_cross_entropy_over(t, y, w, b, target->ids, rg_tape_learning(t) ? smoothing : 0, 1), count };
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

const rg_reach *rg_answer_reach(rg_tape *t, const rg_decoding *d) { return rg_answer_reach_groups(t, d->source_of, d->n, &d->sources); }
