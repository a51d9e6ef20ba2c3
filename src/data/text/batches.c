/* batches.c - the endless sequence of batches of a store of examples.
 *
 *   epoch e:  examples in the order of a permutation that follows from (seed, e)
 *             window w: W of them, sorted by length, cut into batches, batches shuffled by (seed, e, w)
 *             a batch keeps the limits of examples and of rows; the last two of a window share evenly what is left
 *
 * Everything is computed from (epoch, window, batch), so a place is three numbers (and whether the end of an epoch
 * has yet to be reported) and resuming is exact. The permutation is a Feistel network over Philox: a bijection of
 * 2^2k numbers, walked until it falls inside the store; it needs no memory. */
#include "data/examples.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 6 };

static uint32_t mix(uint64_t seed, uint64_t epoch, uint32_t round, uint32_t half)
{
    uint32_t out[4], counter[4] = { half, round, (uint32_t)epoch, (uint32_t)(epoch >> 32) };
    uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    rg_philox(out, counter, key);
    return out[0];
}

uint64_t rg_examples__permute(uint64_t seed, uint64_t epoch, uint64_t count, uint64_t i)
{
    unsigned half = 1;
    while (half < 32 && (uint64_t)1 << (2 * half) < count) half++;
    const uint32_t mask = half == 32 ? UINT32_MAX : (1u << half) - 1;
    do {
        uint32_t left = (uint32_t)(i >> half) & mask, right = (uint32_t)i & mask;
        for (uint32_t round = 0; round < ROUNDS; round++) {
            uint32_t next = left ^ (mix(seed, epoch, round, right) & mask);
            left = right;
            right = next;
        }
        i = ((uint64_t)left << half) | right;
    } while (i >= count);
    return i;
}

/* Where place i of the epoch's order is in the file. */
static uint64_t permute(const rg_examples *c, uint64_t epoch, uint64_t i)
{
    return c->config.shuffle ? rg_examples__permute(c->config.seed, epoch, c->report.examples, i) : i;
}

/* -------------------------------------------------------------------------------------------------------- windows */

enum { WINDOW_EXAMPLES = 1000, WINDOW_BATCHES = 64 }; /* where batch or window is 0 */

static uint64_t window_size(const rg_examples *c)
{
    const uint64_t batch = c->config.batch ? c->config.batch : WINDOW_EXAMPLES;
    const uint64_t batches = c->config.window ? c->config.window : WINDOW_BATCHES;
    return batch < c->report.examples / batches + 1 ? batch * batches : c->report.examples; /* the product may not fit 64 bits */
}

/* The last window takes what is left over when that is less than half a window. */
static uint64_t window_count(const rg_examples *c)
{
    const uint64_t size = window_size(c), whole = c->report.examples / size, rest = c->report.examples % size;
    return whole + (whole == 0 || rest > size / 2);
}

/* By rows, the last field first. */
static int short_first(const void *a, const void *b)
{
    const rg_entry *x = a, *y = b;
    for (size_t f = RG_BATCH_FIELDS; f-- > 0;)
        if (x->cost[f] != y->cost[f]) return x->cost[f] < y->cost[f] ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place; /* other epochs, other mates in a batch */
}

/* A text as it is learned from in this epoch: a cut that follows from seed, epoch and example. One that is longer
 * than allowed is not taken. Leaves it in c->ids; false: the words stay as they are. */
static rg_status cut_anew(bool *out_cut, rg_examples *c, const rg_field_spec *spec, const int32_t *ids, size_t count,
                          uint64_t stream)
{
    rg_random random = rg_random_new(c->config.seed ^ 0x70696563, c->place.epoch << 40 ^ stream);
    *out_cut = false;
    if (!(spec->alpha > 0)) return RG_OK;
    c->ids.count = 0;
    RG_TRY(rg_vocab_sample(&c->ids, spec->vocab, ids, count, spec->alpha, &random));
    *out_cut = !spec->max_rows || c->ids.count <= spec->max_rows;
    return RG_OK;
}

