/* corpus.c - reads pairs of lines once, encodes them and keeps the ids, in memory or, past the budget, in a temporary file.
 *
 *   head { line, source count, target count } source ids target ids | head ...        offsets[i]: where pair i begins
 *
 * The file has no name any more once it is open for reading: nothing is left behind, whatever happens to the program. */
#include "data/corpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/words.h"

/* ----------------------------------------------------------------------------------------------------- new, free */

static rg_status check_alpha(const rg_vocab *vocab, double alpha, const char *side)
{
    if (alpha == 0) return RG_OK;
    if (!(alpha > 0 && alpha <= 1)) return rg_fail(RG_EINVAL, "%s pieces cut anew with alpha %g: it is above 0, at most 1", side, alpha);
    if (vocab && rg_vocab_can_sample(vocab)) return RG_OK;
    return rg_fail(RG_EINVAL, "%s pieces cannot be cut anew each epoch: that needs a vocabulary of kind unigram or bpe%s%s", side,
                   vocab ? ", not " : "", vocab ? rg_vocab_kind_name(rg_vocab_kind_of(vocab)) : "");
}

rg_status rg_corpus_new(rg_corpus **out, const rg_corpus_config *config, const rg_vocab *source, const rg_vocab *target)
{
    if (!config->mini_batch && !config->mini_batch_words)
        return rg_fail(RG_EINVAL, "batches without a limit: give mini-batch (pairs) or mini-batch-words (target pieces)");
    RG_TRY(check_alpha(source, config->source_alpha, "source"));
    RG_TRY(check_alpha(target, config->target_alpha, "target"));
    rg_corpus *c = rg_alloc_zero(sizeof *c);
    if (!c) return RG_ENOMEM;
    c->config = *config;
    c->config.temp = NULL; /* only needed, and copied, when the file is made */
    const char *directory = config->temp ? config->temp : getenv("TMPDIR");
    c->temp_path = rg_format("%s/regard-corpus-XXXXXX", directory && *directory ? directory : "/tmp");
    if (!c->temp_path) {
        rg_free(c);
        return RG_ENOMEM;
    }
    c->source = source;
    c->target = target;
    const size_t window = config->mini_batch ? config->mini_batch : 1000; /* the default before 0 meant no limit: same batches */
    uint64_t settings[] = { config->max_length,  config->max_length_crop, window,             config->mini_batch_words,
                            config->maxi_batch,  config->shuffle,         config->source_eos, config->seed,
                            source ? rg_vocab_checksum(source) : 0, rg_vocab_checksum(target) };
    const uint64_t source_words = config->source_words;
    c->sum = rg_hash_bytes(RG_HASH_START, settings, sizeof settings);
    if (source_words) c->sum = rg_hash_bytes(c->sum, &source_words, sizeof source_words);
    const double alphas[] = { config->source_alpha, config->target_alpha };
    c->windowed = alphas[0] > 0 || alphas[1] > 0; /* and once pairs go to a file */
    if (c->windowed) c->sum = rg_hash_bytes(c->sum, alphas, sizeof alphas);
    *out = c;
    return RG_OK;
}

static void drop_temp(rg_corpus *c)
{
    if (c->temp) (void)rg_file_close(c->temp); /* thrown away: an error tells nothing */
    if (c->temp && !c->sealed) unlink(c->temp_path);
    c->temp = NULL;
}

void rg_corpus_free(rg_corpus *c)
{
    if (!c) return;
    drop_temp(c);
    rg_text_free(&c->block);
    rg_text_free(&c->window);
    rg_free(c->offsets);
    rg_free(c->temp_path);
    rg_ids_free(&c->scratch_source);
    rg_ids_free(&c->scratch_target);
    rg_free(c->entries);
    rg_free(c->cuts);
    rg_free(c->order);
    rg_ids_free(&c->source_ids);
    rg_ids_free(&c->target_ids);
    rg_ids_free(&c->previous);
    rg_ids_free(&c->source_start);
    rg_ids_free(&c->target_start);
    rg_free(c->lines);
    rg_free(c);
}

/* ------------------------------------------------------------------------------------------------------- storing */

/* Move what is in memory to a file and go on there. */
static rg_status spill(rg_corpus *c)
{
    int fd = mkstemp(c->temp_path);
    if (fd < 0) return rg_fail(RG_EIO, "%s: cannot make a temporary file: %s", c->temp_path, strerror(errno));
    close(fd);
    rg_status status = rg_file_open(&c->temp, c->temp_path, "wb");
    c->windowed = true;
    if (status != RG_OK) {
        unlink(c->temp_path);
        return status;
    }
    rg_log(RG_LOG_INFO, "the encoded corpus is larger than %zu MiB: it goes to %s", c->config.memory >> 20, c->temp_path);
    return RG_OK;
}

static rg_status flush(rg_corpus *c)
{
    if (!c->temp) RG_TRY(spill(c));
    RG_TRY(rg_file_write(c->temp, c->block.data, c->block.length));
    rg_text_clear(&c->block);
    return RG_OK;
}

