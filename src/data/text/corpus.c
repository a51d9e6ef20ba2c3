/* corpus.c - pairs of lines: a store of examples with two fields of ids, source and target.
 *
 * What is stored, the order of batches and the checksum are those of examples.c and batches.c; the checksum starts
 * from the settings below, so that checkpoints of all versions resume. A corpus of shards (shards.c) keeps a pool of
 * them in the store and plays them one after another, each as an epoch of the store. */
#include "data/text/corpus.h"

#include <string.h>

#include "data/text/words.h"

/* ----------------------------------------------------------------------------------------------------- new, free */

static uint64_t settings_sum(const rg_corpus_config *config, const rg_vocab *source, const rg_vocab *target)
{
    const uint64_t batch = config->mini_batch ? config->mini_batch : 1000; /* the default before 0 meant no limit: same batches */
    const uint64_t settings[] = { config->max_length,
                                  config->max_length_crop,
                                  batch,
                                  config->mini_batch_words,
                                  config->maxi_batch,
                                  config->shuffle,
                                  config->source_eos,
                                  config->seed,
                                  source ? rg_vocab_checksum(source) : 0,
                                  rg_vocab_checksum(target) };
    const uint64_t source_words = config->source_words;
    const double   alphas[] = { config->source_alpha, config->target_alpha };
    uint64_t       sum = rg_hash_bytes(RG_HASH_START, settings, sizeof settings);
    if (source_words) sum = rg_hash_bytes(sum, &source_words, sizeof source_words);
    if (config->copy) sum = rg_hash_bytes(sum, "copy", 4);
    if (alphas[0] > 0 || alphas[1] > 0) sum = rg_hash_bytes(sum, alphas, sizeof alphas);
    return sum;
}

rg_status rg_corpus_new(rg_corpus **out, const rg_corpus_config *config, const rg_vocab *source, const rg_vocab *target)
{
    if (!config->mini_batch && !config->mini_batch_words)
        return rg_fail(RG_EINVAL,
                       "batches without a limit: give mini-batch (pairs) or mini-batch-words (target tokens)");
    rg_corpus *c = rg_alloc_zero(sizeof *c);
    if (!c) return RG_ENOMEM;
    if (config->copy && (source != target || rg_vocab_unk(target) < 0)) {
        rg_free(c);
        return rg_fail(RG_EINVAL, "copying needs one vocabulary for source and target, with an unknown word");
    }
    rg_status status = config->copy ? rg_open_words_new(&c->extra) : RG_OK;
    const rg_field_spec specs[] = {
        [RG_SOURCE] = { .name = "source", .kind = RG_FIELD_IDS, .vocab = source, .max_rows = config->max_length,
                        .crop = config->max_length_crop, .batch_rows = config->source_words, .eos = config->source_eos,
                        .alpha = config->source_alpha, .extra = c->extra },
        [RG_TARGET] = { .name = "target", .kind = RG_FIELD_IDS, .vocab = target, .max_rows = config->max_length,
                        .crop = config->max_length_crop, .batch_rows = config->mini_batch_words, .predicted = true,
                        .alpha = config->target_alpha, .extra = c->extra },
    };
    const rg_examples_config settings = { config->mini_batch, config->maxi_batch, config->shuffle,
                                          config->seed,       config->memory,     config->temp };
    if (status == RG_OK)
        status = rg_examples__new(&c->examples, &settings, specs, 2, settings_sum(config, source, target));
    if (status != RG_OK) {
        rg_open_words_free(c->extra);
        rg_free(c);
        return status;
    }
    c->watch = config->watch;
    c->threads = config->threads > 1 ? config->threads : 1;
    c->vocab = target;
    *out = c;
    return RG_OK;
}

rg_status rg_corpus__new_part(rg_corpus **out, const rg_corpus_config *config, const rg_vocab *source,
                              const rg_vocab *target)
{
    rg_corpus_config c = *config;
    c.memory = SIZE_MAX; /* never to a file */
    c.source_alpha = c.target_alpha = 0;
    return rg_corpus_new(out, &c, source, target);
}

