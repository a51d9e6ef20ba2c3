/* batches.c - the endless sequence of batches of a corpus.
 *
 *   epoch e:  pairs in the order of a permutation that follows from (seed, e)
 *             window w: W of them, sorted by length, cut into batches, batches shuffled by (seed, e, w)
 *             a batch keeps the limits of pairs and of pieces; the last two of a window share evenly what is left
 *
 * Everything is computed from (epoch, window, batch), so a place is three numbers (and whether the end of an epoch has
 * yet to be reported), and resuming is exact. The permutation is a Feistel network over Philox: a bijection of 2^2k numbers, walked until
 * it falls inside the corpus; it needs no memory. */
#include "data/corpus.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 6 };

static uint32_t mix(const rg_corpus *c, uint64_t epoch, uint32_t round, uint32_t half)
{
    uint32_t out[4], counter[4] = { half, round, (uint32_t)epoch, (uint32_t)(epoch >> 32) };
    uint32_t key[2] = { (uint32_t)c->config.seed, (uint32_t)(c->config.seed >> 32) };
    rg_philox(out, counter, key);
    return out[0];
}

/* Where place i of the epoch's order is in the file. */
static uint64_t permute(const rg_corpus *c, uint64_t epoch, uint64_t i)
{
    unsigned half = 1;
    if (!c->config.shuffle) return i;
    while (half < 32 && (uint64_t)1 << (2 * half) < c->report.pairs) half++;
    const uint32_t mask = half == 32 ? UINT32_MAX : (1u << half) - 1;
    do {
        uint32_t left = (uint32_t)(i >> half) & mask, right = (uint32_t)i & mask;
        for (uint32_t round = 0; round < ROUNDS; round++) {
            uint32_t next = left ^ (mix(c, epoch, round, right) & mask);
            left = right;
            right = next;
        }
        i = ((uint64_t)left << half) | right;
    } while (i >= c->report.pairs);
    return i;
}

/* -------------------------------------------------------------------------------------------------------- windows */

enum { WINDOW_PAIRS = 1000, WINDOW_BATCHES = 64 }; /* where mini_batch or maxi_batch is 0 */

static uint64_t window_size(const rg_corpus *c)
{
    const uint64_t batch = c->config.mini_batch ? c->config.mini_batch : WINDOW_PAIRS;
    const uint64_t batches = c->config.maxi_batch ? c->config.maxi_batch : WINDOW_BATCHES;
    return batch < c->report.pairs / batches + 1 ? batch * batches : c->report.pairs; /* the product may not fit 64 bits */
}

/* The last window takes what is left over when that is less than half a window. */
static uint64_t window_count(const rg_corpus *c)
{
    const uint64_t size = window_size(c), whole = c->report.pairs / size, rest = c->report.pairs % size;
    return whole + (whole == 0 || rest > size / 2);
}

static int short_first(const void *a, const void *b)
{
    const rg_entry *x = a, *y = b;
    if (x->target != y->target) return x->target < y->target ? -1 : 1;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place; /* other epochs, other mates in a batch */
}

static rg_status copy_ids(rg_ids *out, const int32_t *ids, size_t count)
{
    RG_TRY(rg_ids_reserve(out, count + 1));
    if (count) memcpy(out->data + out->count, ids, 4 * count);
    out->count += count;
    return RG_OK;
}

/* One side of a pair as it is learned from in this epoch: a cut that follows from seed, epoch and pair. One that is longer than allowed is
 * not taken. */
static rg_status cut_anew(rg_ids *out, const rg_corpus *c, const rg_vocab *vocab, const int32_t *ids, size_t count, double alpha,
                          uint64_t stream)
{
    rg_random random = rg_random_new(c->config.seed ^ 0x70696563, c->place.epoch << 40 ^ stream);
    out->count = 0;
    if (alpha > 0) RG_TRY(rg_vocab_sample(out, vocab, ids, count, alpha, &random));
    if (alpha > 0 && (!c->config.max_length || out->count <= c->config.max_length)) return RG_OK;
    out->count = 0;
    return copy_ids(out, ids, count);
}

