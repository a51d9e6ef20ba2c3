/* cmd_translate.c - lines in, translations out: one for one, in order, at once when somebody waits. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/line_faults.h"
#include "cli/output.h"
#include "cli/choose_shortlist.h"
#include "cli/translate_document.h"
#include "cli/weights.h"
#include "regard/reader.h"
#include "regard/glossary.h"
#include "regard/lexicon.h"
#include "regard/simple.h"
#include "regard/translate.h"
#include "regard/view.h"

typedef struct {
    rg_list models, prefix;
    char   *input, *format, *columns, *header, *output, *alignment, *attention, *glossary, *trace;
    int64_t beam, n_best, mini_batch, maxi_batch, max_length, threads, seed, top;
    double  normalize, penalty, coverage, factor, temperature, diversity;
    int64_t groups;
    char   *length_form;
    rg_list dictionary;
    bool    json, word_scores, allow_unknown, replace_unknown, sample, quiet;
    rg_weights_choice keep;
    rg_list shortlist;
    bool    compare;
    char   *input_format, *split, *source, *target, *memory;
} settings;

static const rg_option options[] = {
    { RG_OPTION_LIST, "models", offsetof(settings, models), "", "model file; several are an ensemble", 'm', NULL },
    { RG_OPTION_STRING, "input", offsetof(settings, input), "-", "file of lines, .gz allowed; -: standard input", 'i',
      NULL },
    { RG_OPTION_STRING, "format", offsetof(settings, format), "",
      "the input is a table: tsv, csv, jsonl (docs/data.md); with --columns and a file it is recognised", 0, NULL },
    { RG_OPTION_STRING, "columns", offsetof(settings, columns), "",
      "translate this column of a table, by name or number: text or 2; empty: source or 1", 0, NULL },
    { RG_OPTION_STRING, "header", offsetof(settings, header), "auto",
      "is the first line of tsv and csv files names of columns?", 0, "auto|yes|no" },
    { RG_OPTION_STRING, "input-format", offsetof(settings, input_format), "auto",
      "the input is a document: text, html, markdown, po, srt, json, ... (docs/documents.md); auto: by the ending of "
      "its name, .txt is lines",
      0, NULL },
    { RG_OPTION_STRING, "split-sentences", offsetof(settings, split), "auto",
      "cut paragraphs and lines into sentences; auto: of documents, not of lines", 0, "auto|yes|no" },
    { RG_OPTION_STRING, "source-lang", offsetof(settings, source), "",
      "language of the sentences: en; empty: as the model file says", 0, NULL },
    { RG_OPTION_STRING, "target-lang", offsetof(settings, target), "", "language translated to, of --memory; likewise", 0,
      NULL },
    { RG_OPTION_STRING, "memory", offsetof(settings, memory), "",
      "translation memory, .tmx, .xlf or .tsv: a line or sentence that is in it is copied, not translated", 0, NULL },
    { RG_OPTION_STRING, "output", offsetof(settings, output), "-",
      "file to write, whole or not at all; -: standard output", 'o', NULL },
    { RG_OPTION_INT, "beam-size", offsetof(settings, beam), "4", "hypotheses kept; 1 is greedy", 'b', "[1,1000]" },
    { RG_OPTION_REAL, "normalize", offsetof(settings, normalize), "1", "score is log p / length^this; 0: log p; alone: 1",
      'n', "[0,inf)", NULL, "1" },
    { RG_OPTION_STRING, "length-form", offsetof(settings, length_form), "power",
      "length in --normalize: power: length; gnmt: (5 + length) / 6", 0, "power|gnmt" },
    { RG_OPTION_INT, "groups", offsetof(settings, groups), "1",
      "diverse beam search: cut the beam into so many groups that avoid each other's words", 0, "[1,1000]" },
    { RG_OPTION_REAL, "diversity", offsetof(settings, diversity), "0.5",
      "with --groups: taken off log p for each earlier group with the same word here", 0, "[0,inf)" },
    { RG_OPTION_REAL, "word-penalty", offsetof(settings, penalty), "0", "added to the score for each word", 0, NULL },
    { RG_OPTION_REAL, "coverage", offsetof(settings, coverage), "0",
      "weight of the penalty for source words not looked at", 0, "[0,inf)" },
    { RG_OPTION_INT, "n-best", offsetof(settings, n_best), "0",
      "print so many answers a line, in Moses' form; 0: the best alone; -1, or alone: as many as the beam", 0,
      "[-1,inf)", NULL, "-1" },
    { RG_OPTION_STRING, "alignment", offsetof(settings, alignment), "",
      "append what was looked at: soft, hard (also alone), or links above a threshold", 0, NULL, NULL, "hard" },
    { RG_OPTION_STRING, "attention", offsetof(settings, attention), "",
      "write the record of every layer and head; from the second line on FILE.2.json, ...", 0, NULL },
    { RG_OPTION_STRING, "trace", offsetof(settings, trace), "",
      "write the search as a tree: what every step kept, dropped and finished; further lines to FILE.2.json, ... "
      "(regard show FILE draws it)",
      0, NULL },
    { RG_OPTION_BOOL, "word-scores", offsetof(settings, word_scores), "false", "append log p of each token", 0, NULL },
    { RG_OPTION_BOOL, "json", offsetof(settings, json), "false", "one JSON object a line", 0, NULL },
    { RG_OPTION_STRING, "glossary", offsetof(settings, glossary), "",
      "file of terms and the translations wanted for them: term TAB target (docs/glossary.md)", 0, NULL },
    { RG_OPTION_LIST, "prefix", offsetof(settings, prefix), "", "words that every answer begins with", 0, NULL },
    { RG_OPTION_INT, "max-length", offsetof(settings, max_length), "1000", "source tokens read; what is cut is said", 0,
      "[1,1000000]" },
    { RG_OPTION_REAL, "max-length-factor", offsetof(settings, factor), "2",
      "answers end at this times the source length, plus 10", 0, "[0,inf)" },
    { RG_OPTION_BOOL, "allow-unk", offsetof(settings, allow_unknown), "true", "answers may hold the unknown word", 0,
      NULL },
    { RG_OPTION_BOOL, "replace-unk", offsetof(settings, replace_unknown), "false",
      "put the source word looked at in its place", 0, NULL },
    { RG_OPTION_LIST, "dictionary", offsetof(settings, dictionary), "",
      "with --replace-unk: two files of lines that translate each other; the word this one is most often linked with "
      "there",
      0, NULL },
    { RG_OPTION_BOOL, "sampling", offsetof(settings, sample), "false", "draw answers instead of searching for the best",
      0, NULL },
    { RG_OPTION_REAL, "temperature", offsetof(settings, temperature), "1", "of the draws", 0, "(0,inf)" },
    { RG_OPTION_INT, "top", offsetof(settings, top), "0", "draw among so many most likely tokens; 0: all", 0,
      "[0,inf)" },
    { RG_OPTION_INT, "seed", offsetof(settings, seed), "1", "of the draws", 0, "[0,inf)" },
    { RG_OPTION_INT, "mini-batch", offsetof(settings, mini_batch), "32",
      "most lines searched together; long ones are fewer", 0, "[1,100000]" },
    { RG_OPTION_INT, "maxi-batch", offsetof(settings, maxi_batch), "100",
      "times mini-batch lines are read and sorted by length", 0, "[1,100000]" },
    { RG_OPTION_INT, "cpu-threads", offsetof(settings, threads), "0", "threads; 0: as many as there are cores", 0,
      "[0,1024]" },
    { RG_OPTION_BOOL, "quiet", offsetof(settings, quiet), "false", "no remarks about cut or damaged lines", 0, NULL },
    RG_WEIGHTS_OPTIONS(settings, keep),
    RG_SHORTLIST_OPTION(settings, shortlist),
    { RG_OPTION_BOOL, "compare-shortlist", offsetof(settings, compare), "false",
      "also answer with every token, and print how many answers the shortlist changes", 0, NULL },
    RG_OPTION_END
};

typedef struct {
    const settings    *s;
    rg_session_config  config;
    rg_session        *session, *whole; /* whole: --compare-shortlist */
    uint64_t           compared, changed;
    rg_lexicon        *lexicon;
    rg_glossary       *glossary;
    rg_translator    **translators;
    size_t             count;
    FILE              *out; /* output.stream */
    rg_output          output;
    rg_document_job    document;  /* its format NULL: lines; its sentences NULL: they stay whole */
    rg_translation_memory *memory;
    size_t             hits;      /* lines or sentences that were in it */
    char              *summary;   /* of all settings that change answers */
    double             threshold; /* of --alignment T */
    rg_text            prefix;    /* the same words for every line */
    rg_beam_tree      *tree;      /* --trace */
} translation;

