/* cmd_attack.c - how a classifier stands small changes of its input that are made to fool it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"
#include "cli/output.h"
#include "cli/probing.h"

enum { MOST = 64 };

typedef struct {
    rg_probing probing;
    char      *norm, *label, *output, *sheet;
    rg_list    test, epsilon, steps;
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

static rg_status print_rows(const rg_sink *sink, const rg_attack_row *rows, size_t n)
{
    static const char *const names[] = { "epsilon",          "steps",          "examples",
                                         "clean-error",      "error",          "clean-confidence",
                                         "confidence-wrong", "noise-changed",  "error-8-bit",
                                         "margin",           "attacked-margin" };
    const bool               pixels = n && rows[0].written >= 0;
    const char              *shown[11];
    size_t                   count = 0;
    for (size_t i = 0; i < 11; i++)
        if (i != 8 || pixels) shown[count++] = names[i];
    RG_TRY(sink->columns(sink->context, shown, count));
    for (size_t i = 0; i < n; i++) {
        const rg_attack_row *r = &rows[i];
        const double         values[] = { r->epsilon, (double)r->steps,    (double)r->examples, r->clean_error,
                                          r->error,   r->clean_confidence, r->confidence,       r->noise,
                                          r->written, r->margin,           r->attacked_margin };
        rg_value     cells[11];
        size_t       k = 0;
        for (size_t j = 0; j < 11; j++)
            if (j != 8 || pixels) cells[k++] = (rg_value){ .number = values[j], .digits = j == 0 ? 6 : j < 3 ? 0 : 4 };
        RG_TRY(sink->row(sink->context, cells));
    }
    return RG_OK;
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
    rg_model         *model;
    RG_TRY(read_plan(epsilon, steps, &c, s));
    RG_TRY(rg_ball_find(&c.ball, s->norm));
    c.out = s->output[0] ? s->output : NULL;
    c.sheet = s->sheet[0] ? s->sheet : NULL;
    rg_set_options sets = s->probing.sets;
    sets.train = s->test.count ? s->test : call->words;
    for (size_t i = 0; i < sets.train.count; i++) RG_TRY(rg_output_is_not("output", s->output, sets.train.items[i]));
    RG_TRY(rg_model_load(&model, s->probing.model, NULL));
    rg_attack_row *rows = rg_alloc_zero(c.epsilons * c.step_counts * sizeof *rows);
    rg_status      status = rows ? rg_attack(rows, model, &sets, &c) : RG_ENOMEM;
    if (status == RG_OK) status = print_rows(sink, rows, c.epsilons * c.step_counts);
    rg_answer_printer_fini(&printer);
    rg_free(rows);
    rg_model_free(model);
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
               "    regard attack -m photos.safetensors photos/ --epsilon 1/256,4/256 -o attacked/",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