/* The example's record at the end of the window's block. */
static rg_status copy_record(rg_record_head *head, rg_examples *c, uint64_t example, const int32_t *words)
{
    const size_t at = c->window.length;
    RG_TRY(rg_text_add(&c->window, head, c->head_bytes));
    for (size_t f = 0; f < c->fields; f++) {
        const uint32_t count = head->count[f];
        bool           cut;
        RG_TRY(cut_anew(&cut, c, &c->spec[f], words, count, c->fields * example + f));
        if (cut) head->count[f] = (uint32_t)c->ids.count;
        RG_TRY(rg_text_add(&c->window, cut ? c->ids.data : words, 4 * (size_t)head->count[f]));
        words += count;
    }
    memcpy(c->window.data + at, head, c->head_bytes); /* the counts as they are now */
    return RG_OK;
}

static void count_costs(rg_entry *entry, const rg_examples *c, const rg_record_head *head, const int32_t *words)
{
    for (size_t f = 0; f < c->fields; f++) {
        const rg_field_spec *spec = &c->spec[f];
        entry->cost[f] =
            (uint32_t)rg_kinds[spec->kind].rows(spec, words, head->count[f]) + (spec->kind == RG_FIELD_IDS);
        words += head->count[f];
    }
}

static rg_status read_entry(rg_entry *entry, rg_examples *c, uint64_t place)
{
    const uint64_t example = permute(c, c->place.epoch, place);
    rg_record_head head = { 0 };
    const int32_t *words;
    RG_TRY(rg_examples__record(&head, &words, c, example));
    *entry = (rg_entry){ .place = place, .at = c->windowed ? c->window.length : (size_t)c->offsets[example] };
    if (c->windowed) {
        RG_TRY(copy_record(&head, c, example, words));
        words = rg_examples__split(&head, c, c->window.data + entry->at);
    }
    count_costs(entry, c, &head, words);
    return RG_OK;
}

static rg_status reserve_entries(rg_examples *c, size_t count)
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
    size_t examples, rows[RG_BATCH_FIELDS];
} load;

static void put(load *l, const rg_examples *c, const rg_entry *e)
{
    for (size_t f = 0; f < c->fields; f++) l->rows[f] += e->cost[f];
    l->examples++;
}

static void take(load *l, const rg_examples *c, const rg_entry *e)
{
    for (size_t f = 0; f < c->fields; f++) l->rows[f] -= e->cost[f];
    l->examples--;
}

static load load_of(const rg_examples *c, size_t begin, size_t end)
{
    load l = { 0 };
    for (size_t i = begin; i < end; i++) put(&l, c, &c->entries[i]);
    return l;
}

/* The largest share of a limit that is used: at most 1 where none is exceeded. */
static double fullness(const rg_examples *c, const load *l)
{
    double full = c->config.batch ? (double)l->examples / (double)c->config.batch : 0;
    for (size_t f = 0; f < c->fields; f++) {
        const size_t most = c->spec[f].batch_rows;
        if (most && (double)l->rows[f] / (double)most > full) full = (double)l->rows[f] / (double)most;
    }
    return full;
}

/* The last batch of a window is what was left over. An update counts as much with a few examples as with many, so
 * the last two batches share their examples evenly. */
static void even_out(rg_examples *c)
{
    if (c->batch_count < 2) return;
    const size_t begin = c->cuts[c->batch_count - 2];
    size_t       at = c->cuts[c->batch_count - 1];
    load         before = load_of(c, begin, at), after = load_of(c, at, c->entry_count);
    while (at > begin + 1) {
        take(&before, c, &c->entries[at - 1]);
        put(&after, c, &c->entries[at - 1]);
        if (fullness(c, &after) > fullness(c, &before)) break;
        at--;
    }
    c->cuts[c->batch_count - 1] = (uint32_t)at;
}

/* Cut the sorted examples into batches that keep all limits; each has at least one example. */
static void cut(rg_examples *c)
{
    load now = { 0 };
    c->batch_count = 0;
    for (size_t i = 0; i < c->entry_count; i++) {
        put(&now, c, &c->entries[i]);
        if (now.examples > 1 && fullness(c, &now) <= 1) continue;
        c->cuts[c->batch_count++] = (uint32_t)i;
        now = load_of(c, i, i + 1);
    }
    c->cuts[c->batch_count] = (uint32_t)c->entry_count;
    even_out(c);
}

