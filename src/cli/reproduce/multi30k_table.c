/* multi30k_table.c - all runs side by side: our version of table 2 of Vaswani et al. 2017 (quality beside cost), BLEU by source length, and
 * the claims. Figures of several seeds are means; a run that is not finished has no line. */
#include "cli/reproduce/multi30k.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "regard/text.h"
#include "regard/view.h"

static double value_of(const multi30k_result *r, size_t offset) { return *(const double *)(const void *)((const char *)r + offset); }

static double mean(const multi30k_line *l, size_t offset)
{
    double sum = 0;
    for (size_t i = 0; i < l->runs; i++) sum += value_of(&l->result[i], offset);
    return sum / (double)(l->runs ? l->runs : 1);
}
#define MEAN(line, field) mean(line, offsetof(multi30k_result, field))

/* Between seeds; 0 for one. */
static double deviation(const multi30k_line *l)
{
    const double m = MEAN(l, bleu);
    double       squares = 0;
    for (size_t i = 0; i < l->runs; i++) squares += (l->result[i].bleu - m) * (l->result[i].bleu - m);
    return l->runs > 1 ? sqrt(squares / (double)(l->runs - 1)) : 0;
}

static const multi30k_line *find(const multi30k_line *lines, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (lines[i].runs && strcmp(lines[i].row->name, name) == 0) return &lines[i];
    return NULL;
}

/* --------------------------------------------------------------------------------------------------------- the table */

static void number_or_dash(double value, int width, int digits)
{
    if (value > 0) printf(" %*.*f", width, digits, value);
    else printf(" %*s", width, "-");
}

static void print_table(const multi30k_line *lines, size_t count)
{
    printf("Multi30k test2016, beam 5. BLEU: sacreBLEU 13a, lower-cased; ppl: a piece; FLOPs: forward, a target word; "
           "training: forward and backward, in 10^15\n\n");
    printf("%-18s %5s %9s %6s %6s %6s %7s %7s %8s %6s %6s %8s %6s\n", "row", "BLEU", "published", "cased", "chrF", "ppl", "param.",
           "MFLOP/w", "training", "epochs", "min", "pieces/s", "seeds");
    for (size_t i = 0; i < count; i++) {
        const multi30k_line *l = &lines[i];
        if (!l->runs) continue;
        printf("%-18s %5.2f", l->row->name, MEAN(l, bleu));
        number_or_dash(l->row->published, 9, 1);
        printf(" %6.2f %6.2f %6.2f %6.2fM %7.1f", MEAN(l, bleu_cased), MEAN(l, chrf), MEAN(l, perplexity), 1e-6 * MEAN(l, parameters),
               1e-6 * MEAN(l, flops_word));
        number_or_dash(1e-15 * MEAN(l, flops_training), 8, 3);
        number_or_dash(MEAN(l, epochs), 6, 1);
        number_or_dash(MEAN(l, seconds) / 60, 6, 1);
        number_or_dash(MEAN(l, words_second), 8, 0);
        printf(" %6zu", l->runs);
        if (l->runs > 1) printf("  +- %.2f", deviation(l));
        printf("\n");
    }
}

static void class_name(char *out, size_t room, size_t b)
{
    if (b == MULTI30K_CLASSES - 1) snprintf(out, room, "%u-", multi30k_edges[b - 1] + 1);
    else snprintf(out, room, "%u-%u", b ? multi30k_edges[b - 1] + 1 : 1, multi30k_edges[b]);
}

static double class_mean(const multi30k_line *l, size_t b) { return mean(l, offsetof(multi30k_result, class_bleu) + b * sizeof(double)); }

static void print_lengths(const multi30k_line *lines, size_t count)
{
    printf("\nBLEU by words of the source\n%-18s", "row");
    for (size_t b = 0; b < MULTI30K_CLASSES; b++) {
        char name[24];
        class_name(name, sizeof name, b);
        printf(" %7s", name);
    }
    printf("\n");
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        if (!lines[i].runs) continue;
        if (first) {
            printf("%-18s", "(sentences)");
            for (size_t b = 0; b < MULTI30K_CLASSES; b++) printf(" %7.0f", lines[i].result[0].class_lines[b]);
            printf("\n");
            first = false;
        }
        printf("%-18s", lines[i].row->name);
        for (size_t b = 0; b < MULTI30K_CLASSES; b++) printf(" %7.2f", class_mean(&lines[i], b));
        printf("\n");
    }
}

/* ---------------------------------------------------------------------------------------------------------- claims */

typedef struct {
    json_t *list; /* for the file */
    size_t  hold, fail, open;
} verdicts;

static void judge(verdicts *v, bool measured, bool holds, const char *format, ...) RG_PRINTF(4, 5);
static void judge(verdicts *v, bool measured, bool holds, const char *format, ...)
{
    char    text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *word = !measured ? "not measured" : holds ? "holds" : "does not hold";
    *(!measured ? &v->open : holds ? &v->hold : &v->fail) += 1;
    printf("  %-14s %s\n", word, text);
    json_array_append_new(v->list, json_pack("{s:s, s:s}", "claim", text, "verdict", word));
}

