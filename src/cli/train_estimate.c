/* train_estimate.c - what a training would cost here: parameters, operations, a few updates measured, hours; beside what
 * the paper says of its own; and the learning rate over the updates as a curve. */
#include "cli/train_estimate.h"

#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/scratch.h"
#include "regard/view.h"

enum { POINTS = 200, USUAL_VOCABULARY = 37000, SECONDS = 6 };

static void print_time(double seconds)
{
    if (seconds < 120) printf("%.1f seconds", seconds);
    else if (seconds < 7200) printf("%.1f minutes", seconds / 60);
    else if (seconds < 72 * 3600) printf("%.1f hours", seconds / 3600);
    else printf("%.1f days", seconds / 86400);
}

static bool has_row(const rg_option *rows, const char *name)
{
    while (rows->name && strcmp(rows->name, name) != 0) rows++;
    return rows->name != NULL;
}

/* Does the task read files, and is none named? */
static bool without_data(const rg_call *call, const rg_task *task)
{
    static const char *const names[] = { "train-sets", "graph" };
    bool                     reads = false, given = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (has_row(task->options, names[i])) reads = true, given = given || rg_call_given(call, names[i]);
    return reads && !given;
}

/* The first of --dim-vocabs, where it is given. */
static int64_t vocabulary_of(const rg_call *call, const rg_task *task)
{
    for (const rg_option *row = task->options; row->name; row++)
        if (strcmp(row->name, "dim-vocabs") == 0 && row->kind == RG_OPTION_LIST && rg_call_given(call, row->name)) {
            const rg_list *list = (const void *)((const char *)rg_call_values(call, task->options) + row->offset);
            const double   n = list->count ? rg_real_parse(list->items[0], NULL) : 0;
            if (n >= 2 && n <= 1e7) return (int64_t)n;
        }
    return USUAL_VOCABULARY;
}

/* -------------------------------------------------------------------------------------------------------- printing */

static void print_measured(const rg_estimate *e, const char *unit)
{
    const double update = rg_estimate_seconds(e, 1, e->words * (double)e->delay);
    printf("  %-12s %zu\n", "parameters", e->parameters);
    printf("  %-12s %.0f %s, %.4g GFLOP forward and backward", "a batch", e->words, unit, 1e-9 * e->flops);
    if (e->delay > 1) printf("; %llu batches per update", (unsigned long long)e->delay);
    printf("\n  %-12s %.3g s per update, of which %.2g s are the optimiser's; %.1f GFLOP/s\n", "measured", update,
           e->step_seconds, 1e-9 * e->flops / fmax(1e-9, e->words * e->word_seconds));
    printf("  %-12s %llu updates on %d thread%s\n", "", (unsigned long long)e->measured, e->threads,
           e->threads > 1 ? "s" : "");
}

static void print_run(const rg_estimate *e)
{
    printf("  %-12s ", "this run");
    if (!e->updates) {
        printf("ends by validation; 10,000 updates take ");
        print_time(rg_estimate_seconds(e, 10000, e->words * (double)e->delay));
    } else {
        printf("%llu updates take ", (unsigned long long)e->updates);
        print_time(rg_estimate_seconds(e, (double)e->updates, e->words * (double)e->delay));
    }
    printf(", without validation\n");
    if (e->share < 0.8)
        printf("  %-12s its threads had a processor for %.0f %% of the time: on an idle machine it is faster\n", "",
               100 * e->share);
}

static void print_paper(const rg_estimate *e, const rg_preset *preset, const char *unit)
{
    const rg_preset_training *p = preset ? preset->trained : NULL;
    if (!p) return;
    printf("  %-12s %.0f updates of %.0f %s take ", "the paper's", p->updates, p->words, unit);
    print_time(rg_estimate_seconds(e, p->updates, p->words));
    printf(" here\n  %-12s ", "");
    print_time(3600 * p->hours);
    printf(" on %s (%s)\n", p->on, p->paper);
}

/* ---------------------------------------------------------------------------------------------------------- schedule */