/* ----------------------------------------------------------------------------------------------------- printing */

/* Links "source-target": the strongest of each target piece (hard), or all at least the threshold. Rows of the
 * closing </s> do not link. */
static void print_links(const translation *t, const rg_answer *a)
{
    const char *gap = "";
    for (size_t i = 0; i < a->length; i++) {
        const rg_real *row = a->attention + i * a->source_length;
        size_t         best = 0;
        for (size_t j = 1; j + 1 < a->source_length; j++)
            if (row[j] > row[best]) best = j;
        for (size_t j = 0; j + 1 < a->source_length; j++) {
            if (t->threshold < 0 ? j != best : (double)row[j] < t->threshold) continue;
            fprintf(t->out, "%s%zu-%zu", gap, j, i);
            gap = " ";
        }
    }
}

/* A row of numbers a target piece, </s> included, rows apart by blanks, numbers by commas. */
static void print_soft(const translation *t, const rg_answer *a)
{
    for (size_t i = 0; i < a->length + (a->cut ? 0 : 1); i++) {
        if (i) fputc(' ', t->out);
        for (size_t j = 0; j < a->source_length; j++)
            fprintf(t->out, "%s%.4g", j ? "," : "", (double)a->attention[i * a->source_length + j]);
    }
}

static void print_extras(const translation *t, const rg_answer *a)
{
    if (t->s->word_scores) {
        fputs(" ||| WordScores=", t->out);
        for (size_t i = 0; i < a->length + (a->cut ? 0 : 1); i++) fprintf(t->out, " %.5f", a->word[i]);
    }
    if (!a->attention || !t->s->alignment[0]) return;
    fputs(" ||| ", t->out);
    if (strcmp(t->s->alignment, "soft") == 0) print_soft(t, a);
    else print_links(t, a);
}

