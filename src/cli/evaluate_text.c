/* evaluate_text.c - text against references: BLEU, chrF, TER, ROUGE, exact lines, alignment error. */
#include "cli/evaluate.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot.h"
#include "regard/metrics.h"
#include "regard/view.h"

typedef struct evaluate_options {
    rg_list metrics, lengths;
    char   *tokenize, *source, *baseline;
    bool    lowercase, normalized, confidence, sentences, by_length, rouge_split;
    int64_t samples, seed, rouge_bytes;
} evaluate_options;

static const rg_option rows[] = {
    { RG_OPTION_LIST, "metrics", offsetof(evaluate_options, metrics), "bleu chrf",
      "bleu, chrf, chrf++, ter, rouge (1, 2 and L), rouge1, rouge2, rougeL, gleu, exact, aer", 0, NULL },
    { RG_OPTION_STRING, "tokenize", offsetof(evaluate_options, tokenize), "13a", "tokeniser of BLEU", 0,
      "13a|intl|char|none|zh" },
    { RG_OPTION_BOOL, "lowercase", offsetof(evaluate_options, lowercase), "false",
      "compare without case (BLEU, chrF, exact)", 0, NULL },
    { RG_OPTION_BOOL, "normalized", offsetof(evaluate_options, normalized), "false", "TER: split punctuation", 0,
      NULL },
    { RG_OPTION_INT, "rouge-bytes", offsetof(evaluate_options, rouge_bytes), "0",
      "ROUGE: recall of the first so many bytes of the output (75 for DUC)", 0, "[0,inf)" },
    { RG_OPTION_BOOL, "rouge-split", offsetof(evaluate_options, rouge_split), "false",
      "ROUGE: cut words at every sign, as rouge_score does, not only around U.S., 4.5 and know-how", 0, NULL },
    { RG_OPTION_BOOL, "confidence", offsetof(evaluate_options, confidence), "false", "95 % interval by resampling", 0,
      NULL },
    { RG_OPTION_INT, "samples", offsetof(evaluate_options, samples), "1000", "how often to resample", 0,
      "[40,1000000]" },
    { RG_OPTION_INT, "seed", offsetof(evaluate_options, seed), "12345", "seed of the resampling", 0, "[0,inf)" },
    { RG_OPTION_BOOL, "sentences", offsetof(evaluate_options, sentences), "false", "also the score of each line", 0,
      NULL },
    { RG_OPTION_BOOL, "by-length", offsetof(evaluate_options, by_length), "false",
      "also the score by length of the source", 0, NULL },
    { RG_OPTION_STRING, "source", offsetof(evaluate_options, source), "",
      "source text; its words are the lengths, else the reference's", 0, NULL },
    { RG_OPTION_STRING, "baseline", offsetof(evaluate_options, baseline), "",
      "lead:N: judge the first N words of every line of --source instead of a hypothesis", 0, NULL },
    { RG_OPTION_LIST, "lengths", offsetof(evaluate_options, lengths), "10 20 30 40 50", "last lengths of the classes",
      0, NULL },
    RG_OPTION_END,
};

/* --------------------------------------------------------------------------------------------------------- files */

typedef struct text_file {
    rg_text pool;
    size_t *at;
    size_t  count, room;
    char   *name;
} text_file;

static const char *line_of(const text_file *f, size_t i)
{
    return f->pool.data + f->at[i];
}

static void free_file(text_file *f)
{
    rg_text_free(&f->pool);
    rg_free(f->at);
    rg_free(f->name);
}

static rg_status add_line(text_file *f, const char *text, size_t bytes)
{
    if (f->count == f->room) {
        size_t room = f->room ? 2 * f->room : 1024, *at = rg_realloc(f->at, room * sizeof *at);
        if (!at) return RG_ENOMEM;
        f->at = at;
        f->room = room;
    }
    f->at[f->count] = f->pool.length;
    RG_TRY(rg_text_add(&f->pool, text, bytes));
    RG_TRY(rg_text_add(&f->pool, "", 1));
    f->count++;
    return RG_OK;
}

