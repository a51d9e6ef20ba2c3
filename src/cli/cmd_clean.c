/* cmd_clean.c - a parallel corpus without the pairs that teach nothing: damaged, too long, uneven, in another script or
 * language, seen before, or unlikely by a model. Both sides stay together, line by line. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "regard/clean.h"
#include "regard/reader.h"
#include "regard/text.h"

typedef struct {
    rg_list output;
    char   *reasons, *rejected, *duplicates, *source, *target, *scores, *detect;
    int64_t min_words, max_words, max_word;
    double  max_ratio, min_letters, min_script, min_score;
    bool    copied, numbers, quiet;
} settings;

#define AT(field) offsetof(settings, field)
static const rg_option options[] = {
    { RG_OPTION_LIST, "output", AT(output), "", "two files to write, source and target, or one with a tab between; .gz packs", 'o', NULL },
    { RG_OPTION_STRING, "reasons", AT(reasons), "", "write a line per dropped pair: its number, a tab, the rule", 0, NULL },
    { RG_OPTION_STRING, "rejected", AT(rejected), "", "write dropped pairs: rule, source, target, tabs between", 0, NULL },
    { RG_OPTION_INT, "min-words", AT(min_words), "1",
      "fewest words of a side; a Chinese, Japanese or Thai letter is a word", 0, "[0,inf)" },
    { RG_OPTION_INT, "max-words", AT(max_words), "150", "most words of a side", 0, "[1,inf)" },
    { RG_OPTION_INT, "max-word-length", AT(max_word), "60", "most characters of a word", 0, "[1,inf)" },
    { RG_OPTION_REAL, "max-ratio", AT(max_ratio), "4",
      "words of the longer side to those of the shorter, from 5 words on; 0: any", 0, "[0,inf)" },
    { RG_OPTION_REAL, "min-letters", AT(min_letters), "0.5", "share of characters that are letters; 0: any", 0, "[0,1]" },
    { RG_OPTION_STRING, "source-lang", AT(source), "",
      "language of the source, whose text and letters it should have; empty: not asked", 0, NULL },
    { RG_OPTION_STRING, "target-lang", AT(target), "", "of the target, likewise", 0, NULL },
    { RG_OPTION_STRING, "detect", AT(detect), "auto",
      "languages by libcld2, which tells those of one script apart, or by script; auto: what is installed", 0,
      "auto|cld2|script" },
    { RG_OPTION_REAL, "min-script", AT(min_script), "0.6", "share of letters in the language's script", 0, "[0,1]" },
    { RG_OPTION_BOOL, "same-numbers", AT(numbers), "false", "both sides must have the same numbers of two and more digits", 0, NULL },
    { RG_OPTION_BOOL, "keep-copied", AT(copied), "false", "keep pairs whose sides are the same", 0, NULL },
    { RG_OPTION_STRING, "duplicates", AT(duplicates), "pair", "what may come once", 0, "none|pair|source|target" },
    { RG_OPTION_STRING, "scores", AT(scores), "", "a number per pair, as `regard score --normalize` prints them", 0, NULL },
    { RG_OPTION_REAL, "min-score", AT(min_score), "-4", "with --scores: less is dropped", 0, NULL },
    { RG_OPTION_BOOL, "quiet", AT(quiet), "false", "no table of reasons", 0, NULL },
    RG_OPTION_END
};

typedef struct {
    const settings *s;
    rg_cleaner     *cleaner;
    rg_languages   *detector; /* NULL: languages are told by script */
    rg_lines       *side[2];  /* two files */
    rg_reader      *table;    /* or one    */
    rg_lines       *scores;
    rg_line_writer *out[2], *reasons, *rejected;
    rg_text         pair[2]; /* at hand */
    uint64_t        line, count[RG_CLEAN_VERDICTS];
    bool            told_by_library;
} cleaning;

/* ------------------------------------------------------------------------------------------------------ files */

static rg_status check(const rg_call *call)
{
    const settings *s = call->options;
    const char     *outputs[4] = { s->output.count ? s->output.items[0] : "",
                                   s->output.count > 1 ? s->output.items[1] : "", s->reasons, s->rejected };
    if (call->words.count != 1 && call->words.count != 2)
        return rg_fail(RG_EINVAL, "give two files, source and target, or one with a tab between, not %zu", call->words.count);
    if (s->output.count != call->words.count)
        return rg_fail(RG_EINVAL, "%zu to read and %zu to write: -o takes as many", call->words.count, s->output.count);
    for (size_t o = 0; o < 4; o++) {
        for (size_t i = 0; i < call->words.count; i++) RG_TRY(rg_output_is_not("output", outputs[o], call->words.items[i]));
        RG_TRY(rg_output_is_not("output", outputs[o], s->scores));
        for (size_t k = 0; k < o; k++)
            if (*outputs[o] && strcmp(outputs[o], outputs[k]) == 0)
                return rg_fail(RG_EINVAL, "%s is to be written twice", outputs[o]);
    }
    return RG_OK;
}

