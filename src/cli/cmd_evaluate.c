/* cmd_evaluate.c - compare answers with what is right, by the metrics of their kind: text, or a family of
 * src/metrics. */
#include "cli/evaluate.h"

#include <stdio.h>
#include <string.h>

#include "cli/answers.h"
#include "cli/plot.h"
#include "regard/examples.h"
#include "regard/view.h"

static const rg_option rows[] = {
    { RG_OPTION_STRING, "type", offsetof(rg_evaluation, type), "text", "kind of answers; the list is below", 0, NULL },
    { RG_OPTION_STRING, "hypothesis", offsetof(rg_evaluation, hypothesis), "-", "file with the output to judge", 'i',
      NULL },
    { RG_OPTION_BOOL, "json", offsetof(rg_evaluation, json), "false", "one JSON object per line", 0, NULL },
    { RG_OPTION_STRING, "plot", offsetof(rg_evaluation, plot), "",
      "draw the score of texts by length, or the confusion matrix of classes: a .png, .svg, .pdf, .html or .json file", 0,
      NULL },
    { RG_OPTION_BOOL, "faithfulness", offsetof(rg_evaluation, faithfulness), "false",
      "instead of answers: how faithful the maps of a model are, mean over a file of its inputs", 0, NULL },
    { RG_OPTION_STRING, "model", offsetof(rg_evaluation, model), "", "of --faithfulness", 'm', NULL },
    { RG_OPTION_STRING, "by", offsetof(rg_evaluation, by), "all", "of --faithfulness: methods, as of regard show", 0,
      NULL },
    { RG_OPTION_INT, "most", offsetof(rg_evaluation, most), "0", "of --faithfulness: so many lines; 0: all", 0,
      "[0,inf)" },
    { RG_OPTION_INT, "width", offsetof(rg_evaluation, width), "2", "digits after the point", 'w', "[0,15]" },
    RG_OPTION_END,
};

enum { MOST_FAMILIES = 64 };

static bool is_text(const rg_evaluation *e) { return strcmp(e->type, "text") == 0; }

static const rg_metric_family *find(const char *name)
{
    const rg_metric_family *f = rg_metric_family_find(name);
    char                    known[512] = "text";
    size_t                  at = strlen(known);
    if (f) return f;
    for (const rg_metric_family *const *all = rg_metric_family_all(); *all && at < sizeof known; all++)
        at += (size_t)snprintf(known + at, sizeof known - at, ", %s", (*all)->name);
    rg_fail(RG_EINVAL, "no kind of answers is called \"%s\"; there are %s", name, known);
    return NULL;
}

static rg_status extend(rg_call *call)
{
    const rg_evaluation *e = call->options;
    if (e->faithfulness) return *e->model ? rg_call_add_asking(call, e->model) : RG_OK;
    if (is_text(e)) return rg_evaluate_text_extend(call);
    const rg_metric_family *f = find(e->type);
    if (!f) return RG_EINVAL;
    return f->options ? rg_call_add(call, f->name, f->options, f->options_bytes) : RG_OK;
}

/* Of families that count answers by class. */
static rg_status draw(const rg_confusion *c, const rg_names *names, const rg_evaluation *e)
{
    rg_record *r = NULL;
    if (!c->classes) return rg_fail(RG_EINVAL, "--plot: there is nothing to draw of --type %s", e->type);
    RG_TRY(rg_record_of_confusion(&r, c, names));
    const rg_status status = rg_plot_save(r, e->plot);
    rg_record_free(r);
    return status;
}

static rg_status judge(rg_call *call, const rg_evaluation *e)
{
    const rg_metric_family *f = find(e->type);
    rg_text                 out = { 0 }, notes = { 0 };
    rg_confusion            confusion = { 0 };
    rg_names               *names = NULL;
    if (!f) return RG_EINVAL;
    if (!call->words.count)
        return rg_fail(RG_EINVAL, "give a file of what is right; see regard evaluate --type %s --help", f->name);
    const rg_judging j = { .predicted = e->hypothesis,
                           .gold = (const char *const *)call->words.items,
                           .gold_count = call->words.count,
                           .options = f->options ? rg_call_values(call, f->options) : NULL,
                           .json = e->json,
                           .digits = (int)e->width,
                           .out = &out,
                           .notes = &notes,
                           .confusion = *e->plot ? &confusion : NULL,
                           .names = &names };
    rg_status        status = f->judge(&j);
    if (notes.length) fputs(rg_text_c(&notes), stderr);
    if (status == RG_OK) fwrite(rg_text_c(&out), 1, out.length, stdout);
    if (status == RG_OK && *e->plot) status = draw(&confusion, names, e);
    rg_confusion_fini(&confusion);
    rg_names_free(names);
    rg_text_free(&out);
    rg_text_free(&notes);
    return status;
}

static rg_status run(rg_call *call)
{
    const rg_evaluation *e = call->options;
    if (*e->plot) RG_TRY(rg_plot_check(e->plot));
    if (e->faithfulness) return rg_evaluate_faithfulness(call, e);
    return is_text(e) ? rg_evaluate_text(call, e) : judge(call, e);
}

/* What --help says of each family. */
static void more_help(FILE *out, const rg_call *call)
{
    const rg_evaluation *e = call->options;
    fprintf(out, "\nkinds of answers (--type):\n");
    rg_help_row(out, "text", "lines of text against one or more files of references: BLEU, chrF, TER, ROUGE");
    for (const rg_metric_family *const *f = rg_metric_family_all(); *f; f++)
        rg_help_row(out, (*f)->name, (*f)->summary);
    const rg_metric_family *chosen = rg_metric_family_find(e->type);
    if (chosen && chosen->details) fputc('\n', out), rg_help_paragraph(out, chosen->details);
}

const rg_command rg_command_evaluate = {
    .name = "evaluate",
    .summary = "compare answers with what is right: BLEU, chrF, TER, ROUGE; F1 of classes",
    .arguments = "REFERENCE...",
    .details = "Reads the answers to judge from standard input (or --hypothesis) and compares them line by line with "
               "one or more "
               "files of what is right. --type chooses the metrics. For text, BLEU, chrF, chrF++ and TER give "
               "sacreBLEU's numbers and "
               "signatures; for aer, output and reference are alignments in Pharaoh form (3-4, possible links 3?4). "
               "Files may be gzip.\n"
               "\n"
               "    regard translate -m model.safetensors < test.en |\n"
               "        regard evaluate --metrics bleu chrf test.de\n"
               "    regard evaluate --type classes gold.tsv < predicted.tsv\n"
               "    regard evaluate --faithfulness -m model.safetensors test.en",
    .options = rows,
    .size = sizeof(rg_evaluation),
    .extend = extend,
    .more_help = more_help,
    .run = run,
};
