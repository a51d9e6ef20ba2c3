/* cmd_attack.c - how a classifier stands small changes of its input that are made to fool it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"
#include "cli/output.h"
#include "cli/plot.h"
#include "cli/probing.h"

enum { MOST = 64,
       MODELS = 8 };

typedef struct {
    rg_probing probing;
    char      *norm, *label, *output, *sheet, *plot;
    rg_list    test, epsilon, steps, beside;
    int64_t    most, seed;
} settings;

static const rg_option options[] = {
    RG_PROBING_ROWS(settings),
    { RG_OPTION_LIST, "test-sets", offsetof(settings, test), "",
      "examples to attack: a file, a folder, pictures and labels", 't', NULL, NULL },
    { RG_OPTION_STRING, "norm", offsetof(settings, norm), "linf",
      "norm of the change: its largest number, or its length", 0, "linf|l2", NULL },
    { RG_OPTION_LIST, "epsilon", offsetof(settings, epsilon), "0.05 0.1 0.25",
      "sizes of the change, rising: 0.1,0.25 or 1/256", 0, NULL, NULL },
    { RG_OPTION_LIST, "steps", offsetof(settings, steps), "1",
      "gradient steps, rising: 1,10; more than 1: random start, projection", 0, NULL, NULL },
    { RG_OPTION_STRING, "label", offsetof(settings, label), "true",
      "attacked is the true label, or what the model says (no label leaks)", 0, "true|predicted", NULL },
    { RG_OPTION_STRING, "output", offsetof(settings, output), "",
      "folder for what was attacked: PNG files in a folder per class, or TSV", 'o', NULL, NULL },
    { RG_OPTION_STRING, "sheet", offsetof(settings, sheet), "",
      "PNG of the first pictures: clean, change (scaled), attacked", 0, NULL, NULL },
    { RG_OPTION_LIST, "beside", offsetof(settings, beside), "",
      "further models under the same attacks; -o and --sheet are of the first", 0, NULL, NULL },
    { RG_OPTION_STRING, "plot", offsetof(settings, plot), "",
      "draw the errors over the size of the change: a .png, .svg, .pdf, .html or .json file", 0, NULL, NULL },
    { RG_OPTION_INT, "most", offsetof(settings, most), "0", "examples at most; 0: all", 'n', "[0,inf)", NULL },
    { RG_OPTION_INT, "seed", offsetof(settings, seed), "1", "of random starts and random changes", 0, "[0,inf)", NULL },
    RG_OPTION_END
};

/* Numbers of words that may hold several, between commas. */
static rg_status read_numbers(double *out, size_t *count, const rg_list *words, const char *flag)
{
    *count = 0;
    for (size_t i = 0; i < words->count; i++)
        for (const char *at = words->items[i]; *(at += strspn(at, ", "));) {
            char         one[64];
            const size_t n = strcspn(at, ", ");
            if (n >= sizeof one || *count == MOST) return rg_fail(RG_EINVAL, "--%s: at most %d numbers", flag, MOST);
            snprintf(one, sizeof one, "%.*s", (int)n, at);
            const rg_status status = rg_probe_number(&out[(*count)++], one);
            if (status != RG_OK) return rg_fail_in(status, "--%s: ", flag);
            at += n;
        }
    return *count ? RG_OK : rg_fail(RG_EINVAL, "--%s: no number is given", flag);
}

static int rising(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static rg_status check_rising(const double *x, size_t n, const char *flag)
{
    double  sorted[MOST];
    rg_text line = { 0 };
    bool    fine = true;
    for (size_t i = 1; i < n; i++) fine = fine && x[i] > x[i - 1];
    if (fine) return RG_OK;
    memcpy(sorted, x, n * sizeof *x);
    qsort(sorted, n, sizeof *sorted, rising);
    for (size_t i = 0; i < n; i++)
        if (rg_text_print(&line, "%s%.6g", i ? "," : "", sorted[i]) != RG_OK) break;
    rg_fail(RG_EINVAL, "--%s is not in rising order; give %s", flag, rg_text_c(&line));
    rg_text_free(&line);
    return RG_EINVAL;
}

static rg_status read_plan(double *epsilon, int64_t *steps, rg_attack_config *c, const settings *s)
{
    double counts[MOST];
    RG_TRY(read_numbers(epsilon, &c->epsilons, &s->epsilon, "epsilon"));
    RG_TRY(read_numbers(counts, &c->step_counts, &s->steps, "steps"));
    RG_TRY(check_rising(epsilon, c->epsilons, "epsilon"));
    RG_TRY(check_rising(counts, c->step_counts, "steps"));
    for (size_t i = 0; i < c->step_counts; i++)
        if ((steps[i] = (int64_t)counts[i]) < 1) return rg_fail(RG_EINVAL, "--steps: whole numbers from 1 on");
    c->epsilon = epsilon;
    c->steps = steps;
    return RG_OK;
}

/* Columns of the table; "model" where there are several. */
static rg_status print_columns(const rg_sink *sink, bool several, bool pixels)
{
    static const char *const names[] = { "model", "epsilon", "steps", "examples", "clean-error", "error",
                                         "clean-confidence", "confidence-wrong", "noise-changed", "error-8-bit", "margin",
                                         "attacked-margin" };
    const char              *shown[12];
    size_t                   count = 0;
    for (size_t i = 0; i < 12; i++)
        if ((i > 0 || several) && (i != 9 || pixels)) shown[count++] = names[i];
    return sink->columns(sink->context, shown, count);
}

static rg_status print_rows(const rg_sink *sink, const rg_attack_curve *a, bool several)
{
    for (size_t i = 0; i < a->count; i++) {
        const rg_attack_row *r = &a->rows[i];
        const double         values[] = { r->epsilon, (double)r->steps, (double)r->examples, r->clean_error,
                                          r->error, r->clean_confidence, r->confidence, r->noise,
                                          r->written, r->margin, r->attacked_margin };
        rg_value             cells[12];
        size_t               k = 0;
        if (several) cells[k++] = (rg_value){ .text = a->name };
        for (size_t j = 0; j < 11; j++)
            if (j != 8 || r->written >= 0)
                cells[k++] = (rg_value){ .number = values[j], .digits = j == 0 ? 6 : j < 3 ? 0
                                                                                           : 4 };
        RG_TRY(sink->row(sink->context, cells));
    }
    return RG_OK;
}

static rg_status attack_model(rg_attack_row *rows, const char *path, const rg_set_options *sets, const rg_attack_config *c)
{
    rg_model *model;
    RG_TRY(rg_model_load(&model, path, NULL));
    const rg_status status = rg_attack(rows, model, sets, c);
    rg_model_free(model);
    return status;
}

/* "runs/plain.safetensors": "plain". A new string. */
static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot && dot > name ? rg_format("%.*s", (int)(dot - name), name) : rg_strdup(name);
}

