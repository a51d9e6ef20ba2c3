/* multi30k_judge.c - a trained run on every test set: beam 5, BLEU with and without case, chrF, perplexity, BLEU by
 * source length, operations.
 *
 * Validation decides between the last (or averaged) weights and those that were best on the way, and then the exponent
 * of the length that scores are divided by. The test sets are read afterwards, once. */
#include "lab/multi30k.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "regard/translate.h"
#include "tasks/expert_load.h"
#include "tasks/translation.h"

const uint32_t multi30k_edges[MULTI30K_CLASSES - 1] = { 7, 9, 11, 13, 16, 20 };

void multi30k_class(char *out, size_t room, const char *prefix, size_t b)
{
    if (b == MULTI30K_CLASSES - 1) snprintf(out, room, "%s%u-", prefix, multi30k_edges[b - 1] + 1);
    else snprintf(out, room, "%s%u-%u", prefix, b ? multi30k_edges[b - 1] + 1 : 1, multi30k_edges[b]);
}

/* ------------------------------------------------------------------------------------------------------- translating
 */

/* One or several translators that search together. */
typedef struct {
    rg_translator *translator[RG_GRID_SEEDS];
    size_t         count;
    rg_session    *session;
    double         normalize, length_factor;
} team;

static void free_team(team *t)
{
    rg_session_free(t->session);
    for (size_t i = 0; i < t->count; i++) rg_translator_free(t->translator[i]);
    *t = (team){ .normalize = t->normalize, .length_factor = t->length_factor };
}

static rg_status load(team *t, const char *path)
{
    RG_TRY(rg_translator_load(&t->translator[t->count], path));
    t->count++;
    return RG_OK;
}

static rg_status open_session(team *t, const rg_grid_job *job)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return rg_session_new(&t->session, t->translator, t->count,
                          job->settings->threads ? (int)job->settings->threads
                          : cores > 0            ? (int)cores
                                                 : 1);
}

/* All sources with beam 5; *out is an array of texts borrowed from the session, to be freed. */
static rg_status translate(const char ***out, const team *t, const multi30k_pairs *p)
{
    const rg_translated *results;
    rg_session_config    c = RG_SESSION_CONFIG_DEFAULT;
    c.search.beam = 5;
    c.search.normalize = t->normalize;
    c.search.length_factor = t->length_factor;
    RG_TRY(rg_session_run(&results, t->session, &c, (const char *const *)p->source.line, p->source.count, 1, NULL));
    const char **lines = *out = rg_alloc_array(p->source.count, sizeof *lines);
    for (size_t i = 0; lines && i < p->source.count; i++) lines[i] = results[i].count ? results[i].best[0].text : "";
    return lines ? RG_OK : RG_ENOMEM;
}

static rg_status score(double *out, const char *metric, bool lowercase, const multi30k_pairs *p,
                       const char *const *lines)
{
    rg_scorer *scorer = NULL;
    rg_status  status = multi30k_score(&scorer, metric, lowercase, p, lines);
    *out = status == RG_OK ? rg_scorer_score(scorer) : 0;
    rg_scorer_free(scorer);
    return status;
}

static rg_status translate_and_score(double *out, const team *t, const multi30k_pairs *p)
{
    const char **lines = NULL;
    rg_status    status = translate(&lines, t, p);
    if (status == RG_OK) status = score(out, "bleu", true, p, lines);
    rg_free(lines);
    return status;
}

/* ------------------------------------------------------------------------------------------------- chosen by
 * validation */

/* Of the two files the one with more BLEU; *out is freed by the caller. */
static rg_status choose_weights(char **out, double *best, team *t, const rg_grid_job *job, const char *folder,
                                const multi30k_pairs *p)
{
    static const char *const names[] = { "model.safetensors", "model.best-bleu.safetensors" };
    rg_status                status = RG_OK;
    *out = NULL;
    *best = -1;
    for (size_t i = 0; status == RG_OK && i < 2; i++) {
        double bleu = -1;
        bool   there = false;
        char  *path = rg_format("%s/%s", folder, names[i]);
        status = path ? rg_file_exists(&there, path) : RG_ENOMEM;
        if (status == RG_OK && there) status = load(t, path);
        if (status == RG_OK && there) status = open_session(t, job);
        if (status == RG_OK && there) status = translate_and_score(&bleu, t, p);
        free_team(t);
        if (status == RG_OK && bleu > *best) {
            rg_free(*out);
            *out = path;
            *best = bleu;
        } else rg_free(path);
    }
    if (status == RG_OK && !*out) status = rg_fail(RG_EIO, "%s has no model.safetensors", folder);
    return status;
}

