/* headlines.c - `regard reproduce headlines`: titles of news, with and without attention, copying, over the words of
 * the batch.
 *
 * The data are {train,valid,test}.tsv.gz of number TAB lead TAB headline, as in Reuters-21578. Every row is judged
 * once, by ROUGE of beam 8 on the test set, beside the first 8 and 10 words of the lead; `names` is the recall of
 * rare words: of the headline's words that stand in the lead and that the vocabulary does not know, the share that
 * was written. */
#include "lab/written.h"

#include <ctype.h>
#include <string.h>

#include "regard/metrics.h"

#define DATA                                                                                                       \
    "--train-sets {data}/train.tsv.gz --valid-sets {data}/valid.tsv.gz --tsv --columns 2,3 --normalization lower " \
    "--vocab-kind words --dim-vocabs 10000 --max-length 80 --max-length-crop --mini-batch-words 600 "              \
    "--learn-rate 0.002 --lr-warmup 200 --lr-decay-inv-sqrt 0 --after-epochs 12 --lr-cooldown 1000 "               \
    "--valid-freq 400 --valid-metrics rouge1 --beam-size 4 --valid-samples 0 --restore-best "
#define LEARN DATA "--dim-emb 128 --dim-rnn 256 "
#define LEARN_ABS DATA "--type abs"
#define LAST " --after-batches 1700" /* twelve epochs */