/* The pair's record at the end of the window's block. */
static rg_status copy_entry(rg_entry *entry, rg_corpus *c, uint64_t pair, rg_pair_head head, const int32_t *ids)
{
    rg_ids *s = &c->scratch_source, *t = &c->scratch_target;
    RG_TRY(cut_anew(s, c, c->source, ids, head.source, c->config.source_alpha, 2 * pair));
    RG_TRY(cut_anew(t, c, c->target, ids + head.source, head.target, c->config.target_alpha, 2 * pair + 1));
    head.source = entry->source = (uint32_t)s->count;
    head.target = entry->target = (uint32_t)t->count;
    entry->at = c->window.length + sizeof head;
    RG_TRY(rg_text_add(&c->window, &head, sizeof head));
    if (s->count) RG_TRY(rg_text_add(&c->window, s->data, 4 * s->count));
    return t->count ? rg_text_add(&c->window, t->data, 4 * t->count) : RG_OK;
}

static rg_status read_entry(rg_entry *entry, rg_corpus *c, uint64_t place)
{
    const uint64_t pair = permute(c, c->place.epoch, place);
    rg_pair_head   head;
    const int32_t *ids;
    RG_TRY(rg_corpus__pair(&head, &ids, c, pair));
    *entry = (rg_entry){ place, (size_t)c->offsets[pair] + sizeof head, head.source, head.target };
    return c->windowed ? copy_entry(entry, c, pair, head, ids) : RG_OK;
}

static rg_status reserve_entries(rg_corpus *c, size_t count)
{
    if (count <= c->entry_room) return RG_OK;
    rg_free(c->entries);
    rg_free(c->cuts);
    rg_free(c->order);
    c->entry_room = 0;
    c->entries = rg_alloc_array(count, sizeof *c->entries);
    c->cuts = rg_alloc_array(count + 1, sizeof *c->cuts);
    c->order = rg_alloc_array(count, sizeof *c->order);
    if (!c->entries || !c->cuts || !c->order) return RG_ENOMEM;
    c->entry_room = count;
    return RG_OK;
}

/* What a batch holds, </s> counted. */
typedef struct {
    size_t words, sources, pairs;
} load;

static load with(load l, const rg_entry *e)
{
    return (load){ l.words + e->target + 1, l.sources + e->source + 1, l.pairs + 1 };
}

static load without(load l, const rg_entry *e)
{
    return (load){ l.words - e->target - 1, l.sources - e->source - 1, l.pairs - 1 };
}

static load load_of(const rg_corpus *c, size_t begin, size_t end)
{
    load l = { 0, 0, 0 };
    for (size_t i = begin; i < end; i++) l = with(l, &c->entries[i]);
    return l;
}

/* The largest share of a limit that is used: at most 1 where none is exceeded. */
static double fullness(const rg_corpus *c, load l)
{
    const size_t used[] = { l.words, l.sources, l.pairs };
    const size_t most[] = { c->config.mini_batch_words, c->config.source_words, c->config.mini_batch };
    double       full = 0;
    for (size_t i = 0; i < 3; i++)
        if (most[i] && (double)used[i] / (double)most[i] > full) full = (double)used[i] / (double)most[i];
    return full;
}

/* The last batch of a window is what was left over. An update counts as much with a few pairs as with many, so the last two batches share
 * their pairs evenly. */
static void even_out(rg_corpus *c)
{
    if (c->batch_count < 2) return;
    const size_t begin = c->cuts[c->batch_count - 2];
    size_t       at = c->cuts[c->batch_count - 1];
    load         before = load_of(c, begin, at), after = load_of(c, at, c->entry_count);
    while (at > begin + 1) {
        before = without(before, &c->entries[at - 1]);
        after = with(after, &c->entries[at - 1]);
        if (fullness(c, after) > fullness(c, before)) break;
        at--;
    }
    c->cuts[c->batch_count - 1] = (uint32_t)at;
}

/* Cut the sorted pairs into batches that keep all limits; each has at least one pair. */
static void cut(rg_corpus *c)
{
    load now = { 0, 0, 0 };
    c->batch_count = 0;
    for (size_t i = 0; i < c->entry_count; i++) {
        const load next = with(now, &c->entries[i]);
        const bool begins = now.pairs == 0 || fullness(c, next) > 1;
        if (begins) c->cuts[c->batch_count++] = (uint32_t)i;
        now = begins ? with((load){ 0, 0, 0 }, &c->entries[i]) : next;
    }
    c->cuts[c->batch_count] = (uint32_t)c->entry_count;
    even_out(c);
}