static rg_status note_offset(rg_corpus *c)
{
    if (c->report.pairs + 2 > c->offset_room) {
        size_t    room = c->offset_room ? 2 * c->offset_room : 1024;
        uint64_t *offsets = room <= SIZE_MAX / sizeof *offsets ? rg_realloc(c->offsets, room * sizeof *offsets) : NULL;
        if (!offsets) return RG_ENOMEM;
        c->offsets = offsets;
        c->offset_room = room;
    }
    c->offsets[c->report.pairs] = c->bytes;
    return RG_OK;
}

static rg_status store(rg_corpus *c, const rg_ids *source, const rg_ids *target, uint64_t line)
{
    enum { FILE_BUFFER = 1 << 20 };
    rg_pair_head head = { line, (uint32_t)source->count, (uint32_t)target->count };
    size_t    ids = 4 * (source->count + target->count), old = c->block.length;
    RG_TRY(note_offset(c));
    rg_status status = rg_text_add(&c->block, &head, sizeof head);
    if (status == RG_OK) status = rg_text_add(&c->block, source->data, 4 * source->count);
    if (status == RG_OK) status = rg_text_add(&c->block, target->data, 4 * target->count);
    if (status != RG_OK) {
        c->block.length = old;
        return status;
    }
    c->sum = rg_hash_bytes(c->sum, c->block.data + old, sizeof head + ids);
    c->bytes += sizeof head + ids;
    c->report.pairs++;
    c->report.source_tokens += source->count + (c->config.source_eos && c->source);
    c->report.target_tokens += target->count + 1;
    return c->block.length > (c->temp ? (size_t)FILE_BUFFER : c->config.memory) ? flush(c) : RG_OK;
}

static uint64_t count_unknown(const rg_ids *ids, int32_t unk)
{
    uint64_t count = 0;
    for (size_t i = 0; i < ids->count; i++) count += ids->data[i] == unk;
    return count;
}

rg_status rg_corpus_add(rg_corpus *c, const char *source, const char *target, uint64_t line)
{
    rg_ids *s = &c->scratch_source, *t = &c->scratch_target;
    size_t  most = c->config.max_length ? c->config.max_length : INT32_MAX / 4;
    if (c->sealed) return rg_fail(RG_EINVAL, "a sealed corpus takes no more pairs");
    s->count = t->count = 0;
    if (c->source) RG_TRY(rg_vocab_encode(s, NULL, c->source, source, strlen(source)));
    RG_TRY(rg_vocab_encode(t, NULL, c->target, target, strlen(target)));
    c->report.lines++;
    if (!t->count || (c->source && !s->count)) {
        rg_fault_note(&c->report.empty, line);
        return RG_OK;
    }
    if (s->count > most || t->count > most) {
        rg_fault_note(c->config.max_length_crop ? &c->report.cropped : &c->report.too_long, line);
        if (!c->config.max_length_crop) return RG_OK;
        if (s->count > most) s->count = most;
        if (t->count > most) t->count = most;
    }
    if (c->source) c->report.source_unknown += count_unknown(s, rg_vocab_unk(c->source));
    c->report.target_unknown += count_unknown(t, rg_vocab_unk(c->target));
    return store(c, s, t, line);
}

rg_status rg_corpus_seal(rg_corpus *c)
{
    if (c->sealed) return RG_OK;
    if (!c->report.pairs) {
        rg_text why = { 0 };
        (void)rg_corpus_describe(&why, c);
        rg_status status = rg_fail(RG_EINVAL, "the corpus has no usable pair: %s", rg_text_c(&why));
        rg_text_free(&why);
        return status;
    }
    RG_TRY(note_offset(c)); /* the end */
    if (c->temp) {
        RG_TRY(flush(c));
        rg_text_free(&c->block);
        rg_status status = rg_file_close(c->temp);
        c->temp = NULL;
        if (status == RG_OK) status = rg_file_open(&c->temp, c->temp_path, "rb");
        unlink(c->temp_path);
        if (status != RG_OK) return status;
    }
    c->sealed = true;
    return RG_OK;
}