static void print_plain(const translation *t, const rg_translated *r, uint64_t number)
{
    if (!t->s->n_best) {
        if (r->count) {
            fputs(r->best[0].text, t->out);
            print_extras(t, r->best[0].answer);
        }
        fputc('\n', t->out);
        return;
    }
    for (size_t k = 0; k < r->count; k++) { /* Moses: number ||| text ||| features ||| score */
        const rg_answer *a = r->best[k].answer;
        fprintf(t->out, "%llu ||| %s ||| F0= %.6f ||| %.6f", (unsigned long long)number, r->best[k].text, a->log_p,
                a->score);
        print_extras(t, a);
        fputc('\n', t->out);
    }
    if (!r->count) fprintf(t->out, "%llu |||  ||| F0= 0 ||| 0\n", (unsigned long long)number);
}

/* A line that is in the memory; it has no scores. */
static void print_hit(const translation *t, const char *text, uint64_t number)
{
    if (t->s->json) {
        json_t *object = json_pack("{s:I, s:s, s:b}", "line", (json_int_t)number + 1, "text", text, "memory", 1);
        json_dumpf(object, t->out, JSON_COMPACT);
        json_decref(object);
    } else if (t->s->n_best) fprintf(t->out, "%llu ||| %s ||| Memory= 1 ||| 0", (unsigned long long)number, text);
    else fputs(text, t->out);
    fputc('\n', t->out);
}