static bool asks_for_languages(const settings *s) { return *s->source || *s->target; }

static rg_status open_detector(cleaning *w)
{
    const settings *s = w->s;
    if (strcmp(s->detect, "script") == 0 || !asks_for_languages(s)) return RG_OK;
    const rg_status status = rg_languages_new(&w->detector);
    if (status != RG_EIO || strcmp(s->detect, "auto") != 0) return status;
    w->detector = NULL; /* say() tells */
    return RG_OK;
}

static rg_status open_all(cleaning *w, const rg_call *call)
{
    static const char *const        wanted[] = { "source", "target" };
    static const struct {
        const char         *word;
        rg_clean_duplicates value;
    } kinds[] = { { "none", RG_DUPLICATES_KEPT }, { "pair", RG_DUPLICATES_PAIR },
                  { "source", RG_DUPLICATES_SOURCE }, { "target", RG_DUPLICATES_TARGET } };
    const settings *s = w->s;
    rg_clean_config c = RG_CLEAN_CONFIG_DEFAULT;
    c.min_words = (size_t)s->min_words;
    c.max_words = (size_t)s->max_words;
    c.max_word = (size_t)s->max_word;
    c.max_ratio = s->max_ratio;
    c.min_letters = s->min_letters;
    c.min_script = s->min_script;
    c.language[0] = s->source;
    c.language[1] = s->target;
    c.copied = s->copied;
    c.numbers = s->numbers;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].word, s->duplicates) == 0) c.duplicates = kinds[i].value;
    RG_TRY(open_detector(w));
    c.detector = w->detector;
    RG_TRY(rg_cleaner_new(&w->cleaner, &c));
    for (size_t i = 0; call->words.count == 2 && i < 2; i++) RG_TRY(rg_lines_open(&w->side[i], call->words.items[i], NULL));
    if (call->words.count == 1) {
        rg_reader_config t = RG_READER_CONFIG_DEFAULT;
        t.format = "tsv";
        t.header = RG_HEADER_NO;
        t.wanted = wanted;
        t.wanted_count = 2;
        RG_TRY(rg_reader_open(&w->table, call->words.items[0], &t));
    }
    if (*s->scores) RG_TRY(rg_lines_open(&w->scores, s->scores, NULL));
    for (size_t i = 0; i < s->output.count; i++) RG_TRY(rg_line_writer_open(&w->out[i], s->output.items[i]));
    if (*s->reasons) RG_TRY(rg_line_writer_open(&w->reasons, s->reasons));
    return *s->rejected ? rg_line_writer_open(&w->rejected, s->rejected) : RG_OK;
}

