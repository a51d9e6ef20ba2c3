/* cmd_heads.c - ranks the heads of a model by how well they align, and stores the best in the model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/head_profile.h"
#include "cli/output.h"
#include "regard/explain.h"
#include "regard/ranks.h"

typedef struct {
    char   *model, *gold, *output;
    rg_list data;
    int64_t iterations, most, top, faithful;
    bool    dry, profile, shift;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "model", offsetof(settings, model), "", "model file", 'm', NULL },
    { RG_OPTION_LIST, "data", offsetof(settings, data), "", "two files of lines that translate each other", 'd', NULL },
    { RG_OPTION_STRING, "gold", offsetof(settings, gold), "",
      "links a line, 0-1 2?3: source-target, words counted from 0", 'g', NULL },
    { RG_OPTION_INT, "iterations", offsetof(settings, iterations), "5", "rounds of the aligner", 0, "[1,1000]" },
    { RG_OPTION_INT, "pairs", offsetof(settings, most), "1000",
      "pairs that go through the model; the aligner learns from all", 0, "[1,inf)" },
    { RG_OPTION_INT, "top", offsetof(settings, top), "0", "print so many heads; 0: all", 0, "[0,inf)" },
    { RG_OPTION_INT, "faithfulness", offsetof(settings, faithful), "20",
      "lines by which the rank correlation of each head with occlusion is measured; 0: none", 0, "[0,inf)" },
    { RG_OPTION_STRING, "output", offsetof(settings, output), "", "write the model here instead of in its own place",
      'o', NULL },
    { RG_OPTION_BOOL, "profile", offsetof(settings, profile), "false",
      "what the heads of self-attention do: distance, entropy, shares of places; --data is one file of lines", 0,
      NULL },
    { RG_OPTION_BOOL, "shift", offsetof(settings, shift), "false",
      "look for a token's links one step later, when it has been read; as a model guided so is measured always", 0, NULL },
    { RG_OPTION_BOOL, "dry-run", offsetof(settings, dry), "false", "only print", 0, NULL },
    RG_OPTION_END
};

/* ------------------------------------------------------------------------------------------------------- faithfulness */

/* Is the map of watch point "decoder.2.cross.weights"? Its name is "decoder.cross", its layer 2. */
static bool is_of(const rg_record_map *m, const char *point)
{
    const char *name = m->name;
    int         layer = -1;
    while (*point) {
        const size_t n = strcspn(point, ".");
        if (n && strspn(point, "0123456789") == n && layer < 0) layer = atoi(point);
        else if (strncmp(point, "weights", n) != 0 || point[n]) {
            if (strncmp(name, point, n) != 0) return false;
            name += n + (name[n] == '.');
        }
        point += n + (point[n] == '.');
    }
    return (!*name || strcmp(name, "attention") == 0) && layer == m->layer;
}

/* Mean over lines of the correlation of every head with occlusion; of a mean of heads, that of its heads. */
static void add_ranks(double *sum, size_t *count, const rg_head_ranks *heads, const rg_record *r)
{
    for (size_t i = 0; i < heads->count; i++)
        for (size_t k = 0; k < r->maps; k++) {
            const rg_head_score *h = &heads->score[i];
            const rg_record_map *m = &r->map[k];
            if (!m->faith.measured || m->head < 0 || (h->head >= 0 && h->head != m->head) || !is_of(m, h->name))
                continue;
            sum[i] += (double)m->faith.rank;
            count[i]++;
        }
}

/* *out[i] of heads->score[i], NAN where nothing could be measured; for rg_free. */
static rg_status faithful(double **out, const rg_head_ranks *heads, rg_translator *translator, const settings *s)
{
    rg_explain_options explain = RG_EXPLAIN_OPTIONS_DEFAULT;
    rg_session_config  config = RG_SESSION_CONFIG_DEFAULT;
    rg_session        *session = NULL;
    rg_line_list       lines = { 0 };
    double            *sum = *out = rg_alloc_zero((heads->count + 1) * sizeof *sum);
    size_t            *count = rg_alloc_zero((heads->count + 1) * sizeof *count);
    rg_status          status = sum && count ? rg_session_new(&session, &translator, 1, 1) : RG_ENOMEM;
    explain.faithful = true;
    config.search.attention = true;
    if (status == RG_OK) status = rg_line_list_read(&lines, s->data.items[0], -1);
    for (size_t i = 0; status == RG_OK && i < lines.count && i < (size_t)s->faithful; i++) {
        const rg_translated *result;
        rg_record           *r = NULL;
        const char          *line = lines.line[i];
        if (!line[0]) continue;
        status = rg_session_run(&result, session, &config, &line, 1, 0, NULL);
        if (status == RG_OK) status = rg_record_of_heads_explained(&r, translator, result, &explain);
        if (status == RG_OK) add_ranks(sum, count, heads, r);
        rg_record_free(r);
    }
    for (size_t i = 0; status == RG_OK && i < heads->count; i++) sum[i] = count[i] ? sum[i] / (double)count[i] : NAN;
    rg_line_list_free(&lines);
    rg_session_free(session);
    rg_free(count);
    return status;
}