static rg_status print_json(const translation *t, const rg_translated *r, uint64_t number)
{
    rg_text         text = { 0 };
    const rg_status status = rg_translated_json(&text, t->translators[0], r, number);
    if (status == RG_OK) fprintf(t->out, "%s\n", rg_text_c(&text));
    rg_text_free(&text);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ records */

/* One file per line: a.json, a.2.json, a.3.json. A new string; NULL: no memory. */
static char *file_of_line(const char *path, uint64_t number)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    const int   stem = dot ? (int)(dot - path) : (int)strlen(path);
    return number ? rg_format("%.*s.%llu%s", stem, path, (unsigned long long)number + 1, dot ? dot : "") : rg_strdup(path);
}

static rg_status save_as(rg_record *record, const char *path, uint64_t number, rg_status status)
{
    char *name = file_of_line(path, number);
    if (status == RG_OK) status = name ? rg_record_save(record, name) : RG_ENOMEM;
    rg_record_free(record);
    rg_free(name);
    return status;
}

/* Of an ensemble the first model is watched. */
static rg_status save_record(const translation *t, const rg_translated *r, uint64_t number)
{
    rg_record      *record = NULL;
    const rg_status status = rg_record_of_heads(&record, t->translators[0], r, NULL);
    return save_as(record, t->s->attention, number, status);
}

static const char *piece_of(const void *vocab, int32_t token) { return rg_vocab_piece(vocab, token); }

static rg_status save_tree(const translation *t, const char *line, const rg_translated *r, uint64_t number)
{
    rg_record *record = NULL;
    char      *title = rg_format("%s → %s", line, r->count ? r->best[0].text : "");
    rg_status  status = title ? rg_beam_tree_record(&record, t->tree, number, title, piece_of, t->translators[0]->target)
                              : RG_ENOMEM;
    rg_free(title);
    return save_as(record, t->s->trace, number, status);
}

/* ---------------------------------------------------------------------------------------------------------- run */

static void say_cut(const translation *t, const rg_translated *r, uint64_t number)
{
    const size_t read = r->source_length - 1; /* without </s> */
    fprintf(stderr, "line %llu: the last %zu of %zu tokens were not read; %s %zu\n", (unsigned long long)number + 1,
            r->cut, r->cut + read,
            read < (size_t)t->s->max_length ? "the model has learned positions for" : "--max-length is", read);
}

/* The same lines with every token, and how many best answers are other ones. */
static rg_status compare(translation *t, const rg_translated *results, char **lines, size_t n, uint64_t first,
                         const char *const *prefix)
{
    const rg_translated *others;
    rg_session_config    config = t->config;
    config.whole = true;
    config.search.trace = NULL;
    RG_TRY(rg_session_run(&others, t->whole, &config, (const char *const *)lines, n, first, prefix));
    for (size_t i = 0; i < n; i++) {
        const char *a = results[i].count ? results[i].best[0].text : "", *b = others[i].count ? others[i].best[0].text : "";
        t->changed += strcmp(a, b) != 0;
    }
    t->compared += n;
    return RG_OK;
}

/* Lines sentence by sentence. */
static rg_status translate_sentences(translation *t, char **lines, size_t n)
{
    char    **answers = rg_alloc_zero((n + 1) * sizeof *answers);
    rg_status status = answers ? rg_document_job_lines(answers, &t->document, lines, n) : RG_ENOMEM;
    for (size_t i = 0; answers && i < n; i++) {
        if (status == RG_OK) fprintf(t->out, "%s\n", answers[i]);
        rg_free(answers[i]);
    }
    rg_free(answers);
    return status == RG_OK ? rg_output_flush(&t->output) : status;
}

