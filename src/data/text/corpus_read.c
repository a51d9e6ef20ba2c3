/* corpus_read.c - files into a corpus: lines are read one after another, a block of them at a time, and encoded by all
 * threads.
 *
 *   reader --> block of pairs --> thread 0: pairs 0 .. k      --> part 0 --+
 *                                 thread 1: pairs k+1 .. 2k   --> part 1 --+--> corpus, in the order of lines
 *                                 ...
 *
 * A pair is encoded by itself and parts are joined in order, so the number of threads changes no bit. Words that can be
 * copied get numbers in the order in which they come, and are encoded by the caller alone. */
#include "data/text/corpus.h"

#include <string.h>

#include "data/text/words.h"
#include "regard/reader.h"

enum { BLOCK_PAIRS = 4096 }; /* for each thread */

static const rg_lines_config reading = { RG_TEXT_AS_IS, (size_t)16 << 20 }; /* the vocabulary normalises */

/* -------------------------------------------------------------------------------------------------------- sources */

rg_status rg_two_files_open(rg_two_files *f, const char *source_path, const char *target_path)
{
    *f = (rg_two_files){ 0 };
    if (source_path) RG_TRY(rg_lines_open(&f->source, source_path, &reading));
    return rg_lines_open(&f->target, target_path, &reading);
}

rg_status rg_two_files_open_bytes(rg_two_files *f, const rg_text *source, const rg_text *target)
{
    *f = (rg_two_files){ 0 };
    RG_TRY(rg_lines_open_bytes(&f->source, rg_text_c(source), source->length, &reading));
    return rg_lines_open_bytes(&f->target, rg_text_c(target), target->length, &reading);
}

void rg_two_files_close(rg_two_files *f)
{
    rg_lines_close(f->source);
    rg_lines_close(f->target);
}

static rg_status count_rest(rg_lines *lines)
{
    rg_line line;
    bool    more = true;
    while (more) RG_TRY(rg_lines_next(&more, &line, lines));
    return RG_OK;
}

static rg_status unequal(rg_lines *longer, const rg_two_files *f)
{
    RG_TRY(count_rest(longer));
    return rg_fail(RG_EMATCH, "%s has %llu lines and %s has %llu: they must be translations line by line",
                   rg_lines_name(f->source), (unsigned long long)rg_lines_count(f->source), rg_lines_name(f->target),
                   (unsigned long long)rg_lines_count(f->target));
}

rg_status rg_two_files_next(bool *out_more, rg_line_pair *out, void *context)
{
    rg_two_files *f = context;
    rg_line       s = { 0 }, t = { 0 };
    bool          more_s = true;
    if (f->source) RG_TRY(rg_lines_next(&more_s, &s, f->source));
    RG_TRY(rg_lines_next(out_more, &t, f->target));
    if (f->source && more_s != *out_more) return unequal(more_s ? f->source : f->target, f);
    *out = (rg_line_pair){ .source = s.text, .target = t.text, .line = t.number, .faults = { s.faults, t.faults } };
    return RG_OK;
}