static void shuffle_batches(rg_corpus *c)
{
    for (size_t i = 0; i < c->batch_count; i++) c->order[i] = (uint32_t)i;
    if (!c->config.shuffle) return;
    rg_random random = rg_random_new(c->config.seed ^ 0x62617463, c->place.epoch << 24 ^ c->place.window);
    for (size_t i = c->batch_count; i > 1; i--) {
        size_t   j = (size_t)rg_random_below(&random, i);
        uint32_t swap = c->order[i - 1];
        c->order[i - 1] = c->order[j];
        c->order[j] = swap;
    }
}

/* Make the window of c->place the one at hand. */
static rg_status load_window(rg_corpus *c)
{
    if (c->loaded && c->loaded_epoch == c->place.epoch && c->loaded_window == c->place.window) return RG_OK;
    const uint64_t begin = c->place.window * window_size(c);
    const uint64_t end = c->place.window + 1 < window_count(c) ? begin + window_size(c) : c->report.pairs;
    c->loaded = false;
    rg_text_clear(&c->window);
    RG_TRY(reserve_entries(c, (size_t)(end - begin)));
    c->entry_count = 0;
    for (uint64_t i = begin; i < end; i++) RG_TRY(read_entry(&c->entries[c->entry_count++], c, i));
    if (c->config.maxi_batch) qsort(c->entries, c->entry_count, sizeof *c->entries, short_first);
    cut(c);
    shuffle_batches(c);
    c->loaded = true;
    c->loaded_epoch = c->place.epoch;
    c->loaded_window = c->place.window;
    return RG_OK;
}

/* -------------------------------------------------------------------------------------------------------- batches */

static rg_status add_pair(rg_corpus *c, const int32_t *ids, size_t source, size_t target)
{
    int32_t eos = rg_vocab_eos(c->target);
    if (c->source) {
        RG_TRY(copy_ids(&c->source_ids, ids, source));
        if (c->config.source_eos) RG_TRY(rg_ids_add(&c->source_ids, rg_vocab_eos(c->source)));
    }
    RG_TRY(copy_ids(&c->target_ids, ids + source, target));
    RG_TRY(rg_ids_add(&c->target_ids, eos));
    RG_TRY(rg_ids_add(&c->previous, rg_vocab_bos(c->target)));
    RG_TRY(copy_ids(&c->previous, ids + source, target));
    if (c->source_ids.count > INT32_MAX || c->target_ids.count > INT32_MAX)
        return rg_fail(RG_ELIMIT, "a batch of more than 2^31 pieces: make mini-batch smaller or give max-length");
    RG_TRY(rg_ids_add(&c->source_start, (int32_t)c->source_ids.count));
    return rg_ids_add(&c->target_start, (int32_t)c->target_ids.count);
}

static rg_status begin_batch(rg_corpus *c, size_t pairs)
{
    c->source_ids.count = c->target_ids.count = c->previous.count = c->source_start.count = c->target_start.count = 0;
    if (pairs > c->line_room) {
        rg_free(c->lines);
        c->line_room = 0;
        if (!(c->lines = rg_alloc_array(pairs, sizeof *c->lines))) return RG_ENOMEM;
        c->line_room = pairs;
    }
    RG_TRY(rg_ids_reserve(&c->source_ids, 1)); /* never NULL, even without a source */
    RG_TRY(rg_ids_add(&c->source_start, 0));
    return rg_ids_add(&c->target_start, 0);
}

static void show_batch(rg_batch *out, const rg_corpus *c, size_t pairs)
{
    *out = (rg_batch){ .pairs = pairs,
                       .source = { .groups = pairs, .start = c->source_start.data },
                       .target = { .groups = pairs, .start = c->target_start.data },
                       .source_ids = c->source_ids.data,
                       .target_ids = c->target_ids.data,
                       .previous = c->previous.data,
                       .lines = c->lines };
}

static uint64_t line_of(const char *record_ids)
{
    rg_pair_head head;
    memcpy(&head, record_ids - sizeof head, sizeof head);
    return head.line;
}

static rg_status fill_batch(rg_batch *out, rg_corpus *c, size_t begin, size_t end)
{
    RG_TRY(begin_batch(c, end - begin));
    for (size_t i = begin; i < end; i++) {
        const rg_entry *entry = &c->entries[i];
        const char     *ids = (c->windowed ? c->window.data : c->block.data) + entry->at;
        RG_TRY(add_pair(c, (const int32_t *)(const void *)ids, entry->source, entry->target));
        c->lines[i - begin] = line_of(ids);
    }
    show_batch(out, c, end - begin);
    return RG_OK;
}

