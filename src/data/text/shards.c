/* shards.c - a corpus that is not whole in memory: lines are numbered, shards of them encoded when they are needed.
 *
 *   source   | shard 0 | shard 1 | shard 2 | ...         order of an epoch:   2 0 5 | 1 4 3      pools of three
 *   target   | shard 0 | shard 1 | shard 2 | ...
 *
 * The threads of a team take shards of a pool: each reads the lines of both files, cleans, encodes and filters them.
 * The caller then joins the records in the order of the pool, counts what is seen for the first time, and puts it into
 * the cache. What a shard becomes depends on its text, the vocabularies and the limits of length alone. */
#include "data/text/shards.h"

#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "data/text/corpus.h"
#include "data/text/kept.h"
#include "data/text/line_index.h"
#include "data/text/shard_cache.h"

/* A thread's room. */
typedef struct {
    rg_corpus *part;
    rg_text    text[2];
    rg_status  status;
    char       message[512];
} member;

/* A shard of the pool that is loaded. */
typedef struct {
    size_t           shard;
    bool             ready; /* from the cache */
    rg_text          records;
    rg_corpus_report report;
} slot;

struct rg_shards {
    rg_corpus_config config; /* watch is borrowed, cache is not kept */
    const rg_vocab  *vocab[2];
    rg_line_index    side[2];
    rg_shard_cache  *cache; /* NULL: nowhere */
    bool            *seen;  /* shards that are counted */
    size_t           shards, unseen;
    slot            *slots; /* of a pool */
    size_t           slot_count;
    member          *members;
    int              threads;
    rg_team         *team;
    atomic_bool      stop; /* while a pool is loaded: nobody begins another line */
};

