/* scores.c - `regard reproduce scores`: time and memory of every score, over n keys (and as many queries) and width d,
 * beside the BLEU that translators with it reached. Asked is what the tutorials say: is the multiplicative score
 * (general) as good as the additive one, faster and smaller?
 *
 * A pass is an attention with its backward pass, of one group of n rows. Memory is what the tape's arena needs, counted
 * on a dry pass; time is processor time, the fastest of several. BLEU comes from the rows score-* of `regard reproduce
 * multi30k`, where these have been trained. */
#include "base/clock.h"
#include "regard/attention.h"
#include "regard/lab.h"
#include "regard/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t longest, widest, repeat, memory;
    char   *runs, *output;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "longest", offsetof(settings, longest), "512", "most rows n (from 16, doubling)", 0, "[16,4096]" },
    { RG_OPTION_INT, "widest", offsetof(settings, widest), "512", "most columns d (from 64, doubling)", 0,
      "[64,4096]" },
    { RG_OPTION_INT, "repeat", offsetof(settings, repeat), "3",
      "passes of which the fastest counts; 0: time is not measured", 0, "[0,1000]" },
    { RG_OPTION_INT, "memory", offsetof(settings, memory), "1024", "MiB; a pass that needs more is not timed", 0,
      "[1,1000000]" },
    { RG_OPTION_STRING, "runs", offsetof(settings, runs), "multi30k-runs",
      "folder of `regard reproduce multi30k`, whose BLEU is printed", 0, NULL },
    { RG_OPTION_STRING, "output", offsetof(settings, output), "",
      "write score TAB n TAB d TAB seconds TAB bytes TAB operations", 'o', NULL },
    RG_OPTION_END,
};

enum { MOST_SCORES = 32 };

typedef struct {
    double seconds, bytes, flops; /* seconds: NAN where it was not timed */
} cost;

/* ------------------------------------------------------------------------------------------------------ measuring */

typedef struct {
    rg_params   *params;
    rg_grads    *grads;
    rg_attention att;
    rg_real     *x; /* n x d */
    size_t       n, d;
} layer;

static rg_status open_layer(layer *l, const rg_score *score, size_t n, size_t d)
{
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    rg_random           random = rg_random_new(1, n * 4096 + d);
    *l = (layer){ .n = n, .d = d };
    c.score = score->name;
    c.q_width = c.k_width = c.hidden = d;
    c.positions = n;
    RG_TRY(rg_params_new(&l->params));
    RG_TRY(rg_attention_init(&l->att, &c, l->params));
    RG_TRY(rg_params_build(l->params, 1));
    RG_TRY(rg_grads_new(&l->grads, l->params));
    if (!(l->x = rg_alloc_array(n, d * sizeof *l->x))) return RG_ENOMEM;
    for (size_t i = 0; i < n * d; i++) l->x[i] = (rg_real)(rg_random_uniform(&random) - 0.5);
    return RG_OK;
}

static void close_layer(layer *l)
{
    rg_grads_free(l->grads);
    rg_params_free(l->params);
    rg_free(l->x);
}

/* Queries, keys and values are the same rows, each with a gradient of its own. */
static rg_status pass(rg_tape *t, const layer *l)
{
    const int32_t   start[] = { 0, (int32_t)l->n };
    const rg_layout one = { .groups = 1, .start = start };
    rg_tensor      *q = rg_input(t, l->x, l->n, l->d, &one), *k = rg_input(t, l->x, l->n, l->d, &one),
              *v = rg_input(t, l->x, l->n, l->d, &one);
    rg_tensor *y =
        rg_attend(t, &l->att, q, rg_attention_prepare(t, &l->att, k), v, rg_reach_groups(t, &one, &one));
    return rg_tape_backward(t, rg_sum(t, y));
}