rg_status rg_corpus__pair(rg_pair_head *head, const int32_t **ids, rg_corpus *c, uint64_t i)
{
    size_t bytes = (size_t)(c->offsets[i + 1] - c->offsets[i]);
    char  *at = c->block.data + c->offsets[i];
    if (c->temp) {
        rg_text_clear(&c->block);
        if (c->block.room < bytes + 1) {
            rg_text_free(&c->block);
            char *room = rg_alloc(bytes + 1);
            if (!room) return RG_ENOMEM;
            c->block = (rg_text){ room, 0, bytes + 1 };
        }
        RG_TRY(rg_file_seek(c->temp, c->offsets[i]));
        RG_TRY(rg_file_read(c->temp, c->block.data, bytes));
        at = c->block.data;
    }
    memcpy(head, at, sizeof *head);
    *ids = (const int32_t *)(const void *)(at + sizeof *head);
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- reading */

/* What the readers flagged; a line past the byte limit is empty and must not count twice. */
static void note_faults(rg_corpus *c, const rg_line *line)
{
    if (line->faults & RG_LINE_BAD_UTF8) rg_fault_note(&c->report.bad_utf8, line->number);
    if (line->faults & RG_LINE_NUL) rg_fault_note(&c->report.nul, line->number);
    if (line->faults & RG_LINE_TOO_LONG) rg_fault_note(&c->report.line_limit, line->number);
}

static const rg_lines_config reading = { RG_TEXT_AS_IS, (size_t)16 << 20 }; /* the vocabulary normalises */

static rg_status add_lines(rg_corpus *c, const rg_line *source, const rg_line *target)
{
    if (source) note_faults(c, source);
    note_faults(c, target);
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
            return rg_fail(RG_EMATCH, "%s has %llu lines and %s has %llu: they must be translations line by line", rg_lines_name(source),
                           (unsigned long long)rg_lines_count(source), rg_lines_name(target),
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

static rg_status read_tsv(rg_corpus *c, rg_lines *lines)
{
    for (;;) {
        rg_line line;
        bool    more;
        RG_TRY(rg_lines_next(&more, &line, lines));
        if (!more) return RG_OK;
        char *text = (char *)line.text; /* the reader's own buffer, overwritten by the next line anyway */
        char *tab = strchr(text, '\t'), *second = tab ? strchr(tab + 1, '\t') : NULL;
        if (!tab && line.bytes)
            return rg_fail(RG_EFORMAT, "%s: line %llu has no tab between source and target", rg_lines_name(lines),
                           (unsigned long long)line.number);
        if (tab) *tab = '\0';
        if (second) *second = '\0';
        rg_line source = line, target = line;
        target.text = tab ? tab + 1 : "";
        target.faults &= RG_LINE_TOO_LONG; /* noted once */
        if (line.faults & RG_LINE_TOO_LONG) target.faults = 0;
        RG_TRY(add_lines(c, &source, &target));
    }
}

static rg_status open_with(rg_corpus **out, const rg_corpus_config *config, const char *source_path, const char *target_path, bool tsv,
                           const rg_vocab *source, const rg_vocab *target)
{
    rg_corpus *c = NULL;
    rg_lines  *s = NULL, *t = NULL;
    rg_status  status = rg_corpus_new(&c, config, source, target);
    if (status == RG_OK && source_path) status = rg_lines_open(&s, source_path, &reading);
    if (status == RG_OK) status = rg_lines_open(&t, target_path, &reading);
    if (status == RG_OK) status = tsv ? read_tsv(c, t) : s ? read_two(c, s, t) : read_one(c, t);
    if (status == RG_OK && (status = rg_corpus_seal(c)) != RG_OK) rg_fail_in(status, "%s: ", target_path);
    rg_lines_close(s);
    rg_lines_close(t);
    if (status == RG_OK) *out = c;
    else rg_corpus_free(c);
    return status;
}

rg_status rg_corpus_open(rg_corpus **out, const rg_corpus_config *config, const char *source_path, const char *target_path,
                         const rg_vocab *source, const rg_vocab *target)
{
    if (!source_path != !source) return rg_fail(RG_EINVAL, "a source file needs a source vocabulary, and the other way round");
    return open_with(out, config, source_path, target_path, false, source, target);
}

rg_status rg_corpus_open_tsv(rg_corpus **out, const rg_corpus_config *config, const char *path, const rg_vocab *source,
                             const rg_vocab *target)
{
    if (!source) return rg_fail(RG_EINVAL, "a tab-separated corpus needs a source vocabulary");
    return open_with(out, config, NULL, path, true, source, target);
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
    return c->sum;
}

rg_status rg_corpus_describe(rg_text *out, const rg_corpus *c)
{
    const rg_corpus_report *r = &c->report;
    const struct { const rg_fault *fault; const char *what; } faults[] = {
        { &r->empty, "empty, skipped" },         { &r->too_long, "too long, skipped" },
        { &r->cropped, "too long, cropped" },    { &r->line_limit, "over the byte limit of a line, skipped" },
        { &r->bad_utf8, "with bad UTF-8, replaced by U+FFFD" }, { &r->nul, "with NUL bytes, replaced by U+FFFD" },
    };
    RG_TRY(rg_text_print(out, "%llu of %llu pairs, %llu source and %llu target pieces", (unsigned long long)r->pairs,
                         (unsigned long long)r->lines, (unsigned long long)r->source_tokens, (unsigned long long)r->target_tokens));
    if (r->source_unknown || r->target_unknown)
        RG_TRY(rg_text_print(out, " (%llu and %llu unknown)", (unsigned long long)r->source_unknown,
                             (unsigned long long)r->target_unknown));
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (!faults[i].fault->count) continue;
        RG_TRY(rg_text_add_string(out, "; "));
        RG_TRY(rg_fault_print(out, faults[i].fault, faults[i].what));
    }
    return RG_OK;
}