static rg_status next_of_table(bool *out_more, rg_line_pair *out, void *context)
{
    rg_row row;
    RG_TRY(rg_reader_next(out_more, &row, context));
    if (!*out_more) return RG_OK;
    *out = (rg_line_pair){ .line = row.line, .faults = { 0, row.faults } };
    if (row.faults & RG_LINE_TOO_LONG) return RG_OK; /* such a row has no cells */
    out->source = row.cell[RG_SOURCE].bytes;
    out->target = row.cell[RG_TARGET].bytes;
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------------- blocks */

/* A pair whose texts stand in the block; source NONE: it has none. */
typedef struct {
    size_t   source, target;
    uint64_t line;
    unsigned faults[2];
} place;
#define NONE SIZE_MAX

/* What one thread encodes, and what became of it. */
typedef struct {
    rg_corpus *corpus;
    rg_status  status;
    char       message[512];
} part;

typedef struct {
    rg_corpus             *corpus;
    const rg_pairs_source *from;
    rg_text                text;
    place                 *places;
    size_t                 count, room;
    part                  *parts;
    int                    threads;
    rg_team               *team;
    uint64_t               read;
} work;

static rg_status ask_watch(work *w)
{
    const rg_read_watch *watch = w->corpus->watch;
    if (!watch || ++w->read % RG_READ_EVERY || watch->go_on(watch->context, w->read)) return RG_OK;
    return rg_fail(RG_ESTOP, "asked to stop while the corpus was read, at line %llu", (unsigned long long)w->read);
}

static rg_status copy_text(size_t *out, rg_text *block, const char *text)
{
    *out = text ? block->length : NONE;
    return text ? rg_text_add(block, text, strlen(text) + 1) : RG_OK;
}

/* Bytes bound a block too: lines may be long. */
static rg_status fill(bool *out_more, work *w)
{
    enum { BLOCK_BYTES = 1 << 20 };
    const size_t most = (size_t)w->threads * BLOCK_BYTES;
    rg_text_clear(&w->text);
    for (w->count = 0; w->count < w->room && w->text.length < most; w->count++) {
        rg_line_pair pair;
        place       *at = &w->places[w->count];
        RG_TRY(w->from->next(out_more, &pair, w->from->context));
        if (!*out_more) return RG_OK;
        RG_TRY(ask_watch(w));
        *at = (place){ .line = pair.line, .faults = { pair.faults[0], pair.faults[1] } };
        RG_TRY(copy_text(&at->source, &w->text, pair.source));
        RG_TRY(copy_text(&at->target, &w->text, pair.target));
    }
    return RG_OK;
}

static void encode(void *context, int member, size_t begin, size_t end)
{
    work *w = context;
    part *p = &w->parts[member];
    for (size_t i = begin; p->status == RG_OK && i < end; i++) {
        const place       *at = &w->places[i];
        const rg_line_pair pair = { .source = at->source == NONE ? NULL : w->text.data + at->source,
                                    .target = at->target == NONE ? NULL : w->text.data + at->target,
                                    .line = at->line,
                                    .faults = { at->faults[0], at->faults[1] } };
        p->status = rg_corpus__add_pair(p->corpus, &pair);
    }
    if (p->status != RG_OK) memcpy(p->message, rg_message(), strnlen(rg_message(), sizeof p->message - 1));
}

/* Parts in the order of threads are pairs in the order of lines: threads take contiguous shares. */
static rg_status join(work *w)
{
    rg_corpus *c = w->corpus;
    for (int i = 0; i < w->threads; i++) {
        part              *p = &w->parts[i];
        const rg_examples *e = p->corpus->examples;
        if (p->status != RG_OK) return rg_fail(p->status, "%s", p->message);
        RG_TRY(rg_examples__append(c->examples, rg_text_c(&e->block), e->block.length));
        rg_corpus__count(&c->report, &p->corpus->report);
        rg_corpus__clear_part(p->corpus);
    }
    return RG_OK;
}

static rg_status read_blocks(work *w)
{
    for (bool more = true; more;) {
        RG_TRY(fill(&more, w));
        rg_team_for(w->team, w->count, 64, encode, w);
        RG_TRY(join(w));
    }
    return RG_OK;
}

static rg_status start(work *w, const rg_corpus_config *config, const rg_vocab *source, const rg_vocab *target)
{
    w->room = (size_t)w->threads * BLOCK_PAIRS;
    w->places = rg_alloc_array(w->room, sizeof *w->places);
    w->parts = rg_alloc_zero((size_t)w->threads * sizeof *w->parts);
    if (!w->places || !w->parts) return RG_ENOMEM;
    for (int i = 0; i < w->threads; i++) RG_TRY(rg_corpus__new_part(&w->parts[i].corpus, config, source, target));
    return w->threads > 1 ? rg_team_new(&w->team, w->threads) : RG_OK;
}

static rg_status read_in_order(rg_corpus *c, const rg_pairs_source *from)
{
    work w = { .corpus = c };
    for (;;) {
        rg_line_pair pair;
        bool         more;
        RG_TRY(from->next(&more, &pair, from->context));
        if (!more) return RG_OK;
        RG_TRY(ask_watch(&w));
        RG_TRY(rg_corpus__add_pair(c, &pair));
    }
}

rg_status rg_corpus__read(rg_corpus *c, const rg_corpus_config *config, const rg_pairs_source *from,
                          const rg_vocab *source, const rg_vocab *target)
{
    if (c->extra) return read_in_order(c, from);
    work      w = { .corpus = c, .from = from, .threads = c->threads };
    rg_status status = start(&w, config, source, target);
    if (status == RG_OK) status = read_blocks(&w);
    rg_team_free(w.team);
    for (int i = 0; w.parts && i < w.threads; i++) rg_corpus_free(w.parts[i].corpus);
    rg_free(w.parts);
    rg_free(w.places);
    rg_text_free(&w.text);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- openers */

/* Nothing more is read: seal what was. */
static rg_status finish(rg_corpus **out, rg_corpus *c, rg_status status, const char *path)
{
    if (status == RG_OK && !c->shards && (status = rg_corpus_seal(c)) != RG_OK) rg_fail_in(status, "%s: ", path);
    if (c) c->watch = NULL; /* borrowed until here */
    if (status == RG_OK) *out = c;
    else rg_corpus_free(c);
    return status;
}

static rg_status open_shards(rg_corpus **out, const rg_corpus_config *config, const char *source_path,
                             const char *target_path, const rg_vocab *source, const rg_vocab *target)
{
    rg_corpus       *c = NULL;
    rg_corpus_config pool = *config;
    pool.memory = SIZE_MAX;
    RG_TRY(rg_corpus_new(&c, &pool, source, target));
    rg_status status = rg_shards_open(&c->shards, &c->report, config, source_path, target_path, source, target);
    if (status == RG_OK) {
        const uint64_t sum = rg_shards_sum(c->shards);
        c->sum = rg_hash_bytes(rg_examples_checksum(c->examples), &sum, sizeof sum);
    }
    return finish(out, c, status, target_path);
}

rg_status rg_corpus_open(rg_corpus **out, const rg_corpus_config *config, const char *source_path,
                         const char *target_path, const rg_vocab *source, const rg_vocab *target)
{
    if (!source_path != !source)
        return rg_fail(RG_EINVAL, "a source file needs a source vocabulary, and the other way round");
    bool large;
    RG_TRY(rg_corpus_is_large(&large, config, source_path, target_path));
    if (large) return open_shards(out, config, source_path, target_path, source, target);
    rg_corpus            *c = NULL;
    rg_two_files          files = { 0 };
    const rg_pairs_source from = { rg_two_files_next, &files };
    rg_status             status = rg_corpus_new(&c, config, source, target);
    if (status == RG_OK) status = rg_two_files_open(&files, source_path, target_path);
    if (status == RG_OK) status = rg_corpus__read(c, config, &from, source, target);
    rg_two_files_close(&files);
    return finish(out, c, status, target_path);
}

rg_status rg_corpus_open_table(rg_corpus **out, const rg_corpus_config *config, const char *path,
                               const rg_reader_config *table, const rg_vocab *source, const rg_vocab *target)
{
    if (!source) return rg_fail(RG_EINVAL, "a table of pairs needs a source vocabulary");
    if (table->wanted_count != 2)
        return rg_fail(RG_EINVAL, "a table of pairs gives 2 columns, not %zu", table->wanted_count);
    rg_corpus *c = NULL;
    rg_reader *reader = NULL;
    rg_status  status = rg_corpus_new(&c, config, source, target);
    if (status == RG_OK) status = rg_reader_open(&reader, path, table);
    const rg_pairs_source from = { next_of_table, reader };
    if (status == RG_OK) status = rg_corpus__read(c, config, &from, source, target);
    rg_reader_close(reader);
    return finish(out, c, status, path);
}
