/* shortlist.c - lists of translations by source token, and what a source picks of them. */
#include "data/text/shortlist.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

void rg_shortlist_free(rg_shortlist *s)
{
    if (!s) return;
    rg_free(s->start);
    rg_free(s->translation);
    rg_free(s->probability);
    rg_free(s->same);
    rg_free(s->frequent);
    rg_free(s->share);
    rg_free(s);
}

rg_shortlist_size rg_shortlist_size_of(const rg_shortlist *s)
{
    return (rg_shortlist_size){ s->start[s->source], s->frequents, s->target };
}

/* Room for so many translations and frequent tokens, and what follows from the vocabularies. */
static rg_status prepare(rg_shortlist **out, const rg_vocab *source, const rg_vocab *target, size_t pairs,
                         size_t frequents)
{
    *out = NULL;
    if (rg_vocab_size(source) > RG_SHORTLIST_TOKENS || rg_vocab_size(target) > RG_SHORTLIST_TOKENS || pairs > UINT32_MAX)
        return rg_fail(RG_ELIMIT, "%zu translations of %zu tokens are too many", pairs, rg_vocab_size(source));
    rg_shortlist *s = rg_alloc_zero(sizeof *s);
    if (!s) return RG_ENOMEM;
    s->source = rg_vocab_size(source);
    s->target = rg_vocab_size(target);
    s->frequents = frequents;
    s->always[0] = rg_vocab_eos(target);
    s->always[1] = rg_vocab_unk(target);
    s->start = rg_alloc_zero((s->source + 1) * sizeof *s->start);
    s->translation = rg_alloc_zero((pairs + 1) * sizeof *s->translation);
    s->probability = rg_alloc_zero((pairs + 1) * sizeof *s->probability);
    s->same = rg_alloc_array(s->source + 1, sizeof *s->same);
    s->frequent = rg_alloc_zero((frequents + 1) * sizeof *s->frequent);
    s->share = rg_alloc_zero((frequents + 1) * sizeof *s->share);
    if (!s->start || !s->translation || !s->probability || !s->same || !s->frequent || !s->share) {
        rg_shortlist_free(s);
        return RG_ENOMEM;
    }
    for (size_t i = 0; i < s->source; i++) {
        const int32_t found = source == target ? (int32_t)i : rg_vocab_find(target, rg_vocab_piece(source, (int32_t)i));
        s->same[i] = found >= 0 && found != rg_vocab_unk(target) ? found : -1;
    }
    *out = s;
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------- from pairs */

static int by_pair(const void *a, const void *b)
{
    const rg_shortlist_pair *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->target != y->target) return x->target < y->target ? -1 : 1;
    return (x->probability < y->probability) - (x->probability > y->probability);
}

static int by_probability(const void *a, const void *b)
{
    const rg_shortlist_pair *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->probability != y->probability) return x->probability > y->probability ? -1 : 1;
    return (x->target > y->target) - (x->target < y->target);
}

/* Sorted, each once, and of each source no more than its limit; returns how many are left. */
static size_t cut(rg_shortlist_pair *p, size_t count, size_t first, size_t best)
{
    size_t n = 0, kept = 0, run = 0;
    qsort(p, count, sizeof *p, by_pair);
    for (size_t i = 0; i < count; i++)
        if (!n || p[n - 1].source != p[i].source || p[n - 1].target != p[i].target) p[n++] = p[i];
    qsort(p, n, sizeof *p, by_probability);
    for (size_t i = 0; i < n; i++) {
        run = i && p[i].source == p[i - 1].source ? run + 1 : 0;
        if (run < (p[i].source < 0 ? first : best)) p[kept++] = p[i];
    }
    return kept;
}