static void shuffle_batches(rg_examples *c)
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
static rg_status load_window(rg_examples *c)
{
    if (c->loaded && c->loaded_epoch == c->place.epoch && c->loaded_window == c->place.window) return RG_OK;
    const uint64_t begin = c->place.window * window_size(c);
    const uint64_t end = c->place.window + 1 < window_count(c) ? begin + window_size(c) : c->report.examples;
    c->loaded = false;
    rg_text_clear(&c->window);
    RG_TRY(reserve_entries(c, (size_t)(end - begin)));
    c->entry_count = 0;
    for (uint64_t i = begin; i < end; i++) RG_TRY(read_entry(&c->entries[c->entry_count++], c, i));
    if (c->config.window) qsort(c->entries, c->entry_count, sizeof *c->entries, short_first);
    cut(c);
    shuffle_batches(c);
    c->loaded = true;
    c->loaded_epoch = c->place.epoch;
    c->loaded_window = c->place.window;
    return RG_OK;
}

/* -------------------------------------------------------------------------------------------------------- batches */

/* Rows of the example that was unpacked last; a changed picture or sequence may have another size than its record. */
static size_t rows_of(const rg_column *column, const rg_field_spec *spec, const int32_t *words, size_t count)
{
    const int32_t *size = column->size.data + column->size.count;
    if (spec->change_rows && spec->kind == RG_FIELD_NUMBERS)
        return column->value_count / spec->width - (size_t)column->start.data[column->start.count - 1];
    return spec->change && spec->kind == RG_FIELD_PIXELS ? (size_t)size[-2] * (size_t)size[-1]
                                                         : rg_kinds[spec->kind].rows(spec, words, count);
}

static rg_status add_record(rg_examples *c, const rg_record_head *head, const int32_t *words, uint64_t epoch)
{
    for (size_t f = 0; f < c->fields; f++) {
        const rg_field_spec *spec = &c->spec[f];
        rg_column           *column = &c->column[f];
        const rg_kind       *kind = &rg_kinds[spec->kind];
        column->epoch = spec->still ? 0 : epoch, column->line = head->line;
        RG_TRY(kind->unpack(column, spec, words, head->count[f]));
        const size_t rows = kind->ids ? column->ids.count : (size_t)column->start.data[column->start.count - 1] +
                                                                rows_of(column, spec, words, head->count[f]);
        if (rows > INT32_MAX)
            return rg_fail(RG_ELIMIT,
                           "a batch of more than 2^31 rows of field %s: make batches smaller or limit the length",
                           spec->name);
        RG_TRY(rg_ids_add(&column->start, (int32_t)rows));
        words += head->count[f];
    }
    return RG_OK;
}

static rg_status begin_batch(rg_examples *c, size_t examples)
{
    if (examples > c->line_room) {
        rg_free(c->lines);
        c->line_room = 0;
        if (!(c->lines = rg_alloc_array(examples, sizeof *c->lines))) return RG_ENOMEM;
        c->line_room = examples;
    }
    for (size_t f = 0; f < c->fields; f++) {
        rg_column *column = &c->column[f];
        column->ids.count = column->previous.count = column->start.count = column->size.count = column->box.count = 0;
        column->value_count = 0;
        RG_TRY(rg_ids_reserve(&column->ids, 1)); /* never NULL, even without a row */
        RG_TRY(rg_ids_add(&column->start, 0));
    }
    return RG_OK;
}

/* Height and width of the layout where all pictures have them in common. */
static void show_size(rg_layout *layout, const rg_ids *size, size_t examples)
{
    if (size->count < 2 || size->count != 2 * examples || !size->data[0]) return;
    for (size_t i = 2; i < size->count; i++)
        if (size->data[i] != size->data[i % 2]) return;
    layout->height = (size_t)size->data[0];
    layout->width = (size_t)size->data[1];
}

