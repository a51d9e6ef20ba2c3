/* cmd_report.c - a training run as one page of curves, numbers and samples. */
#include "cli/command.h"
#include "cli/output.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "regard/view.h"

typedef struct report_options {
    char *html, *json;
} report_options;

static const rg_option rows[] = {
    { RG_OPTION_STRING, "html", offsetof(report_options, html), "", "write the page to this file", 0, NULL },
    { RG_OPTION_STRING, "json", offsetof(report_options, json), "", "write the curves as a record, for regard show", 0,
      NULL },
    RG_OPTION_END,
};

static rg_status write_page(const char *run, const char *path)
{
    char  *html = NULL;
    size_t bytes = 0;
    RG_TRY(rg_report_write(&html, &bytes, run));
    const rg_status status = rg_file_replace(path, html, bytes);
    rg_free(html);
    return status;
}

static rg_status print_curves(const rg_record *r)
{
    struct winsize      size = { 0 };
    rg_terminal_options t;
    bool                tty = isatty(STDOUT_FILENO) == 1;

    if (tty) ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    rg_terminal_detect(&t, tty, size.ws_col);
    for (size_t i = 0; i < r->curve_sets; i++) {
        char *text = NULL;
        RG_TRY(rg_terminal_curves(&text, &r->curves[i], &t));
        printf("%s%s", i ? "\n" : "", text);
        rg_free(text);
    }
    if (r->label_lists)
        printf("\n%zu sheets of samples, the last of %s: --html draws them\n", r->label_lists,
               r->labels[r->label_lists - 1].name + strlen("samples at "));
    return RG_OK;
}

static rg_status run(rg_call *call)
{
    const report_options *o = call->options;
    rg_status             status = RG_OK;
    rg_record            *r = NULL;

    if (call->words.count != 1) return rg_fail(RG_EINVAL, "one RUN is needed, %zu given", call->words.count);
    RG_TRY(rg_output_is_not("html", o->html, call->words.items[0]));
    RG_TRY(rg_output_is_not("json", o->json, call->words.items[0]));
    if (*o->html) RG_TRY(write_page(call->words.items[0], o->html));
    if (*o->html && !*o->json) return RG_OK;
    RG_TRY(rg_report_read(&r, call->words.items[0]));
    if (*o->json) status = rg_record_save(r, o->json);
    if (status == RG_OK && !*o->html && !*o->json) status = print_curves(r);
    rg_record_free(r);
    return status;
}

const rg_command rg_command_report = {
    .name = "report",
    .summary = "draw a training run: loss, validation, objectives, learning rate, samples",
    .arguments = "RUN",
    .details =
        "RUN is a model trained by `regard train` (its log lies beside it), a log in JSON lines (docs/record.md), or a "
        "folder with a log.jsonl or model.safetensors.jsonl. Without --html or --json the curves are drawn in the "
        "terminal.",
    .options = rows,
    .size = sizeof(report_options),
    .run = run,
};
