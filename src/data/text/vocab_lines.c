/* vocab_lines.c - the lines a vocabulary is learned from.
 *
 *   of L lines with B bytes, each is taken with probability   p = min(1, max_lines / L, max_bytes / B)
 *
 * SentencePiece needs some 25 bytes of memory per byte of text (a suffix array), and pieces that are frequent enough to
 * be chosen are frequent in a sample too. Counting costs one pass in which lines are not cleaned; what is not taken is
 * not cleaned either. */
#include "data/text/vocab_lines.h"

#include <string.h>

#include "data/text/lines.h"
#include "data/text/vocab.h"

/* --------------------------------------------------------------------------------------------------------- sampling */

typedef struct {
    const rg_vocab_lines *lines;
    uint64_t              seed, number;
    double                share;
} sample;

static rg_status count(uint64_t *out_lines, uint64_t *out_bytes, const rg_vocab_lines *l)
{
    *out_lines = *out_bytes = 0;
    for (;;) {
        size_t bytes = 0;
        bool   more = false;
        RG_TRY(l->skip(&more, &bytes, l->context));
        if (!more) break;
        ++*out_lines;
        *out_bytes += bytes;
    }
    l->rewind(l->context);
    return RG_OK;
}

static bool taken(const sample *s)
{
    rg_random random = rg_random_new(s->seed ^ 0x766F6361, s->number);
    return rg_random_uniform(&random) < s->share;
}

static rg_status next_of_sample(bool *out_more, const char **text, size_t *bytes, void *context)
{
    sample *s = context;
    for (; !taken(s); s->number++) {
        size_t skipped;
        RG_TRY(s->lines->skip(out_more, &skipped, s->lines->context));
        if (!*out_more) return RG_OK;
    }
    s->number++;
    return s->lines->next(out_more, text, bytes, s->lines->context);
}

/* All of it: 1. */
static double share_of(const rg_vocab_config *c, uint64_t lines, uint64_t bytes)
{
    double share = 1;
    if (c->max_lines && lines > c->max_lines) share = (double)c->max_lines / (double)lines;
    if (c->max_bytes && (double)bytes * share > (double)c->max_bytes) share = (double)c->max_bytes / (double)bytes;
    return share;
}

rg_status rg_vocab__train_lines(rg_vocab **out, const rg_vocab_config *config, const rg_vocab_lines *l)
{
    uint64_t        lines, bytes;
    rg_vocab_config c = *config;
    if (rg_cutter_of(c.kind) || (!c.max_lines && !c.max_bytes)) return rg_vocab_train(out, &c, l->next, l->context);
    RG_TRY(count(&lines, &bytes, l));
    sample s = { .lines = l, .seed = c.seed, .share = share_of(&c, lines, bytes) };
    if (s.share >= 1) return rg_vocab_train(out, &c, l->next, l->context);
    rg_log(RG_LOG_INFO, "the vocabulary is learned from a sample of %.0f of %llu lines, %.0f of %.0f MiB",
           s.share * (double)lines, (unsigned long long)lines, s.share * (double)bytes / 1048576,
           (double)bytes / 1048576);
    c.max_lines = 0; /* the sample is drawn */
    c.sampled = true;
    return rg_vocab_train(out, &c, next_of_sample, &s);
}

/* ------------------------------------------------------------------------------------------------------------ files */

typedef struct file_feed {
    const rg_text_side  *sides;
    size_t               count, next; /* next: after the one being read */
    rg_lines            *lines;
    const rg_read_watch *watch;
    uint64_t             read;
} file_feed;

/* Field `column` of a line; empty where there are fewer. */
static void choose_column(const char **text, size_t *bytes, int column)
{
    for (; column > 0; column--) {
        const char *tab = memchr(*text, '\t', *bytes);
        size_t      skip = tab ? (size_t)(tab - *text) + 1 : *bytes;
        *text += skip;
        *bytes -= skip;
    }
    if (column == 0) {
        const char *tab = memchr(*text, '\t', *bytes);
        if (tab) *bytes = (size_t)(tab - *text);
    }
}

static rg_status ask_watch(file_feed *f)
{
    if (++f->read % RG_READ_EVERY || !f->watch || f->watch->go_on(f->watch->context, f->read)) return RG_OK;
    return rg_fail(RG_ESTOP, "asked to stop while a vocabulary was learned, at line %llu", (unsigned long long)f->read);
}

/* The next line, cleaned (out) or only passed (out NULL). */
static rg_status step(bool *out_more, rg_line *out, size_t *out_bytes, file_feed *f)
{
    for (;;) {
        if (!f->lines) {
            *out_more = f->next < f->count;
            if (!*out_more) return RG_OK;
            RG_TRY(rg_lines_open(&f->lines, f->sides[f->next++].path, NULL));
        }
        RG_TRY(out ? rg_lines_next(out_more, out, f->lines) : rg_lines__skip(out_more, out_bytes, f->lines));
        if (*out_more) return ask_watch(f);
        rg_lines_close(f->lines);
        f->lines = NULL;
    }
}

static rg_status next_of_files(bool *out_more, const char **text, size_t *bytes, void *context)
{
    file_feed *f = context;
    rg_line    line;
    RG_TRY(step(out_more, &line, NULL, f));
    if (!*out_more) return RG_OK;
    *text = line.text;
    *bytes = line.bytes;
    choose_column(text, bytes, f->sides[f->next - 1].column);
    return RG_OK;
}

static rg_status skip_of_files(bool *out_more, size_t *out_bytes, void *context)
{
    return step(out_more, NULL, out_bytes, context);
}

static void rewind_files(void *context)
{
    file_feed *f = context;
    rg_lines_close(f->lines);
    f->lines = NULL;
    f->next = 0;
    f->read = 0;
}

rg_status rg_vocab_train_files(rg_vocab **out, const rg_vocab_config *config, const rg_text_side *sides, size_t count)
{
    file_feed            feed = { .sides = sides, .count = count, .watch = config->watch };
    const rg_vocab_lines lines = { next_of_files, skip_of_files, rewind_files, &feed };
    rg_status            status = rg_vocab__train_lines(out, config, &lines);
    rg_lines_close(feed.lines);
    return status;
}