void rg_corpus__clear_part(rg_corpus *part)
{
    rg_examples_report *r = &part->examples->report;
    rg_examples_clear(part->examples);
    memset(r->rows, 0, sizeof r->rows);
    memset(r->unknown, 0, sizeof r->unknown);
    if (r->files) *r->faults = (rg_examples_faults){ 0 }; /* added one by one: without a name */
    part->report = (rg_corpus_report){ 0 };
}

void rg_corpus_free(rg_corpus *c)
{
    if (!c) return;
    rg_examples_free(c->examples);
    rg_shards_free(c->shards);
    rg_open_words_free(c->extra);
    rg_copies_fini(&c->copies);
    rg_free(c);
}

/* -------------------------------------------------------------------------------------------------------- adding */

/* What the store counted, beside what the readers flagged. */
static void take_counts(rg_corpus *c)
{
    const rg_examples_report *r = rg_examples_counts(c->examples);
    c->report.pairs = r->examples;
    c->report.source_tokens = r->rows[RG_SOURCE];
    c->report.target_tokens = r->rows[RG_TARGET];
    c->report.source_unknown = r->unknown[RG_SOURCE];
    c->report.target_unknown = r->unknown[RG_TARGET];
    if (!r->files) return;
    c->report.empty = r->faults->empty;
    c->report.too_long = r->faults->too_long;
    c->report.cropped = r->faults->cropped;
}

rg_status rg_corpus_add(rg_corpus *c, const char *source, const char *target, uint64_t line)
{
    const rg_cell cells[] = { { .bytes = source ? source : "", .count = source ? strlen(source) : 0 },
                              { .bytes = target, .count = strlen(target) } };
    const uint64_t source_tokens = c->report.source_tokens, target_tokens = c->report.target_tokens;
    RG_TRY(rg_examples_add(c->examples, cells, line));
    c->report.lines++;
    take_counts(c);
    if (c->report.target_tokens - target_tokens > c->report.source_tokens - source_tokens)
        rg_fault_note(&c->report.longer, line);
    return RG_OK;
}

static rg_status no_pair(const rg_corpus *c)
{
    rg_text why = { 0 };
    (void)rg_corpus_describe(&why, c);
    rg_status status = rg_fail(RG_EINVAL, "the corpus has no usable pair: %s", rg_text_c(&why));
    rg_text_free(&why);
    return status;
}

rg_status rg_corpus_seal(rg_corpus *c)
{
    return c->report.pairs ? rg_examples_seal(c->examples) : no_pair(c);
}

/* What the readers flagged; a line past the byte limit is empty and must not count twice. */
static void note_faults(rg_corpus *c, uint64_t line, unsigned faults)
{
    if (faults & RG_LINE_BAD_UTF8) rg_fault_note(&c->report.bad_utf8, line);
    if (faults & RG_LINE_NUL) rg_fault_note(&c->report.nul, line);
    if (faults & RG_LINE_TOO_LONG) rg_fault_note(&c->report.line_limit, line);
}

rg_status rg_corpus__add_pair(rg_corpus *c, const rg_line_pair *pair)
{
    note_faults(c, pair->line, pair->faults[RG_SOURCE]);
    note_faults(c, pair->line, pair->faults[RG_TARGET]);
    if ((pair->faults[RG_SOURCE] | pair->faults[RG_TARGET]) & RG_LINE_TOO_LONG) {
        c->report.lines++;
        return RG_OK;
    }
    return rg_corpus_add(c, pair->source, pair->target, pair->line);
}

static void add_fault(rg_fault *to, const rg_fault *more)
{
    for (uint64_t i = 0; i < RG_FAULT_LINES && i < more->count && to->count + i < RG_FAULT_LINES; i++)
        to->lines[to->count + i] = more->lines[i];
    to->count += more->count;
}

void rg_corpus__count(rg_corpus_report *r, const rg_corpus_report *part)
{
    r->lines += part->lines;
    r->pairs += part->pairs;
    r->source_tokens += part->source_tokens;
    r->target_tokens += part->target_tokens;
    r->source_unknown += part->source_unknown;
    r->target_unknown += part->target_unknown;
    add_fault(&r->empty, &part->empty);
    add_fault(&r->too_long, &part->too_long);
    add_fault(&r->cropped, &part->cropped);
    add_fault(&r->bad_utf8, &part->bad_utf8);
    add_fault(&r->nul, &part->nul);
    add_fault(&r->line_limit, &part->line_limit);
    add_fault(&r->longer, &part->longer);
}