/* The rate of the given schedule, up to the end of the run or four times its warm-up. */
static rg_status draw_schedule(const rg_estimate *e)
{
    const double warm = fmax(e->schedule.warmup, e->schedule.start);
    const double end = e->updates ? (double)e->updates : fmax(1000, 4 * warm);
    double       x[POINTS], y[POINTS];
    rg_record   *r = NULL;
    size_t       curves = 0;
    char        *text = NULL;
    rg_schedule  s = e->schedule;
    struct winsize      size = { 0 };
    rg_terminal_options t;
    if (rg_schedule_by_epochs(&s)) return RG_OK;
    for (size_t i = 0; i < POINTS; i++) {
        x[i] = fmax(1, floor(end * (double)i / (POINTS - 1)));
        s.part = x[i] / end;
        y[i] = rg_schedule_rate(&s, (uint64_t)x[i]);
    }
    const bool tty = isatty(STDOUT_FILENO) == 1;
    if (tty) ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    rg_terminal_detect(&t, tty, size.ws_col);
    t.height = 14;
    rg_status status = rg_record_new(&r, "learning rate", "training");
    char     *title = rg_format("learning rate, schedule %s", s.name);
    if (status == RG_OK)
        status = title ? rg_record_add_curves(&curves, r, title, "update", "rate", false, false) : RG_ENOMEM;
    if (status == RG_OK) status = rg_record_add_series(r, curves, "rate", x, y, POINTS);
    if (status == RG_OK) status = rg_terminal_curves(&text, &r->curves[0], &t);
    if (status == RG_OK) printf("\n%s", text);
    rg_free(text);
    rg_free(title);
    rg_record_free(r);
    return status;
}

/* --------------------------------------------------------------------------------------------------------------- run */

static rg_status estimate(const rg_call *call, const rg_training *t, const rg_sizes *sizes, const char *name, bool own)
{
    rg_estimate      e;
    const rg_preset *preset = *name ? rg_preset_find(t->system, name) : NULL;
    printf("%s%s%s, before anything is trained\n", t->system->name, *name ? ", preset " : "", name);
    fflush(stdout);
    RG_TRY(rg_estimate_training(&e, t, sizes, SECONDS));
    if (!own && !rg_call_given(call, "after-batches") && !rg_call_given(call, "after-epochs"))
        e.updates = preset && preset->trained ? (uint64_t)preset->trained->updates : 0;
    print_measured(&e, t->system->task->unit);
    print_run(&e);
    print_paper(&e, preset, t->system->task->unit);
    return draw_schedule(&e);
}

/* No files are named: small data, with sentences' worth of words in a batch. */
static rg_status estimate_small(const rg_call *call, const rg_training *given, const char *preset)
{
    const rg_task *task = given->system->task;
    const int64_t  vocabulary = vocabulary_of(call, task);
    rg_scratch     scratch;
    rg_sizes       sizes;
    rg_status      status = rg_scratch_open(&scratch, call, given->system, preset, RG_SMALL_DEMO);
    if (status == RG_OK && has_row(task->options, "mini-batch-words") && !rg_call_given(call, "mini-batch-words"))
        status = rg_recipe_read(scratch.recipe, "mini-batch-words: 500\n", false);
    if (status == RG_OK) status = rg_scratch_sizes(&sizes, vocabulary);
    if (status == RG_OK) {
        rg_training t = rg_recipe_training(scratch.recipe, NULL);
        printf("no data are named: made-up data; where there is a vocabulary, it has %lld tokens\n",
               (long long)vocabulary);
        status = estimate(call, &t, &sizes, preset, false);
    }
    rg_scratch_close(&scratch);
    return status;
}

rg_status rg_cli_estimate(const rg_call *call, const rg_training *training, const char *preset)
{
    if (without_data(call, training->system->task)) return estimate_small(call, training, preset);
    rg_training t = *training;
    t.report = NULL;
    return estimate(call, &t, NULL, preset, true);
}
