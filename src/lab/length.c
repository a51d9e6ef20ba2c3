/* length.c - `regard reproduce length`: what becomes of translations of sentences that are longer than all that were
 * learned from.
 *
 * Sentences of the built-in grammar, 5 to 60 words (length_data.c). A recurrent network that keeps the source in one
 * vector (seq2seq) and one that looks back (rnnsearch) learn from sentences of at most 15 or 30 words; BLEU is
 * measured in classes of five words up to 60. `kept` is BLEU at twice the learned length, in percent of BLEU at
 * learned lengths (Bahdanau et al. 2015, figure 2, as an experiment of minutes). */
#include "lab/length.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/written.h"
#include "regard/view.h"

#define LEARN                                                                                                        \
    "--vocab-kind words --dim-vocabs 0 --max-length 100 --mini-batch-words 800 --learn-rate 0.002 --lr-warmup 100 "  \
    "--lr-decay-inv-sqrt 0 --lr-cooldown 500 --valid-freq 500 --valid-metrics bleu --beam-size 1 --valid-samples 0 " \
    "--dim-emb 64 --dim-rnn 128 --after-batches 1500 --restore-best "

/* about: most words of what is learned from */
static const rg_row rows[] = {
    { "seq2seq-15", LEARN "--type seq2seq", 3, 0, "15", NULL },
    { "attention-15", LEARN "--type rnnsearch", 3, 0, "15", NULL },
    { "seq2seq-30", LEARN "--type seq2seq", 3, 0, "30", NULL },
    { "attention-30", LEARN "--type rnnsearch", 3, 0, "30", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "kept", "kept %", 1, 0 },
    { "short", "learned", 2, 0 },
    { "twice", "twice", 2, 0 },
    { "b60", "56..60", 2, 0 },
    { "parameters", "param.M", 2, 1e-6 },
    { "epochs", "epochs", 1, 0 },
    { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

static const rg_claim claims[] = {
    { RG_CLAIM_LEAST, "attention-15", NULL, 80, "kept", "attention keeps BLEU at twice the learned length", 0 },
    { RG_CLAIM_LEAST, "attention-30", NULL, 80, "kept", "the same", 0 },
    { RG_CLAIM_MOST, "seq2seq-15", NULL, 80, "kept", "one vector does not", 0 },
    { RG_CLAIM_MOST, "seq2seq-30", NULL, 80, "kept", "the same", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

static rg_status data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    static const char *const options[] = { "--train-sets", "--valid-sets" }, *const sets[] = { "train", "valid" };
    const bool quick = job->settings->quick;
    char      *folder = rg_format("%s/data%s", job->out, quick ? ".quick" : "");
    (void)mkdir(job->out, 0777);
    rg_status status = folder ? length_data(folder, quick ? 200 : 12000, quick ? 10 : 100) : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < 2; i++) {
        status = rg_row_words_add(out, rg_strdup(options[i]));
        for (size_t side = 0; status == RG_OK && side < 2; side++)
            status = rg_row_words_add(out, rg_format("%s/%s-%s.%s", folder, sets[i], row->about, side ? "fr" : "en"));
    }
    rg_free(folder);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- judging */

/* BLEU of one class of lengths. */
static rg_status judge_class(double *out, rg_written *w, const rg_row_run *run, size_t n)
{
    const char  *quick = run->job->settings->quick ? ".quick" : "";
    char        *path[2] = { rg_format("%s/data%s/test-%zu.en", run->job->out, quick, n),
                             rg_format("%s/data%s/test-%zu.fr", run->job->out, quick, n) };
    rg_line_list side[2] = { { 0 }, { 0 } };
    rg_status    status = path[0] && path[1] ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < 2; i++) status = rg_line_list_read(&side[i], path[i], -1);
    if (status == RG_OK) status = rg_written_run(w, (const char *const *)side[0].line, side[0].count, 4, 1);
    if (status == RG_OK)
        status = rg_written_score(out, w, "bleu", (const char *const *)side[1].line, side[1].count);
    for (size_t i = 0; i < 2; i++) {
        rg_line_list_free(&side[i]);
        rg_free(path[i]);
    }
    return status;
}

static rg_status judge(rg_results *out, const rg_row_run *run)
{
    const size_t most = (size_t)atoi(run->row->about);
    rg_written   w = { .line = NULL };
    double       learned = 0, twice = 0, classes = 0;
    rg_status    status = rg_written_open(&w, run);
    for (size_t n = LENGTH_FIRST; status == RG_OK && n <= LENGTH_LAST; n += LENGTH_STEP) {
        char   name[16];
        double bleu = 0;
        snprintf(name, sizeof name, "b%zu", n);
        status = judge_class(&bleu, &w, run, n);
        if (status == RG_OK) status = rg_results_set(out, name, bleu);
        if (n <= most) learned += bleu, classes++;
        if (n == 2 * most) twice = bleu;
    }
    learned /= classes > 0 ? classes : 1;
    if (status == RG_OK) status = rg_results_set(out, "short", learned);
    if (status == RG_OK) status = rg_results_set(out, "twice", twice);
    if (status == RG_OK) status = rg_results_set(out, "kept", learned > 0 ? 100 * twice / learned : 0);
    if (status == RG_OK)
        status = rg_results_set(out, "parameters", (double)rg_params_numbers(w.translator->model->params));
    rg_written_close(&w);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- drawing */

static double mean_of(const rg_outcome *l, size_t n)
{
    char name[16];
    snprintf(name, sizeof name, "b%zu", n);
    return rg_outcome_summary(l, name).mean;
}

static rg_status curves(rg_record **out, const rg_outcome *lines, size_t count)
{
    size_t set;
    RG_TRY(rg_record_new(out, "BLEU by length; learned from 15 or 30 words at most", "evaluation"));
    RG_TRY(rg_record_add_curves(&set, *out, "BLEU by length", "words of the source", "BLEU", false, false));
    for (size_t i = 0; i < count; i++) {
        double x[LENGTH_CLASSES], y[LENGTH_CLASSES];
        if (!lines[i].runs) continue;
        for (size_t k = 0; k < LENGTH_CLASSES; k++) {
            const size_t n = LENGTH_FIRST + k * LENGTH_STEP;
            x[k] = (double)n - 2;
            y[k] = mean_of(&lines[i], n);
        }
        RG_TRY(rg_record_add_series(*out, set, lines[i].row->name, x, y, LENGTH_CLASSES));
    }
    return RG_OK;
}

static rg_status after(const rg_grid_job *job, const rg_outcome *lines, size_t count)
{
    rg_figure_options f = RG_FIGURE_OPTIONS_DEFAULT;
    rg_record        *r = NULL;
    char             *path = rg_format("%s/bleu-by-length.png", job->out);
    f.style = RG_FIGURE_CURVES;
    fprintf(job->lab->out, "\n%-14s", "BLEU, words");
    for (size_t n = LENGTH_FIRST; n <= LENGTH_LAST; n += LENGTH_STEP) fprintf(job->lab->out, " %5zu", n);
    for (size_t i = 0; i < count; i++) {
        if (!lines[i].runs) continue;
        fprintf(job->lab->out, "\n%-14s", lines[i].row->name);
        for (size_t n = LENGTH_FIRST; n <= LENGTH_LAST; n += LENGTH_STEP)
            fprintf(job->lab->out, " %5.1f", mean_of(&lines[i], n));
    }
    fprintf(job->lab->out, "\n");
    rg_status status = path ? curves(&r, lines, count) : RG_ENOMEM;
    if (status == RG_OK) status = rg_figure_save(path, RG_FIGURE_PNG, NULL, r, &f);
    if (status == RG_OK) fprintf(job->lab->out, "\n%s\n", path);
    else fprintf(job->lab->notes, "no figure: %s\n", rg_message()); /* the table has the numbers */
    rg_record_free(r);
    rg_free(path);
    return RG_OK;
}

static const rg_grid grid = {
    .name = "length",
    .heading = "sentences longer than what was learned from: BLEU at learned lengths, at twice the longest, and how "
               "much of it was kept",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 4 --valid-freq 4 --save-freq 4 --lr-warmup 2",
    .data = data,
    .judge = judge,
    .after = after,
};

const rg_experiment rg_experiment_length = {
    .name = "length",
    .summary = "sentences of up to 60 words by models that learned from 15 or 30: with and without attention",
    .source = "Bahdanau, Cho, Bengio 2015, figure 2; on sentences of the built-in grammar",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
