/* cmd_tune.c - how much words that stand in the source are worth to a model (ABS+), found on validation data. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/output.h"
#include "regard/reader.h"
#include "regard/translate.h"

typedef struct {
    char   *model, *output, *metric, *format, *columns;
    rg_list sets;
    int64_t beam, most, threads;
    double  normalize;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "model", offsetof(settings, model), "", "model file", 'm', NULL },
    { RG_OPTION_LIST, "valid-sets", offsetof(settings, sets), "",
      "source and target file, or one table of both: what to tune on", 't', NULL },
    { RG_OPTION_STRING, "format", offsetof(settings, format), "", "of a table: tsv, csv, jsonl; empty: recognised", 0,
      NULL },
    { RG_OPTION_STRING, "columns", offsetof(settings, columns), "",
      "columns of a table, source and target, by name or number; empty: source,target or 1,2", 0, NULL },
    { RG_OPTION_STRING, "output", offsetof(settings, output), "", "model file to write; empty: only print", 'o', NULL },
    { RG_OPTION_STRING, "metric", offsetof(settings, metric), "rouge1", "what is to become best", 0,
      "bleu|chrf|chrf++|ter|rouge1|rouge2|rougeL|gleu" },
    { RG_OPTION_INT, "beam-size", offsetof(settings, beam), "4", "of the search", 'b', "[1,1000]" },
    { RG_OPTION_REAL, "normalize", offsetof(settings, normalize), "1", "score is log p / length^this", 'n', "[0,inf)" },
    { RG_OPTION_INT, "lines", offsetof(settings, most), "500", "most lines used; 0: all", 0, "[0,inf)" },
    { RG_OPTION_INT, "cpu-threads", offsetof(settings, threads), "0", "threads; 0: as many as there are cores", 0,
      "[0,1024]" },
    RG_OPTION_END
};

static rg_status read_pairs(rg_line_list *source, rg_line_list *target, const settings *s)
{
    static const char *const wanted[] = { "source", "target" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    c.wanted = wanted;
    c.wanted_count = 2;
    c.format = s->format;
    c.columns = s->columns;
    const bool table = s->sets.count == 1;
    if (!table && s->sets.count != 2)
        return rg_fail(RG_EINVAL, "--valid-sets takes source and target, or one table of both; %zu files given",
                       s->sets.count);
    const char *const *path = (const char *const *)s->sets.items;
    RG_TRY(table ? rg_line_list_read_table(source, path[0], &c, 0) : rg_line_list_read(source, path[0], -1));
    RG_TRY(table ? rg_line_list_read_table(target, path[0], &c, 1) : rg_line_list_read(target, path[1], -1));
    if (source->count != target->count)
        return rg_fail(RG_EMATCH, "%s has %zu lines, %s has %zu", path[0], source->count, path[1], target->count);
    return source->count ? RG_OK : rg_fail(RG_EINVAL, "%s has no lines", path[0]);
}

static void print_trial(void *context, const double *w, double value)
{
    printf("%s %.2f: word %.2f, pair %.2f, triple %.2f, reordered %.2f\n", (const char *)context, value, w[0], w[1],
           w[2], w[3]);
    fflush(stdout);
}

static rg_status tune(const settings *s, rg_translator *translator, rg_session *session, const rg_line_list *source,
                      const rg_line_list *target)
{
    rg_session_config c = RG_SESSION_CONFIG_DEFAULT;
    double            before = 0, after = 0;
    c.search.beam = (size_t)s->beam;
    c.search.normalize = s->normalize;
    const rg_tuning t = { .config = &c,
                          .source = (const char *const *)source->line,
                          .reference = (const char *const *)target->line,
                          .n = s->most && (size_t)s->most < source->count ? (size_t)s->most : source->count,
                          .metric = s->metric,
                          .tell = print_trial,
                          .context = s->metric };
    RG_TRY(rg_translator_tune(&before, &after, translator, session, &t));
    printf("%s of %zu lines: %.2f before, %.2f now\n", s->metric, t.n, before, after);
    print_trial(s->metric, translator->extract, after);
    return s->output[0] ? rg_translator_save(translator, s->output) : RG_OK;
}

static rg_status run(rg_call *call)
{
    const settings *s = call->options;
    rg_line_list    source = { 0 }, target = { 0 };
    rg_translator  *translator = NULL;
    rg_session     *session = NULL;
    const long      cores = sysconf(_SC_NPROCESSORS_ONLN);
    const int       threads = s->threads ? (int)s->threads : cores > 0 ? (int)cores
                                                                       : 1;
    if (!s->model[0]) return rg_fail(RG_EINVAL, "which model? -m MODEL.safetensors");
    RG_TRY(rg_output_is_not("output", s->output, s->model));
    rg_status status = read_pairs(&source, &target, s);
    if (status == RG_OK) status = rg_translator_load(&translator, s->model);
    if (status == RG_OK) status = rg_session_new(&session, &translator, 1, threads);
    if (status == RG_OK) status = tune(s, translator, session, &source, &target);
    rg_session_free(session);
    rg_translator_free(translator);
    rg_line_list_free(&source);
    rg_line_list_free(&target);
    return status;
}

const rg_command rg_command_tune = {
    .name = "tune",
    .summary = "weigh words that stand in the source, as the metric of validation data says (ABS+)",
    .details = "While answers are searched for, a word gets a bonus when it stands in the source, when it stands there "
               "behind the word before it, behind the two before it, or before that word. The weights are found by "
               "moving each of them up and down. -o writes a model that uses them whenever it is asked.",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
