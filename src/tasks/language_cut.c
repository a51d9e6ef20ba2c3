/* language_cut.c - see language_cut.h. */
#include "tasks/language_cut.h"

#include "data/text/words.h"

struct rg_cut {
    rg_cut_config config;
    uint64_t      length;                        /* rows of a stream; windows: windows of an epoch */
    uint64_t      batches;                       /* of an epoch */
    rg_place      place;                         /* epoch, batch */
    int32_t      *ids, *previous, *start, *none; /* none: the layout of the empty source */
    uint64_t     *lines;
};

static bool streams(const rg_cut *c) { return c->config.chunk > 0; }

/* Rows that batches 0 .. b-1 predicted of every stream. */
static uint64_t rows_before(const rg_cut *c, uint64_t b)
{
    const uint64_t rows = b ? (b - 1) * c->config.chunk + c->config.bptt : 0;
    return rows < c->length ? rows : c->length;
}

static rg_status count_batches(rg_cut *c)
{
    const rg_cut_config *o = &c->config;
    const uint64_t       all = o->text.count;
    if (streams(c)) {
        if (all < o->batch)
            return rg_fail(RG_EINVAL, "a text of %llu %s cannot be cut into %zu streams: lower --mini-batch",
                           (unsigned long long)all, o->text.text ? "tokens" : "rows", o->batch);
        c->length = all / o->batch;
        c->batches = c->length <= o->bptt ? 1 : 1 + (c->length - o->bptt + o->chunk - 1) / o->chunk;
        return RG_OK;
    }
    if (o->random && all < o->context)
        return rg_fail(RG_EINVAL, "a text of %llu tokens has no window of %zu: lower --context",
                       (unsigned long long)all, o->context);
    c->length = o->random ? all / o->context : (all + o->context - 1) / o->context;
    c->batches = (c->length + o->batch - 1) / o->batch;
    return RG_OK;
}

rg_status rg_cut_new(rg_cut **out, const rg_cut_config *config)
{
    const size_t each = config->chunk ? config->bptt : config->context;
    size_t       rows;
    *out = NULL;
    if (!config->batch || !each || (config->chunk && config->bptt < config->chunk))
        return rg_fail(RG_EINVAL, "%zu streams or windows of %zu rows, carried on after %zu", config->batch, each,
                       config->chunk);
    if (!rg_size_mul(&rows, config->batch, each) || rows > INT32_MAX)
        return rg_fail(RG_ELIMIT, "a batch of %zu times %zu rows", config->batch, each);
    rg_cut *c = rg_alloc_zero(sizeof *c);
    if (!c) return RG_ENOMEM;
    c->config = *config;
    c->ids = rg_alloc_array(rows, sizeof *c->ids);
    c->previous = rg_alloc_array(rows + 1, sizeof *c->previous);
    c->start = rg_alloc_array(config->batch + 1, sizeof *c->start);
    c->none = rg_alloc_zero((config->batch + 1) * sizeof *c->none);
    c->lines = rg_alloc_array(config->batch, sizeof *c->lines);
    rg_status status = c->ids && c->previous && c->start && c->none && c->lines ? count_batches(c) : RG_ENOMEM;
    if (status != RG_OK) rg_cut_free(c);
    else *out = c;
    return status;
}

void rg_cut_free(rg_cut *c)
{
    if (!c) return;
    rg_free(c->ids);
    rg_free(c->previous);
    rg_free(c->start);
    rg_free(c->none);
    rg_free(c->lines);
    rg_free(c);
}

/* ---------------------------------------------------------------------------------------------------------- batches */

static rg_status read(int32_t *out, const rg_text_range *text, uint64_t from, size_t n)
{
    if (text->text) return rg_running_read(out, text->text, text->from + from, n);
    for (size_t i = 0; i < n; i++) out[i] = (int32_t)(text->from + from + i);
    return RG_OK;
}

