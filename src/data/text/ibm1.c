/* ibm1.c - IBM model 1 (Brown et al. 1993) both ways, and what both agree on.
 *
 *     p(f | e) = prod_j  1/(l+1) sum_i t(f_j | e_i)          e_0 is the empty word
 *     counts    c(f | e) += t(f | e) / sum_i t(f | e_i)       for each pair of words that stand in one sentence pair
 *
 * Only pairs of words that met have a t: they are sorted and numbered once, and every meeting keeps its number. */
#include "data/text/ibm1.h"

#include <stdlib.h>
#include <string.h>

typedef struct { /* one way: each `to` word comes from a `from` word of its sentence, or from none */
    const int32_t *from, *to;
    const size_t  *from_start, *to_start;
    size_t         pairs, meetings, unique;
    uint64_t      *keys;   /* from + 1 (0: the empty word) and to, of each t */
    uint32_t      *number; /* of the t of each meeting: pair by pair, to word by to word, the empty word first */
    double        *t, *count, *total;
    size_t         words; /* numbers of `from` words, the empty one included */
} way;

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t key_of(int32_t from, int32_t to) { return (uint64_t)(uint32_t)(from + 1) << 32 | (uint32_t)to; }

static rg_status number_meetings(way *w)
{
    for (size_t p = 0; p < w->pairs; p++)
        w->meetings += (w->from_start[p + 1] - w->from_start[p] + 1) * (w->to_start[p + 1] - w->to_start[p]);
    if (w->meetings > UINT32_MAX / 2)
        return rg_fail(RG_ELIMIT, "%zu pairs of words are too many to align; give fewer lines", w->meetings);
    uint64_t *all = rg_alloc_array(w->meetings + 1, sizeof *all);
    w->keys = rg_alloc_array(w->meetings + 1, sizeof *w->keys);
    w->number = rg_alloc_array(w->meetings + 1, sizeof *w->number);
    if (!all || !w->keys || !w->number) {
        rg_free(all);
        return RG_ENOMEM;
    }
    size_t n = 0;
    for (size_t p = 0; p < w->pairs; p++)
        for (size_t j = w->to_start[p]; j < w->to_start[p + 1]; j++) {
            all[n++] = key_of(-1, w->to[j]);
            for (size_t i = w->from_start[p]; i < w->from_start[p + 1]; i++) all[n++] = key_of(w->from[i], w->to[j]);
        }
    memcpy(w->keys, all, n * sizeof *all);
    qsort(w->keys, n, sizeof *w->keys, by_value);
    for (size_t i = 0; i < n; i++)
        if (!w->unique || w->keys[w->unique - 1] != w->keys[i]) w->keys[w->unique++] = w->keys[i];
    for (size_t i = 0; i < n; i++) {
        const uint64_t *found = bsearch(&all[i], w->keys, w->unique, sizeof *w->keys, by_value);
        w->number[i] = (uint32_t)(found - w->keys);
    }
    w->words = w->unique ? (size_t)(w->keys[w->unique - 1] >> 32) + 1 : 1;
    rg_free(all);
    return RG_OK;
}

static void iterate(way *w)
{
    size_t at = 0;
    memset(w->count, 0, w->unique * sizeof *w->count);
    memset(w->total, 0, w->words * sizeof *w->total);
    for (size_t p = 0; p < w->pairs; p++)
        for (size_t j = w->to_start[p], l = w->from_start[p + 1] - w->from_start[p] + 1; j < w->to_start[p + 1];
             j++, at += l) {
            double sum = 0;
            for (size_t i = 0; i < l; i++) sum += w->t[w->number[at + i]];
            for (size_t i = 0; i < l; i++) w->count[w->number[at + i]] += w->t[w->number[at + i]] / sum;
        }
    for (size_t k = 0; k < w->unique; k++) w->total[w->keys[k] >> 32] += w->count[k];
    for (size_t k = 0; k < w->unique; k++) {
        const double total = w->total[w->keys[k] >> 32];
        w->t[k] = total > 0 ? w->count[k] / total + 1e-12 : 1e-12;
    }
}