rg_status rg_corpus_is_large(bool *out, const rg_corpus_config *config, const char *source_path,
                             const char *target_path)
{
    uint64_t source = 0, target = 0;
    *out = false;
    if (!config->shards_above || config->copy || !source_path) return RG_OK;
    RG_TRY(rg_line_index_can(out, &source, source_path));
    if (*out) RG_TRY(rg_line_index_can(out, &target, target_path));
    *out = *out && (source > config->shards_above || target > config->shards_above - source);
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------- open, close */

static rg_status index_files(rg_shards *s, const char *source_path, const char *target_path)
{
    const uint64_t every = s->config.shard_pairs;
    RG_TRY(rg_line_index_make(&s->side[RG_SOURCE], source_path, every, s->config.watch));
    RG_TRY(rg_line_index_make(&s->side[RG_TARGET], target_path, every, s->config.watch));
    if (s->side[RG_SOURCE].lines != s->side[RG_TARGET].lines)
        return rg_fail(RG_EMATCH, "%s has %llu lines and %s has %llu: they must be translations line by line",
                       source_path, (unsigned long long)s->side[RG_SOURCE].lines, target_path,
                       (unsigned long long)s->side[RG_TARGET].lines);
    s->shards = s->unseen = s->side[RG_SOURCE].parts;
    s->seen = rg_alloc_zero(s->shards + 1);
    return s->seen ? RG_OK : RG_ENOMEM;
}

/* What records follow from: text, vocabularies, limits of length. */
static uint64_t cache_key(const rg_shards *s)
{
    const uint64_t from[] = { rg_line_index_sum(&s->side[RG_SOURCE]), rg_line_index_sum(&s->side[RG_TARGET]),
                              rg_vocab_checksum(s->vocab[RG_SOURCE]), rg_vocab_checksum(s->vocab[RG_TARGET]),
                              s->config.max_length, s->config.max_length_crop,
                              s->config.shard_pairs };
    return rg_hash64_of(from, sizeof from);
}

static rg_status open_cache(rg_shards *s, rg_corpus_report *report, const char *directory, const char *target_path)
{
    const uint64_t key = cache_key(s);
    if (directory && !*directory) return RG_OK;
    char     *path = rg_kept_path(directory, target_path, key, "encoded");
    rg_status status = path ? rg_shard_cache_open(&s->cache, path, key, s->shards, report, sizeof *report) : RG_ENOMEM;
    rg_free(path);
    if (status != RG_OK || !rg_shard_cache_whole(s->cache)) return status;
    memset(s->seen, true, s->shards);
    s->unseen = 0;
    return RG_OK;
}

static rg_status make_room(rg_shards *s)
{
    s->slot_count = s->config.pool_shards;
    s->slots = rg_alloc_zero(s->slot_count * sizeof *s->slots);
    s->members = rg_alloc_zero((size_t)s->threads * sizeof *s->members);
    if (!s->slots || !s->members) return RG_ENOMEM;
    for (int i = 0; i < s->threads; i++)
        RG_TRY(rg_corpus__new_part(&s->members[i].part, &s->config, s->vocab[RG_SOURCE], s->vocab[RG_TARGET]));
    return s->threads > 1 ? rg_team_new(&s->team, s->threads) : RG_OK;
}

rg_status rg_shards_open(rg_shards **out, rg_corpus_report *report, const rg_corpus_config *config,
                         const char *source_path, const char *target_path, const rg_vocab *source,
                         const rg_vocab *target)
{
    *out = NULL;
    if (!config->shard_pairs || !config->pool_shards || config->pool_shards > 1u << 20)
        return rg_fail(RG_EINVAL, "%zu shards of %zu pairs in a pool", config->pool_shards, config->shard_pairs);
    rg_shards *s = rg_alloc_zero(sizeof *s);
    if (!s) return RG_ENOMEM;
    s->config = *config;
    s->config.cache = s->config.temp = NULL;
    s->vocab[RG_SOURCE] = source;
    s->vocab[RG_TARGET] = target;
    s->threads = config->threads > 1 ? config->threads : 1;
    rg_status status = index_files(s, source_path, target_path);
    if (status == RG_OK) status = open_cache(s, report, config->cache, target_path);
    if (status == RG_OK) status = make_room(s);
    if (status == RG_OK) *out = s;
    else rg_shards_free(s);
    return status;
}

void rg_shards_free(rg_shards *s)
{
    if (!s) return;
    rg_team_free(s->team);
    rg_shard_cache_close(s->cache);
    for (int i = 0; s->members && i < s->threads; i++) {
        rg_corpus_free(s->members[i].part);
        rg_text_free(&s->members[i].text[RG_SOURCE]);
        rg_text_free(&s->members[i].text[RG_TARGET]);
    }
    for (size_t i = 0; s->slots && i < s->slot_count; i++) rg_text_free(&s->slots[i].records);
    for (int side = 0; side < 2; side++) rg_line_index_free(&s->side[side]);
    rg_free(s->members);
    rg_free(s->slots);
    rg_free(s->seen);
    rg_free(s);
}

uint64_t rg_shards_lines(const rg_shards *s)
{
    return s->side[RG_SOURCE].lines;
}

uint64_t rg_shards_sum(const rg_shards *s)
{
    const uint64_t from[] = { cache_key(s), s->config.pool_shards };
    return rg_hash64_of(from, sizeof from);
}

uint64_t rg_shards_pools(const rg_shards *s)
{
    return (s->shards + s->slot_count - 1) / s->slot_count;
}

bool rg_shards_counted(const rg_shards *s)
{
    return s->unseen == 0;
}

/* ------------------------------------------------------------------------------------------------------- encoding */

/* The caller asks the watch for all. */
static rg_status check_stop(rg_shards *s, int number, uint64_t lines)
{
    const rg_read_watch *watch = s->config.watch;
    if (number == 0 && watch && lines % RG_READ_EVERY == 0 && !watch->go_on(watch->context, lines))
        atomic_store(&s->stop, true);
    if (!atomic_load_explicit(&s->stop, memory_order_relaxed)) return RG_OK;
    return rg_fail(RG_ESTOP, "asked to stop while text was encoded");
}

static rg_status encode_lines(rg_shards *s, int number, rg_two_files *files, uint64_t before)
{
    for (uint64_t lines = 0;; lines++) {
        rg_line_pair pair;
        bool         more;
        RG_TRY(rg_two_files_next(&more, &pair, files));
        if (!more) return RG_OK;
        RG_TRY(check_stop(s, number, lines));
        pair.line += before;
        RG_TRY(rg_corpus__add_pair(s->members[number].part, &pair));
    }
}

static rg_status encode_shard(rg_shards *s, int number, slot *into)
{
    member      *m = &s->members[number];
    rg_two_files files = { 0 };
    rg_corpus__clear_part(m->part);
    for (int side = 0; side < 2; side++) RG_TRY(rg_line_index_read(&m->text[side], &s->side[side], into->shard));
    rg_status status = rg_two_files_open_bytes(&files, &m->text[RG_SOURCE], &m->text[RG_TARGET]);
    if (status == RG_OK) status = encode_lines(s, number, &files, into->shard * s->config.shard_pairs);
    rg_two_files_close(&files);
    RG_TRY(status);
    const rg_text *block = &m->part->examples->block;
    rg_text_clear(&into->records);
    into->report = m->part->report;
    return rg_text_add(&into->records, rg_text_c(block), block->length);
}

static void encode_some(void *context, int number, size_t begin, size_t end)
{
    rg_shards *s = context;
    member    *m = &s->members[number];
    for (size_t i = begin; i < end && m->status == RG_OK; i++)
        if (!s->slots[i].ready) m->status = encode_shard(s, number, &s->slots[i]);
    if (m->status == RG_OK) return;
    memset(m->message, 0, sizeof m->message);
    memcpy(m->message, rg_message(), strnlen(rg_message(), sizeof m->message - 1));
    atomic_store(&s->stop, true); /* the others need not finish */
}

/* What stopped the others counts, and not that they were stopped. */
static rg_status first_failure(const rg_shards *s)
{
    const member *failed = NULL;
    for (int i = 0; i < s->threads; i++) {
        const member *m = &s->members[i];
        if (m->status != RG_OK && (!failed || failed->status == RG_ESTOP)) failed = m;
    }
    return failed ? rg_fail(failed->status, "%s", failed->message) : RG_OK;
}

/* -------------------------------------------------------------------------------------------------------- loading */

/* Which shards are in a pool, and the records of those that are in the cache. */
static size_t choose(rg_shards *s, uint64_t epoch, uint64_t pool)
{
    size_t count = 0;
    for (uint64_t i = pool * s->slot_count; i < s->shards && count < s->slot_count; i++) {
        slot *x = &s->slots[count++];
        x->shard = s->config.shuffle
                       ? (size_t)rg_examples__permute(s->config.seed ^ 0x73686172, epoch, s->shards, i)
                       : (size_t)i;
        x->ready = rg_shard_cache_whole(s->cache) && rg_shard_cache_read(&x->records, s->cache, x->shard);
    }
    return count;
}

static void keep(rg_shards *s, rg_corpus_report *report, const slot *x)
{
    if (!s->seen[x->shard]) {
        rg_corpus__count(report, &x->report);
        s->seen[x->shard] = true;
        s->unseen--;
    }
    rg_shard_cache_put(s->cache, x->shard, rg_text_c(&x->records), x->records.length, report);
}

static rg_status join(rg_examples *out, rg_corpus_report *report, rg_shards *s, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const slot     *x = &s->slots[i];
        const rg_status status = rg_examples__append(out, rg_text_c(&x->records), x->records.length);
        if (status == RG_EFORMAT) return rg_fail_in(status, "remove the file of encoded text, it was tampered with: ");
        RG_TRY(status);
        if (!x->ready) keep(s, report, x);
    }
    return rg_examples_count(out) ? rg_examples_seal(out) : RG_OK;
}

rg_status rg_shards_load(rg_examples *out, rg_corpus_report *report, rg_shards *s, uint64_t epoch, uint64_t pool)
{
    const size_t count = choose(s, epoch, pool);
    rg_examples_clear(out);
    atomic_store(&s->stop, false);
    for (int i = 0; i < s->threads; i++) s->members[i].status = RG_OK;
    rg_team_for(s->team, count, 1, encode_some, s);
    rg_status status = first_failure(s);
    if (status == RG_OK) status = join(out, report, s, count);
    if (status != RG_OK) rg_examples_clear(out);
    return status;
}
