/* cmd_report.c - a training run as one page of curves, numbers and samples; several runs over the same axes. */
#define _GNU_SOURCE 1 /* strcasestr */
#include "cli/command.h"
#include "cli/output.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "regard/view.h"

typedef struct report_options {
    char *html, *json, *png, *svg, *only;
} report_options;

static const rg_option rows[] = {
    { RG_OPTION_STRING, "html", offsetof(report_options, html), "", "write the page to this file", 0, NULL },
    { RG_OPTION_STRING, "json", offsetof(report_options, json), "", "write the curves as a record, for regard show", 0,
      NULL },
    { RG_OPTION_STRING, "png", offsetof(report_options, png), "", "draw the first set of curves (see --only) into this file", 0, NULL },
    { RG_OPTION_STRING, "svg", offsetof(report_options, svg), "", "the same as SVG", 0, NULL },
    { RG_OPTION_STRING, "only", offsetof(report_options, only), "",
      "only sets with this in their title: bleu, loss; samples: sheets of samples (--png)", 0, NULL },
    RG_OPTION_END,
};

static rg_status write_page(const rg_record *r, const char *heading, const char *path)
{
    char  *html = NULL;
    size_t bytes = 0;
    RG_TRY(rg_report_write_record(&html, &bytes, r, heading));
    const rg_status status = rg_file_replace(path, html, bytes);
    rg_free(html);
    return status;
}

static bool is_shown(const rg_curves *c, const char *only) { return !*only || strcasestr(c->title, only) != NULL; }

/* --only samples: the sheets that validations left. */
static bool wants_sheets(const rg_record *r, const char *only)
{
    return r->label_lists && strcasecmp(only, "samples") == 0;
}

/* The first set that --only names, or the sheets of samples. */
static rg_status draw(const rg_record *r, const char *only, const char *path, rg_figure_format format)
{
    rg_figure_options o = RG_FIGURE_OPTIONS_DEFAULT;
    o.style = wants_sheets(r, only) ? RG_FIGURE_PANELS : RG_FIGURE_CURVES;
    while (o.curves < r->curve_sets && !is_shown(&r->curves[o.curves], only)) o.curves++;
    return rg_figure_save(path, format, NULL, r, &o);
}

/* Runs below each other: how far each came, and the best of each validation metric. */
static void print_table(const rg_record *r, const char *only)
{
    size_t width = 3;
    for (size_t i = 0; i < r->curve_sets; i++)
        for (size_t k = 0; k < r->curves[i].count; k++)
            if (rg_terminal_width(r->curves[i].series[k].name) > width) width = rg_terminal_width(r->curves[i].series[k].name);
    for (size_t i = 0; i < r->curve_sets; i++) {
        const rg_curves *c = &r->curves[i];
        const bool       falls = strstr(c->title, "Loss") || strstr(c->title, "erplexity") || strstr(c->title, "ce-") ||
                           strstr(c->title, "entropy") || strstr(c->title, ": ter");
        if (!is_shown(c, only) || (!strchr(c->title, ':') && !strstr(c->title, "erplexity"))) continue;
        printf("%s%s\n", c->title, falls ? ", least" : ", most");
        for (size_t k = 0; k < c->count; k++) {
            const rg_series *s = &c->series[k];
            size_t           best = 0;
            for (size_t p = 1; p < s->count; p++)
                if (falls ? s->y[p] < s->y[best] : s->y[p] > s->y[best]) best = p;
            printf("  %s%*s %12.4f  at step %.0f of %.0f\n", s->name, (int)(width - rg_terminal_width(s->name)), "", s->y[best],
                   s->x[best], s->x[s->count - 1]);
        }
    }
    printf("\n");
}

static rg_status print_curves(const rg_record *r, const char *only)
{
    struct winsize      size = { 0 };
    rg_terminal_options t;
    bool                tty = isatty(STDOUT_FILENO) == 1;

    if (tty) ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    rg_terminal_detect(&t, tty, size.ws_col);
    for (size_t i = 0, shown = 0; i < r->curve_sets; i++) {
        char *text = NULL;
        if (!is_shown(&r->curves[i], only)) continue;
        RG_TRY(rg_terminal_curves(&text, &r->curves[i], &t));
        printf("%s%s", shown++ ? "\n" : "", text);
        rg_free(text);
    }
    if (r->label_lists)
        printf("\n%zu sheets of samples, the last of %s: --html draws them\n", r->label_lists,
               r->labels[r->label_lists - 1].name + strlen("samples at "));
    return RG_OK;
}

static rg_status check(const rg_call *call)
{
    const report_options *o = call->options;
    const struct {
        const char *flag, *path;
    } outputs[] = { { "html", o->html }, { "json", o->json }, { "png", o->png }, { "svg", o->svg } };
    if (!call->words.count) return rg_fail(RG_EINVAL, "which RUN? a model, its log, or several to compare");
    for (size_t i = 0; i < call->words.count; i++)
        for (size_t k = 0; k < sizeof outputs / sizeof *outputs; k++)
            RG_TRY(rg_output_is_not(outputs[k].flag, outputs[k].path, call->words.items[i]));
    return RG_OK;
}

static rg_status show(const rg_record *r, const report_options *o, bool several)
{
    bool any = wants_sheets(r, o->only);
    for (size_t i = 0; i < r->curve_sets; i++) any = any || is_shown(&r->curves[i], o->only);
    if (!any) return rg_fail(RG_EINVAL, "--only %s: no set of curves has this in its title", o->only);
    if (*o->html) RG_TRY(write_page(r, several ? "Trainings" : "Training", o->html));
    if (*o->json) RG_TRY(rg_record_save(r, o->json));
    if (*o->png) RG_TRY(draw(r, o->only, o->png, RG_FIGURE_PNG));
    if (*o->svg) RG_TRY(draw(r, o->only, o->svg, RG_FIGURE_SVG));
    if (*o->html || *o->json || *o->png || *o->svg) return RG_OK;
    if (several) print_table(r, o->only);
    return print_curves(r, o->only);
}

static rg_status run(rg_call *call)
{
    rg_record *r = NULL;
    RG_TRY(check(call));
    const bool several = call->words.count > 1;
    RG_TRY(several ? rg_report_compare(&r, (const char *const *)call->words.items, call->words.count)
                   : rg_report_read(&r, call->words.items[0]));
    const rg_status status = show(r, call->options, several);
    rg_record_free(r);
    return status;
}

const rg_command rg_command_report = {
    .name = "report",
    .summary = "draw a training run, or compare several: loss, validation, learning rate, samples",
    .arguments = "RUN...",
    .details =
        "RUN is a model trained by `regard train` (its log lies beside it), a log in JSON lines (docs/record.md), or a "
        "folder with a log.jsonl or model.safetensors.jsonl. Of several runs every quantity is one set of curves with a "
        "line per run, under a table of their bests. Without --html, --json, --png or --svg the curves are drawn in the terminal.",
    .options = rows,
    .size = sizeof(report_options),
    .run = run,
};