static void judge_least(verdicts *v, const multi30k_line *l)
{
    if (!(l->row->least > 0)) return;
    if (l->runs) judge(v, true, MEAN(l, bleu) >= l->row->least, "%s: BLEU %.2f, at least %.0f", l->row->name, MEAN(l, bleu), l->row->least);
    else judge(v, false, false, "%s: BLEU at least %.0f", l->row->name, l->row->least);
}

/* One row above another by so much; perplexity counts where the paper speaks of it. */
typedef struct {
    const char *above, *below;
    double      by;
    const char *what;
    size_t      figure;
} claim;

#define BLEU "BLEU", offsetof(multi30k_result, bleu)
#define PERPLEXITY "in perplexity", offsetof(multi30k_result, perplexity)

static const claim claims[] = {
    { "ende-rnnsearch", "ende-seq2seq", 8, BLEU },
    { "ende-luong", "ende-seq2seq", 8, BLEU },
    { "enfr-rnnsearch", "enfr-seq2seq", 8, BLEU },
    { "enfr-luong", "enfr-seq2seq", 8, BLEU },
    { "part-rnnsearch", "part-one-direction", 0, BLEU },
    { "ladder-reverse", "ladder-plain", 0, BLEU },
    { "part-transformer", "part-no-positions", 5, BLEU },
    { "ende-transformer", "part-no-dropout", 2, BLEU },
    { "part-transformer", "part-no-smoothing", 0, BLEU },
    { "part-transformer", "part-no-smoothing", 0, PERPLEXITY },
    { "part-cold-pre", "part-cold-post", 10, BLEU },
};

static void judge_pair(verdicts *v, const claim *c, const multi30k_line *lines, size_t count)
{
    const multi30k_line *a = find(lines, count, c->above), *b = find(lines, count, c->below);
    const double         above = a && b ? mean(a, c->figure) - mean(b, c->figure) : 0;
    if (a && b) judge(v, true, above >= c->by, "%s is %.2f %s above %s, at least %.0f", c->above, above, c->what, c->below, c->by);
    else judge(v, false, false, "%s is at least %.0f %s above %s", c->above, c->by, c->what, c->below);
}

static void judge_scores(verdicts *v, const multi30k_line *lines, size_t count)
{
    static const char *const names[] = { "score-dot", "score-scaled_dot", "ende-rnnsearch", "score-general", "score-cosine" };
    const double             apart = 2;
    double                   low = INFINITY, high = -INFINITY;
    bool                     measured = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const multi30k_line *l = find(lines, count, names[i]);
        measured = measured && l;
        if (l) low = fmin(low, MEAN(l, bleu)), high = fmax(high, MEAN(l, bleu));
    }
    if (measured)
        judge(v, true, high - low <= apart, "dot, scaled, additive, general and cosine scores lie within %.2f BLEU, at most %.0f",
              high - low, apart);
    else judge(v, false, false, "dot, scaled, additive, general and cosine scores lie within %.0f BLEU", apart);
}

static void judge_all(verdicts *v, const multi30k_line *lines, size_t count)
{
    printf("\nclaims\n");
    for (size_t i = 0; i < count; i++) judge_least(v, &lines[i]);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) judge_pair(v, &claims[i], lines, count);
    judge_scores(v, lines, count);
    printf("%zu hold, %zu do not, %zu are not measured\n", v->hold, v->fail, v->open);
}

/* ----------------------------------------------------------------------------------------------------------- files */

static rg_status write_tsv_line(rg_text *t, const multi30k_line *l, size_t run)
{
    RG_TRY(rg_text_print(t, "%s\t%s\t%s\t%lld\t%g\t%g", l->row->name, l->row->source, l->row->target, (long long)l->seed[run],
                         l->row->published, l->row->least));
    for (const multi30k_field *f = multi30k_fields; f->name; f++) RG_TRY(rg_text_print(t, "\t%.10g", value_of(&l->result[run], f->offset)));
    for (size_t b = 0; b < MULTI30K_CLASSES; b++) RG_TRY(rg_text_print(t, "\t%.4f", l->result[run].class_bleu[b]));
    return rg_text_add_string(t, "\n");
}

static rg_status write_tsv(rg_text *t, const multi30k_line *lines, size_t count)
{
    RG_TRY(rg_text_add_string(t, "row\tsource\ttarget\tseed\tpublished\tleast"));
    for (const multi30k_field *f = multi30k_fields; f->name; f++) RG_TRY(rg_text_print(t, "\t%s", f->name));
    for (size_t b = 0; b < MULTI30K_CLASSES; b++) {
        char name[24];
        class_name(name, sizeof name, b);
        RG_TRY(rg_text_print(t, "\tbleu_%s", name));
    }
    RG_TRY(rg_text_add_string(t, "\n"));
    for (size_t i = 0; i < count; i++)
        for (size_t run = 0; run < lines[i].runs; run++) RG_TRY(write_tsv_line(t, &lines[i], run));
    return RG_OK;
}