static const rg_row rows[] = {
    { "seq2seq", LEARN "--type seq2seq" LAST, 2, 0, NULL, NULL },
    { "attention", LEARN "--type rnnsearch" LAST, 2, 0, NULL, NULL },
    { "copy", LEARN "--type rnnsearch --copy" LAST, 2, 0, NULL, NULL },
    { "copy-switch", LEARN "--type rnnsearch --copy --copy-switch" LAST, 1, 0, NULL, NULL },
    { "abs", LEARN_ABS LAST, 1, 0, NULL, NULL },
    { "abs-plus", "", 1, 0, NULL, "abs" },
    { "words-of-batch", LEARN "--type rnnsearch --output-vocabulary batch:2000" LAST, 1, 0, NULL, NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "rouge1", "ROUGE-1", 2, 0 },
    { "rouge2", "ROUGE-2", 2, 0 },
    { "rougeL", "ROUGE-L", 2, 0 },
    { "names", "names %", 1, 0 },
    { "lead8", "lead-8", 2, 0 },
    { "lead10", "lead-10", 2, 0 },
    { "parameters", "param.M", 2, 1e-6 },
    { "epochs", "epochs", 1, 0 },
    { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

static const rg_claim claims[] = {
    { RG_CLAIM_ABOVE, "attention", "seq2seq", 3, "rouge1", "attention", 0 },
    { RG_CLAIM_ABOVE, "copy", "attention", 2, "rouge1", "copying", 0 },
    { RG_CLAIM_ABOVE, "copy", "attention", 5, "names", "rare words are copied", 0 },
    { RG_CLAIM_LEAST, "attention", NULL, 29.2, "rouge1", "two more than the first ten words of the lead", 0 },
    { RG_CLAIM_ABOVE, "abs-plus", "abs", 0, "rouge1", "words of the lead are worth more", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

/* ---------------------------------------------------------------------------------------------------------- judging */

static rg_status add_lower(rg_text *out, const char *line)
{
    rg_text_clear(out);
    RG_TRY(rg_text_add(out, " ", 1));
    RG_TRY(rg_text_lower(out, line, strlen(line)));
    return rg_text_add(out, " ", 1);
}

static bool has_word(const rg_text *text, const char *word, size_t bytes)
{
    for (const char *at = rg_text_c(text); (at = strstr(at, word)) != NULL; at++)
        if (at[-1] == ' ' && at[bytes] == ' ') return true;
    return false;
}

/* Adds to *all the reference's words that the lead has and the vocabulary does not, to *found those that were
 * written. */
static rg_status count_names(double *all, double *found, const rg_vocab *vocab, const char *lead, const char *reference,
                             const char *written)
{
    rg_text   text[3] = { { 0 }, { 0 }, { 0 } };
    rg_status status = add_lower(&text[0], lead);
    if (status == RG_OK) status = add_lower(&text[1], reference);
    if (status == RG_OK) status = add_lower(&text[2], written);
    char *rest = status == RG_OK ? (char *)text[1].data : NULL;
    for (char *word = rest ? strtok(rest, " ") : NULL; word; word = strtok(NULL, " ")) {
        if (rg_vocab_find(vocab, word) != rg_vocab_unk(vocab) || !has_word(&text[0], word, strlen(word))) continue;
        ++*all;
        *found += has_word(&text[2], word, strlen(word));
    }
    for (size_t i = 0; i < 3; i++) rg_text_free(&text[i]);
    return status;
}

/* The first n words of a line, a new string. */
static char *first_words(const char *line, int n)
{
    const char *at = line;
    for (int k = 0; k < n && *at; k++) {
        at += strspn(at, " \t");
        at += strcspn(at, " \t");
    }
    return rg_format("%.*s", (int)(at - line), line);
}

static rg_status judge_leads(rg_results *out, const rg_line_list *leads, const rg_line_list *titles)
{
    for (int n = 8; n <= 10; n += 2) {
        rg_scorer *s = NULL;
        rg_status  status = rg_scorer_new(&s, "rouge1", NULL);
        for (size_t i = 0; status == RG_OK && i < leads->count; i++) {
            const char *reference = titles->line[i];
            char       *words = first_words(leads->line[i], n);
            status = words ? rg_scorer_add(s, words, &reference, 1) : RG_ENOMEM;
            rg_free(words);
        }
        if (status == RG_OK) status = rg_results_set(out, n == 8 ? "lead8" : "lead10", rg_scorer_score(s));
        rg_scorer_free(s);
        RG_TRY(status);
    }
    return RG_OK;
}

static rg_status judge_written(rg_results *out, const rg_written *w, const rg_line_list *leads,
                               const rg_line_list *titles)
{
    static const char *const metrics[] = { "rouge1", "rouge2", "rougeL" };
    double                   all = 0, found = 0, value;
    for (size_t i = 0; i < 3; i++) {
        RG_TRY(rg_written_score(&value, w, metrics[i], (const char *const *)titles->line, titles->count));
        RG_TRY(rg_results_set(out, metrics[i], value));
    }
    for (size_t i = 0; i < leads->count; i++)
        RG_TRY(count_names(&all, &found, w->translator->target, leads->line[i], titles->line[i], w->line[i]));
    if (all > 0) RG_TRY(rg_results_set(out, "names", 100 * found / all));
    return rg_results_set(out, "parameters", (double)rg_params_numbers(w->translator->model->params));
}

/* abs-plus: the run of the row it is made of, with weights of words that stand in the lead, found on the validation
 * set. */
static rg_status open_tuned(rg_written *w, const rg_row_run *run)
{
    enum { TUNED_ON = 300 };
    const rg_row     *of = rows;
    rg_session_config c = RG_SESSION_CONFIG_DEFAULT;
    rg_line_list      leads = { 0 }, titles = { 0 };
    double            before = 0, after = 0;
    while (of->name && strcmp(of->name, run->row->of) != 0) of++;
    char            *folder = rg_row_folder(run->job, of, run->seed);
    char            *path = rg_format("%s/valid.tsv.gz", run->job->settings->data);
    const rg_row_run base = { .job = run->job, .row = of, .seed = run->seed, .folder = folder };
    rg_status        status = folder && path ? rg_written_open(w, &base) : RG_ENOMEM;
    if (status == RG_OK) status = rg_line_list_read(&leads, path, 1);
    if (status == RG_OK) status = rg_line_list_read(&titles, path, 2);
    c.search.beam = 8;
    const rg_tuning t = { .config = &c,
                          .source = (const char *const *)leads.line,
                          .reference = (const char *const *)titles.line,
                          .n = leads.count < TUNED_ON ? leads.count : TUNED_ON,
                          .metric = "rouge1" };
    if (status == RG_OK) status = rg_translator_tune(&before, &after, w->translator, w->session, &t);
    if (status == RG_OK)
        fprintf(run->job->lab->notes, "tuned on %zu lines: ROUGE-1 %.2f, then %.2f (%.2f %.2f %.2f %.2f)\n", t.n,
                before, after, w->translator->extract[0], w->translator->extract[1], w->translator->extract[2],
                w->translator->extract[3]);
    rg_line_list_free(&leads);
    rg_line_list_free(&titles);
    rg_free(folder);
    rg_free(path);
    return status;
}

static rg_status judge(rg_results *out, const rg_row_run *run)
{
    rg_line_list leads = { 0 }, titles = { 0 };
    rg_written   w = { .line = NULL };
    char        *path = rg_format("%s/test.tsv.gz", run->job->settings->data);
    rg_status    status = path ? rg_line_list_read(&leads, path, 1) : RG_ENOMEM;
    if (status == RG_OK) status = rg_line_list_read(&titles, path, 2);
    if (status == RG_OK && leads.count != titles.count)
        status = rg_fail(RG_EMATCH, "%s: %zu leads, %zu titles", path, leads.count, titles.count);
    if (status == RG_OK) status = run->row->of ? open_tuned(&w, run) : rg_written_open(&w, run);
    if (status == RG_OK) status = rg_written_run(&w, (const char *const *)leads.line, leads.count, 8, 1);
    if (status == RG_OK) status = judge_written(out, &w, &leads, &titles);
    if (status == RG_OK) status = judge_leads(out, &leads, &titles);
    rg_written_close(&w);
    rg_line_list_free(&leads);
    rg_line_list_free(&titles);
    rg_free(path);
    return status;
}

static const rg_grid grid = {
    .name = "headlines",
    .heading = "headlines of news: ROUGE F1 on the test set, beam 8; names: recall of rare words that the lead has; "
               "lead-8, lead-10: ROUGE-1 of its first words",
    .needs = "the folder with train.tsv.gz, valid.tsv.gz and test.tsv.gz: number TAB lead TAB headline",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 4 --valid-freq 4 --save-freq 4 --lr-warmup 2",
    .judge = judge,
};

const rg_experiment rg_experiment_headlines = {
    .name = "headlines",
    .summary = "titles of news (Reuters): seq2seq, attention, copying, the words of the batch",
    .source = "Rush et al. 2015; Nallapati et al. 2016; See et al. 2017; on Reuters-21578 instead of Gigaword",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