static void show_batch(rg_batch *out, const rg_examples *c, size_t examples)
{
    *out = (rg_batch){ .examples = examples, .fields = c->fields, .lines = c->lines };
    for (size_t f = 0; f < c->fields; f++) {
        const rg_field_spec *spec = &c->spec[f];
        const rg_kind       *kind = &rg_kinds[spec->kind];
        const rg_column     *column = &c->column[f];
        rg_field            *field = &out->field[f];
        *field = (rg_field){ .kind = spec->kind, .layout = { .groups = examples, .start = column->start.data } };
        if (kind->ids) field->ids = column->ids.data;
        if (kind->values) field->values = column->values;
        if (kind->values) field->width = spec->kind == RG_FIELD_COUNTS ? 1 : spec->width;
        if (spec->predicted) field->previous = column->previous.data;
        if (spec->kind != RG_FIELD_PIXELS) continue;
        field->size = column->size.data;
        if (spec->change) field->box = column->box.data;
        show_size(&field->layout, &column->size, examples);
    }
}

static rg_status fill_batch(rg_batch *out, rg_examples *c, size_t begin, size_t end)
{
    RG_TRY(begin_batch(c, end - begin));
    for (size_t i = begin; i < end; i++) {
        rg_record_head head = { 0 };
        const int32_t *words =
            rg_examples__split(&head, c, (c->windowed ? c->window.data : c->block.data) + c->entries[i].at);
        RG_TRY(add_record(c, &head, words, c->place.epoch));
        c->lines[i - begin] = head.line;
    }
    show_batch(out, c, end - begin);
    return RG_OK;
}

static void step(rg_examples *c)
{
    if (++c->place.batch < c->batch_count) return;
    c->place.batch = 0;
    if (++c->place.window < window_count(c)) return;
    c->place.window = 0;
    c->place.epoch++;
    c->place.ended = true;
}

rg_status rg_examples_next(rg_batch *out, bool *out_new_epoch, rg_examples *c)
{
    if (!c->sealed) return rg_fail(RG_EINVAL, "a store gives batches only after it was sealed");
    RG_TRY(load_window(c));
    uint32_t b = c->order[c->place.batch];
    RG_TRY(fill_batch(out, c, c->cuts[b], c->cuts[b + 1]));
    if (out_new_epoch) *out_new_epoch = c->place.window == 0 && c->place.batch == 0;
    c->place.ended = false;
    step(c);
    return RG_OK;
}

rg_status rg_examples_next_in_epoch(bool *out_more, rg_batch *out, rg_examples *c)
{
    *out_more = !c->place.ended;
    c->place.ended = false;
    return *out_more ? rg_examples_next(out, NULL, c) : RG_OK;
}

rg_place rg_examples_tell(const rg_examples *c)
{
    return c->place;
}

double rg_examples_epoch_part(const rg_examples *c)
{
    if (!c->sealed) return 0;
    if (c->place.ended) return 1;
    const bool   here = c->loaded && c->loaded_epoch == c->place.epoch && c->loaded_window == c->place.window;
    const double inside =
        here && c->batch_count ? (double)c->place.batch / (double)c->batch_count * (double)c->entry_count : 0;
    return ((double)(c->place.window * window_size(c)) + inside) / (double)c->report.examples;
}

rg_status rg_examples_seek(rg_examples *c, rg_place place)
{
    if (!c->sealed) return rg_fail(RG_EINVAL, "a store can be moved only after it was sealed");
    if (place.window >= window_count(c))
        return rg_fail(RG_EMATCH,
                       "window %llu of data that have %llu: the checkpoint is of other data or batch settings",
                       (unsigned long long)place.window, (unsigned long long)window_count(c));
    rg_place old = c->place;
    c->place = place;
    rg_status status = load_window(c);
    if (status == RG_OK && place.batch >= c->batch_count)
        status =
            rg_fail(RG_EMATCH, "batch %llu of a window that has %zu: the checkpoint is of other data or batch settings",
                    (unsigned long long)place.batch, c->batch_count);
    if (status != RG_OK) c->place = old;
    return status;
}

rg_status rg_examples_one(rg_batch *out, rg_examples *c, uint64_t i)
{
    rg_record_head head = { 0 };
    const int32_t *words;
    if (!c->sealed || i >= c->report.examples)
        return rg_fail(RG_EINVAL, "example %llu of %llu", (unsigned long long)i,
                       (unsigned long long)c->report.examples);
    RG_TRY(rg_examples__record(&head, &words, c, i));
    RG_TRY(begin_batch(c, 1));
    RG_TRY(add_record(c, &head, words, 0));
    c->lines[0] = head.line;
    show_batch(out, c, 1);
    return RG_OK;
}