/* Rows from .. from + n - 1 of the text become the next example; the first `seen` are input alone. */
static rg_status add_example(rg_cut *c, rg_batch *out, uint64_t from, size_t n, size_t seen)
{
    const rg_text_range *text = &c->config.text;
    const size_t         at = out->examples ? (size_t)c->start[out->examples] : 0;
    int32_t             *ids = c->ids + at, *previous = c->previous + at;
    RG_TRY(read(ids, text, from, n));
    if (from || text->from) RG_TRY(read(previous, text, from - 1, 1));
    else previous[0] = c->config.first;
    for (size_t i = 1; i < n; i++) previous[i] = ids[i - 1];
    for (size_t i = 0; i < seen && i < n; i++) ids[i] = -1;
    c->start[0] = 0;
    c->lines[out->examples] = text->from + from + 1;
    c->start[++out->examples] = (int32_t)(at + n);
    return RG_OK;
}

static rg_status next_streams(rg_cut *c, rg_batch *out)
{
    const rg_cut_config *o = &c->config;
    const uint64_t       b = c->place.batch, from = b * o->chunk, left = c->length - from;
    const size_t n = left < o->bptt ? (size_t)left : o->bptt, seen = (size_t)(rows_before(c, b) - (b ? from : 0));
    for (size_t s = 0; s < o->batch; s++) RG_TRY(add_example(c, out, s * c->length + from, n, seen));
    out->carry = o->carry;
    out->carry_after = o->chunk < n ? o->chunk : 0;
    if (o->carry && b == 0) rg_carry_zero(o->carry);
    else if (o->carry) rg_carry_turn(o->carry);
    return RG_OK;
}

static rg_status next_windows(rg_cut *c, rg_batch *out)
{
    const rg_cut_config *o = &c->config;
    const uint64_t first = c->place.batch * o->batch, left = c->length - first, n = left < o->batch ? left : o->batch;
    rg_random      random = rg_random_new(o->seed, (c->place.epoch << 32) + c->place.batch);
    for (uint64_t w = 0; w < (o->random ? o->batch : n); w++) {
        const uint64_t from = o->random ? rg_random_below(&random, o->text.count - o->context + 1)
                                        : (first + w) * o->context;
        const uint64_t rest = o->text.count - from;
        RG_TRY(add_example(c, out, from, rest < o->context ? (size_t)rest : o->context, 0));
    }
    return RG_OK;
}

rg_status rg_cut_next(bool *out_more, rg_batch *out, rg_cut *c)
{
    *out = (rg_batch){ .fields = 2, .lines = c->lines };
    *out_more = c->place.batch < c->batches;
    if (!*out_more) {
        c->place = (rg_place){ .epoch = c->place.epoch + 1 };
        return RG_OK;
    }
    RG_TRY(streams(c) ? next_streams(c, out) : next_windows(c, out));
    out->field[RG_SOURCE] = (rg_field){ .kind = RG_FIELD_IDS, .layout = { .groups = out->examples, .start = c->none } };
    out->field[RG_TARGET] = (rg_field){ .kind = RG_FIELD_IDS,
                                        .layout = { .groups = out->examples, .start = c->start },
                                        .ids = c->ids,
                                        .previous = c->previous };
    c->place.batch++;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------------ place */

double   rg_cut_epoch_part(const rg_cut *c) { return (double)c->place.batch / (double)c->batches; }
rg_place rg_cut_tell(const rg_cut *c) { return c->place; }

uint64_t rg_cut_left_out(const rg_cut *c)
{
    return streams(c) ? c->config.text.count - c->length * c->config.batch : 0;
}

rg_status rg_cut_seek(rg_cut *c, rg_place place)
{
    if (place.batch > c->batches)
        return rg_fail(RG_EMATCH, "batch %llu of an epoch of %llu", (unsigned long long)place.batch,
                       (unsigned long long)c->batches);
    c->place = (rg_place){ .epoch = place.epoch, .batch = place.batch };
    return RG_OK;
}

uint64_t rg_cut_checksum(const rg_cut *c)
{
    const rg_cut_config *o = &c->config;
    const uint64_t       settings[] = { o->text.from, o->text.count, o->batch,  o->chunk,
                                        o->bptt,      o->context,    o->random, o->seed };
    return rg_hash_bytes(o->text.text ? rg_running_checksum(o->text.text) : o->checksum, settings, sizeof settings);
}