/* -------------------------------------------------------------------------------------------------------- pools */

enum { POOL_SHIFT = 32 }; /* a place's window is pool << 32 | window of the pool */

static void next_pool(rg_corpus *c)
{
    c->loaded = false;
    if (++c->pool < rg_shards_pools(c->shards)) return;
    c->pool = 0;
    c->epoch++;
    c->ended = true;
}

/* The pool of c->epoch and c->pool, at the beginning of its window. Every pool is an epoch of the store: no order
 * comes twice. */
static rg_status load_pool(rg_corpus *c, uint64_t window, uint64_t batch)
{
    const uint64_t epoch = c->epoch * rg_shards_pools(c->shards) + c->pool;
    c->loaded = false;
    RG_TRY(rg_shards_load(c->examples, &c->report, c->shards, c->epoch, c->pool));
    if (!rg_examples_count(c->examples)) return RG_OK;
    RG_TRY(rg_examples_seek(c->examples, (rg_place){ .epoch = epoch, .window = window, .batch = batch }));
    c->loaded = true;
    return RG_OK;
}

/* The next pool with a pair, at most to the end of the epoch. */
static rg_status find_pool(rg_corpus *c)
{
    while (!c->loaded && !c->ended) {
        RG_TRY(load_pool(c, 0, 0));
        if (!c->loaded) next_pool(c);
    }
    return RG_OK;
}

static rg_status next_of_pool(rg_batch *out, bool *out_new_epoch, rg_corpus *c)
{
    bool first;
    RG_TRY(rg_examples_next(out, &first, c->examples));
    if (out_new_epoch) *out_new_epoch = first && c->pool == 0;
    if (rg_examples_tell(c->examples).ended) next_pool(c);
    return RG_OK;
}

static rg_status next_of_shards(rg_batch *out, bool *out_new_epoch, rg_corpus *c)
{
    for (int i = 0; i < 2 && !c->loaded; i++) { /* the pools that are left of an epoch may have no pair */
        c->ended = false;
        RG_TRY(find_pool(c));
    }
    c->ended = false;
    return c->loaded ? next_of_pool(out, out_new_epoch, c) : no_pair(c);
}

static rg_status next_of_shards_in_epoch(bool *out_more, rg_batch *out, rg_corpus *c)
{
    RG_TRY(find_pool(c));
    *out_more = !c->ended;
    c->ended = false;
    if (!*out_more && rg_shards_counted(c->shards) && !c->report.pairs) return no_pair(c);
    return *out_more ? next_of_pool(out, NULL, c) : RG_OK;
}

static rg_corpus_place tell_of_shards(const rg_corpus *c)
{
    rg_corpus_place p = { .epoch = c->epoch, .window = c->pool << POOL_SHIFT, .ended = c->ended };
    if (!c->loaded) return p;
    const rg_place inside = rg_examples_tell(c->examples);
    p.window |= inside.window;
    p.batch = inside.batch;
    return p;
}

static rg_status seek_in_shards(rg_corpus *c, rg_corpus_place place)
{
    const uint64_t pool = place.window >> POOL_SHIFT, window = place.window & UINT32_MAX;
    if (pool >= rg_shards_pools(c->shards))
        return rg_fail(RG_EMATCH, "pool %llu of data that have %llu: the checkpoint is of other data or batch settings",
                       (unsigned long long)pool, (unsigned long long)rg_shards_pools(c->shards));
    c->epoch = place.epoch;
    c->pool = pool;
    c->ended = place.ended;
    c->loaded = false;
    if (!window && !place.batch) return RG_OK; /* where every pool begins: it is loaded when it is needed */
    RG_TRY(load_pool(c, window, place.batch));
    return c->loaded ? RG_OK
                     : rg_fail(RG_EMATCH, "pool %llu has no pair: the checkpoint is of other data or batch settings",
                               (unsigned long long)pool);
}

/* ------------------------------------------------------------------------------------------------------- batches */