static json_t *row_json(const multi30k_line *l)
{
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:I, s:f, s:f}", "row", l->row->name, "source", l->row->source, "target", l->row->target, "options",
                  l->row->options, "seeds", (json_int_t)l->runs, "published", l->row->published, "least", l->row->least);
    json_t *classes = json_array();
    for (const multi30k_field *f = multi30k_fields; f->name; f++) json_object_set_new(object, f->name, json_real(mean(l, f->offset)));
    for (size_t b = 0; b < MULTI30K_CLASSES; b++) {
        char name[24];
        class_name(name, sizeof name, b);
        json_array_append_new(classes, json_pack("{s:s, s:f, s:f}", "words", name, "sentences", l->result[0].class_lines[b], "bleu",
                                                 class_mean(l, b)));
    }
    json_object_set_new(object, "bleu_deviation", json_real(deviation(l)));
    json_object_set_new(object, "by_length", classes);
    return object;
}

static rg_status write_files(const multi30k_job *job, const multi30k_line *lines, size_t count, json_t *judged)
{
    rg_text   t = { 0 };
    rg_status status = write_tsv(&t, lines, count);
    if (status == RG_OK) status = multi30k_save(job->out, "comparison.tsv", rg_text_c(&t));
    rg_text_free(&t);
    RG_TRY(status);
    json_t *rows = json_array();
    for (size_t i = 0; i < count; i++)
        if (lines[i].runs) json_array_append_new(rows, row_json(&lines[i]));
    json_t *all = json_pack("{s:s, s:o, s:O}", "corpus", "Multi30k test2016", "rows", rows, "claims", judged);
    char   *text = json_dumps(all, JSON_INDENT(1));
    status = text ? multi30k_save(job->out, "comparison.json", text) : RG_ENOMEM;
    free(text);
    json_decref(all);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- figures */

/* Systems of one pair of languages; rows that only change the score stay out. */
static rg_status curves_of(rg_record *r, size_t *series, const multi30k_line *lines, size_t count, const char *prefix, const char *title)
{
    size_t set;
    RG_TRY(rg_record_add_curves(&set, r, title, "words of the source", "BLEU", false, false));
    *series = 0;
    for (size_t i = 0; i < count; i++) {
        const multi30k_line *l = &lines[i];
        if (!l->runs || strncmp(l->row->name, prefix, strlen(prefix)) != 0) continue;
        double x[MULTI30K_CLASSES], y[MULTI30K_CLASSES];
        size_t points = 0;
        for (size_t b = 0; b < MULTI30K_CLASSES; b++) {
            if (!(l->result[0].class_lines[b] > 0)) continue;
            const double low = b ? multi30k_edges[b - 1] : 4, high = b + 1 < MULTI30K_CLASSES ? multi30k_edges[b] : low + 6;
            x[points] = (low + high + 1) / 2;
            y[points++] = class_mean(l, b);
        }
        RG_TRY(rg_record_add_series(r, set, l->row->name + strlen(prefix), x, y, points));
        ++*series;
    }
    return RG_OK;
}

static rg_status draw(const multi30k_job *job, const multi30k_line *lines, size_t count, const char *prefix, const char *title,
                      const char *name)
{
    rg_record *r = NULL;
    size_t     series = 0;
    RG_TRY(rg_record_new(&r, title, "evaluation"));
    rg_status status = curves_of(r, &series, lines, count, prefix, title);
    for (int svg = 0; status == RG_OK && series && svg < 2; svg++) {
        rg_figure_options f = RG_FIGURE_OPTIONS_DEFAULT;
        f.style = RG_FIGURE_CURVES;
        char *path = rg_format("%s/%s.%s", job->out, name, svg ? "svg" : "png");
        status = path ? rg_figure_save(path, svg ? RG_FIGURE_SVG : RG_FIGURE_PNG, NULL, r, &f) : RG_ENOMEM;
        rg_free(path);
    }
    rg_record_free(r);
    return status;
}

rg_status multi30k_table(bool *holds, const multi30k_job *job, const multi30k_line *lines, size_t count)
{
    size_t   finished = 0;
    verdicts v = { .list = json_array() };
    for (size_t i = 0; i < count; i++) finished += lines[i].runs;
    *holds = true;
    if (!v.list) return RG_ENOMEM;
    if (!finished) {
        json_decref(v.list);
        printf("no run is finished in %s\n", job->out);
        return RG_OK;
    }
    print_table(lines, count);
    print_lengths(lines, count);
    if (job->quick) printf("\nclaims are not judged after a quick run\n");
    else judge_all(&v, lines, count);
    *holds = v.fail == 0;
    rg_status status = write_files(job, lines, count, v.list);
    json_decref(v.list);
    RG_TRY(status);
    if (draw(job, lines, count, "ende-", "English-German: BLEU by source length", "bleu-by-length-ende") != RG_OK ||
        draw(job, lines, count, "enfr-", "English-French: BLEU by source length", "bleu-by-length-enfr") != RG_OK)
        fprintf(stderr, "no figure: %s\n", rg_message()); /* the table has the numbers */
    printf("\n%s/comparison.tsv, comparison.json, bleu-by-length-*.png and .svg\n", job->out);
    return RG_OK;
}
