/* grid.c - `regard reproduce grid`: which recurrent architecture, on Multi30k or on your own files (Britz et al. 2017).
 *
 * One base (a bidirectional LSTM with additive attention) and one change at a time along five axes: cell, depth,
 * direction, score, dim; beams are decoded with the base. Three seeds each; means with 95 % intervals by Student's
 * t; the paper's conclusions get a verdict each. */
#include "lab/drawn.h"
#include "lab/multi30k.h"
#include "lab/written.h"

#include <math.h>
#include <string.h>

typedef struct {
    rg_grid_settings grid; /* first: rows see it through rg_grid_job */
    rg_list          axes, train_sets, valid_sets;
} grid_settings;

static const rg_option options[] = {
    RG_GRID_OPTION_ROWS(grid_settings, grid.),
    { RG_OPTION_LIST, "axes", offsetof(grid_settings, axes), "",
      "only these: cell, depth, direction, score, dim, beam; the base is always there", 0, NULL },
    { RG_OPTION_LIST, "train-sets", offsetof(grid_settings, train_sets), "",
      "your own files instead of --data: source and target, line by line", 't', NULL },
    { RG_OPTION_LIST, "valid-sets", offsetof(grid_settings, valid_sets), "",
      "what runs are judged by; none: every 20th line of the training files, which is left out there", 0, NULL },
    RG_OPTION_END
};

#define LEARN                                                                                                    \
    "--vocab-kind bpe --joint-vocab --dim-vocabs 5000 --dim-rnn 256 --dropout-rnn 0.2 --mini-batch-words 1000 "  \
    "--learn-rate 0.003 --lr-warmup 400 --lr-decay-inv-sqrt 0 --after-epochs 5 --valid-freq 0 --valid-epochs 1 " \
    "--valid-metrics bleu --beam-size 1 --valid-samples 0 "
#define BASE LEARN "--type luong --cell lstm --enc-depth 1 --enc-bidirectional --score additive --dim-emb 256 "