static rg_status measure(cost *out, const settings *s, const rg_score *score, size_t n, size_t d)
{
    layer          l;
    rg_tape       *t = NULL;
    rg_tape_config config = { .record = true, .learn = true, .dry = true };
    rg_status      status = open_layer(&l, score, n, d);
    config.grads = l.grads;
    *out = (cost){ .seconds = NAN };
    if (status == RG_OK) status = rg_tape_new(&t, &config);
    if (status == RG_OK) status = pass(t, &l);
    if (status == RG_OK) {
        out->bytes = (double)rg_tape_get_cost(t).bytes;
        out->flops = rg_tape_get_cost(t).flops;
    }
    rg_tape_free(t);
    t = NULL;
    config.dry = false;
    const bool timed = s->repeat && out->bytes <= (double)s->memory * 1048576;
    if (status == RG_OK && timed) status = rg_tape_new(&t, &config);
    for (int64_t i = 0; status == RG_OK && timed && i <= s->repeat; i++) { /* the first finds memory */
        rg_tape_reset(t, 0);
        rg_grads_reset(l.grads);
        const double begin = rg_cpu_now();
        status = pass(t, &l);
        if (i) out->seconds = fmin(isnan(out->seconds) ? INFINITY : out->seconds, rg_cpu_now() - begin);
    }
    rg_tape_free(t);
    close_layer(&l);
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- BLEU */

static const char *field(const char *line, size_t k)
{
    for (; line && k; k--) {
        line = strchr(line, '\t');
        if (line) line++;
    }
    return line;
}

/* The mean of column bleu over the rows of a name; NAN: there are none. */
static double bleu_of(const rg_line_list *table, const char *row)
{
    double sum = 0, n = 0;
    size_t column = 0;
    while (table->count && field(table->line[0], column) && strncmp(field(table->line[0], column), "bleu\t", 5) != 0)
        column++;
    for (size_t i = 1; i < table->count; i++) {
        const char  *at = field(table->line[i], column);
        const size_t bytes = strlen(row);
        if (strncmp(table->line[i], row, bytes) != 0 || table->line[i][bytes] != '\t' || !at) continue;
        const double value = atof(at);
        if (value > 0) sum += value, n++;
    }
    return n > 0 ? sum / n : NAN;
}

static double bleu_of_score(const rg_line_list *table, const char *score)
{
    char name[64];
    snprintf(name, sizeof name, "score-%s", score);
    return bleu_of(table, strcmp(score, "additive") == 0 ? "ende-rnnsearch" : name);
}

static rg_status read_bleu(rg_line_list *out, const char *folder)
{
    char     *path = rg_format("%s/comparison.tsv", folder);
    bool      there = false;
    rg_status status = path ? rg_file_exists(&there, path) : RG_ENOMEM;
    if (status == RG_OK && there) status = rg_line_list_read(out, path, -1);
    rg_free(path);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- telling */

static void print_number(FILE *out, const char *format, double x)
{
    if (isfinite(x)) fprintf(out, format, x);
    else fprintf(out, " %9s", "-");
}

/* One line per score: the shortest and the longest at the middle width, and the widest. */
static void print_row(FILE *out, const rg_score *score, const cost *small, const cost *large, double bleu)
{
    fprintf(out, "  %-11s", score->name);
    print_number(out, " %9.3f", 1e3 * small->seconds);
    print_number(out, " %9.2f", small->bytes / 1048576);
    print_number(out, " %9.2f", 1e3 * large->seconds);
    print_number(out, " %9.1f", large->bytes / 1048576);
    print_number(out, " %9.1f", large->flops * 1e-6);
    print_number(out, " %9.2f", bleu);
    fprintf(out, "\n");
}

/* The verdict over all sizes that were measured for both. */
static bool print_verdict(FILE *out, const cost *general, const cost *additive, size_t count, double bleu[2])
{
    size_t faster = 0, timed = 0, smaller = 0;
    double time_ratio = 0, memory_ratio = 0;
    for (size_t i = 0; i < count; i++) {
        smaller += general[i].bytes < additive[i].bytes;
        memory_ratio += log(additive[i].bytes / general[i].bytes) / (double)count;
        if (!isfinite(general[i].seconds) || !isfinite(additive[i].seconds)) continue;
        timed++;
        faster += general[i].seconds < additive[i].seconds;
        time_ratio += log(additive[i].seconds / general[i].seconds);
    }
    fprintf(out, "\nmultiplicative (general) against additive:\n");
    if (timed)
        fprintf(out, "  faster      at %zu of %zu sizes, %.2f times (geometric mean): %s\n", faster, timed,
                exp(time_ratio / (double)timed), 2 * faster > timed ? "holds" : "does not hold");
    fprintf(out, "  smaller     at %zu of %zu sizes, %.2f times: %s\n", smaller, count, exp(memory_ratio),
            2 * smaller > count ? "holds" : "does not hold");
    const bool known = isfinite(bleu[0]) && isfinite(bleu[1]);
    if (known)
        fprintf(out, "  as good     BLEU %.2f and %.2f: %s (within 1)\n", bleu[0], bleu[1],
                bleu[0] >= bleu[1] - 1 ? "holds" : "does not hold");
    else fprintf(out, "  as good     not known: train score-general and ende-rnnsearch of `regard reproduce multi30k`\n");
    return (!timed || 2 * faster > timed) && 2 * smaller > count && (!known || bleu[0] >= bleu[1] - 1);
}

/* Every score at every size into costs[score][size]; *out_sizes of them. */
static rg_status measure_all(cost *costs[], size_t *out_sizes, rg_text *tsv, const settings *s)
{
    const rg_score *const *all = rg_score_all();
    for (size_t k = 0; all[k] && k < MOST_SCORES; k++) {
        *out_sizes = 0;
        for (size_t d = 64; d <= (size_t)s->widest; d *= 2)
            for (size_t n = 16; n <= (size_t)s->longest; n *= 2) {
                cost *c = &costs[k][(*out_sizes)++];
                RG_TRY(measure(c, s, all[k], n, d));
                RG_TRY(rg_text_print(tsv, "%s\t%zu\t%zu\t%.6g\t%.0f\t%.0f\n", all[k]->name, n, d, c->seconds, c->bytes,
                                     c->flops));
            }
    }
    return RG_OK;
}

static bool print_all(const rg_lab *lab, const settings *s, cost *costs[], size_t sizes, const rg_line_list *table)
{
    const rg_score *const *all = rg_score_all();
    size_t                 lengths = 0, widths = 0, general = 0, additive = 0;
    for (size_t n = 16; n <= (size_t)s->longest; n *= 2) lengths++;
    for (size_t d = 64; d <= (size_t)s->widest; d *= 2) widths++;
    if (!lengths || !widths) return false; /* nothing was measured */
    const size_t middle = widths > 2 ? widths - 2 : 0, first = middle * lengths, last = first + lengths - 1;
    const size_t d = (size_t)64 << middle, n = (size_t)16 << (lengths - 1);
    fprintf(lab->out, "an attention and its backward pass, n queries over n keys, d = %zu: milliseconds, MiB, counted "
                      "MFLOP\n",
            d);
    fprintf(lab->out, "  %-11s %6s 16 %9s %6s %-3zu %8s %9s %9s\n", "score", "ms n =", "MiB", "ms n =", n, "MiB", "MFLOP",
            "BLEU");
    for (size_t k = 0; all[k] && k < MOST_SCORES; k++) {
        print_row(lab->out, all[k], &costs[k][first], &costs[k][last], bleu_of_score(table, all[k]->name));
        if (strcmp(all[k]->name, "general") == 0) general = k;
        if (strcmp(all[k]->name, "additive") == 0) additive = k;
    }
    double bleu[2] = { bleu_of_score(table, "general"), bleu_of_score(table, "additive") };
    return print_verdict(lab->out, costs[general], costs[additive], sizes, bleu);
}

static rg_status run(bool *holds, const rg_lab *lab, const void *given)
{
    const settings *s = given;
    cost           *costs[MOST_SCORES] = { NULL };
    rg_text         tsv = { 0 };
    rg_line_list    table = { 0 };
    size_t          sizes = 0;
    rg_status       status = read_bleu(&table, s->runs);
    for (size_t k = 0; status == RG_OK && k < MOST_SCORES; k++)
        if (!(costs[k] = rg_alloc_zero(256 * sizeof **costs))) status = RG_ENOMEM;
    if (status == RG_OK) status = rg_text_add_string(&tsv, "score\tn\td\tseconds\tbytes\toperations\n");
    if (status == RG_OK) status = measure_all(costs, &sizes, &tsv, s);
    if (status == RG_OK) *holds = print_all(lab, s, costs, sizes, &table);
    if (status == RG_OK && *s->output) status = rg_file_replace(s->output, tsv.data, tsv.length);
    for (size_t k = 0; k < MOST_SCORES; k++) rg_free(costs[k]);
    rg_line_list_free(&table);
    rg_text_free(&tsv);
    return status;
}

const rg_experiment rg_experiment_scores = {
    .name = "scores",
    .summary = "time and memory of every score by length and width, beside BLEU: multiplicative against additive",
    .source = "Luong, Pham, Manning 2015; Vaswani et al. 2017, section 3.2.1; Britz et al. 2017",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