static rg_status learn(way *w, int iterations)
{
    RG_TRY(number_meetings(w));
    w->t = rg_alloc_array(w->unique + 1, sizeof *w->t);
    w->count = rg_alloc_array(w->unique + 1, sizeof *w->count);
    w->total = rg_alloc_array(w->words + 1, sizeof *w->total);
    if (!w->t || !w->count || !w->total) return RG_ENOMEM;
    for (size_t k = 0; k < w->unique; k++) w->t[k] = 1;
    for (int i = 0; i < iterations; i++) iterate(w);
    return RG_OK;
}

static void drop(way *w)
{
    rg_free(w->keys);
    rg_free(w->number);
    rg_free(w->t);
    rg_free(w->count);
    rg_free(w->total);
}

/* best[j]: the word of its sentence that to word j most likely comes from; -1: none. */
static rg_status align_way(int32_t *best, way *w, int iterations)
{
    const rg_status status = learn(w, iterations);
    if (status == RG_OK) {
        size_t at = 0;
        for (size_t p = 0; p < w->pairs; p++)
            for (size_t j = w->to_start[p], l = w->from_start[p + 1] - w->from_start[p] + 1; j < w->to_start[p + 1];
                 j++, at += l) {
                size_t most = 0;
                for (size_t i = 1; i < l; i++)
                    if (w->t[w->number[at + i]] > w->t[w->number[at + most]]) most = i;
                best[j] = (int32_t)most - 1;
            }
    }
    drop(w);
    return status;
}

static int likeliest_first(const void *a, const void *b)
{
    const rg_ibm1_entry *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->t != y->t) return x->t > y->t ? -1 : 1;
    return (x->target > y->target) - (x->target < y->target);
}

rg_status rg_ibm1_table(rg_ibm1_entry **out, size_t *out_count, const rg_bitext *x, int iterations)
{
    way            w = { .from = x->source,
                         .to = x->target,
                         .from_start = x->source_start,
                         .to_start = x->target_start,
                         .pairs = x->pairs };
    rg_status      status = learn(&w, iterations);
    rg_ibm1_entry *table = status == RG_OK ? rg_alloc_array(w.unique + 1, sizeof *table) : NULL;
    size_t         n = 0;
    if (status == RG_OK && !table) status = RG_ENOMEM;
    for (size_t k = 0; status == RG_OK && k < w.unique; k++)
        if (w.keys[k] >> 32)
            table[n++] = (rg_ibm1_entry){ (int32_t)(w.keys[k] >> 32) - 1, (int32_t)(w.keys[k] & UINT32_MAX), w.t[k] };
    if (table) qsort(table, n, sizeof *table, likeliest_first);
    drop(&w);
    *out = table;
    *out_count = n;
    return status;
}

rg_status rg_ibm1_align(int32_t *out, const rg_bitext *x, int iterations)
{
    way      forward = { .from = x->source,
                         .to = x->target,
                         .from_start = x->source_start,
                         .to_start = x->target_start,
                         .pairs = x->pairs };
    way      back = { .from = x->target,
                      .to = x->source,
                      .from_start = x->target_start,
                      .to_start = x->source_start,
                      .pairs = x->pairs };
    int32_t *target_of = rg_alloc_array(x->source_start[x->pairs] + 1, sizeof *target_of);
    if (!target_of) return RG_ENOMEM;
    rg_status status = align_way(out, &forward, iterations);
    if (status == RG_OK) status = align_way(target_of, &back, iterations);
    for (size_t p = 0; status == RG_OK && p < x->pairs; p++)
        for (size_t j = x->target_start[p]; j < x->target_start[p + 1]; j++)
            if (out[j] >= 0 && target_of[x->source_start[p] + (size_t)out[j]] != (int32_t)(j - x->target_start[p]))
                out[j] = -1;
    rg_free(target_of);
    return status;
}
