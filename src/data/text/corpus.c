/* corpus.c - pairs of lines: a store of examples with two fields of ids, source and target, and the openers that read
 * them.
 *
 * What is stored, the order of batches and the checksum are those of examples.c and batches.c; the checksum starts
 * from the settings below, so that checkpoints of all versions resume. */
#include "data/examples.h"

#include <string.h>

#include "data/text/words.h"
#include "regard/copies.h"
#include "regard/reader.h"

struct rg_corpus {
    rg_examples         *examples;
    rg_corpus_report     report;
    const rg_read_watch *watch; /* while files are read */
    rg_open_words       *extra; /* words that can be copied; NULL: none can */
    rg_copies            copies;
    const rg_vocab      *vocab; /* of the copies */
};

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
    c->vocab = target;
    *out = c;
    return RG_OK;
}

void rg_corpus_free(rg_corpus *c)
{
    if (!c) return;
    rg_examples_free(c->examples);
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

rg_status rg_corpus_seal(rg_corpus *c)
{
    if (c->report.pairs) return rg_examples_seal(c->examples);
    rg_text why = { 0 };
    (void)rg_corpus_describe(&why, c);
    rg_status status = rg_fail(RG_EINVAL, "the corpus has no usable pair: %s", rg_text_c(&why));
    rg_text_free(&why);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- reading */

/* What the readers flagged; a line past the byte limit is empty and must not count twice. */
static void note_faults(rg_corpus *c, uint64_t line, unsigned faults)
{
    if (faults & RG_LINE_BAD_UTF8) rg_fault_note(&c->report.bad_utf8, line);
    if (faults & RG_LINE_NUL) rg_fault_note(&c->report.nul, line);
    if (faults & RG_LINE_TOO_LONG) rg_fault_note(&c->report.line_limit, line);
}

static const rg_lines_config reading = { RG_TEXT_AS_IS, (size_t)16 << 20 }; /* the vocabulary normalises */

static rg_status ask_watch(const rg_corpus *c, uint64_t lines)
{
    const rg_read_watch *w = c->watch;
    if (!w || lines % RG_READ_EVERY || w->go_on(w->context, lines)) return RG_OK;
    return rg_fail(RG_ESTOP, "asked to stop while the corpus was read, at line %llu", (unsigned long long)lines);
}

static rg_status add_lines(rg_corpus *c, const rg_line *source, const rg_line *target)
{
    RG_TRY(ask_watch(c, target->number));
    if (source) note_faults(c, source->number, source->faults);
    note_faults(c, target->number, target->faults);
    if ((source && (source->faults & RG_LINE_TOO_LONG)) || (target->faults & RG_LINE_TOO_LONG)) {
        c->report.lines++;
        return RG_OK;
    }
    return rg_corpus_add(c, source ? source->text : NULL, target->text, target->number);
}

static rg_status count_rest(rg_lines *lines)
{
    rg_line line;
    bool    more = true;
    while (more) RG_TRY(rg_lines_next(&more, &line, lines));
    return RG_OK;
}

static rg_status read_two(rg_corpus *c, rg_lines *source, rg_lines *target)
{
    for (;;) {
        rg_line s, t;
        bool    more_s, more_t;
        RG_TRY(rg_lines_next(&more_s, &s, source));
        RG_TRY(rg_lines_next(&more_t, &t, target));
        if (more_s != more_t) {
            RG_TRY(count_rest(more_s ? source : target));
            return rg_fail(RG_EMATCH, "%s has %llu lines and %s has %llu: they must be translations line by line",
                           rg_lines_name(source), (unsigned long long)rg_lines_count(source), rg_lines_name(target),
                           (unsigned long long)rg_lines_count(target));
        }
        if (!more_s) return RG_OK;
        RG_TRY(add_lines(c, &s, &t));
    }
}

static rg_status read_one(rg_corpus *c, rg_lines *target)
{
    for (;;) {
        rg_line t;
        bool    more;
        RG_TRY(rg_lines_next(&more, &t, target));
        if (!more) return RG_OK;
        RG_TRY(add_lines(c, NULL, &t));
    }
}

/* A row past the byte limit has no cells, and must not count as empty. */
static rg_status read_table(rg_corpus *c, rg_reader *reader)
{
    for (;;) {
        rg_row row;
        bool   more;
        RG_TRY(rg_reader_next(&more, &row, reader));
        if (!more) return RG_OK;
        RG_TRY(ask_watch(c, c->report.lines + 1));
        note_faults(c, row.line, row.faults);
        if (row.faults & RG_LINE_TOO_LONG) c->report.lines++;
        else RG_TRY(rg_corpus_add(c, row.cell[RG_SOURCE].bytes, row.cell[RG_TARGET].bytes, row.line));
    }
}

/* Nothing more is read: seal what was. */
static rg_status finish(rg_corpus **out, rg_corpus *c, rg_status status, const char *path)
{
    if (status == RG_OK && (status = rg_corpus_seal(c)) != RG_OK) rg_fail_in(status, "%s: ", path);
    if (c) c->watch = NULL; /* borrowed until here */
    if (status == RG_OK) *out = c;
    else rg_corpus_free(c);
    return status;
}

rg_status rg_corpus_open(rg_corpus **out, const rg_corpus_config *config, const char *source_path,
                         const char *target_path, const rg_vocab *source, const rg_vocab *target)
{
    if (!source_path != !source)
        return rg_fail(RG_EINVAL, "a source file needs a source vocabulary, and the other way round");
    rg_corpus *c = NULL;
    rg_lines  *s = NULL, *t = NULL;
    rg_status  status = rg_corpus_new(&c, config, source, target);
    if (status == RG_OK && source_path) status = rg_lines_open(&s, source_path, &reading);
    if (status == RG_OK) status = rg_lines_open(&t, target_path, &reading);
    if (status == RG_OK) status = s ? read_two(c, s, t) : read_one(c, t);
    rg_lines_close(s);
    rg_lines_close(t);
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
    if (status == RG_OK) status = read_table(c, reader);
    rg_reader_close(reader);
    return finish(out, c, status, path);
}

/* ------------------------------------------------------------------------------------------------------- batches */

/* Ids of words that can be copied become those of their example. */
static rg_status map_copies(rg_batch *out, rg_corpus *c)
{
    return c->extra ? rg_copies_map(out, &c->copies, c->vocab) : RG_OK;
}

rg_status rg_corpus_next(rg_batch *out, bool *out_new_epoch, rg_corpus *c)
{
    RG_TRY(rg_examples_next(out, out_new_epoch, c->examples));
    return map_copies(out, c);
}

rg_status rg_corpus_next_in_epoch(bool *out_more, rg_batch *out, rg_corpus *c)
{
    RG_TRY(rg_examples_next_in_epoch(out_more, out, c->examples));
    return *out_more ? map_copies(out, c) : RG_OK;
}

rg_status rg_corpus_pair(rg_batch *out, rg_corpus *c, uint64_t i)
{
    RG_TRY(rg_examples_one(out, c->examples, i));
    return map_copies(out, c);
}

double rg_corpus_epoch_part(const rg_corpus *c)
{
    return rg_examples_epoch_part(c->examples);
}

rg_corpus_place rg_corpus_tell(const rg_corpus *c)
{
    return rg_examples_tell(c->examples);
}

rg_status rg_corpus_seek(rg_corpus *c, rg_corpus_place place)
{
    return rg_examples_seek(c->examples, place);
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
    return rg_examples_checksum(c->examples);
}

rg_status rg_corpus_describe(rg_text *out, const rg_corpus *c)
{
    const rg_corpus_report *r = &c->report;
    const struct { const rg_fault *fault; const char *what; } faults[] = {
        { &r->empty, "empty, skipped" },         { &r->too_long, "too long, skipped" },
        { &r->cropped, "too long, cropped" },    { &r->line_limit, "over the byte limit of a line, skipped" },
        { &r->bad_utf8, "with bad UTF-8, replaced by U+FFFD" }, { &r->nul, "with NUL bytes, replaced by U+FFFD" },
    };
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