static const rg_row rows[] = {
    { "base", BASE, 3, 0, "en de", NULL },
    { "cell-gru", BASE "--cell gru", 3, 0, "en de", NULL },
    { "cell-rnn", BASE "--cell rnn", 3, 0, "en de", NULL },
    { "depth-2", BASE "--enc-depth 2", 3, 0, "en de", NULL },
    { "depth-4", BASE "--enc-depth 4", 3, 0, "en de", NULL },
    { "direction-uni", BASE "--enc-bidirectional false", 3, 0, "en de", NULL },
    { "direction-reversed", BASE "--enc-bidirectional false --reverse", 3, 0, "en de", NULL },
    { "score-dot", BASE "--score dot", 3, 0, "en de", NULL },
    { "score-none", LEARN "--type seq2seq --cell lstm --enc-depth 1 --reverse --dim-emb 256", 3, 0, "en de", NULL },
    { "dim-64", BASE "--dim-emb 64", 3, 0, "en de", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "bleu", "BLEU", 2, 0 },
    { "beam_1", "beam 1", 2, 0 },
    { "beam_10", "beam 10", 2, 0 },
    { "beam_25", "beam 25", 2, 0 },
    { "beam_25_raw", "25, a=0", 2, 0 },
    { "parameters", "param.M", 2, 1e-6 },
    { "epochs", "epochs", 1, 0 },
    { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

#define ABOVE(a, b, by, text)                     \
    {                                             \
        RG_CLAIM_ABOVE, a, b, by, "bleu", text, 0 \
    }
static const rg_claim claims[] = {
    ABOVE("base", "cell-gru", 0, "cell: LSTM at least as good as GRU"),
    ABOVE("base", "cell-rnn", 0, "cell: LSTM at least as good as a plain RNN"),
    ABOVE("base", "depth-4", 0, "depth: deep encoders do not pay"),
    ABOVE("base", "direction-uni", 0, "direction: both at least as good as one"),
    ABOVE("base", "direction-reversed", 0, "direction: both at least as good as reversed"),
    ABOVE("base", "score-none", 5, "score: attention far better than none"),
    ABOVE("dim-64", "base", -1, "dim: small embeddings nearly as good"),
    { RG_CLAIM_LEAST, "base", NULL, 0.5, "beam_cost", "beam: a bad beam costs", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

/* ------------------------------------------------------------------------------------------------------------- data */

static const grid_settings *own(const rg_grid_job *job) { return (const grid_settings *)job->settings; }

/* OUT/train.source ...: your lines without every 20th, and those. Written once. */
static char *split_path(const rg_grid_job *job, bool valid, int side)
{
    return rg_format("%s/%s.%s", job->out, valid ? "held-out" : "train", side ? "target" : "source");
}

static rg_status split(const rg_grid_job *job)
{
    rg_line_list lines[2] = { { 0 }, { 0 } };
    rg_status    status = RG_OK;
    for (int side = 0; status == RG_OK && side < 2; side++)
        status = rg_line_list_read(&lines[side], own(job)->train_sets.items[side], -1);
    if (status == RG_OK && lines[0].count != lines[1].count)
        status = rg_fail(RG_EMATCH, "%s has %zu lines, %s has %zu", own(job)->train_sets.items[0], lines[0].count,
                         own(job)->train_sets.items[1], lines[1].count);
    for (int part = 0; status == RG_OK && part < 4; part++) {
        const bool valid = part / 2;
        const int  side = part % 2;
        rg_text    text = { 0 };
        for (size_t i = 0; status == RG_OK && i < lines[side].count; i++)
            if ((i % 20 == 19) == valid) status = rg_text_print(&text, "%s\n", lines[side].line[i]);
        char *path = split_path(job, valid, side);
        if (status == RG_OK) status = path ? rg_file_replace(path, rg_text_c(&text), text.length) : RG_ENOMEM;
        rg_free(path);
        rg_text_free(&text);
    }
    for (int side = 0; side < 2; side++) rg_line_list_free(&lines[side]);
    return status;
}

/* A new string: the file of a side that runs learn from, or are validated by. */
static rg_status file_of(char **out, const rg_grid_job *job, const rg_row *row, bool valid, int side)
{
    const grid_settings *s = own(job);
    char                 language[3];
    if (!s->train_sets.count) {
        multi30k_language(language, row, side);
        return multi30k_file(out, job, valid ? "val" : "train", language);
    }
    if (s->train_sets.count != 2 || (s->valid_sets.count && s->valid_sets.count != 2))
        return rg_fail(RG_EINVAL, "--train-sets and --valid-sets take two files, source and target");
    if (s->valid_sets.count)
        return (*out = rg_strdup((valid ? s->valid_sets : s->train_sets).items[side])) ? RG_OK : RG_ENOMEM;
    bool there = false;
    if (!(*out = split_path(job, valid, side))) return RG_ENOMEM;
    rg_status status = rg_file_exists(&there, *out);
    if (status == RG_OK && !there) status = split(job);
    if (status != RG_OK) rg_free(*out);
    return status;
}

static rg_status data(rg_words *out, const rg_grid_job *job, const rg_row *row)
{
    static const char *const flags[] = { "--train-sets", "--valid-sets" };
    if (!own(job)->train_sets.count && !job->settings->data[0])
        return rg_fail(RG_EINVAL, "give --data, the folder of Multi30k, or your own files: -t SOURCE TARGET");
    for (int valid = 0; valid < 2; valid++) {
        RG_TRY(rg_words_split(out, flags[valid]));
        for (int side = 0; side < 2; side++) {
            char *path;
            RG_TRY(file_of(&path, job, row, valid, side));
            RG_TRY(rg_row_words_add(out, path));
        }
    }
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- judging */

/* What runs are compared on: test2016 of Multi30k, or the validation files. */
static rg_status read_test(multi30k_pairs *p, const rg_grid_job *job, const rg_row *row)
{
    if (!own(job)->train_sets.count) return multi30k_pairs_read(p, job, row, multi30k_sets[0].name);
    *p = (multi30k_pairs){ .source = { 0 } };
    for (int side = 0; side < 2; side++) {
        char *path;
        RG_TRY(file_of(&path, job, row, true, side));
        const rg_status status = rg_line_list_read(side ? &p->reference : &p->source, path, -1);
        rg_free(path);
        RG_TRY(status);
    }
    return p->source.count == p->reference.count
               ? RG_OK
               : rg_fail(RG_EMATCH, "%zu and %zu lines to judge by", p->source.count, p->reference.count);
}

static rg_status judge_beam(double *bleu, rg_results *out, rg_written *w, const multi30k_pairs *p, const char *name,
                            size_t beam, double exponent)
{
    RG_TRY(rg_written_run(w, (const char *const *)p->source.line, p->source.count, beam, exponent));
    RG_TRY(rg_written_score(bleu, w, "bleu", (const char *const *)p->reference.line, p->reference.count));
    return rg_results_set(out, name, *bleu);
}

static bool wants_beams(const rg_grid_job *job)
{
    const rg_list *axes = &own(job)->axes;
    for (size_t i = 0; i < axes->count; i++)
        if (strstr(axes->items[i], "beam")) return true;
    return !axes->count;
}

static rg_status judge_all(rg_results *out, const rg_row_run *run, rg_written *w, const multi30k_pairs *p)
{
    static const struct {
        const char *name;
        size_t      beam;
        double      exponent;
    } beams[] = { { "beam_1", 1, 1 }, { "beam_10", 10, 1 }, { "beam_25", 25, 1 }, { "beam_25_raw", 25, 0 } };
    double bleu, best, worst;
    RG_TRY(judge_beam(&bleu, out, w, p, "bleu", 5, 1));
    RG_TRY(rg_results_set(out, "parameters", (double)rg_params_numbers(w->translator->model->params)));
    if (strcmp(run->row->name, "base") != 0 || !wants_beams(run->job)) return RG_OK;
    best = worst = bleu;
    for (size_t i = 0; i < sizeof beams / sizeof *beams; i++) {
        RG_TRY(judge_beam(&bleu, out, w, p, beams[i].name, beams[i].beam, beams[i].exponent));
        best = fmax(best, bleu);
        worst = fmin(worst, bleu);
    }
    return rg_results_set(out, "beam_cost", best - worst);
}

static rg_status judge(rg_results *out, const rg_row_run *run)
{
    multi30k_pairs p = { .source = { 0 } };
    rg_written     w = { .line = NULL };
    rg_status      status = read_test(&p, run->job, run->row);
    if (status == RG_OK) status = rg_written_open(&w, run);
    if (status == RG_OK) status = judge_all(out, run, &w, &p);
    rg_written_close(&w);
    multi30k_pairs_free(&p);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- intervals */

static rg_status after(const rg_grid_job *job, const rg_outcome *lines, size_t count)
{
    FILE *out = job->lab->out;
    fprintf(out, "\nBLEU, mean and 95 %% interval by Student's t\n");
    for (size_t i = 0; i < count; i++) {
        const rg_summary s = rg_outcome_summary(&lines[i], "bleu");
        if (!s.count) continue;
        if (s.count < 2) fprintf(out, "%-20s %6.2f (one run: no interval)\n", lines[i].row->name, s.mean);
        else
            fprintf(out, "%-20s %6.2f +- %.2f (%zu runs)\n", lines[i].row->name, s.mean,
                    rg_summary_interval(s), s.count);
    }
    return rg_lab_draw_means(job, lines, count, "bleu", "BLEU, mean and 95 % interval", "BLEU", "bleu");
}

static const rg_grid grid = {
    .name = "grid",
    .heading = "recurrent translators, one change at a time; BLEU: 13a, lower-cased, beam 5 (Multi30k test2016, or "
               "what was held out); beams with exponent 1 of the length, and 0",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 4 --valid-epochs 0 --valid-freq 4 --save-freq 4 --lr-warmup 2",
    .data = data,
    .judge = judge,
    .after = after,
};

/* --axes cell,depth: the rows that begin so, and the base. */
static rg_status run(bool *holds, const rg_lab *lab, const void *given)
{
    static const char *const known[] = { "cell", "depth", "direction", "score", "dim", "beam" };
    grid_settings            s = *(const grid_settings *)given;
    rg_list                  only = s.grid.only;
    char                    *items[1] = { NULL };
    rg_text                  text = { 0 };
    if (s.axes.count && only.count) return rg_fail(RG_EINVAL, "--axes and --only both choose rows: give one of them");
    rg_status status = s.axes.count ? rg_text_add_string(&text, "base") : RG_OK;
    for (size_t i = 0; status == RG_OK && i < s.axes.count; i++)
        for (const char *at = s.axes.items[i]; *at && status == RG_OK;) {
            const size_t n = strcspn(at, ",");
            size_t       k = 0;
            while (k < 6 && !(strlen(known[k]) == n && strncmp(at, known[k], n) == 0)) k++;
            if (k == 6)
                status = rg_fail(RG_EINVAL, "--axes %s: there are cell, depth, direction, score, dim and beam",
                                 s.axes.items[i]);
            else if (k < 5) status = rg_text_print(&text, ",%s", known[k]);
            at += n + (at[n] == ',');
        }
    if (status == RG_OK && s.axes.count) {
        items[0] = text.data;
        s.grid.only = (rg_list){ .count = 1, .items = items };
    }
    if (status == RG_OK) status = rg_grid_run(holds, lab, &grid, &s.grid);
    rg_text_free(&text);
    return status;
}

const rg_experiment rg_experiment_grid = {
    .name = "grid",
    .summary = "which recurrent architecture translates best: cell, depth, direction, score, width, beam; also on your "
               "own files",
    .source = "Britz et al. 2017, Massive Exploration of Neural Machine Translation Architectures",
    .options = options,
    .size = sizeof(grid_settings),
    .run = run,
};
