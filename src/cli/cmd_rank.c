/* cmd_rank.c - which examples to label next: those of which a model is least sure. */
#include <stdio.h>
#include <string.h>

#include "cli/answers.h"
#include "cli/probing.h"

typedef struct {
    rg_probing probing;
    char      *by;
    int64_t    count;
} settings;

static const rg_option options[] = {
    RG_PROBING_ROWS(settings),
    { RG_OPTION_STRING, "by", offsetof(settings, by), "margin",
      "margin of the two likeliest classes, entropy, or adversarial: the smallest change that changes the answer", 0,
      "margin|entropy|adversarial", NULL },
    { RG_OPTION_INT, "count", offsetof(settings, count), "100", "so many are printed; 0: all", 'n', "[0,inf)", NULL },
    RG_OPTION_END
};

/* The paths of the members of a folder or archive by their numbers; NULL where there are none. */
static rg_status find_names(char **names, size_t most, const char *path, const rg_probing *s)
{
    static const char *const wanted[] = { "picture" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r;
    c.format = s->sets.format;
    c.wanted = wanted;
    c.wanted_count = 1;
    if (rg_reader_open(&r, path, &c) != RG_OK) return RG_OK; /* no pictures: lines have numbers */
    rg_status status = RG_OK;
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        if (rg_reader_next(&more, &row, r) != RG_OK || !more || !row.member) break;
        if (row.line <= most && !names[row.line - 1] && !(names[row.line - 1] = rg_strdup(row.member)))
            status = RG_ENOMEM;
    }
    rg_reader_close(r);
    return status;
}

static rg_status print(const rg_sink *sink, const rg_ranked *r, size_t n, char *const *names, const rg_names *classes)
{
    static const char *const columns[] = { "number", "input", "score", "label", "probability" };
    RG_TRY(sink->columns(sink->context, columns, 5));
    for (size_t i = 0; i < n; i++) {
        const char    *name = names[r[i].line - 1];
        const rg_value cells[] = { { .number = (double)r[i].line },
                                   { .text = name ? name : "" },
                                   { .number = r[i].score, .digits = 6 },
                                   { .text = classes ? rg_names_get(classes, r[i].answer) : "" },
                                   { .number = r[i].confidence, .digits = 4 } };
        RG_TRY(sink->row(sink->context, cells));
    }
    return RG_OK;
}

static rg_status run(rg_call *call)
{
    const settings   *s = call->options;
    const rg_rank_by  by = strcmp(s->by, "margin") == 0    ? RG_RANK_MARGIN
                           : strcmp(s->by, "entropy") == 0 ? RG_RANK_ENTROPY
                                                           : RG_RANK_ADVERSARIAL;
    rg_answer_printer printer = { .json = s->probing.json };
    rg_set_options    sets = s->probing.sets;
    rg_ranked        *ranked = NULL;
    size_t            n = 0, most = 0;
    rg_model         *model;
    sets.train = call->words;
    RG_TRY(rg_model_load(&model, s->probing.model, NULL));
    rg_status status = rg_rank(&ranked, &n, model, &sets, by, (int)s->probing.threads);
    for (size_t i = 0; i < n; i++) most = ranked[i].line > most ? (size_t)ranked[i].line : most;
    char **names = status == RG_OK ? rg_alloc_zero((most + 1) * sizeof *names) : NULL;
    if (status == RG_OK && !names) status = RG_ENOMEM;
    if (status == RG_OK) status = find_names(names, most, sets.train.items[0], &s->probing);
    const size_t shown = s->count && (size_t)s->count < n ? (size_t)s->count : n;
    if (status == RG_OK)
        status = print(rg_answer_printer_sink(&printer), ranked, shown, names,
                       model->system->task->classes ? model->system->task->classes(model) : NULL);
    for (size_t i = 0; names && i < most; i++) rg_free(names[i]);
    rg_free(names);
    rg_free(ranked);
    rg_answer_printer_fini(&printer);
    rg_model_free(model);
    return status;
}

const rg_command rg_command_rank = {
    .name = "rank",
    .summary = "which examples to label next: those of which a model is least sure",
    .arguments = "FILE",
    .details = "Answers every example of FILE, with or without labels, and prints those first from whose labels the "
               "model would learn most: where the two "
               "likeliest classes are close (margin), where the answer is most uncertain (entropy), or where the "
               "smallest change of the input changes "
               "the answer (adversarial).",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