/* All lines, as they are but valid; bad UTF-8 is reported on standard error. */
static rg_status read_file(text_file *out, const char *path)
{
    rg_lines       *lines = NULL;
    rg_line         line;
    bool            more = true;
    rg_text         note = { 0 };
    rg_lines_config config = RG_LINES_CONFIG_DEFAULT;
    config.form = RG_TEXT_AS_IS;
    RG_TRY(rg_lines_open(&lines, path, &config));
    rg_status status = (out->name = rg_strdup(rg_lines_name(lines))) ? RG_OK : RG_ENOMEM;
    while (status == RG_OK && (status = rg_lines_next(&more, &line, lines)) == RG_OK && more) {
        if (line.faults & RG_LINE_TOO_LONG)
            status = rg_fail(RG_ELIMIT, "%s: line %" PRIu64 " is longer than %zu bytes", path, line.number,
                             config.max_bytes);
        else status = add_line(out, line.text, line.bytes);
    }
    if (status == RG_OK)
        status = rg_fault_print(&note, rg_lines_fault(lines, RG_LINE_BAD_UTF8), "lines with bad UTF-8");
    if (note.length) fprintf(stderr, "regard evaluate: %s: %s\n", out->name, note.data);
    rg_text_free(&note);
    rg_lines_close(lines);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- a job */

typedef struct job {
    const evaluate_options *options;
    const rg_evaluation    *shared;
    text_file               hypothesis, source, *references;
    size_t                  count; /* of references */
    uint32_t               *lengths, *edges;
    rg_record              *plot; /* a series a metric, for --plot */
} job;

static void print_number(const job *j, double value)
{
    printf("%.*f", (int)j->shared->width, value);
}

static void print_parts(const rg_scorer *s)
{
    rg_bleu_parts b;
    if (rg_scorer_bleu(&b, s) != RG_OK) return;
    double ratio = b.reference_length ? (double)b.hypothesis_length / (double)b.reference_length : 0;
    printf(" %.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %" PRIu64 " ref_len = %" PRIu64 ")", b.precisions[0],
           b.precisions[1], b.precisions[2], b.precisions[3], b.brevity, ratio, b.hypothesis_length,
           b.reference_length);
}

static void print_parts_json(const rg_scorer *s)
{
    rg_bleu_parts b;
    double        p, r, f;
    if (rg_scorer_bleu(&b, s) == RG_OK)
        printf(", \"precisions\": [%.10g, %.10g, %.10g, %.10g], \"bp\": %.10g, \"hyp_len\": %" PRIu64
               ", \"ref_len\": %" PRIu64,
               b.precisions[0], b.precisions[1], b.precisions[2], b.precisions[3], b.brevity, b.hypothesis_length,
               b.reference_length);
    else if (rg_scorer_rouge(&p, &r, &f, s) == RG_OK)
        printf(", \"precision\": %.10g, \"recall\": %.10g, \"f1\": %.10g", p, r, f);
}

static rg_status print_score(const job *j, const rg_scorer *s)
{
    const evaluate_options *o = j->options;
    rg_text                 signature = { 0 };
    double                  mean = 0, half = 0, score = rg_scorer_score(s);
    rg_status               status = rg_scorer_signature(&signature, s);
    if (status == RG_OK && o->confidence)
        status = rg_scorer_bootstrap(&mean, &half, s, (size_t)o->samples, (uint64_t)o->seed);
    if (status == RG_OK && j->shared->json) {
        printf("{\"name\": \"%s\", \"score\": %.10g, \"signature\": \"%s\"", rg_scorer_title(s), score, signature.data);
        print_parts_json(s);
        if (o->confidence) printf(", \"confidence_mean\": %.10g, \"confidence_half\": %.10g", mean, half);
        printf("}\n");
    } else if (status == RG_OK) {
        printf("%s|%s = ", rg_scorer_title(s), signature.data);
        print_number(j, score);
        if (o->confidence) {
            printf(" (mean ");
            print_number(j, mean);
            printf(" +- ");
            print_number(j, half);
            printf(")");
        }
        print_parts(s);
        printf("\n");
    }
    rg_text_free(&signature);
    return status;
}

static void print_sentences(const job *j, const rg_scorer *s)
{
    for (size_t i = 0; i < rg_scorer_segments(s); i++) {
        double score = rg_scorer_sentence(s, i);
        if (j->shared->json)
            printf("{\"name\": \"%s\", \"line\": %zu, \"score\": %.10g}\n", rg_scorer_title(s), i + 1, score);
        else printf("%s\t%zu\t%.*f\n", rg_scorer_title(s), i + 1, (int)j->shared->width, score);
    }
}

/* ---------------------------------------------------------------------------------------------------- by length */

static uint32_t words_in(const char *line)
{
    uint32_t count = 0;
    for (; *line; line++) count += *line != ' ' && (line[1] == ' ' || line[1] == '\0');
    return count;
}

static rg_status read_lengths(job *j)
{
    const evaluate_options *o = j->options;
    const text_file        *file = *o->source ? &j->source : &j->references[0];
    if (*o->source) RG_TRY(read_file(&j->source, o->source));
    if (*o->source && j->source.count != j->hypothesis.count)
        return rg_fail(RG_EMATCH, "%s has %zu lines, %s %zu", j->source.name, j->source.count, j->hypothesis.name,
                       j->hypothesis.count);
    j->lengths = rg_alloc_array(file->count, sizeof *j->lengths);
    j->edges = rg_alloc_array(o->lengths.count, sizeof *j->edges);
    if (!j->lengths || !j->edges) return RG_ENOMEM;
    for (size_t i = 0; i < file->count; i++) j->lengths[i] = words_in(line_of(file, i));
    for (size_t i = 0; i < o->lengths.count; i++) {
        char         *end;
        unsigned long edge = strtoul(o->lengths.items[i], &end, 10);
        if (*end || !edge || edge > UINT32_MAX || (i && edge <= j->edges[i - 1]))
            return rg_fail(RG_EINVAL, "--lengths are rising whole numbers, not \"%s\"", o->lengths.items[i]);
        j->edges[i] = (uint32_t)edge;
    }
    return RG_OK;
}

static void print_class(const job *j, const rg_scorer *s, size_t b, double score, size_t count)
{
    size_t   last = j->options->lengths.count;
    uint32_t low = b ? j->edges[b - 1] + 1 : 1;
    char     name[40];
    if (b < last) snprintf(name, sizeof name, "%u-%u", low, j->edges[b]);
    else snprintf(name, sizeof name, "%u-", low);
    if (j->shared->json)
        printf("{\"name\": \"%s\", \"length\": \"%s\", \"lines\": %zu, \"score\": %.10g}\n", rg_scorer_title(s), name,
               count, score);
    else printf("%s of length %-8s %6zu lines  %.*f\n", rg_scorer_title(s), name, count, (int)j->shared->width, score);
}

static rg_status new_curves(rg_record **out, const job *j, const char *scale)
{
    size_t      curves;
    const char *words = *j->options->source ? "source words" : "reference words";
    RG_TRY(rg_record_new(out, "score by length", "evaluation"));
    return rg_record_add_curves(&curves, *out, "score by length", words, scale, false, false);
}

static rg_status save_plot(const job *j)
{
    if (!j->plot->curves[0].count)
        return rg_fail(RG_EINVAL, "--plot draws bleu, chrf, ter and rouge: name one of them in --metrics");
    return rg_plot_save(j->plot, j->shared->plot);
}

static rg_status print_curve(const job *j, const char *title, const double *x, const double *y, size_t points)
{
    rg_terminal_options options = RG_TERMINAL_OPTIONS_DEFAULT;
    rg_record          *record = NULL;
    char               *drawn = NULL;
    rg_terminal_detect(&options, false, 0);
    options.height = 14;
    rg_status status = new_curves(&record, j, title);
    if (status == RG_OK) status = rg_record_add_series(record, 0, title, x, y, points);
    if (status == RG_OK) status = rg_terminal_curves(&drawn, &record->curves[0], &options);
    if (status == RG_OK) fputs(drawn, stdout);
    rg_free(drawn);
    rg_record_free(record);
    return status;
}

/* The classes as points at their middle, drawn in the terminal and kept for --plot. */
static rg_status draw(const job *j, const char *title, const double *scores, const size_t *counts)
{
    const size_t n = j->options->lengths.count + 1;
    size_t       points = 0;
    double      *x = rg_alloc_array(2 * n, sizeof *x), *y = x + n;
    if (!x) return RG_ENOMEM;
    for (size_t b = 0; b < n; b++) {
        double low = b ? j->edges[b - 1] : 0,
               high = b + 1 < n ? j->edges[b] : low + (b > 1 ? low - j->edges[b - 2] : 10);
        if (!counts[b]) continue;
        x[points] = (low + high) / 2;
        y[points++] = scores[b];
    }
    rg_status status = j->shared->json ? RG_OK : print_curve(j, title, x, y, points);
    if (status == RG_OK && j->plot) status = rg_record_add_series(j->plot, 0, title, x, y, points);
    rg_free(x);
    return status;
}

static rg_status print_by_length(const job *j, const rg_scorer *s)
{
    size_t    n = j->options->lengths.count + 1;
    double   *scores = rg_alloc_array(n, sizeof *scores);
    size_t   *counts = rg_alloc_array(n, sizeof *counts);
    rg_status status = scores && counts ? RG_OK : RG_ENOMEM;
    if (status == RG_OK) status = rg_scorer_by_length(scores, counts, s, j->lengths, j->edges, n - 1);
    if (status == RG_OK) {
        for (size_t b = 0; b < n; b++)
            if (counts[b]) print_class(j, s, b, scores[b], counts[b]);
        status = draw(j, rg_scorer_title(s), scores, counts);
    }
    rg_free(scores);
    rg_free(counts);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- metrics */

static rg_status fill(rg_scorer *s, const job *j)
{
    const char **references = rg_alloc_array(j->count, sizeof *references);
    rg_status    status = references ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; i < j->hypothesis.count && status == RG_OK; i++) {
        for (size_t r = 0; r < j->count; r++) references[r] = line_of(&j->references[r], i);
        if ((status = rg_scorer_add(s, line_of(&j->hypothesis, i), references, j->count)) != RG_OK)
            rg_fail_in(status, "line %zu: ", i + 1);
    }
    rg_free(references);
    return status;
}

static rg_status evaluate_sentences(const job *j, const char *name)
{
    const evaluate_options *o = j->options;
    rg_scorer_config        config = RG_SCORER_CONFIG_DEFAULT;
    rg_scorer              *s = NULL;
    RG_TRY(rg_tokenizer_find(&config.tokenizer, o->tokenize));
    config.lowercase = o->lowercase;
    config.normalized = o->normalized;
    config.max_bytes = (size_t)o->rouge_bytes;
    config.split_words = o->rouge_split;
    RG_TRY(rg_scorer_new(&s, name, &config));
    rg_status status = fill(s, j);
    if (status == RG_OK && o->sentences) print_sentences(j, s);
    if (status == RG_OK) status = print_score(j, s);
    if (status == RG_OK && j->lengths) status = print_by_length(j, s);
    rg_scorer_free(s);
    return status;
}

static void print_simple(const job *j, const char *name, double score, size_t lines)
{
    if (j->shared->json) printf("{\"name\": \"%s\", \"score\": %.10g, \"lines\": %zu}\n", name, score, lines);
    else printf("%s = %.*f (%zu lines)\n", name, (int)j->shared->width, score, lines);
}

/* Share of lines equal to one of their references, blanks squeezed. */
static rg_status evaluate_exact(const job *j)
{
    rg_text   a = { 0 }, b = { 0 };
    size_t    equal = 0;
    rg_status status = RG_OK;
    for (size_t i = 0; i < j->hypothesis.count && status == RG_OK; i++) {
        bool same = false;
        for (size_t r = 0; r < j->count && status == RG_OK && !same; r++) {
            const char *x = line_of(&j->hypothesis, i), *y = line_of(&j->references[r], i);
            rg_text_clear(&a);
            rg_text_clear(&b);
            status = j->options->lowercase ? rg_text_lower(&a, x, strlen(x)) : rg_text_add_string(&a, x);
            if (status == RG_OK)
                status = j->options->lowercase ? rg_text_lower(&b, y, strlen(y)) : rg_text_add_string(&b, y);
            if (status != RG_OK) break;
            rg_text_squeeze(&a);
            rg_text_squeeze(&b);
            same = !strcmp(a.data, b.data);
        }
        equal += same;
    }
    if (status == RG_OK)
        print_simple(j, "exact", j->hypothesis.count ? 100 * (double)equal / (double)j->hypothesis.count : 0,
                     j->hypothesis.count);
    rg_text_free(&a);
    rg_text_free(&b);
    return status;
}

static rg_status evaluate_aer(const job *j)
{
    rg_aer aer = { 0 };
    for (size_t i = 0; i < j->hypothesis.count; i++) {
        rg_status status = rg_aer_add(&aer, line_of(&j->hypothesis, i), line_of(&j->references[0], i));
        if (status != RG_OK) return rg_fail_in(status, "line %zu: ", i + 1);
    }
    print_simple(j, "AER", 100 * rg_aer_rate(&aer), j->hypothesis.count);
    return RG_OK;
}

static rg_status evaluate(const job *j, const char *name)
{
    if (!strcmp(name, "exact")) return evaluate_exact(j);
    if (!strcmp(name, "aer")) return evaluate_aer(j);
    if (strcmp(name, "rouge")) return evaluate_sentences(j, name);
    RG_TRY(evaluate_sentences(j, "rouge1"));
    RG_TRY(evaluate_sentences(j, "rouge2"));
    return evaluate_sentences(j, "rougeL");
}

static bool is_metric(const char *word)
{
    static const char *const names[] = { "bleu", "chrf", "chrf++", "ter", "rouge", "rouge1",
                                         "rouge2", "rougeL", "gleu", "exact", "aer" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(word, names[i])) return true;
    return false;
}

/* --baseline lead:N: the first N words of every source line. */
static rg_status read_baseline(job *j)
{
    const char     *text = j->options->baseline;
    text_file       source = { .count = 0 };
    char           *end = NULL;
    const long long n = strncmp(text, "lead:", 5) == 0 ? strtoll(text + 5, &end, 10) : 0;
    if (n < 1 || n > 1000000 || *end) return rg_fail(RG_EINVAL, "--baseline %s: lead:N, such as lead:8", text);
    if (!*j->options->source)
        return rg_fail(RG_EINVAL, "--baseline %s needs --source FILE, whose first words it takes", text);
    rg_status status = read_file(&source, j->options->source);
    if (status == RG_OK && !(j->hypothesis.name = rg_strdup(text))) status = RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < source.count; i++) {
        const char *line = line_of(&source, i) + strspn(line_of(&source, i), " \t"), *at = line;
        for (long long k = 0; k < n && *at; k++) {
            at += strspn(at, " \t");
            at += strcspn(at, " \t");
        }
        status = add_line(&j->hypothesis, line, (size_t)(at - line));
    }
    free_file(&source);
    return status;
}