static rg_status plot(const rg_attack_curve *models, size_t count, const settings *s)
{
    rg_record *r = NULL;
    if (!s->plot[0]) return RG_OK;
    RG_TRY(rg_attack_record(&r, models, count, s->norm));
    const rg_status status = rg_plot_save(r, s->plot);
    rg_record_free(r);
    return status;
}

/* rows: for each model those of its attacks. */
static rg_status attack_all(rg_attack_row *rows, const settings *s, const rg_set_options *sets, const rg_attack_config *config,
                            const rg_sink *sink)
{
    const size_t     models = 1 + s->beside.count, each = config->epsilons * config->step_counts;
    rg_attack_config c = *config;
    char            *names[MODELS] = { NULL };
    rg_attack_curve      done[MODELS];
    rg_status        status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < models; i++) {
        const char *path = i ? s->beside.items[i - 1] : s->probing.model;
        if (i) c.out = c.sheet = NULL;
        status = (names[i] = name_of(path)) ? attack_model(rows + i * each, path, sets, &c) : RG_ENOMEM;
        done[i] = (rg_attack_curve){ names[i], rows + i * each, each, c.step_counts };
        if (status == RG_OK && i == 0) status = print_columns(sink, models > 1, rows[0].written >= 0);
        if (status == RG_OK && (rows[i * each].written >= 0) != (rows[0].written >= 0))
            status = rg_fail(RG_EMATCH, "%s and %s do not read the same kind of input", s->probing.model, path);
        if (status == RG_OK) status = print_rows(sink, &done[i], models > 1);
    }
    if (status == RG_OK) status = plot(done, models, s);
    for (size_t i = 0; i < models; i++) rg_free(names[i]);
    return status;
}

static rg_status run(rg_call *call)
{
    settings         *s = call->options;
    double            epsilon[MOST];
    int64_t           steps[MOST];
    rg_answer_printer printer = { .json = s->probing.json };
    const rg_sink    *sink = rg_answer_printer_sink(&printer);
    rg_attack_config  c = { .predicted = strcmp(s->label, "predicted") == 0,
                            .most = (size_t)s->most,
                            .threads = (int)s->probing.threads,
                            .seed = (uint64_t)s->seed,
                            .note = sink->note,
                            .context = sink->context };
    RG_TRY(read_plan(epsilon, steps, &c, s));
    RG_TRY(rg_ball_find(&c.ball, s->norm));
    if (s->plot[0]) RG_TRY(rg_plot_check(s->plot));
    if (s->beside.count >= MODELS) return rg_fail(RG_EINVAL, "--beside: at most %d models", MODELS - 1);
    c.out = s->output[0] ? s->output : NULL;
    c.sheet = s->sheet[0] ? s->sheet : NULL;
    rg_set_options sets = s->probing.sets;
    sets.train = s->test.count ? s->test : call->words;
    for (size_t i = 0; i < sets.train.count; i++) {
        RG_TRY(rg_output_is_not("output", s->output, sets.train.items[i]));
        RG_TRY(rg_output_is_not("plot", s->plot, sets.train.items[i]));
    }
    rg_attack_row  *rows = rg_alloc_zero((1 + s->beside.count) * c.epsilons * c.step_counts * sizeof *rows);
    const rg_status status = rows ? attack_all(rows, s, &sets, &c, sink) : RG_ENOMEM;
    rg_answer_printer_fini(&printer);
    rg_free(rows);
    return status;
}

const rg_command rg_command_attack = {
    .name = "attack",
    .summary = "errors of a classifier on inputs that were changed a little to fool it",
    .arguments = "[FILE...]",
    .details = "For each size and number of steps: error on clean and on attacked inputs, the mean probability of the "
               "answers (after the attack: of the "
               "wrong ones), what random changes of the same size do, and the mean margin of the label's logit. The "
               "model runs as it answers, "
               "without dropout. With linf every number of the input changes by epsilon at most, pixels (0 to 1) stay "
               "in their range; with l2 the "
               "change of an example has length epsilon. On texts the embeddings are changed. Examples without a label "
               "count as errors when the "
               "answer changes.\n"
               "\n"
               "    regard attack -m mnist.safetensors -t images.idx labels.idx --epsilon 0.1,0.25 --steps 1,10\n"
               "    regard attack -m photos.safetensors photos/ --epsilon 1/256,4/256 -o attacked/\n"
               "    regard attack -m plain.safetensors --beside hardened.safetensors -t test/ --plot errors.png",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