/* Ids of words that can be copied become those of their example. */
static rg_status map_copies(rg_batch *out, rg_corpus *c)
{
    return c->extra ? rg_copies_map(out, &c->copies, c->vocab) : RG_OK;
}

rg_status rg_corpus_next(rg_batch *out, bool *out_new_epoch, rg_corpus *c)
{
    if (c->shards) return next_of_shards(out, out_new_epoch, c);
    RG_TRY(rg_examples_next(out, out_new_epoch, c->examples));
    return map_copies(out, c);
}

rg_status rg_corpus_next_in_epoch(bool *out_more, rg_batch *out, rg_corpus *c)
{
    if (c->shards) return next_of_shards_in_epoch(out_more, out, c);
    RG_TRY(rg_examples_next_in_epoch(out_more, out, c->examples));
    return *out_more ? map_copies(out, c) : RG_OK;
}

rg_status rg_corpus_pair(rg_batch *out, rg_corpus *c, uint64_t i)
{
    if (c->shards) return rg_fail(RG_EINVAL, "pairs of a corpus of shards have no numbers");
    RG_TRY(rg_examples_one(out, c->examples, i));
    return map_copies(out, c);
}

double rg_corpus_epoch_part(const rg_corpus *c)
{
    if (!c->shards) return rg_examples_epoch_part(c->examples);
    if (c->ended) return 1;
    const double inside = c->loaded ? rg_examples_epoch_part(c->examples) : 0;
    return ((double)c->pool + inside) / (double)rg_shards_pools(c->shards);
}

rg_corpus_place rg_corpus_tell(const rg_corpus *c)
{
    return c->shards ? tell_of_shards(c) : rg_examples_tell(c->examples);
}

rg_status rg_corpus_seek(rg_corpus *c, rg_corpus_place place)
{
    return c->shards ? seek_in_shards(c, place) : rg_examples_seek(c->examples, place);
}

/* ------------------------------------------------------------------------------------------------------- telling */

uint64_t rg_corpus_pairs(const rg_corpus *c)
{
    return c->report.pairs;
}

const rg_corpus_report *rg_corpus_counts(const rg_corpus *c)
{
    return &c->report;
}

uint64_t rg_corpus_checksum(const rg_corpus *c)
{
    return c->shards ? c->sum : rg_examples_checksum(c->examples);
}

rg_status rg_corpus_describe(rg_text *out, const rg_corpus *c)
{
    const rg_corpus_report *r = &c->report;
    const struct { const rg_fault *fault; const char *what; } faults[] = {
        { &r->empty, "empty, skipped" },         { &r->too_long, "too long, skipped" },
        { &r->cropped, "too long, cropped" },    { &r->line_limit, "over the byte limit of a line, skipped" },
        { &r->bad_utf8, "with bad UTF-8, replaced by U+FFFD" }, { &r->nul, "with NUL bytes, replaced by U+FFFD" },
    };
    if (c->shards && !rg_shards_counted(c->shards))
        return rg_text_print(out, "%llu pairs of lines, encoded when they are needed, in %llu pools",
                             (unsigned long long)rg_shards_lines(c->shards),
                             (unsigned long long)rg_shards_pools(c->shards));
    RG_TRY(rg_text_print(out, "%llu of %llu pairs, %llu source and %llu target tokens", (unsigned long long)r->pairs,
                         (unsigned long long)r->lines, (unsigned long long)r->source_tokens,
                         (unsigned long long)r->target_tokens));
    if (r->source_unknown || r->target_unknown)
        RG_TRY(rg_text_print(out, " (%llu and %llu unknown)", (unsigned long long)r->source_unknown,
                             (unsigned long long)r->target_unknown));
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (!faults[i].fault->count) continue;
        RG_TRY(rg_text_add_string(out, "; "));
        RG_TRY(rg_fault_print(out, faults[i].fault, faults[i].what));
    }
    /* Of texts and their summaries; translations are often longer. */
    if (!r->longer.count || 2 * r->source_tokens < 3 * r->target_tokens) return RG_OK;
    RG_TRY(rg_text_add_string(out, "; "));
    return rg_fault_print(out, &r->longer, "with a target longer than its source, kept");
}