static rg_status read_references(job *j, const rg_call *call, size_t metrics)
{
    const rg_list *list = &j->options->metrics;
    size_t         after = list->count - metrics; /* "--metrics bleu chrf REF": what is no metric is a reference */
    j->references = rg_alloc_zero((after + call->words.count + 1) * sizeof *j->references);
    if (!j->references) return RG_ENOMEM;
    for (size_t i = 0; i < after + call->words.count; i++) {
        const char *path = i < after ? list->items[metrics + i] : call->words.items[i - after];
        RG_TRY(read_file(&j->references[j->count++], path));
        const text_file *now = &j->references[j->count - 1];
        if (now->count != j->hypothesis.count)
            return rg_fail(RG_EMATCH, "%s has %zu lines, %s %zu: they must belong together line by line",
                           j->hypothesis.name, j->hypothesis.count, now->name, now->count);
    }
    return j->count ? RG_OK : rg_fail(RG_EINVAL, "give at least one file of references; see regard evaluate --help");
}

rg_status rg_evaluate_text(rg_call *call, const rg_evaluation *shared)
{
    const evaluate_options *o = rg_call_values(call, rows);
    job                     j = { .options = o, .shared = shared };
    size_t                  metrics = 0;
    while (metrics < o->metrics.count && is_metric(o->metrics.items[metrics])) metrics++;
    if (!metrics)
        return rg_fail(RG_EINVAL, "no metric is called \"%s\"; there are %s",
                       o->metrics.count ? o->metrics.items[0] : "", rows[0].help);
    if (metrics == o->metrics.count && !call->words.count)
        return rg_fail(RG_EINVAL, "give at least one file of references; see regard evaluate --help");
    rg_status status = *shared->plot ? new_curves(&j.plot, &j, "score") : RG_OK;
    if (status == RG_OK) status = *o->baseline ? read_baseline(&j) : read_file(&j.hypothesis, shared->hypothesis);
    if (status == RG_OK) status = read_references(&j, call, metrics);
    if (status == RG_OK && !j.hypothesis.count)
        status = rg_fail(RG_EFORMAT, "%s has no line: there is nothing to judge", j.hypothesis.name);
    if (status == RG_OK && (o->by_length || *shared->plot)) status = read_lengths(&j);
    for (size_t i = 0; i < metrics && status == RG_OK; i++) status = evaluate(&j, o->metrics.items[i]);
    if (status == RG_OK && j.plot) status = save_plot(&j);
    for (size_t r = 0; r < j.count; r++) free_file(&j.references[r]);
    rg_free(j.references);
    free_file(&j.hypothesis);
    free_file(&j.source);
    rg_free(j.lengths);
    rg_free(j.edges);
    rg_record_free(j.plot);
    return status;
}

rg_status rg_evaluate_text_extend(rg_call *call) { return rg_call_add(call, "text", rows, sizeof(evaluate_options)); }