static rg_status close_all(cleaning *w, rg_status status)
{
    rg_line_writer *writers[] = { w->out[0], w->out[1], w->reasons, w->rejected };
    for (size_t i = 0; i < 4; i++) status = rg_line_writer_close(writers[i], status);
    rg_lines_close(w->side[0]);
    rg_lines_close(w->side[1]);
    rg_lines_close(w->scores);
    rg_reader_close(w->table);
    rg_cleaner_free(w->cleaner);
    rg_languages_free(w->detector);
    rg_text_free(&w->pair[0]);
    rg_text_free(&w->pair[1]);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ pairs */

static rg_status next_of_files(bool *more, bool *damaged, cleaning *w)
{
    rg_line line[2];
    bool    another;
    RG_TRY(rg_lines_next(more, &line[0], w->side[0]));
    RG_TRY(rg_lines_next(&another, &line[1], w->side[1]));
    if (*more != another) {
        const rg_lines *ended = w->side[*more ? 1 : 0];
        return rg_fail(RG_EMATCH, "%s ends after %llu lines, %s has more: they are not two sides of one corpus", rg_lines_name(ended),
                       (unsigned long long)rg_lines_count(ended), rg_lines_name(w->side[*more ? 0 : 1]));
    }
    for (size_t i = 0; *more && i < 2; i++) {
        RG_TRY(rg_text_add(&w->pair[i], line[i].text, line[i].bytes));
        *damaged = *damaged || line[i].faults;
    }
    return RG_OK;
}

static rg_status next_pair(bool *more, bool *damaged, cleaning *w)
{
    rg_row row;
    *damaged = false;
    for (size_t i = 0; i < 2; i++) rg_text_clear(&w->pair[i]);
    if (w->side[0]) return next_of_files(more, damaged, w);
    RG_TRY(rg_reader_next(more, &row, w->table));
    for (size_t i = 0; *more && i < 2; i++) RG_TRY(rg_text_add(&w->pair[i], row.cell[i].bytes, row.cell[i].count));
    return RG_OK;
}

static rg_status next_score(double *out, cleaning *w)
{
    rg_line line;
    bool    more;
    char   *end;
    RG_TRY(rg_lines_next(&more, &line, w->scores));
    if (!more)
        return rg_fail(RG_EMATCH, "%s has %llu scores, and there is a pair %llu", w->s->scores,
                       (unsigned long long)rg_lines_count(w->scores),
                       (unsigned long long)w->line);
    *out = rg_real_parse(line.text, &end);
    return end != line.text ? RG_OK : rg_fail(RG_EFORMAT, "%s: line %llu is not a number: \"%.40s\"", w->s->scores,
                                              (unsigned long long)line.number, line.text);
}

static rg_status write_pair(cleaning *w, rg_clean_verdict verdict)
{
    const char *source = rg_text_c(&w->pair[0]), *target = rg_text_c(&w->pair[1]);
    rg_text     line = { 0 };
    rg_status   status = RG_OK;
    if (!verdict && w->out[1]) {
        RG_TRY(rg_line_writer_add(w->out[0], source));
        return rg_line_writer_add(w->out[1], target);
    }
    if (!verdict) status = rg_text_print(&line, "%s\t%s", source, target);
    if (!verdict && status == RG_OK) status = rg_line_writer_add(w->out[0], rg_text_c(&line));
    if (verdict && w->reasons) {
        status = rg_text_print(&line, "%llu\t%s", (unsigned long long)w->line, rg_clean_name(verdict));
        if (status == RG_OK) status = rg_line_writer_add(w->reasons, rg_text_c(&line));
        rg_text_clear(&line);
    }
    if (verdict && w->rejected && status == RG_OK) {
        status = rg_text_print(&line, "%s\t%s\t%s", rg_clean_name(verdict), source, target);
        if (status == RG_OK) status = rg_line_writer_add(w->rejected, rg_text_c(&line));
    }
    rg_text_free(&line);
    return status;
}

static rg_status clean_all(cleaning *w)
{
    for (bool more = true, damaged;;) {
        rg_clean_verdict verdict;
        double           score = 0;
        RG_TRY(next_pair(&more, &damaged, w));
        if (!more) return RG_OK;
        w->line++;
        if (w->scores) RG_TRY(next_score(&score, w));
        if (w->scores && !(score >= w->s->min_score)) verdict = RG_DROPPED_SCORE;
        else RG_TRY(rg_cleaner_judge(&verdict, w->cleaner, rg_text_c(&w->pair[0]), rg_text_c(&w->pair[1]), damaged));
        w->count[verdict]++;
        RG_TRY(write_pair(w, verdict));
    }
}

static void say(const cleaning *w)
{
    const double all = w->line ? (double)w->line : 1;
    if (asks_for_languages(w->s))
        fprintf(stderr, "languages are told %s\n",
                w->told_by_library                     ? "by libcld2, and by script"
                : strcmp(w->s->detect, "script") == 0 ? "by script"
                                                       : "by script only: regard-languages.so (libcld2) is not installed");
    fprintf(stderr, "%llu of %llu pairs kept (%.1f %%)\n", (unsigned long long)w->count[RG_CLEAN_KEPT], (unsigned long long)w->line,
            100 * (double)w->count[RG_CLEAN_KEPT] / all);
    for (int v = RG_CLEAN_KEPT + 1; v < RG_CLEAN_VERDICTS; v++)
        if (w->count[v])
            fprintf(stderr, "%10llu %5.1f %%  %-10s %s\n", (unsigned long long)w->count[v], 100 * (double)w->count[v] / all,
                    rg_clean_name((rg_clean_verdict)v), rg_clean_reason((rg_clean_verdict)v));
}

static rg_status run(rg_call *call)
{
    cleaning  w = { .s = call->options };
    RG_TRY(check(call));
    rg_status status = open_all(&w, call);
    w.told_by_library = w.detector != NULL;
    if (status == RG_OK) status = clean_all(&w);
    status = close_all(&w, status);
    if (status == RG_OK && !w.s->quiet) say(&w);
    return status;
}

static void more_help(FILE *out, const rg_call *call)
{
    (void)call;
    fprintf(out, "\nrules, in this order; a pair is dropped for the first it breaks:\n");
    for (int v = RG_CLEAN_KEPT + 1; v < RG_CLEAN_VERDICTS; v++)
        rg_help_row(out, rg_clean_name((rg_clean_verdict)v), rg_clean_reason((rg_clean_verdict)v));
}

const rg_command rg_command_clean = {
    .name = "clean",
    .summary = "drop pairs of a corpus that teach nothing, and say why",
    .arguments = "SOURCE TARGET | PAIRS.tsv",
    .details = "Reads two files line by line, or one with a tab between (.gz and .zst allowed), and writes the pairs that "
               "no rule drops, in their order, both sides together. A table on standard error counts what each rule "
               "dropped; --reasons has a line per dropped pair. docs/training.md shows it with back-translation.",
    .options = options,
    .size = sizeof(settings),
    .more_help = more_help,
    .run = run,
};