static rg_status translate_lines(translation *t, char **lines, size_t n, uint64_t first)
{
    if (t->document.sentences) return translate_sentences(t, lines, n);
    const rg_translated *results;
    const char         **prefix = rg_alloc_array(n, sizeof *prefix);
    const rg_glossary  **glossary = rg_alloc_array(n, sizeof *glossary);
    const char         **known = rg_alloc_array(n, sizeof *known); /* from the memory, or NULL */
    rg_status            status = prefix && glossary && known ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        prefix[i] = rg_text_c(&t->prefix), glossary[i] = t->glossary;
        if ((known[i] = t->memory ? rg_translation_memory_find(t->memory, lines[i]) : NULL)) lines[i][0] = 0; /* costs nothing */
    }
    t->config.glossary = t->glossary ? glossary : NULL;
    if (status == RG_OK) status = rg_session_run(&results, t->session, &t->config, (const char *const *)lines, n, first, prefix);
    const rg_status compared = status == RG_OK && t->whole ? compare(t, results, lines, n, first, prefix) : status;
    rg_free(prefix);
    rg_free(glossary);
    for (size_t i = 0; compared == RG_OK && i < n; i++) t->hits += known[i] != NULL;
    status = compared;
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        if (known[i]) {
            print_hit(t, known[i], first + i);
            continue;
        }
        if (t->s->attention[0]) status = save_record(t, &results[i], first + i);
        if (status == RG_OK && t->tree) status = save_tree(t, lines[i], &results[i], first + i);
        if (status == RG_OK && t->s->json) status = print_json(t, &results[i], first + i);
        if (!t->s->json) print_plain(t, &results[i], first + i);
        if (results[i].cut && !t->s->quiet)
            say_cut(t, &results[i], first + i);
        for (size_t k = 0; k < results[i].count && !t->s->quiet; k++)
            if (results[i].best[k].answer->cut) {
                fprintf(stderr, "line %llu: the answer was ended at %zu tokens; --max-length-factor is %g\n",
                        (unsigned long long)(first + i + 1), results[i].best[k].answer->length, t->s->factor);
                break;
            }
    }
    rg_free(known);
    RG_TRY(status);
    if (t->tree) rg_beam_tree_clear(t->tree);
    return rg_output_flush(&t->output);
}

/* What is translated: lines, or a column of a table. */
typedef struct {
    rg_lines  *lines;
    rg_reader *table; /* one of them */
    rg_fault   empty; /* rows of the table without a text */
} input;