static void step(rg_corpus *c)
{
    if (++c->place.batch < c->batch_count) return;
    c->place.batch = 0;
    if (++c->place.window < window_count(c)) return;
    c->place.window = 0;
    c->place.epoch++;
    c->place.ended = true;
}

rg_status rg_corpus_next(rg_batch *out, bool *out_new_epoch, rg_corpus *c)
{
    if (!c->sealed) return rg_fail(RG_EINVAL, "a corpus gives batches only after it was sealed");
    RG_TRY(load_window(c));
    uint32_t b = c->order[c->place.batch];
    RG_TRY(fill_batch(out, c, c->cuts[b], c->cuts[b + 1]));
    if (out_new_epoch) *out_new_epoch = c->place.window == 0 && c->place.batch == 0;
    c->place.ended = false;
    step(c);
    return RG_OK;
}

rg_status rg_corpus_next_in_epoch(bool *out_more, rg_batch *out, rg_corpus *c)
{
    *out_more = !c->place.ended;
    c->place.ended = false;
    return *out_more ? rg_corpus_next(out, NULL, c) : RG_OK;
}

rg_corpus_place rg_corpus_tell(const rg_corpus *c)
{
    return c->place;
}

rg_status rg_corpus_seek(rg_corpus *c, rg_corpus_place place)
{
    if (!c->sealed) return rg_fail(RG_EINVAL, "a corpus can be moved only after it was sealed");
    if (place.window >= window_count(c))
        return rg_fail(RG_EMATCH, "window %llu of a corpus that has %llu: the checkpoint is of other data or batch settings",
                       (unsigned long long)place.window, (unsigned long long)window_count(c));
    rg_corpus_place old = c->place;
    c->place = place;
    rg_status status = load_window(c);
    if (status == RG_OK && place.batch >= c->batch_count)
        status = rg_fail(RG_EMATCH, "batch %llu of a window that has %zu: the checkpoint is of other data or batch settings",
                         (unsigned long long)place.batch, c->batch_count);
    if (status != RG_OK) c->place = old;
    return status;
}

rg_status rg_corpus_pair(rg_batch *out, rg_corpus *c, uint64_t i)
{
    rg_pair_head      head;
    const int32_t *ids;
    if (!c->sealed || i >= c->report.pairs)
        return rg_fail(RG_EINVAL, "pair %llu of %llu", (unsigned long long)i, (unsigned long long)c->report.pairs);
    RG_TRY(rg_corpus__pair(&head, &ids, c, i));
    RG_TRY(begin_batch(c, 1));
    RG_TRY(add_pair(c, ids, head.source, head.target));
    c->lines[0] = head.line;
    show_batch(out, c, 1);
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- shares */

/* The first pair at or past k of n equal parts of the tokens. */
static size_t boundary(const rg_batch *b, size_t k, size_t n)
{
    if (k == 0) return 0;
    if (k >= n) return b->pairs;
    uint64_t total = (uint64_t)b->source.start[b->pairs] + (uint64_t)b->target.start[b->pairs], g = 0;
    while (g < b->pairs && ((uint64_t)b->source.start[g] + (uint64_t)b->target.start[g]) * n < total * k) g++;
    return (size_t)g;
}

static rg_layout share_layout(const rg_layout *whole, int32_t *start, size_t begin, size_t end)
{
    for (size_t g = begin; g <= end; g++) start[g - begin] = whole->start[g] - whole->start[begin];
    return (rg_layout){ .groups = end - begin, .start = start, .first = whole->first + (uint64_t)whole->start[begin] };
}

void rg_batch_share(rg_batch *out, int32_t *storage, const rg_batch *batch, size_t share, size_t shares)
{
    size_t begin = boundary(batch, share, shares), end = boundary(batch, share + 1, shares);
    *out = (rg_batch){ .pairs = end - begin,
                       .source = share_layout(&batch->source, storage, begin, end),
                       .target = share_layout(&batch->target, storage + batch->pairs + 1, begin, end),
                       .source_ids = batch->source_ids + batch->source.start[begin],
                       .target_ids = batch->target_ids + batch->target.start[begin],
                       .previous = batch->previous + batch->target.start[begin],
                       .lines = batch->lines + begin };
}