rg_status rg_shortlist__make(rg_shortlist **out, const rg_vocab *source, const rg_vocab *target,
                             rg_shortlist_pair *pairs, size_t count, size_t first, size_t best)
{
    size_t frequents = 0, any = 0, n = 0;
    for (size_t i = 0; i < count; i++) any += pairs[i].source < 0;
    if (count) n = cut(pairs, count, first, best);
    while (frequents < n && pairs[frequents].source < 0) frequents++;
    const size_t  V = rg_vocab_size(target), leading = any ? frequents : first < V ? first
                                                                                   : V;
    rg_shortlist *s;
    RG_TRY(prepare(&s, source, target, n - frequents, leading));
    for (size_t i = 0; i < leading; i++) {
        s->frequent[i] = any ? pairs[i].target : (int32_t)i;
        s->share[i] = any ? pairs[i].probability : 1 / (float)(i + 1);
    }
    for (size_t i = frequents; i < n; i++) {
        s->translation[i - frequents] = pairs[i].target;
        s->probability[i - frequents] = pairs[i].probability;
        s->start[pairs[i].source + 1]++;
    }
    for (size_t i = 0; i < s->source; i++) s->start[i + 1] += s->start[i];
    *out = s;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- picking */

rg_status rg_shortlist_pick(rg_ids *out, const rg_shortlist *s, const int32_t *source, size_t count,
                            const int32_t *also, size_t also_count)
{
    const size_t words = (s->target + 63) / 64, before = out->count;
    uint64_t    *set = rg_alloc_zero((words + 1) * sizeof *set);
    size_t       n = 0;
    if (!set) return RG_ENOMEM;
#define PUT(token)                                                                                 \
    do {                                                                                           \
        const int32_t t_ = (token);                                                                \
        if (t_ >= 0 && (size_t)t_ < s->target) set[t_ / 64] |= (uint64_t)1 << ((unsigned)t_ % 64); \
    } while (0)
    for (size_t i = 0; i < 2; i++) PUT(s->always[i]);
    for (size_t i = 0; i < s->frequents; i++) PUT(s->frequent[i]);
    for (size_t i = 0; i < also_count; i++) PUT(also[i]);
    for (size_t i = 0; i < count; i++) {
        if (source[i] < 0 || (size_t)source[i] >= s->source) continue;
        PUT(s->same[source[i]]);
        for (uint32_t k = s->start[source[i]]; k < s->start[source[i] + 1]; k++) PUT(s->translation[k]);
    }
#undef PUT
    for (size_t w = 0; w < words; w++) n += (size_t)__builtin_popcountll(set[w]);
    const rg_status status = rg_ids_reserve(out, n);
    for (size_t w = 0; status == RG_OK && w < words; w++)
        for (uint64_t rest = set[w]; rest; rest &= rest - 1)
            out->data[out->count++] = (int32_t)(w * 64 + (size_t)__builtin_ctzll(rest));
    rg_free(set);
    if (status != RG_OK) out->count = before;
    return status;
}

/* --------------------------------------------------------------------------------------------------------- bytes */

/* Little-endian words of 32 bits:
 *
 *     "RGSL", 1, source tokens, target tokens, translations m, frequent tokens f,
 *     start[source + 1], translation[m], probability[m], frequent[f], share[f], checksum (2) of all before it */
enum { HEAD = 6,
       FORMAT = 1,
       MAGIC = 0x4C534752 };

rg_status rg_shortlist_to_bytes(rg_text *out, const rg_shortlist *s)
{
    const size_t   before = out->length;
    const uint32_t head[HEAD] = { MAGIC, FORMAT, (uint32_t)s->source, (uint32_t)s->target, s->start[s->source],
                                  (uint32_t)s->frequents };
    const size_t   m = s->start[s->source], f = s->frequents;
    RG_TRY(rg_text_add(out, (const char *)head, sizeof head));
    RG_TRY(rg_text_add(out, (const char *)s->start, (s->source + 1) * sizeof *s->start));
    RG_TRY(rg_text_add(out, (const char *)s->translation, m * sizeof *s->translation));
    RG_TRY(rg_text_add(out, (const char *)s->probability, m * sizeof *s->probability));
    RG_TRY(rg_text_add(out, (const char *)s->frequent, f * sizeof *s->frequent));
    RG_TRY(rg_text_add(out, (const char *)s->share, f * sizeof *s->share));
    const uint64_t sum = rg_hash64_of(out->data + before, out->length - before);
    return rg_text_add(out, (const char *)&sum, sizeof sum);
}

static rg_status check(const rg_shortlist *s)
{
    const size_t m = s->start[s->source];
    bool         fits = s->start[0] == 0;
    for (size_t i = 0; i < s->source; i++) fits = fits && s->start[i] <= s->start[i + 1];
    for (size_t i = 0; i < m; i++) fits = fits && s->translation[i] >= 0 && (size_t)s->translation[i] < s->target;
    for (size_t i = 0; i < s->frequents; i++) fits = fits && s->frequent[i] >= 0 && (size_t)s->frequent[i] < s->target;
    return fits ? RG_OK : rg_fail(RG_EFORMAT, "the shortlist is damaged: tokens outside of the vocabulary");
}

rg_status rg_shortlist_from_bytes(rg_shortlist **out, const void *bytes, size_t count, const rg_vocab *source,
                                  const rg_vocab *target)
{
    const char *at = bytes;
    uint32_t    head[HEAD] = { 0 };
    uint64_t    sum;
    *out = NULL;
    if (count >= sizeof head) memcpy(head, at, sizeof head);
    if (head[0] != MAGIC || head[1] != FORMAT) return rg_fail(RG_EFORMAT, "the shortlist is of another format");
    const uint64_t m = head[4], f = head[5], rows = (uint64_t)head[2] + 1;
    if (count != sizeof head + 4 * (rows + 2 * m + 2 * f) + sizeof sum)
        return rg_fail(RG_EFORMAT, "the shortlist is damaged: it has %zu bytes", count);
    memcpy(&sum, at + count - sizeof sum, sizeof sum);
    if (sum != rg_hash64_of(at, count - sizeof sum))
        return rg_fail(RG_EFORMAT, "the shortlist is damaged: its checksum is another one");
    if (head[2] != rg_vocab_size(source) || head[3] != rg_vocab_size(target))
        return rg_fail(RG_EMATCH, "the shortlist is of %u and %u tokens, the vocabularies have %zu and %zu", head[2],
                       head[3], rg_vocab_size(source), rg_vocab_size(target));
    rg_shortlist *s;
    RG_TRY(prepare(&s, source, target, (size_t)m, (size_t)f));
    at += sizeof head;
    memcpy(s->start, at, rows * 4);
    memcpy(s->translation, at += rows * 4, m * 4);
    memcpy(s->probability, at += m * 4, m * 4);
    memcpy(s->frequent, at += m * 4, f * 4);
    memcpy(s->share, at + f * 4, f * 4);
    const rg_status status =
        s->start[s->source] == m ? check(s) : rg_fail(RG_EFORMAT, "the shortlist is damaged: its lists do not end");
    if (status != RG_OK) rg_shortlist_free(s);
    else *out = s;
    return status;
}