static rg_status open_input(input *in, const settings *s)
{
    static const char *const wanted[] = { "source" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    if (!*s->format && !*s->columns) return rg_lines_open(&in->lines, s->input, NULL);
    c.format = s->format;
    c.columns = s->columns;
    c.header = strcmp(s->header, "yes") == 0  ? RG_HEADER_YES
               : strcmp(s->header, "no") == 0 ? RG_HEADER_NO
                                              : RG_HEADER_AUTO;
    c.wanted = wanted;
    c.wanted_count = 1;
    return rg_reader_open(&in->table, s->input, &c);
}

static void close_input(input *in)
{
    rg_lines_close(in->lines);
    rg_reader_close(in->table);
}

/* The next text, a new string; a row without one is an empty line. */
static rg_status next_text(bool *more, char **out, const translation *t, input *in)
{
    rg_line line = { 0 };
    rg_row  row = { 0 };
    *out = NULL;
    RG_TRY(in->table ? rg_reader_next(more, &row, in->table) : rg_lines_next(more, &line, in->lines));
    if (!*more) return RG_OK;
    if (in->lines && !t->s->quiet) rg_line_faults_say(in->lines, &line);
    if (in->table && !row.cell[0].count) rg_fault_note(&in->empty, row.line);
    return (*out = rg_strdup(in->table ? row.cell[0].bytes : line.text)) ? RG_OK : RG_ENOMEM;
}

static rg_status say_empty(const input *in)
{
    rg_text         text = { 0 };
    const rg_status status = rg_fault_print(&text, &in->empty, "without a text, answered by an empty line");
    if (status == RG_OK && in->empty.count) fprintf(stderr, "%s\n", rg_text_c(&text));
    rg_text_free(&text);
    return status;
}

/* Read until enough lines are there to sort, or until one would have to be waited for. */
static rg_status run_lines(translation *t, input *in)
{
    const size_t most = (size_t)t->s->mini_batch * (size_t)t->s->maxi_batch;
    char       **held = rg_alloc_array(most, sizeof *held);
    uint64_t     first = 0;
    size_t       n = 0;
    bool         more = true;
    rg_status    status = held ? RG_OK : RG_ENOMEM;
    while (status == RG_OK && (more || n)) {
        char *text = NULL;
        if (more) status = next_text(&more, &text, t, in);
        if (text) held[n++] = text;
        if (status != RG_OK || (more && n < most && !(in->lines && rg_lines_would_wait(in->lines)))) continue;
        if (n) status = translate_lines(t, held, n, first);
        for (size_t i = 0; i < n; i++) rg_free(held[i]);
        first += n;
        n = 0;
    }
    for (size_t i = 0; held && i < n; i++) rg_free(held[i]);
    rg_free(held);
    if (status != RG_OK || t->s->quiet) return status;
    return in->lines ? rg_line_faults_sum(in->lines) : say_empty(in);
}

static rg_status run_input(translation *t)
{
    input     in = { .lines = NULL };
    rg_status status = open_input(&in, t->s);
    if (status == RG_OK) status = rg_output_open(&t->output, t->s->output);
    t->out = t->output.stream;
    if (status == RG_OK) status = run_lines(t, &in);
    status = rg_output_close(&t->output, status);
    close_input(&in);
    return status;
}

static rg_status configure(translation *t)
{
    const settings *s = t->s;
    if (!s->models.count) return rg_fail(RG_EINVAL, "which model? -m MODEL.safetensors");
    if (s->n_best > s->beam)
        return rg_fail(RG_EINVAL, "--n-best is %lld; --beam-size %lld keeps no more than that many",
                       (long long)s->n_best, (long long)s->beam);
    RG_TRY(rg_words_join(&t->prefix, &s->prefix));
    t->threshold = -1;
    if (s->alignment[0] && strcmp(s->alignment, "soft") != 0 && strcmp(s->alignment, "hard") != 0) {
        char *end;
        t->threshold = rg_real_parse(s->alignment, &end);
        if (*end || !(t->threshold > 0 && t->threshold <= 1))
            return rg_fail(RG_EINVAL, "--alignment %s: soft, hard or a threshold in (0, 1]", s->alignment);
    }
    t->config = (rg_session_config)RG_SESSION_CONFIG_DEFAULT;
    rg_search_config *c = &t->config.search;
    c->beam = (size_t)s->beam;
    c->n_best = s->n_best < 0 ? c->beam : s->n_best ? (size_t)s->n_best : 1;
    c->normalize = s->normalize;
    c->gnmt = strcmp(s->length_form, "gnmt") == 0;
    c->groups = (size_t)s->groups;
    c->diversity = s->diversity;
    c->word_penalty = s->penalty;
    c->coverage = s->coverage;
    c->length_factor = s->factor;
    c->no_unknown = !s->allow_unknown;
    c->sample = s->sample;
    c->temperature = s->temperature;
    c->top = (size_t)s->top;
    c->seed = (uint64_t)s->seed;
    c->unscored = !s->json && !s->word_scores && !s->n_best && !s->trace[0];
    if (s->trace[0]) {
        RG_TRY(rg_beam_tree_new(&t->tree));
        c->trace = rg_beam_tree_note;
        c->trace_context = t->tree;
    }
    c->attention = s->alignment[0] != 0 || s->attention[0] != 0 || s->json;
    t->config.max_length = (size_t)s->max_length;
    t->config.batch = (size_t)s->mini_batch;
    t->config.batch_words = (size_t)s->mini_batch * 16;
    t->config.replace_unknown = s->replace_unknown;
    return RG_OK;
}

static rg_status check_outputs(const settings *s)
{
    RG_TRY(rg_output_is_not("output", s->output, s->input));
    RG_TRY(rg_output_is_not("attention", s->attention, s->input));
    RG_TRY(rg_output_is_not("output", s->output, s->glossary));
    RG_TRY(rg_output_is_not("trace", s->trace, s->input));
    for (size_t i = 0; i < s->models.count; i++) {
        RG_TRY(rg_output_is_not("output", s->output, s->models.items[i]));
        RG_TRY(rg_output_is_not("attention", s->attention, s->models.items[i]));
        RG_TRY(rg_output_is_not("trace", s->trace, s->models.items[i]));
    }
    return RG_OK;
}

/* All that the answers of a document depend on, for its .partial file. */
static char *describe(const settings *s)
{
    rg_text         out = { 0 };
    rg_status       status = RG_OK;
    for (size_t i = 0; i < s->models.count && status == RG_OK; i++) {
        uint64_t bytes = 0;
        status = rg_file_size_at(&bytes, s->models.items[i]);
        if (status == RG_OK)
            status = rg_text_print(&out, "%s %llu ", s->models.items[i], (unsigned long long)bytes);
    }
    for (size_t i = 0; i < s->shortlist.count && status == RG_OK; i++)
        status = rg_text_print(&out, "%s ", s->shortlist.items[i]);
    if (status == RG_OK) status = rg_text_print(&out, "%s|%s|%s|%s ", s->memory, s->glossary, s->source, s->target);
    if (status == RG_OK)
        status = rg_text_print(&out, "%s %d %lld %g %s %g %g %g %d %d %d %g %lld %lld %lld", s->keep.weights, s->keep.int8,
                               (long long)s->beam, s->normalize, s->length_form, s->penalty, s->coverage, s->factor,
                               s->allow_unknown, s->replace_unknown, s->sample, s->temperature, (long long)s->top,
                               (long long)s->seed, (long long)s->max_length);
    if (status != RG_OK) rg_text_free(&out);
    return out.data;
}

/* What is a document, and what is cut into sentences. */
static rg_status configure_document(translation *t)
{
    const settings *s = t->s;
    const bool      table = *s->format || *s->columns;
    RG_TRY(rg_document_job_format(&t->document.format, table ? "lines" : s->input_format, s->input));
    if (table && strcmp(s->input_format, "auto") != 0 && strcmp(s->input_format, "lines") != 0)
        return rg_fail(RG_EINVAL, "--input-format %s: the input is either a document or, by --format and --columns, a table",
                       s->input_format);
    const char *language = *s->source ? s->source : rg_translator_language(t->translators[0], 0),
               *target = *s->target ? s->target : rg_translator_language(t->translators[0], 1);
    if (*s->memory)
        RG_TRY(rg_translation_memory_open(&t->memory, s->memory, language, target, RG_TRANSLATION_MEMORY_BYTES));
    const bool document = t->document.format != NULL,
               split = strcmp(s->split, "yes") == 0 || (document && strcmp(s->split, "auto") == 0);
    if (!document && !split) return RG_OK;
    if (s->n_best || s->json || s->word_scores || *s->alignment || *s->attention || s->compare || s->prefix.count || t->tree)
        return rg_fail(RG_EINVAL,
                       "%s gives its text only: not with --n-best, --json, --word-scores, --alignment, --attention, "
                       "--compare-shortlist or --prefix%s",
                       document ? "a document" : "--split-sentences yes",
                       document ? "; --input-format lines reads it line by line" : "");
    t->document.memory = t->memory;
    t->document.hits = &t->hits;
    t->document.glossary = t->glossary;
    t->document.input = s->input;
    t->document.output = s->output;
    t->document.quiet = s->quiet;
    t->document.chunk = (size_t)s->mini_batch * 4;
    if (!(t->summary = describe(s))) return RG_ENOMEM;
    t->document.settings = t->summary;
    rg_status status = split ? rg_sentences_new(&t->document.sentences, language) : RG_OK;
    if (status != RG_OK) rg_fail(status, "%s; --split-sentences no translates paragraphs as they are", rg_message());
    return status;
}

enum { ALIGNER_ROUNDS = 5 };

static rg_status learn_dictionary(translation *t)
{
    const rg_list *files = &t->s->dictionary;
    if (!files->count) return RG_OK;
    if (files->count != 2 || !t->s->replace_unknown)
        return rg_fail(RG_EINVAL, "--dictionary takes two files, source and target, and needs --replace-unk");
    RG_TRY(rg_lexicon_learn(&t->lexicon, files->items[0], files->items[1], ALIGNER_ROUNDS));
    t->config.lexicon = t->lexicon;
    return RG_OK;
}

static rg_status run(rg_call *call)
{
    translation t = { .s = call->options };
    rg_status   status = configure(&t);
    if (status == RG_OK) status = check_outputs(t.s);
    const long  cores = sysconf(_SC_NPROCESSORS_ONLN);
    const int   threads = t.tree        ? 1 /* one tree, one writer */
                          : t.s->threads ? (int)t.s->threads : cores > 0 ? (int)cores : 1;
    if (status == RG_OK && !(t.translators = rg_alloc_zero(t.s->models.count * sizeof *t.translators)))
        status = RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < t.s->models.count; i++, t.count++) {
        status = rg_translator_load_as(&t.translators[i], t.s->models.items[i], rg_weights_chosen(&t.s->keep));
        if (status == RG_OK) status = rg_translator_slim(t.translators[i]);
    }
    if (status == RG_OK) status = learn_dictionary(&t);
    if (status == RG_OK && *t.s->glossary) status = rg_glossary_load(&t.glossary, t.s->glossary);
    if (status == RG_OK) status = rg_shortlist_use(t.translators[0], &t.s->shortlist);
    if (status == RG_OK) status = rg_session_new(&t.session, t.translators, t.count, threads);
    if (status == RG_OK && t.s->compare && !t.translators[0]->shortlist)
        status = rg_fail(RG_EINVAL, "--compare-shortlist needs one: --shortlist FILE");
    if (status == RG_OK && t.s->compare) status = rg_session_new(&t.whole, t.translators, t.count, threads);
    if (status == RG_OK) status = configure_document(&t);
    t.document.session = t.session;
    t.document.translator = t.count ? t.translators[0] : NULL;
    t.document.config = &t.config;
    if (status == RG_OK && t.document.format) status = rg_document_job_run(&t.document);
    else if (status == RG_OK) status = run_input(&t);
    if (status == RG_OK && t.whole)
        fprintf(stderr, "the shortlist changes %llu of %llu answers (%.2f %%)\n", (unsigned long long)t.changed,
                (unsigned long long)t.compared, t.compared ? 100.0 * (double)t.changed / (double)t.compared : 0.0);
    if (status == RG_OK && t.memory && !t.s->quiet)
        fprintf(stderr, "%s: %zu copied from %zu pairs\n", t.s->memory, t.hits, rg_translation_memory_count(t.memory));
    rg_translation_memory_free(t.memory);
    rg_sentences_free(t.document.sentences);
    rg_free(t.summary);
    rg_session_free(t.whole);
    rg_session_free(t.session);
    for (size_t i = 0; i < t.count; i++) rg_translator_free(t.translators[i]);
    rg_free(t.translators);
    rg_lexicon_free(t.lexicon);
    rg_glossary_free(t.glossary);
    rg_beam_tree_free(t.tree);
    rg_text_free(&t.prefix);
    return status;
}

const rg_command rg_command_translate = {
    .name = "translate",
    .summary = "translate lines, one for one, or a document",
    .details = "Reads lines of UTF-8 and writes one translation a line, at once when the next line would have to be "
               "waited for. "
               "A line's translation does not depend on its neighbours, on batches or on threads. A document (--input-format) "
               "is translated sentence by sentence and written with its markup; a run that was interrupted is resumed.",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