static rg_status rank(rg_translator *translator, const settings *s)
{
    double               *faith = NULL;
    rg_corpus_config corpus_config = RG_CORPUS_CONFIG_DEFAULT;
    rg_head_ranks_config  config = RG_HEAD_RANKS_CONFIG_DEFAULT;
    rg_corpus       *corpus = NULL;
    rg_head_ranks        *heads = NULL;
    corpus_config.shuffle = false;
    corpus_config.maxi_batch = 0;
    config.iterations = (int)s->iterations;
    config.most = (size_t)s->most;
    config.gold = *s->gold ? s->gold : NULL;
    config.shift = s->shift || translator->alignment_shift;
    rg_status status = rg_corpus_open(&corpus, &corpus_config, s->data.items[0], s->data.items[1], translator->source,
                                      translator->target);
    if (status == RG_OK) status = rg_head_ranks_new(&heads, translator, corpus, &config);
    if (status == RG_OK && s->faithful) status = faithful(&faith, heads, translator, s);
    if (status == RG_OK) {
        printf("%s%s  head  watch point\n", config.gold ? " 1 - AER" : " content      all",
               faith ? "  faithful" : "");
        for (size_t i = 0; i < heads->count && (!s->top || i < (size_t)s->top); i++) {
            const rg_head_score *h = &heads->score[i];
            if (!config.gold) printf("%8.4f ", h->content);
            printf("%8.4f", h->score);
            if (faith) printf(isnan(faith[i]) ? "         -" : "  %8.4f", faith[i]);
            if (h->head < 0) printf("  mean  %s\n", h->name);
            else printf("  %4d  %s\n", h->head, h->name);
        }
        printf("%zu pairs, %zu links %s\n", heads->pairs, heads->links,
               config.gold ? "of the gold file" : "of IBM model 1, both ways");
        if (!config.gold) {
            printf("%zu of them between content words: no punctuation, no small words (source: %s, target: %s)\n",
                   heads->content_links, heads->source_language ? heads->source_language : "no list",
                   heads->target_language ? heads->target_language : "no list");
            printf("the best finds %.1f %% of the links between content words, %.1f %% of all\n",
                   100 * heads->score[0].content, 100 * heads->score[0].score);
        }
        status = rg_head_ranks_choose(translator, &heads->score[0], config.shift);
    }
    rg_free(faith);
    rg_head_ranks_free(heads);
    rg_corpus_free(corpus);
    return status;
}

static rg_status add_line(rg_head_profile *p, rg_translator *translator, rg_session *session, const char *text)
{
    rg_session_config    config = RG_SESSION_CONFIG_DEFAULT;
    const rg_translated *result;
    rg_record           *record = NULL;
    config.search.attention = true;
    RG_TRY(rg_session_run(&result, session, &config, &text, 1, 0, NULL));
    RG_TRY(rg_record_of_heads(&record, translator, result, NULL));
    rg_status status = rg_head_profile_add(p, record);
    rg_record_free(record);
    return status;
}

/* Lines go through the model one by one, with its greedy answers. */
static rg_status profile(const settings *s)
{
    rg_line_list     lines = { 0 };
    rg_translator   *translator = NULL;
    rg_session      *session = NULL;
    rg_head_profile *p = NULL;
    rg_status        status = rg_translator_load(&translator, s->model);
    if (status == RG_OK) status = rg_session_new(&session, &translator, 1, 1);
    if (status == RG_OK) status = rg_line_list_read(&lines, s->data.items[0], -1);
    if (status == RG_OK) status = rg_head_profile_new(&p);
    for (size_t i = 0; status == RG_OK && i < lines.count && i < (size_t)s->most; i++)
        if (lines.line[i][0]) status = add_line(p, translator, session, lines.line[i]);
    if (status == RG_OK && rg_head_profile_print(stdout, p) == 0)
        status = rg_fail(RG_EINVAL, "%s has no self-attention", s->model);
    rg_head_profile_free(p);
    rg_line_list_free(&lines);
    rg_session_free(session);
    rg_translator_free(translator);
    return status;
}

static rg_status run(rg_call *call)
{
    const settings *s = call->options;
    rg_translator  *translator = NULL;
    const char     *path = *s->output ? s->output : s->model;
    if (!*s->model) return rg_fail(RG_EINVAL, "which model? -m MODEL.safetensors");
    if (s->profile) return s->data.count ? profile(s) : rg_fail(RG_EINVAL, "--data names a file of lines");
    if (s->data.count != 2)
        return rg_fail(RG_EINVAL, "--data takes two files, source and target; %zu given", s->data.count);
    for (size_t i = 0; i < s->data.count; i++) RG_TRY(rg_output_is_not("output", s->output, s->data.items[i]));
    RG_TRY(rg_output_is_not("output", s->output, s->gold));
    RG_TRY(rg_translator_load(&translator, s->model));
    rg_status status = rank(translator, s);
    if (status == RG_OK && !s->dry) {
        status = rg_translator_save(translator, path);
        if (status == RG_OK && translator->alignment_head < 0)
            printf("%s: --alignment now follows %s, the mean of its heads\n", path, translator->alignment_name);
        else if (status == RG_OK)
            printf("%s: --alignment now follows %s, head %d\n", path, translator->alignment_name,
                   translator->alignment_head);
    }
    rg_translator_free(translator);
    return status;
}

const rg_command rg_command_heads = {
    .name = "heads",
    .summary = "which head aligns? rank them and store the best in the model",
    .details =
        "Every head that looks at the source is compared with a word aligner trained on the same lines (IBM model 1 "
        "both "
        "ways, what both agree on), by the share of the links between content words it finds (not punctuation, not the "
        "small words of a language), or with links made by people (--gold). The best becomes what `regard translate "
        "--alignment` and `regard show -m` draw. The model file is replaced whole.\n"
        "The column faithful is the rank correlation of a head with occlusion, mean over the first --faithfulness lines "
        "(docs/explaining.md).\n"
        "--profile prints instead what each head of self-attention does, and how many kinds there are.",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