/* Scores are divided by length^a: the a with most BLEU. */
static rg_status choose_exponent(double *best, team *t, const multi30k_pairs *p)
{
    static const double exponents[] = { 0.6, 0.8, 1, 1.2, 1.4 };
    double              chosen = 1;
    *best = -1;
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        double bleu;
        t->normalize = exponents[i];
        RG_TRY(translate_and_score(&bleu, t, p));
        if (bleu > *best) *best = bleu, chosen = exponents[i];
    }
    t->normalize = chosen;
    return RG_OK;
}

/* The weights of one run. */
static rg_status open_run(team *t, const rg_row_run *run, const multi30k_pairs *valid)
{
    char     *path = NULL;
    double    best;
    team      trial = { .normalize = t->normalize, .length_factor = t->length_factor };
    rg_status status = choose_weights(&path, &best, &trial, run->job, run->folder, valid);
    if (status == RG_OK) status = load(t, path);
    rg_free(path);
    return status;
}

/* The weights of all seeds of the row it is made of. */
static rg_status open_ensemble(team *t, const rg_row_run *run, const multi30k_pairs *valid)
{
    const rg_row *of = run->job->grid->rows;
    rg_status     status = RG_OK;
    while (of->name && strcmp(of->name, run->row->of) != 0) of++;
    for (int64_t seed = 1; status == RG_OK && of->name && seed <= of->seeds && t->count < RG_GRID_SEEDS; seed++) {
        char *folder = rg_row_folder(run->job, of, seed);
        if (!folder) return RG_ENOMEM;
        const rg_row_run member = { .job = run->job, .row = of, .seed = seed, .folder = folder };
        status = open_run(t, &member, valid);
        rg_free(folder);
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- test sets
 */

static rg_status write_output(const rg_row_run *run, const char *set, const char *const *lines, size_t count)
{
    rg_text   t = { 0 };
    char      language[3];
    rg_status status = RG_OK;
    multi30k_language(language, run->row, 1);
    for (size_t i = 0; status == RG_OK && i < count; i++) status = rg_text_print(&t, "%s\n", lines[i]);
    char *name = rg_format("%s.%s", set, language);
    if (status == RG_OK) status = name ? rg_row_save(run->folder, name, rg_text_c(&t)) : RG_ENOMEM;
    rg_free(name);
    rg_text_free(&t);
    return status;
}

/* BLEU of classes of source length, and how far it falls from short to long sentences. */
static rg_status measure_lengths(rg_results *out, const multi30k_pairs *p, const char *const *lines)
{
    rg_scorer *scorer = NULL;
    double     bleu[MULTI30K_CLASSES];
    size_t     counts[MULTI30K_CLASSES], few, many, *place = NULL;
    uint32_t  *length = rg_alloc_array(p->source.count, sizeof *length);
    rg_status  status = length ? multi30k_score(&scorer, "bleu", true, p, lines) : RG_ENOMEM;
    for (size_t i = 0; length && i < p->source.count; i++) length[i] = multi30k_words(p->source.line[i]);
    if (status == RG_OK)
        status = rg_scorer_by_length(bleu, counts, scorer, length, multi30k_edges, MULTI30K_CLASSES - 1);
    for (size_t b = 0; status == RG_OK && b < MULTI30K_CLASSES; b++) {
        char name[40];
        multi30k_class(name, sizeof name, "bleu_", b);
        if (counts[b]) status = rg_results_set(out, name, bleu[b]);
        multi30k_class(name, sizeof name, "lines_", b);
        if (status == RG_OK) status = rg_results_set(out, name, (double)counts[b]);
    }
    if (status == RG_OK) status = multi30k_split(&place, &few, &many, p);
    for (int share = 0; status == RG_OK && share < 2; share++)
        status = rg_results_set(out, share ? "fall_share" : "fall",
                                multi30k_fall(scorer, place, few, place + few, many, share));
    rg_scorer_free(scorer);
    rg_free(place);
    rg_free(length);
    return status;
}

static rg_status measure_set(rg_results *out, const rg_row_run *run, const team *t, const multi30k_set *set)
{
    multi30k_pairs p;
    const char   **lines = NULL;
    double         lower = 0, cased = 0, chrf = 0;
    rg_status      status = multi30k_pairs_read(&p, run->job, run->row, set->name);
    const double   begun = rg_now();
    const bool     first = set == multi30k_sets;
    if (status == RG_OK) status = translate(&lines, t, &p);
    const double seconds = rg_now() - begun;
    if (status == RG_OK) status = write_output(run, set->name, lines, p.source.count);
    if (status == RG_OK) status = score(&lower, "bleu", true, &p, lines);
    if (status == RG_OK) status = score(&cased, "bleu", false, &p, lines);
    if (status == RG_OK) status = rg_results_set(out, set->bleu, lower);
    if (status == RG_OK) status = rg_results_set(out, set->cased, cased);
    if (status == RG_OK && first) status = score(&chrf, "chrf", false, &p, lines);
    if (status == RG_OK && first) status = rg_results_set(out, "chrf", chrf);
    if (status == RG_OK && first) status = rg_results_set(out, "translate_seconds", seconds);
    if (status == RG_OK && first) status = measure_lengths(out, &p, lines);
    rg_free(lines);
    multi30k_pairs_free(&p);
    return status;
}

static rg_status measure_sets(rg_results *out, const rg_row_run *run, const team *t)
{
    for (const multi30k_set *set = multi30k_sets; set->name; set++) {
        char *path[2] = { NULL, NULL }, language[3];
        for (int side = 0; side < 2; side++) {
            multi30k_language(language, run->row, side);
            RG_TRY(multi30k_find(&path[side], run->job, set->name, language));
        }
        const bool there = (path[0] && path[1]) || set == multi30k_sets;
        rg_free(path[0]);
        rg_free(path[1]);
        if (there) RG_TRY(measure_set(out, run, t, set));
    }
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------ passes over the test
 * set */

/* The teacher-forced pass of every pair: nats, labels and where experts were used on a real tape, operations on a dry
 * one. */
static rg_status pass(double *nats, double *labels, double *flops, const rg_model *m, rg_corpus *corpus,
                      const rg_watcher *watcher)
{
    const bool           dry = !watcher;
    const rg_tape_config config = { .record = false, .dry = dry };
    rg_tape             *tape = NULL;
    rg_status            status = rg_tape_new(&tape, &config);
    if (status == RG_OK) rg_tape_set_watcher(tape, watcher);
    *nats = *labels = *flops = 0;
    for (bool more = true; status == RG_OK && more;) {
        rg_batch batch;
        if ((status = rg_corpus_next_in_epoch(&more, &batch, corpus)) != RG_OK || !more) break;
        rg_tape_reset(tape, 0);
        const double  before = rg_tape_get_cost(tape).flops;
        const rg_loss loss = m->system->loss(tape, m, &batch);
        if ((status = rg_tape_status(tape)) != RG_OK) break;
        *flops += rg_tape_get_cost(tape).flops - before;
        *labels += loss.count;
        if (!dry) *nats += (double)rg_tensor_at(loss.sum, 0, 0);
    }
    rg_tape_free(tape);
    return status;
}

static rg_status open_corpus(rg_corpus **out, const rg_row_run *run, const rg_translator *t)
{
    rg_corpus_config c = RG_CORPUS_CONFIG_DEFAULT;
    char            *path[2] = { NULL, NULL }, language[3];
    rg_status        status = RG_OK;
    c.max_length = 0;
    c.mini_batch = 1000;
    c.mini_batch_words = 2000;
    c.shuffle = false;
    for (int side = 0; status == RG_OK && side < 2; side++) {
        multi30k_language(language, run->row, side);
        status = multi30k_file(&path[side], run->job, multi30k_sets[0].name, language);
    }
    if (status == RG_OK) status = rg_corpus_open(out, &c, path[0], path[1], t->source, t->target);
    rg_free(path[0]);
    rg_free(path[1]);
    return status;
}

/* Models without experts have none of these results. */
static rg_status put_load(rg_results *out, const rg_expert_load *load)
{
    rg_expert_figures f;
    if (!load->count) return load->status;
    RG_TRY(rg_expert_load_figures(&f, load));
    RG_TRY(rg_results_set(out, "load_cv", f.cv));
    RG_TRY(rg_results_set(out, "load_most", f.most));
    return rg_results_set(out, "load_least", f.least);
}

static rg_status measure_passes(rg_results *out, const rg_row_run *run, const rg_translator *t)
{
    multi30k_pairs p;
    rg_corpus     *corpus = NULL;
    rg_expert_load load;
    double         words = 0, nats = 0, labels = 0, flops = 0, ignored;
    rg_status      status = multi30k_pairs_read(&p, run->job, run->row, multi30k_sets[0].name);
    rg_expert_load_init(&load);
    if (status == RG_OK) status = open_corpus(&corpus, run, t);
    if (status == RG_OK) status = pass(&nats, &labels, &ignored, t->model, corpus, &load.watcher);
    if (status == RG_OK) status = pass(&ignored, &labels, &flops, t->model, corpus, NULL);
    if (status == RG_OK) status = put_load(out, &load);
    for (size_t i = 0; i < p.reference.count; i++) words += multi30k_words(p.reference.line[i]);
    if (status == RG_OK) status = rg_results_set(out, "perplexity", rg_perplexity(nats, (uint64_t)labels));
    if (status == RG_OK) status = rg_results_set(out, "word_perplexity", exp(nats / fmax(1, words)));
    if (status == RG_OK) status = rg_results_set(out, "flops_word", flops / fmax(1, words));
    /* backward is two products for each of forward's */
    if (status == RG_OK) status = rg_results_set(out, "flops_unit", 3 * flops / fmax(1, labels));
    if (status == RG_OK) status = rg_results_set(out, "parameters", (double)rg_params_numbers(t->model->params));
    rg_expert_load_fini(&load);
    rg_corpus_free(corpus);
    multi30k_pairs_free(&p);
    return status;
}

/* valid_gleu: of the validation sentences by the exponent that was chosen. */
static rg_status measure_gleu(rg_results *out, const team *t, const multi30k_pairs *valid)
{
    const char **lines = NULL;
    double       gleu = 0;
    rg_status    status = translate(&lines, t, valid);
    if (status == RG_OK) status = score(&gleu, "gleu", true, valid, lines);
    rg_free(lines);
    return status == RG_OK ? rg_results_set(out, "valid_gleu", gleu) : status;
}

/* least_gleu: the lowest that validation said while a reward was learned; of other runs the last that it said, which is
 * where a reward begins. Nothing where GLEU was not asked for. */
static rg_status measure_start(rg_results *out, const rg_row_run *run)
{
    const bool reward = run->training && run->training->objective_count > 0;
    double     least, last;
    bool       there;
    RG_TRY(rg_row_validations(&there, &least, &last, run->folder, "gleu"));
    return there ? rg_results_set(out, "least_gleu", reward ? least : last) : RG_OK;
}

rg_status multi30k_judge(rg_results *out, const rg_row_run *run)
{
    const rg_translation_options *o = run->training ? run->training->task_options : NULL;
    team           t = { .normalize = o ? o->normalize : 1, .length_factor = o ? o->max_length_factor : 2 };
    multi30k_pairs valid;
    double         best = 0, speed = 0;
    rg_status      status = multi30k_pairs_read(&valid, run->job, run->row, "val");
    if (status == RG_OK) status = run->row->of ? open_ensemble(&t, run, &valid) : open_run(&t, run, &valid);
    if (status == RG_OK) status = open_session(&t, run->job);
    if (status == RG_OK) status = choose_exponent(&best, &t, &valid);
    if (status == RG_OK) status = rg_results_set(out, "valid_bleu", best);
    if (status == RG_OK) status = rg_results_set(out, "normalize", t.normalize);
    if (status == RG_OK) status = measure_gleu(out, &t, &valid);
    if (status == RG_OK && !run->row->of) status = measure_start(out, run);
    if (status == RG_OK) status = multi30k_sustained(&speed);
    if (status == RG_OK) status = rg_results_set(out, "sustained", speed);
    if (status == RG_OK) status = measure_sets(out, run, &t);
    if (status == RG_OK && !run->row->of) status = measure_passes(out, run, t.translator[0]);
    free_team(&t);
    multi30k_pairs_free(&valid);
    return status;
}
